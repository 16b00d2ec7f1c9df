//! The base: the newest screen that the keys explain, on which pending keys are simulated, and the input line on it.

use rove_terminal::{InputNum, Key, Screen, Size};

use crate::replay::class::is_enter;
use crate::replay::field::{Field, Kind};
use crate::replay::layout::INPUT_ROWS_MAX;
use crate::scene::text::{Text, is_changed};

/// The screen that the first pending key acts on, and the known facts about the field that it is typed in.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) screen: Screen,
    /// The newest input whose effect may show on the screen.
    pub(super) arrived: InputNum,
    /// The newest input whose answer certainly shows on the screen.
    pub(super) acked: InputNum,
    /// The newest input that counts as answered although its effect was not recognized.
    pub(super) unsure: InputNum,
    pub(super) field: Field,
    /// The column that motions up and down return to. `None` after any other key.
    pub(super) goal: Option<u16>,
    /// Whether typed text is a search, which is shown elsewhere than at the cursor.
    pub(super) is_searching: bool,
    /// Whether confirmed keys explain where the cursor is.
    pub(super) is_explained: bool,
    /// Whether a new line has begun and no key was answered in it.
    pub(super) is_new_line: bool,
    /// The newest answered key, with its input. `None` if that key is a character.
    pub(super) command: Option<(Key, InputNum)>,
    /// Whether the program holds a character back until the next key, as vi does for the first key of a pair.
    pub(super) is_held: bool,
    /// Whether the program hides the terminal's cursor and draws its own.
    pub(super) has_drawn_cursor: bool,
}

impl Base {
    /// Creates the base of a new session: a blank screen.
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

    /// Returns whether the screen shows that an editor takes characters for text (insert or replace mode).
    pub(super) const fn shows_mode(&self) -> bool {
        matches!(self.field.kind, Kind::Insert | Kind::Replace)
    }

    /// Returns whether keys may move the cursor over the whole screen.
    pub(super) const fn may_navigate(&self) -> bool {
        !self.field.is_line() && !self.field.prompt.is_secret && !self.is_searching
    }

    /// Called when the text of row `from` has moved to row `to`. Returns whether it has moved up from the last row.
    pub(super) fn move_to(&mut self, from: u16, to: u16) -> bool {
        self.field.row = (self.field.row + to).saturating_sub(from);
        to < from && self.is_at_bottom()
    }

    /// Returns whether a screen has text in the row below the cursor's, which was blank before. Text that continues
    /// from a full row does not count.
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

    /// Returns whether the cursor, or the text of its row, differs on `screen`.
    pub(super) fn has_moved(&self, screen: &Screen) -> bool {
        let (from, to) = (self.screen.cursor().position(), screen.cursor().position());
        from != to || is_changed(&self.screen, screen, to.row)
    }

    /// Returns whether `screen` shows that the newest answered key had no effect on the cursor and its row. Only a key
    /// that is not a character counts.
    pub(super) fn is_unmoved(&mut self, screen: &Screen) -> bool {
        let Some((key, input)) = self.command.take() else { return false };
        // Enter may move all text up and leave the cursor where it is. The base screen may show that already.
        let may_be_moved = || {
            let mut rows = 0..screen.size().rows();
            input <= self.arrived || rows.any(|row| is_changed(&self.screen, screen, row))
        };
        // Ctrl-L has cleared the screen, although the base screen may already show that.
        let is_cleared = key == Key::ControlL && screen.cursor().row == self.field.bounds.pane.top;
        !(self.has_moved(screen)
            || is_cleared
            || self.hides(key)
            || is_enter(key) && may_be_moved())
    }

    /// Returns whether a key takes back a letter that is not shown. Such a key changes nothing, which is no sign of
    /// another program.
    pub(super) const fn hides(&self, key: Key) -> bool {
        self.field.prompt.is_secret && matches!(key, Key::Backspace)
    }

    /// Returns whether `screen` still has the text of the cursor's line: mere motions do not change it.
    pub(super) fn has_line(&self, screen: &Screen) -> bool {
        let most = INPUT_ROWS_MAX.saturating_mul(screen.size().columns());
        let places = self.field.bounds.start..self.field.bounds.end.min(most);
        let mut line = places.map(|place| self.field.bounds.layout.at(place));
        !self.field.is_line() || line.all(|at| Text::of(screen, at) == Text::of(&self.screen, at))
    }
}
