//! Going from row to row in a text on the whole screen: where characters came true behind the same way to a
//! new row before, they are believed there at once.
//!
//! A program that asks for a secret may come behind any command, and behind a line that is entered. So all is
//! forgotten when an unknown key moves the cursor, and a row that Enter has begun must look like the next
//! one of a text: the old one stands above, and nothing left of the cursor.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::replay::Replay;
use crate::replay::align::has_moved;
use crate::replay::canvas::Text;
use crate::replay::field::Kind;
use crate::scene;

/// How often text must have come true in rows that Enter has begun, if it has not behind Up and Down, which
/// shells take for other things. Chosen: a program that asks for lines asks for few without a prompt.
const ENTERED_MIN: u32 = 3;

/// How the cursor came to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By Up or Down.
    Vertical,
    /// By Enter, from the row above.
    Enter,
}

/// What is known of going from row to row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passage {
    /// How often text came true behind each way.
    vertical: u32,
    enter: u32,
    /// The last way, if nothing else has happened since.
    way: Option<Way>,
    /// Whether the cursor's row looks like the next one of a text.
    is_next_row: bool,
}

impl Passage {
    /// Takes that characters came true.
    pub(super) fn handle_proof(&mut self) {
        match self.way.take() {
            Some(Way::Vertical) => self.vertical = self.vertical.saturating_add(1),
            Some(Way::Enter) if self.is_next_row => self.enter = self.enter.saturating_add(1),
            _ => {}
        }
    }

    /// Takes that they did not, or that something else was called.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns whether characters are believed where the last way has led.
    fn is_proven(self) -> bool {
        match self.way {
            Some(Way::Vertical) => self.vertical > 0,
            Some(Way::Enter) => {
                let is_known = self.enter >= ENTERED_MIN || self.enter > 0 && self.vertical > 0;
                self.is_next_row && is_known
            }
            None => false,
        }
    }
}

impl Replay {
    /// Takes that a key has led to a screen.
    pub(super) fn note_passage(&mut self, key: Key, after: &Screen) {
        let before = &self.ground;
        let is_moved = before.cursor().row != after.cursor().row;
        match key {
            Key::Up | Key::Down | Key::ControlP | Key::ControlN if is_moved => {
                self.passage.way = Some(Way::Vertical);
            }
            Key::Enter | Key::LineFeed => {
                self.passage.way = Some(Way::Enter);
                self.passage.is_next_row = is_next_row(before, after);
            }
            // They stay in a text, wherever they go.
            Key::Up | Key::Down | Key::ControlP | Key::ControlN | Key::Left | Key::Right => {}
            Key::Home | Key::End | Key::WordLeft | Key::WordRight => {}
            Key::Backspace | Key::Delete | Key::KillToEnd => {}
            Key::Tab | Key::ControlA | Key::ControlE | Key::ControlD if !is_moved => {}
            _ if has_moved(before, after) => self.passage.forget(),
            // It may be the first of two.
            _ => self.passage.way = None,
        }
    }

    /// Returns whether the row is one of a text in which characters came true at once before.
    pub(super) fn is_passage(&self) -> bool {
        self.field.kind == Kind::Full && self.passage.is_proven()
    }
}

/// Returns whether Enter has led to the next row of a text: the row that it was pressed in ends where it
/// was pressed and stands above the cursor's, in which there is nothing left of the cursor.
fn is_next_row(before: &Screen, after: &Screen) -> bool {
    let (from, to) = (before.cursor(), after.cursor());
    let Some(above) = to.row.checked_sub(1) else { return false };
    let at = to.position();
    let pane = scene::pane(after, at);
    let left = scene::gutter(after, at, &pane);
    let columns = pane.left..from.column;
    let is_same = columns.into_iter().all(|column| {
        let old = Text::of(before, Position { row: from.row, column });
        column < left || old == Text::of(after, Position { row: above, column })
    });
    let is_blank =
        (left..to.column).all(|column| Text::of(after, Position { column, ..at }).is_blank());
    // The rest of a text stays in its place, or moves by one row.
    is_same && is_blank && to.row <= from.row.saturating_add(1) && to.row >= from.row
}
