//! Where the user types: the part of a row that keys may change, and what kind of place it is.

use rove_terminal::{MouseReporting, Position, Screen};

use crate::replay::canvas::{MOVED_MIN, Text, mix};
use crate::replay::context::ContextKey;
use crate::replay::surroundings::{self, EditorMode};

/// What asks for the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line editor at a prompt, the last thing on the screen.
    Line,
    /// An editor with text around, which shows that it inserts or replaces what is typed.
    Insert,
    Replace,
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
    /// Whether a key was typed here, so that its start is known.
    pub(super) is_used: bool,
    /// What stands left of its start.
    prompt: Vec<Option<char>>,
}

impl Field {
    /// Reads the place at the cursor of a screen; the one before goes on where it is the same.
    pub(super) fn read(screen: &Screen, before: &Self) -> Self {
        let cursor = screen.cursor();
        Self::read_at(screen, before, Position { row: cursor.row, column: cursor.column })
    }

    /// Reads the place at the cursor of a screen, as if the first key had been typed at `start`.
    pub(super) fn read_from(screen: &Screen, start: Position) -> Self {
        Self::read_at(screen, &Self::default(), start)
    }

    fn read_at(screen: &Screen, before: &Self, at: Position) -> Self {
        let mut field = if before.is_used && before.is_at(screen, at) {
            Self { row: at.row, ..before.clone() }
        } else {
            Self::begin(screen, at)
        };
        field.right = screen.size().columns();
        field.end = surroundings::input_end(screen, at);
        field.left = match field.kind {
            Kind::Line | Kind::Unknown => field.start,
            Kind::Insert | Kind::Replace | Kind::Full => 0,
        };
        field
    }

    fn begin(screen: &Screen, at: Position) -> Self {
        let kind = kind(screen, at);
        let prompt = (0..at.column).map(|column| base(screen, Position { row: at.row, column }));
        Self {
            row: at.row,
            start: at.column,
            kind,
            context: context(screen, at, kind),
            is_secret: surroundings::asks_for_secret(screen, at),
            prompt: prompt.collect(),
            ..Self::default()
        }
    }

    /// Returns whether the cursor is still in it.
    fn is_at(&self, screen: &Screen, at: Position) -> bool {
        if self.kind != kind_again(self.kind, screen) {
            return false;
        }
        if !self.is_line() {
            return self.row == at.row;
        }
        // A prompt may scroll, or move for what is printed above it.
        let may_move = self.prompt.iter().flatten().count() >= MOVED_MIN;
        (self.row == at.row || may_move)
            && self.start <= at.column
            && self.has_prompt(screen, at.row)
    }

    /// Returns whether what stood left of it stands in a row of the screen.
    fn has_prompt(&self, screen: &Screen, row: u16) -> bool {
        let columns = (0..).map(|column| Position { row, column });
        columns.zip(&self.prompt).all(|(at, prompt)| base(screen, at) == *prompt)
    }

    pub(super) const fn is_line(&self) -> bool {
        matches!(self.kind, Kind::Line | Kind::Unknown)
    }
}

fn base(screen: &Screen, at: Position) -> Option<char> {
    Text::of(screen, at).base
}

fn kind(screen: &Screen, at: Position) -> Kind {
    match surroundings::editor_mode(screen) {
        Some(EditorMode::Insert) => return Kind::Insert,
        Some(EditorMode::Replace) => return Kind::Replace,
        None => {}
    }
    let rows = at.row + 1..screen.size().rows();
    let is_last = rows.into_iter().all(|row| is_blank_row(screen, row));
    let is_mouse = screen.mouse_reporting() != MouseReporting::Off;
    if screen.alternate_screen() || is_mouse || !is_last {
        Kind::Full
    } else if screen.bracketed_paste() && at.column > 0 {
        Kind::Line
    } else {
        Kind::Unknown
    }
}

/// Whether the kind is still the same, as far as can be told without looking at the rows below: a line
/// editor may list what fits there.
fn kind_again(before: Kind, screen: &Screen) -> Kind {
    match (surroundings::editor_mode(screen), before) {
        (Some(EditorMode::Insert), _) => Kind::Insert,
        (Some(EditorMode::Replace), _) => Kind::Replace,
        (None, Kind::Insert | Kind::Replace) => Kind::Full,
        (None, other) => other,
    }
}

fn is_blank_row(screen: &Screen, row: u16) -> bool {
    let Some(row) = screen.row(row) else { return true };
    row.cells().iter().all(|cell| matches!(cell.base, None | Some(' ')))
}

fn context(screen: &Screen, at: Position, kind: Kind) -> ContextKey {
    let modes = [
        kind as u64,
        u64::from(screen.bracketed_paste()),
        u64::from(screen.mouse_reporting() != MouseReporting::Off),
        u64::from(screen.alternate_screen()),
    ];
    match kind {
        Kind::Insert | Kind::Replace => {
            let name = mix(&modes);
            ContextKey { strong: name, weak: name }
        }
        Kind::Line | Kind::Unknown | Kind::Full => {
            let print = surroundings::fingerprint(screen, at);
            ContextKey {
                strong: mix(&[modes[0], modes[1], modes[2], modes[3], 1, print.strong]),
                weak: mix(&[modes[0], modes[1], modes[2], modes[3], 2, print.weak]),
            }
        }
    }
}
