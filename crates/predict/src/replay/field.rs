//! Where the user types: the part of a row that keys may change, and what kind of place it is.

use rove_terminal::{MouseReporting, Pen, Position, Screen};
use rove_units::Instant;

use crate::replay::canvas::{MOVED_MIN, Text, cell, mix};
use crate::replay::context::ContextKey;
use crate::scene::{self, EditorMode, Pane};
use crate::tty::Tty;

/// What asks for the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The host's kernel, which echoes lines.
    Kernel,
    /// A line editor at a prompt, the last thing on the screen.
    Line,
    /// An editor with text around, which shows that it inserts or replaces what is typed.
    Insert,
    Replace,
    /// One that shows that it takes keys for commands.
    Command,
    /// Another program that draws on the whole screen.
    Full,
    #[default]
    Unknown,
}

/// The place that keys go to.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    pub(super) row: u16,
    /// Where the first key was typed: what stands to the left is a prompt, or other text.
    pub(super) start: u16,
    /// The columns that keys may move to and change.
    pub(super) left: u16,
    pub(super) right: u16,
    /// The end of the text that belongs to the input.
    pub(super) end: u16,
    pub(super) kind: Kind,
    pub(super) context: ContextKey,
    /// Whether the text asks for something that is not to be seen.
    pub(super) is_secret: bool,
    /// How many characters have been seen to come true here.
    pub(super) confirmed: u32,
    /// Whether something did not.
    pub(super) is_doubted: bool,
    /// Whether a key was pressed here behind which characters may be commands: Escape, or a prefix.
    pub(super) is_escaped: bool,
    /// Whether a key was typed here, so that its start is known.
    pub(super) is_used: bool,
    /// When it was first seen.
    pub(super) since: Instant,
    /// The end of what was typed, which blanks at its end do not show.
    pub(super) reach: u16,
    /// The end of what the program suggests, which begins at the end of the input.
    pub(super) suggested: Option<u16>,
    /// How that is painted.
    pub(super) suggestion_pen: Option<Pen>,
    /// What stands left of its start.
    prompt: Vec<Option<char>>,
}

impl Field {
    /// Reads the place at the cursor of a screen; the one before goes on where it is the same.
    pub(super) fn read(now: Instant, screen: &Screen, tty: Option<Tty>, before: &Self) -> Self {
        let cursor = screen.cursor();
        let at = Position { row: cursor.row, column: cursor.column };
        let pane = scene::pane(screen, at);
        let kind = Kind::at(screen, tty, at, &pane);
        let mut field = if before.is_used && before.goes_on(screen, kind, at) {
            Self { row: at.row, ..before.clone() }
        } else {
            Self::begin(screen, kind, at, &pane, now)
        };
        field.measure(screen, at, &pane);
        if field.since == before.since && field.kind == Kind::Full {
            // A field does not grow for being full.
            field.right = field.right.min(before.right).max(at.column);
        }
        field
    }

    /// Reads the place at the cursor of a screen, as if the first key had been typed at `start`.
    pub(super) fn read_from(
        now: Instant,
        screen: &Screen,
        tty: Option<Tty>,
        start: Position,
    ) -> Self {
        let pane = scene::pane(screen, start);
        let kind = Kind::at(screen, tty, start, &pane);
        let mut field = Self::begin(screen, kind, start, &pane, now);
        field.measure(screen, start, &pane);
        field
    }

    fn begin(screen: &Screen, kind: Kind, at: Position, pane: &Pane, now: Instant) -> Self {
        let prompt = (0..at.column).map(|column| base(screen, Position { row: at.row, column }));
        Self {
            row: at.row,
            start: at.column,
            kind,
            context: context(screen, kind, at, pane),
            is_secret: scene::asks_for_secret(screen, at),
            since: now,
            prompt: prompt.collect(),
            ..Self::default()
        }
    }

    fn measure(&mut self, screen: &Screen, at: Position, pane: &Pane) {
        self.left = if self.is_line() { self.start } else { scene::gutter(screen, at, pane) };
        let within = self.behind_indentation(screen, at, pane);
        self.right = scene::right_bound(screen, within, pane);
        self.end = scene::input_end(screen, within, pane).max(self.reach).min(self.right);
        self.suggested = None;
        if matches!(self.kind, Kind::Line | Kind::Unknown) {
            let left = at.column.checked_sub(1).filter(|column| *column >= self.start);
            let typed = left.map(|column| cell(screen, Position { row: at.row, column }).pen);
            let suggestion = scene::suggestion(screen, at, typed);
            self.suggested = suggestion.map(|columns| columns.end);
        }
        if self.suggested.is_some() {
            self.end = at.column;
            self.right = pane.right;
            self.suggestion_pen = Some(cell(screen, at).pen);
        }
        // One that is a line may be called from within another: a gap then ends no text of an editor.
        if matches!(self.kind, Kind::Insert) {
            self.right = pane.right;
        }
    }

    /// Returns where the text begins in whose indentation the cursor stands, if it does: that is no gap.
    fn behind_indentation(&self, screen: &Screen, at: Position, pane: &Pane) -> Position {
        let is_blank = |column: &u16| base(screen, Position { column: *column, ..at }).is_none();
        if self.kind != Kind::Full || !(self.left..at.column).all(|column| is_blank(&column)) {
            return at;
        }
        let first = (at.column..pane.right).find(|column| !is_blank(column));
        Position { column: first.unwrap_or(at.column), ..at }
    }

    /// Takes what stands behind what was typed for a suggestion, as this program makes them, with the cursor
    /// in this column.
    pub(super) fn part_suggestion(&mut self, column: u16) {
        if self.reach == 0 || self.suggested.is_some() || !self.is_line() {
            return;
        }
        self.reach = self.reach.max(column);
        if self.end > self.reach {
            self.suggested = Some(self.end);
            self.end = self.reach;
        }
    }

    /// Returns whether there is a prompt, by which to know it again.
    pub(super) fn has_name(&self) -> bool {
        self.prompt.iter().any(Option::is_some)
    }

    /// Returns whether the cursor is still in it.
    fn goes_on(&self, screen: &Screen, kind: Kind, at: Position) -> bool {
        // A line editor may list what fits below.
        let is_same = self.kind == kind || self.kind == Kind::Line && kind == Kind::Full;
        if !is_same {
            return false;
        }
        if !self.is_line() {
            return self.row == at.row;
        }
        // A prompt may scroll, or move for what is printed above it.
        let may_move = self.prompt.iter().flatten().count() >= MOVED_MIN;
        // Without one, a place where all text is gone is nothing to know it by.
        let is_gone = !self.has_name() && self.start == at.column && self.reach > at.column;
        (self.row == at.row || may_move)
            && !is_gone
            && self.start <= at.column
            && self.has_prompt(screen, at.row)
    }

    /// Returns whether what stood left of it stands in a row of the screen.
    fn has_prompt(&self, screen: &Screen, row: u16) -> bool {
        let columns = (0..).map(|column| Position { row, column });
        columns.zip(&self.prompt).all(|(at, prompt)| base(screen, at) == *prompt)
    }

    pub(super) const fn is_line(&self) -> bool {
        matches!(self.kind, Kind::Kernel | Kind::Line | Kind::Unknown)
    }
}

impl Kind {
    fn at(screen: &Screen, tty: Option<Tty>, at: Position, pane: &Pane) -> Self {
        if tty.is_some_and(Tty::echoes_lines) {
            return Self::Kernel;
        }
        match scene::editor_mode(screen, pane) {
            Some(EditorMode::Insert) => return Self::Insert,
            Some(EditorMode::Replace) => return Self::Replace,
            Some(EditorMode::Command) => return Self::Command,
            None => {}
        }
        let mut rows = at.row + 1..screen.size().rows();
        let is_last = rows.all(|row| is_blank_row(screen, row));
        let is_mouse = screen.mouse_reporting() != MouseReporting::Off;
        if screen.alternate_screen() || is_mouse || !is_last {
            Self::Full
        } else if screen.bracketed_paste() && at.column > 0 {
            Self::Line
        } else {
            Self::Unknown
        }
    }
}

fn base(screen: &Screen, at: Position) -> Option<char> {
    Text::of(screen, at).base
}

fn is_blank_row(screen: &Screen, row: u16) -> bool {
    let Some(row) = screen.row(row) else { return true };
    row.cells().iter().all(|cell| matches!(cell.base, None | Some(' ')))
}

fn context(screen: &Screen, kind: Kind, at: Position, pane: &Pane) -> ContextKey {
    let modes = [
        kind as u64,
        u64::from(screen.bracketed_paste()),
        u64::from(screen.mouse_reporting() != MouseReporting::Off),
        u64::from(screen.alternate_screen()),
    ];
    let print = match kind {
        Kind::Kernel | Kind::Insert | Kind::Replace | Kind::Command => None,
        Kind::Line | Kind::Unknown | Kind::Full => {
            scene::fingerprint(screen, at.row, pane.left..at.column)
        }
    };
    let name = mix(&modes);
    match print {
        None => ContextKey { strong: name, weak: name },
        // Text left of the cursor of an editor says nothing by its end.
        Some(print) if kind == Kind::Full => {
            ContextKey { strong: mix(&[name, 1, print.strong]), weak: name }
        }
        Some(print) => {
            ContextKey { strong: mix(&[name, 1, print.strong]), weak: mix(&[name, 2, print.weak]) }
        }
    }
}
