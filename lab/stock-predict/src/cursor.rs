//! The prediction of the cursor's position, and how a screen confirms or refutes it.

use rove_terminal::{InputNum, Position, Screen};

use super::cell::{Stamp, Validity};

/// The predicted position of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CursorPrediction {
    pub(crate) at: Position,
    pub(crate) stamp: Stamp,
}

impl CursorPrediction {
    /// Moves the predicted cursor to `at`, with the deadline and time of `stamp`. The prediction keeps its epoch.
    pub(crate) fn move_to(&mut self, at: Position, stamp: Stamp) {
        self.at = at;
        self.stamp = Stamp { epoch: self.stamp.epoch, ..stamp };
    }

    pub(crate) fn validity(&self, screen: &Screen, echo_ack: InputNum) -> Validity {
        let (size, cursor) = (screen.size(), screen.cursor());
        if self.at.row >= size.rows() || self.at.column >= size.columns() {
            Validity::Wrong
        } else if echo_ack < self.stamp.deadline {
            Validity::Pending
        } else if (cursor.row, cursor.column) == (self.at.row, self.at.column) {
            Validity::Correct
        } else {
            Validity::Wrong
        }
    }
}

#[cfg(test)]
mod tests {
    use rove_terminal::Size;
    use rove_units::Instant;

    use super::*;
    use crate::cell::Epoch;

    #[test]
    fn a_cursor_is_judged_once_its_input_has_been_answered() {
        let mut screen = Screen::blank(Size::new(4, 3).unwrap());
        screen.place_cursor(Position { row: 1, column: 2 });
        for (row, column, ack, expected) in [
            (1, 2, 4, Validity::Pending),
            (0, 0, 4, Validity::Pending),
            (1, 2, 5, Validity::Correct),
            (1, 3, 5, Validity::Wrong),
            (2, 2, 9, Validity::Wrong),
            (3, 0, 0, Validity::Wrong),
            (0, 4, 0, Validity::Wrong),
        ] {
            let stamp = Stamp { epoch: Epoch(1), deadline: InputNum::new(5), at: Instant::ZERO };
            let cursor = CursorPrediction { at: Position { row, column }, stamp };
            let validity = cursor.validity(&screen, InputNum::new(ack));
            assert_eq!(validity, expected, "{row} {column} {ack}");
        }
    }
}
