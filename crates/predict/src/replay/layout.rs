//! Maps the characters of an input to positions, if the input continues in the rows below.
//!
//! A *place* is the column that a character would have in an endless row. In the first row of the input, places equal
//! columns. From the right edge on, places count on through the rows below.

use rove_terminal::Position;

/// Most rows that an input can have. Chosen: longer inputs are pasted, not typed, and places fit 16 bits on any screen.
pub(super) const INPUT_ROWS_MAX: u16 = 15;

/// The rows of the screen that an input occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The first row of the input.
    pub(super) row: u16,
    /// The column after the last one in rows that continue in the next row. `u16::MAX` for an input of one row.
    pub(super) edge: u16,
    /// The first column in rows after the first. Less than `edge`.
    pub(super) left: u16,
}

impl Default for Layout {
    fn default() -> Self {
        Self::of_row(0)
    }
}

impl Layout {
    /// Returns the layout of an input that has only one row.
    pub(super) const fn of_row(row: u16) -> Self {
        Self { row, edge: u16::MAX, left: 0 }
    }

    /// Returns the position of a place, on the screen or below it.
    pub(super) fn at(self, place: u16) -> Position {
        match place.checked_sub(self.edge) {
            Some(rest) if self.left < self.edge => {
                let columns = self.edge - self.left;
                let row = self.row.saturating_add(1).saturating_add(rest / columns);
                Position { row, column: self.left + rest % columns }
            }
            _ => Position { row: self.row, column: place },
        }
    }

    /// Returns the place of a position. `None` outside the input. A position at `edge` has the next row's first place.
    pub(super) fn place(self, at: Position) -> Option<u16> {
        let rows = at.row.checked_sub(self.row).filter(|rows| *rows < INPUT_ROWS_MAX)?;
        if rows == 0 || self.edge == u16::MAX || self.left >= self.edge {
            return (rows == 0 && at.column <= self.edge).then_some(at.column);
        }
        let column = at.column.checked_sub(self.left).filter(|_| at.column <= self.edge)?;
        let before = (rows - 1).checked_mul(self.edge - self.left)?.checked_add(self.edge)?;
        let place = before.checked_add(column)?;
        debug_assert!(
            at.column == self.edge || self.at(place) == at,
            "a place leads back to its position"
        );
        Some(place)
    }

    /// Converts a place of the layout `other` to this layout. Returns it unchanged if this layout has no such position.
    pub(super) fn place_of(self, other: Self, place: u16) -> u16 {
        self.place(other.at(place)).filter(|_| self != other).unwrap_or(place)
    }

    pub(super) fn row_of(self, place: u16) -> u16 {
        self.at(place).row
    }

    /// Returns whether two places are in different rows of the screen.
    pub(super) fn parts(self, one: u16, other: u16) -> bool {
        self.row_of(one) != self.row_of(other)
    }
}

/// The signs on a screen that input has continued in the next row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    /// Whether the next row has new text, or the cursor after a full row: proof that input continues there.
    pub(super) is_proof: bool,
    /// Whether all text has moved up to make room for the next row.
    pub(super) has_scrolled: bool,
    /// Whether the cursor waits on the last character of a full row until the next character.
    pub(super) is_lazy: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { row: 3, edge: 10, left: 2 };

    fn at(row: u16, column: u16) -> Position {
        Position { row, column }
    }

    #[test]
    fn places_go_on_in_the_rows_below() {
        for (place, expected) in [
            (0, at(3, 0)),
            (9, at(3, 9)),
            (10, at(4, 2)),
            (17, at(4, 9)),
            (18, at(5, 2)),
            (u16::MAX, at(3 + 1 + 8190, 7)),
        ] {
            assert_eq!(LAYOUT.at(place), expected, "{place}");
        }
        for place in 0..100 {
            assert_eq!(LAYOUT.place(LAYOUT.at(place)), Some(place));
        }
    }

    #[test]
    fn a_cell_that_no_input_can_stand_in_has_no_place() {
        for (position, place) in [
            (at(2, 5), None),
            (at(3, 10), Some(10)),
            (at(3, 11), None),
            (at(4, 1), None),
            (at(4, 10), Some(18)),
            (at(4, 11), None),
            (at(3 + INPUT_ROWS_MAX - 1, 2), Some(10 + 13 * 8)),
            (at(3 + INPUT_ROWS_MAX, 2), None),
        ] {
            assert_eq!(LAYOUT.place(position), place, "{position:?}");
        }
        let row = Layout::of_row(3);
        assert_eq!((row.place(at(3, 400)), row.place(at(4, 0))), (Some(400), None));
        assert_eq!(row.at(400), at(3, 400));
    }

    #[test]
    fn a_place_of_another_layout_is_where_it_was() {
        let other = Layout { edge: 11, left: 0, ..LAYOUT };
        for (place, expected) in [(3, 3), (10, 10), (13, 10), (14, 11)] {
            assert_eq!(LAYOUT.place_of(other, place), expected, "{place}");
        }
        // No character can be in this place.
        assert_eq!(LAYOUT.place_of(other, 12), 12);
    }

    #[test]
    fn the_widest_screen_has_places_for_all_rows() {
        let layout = Layout { row: 0, edge: 4096, left: 0 };
        assert!(layout.place(at(INPUT_ROWS_MAX - 1, 4096)).is_some());
    }
}
