//! Learns from the verdicts on keys, and then makes the judged screen the *base*, on which later keys are simulated.
//! The modules that find the verdicts change no state.

use rove_terminal::{Key, Screen};
use rove_units::Instant;

use crate::mechanism::Mechanism;
use crate::replay::class::{Class, is_enter};
use crate::replay::cursor_probe::CursorProbe;
use crate::replay::entered_lines;
use crate::replay::exit;
use crate::replay::field::{Field, Kind};
use crate::replay::judge::{Answer, Findings, Judge, Verdict};
use crate::replay::log::Event;
use crate::replay::match_result::Barrier;
use crate::replay::state::State;
use crate::replay::timeline::{Proven, Step};
use crate::scene;

/// Most rounds in which one screen judges the pending keys. Each round removes the judged keys. After the last round,
/// due keys are removed without a verdict. Chosen: nobody types so many commands before one is answered, and nothing is
/// learned from a paste of commands.
const ROUNDS_MAX: u32 = 32;

/// Removes the pending keys that the screen shows, learns from them, and makes the screen the base for the other keys.
pub(super) fn learn(state: &mut State, now: Instant, screen: &Screen) {
    state.log.handle_echo_ack(now, state.network.echo_ack);
    state.learned.latency.note_arrived(now, state.network.arrived);
    let held = exit::held(&state.pending_keys(), screen);
    let screen = held.as_ref().map_or(screen, |(index, screen)| {
        state.log.defer(*index);
        screen
    });
    if !state.log.is_lost() {
        state.lost_keys.judge(screen, &mut state.secrecy);
    }
    let mut learner = Learner { state, now, screen };
    if learner.state.log.iter().all(|event| event.at == now) {
        // All pending keys were typed just now, so the screen shows no effect of them.
        learner.rebase();
    }
    learner.learn_late();
    // Each round except the last removes a key or extends the field.
    for rounds in 1.. {
        if learner.state.log.is_empty() || !learner.learn(learner.judge().findings()) {
            break;
        }
        if rounds == ROUNDS_MAX {
            learner.abandon(learner.state.log.due());
            break;
        }
    }
    if learner.state.log.is_empty() {
        learner.rebase();
    }
    learner.state.base.is_held = held.is_some();
}

/// The state of the engine, and the screen from which it learns.
#[derive(Debug)]
struct Learner<'a> {
    state: &'a mut State,
    now: Instant,
    screen: &'a Screen,
}

impl Learner<'_> {
    const fn judge(&self) -> Judge<'_> {
        Judge { state: self.state, now: self.now, screen: self.screen }
    }

    /// Learns from the facts on a screen, and removes the verdict's keys. Returns whether to judge the screen again.
    fn learn(&mut self, findings: Findings) -> bool {
        let Findings { exit, sheet, is_broken, verdict } = findings;
        let context = self.state.base.field.context;
        if let Some(pair) = exit {
            self.state.learned.exits.learn(context.strong, pair);
        }
        if sheet.is_some() {
            self.state.learned.history.sheet = sheet;
        }
        if is_broken {
            let column = self.state.base.screen.cursor().column;
            self.state.learned.wraps.note_width(context, column, true);
        }
        self.learn_verdict(verdict)
    }

    /// Learns from a verdict, and removes its keys. Returns whether to judge the screen again.
    fn learn_verdict(&mut self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Wrapped(mut field, crossing) => {
                self.state.learned.wraps.learn(field.context, crossing);
                field.wrap = self.state.learned.wraps.find(field.context);
                self.state.base.field = *field;
            }
            Verdict::Shown(proven, barrier) => return self.learn_shown(*proven, barrier),
            Verdict::Moved(count, probe) => {
                self.retire(count);
                self.arrive(&probe);
            }
            Verdict::Awaited => {
                self.rebase();
                return false;
            }
            Verdict::Masked(count) => {
                self.state.secrecy.note_mask(self.state.base.field.prompt_name());
                self.state.base.field.line.spoil();
                self.retire(count);
                self.rebase();
            }
            Verdict::Answered(answer) => self.pass_barrier(*answer),
            Verdict::Incomplete => {
                self.state.unexplained_at.get_or_insert(self.now);
                return false;
            }
            Verdict::Pending => return false,
            Verdict::Overdue => {
                let timeout = self.state.miss_timeout();
                if self.state.log.note_overdue(self.now - timeout) {
                    self.state.secrecy.note_miss(self.state.base.field.prompt_name());
                }
                return false;
            }
            Verdict::Late(given_up, input) => {
                self.state.learned.late.push(given_up);
                self.state.base.field.certainty.miss();
                self.note_miss(given_up.key);
                self.state.base.unsure = input;
                entered_lines::note_edits(self.state, 1);
                self.state.log.retire(1);
            }
            Verdict::Done => self.abandon(1),
            Verdict::Scrolled(count) => {
                self.abandon(count);
                self.leave_field();
            }
            Verdict::Failed(count) => {
                self.fail(count);
                self.leave_field();
            }
            Verdict::Missed => self.fail(1),
            Verdict::Unexplained { has_barrier } => {
                if self.state.log.front().is_some_and(|event| event.shown) {
                    // Other text has replaced the confirmed characters.
                    self.state.base.field.certainty.lose();
                    self.state.base.field.line.end();
                    // A key of unknown effect may have drawn over the prediction.
                    if !has_barrier && self.state.pending_keys().conflicts(self.screen) {
                        self.state.learned.contexts.distrust(self.state.base.field.context);
                    }
                }
                return self.leave_unexplained();
            }
        }
        true
    }

    /// Removes the keys whose effects a screen shows. If it shows none, removes those that it answers in another way.
    /// Returns whether any keys were removed.
    fn learn_shown(&mut self, mut proven: Proven, barrier: Option<Box<Barrier>>) -> bool {
        let has_preview = proven.count > 0 && self.judge().has_preview();
        let (count, row, probe) = (proven.count, proven.row, proven.probe.take());
        self.confirm(proven);
        let to = self.screen.cursor().row;
        // A blank row below the cursor may be the next row of the input.
        let has_moved =
            self.state.base.move_to(row, to) && !self.screen.row_text(to + 1).is_empty();
        if has_moved || has_preview {
            self.state.learned.contexts.learn(self.state.base.field.context, Class::Rise, true);
        }
        let may_be_motions = probe.is_none() && count > 0;
        if let Some(moved) = may_be_motions.then(|| self.judge().motions()).flatten() {
            return self.learn_verdict(moved);
        }
        let is_unexplained = count == 0 && self.state.base.has_moved(self.screen);
        let unsure = self.state.base.unsure;
        self.retire(count);
        self.state.base.unsure = unsure;
        if let Some(probe) = probe {
            self.arrive(&probe);
            return true;
        }
        let has_left = if is_unexplained { self.leave_unexplained() } else { self.leave_field() };
        has_left || count > 0 || self.learn_verdict(self.judge().rest(barrier))
    }

    /// Makes a changed screen the base, although it shows no key's simulated effect. It may show other effects of keys
    /// that have reached the host. Returns whether any keys were removed.
    fn leave_unexplained(&mut self) -> bool {
        let has_left = self.leave_field();
        let arrived = self.state.arrived().len();
        self.state.log.doubt(arrived);
        has_left
    }

    /// Makes the screen the base. If the field in which keys were typed has changed, the keys that have reached the
    /// host are the cause. They are removed. Returns whether any keys were removed.
    fn leave_field(&mut self) -> bool {
        let place = |field: &Field| (field.context, field.bounds.start);
        let (before, is_used) =
            (place(&self.state.base.field), self.state.base.field.track.is_used);
        self.rebase();
        let arrived = self.state.arrived().len();
        let is_same = before == place(&self.state.base.field);
        if !is_used || arrived == 0 || is_same {
            return false;
        }
        entered_lines::note_taken(self.state, arrived, self.screen);
        self.retire(arrived);
        true
    }

    /// Learns from the keys that a screen shows: from their effects, and from the colours that the program gave them.
    fn confirm(&mut self, proven: Proven) {
        let State { base, learned, .. } = &mut *self.state;
        let (context, cursor) = (base.field.context, self.screen.cursor().position());
        if let Some(class) = proven.lost {
            let is_back = scene::suggestion(self.screen, cursor, None).is_some();
            learned.contexts.learn(context, class, is_back);
        }
        if let Some((at, _)) = proven.flash.filter(|_| proven.count > 0) {
            learned.contexts.learn(context, Class::Flash, at == cursor);
        }
        learned.counters.learn(base, self.screen, proven.end);
        if let Some((c, at)) = proven.typed.filter(|_| self.state.has(Mechanism::Palettes)) {
            self.state.learned.palettes.learn(&self.state.base, c, at, self.screen);
        }
        self.credit(proven);
    }

    /// Learns from the effects of confirmed keys.
    fn credit(&mut self, proven: Proven) {
        let learns_latency = self.state.has(Mechanism::Latency);
        let State { base, learned, policy, echo_off, secrecy, .. } = &mut *self.state;
        base.is_explained |= proven.count > 0 || proven.flash.is_some();
        let field = &mut base.field;
        field.history_cursor = proven.history_cursor;
        field.follow(proven.layout, proven.end, proven.waits);
        field.track.flash = proven.flash;
        let context = field.context;
        let is_vouched = field.is_vouched(&base.screen);
        if let Some(crossing) = proven.crossing {
            learned.wraps.learn(context, crossing);
        }
        for Step { event, class, at, .. } in proven.steps {
            let late = event.due_at.map(|due| self.now.saturating_since(due)).unwrap_or_default();
            let age = self.now.saturating_since(event.at);
            learned.contexts.learn(context, class, true);
            learned.contexts.pass(context);
            learned.echo_timeouts.handle_answer(context, late);
            policy.handle_confirmation(self.now, age);
            if learns_latency {
                learned.latency.handle_answer(age);
            }
            // The key may have been a command. The text on the screen is then the echo of a later key.
            let may_be_command = event.is_doubtful && field.certainty.may_be_command();
            if class == Class::Text && !may_be_command {
                field.certainty.confirm();
            }
            if let Key::Text(c) = event.key {
                learned.wraps.note_width(context, at.column + 1, false);
                echo_off.handle_echo();
                field.line.note_echo(c);
                secrecy.note_echo(field.prompt_name(), c, is_vouched);
            }
        }
    }

    /// Removes the `count` oldest keys, and records how they change the meaning of later keys.
    fn retire(&mut self, count: usize) {
        entered_lines::note_edits(self.state, count);
        let State { base, learned, log, echo_off, secrecy, .. } = &mut *self.state;
        if let Some(last) = count.checked_sub(1).and_then(|last| log.iter().nth(last)) {
            // The last removed key decides how the next key is interpreted.
            base.goal = None;
            base.is_new_line = matches!(last.key, Key::Enter | Key::LineFeed);
            base.unsure = last.input;
            base.command = (!matches!(last.key, Key::Text(_))).then_some((last.key, last.input));
        }
        let prompt = base.field.prompt_name();
        for event in log.iter().take(count) {
            if !Class::of(event.key).follows_text() {
                secrecy.note_barrier(event.input);
            }
            match event.key {
                Key::Enter | Key::LineFeed => {
                    secrecy.note_enter(prompt);
                    if base.field.prompt.is_secret {
                        secrecy.note_answer(base.screen.row_text(base.field.row));
                    }
                }
                Key::Interrupt => secrecy.note_end(),
                Key::Other | Key::Insert | Key::Search => {
                    secrecy.note_key(prompt);
                    secrecy.note_command();
                }
                _ => secrecy.note_key(prompt),
            }
            match event.key {
                Key::Search => base.is_searching = true,
                Key::Enter | Key::LineFeed => {
                    echo_off.handle_line("");
                    base.is_searching = false;
                }
                Key::PasteStart | Key::PasteEnd => learned.history.note_paste(),
                // In a search, programs use these keys differently, but the search continues.
                Key::Text(_) | Key::Backspace | Key::ControlH => {}
                _ => base.is_searching = false,
            }
        }
        log.retire(count);
    }

    /// Learns from a key of unknown effect that was answered, and removes this key and all earlier ones.
    fn pass_barrier(&mut self, answer: Answer) {
        let Answer { barrier, history_cursor, takes_commands, may_take_commands } = answer;
        let Barrier { index, key, input, is_reached, is_still, before, line, .. } = barrier;
        self.note_failed_motion(index, false);
        entered_lines::note_entered(self.state, key, input, self.screen);
        if is_reached {
            self.credit(before);
        }
        self.state.echo_off.handle_line(line.as_ref().map_or("", |(line, _)| line.text()));
        self.state.base.field.history_cursor = history_cursor;
        self.retire(index + 1);
        if is_still && !self.state.base.hides(key) {
            self.state.secrecy.note_nothing();
        }
        let field = &mut self.state.base.field;
        // The key may have begun another line. In a line that the kernel echoes, it may have erased all text.
        field.line.end();
        if is_enter(key) || !field.has_name() || field.kind == Kind::Kernel {
            *field = Field::default();
        }
        field.track.forget_reach();
        if takes_commands {
            // The characters were commands, and it is unknown which command had which effect.
            let arrived = self.state.arrived().len();
            self.abandon(arrived);
        }
        self.rebase();
        self.skip_echoed();
        let arrived = self.state.arrived().len();
        self.state.log.doubt(arrived);
        if may_take_commands {
            // The editor may have left its insert mode, although the screen still shows that mode.
            self.state.base.field.certainty.escape();
        }
    }

    /// Removes typed characters that already follow a known prompt on the screen.
    fn skip_echoed(&mut self) {
        let Some((count, mut field)) = self.judge().type_ahead() else { return };
        entered_lines::note_edits(self.state, count);
        self.state.log.retire(count);
        let base = &mut self.state.base;
        base.is_new_line = false;
        field.history_cursor = base.field.history_cursor;
        field.track.is_used = true;
        base.field = field;
        self.rebase();
    }

    /// Removes the `count` oldest keys, whose effects did not come. Counts an error for the first key only.
    fn fail(&mut self, count: usize) {
        let Some(&Event { key, shown, .. }) = self.state.log.front() else { return };
        let class = self.state.pending_keys().start().class_of(key);
        self.note_failed_motion(0, shown);
        if class.is_recall() {
            // The recalled line was wrong, so the editor's history is unknown.
            self.state.learned.history.forget();
        }
        let crosses = self.state.pending_keys().after(count).crosses;
        let State { base, learned, .. } = &mut *self.state;
        let context = base.field.context;
        // In a mode or after an Escape, the key may have been a command. The error then counts only if the user saw it.
        let is_mode = matches!(base.field.kind, Kind::Insert | Kind::Replace);
        if crosses {
            learned.wraps.doubt(context);
        } else if shown || !is_mode && !base.field.certainty.may_be_command() {
            learned.contexts.learn(context, class, false);
        }
        learned.contexts.pass(context);
        if shown {
            learned.contexts.distrust(context);
        }
        base.field.certainty.miss();
        self.note_miss(key);
        self.abandon(count);
        self.state.learned.late.clear();
    }

    /// Records that a character was not answered by its echo in time. Ignores other keys.
    fn note_miss(&mut self, key: Key) {
        if matches!(key, Key::Text(_)) {
            self.state.secrecy.note_miss(self.state.base.field.prompt_name());
            self.state.base.field.line.spoil();
        }
    }

    /// Makes the screen the base, on which the first pending key acts.
    fn rebase(&mut self) {
        let (state, screen) = (&mut *self.state, self.screen);
        state.unexplained_at = None;
        if state.base.is_unmoved(screen) {
            state.secrecy.note_nothing();
        }
        let is_explained = core::mem::take(&mut state.base.is_explained);
        if !is_explained && state.base.is_left(screen) {
            // The cursor was moved by something other than the keys, so another question may have been asked.
            state.base.field.line.end();
        }
        state.base.screen = screen.clone();
        state.base.arrived = state.network.arrived;
        state.base.acked = state.network.echo_ack;
        state.base.field = Field::read(self.now, screen, state.reader(), &state.base.field);
        let field = &state.base.field;
        state.secrecy.observe(field.bounds.pane, field.window(screen));
        if !state.base.field.track.is_used {
            // A key that ends a line leaves no text in the next line.
            let may_be_typed = state.arrived().any(|event| !is_enter(event.key));
            state.base.field.prompt.may_be_typed = may_be_typed;
        }
        state.base.field.track.is_used |= !state.log.is_empty();
    }

    /// Learns from keys whose predictions were dropped: from late effects, and from effects that did not come at all.
    fn learn_late(&mut self) {
        let learned = &mut self.state.learned;
        let old = learned.late.old(self.now);
        for given_up in learned.late.iter().take(old) {
            learned.contexts.learn(given_up.context, Class::of(given_up.key), false);
        }
        learned.late.forget(old);
        let Some((count, behind)) = self.judge().late() else { return };
        let State { base, learned, .. } = &mut *self.state;
        let context = base.field.context;
        for given_up in learned.late.iter().take(count) {
            let late = self.now.saturating_since(given_up.due_at);
            learned.echo_timeouts.handle_answer(context, late);
            learned.contexts.learn(context, Class::of(given_up.key), true);
            if matches!(given_up.key, Key::Text(_)) {
                base.field.certainty.confirm();
            }
        }
        learned.late.forget(count);
        self.abandon(behind);
        self.rebase();
    }

    /// Learns from motions of the cursor over the screen, and moves the field to the cursor.
    fn arrive(&mut self, probe: &CursorProbe) {
        let has_rulers = self.state.has(Mechanism::Rulers);
        let State { base, learned, .. } = &mut *self.state;
        let navigation = learned.navigations.entry(base.field.place);
        probe.teach(navigation, base, self.screen, has_rulers);
        base.goal = probe.goal;
        if probe.has_climbed() {
            // In another row, the program may ask for something else.
            base.field = Field::default();
        }
        // In the same row, confirmed text still ends at the same column.
        if !base.field.certainty.is_confirmed() {
            base.field.track.reach = 0;
            if !base.field.has_name() {
                base.field = Field::default();
            }
        }
        self.rebase();
    }

    /// Removes the `count` oldest keys, whose effects are unknown.
    fn abandon(&mut self, count: usize) {
        entered_lines::note_missed(self.state, count);
        self.retire(count);
    }

    /// Records that the key at `index` did not move the cursor as expected. `was_shown`: the user saw the prediction.
    fn note_failed_motion(&mut self, index: usize, was_shown: bool) {
        let Some(key) = self.state.log.iter().nth(index).map(|event| event.key) else { return };
        let place = &self.state.base.field.place;
        if let Some(navigation) = self.state.learned.navigations.find_mut(place) {
            navigation.miss(key, was_shown);
        }
    }
}
