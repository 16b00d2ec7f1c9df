//! The field where the user types: the part of the screen that keys may change, and the program that reads them.

use core::ops::Range;

use rove_terminal::{Position, Row, Screen, Tty};
use rove_units::Instant;

use crate::mechanism::{Mechanism, Mechanisms};
use crate::replay::bounds::Bounds;
use crate::replay::canvas::mix;
use crate::replay::certainty::Certainty;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::id::{ContextKey, PlaceId, PromptId};
use crate::replay::input_track::InputTrack;
use crate::replay::layout::{INPUT_ROWS_MAX, Layout};
use crate::replay::prompt_marks::{PromptMarks, modes};
use crate::replay::wrap::{WrapBehaviour, Wraps};
use crate::scene::text::{Text, cell};
use crate::scene::{self, EditorMode, Pane};
use crate::secrecy::{Line, Prompt, Sort, Window};

/// The kind of program that reads the keys, judged by the screen and the pty's modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The host's kernel, which echoes a line for a program that reads whole lines.
    Kernel,
    /// A line editor with bracketed paste, at a prompt. Nothing is below the input.
    Line,
    /// An editor that shows its insert mode, or (`Replace`) its overwrite mode.
    Insert,
    Replace,
    /// An editor that shows that it interprets keys as commands.
    Command,
    /// Any other program that uses the alternate screen or the mouse, or has text below the input.
    Full,
    #[default]
    Unknown,
}

/// The part of the screen that keys act on, and the facts that are known about it.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// The row in which the field begins.
    pub(super) row: u16,
    pub(super) bounds: Bounds,
    /// How the input continues in the next row. `None` if that is unknown.
    pub(super) wrap: Option<WrapBehaviour>,
    pub(super) kind: Kind,
    pub(super) context: ContextKey,
    /// Identifies the field by its kind of prompt and the columns of its pane.
    pub(super) place: PlaceId,
    pub(super) prompt: PromptMarks,
    /// The echo in the current input line, for [`crate::secrecy`].
    pub(super) line: Line,
    pub(super) certainty: Certainty,
    /// When the field was first seen.
    since: Instant,
    pub(super) track: InputTrack,
    /// The input column after the suggestion that follows the input. `None` if there is no suggestion.
    pub(super) suggested: Option<u16>,
    /// The row in which the editor shows its insert or replace mode. `None` if there is no such mode line.
    mode_line: Option<u16>,
    /// The position of the line editor in its history.
    pub(super) history_cursor: HistoryCursor,
}

/// The facts, apart from the screen, that are needed to read a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) tty: Option<Tty>,
    pub(super) wraps: &'a Wraps,
    pub(super) mechanisms: Mechanisms,
}

impl Field {
    /// Reads the field at the screen's cursor. Keeps what is known about `before` if the cursor is still in that field.
    pub(super) fn read(now: Instant, screen: &Screen, reader: Reader<'_>, before: &Self) -> Self {
        let at = screen.cursor().position();
        let pane = scene::pane(screen, at);
        let kind = Kind::at(screen, reader.tty, at, &pane);
        let mut field = before.clone();
        field.bounds.pane = pane;
        field.track.look_for_flash(at);
        match before.track.is_used.then(|| field.row_on(screen, kind, at)).flatten() {
            Some(row) => field.row = row,
            None => {
                field = Self::begin(screen, kind, at, &pane, now);
                // After a mere change of the modes or rows below, a key answered without its echo still counts.
                if field.prompt.is_shell && field.begins_where(before) {
                    field.line = before.line;
                    field.line.end();
                }
            }
        }
        field.wrap = reader.wraps.find(field.context);
        field.measure(screen, reader, at, &pane);
        if field.since == before.since && field.kind == Kind::Full && before.bounds.is_bounded {
            // A field in a full-screen program never becomes wider.
            field.bounds.right = field.bounds.right.min(before.bounds.right).max(at.column);
            field.bounds.is_bounded = true;
        }
        field
    }

    /// Reads the field that begins at `start`, as if the cursor were there.
    pub(super) fn read_from(
        now: Instant,
        screen: &Screen,
        reader: Reader<'_>,
        start: Position,
    ) -> Self {
        let pane = scene::pane(screen, start);
        let kind = Kind::at(screen, reader.tty, start, &pane);
        let mut field = Self::begin(screen, kind, start, &pane, now);
        field.wrap = reader.wraps.find(field.context);
        field.measure(screen, reader, start, &pane);
        field
    }

    fn begin(screen: &Screen, kind: Kind, at: Position, pane: &Pane, now: Instant) -> Self {
        Self {
            row: at.row,
            bounds: Bounds { start: at.column, ..Bounds::default() },
            kind,
            context: context(screen, kind, at, pane),
            prompt: PromptMarks::read(screen, at, pane),
            since: now,
            ..Self::default()
        }
    }

    fn measure(&mut self, screen: &Screen, reader: Reader<'_>, at: Position, pane: &Pane) {
        self.place = PlaceId::of([self.context.weak.number(), pane.left.into(), pane.right.into()]);
        self.mode_line = scene::mode_line(screen, at, pane);
        let before = Layout { row: self.row, ..self.bounds.layout };
        self.bounds.pane = *pane;
        self.bounds.left =
            if self.is_line() { self.bounds.start } else { scene::gutter(screen, at, pane) };
        self.bounds.layout = Layout::of_row(self.row);
        // The engine assumes that input at the edge continues in the next row, as in most programs.
        let goes_on = self.is_line() || self.wrap.is_some();
        let layout =
            (goes_on && self.kind != Kind::Kernel).then(|| self.bounds.layout_over_edge(self.row));
        if let Some(layout) = layout {
            self.track.reach = layout.place_of(before, self.track.reach);
        }
        let place = layout.and_then(|layout| layout.place(at)).unwrap_or(at.column);
        // Text after a gap belongs to the input if the user typed it.
        let last = layout.map_or(at, |layout| self.last_row(screen, at, layout, place));
        let last = if last == at { self.behind_indentation(screen, at, pane) } else { last };
        let right = scene::right_bound(screen, last, pane);
        let end = scene::input_end(screen, last, right);
        let bounds = &mut self.bounds;
        // In an editor's insert mode, text continues after a gap.
        bounds.is_bounded = right < pane.right && self.kind != Kind::Insert;
        let mut below = last.row + 1..pane.bottom;
        bounds.is_last = below.all(|row| is_blank_row(screen, row, pane.left..pane.right));
        bounds.right = if bounds.is_bounded { right } else { pane.right };
        bounds.end = end;
        if let Some(layout) = layout.filter(|_| !bounds.is_bounded || last.row > self.row) {
            bounds.layout = layout;
            let of = |column| layout.place(Position { column, ..last }).unwrap_or(u16::MAX);
            bounds.end = of(end);
            bounds.right = if bounds.is_bounded { of(right) } else { u16::MAX };
        }
        bounds.end = bounds.end.max(self.track.reach).min(bounds.right);
        self.suggested = None;
        let is_looked_for =
            self.track.flash.is_none() && reader.mechanisms.contains(Mechanism::Suggestions);
        if is_looked_for && matches!(self.kind, Kind::Line | Kind::Unknown) {
            self.suggested = self.suggestion(screen, at, layout);
        }
        if self.suggested.is_some() {
            self.bounds.end = place;
            self.bounds.right = if layout.is_some() { u16::MAX } else { pane.right };
            self.bounds.layout = layout.unwrap_or(self.bounds.layout);
        }
    }

    /// Returns the last position that is known to be input. It is the cursor, the last typed character, or the start of
    /// the text's lowest row.
    fn last_row(&self, screen: &Screen, at: Position, layout: Layout, place: u16) -> Position {
        let mut last = at;
        for row in at.row + 1..self.bounds.pane.bottom {
            let start = Position { row, column: layout.left };
            let Some(start_place) = layout.place(start) else { break };
            let was_typed = self.track.covers(place) && start_place < self.track.reach;
            if !was_typed && !self.links(screen, last, layout) {
                break;
            }
            last = start;
        }
        let reach = self.track.reach.checked_sub(1).filter(|_| self.is_line());
        let reach = reach.map(|end| layout.at(end));
        match reach {
            Some(reach) if reach.row == last.row && reach.column > last.column => reach,
            _ => last,
        }
    }

    /// Returns whether the text of a position's row continues in the row below.
    fn links(&self, screen: &Screen, at: Position, layout: Layout) -> bool {
        let below = Position { row: at.row + 1, column: layout.left };
        if base(screen, below).is_none() {
            return false;
        }
        let at_edge = |column| base(screen, Position { column, ..at });
        let is_full = layout.edge.checked_sub(1).and_then(at_edge).is_some();
        screen.row(at.row).is_some_and(Row::wrapped)
            || self.is_line()
                && is_full
                && scene::right_bound(screen, at, &self.bounds.pane) >= self.bounds.pane.right
    }

    /// Returns the input column after the suggestion that begins at the cursor. `None` if there is no suggestion.
    fn suggestion(&self, screen: &Screen, at: Position, layout: Option<Layout>) -> Option<u16> {
        let left =
            at.column.checked_sub(1).filter(|_| at.row > self.row || at.column > self.bounds.start);
        let typed = left.map(|column| cell(screen, Position { column, ..at }).pen);
        let columns = scene::suggestion(screen, at, typed)?;
        layout.unwrap_or(self.bounds.layout).place(Position { column: columns.end, ..at })
    }

    /// Updates the field after confirmed keys: its rows, the end of its text, and whether the cursor waits at the edge.
    pub(super) fn follow(&mut self, layout: Layout, end: u16, waits: bool) {
        self.row = layout.row;
        (self.track.reach, self.track.waits) = (end, waits);
    }

    /// Extends the field to the rows below.
    pub(super) fn lay_out(&mut self) {
        let before = self.bounds.layout;
        self.bounds.go_over_edge(self.row);
        self.track.reach = self.bounds.layout.place_of(before, self.track.reach);
    }

    /// Returns whether the field begins at the same position as `other`, after the same prompt.
    fn begins_where(&self, other: &Self) -> bool {
        let start = |field: &Self| (field.row, field.bounds.start);
        start(self) == start(other) && self.prompt.has_text_of(&other.prompt)
    }

    /// Returns the start of the row's text if the cursor of a full-screen program is left of that text. Such a gap does
    /// not end the input. Otherwise returns the cursor.
    fn behind_indentation(&self, screen: &Screen, at: Position, pane: &Pane) -> Position {
        let is_blank = |column: &u16| base(screen, Position { column: *column, ..at }).is_none();
        if self.kind != Kind::Full || !(self.bounds.left..at.column).all(|column| is_blank(&column))
        {
            return at;
        }
        let first = (at.column..pane.right).find(|column| !is_blank(column));
        Position { column: first.unwrap_or(at.column), ..at }
    }

    /// Returns whether the field has a prompt by which it can be recognised.
    pub(super) fn has_name(&self) -> bool {
        self.prompt.has_text_in(0..usize::MAX)
    }

    /// Returns the prompt or editor's mode that identifies the field for [`crate::secrecy`]. `None` if there is none.
    pub(super) fn prompt_name(&self) -> Option<Prompt> {
        let ContextKey { strong, weak, text } = self.context;
        let [whole, end, text] = [strong, weak, text].map(PromptId::number);
        let sort = if self.prompt.is_shell { Sort::Shell } else { Sort::Other };
        match self.kind {
            Kind::Insert | Kind::Replace if self.inserts() && !self.prompt.is_secret => {
                Some(Prompt { whole, end: whole, text: whole, sort: Sort::Mode })
            }
            Kind::Line | Kind::Unknown if self.has_name() => {
                Some(Prompt { whole, end, text, sort })
            }
            // No text is below the input in its pane, as with a shell in a pane of tmux.
            Kind::Full if self.bounds.is_last && self.has_name() => {
                Some(Prompt { whole, end: whole, text, sort })
            }
            // If the text below disappears, the other hashes change. So this prompt cannot become known, only refused.
            Kind::Full if self.prompt.is_shell => Some(Prompt { text, ..Prompt::default() }),
            _ => None,
        }
    }

    /// Returns whether a mode line shows that the editor inserts or replaces characters.
    const fn inserts(&self) -> bool {
        self.mode_line.is_some()
    }

    /// Returns the field's place for [`crate::secrecy`] on the alternate screen. `None` on the primary screen.
    pub(super) fn window(&self, screen: &Screen) -> Option<Window> {
        let Pane { left, right, top, bottom } = self.bounds.pane;
        let window = Window {
            pane: mix([left, right, top, bottom].map(u64::from)),
            inserts: self.inserts(),
            start: (self.row, self.bounds.start),
            is_behind_text: self.prompt.has_text_in(usize::from(self.bounds.left)..usize::MAX),
        };
        screen.rich_modes().alternate_screen.then_some(window)
    }

    /// Returns whether bracketed paste or the window's title confirms that a line editor reads the keys.
    pub(super) fn is_vouched(&self, screen: &Screen) -> bool {
        let columns = self.bounds.pane.left..self.bounds.start;
        screen.input_modes().bracketed_paste || scene::is_titled(screen, self.row, columns)
    }

    /// Returns the row in which the field begins on this screen. `None` if the cursor has left the field.
    fn row_on(&self, screen: &Screen, kind: Kind, at: Position) -> Option<u16> {
        // A line editor may list completions below the input.
        let is_below = kind == Kind::Full || at.column == 0 && screen.input_modes().bracketed_paste;
        let is_prompt = self.kind == Kind::Line || self.kind == Kind::Unknown && self.has_name();
        let is_same = self.kind == kind || is_prompt && is_below;
        if !is_same || !self.prompt.has_modes(screen) {
            return None;
        }
        if !self.is_line() {
            let place = self.wrap.and_then(|_| self.bounds.layout_over_edge(self.row).place(at));
            let was_typed = place.is_some_and(|place| self.track.covers(place));
            // A cursor right of the field's edge is in another field.
            let is_same_row =
                self.row == at.row && !(self.bounds.is_bounded && at.column > self.bounds.right);
            let is_gone = self.prompt.is_shell && !self.prompt.stands_in(screen, self.row);
            return (!is_gone && (is_same_row || was_typed)).then_some(self.row);
        }
        let Bounds { start, pane, .. } = self.bounds;
        // A prompt may scroll, or move down because text is printed above it.
        let may_move = self.prompt.may_move();
        // Without a prompt, a field whose text has disappeared cannot be recognised.
        let is_gone = !self.has_name() && start == at.column && self.track.reach > at.column;
        if (self.row == at.row || may_move)
            && !is_gone
            && start <= at.column
            && self.prompt.stands_in(screen, at.row)
        {
            return Some(at.row);
        }
        // If rows above continue in the cursor's row, the field begins above.
        let mut linked = at.row;
        for row in (pane.top..at.row).rev().take(usize::from(INPUT_ROWS_MAX)) {
            let layout = self.bounds.layout_over_edge(row);
            let start = Position { row, column: start.min(pane.right - 1) };
            if linked == row + 1 && self.links(screen, start, layout) {
                linked = row;
            }
            let was_typed = layout.place(at).is_some_and(|place| self.track.covers(place));
            if (self.row == row || may_move)
                && (was_typed || linked == row)
                && self.prompt.stands_in(screen, row)
            {
                return Some(row);
            }
        }
        None
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
        let is_last = is_last(screen, at, pane);
        let [_, has_mouse, is_alternate] = modes(screen);
        if is_alternate || has_mouse || !is_last {
            Self::Full
        } else if screen.input_modes().bracketed_paste && at.column > 0 {
            Self::Line
        } else {
            Self::Unknown
        }
    }
}

fn base(screen: &Screen, at: Position) -> Option<char> {
    Text::of(screen, at).base
}

/// Returns whether the rows below a position are blank, except for text that continues from the row above.
fn is_last(screen: &Screen, at: Position, pane: &Pane) -> bool {
    let rows = at.row + 1..screen.size().rows();
    let is_blank = |row| is_blank_row(screen, row, 0..u16::MAX);
    let is_linked = |row: u16| {
        let above = screen.row(row - 1);
        let last = pane.right.checked_sub(1).map(|column| Position { row: row - 1, column });
        above.is_some_and(Row::wrapped) || last.is_some_and(|last| base(screen, last).is_some())
    };
    let mut below = rows.skip_while(|row| is_linked(*row) && !is_blank(*row));
    below.all(is_blank)
}

fn is_blank_row(screen: &Screen, row: u16, columns: Range<u16>) -> bool {
    let Some(row) = screen.row(row) else { return true };
    let cells = row.cells().iter().take(usize::from(columns.end)).skip(usize::from(columns.start));
    cells.into_iter().all(|cell| matches!(cell.base, None | Some(' ')))
}

fn context(screen: &Screen, kind: Kind, at: Position, pane: &Pane) -> ContextKey {
    let [paste, mouse, alternate] = modes(screen).map(u64::from);
    let print = match kind {
        Kind::Kernel | Kind::Insert | Kind::Replace | Kind::Command => None,
        Kind::Line | Kind::Unknown | Kind::Full => {
            scene::fingerprint(screen, at.row, pane.left..at.column)
        }
    };
    let name = PromptId::of([kind as u64, paste, mouse, alternate]);
    let Some(print) = print else { return ContextKey { strong: name, weak: name, text: name } };
    let strong = PromptId::of([name.number(), 1, print.strong]);
    // Text left of the cursor in a full-screen program has no recognisable end.
    let has_end = kind != Kind::Full;
    let weak = if has_end { PromptId::of([name.number(), 2, print.weak]) } else { name };
    ContextKey { strong, weak, text: PromptId::of([print.strong]) }
}
