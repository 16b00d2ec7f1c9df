//! Judging the keys on their way by the newest screen: which of them it shows, and what became of the rest.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::canvas::Text;
use crate::replay::class::{Class, is_enter, may_be_prefix};
use crate::replay::explore::{self, Trip};
use crate::replay::field::{Field, Kind};
use crate::replay::late::GivenUp;
use crate::replay::log::Event;
use crate::replay::mask;
use crate::replay::motion::Stride;
use crate::replay::simulate::{Effect, Habits};
use crate::replay::timeline::{Step, Timeline};
use crate::replay::wrap::{self, waits_at_edge};
use crate::replay::{HOLD, Replay, suggest};
use crate::scene::is_mask;

/// Most steps in which one screen is judged, each of which looks at all keys that are left. What the host has
/// had its time to answer is then settled unjudged.
/// Chosen: nobody types so many commands before one is answered, and a paste of them has nothing to teach.
const ROUNDS_MAX: u32 = 32;

/// A screen's verdict on the keys on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// How many of them it shows; `None` if it agrees with no number of them.
    pub(super) settled: Option<usize>,
    /// The first whose effect is unknown.
    barrier: Option<usize>,
    /// Whether the screen has what those before it draw.
    is_reached: bool,
    /// Whether they were taken for commands.
    takes_commands: bool,
}

impl Replay {
    /// Settles what the screen shows, and makes it the ground for the rest.
    pub(super) fn judge(&mut self, now: Instant, screen: &Screen) {
        self.log.handle_echo_ack(now, self.network.echo_ack);
        self.learned.latency.note_arrived(now, self.network.arrived);
        if self.log.iter().all(|event| event.at == now) {
            // A change from before the first key was typed is nothing that keys have done.
            self.take_ground(now, screen);
        }
        self.take_late(now, screen);
        // Each round settles a key, but for the last one.
        for rounds in 1.. {
            self.note_line();
            if self.log.is_empty() || !self.step(now, screen) {
                break;
            }
            if rounds == ROUNDS_MAX {
                self.abandon(self.log.due());
                break;
            }
        }
        if self.log.is_empty() {
            self.take_ground(now, screen);
        }
    }

    /// Settles the next keys; returns whether there were any.
    fn step(&mut self, now: Instant, screen: &Screen) -> bool {
        let survey = self.survey(screen);
        let next = survey.settled.and_then(|count| self.log.iter().nth(count));
        let waits = next.is_some_and(|event| waits_at_edge(&self.base, screen, event.key));
        if (survey.settled.is_none() || waits) && self.discover_wrap(screen) {
            return true;
        }
        if let Some(count) = survey.settled {
            self.note_look(screen, count);
            self.credit(now, count, survey.takes_commands);
            let keys = self.log.iter().take(count).map(|event| event.key);
            let habits = Habits { takes_commands: survey.takes_commands, ..self.habits() };
            let trip = Trip::of(self.simulation_with(habits), keys);
            if trip.is_none() && count > 0 && self.explore(now, screen) {
                return true;
            }
            let unsure = self.base.unsure;
            self.settle(count);
            self.base.unsure = unsure;
            if let Some(trip) = trip {
                self.arrive(now, screen, &trip);
                return true;
            }
            if self.leave_field(now, screen) {
                return true;
            }
            return count > 0
                || self.explore(now, screen)
                || self.pass_barrier(now, screen, survey)
                || self.miss(now);
        }
        if self.explore(now, screen) {
            return true;
        }
        if self.log.arrived(self.network.arrived) == 0 {
            // None of the keys has had any part in it: what came before them goes on.
            self.take_ground(now, screen);
            return false;
        }
        if self.take_mask(screen) {
            self.take_ground(now, screen);
            return true;
        }
        if self.pass_barrier(now, screen, survey) || self.refute_recall(now, screen) {
            return true;
        }
        let is_shown = self.log.front().is_some_and(|event| event.shown);
        let at = *self.unexplained_at.get_or_insert(now);
        let due = self.log.due();
        let is_settling = is_shown && now.saturating_since(at) < HOLD && !self.conflicts(screen);
        // A program that draws in several pieces has its cursor elsewhere meanwhile.
        let is_elsewhere = !screen.cursor().visible || screen.cursor().row != self.base.field.row;
        if is_settling && (due == 0 || is_elsewhere) {
            return false;
        }
        if due > 0 && survey.barrier != Some(0) {
            self.fail(due);
            self.leave_field(now, screen);
            return true;
        }
        if is_shown {
            self.base.field.lose_proof();
            if self.conflicts(screen) {
                self.learned.contexts.distrust(self.base.field.context);
            }
        }
        self.leave_field(now, screen)
    }

    /// Returns whether another text has come to where something is predicted.
    pub(super) fn conflicts(&self, screen: &Screen) -> bool {
        let mut simulation = self.simulation();
        let shown = self.log.iter().take_while(|event| event.shown);
        shown.for_each(|event| {
            simulation.apply(event.key);
        });
        simulation.canvas.conflicts(screen)
    }

    /// Makes a screen the ground. Where it has another field than the keys were typed in, those that had arrived
    /// when it left have done that. Returns whether there were any.
    fn leave_field(&mut self, now: Instant, screen: &Screen) -> bool {
        let before = (self.base.field.context, self.base.field.start, self.base.field.is_used);
        self.take_ground(now, screen);
        let after = (self.base.field.context, self.base.field.start, true);
        let arrived = self.log.arrived(self.network.arrived);
        if before == after || !before.2 || arrived == 0 {
            return false;
        }
        self.note_taken_lines(arrived, screen);
        self.settle(arrived);
        true
    }

    /// Looks how far the keys have come. Where they are commands some may be text all the same, which is as
    /// much as is seen of it.
    pub(super) fn survey(&self, screen: &Screen) -> Survey {
        let text = Habits { takes_commands: false, ..self.habits() };
        let survey = self.survey_with(text, screen);
        let is_text = survey.settled.is_some_and(|count| count > 0 && self.writes(count, screen));
        if !self.trust().takes_commands() || is_text {
            survey
        } else {
            self.survey_with(self.habits(), screen)
        }
    }

    /// Returns whether the first keys write text that was not there.
    fn writes(&self, count: usize, screen: &Screen) -> bool {
        let cursor = screen.cursor();
        let before = self.base.screen.cursor();
        let columns = before.column..cursor.column;
        let is_news = |column| {
            let at = Position { row: cursor.row, column };
            !Text::of(screen, at).is_blank()
                && Text::of(screen, at) != Text::of(&self.base.screen, at)
        };
        let is_text = self.log.iter().take(count).all(|event| matches!(event.key, Key::Text(_)));
        is_text && before.row == cursor.row && columns.into_iter().any(is_news)
    }

    /// Tries the keys on the ground until the screen looks like the result; the most of them count.
    fn survey_with(&self, habits: Habits<'_>, screen: &Screen) -> Survey {
        let cursor = screen.cursor().position();
        let due = self.log.due();
        let mut simulation = self.simulation_with(habits);
        let start = simulation.canvas.cursor;
        let is_moved = start.row != cursor.row
            && start.column == cursor.column
            && simulation.agrees_elsewhere(screen, cursor.row);
        let mut settled = (start == cursor || is_moved).then_some(0);
        // Where text has come or gone, it is not as if nothing had happened.
        let is_unchanged = settled.is_some() && !self.base.has_moved(screen);
        let (mut due_cursor, mut due_agrees) = (start, is_unchanged);
        let mut has_line = None;
        // Keys that have not arrived cannot have done anything yet.
        let arrived = self.log.arrived(self.network.arrived).max(due);
        for (count, event) in (1..).zip(self.log.iter().take(arrived)) {
            if simulation.apply(event.key) == Effect::Unknown {
                let is_reached = count > 1 && simulation.canvas.agrees(screen);
                let barrier = Some(count - 1);
                let takes_commands = habits.takes_commands;
                return Survey { settled, barrier, is_reached, takes_commands };
            }
            let canvas = &simulation.canvas;
            let agrees = if canvas.cursor.row == cursor.row {
                canvas.cursor == cursor
                    && canvas.agrees(screen)
                    && (canvas.is_written()
                        || *has_line.get_or_insert_with(|| self.base.has_line(screen)))
            } else if simulation.has_climbed {
                false
            } else {
                // The row may have scrolled, or made room for what is printed above.
                canvas.cursor.column == cursor.column
                    && simulation.agrees_elsewhere(screen, cursor.row)
            };
            if count <= due {
                (due_cursor, due_agrees) = (canvas.cursor, agrees);
            }
            // A screen shows nothing of a key that had not arrived when it left. One that is not acknowledged
            // must have moved the cursor to count as seen.
            let may_show = event.input <= self.network.arrived;
            // Text that was taken back is there twice, before and after: the second time would be too soon.
            let is_second = is_unchanged || settled.is_some_and(|count| count > 0);
            let age = self.learned.latency.age_when_heard(event.at);
            let is_sooner = is_second && self.learned.latency.is_too_soon(age);
            let is_news = count <= due || canvas.cursor != due_cursor || !due_agrees;
            if agrees && may_show && is_news && !is_sooner {
                settled = Some(count);
            }
        }
        let takes_commands = habits.takes_commands;
        Survey { settled, barrier: None, is_reached: false, takes_commands }
    }

    /// Returns what the first keys do.
    fn timeline(&self, count: usize, takes_commands: bool) -> Timeline<'_> {
        let habits = Habits { takes_commands, ..self.habits() };
        Timeline::of(self.simulation_with(habits), self.log.iter().take(count))
    }

    /// Learns how the first keys, which a screen shows, look: what the program suggests behind them, and in which colours
    /// it paints them.
    fn note_look(&mut self, screen: &Screen, count: usize) {
        let habits = self.habits();
        let timeline = self.timeline(count, habits.takes_commands);
        let observed = suggest::observe(&timeline, &self.base, screen, habits.suggests);
        let typed = timeline.last_typed(screen);
        if let Some((class, is_right)) = observed {
            self.learn_suggestion(class, is_right);
        }
        if let Some((c, at)) = typed.filter(|_| self.has(Mechanism::Palettes)) {
            self.learned.palettes.learn(&self.base, c, at, screen);
        }
    }

    /// Learns whether something is suggested here, or the text that was taken back is.
    fn learn_suggestion(&mut self, class: Class, is_right: bool) {
        if self.has(Mechanism::PlainSuggestions) {
            self.learned.contexts.learn(self.base.field.context, class, is_right);
        }
    }

    /// Learns from keys that have come true.
    fn credit(&mut self, now: Instant, count: usize, takes_commands: bool) {
        self.base.is_explained = true;
        let proven = self.timeline(count, takes_commands).proven(&self.base);
        self.base.field.walk = proven.walk;
        self.note_steps(&proven.walks);
        self.base.field.follow(proven.layout, proven.end, proven.waits);
        let context = self.base.field.context;
        if let Some((lesson, proof)) = self.base.field.lesson.as_ref().zip(proven.wrap) {
            self.learned.wraps.learn(context, &lesson.wrap, proof);
        }
        for Step { key, class, typed_at, due_at, .. } in proven.steps {
            let late = due_at.map(|due| now.saturating_since(due)).unwrap_or_default();
            let age = now.saturating_since(typed_at);
            self.learned.contexts.learn(context, class, true);
            if self.base.field.kind == Kind::Line {
                self.learned.conventions.learn(class, true);
            }
            self.learned.contexts.pass(context);
            self.learned.graces.handle_answer(context, late);
            self.policy.handle_confirmation(now, age);
            if self.has(Mechanism::Latency) {
                self.learned.latency.handle_answer(age);
            }
            self.base.field.confirmed += u32::from(class == Class::Text);
            if let Key::Text(c) = key {
                self.silence.handle_echo();
                self.base.field.line.note_echo(c);
                self.secrecy.note_echo(self.base.field.prompt(), c);
            }
        }
    }

    /// Learns from keys that a line holds which the screen shows somewhere by now.
    fn credit_line(&mut self, now: Instant, screen: &Screen, count: usize) {
        let mut simulation = self.simulation();
        let drawn = self
            .log
            .iter()
            .take(count)
            .filter(|event| simulation.apply(event.key) == Effect::Drawn);
        let is_drawn = drawn.count() > 0;
        // A line like it may have stood there before.
        let lines = |screen: &Screen| {
            let rows = 0..=screen.cursor().row;
            rows.filter(|row| simulation.agrees_elsewhere(screen, *row)).count()
        };
        if is_drawn && lines(screen) > lines(&self.base.screen) {
            self.credit(now, count, false);
        }
    }

    /// Forgets the oldest keys, but for what they tell of those to come.
    pub(super) fn settle(&mut self, count: usize) {
        if let Some(last) = count.checked_sub(1).and_then(|last| self.log.iter().nth(last)) {
            // It ends what a letter could be part of.
            self.base.stride = Stride { goal: None, is_roaming: last.key == Key::Escape };
            self.base.is_fresh = matches!(last.key, Key::Enter | Key::LineFeed);
            self.base.unsure = last.input;
        }
        self.note_edits(count);
        let prompt = self.base.field.prompt();
        for event in self.log.iter().take(count) {
            match event.key {
                Key::Enter | Key::LineFeed => self.secrecy.note_enter(prompt),
                Key::Interrupt => self.secrecy.note_end(),
                _ => self.secrecy.note_key(prompt),
            }
            match event.key {
                Key::Search => self.base.is_searching = true,
                Key::Enter | Key::LineFeed => {
                    self.silence.handle_line("");
                    self.base.is_searching = false;
                }
                // Searches differ in their use of these, but it goes on.
                Key::Text(_) | Key::Backspace | Key::ControlH => {}
                _ => self.base.is_searching = false,
            }
        }
        self.log.settle(count);
    }

    /// Handles a key of unknown effect as answered, and all before it, where it is due or the screen is that of
    /// a prompt that is known.
    fn pass_barrier(&mut self, now: Instant, screen: &Screen, survey: Survey) -> bool {
        let Some(index) = survey.barrier else { return false };
        let Some(event) = self.log.iter().nth(index) else { return false };
        let (key, input) = (event.key, event.input);
        // Where nothing has changed the host may be slow.
        let is_due = event.due_at.is_some_and(|due_at| {
            self.base.has_moved(screen) || now.saturating_since(due_at) >= self.wait()
        });
        let is_answered = event.input <= self.network.arrived
            && match key {
                Key::Enter | Key::LineFeed | Key::Interrupt if self.base.field.is_line() => {
                    self.is_new_prompt(now, screen)
                }
                _ if index == 0 => self.base.has_moved(screen),
                _ => survey.settled.is_none() && survey.is_reached,
            };
        if !is_due && !is_answered {
            return false;
        }
        self.note_failed_motion(index, false);
        let takes_commands = self.trust().takes_commands();
        // Line editors have no prefixes that are worth a wait.
        let is_prefix =
            may_be_prefix(key) && !self.base.field.is_line() && !self.base.has_moved(screen);
        let may_take_commands = key == Key::Escape || is_prefix;
        let line = if is_enter(key) { self.line() } else { String::new() };
        let step = self.try_recall(key, index, screen).filter(|_| index == 0 || survey.is_reached);
        self.note_entered(key, input, screen);
        if survey.is_reached {
            self.credit(now, index, survey.takes_commands);
        } else {
            self.credit_line(now, screen, index);
        }
        self.silence.handle_line(&line);
        self.note_step(key, step);
        self.settle(index + 1);
        // The key may have begun another line.
        self.base.field.line.end();
        if is_enter(key) || !self.base.field.has_name() {
            self.base.field = Field::default();
        }
        self.base.field.lose_track();
        let arrived = self.log.arrived(self.network.arrived);
        if takes_commands {
            // They have done what they do, and what did which is nothing that can be told.
            self.abandon(arrived);
        }
        self.take_ground(now, screen);
        self.skip_echoed(now, screen);
        self.log.doubt(self.log.arrived(self.network.arrived));
        if may_take_commands {
            // Even an editor that still shows that it inserts may be about to leave that mode.
            self.base.field.is_escaped = true;
            self.base.field.confirmed = 0;
        }
        true
    }

    /// Returns the line that the first keys make, as far as it is known.
    fn line(&self) -> String {
        let mut simulation = self.simulation();
        for event in self.log.iter() {
            if simulation.apply(event.key) == Effect::Unknown {
                break;
            }
        }
        simulation.line()
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
            && field.end == cursor.column
            && self.learned.contexts.strong(field.context).score(Class::Text).right >= 1.0
    }

    /// Settles characters that the screen shows behind a known prompt already.
    fn skip_echoed(&mut self, now: Instant, screen: &Screen) {
        if !self.has(Mechanism::TypeAhead) {
            return;
        }
        let cursor = screen.cursor();
        let at = |column| Position { row: cursor.row, column };
        let typed: Vec<char> = self
            .log
            .iter()
            .map_while(|event| match event.key {
                Key::Text(c) if c.is_ascii() && event.input <= self.network.arrived => Some(c),
                _ => None,
            })
            .collect();
        for count in (1..=typed.len()).rev() {
            let Some(start) =
                u16::try_from(count).ok().and_then(|count| cursor.column.checked_sub(count))
            else {
                continue;
            };
            let is_echoed = (start..)
                .zip(&typed[..count])
                .all(|(column, c)| Text::plain(*c) == Text::of(screen, at(column)));
            let field = Field::read_from(now, screen, self.reader(), at(start));
            if is_echoed
                && self.learned.contexts.strong(field.context).score(Class::Text).right >= 1.0
            {
                self.note_edits(count);
                self.log.settle(count);
                self.base.is_fresh = false;
                let walk = core::mem::take(&mut self.base.field.walk);
                self.base.field = field;
                self.base.field.walk = walk;
                self.base.field.is_used = true;
                self.take_ground(now, screen);
                return;
            }
        }
    }

    /// Gives up the first key if its answer is overdue.
    fn miss(&mut self, now: Instant) -> bool {
        let Some(due_at) = self.log.front().and_then(|event| event.due_at) else { return false };
        if now.saturating_since(due_at) < self.patience() {
            return false;
        }
        let Some(&Event { key, input, .. }) = self.log.front() else { return false };
        let is_kept = match key {
            _ if !self.has(Mechanism::LateEchoes) => false,
            Key::Text(c) => !is_mask(c),
            _ => Class::of(key).follows_text(),
        };
        if is_kept && !self.base.field.is_secret && self.mask().is_none() {
            self.learned.late.push(GivenUp { key, due_at, context: self.base.field.context });
            self.base.field.confirmed = 0;
            self.note_miss(key);
            self.base.field.is_doubted = true;
            self.base.unsure = input;
            self.note_edits(1);
            self.log.settle(1);
        } else {
            self.fail(1);
        }
        true
    }

    /// Drops the first keys: they did not do what was predicted.
    fn fail(&mut self, count: usize) {
        let Some(&Event { key, shown, .. }) = self.log.front() else { return };
        let class = self.simulation().class_of(key);
        self.note_failed_motion(0, shown);
        self.note_failed_recall(key, shown);
        let context = self.base.field.context;
        let crosses = self.crosses(count);
        self.learned.masks.forget(context.strong);
        // Where an editor shows that it inserts, what nobody has believed was a command to it behind an Escape.
        let is_mode = matches!(self.base.field.kind, Kind::Insert | Kind::Replace);
        if crosses {
            self.learned.wraps.doubt(context);
        } else if shown || !is_mode && !self.base.field.is_escaped {
            self.learned.contexts.learn(context, class, false);
            self.learned.conventions.learn(class, false);
        }
        self.learned.contexts.pass(context);
        if shown {
            self.learned.contexts.distrust(context);
        }
        self.base.field.confirmed = 0;
        self.note_miss(key);
        self.base.field.is_doubted = true;
        self.abandon(count);
        self.learned.late.clear();
    }

    /// Called when a key was answered otherwise than by its echo, or not in time.
    fn note_miss(&mut self, key: Key) {
        if matches!(key, Key::Text(_)) {
            self.secrecy.note_miss(self.base.field.prompt());
            self.base.field.line.spoil();
        }
    }

    /// Returns whether the first keys go over the edge of a row.
    fn crosses(&self, count: usize) -> bool {
        let mut simulation = self.simulation();
        let mut events = self.log.iter().take(count);
        events.any(|event| {
            simulation.apply(event.key);
            simulation.crosses
        })
    }

    /// Makes a screen the one on which the first key acts.
    pub(super) fn take_ground(&mut self, now: Instant, screen: &Screen) {
        self.unexplained_at = None;
        let is_explained = core::mem::take(&mut self.base.is_explained);
        if !is_explained && self.base.screen.cursor().column != screen.cursor().column {
            // Something else than the keys has moved the cursor: another question may stand there.
            self.base.field.line.end();
        }
        self.base.screen = screen.clone();
        self.base.arrived = self.network.arrived;
        self.base.acked = self.network.echo_ack;
        self.base.field = Field::read(now, screen, self.reader(), &self.base.field);
        self.part_suggestion();
        if !self.base.field.is_used {
            // A key that ends a line leaves nothing left of the next one.
            let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
            self.base.field.is_foggy = arrived.into_iter().any(|event| !is_enter(event.key));
        }
        self.base.field.is_used = !self.log.is_empty() || self.base.field.is_used;
    }

    /// Learns from effects that come after their keys were given up.
    fn take_late(&mut self, now: Instant, screen: &Screen) {
        let old = self.learned.late.old(now);
        for given_up in self.learned.late.iter().take(old) {
            self.learned.contexts.learn(given_up.context, Class::of(given_up.key), false);
        }
        self.learned.late.forget(old);
        // A screen that shows some of the other keys alone needs none of these.
        if self.learned.late.is_empty() || self.survey(screen).settled.is_some() {
            return;
        }
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        let keys = arrived.map(|event| event.key);
        let answered = self.learned.late.answered(self.simulation(), keys, screen);
        let late = answered.min(self.learned.late.len());
        if late == 0 {
            return;
        }
        let context = self.base.field.context;
        for given_up in self.learned.late.iter().take(late) {
            let late = now.saturating_since(given_up.due_at);
            self.learned.graces.handle_answer(context, late);
            self.learned.contexts.learn(context, Class::of(given_up.key), true);
            self.base.field.confirmed += u32::from(matches!(given_up.key, Key::Text(_)));
        }
        self.learned.late.forget(late);
        self.abandon(answered - late);
        self.take_ground(now, screen);
    }

    /// Settles keys for each of which the screen has a star. Returns whether there were any.
    fn take_mask(&mut self, screen: &Screen) -> bool {
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        let typed = arrived.take_while(|event| matches!(event.key, Key::Text(_))).count();
        let Some((glyph, count)) = mask::stars(&self.base, screen, typed) else { return false };
        if self.has(Mechanism::Masks) {
            self.learned.masks.note_stars(&self.base, glyph, count);
        }
        self.secrecy.note_mask(self.base.field.prompt());
        self.base.field.line.spoil();
        self.settle(count.into());
        true
    }

    /// Finds out in which way the keys have gone on over the edge of a row. Returns whether that is known now, and was not.
    fn discover_wrap(&mut self, screen: &Screen) -> bool {
        if !self.has(Mechanism::Wraps) {
            return false;
        }
        let keys = self.arrived_keys();
        let Some((wrap, proof)) = wrap::discover(&self.base, self.habits(), &keys, screen) else {
            return false;
        };
        let field = &mut self.base.field;
        self.learned.wraps.learn(field.context, &wrap, proof);
        field.lesson = self.learned.wraps.find(field.context);
        field.lay_out(&wrap);
        true
    }

    fn arrived_keys(&self) -> Vec<Key> {
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        arrived.map(|event| event.key).collect()
    }

    /// Looks whether keys of unknown effect have moved the cursor as motions do, and learns from it; returns
    /// whether there were any.
    fn explore(&mut self, now: Instant, screen: &Screen) -> bool {
        if !self.base.may_roam() || !self.has(Mechanism::Motions) {
            return false;
        }
        let keys = self.arrived_keys();
        let found = explore::explore(&self.simulation(), &self.base, &keys, screen);
        let Some((count, trip)) = found else { return false };
        if trip.has_letters() {
            self.learned.contexts.learn(self.base.field.context, Class::Text, false);
        }
        self.settle(count);
        self.arrive(now, screen, &trip);
        true
    }

    /// Goes on to where the cursor has arrived by motions, which are settled.
    fn arrive(&mut self, now: Instant, screen: &Screen, trip: &Trip) {
        let has_rulers = self.has(Mechanism::Rulers);
        let navigation = self.learned.navigations.entry(self.base.field.place);
        trip.teach(navigation, &self.base, screen, has_rulers);
        self.base.stride = trip.stride;
        if trip.has_climbed() {
            // The program may ask for something else there.
            self.base.field = Field::default();
        }
        // Text that was typed here still ends where it did.
        if self.base.field.confirmed == 0 {
            self.base.field.reach = 0;
            if !self.base.field.has_name() {
                self.base.field = Field::default();
            }
        }
        self.take_ground(now, screen);
    }

    /// Learns that a key was not answered by the motion that it was believed to be.
    fn note_failed_motion(&mut self, index: usize, was_shown: bool) {
        let Some(key) = self.log.iter().nth(index).map(|event| event.key) else { return };
        if let Some(navigation) = self.learned.navigations.find_mut(&self.base.field.place) {
            navigation.miss(key, was_shown);
        }
    }

    /// Parts what is suggested from what was typed, where only that was typed tells it.
    fn part_suggestion(&mut self) {
        let Some(column) = self.base.field.place_of_cursor(&self.base.screen) else { return };
        let is_new = self.base.field.reach > 0 && self.base.field.suggested.is_some();
        if self.trust().knows(Class::Suggestion) {
            self.base.field.part_suggestion(column);
        } else if is_new && column >= self.base.field.reach {
            self.learn_suggestion(Class::Suggestion, true);
        }
    }
}
