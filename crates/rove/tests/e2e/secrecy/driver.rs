//! Runs a case: a client on a terminal, a delaying path, a server with the case's script, and a user who types.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rove_link::LinkConfig;
use rustix::process::Signal;

use super::picture::{Leak, leak};
use super::{Case, Step};
use crate::support::{Maker, SIZE, Scratch, Server, Terminal, relay_to, require};

/// The time from key to key. Chosen: that of a person who types a password that she knows well.
const KEY_GAP_MS: u64 = 80;
/// The time from a change of the screen to the first key. Chosen: that of a person who knows the question beforehand.
const REACTION_MS: u64 = 60;
/// The longest time that programs themselves take to answer a key.
const ANSWER_MS: u64 = 250;

/// The longest wait for a client to draw a prediction. Chosen: for a busy machine. The test then tries the next key.
const DRAWING_MS: u64 = 1_000;
/// The time between two checks of the client's screen.
const LOOK_AGAIN_MS: u64 = 20;

/// A script that runs a case's script, and then [`CANARY`].
const AROUND: &str = "\
cd \"$1\" || exit
HOME=$1 OUT=$1/out SECRET=$2 ZDOTDIR=$1 XDG_CONFIG_HOME=$1 XDG_RUNTIME_DIR=$1 PS1='$ '
export HOME OUT SECRET ZDOTDIR XDG_CONFIG_HOME XDG_RUNTIME_DIR PS1
unset HISTFILE SSH_CONNECTION SSH_CLIENT SSH_TTY TMUX XDG_DATA_HOME XDG_STATE_HOME
$4 $3 ./case
. ./canary
";
/// A script that reads a line after a case, in a place and with a prompt that no case has, to see predictions there.
const CANARY: &str = "\
stty sane
printf '\\033[?1049l\\033[?2004l\\033[0m\\033[?25h\\033[r\\033[2J\\033[9;1Hthat was all, say so: '
read -r line
";
/// The prompt of [`CANARY`].
const LAST_PROMPT: &str = "that was all, say so: ";

/// A case, and the circumstances of its run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) case: Case,
    pub(super) client: Maker,
    pub(super) server: Maker,
    pub(super) rtt_ms: u64,
    /// Whether predictions are off, so that every visible letter comes from the program.
    pub(super) is_plain: bool,
}

/// The findings of a run.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The letters of the secret that were visible although they must not be.
    pub(super) leak: Option<Leak>,
    /// All letters of the secret that were visible, including the excused letters.
    pub(super) shown: String,
    /// The reason why the run proves nothing, if it does not.
    pub(super) fault: Option<String>,
}

impl Run {
    /// Runs the case and returns its findings.
    pub(super) fn play(&self) -> Outcome {
        let scratch = Scratch::new();
        let mut output = String::new();
        let played = catch_unwind(AssertUnwindSafe(|| self.play_in(&scratch, &mut output)));
        let fault = played.err().map(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_else(|| "an unknown panic".to_owned())
        });
        let seen = |letters: &str| leak(output.as_bytes(), letters);
        let shown = seen(&self.case.all_letters()).map_or_else(String::new, |leak| leak.letters);
        Outcome { leak: seen(&self.case.letters()), shown, fault }
    }

    fn play_in(&self, scratch: &Scratch, output: &mut String) {
        for (program, package) in self.case.programs() {
            require(program, package);
        }
        for (name, text) in self.case.files {
            scratch.write(name, text);
        }
        scratch.write("case", self.case.script);
        scratch.write("canary", CANARY);
        let folder = scratch.folder().to_str().expect("scratch paths are text").to_owned();
        let Case { secret, interpreter, .. } = self.case;
        let replaces = if self.case.is_own { "exec" } else { "" };
        let words = ["sh", "-c", AROUND, "sh", &folder, secret, interpreter, replaces];
        let server = Server::start(self.server, IpAddr::V4(Ipv4Addr::LOCALHOST), &words);
        let delay = rove_units::Duration::from_millis(self.rtt_ms / 2);
        let link = LinkConfig { delay, loss: self.case.loss, ..LinkConfig::default() };
        let relay = relay_to(server.address, link);
        let call = self.client.client(relay.address(), &server.key);
        let call = call.env("MOSH_PREDICTION_DISPLAY", self.preference());
        let terminal = Terminal::start(&call, SIZE);
        let user = User { run: self, terminal: &terminal, scratch, before: RefCell::default() };
        let played = catch_unwind(AssertUnwindSafe(|| {
            self.case.steps.iter().for_each(|step| user.take(*step));
            terminal.wait_for_text(LAST_PROMPT.trim_end());
            user.assert_arrived();
            if !self.is_plain {
                user.assert_predictions_are_shown(&server);
            }
        }));
        *output = terminal.output();
        played.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    /// Returns a mode that shows predictions at this round-trip time. A stock client's `adaptive` needs over 60 ms.
    fn preference(&self) -> &'static str {
        match self.rtt_ms {
            _ if self.is_plain => "never",
            _ if self.case.is_always => "always",
            0..=60 => "always",
            _ => "adaptive",
        }
    }
}

/// The user at the client's terminal.
struct User<'a> {
    run: &'a Run,
    terminal: &'a Terminal,
    scratch: &'a Scratch,
    /// The screen before the latest Enter. Empty after the user has seen a newer screen.
    before: RefCell<String>,
}

impl User<'_> {
    fn take(&self, step: Step) {
        let secret = self.run.case.secret;
        match step {
            Step::See(text) => self.see(1, text),
            Step::Times(count, text) => self.see(count, text),
            Step::Gone(text) => {
                self.terminal.wait_for(text, |screen| !screen.contents().contains(text));
                self.before.take();
            }
            Step::Host(name) => self.terminal.wait_for(name, |_| self.scratch.path(name).exists()),
            Step::Type(text) => self.type_keys(text.chars()),
            Step::Line(text) => self.type_line(text),
            Step::Lines(prompt, lines) => self.take(Step::LinesFrom(1, prompt, lines)),
            Step::LinesFrom(first, prompt, lines) => {
                for (count, line) in (first..).zip(lines) {
                    self.see(count, prompt);
                    self.type_line(line);
                }
                self.see(first + lines.len(), prompt);
            }
            Step::Three(prompt) => {
                self.take(Step::Lines(prompt, &["echo one", "echo two", "echo three"]));
            }
            Step::Each(steps) => steps.iter().for_each(|step| {
                self.take(*step);
                self.settle();
            }),
            Step::Insert => {
                use Step::{Key, See, Settle, Type};
                [See("~"), Settle, Key("i"), See("-- INSERT --"), Type("some text"), Settle]
                    .into_iter()
                    .for_each(|step| self.take(step));
            }
            Step::Secret => self.type_secret(),
            Step::Answer => {
                self.type_secret();
                self.enter();
            }
            Step::Key(bytes) => self.terminal.send(bytes),
            Step::Paste => {
                self.terminal.send(format!("\x1b[200~{secret}\x1b[201~"));
                self.settle();
                self.enter();
            }
            Step::Burst => {
                self.terminal.send(secret);
                self.settle();
                self.enter();
            }
            Step::Rows(rows) => {
                self.terminal.resize((rows, SIZE.1));
                self.settle();
            }
            Step::Settle => self.settle(),
        }
    }

    fn see(&self, count: usize, text: &str) {
        // The blank at the end of a prompt may be a cell that no program has drawn.
        let text = text.trim_end();
        let is_in = |screen: &str| screen.matches(text).count() >= count;
        // If the old screen had the text, the user would type too early, when the host's kernel may still echo.
        assert!(!is_in(&self.before.take()), "{text:?} was there before Enter, {count} times");
        self.terminal.wait_for(text, |screen| is_in(&screen.contents()));
        pause(REACTION_MS);
    }

    fn enter(&self) {
        self.before.replace(self.terminal.screen().contents());
        self.terminal.send("\r");
    }

    fn type_keys(&self, keys: impl Iterator<Item = char>) {
        for key in keys {
            self.terminal.send(key.to_string());
            pause(KEY_GAP_MS);
        }
    }

    fn type_line(&self, text: &str) {
        self.type_keys(text.chars());
        self.settle();
        self.enter();
    }

    fn type_secret(&self) {
        let letters = self.run.case.secret.chars();
        let half = letters.clone().count() / 2;
        self.type_keys(letters.clone().take(half));
        self.settle();
        if self.run.case.excused > 0 {
            // A busy program answers late. The client knows of its silence as soon as only the first letter is visible.
            self.terminal.wait_for("the silence is known", |screen| {
                let text = screen.contents();
                !letters.clone().take(half).skip(1).any(|letter| text.contains(letter))
            });
        }
        self.type_keys(letters.skip(half));
    }

    fn settle(&self) {
        pause(self.run.rtt_ms + ANSWER_MS);
    }

    /// Asserts that the program has received the secret.
    fn assert_arrived(&self) {
        let secret = self.run.case.secret;
        let out = self.scratch.read("out");
        assert!(out.contains(secret), "the program got {out:?} and not {secret:?}");
    }

    /// Asserts that this session predicts: the user sees a key while the server is stopped.
    fn assert_predictions_are_shown(&self, server: &Server) {
        let mut typed = LAST_PROMPT.to_owned();
        let is_predicted = "okay then, that was it".chars().any(|key| {
            typed.push(key);
            self.terminal.send(key.to_string());
            self.terminal.wait_for_text(&typed);
            self.settle();
            server.signal(Signal::STOP);
            typed.push('m');
            self.terminal.send("m");
            let is_seen = self.is_seen_soon(&typed);
            server.signal(Signal::CONT);
            self.terminal.wait_for_text(&typed);
            is_seen
        });
        assert!(is_predicted, "no key was predicted afterwards\n{}", self.terminal.dump());
    }

    /// Returns whether `text` appears within [`DRAWING_MS`].
    fn is_seen_soon(&self, text: &str) -> bool {
        (0..DRAWING_MS / LOOK_AGAIN_MS).any(|_| {
            pause(LOOK_AGAIN_MS);
            self.terminal.screen().contents().contains(text)
        })
    }
}

/// Waits as long as a user does. The secrecy of typed keys depends on their times.
#[expect(clippy::disallowed_methods, reason = "a user's own pace is no event to wait for")]
pub(crate) fn pause(millis: u64) {
    std::thread::sleep(std::time::Duration::from_millis(millis));
}
