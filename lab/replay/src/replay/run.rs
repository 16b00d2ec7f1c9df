//! A run: both sides over the path, from the start of the session to the last answer.

use clap::ValueEnum;
use rove_flows::flow::beside::Beside;
use rove_flows::flow::ends::{Receiver, Sender};
use rove_flows::flow::source::Bulk;
use rove_flows::path::Path;
use rove_headless::{ClientEnd, ServerEnd, Traffic};
use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_session::{ClientConfig, Prediction, PromptMemory, ServerConfig};
use rove_ssp::{Config, Mechanism, ReferencePolicy};
use rove_terminal::display::{Functions, Repertoire};
use rove_terminal::{AlternateScreen, OscSupport, TerminalCapabilities};
use rove_units::{Duration, Instant, Seed};

use crate::replay::client_end::{NOTICE, Notes, Typist, client_end, is_settled};
use crate::replay::judge::{Flicker, Mistake, Outcome};
use crate::replay::pace::{PATIENCE, Pace};
use crate::replay::script::Script;
use crate::replay::server_end::{CLEAR, ReplayedProgram, server_end};

/// Keys that are echoed before the recording begins, so that the estimate of the round trip settles.
pub const SETTLING: &[u8] = b"settle";

/// How long one step of the session's start may take. Chosen: dozens of round trips of the longest path.
const SETTLING_MAX: Duration = Duration::from_secs(3600);

/// The salt for remembered prompts. Chosen: a constant, because no two recordings share their memory of prompts.
const SALT: [u8; 16] = [0; 16];

/// How long after the last key and the host's last output the run waits for answers.
pub const TAIL: Duration = Duration::from_secs(30);

/// The program whose wire and timing both ends follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ends {
    /// Mosh 1.4.0's wire and timing, without extensions
    Stock,
    /// Rove's wire and timing, with extensions
    Rove,
}

impl Ends {
    /// Returns the transport's configuration of such an end, made from rove's `config`.
    pub fn transport(self, config: Config) -> Config {
        match self {
            Self::Stock => config.stock(),
            Self::Rove => rove_headless::rove(config),
        }
    }
}

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The client's predictions.
    pub prediction: Prediction,
    /// The answers that the user waits for.
    pub pace: Pace,
    /// The path.
    pub path: Path,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How late the program at the server end reads a key.
    pub host_delay: Duration,
    /// The program whose wire and timing both ends follow.
    pub ends: Ends,
    /// Whether the server's echo acknowledgment waits for the echo.
    pub awaits_echo: bool,
    /// Whether the session begins with the prompts that an earlier session of the same recording knew at its end.
    pub prompt_memory: bool,
    /// The state that diffs of both ends start from. `None` leaves the choice to the rule of [`Self::ends`].
    pub reference: Option<ReferencePolicy>,
    /// Mechanisms that both ends leave out.
    pub sender_without: Vec<Mechanism>,
    /// Whether to record the notes for an explanation.
    pub explain: bool,
}

impl RunOptions {
    /// Returns the options of a plain run: the first seed, a user at the pace `look`, and a host that answers at once.
    pub fn new(prediction: Prediction, ends: Ends, path: Path) -> Self {
        Self {
            prediction,
            pace: Pace::Look,
            path,
            seed: 1,
            host_delay: Duration::ZERO,
            ends,
            awaits_echo: true,
            prompt_memory: false,
            reference: None,
            sender_without: Vec::new(),
            explain: false,
        }
    }

    /// Returns an end's transport settings, changed as these options ask.
    fn transport(&self, config: Config) -> Config {
        let all = self.ends.transport(config);
        let all = Config { reference: self.reference.unwrap_or(all.reference), ..all };
        self.sender_without.iter().copied().fold(all, Config::without)
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// When the recording began.
    pub start: Instant,
    /// The outcome of each key.
    pub outcomes: Vec<Outcome>,
    /// The mistakes on the user's screen.
    pub mistakes: Vec<Mistake>,
    /// The flickers on the user's screen.
    pub flickers: Vec<Flicker>,
    /// Traffic to the server.
    pub uplink: Traffic,
    /// Traffic to the client.
    pub downlink: Traffic,
    /// Whether the user saw the last recorded screen at the end.
    pub ends_true: bool,
    /// How many bytes from the user differ from the recorded byte at the same place.
    pub unexpected: usize,
    /// The engine's notes, if the options ask for an explanation.
    pub notes: Option<Notes>,
}

impl Run {
    /// Returns how long each key that has an answer waited for it, in the order of typing. `None` is an answer that was
    /// never seen.
    pub fn response_times(&self, script: &Script) -> Vec<Option<Duration>> {
        let keys = script.keys.iter().zip(&self.outcomes).filter(|(key, _)| key.after.is_some());
        keys.map(|(_, outcome)| outcome.latency()).collect()
    }
}

/// The client end, and beside it the receiver of a download if there is one.
type Left<'a> = Beside<ClientEnd<Typist<'a>>, Receiver>;
/// The server end, and beside it the sender of a download if there is one.
type Right<'a> = Beside<ServerEnd<ReplayedProgram<'a>>, Sender<Bulk>>;

/// Plays a recording. With a memory of prompts it plays twice, the second time with the prompts of the first.
///
/// # Errors
///
/// Returns a sentence if the session did not begin.
pub(crate) fn play(script: &Script, options: &RunOptions) -> Result<Run, String> {
    if !options.prompt_memory {
        return play_once(script, options, None).map(|(run, _)| run);
    }
    let empty = PromptMemory::new(SALT, Vec::new(), Vec::new());
    let first = RunOptions { explain: false, ..options.clone() };
    let (_, memory) = play_once(script, &first, Some(empty))?;
    let next =
        |it: PromptMemory| PromptMemory::new(SALT, it.known().to_vec(), it.refused().to_vec());
    play_once(script, options, memory.map(next)).map(|(run, _)| run)
}

/// Plays a recording in a session that begins with these prompts. Returns the run and the prompts at its end.
fn play_once(
    script: &Script,
    options: &RunOptions,
    memory: Option<PromptMemory>,
) -> Result<(Run, Option<PromptMemory>), String> {
    let seed = Seed::new(options.seed);
    let notes = options.explain.then(Notes::default);
    let mut client = client_end(client_config(script, options, seed), script, options.pace, notes);
    if let Some(memory) = memory {
        client.client.handle_prompt_memory(memory);
    }
    let server = server_end(server_config(script, options, seed), script, options.host_delay);
    let [uplink, downlink] = options.path.settling();
    let download = options.path.download;
    let sender = download.map(|window| Sender::new(Bulk::new(window), LEFT_ADDRESS));
    let client = Beside { session: client, flow: download.map(|_| Receiver::new(RIGHT_ADDRESS)) };
    let server = Beside { session: server, flow: sender };
    let mut net = Net::new(client, server, uplink, downlink, seed);
    settle(&mut net).map_err(|()| "the session did not begin".to_owned())?;

    let start = net.now();
    let [uplink, downlink] = options.path.links(start, seed);
    net.reconfigure(uplink, downlink);
    let first = start + script.keys.first().map_or(Duration::ZERO, |key| key.at);
    let traffic = Traffic { from: first, ..Traffic::default() };
    (net.left.session.traffic, net.right.session.traffic) = (traffic, traffic);
    net.left.session.user.start(start);
    net.right.session.program.start(start);
    if let Some(sender) = &mut net.right.flow {
        sender.start(start);
    }
    // After this long, the run gives up on a path that lets nothing through.
    let waits = u32::try_from(script.keys.len() + 1).unwrap_or(u32::MAX);
    let limit = script.duration() + (PATIENCE + options.host_delay).saturating_mul(waits);
    net.run_until(limit, |left, right| {
        left.session.user.is_done() && right.session.program.is_done()
    });
    net.run_until(TAIL, |left, right| {
        right.session.program.is_done() && left.session.user.has_ended()
    });
    let run = Run {
        start,
        outcomes: net.left.session.user.judge.outcomes().to_vec(),
        mistakes: net.left.session.user.judge.mistakes().to_vec(),
        flickers: net.left.session.user.judge.flickers().to_vec(),
        uplink: net.left.session.traffic,
        downlink: net.right.session.traffic,
        ends_true: net.left.session.user.judge.is_at_end(),
        unexpected: net.right.session.program.unexpected(),
        notes: net.left.session.user.notes.take(),
    };
    Ok((run, net.left.session.client.prompt_memory().cloned()))
}

/// Starts the session: some echoed keys, then a cleared screen.
fn settle(net: &mut Net<Left<'_>, Right<'_>>) -> Result<(), ()> {
    for (column, byte) in (1..).zip(SETTLING) {
        net.left.session.client.handle_input(net.now(), &[*byte]);
        let is_echoed = net.run_until(SETTLING_MAX, |left, _| is_settled(&left.session, column));
        is_echoed.then_some(()).ok_or(())?;
    }
    net.left.session.client.handle_input(net.now(), &[CLEAR]);
    let is_cleared = net.run_until(SETTLING_MAX, |left, _| is_settled(&left.session, 0));
    is_cleared.then_some(()).ok_or(())
}

fn client_config(script: &Script, options: &RunOptions, seed: Seed) -> ClientConfig {
    ClientConfig {
        size: script.size,
        terminal: TerminalCapabilities {
            functions: Functions::ALL,
            repertoire: Repertoire::FULL,
            osc: OscSupport { any: true, window: true, ..OscSupport::default() },
            init: true,
            alternate_screen: AlternateScreen::xterm(),
            cursor_styles: true,
            ..TerminalCapabilities::default()
        },
        prediction: options.prediction,
        program: NOTICE.to_owned(),
        offers_status: false,
        is_end_obeyed_twice: false,
        ..rove_headless::client_config(options.transport(Config::client()), seed)
    }
}

fn server_config(script: &Script, options: &RunOptions, seed: Seed) -> ServerConfig {
    ServerConfig {
        size: script.size,
        awaits_echo: options.awaits_echo,
        ..rove_headless::server_config(options.transport(Config::server()), seed)
    }
}
