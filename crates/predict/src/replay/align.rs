//! Judging the keys on their way by the newest screen: which of them it shows, and what became of the rest.

use rove_terminal::{Position, Screen};
use rove_units::{Duration, Instant};

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::canvas::{Canvas, Text, is_changed};
use crate::replay::class::Class;
use crate::replay::field::{Field, Kind};
use crate::replay::history::Way;
use crate::replay::late::GivenUp;
use crate::replay::layout::INPUT_ROWS_MAX;
use crate::replay::log::Event;
use crate::replay::navigation::Stride;
use crate::replay::simulate::{Break, Effect, Habits};
use crate::replay::{HOLD, Replay};
use crate::scene::is_mask;

/// Most steps in which one screen is judged, each of which looks at all keys that are left. What the host has
/// had its time to answer is then settled unjudged.
/// Chosen: nobody types so many commands before one is answered, and a paste of them has nothing to teach.
const ROUNDS_MAX: u32 = 32;

/// What a screen says of the keys on their way.
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

/// A key that has come true.
#[derive(Clone, Copy, Debug)]
struct Answered {
    key: Key,
    class: Class,
    /// The place of the cursor, and where that was.
    place: u16,
    at: Position,
    /// How many rows were parted before.
    breaks: usize,
    /// How much later than its echo ack the answer was, and than the key.
    late: Duration,
    age: Duration,
}

impl Replay {
    /// Settles what the screen shows, and makes it the ground for the rest.
    pub(super) fn judge(&mut self, now: Instant, screen: &Screen) {
        self.log.handle_echo_ack(now, self.network.echo_ack);
        if self.heard.0 != self.network.arrived {
            self.heard = (self.network.arrived, now);
        }
        if self.log.iter().all(|event| event.at == now) {
            // What has changed before the first key was typed is nothing that keys have done.
            self.take_ground(now, screen);
        }
        self.take_late(now, screen);
        // Each round settles a key, but for the last one.
        for rounds in 1.. {
            self.note_line();
            if self.log.is_empty() || !self.take_expected(now, screen) && !self.step(now, screen) {
                break;
            }
            if rounds == ROUNDS_MAX {
                self.watch = None;
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
        let waits = next.is_some_and(|event| self.waits_at_edge(screen, event.key));
        if (survey.settled.is_none() || waits) && self.discover_wrap(screen) {
            return true;
        }
        if self.waits_for_newline(screen, survey.settled) && self.discover_newline(screen) {
            return true;
        }
        if let Some(count) = survey.settled {
            self.note_suggestion(screen, count);
            self.note_paint(screen, count);
            let (breaks, typed) = self.credit(now, count, survey.takes_commands);
            let trip = self.trip(count, survey.takes_commands);
            if trip.is_none() && count > 0 && self.explore(now, screen) {
                return true;
            }
            let unsure = self.unsure;
            self.pass_newlines(screen, &breaks, typed);
            self.settle(count);
            self.unsure = unsure;
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
        let is_elsewhere = !screen.cursor().visible || screen.cursor().row != self.field.row;
        if is_settling && (due == 0 || is_elsewhere) {
            return false;
        }
        if self.refute_newline() {
            return true;
        }
        if due > 0 && survey.barrier != Some(0) {
            self.fail(due);
            self.leave_field(now, screen);
            return true;
        }
        if is_shown {
            self.field.lose_proof();
            if self.conflicts(screen) {
                self.contexts.distrust(self.field.context);
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
        let before = (self.field.context, self.field.start, self.field.is_used);
        self.take_ground(now, screen);
        let after = (self.field.context, self.field.start, true);
        let arrived = self.log.arrived(self.network.arrived);
        if before == after || !before.2 || arrived == 0 {
            return false;
        }
        self.note_taken_lines(arrived, screen);
        self.settle(arrived);
        self.prefix = 0;
        true
    }

    /// Looks how far the keys have come. Where they are commands some may be text all the same, which is as
    /// much as is seen of it.
    pub(super) fn survey(&self, screen: &Screen) -> Survey {
        let text = Habits { takes_commands: false, ..self.habits() };
        let survey = self.survey_with(text, screen);
        let is_text = survey.settled.is_some_and(|count| count > 0 && self.writes(count, screen));
        if !self.takes_commands() || is_text {
            survey
        } else {
            self.survey_with(self.habits(), screen)
        }
    }

    /// Returns whether the first keys write text that was not there.
    fn writes(&self, count: usize, screen: &Screen) -> bool {
        let cursor = screen.cursor();
        let before = self.ground.cursor();
        let columns = before.column..cursor.column;
        let is_news = |column| {
            let at = Position { row: cursor.row, column };
            !Text::of(screen, at).is_blank() && Text::of(screen, at) != Text::of(&self.ground, at)
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
        let is_unchanged = settled.is_some() && !self.has_moved(screen);
        let (mut due_cursor, mut due_agrees) = (start, is_unchanged);
        let mut has_line = None;
        for (count, event) in (1..).zip(self.log.iter()) {
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
                        || *has_line.get_or_insert_with(|| self.has_line(screen)))
            } else if simulation.has_climbed || !simulation.breaks.is_empty() {
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
            let age = self.heard.1.saturating_since(event.at);
            let is_sooner = is_second && self.latency.is_too_soon(age);
            // Where a text moves up the cursor may stay where it is.
            let is_news = count <= due
                || canvas.cursor != due_cursor
                || !due_agrees
                || !simulation.breaks.is_empty() && !canvas.agrees(&self.ground);
            if agrees && may_show && is_news && !is_sooner {
                settled = Some(count);
            }
        }
        let takes_commands = habits.takes_commands;
        Survey { settled, barrier: None, is_reached: false, takes_commands }
    }

    /// Learns from keys that have come true. Returns the rows that they have parted, and how many characters they
    /// have put in the last one.
    pub(super) fn credit(
        &mut self,
        now: Instant,
        count: usize,
        takes_commands: bool,
    ) -> (Vec<Break>, u32) {
        self.is_explained = true;
        let habits = Habits { takes_commands, ..self.habits() };
        let mut simulation = self.simulation_with(habits);
        let mut answered = Vec::new();
        let mut steps = Vec::new();
        for event in self.log.iter().take(count) {
            let (place, at) = (simulation.place(), simulation.canvas.cursor);
            let breaks = simulation.breaks.len();
            let class = simulation.class_of(event.key);
            if simulation.apply(event.key) == Effect::Drawn {
                steps.extend(Way::of(event.key).map(|way| (simulation.walk().clone(), way)));
                let late = event.due_at.map(|due| now.saturating_since(due)).unwrap_or_default();
                let age = now.saturating_since(event.at);
                answered.push(Answered { key: event.key, class, place, at, breaks, late, age });
            }
        }
        // What has left no trace, such as a character that was taken back, proves nothing, and neither does a
        // star: it may stand for any other.
        let canvas = &simulation.canvas;
        let start = Canvas::new(&self.ground).cursor;
        let is_proof = |answered: &Answered| match answered.key {
            Key::Text(c) => {
                let text = Text::plain(c);
                !is_mask(c)
                    && !text.is_blank()
                    && canvas.text(simulation.position(
                        answered.place,
                        answered.at,
                        answered.breaks,
                    )) == text
                    && Text::of(&self.ground, answered.at) != text
            }
            _ => canvas.cursor != start || !canvas.agrees(&self.ground),
        };
        answered.retain(is_proof);
        let (layout, end, waits) = (simulation.layout(), simulation.end(), simulation.waits());
        let (crosses, proof) = (simulation.crosses, simulation.proof());
        let breaks = core::mem::take(&mut simulation.breaks);
        self.field.walk = simulation.walk().clone();
        self.note_steps(&steps);
        self.field.follow(layout, end, waits);
        self.confirm_newlines(&breaks);
        if let Some(lesson) = self.field.lesson.as_ref().filter(|_| crosses) {
            self.contexts.learn_wrap(self.field.context, &lesson.wrap, proof);
        }
        let is_typed = |it: &&Answered| it.class == Class::Text && it.breaks == breaks.len();
        let typed = u32::try_from(answered.iter().filter(is_typed).count()).unwrap_or(u32::MAX);
        for Answered { key, class, late, age, .. } in answered {
            let context = self.field.context;
            self.contexts.learn(context, class, true);
            if self.field.kind == Kind::Line {
                self.conventions.learn(class, true);
            }
            self.contexts.pass(context);
            self.contexts.grace(context).handle_answer(late);
            self.policy.handle_confirmation(now, age);
            if self.has(Mechanism::Latency) {
                self.latency.handle_answer(age);
            }
            self.field.confirmed += u32::from(class == Class::Text);
            if let Key::Text(c) = key {
                self.silence.handle_echo();
                self.field.line.note_echo(c);
                self.secrecy.note_echo(self.field.prompt(), c);
            }
        }
        (breaks, typed)
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
        if is_drawn && lines(screen) > lines(&self.ground) {
            self.credit(now, count, false);
        }
    }

    /// Forgets the oldest keys, but for what they tell of those to come.
    pub(super) fn settle(&mut self, count: usize) {
        if let Some(last) = count.checked_sub(1).and_then(|last| self.log.iter().nth(last)) {
            // It ends what a letter could be part of.
            self.stride = Stride { goal: None, is_roaming: last.key == Key::Escape };
            self.is_fresh = matches!(last.key, Key::Enter | Key::LineFeed);
            self.unsure = last.input;
        }
        self.note_edits(count);
        self.note_settled(count);
        let prompt = self.field.prompt();
        for event in self.log.iter().take(count) {
            match event.key {
                Key::Enter | Key::LineFeed => self.secrecy.note_enter(prompt),
                Key::Interrupt => self.secrecy.note_end(),
                _ => self.secrecy.note_key(prompt),
            }
            match event.key {
                Key::Search => self.is_searching = true,
                Key::Enter | Key::LineFeed => {
                    self.silence.handle_line("");
                    self.is_searching = false;
                }
                // What a search does with these differs, but it goes on.
                Key::Text(_) | Key::Backspace | Key::ControlH => {}
                _ => self.is_searching = false,
            }
        }
        self.log.settle(count);
    }

    /// Takes a key of unknown effect as answered, and all before it, where it is due or the screen is that of
    /// a prompt that is known.
    fn pass_barrier(&mut self, now: Instant, screen: &Screen, survey: Survey) -> bool {
        let Some(index) = survey.barrier else { return false };
        let Some(event) = self.log.iter().nth(index) else { return false };
        let (key, input) = (event.key, event.input);
        // Where nothing has changed the host may be slow.
        let is_due = event.due_at.is_some_and(|due_at| {
            self.has_moved(screen) || now.saturating_since(due_at) >= self.wait()
        });
        let is_answered = event.input <= self.network.arrived
            && match key {
                Key::Enter | Key::LineFeed | Key::Interrupt if self.field.is_line() => {
                    self.is_new_prompt(now, screen)
                }
                _ if index == 0 => self.has_moved(screen),
                _ => survey.settled.is_none() && survey.is_reached,
            };
        if !is_due && !is_answered {
            return false;
        }
        self.note_failed_motion(index, false);
        let takes_commands = self.takes_commands();
        // Line editors have no prefixes that are worth a wait.
        let is_prefix = may_be_prefix(key) && !self.field.is_line() && !self.has_moved(screen);
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
        if index == 0 {
            self.learn_key(key, screen);
        }
        self.note_step(key, step);
        self.settle(index + 1);
        // Whatever the key did, it may have begun another line.
        self.field.line.end();
        if is_enter(key) || !self.field.has_name() {
            self.field = Field::default();
        }
        self.field.lose_track();
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
            self.field.is_escaped = true;
            self.field.confirmed = 0;
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

    /// Returns whether the screen still has the line that the cursor is in: keys that only move it change nothing
    /// in there.
    fn has_line(&self, screen: &Screen) -> bool {
        let most = INPUT_ROWS_MAX.saturating_mul(screen.size().columns());
        let places = self.field.start..self.field.end.min(most);
        let mut line = places.map(|place| self.field.layout.at(place));
        !self.field.is_line() || line.all(|at| Text::of(screen, at) == Text::of(&self.ground, at))
    }

    /// Returns whether the cursor or its row is another than before.
    pub(super) fn has_moved(&self, screen: &Screen) -> bool {
        has_moved(&self.ground, screen)
    }

    /// Returns whether the screen waits at a prompt where keys came true before, and not where it did.
    fn is_new_prompt(&self, now: Instant, screen: &Screen) -> bool {
        if !self.has(Mechanism::NewPrompts) {
            return false;
        }
        let cursor = screen.cursor();
        let before = self.ground.cursor();
        let field = Field::read(now, screen, self.reader(), &Field::default());
        let is_moved = (cursor.row, cursor.column) != (before.row, before.column);
        is_moved
            && field.is_line()
            && field.end == cursor.column
            && self.contexts.strong(field.context).score(Class::Text).right >= 1.0
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
            if is_echoed && self.contexts.strong(field.context).score(Class::Text).right >= 1.0 {
                self.note_edits(count);
                self.note_settled(count);
                self.log.settle(count);
                self.is_fresh = false;
                let walk = core::mem::take(&mut self.field.walk);
                self.field = field;
                self.field.walk = walk;
                self.field.is_used = true;
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
        if key == Key::Enter && self.refute_newline() {
            return true;
        }
        let is_kept = match key {
            _ if !self.has(Mechanism::LateEchoes) => false,
            Key::Text(c) => !is_mask(c),
            _ => Class::of(key).follows_text(),
        };
        if is_kept && !self.field.is_secret && self.mask().is_none() {
            self.late.push(GivenUp { key, due_at, context: self.field.context });
            self.field.confirmed = 0;
            self.note_miss(key);
            self.field.is_doubted = true;
            self.unsure = input;
            self.note_edits(1);
            self.note_settled(1);
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
        let context = self.field.context;
        let crosses = self.crosses(count);
        self.drop_mask();
        // Where an editor shows that it inserts, what nobody has believed was a command to it behind an Escape.
        let is_mode = matches!(self.field.kind, Kind::Insert | Kind::Replace);
        if crosses {
            self.contexts.doubt_wrap(context);
        } else if shown || !is_mode && !self.field.is_escaped {
            self.contexts.learn(context, class, false);
            self.conventions.learn(class, false);
        }
        self.contexts.pass(context);
        if shown {
            self.contexts.distrust(context);
        }
        self.field.confirmed = 0;
        self.note_miss(key);
        self.field.is_doubted = true;
        self.abandon(count);
        self.late.clear();
    }

    /// Takes that a key was answered otherwise than by its echo, or not in time.
    fn note_miss(&mut self, key: Key) {
        if matches!(key, Key::Text(_)) {
            self.secrecy.note_miss(self.field.prompt());
            self.field.line.spoil();
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
        let is_explained = core::mem::take(&mut self.is_explained);
        if !is_explained && self.ground.cursor().column != screen.cursor().column {
            // Something else than the keys has moved the cursor: another question may stand there.
            self.field.line.end();
        }
        self.note_ground(screen);
        self.ground = screen.clone();
        self.ground_input = self.network.arrived;
        self.ground_acked = self.network.echo_ack;
        self.field = Field::read(now, screen, self.reader(), &self.field);
        self.part_suggestion();
        if !self.field.is_used {
            // What ends a line leaves nothing left of the next one.
            let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
            self.field.is_foggy = arrived.into_iter().any(|event| !is_enter(event.key));
        }
        self.field.is_used = !self.log.is_empty() || self.field.is_used;
    }
}

/// Returns whether the cursor or its row is another than before.
pub(super) fn has_moved(before: &Screen, after: &Screen) -> bool {
    let (from, to) = (before.cursor().position(), after.cursor().position());
    from != to || is_changed(before, after, to.row)
}

/// Returns whether a key that changes nothing by itself may begin a command of two keys.
const fn may_be_prefix(key: Key) -> bool {
    matches!(
        key,
        Key::ControlA
            | Key::ControlB
            | Key::ControlE
            | Key::ControlF
            | Key::KillToEnd
            | Key::KillLine
            | Key::KillWord
            | Key::Other
    )
}

/// Returns whether a key ends a line.
const fn is_enter(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed | Key::Interrupt)
}
