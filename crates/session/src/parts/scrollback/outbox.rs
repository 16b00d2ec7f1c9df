//! The server's lines, and how far the next state reaches.
//!
//! The screen comes first. Lines are published a few at a time, while the screen is unchanged, programs are quiet and
//! no key waits for its echo. When something was lost they are withdrawn, so that repairs stay small. Lines that the
//! client has seen are an exception: they travel with the screen that they scrolled off from, for a few bytes.

use std::collections::VecDeque;

use rove_terminal::{SCROLLBACK_BYTES_MAX, SCROLLBACK_LINES_MAX, Screen, ScrollbackLine, Terminal};

use super::{Arc, Numbered, Scrolled};
use crate::part::Part;

/// Most that one frame adds, in bytes before compression. Chosen: plain text of this length fits into
/// one datagram or two.
const PIECE_MAX: usize = 4 * 1024;

/// Most on its way at once. Chosen: two pieces; with RTT 100 ms some 40 KB/s, 10 compressed, which a key
/// hardly waits behind.
const WINDOW_MAX: usize = 2 * PIECE_MAX;

/// Most on its way when something was lost. Chosen: it leaves most of one datagram to the picture.
const REPAIR_MAX: usize = 512;

/// Most that is published at the end, where there is no later. Chosen: some 15 KiB compressed, which 128
/// kbit/s take in a second.
const LAST_MAX: usize = 64 * 1024;

/// Cells of a line that count as much as a byte, be they blank. So the lines on their way are bounded in cells too.
const CELLS_PER_BYTE: usize = 16;

const _: () = assert!(2 * (LAST_MAX * CELLS_PER_BYTE) <= super::CELLS_MAX);

/// The server's lines.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Lines taken from the terminal that are not known to have arrived.
    taken: Scrolled,
    /// Up to where they are published.
    published: u64,
    /// Up to where they have arrived. A state that reached less may be acknowledged later.
    arrived: u64,
    /// The newest lines that were taken, for the client that comes after this one.
    history: History,
    /// Lines of an earlier client's that go to this one before any from the terminal.
    waiting: VecDeque<Numbered>,
}

/// The newest lines, in order: as many and as large as a terminal keeps.
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

    /// Forgets the oldest lines, down to so many and to the bound of memory.
    fn shrink(&mut self, count: usize) {
        while self.lines.len() > count || self.bytes > SCROLLBACK_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.bytes();
        }
    }
}

impl Outbox {
    /// Returns the lines for the client that comes after this one: the newest of all that the session has had, as far as they
    /// are kept. It has none of them.
    pub(crate) fn for_successor(&mut self, terminal: &Terminal) -> Self {
        let mut history = core::mem::take(&mut self.history);
        history.shrink(SCROLLBACK_LINES_MAX.saturating_sub(terminal.scrollback_len()));
        let start = history.lines.front().map_or(self.taken.end(), |oldest| oldest.number);
        let taken = Scrolled { end: start, ..Scrolled::default() };
        let waiting = history.lines.clone();
        Self { taken, published: start, arrived: start, history, waiting }
    }

    /// Returns the lines to publish.
    pub(crate) fn state(&self) -> Scrolled {
        debug_assert!(self.arrived <= self.published && self.published <= self.taken.end());
        let mut state = self.taken.clone();
        state.truncate(self.published);
        state
    }

    /// Returns whether the client is not known to hold all lines that are published.
    pub(crate) const fn is_on_its_way(&self) -> bool {
        self.arrived < self.published
    }

    /// Notes the lines that the client is known to hold.
    pub(crate) fn acknowledge(&mut self, known: &Scrolled) {
        self.taken.drop_known(known);
        self.arrived = self.arrived.max(known.end());
        self.published = self.published.max(self.arrived);
    }

    /// Withdraws lines that were published and not sent, as the screen goes first.
    pub(crate) fn yield_to_screen(&mut self, sent: &Scrolled) {
        self.published = self.published.min(sent.end()).max(self.arrived);
    }

    /// Withdraws most lines on their way, as something was lost. Returns whether that changed anything.
    pub(crate) fn shrink(&mut self) -> bool {
        let end = self.reach(REPAIR_MAX).min(self.published);
        core::mem::replace(&mut self.published, end) != end
    }

    /// Publishes more if there is room. Returns whether that changed anything.
    pub(crate) fn extend(&mut self, terminal: &mut Terminal) -> bool {
        let old = self.published;
        let on_its_way = self.on_its_way();
        let mut room = PIECE_MAX.min(WINDOW_MAX.saturating_sub(on_its_way));
        while let Some(next) = self.next(terminal) {
            let cost = cost(&next.line);
            // A line too long for any piece goes alone.
            let goes_alone = on_its_way == 0 && self.published == old;
            if cost > room && !goes_alone {
                break;
            }
            room = room.saturating_sub(cost);
            self.published = next.number + 1;
        }
        self.published != old
    }

    /// Publishes the next lines as far as they are on a screen that the client was sent. If more lines wait than that
    /// screen has rows, it cannot have shown them all.
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

    /// Publishes as many of the newest lines as may be on their way, for there will be no other chance.
    pub(crate) fn finish(&mut self, sent: &Scrolled, terminal: &mut Terminal) {
        while self.take_next(terminal).is_some() {}
        // Lines that were sent may have arrived, and must not be given up.
        let unsent = self.taken.held.partition_point(|held| held.number < sent.end());
        let mut room = LAST_MAX;
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

    /// Returns the first line that is not published.
    fn next(&mut self, terminal: &mut Terminal) -> Option<Numbered> {
        if self.taken.from(self.published).next().is_none() {
            self.take_next(terminal)?;
        }
        self.taken.from(self.published).next().cloned()
    }

    /// Takes one more line.
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

    /// Returns where the lines end that have not arrived and cost so much together.
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

    /// Returns the cost of the lines on their way.
    fn on_its_way(&self) -> usize {
        let published = self.taken.held.iter().take_while(|held| held.number < self.published);
        published.map(|held| cost(&held.line)).sum()
    }
}

/// Returns about how many bytes a line costs to send.
fn cost(line: &ScrollbackLine) -> usize {
    line.text_bytes() + usize::from(line.columns()) / CELLS_PER_BYTE
}
