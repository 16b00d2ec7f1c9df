//! The terminal emulator: a byte parser, and the state that the parsed sequences change.

use rove_units::Bytes;

use crate::clipboard::Copied;
use crate::emulator::{Emulator, Role};
use crate::notification::Notification;
use crate::parse::Parser;
use crate::screen::compose::{row_addresses, rows_beyond};
use crate::screen::{Screen, Size};
use crate::scrollback::ScrollbackLine;
use crate::user_terminal::UserTerminal;

/// Longest run of text, in bytes, that is performed between two checks of the effort limit. Chosen: two rows of a large
/// window. In insert mode each character costs much, because it shifts the rest of its row.
pub const RUN_BYTES_MAX: usize = 1024;

/// A terminal emulator: a byte parser, a screen and modes.
///
/// A *host* terminal performs the output of programs on a pty. It answers their queries, and blanks a wide character
/// that loses one of its two cells. A *replica* performs the diffs that the other end of the connection sends. It
/// changes only what a diff states, and never answers.
#[derive(Clone, Debug)]
pub struct Terminal {
    parser: Parser,
    emulator: Emulator,
}

impl Terminal {
    /// Creates a blank host terminal, for programs on a pty.
    pub fn host(size: Size) -> Self {
        Self { parser: Parser::default(), emulator: Emulator::new(size, Role::Host) }
    }

    /// Creates a blank replica, which performs the diffs that the other end of the connection sends.
    pub fn replica(size: Size) -> Self {
        Self { parser: Parser::default(), emulator: Emulator::new(size, Role::Replica) }
    }

    /// Creates a host terminal that displays `screen`. All other state, such as margins, is that of a blank terminal.
    pub fn showing(screen: Screen) -> Self {
        let mut terminal = Self::host(screen.size());
        terminal.emulator.grid.screen = screen;
        terminal
    }

    /// Performs host bytes or a diff. A sequence or character may be split between two calls.
    pub fn write(&mut self, bytes: &[u8]) {
        self.write_within(bytes, u64::MAX);
    }

    /// Performs bytes until [`Terminal::effort`] exceeds `effort_max`. Returns the number of bytes performed. The
    /// effort can exceed the limit by the cost of a sequence, or of [`RUN_BYTES_MAX`] bytes of text.
    pub fn write_within(&mut self, bytes: &[u8], effort_max: u64) -> usize {
        self.emulator.effort_max = effort_max;
        let mut taken = 0;
        for run in bytes.chunks(RUN_BYTES_MAX) {
            let len = self.parser.advance(run, &mut self.emulator);
            self.emulator.grid.effort.read(len);
            taken += len;
            if len < run.len() {
                break;
            }
        }
        if cfg!(debug_assertions) {
            self.emulator.grid.assert_integrity();
        }
        taken
    }

    /// Changes the size of both screens, primary and alternate. Does not rewrap lines.
    pub fn resize(&mut self, size: Size) {
        self.emulator.resize(size);
        if cfg!(debug_assertions) {
            self.emulator.grid.assert_integrity();
        }
    }

    /// Drops an unfinished sequence, string or UTF-8 character. The next byte is then read as text.
    pub fn ground(&mut self) {
        self.parser.ground();
    }

    /// Removes and returns the answers to queries of the program on the pty, such as status reports. The answers have a
    /// limited length, so the last queries of a flood get none.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.emulator.answers.take()
    }

    /// Removes and returns the text that a program has last copied (OSC 52). `None` if no program has copied text since
    /// the last call. Always `None` for a replica, because the same diff may arrive twice.
    pub fn take_copied(&mut self) -> Option<Copied> {
        self.emulator.copies.last.take()
    }

    /// Removes and returns up to [`crate::NOTIFICATIONS_MAX`] notifications, the newest last. Empty for a replica.
    pub fn take_notifications(&mut self) -> impl Iterator<Item = Notification> + use<> {
        core::mem::take(&mut self.emulator.notifications).into_iter()
    }

    /// Starts to store the lines that scroll off the top of the primary screen. At [`crate::SCROLLBACK_LINES_MAX`] or
    /// [`crate::SCROLLBACK_BYTES_MAX`], the oldest lines that the caller has not taken are dropped.
    pub fn keep_scrollback(&mut self) {
        self.emulator.grid.scrollback.get_or_insert_default();
    }

    /// Returns the number of scrollback lines that the caller has not taken.
    pub fn scrollback_len(&self) -> usize {
        self.emulator.grid.scrollback.as_ref().map_or(0, |scrollback| scrollback.len())
    }

    /// Removes and returns the oldest scrollback line and its number. Numbers count from 0 and include dropped lines.
    /// `None` if there are no lines.
    pub fn take_scrollback_line(&mut self) -> Option<(u64, ScrollbackLine)> {
        self.emulator.grid.scrollback.as_mut()?.pop()
    }

    /// Returns the displayed screen, primary or alternate. A clone of it is a snapshot.
    pub fn screen(&self) -> &Screen {
        &self.emulator.grid.screen
    }

    /// Returns a copy of the screen. Later writes do not change it.
    pub fn snapshot(&self) -> Screen {
        self.emulator.grid.screen.clone()
    }

    /// Sets the known facts about the user's terminal. A host terminal obeys them or reports them to programs.
    pub fn set_user_terminal(&mut self, user_terminal: UserTerminal) {
        self.emulator.set_user_terminal(user_terminal);
    }

    /// Returns the known facts about the user's terminal.
    pub fn user_terminal(&self) -> &UserTerminal {
        &self.emulator.user_terminal
    }

    /// Returns whether a program is drawing a frame (mode 2026), so that the screen is incomplete. Only the program
    /// ends this mode, so the caller must limit how long it waits.
    pub fn synchronized_output(&self) -> bool {
        self.emulator.modes.synchronized_output
    }

    /// Returns the work done so far. The unit is a cell written, moved or read. A byte, row, mark or link counts as
    /// several units. A caller uses this number to limit the processor time of untrusted bytes.
    pub fn effort(&self) -> u64 {
        self.emulator.grid.effort.cells()
    }

    /// Returns the memory in bytes. Omits waiting lines, waiting answers and parts shared with `neighbour`.
    pub fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let shown = self.screen().bytes_beyond(neighbour.map(Self::screen));
        let theirs = neighbour.map(|terminal| &terminal.emulator);
        let titles = theirs.map(|emulator| &emulator.title_stack);
        let titles = self.emulator.title_stack.bytes(titles);
        let unseen =
            size_of::<Self>() + self.parser.bytes() + self.emulator.grid.tabs.bytes() + titles;
        let Some(hidden) = &self.emulator.hidden else { return shown + Bytes::from(unseen) };
        let theirs = theirs.and_then(|emulator| emulator.hidden.as_ref());
        let shared = theirs.map(|hidden| row_addresses(&hidden.rows)).unwrap_or_default();
        let rows = size_of_val(&*hidden.rows) + rows_beyond(&hidden.rows, &shared);
        shown + Bytes::from(unseen + rows)
    }
}
