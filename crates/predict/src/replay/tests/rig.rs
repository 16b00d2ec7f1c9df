//! A user with an engine, a path, and a host with a program, all in virtual time.

use core::ops::Range;

use rove_terminal::{ClusterWidths, InputNum, Screen, Size, Terminal, Tty, UserTerminal};
use rove_units::{Duration, Instant};

use crate::engine::Engine;
use crate::network::Network;
use crate::policy::{Prediction, Preference};
use crate::replay::Replay;

/// A program on the host.
pub(super) trait Program {
    /// Returns the program's output at its start.
    fn start(&mut self) -> Vec<u8>;

    /// Returns the delay of the program's output for a byte, in milliseconds, and the output.
    fn answer(&mut self, key: u8) -> (u64, Vec<u8>);
}

/// A user with an engine, a host with a program, and the path between them.
pub(super) struct Rig {
    pub(super) engine: Replay,
    program: Box<dyn Program>,
    host: Terminal,
    now: Instant,
    /// The messages on the path, each with the time of its arrival.
    events: Vec<(Instant, Event)>,
    sent: u64,
    arrived: u64,
    acknowledged: u64,
    /// The frame that the user sees, and the newest screen of the host that has arrived (`screen`).
    pub(super) frame: Screen,
    screen: Screen,
    /// How often the user saw text left of the cursor that the host's screen neither had nor later got.
    pub(super) errors: usize,
    shown: Vec<String>,
    /// The time between two moments at which keys arrive, in milliseconds. If it is over 1, the host sends one screen
    /// for all keys of a moment, as after an outage.
    pub(super) batch: u64,
}

enum Event {
    Key(u64, u8),
    Output(Vec<u8>),
    EchoAck(u64),
    State(Screen, Network),
}

impl Rig {
    /// The delay of one direction, in milliseconds.
    pub(super) const ONE_WAY: u64 = 150;

    pub(super) fn new(program: impl Program + 'static) -> Self {
        Self::with(Preference::Always, program)
    }

    pub(super) fn with(preference: Preference, program: impl Program + 'static) -> Self {
        Self::sized(Size::new(40, 8).unwrap(), preference, program)
    }

    pub(super) fn sized(
        size: Size,
        preference: Preference,
        program: impl Program + 'static,
    ) -> Self {
        let mut rig = Self::wary(size, preference, program);
        rig.engine.state.secrecy.assume_echo();
        rig
    }

    /// Creates a rig whose engine shows nothing where a program may ask for a secret.
    pub(super) fn wary(
        size: Size,
        preference: Preference,
        mut program: impl Program + 'static,
    ) -> Self {
        let prediction = Prediction { preference, ..Prediction::default() };
        let mut host = Terminal::host(size);
        host.write(&program.start());
        let mut rig = Self {
            engine: Replay::new(prediction, size),
            program: Box::new(program),
            host,
            now: Instant::from_millis(1000),
            events: Vec::new(),
            sent: 0,
            arrived: 0,
            acknowledged: 0,
            frame: Screen::blank(size),
            screen: Screen::blank(size),
            errors: 0,
            shown: Vec::new(),
            batch: 1,
        };
        rig.publish();
        rig.run_until_idle();
        rig
    }

    /// Types keys, each in a separate message, and draws a frame with their predicted effects.
    pub(super) fn type_keys(&mut self, keys: &str) {
        let mut bytes = keys.as_bytes();
        while !bytes.is_empty() {
            // An escape sequence of three bytes is one key.
            let len = if bytes.starts_with(b"\x1b[") { 3 } else { 1 };
            let (key, rest) = bytes.split_at(len);
            self.send(key);
            bytes = rest;
        }
        self.draw();
    }

    /// Types keys and waits for their answers, so that the engine knows the prompt.
    pub(super) fn prove(&mut self, keys: &str) {
        self.type_keys(keys);
        self.run_until_idle();
    }

    /// Pastes a text between paste markers, and draws a frame with the predicted effect.
    pub(super) fn paste(&mut self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes());
        self.draw();
    }

    /// Sends keys in one message, as from a paste without markers, and draws a frame with their predicted effects.
    pub(super) fn paste_keys(&mut self, keys: &str) {
        self.send(keys.as_bytes());
        self.draw();
    }

    /// Sends bytes that were read at once.
    fn send(&mut self, bytes: &[u8]) {
        self.engine.handle_keys(self.now, InputNum::new(self.sent), bytes);
        self.sent += 1;
        for byte in bytes {
            let at = (self.now.as_millis() + Self::ONE_WAY).next_multiple_of(self.batch);
            self.schedule(at - self.now.as_millis(), Event::Key(self.sent, *byte));
        }
    }

    /// Lets the host print output that answers no key.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        self.schedule(0, Event::Output(bytes.to_vec()));
    }

    /// Tells the engine that another client of the session has typed.
    pub(super) fn let_another_type(&mut self) {
        self.engine.handle_others_keys(self.now);
        self.draw();
    }

    /// Makes the user's terminal draw each cluster as one character.
    pub(super) fn draw_clusters(&mut self) {
        let cluster_widths = ClusterWidths::ALL;
        self.host.set_user_terminal(UserTerminal { cluster_widths, ..UserTerminal::default() });
    }

    /// Gives the engine the modes of the host's terminal.
    pub(super) fn tell(&mut self, tty: Tty) {
        self.engine.handle_tty(Some(tty));
    }

    /// Lets time pass, a millisecond at a time, with all messages that arrive.
    pub(super) fn run(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            self.now += Duration::from_millis(1);
            while let Some(index) = self.events.iter().position(|(at, _)| *at <= self.now) {
                let (_, event) = self.events.remove(index);
                self.handle(event);
            }
            if self.engine.poll_timeout().is_some_and(|due| due <= self.now) {
                self.draw();
            }
        }
    }

    /// Lets time pass until all messages have arrived.
    pub(super) fn run_until_idle(&mut self) {
        self.run(2 * Self::ONE_WAY + 2000);
    }

    /// Returns for how many of the next milliseconds the user sees other text than the host has, or another cursor.
    pub(super) fn wrong_millis(&mut self) -> usize {
        let is_wrong = |_: &usize| {
            self.run(1);
            let (seen, host) = (&self.frame, self.host.screen());
            (0..host.size().rows()).any(|row| seen.row_text(row) != host.row_text(row))
                || seen.cursor() != host.cursor()
        };
        (0..1200).filter(is_wrong).count()
    }

    /// Lets all messages arrive, and asserts that the user then sees the host's screen.
    pub(super) fn assert_converges(&mut self) {
        self.run_until_idle();
        assert!(self.frame == *self.host.screen(), "{:?} stays", self.row());
        assert_eq!(self.frame.cursor(), self.host.screen().cursor());
    }

    /// Returns the row of the cursor as the user sees it.
    pub(super) fn row(&self) -> String {
        self.frame.row_text(self.frame.cursor().row)
    }

    /// Returns some rows as the user sees them.
    pub(super) fn rows(&self, rows: Range<u16>) -> Vec<String> {
        rows.map(|row| self.frame.row_text(row)).collect()
    }

    /// Returns row and column of the cursor as the user sees it.
    pub(super) fn cursor(&self) -> (u16, u16) {
        (self.frame.cursor().row, self.frame.cursor().column)
    }

    pub(super) fn column(&self) -> u16 {
        self.frame.cursor().column
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Key(num, byte) => {
                self.arrived = num;
                let (delay, output) = self.program.answer(byte);
                self.schedule(50, Event::EchoAck(num));
                self.schedule(delay, Event::Output(output));
            }
            Event::Output(output) => {
                self.host.write(&output);
                self.publish();
            }
            Event::EchoAck(num) => {
                self.acknowledged = num;
                self.publish();
            }
            Event::State(screen, network) => {
                self.note_errors(&screen);
                self.screen = screen;
                self.engine.handle_network(network);
                self.draw();
            }
        }
    }

    fn publish(&mut self) {
        let network = Network {
            echo_ack: InputNum::new(self.acknowledged),
            arrived: InputNum::new(self.arrived),
            send_interval: Duration::from_millis(Self::ONE_WAY),
            srtt: None,
        };
        let state = Event::State(self.host.snapshot(), network);
        self.schedule(Self::ONE_WAY, state);
    }

    fn schedule(&mut self, millis: u64, event: Event) {
        let at = self.now + Duration::from_millis(millis);
        let is_state = |event: &Event| matches!(event, Event::State(..));
        if self.batch > 1 && is_state(&event) {
            self.events.retain(|(other, event)| *other != at || !is_state(event));
        }
        let index = self.events.partition_point(|(other, _)| *other <= at);
        self.events.insert(index, (at, event));
    }

    fn draw(&mut self) {
        self.frame = self.engine.frame(self.now, &self.screen);
        let cursor = self.frame.cursor();
        let row: String = self.frame.row_text(cursor.row);
        let left: String = row.chars().take(usize::from(cursor.column)).collect();
        if self.frame != self.screen {
            self.shown.push(left);
        }
    }

    /// Counts predictions that the user saw and that a new screen of the host refutes.
    fn note_errors(&mut self, screen: &Screen) {
        if self.screen == *screen {
            return;
        }
        let rows: Vec<String> = (0..screen.size().rows()).map(|row| screen.row_text(row)).collect();
        let begins = |text: &String| {
            rows.iter().any(|row| {
                row.starts_with(text.trim_end()) || text.starts_with(row.as_str()) || row.is_empty()
            })
        };
        self.errors += self.shown.drain(..).filter(|text| !begins(text)).count();
    }
}

/// A line editor with a prompt, whose commands print nothing.
pub(super) struct Shell {
    prompt: &'static str,
    line: Vec<u8>,
    cursor: usize,
    sequence: Vec<u8>,
}

impl Shell {
    pub(super) fn new(prompt: &'static str) -> Self {
        Self { prompt, line: Vec::new(), cursor: 0, sequence: Vec::new() }
    }

    fn step(&mut self, key: u8) -> Vec<u8> {
        if key == 0x1b || !self.sequence.is_empty() {
            self.sequence.push(key);
            if self.sequence.len() < 3 {
                return Vec::new();
            }
        }
        match core::mem::take(&mut self.sequence).last().copied().unwrap_or(key) {
            b'C' if key == b'C' && self.cursor < self.line.len() => {
                self.cursor += 1;
                b"\x1b[C".to_vec()
            }
            b'D' if self.cursor > 0 => {
                self.cursor -= 1;
                b"\x08".to_vec()
            }
            b'C' | b'D' | b'A' | b'B' => b"\x07".to_vec(),
            b'\r' => {
                (self.line, self.cursor) = (Vec::new(), 0);
                format!("\r\n{}", self.prompt).into_bytes()
            }
            0x7f if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
                b"\x08\x1b[P".to_vec()
            }
            0x7f => b"\x07".to_vec(),
            byte => {
                self.line.insert(self.cursor, byte);
                self.cursor += 1;
                [b"\x1b[@", &[byte][..]].concat()
            }
        }
    }
}

impl Program for Shell {
    fn start(&mut self) -> Vec<u8> {
        self.prompt.into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (0, self.step(key))
    }
}

/// A [`Shell`] that answers each key late.
pub(super) struct SlowShell(Shell, u64);

impl SlowShell {
    pub(super) fn new(prompt: &'static str, millis: u64) -> Self {
        Self(Shell::new(prompt), millis)
    }
}

impl Program for SlowShell {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (self.1, self.0.step(key))
    }
}

/// A program that prints a prompt and nothing else.
pub(super) struct SilentProgram(pub(super) &'static str);

impl Program for SilentProgram {
    fn start(&mut self) -> Vec<u8> {
        self.0.into()
    }

    fn answer(&mut self, _: u8) -> (u64, Vec<u8>) {
        (0, Vec::new())
    }
}

/// A shell that echoes text at its first prompt only.
pub(super) struct SilencedShell(Shell, bool);

impl SilencedShell {
    pub(super) fn new(prompt: &'static str) -> Self {
        Self(Shell::new(prompt), false)
    }
}

impl Program for SilencedShell {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if self.1 && key != b'\r' {
            return (0, Vec::new());
        }
        self.1 |= key == b'\r';
        (0, self.0.step(key))
    }
}

/// A shell that suggests one line, in grey, and takes no other keys than characters.
pub(super) struct SuggestingShell {
    line: String,
    suggestion: &'static str,
}

impl SuggestingShell {
    pub(super) fn new(suggestion: &'static str) -> Self {
        Self { line: String::new(), suggestion }
    }
}

impl Program for SuggestingShell {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.line.push(char::from(key));
        let rest = self.suggestion.strip_prefix(&self.line).unwrap_or_default();
        let column = 3 + self.line.len();
        let line = &self.line;
        (0, format!("\r\x1b[K> {line}\x1b[90m{rest}\x1b[m\x1b[{column}G").into_bytes())
    }
}
