//! Decides whether a session's last screen stays visible on the user's terminal after the session.
//!
//! A local command leaves its output on the screen, so a command on the host does too. A shell's screen stays only if
//! the user never typed, because it may tell why the session ended.

use rove_terminal::{ExitStatus, Screen};

/// The kind of program that a session runs, which decides whether its last screen stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// The program is unknown. The last screen disappears, as with Mosh 1.4.0, except if it tells why no program ran.
    #[default]
    Unknown,
    /// The session runs a login shell. Its last screen stays only if the user never typed.
    Shell,
    /// The session runs a command. Its last screen stays if it looks like output, not like an editor that has ended.
    Command,
}

/// The part of a command's output that the user has not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingLines {
    /// The server or the client dropped this many lines, each a row of the screen.
    Count(u64),
    /// All lines that scrolled off the screen are missing. The server neither sends nor counts them.
    AboveLastScreen,
}

/// Facts about the end of a session and about its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Whether the server ended the session, as it does when its program ends.
    pub(crate) by_server: bool,
    /// Whether the server tells when a program uses the alternate screen.
    pub(crate) tells_screens: bool,
    /// Whether the server sends or counts lines that scrolled off the screen.
    pub(crate) tells_lines: bool,
    /// The program's exit status. `None` if the server does not tell it.
    pub(crate) exit_status: Option<ExitStatus>,
}

impl Ending {
    /// Returns whether the exit status says that a command was not found (127) or not executable (126). The program
    /// then probably never ran. Source: POSIX.1-2024, Shell Command Language, 2.8.2.
    const fn is_no_start(self) -> bool {
        matches!(self.exit_status, Some(ExitStatus::Code(126 | 127)))
    }
}

/// Facts that decide at the end of a session whether its last screen stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastScreen {
    running: Running,
    /// Whether the user has typed anything in the session.
    has_typed: bool,
    /// Whether the user has typed while the screen was full, as in an editor.
    has_typed_on_full: bool,
}

impl LastScreen {
    pub(crate) const fn new(running: Running) -> Self {
        Self { running, has_typed: false, has_typed_on_full: false }
    }

    /// Records that the user typed keys for the host while `screen` was shown.
    pub(crate) fn note_keys(&mut self, screen: &Screen) {
        self.has_typed = true;
        self.has_typed_on_full |= !is_short(screen);
    }

    /// Returns whether `screen`, the last of the session, stays visible.
    pub(crate) fn stays(self, ending: Ending, screen: &Screen) -> bool {
        if screen.rich_modes().alternate_screen {
            return false;
        }
        // A Mosh server does not tell of the alternate screen, so a full screen may be an editor's. But an editor ends
        // only by a key that the user types on its full screen.
        let tells = ending.tells_screens || !self.has_typed_on_full;
        let is_output = ending.by_server && tells || is_short(screen);
        let is_unused = ending.by_server && !self.has_typed && is_output;
        match self.running {
            Running::Unknown => is_unused && ending.is_no_start(),
            Running::Shell => is_unused,
            Running::Command => is_output,
        }
    }

    /// Returns which lines of a command's output the user has not received. `None` if no missing line is known, or the
    /// program is not a command. `counted` is the number of missing lines that the client knows of.
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

/// Returns whether the screen is not full: the cursor is above the last row, which is blank.
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

    /// A session that ended with its program, at a rove server and at a stock server.
    const ENDED: Ending =
        Ending { by_server: true, tells_screens: true, tells_lines: true, exit_status: None };
    const STOCK: Ending = Ending { tells_screens: false, tells_lines: false, ..ENDED };

    #[test]
    fn the_output_of_a_command_stays_and_a_shells_does_not() {
        use Running::{Command, Shell, Unknown};
        // A row has the kind of program, its output, whether the server ended the session and tells of screens, and
        // whether the screen stays. The user has typed to a command on a full screen, as to an editor.
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
        // The user has typed on a short screen, for example a password.
        let mut command = LastScreen::new(Command);
        command.note_keys(&screen(SHORT));
        assert!(command.stays(STOCK, &screen(LONG)));
        assert!(!command.stays(Ending { by_server: false, ..STOCK }, &screen(LONG)));
    }

    #[test]
    fn lines_of_a_command_that_nobody_sends_are_missed_and_those_of_an_editor_are_not() {
        use MissingLines::{AboveLastScreen, Count};
        let old_rove = Ending { tells_lines: false, ..ENDED };
        // A row has the session's end, the screen, whether the user left an editor by a key, the lines that the client
        // counted, and the outcome.
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
