//! The terminal: a parser and an emulator.

use rove_units::Bytes;

use crate::clipboard::Copied;
use crate::emulator::{Emulator, Role};
use crate::notification::Notification;
use crate::parse::Parser;
use crate::screen::compose::{row_addresses, rows_beyond};
use crate::screen::{Screen, Size};
use crate::scrollback::ScrollbackLine;
use crate::user_terminal::UserTerminal;

/// Bytes of text that may be taken between two looks at the effort. Chosen: two rows of a large window; in insert mode
/// each character shifts the rest of its row.
pub const RUN_BYTES_MAX: usize = 1024;

/// A terminal emulator.
///
/// A *host* terminal performs the bytes of programs on a pty. It answers their questions, and blanks a wide character
/// that loses a half. A *replica* performs the diffs of the far end. It does nothing but what a diff says, and never
/// answers.
#[derive(Clone, Debug)]
pub struct Terminal {
    parser: Parser,
    emulator: Emulator,
}

impl Terminal {
    /// Creates a blank terminal for programs on a pty.
    pub fn host(size: Size) -> Self {
        Self { parser: Parser::default(), emulator: Emulator::new(size, Role::Host) }
    }

    /// Creates a blank terminal that performs the diffs of a far end.
    pub fn replica(size: Size) -> Self {
        Self { parser: Parser::default(), emulator: Emulator::new(size, Role::Replica) }
    }

    /// Creates a host terminal that shows a picture. All other state is that of a blank terminal.
    pub fn showing(screen: Screen) -> Self {
        let mut terminal = Self::host(screen.size());
        terminal.emulator.grid.screen = screen;
        terminal
    }

    /// Performs bytes, cut anywhere.
    pub fn write(&mut self, bytes: &[u8]) {
        self.write_within(bytes, u64::MAX);
    }

    /// Performs bytes, cut anywhere, until [`Terminal::effort`] exceeds a limit. Returns the number of bytes performed.
    /// The effort exceeds the limit by at most the cost of a sequence or of [`RUN_BYTES_MAX`] bytes of text.
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

    /// Changes the size.
    pub fn resize(&mut self, size: Size) {
        self.emulator.resize(size);
        if cfg!(debug_assertions) {
            self.emulator.grid.assert_integrity();
        }
    }

    /// Drops an unfinished sequence or character.
    pub fn ground(&mut self) {
        self.parser.ground();
    }

    /// Removes and returns the answers to the program on the pty. Their length is limited: a flood of questions goes
    /// unanswered.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.emulator.answers.take()
    }

    /// Removes and returns the last copy of a program (OSC 52). A replica returns none, because its far end may repeat
    /// itself.
    pub fn take_copied(&mut self) -> Option<Copied> {
        self.emulator.copies.last.take()
    }

    /// Removes and returns the last [`crate::NOTIFICATIONS_MAX`] notifications, oldest first. A replica returns none.
    pub fn take_notifications(&mut self) -> impl Iterator<Item = Notification> + use<> {
        core::mem::take(&mut self.emulator.notifications).into_iter()
    }

    /// Forgets the bells, the copied text and the notifications so far, which are no news to a client that comes later.
    pub fn forget_events(&mut self) {
        self.emulator.grid.screen.bells = 0;
        self.emulator.copies.last = None;
        self.emulator.notifications.clear();
    }

    /// Keeps the lines that scroll off the top of the primary screen, until they are taken. The limits are
    /// [`crate::SCROLLBACK_LINES_MAX`] and [`crate::SCROLLBACK_BYTES_MAX`]; beyond them the oldest lines are dropped.
    pub fn keep_scrollback(&mut self) {
        self.emulator.grid.scrollback.get_or_insert_default();
    }

    /// Returns the number of kept lines.
    pub fn scrollback_len(&self) -> usize {
        self.emulator.grid.scrollback.as_ref().map_or(0, |scrollback| scrollback.len())
    }

    /// Returns the oldest kept line and its number, which counts all lines from 0, dropped ones too.
    pub fn scrollback_line(&self) -> Option<(u64, &ScrollbackLine)> {
        self.emulator.grid.scrollback.as_ref()?.front()
    }

    /// Removes and returns the line that [`Self::scrollback_line`] returns.
    pub fn take_scrollback_line(&mut self) -> Option<(u64, ScrollbackLine)> {
        self.emulator.grid.scrollback.as_mut()?.pop()
    }

    /// Returns the picture. A clone of it is a snapshot.
    pub fn screen(&self) -> &Screen {
        &self.emulator.grid.screen
    }

    /// Returns a copy of the picture. Later writes do not change it.
    pub fn snapshot(&self) -> Screen {
        self.emulator.grid.screen.clone()
    }

    /// Sets the facts known of the user's terminal, in a host terminal.
    pub fn set_user_terminal(&mut self, user_terminal: UserTerminal) {
        self.emulator.set_user_terminal(user_terminal);
    }

    /// Returns the facts known of the user's terminal.
    pub fn user_terminal(&self) -> &UserTerminal {
        &self.emulator.user_terminal
    }

    /// Returns whether a program is drawing a frame (mode 2026), so that the picture is incomplete. Only the program
    /// ends this, so the caller must limit how long it waits.
    pub fn synchronized_output(&self) -> bool {
        self.emulator.modes.synchronized_output
    }

    /// Returns the work done so far, counted in cells that were written, moved or read. Bytes, rows, marks and links
    /// count as several cells each. With this number a caller limits the processor time that a stranger's bytes take.
    pub fn effort(&self) -> u64 {
        self.emulator.grid.effort.cells()
    }

    /// Returns the memory of this terminal, without the parts shared with `neighbour`: both screens, and all other
    /// state.
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
