//! The emulator: parser, modes and screen.

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
/// A *host* terminal is driven by programs on a pty, answers their questions and repairs half
/// overwritten wide characters. A *replica* is driven by the far end's diffs: it changes what the
/// diff says and nothing more, and never answers.
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

    /// Creates a blank terminal that follows a far end's diffs.
    pub fn replica(size: Size) -> Self {
        Self { parser: Parser::default(), emulator: Emulator::new(size, Role::Replica) }
    }

    /// Creates a terminal for programs on a pty that shows a picture already. All that a picture does not
    /// say is as in a blank terminal.
    pub fn showing(screen: Screen) -> Self {
        let mut terminal = Self::host(screen.size());
        terminal.emulator.grid.screen = screen;
        terminal
    }

    /// Reads host bytes, cut anywhere.
    pub fn write(&mut self, bytes: &[u8]) {
        self.write_within(bytes, u64::MAX);
    }

    /// Reads host bytes, cut anywhere, until [`Terminal::effort`] is above a limit; returns how many it has read. The
    /// effort goes beyond the limit by the cost of a sequence or of [`RUN_BYTES_MAX`] bytes of text.
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

    /// Forgets an unfinished sequence or character, so that what is written next stands alone.
    pub fn ground(&mut self) {
        self.parser.ground();
    }

    /// Returns and forgets the answers owed to the program on the pty. Bounded; a flood of
    /// questions beyond the bound goes unanswered.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.emulator.answers.take()
    }

    /// Returns and forgets what a program copied last (OSC 52) since this was asked; never of a replica,
    /// whose far end may repeat itself.
    pub fn take_copied(&mut self) -> Option<Copied> {
        self.emulator.copies.last.take()
    }

    /// Returns and forgets what programs notified of, oldest first, the last
    /// [`crate::NOTIFICATIONS_MAX`]; never of a replica.
    pub fn take_notifications(&mut self) -> impl Iterator<Item = Notification> + use<> {
        core::mem::take(&mut self.emulator.notifications).into_iter()
    }

    /// Keeps lines that scroll off the top of the primary screen from now on, until they are taken: up
    /// to [`crate::SCROLLBACK_LINES_MAX`] and [`crate::SCROLLBACK_BYTES_MAX`], the newest.
    pub fn keep_scrollback(&mut self) {
        self.emulator.grid.scrollback.get_or_insert_default();
    }

    /// Returns how many lines that scrolled off wait to be taken.
    pub fn scrollback_len(&self) -> usize {
        self.emulator.grid.scrollback.as_ref().map_or(0, |scrollback| scrollback.len())
    }

    /// Returns the oldest line that scrolled off, and its number: how many there were before it,
    /// those dropped counted.
    pub fn scrollback_line(&self) -> Option<(u64, &ScrollbackLine)> {
        self.emulator.grid.scrollback.as_ref()?.front()
    }

    /// Takes the line that [`Self::scrollback_line`] returns.
    pub fn take_scrollback_line(&mut self) -> Option<(u64, ScrollbackLine)> {
        self.emulator.grid.scrollback.as_mut()?.pop()
    }

    /// Returns the picture; clone it for a snapshot.
    pub fn screen(&self) -> &Screen {
        &self.emulator.grid.screen
    }

    /// Returns the picture as it is now, which later writes leave alone.
    pub fn snapshot(&self) -> Screen {
        self.emulator.grid.screen.clone()
    }

    /// Tells a host terminal what is known of the user's real terminal.
    pub fn set_user_terminal(&mut self, user_terminal: UserTerminal) {
        self.emulator.set_user_terminal(user_terminal);
    }

    /// Returns what is known of the user's real terminal.
    pub fn user_terminal(&self) -> &UserTerminal {
        &self.emulator.user_terminal
    }

    /// Returns whether a program is in the middle of a frame (mode 2026) and the picture had better
    /// not be shown. Nothing ends this but the program: the caller limits how long it waits.
    pub fn synchronized_output(&self) -> bool {
        self.emulator.modes.synchronized_output
    }

    /// Returns the work done so far, counted in cells: those written, moved or looked at, and as many as the
    /// bytes, the rows and what stands beside the cells are worth. A caller that plays a stranger's bytes limits by
    /// it how long they can keep a processor busy.
    pub fn effort(&self) -> u64 {
        self.emulator.grid.effort.cells()
    }

    /// Returns the memory this terminal takes beyond what it shares with `neighbour`: the picture, the one that is
    /// hidden behind or before the alternate screen, and what is not to be seen.
    pub fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let shown = self.screen().bytes_beyond(neighbour.map(Self::screen));
        let theirs = neighbour.map(|terminal| &terminal.emulator);
        let unseen = size_of::<Self>() + self.parser.bytes() + self.emulator.unseen_bytes(theirs);
        let Some(hidden) = &self.emulator.hidden else { return shown + Bytes::from(unseen) };
        let theirs = theirs.and_then(|emulator| emulator.hidden.as_ref());
        let shared = theirs.map(|hidden| row_addresses(&hidden.rows)).unwrap_or_default();
        let rows = size_of_val(&*hidden.rows) + rows_beyond(&hidden.rows, &shared);
        shown + Bytes::from(unseen + rows)
    }
}
