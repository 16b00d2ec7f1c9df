//! Whether a session's last screen stays on the user's own screen when the session has left its own.
//!
//! A command on this computer leaves its output, so a command on the host does. A shell leaves nothing, but for one that
//! never came to be used: then the screen says why.

use rove_terminal::Screen;

use crate::exit_status::ExitStatus;

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

/// How a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Whether the server has ended it, as it does when its program has.
    pub(crate) by_server: bool,
    /// Whether the server tells when the program has a screen of its own, an alternate one.
    pub(crate) tells_screens: bool,
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
}

impl LastScreen {
    /// Creates what is known at a session's beginning.
    pub(crate) const fn new(running: Running) -> Self {
        Self { running, has_typed: false }
    }

    /// Notes that keys go to the host.
    pub(crate) const fn note_keys(&mut self) {
        self.has_typed = true;
    }

    /// Returns whether this screen, the last of a session, stays.
    pub(crate) fn stays(self, ending: Ending, screen: &Screen) -> bool {
        if screen.alternate_screen() {
            return false;
        }
        // A stock server has but one screen: full, it may be what an editor has left there.
        let is_output = ending.by_server && ending.tells_screens || is_short(screen);
        let is_unused = ending.by_server && !self.has_typed && is_output;
        match self.running {
            Running::Unknown => is_unused && ending.is_no_start(),
            Running::Shell => is_unused,
            Running::Command => is_output,
        }
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

    #[test]
    fn the_output_of_a_command_stays_and_a_shells_does_not() {
        const SHORT: &[u8] = b"out\r\n";
        const LONG: &[u8] = b"1\r\n2\r\n3\r\n4\r\n";
        const FULL: &[u8] = b"a\x1b[3;1Hb\x1b[H";
        const ALTERNATE: &[u8] = b"out\r\n\x1b[?1049hedit";
        use Running::{Command, Shell, Unknown};
        // The kind of program, its output, whether the server ended the session and tells of screens, whether it stays.
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
            let ending = Ending { by_server, tells_screens, exit_status: None };
            let found = LastScreen::new(running).stays(ending, &screen(bytes));
            assert_eq!(found, stays, "{running:?} {} {ending:?}", bytes.escape_ascii());
        }
        let mut used = LastScreen::new(Shell);
        used.note_keys();
        let ending = Ending { by_server: true, tells_screens: true, exit_status: None };
        assert!(!used.stays(ending, &screen(SHORT)));
    }

    #[test]
    fn the_reason_why_there_was_no_program_stays_whatever_runs() {
        for (code, stays) in [(126, true), (127, true), (1, false), (0, false)] {
            let exit_status = Some(ExitStatus::Code(code));
            let ending = Ending { by_server: true, tells_screens: true, exit_status };
            let mut unknown = LastScreen::new(Running::Unknown);
            assert_eq!(unknown.stays(ending, &screen(b"why\r\n")), stays, "{code}");
            unknown.note_keys();
            assert!(!unknown.stays(ending, &screen(b"used\r\n")), "{code}");
        }
    }
}
