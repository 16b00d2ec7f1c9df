//! Where the user types: the part of a row that keys may change, and what kind of place it is.

use core::ops::Range;

use rove_terminal::{MouseReporting, Position, Row, Screen};
use rove_units::Instant;

use crate::mechanism::{Mechanism, Mechanisms};
use crate::replay::canvas::{MOVED_MIN, mix};
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::id::{ContextKey, PlaceId, PromptId};
use crate::replay::layout::{INPUT_ROWS_MAX, Layout};
use crate::replay::wrap::{WrapBehaviour, Wraps};
use crate::scene::text::{Text, cell};
use crate::scene::{self, EditorMode, Pane};
use crate::secrecy::{Line, Prompt, Sort, Window};
use crate::tty::Tty;

/// The kind of program that asks for the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The host's kernel, which echoes lines.
    Kernel,
    /// A line editor at a prompt, the last thing on the screen.
    Line,
    /// An editor with text around, which shows that it inserts or replaces what is typed.
    Insert,
    Replace,
    /// An editor that shows that it takes keys for commands.
    Command,
    /// Another program that draws on the whole screen.
    Full,
    #[default]
    Unknown,
}

/// The place that keys go to. Its columns are places, which go on where a row ends (see [`Layout`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// The row in which it begins.
    pub(super) row: u16,
    /// Where the first key was typed: what stands to the left is a prompt, or other text.
    pub(super) start: u16,
    /// The columns that keys may move to and change.
    pub(super) left: u16,
    pub(super) right: u16,
    /// The end of the text that belongs to the input.
    pub(super) end: u16,
    /// Where its places are.
    pub(super) layout: Layout,
    /// The part of the screen it is in.
    pub(super) pane: Pane,
    /// Whether it ends before the edge of that.
    pub(super) is_bounded: bool,
    /// Whether nothing stands below it there.
    pub(super) is_last: bool,
    /// How it goes on there, as far as is known.
    pub(super) wrap: Option<WrapBehaviour>,
    pub(super) kind: Kind,
    pub(super) context: ContextKey,
    modes: [bool; 3],
    /// Whether the text asks for something that is not to be seen.
    pub(super) is_secret: bool,
    /// The echo that the line has shown.
    pub(super) line: Line,
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
    /// The bracket on which the cursor stands for a moment, and the place of the input at which the next key is typed.
    pub(super) flash: Option<(Position, u16)>,
    /// Whether the cursor waits on the last character of a full row until there is more.
    pub(super) waits: bool,
    /// The end of what the program suggests, which begins at the end of the input.
    pub(super) suggested: Option<u16>,
    /// The text left of its start.
    prompt: Vec<Option<char>>,
    /// The name of that, and of what draws in it.
    pub(super) place: PlaceId,
    /// Whether what stands left of its start may have been typed.
    pub(super) is_foggy: bool,
    /// Whether its prompt ends as those of shells do.
    is_shell: bool,
    /// The row in which the editor that draws here says that it takes characters for text.
    mode_line: Option<u16>,
    /// How far its line editor was taken back through its lines.
    pub(super) history_cursor: HistoryCursor,
}

/// Everything that a place is read by, besides the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) tty: Option<Tty>,
    pub(super) wraps: &'a Wraps,
    pub(super) mechanisms: Mechanisms,
}

impl Field {
    /// Reads the place at the cursor of a screen; the one before goes on where it is the same.
    pub(super) fn read(now: Instant, screen: &Screen, reader: Reader<'_>, before: &Self) -> Self {
        let at = screen.cursor().position();
        let pane = scene::pane(screen, at);
        let kind = Kind::at(screen, reader.tty, at, &pane);
        let flash = before.flash.filter(|(shown, _)| *shown == at);
        let mut field = Self { pane, flash, ..before.clone() };
        let has_modes = before.modes == modes(screen);
        match before.is_used.then(|| field.row_on(screen, kind, at)).flatten() {
            Some(row) if has_modes => field.row = row,
            _ => {
                field = Self::begin(screen, kind, at, &pane, now);
                // A program that changes its modes, or what stands below, is no more to be trusted for that.
                let is_there = (field.row, field.start) == (before.row, before.start);
                if is_there && field.prompt == before.prompt {
                    field.line = before.line;
                    field.line.end();
                }
            }
        }
        field.wrap = reader.wraps.find(field.context);
        field.measure(screen, reader, at, &pane);
        if field.since == before.since && field.kind == Kind::Full && before.is_bounded {
            // A field does not grow for being full.
            field.right = field.right.min(before.right).max(at.column);
            field.is_bounded = true;
        }
        field
    }

    /// Reads the place at the cursor of a screen, as if the first key had been typed at `start`.
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
        let prompt = (0..at.column).map(|column| base(screen, Position { row: at.row, column }));
        Self {
            row: at.row,
            start: at.column,
            kind,
            context: context(screen, kind, at, pane),
            modes: modes(screen),
            is_secret: scene::asks_for_secret(screen, at),
            is_shell: scene::ends_as_shell(screen, at.row, pane.left..at.column),
            since: now,
            prompt: prompt.collect(),
            ..Self::default()
        }
    }

    fn measure(&mut self, screen: &Screen, reader: Reader<'_>, at: Position, pane: &Pane) {
        self.place = PlaceId::of([self.context.weak.number(), pane.left.into(), pane.right.into()]);
        self.pane = *pane;
        self.left = if self.is_line() { self.start } else { scene::gutter(screen, at, pane) };
        self.mode_line = scene::mode_line(screen, at, pane);
        let before = Layout { row: self.row, ..self.layout };
        self.layout = Layout::of_row(self.row);
        // A line is followed over the edge in the way that most go on.
        let goes_on = self.is_line() || self.wrap.is_some();
        let layout = (goes_on && self.kind != Kind::Kernel).then(|| self.layout_of());
        if let Some(layout) = layout {
            self.reach = layout.place_of(before, self.reach);
        }
        let place = layout.and_then(|layout| layout.place(at)).unwrap_or(at.column);
        // Text behind a gap belongs to the input where it was typed.
        let last = layout.map_or(at, |layout| self.last_row(screen, at, layout, place));
        let last = if last == at { self.behind_indentation(screen, at, pane) } else { last };
        let right = scene::right_bound(screen, last, pane);
        let end = scene::input_end(screen, last, right);
        // A line editor may be called from within another: a gap then ends no text of an editor.
        self.is_bounded = right < pane.right && self.kind != Kind::Insert;
        let mut below = last.row + 1..pane.bottom;
        self.is_last = below.all(|row| is_blank_row(screen, row, pane.left..pane.right));
        self.right = if self.is_bounded { right } else { pane.right };
        self.end = end;
        if let Some(layout) = layout.filter(|_| !self.is_bounded || last.row > self.row) {
            self.layout = layout;
            let of = |column| layout.place(Position { column, ..last }).unwrap_or(u16::MAX);
            self.end = of(end);
            self.right = if self.is_bounded { of(right) } else { u16::MAX };
        }
        self.end = self.end.max(self.reach).min(self.right);
        self.suggested = None;
        let is_looked_for =
            self.flash.is_none() && reader.mechanisms.contains(Mechanism::Suggestions);
        if is_looked_for && matches!(self.kind, Kind::Line | Kind::Unknown) {
            self.suggested = self.suggestion(screen, at);
        }
        if self.suggested.is_some() {
            self.end = place;
            self.right = if layout.is_some() { u16::MAX } else { pane.right };
            self.layout = layout.unwrap_or(self.layout);
        }
    }

    /// Returns the position in the last row of the input: the cursor, or the start of a row below it that the
    /// text goes on in.
    fn last_row(&self, screen: &Screen, at: Position, layout: Layout, place: u16) -> Position {
        let mut last = at;
        for row in at.row + 1..self.pane.bottom {
            let start = Position { row, column: layout.left };
            let Some(start_place) = layout.place(start) else { break };
            let was_typed = place <= self.reach && start_place < self.reach;
            if !was_typed && !self.links(screen, last, layout) {
                break;
            }
            last = start;
        }
        let reach = self.reach.checked_sub(1).filter(|_| self.is_line()).map(|end| layout.at(end));
        match reach {
            Some(reach) if reach.row == last.row && reach.column > last.column => reach,
            _ => last,
        }
    }

    /// Returns whether the text at a position goes on in the row below.
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
                && scene::right_bound(screen, at, &self.pane) >= self.pane.right
    }

    /// Returns the end of what the program suggests behind the cursor.
    fn suggestion(&self, screen: &Screen, at: Position) -> Option<u16> {
        let left = at.column.checked_sub(1).filter(|_| at.row > self.row || at.column > self.start);
        let typed = left.map(|column| cell(screen, Position { column, ..at }).pen);
        let columns = scene::suggestion(screen, at, typed)?;
        (at.row == self.row).then_some(columns.end)
    }

    /// Goes on to where keys have led that came true: its text ends at this place.
    pub(super) fn follow(&mut self, layout: Layout, end: u16, waits: bool) {
        (self.row, self.reach, self.waits) = (layout.row, end, waits);
    }

    /// Forgets what keys have made of its text.
    pub(super) fn lose_track(&mut self) {
        (self.reach, self.waits) = (0, false);
    }

    /// Lets its text go on over the edge of its row.
    pub(super) fn lay_out(&mut self) {
        let layout = self.layout_of();
        self.reach = layout.place_of(self.layout, self.reach);
        self.end = layout.place_of(self.layout, self.end);
        (self.layout, self.right) = (layout, u16::MAX);
    }

    /// Forgets what has come true here: something else stands there by now.
    pub(super) const fn lose_proof(&mut self) {
        self.confirmed = 0;
        self.line.end();
    }

    /// Returns the places of its text if that goes on over the edge of its row.
    const fn layout_of(&self) -> Layout {
        Layout { row: self.row, edge: self.pane.right, left: self.pane.left }
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

    /// Returns whether its start stands right behind a word, as in the middle of what was typed.
    pub(super) fn begins_behind_word(&self) -> bool {
        self.prompt.last().copied().flatten().is_some_and(char::is_alphanumeric)
    }

    /// Returns whether there is a prompt, by which to know it again.
    pub(super) fn has_name(&self) -> bool {
        self.prompt.iter().any(Option::is_some)
    }

    /// Returns what tells the place from others where text is typed: its prompt, or the mode of its editor.
    pub(super) fn prompt(&self) -> Option<Prompt> {
        let ContextKey { strong, weak, text } = self.context;
        let [whole, end, text] = [strong, weak, text].map(PromptId::number);
        let sort = if self.is_shell { Sort::Shell } else { Sort::Other };
        match self.kind {
            Kind::Insert | Kind::Replace if self.inserts() && !self.is_secret => {
                Some(Prompt { whole, end: whole, text: whole, sort: Sort::Mode })
            }
            Kind::Line | Kind::Unknown if self.has_name() => {
                Some(Prompt { whole, end, text, sort })
            }
            // In a pane, or a row of input at the end of the screen.
            Kind::Full if self.is_last && self.has_name() => {
                Some(Prompt { whole, end: whole, text, sort })
            }
            // With other text below it, which may go, it is nothing to be known by. It can be refused.
            Kind::Full if self.is_shell => Some(Prompt { text, ..Prompt::default() }),
            _ => None,
        }
    }

    /// Returns whether an editor's mode line says that characters are text here.
    const fn inserts(&self) -> bool {
        self.mode_line.is_some()
    }

    /// Returns its place in the window of a program on the alternate screen, if it is in one.
    pub(super) fn window(&self, screen: &Screen) -> Option<Window> {
        let Pane { left, right, top, bottom } = self.pane;
        let columns = usize::from(self.left).min(self.prompt.len())..;
        let window = Window {
            pane: mix([left, right, top, bottom].map(u64::from)),
            inserts: self.inserts(),
            start: (self.row, self.start),
            is_behind_text: self.prompt[columns].iter().any(Option::is_some),
        };
        screen.alternate_screen().then_some(window)
    }

    /// Returns whether a fact beside the prompt's text says that a line editor asks.
    pub(super) fn is_vouched(&self, screen: &Screen) -> bool {
        screen.bracketed_paste() || scene::is_titled(screen, self.row, self.pane.left..self.start)
    }

    /// Returns the row in which it begins by now, if the cursor is still in it.
    fn row_on(&self, screen: &Screen, kind: Kind, at: Position) -> Option<u16> {
        // A line editor may list what fits below.
        let is_below = kind == Kind::Full || at.column == 0 && screen.bracketed_paste();
        let is_prompt = self.kind == Kind::Line || self.kind == Kind::Unknown && self.has_name();
        let is_same = self.kind == kind || is_prompt && is_below;
        if !is_same {
            return None;
        }
        if !self.is_line() {
            let place = self.wrap.and_then(|_| self.layout_of().place(at));
            let was_typed = place.is_some_and(|place| place <= self.reach);
            // Behind the edge of a field another one begins.
            let is_same_row = self.row == at.row && !(self.is_bounded && at.column > self.right);
            return (is_same_row || was_typed).then_some(self.row);
        }
        // A prompt may scroll, or move for what is printed above it.
        let may_move = self.prompt.iter().flatten().count() >= MOVED_MIN;
        // Without one, a place where all text is gone is nothing to know it by.
        let is_gone = !self.has_name() && self.start == at.column && self.reach > at.column;
        if (self.row == at.row || may_move)
            && !is_gone
            && self.start <= at.column
            && self.has_prompt(screen, at.row)
        {
            return Some(at.row);
        }
        // It may have begun further up.
        let mut linked = at.row;
        for row in (self.pane.top..at.row).rev().take(usize::from(INPUT_ROWS_MAX)) {
            let layout = Layout { row, ..self.layout_of() };
            let start = Position { row, column: self.start.min(self.pane.right - 1) };
            if linked == row + 1 && self.links(screen, start, layout) {
                linked = row;
            }
            let was_typed = layout.place(at).is_some_and(|place| place <= self.reach);
            if (self.row == row || may_move)
                && (was_typed || linked == row)
                && self.has_prompt(screen, row)
            {
                return Some(row);
            }
        }
        None
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
        let is_last = is_last(screen, at, pane);
        let [_, has_mouse, is_alternate] = modes(screen);
        if is_alternate || has_mouse || !is_last {
            Self::Full
        } else if screen.bracketed_paste() && at.column > 0 {
            Self::Line
        } else {
            Self::Unknown
        }
    }
}

/// Returns the modes by which a prompt is known: marked pastes, the mouse, and the alternate screen.
fn modes(screen: &Screen) -> [bool; 3] {
    let has_mouse = screen.mouse_reporting() != MouseReporting::Off;
    [screen.bracketed_paste(), has_mouse, screen.alternate_screen()]
}

fn base(screen: &Screen, at: Position) -> Option<char> {
    Text::of(screen, at).base
}

/// Returns whether nothing stands below a position but text that goes on over the edge.
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
    // Text left of the cursor of an editor says nothing by its end.
    let has_end = kind != Kind::Full;
    let weak = if has_end { PromptId::of([name.number(), 2, print.weak]) } else { name };
    ContextKey { strong, weak, text: PromptId::of([print.strong]) }
}
