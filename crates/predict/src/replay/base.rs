//! Where predictions start: the newest screen that the keys explain, and the input line on it.

use rove_terminal::{Screen, Size};

use crate::keystroke::Key;
use crate::network::InputNum;
use crate::replay::class::is_enter;
use crate::replay::field::{Field, Kind};
use crate::replay::layout::INPUT_ROWS_MAX;
use crate::scene::text::{Text, is_changed};

/// The screen that the first key of the log acts on, and the known facts about the place that it goes to.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) screen: Screen,
    /// The last input that may show on the screen.
    pub(super) arrived: InputNum,
    /// The last input whose answer certainly shows there.
    pub(super) acked: InputNum,
    /// The last input that was taken as answered without its effect having been recognized.
    pub(super) unsure: InputNum,
    pub(super) field: Field,
    /// The column that motions up and down keep to.
    pub(super) goal: Option<u16>,
    /// Whether typed text is a search, and is shown elsewhere than at the cursor.
    pub(super) is_searching: bool,
    /// Whether keys that came true since the screen was taken explain where its cursor is.
    pub(super) is_explained: bool,
    /// Whether no key was answered since a line was entered.
    pub(super) is_new_line: bool,
    /// The last key that was retired since the screen was taken, if it is no character.
    pub(super) command: Option<(Key, InputNum)>,
    /// Whether its program holds a character back until the key after it.
    pub(super) is_held: bool,
    /// Whether the program hides the terminal's cursor and draws its own.
    pub(super) has_drawn_cursor: bool,
}

impl Base {
    /// Creates the base of a session: a blank screen.
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

    /// Returns whether an editor shows that it takes text for text, in whichever row.
    pub(super) const fn shows_mode(&self) -> bool {
        matches!(self.field.kind, Kind::Insert | Kind::Replace)
    }

    /// Returns whether keys may move the cursor over the whole screen.
    pub(super) const fn may_navigate(&self) -> bool {
        !self.field.is_line() && !self.field.prompt.is_secret && !self.is_searching
    }

    /// Called when the text of a row stands in another row. Returns whether it has risen from the last row.
    pub(super) fn move_to(&mut self, from: u16, to: u16) -> bool {
        self.field.row = (self.field.row + to).saturating_sub(from);
        to < from && self.is_at_bottom()
    }

    /// Returns whether a screen has text in the row below that of the cursor, which was blank, and not for a full row above it.
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

    /// Returns whether the cursor or its row is another on a screen.
    pub(super) fn has_moved(&self, screen: &Screen) -> bool {
        let (from, to) = (self.screen.cursor().position(), screen.cursor().position());
        from != to || is_changed(&self.screen, screen, to.row)
    }

    /// Returns whether a screen shows that the key that was retired last had no effect on the cursor and its row, where
    /// that key is no character.
    pub(super) fn is_unmoved(&mut self, screen: &Screen) -> bool {
        let Some((key, input)) = self.command.take() else { return false };
        // The end of a line may move all text up and leave the cursor; or the screen that this one is compared with shows
        // its effect already.
        let may_be_moved = || {
            let mut rows = 0..screen.size().rows();
            input <= self.arrived || rows.any(|row| is_changed(&self.screen, screen, row))
        };
        // It has cleared the screen, though a key before it may have been seen to do so.
        let is_cleared = key == Key::ControlL && screen.cursor().row == self.field.bounds.pane.top;
        !(self.has_moved(screen) || is_cleared || is_enter(key) && may_be_moved())
    }

    /// Returns whether a screen still has the line that the cursor is in: keys that only move the cursor change nothing in there.
    pub(super) fn has_line(&self, screen: &Screen) -> bool {
        let most = INPUT_ROWS_MAX.saturating_mul(screen.size().columns());
        let places = self.field.bounds.start..self.field.bounds.end.min(most);
        let mut line = places.map(|place| self.field.bounds.layout.at(place));
        !self.field.is_line() || line.all(|at| Text::of(screen, at) == Text::of(&self.screen, at))
    }
}
