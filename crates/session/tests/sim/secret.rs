//! Secrets: the user's screen never shows a key typed while a program does not echo.

use proptest::prelude::*;
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{ClientConfig, Prediction, Preference, Tty, TtyModes};
use rove_ssp::Config;
use rove_units::{Duration, Instant, Seed};

use crate::common::*;

/// Characters that occur only in secrets, so that they reveal a displayed secret.
const TRACES: &str = "QXZJWK%&";

/// Prompts for a secret in known words.
const KNOWN: [&str; 6] = [
    "Password: ",
    "[sudo] password for ann: ",
    "Enter passphrase for '/home/ann/.ssh/id_ed': ",
    "Passwort: ",
    "パスワード: ",
    "Enter PIN: ",
];

/// Prompts for a secret in other words, or in none.
const UNKNOWN: [&str; 6] = ["Vault key: ", "Seed phrase? ", "vault> ", "$> ", "? ", ""];

/// Prompts at which ordinary text is typed.
const SHELLS: [&str; 4] = ["$ ", "ann@host:~$ ", "> ", "\x1b[32mann\x1b[m: "];

/// The modes while a program reads lines and nothing is echoed.
const SILENT: Tty = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };

/// The modes while a program reads keys.
const RAW: Tty = Tty { modes: SILENT.modes.difference(TtyModes::CANONICAL), ..Tty::USUAL };

/// The way in which a program reads a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// The program reads lines from a kernel that does not echo: `stty -echo; read`.
    Lines,
    /// The program reads single keys, and shows nothing.
    Keys,
    /// The program reads single keys, and shows a star for each.
    Stars,
}

/// The circumstances in which runs differ.
#[derive(Clone, Debug)]
struct Scenario {
    preference: Preference,
    /// Whether the server reports the modes of its pty.
    is_told: bool,
    link: LinkConfig,
    seed: u64,
    shell: &'static str,
    /// Whether the shell leaves line editing to the kernel.
    is_plain_shell: bool,
    /// Lines typed at the shell, before and after the secrets.
    lines: Vec<String>,
    reader: Reader,
    prompt: &'static str,
    /// Whether the program that asks for the secret tells pastes from typed text.
    knows_pastes: bool,
    /// How long the program that asks takes to start. If `waits` is set, the user types only after it has started.
    start: Duration,
    waits: bool,
    /// Whether the window gets another size while `su` is on its way.
    resizes: bool,
    secrets: Vec<String>,
    /// The times between keys, used in turn.
    pauses: Vec<u64>,
}

/// The state of the host's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Shell,
    Starting(Instant),
    /// A program asks for a secret, and has read this many characters.
    Asking(usize),
}

struct Session {
    pair: Pair,
    scenario: Scenario,
    state: State,
    /// How many secrets were read.
    secrets: usize,
    /// The part of a line that the shell has read.
    line: Vec<u8>,
    /// How many bytes of their input the host's programs have answered.
    answered: usize,
    /// How many pictures of the user's terminal the test has checked.
    frames: usize,
    keys: usize,
    tty: Tty,
}

impl Session {
    fn start(scenario: Scenario) -> Self {
        let prediction = Prediction { preference: scenario.preference, ..Prediction::default() };
        let config = ClientConfig { prediction, ..client_config(rove(Config::client())) };
        let server = Config::server();
        let server = if scenario.is_told { rove(server) } else { stock(server) };
        let (link, seed) = (LinkConfig::lossless(scenario.link.delay), Seed::new(scenario.seed));
        let right = far(server);
        let pair = Net::new(near(config), right, link.clone(), link, seed);
        let mut session = Self {
            pair,
            scenario,
            state: State::Shell,
            secrets: 0,
            line: Vec::new(),
            answered: 0,
            frames: 0,
            keys: 0,
            tty: Tty::USUAL,
        };
        session.prompt();
        session.catch_up();
        // Until here the path is lossless, because a client that never hears its server gives up.
        let link = session.scenario.link.clone();
        session.pair.reconfigure(link.clone(), link);
        session
    }

    /// Lets time pass, in steps short enough for the host's programs to answer at once.
    fn run(&mut self, span: Duration) {
        let end = self.pair.now() + span;
        while self.pair.now() < end {
            self.pair.run_for(ms(1));
            self.look();
            self.answer();
        }
    }

    /// Checks the user's screen if it has changed.
    fn look(&mut self) {
        if self.frames == self.pair.left.user.frames {
            return;
        }
        self.frames = self.pair.left.user.frames;
        let screen = self.pair.left.terminal.screen();
        for row in 0..screen.size().rows() {
            let seen = screen.row_text(row);
            assert!(!seen.contains(|c| TRACES.contains(c)), "{seen:?} at {:?}", self.pair.now());
        }
    }

    /// Waits until both ends agree.
    fn catch_up(&mut self) {
        for _ in 0..600 {
            self.run(ms(100));
            let is_starting = matches!(self.state, State::Starting(_));
            let is_read = self.pair.right.program.typed.len() == self.keys;
            let told = Some(self.tty).filter(|_| self.scenario.is_told);
            let is_told = self.pair.left.client.tty() == told;
            if is_read && !is_starting && is_told && in_sync(&self.pair.left, &self.pair.right) {
                return;
            }
        }
        panic!("the ends do not agree within a minute");
    }

    fn type_keys(&mut self, keys: &str) {
        for key in keys.bytes() {
            type_text(&mut self.pair, &[key]);
            let pauses = &self.scenario.pauses;
            let pause = pauses[self.keys % pauses.len()];
            self.keys += 1;
            self.run(ms(pause));
        }
    }

    fn answer(&mut self) {
        if let State::Starting(at) = self.state
            && at <= self.pair.now()
        {
            self.ask("");
        }
        let typed = self.pair.right.program.typed[self.answered..].to_vec();
        self.answered += typed.len();
        for byte in typed {
            match self.state {
                State::Asking(len) => self.read_secret(len, byte),
                State::Shell | State::Starting(_) => self.read_line(byte),
            }
        }
    }

    /// Answers as a shell.
    fn read_line(&mut self, byte: u8) {
        if byte != b'\r' {
            self.line.push(byte);
            return print(&mut self.pair, &[byte]);
        }
        let line = core::mem::take(&mut self.line);
        if line != b"su" {
            print(&mut self.pair, b"\x1b[?2004l\r\nok\r\n");
            self.prompt();
        } else if self.scenario.start == Duration::ZERO {
            self.ask("\x1b[?2004l\r\n");
        } else {
            self.tell(Tty::USUAL);
            print(&mut self.pair, b"\x1b[?2004l\r\n");
            self.state = State::Starting(self.pair.now() + self.scenario.start);
        }
    }

    /// Answers as the program that asks for a secret.
    fn read_secret(&mut self, len: usize, byte: u8) {
        let is_star = self.scenario.reader == Reader::Stars;
        let (len, echo) = match byte {
            b'\r' => return self.take_secret(),
            0x7f if len > 0 => (len - 1, &b"\x08 \x08"[..]),
            0x7f => (0, &b""[..]),
            _ => (len + 1, &b"*"[..]),
        };
        if is_star {
            print(&mut self.pair, echo);
        }
        self.state = State::Asking(len);
    }

    fn take_secret(&mut self) {
        self.secrets += 1;
        if self.secrets < self.scenario.secrets.len() {
            self.ask("\r\nSorry, try again.\r\n");
        } else {
            print(&mut self.pair, b"\r\n");
            self.prompt();
        }
    }

    fn ask(&mut self, before: &str) {
        self.tell(if self.scenario.reader == Reader::Lines { SILENT } else { RAW });
        let pastes = if self.scenario.knows_pastes { "\x1b[?2004h" } else { "" };
        print(&mut self.pair, format!("{before}{pastes}{}", self.scenario.prompt).as_bytes());
        self.state = State::Asking(0);
    }

    fn prompt(&mut self) {
        self.state = State::Shell;
        let is_plain = self.scenario.is_plain_shell;
        self.tell(if is_plain { Tty::USUAL } else { RAW });
        let pastes = if is_plain { "\x1b[?2004l" } else { "\x1b[?2004h" };
        print(&mut self.pair, format!("{pastes}{}", self.scenario.shell).as_bytes());
    }

    fn tell(&mut self, tty: Tty) {
        self.tty = tty;
        self.pair.right.server.handle_tty(tty);
    }

    /// Types at the shell, then the secrets, then at the shell again.
    fn play(mut self) {
        let scenario = self.scenario.clone();
        for line in &scenario.lines {
            self.type_keys(line);
            self.type_keys("\r");
            self.catch_up();
        }
        self.type_keys("su\r");
        if scenario.resizes {
            let (now, other) = (self.pair.now(), size(79, 24));
            self.pair.left.terminal.resize(other);
            self.pair.left.client.handle_resize(now, other);
        }
        for secret in &scenario.secrets {
            if scenario.waits || scenario.start > Duration::ZERO {
                self.catch_up();
            }
            self.type_keys(secret);
            self.type_keys("\r");
        }
        self.catch_up();
        for line in &scenario.lines {
            self.type_keys(line);
            self.type_keys("\r");
        }
        self.catch_up();
        assert_eq!(self.secrets, scenario.secrets.len(), "all of them were read");
    }
}

prop_compose! {
    fn any_link()(delay in 1_u64..400, jitter in 0_u64..100, loss in 0_u32..30) -> LinkConfig {
        let loss = f64::from(loss) / 100.0;
        LinkConfig { jitter: ms(jitter), loss, ..LinkConfig::lossless(ms(delay)) }
    }
}

prop_compose! {
    /// Draws the typed lines and secrets, and the pauses between keys.
    fn any_keys()(
        lines in prop::collection::vec("[a-f ]{1,8}", 0..4),
        secrets in prop::collection::vec("[QXZJWK%&*\x7f]{1,10}", 1..3),
        pauses in prop::collection::vec(prop_oneof![1_u64..30, 30_u64..400], 1..20),
    ) -> (Vec<String>, Vec<String>, Vec<u64>) {
        (lines, secrets, pauses)
    }
}

prop_compose! {
    fn any_scenario()(
        preference in prop::sample::select(vec![Preference::Adaptive, Preference::Always]),
        is_told: bool,
        link in any_link(),
        seed: u64,
        shell in prop::sample::select(&SHELLS[..]),
        is_plain_shell: bool,
        (lines, secrets, pauses) in any_keys(),
        reader in prop::sample::select(vec![Reader::Lines, Reader::Keys, Reader::Stars]),
        prompt in prop::sample::select([KNOWN, UNKNOWN].concat()),
        knows_pastes: bool,
        start in prop_oneof![Just(0_u64), 1_u64..600],
        waits: bool,
        resizes: bool,
    ) -> Scenario {
        let knows_pastes = knows_pastes && reader != Reader::Lines;
        Scenario {
            preference, is_told, link, seed, shell, is_plain_shell, lines, reader, prompt,
            knows_pastes, start: ms(start), waits, resizes, secrets, pauses,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn no_secret_is_ever_seen(scenario in any_scenario()) {
        Session::start(scenario).play();
    }
}
