//! The bounds of an input: the place of its text, and how far keys may move the cursor in it.

use crate::replay::layout::Layout;
use crate::scene::Pane;

/// The bounds of an input. The count of columns continues from row to row (see [`Layout`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// The column where the first key was typed. Text left of it is a prompt or other text.
    pub(super) start: u16,
    /// The first column that keys can reach or change. `right` is the column after the last (`u16::MAX`: no limit).
    pub(super) left: u16,
    pub(super) right: u16,
    /// The column after the last character of the input.
    pub(super) end: u16,
    /// Maps the input's columns to rows of the screen.
    pub(super) layout: Layout,
    /// The part of the screen that contains the input.
    pub(super) pane: Pane,
    /// Whether the input must end before the right edge of its pane.
    pub(super) is_bounded: bool,
    /// Whether the pane has only blank rows below the input.
    pub(super) is_last: bool,
}

impl Bounds {
    /// Returns whether the input has no text.
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the layout of an input that begins in `row` and continues in the rows below.
    pub(super) const fn layout_over_edge(&self, row: u16) -> Layout {
        Layout { row, edge: self.pane.right, left: self.pane.left }
    }

    /// Extends the bounds of the input that begins in `row` to the rows below.
    pub(super) fn go_over_edge(&mut self, row: u16) {
        let layout = self.layout_over_edge(row);
        self.end = layout.place_of(self.layout, self.end);
        (self.layout, self.right) = (layout, u16::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_over_the_edge_ends_where_it_did_and_has_room_in_the_next_row() {
        let pane = Pane { left: 2, right: 10, top: 0, bottom: 5 };
        let one_row = Bounds { start: 3, left: 3, right: 10, end: 3, pane, ..Bounds::default() };
        let mut bounds = Bounds { layout: Layout::of_row(1), ..one_row };
        assert!(bounds.is_empty());
        bounds.end = 8;
        bounds.go_over_edge(1);
        assert_eq!((bounds.end, bounds.right), (8, u16::MAX));
        assert_eq!(bounds.layout, Layout { row: 1, edge: 10, left: 2 });
        assert!(!bounds.is_empty() && bounds.layout.parts(9, 10));
    }
}
