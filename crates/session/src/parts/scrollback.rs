//! Lines that scrolled off the host's screen, sent to the user's terminal between two roves.
//!
//! Lines are numbered in the order of scrolling off. A server state holds the lines that the client may not have, and
//! the number after the last of them. Lines that the server had to drop are left out. The client scrolls each line into
//! the user's terminal once ([`Inbox`]). The server decides which lines each state adds ([`Outbox`]).

mod cut_rows;
mod inbox;
mod outbox;

use std::collections::VecDeque;
use std::sync::Arc;

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{Row, Screen, ScrollbackLine, Size, Terminal};

use crate::message::{number, put_bytes_field, put_varint_field, refused, string};
use crate::part::{Part, Receiver, Replica, Work};

pub(crate) use inbox::Inbox;
pub(crate) use outbox::Outbox;

const FIRST: u32 = 1;
const COUNT: u32 = 2;
const COLUMNS: u32 = 3;
const TEXT: u32 = 4;
const ROW: u32 = 5;
const WRAPS: u32 = 6;

/// Maximum number of scrolled-off lines in one instruction. Chosen: a screenful, drawn in well under a millisecond.
const MEMBER_LINES_MAX: usize = 128;

/// Maximum number of cells, with blank ones, of the scrolled-off lines that a server state holds. Chosen: twice the
/// cells that the server sends before an acknowledgment, see [`outbox`]. This is 32 MiB if no cell is blank.
const CELLS_MAX: usize = 2 * 1024 * 1024;

/// Memory limit of the scrolled-off lines of a server state, in bytes. Chosen: as much as [`outbox`] sends before an
/// acknowledgment, in empty lines of a hundred bytes each.
pub(crate) const BYTES_MAX: usize = 6 * 1024 * 1024;

/// Maximum length of the text of scrolled-off lines in one instruction, in bytes. Chosen: one line of 4096 columns with
/// a few colours, combining characters and links. Such a line has a separate instruction.
const TEXT_MAX: usize = 256 * 1024;

/// Maximum work that the scrolled-off lines of one instruction may cost, in cells ([`Terminal::effort`]). Chosen: each
/// cell of 128 lines of 4096 columns written several times; some milliseconds.
const EFFORT_MAX: u64 = 8_000_000;

/// A scrolled-off line, and its number since the session's start.
#[derive(Clone, Debug)]
struct Numbered {
    number: u64,
    line: Arc<ScrollbackLine>,
}

impl Numbered {
    /// Returns the memory that this line uses, in bytes.
    fn bytes(&self) -> usize {
        size_of::<Self>() + LINE_BYTES + self.line.bytes()
    }
}

/// Memory of a line besides its content, in bytes. Chosen: the two counts of its `Arc`, and an allocator's overhead.
const LINE_BYTES: usize = 32;

/// The scrolled-off lines of one server state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrolled {
    /// The number that follows the number of the state's last line.
    end: u64,
    /// The lines that the client may not have, in ascending order. Numbers of dropped lines are missing.
    held: VecDeque<Numbered>,
    /// Sum of the columns of all held lines.
    cells: usize,
    /// Memory of all held lines, in bytes.
    bytes: usize,
}

impl Scrolled {
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the held lines whose number is at least `number`.
    fn from(&self, number: u64) -> impl Iterator<Item = &Numbered> {
        let first = self.held.partition_point(|held| held.number < number);
        self.held.range(first..)
    }

    fn push(&mut self, numbered: Numbered) {
        debug_assert!(numbered.number >= self.end);
        self.end = numbered.number + 1;
        self.cells += usize::from(numbered.line.columns());
        self.bytes += numbered.bytes();
        self.held.push_back(numbered);
    }

    /// Drops the held lines whose number is at least `end`.
    fn truncate(&mut self, end: u64) {
        while let Some(last) = self.held.pop_back_if(|held| held.number >= end) {
            self.cells -= usize::from(last.line.columns());
            self.bytes -= last.bytes();
        }
        self.end = self.end.min(end);
        debug_assert!(!self.held.is_empty() || (self.cells, self.bytes) == (0, 0));
    }

    /// Adds the lines of one instruction, in place of lines with equal or higher numbers. `screen` is the base state's
    /// screen, and `work` the cost of the diff so far.
    ///
    /// # Errors
    ///
    /// Returns the rule that the instruction breaks.
    fn take(
        &mut self,
        wire: &WireLines<'_>,
        screen: &Screen,
        work: &mut Work,
    ) -> Result<(), &'static str> {
        if wire.first < self.end {
            self.truncate(wire.first);
        }
        if wire.count == 0 {
            self.end = wire.first;
            return Ok(());
        }
        let count = usize::try_from(wire.count).unwrap_or(usize::MAX);
        if count > MEMBER_LINES_MAX || wire.first.checked_add(wire.count).is_none() {
            return Err("more lines than a screen has");
        }
        let lines = match wire.row.checked_sub(1) {
            Some(row) => shown_lines(screen, row, count, work)?,
            None => read_text(wire, count, work)?,
        };
        let cells: usize = lines.iter().map(|line| usize::from(line.columns())).sum();
        if self.cells + cells > CELLS_MAX {
            return Err("more lines than are ever on their way");
        }
        let last = lines.len() - 1;
        for ((line, number), at) in lines.into_iter().zip(wire.first..).zip(0..) {
            let line = if at == last { line.with_wrapped(wire.wraps) } else { line };
            self.push(Numbered { number, line: Arc::new(line) });
            if self.bytes > BYTES_MAX {
                return Err("more lines than are ever on their way");
            }
        }
        Ok(())
    }
}

impl Part for Scrolled {
    const MEMBER: u32 = 21;
    const EXTENSION: Capabilities = Capabilities::SCROLLBACK;
    /// Lines may be copied from the base state's screen, so they come before the picture changes that screen.
    const IS_BEFORE_PICTURE: bool = true;

    /// Lines that the receiver's screen shows are sent as row numbers, and all others as text.
    fn diff_from(&self, base: &Self, receiver: &Receiver<'_>) -> Vec<Vec<u8>> {
        let new: Vec<&Numbered> = self.from(base.end).collect();
        let mut rest = new.as_slice();
        let mut bodies = Vec::new();
        while !rest.is_empty() {
            let run = run_length(rest);
            let (shown, row) = on_screen(receiver.shows, &rest[..run]);
            let taken = if shown > 0 {
                let lines = head(&rest[..shown]);
                bodies.push(WireLines { row: u64::from(row) + 1, ..lines }.body());
                shown
            } else {
                let hidden = (1..run).find(|&at| on_screen(receiver.shows, &rest[at..run]).0 > 0);
                let hidden = hidden.unwrap_or(run);
                bodies.push(body_of_text(&rest[..hidden], receiver.vocabulary()));
                hidden
            };
            rest = &rest[taken..];
        }
        // The end differs if this state has fewer lines than `base`, or if its last lines came with another state.
        let last = new.last().map_or(base.end, |last| last.number + 1);
        if last != self.end {
            bodies.push(WireLines { first: self.end, ..WireLines::default() }.body());
        }
        bodies
    }

    fn apply(&mut self, body: &[u8], replica: &mut Replica<'_>) -> Result<(), ApplyError> {
        let lines = WireLines::read(body)?;
        self.take(&lines, replica.screen, replica.work).map_err(refused)
    }

    fn same_as(&self, other: &Self) -> bool {
        self.end == other.end
    }

    fn drop_known(&mut self, known: &Self) {
        while let Some(first) = self.held.pop_front_if(|held| held.number < known.end) {
            self.cells -= usize::from(first.line.columns());
            self.bytes -= first.bytes();
        }
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        let is_shared = |held: &&Numbered| {
            neighbour.and_then(|other| other.from(held.number).next()).is_some_and(|theirs| {
                theirs.number == held.number && Arc::ptr_eq(&theirs.line, &held.line)
            })
        };
        let own = self.held.iter().filter(|held| !is_shared(held));
        own.map(|held| held.line.bytes()).sum::<usize>()
            + self.held.capacity() * size_of::<Numbered>()
    }
}

/// Scrolled-off lines, as one field of a `HostMessage` instruction encodes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WireLines<'a> {
    /// The number of the first line. Lines of the base state from this number on are dropped.
    first: u64,
    /// How many lines the field holds. With 0, it only states that the lines of the state end before number `first`.
    count: u64,
    /// Width of the lines, in columns; all are equally wide.
    columns: u64,
    /// Terminal bytes that draw the lines below each other on a blank screen; empty if `row` is set.
    text: &'a [u8],
    /// The first line's row on the base state's screen, from 1; 0 if the lines are in `text`.
    row: u64,
    /// Whether the last line wraps into the line after it.
    wraps: bool,
}

impl<'a> WireLines<'a> {
    fn read(body: &'a [u8]) -> Result<Self, ApplyError> {
        Ok(Self {
            first: number(body, FIRST)?,
            count: number(body, COUNT)?,
            columns: number(body, COLUMNS)?,
            text: string(body, TEXT)?,
            row: number(body, ROW)?,
            wraps: number(body, WRAPS)? == 1,
        })
    }

    fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.text.len() + 32);
        let fields = [
            (FIRST, self.first),
            (COUNT, self.count),
            (COLUMNS, self.columns),
            (ROW, self.row),
            (WRAPS, u64::from(self.wraps)),
        ];
        for (field, value) in fields.into_iter().filter(|(_, value)| *value > 0) {
            put_varint_field(&mut body, field, value);
        }
        if !self.text.is_empty() {
            put_bytes_field(&mut body, TEXT, self.text);
        }
        body
    }
}

/// Returns how many of `lines`, from the first on, one instruction can hold: equally wide ones with successive numbers.
fn run_length(lines: &[&Numbered]) -> usize {
    let (first, columns) = (lines[0].number, lines[0].line.columns());
    let is_next = |(held, number): &(&&Numbered, u64)| {
        held.number == *number && held.line.columns() == columns
    };
    lines.iter().zip(first..).take(MEMBER_LINES_MAX).take_while(is_next).count()
}

/// Returns how many of the lines, from the first on, are on successive rows of `screen`, and the row of the first line.
/// A line that wraps into the next ends the count, because only an instruction's last line can be marked as wrapping.
fn on_screen(screen: Option<&Screen>, lines: &[&Numbered]) -> (usize, u16) {
    let Some(screen) = screen else { return (0, 0) };
    let is_shown = |row: u16, held: &Numbered| {
        screen.row(row).is_some_and(|shown| held.line.looks_like(shown))
    };
    let Some(first) = (0..screen.size().rows()).find(|&row| is_shown(row, lines[0])) else {
        return (0, 0);
    };
    let below = (first..).zip(lines).take_while(|(row, held)| is_shown(*row, held)).count();
    let wrapping = lines[..below].iter().position(|held| held.line.wrapped());
    (wrapping.map_or(below, |at| at + 1), first)
}

fn body_of_text(lines: &[&Numbered], vocabulary: Vocabulary) -> Vec<u8> {
    let columns = lines[0].line.columns();
    let lines_of_text = lines.iter().map(|held| &*held.line);
    let picture =
        Screen::of_lines(columns, lines_of_text).expect("a run is of one width, and short");
    let blank = Screen::blank(picture.size());
    let text = display::diff_without_events(&blank, &picture, vocabulary);
    WireLines { columns: u64::from(columns), text: &text, ..head(lines) }.body()
}

fn head<'a>(lines: &[&Numbered]) -> WireLines<'a> {
    WireLines {
        first: lines[0].number,
        count: u64::try_from(lines.len()).expect("a length fits 64 bits"),
        wraps: lines[lines.len() - 1].line.wrapped(),
        ..WireLines::default()
    }
}

/// Cost of a cell of a line copied from a screen, in cells of [`Terminal::effort`]. Chosen: with combining characters
/// and a link, as measured.
const LINE_CELL_EFFORT: usize = 16;

/// Returns `count` rows of the screen as lines, from `row` (counted from 0) on. Returns an error if the screen has
/// fewer.
fn shown_lines(
    screen: &Screen,
    row: u64,
    count: usize,
    work: &mut Work,
) -> Result<Vec<ScrollbackLine>, &'static str> {
    // Each line is copied twice, with the data beside its cells.
    work.spend(count * (usize::from(screen.size().columns()) * LINE_CELL_EFFORT + LINE_BYTES));
    let first = u16::try_from(row).map_err(|_| "a line that is not on the screen")?;
    let row = |row: u16| screen.row(row).ok_or("a line that is not on the screen");
    let line = |row: &Row| ScrollbackLine::new(row).with_wrapped(false);
    (first..=u16::MAX).take(count).map(|number| row(number).map(line)).collect()
}

/// Returns the scrolled-off lines that an instruction's terminal bytes draw on a blank screen, or an error at a limit.
fn read_text(
    wire: &WireLines<'_>,
    count: usize,
    work: &mut Work,
) -> Result<Vec<ScrollbackLine>, &'static str> {
    let size = u16::try_from(wire.columns).ok().zip(u16::try_from(count).ok());
    let size = size.and_then(|(columns, rows)| Size::new(columns, rows).ok());
    let size = size.ok_or("lines of a width that no screen has")?;
    work.line_cells += usize::from(size.columns()) * usize::from(size.rows());
    if work.line_cells > CELLS_MAX {
        return Err("more lines than are ever on their way");
    }
    if wire.text.len() > TEXT_MAX {
        return Err("more text than lines have");
    }
    let mut terminal = Terminal::replica(size);
    let written = terminal.write_within(wire.text, EFFORT_MAX);
    work.spend(terminal.effort());
    work.spend(usize::from(size.columns()) * usize::from(size.rows()) * LINE_CELL_EFFORT);
    if written < wire.text.len() {
        return Err("more work than lines are worth");
    }
    let screen = terminal.screen();
    let rows = (0..screen.size().rows()).filter_map(|row| screen.row(row));
    Ok(rows.map(ScrollbackLine::new).collect())
}

#[cfg(test)]
mod tests;
