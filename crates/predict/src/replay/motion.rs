//! How a cursor moves over the screen of a program, in words that name no program.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::replay::canvas::Canvas;
use crate::scene::Pane;

/// Rows at the edges of a window in which the text may scroll instead of the cursor moving.
/// Source: vim's own defaults (`scrolloff`).
const MARGIN_ROWS: u16 = 5;

/// A direction or a goal of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// The start of the line.
    Start,
    End,
}

impl Motion {
    /// Returns the motion that a key's name stands for.
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

    /// Returns whether a row is so far from the edge of its window that nothing scrolls for it.
    pub(super) const fn stays_within(self, pane: &Pane, row: u16) -> bool {
        match self {
            Self::Up => row >= pane.top.saturating_add(MARGIN_ROWS),
            _ => row.saturating_add(MARGIN_ROWS) < pane.bottom,
        }
    }
}

/// How the cursor moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: Position,
    pub(super) to: Position,
    /// Whether nothing stands in the row that it goes to.
    pub(super) is_to_empty: bool,
}

/// The knowledge of the motions of keys in a window.
pub(super) trait Guide: core::fmt::Debug {
    /// Returns the believed motion of a key.
    fn motion(&self, key: Key) -> Option<Motion>;

    /// Returns whether the cursor goes no further than on the last character of a line, instead of after it.
    fn stops_on_last(&self) -> Option<bool>;

    /// Returns whether the cursor was seen in a row.
    fn was_visited(&self, screen: &Screen, pane: &Pane, row: u16) -> bool;

    /// Draws the numbers that follow the cursor as they are after a step, where there are any.
    fn draw_numbers(&self, canvas: &mut Canvas<'_>, step: Step);
}
