//! Judging the keys on their way by the newest screen: which of them it shows, and what became of the rest.

use rove_terminal::Screen;
use rove_units::Instant;

use crate::engine::InputNum;
use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::class::{Class, is_end, is_enter, may_be_prefix};
use crate::replay::cursor_probe::{self, CursorProbe};
use crate::replay::exit::{self, Pair};
use crate::replay::field::{Field, Kind};
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::late::GivenUp;
use crate::replay::log::Event;
use crate::replay::mask;
use crate::replay::match_result::{Barrier, MatchResult};
use crate::replay::state::{State, UNEXPLAINED_TIMEOUT};
use crate::replay::timeline::{Proven, Step};
use crate::replay::type_ahead;
use crate::replay::verdict::Verdict;
use crate::replay::wrap::{self, waits_at_edge};

use crate::scene::{self, is_mask};

/// Most steps in which one screen is judged, each of which looks at all keys that are left. What the host has
/// had its time to answer is then retired unjudged.
/// Chosen: nobody types so many commands before one is answered, and a paste of them has nothing to teach.
const ROUNDS_MAX: u32 = 32;

impl State {
    /// Retires the keys that the screen shows, and makes the screen the base of the others.
    pub(super) fn judge(&mut self, now: Instant, screen: &Screen) {
        self.log.handle_echo_ack(now, self.network.echo_ack);
        self.learned.latency.note_arrived(now, self.network.arrived);
        let held = exit::held(&self.pending_keys(), screen);
        let screen = held.as_ref().map_or(screen, |(index, screen)| {
            self.log.defer(*index);
            screen
        });
        if self.log.iter().all(|event| event.at == now) {
            // A change from before the first key was typed is nothing that keys have done.
            self.rebase(now, screen);
        }
        self.take_late(now, screen);
        // Each round but the last retires a key.
        for rounds in 1.. {
            if self.log.is_empty() || !self.step(now, screen) {
                break;
            }
            if rounds == ROUNDS_MAX {
                self.abandon(self.log.due());
                break;
            }
        }
        if self.log.is_empty() {
            self.rebase(now, screen);
        }
        self.base.is_held = held.is_some();
    }

    /// Retires the next keys; returns whether there were any.
    fn step(&mut self, now: Instant, screen: &Screen) -> bool {
        let MatchResult { shown, barrier } = self.match_screen(screen);
        self.note_exit(screen, self.base.is_held && shown.is_none());
        self.note_line(barrier.as_ref());
        let next = shown.as_ref().and_then(|shown| self.log.iter().nth(shown.count));
        let waits = next.is_some_and(|event| waits_at_edge(&self.base, screen, event.key));
        if (shown.is_none() || waits) && self.discover_wrap(screen) {
            return true;
        }
        if let Some(shown) = shown {
            return self.take_shown(now, screen, shown, barrier);
        }
        let verdict = self.verdict(now, screen, barrier);
        self.take_verdict(now, screen, verdict)
    }

    /// Retires the keys that a screen shows, or else the next that it answers otherwise; returns whether there were any.
    fn take_shown(
        &mut self,
        now: Instant,
        screen: &Screen,
        mut shown: Proven,
        barrier: Option<Barrier>,
    ) -> bool {
        let (count, row, probe) = (shown.count, shown.row, shown.probe.take());
        self.confirm(now, screen, shown);
        let has_preview = count > 0 && self.log.is_text() && self.base.gains_row(screen);
        if self.base.move_to(row, screen.cursor().row) || has_preview {
            self.learned.contexts.learn(self.base.field.context, Class::Rise, true);
        }
        if probe.is_none() && count > 0 && self.explore(now, screen) {
            return true;
        }
        let unsure = self.base.unsure;
        self.retire(count);
        self.base.unsure = unsure;
        if let Some(probe) = probe {
            self.arrive(now, screen, &probe);
            return true;
        }
        if self.leave_field(now, screen) || count > 0 || self.explore(now, screen) {
            return true;
        }
        match barrier.filter(|barrier| self.is_answered(now, screen, barrier, true)) {
            Some(barrier) => self.pass_barrier(now, screen, barrier),
            None => self.miss(now),
        }
    }

    /// Decides what became of the keys where a screen shows none of them, and changes nothing.
    fn verdict(&self, now: Instant, screen: &Screen, barrier: Option<Barrier>) -> Verdict {
        if let Some((count, probe)) = self.motions(screen) {
            return Verdict::Moved(count, probe);
        }
        if self.log.arrived(self.network.arrived) == 0 {
            return Verdict::Awaited;
        }
        if let Some(count) = self.stars(screen) {
            return Verdict::Masked(count);
        }
        let is_first = barrier.as_ref().is_some_and(|barrier| barrier.index == 0);
        let has_barrier = barrier.is_some();
        if let Some(barrier) = barrier.filter(|it| self.is_answered(now, screen, it, false)) {
            return Verdict::Answered(barrier);
        }
        let at = self.unexplained_at.unwrap_or(now);
        let due = self.log.due();
        let may_be_incomplete = self.log.front().is_some_and(|event| event.shown)
            && now.saturating_since(at) < UNEXPLAINED_TIMEOUT
            && !self.pending_keys().conflicts(screen);
        // A program that draws in several pieces has its cursor elsewhere meanwhile.
        let is_elsewhere = !screen.cursor().visible || screen.cursor().row != self.base.field.row;
        if may_be_incomplete && (due == 0 || is_elsewhere) {
            Verdict::Incomplete
        } else if due > 0 && !is_first {
            Verdict::Failed(due)
        } else {
            Verdict::Unexplained { has_barrier }
        }
    }

    /// Learns from a verdict, and retires the keys that it is on; returns whether there were any.
    fn take_verdict(&mut self, now: Instant, screen: &Screen, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Moved(count, probe) => {
                self.retire(count);
                self.arrive(now, screen, &probe);
                true
            }
            Verdict::Awaited => {
                self.rebase(now, screen);
                false
            }
            Verdict::Masked(count) => {
                self.secrecy.note_mask(self.base.field.prompt_name());
                self.base.field.line.spoil();
                self.retire(count);
                self.rebase(now, screen);
                true
            }
            Verdict::Answered(barrier) => self.pass_barrier(now, screen, barrier),
            Verdict::Incomplete => {
                self.unexplained_at.get_or_insert(now);
                false
            }
            Verdict::Failed(count) => {
                self.fail(count);
                self.leave_field(now, screen);
                true
            }
            Verdict::Unexplained { has_barrier } => {
                if self.log.front().is_some_and(|event| event.shown) {
                    self.base.field.lose_proof();
                    // A key of unknown effect may have drawn over it.
                    if !has_barrier && self.pending_keys().conflicts(screen) {
                        self.learned.contexts.distrust(self.base.field.context);
                    }
                }
                self.leave_field(now, screen)
            }
        }
    }

    /// Makes a screen the base. Where it has another field than the keys were typed in, those that had arrived
    /// when it left have done that. Returns whether there were any.
    fn leave_field(&mut self, now: Instant, screen: &Screen) -> bool {
        let before =
            (self.base.field.context, self.base.field.bounds.start, self.base.field.track.is_used);
        self.rebase(now, screen);
        let after = (self.base.field.context, self.base.field.bounds.start, true);
        let arrived = self.log.arrived(self.network.arrived);
        if before == after || !before.2 || arrived == 0 {
            return false;
        }
        self.note_taken_lines(arrived, screen);
        self.retire(arrived);
        true
    }

    /// Looks how far the keys have come. Where they are commands some may be text all the same, which is as
    /// much as is seen of it.
    pub(super) fn match_screen(&self, screen: &Screen) -> MatchResult {
        let (pending, latency) = (self.pending_keys(), &self.learned.latency);
        let result = MatchResult::of(&pending.taking(false), latency, screen);
        let count = result.shown.as_ref().map_or(0, |shown| shown.count);
        if !pending.habits.takes_commands || count > 0 && pending.writes(count, screen) {
            result
        } else {
            MatchResult::of(&pending, latency, screen)
        }
    }

    /// Learns from keys that a screen shows: from what they did, and from the colours that the program
    /// paints them in.
    fn confirm(&mut self, now: Instant, screen: &Screen, proven: Proven) {
        let (context, cursor) = (self.base.field.context, screen.cursor().position());
        if let Some(class) = proven.lost {
            let is_back = scene::suggestion(screen, cursor, None).is_some();
            self.learned.contexts.learn(context, class, is_back);
        }
        if let Some((at, _)) = proven.flash.filter(|_| proven.count > 0) {
            self.learned.contexts.learn(context, Class::Flash, at == cursor);
        }
        self.learned.counters.learn(&self.base, screen, proven.end);
        if let Some((c, at)) = proven.typed.filter(|_| self.has(Mechanism::Palettes)) {
            self.learned.palettes.learn(&self.base, c, at, screen);
        }
        self.credit(now, proven);
    }

    /// Learns from what keys have proven.
    fn credit(&mut self, now: Instant, proven: Proven) {
        self.base.is_explained = true;
        self.base.field.history_cursor = proven.history_cursor;
        self.base.field.follow(proven.layout, proven.end, proven.waits);
        self.base.field.track.flash = proven.flash;
        let context = self.base.field.context;
        let is_vouched = self.base.field.is_vouched(&self.base.screen);
        if let Some(crossing) = proven.crossing {
            self.learned.wraps.learn(context, crossing);
        }
        for Step { key, class, at, typed_at, due_at, is_doubtful, .. } in proven.steps {
            let late = due_at.map(|due| now.saturating_since(due)).unwrap_or_default();
            let age = now.saturating_since(typed_at);
            self.learned.contexts.learn(context, class, true);
            self.learned.contexts.pass(context);
            self.learned.echo_timeouts.handle_answer(context, late);
            self.policy.handle_confirmation(now, age);
            if self.has(Mechanism::Latency) {
                self.learned.latency.handle_answer(age);
            }
            // Where it may have been a command, the echo of the key after it looks the same.
            let may_be_command = is_doubtful && self.base.field.certainty.may_be_command();
            if class == Class::Text && !may_be_command {
                self.base.field.certainty.confirm();
            }
            if let Key::Text(c) = key {
                self.learned.wraps.note_width(context, at.column + 1, false);
                self.echo_off.handle_echo();
                self.base.field.line.note_echo(c);
                self.secrecy.note_echo(self.base.field.prompt_name(), c, is_vouched);
            }
        }
    }

    /// Forgets the oldest keys, but for what they tell of those to come.
    pub(super) fn retire(&mut self, count: usize) {
        if let Some(last) = count.checked_sub(1).and_then(|last| self.log.iter().nth(last)) {
            // It ends what a letter could be part of.
            self.base.goal = None;
            self.base.is_new_line = matches!(last.key, Key::Enter | Key::LineFeed);
            self.base.unsure = last.input;
            self.base.command =
                (!matches!(last.key, Key::Text(_))).then_some((last.key, last.input));
        }
        self.note_edits(count);
        let prompt = self.base.field.prompt_name();
        for event in self.log.iter().take(count) {
            if !Class::of(event.key).follows_text() {
                self.secrecy.note_barrier(event.input);
            }
            match event.key {
                Key::Enter | Key::LineFeed => self.secrecy.note_enter(prompt),
                Key::Interrupt => self.secrecy.note_end(),
                Key::Other | Key::Insert | Key::Search => {
                    self.secrecy.note_key(prompt);
                    self.secrecy.note_command();
                }
                _ => self.secrecy.note_key(prompt),
            }
            match event.key {
                Key::Search => self.base.is_searching = true,
                Key::Enter | Key::LineFeed => {
                    self.echo_off.handle_line("");
                    self.base.is_searching = false;
                }
                Key::PasteStart | Key::PasteEnd => self.learned.history.note_paste(),
                // Searches differ in their use of these, but it goes on.
                Key::Text(_) | Key::Backspace | Key::ControlH => {}
                _ => self.base.is_searching = false,
            }
        }
        self.log.retire(count);
    }

    /// Returns whether a key of unknown effect is answered, and all before it: it is due, or the screen is that of a prompt
    /// that is known. `is_shown` tells whether the screen shows any keys.
    fn is_answered(
        &self,
        now: Instant,
        screen: &Screen,
        barrier: &Barrier,
        is_shown: bool,
    ) -> bool {
        let Some(event) = self.log.iter().nth(barrier.index) else { return false };
        // Where nothing has changed the host may be slow.
        let is_due = event.due_at.is_some_and(|due_at| {
            self.base.has_moved(screen) || now.saturating_since(due_at) >= self.echo_timeout()
        });
        let has_answer = || match event.key {
            Key::Enter | Key::LineFeed | Key::Interrupt if self.base.field.is_line() => {
                self.is_new_prompt(now, screen)
            }
            _ if barrier.index == 0 => self.base.has_moved(screen),
            _ => !is_shown && barrier.is_reached,
        };
        is_due || event.input <= self.network.arrived && has_answer()
    }

    /// Handles a key of unknown effect as answered, and all before it; returns whether it is on its way.
    fn pass_barrier(&mut self, now: Instant, screen: &Screen, barrier: Barrier) -> bool {
        let Barrier { index, is_reached, is_still, is_empty, before, line } = barrier;
        let Some(event) = self.log.iter().nth(index) else { return false };
        let (key, input) = (event.key, event.input);
        self.note_failed_motion(index, false);
        let takes_commands = self.trust().takes_commands();
        // Line editors have no prefixes that are worth a wait.
        let is_prefix =
            may_be_prefix(key) && !self.base.field.is_line() && !self.base.has_moved(screen);
        let may_take_commands = key == Key::Escape || is_prefix;
        let keeps_lines = self.editor().is_some();
        let mut history_cursor = before.history_cursor.answered(key, keeps_lines, is_empty);
        history_cursor.is_lost |= history_cursor.is_open && index > 0 && !is_reached;
        self.note_entered(key, input, screen);
        if is_reached {
            self.credit(now, before);
        }
        self.echo_off.handle_line(line.as_ref().map_or("", |(line, _)| line.text()));
        self.base.field.history_cursor = history_cursor;
        self.retire(index + 1);
        if is_still {
            self.secrecy.note_nothing();
        }
        // The key may have begun another line.
        self.base.field.line.end();
        if is_enter(key) || !self.base.field.has_name() {
            self.base.field = Field::default();
        }
        self.base.field.track.forget_reach();
        let arrived = self.log.arrived(self.network.arrived);
        if takes_commands {
            // They have done what they do, and what did which is nothing that can be told.
            self.abandon(arrived);
        }
        self.rebase(now, screen);
        self.skip_echoed(now, screen);
        self.log.doubt(self.log.arrived(self.network.arrived));
        if may_take_commands {
            // Even an editor that still shows that it inserts may be about to leave that mode.
            self.base.field.certainty.escape();
        }
        true
    }

    /// Returns whether the screen waits at a prompt where keys came true before, and not where it did.
    fn is_new_prompt(&self, now: Instant, screen: &Screen) -> bool {
        if !self.has(Mechanism::NewPrompts) {
            return false;
        }
        let cursor = screen.cursor();
        let before = self.base.screen.cursor();
        let field = Field::read(now, screen, self.reader(), &Field::default());
        let is_moved = (cursor.row, cursor.column) != (before.row, before.column);
        is_moved
            && field.is_line()
            && field.bounds.end == cursor.column
            && self.knows_text_at(&field)
    }

    /// Returns whether characters came true at prompts as that of a field.
    fn knows_text_at(&self, field: &Field) -> bool {
        self.learned.contexts.strong(field.context).score(Class::Text).right >= 1.0
    }

    /// Retires characters that the screen shows behind a known prompt already.
    fn skip_echoed(&mut self, now: Instant, screen: &Screen) {
        if !self.has(Mechanism::TypeAhead) {
            return;
        }
        let text = |event: &Event| match event.key {
            Key::Text(c) if c.is_ascii() && event.input <= self.network.arrived => Some(c),
            _ => None,
        };
        let typed: Vec<char> = self.log.iter().map_while(text).collect();
        let found = type_ahead::echoes(&typed, screen).find_map(|(count, start)| {
            let field = Field::read_from(now, screen, self.reader(), start);
            self.knows_text_at(&field).then_some((count, field))
        });
        let Some((count, field)) = found else { return };
        self.note_edits(count);
        self.log.retire(count);
        self.base.is_new_line = false;
        let history_cursor = core::mem::take(&mut self.base.field.history_cursor);
        self.base.field = field;
        self.base.field.history_cursor = history_cursor;
        self.base.field.track.is_used = true;
        self.rebase(now, screen);
    }

    /// Gives up the first key if its answer is overdue.
    fn miss(&mut self, now: Instant) -> bool {
        let Some(due_at) = self.log.front().and_then(|event| event.due_at) else { return false };
        if now.saturating_since(due_at) < self.miss_timeout() {
            return false;
        }
        let Some(&Event { key, input, .. }) = self.log.front() else { return false };
        let is_kept = match key {
            _ if !self.has(Mechanism::LateEchoes) => false,
            Key::Text(c) => !is_mask(c),
            _ => Class::of(key).follows_text(),
        };
        if is_kept && !self.base.field.prompt.is_secret {
            self.learned.late.push(GivenUp { key, due_at, context: self.base.field.context });
            self.base.field.certainty.miss();
            self.note_miss(key);
            self.base.unsure = input;
            self.note_edits(1);
            self.log.retire(1);
        } else {
            self.fail(1);
        }
        true
    }

    /// Drops the first keys: they did not do what was predicted.
    fn fail(&mut self, count: usize) {
        let Some(&Event { key, shown, .. }) = self.log.front() else { return };
        let class = self.pending_keys().start().class_of(key);
        self.note_failed_motion(0, shown);
        if class.is_recall() {
            // Nobody knows which lines the editor has.
            self.learned.history.forget();
        }
        let context = self.base.field.context;
        let crosses = self.pending_keys().after(count).crosses;
        // Where an editor shows that it inserts, what nobody has believed was a command to it behind an Escape.
        let is_mode = matches!(self.base.field.kind, Kind::Insert | Kind::Replace);
        if crosses {
            self.learned.wraps.doubt(context);
        } else if shown || !is_mode && !self.base.field.certainty.may_be_command() {
            self.learned.contexts.learn(context, class, false);
        }
        self.learned.contexts.pass(context);
        if shown {
            self.learned.contexts.distrust(context);
        }
        self.base.field.certainty.miss();
        self.note_miss(key);
        self.abandon(count);
        self.learned.late.clear();
    }

    /// Called when a key was answered otherwise than by its echo, or not in time.
    fn note_miss(&mut self, key: Key) {
        if matches!(key, Key::Text(_)) {
            self.secrecy.note_miss(self.base.field.prompt_name());
            self.base.field.line.spoil();
        }
    }

    /// Makes a screen the one on which the first key acts.
    pub(super) fn rebase(&mut self, now: Instant, screen: &Screen) {
        self.unexplained_at = None;
        if self.base.is_unmoved(screen) {
            self.secrecy.note_nothing();
        }
        let is_explained = core::mem::take(&mut self.base.is_explained);
        if !is_explained && self.base.screen.cursor().column != screen.cursor().column {
            // Something else than the keys has moved the cursor: another question may stand there.
            self.base.field.line.end();
        }
        self.base.screen = screen.clone();
        self.base.arrived = self.network.arrived;
        self.base.acked = self.network.echo_ack;
        self.base.field = Field::read(now, screen, self.reader(), &self.base.field);
        self.secrecy.observe(self.base.field.window(screen));
        if !self.base.field.track.is_used {
            // A key that ends a line leaves nothing left of the next one.
            let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
            self.base.field.prompt.may_be_typed =
                arrived.into_iter().any(|event| !is_enter(event.key));
        }
        self.base.field.track.is_used = !self.log.is_empty() || self.base.field.track.is_used;
    }

    /// Learns from effects that come after their keys were given up.
    fn take_late(&mut self, now: Instant, screen: &Screen) {
        let old = self.learned.late.old(now);
        for given_up in self.learned.late.iter().take(old) {
            self.learned.contexts.learn(given_up.context, Class::of(given_up.key), false);
        }
        self.learned.late.forget(old);
        // A screen that shows some of the other keys alone needs none of these.
        if self.learned.late.is_empty() || self.match_screen(screen).shown.is_some() {
            return;
        }
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        let keys = arrived.map(|event| event.key);
        let answered = self.learned.late.answered(self.pending_keys().start(), keys, screen);
        let late = answered.min(self.learned.late.len());
        if late == 0 {
            return;
        }
        let context = self.base.field.context;
        for given_up in self.learned.late.iter().take(late) {
            let late = now.saturating_since(given_up.due_at);
            self.learned.echo_timeouts.handle_answer(context, late);
            self.learned.contexts.learn(context, Class::of(given_up.key), true);
            if matches!(given_up.key, Key::Text(_)) {
                self.base.field.certainty.confirm();
            }
        }
        self.learned.late.forget(late);
        self.abandon(answered - late);
        self.rebase(now, screen);
    }

    /// Returns for how many keys the screen has a star each, if it has any.
    fn stars(&self, screen: &Screen) -> Option<usize> {
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        let typed = arrived.take_while(|event| matches!(event.key, Key::Text(_))).count();
        mask::stars(&self.base, screen, typed).map(usize::from)
    }

    /// Finds out whether the keys have gone on over the edge of a row. Returns whether that is known now, and was not.
    fn discover_wrap(&mut self, screen: &Screen) -> bool {
        if !self.has(Mechanism::Wraps) {
            return false;
        }
        let keys = self.pending_keys().arrived_keys();
        if wrap::is_broken(&self.base, &keys, screen) {
            let column = self.base.screen.cursor().column;
            self.learned.wraps.note_width(self.base.field.context, column, true);
        }
        let found = wrap::discover(&self.base, self.habits(), &keys, screen);
        let Some((mut field, crossing)) = found else { return false };
        self.learned.wraps.learn(field.context, crossing);
        field.wrap = self.learned.wraps.find(field.context);
        self.base.field = field;
        true
    }

    /// Returns how many keys of unknown effect have moved the cursor as motions do, and how, if any have.
    fn motions(&self, screen: &Screen) -> Option<(usize, CursorProbe)> {
        if !self.base.may_navigate() || !self.has(Mechanism::Motions) {
            return None;
        }
        let keys = self.pending_keys().arrived_keys();
        cursor_probe::find(&self.pending_keys().start(), &keys, screen)
    }

    /// Retires keys of unknown effect that have moved the cursor as motions do; returns whether there were any.
    fn explore(&mut self, now: Instant, screen: &Screen) -> bool {
        let found = self.motions(screen);
        found.is_some_and(|(count, probe)| {
            self.take_verdict(now, screen, Verdict::Moved(count, probe))
        })
    }

    /// Goes on to where the cursor has arrived by motions, which are retired.
    fn arrive(&mut self, now: Instant, screen: &Screen, probe: &CursorProbe) {
        let has_rulers = self.has(Mechanism::Rulers);
        let navigation = self.learned.navigations.entry(self.base.field.place);
        probe.teach(navigation, &self.base, screen, has_rulers);
        self.base.goal = probe.goal;
        if probe.has_climbed() {
            // The program may ask for something else there.
            self.base.field = Field::default();
        }
        // Text that was typed here still ends where it did.
        if !self.base.field.certainty.is_confirmed() {
            self.base.field.track.reach = 0;
            if !self.base.field.has_name() {
                self.base.field = Field::default();
            }
        }
        self.rebase(now, screen);
    }

    /// Records the line that is about to be entered.
    pub(super) fn note_line(&mut self, barrier: Option<&Barrier>) {
        let named = self.editor().zip(barrier);
        let sheet = named.and_then(|(name, barrier)| {
            self.learned.history.sheet(&self.pending_keys(), barrier, name)
        });
        if sheet.is_some() {
            self.learned.history.sheet = sheet;
        }
    }

    /// Called when a key is answered that was sent with this input, which may have ended a line or the program.
    fn note_entered(&mut self, key: Key, input: InputNum, screen: &Screen) {
        let is_hidden = self.hides_lines();
        let (field, history) = (&self.base.field, &mut self.learned.history);
        let may_keep = field.is_line() && !field.prompt.is_secret || history.has_kind(field.kind);
        match key {
            Key::Enter | Key::LineFeed if may_keep || history.sheet.is_some() => {
                history.end_line(input, screen, is_hidden);
            }
            Key::ControlD if may_keep => history.forget(),
            _ => {}
        }
    }

    /// Records the lines that the oldest keys end, of which no more than the first was seen.
    pub(super) fn note_taken_lines(&mut self, count: usize, screen: &Screen) {
        let is_hidden = self.hides_lines();
        for event in self.log.iter().take(count).filter(|event| is_end(event.key)) {
            self.learned.history.end_line(event.input, screen, is_hidden);
        }
    }

    /// Returns whether what is entered is not what stands on the screen.
    fn hides_lines(&self) -> bool {
        self.base.is_searching || self.echo_off.is_off()
    }

    /// Learns which characters have ended the mode of an editor, if any have.
    fn note_exit(&mut self, screen: &Screen, is_gone: bool) {
        if let Some(pair) = Pair::find(&self.pending_keys(), screen, is_gone) {
            self.learned.exits.learn(self.base.field.context.strong, pair);
        }
    }

    /// Forgets the oldest keys, without knowing what they did.
    fn abandon(&mut self, count: usize) {
        self.miss_keys(count);
        self.retire(count);
    }

    /// Called when the oldest keys are retired, of which those behind the last step may have changed the line.
    fn note_edits(&mut self, count: usize) {
        let classes = self.log.iter().take(count).map(|event| Class::of(event.key));
        let mut behind = classes.rev().take_while(|class| !class.is_recall());
        if behind.any(Class::is_change) {
            self.base.field.history_cursor.edit();
        }
    }

    /// Called when nobody knows what the oldest keys did.
    pub(super) fn miss_keys(&mut self, count: usize) {
        for key in self.log.iter().take(count).map(|event| event.key) {
            if is_end(key) {
                self.learned.history.forget();
            }
            self.base.field.history_cursor.is_lost |= Class::of(key).is_recall();
        }
    }

    /// Handles the line that the last step has led to, which stands there since.
    pub(super) fn observe_step(&mut self) {
        let history_cursor = core::mem::take(&mut self.base.field.history_cursor);
        self.base.field.history_cursor = HistoryCursor { is_open: false, ..history_cursor };
        // Most other programs on the whole screen are no line editors.
        let may_keep =
            self.base.field.kind != Kind::Full || self.learned.history.has_kind(Kind::Full);
        let Some(name) =
            self.editor().filter(|_| may_keep && history_cursor.is_open && !history_cursor.is_lost)
        else {
            return;
        };
        let simulation = self.pending_keys().start();
        if simulation.is_at_end() {
            self.learned.history.observe(name, history_cursor.depth, &simulation.line());
        } else {
            self.base.field.history_cursor.is_lost = true;
        }
    }

    /// Learns that a key was not answered by the motion that it was believed to be.
    fn note_failed_motion(&mut self, index: usize, was_shown: bool) {
        let Some(key) = self.log.iter().nth(index).map(|event| event.key) else { return };
        if let Some(navigation) = self.learned.navigations.find_mut(&self.base.field.place) {
            navigation.miss(key, was_shown);
        }
    }
}
