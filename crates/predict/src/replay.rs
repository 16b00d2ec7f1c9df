//! The engine that re-simulates: it keeps the keys whose effect the host has not shown yet, and tries them
//! anew on each screen that comes.
//!
//! A screen shows how far the host has come: the longest run of keys whose simulation it agrees with is
//! *settled*, without waiting for an acknowledgment. What is left is simulated on the newest screen, so
//! that text that scrolls or moves takes its predictions along. A key of unknown effect (Enter, Tab, a
//! command) is a *barrier*: what is typed behind it waits until the screen shows what it did.
//!
//! What is seen is a matter of trust, learned for each kind of prompt ([`context`]): the first key
//! at a prompt like one where keys came true before is seen at once, and at others none is before one came
//! true.

mod align;
mod answer;
mod answers;
mod canvas;
mod class;
mod context;
mod convention;
mod expect;
mod explore;
mod field;
mod grace;
mod history;
mod late;
mod latency;
mod layout;
mod lesson;
mod log;
mod mask;
mod navigation;
mod newline;
mod paint;
mod recall;
mod ruler;
mod silence;
mod simulate;
mod suggest;
mod trust;
mod wrap;

use rove_terminal::{Screen, Size};
use rove_units::{Duration, Instant};

use self::answers::Answers;
use self::canvas::{Canvas, mix};
use self::class::Class;
use self::context::Contexts;
use self::convention::Conventions;
use self::expect::Watch;
use self::field::{Field, Kind, Reader};
use self::grace::Grace;
use self::history::Histories;
use self::late::Late;
use self::latency::Latency;
use self::log::{Event, Log};
use self::mask::Masks;
use self::navigation::{Navigation, Navigations, Stride};
use self::newline::{Breaks, Newlines};
use self::paint::Palettes;
use self::recall::{Pasted, Sheet};
use self::silence::Silence;
use self::simulate::{Effect, Habits, Simulation};
use self::wrap::Beyond;
use crate::cooked::Cooked;
use crate::engine::{InputNum, Network};
use crate::keystroke::{Key, Keystrokes};
use crate::mechanism::{Mechanism, Mechanisms};
use crate::policy::{Policy, Prediction};
use crate::secrecy::{Prompt, Secrecy, Spot};
use crate::tty::Tty;

/// How long predictions are still seen on a screen that nothing explains, as long as the host has not
/// acknowledged their keys. Chosen: longer than a program takes to draw in several pieces.
const HOLD: Duration = Duration::from_millis(100);

/// How long after its echo ack a key is not taken back yet, where the host is mostly faster. Chosen: some keys
/// take a shell longer than others, and a wrong verdict costs more than a late one.
const PATIENCE: Duration = Duration::from_millis(80);

/// What the oldest keys will do, as far as they are trusted.
struct Forecast<'a> {
    canvas: Canvas<'a>,
    /// How many they are.
    count: usize,
    /// When the first of them was typed that draws anything.
    oldest: Option<Instant>,
}

/// The engine that re-simulates.
#[derive(Clone, Debug)]
pub struct Replay {
    policy: Policy,
    mechanisms: Mechanisms,
    /// Whether the user wants characters to replace those under the cursor.
    overwrites: bool,
    keystrokes: Keystrokes,
    log: Log,
    /// What the kernel echoes, where the server tells.
    cooked: Cooked,
    network: Network,
    /// The host's terminal, where it is told.
    tty: Option<Tty>,
    /// The screen on which the first key of the log acts.
    ground: Screen,
    /// The last input that may show on it.
    ground_input: InputNum,
    /// The last whose answer certainly does.
    ground_acked: InputNum,
    /// The last that was taken as answered without its effect having been recognized.
    unsure: InputNum,
    /// Where it acts.
    field: Field,
    contexts: Contexts,
    palettes: Palettes,
    masks: Masks,
    /// What may still be echoed.
    late: Late,
    /// Whether what is typed looks for something, and is shown elsewhere than at the cursor.
    is_searching: bool,
    silence: Silence,
    secrecy: Secrecy,
    /// Whether keys that came true since the ground was taken explain where its cursor is.
    is_explained: bool,
    conventions: Conventions,
    histories: Histories,
    /// The line that is being entered.
    sheet: Option<Sheet>,
    pasted: Pasted,
    /// Whether no key was answered since a line was entered.
    is_fresh: bool,
    /// Whether the last key was Escape.
    is_behind_escape: bool,
    navigations: Navigations,
    newlines: Newlines,
    answers: Answers,
    /// The key whose answer is being looked at.
    watch: Option<Watch>,
    /// A name of the keys that were answered by nothing, as those are that begin a command.
    prefix: u64,
    /// The row of a line of input that a key has opened.
    line_row: Option<u16>,
    /// The name of the bytes of a key that has begun.
    spelling: u64,
    /// The newest input that had arrived when the last screen left on which the cursor or its row was another than before.
    moved_input: InputNum,
    /// How the cursor has come to where the first key of the log acts.
    stride: Stride,
    latency: Latency,
    /// Up to which input the host was heard to have the keys, and since when.
    heard: (InputNum, Instant),
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
            mechanisms: prediction.mechanisms,
            overwrites: prediction.overwrite,
            keystrokes: Keystrokes::default(),
            log: Log::default(),
            cooked: Cooked::new(),
            network: Network::UNHEARD,
            tty: None,
            ground: Screen::blank(size),
            ground_input: InputNum::default(),
            ground_acked: InputNum::default(),
            unsure: InputNum::default(),
            field: Field::default(),
            contexts: Contexts::default(),
            palettes: Palettes::default(),
            masks: Masks::default(),
            late: Late::default(),
            is_searching: false,
            silence: Silence::default(),
            secrecy: Secrecy::default(),
            is_explained: false,
            conventions: Conventions::default(),
            histories: Histories::default(),
            sheet: None,
            pasted: Pasted::default(),
            is_fresh: false,
            is_behind_escape: false,
            navigations: Navigations::default(),
            newlines: Newlines::default(),
            answers: Answers::default(),
            watch: None,
            prefix: 0,
            line_row: None,
            spelling: 0,
            moved_input: InputNum::default(),
            stride: Stride::default(),
            latency: Latency::default(),
            heard: (InputNum::default(), Instant::from_millis(0)),
            unexplained_at: None,
            due: None,
        }
    }

    /// Takes keys that were read at once.
    pub(crate) fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        self.cooked.handle_keys(now, sent, keys);
        for &byte in keys {
            self.spelling = mix([self.spelling, byte.into()]);
            if let Some(key) = self.keystrokes.push(byte) {
                self.handle_key(now, sent, key);
            }
        }
        if let Some(key) = self.keystrokes.flush() {
            self.handle_key(now, sent, key);
        }
    }

    fn handle_key(&mut self, now: Instant, sent: InputNum, key: Key) {
        if key == Key::Neutral {
            self.spelling = 0;
            return;
        }
        // What is hidden is not kept either.
        let spelling = core::mem::take(&mut self.spelling);
        let (key, spelling) = if self.hides_input() { (Key::Other, 0) } else { (key, spelling) };
        self.silence.handle_key(key);
        // Escape makes another key of the next, as Alt does, or ends the mode in which it was what it is.
        // Where the screen shows a mode it ends that.
        let is_alt = key == Key::Escape && !self.shows_mode();
        let is_behind_escape = core::mem::replace(&mut self.is_behind_escape, is_alt);
        let key = if is_behind_escape && key != Key::Escape { key.with_alt() } else { key };
        if key == Key::PasteEnd && self.has(Mechanism::Paste) && self.log.end_paste() {
            return;
        }
        if self.log.is_empty() {
            self.observe_recall();
        }
        self.pasted.handle_key(key, sent.next());
        let event = Event {
            key,
            spelling,
            input: sent.next(),
            at: now,
            due_at: None,
            shown: false,
            is_doubtful: false,
        };
        self.log.push(event);
        if self.log.is_lost() {
            self.histories.miss_lines();
        }
    }

    /// Takes what the network has told.
    pub(crate) fn handle_network(&mut self, network: Network) {
        self.cooked.handle_network(network);
        self.network = network;
    }

    /// Takes what the host's terminal is like, where it is told. What is typed for nobody to see is
    /// forgotten.
    pub(crate) fn handle_tty(&mut self, tty: Option<Tty>) {
        // Without it what the kernel echoes is left to the rest, and what it hides is hidden all the same.
        let is_for_kernel = |tty: &Tty| self.has(Mechanism::KernelEcho) || !tty.echoes_lines();
        self.cooked.handle_tty(tty.filter(is_for_kernel));
        if tty.is_some_and(Tty::hides_input) && !self.log.is_empty() {
            let ground = self.ground.clone();
            self.note_line();
            self.note_taken_lines(self.log.len(), &ground);
        }
        self.tty = tty;
        if self.hides_input() {
            self.log.forget_texts();
            self.late.clear();
        }
    }

    /// Returns whether the engine has a mechanism.
    const fn has(&self, mechanism: Mechanism) -> bool {
        self.mechanisms.contains(mechanism)
    }

    fn hides_input(&self) -> bool {
        self.tty.is_some_and(Tty::hides_input)
    }

    /// Drops all predictions.
    pub(crate) fn reset(&mut self) {
        self.cooked.reset();
        self.miss_keys(self.log.len());
        self.log.clear();
        self.late.clear();
        self.field = Field::default();
        self.secrecy.note_end();
        self.watch = None;
        self.unexplained_at = None;
    }

    /// Judges the keys by the newest screen, and returns it with what they will do where that is to be
    /// seen.
    pub(crate) fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        if screen.size() != self.ground.size() {
            self.reset();
        }
        if let Some(frame) = self.cooked.frame(now, screen, &mut self.policy) {
            self.stand_aside(now, screen);
            return frame;
        }
        self.answers.note_screen(screen.alternate_screen());
        self.judge(now, screen);
        self.policy.handle_send_interval(self.network.send_interval, self.is_active());
        let mut frame = screen.clone();
        self.show(now, &mut frame);
        self.due = self.next_look(now);
        frame
    }

    /// Returns whether there is any key on its way.
    pub(crate) fn is_active(&self) -> bool {
        !self.log.is_empty() || self.cooked.is_active()
    }

    /// Returns when a key will have waited so long that it matters.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Keeps up with keys whose effect is not a matter of guessing.
    fn stand_aside(&mut self, now: Instant, screen: &Screen) {
        self.policy.handle_send_interval(self.network.send_interval, self.is_active());
        self.log.handle_echo_ack(now, self.network.echo_ack);
        self.note_line();
        self.note_taken_lines(self.log.due(), screen);
        self.log.settle(self.log.due());
        self.late.clear();
        self.field = Field::default();
        self.take_ground(now, screen);
        self.due = self.cooked.poll_timeout();
    }

    /// Lays over the frame what the keys will do, as far as that is to be seen.
    fn show(&mut self, now: Instant, frame: &mut Screen) {
        let expected = self.expected();
        let limit = expected.as_ref().map_or(usize::MAX, |expected| expected.index);
        let Forecast { mut canvas, count, oldest } = self.forecast(limit);
        let expected = expected.filter(|_| count == limit);
        let oldest = oldest.or(expected.as_ref().map(|expected| expected.at));
        let age = oldest.map_or(Duration::ZERO, |at| now.saturating_since(at));
        let count = count + usize::from(expected.is_some());
        let is_seen = count > 0 && self.policy.shows_after(age);
        if is_seen {
            self.paint(&mut canvas);
            canvas.draw(frame, self.policy.underlines());
            self.log.note_shown(count);
        }
        if let Some(expected) = expected.filter(|_| is_seen) {
            expected.draw(&self.ground, frame, self.policy.underlines());
            self.suppose(expected, |replay| replay.show(now, frame));
        }
        self.policy.handle_wait(age);
    }

    /// Simulates the keys as far as they are trusted, so many at most.
    fn forecast(&self, limit: usize) -> Forecast<'_> {
        let habits = Habits { beyond: self.seen_beyond(), ..self.habits() };
        let mut simulation = self.simulation_with(habits);
        let (mut count, mut oldest) = (0, None);
        for event in self.log.iter().take(limit) {
            let is_motion = simulation.motion(event.key).is_some();
            // A step that the screen shows already would be taken twice.
            let is_doubtful = event.is_doubtful && (is_motion || self.field.confirmed == 0);
            if is_doubtful {
                break;
            }
            // On a screen that nothing explains another question may stand already.
            let is_new = self.unexplained_at.is_some() && !event.shown;
            let is_text = matches!(event.key, Key::Text(_));
            if is_text && (is_new || !self.may_show(&simulation)) {
                break;
            }
            let class = simulation.class_of(event.key);
            let is_trusted = match class {
                Class::Newline => self.trusts_newline(&simulation),
                Class::Text if !simulation.breaks.is_empty() => self.trusts_behind(&simulation),
                // An editor that has indented a row may take all of that back.
                Class::Unindent if !simulation.breaks.is_empty() => self.has_shown(class),
                _ => {
                    self.trusts_key(class, event.key) || self.trusts_convention(class, &simulation)
                }
            };
            if !is_motion && (!is_trusted || simulation.has_climbed && !self.shows_mode()) {
                break;
            }
            match simulation.apply(event.key) {
                Effect::Unknown => break,
                Effect::Nothing => {}
                Effect::Drawn => oldest = oldest.or(Some(event.at)),
            }
            count += 1;
        }
        Forecast { canvas: simulation.canvas, count, oldest }
    }

    /// Returns whether a character may be shown before its echo. A star in its place may.
    fn may_show(&self, simulation: &Simulation<'_>) -> bool {
        let may_be_known =
            |prompt: &Prompt| !self.silence.is_silent() && self.has(prompt.sort.mechanism());
        let spot = Spot {
            line: self.field.line,
            prompt: self.field.prompt().filter(may_be_known),
            is_ahead: !simulation.breaks.is_empty(),
            screen: &self.ground,
        };
        self.mask().is_some() || self.secrecy.may_show(&spot)
    }

    /// Returns the field as the first key of the log finds it.
    fn simulation(&self) -> Simulation<'_> {
        self.simulation_with(self.habits())
    }

    fn simulation_with<'a>(&'a self, habits: Habits<'a>) -> Simulation<'a> {
        Simulation::new(&self.ground, &self.field, habits).roaming(self.navigation(), self.stride)
    }

    /// Returns what is known of motions of the cursor here.
    fn navigation(&self) -> Option<&Navigation> {
        let may_roam = !self.field.is_line() && !self.field.is_secret && !self.is_searching;
        self.navigations.of(self.field.place).filter(|_| may_roam)
    }

    /// Returns whether an editor shows that it takes text for text, in whichever row.
    const fn shows_mode(&self) -> bool {
        matches!(self.field.kind, Kind::Insert | Kind::Replace)
    }

    /// Returns what a field is read by.
    const fn reader(&self) -> Reader<'_> {
        Reader { tty: self.tty, contexts: &self.contexts, mechanisms: self.mechanisms }
    }

    fn habits(&self) -> Habits<'_> {
        let lesson = self.field.lesson.as_ref();
        Habits {
            mechanisms: self.mechanisms,
            overwrites: self.overwrites,
            takes_commands: self.takes_commands(),
            has_prefix: !self.knows(Class::ControlLeft) || !self.knows(Class::ControlHome),
            suggests: self.field.suggested.is_some() || self.knows(Class::Suggestion),
            regrows: self.regrows(),
            wrap: lesson.map(|lesson| &lesson.wrap),
            beyond: if lesson.is_some() { Beyond::All } else { Beyond::Nothing },
            scrolls: lesson.is_some_and(|lesson| lesson.scrolls),
            mask: self.mask(),
            learned: self.learned(),
            recall: self.recall(),
            breaks: self.newline().map_or(Breaks::Unknown, Breaks::Known),
        }
    }

    /// Returns how long after its echo ack an answer may still come.
    fn wait(&self) -> Duration {
        let grace = self.contexts.weak(self.field.context).grace;
        if self.has(Mechanism::Lateness) { grace.wait() } else { Grace::default().wait() }
    }

    /// Returns how long after its echo ack a key is not taken back yet.
    fn patience(&self) -> Duration {
        self.wait().max(PATIENCE)
    }

    /// Returns when to look again though nothing has come.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        let due_at = self.log.front().and_then(|event| event.due_at);
        let late = due_at.map(|at| at + self.wait());
        let given_up = due_at.map(|at| at + self.patience());
        let hold = self.unexplained_at.map(|at| at + HOLD);
        let glitch = self.log.front().and_then(|event| Policy::next_glitch(event.at, now));
        [late, given_up, hold, glitch].into_iter().flatten().filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests;
