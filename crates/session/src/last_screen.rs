//! Whether a session's last screen stays on the user's own screen when the session has left its own.
//!
//! A command on this computer leaves its output, so a command on the host does. A shell leaves nothing, but for one that
//! never came to be used: then the screen says why.

use rove_terminal::{ExitStatus, Screen};

/// The kind of program that a session runs, as far as its last screen is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// Unknown. The last screen is gone with the session, as with stock, unless it says why there was no program.
    #[default]
    Unknown,
    /// A login shell.
    Shell,
    /// A command.
    Command,
}

/// The part of a command's output that the user has not got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingLines {
    /// So many lines.
    Count(u64),
    /// All that scrolled off the screen, which the server neither sends nor counts.
    AboveLastScreen,
}

/// How a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Whether the server has ended it, as it does when its program has.
    pub(crate) by_server: bool,
    /// Whether the server tells when the program has a screen of its own, an alternate one.
    pub(crate) tells_screens: bool,
    /// Whether the server tells which lines scrolled off.
    pub(crate) tells_lines: bool,
    /// How the program has ended, if the server tells.
    pub(crate) exit_status: Option<ExitStatus>,
}

impl Ending {
    /// Returns whether the program was probably never started, about which a shell is as clear.
    /// Source: POSIX.1-2024, Shell Command Language, 2.8.2.
    const fn is_no_start(self) -> bool {
        matches!(self.exit_status, Some(ExitStatus::Code(126 | 127)))
    }
}

/// Facts that decide at the end of a session whether its last screen stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastScreen {
    running: Running,
    /// Whether the user has typed anything.
    has_typed: bool,
    /// Whether the user has typed while the screen was full, as into an editor.
    has_typed_on_full: bool,
}

impl LastScreen {
    /// Creates what is known at a session's beginning.
    pub(crate) const fn new(running: Running) -> Self {
        Self { running, has_typed: false, has_typed_on_full: false }
    }

    /// Notes that keys go to the host, which shows this screen.
    pub(crate) fn note_keys(&mut self, screen: &Screen) {
        self.has_typed = true;
        self.has_typed_on_full |= !is_short(screen);
    }

    /// Returns whether this screen, the last of a session, stays.
    pub(crate) fn stays(self, ending: Ending, screen: &Screen) -> bool {
        if screen.alternate_screen() {
            return false;
        }
        // A stock server has but one screen: full, it may be what an editor has left there, which no user leaves without
        // a key.
        let tells = ending.tells_screens || !self.has_typed_on_full;
        let is_output = ending.by_server && tells || is_short(screen);
        let is_unused = ending.by_server && !self.has_typed && is_output;
        match self.running {
            Running::Unknown => is_unused && ending.is_no_start(),
            Running::Shell => is_unused,
            Running::Command => is_output,
        }
    }

    /// Returns what is missing of a command's output beside its last screen, where the client has `counted` so many lines.
    pub(crate) fn missing(
        self,
        ending: Ending,
        screen: &Screen,
        counted: u64,
    ) -> Option<MissingLines> {
        if self.running != Running::Command {
            return None;
        }
        if counted > 0 {
            return Some(MissingLines::Count(counted));
        }
        let is_cut = !ending.tells_lines && !is_short(screen) && self.stays(ending, screen);
        is_cut.then_some(MissingLines::AboveLastScreen)
    }
}

/// Returns whether the screen is not full: its last row was not reached.
fn is_short(screen: &Screen) -> bool {
    let last = screen.size().rows() - 1;
    screen.cursor().row < last && screen.row_text(last).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    fn screen(bytes: &[u8]) -> Screen {
        let mut terminal = Terminal::host(Size::clamped(20, 3));
        terminal.write(bytes);
        terminal.screen().clone()
    }

    const SHORT: &[u8] = b"out\r\n";
    const LONG: &[u8] = b"1\r\n2\r\n3\r\n4\r\n";
    const FULL: &[u8] = b"a\x1b[3;1Hb\x1b[H";
    const ALTERNATE: &[u8] = b"out\r\n\x1b[?1049hedit";

    /// How a session of a rove server ends with its program, and one of a stock server.
    const ENDED: Ending =
        Ending { by_server: true, tells_screens: true, tells_lines: true, exit_status: None };
    const STOCK: Ending = Ending { tells_screens: false, tells_lines: false, ..ENDED };

    #[test]
    fn the_output_of_a_command_stays_and_a_shells_does_not() {
        use Running::{Command, Shell, Unknown};
        // The kind of program, its output, whether the server ended the session and tells of screens, whether it stays
        // after keys that an editor gets.
        for (running, bytes, by_server, tells_screens, stays) in [
            (Command, SHORT, true, true, true),
            (Command, SHORT, true, false, true),
            (Command, SHORT, false, true, true),
            (Command, LONG, true, true, true),
            (Command, LONG, true, false, false),
            (Command, LONG, false, true, false),
            (Command, FULL, true, false, false),
            (Command, ALTERNATE, false, true, false),
            (Shell, SHORT, true, true, true),
            (Shell, SHORT, false, true, false),
            (Unknown, SHORT, true, true, false),
        ] {
            let ending = Ending { by_server, tells_screens, ..ENDED };
            let mut last = LastScreen::new(running);
            if running == Command {
                last.note_keys(&screen(FULL));
            }
            let found = last.stays(ending, &screen(bytes));
            assert_eq!(found, stays, "{running:?} {} {ending:?}", bytes.escape_ascii());
        }
        let mut used = LastScreen::new(Shell);
        used.note_keys(&screen(SHORT));
        assert!(!used.stays(ENDED, &screen(SHORT)));
        // A password, say.
        let mut command = LastScreen::new(Command);
        command.note_keys(&screen(SHORT));
        assert!(command.stays(STOCK, &screen(LONG)));
        assert!(!command.stays(Ending { by_server: false, ..STOCK }, &screen(LONG)));
    }

    #[test]
    fn lines_of_a_command_that_nobody_sends_are_missed_and_those_of_an_editor_are_not() {
        use MissingLines::{AboveLastScreen, Count};
        let old_rove = Ending { tells_lines: false, ..ENDED };
        // How it ended, what the screen shows, whether an editor was left with a key, the lines that the client has
        // counted, and what is missing.
        for (ending, bytes, is_editor, counted, missing) in [
            (ENDED, LONG, false, 0, None),
            (ENDED, LONG, false, 7, Some(Count(7))),
            (ENDED, ALTERNATE, true, 7, Some(Count(7))),
            (old_rove, SHORT, false, 0, None),
            (old_rove, LONG, true, 0, Some(AboveLastScreen)),
            (old_rove, ALTERNATE, true, 0, None),
            (STOCK, SHORT, false, 0, None),
            (STOCK, LONG, false, 0, Some(AboveLastScreen)),
            (STOCK, FULL, true, 0, None),
        ] {
            let mut last = LastScreen::new(Running::Command);
            if is_editor {
                last.note_keys(&screen(FULL));
            }
            let found = last.missing(ending, &screen(bytes), counted);
            assert_eq!(found, missing, "{} {ending:?}", bytes.escape_ascii());
            assert_eq!(
                LastScreen::new(Running::Shell).missing(ending, &screen(bytes), counted),
                None
            );
        }
    }

    #[test]
    fn the_reason_why_there_was_no_program_stays_whatever_runs() {
        for (code, stays) in [(126, true), (127, true), (1, false), (0, false)] {
            let ending = Ending { exit_status: Some(ExitStatus::Code(code)), ..ENDED };
            let mut unknown = LastScreen::new(Running::Unknown);
            assert_eq!(unknown.stays(ending, &screen(b"why\r\n")), stays, "{code}");
            unknown.note_keys(&screen(b""));
            assert!(!unknown.stays(ending, &screen(b"used\r\n")), "{code}");
        }
    }
}
