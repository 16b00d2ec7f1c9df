//! A user who types secrets, and a simulated program that echoes and then stops its echo.
//!
//! Secrets consist of letters that the host never draws, so that any such letter in a frame is a prediction. `oracle`
//! states the rules by which some letters may be shown, independently of the engine.

mod host;
mod oracle;
mod texts;

use std::collections::VecDeque;

use rove_predict::{Engine, Network, Prediction, Preference};
use rove_terminal::{InputNum, Screen, Size, Terminal, Tty, TtyModes};
use rove_units::{Duration, Instant};

use self::host::{Echo, Host};
use self::oracle::Oracle;
use self::texts::{BESIDE, OPEN, OUTPUTS, PROMPTS, SECRET, UNKNOWN, prompt};
use crate::choices::Choices;

/// A read of at least this many characters counts as a paste without brackets. Source: SECURITY.md.
const PASTE_LEN: usize = 8;

/// Most events in a run.
const STEPS: usize = 48;

/// How long nothing happens until the client has seen everything. Chosen: longer than it waits for any key.
const IDLE: Duration = Duration::from_millis(1100);

/// Types secrets into a program that reads them without echo, and searches every frame for them.
///
/// # Panics
///
/// Panics if a frame shows a letter of a secret that no rule permits.
pub fn secrets_stay_unseen(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let mut world = World::new(*flags);
    let mut script = Choices(data);
    for _ in 0..STEPS {
        if world.step(&mut script).is_none() {
            break;
        }
    }
    world.run_until_idle();
}

/// The program's answer to a key. It is determined when the key is typed.
#[derive(Clone, Debug)]
enum Answer {
    /// The program answers as a simple line editor does, or reads a letter of a secret.
    Edit,
    /// The line ends. The program writes `output`, and then echoes as `echo` says.
    Turn { output: String, echo: Echo },
}

/// A key that the program has not read yet.
#[derive(Clone, Debug)]
struct Typed {
    key: String,
    input: u64,
    answer: Answer,
}

/// The user, the program on the host's terminal, and the engine between both.
struct World {
    engine: Box<dyn Engine>,
    oracle: Oracle,
    host: Host,
    typed: VecDeque<Typed>,
    is_secret: bool,
    /// The prompt at which the program echoes.
    prompt: String,
    /// The number of letters of secrets that were typed.
    letters: usize,
    sent: u64,
    consumed: u64,
    /// The screen as the client last received it.
    screen: Screen,
    tty: Option<Tty>,
    echo_ack: u64,
    now: Instant,
    tells_tty: u8,
}

impl World {
    fn new(flags: u8) -> Self {
        let preference = if flags & 1 == 0 { Preference::Always } else { Preference::Adaptive };
        let size = sizes()[usize::from(flags >> 1 & 1)];
        let prediction = Prediction { preference, ..Prediction::default() };
        let host = Terminal::host(size);
        let mut world = Self {
            engine: rove_predict::engine(prediction, size),
            oracle: Oracle::default(),
            screen: host.snapshot(),
            host: Host::new(host),
            typed: VecDeque::new(),
            is_secret: false,
            prompt: PROMPTS[0].to_owned(),
            letters: 0,
            sent: 0,
            consumed: 0,
            tty: None,
            echo_ack: 0,
            now: Instant::from_millis(1000),
            tells_tty: flags >> 2 & 3,
        };
        if flags & 0x10 != 0 {
            world.host.write("\x1b[?2004h");
        }
        if flags & 0x20 != 0 {
            world.host.write("\x1b]2;ann@host: ~/src\x07");
        }
        if flags & 0x40 != 0 {
            world.host.write("\x1b7\x1b[1;21H\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b[B\x1b[D\u{2502}\x1b8");
        }
        world.host.write(PROMPTS[0]);
        world.run_until_idle();
        world
    }

    /// Does an event of the script. Returns `None` at the end of the script.
    fn step(&mut self, script: &mut Choices<'_>) -> Option<()> {
        let choice = script.byte()?;
        match choice % 16 {
            0 | 1 if !self.is_secret => self.type_lines(script.byte()?),
            2 if !self.is_secret => {
                let key = OPEN[usize::from(script.byte()?) % OPEN.len()];
                self.type_key(key, Answer::Edit);
            }
            3 if !self.is_secret => self.turn(script, false)?,
            4 | 5 if !self.is_secret => self.turn(script, true)?,
            // The secret ends, or the program asks for another secret.
            3 | 4 if self.is_secret => self.turn(script, choice & 0x10 == 0)?,
            0..=2 | 5 | 6 if self.is_secret => self.type_secret(script.byte()?),
            6 | 7 => self.unknown(script.byte()?),
            8 => self.host.write(OUTPUTS[usize::from(script.byte()?) % OUTPUTS.len()]),
            9 => {
                self.consume(usize::from(script.byte()? % 4));
            }
            10 => self.consume(usize::MAX),
            11 | 12 => self.echo_ack = self.consumed,
            13 => self.now += Duration::from_millis(u64::from(script.byte()?) * 5),
            14 => self.now = self.engine.poll_timeout().unwrap_or(self.now),
            15 if choice & 0x30 == 0x30 => self.resize(script.byte()?),
            _ => self.run_until_idle(),
        }
        if choice & 0x80 == 0 {
            self.deliver();
        }
        self.look();
        Some(())
    }

    /// Resizes the host's terminal, perhaps to the same size. If `choice` is even, the user's window has been resized.
    fn resize(&mut self, choice: u8) {
        if choice & 1 == 0 {
            self.engine.reset();
            self.oracle.note_resize();
        }
        self.host.resize(sizes()[usize::from(choice >> 1 & 1)]);
    }

    /// Types some lines with Enter at a prompt. The program echoes them.
    fn type_lines(&mut self, choice: u8) {
        if choice & 0x80 != 0 {
            self.prompt = prompt(choice >> 3, choice);
        }
        let is_hasty = choice & 8 != 0;
        for line in 0..=choice & 7 {
            for letter in 0..=line % 3 {
                self.type_key(OPEN[usize::from(letter + line) % 4], Answer::Edit);
            }
            if !is_hasty {
                self.arrive();
            }
            let output = format!("\r\n{}", self.prompt);
            self.type_key("\r", Answer::Turn { output, echo: Echo::Letters });
            self.arrive();
        }
    }

    fn type_secret(&mut self, choice: u8) {
        let count = usize::from(choice >> 5) + 1;
        let letters: String =
            (0..count).map(|at| SECRET[(self.letters + at) % SECRET.len()]).collect();
        match choice & 31 {
            0..=13 => self.type_key(BESIDE[usize::from(choice & 31)], Answer::Edit),
            // All letters come in the same read, as a paste with or without brackets.
            28.. => {
                self.letters += count;
                let is_bracketed = choice & 1 == 0;
                let read = format!("\x1b[200~{letters}\x1b[201~");
                let read = if is_bracketed { &read } else { &letters };
                let is_paste = is_bracketed || count >= PASTE_LEN;
                self.type_read(read, &letters, is_paste, Answer::Edit);
            }
            _ => {
                self.letters += count;
                for letter in letters.chars() {
                    self.type_key(&letter.to_string(), Answer::Edit);
                    // If letters were typed at once, the client makes a frame only after the last.
                    if choice & 1 == 0 {
                        self.look();
                    }
                }
            }
        }
    }

    /// Lets the program write a text after a key, or without one. It then echoes, or reads a secret.
    fn turn(&mut self, script: &mut Choices<'_>, is_secret: bool) -> Option<()> {
        let [how, what] = [script.byte()?, script.byte()?];
        let echo = match how >> 6 {
            _ if !is_secret => Echo::Letters,
            0 => Echo::Mask('*'),
            1 => Echo::Mask('x'),
            _ => Echo::Nothing,
        };
        let is_other = what >> 4 > 3;
        let prompt = if is_other { prompt(what, how) } else { self.prompt.clone() };
        if !is_secret && is_other {
            self.prompt.clone_from(&prompt);
        }
        let output = match what >> 4 {
            0..=4 => format!("\r\n{prompt}"),
            5 => format!("\r\n\r\n\x1b[?2004l{prompt}"),
            6 => format!("\r\n\x1b[?2004h{prompt}"),
            7 => prompt,
            8 => format!("\x1b[3;{}H{prompt}", 1 + how % 32),
            9 => format!("\x1b[?1049h\x1b[H\x1b[2J{prompt}"),
            10 => format!("\x1b[?1049l\r\n{prompt}"),
            11 => "\x1b[?1049h\x1b[2J\x1b[2;1Htext\x1b[4;1H".to_owned(),
            12 => "\x1b7\x1b[999;1H-- INSERT --\x1b8".to_owned(),
            13 => "\r\n".to_owned(),
            _ => String::new(),
        };
        let answer = Answer::Turn { output, echo };
        // The user begins a secret after a key that ends the line, or after seeing the question.
        match how >> 3 & 7 {
            _ if self.is_secret || !is_secret => self.type_key("\r", answer),
            0 | 1 => self.type_key("\r", answer),
            2 => {
                self.consume(usize::MAX);
                self.apply(answer);
                self.run_until_idle();
            }
            3 => {
                if self.typed.iter().any(|typed| matches!(typed.answer, Answer::Turn { .. })) {
                    self.consume(usize::MAX);
                }
                self.apply(answer);
                self.deliver();
                self.look();
            }
            which => {
                if which > 5 {
                    self.run_until_idle();
                }
                self.type_key(UNKNOWN[usize::from(how & 7)], answer);
            }
        }
        self.is_secret = is_secret;
        Some(())
    }

    fn unknown(&mut self, choice: u8) {
        if choice & 0x40 != 0 {
            self.run_until_idle();
        }
        self.type_key(UNKNOWN[usize::from(choice & 7)], Answer::Edit);
    }

    fn type_key(&mut self, key: &str, answer: Answer) {
        self.type_read(key, key, false, answer);
    }

    /// Types one or more keys, which the client reads at once as `read`.
    fn type_read(&mut self, read: &str, key: &str, is_paste: bool, answer: Answer) {
        let sent = InputNum::new(self.sent);
        self.engine.handle_keys(self.now, sent, read.as_bytes());
        self.sent += 1;
        let is_quiet = self.typed.is_empty() && self.echo_ack + 1 == self.sent;
        self.oracle.note_typed((key, is_paste), self.sent, &self.screen, is_quiet);
        self.typed.push_back(Typed { key: key.to_owned(), input: self.sent, answer });
    }

    /// Lets the program read up to `count` keys.
    fn consume(&mut self, count: usize) {
        for _ in 0..count.min(self.typed.len()) {
            let typed = self.typed.pop_front().expect("a key");
            self.consumed = typed.input;
            if typed.key == "\r" {
                self.oracle.note_enter(typed.input, self.host.is_open());
            }
            match typed.answer {
                Answer::Turn { .. } => self.apply(typed.answer),
                Answer::Edit if self.host.is_open() => self.edit(&typed.key, typed.input),
                Answer::Edit => self.host.mask(&typed.key),
            }
        }
    }

    fn apply(&mut self, answer: Answer) {
        let Answer::Turn { output, echo } = answer else { return };
        if self.host.turn(&output, echo) {
            self.oracle.note_turn();
        }
    }

    /// Lets the program answer a key as a simple line editor does.
    fn edit(&mut self, key: &str, input: u64) {
        let before = self.host.snapshot();
        let is_echoed = self.host.edit(key);
        let after = self.host.snapshot();
        if is_echoed {
            self.oracle.note_echo(key, input, &before, &after);
        } else {
            self.oracle.note_moved(&after);
        }
    }

    /// Delivers the host's newest screen to the client, with the server's report about the terminal.
    fn deliver(&mut self) {
        self.screen = self.host.snapshot();
        let is_open = self.host.is_open();
        let kernel = TtyModes::USUAL - if is_open { TtyModes::empty() } else { TtyModes::ECHO };
        let raw = TtyModes::USUAL.difference(TtyModes::ECHO.union(TtyModes::CANONICAL));
        self.tty = match self.tells_tty {
            0 => None,
            1 => Some(Tty { modes: kernel, ..Tty::USUAL }),
            2 => Some(Tty { modes: raw, ..Tty::USUAL }),
            _ => {
                let is_read = is_open && self.typed.is_empty();
                let prompt = is_read.then(|| InputNum::new(self.consumed));
                Some(Tty { modes: raw, prompt, ..Tty::USUAL })
            }
        };
    }

    /// Makes a frame, and searches it for secrets.
    fn look(&mut self) {
        let arrived = self.consumed.max(self.echo_ack);
        let network = Network {
            echo_ack: InputNum::new(self.echo_ack),
            arrived: InputNum::new(arrived),
            send_interval: Duration::from_millis(250),
            srtt: None,
        };
        self.engine.handle_tty(self.tty);
        self.engine.handle_network(network);
        let frame = self.engine.frame(self.now, &self.screen);
        self.oracle.observe(self.now, arrived, self.echo_ack, &self.screen);
        self.oracle.check(&frame, &self.screen, arrived);
    }

    /// Delivers everything that is on its way, and lets time pass.
    fn run_until_idle(&mut self) {
        self.arrive();
        self.now += IDLE;
        self.look();
    }

    /// Delivers everything that is on its way.
    fn arrive(&mut self) {
        self.consume(usize::MAX);
        self.deliver();
        self.echo_ack = self.consumed.max(self.echo_ack);
        self.now += Duration::from_millis(100);
        self.look();
    }
}

fn sizes() -> [Size; 2] {
    [(60, 12), (40, 7)].map(|(columns, rows)| Size::clamped(columns, rows))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::with_cases(1500)
        })]

        #[test]
        fn no_letter_of_a_secret_is_shown_but_by_the_rules(
            flags: u8,
            lines in 2_u8..8,
            asks in prop::collection::vec((0_u8..32, 0_u8..64, 128_u8..144, 0_u8..8), 1..4),
            data in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            // Most rules are about prompts at which lines were echoed, and about secrets that are typed there.
            let asked = asks.iter().flat_map(|(how, what, letter, size)| {
                let resize = if *size < 4 { &[63, *size][..] } else { &[] };
                [&[4, how | 192, *what], resize, &[0, *letter, 15]].concat()
            });
            let data: Vec<u8> = [flags, 0, lines].into_iter().chain(asked).chain(data).collect();
            secrets_stay_unseen(&data);
        }
    }

    /// Inputs that once showed a letter. Each comment has the number of random inputs until chance found the input.
    #[test]
    fn letters_that_were_shown_once_stay_unseen() {
        for found in [
            // A silent program reads a letter shortly before its prompt appears again: 26,000.
            &[238, 0, 2, 4, 192, 0, 0, 128, 15, 4, 192, 0, 0, 142, 15, 229, 46, 83, 0, 0, 26][..],
            // The mouse is turned on at a prompt with lines echoed before that: 61,000. With marked pastes: 149,000.
            &[16, 0, 2, 4, 192, 0, 0, 132, 15, 5, 142, 16, 46, 24, 125, 48, 14],
            &[
                76, 0, 2, 4, 192, 0, 0, 128, 15, 179, 0, 144, 96, 0, 58, 176, 0, 96, 0, 32, 0, 8,
                1, 120, 12, 26, 48, 0, 20, 144, 224, 128, 14, 144, 11, 200, 24, 59,
            ],
            // A prompt is refused in a pane, and known again after the pane's border has scrolled off: 230,000. In the
            // second input, another prompt comes before the refusal: 290,000.
            &[
                88, 0, 4, 4, 192, 0, 0, 128, 15, 48, 0, 16, 46, 15, 19, 0, 0, 102, 0, 6, 0, 80,
                118, 8, 2, 100, 144, 0, 160, 14,
            ],
            &[
                80, 0, 2, 4, 208, 0, 0, 142, 15, 96, 0, 0, 0, 5, 0, 211, 0, 97, 106, 112, 0, 16, 0,
                112, 1, 112, 133, 180, 80, 224, 80, 14,
            ],
            // In a line whose missing echo was seen, marked pastes go off and on: 520,000. A text below it comes and goes: 990,000.
            &[
                144, 0, 2, 4, 192, 0, 0, 142, 15, 16, 14, 16, 13, 3, 0, 0, 48, 0, 205, 0, 224, 0,
                69, 0, 16, 14, 40, 121, 168, 0, 27,
            ],
            &[152, 0, 2, 4, 192, 0, 0, 142, 15, 9, 0, 168, 55, 32, 14, 56, 250],
            // On the alternate screen, the prompt is erased while a letter is on its way: two million.
            &[
                24, 0, 2, 4, 192, 0, 0, 128, 15, 19, 0, 176, 35, 0, 0, 16, 0, 211, 0, 209, 14, 112,
                100, 196, 80, 224, 229, 14, 120, 250, 48, 110,
            ],
            // The window is resized while Enter is on its way: found by reading the code.
            &[16, 0, 2, 4, 192, 0, 63, 0, 0, 142],
        ] {
            secrets_stay_unseen(found);
        }
    }
}
