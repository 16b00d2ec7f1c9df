//! Text that a program itself puts into its input: suggestions after the cursor, and recalled lines.

use rove_terminal::{Pen, clusters, may_be_newer};

use crate::replay::canvas::Tile;
use crate::replay::class::{Class, Effect};
use crate::replay::simulate::Simulation;
use crate::scene::text::{Text, cell};

impl Simulation<'_> {
    /// Recalls an older or a newer line. The effect is unknown if that line is unknown.
    pub(super) fn recall(&mut self, is_back: bool) -> Effect {
        let history_cursor = self.history_cursor.step(is_back, self.bounds.is_empty());
        let effect = history_cursor
            .line(self.habits.lines)
            .map_or(Effect::Unknown, |line| self.replace(line));
        if effect == Effect::Drawn {
            self.history_cursor = history_cursor;
        }
        effect
    }

    /// Replaces the input by `text`, with the cursor after it.
    fn replace(&mut self, text: &str) -> Effect {
        let counting = self.canvas.screen().cluster_widths();
        let widths = text.chars().map(|c| counting.char_width(c));
        let is_cluster = |cluster: &str| cluster.chars().nth(1).is_some();
        let is_odd = widths.clone().any(|width| width == 0)
            || text.contains(may_be_newer)
            || clusters(text).any(is_cluster);
        let end = widths.fold(self.bounds.start, u16::saturating_add);
        let last = end.max(self.bounds.end).max(self.suggestion.end().unwrap_or_default());
        if is_odd || end >= self.bounds.right || self.bounds.layout.parts(self.bounds.start, last) {
            return Effect::Unknown;
        }
        self.suggestion.clear();
        let mut column = self.bounds.start;
        for base in text.chars() {
            let (wide, pen) = (counting.char_width(base) == 2, Pen::default());
            self.canvas.put(self.at(column), Tile::Typed { base, wide, pen });
            if wide {
                self.canvas.put(self.at(column + 1), Tile::Blank(pen));
            }
            column += 1 + u16::from(wide);
        }
        for column in end..last {
            // A field keeps its background.
            let pen = cell(self.canvas.screen(), self.at(column)).pen.erased();
            self.canvas.put(self.at(column), Tile::Blank(pen));
        }
        self.bounds.end = end;
        self.go_to(end);
        Effect::Drawn
    }

    pub(in crate::replay) fn is_at_end(&self) -> bool {
        self.column() == self.bounds.end
    }

    /// Keeps the suggestion if it begins with the typed character. Otherwise the suggestion becomes unknown.
    pub(super) fn follow_suggestion(&mut self, c: char, width: u16) {
        let column = self.column();
        if column != self.bounds.end || self.text().base(column) != c {
            self.lose_suggestion(self.bounds.end, Class::Hint);
        } else {
            self.suggestion.shorten(column + width);
        }
    }

    /// Marks the suggestion as unknown from a column on, by a key of this class. Draws it if suggestions mostly stay.
    pub(super) fn lose_suggestion(&mut self, from: u16, class: Class) {
        let is_kept = match class {
            Class::Hint => self.habits.keeps_hint,
            _ => self.habits.regrows,
        };
        let Some(end) = self.suggestion.lose(class, is_kept) else { return };
        let pen = self.canvas.pen(self.at(self.bounds.end));
        for column in from..end {
            let (at, base) = (self.at(column), self.text().base(column));
            let tile = match is_kept {
                true if self.text().is_half(column) => Tile::Blank(pen.erased()),
                true => Tile::Guess { base, wide: self.canvas.is_wide(at), pen },
                false => Tile::Veiled(Pen::default()),
            };
            self.canvas.put(at, tile);
        }
    }

    /// Makes the suggestion part of the input, up to a column.
    pub(super) fn accept(&mut self, to: u16) -> Effect {
        let Some(end) = self.suggestion.certain_end() else { return Effect::Unknown };
        // The accepted text may continue in the next row.
        if end >= self.bounds.right || self.bounds.layout.parts(self.column(), end) {
            return Effect::Unknown;
        }
        for column in self.column()..to.min(end) {
            let (at, base) = (self.at(column), self.text().base(column));
            let (wide, pen) = (self.canvas.is_wide(at), Pen::default());
            let tile = match self.text().is_half(column) {
                true => Tile::Blank(pen),
                // The cell has combining characters, which it keeps.
                false if self.canvas.text(at) != Text::plain(base) => self.canvas.tile(at),
                false => Tile::Typed { base, wide, pen },
            };
            self.canvas.put(at, tile);
            self.bounds.end = column + 1;
            self.go_to(column + 1);
        }
        self.suggestion.shorten(to);
        Effect::Drawn
    }

    /// Erases the input from a column to its end. The suggestion after that is unknown.
    pub(super) fn take_back(&mut self, from: u16) -> Effect {
        self.suggestion.begin_at_end(self.bounds.end);
        self.lose_suggestion(from, Class::Regrowth);
        self.bounds.end = from;
        self.go_to(from);
        Effect::Drawn
    }
}
