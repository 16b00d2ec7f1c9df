//! The prediction of a cell, and how a screen confirms or refutes it.

use rove_terminal::{Glyph, InputNum, Position, Screen};
use rove_units::{Duration, Instant};

use rove_predict::overlay::Content;

/// Most different texts of a cell that the engine remembers. With more, the cell's prediction earns no credit. Chosen:
/// more than a user types and erases again in a round trip.
pub(crate) const ORIGINALS_MAX: usize = 8;

/// The number of an epoch. All predictions of an epoch are dropped together, and shown after any of them was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Epoch(pub(crate) u64);

impl Epoch {
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The epoch, the deadline and the time of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) epoch: Epoch,
    /// The input that the host must have answered before the prediction can be judged.
    pub(crate) deadline: InputNum,
    /// The time at which the prediction was made.
    pub(crate) at: Instant,
}

impl Stamp {
    pub(crate) fn age(self, now: Instant) -> Duration {
        now.saturating_since(self.at)
    }
}

/// A new screen's verdict about a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    /// The prediction cannot be judged yet.
    Pending,
    /// The prediction was right.
    Correct,
    /// The prediction is blank or unknown, or it was right but the cell may have had this text before the key.
    NoCredit,
    /// The prediction was wrong.
    Wrong,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CellPrediction {
    /// The time and the epoch of the prediction. `None` if the cell has no prediction.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) content: Content,
    originals: Originals,
}

/// The texts that the cell had, or was predicted to have, before its present prediction.
#[derive(Clone, Debug, Default)]
struct Originals {
    texts: Vec<Text>,
    /// Whether there were more texts than [`ORIGINALS_MAX`].
    overflowed: bool,
}

/// The text of a cell without its colours. All blank texts are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    base: Option<char>,
    /// The combining characters. `None` is faster to compare than an empty text.
    marks: Option<Box<str>>,
}

impl Text {
    fn of(glyph: &Glyph) -> Self {
        let base = glyph.cell.base.filter(|_| !glyph.is_blank());
        let marks = (!glyph.marks.is_empty()).then(|| glyph.marks.clone());
        Self { base, marks }
    }
}

impl CellPrediction {
    /// Returns the predicted content, or `None` if there is no prediction.
    pub(crate) fn predicted(&self) -> Option<&Content> {
        self.stamp.map(|_| &self.content)
    }

    /// Drops the prediction.
    pub(crate) fn deactivate(&mut self) {
        self.stamp = None;
    }

    /// Predicts `content` for a cell whose glyph on the screen is `shown`. `None` means an unknown content.
    pub(crate) fn renew(&mut self, stamp: Stamp, shown: &Glyph, content: Option<Content>) {
        if self.predicted().is_some_and(|content| !content.is_unknown) {
            self.originals.add(Text::of(&self.content.glyph));
        } else {
            self.originals = Originals::default();
        }
        self.originals.add(Text::of(shown));
        self.stamp = Some(stamp);
        match content {
            Some(content) => self.content = content,
            None => self.content.is_unknown = true,
        }
    }

    /// Predicts that the cell will be blank, whatever its content is now.
    pub(crate) fn blank(&mut self, stamp: Stamp) {
        *self = Self { stamp: Some(stamp), ..Self::default() };
    }

    /// Judges the prediction for this cell, which is at the position `at`. `None` if there is no prediction.
    pub(crate) fn validity(
        &self,
        at: Position,
        screen: &Screen,
        echo_ack: InputNum,
    ) -> Option<Validity> {
        let stamp = self.stamp?;
        let Some(shown) = screen.glyph(at) else { return Some(Validity::Wrong) };
        if echo_ack < stamp.deadline {
            return Some(Validity::Pending);
        }
        if self.content.is_unknown || self.content.glyph.is_blank() {
            return Some(Validity::NoCredit);
        }
        let text = Text::of(&shown);
        Some(if text != Text::of(&self.content.glyph) {
            Validity::Wrong
        } else if self.originals.overflowed || self.originals.texts.contains(&text) {
            Validity::NoCredit
        } else {
            Validity::Correct
        })
    }
}

impl Originals {
    fn add(&mut self, text: Text) {
        if self.texts.contains(&text) {
        } else if self.texts.len() < ORIGINALS_MAX {
            self.texts.push(text);
        } else {
            self.overflowed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Cell, Size};

    use super::*;

    fn glyph(base: char) -> Glyph {
        Glyph { cell: Cell { base: Some(base), ..Cell::default() }, ..Glyph::default() }
    }

    fn screen(c: char) -> Screen {
        let mut screen = Screen::blank(Size::new(1, 1).unwrap());
        screen.put(Position { row: 0, column: 0 }, &glyph(c));
        screen
    }

    fn stamp(deadline: u64) -> Stamp {
        let deadline = InputNum::new(deadline);
        Stamp { epoch: Epoch(1), deadline, at: Instant::ZERO }
    }

    fn known(c: char) -> Option<Content> {
        Some(Content { is_unknown: false, glyph: glyph(c) })
    }

    /// Judges a prediction of `content` over `shown` by a screen that shows `now`. The deadline is input 2.
    fn judged(shown: char, content: Option<Content>, now: char, ack: u64) -> Option<Validity> {
        let mut cell = CellPrediction::default();
        cell.renew(stamp(2), &glyph(shown), content);
        cell.validity(Position { row: 0, column: 0 }, &screen(now), InputNum::new(ack))
    }

    #[test]
    fn a_cell_is_judged_once_its_input_has_been_answered() {
        for (shown, content, now, ack, expected) in [
            ('a', known('b'), 'b', 1, Validity::Pending),
            ('a', known('b'), 'x', 1, Validity::Pending),
            ('a', known('b'), 'b', 2, Validity::Correct),
            ('a', known('b'), 'b', u64::MAX, Validity::Correct),
            ('a', known('b'), 'a', 2, Validity::Wrong),
            ('a', known('a'), 'a', 2, Validity::NoCredit),
            ('a', None, 'x', 2, Validity::NoCredit),
            ('a', known(' '), 'x', 2, Validity::NoCredit),
            ('a', known('\u{a0}'), 'x', 2, Validity::NoCredit),
            (' ', known('b'), ' ', 2, Validity::Wrong),
        ] {
            assert_eq!(
                judged(shown, content.clone(), now, ack),
                Some(expected),
                "{shown:?} {content:?} {now:?} {ack}"
            );
        }
    }

    #[test]
    fn how_text_is_painted_does_not_matter() {
        let mut cell = CellPrediction::default();
        let mut painted = glyph('b');
        painted.cell.pen.foreground = rove_terminal::Color::Indexed(3);
        cell.renew(stamp(1), &glyph('a'), Some(Content { is_unknown: false, glyph: painted }));
        let at = Position { row: 0, column: 0 };
        assert_eq!(cell.validity(at, &screen('b'), InputNum::new(1)), Some(Validity::Correct));
    }

    #[test]
    fn a_cell_without_a_prediction_is_not_judged_and_one_outside_the_screen_is_wrong() {
        let at = Position { row: 0, column: 0 };
        let mut cell = CellPrediction::default();
        assert_eq!(cell.validity(at, &screen('a'), InputNum::new(9)), None);
        cell.renew(stamp(9), &glyph('a'), known('b'));
        for (row, column) in [(1, 0), (0, 1)] {
            let validity = cell.validity(Position { row, column }, &screen('a'), InputNum::new(0));
            assert_eq!(validity, Some(Validity::Wrong), "{row} {column}");
        }
    }

    #[test]
    fn an_earlier_prediction_that_comes_back_earns_nothing() {
        let at = Position { row: 0, column: 0 };
        let mut cell = CellPrediction::default();
        cell.renew(stamp(1), &glyph('a'), known('b'));
        cell.renew(stamp(2), &glyph('a'), known('c'));
        cell.renew(stamp(3), &glyph('a'), known('b'));
        assert_eq!(cell.validity(at, &screen('b'), InputNum::new(3)), Some(Validity::NoCredit));
        // The texts of a prediction that was judged or dropped do not count for the next prediction.
        cell.deactivate();
        cell.renew(stamp(4), &glyph('c'), known('b'));
        assert_eq!(cell.validity(at, &screen('b'), InputNum::new(4)), Some(Validity::Correct));
    }

    #[test]
    fn a_place_with_too_long_a_past_earns_nothing() {
        let at = Position { row: 0, column: 0 };
        for (texts, expected) in
            [(ORIGINALS_MAX, Validity::Correct), (ORIGINALS_MAX + 1, Validity::NoCredit)]
        {
            let mut cell = CellPrediction::default();
            for text in ('a'..).take(texts - 1) {
                cell.renew(stamp(1), &glyph('0'), known(text));
            }
            cell.renew(stamp(1), &glyph('0'), known('z'));
            assert_eq!(cell.validity(at, &screen('z'), InputNum::new(1)), Some(expected));
            assert!(cell.originals.texts.len() <= ORIGINALS_MAX);
        }
    }
}
