//! The ways in which a cursor moves over the screen, the same for all programs.

use rove_terminal::{Key, Position, Screen};

use crate::replay::canvas::Canvas;
use crate::scene::Pane;

/// Number of rows at the edges of a window in which the program may scroll the text rather than move the cursor.
/// Source: vim's own defaults (`scrolloff`).
const MARGIN_ROWS: u16 = 5;

/// A motion of the cursor: in a direction, or to an end of the line.
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
    /// Whether the cursor moves to an empty row outside of an insert mode. Vim's ruler then shows the column `0-1`.
    pub(super) is_to_empty: bool,
}

/// The motions that keys have caused in a program's window.
pub(super) trait Guide: core::fmt::Debug {
    /// Returns the motion that a key is expected to cause. `None` if no motion is known.
    fn motion(&self, key: Key) -> Option<Motion>;

    /// Returns whether the cursor stops on the last character of a line, not after it. `None` if that is unknown.
    fn stops_on_last(&self) -> Option<bool>;

    /// Returns whether the cursor was in this row earlier, with the same text in the window's first row.
    fn was_visited(&self, screen: &Screen, pane: &Pane, row: u16) -> bool;

    /// Draws the window's numbers that show the cursor's position, with their values after a step.
    fn draw_numbers(&self, canvas: &mut Canvas<'_>, step: Step);
}
