//! Flicker: cells of a screen, and its cursor, that change and change back within a moment.
//!
//! A [`Watch`] compares the screens that a user sees, and does not know which screens are right. [`Change::is_in`] and
//! [`Change::is_in_moved_row`] say whether the recorded screens make the same change and take it back.

use core::fmt;

use rove_terminal::Position;
use rove_units::{Duration, Instant};

use crate::replay::picture::{Album, Glyph, Paint, Picture};

/// A change is flicker if it is taken back within this time. Chosen: a person sees a flash, not two screens.
const MOMENT: Duration = Duration::from_millis(200);

/// A part of the screen that can flicker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A cell.
    Cell(Position),
    /// The cursor.
    Cursor,
}

/// The visible state of a part: a cell's text and colours, or the cursor's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A cell's text, and its colours and attributes.
    Cell(Glyph, Paint),
    /// The position of the cursor. `None` while the cursor is hidden.
    Cursor(Option<Position>),
}

/// A change that was taken back within a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) part: Part,
    /// When the change was made, and when it was taken back.
    pub(crate) times: [Instant; 2],
    /// The state before the change, and again after it was taken back.
    pub(crate) old: Look,
    /// The state between the change and its reversal.
    pub(crate) new: Look,
    /// The number of the newest recorded screen that the client had before the change.
    pub(crate) since: usize,
}

/// How often something flickered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How often cells flickered.
    pub(crate) cells: usize,
    /// How often the cursor flickered.
    pub(crate) blinks: usize,
}

/// The present state of one part, and the last change that led to it.
#[derive(Clone, Copy, Debug)]
struct Trail {
    look: Look,
    last: Option<Departure>,
}

/// A change that may be taken back.
#[derive(Clone, Copy, Debug)]
struct Departure {
    from: Look,
    at: Instant,
    since: usize,
}

/// Watches the screens that a user sees.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    shown: Picture,
    /// The trails of the cells, row by row.
    rows: Vec<Vec<Trail>>,
    cursor: Trail,
}

impl Watch {
    /// Creates a watch of a terminal that shows the screen `shown`.
    pub(crate) fn new(album: &Album, shown: &Picture) -> Self {
        let trail = |look| Trail { look, last: None };
        let row = |index| looks(album, shown, index).map(trail).collect();
        Self {
            shown: shown.clone(),
            rows: (0..shown.texts.len()).map(row).collect(),
            cursor: trail(cursor(shown)),
        }
    }

    /// Compares the screen after a write with the last one, and returns the changes that the write took back. Rows
    /// above `first_row` are ignored. `since` is the newest recorded screen that the client had before the write.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        album: &Album,
        shown: &Picture,
        first_row: u16,
        since: usize,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        for (row, index) in (first_row..).zip(usize::from(first_row)..shown.texts.len()) {
            let of_row = |it: &Picture| (it.texts[index], it.paints[index]);
            if of_row(shown) == of_row(&self.shown) {
                continue;
            }
            for (column, (trail, look)) in
                (0..).zip(self.rows[index].iter_mut().zip(looks(album, shown, index)))
            {
                let part = Part::Cell(Position { row, column });
                changes.extend(trail.step(part, look, now, since));
            }
        }
        changes.extend(self.cursor.step(Part::Cursor, cursor(shown), now, since));
        self.shown = shown.clone();
        changes
    }
}

impl Trail {
    /// Notes the part's state after a write. Returns the last change if the write takes it back soon enough.
    fn step(&mut self, part: Part, look: Look, now: Instant, since: usize) -> Option<Change> {
        if look == self.look {
            return None;
        }
        let departure = Departure { from: self.look, at: now, since };
        let is_taken_back =
            |last: &Departure| last.from == look && now.saturating_since(last.at) < MOMENT;
        let last = self.last.replace(departure).filter(is_taken_back);
        let new = core::mem::replace(&mut self.look, look);
        last.map(|last| Change { part, times: [last.at, now], old: look, new, since: last.since })
    }
}

impl Change {
    /// Returns whether the part goes from the old state to the new one and back on these screens, in this order.
    pub(crate) fn is_in(&self, album: &Album, screens: &[&Picture]) -> bool {
        let mut looks = screens.iter().map(|screen| self.part.look(album, screen));
        [self.old, self.new, self.old].iter().all(|wanted| looks.any(|look| look == *wanted))
    }

    /// Returns whether these screens change and restore a cell in another row, which meanwhile looks like the cell's
    /// row in `shown`. A program moves its input line so, and the user may see the line at its old place.
    pub(crate) fn is_in_moved_row(
        &self,
        album: &Album,
        shown: &Picture,
        screens: &[&Picture],
    ) -> bool {
        let Part::Cell(Position { row, column }) = self.part else { return false };
        let of_row =
            |it: &Picture, row: u16| (it.texts[usize::from(row)], it.paints[usize::from(row)]);
        let moves_to = |other: u16| {
            let part = Part::Cell(Position { row: other, column });
            let mut screens = screens.iter();
            let is_old = |screen: &&&Picture| part.look(album, screen) == self.old;
            screens.any(|screen| is_old(&screen))
                && screens.any(|screen| of_row(screen, other) == of_row(shown, row))
                && screens.any(|screen| is_old(&screen))
        };
        (0..).zip(&shown.texts).any(|(other, _)| moves_to(other))
    }
}

impl Part {
    /// Returns the state of the part on a screen.
    fn look(self, album: &Album, shown: &Picture) -> Look {
        match self {
            Self::Cursor => cursor(shown),
            Self::Cell(at) => looks(album, shown, at.row.into())
                .nth(at.column.into())
                .expect("all screens of a session have the same size"),
        }
    }
}

impl Tally {
    /// Counts changes.
    pub(crate) fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        changes.into_iter().fold(Self::default(), |sum, change| match change.part {
            Part::Cell(_) => Self { cells: sum.cells + 1, ..sum },
            Part::Cursor => Self { blinks: sum.blinks + 1, ..sum },
        })
    }

    /// Returns the sum of two tallies.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { cells: self.cells + other.cells, blinks: self.blinks + other.blinks }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell(Position { row, column }) => write!(f, "row {row}, column {column}"),
            Self::Cursor => write!(f, "the cursor"),
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell(glyph, (foreground, background, attributes)) => {
                write!(f, "{glyph:?} {foreground:x}/{background:x}/{attributes:x}")
            }
            Self::Cursor(Some(Position { row, column })) => write!(f, "row {row}, column {column}"),
            Self::Cursor(None) => write!(f, "hidden"),
        }
    }
}

/// Returns the states of the cells of a row.
fn looks<'a>(
    album: &'a Album,
    shown: &Picture,
    index: usize,
) -> impl Iterator<Item = Look> + use<'a> {
    let (text, paint) = (shown.texts[index], shown.paints[index]);
    let cells = album.glyphs(text).iter().zip(album.pens(paint));
    cells.map(|(glyph, paint)| Look::Cell(*glyph, *paint))
}

/// Returns the cursor as the user sees it.
fn cursor(shown: &Picture) -> Look {
    Look::Cursor(shown.shows_cursor().then_some(shown.cursor))
}
