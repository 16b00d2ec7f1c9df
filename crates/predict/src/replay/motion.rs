//! How a cursor moves over the screen of a program, without reference to any program.

use rove_terminal::{Key, Position, Screen};

use crate::replay::canvas::Canvas;
use crate::scene::Pane;

/// Rows at the edges of a window in which the text may scroll instead of the cursor moving. Source: vim's own defaults
/// (`scrolloff`).
const MARGIN_ROWS: u16 = 5;

/// A direction that the cursor moves in, or an end of the line that it moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// The start of the line; `End` is its end.
    Start,
    End,
}

impl Motion {
    /// Returns the motion that a key's name suggests. `None` if it suggests none.
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

    /// Returns whether a row is so far from the edge of its window that the text does not scroll for this motion.
    pub(super) const fn stays_within(self, pane: &Pane, row: u16) -> bool {
        match self {
            Self::Up => row >= pane.top.saturating_add(MARGIN_ROWS),
            _ => row.saturating_add(MARGIN_ROWS) < pane.bottom,
        }
    }
}

/// A move of the cursor from one position to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: Position,
    pub(super) to: Position,
    /// Whether the row that the cursor moves to is empty.
    pub(super) is_to_empty: bool,
}

/// The known motions of keys in a window.
pub(super) trait Guide: core::fmt::Debug {
    /// Returns the motion that a key is believed to cause. `None` if none is known.
    fn motion(&self, key: Key) -> Option<Motion>;

    /// Returns whether the cursor stops on the last character of a line instead of after it. `None` if that is unknown.
    fn stops_on_last(&self) -> Option<bool>;

    /// Returns whether the cursor was in this row before, with the same text in the window's first row.
    fn was_visited(&self, screen: &Screen, pane: &Pane, row: u16) -> bool;

    /// Draws the numbers that show the cursor's position as they will be after a step, if the window has any.
    fn draw_numbers(&self, canvas: &mut Canvas<'_>, step: Step);
}
