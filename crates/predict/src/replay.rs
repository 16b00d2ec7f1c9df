//! The engine that re-simulates: it keeps the keys whose effect the host has not shown yet, and tries them
//! anew on each screen that comes.
//!
//! A screen shows how far the host has come: the longest run of keys whose simulation it agrees with is
//! *confirmed*, without waiting for an acknowledgment. What is left is simulated on the newest screen, so
//! that text that scrolls or moves takes its predictions along. A key of unknown effect (Enter, Tab, a
//! command) is a *barrier*: what is typed behind it waits until the screen shows what it did.
//!
//! Showing is a matter of trust, learned for each kind of prompt ([`context`]): the first key
//! at a prompt like one where keys came true before is seen at once, and at others none is before one came
//! true.

mod base;
mod bounds;
mod canvas;
mod certainty;
mod class;
mod context;
mod cursor_probe;
mod drawn_cursor;
mod echo_off;
mod echo_timeout;
mod evidence;
mod exit;
mod field;
mod history;
mod history_cursor;
mod id;
mod input_track;
mod judge;
mod late;
mod latency;
mod layout;
mod learned;
mod log;
mod mask;
mod match_result;
mod memory;
mod motion;
mod navigation;
mod paint;
mod pending_keys;
mod prompt_marks;
mod ruler;
mod simulate;
mod timeline;
mod trust;
mod type_ahead;
mod verdict;
mod wrap;

use core::cell::LazyCell;

use rove_terminal::{Screen, Size, clusters};
use rove_units::{Duration, Instant};

use self::base::Base;
use self::canvas::Canvas;
use self::class::Class;
use self::drawn_cursor::DrawnCursor;
use self::echo_off::EchoOffDetector;
use self::echo_timeout::EchoTimeout;
use self::exit::Pair;
use self::field::{Field, Reader};
use self::history_cursor::Past;
use self::learned::Learned;
use self::log::{Event, Log};
use self::motion::Guide;
use self::navigation::Navigation;
use self::pending_keys::PendingKeys;
pub use self::simulate::Effect;
use self::simulate::{Habits, Simulation};
use self::trust::Trust;
use crate::engine::{InputNum, Network};
use crate::keystroke::{Key, Keystrokes};
use crate::mechanism::Mechanism;
use crate::policy::{Policy, Prediction};
use crate::prompt_memory::PromptMemory;
use crate::reason::{Explanation, Reason, Stop};
use crate::secrecy::{Prompt, Secrecy, Spot};
use crate::tty::Tty;

/// How long predictions are still seen on a screen that nothing explains, as long as the host has not
/// acknowledged their keys. Chosen: longer than a program takes to draw in several pieces.
const UNEXPLAINED_TIMEOUT: Duration = Duration::from_millis(100);

/// How long after its echo ack a key is not taken back yet, where the host is mostly faster. Chosen: some keys
/// take a shell longer than others, and a wrong verdict costs more than a late one.
const MISS_TIMEOUT_MIN: Duration = Duration::from_millis(80);

/// The effects of the oldest keys, as far as they are trusted.
struct Forecast<'a> {
    canvas: Canvas<'a>,
    /// How many they are.
    count: usize,
    /// When the first of them was typed that draws anything.
    oldest: Option<Instant>,
    /// Why the next one is not among them, if there is a next one.
    stop: Option<Stop>,
}

/// The engine that re-simulates.
#[derive(Clone, Debug)]
pub struct Replay {
    policy: Policy,
    settings: Prediction,
    keystrokes: Keystrokes,
    log: Log,
    network: Network,
    /// The host's terminal, where it is told.
    tty: Option<Tty>,
    base: Base,
    learned: Learned,
    echo_off: EchoOffDetector,
    secrecy: Secrecy,
    /// When a screen came that the keys do not explain.
    unexplained_at: Option<Instant>,
    /// When to look again.
    due: Option<Instant>,
}

impl Replay {
    /// Creates an engine without predictions for a blank screen.
    pub(crate) fn new(prediction: Prediction, size: Size) -> Self {
        Self {
            policy: Policy::new(prediction.preference),
            settings: prediction,
            keystrokes: Keystrokes::default(),
            log: Log::default(),
            network: Network::UNHEARD,
            tty: None,
            base: Base::new(size),
            learned: Learned::default(),
            echo_off: EchoOffDetector::default(),
            secrecy: Secrecy::default(),
            unexplained_at: None,
            due: None,
        }
    }

    /// Handles keys that were read at once.
    pub(crate) fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        let mut read = Vec::with_capacity(keys.len());
        read.extend(keys.iter().filter_map(|&byte| self.keystrokes.push(byte)));
        read.extend(self.keystrokes.flush());
        hide_clusters(&mut read);
        for key in read {
            self.handle_key(now, sent, key);
        }
    }

    fn handle_key(&mut self, now: Instant, sent: InputNum, key: Key) {
        if key == Key::Neutral {
            self.secrecy.note_report();
            return;
        }
        // Hidden text is not kept either.
        let key = if self.hides_input() { Key::Other } else { key };
        self.echo_off.handle_key(key);
        // Escape makes another key of the next, as Alt does, or ends the mode in which it was what it is.
        // Where the screen shows a mode it ends that.
        let is_alt = key == Key::Escape && !self.base.shows_mode();
        let follows_escape = self.log.note_escape(is_alt);
        let key = if follows_escape && key != Key::Escape { key.with_alt() } else { key };
        if key == Key::PasteEnd && self.has(Mechanism::Paste) && self.log.end_paste() {
            return;
        }
        if self.log.is_empty() {
            self.observe_step();
        }
        let event = Event {
            key,
            input: sent.next(),
            at: now,
            due_at: None,
            shown: false,
            is_doubtful: false,
        };
        self.log.push(event);
        if self.log.is_lost() {
            self.learned.history.forget();
        }
    }

    /// Handles the network's news.
    pub(crate) fn handle_network(&mut self, network: Network) {
        self.network = network;
    }

    /// Handles the state of the host's terminal, where it is told. Text that is typed for nobody to see is
    /// forgotten.
    pub(crate) fn handle_tty(&mut self, tty: Option<Tty>) {
        if tty.is_some_and(Tty::hides_input) && !self.log.is_empty() {
            let screen = self.base.screen.clone();
            let result = self.match_screen(&screen);
            self.note_line(result.barrier.as_ref());
            self.note_taken_lines(self.log.len(), &screen);
        }
        self.tty = tty;
        let stated = tty.and_then(|tty| tty.prompt);
        self.secrecy.handle_statement(stated.filter(|_| self.has(Mechanism::Statements)));
        if self.hides_input() {
            self.log.forget_texts();
            self.learned.late.clear();
        }
    }

    /// Takes the prompts that earlier sessions knew.
    pub(crate) fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        self.secrecy.set_memory(memory);
    }

    /// Returns the prompts that this session and earlier ones knew.
    pub(crate) const fn prompt_memory(&self) -> Option<&PromptMemory> {
        self.secrecy.memory()
    }

    /// Returns whether the engine has a mechanism.
    const fn has(&self, mechanism: Mechanism) -> bool {
        self.settings.mechanisms.contains(mechanism)
    }

    fn hides_input(&self) -> bool {
        self.tty.is_some_and(Tty::hides_input)
    }

    /// Drops all predictions.
    pub(crate) fn reset(&mut self) {
        self.miss_keys(self.log.len());
        self.log.clear();
        self.learned.late.clear();
        self.base.field = Field::default();
        self.secrecy.note_end();
        self.unexplained_at = None;
    }

    /// Judges the keys by the newest screen, and returns it with what they will do where that is to be
    /// seen.
    pub(crate) fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        if screen.size() != self.base.screen.size() {
            self.reset();
            self.secrecy.note_nothing();
        }
        let may_draw = self.has(Mechanism::DrawnCursors);
        let drawn_cursor = DrawnCursor::find(screen).filter(|_| may_draw);
        let mut frame = drawn_cursor.map_or_else(|| screen.clone(), |drawn| drawn.lift(screen));
        self.base.has_drawn_cursor = drawn_cursor.is_some();
        self.judge(now, &frame);
        let Network { srtt, send_interval, .. } = self.network;
        self.policy.handle_srtt(srtt, send_interval, self.is_active());
        self.show(now, &mut frame);
        if let Some(drawn) = drawn_cursor {
            drawn.draw(&mut frame);
        }
        self.due = self.next_look(now);
        frame
    }

    /// Returns whether there is any key on its way.
    pub(crate) fn is_active(&self) -> bool {
        !self.log.is_empty()
    }

    /// Returns when a key will have waited so long that it matters.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Lays over the frame what the keys will do, as far as that is to be seen.
    fn show(&mut self, now: Instant, frame: &mut Screen) {
        let Forecast { mut canvas, count, oldest, .. } = self.forecast();
        let age = oldest.map_or(Duration::ZERO, |at| now.saturating_since(at));
        if count > 0 && self.policy.shows_after(age) {
            if self.has(Mechanism::Colors) {
                self.learned.palettes.paint(&self.base.field, &mut canvas);
            }
            canvas.draw(frame, self.policy.underlines());
            self.log.note_shown(count);
        }
        self.policy.handle_wait(age);
    }

    /// Simulates the keys as far as they are trusted.
    fn forecast(&self) -> Forecast<'_> {
        let trust = self.trust();
        let wrap = self.base.field.wrap.filter(|wrap| wrap.is_shown(trust.threshold));
        let goes_on = wrap.is_some();
        let scrolls = wrap.is_some_and(|wrap| wrap.scrolls);
        let pending = self.pending_keys();
        let mut simulation = pending.with(Habits { goes_on, scrolls, ..pending.habits }).start();
        let gate = LazyCell::new(|| [false, true].map(|is_ahead| self.may_show(is_ahead)));
        let (exits, editor) = (&self.learned.exits, self.base.field.context.strong);
        let (mut count, mut oldest, mut stop) = (0, None, None);
        // Where such a key does nothing, it may have called a program that reads without echo.
        let mut has_idled = false;
        let mut events = self.log.iter().peekable();
        while let Some(event) = events.next() {
            let may_show = || {
                let is_safe = !has_idled || self.base.field.line.may_show();
                is_safe && gate[usize::from(simulation.motions.has_climbed())]
            };
            stop = self.withheld(event, &simulation, &trust, may_show);
            let is_held = self.base.is_held && self.log.len() == 1;
            if is_held || exits.may_end(editor, event.key, events.peek().map(|next| next.key)) {
                stop = Some(Stop::Distrusted);
            }
            if stop.is_some() {
                break;
            }
            match simulation.apply(event.key) {
                Effect::Unknown => {
                    stop = Some(Stop::UnknownEffect);
                    break;
                }
                Effect::Nothing => has_idled |= !matches!(event.key, Key::Text(_)),
                Effect::Drawn => oldest = oldest.or(Some(event.at)),
            }
            count += 1;
        }
        let end = simulation.end();
        if let Some(at) = simulation.flash.filter(|_| pending.habits.flashes) {
            simulation.canvas.cursor = at;
        }
        self.learned.counters.draw(&self.base, end, &mut simulation.canvas);
        Forecast { canvas: simulation.canvas, count, oldest, stop }
    }

    /// Returns why a key is not to be shown, though its effect may be known; `simulation` is how it finds the field, and
    /// `may_show` the gate for a character there.
    fn withheld(
        &self,
        event: &Event,
        simulation: &Simulation<'_>,
        trust: &Trust<'_>,
        may_show: impl FnOnce() -> bool,
    ) -> Option<Stop> {
        let is_motion = simulation.motion(event.key).is_some();
        // A step that the screen shows already would be taken twice.
        if event.is_doubtful && (is_motion || !self.base.field.certainty.is_confirmed()) {
            return Some(Stop::Doubtful);
        }
        let is_text = matches!(event.key, Key::Text(_));
        // On a screen that nothing explains another question may stand already.
        if is_text && self.unexplained_at.is_some() && !event.shown {
            return Some(Stop::UnexplainedScreen);
        }
        // A program that has read it and shows nothing may have left the prompt behind on which it is played now.
        let is_late = event.input <= self.base.arrived && !event.shown;
        if is_text && (is_late && !self.base.field.line.may_show() || !may_show()) {
            return Some(Stop::MayBeSecret);
        }
        let (context, column) = (self.base.field.context, simulation.canvas.cursor.column);
        let may_break = || self.learned.wraps.may_break(context, column);
        if is_text && (simulation.is_near_edge() || may_break()) {
            return Some(Stop::Distrusted);
        }
        let class = simulation.class_of(event.key);
        let is_trusted = trust.shows(class);
        if !is_motion && !is_trusted {
            return Some(Stop::Distrusted);
        }
        let is_elsewhere = simulation.motions.has_climbed() && !self.base.shows_mode();
        (!is_motion && is_elsewhere).then_some(Stop::OtherRow)
    }

    /// Returns why the newest key is shown or not; `None` where no key is on its way.
    pub(crate) fn explain(&self, now: Instant) -> Option<Explanation> {
        let last = self.log.len().checked_sub(1)?;
        let key = self.log.iter().nth(last)?.key;
        let Forecast { count, oldest, stop, .. } = self.forecast();
        let age = oldest.map_or(Duration::ZERO, |at| now.saturating_since(at));
        let (trust, mut simulation) = (self.trust(), self.pending_keys().start());
        let unknown = self
            .log
            .iter()
            .take(last)
            .position(|event| simulation.apply(event.key) == Effect::Unknown);
        let is_motion = simulation.motion(key).is_some();
        let class = simulation.class_of(key);
        let score = trust.score(class);
        let may_be_seen = self.may_show(simulation.motions.has_climbed());
        let has_suggestion = simulation.has_suggestion();
        let effect = if unknown.is_some() { Effect::Unknown } else { simulation.apply(key) };
        let navigation = self.navigation();
        Some(Explanation {
            waiting: last - count.min(last),
            stop: stop.filter(|_| count <= last),
            reasons: vec![
                Reason::Simulation { behind: unknown.map(|index| last - index), effect },
                Reason::Secrecy { may_be_seen, has_echoed: self.base.field.line.may_show() },
                Reason::Context {
                    right: score.right,
                    wrong: score.wrong,
                    threshold: trust.threshold,
                    is_trusted: trust.shows(class),
                },
                Reason::Suggestion { stands: has_suggestion },
                Reason::Wrap {
                    crosses: simulation.crosses,
                    is_known: self.base.field.wrap.is_some(),
                },
                Reason::Navigation { is_motion, is_known_place: navigation.is_some() },
                Reason::DrawnCursor { is_found: self.base.has_drawn_cursor },
                Reason::Ruler { follows: navigation.is_some_and(|it| it.ruler.is_known()) },
                Reason::History {
                    is_step: class.is_recall(),
                    is_expected: effect == Effect::Drawn,
                },
                Reason::Late {
                    wait: self.echo_timeout(),
                    is_awaited: !self.learned.late.is_empty(),
                },
                Reason::Policy { shows: self.policy.shows_after(age) },
            ],
        })
    }

    /// Learns which characters have ended the mode of an editor, if any have.
    fn note_exit(&mut self, screen: &Screen, is_gone: bool) {
        if let Some(pair) = Pair::find(&self.pending_keys(), screen, is_gone) {
            self.learned.exits.learn(self.base.field.context.strong, pair);
        }
    }

    /// Returns whether a character may be shown before its echo, in the row of the input or ahead of the screen in another
    /// one.
    fn may_show(&self, is_ahead: bool) -> bool {
        let may_be_known =
            |prompt: &Prompt| !self.echo_off.is_off() && self.has(prompt.sort.mechanism());
        let spot = Spot {
            line: self.base.field.line,
            prompt: self.base.field.prompt_name().filter(may_be_known),
            is_ahead,
            is_vouched: self.base.field.is_vouched(&self.base.screen),
            screen: &self.base.screen,
        };
        self.secrecy.may_show(&spot)
    }

    /// Returns the keys on their way and the base that they are played on.
    fn pending_keys(&self) -> PendingKeys<'_> {
        PendingKeys {
            base: &self.base,
            log: &self.log,
            arrived: self.network.arrived,
            habits: self.habits(),
            guide: self.navigation().map(|it| it as &dyn Guide),
        }
    }

    /// Returns what is known of motions of the cursor here.
    fn navigation(&self) -> Option<&Navigation> {
        self.learned.navigations.find(&self.base.field.place).filter(|_| self.base.may_navigate())
    }

    /// Returns what is believed of keys here.
    fn trust(&self) -> Trust<'_> {
        Trust {
            base: &self.base,
            contexts: &self.learned.contexts,
            threshold: self.policy.threshold(),
            hides_input: self.hides_input(),
            is_echo_off: self.echo_off.is_off(),
            begins: self.base.field.prompt_name().is_some_and(|it| self.secrecy.begins(it)),
        }
    }

    /// Returns what a field is read by.
    const fn reader(&self) -> Reader<'_> {
        Reader { tty: self.tty, wraps: &self.learned.wraps, mechanisms: self.settings.mechanisms }
    }

    fn habits(&self) -> Habits<'_> {
        let (trust, wrap) = (self.trust(), self.base.field.wrap);
        let mostly = |class| trust.score(class).right > trust.score(class).wrong;
        Habits {
            mechanisms: self.settings.mechanisms,
            overwrites: self.settings.overwrite,
            takes_commands: trust.takes_commands(),
            goes_on: wrap.is_some(),
            is_lazy: wrap.is_some_and(|wrap| wrap.is_lazy),
            scrolls: wrap.is_some(),
            keeps_hint: mostly(Class::Hint),
            regrows: mostly(Class::Regrowth),
            flashes: mostly(Class::Flash),
            lines: self.lines(),
        }
    }

    /// Returns which line editor asks, if it may be one that keeps lines.
    fn editor(&self) -> Option<history::Name> {
        let may_keep = self.has(Mechanism::History) && !self.hides_input();
        self.learned.history.name(&self.base).filter(|_| may_keep)
    }

    /// Returns the lines that it gives back, as far as they are known.
    fn lines(&self) -> &[Past] {
        self.editor().map_or(&[], |name| self.learned.history.lines(name))
    }

    /// Returns how long after its echo ack an answer may still come.
    fn echo_timeout(&self) -> Duration {
        let timeout = self.learned.echo_timeouts.find(self.base.field.context);
        if self.has(Mechanism::Lateness) {
            timeout.duration()
        } else {
            EchoTimeout::default().duration()
        }
    }

    /// Returns how long after its echo ack the oldest key is not taken back yet. The echo of a character that is seen may
    /// have missed the frame with that ack by so little that it comes with the next frame.
    fn miss_timeout(&self) -> Duration {
        let is_seen = |event: &Event| event.shown && matches!(event.key, Key::Text(_));
        let may_come =
            self.base.field.certainty.is_confirmed() && self.log.front().is_some_and(is_seen);
        let next_frame = if may_come { self.network.send_interval } else { Duration::ZERO };
        self.echo_timeout().max(MISS_TIMEOUT_MIN).max(next_frame)
    }

    /// Returns when to look again though nothing has come.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        let due_at = self.log.front().and_then(|event| event.due_at);
        let late = due_at.map(|at| at + self.echo_timeout());
        let given_up = due_at.map(|at| at + self.miss_timeout());
        let unexplained = self.unexplained_at.map(|at| at + UNEXPLAINED_TIMEOUT);
        let glitch = self.log.front().and_then(|event| Policy::next_glitch(event.at, now));
        [late, given_up, unexplained, glitch].into_iter().flatten().filter(|at| *at > now).min()
    }
}

/// Replaces the parts of a cluster that were read at once (an input method commits it so) by keys of unknown effect. The cluster is
/// then shown as a whole, after its echo.
fn hide_clusters(keys: &mut [Key]) {
    let text = |key: &Key| match key {
        Key::Text(c) => Some(*c),
        _ => None,
    };
    if keys.iter().filter_map(text).all(|c| c.is_ascii()) {
        return;
    }
    for run in keys.chunk_by_mut(|a, b| text(a).is_some() && text(b).is_some()) {
        let typed: String = run.iter().filter_map(text).collect();
        let mut rest = run;
        for cluster in clusters(&typed) {
            let len = cluster.chars().count().min(rest.len());
            let (parts, others) = rest.split_at_mut(len);
            if parts.len() > 1 {
                parts.fill(Key::Other);
            }
            rest = others;
        }
    }
}

#[cfg(test)]
mod tests;
