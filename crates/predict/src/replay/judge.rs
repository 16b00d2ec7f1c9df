//! Judges the pending keys by a screen: which keys it shows, and what became of the others. Changes no state. A key is
//! *due* after its echo ack: the server says that programs had time to answer it.

use rove_terminal::{InputNum, Key, Screen};
use rove_units::Instant;

use crate::mechanism::Mechanism;
use crate::replay::class::{Class, may_be_prefix};
use crate::replay::cursor_probe::{self, CursorProbe};
use crate::replay::entered_lines;
use crate::replay::exit::Pair;
use crate::replay::field::Field;
use crate::replay::history::Sheet;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::late::GivenUp;
use crate::replay::layout::Crossing;
use crate::replay::log::Event;
use crate::replay::mask;
use crate::replay::match_result::{Barrier, MatchResult};
use crate::replay::state::{State, UNEXPLAINED_TIMEOUT};
use crate::replay::timeline::Proven;
use crate::replay::type_ahead;
use crate::replay::wrap_probe;
use crate::scene::is_mask;

/// The state of the engine, and the screen by which its pending keys are judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    pub(super) state: &'a State,
    pub(super) now: Instant,
    pub(super) screen: &'a Screen,
}

/// The facts that a screen reveals about the pending keys (`verdict`) and about the program (the other fields).
#[derive(Debug)]
pub(super) struct Findings {
    /// The two typed characters that have ended an editor's insert mode, such as `jk`. `None` if the mode did not end.
    pub(super) exit: Option<Pair>,
    /// The line that is about to be entered. `None` if there is no such line.
    pub(super) sheet: Option<Sheet>,
    /// Whether a word typed at the right edge has moved to the next row.
    pub(super) is_broken: bool,
    pub(super) verdict: Verdict,
}

/// The verdict on the oldest pending keys.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The input has continued in the next row in a way that was unknown. The field includes that row.
    Wrapped(Box<Field>, Crossing),
    /// The screen agrees with the simulation of some keys, perhaps of none. A key of unknown effect may follow them.
    Shown(Box<Proven>, Option<Box<Barrier>>),
    /// This many keys have moved the cursor, along this path.
    Moved(usize, CursorProbe),
    /// No pending key has reached the host, so the screen is older than all pending keys.
    Awaited,
    /// The screen shows a masking character for each of this many keys.
    Masked(usize),
    /// The first key of unknown effect, and all earlier keys, were answered.
    Answered(Box<Answer>),
    /// The program may still be drawing the screen, so the base and the keys stay.
    Incomplete,
    /// The effect of the first key may still come. The key is not due, or its timeout has not ended.
    Pending,
    /// The first key is overdue. But the user sees its prediction, and its effect may come with the next frame.
    Overdue,
    /// The first key is overdue. The engine drops its prediction, but its effect may still come.
    Late(GivenUp, InputNum),
    /// The first key is overdue, and the engine does not expect its effect any longer.
    Missed,
    /// The first key probably had its effect together with an earlier key, so that the base already shows the effect.
    Done,
    /// The line has scrolled sideways, and shows this many keys.
    Scrolled(usize),
    /// This many of the oldest keys had enough time, and the screen shows other effects than predicted.
    Failed(usize),
    /// The screen cannot be explained by the keys. If one of them has an unknown effect (`has_barrier`), that key may
    /// have drawn over the effects of others.
    Unexplained { has_barrier: bool },
}

/// A key of unknown effect that was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) barrier: Barrier,
    /// The position in the line editor's history, after this key.
    pub(super) history_cursor: HistoryCursor,
    /// Whether the program interpreted characters as commands when this key was typed. `may_take_commands`: whether it
    /// may do so after this key.
    pub(super) takes_commands: bool,
    pub(super) may_take_commands: bool,
}

impl Judge<'_> {
    /// Returns the verdict on the oldest pending keys, and the other facts that the screen reveals.
    pub(super) fn findings(&self) -> Findings {
        let (state, screen) = (self.state, self.screen);
        let MatchResult { shown, barrier } = state.match_screen(screen);
        let is_gone = state.base.is_held && shown.is_none();
        let exit = Pair::find(&state.pending_keys(), screen, is_gone);
        let sheet = barrier.as_ref().and_then(|barrier| entered_lines::sheet(state, barrier));
        let next = shown.as_ref().and_then(|shown| state.log.iter().nth(shown.count));
        let waits = next.is_some_and(|it| wrap_probe::waits_at_edge(&state.base, screen, it.key));
        let may_wrap = (shown.is_none() || waits) && state.has(Mechanism::Wraps);
        let keys = if may_wrap { state.pending_keys().arrived_keys() } else { Vec::new() };
        let is_broken = may_wrap && wrap_probe::is_broken(&state.base, &keys, screen);
        let wrapped = || wrap_probe::discover(&state.base, state.habits(), &keys, screen);
        let verdict = match (may_wrap.then(wrapped).flatten(), shown) {
            (Some((field, crossing)), _) => Verdict::Wrapped(Box::new(field), crossing),
            (None, Some(proven)) => Verdict::Shown(Box::new(proven), barrier.map(Box::new)),
            (None, None) => self.unshown(barrier),
        };
        Findings { exit, sheet, is_broken, verdict }
    }

    /// Returns whether confirmed text made the program draw something in the blank row below the input.
    pub(super) fn has_preview(&self) -> bool {
        self.state.log.is_text() && self.state.base.gains_row(self.screen)
    }

    /// Returns the verdict for a screen that no number of simulated keys explains, not even 0.
    fn unshown(&self, barrier: Option<Barrier>) -> Verdict {
        let log = &self.state.log;
        if let Some(moved) = self.motions() {
            return moved;
        }
        if self.state.arrived().len() == 0 {
            return Verdict::Awaited;
        }
        let is_text = |event: &&Event| matches!(event.key, Key::Text(_));
        let typed = self.state.arrived().take_while(is_text).count();
        if let Some(count) = mask::stars(&self.state.base, self.screen, typed) {
            return Verdict::Masked(count.into());
        }
        let is_first = barrier.as_ref().is_some_and(|barrier| barrier.index == 0);
        let has_barrier = barrier.is_some();
        if let Some(answer) = barrier.and_then(|barrier| self.answer(barrier, false)) {
            return answer;
        }
        if !is_first && self.may_be_done() {
            return Verdict::Done;
        }
        let at = self.state.unexplained_at.unwrap_or(self.now);
        let due = log.due();
        let may_be_incomplete = log.front().is_some_and(|event| event.shown)
            && self.now.saturating_since(at) < UNEXPLAINED_TIMEOUT
            && !self.state.pending_keys().conflicts(self.screen);
        // If a program draws a screen in several pieces, its cursor is elsewhere until the last piece.
        let cursor = self.screen.cursor();
        let is_elsewhere = !cursor.visible || cursor.row != self.state.base.field.row;
        if may_be_incomplete && (due == 0 || is_elsewhere) {
            Verdict::Incomplete
        } else if due > 0 && !is_first {
            let keys = self.state.pending_keys().arrived_keys();
            let scrolled = wrap_probe::scrolled(&self.state.base, &keys, due, self.screen);
            scrolled.map_or(Verdict::Failed(due), Verdict::Scrolled)
        } else {
            Verdict::Unexplained { has_barrier }
        }
    }

    /// Returns the verdict on the keys that are left after the caller has removed the keys that the screen shows.
    pub(super) fn rest(&self, barrier: Option<Box<Barrier>>) -> Verdict {
        let answer = || barrier.and_then(|barrier| self.answer(*barrier, true));
        self.motions().or_else(answer).unwrap_or_else(|| self.overdue())
    }

    /// Returns the verdict that keys have moved the cursor by the motions that their names suggest, or `None`.
    pub(super) fn motions(&self) -> Option<Verdict> {
        if !self.state.base.may_navigate() || !self.state.has(Mechanism::Motions) {
            return None;
        }
        let pending = self.state.pending_keys();
        let found = cursor_probe::find(&pending.start(), &pending.arrived_keys(), self.screen);
        found.map(|(count, probe)| Verdict::Moved(count, probe))
    }

    /// Returns the verdict that a key of unknown effect, and all earlier keys, were answered, or `None`. A due key was
    /// answered if the cursor or its row has changed, or if the key's echo timeout has passed. Any other key must have
    /// reached the host, and the screen must prove the answer. For Enter in a line, the proof is a known prompt. For
    /// another key, the proof is a change at the cursor if no key is before it. For a later key, the proof is the
    /// effects of all earlier keys. If the caller has removed keys that the screen shows (`is_shown`), these effects
    /// are no proof.
    fn answer(&self, barrier: Barrier, is_shown: bool) -> Option<Verdict> {
        let base = &self.state.base;
        let event = self.state.log.iter().nth(barrier.index)?;
        // A due key without any change may still be answered late, until its timeout ends.
        let is_due = event.due_at.is_some_and(|due_at| {
            base.has_moved(self.screen)
                || self.now.saturating_since(due_at) >= self.state.echo_timeout()
        });
        let has_answer = || match event.key {
            Key::Enter | Key::LineFeed | Key::Interrupt if base.field.is_line() => {
                self.is_new_prompt()
            }
            _ if barrier.index == 0 => base.has_moved(self.screen),
            _ => !is_shown && barrier.is_reached,
        };
        if !(is_due || event.input <= self.state.network.arrived && has_answer()) {
            return None;
        }
        // In line editors, commands of two keys are too rare to wait for the second.
        let is_prefix =
            may_be_prefix(event.key) && !base.field.is_line() && !base.has_moved(self.screen);
        let keeps_lines = self.state.editor().is_some();
        let history_cursor = barrier.before.history_cursor;
        let mut history_cursor = history_cursor.answered(event.key, keeps_lines, barrier.is_empty);
        history_cursor.is_lost |=
            history_cursor.is_open && barrier.index > 0 && !barrier.is_reached;
        Some(Verdict::Answered(Box::new(Answer {
            barrier,
            history_cursor,
            takes_commands: self.state.trust().takes_commands(),
            may_take_commands: event.key == Key::Escape || is_prefix,
        })))
    }

    /// Returns whether the cursor has moved to a prompt at which typed characters were confirmed earlier.
    fn is_new_prompt(&self) -> bool {
        if !self.state.has(Mechanism::NewPrompts) {
            return false;
        }
        let (cursor, before) = (self.screen.cursor(), self.state.base.screen.cursor());
        let field = Field::read(self.now, self.screen, self.state.reader(), &Field::default());
        cursor.position() != before.position()
            && field.is_line()
            && field.bounds.end == cursor.column
            && self.knows_text_at(&field)
    }

    /// Returns whether typed characters were confirmed at prompts like that of a field.
    fn knows_text_at(&self, field: &Field) -> bool {
        self.state.learned.contexts.strong(field.context).score(Class::Text).right >= 1.0
    }

    /// Returns how many typed characters follow a known prompt on the screen (`None` if none do), and the field there.
    pub(super) fn type_ahead(&self) -> Option<(usize, Field)> {
        if !self.state.has(Mechanism::TypeAhead) {
            return None;
        }
        let text = |event: &Event| match event.key {
            Key::Text(c) if c.is_ascii() => Some(c),
            _ => None,
        };
        let typed: Vec<char> = self.state.arrived().map_while(text).collect();
        type_ahead::echoes(&typed, self.screen).find_map(|(count, start)| {
            let field = Field::read_from(self.now, self.screen, self.state.reader(), start);
            self.knows_text_at(&field).then_some((count, field))
        })
    }

    /// Returns whether the base may already show the effect of the first key. False for characters, because text that
    /// is not echoed may be a secret.
    fn may_be_done(&self) -> bool {
        let is_text = |event: &Event| matches!(event.key, Key::Text(_));
        self.state.log.front().is_some_and(|event| event.is_doubtful && !is_text(event))
    }

    fn overdue(&self) -> Verdict {
        let Some(&Event { key, input, due_at: Some(due_at), .. }) = self.state.log.front() else {
            return Verdict::Pending;
        };
        if self.now.saturating_since(due_at) < self.state.miss_timeout() {
            return Verdict::Pending;
        }
        if self.may_be_done() {
            return Verdict::Done;
        }
        if self.state.taken_back_at().is_some_and(|at| self.now < at) {
            return Verdict::Overdue;
        }
        let field = &self.state.base.field;
        let may_come = match key {
            _ if !self.state.has(Mechanism::LateEchoes) || field.prompt.is_secret => false,
            Key::Text(c) => !is_mask(c),
            _ => Class::of(key).follows_text(),
        };
        match may_come {
            true => Verdict::Late(GivenUp { key, due_at, context: field.context }, input),
            false => Verdict::Missed,
        }
    }

    /// Returns how many keys with dropped predictions the screen shows after all, and how many later keys. `None` if it
    /// shows no key with a dropped prediction.
    pub(super) fn late(&self) -> Option<(usize, usize)> {
        let late = &self.state.learned.late;
        // If the pending keys alone explain the screen, it need not show a dropped key.
        if late.is_empty() || self.state.match_screen(self.screen).shown.is_some() {
            return None;
        }
        let keys = self.state.arrived().map(|event| event.key);
        let answered = late.answered(self.state.pending_keys().start(), keys, self.screen);
        let count = answered.min(late.len());
        (count > 0).then_some((count, answered - count))
    }
}
