//! Line numbers left of a text, where a row is parted.

use rove_terminal::{Pen, Position};

use crate::mechanism::Mechanism;
use crate::replay::canvas::Tile;
use crate::replay::simulate::Simulation;

/// The numbers of all rows, before a row is parted.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// That of the row, and the columns it stands in; none where there are no numbers.
    here: Option<(u32, u16, u16)>,
    /// Whether they count from the cursor's row.
    is_relative: bool,
    /// How many columns there are.
    columns: u16,
    pen: Pen,
}

impl Simulation<'_> {
    /// Reads the line numbers; `None` where it cannot be told how they go on.
    pub(super) fn numbers(&self, bottom: u16) -> Option<Numbers> {
        let row = self.canvas.cursor.row;
        let mut numbers =
            Numbers { here: None, is_relative: false, columns: 0, pen: Pen::default() };
        numbers.columns = self.left - self.pane.left;
        if numbers.columns == 0 {
            return Some(numbers);
        }
        if !self.habits.mechanisms.contains(Mechanism::LineNumbers) {
            return None;
        }
        let here = self.number(row)?;
        let (value, _, end) = here;
        numbers.here = Some(here);
        numbers.pen = self.canvas.pen(Position { row, column: end - 1 });
        let value_at = |row: Option<u16>| {
            let row = row.filter(|row| (self.pane.top..bottom).contains(row))?;
            self.number(row).map(|(value, ..)| value)
        };
        let (above, below) = (value_at(row.checked_sub(1)), value_at(row.checked_add(1)));
        let is_absolute = above.is_none_or(|above| above.checked_add(1) == Some(value))
            && below.is_none_or(|below| Some(below) == value.checked_add(1));
        numbers.is_relative = !is_absolute;
        let is_relative =
            above.is_none_or(|above| above == 1) && below.is_none_or(|below| below == 1);
        // The longest of them is the last.
        let most = (row..bottom).filter_map(|row| self.number(row)).map(|(value, ..)| value).max();
        let has_room = most.is_some_and(|most| digits(most.saturating_add(1)) < numbers.columns);
        (has_room && (is_absolute || is_relative)).then_some(numbers)
    }

    /// Writes the numbers anew where the row `new` has been added.
    pub(super) fn renumber(&mut self, numbers: &Numbers, new: u16, bottom: u16) {
        let Some((value, start, end)) = numbers.here else { return };
        if !numbers.is_relative {
            for row in (new + 1..bottom).rev() {
                if let Some((value, _, end)) = self.number(row) {
                    self.write_number(row, value.saturating_add(1), end, numbers.pen);
                }
            }
            return self.write_number(new, value.saturating_add(1), end, numbers.pen);
        }
        let edge = self.left - 1;
        let Some(old) = new.checked_sub(1).filter(|old| *old >= self.pane.top) else { return };
        for row in self.pane.top..old {
            if let Some((value, _, end)) = self.number(row) {
                self.write_number(row, value.saturating_add(1), end, numbers.pen);
            }
        }
        self.write_number(old, 1, edge, numbers.pen);
        // The number of the cursor's own line is 0, or its own at the left.
        let value = if value == 0 { 0 } else { value.saturating_add(1) };
        let end = if end == edge { edge } else { start + digits(value) };
        self.write_number(new, value, end, numbers.pen);
    }

    /// Returns the number of a row, and its columns.
    fn number(&self, row: u16) -> Option<(u32, u16, u16)> {
        let at = |column| self.canvas.text(Position { row, column }).base;
        let mut columns = self.pane.left..self.left;
        let start = columns.find(|column| at(*column).is_some())?;
        let (mut value, mut end) = (0_u32, start);
        while let Some(digit) = at(end).filter(|_| end < self.left).and_then(|c| c.to_digit(10)) {
            value = value.checked_mul(10)?.checked_add(digit)?;
            end += 1;
        }
        let is_alone = (end..self.left).all(|column| at(column).is_none());
        (end > start && end < self.left && is_alone).then_some((value, start, end))
    }

    fn write_number(&mut self, row: u16, value: u32, end: u16, pen: Pen) {
        let text = value.to_string();
        let start = end.saturating_sub(digits(value));
        for column in self.pane.left..self.left {
            let digit = column.checked_sub(start).filter(|_| column < end);
            let base = digit.and_then(|index| text.chars().nth(usize::from(index)));
            let tile = match base {
                Some(base) => Tile::Drawn { base, pen },
                None => Tile::Blank(pen.erased()),
            };
            self.canvas.put(Position { row, column }, tile);
        }
    }
}

fn digits(value: u32) -> u16 {
    value.checked_ilog10().map_or(1, |digits| u16::try_from(digits + 1).unwrap_or(u16::MAX))
}
