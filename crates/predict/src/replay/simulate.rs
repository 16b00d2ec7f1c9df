//! Simulates the effect of keys on the field in which they are typed.

mod cursor_motion;
mod edge;
mod input_text;
mod program_text;
mod suggestion;
mod window_text;

use core::ops::Range;

use rove_terminal::{Key, Pen, Position, Screen, Tty, may_be_newer};

use crate::mechanism::Mechanisms;
use crate::replay::bounds::Bounds;
use crate::replay::canvas::{Canvas, Tile};
use crate::replay::class::{Class, Edit, Effect, Target};
use crate::replay::field::{Field, Kind};
use crate::replay::history_cursor::{HistoryCursor, Past};
use crate::replay::layout::Layout;
use crate::replay::motion::{Guide, Motion, Step};
use crate::scene::Pane;
use crate::scene::text::{Text, cell};

use self::cursor_motion::CursorMotion;
use self::input_text::InputText;
use self::suggestion::Suggestion;
use self::window_text::WindowText;

/// Characters that some editors insert after the cursor when the user types the matching opening character.
const CLOSING: [char; 7] = [')', ']', '}', '>', '"', '\'', '`'];

/// The program's habits: how it is expected to treat keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits<'a> {
    pub(super) mechanisms: Mechanisms,
    /// The settings of the host's terminal. `None` if unknown.
    pub(super) tty: Option<Tty>,
    /// Whether characters replace those under the cursor.
    pub(super) overwrites: bool,
    /// Whether the program interprets characters as commands.
    pub(super) takes_commands: bool,
    /// Whether input at the right edge is predicted to continue in the next row.
    pub(super) goes_on: bool,
    /// Whether the cursor stays on a full row's last character, and moves to the next row only with the next character.
    pub(super) is_lazy: bool,
    /// Whether all text moves up if input continues below the last row.
    pub(super) scrolls: bool,
    /// Whether a suggestion stays after a character that does not continue it, and (`regrows`) after text is erased.
    pub(super) keeps_hint: bool,
    pub(super) regrows: bool,
    /// Whether the cursor jumps for a moment to the bracket that a typed bracket closes.
    pub(super) flashes: bool,
    /// The lines that the editor can recall, the newest last. Empty if none are known.
    pub(super) lines: &'a [Past],
}

/// A field in which keys are simulated. Its input columns are places, which count on from row to row ([`Layout`]).
#[derive(Clone, Debug)]
pub(super) struct Simulation<'a> {
    pub(super) canvas: Canvas<'a>,
    pub(super) bounds: Bounds,
    /// The input column of the cursor. `None` if the cursor has left the field.
    column: Option<u16>,
    kind: Kind,
    overwrites: bool,
    habits: Habits<'a>,
    pub(super) suggestion: Suggestion,
    /// The bracket that the last character closes. The cursor may jump to it for a moment.
    pub(super) flash: Option<Position>,
    /// Whether the cursor or any text has moved from one row of the input to another.
    pub(super) crosses: bool,
    /// Whether all text moved up to make room for a row.
    has_scrolled: bool,
    pub(super) motions: CursorMotion<'a>,
    /// The position of the line editor in its history.
    pub(super) history_cursor: HistoryCursor,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(screen: &'a Screen, field: &Field, habits: Habits<'a>) -> Self {
        let pane = field.bounds.pane;
        let canvas = Canvas::new(screen).within(pane.left..pane.right);
        let mut simulation = Self {
            motions: CursorMotion::from(canvas.cursor),
            column: field.bounds.layout.place(canvas.cursor),
            canvas,
            bounds: field.bounds,
            kind: field.kind,
            overwrites: habits.overwrites || matches!(field.kind, Kind::Replace | Kind::Kernel),
            habits,
            suggestion: Suggestion::new(field.suggested),
            flash: None,
            crosses: false,
            has_scrolled: false,
            history_cursor: field.history_cursor,
        };
        if let Some((shown, place)) = field.track.flash {
            simulation.go_to(place);
            simulation.flash = Some(shown);
        }
        if simulation.may_wait() && field.track.waits {
            // The cursor waits on the last character of a full row. The input column is the one after it.
            simulation.column = simulation.column.map(|column| column + 1);
        }
        simulation
    }

    /// Sets the known motions of the window (`guide`), and the column to which motions up and down return (`goal`).
    pub(super) fn guided(self, guide: Option<&'a dyn Guide>, goal: Option<u16>) -> Self {
        Self { motions: self.motions.guided(guide, goal), ..self }
    }

    /// Returns the rows that the input may occupy.
    fn rows(&self) -> Range<u16> {
        let Pane { top, bottom, .. } = self.bounds.pane;
        // An editor shows its mode in the last row, so its text does not use that row.
        let is_editor = matches!(self.kind, Kind::Insert | Kind::Replace);
        let below = u16::from(is_editor && bottom == self.canvas.screen().size().rows());
        top..bottom.saturating_sub(below)
    }

    /// Returns whether the simulated cursor, or the bracket to which it may jump, is at this position.
    pub(super) fn is_at(&self, at: Position) -> bool {
        self.canvas.cursor == at || self.flash == Some(at)
    }

    /// Returns whether the screen shows the input up to the cursor in other rows, with the cursor in `row`.
    pub(super) fn agrees_elsewhere(&self, screen: &Screen, row: u16) -> bool {
        self.canvas.agrees_elsewhere(screen, self.bounds.layout.row, row)
    }

    pub(super) const fn text(&self) -> InputText<'_> {
        InputText { canvas: &self.canvas, bounds: &self.bounds }
    }

    /// Returns the class of a key at the cursor. At a suggestion, some keys accept the suggestion. At text for which
    /// line editors differ, the key has its `Disputed` class.
    pub(super) fn class_of(&self, key: Key) -> Class {
        let class = Class::of(key);
        let is_at_suggestion = self.suggestion.stands() && self.column() == self.bounds.end;
        match class {
            Class::Right | Class::ControlRight if is_at_suggestion => Class::Accept,
            Class::End | Class::ControlEnd if is_at_suggestion => Class::AcceptToEnd,
            Class::WordRight if is_at_suggestion => Class::AcceptWord,
            _ => {
                let edit = class.edit(key);
                let is_disputed = edit.is_some_and(|it| self.text().is_disputed(self.column(), it));
                if is_disputed { class.disputed() } else { class }
            }
        }
    }

    /// Returns the motion that a key is expected to cause. `None` if no motion is known.
    pub(super) fn motion(&self, key: Key) -> Option<Motion> {
        self.motions.motion(key)
    }

    pub(super) fn navigate(&mut self, motion: Motion) -> Effect {
        let from = self.canvas.cursor;
        let may_move =
            !self.suggestion.stands() && from.row == self.bounds.layout.row && !self.waits();
        let to = may_move.then(|| self.window_text().destination(motion)).flatten();
        let Some(to) = to else { return Effect::Unknown };
        if from == to {
            return Effect::Nothing;
        }
        if motion.is_vertical() {
            self.motions.climb_from(from.column);
            self.bounds.layout = Layout::of_row(to.row);
            self.bounds.start = to.column;
            self.bounds.right = self.bounds.pane.right;
            self.bounds.end = self.window_text().text_end(to.row).max(to.column);
        } else {
            self.motions.forget_goal();
        }
        self.go_to(to.column);
        // Numbers on the screen that show the cursor's position change with it.
        let from = self.motions.number(to);
        if let Some(guide) = self.motions.guide {
            let step = self.step(from, to);
            guide.draw_numbers(&mut self.canvas, step);
        }
        Effect::Drawn
    }

    /// Returns how the cursor has moved since it was at `from`.
    pub(super) fn step_from(&self, from: Position) -> Step {
        self.step(from, self.canvas.cursor)
    }

    fn step(&self, from: Position, to: Position) -> Step {
        // In vi's insert mode, the end of an empty line is an ordinary column.
        let inserts = matches!(self.kind, Kind::Insert | Kind::Replace);
        Step {
            from,
            to,
            is_to_empty: !inserts && self.window_text().text_end(to.row) <= self.bounds.left,
        }
    }

    fn window_text(&self) -> WindowText<'_> {
        WindowText {
            canvas: &self.canvas,
            pane: &self.bounds.pane,
            left: self.bounds.left,
            motions: &self.motions,
        }
    }

    /// Simulates a key, and returns its outcome.
    pub(super) fn apply(&mut self, key: Key) -> Effect {
        let motion = self.motion(key);
        let effect = motion.map_or(Effect::Unknown, |motion| self.play(Edit::Navigate(motion)));
        self.motions.has_navigated = effect != Effect::Unknown;
        if self.motions.has_navigated {
            return effect;
        }
        self.motions.forget_goal();
        if self.column.is_none() || self.habits.takes_commands {
            return Effect::Unknown;
        }
        if self.kind == Kind::Kernel && !self.is_kernel_edit(key) {
            return Effect::Unknown;
        }
        let effect = self.edit(key);
        if effect == Effect::Drawn && Class::of(key).is_change() {
            self.history_cursor.edit();
        }
        // Outside a line editor, the cursor may move to another line of the text.
        let is_line = matches!(self.kind, Kind::Line | Kind::Unknown);
        let may_leave = matches!(key, Key::Left | Key::Right) && !is_line;
        if effect == Effect::Nothing && may_leave { Effect::Unknown } else { effect }
    }

    /// Returns whether the kernel inserts a character for this key, or erases a narrow character of the input. Kernel
    /// and terminal differ in the columns of wide characters.
    fn is_kernel_edit(&self, key: Key) -> bool {
        let column = self.column();
        let is_narrow = || column > self.bounds.left && self.text().before(column) + 1 == column;
        self.habits.tty.is_some_and(|tty| match key {
            Key::Text(c) => tty.is_plain(c),
            Key::Backspace => tty.erases_with_backspace() && is_narrow(),
            _ => false,
        })
    }

    fn edit(&mut self, key: Key) -> Effect {
        let class = self.class_of(key);
        let has = |mechanism| self.habits.mechanisms.contains(mechanism);
        let Some(edit) = class.edit(key).filter(|_| class.mechanism().is_none_or(has)) else {
            return Effect::Unknown;
        };
        if self.may_wait() && !(class == Class::Text && self.waits()) {
            return Effect::Unknown;
        }
        let is_line = matches!(self.kind, Kind::Line | Kind::Unknown);
        let is_known = match edit {
            Edit::Insert(_) | Edit::Move(Target::Left | Target::Right) => true,
            Edit::Erase(Target::Left) | Edit::Recall { .. } => true,
            // In an empty line, Ctrl-D ends the input.
            _ => is_line && !(class == Class::ControlD && self.bounds.left == self.bounds.end),
        };
        if is_known { self.play(edit) } else { Effect::Unknown }
    }

    fn play(&mut self, edit: Edit) -> Effect {
        match edit {
            Edit::Insert(c) => self.write(c),
            Edit::Move(target) => self.move_to(self.target(target)),
            Edit::Erase(Target::Left) => self.backspace(),
            Edit::Erase(target @ (Target::Start | Target::WordLeft | Target::SolidLeft)) => {
                self.delete(self.target(target), self.column())
            }
            Edit::Erase(target) => self.delete(self.column(), self.target(target)),
            Edit::Accept { is_word: false } => self.accept(u16::MAX),
            Edit::Accept { is_word: true } => {
                let end = self.suggestion.end().unwrap_or(self.bounds.end);
                self.accept(self.text().word_end_within(self.column(), end))
            }
            Edit::Navigate(motion) => self.navigate(motion),
            Edit::Recall { is_back } => self.recall(is_back),
        }
    }

    fn write(&mut self, c: char) -> Effect {
        let column = self.column();
        let counting = self.canvas.screen().cluster_widths();
        let before = self.canvas.text(self.at(self.text().before(column)));
        if column > self.bounds.left && counting.joins(&before.code_points().collect::<String>(), c)
        {
            return Effect::Unknown;
        }
        let width = counting.char_width(c);
        let next = column.saturating_add(width);
        // Programs differ in where they put the cursor after the last column, so the effect is unknown.
        if width == 0 || may_be_newer(c) || next >= self.bounds.right || self.may_type_over(c) {
            return Effect::Unknown;
        }
        let inserts = !self.overwrites;
        let end =
            if inserts { self.bounds.end.saturating_add(width) } else { self.bounds.end.max(next) };
        if !self.makes_room(column, end, width) {
            return Effect::Unknown;
        }
        let pen = Pen::default();
        if self.suggestion.stands() {
            self.follow_suggestion(c, width);
        }
        if inserts {
            self.shift_right(column, width);
        }
        let wide = width == 2;
        self.canvas.put(self.at(column), Tile::Typed { base: c, wide, pen });
        if wide {
            self.canvas.put(self.at(column + 1), Tile::Blank(pen));
        }
        self.bounds.end = self.bounds.end.max(next);
        self.go_to(next);
        self.flash = self.text().opener(c, column);
        Effect::Drawn
    }

    /// Returns whether a typed character may replace the same character at the cursor. Editors that close brackets and
    /// quotes automatically let the user type over them.
    fn may_type_over(&self, c: char) -> bool {
        let at = self.at(self.column());
        let is_drawn = !self.canvas.is_typed(at.row, at.column) && !self.suggestion.stands();
        is_drawn && CLOSING.contains(&c) && self.canvas.text(at) == Text::plain(c)
    }

    fn backspace(&mut self) -> Effect {
        let column = self.column();
        if column <= self.bounds.left {
            return if self.kind == Kind::Line { Effect::Nothing } else { Effect::Unknown };
        }
        // In a full field, hidden text may scroll back in from the left when a character is erased.
        if self.kind == Kind::Full && self.bounds.is_bounded && column + 1 >= self.bounds.right {
            return Effect::Unknown;
        }
        let before = self.text().before(column);
        if self.overwrites && self.kind != Kind::Kernel {
            return Effect::Unknown;
        }
        self.delete(before, column)
    }

    /// Moves the text from `column` to the end of the input to the right by `width` columns.
    fn shift_right(&mut self, column: u16, width: u16) {
        let end = self.bounds.end.saturating_add(width).min(self.bounds.right);
        for to in (column + width..end).rev() {
            let tile = self.canvas.tile(self.at(to - width));
            self.canvas.put(self.at(to), tile);
        }
        self.bounds.end = end.max(self.bounds.end);
    }

    /// Erases the text from one input column to another, and moves the cursor to the first.
    fn delete(&mut self, from: u16, to: u16) -> Effect {
        if from >= to {
            return self.move_to(from);
        }
        let width = to - from;
        if !self.may_pull_back(from, width) {
            return Effect::Unknown;
        }
        if self.suggestion.was_there() && to == self.bounds.end {
            return self.take_back(from);
        }
        self.lose_suggestion(self.bounds.end, Class::Regrowth);
        let underscore = self.underscore();
        for column in from..self.bounds.end {
            let tile = match column.checked_add(width) {
                Some(source) if source < self.bounds.end => self.canvas.tile(self.at(source)),
                // A field keeps its background and its underscores.
                _ => underscore.unwrap_or_else(|| {
                    Tile::Blank(cell(self.canvas.screen(), self.at(column)).pen.erased())
                }),
            };
            self.canvas.put(self.at(column), tile);
        }
        if underscore.is_none() {
            self.bounds.end = self.bounds.end.saturating_sub(width).max(from);
        }
        self.go_to(from);
        Effect::Drawn
    }

    /// Returns the last cell of a field that underscores fill up to its edge. `None` for other fields.
    fn underscore(&self) -> Option<Tile> {
        let last = self.bounds.end.checked_sub(1).map(|last| self.at(last))?;
        let tile = self.canvas.tile(last);
        let is_underscore = self.canvas.text(last) == Text::plain('_');
        let is_drawn = is_underscore && matches!(tile, Tile::Original(_));
        (is_drawn && self.bounds.is_bounded && self.bounds.end == self.bounds.right).then_some(tile)
    }

    fn move_to(&mut self, column: u16) -> Effect {
        if column == self.column() {
            return Effect::Nothing;
        }
        if self.bounds.layout.parts(self.column(), column) {
            if !self.may_go_back() {
                return Effect::Unknown;
            }
            self.crosses = true;
        }
        self.go_to(column);
        Effect::Drawn
    }

    fn target(&self, target: Target) -> u16 {
        self.text().target(self.column(), target)
    }

    /// Returns the input column of the cursor.
    pub(super) fn column(&self) -> u16 {
        self.column.unwrap_or(self.bounds.left)
    }

    fn go_to(&mut self, column: u16) {
        (self.column, self.flash) = (Some(column), None);
        self.canvas.cursor = self.shown_at(column);
    }

    fn at(&self, column: u16) -> Position {
        self.bounds.layout.at(column)
    }
}
