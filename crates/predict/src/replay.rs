//! The replay engine keeps the keys whose effect the host has not shown, and simulates them on each new screen.
//!
//! A screen shows how many keys the host has processed. The longest run of keys whose simulation agrees with the screen
//! is *confirmed*. This holds even before the echo ack of these keys (the server's statement that programs had time to
//! answer). The keys after that run are simulated on the newest screen, so that predictions move with text that
//! scrolls. A key of unknown effect (Enter, Tab, a command) is a *barrier*. The effects of later keys are not shown
//! until a screen shows the effect of the barrier.
//!
//! A prediction is shown if similar predictions were right often enough at this kind of prompt ([`context`]). A
//! character also needs a permission of [`crate::secrecy`].

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
mod entered_lines;
mod evidence;
mod exit;
mod field;
mod forecast;
mod history;
mod history_cursor;
mod id;
mod input_track;
mod judge;
mod late;
mod latency;
mod layout;
mod learn;
mod learned;
mod log;
mod lost_keys;
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
mod state;
mod timeline;
mod trust;
mod type_ahead;
mod wrap;
mod wrap_probe;

use rove_terminal::{InputNum, Key, Keystrokes, Screen, Size, Tty, clusters};
use rove_units::{Duration, Instant};

pub use self::class::Effect;
use self::drawn_cursor::DrawnCursor;
use self::field::Field;
use self::forecast::{Forecast, explain, has_no_secret};
use self::learn::learn;
use self::log::Event;
use self::state::State;
use crate::engine::Engine;
use crate::mechanism::Mechanism;
use crate::network::Network;
use crate::policy::Prediction;
use crate::prompt_memory::PromptMemory;
use crate::reason::Explanation;

/// How long after a key of another client the user's own keys have an unknown effect. Chosen: longer than the 1.5 s
/// within which an echo is attributed to a key. So no echo of the other client's keys is attributed to the user's.
const OTHERS_KEYS_HOLD: Duration = Duration::from_secs(2);

/// Fewest characters in one read that are treated as a paste if the terminal has not marked them as one. Chosen: twice
/// the most characters in any read of typing in 100 recordings.
const PASTE_MIN: usize = 8;

/// The engine that simulates the pending keys again on each new screen.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    keystrokes: Keystrokes,
    state: State,
    /// Until when the user's keys have an unknown effect, because another client of the session has typed.
    unknown_until: Option<Instant>,
    /// When to make a new frame even if no input arrives. `None`: only input requires a frame.
    due: Option<Instant>,
}

impl Replay {
    pub(crate) fn new(prediction: Prediction, size: Size) -> Self {
        let (keystrokes, state) = (Keystrokes::default(), State::new(prediction, size));
        Self { keystrokes, state, unknown_until: None, due: None }
    }

    fn handle_key(&mut self, now: Instant, sent: InputNum, key: Key, is_pasted: bool) {
        if key == Key::Neutral {
            self.state.secrecy.note_report();
            return;
        }
        let is_unknown = self.unknown_until.is_some_and(|until| now < until);
        // The engine does not even store characters that the host's terminal hides.
        let key = if self.state.hides_input() || is_unknown { Key::Other } else { key };
        self.state.echo_off.handle_key(key);
        // Escape changes the next key, as Alt does. But in an editor that shows its mode, Escape ends the mode.
        let is_alt = key == Key::Escape && !self.state.base.shows_mode();
        let follows_escape = self.state.log.note_escape(is_alt);
        let key = if follows_escape && key != Key::Escape { key.with_alt() } else { key };
        if key == Key::PasteEnd && self.state.has(Mechanism::Paste) && self.state.log.end_paste() {
            return;
        }
        if self.state.log.is_empty() {
            entered_lines::observe_step(&mut self.state);
        }
        let event = Event {
            key,
            input: sent.next(),
            at: now,
            due_at: None,
            shown: false,
            is_doubtful: false,
            is_overdue: false,
            is_pasted,
        };
        let was_lost = self.state.log.is_lost();
        self.state.log.push(event);
        if self.state.log.is_lost() {
            self.state.secrecy.note_barrier(sent.next());
            self.state.lost_keys.follow(self.state.base.field.prompt_name(), key);
            entered_lines::note_lost(&mut self.state, key, !was_lost);
        }
    }

    /// Draws the trusted effects of pending keys over the frame, if the policy shows any. Marks these keys as shown.
    fn show(&mut self, now: Instant, frame: &mut Screen) {
        let Forecast { mut canvas, count, oldest, .. } = Forecast::of(&self.state);
        let age = oldest.map_or(Duration::ZERO, |at| now.saturating_since(at));
        if count > 0 && self.state.policy.shows_after(age) {
            if self.state.has(Mechanism::Colors) {
                self.state.learned.palettes.paint(&self.state.base.field, &mut canvas);
            }
            canvas.draw(frame, self.state.policy.underlines());
            self.state.log.note_shown(count);
        }
        self.state.policy.handle_wait(age);
    }
}

impl Engine for Replay {
    fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        let mut read = Vec::with_capacity(keys.len());
        let keystrokes = keys.iter().filter_map(|&byte| self.keystrokes.push(byte));
        read.extend(keystrokes.map(|it| it.key));
        read.extend(self.keystrokes.flush().map(|it| it.key));
        hide_clusters(&mut read);
        let is_text = |key: &&Key| matches!(key, Key::Text(_));
        let is_pasted = read.iter().filter(is_text).count() >= PASTE_MIN;
        for key in read {
            self.handle_key(now, sent, key, is_pasted);
        }
    }

    fn handle_network(&mut self, network: Network) {
        self.state.network = network;
    }

    /// Stores the modes and the server's statement. If the modes hide typed characters, erases those in memory.
    fn handle_tty(&mut self, tty: Option<Tty>) {
        if tty.is_some_and(Tty::hides_input) && !self.state.log.is_empty() {
            let screen = self.state.base.screen.clone();
            let result = self.state.match_screen(&screen);
            let sheet = result.barrier.and_then(|it| entered_lines::sheet(&self.state, &it));
            if sheet.is_some() {
                self.state.learned.history.sheet = sheet;
            }
            let count = self.state.log.len();
            entered_lines::note_taken(&mut self.state, count, &screen);
        }
        self.state.tty = tty;
        let stated = tty.and_then(|tty| tty.prompt);
        self.state
            .secrecy
            .handle_statement(stated.filter(|_| self.state.has(Mechanism::Statements)));
        if self.state.hides_input() {
            self.state.log.forget_texts();
            self.state.lost_keys.forget_texts();
            self.state.learned.late.clear();
        }
    }

    fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        self.state.secrecy.set_memory(memory);
    }

    fn prompt_memory(&self) -> Option<&PromptMemory> {
        self.state.secrecy.memory()
    }

    fn reset(&mut self) {
        let count = self.state.log.len();
        entered_lines::note_missed(&mut self.state, count);
        let prompt = self.state.base.field.prompt_name();
        self.state.log.iter().for_each(|event| self.state.lost_keys.push(prompt, event.key));
        // Keys that the host has not answered may start a program that asks for a secret.
        if let Some(lost) = self.state.log.lose() {
            self.state.secrecy.note_barrier(lost);
        }
        self.state.learned.late.clear();
        self.state.base.field = Field::default();
        self.state.secrecy.note_reset();
        self.state.secrecy.note_nothing();
        self.state.unexplained_at = None;
    }

    fn handle_others_keys(&mut self, now: Instant) {
        self.reset();
        self.unknown_until = Some(now + OTHERS_KEYS_HOLD);
    }

    fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        if screen.size() != self.state.base.screen.size() {
            self.reset();
        }
        let may_draw = self.state.has(Mechanism::DrawnCursors);
        let drawn_cursor = DrawnCursor::find(screen).filter(|_| may_draw);
        let mut frame = drawn_cursor.map_or_else(|| screen.clone(), |drawn| drawn.lift(screen));
        self.state.base.has_drawn_cursor = drawn_cursor.is_some();
        learn(&mut self.state, now, &frame);
        let Network { srtt, send_interval, .. } = self.state.network;
        self.state.policy.handle_srtt(srtt, send_interval, self.is_active());
        self.show(now, &mut frame);
        if let Some(drawn) = drawn_cursor {
            drawn.draw(&mut frame);
        }
        self.due = self.state.next_look(now);
        debug_assert_eq!(frame.size(), screen.size(), "a frame has the size of its screen");
        debug_assert!(self.due.is_none_or(|due| due > now), "the next look lies ahead");
        frame
    }

    fn is_active(&self) -> bool {
        !self.state.log.is_empty()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    fn uses_tty(&self) -> bool {
        true
    }

    fn uses_prompt_memory(&self) -> bool {
        !self.state.policy.is_experimental()
    }

    fn has_no_secret(&self) -> bool {
        // An incomplete key is not in the log yet, and may be part of a secret.
        !self.keystrokes.is_within_key() && has_no_secret(&self.state)
    }

    fn explain(&self, now: Instant) -> Option<Explanation> {
        explain(&self.state, now)
    }
}

/// Replaces grapheme clusters of several code points, which input methods send in one read, by keys of unknown effect.
/// The user sees the whole cluster when the host echoes it.
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
