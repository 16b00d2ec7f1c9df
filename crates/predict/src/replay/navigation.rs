//! What keys do to the cursor in programs that draw on the whole screen, as far as it was seen.

use core::ops::Range;

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::replay::canvas::mix;
use crate::replay::evidence::Evidence;
use crate::replay::id::PlaceId;
use crate::replay::memory::Memory;
use crate::replay::ruler::{self, Ruler};
use crate::scene::Pane;

/// Most keys that are remembered of one place; the one that was used least recently goes.
/// Chosen: the arrows, their like with Ctrl, and some letters.
const KEYS_MAX: usize = 24;

/// Most places that are remembered; the one that was used least recently goes. Chosen: the windows of some editors.
const PLACES_MAX: usize = 16;

/// Rows at the edges of a window in which the text may scroll instead of the cursor moving.
/// Source: vim's own defaults (`scrolloff`).
const MARGIN_ROWS: u16 = 5;

/// How often in a row a key must have done the same before it is believed: one with a name of what it does, and others.
const NEEDED: u16 = 1;
const NEEDED_OF_OTHERS: u16 = 2;
/// Of those that are prefixes of commands in screen and tmux, whose second keys may by chance do the same.
const NEEDED_OF_PREFIXES: u16 = 4;
/// Where a cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// The start of the line.
    Start,
    /// The first character of the line that is no blank.
    Indent,
    End,
}

impl Motion {
    pub(super) const ALL: [Self; 7] =
        [Self::Left, Self::Right, Self::Up, Self::Down, Self::Start, Self::Indent, Self::End];

    /// Returns what a key is called for.
    pub(super) const fn of(key: Key) -> Option<Self> {
        match key {
            Key::Left | Key::ControlB => Some(Self::Left),
            Key::Right | Key::ControlF => Some(Self::Right),
            Key::Up | Key::ControlP => Some(Self::Up),
            Key::Down | Key::ControlN => Some(Self::Down),
            Key::Home | Key::ControlA => Some(Self::Start),
            Key::End | Key::ControlE => Some(Self::End),
            _ => None,
        }
    }

    pub(super) const fn is_vertical(self) -> bool {
        matches!(self, Self::Up | Self::Down)
    }

    /// Returns whether it may lead from one place to another, done as often as it takes.
    pub(super) const fn may_lead(self, from: Position, to: Position) -> bool {
        match self {
            Self::Up => to.row < from.row,
            Self::Down => to.row > from.row,
            Self::Left => to.row == from.row && to.column < from.column,
            Self::Right => to.row == from.row && to.column > from.column,
            Self::Start | Self::Indent | Self::End => to.row == from.row,
        }
    }
}

/// How the cursor has come to where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stride {
    /// The column that motions up and down keep to where the text is long enough.
    pub(super) goal: Option<u16>,
    /// Whether the last key was a motion.
    pub(super) is_roaming: bool,
}

/// What is known of one window of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Navigation {
    habits: Memory<Key, Habit, KEYS_MAX>,
    pub(super) ruler: Ruler,
    /// Whether the cursor goes no further than on the last character of a line, instead of behind it.
    pub(super) stops_on_last: Option<bool>,
    /// Whether blanks are tabs, in which the cursor skips columns.
    pub(super) has_tabs: Option<bool>,
    /// The rows that the cursor was seen in, while the first row showed this.
    visited: Range<u16>,
    first_row: u64,
}

/// What a key has done.
#[derive(Clone, Copy, Debug)]
struct Habit {
    motion: Motion,
    /// How often in a row it was this motion.
    evidence: Evidence,
}

impl Navigation {
    /// Returns what a key is believed to do.
    pub(super) fn motion(&self, key: Key) -> Option<Motion> {
        let habit = self.habits.find(&key)?;
        habit.evidence.is_enough().then_some(habit.motion)
    }

    /// Called when a key has moved the cursor in this way.
    pub(super) fn hit(&mut self, key: Key, motion: Motion) {
        let needed = match key {
            Key::ControlA | Key::ControlB => NEEDED_OF_PREFIXES,
            _ if Motion::of(key).is_some() => NEEDED,
            _ => NEEDED_OF_OTHERS,
        };
        let new = || Habit { motion, evidence: Evidence::needing(needed) };
        let habit = self.habits.entry_or(key, new);
        if habit.motion != motion {
            habit.motion = motion;
            habit.evidence.restart();
        }
        habit.evidence.confirm();
    }

    /// Called when a key did something else, which was seen or not.
    pub(super) fn miss(&mut self, key: Key, was_shown: bool) {
        if let Some(habit) = self.habits.find_mut(&key) {
            habit.evidence.refute(was_shown);
        }
    }

    /// Takes that the cursor is in these rows.
    pub(super) fn visit(&mut self, screen: &Screen, pane: &Pane, rows: [u16; 2]) {
        let first_row = name_of_row(screen, pane.top);
        if self.first_row != first_row {
            (self.first_row, self.visited) = (first_row, 0..0);
        }
        for row in rows {
            self.visited = if self.visited.is_empty() {
                row..row + 1
            } else {
                self.visited.start.min(row)..self.visited.end.max(row + 1)
            };
        }
    }

    /// Returns whether the cursor was seen in a row.
    pub(super) fn was_visited(&self, screen: &Screen, pane: &Pane, row: u16) -> bool {
        self.visited.contains(&row) && self.first_row == name_of_row(screen, pane.top)
    }

    /// Returns whether a row is so far from the edge of its window that nothing scrolls for it.
    pub(super) const fn is_inner(pane: &Pane, row: u16, motion: Motion) -> bool {
        match motion {
            Motion::Up => row >= pane.top.saturating_add(MARGIN_ROWS),
            _ => row.saturating_add(MARGIN_ROWS) < pane.bottom,
        }
    }
}

/// What is known of all windows.
pub(super) type Navigations = Memory<PlaceId, Navigation, PLACES_MAX>;

fn name_of_row(screen: &Screen, row: u16) -> u64 {
    mix(ruler::characters(screen, row).map(u64::from))
}
