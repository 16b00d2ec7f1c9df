//! The base: the screen and input line on which pending keys are simulated. Earlier keys usually explain this screen.

use rove_terminal::{InputNum, Key, Screen, Size};

use crate::replay::class::is_enter;
use crate::replay::field::{Field, Kind};
use crate::replay::layout::INPUT_ROWS_MAX;
use crate::scene::text::{Text, is_changed};

/// The screen on which the first pending key acts, and facts about the field in which it is typed.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) screen: Screen,
    /// The newest input that had reached the host when the screen arrived. The screen may show its effect.
    pub(super) arrived: InputNum,
    /// The screen's echo ack: the newest input that programs had had time to answer.
    pub(super) acked: InputNum,
    /// The newest input that counts as answered although the engine recognised no effect of it on any screen.
    pub(super) unsure: InputNum,
    pub(super) field: Field,
    /// The column to which motions up and down return in a row that is long enough. `None` after any other key.
    pub(super) goal: Option<u16>,
    /// Whether typed text is a search pattern, which the program shows elsewhere than at the cursor.
    pub(super) is_searching: bool,
    /// Whether the cursor is where confirmed keys have put it.
    pub(super) is_explained: bool,
    /// Whether a new input line has begun, and no key in it was answered yet.
    pub(super) is_new_line: bool,
    /// The newest answered key and its input number. `None` for a character, or once the key's effect was judged.
    pub(super) command: Option<(Key, InputNum)>,
    /// Whether the program holds back a character until the next key, as vi does with the first of two mapped keys.
    pub(super) is_held: bool,
    /// Whether the program hides the terminal's cursor and draws its own.
    pub(super) has_drawn_cursor: bool,
}

impl Base {
    pub(super) fn new(size: Size) -> Self {
        Self {
            screen: Screen::blank(size),
            arrived: InputNum::default(),
            acked: InputNum::default(),
            unsure: InputNum::default(),
            field: Field::default(),
            goal: None,
            is_searching: false,
            is_explained: false,
            is_new_line: false,
            command: None,
            is_held: false,
            has_drawn_cursor: false,
        }
    }

    /// Returns whether the screen shows that an editor is in insert mode or replace mode.
    pub(super) const fn shows_mode(&self) -> bool {
        matches!(self.field.kind, Kind::Insert | Kind::Replace)
    }

    /// Returns whether keys may move the cursor over the whole screen.
    pub(super) const fn may_navigate(&self) -> bool {
        !self.field.is_line() && !self.field.prompt.is_secret && !self.is_searching
    }

    /// Records that the text of row `from` has moved to row `to`. Returns whether it moved up while the cursor was in
    /// the last row.
    pub(super) fn move_to(&mut self, from: u16, to: u16) -> bool {
        self.field.row = (self.field.row + to).saturating_sub(from);
        to < from && self.is_at_bottom()
    }

    /// Returns whether a line editor has drawn text in the blank row below the cursor. False if the cursor has changed
    /// its row, or if text continues from a full row.
    pub(super) fn gains_row(&self, screen: &Screen) -> bool {
        let row = screen.cursor().row;
        let is_blank = |screen: &Screen| screen.row_text(row + 1).is_empty();
        let last = screen.row(row).and_then(|row| row.cells().last());
        self.field.is_line()
            && row == self.screen.cursor().row
            && last.is_some_and(|last| last.base.is_none())
            && is_blank(&self.screen)
            && !is_blank(screen)
    }

    /// Returns whether the cursor is in the last row of the screen.
    pub(super) fn is_at_bottom(&self) -> bool {
        self.screen.cursor().row + 1 == self.screen.size().rows()
    }

    /// Returns whether the cursor is elsewhere on `screen`, or the text of the row where it is now has changed.
    pub(super) fn has_moved(&self, screen: &Screen) -> bool {
        let (from, to) = (self.screen.cursor().position(), screen.cursor().position());
        from != to || is_changed(&self.screen, screen, to.row)
    }

    /// Returns whether the cursor is in another column on `screen`, or a new copy of the prompt is above the cursor.
    pub(super) fn is_left(&self, screen: &Screen) -> bool {
        let prompts_above = |screen: &Screen| -> Vec<u16> {
            let row = screen.cursor().row;
            (1..=row).filter(|up| self.field.prompt.stands_in(screen, row - up)).collect()
        };
        let (before, after) = (prompts_above(&self.screen), prompts_above(screen));
        // If an older prompt has scrolled off the screen, the number of prompts stays, but the nearest is nearer.
        let is_nearer = || before.first().zip(after.first()).is_some_and(|(old, new)| new < old);
        self.screen.cursor().column != screen.cursor().column
            || after.len() > before.len()
            || is_nearer()
    }

    /// Returns whether `screen` shows no effect of the newest answered key on cursor or row. False for characters, and
    /// for keys whose effect may be hidden or on the base screen already. A second call for the same key returns false.
    pub(super) fn is_unmoved(&mut self, screen: &Screen) -> bool {
        let Some((key, input)) = self.command.take() else { return false };
        // Enter may scroll all text and leave the cursor in place. The base screen may already have scrolled.
        let may_be_moved = || {
            let mut rows = 0..screen.size().rows();
            input <= self.arrived || rows.any(|row| is_changed(&self.screen, screen, row))
        };
        // Ctrl-L clears the screen, but the base screen may already be cleared.
        let is_cleared = key == Key::ControlL && screen.cursor().row == self.field.bounds.pane.top;
        !(self.has_moved(screen)
            || is_cleared
            || self.hides(key)
            || is_enter(key) && may_be_moved())
    }

    /// Returns whether a key erases a hidden character at a question for a secret. Such a key may change nothing
    /// visible although the same program still reads the keys.
    pub(super) const fn hides(&self, key: Key) -> bool {
        self.field.prompt.is_secret && matches!(key, Key::Backspace)
    }

    /// Returns whether `screen` still has the text of the cursor's line, so that only the cursor may have moved. Always
    /// true in a full-screen program or an editor.
    pub(super) fn has_line(&self, screen: &Screen) -> bool {
        let most = INPUT_ROWS_MAX.saturating_mul(screen.size().columns());
        let places = self.field.bounds.start..self.field.bounds.end.min(most);
        let mut line = places.map(|place| self.field.bounds.layout.at(place));
        !self.field.is_line() || line.all(|at| Text::of(screen, at) == Text::of(&self.screen, at))
    }
}
