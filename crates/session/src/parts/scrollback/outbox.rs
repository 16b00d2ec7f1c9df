//! The server's queue of scrolled-off lines. It decides how many of them the next state publishes.
//!
//! The screen has priority. The server publishes lines a few at a time, while the screen does not change, programs are
//! quiet and no key waits for its echo. After a loss it withdraws lines, so that repairs stay small. It publishes at
//! once the lines that the client's screen still shows: a diff names their rows in a few bytes.

use std::collections::VecDeque;

use rove_terminal::{SCROLLBACK_BYTES_MAX, SCROLLBACK_LINES_MAX, Screen, ScrollbackLine, Terminal};

use super::{Arc, Numbered, Scrolled};
use crate::part::Part;

/// Maximum length of scrolled-off lines that one frame (a sent diff) adds, in bytes before compression. Chosen: plain
/// text of this length fits into one datagram or two.
const PIECE_MAX: usize = 4 * 1024;

/// Window: maximum length of scrolled-off lines sent and not acknowledged, in bytes before compression. Chosen: two
/// pieces; with RTT 100 ms that is some 40 KB/s, or 10 KB/s compressed, which hardly delay a key.
const WINDOW_MAX: usize = 2 * PIECE_MAX;

/// Window for lines after a loss, in bytes before compression. Chosen: it leaves most of one datagram to the picture.
const REPAIR_MAX: usize = 512;

/// Maximum length of the scrolled-off lines that the session's last state adds, in bytes before compression. After the
/// program's end, it is [`PIECE_MAX`]. Chosen: some 15 KiB compressed, which 128 kbit/s take in a second.
const LAST_MAX: usize = 64 * 1024;

/// Window after the program's end: maximum length of scrolled-off lines sent and not acknowledged, in bytes before
/// compression. Chosen: 10,000 random lines take 14 s on 1 Mbit/s with RTT 100 ms, and with two pieces 38 s. Larger
/// pieces or windows are sent repeatedly on slow paths.
const HURRIED_WINDOW_MAX: usize = 4 * PIECE_MAX;

/// Number of a line's cells that cost as much as one byte of text, even if blank, so that the window bounds cells too.
const CELLS_PER_BYTE: usize = 16;

const _: () = assert!((HURRIED_WINDOW_MAX + LAST_MAX) * CELLS_PER_BYTE <= super::CELLS_MAX);

/// The server's queue of scrolled-off lines for its client.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Lines taken from the terminal that the client has not acknowledged.
    taken: Scrolled,
    /// The number of the first line that is not published.
    published: u64,
    /// The number of the first line that the client has not acknowledged. It never decreases, even if a state with
    /// fewer lines is acknowledged later.
    arrived: u64,
    /// The newest lines taken from the terminal, for a client that takes the session over.
    history: History,
    /// Lines from the history for this client. They are sent before any new line from the terminal.
    waiting: VecDeque<Numbered>,
    /// Whether the program has ended, so that only lines remain to be sent.
    is_hurried: bool,
}

/// The newest scrolled-off lines, oldest first, within the bounds of a terminal's own scrollback.
#[derive(Debug, Default)]
struct History {
    lines: VecDeque<Numbered>,
    bytes: usize,
}

impl History {
    fn push(&mut self, line: Numbered) {
        self.bytes += line.bytes();
        self.lines.push_back(line);
        self.shrink(SCROLLBACK_LINES_MAX);
    }

    /// Drops the oldest lines until at most `count` remain and the memory bound holds.
    fn shrink(&mut self, count: usize) {
        while self.lines.len() > count || self.bytes > SCROLLBACK_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.bytes();
        }
    }
}

impl Outbox {
    /// Returns the queue for a client that takes the session over and has no lines. That queue holds the newest lines
    /// of the session, as far as the server keeps them.
    pub(crate) fn for_successor(&mut self, terminal: &Terminal) -> Self {
        let mut history = core::mem::take(&mut self.history);
        history.shrink(SCROLLBACK_LINES_MAX.saturating_sub(terminal.scrollback_len()));
        let start = history.lines.front().map_or(self.taken.end(), |oldest| oldest.number);
        let taken = Scrolled { end: start, ..Scrolled::default() };
        let waiting = history.lines.clone();
        let is_hurried = self.is_hurried;
        Self { taken, published: start, arrived: start, history, waiting, is_hurried }
    }

    /// Returns the lines to publish in the next state.
    pub(crate) fn state(&self) -> Scrolled {
        debug_assert!(self.arrived <= self.published && self.published <= self.taken.end());
        let mut state = self.taken.clone();
        state.truncate(self.published);
        state
    }

    /// Returns whether the client has not yet acknowledged all published lines.
    pub(crate) const fn is_on_its_way(&self) -> bool {
        self.arrived < self.published
    }

    /// Returns the number of the first line that the client has not acknowledged.
    pub(crate) const fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Sends lines with a larger window from now on, because the program has ended.
    pub(crate) const fn hurry(&mut self) {
        self.is_hurried = true;
    }

    pub(crate) const fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    pub(crate) fn acknowledge(&mut self, known: &Scrolled) {
        self.taken.drop_known(known);
        self.arrived = self.arrived.max(known.end());
        self.published = self.published.max(self.arrived);
    }

    /// Withdraws published lines that were not sent yet, because a change of the screen goes first.
    pub(crate) fn yield_to_screen(&mut self, sent: &Scrolled) {
        self.published = self.published.min(sent.end()).max(self.arrived);
    }

    /// Withdraws unacknowledged lines beyond [`REPAIR_MAX`] after a loss, and returns whether any were withdrawn.
    pub(crate) fn shrink(&mut self) -> bool {
        let end = self.reach(REPAIR_MAX).min(self.published);
        core::mem::replace(&mut self.published, end) != end
    }

    /// Publishes more lines while the window has room, and returns whether any were added.
    pub(crate) fn extend(&mut self, terminal: &mut Terminal) -> bool {
        let old = self.published;
        let on_its_way = self.on_its_way();
        let window_max = if self.is_hurried { HURRIED_WINDOW_MAX } else { WINDOW_MAX };
        let mut room = PIECE_MAX.min(window_max.saturating_sub(on_its_way));
        while let Some(next) = self.next(terminal) {
            let cost = cost(&next.line);
            // A line that is longer than the window is published alone.
            let goes_alone = on_its_way == 0 && self.published == old;
            if cost > room && !goes_alone {
                break;
            }
            room = room.saturating_sub(cost);
            self.published = next.number + 1;
        }
        self.published != old
    }

    /// Publishes the next lines if they are on `screen`, the newest screen that was sent: they cost a few bytes each.
    /// Publishes nothing if more lines wait than the screen has rows, or if more than a window is unacknowledged.
    pub(crate) fn ride(&mut self, screen: &Screen, terminal: &mut Terminal) {
        let rows = screen.size().rows();
        let waiting = self.taken.from(self.published).count()
            + self.waiting.len()
            + terminal.scrollback_len();
        if waiting > usize::from(rows) || self.on_its_way() > WINDOW_MAX {
            return;
        }
        while let Some(next) = self.next(terminal) {
            let is_shown = |row| screen.row(row).is_some_and(|row| next.line.looks_like(row));
            if !(0..rows).any(is_shown) {
                break;
            }
            self.published = next.number + 1;
        }
    }

    /// Returns whether the lines that were not `sent` are more than the last state may add.
    pub(crate) fn exceeds_last(&mut self, sent: &Scrolled, terminal: &mut Terminal) -> bool {
        while self.take_next(terminal).is_some() {}
        let max = self.last_max();
        let mut unsent = self.taken.from(sent.end()).map(|held| cost(&held.line));
        let within = |sum: usize, cost| Some(sum + cost).filter(|sum| *sum <= max);
        unsent.try_fold(0, within).is_none()
    }

    /// Publishes as many of the newest lines as the last state of the session may add.
    pub(crate) fn finish(&mut self, sent: &Scrolled, terminal: &mut Terminal) {
        while self.take_next(terminal).is_some() {}
        // Lines that were sent may have arrived, so they stay published.
        let unsent = self.taken.held.partition_point(|held| held.number < sent.end());
        let mut room = self.last_max();
        let fits = |held: &&Numbered| {
            let cost = cost(&held.line);
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        };
        let kept = self.taken.held.iter().skip(unsent).rev().take_while(fits).count();
        let dropped = unsent..self.taken.held.len() - kept;
        self.taken.held.drain(dropped);
        let held = self.taken.held.iter();
        let sizes = held.map(|held| (usize::from(held.line.columns()), held.bytes()));
        (self.taken.cells, self.taken.bytes) =
            sizes.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1));
        self.published = self.taken.end();
    }

    /// Returns the maximum length of the lines that the last state adds. After the program's end, it is short, as
    /// a slow or lossy path would not deliver a long one in the time of a shutdown.
    const fn last_max(&self) -> usize {
        if self.is_hurried { PIECE_MAX } else { LAST_MAX }
    }

    /// Returns the first line that is not published, or `None` if no more lines have scrolled off.
    fn next(&mut self, terminal: &mut Terminal) -> Option<Numbered> {
        if self.taken.from(self.published).next().is_none() {
            self.take_next(terminal)?;
        }
        self.taken.from(self.published).next().cloned()
    }

    /// Moves one line from the history or the terminal to `taken`; returns `None` if there is none.
    fn take_next(&mut self, terminal: &mut Terminal) -> Option<()> {
        let line = match self.waiting.pop_front() {
            Some(line) => line,
            None => {
                let (number, line) = terminal.take_scrollback_line()?;
                let line = Numbered { number, line: Arc::new(line) };
                self.history.push(line.clone());
                line
            }
        };
        self.taken.push(line);
        Some(())
    }

    /// Returns the number after the last unacknowledged line that fits, with all lines before it, into `cost_max`.
    fn reach(&self, cost_max: usize) -> u64 {
        let mut end = self.arrived;
        let mut sum = 0;
        for held in self.taken.from(self.arrived) {
            sum += cost(&held.line);
            if sum > cost_max {
                break;
            }
            end = held.number + 1;
        }
        end
    }

    /// Returns the cost of the published lines that are not acknowledged ([`cost`]).
    fn on_its_way(&self) -> usize {
        let published = self.taken.held.iter().take_while(|held| held.number < self.published);
        published.map(|held| cost(&held.line)).sum()
    }
}

/// Returns the estimated size of a line on the wire, in bytes before compression.
fn cost(line: &ScrollbackLine) -> usize {
    line.text_bytes() + usize::from(line.columns()) / CELLS_PER_BYTE
}
