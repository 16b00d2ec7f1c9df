//! Running ssh, or the local server, from its start to its end.

use std::process::{Command, ExitStatus, Stdio};

use rove_bootstrap::last_words::{LastWords, Refusal};
use rove_bootstrap::startup::{Announced, Progress, Startup, StartupError, Stream};
use rove_bootstrap::{HostOptions, Plan, WantedSession};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use signal_hook::consts::SIGCHLD;

use crate::bootstrap::command::{Running, Step, Stop};
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::questions::Questions;
use crate::bootstrap::screen::{Screen, tell_running};

/// The result of running ssh, or the local server.
pub(super) struct Launch {
    /// The address, port and key that the server announced; each may be missing.
    pub(super) announced: Announced,
    pub(super) end: End,
}

/// How the program that was to start a server ended.
pub(super) enum End {
    Ended(ExitStatus),
    /// ssh failed for this reason.
    Refused(Refusal),
    /// The host has no server, and ssh keeps the connection open.
    Waits(Box<Waiting>),
    /// The server is ours, and ssh carries datagrams to it.
    Carries {
        ssh: Box<Running>,
        /// Whether the login has asked the user nothing, as far as is known.
        asks_nothing: bool,
    },
}

/// An ssh that waits on a host without a server.
pub(super) struct Waiting {
    pub(super) ssh: Box<Running>,
    /// The plan. With `carries`, the ssh can search the host again.
    pub(super) plan: Plan,
    announced: Announced,
    asks_nothing: bool,
}

impl Waiting {
    /// Returns the addresses of the host; empty if our proxy command has not told them.
    pub(super) fn addresses(&self) -> Vec<String> {
        self.announced.addresses()
    }

    /// Has the ssh search the host again, after rove was copied there. Returns the result, and the plan that was used.
    ///
    /// # Errors
    ///
    /// As [`start_server`].
    pub(super) fn search(self, options: &HostOptions) -> Result<(Plan, Launch), BootstrapError> {
        let Self { mut ssh, plan, announced, asks_nothing } = self;
        let events = events()?;
        // The end of ssh is noticed when its output is read.
        let _ = ssh.send_line();
        let mut startup = Startup::new(plan.rules());
        startup.announced =
            Announced { no_server_program: false, no_tunnel_program: false, ..announced };
        let questions = Questions::after(asks_nothing, &options.ssh, events.now());
        let launch = listen(options, &plan, *ssh, events, questions, startup)?;
        Ok((plan, launch))
    }
}

/// Runs ssh (or the local server) by the plan's `command` to its end, or until the host turns out to have no server.
/// Shows the user its output until the server has announced itself.
///
/// # Errors
///
/// Returns that ssh cannot be run, or what stock's rules refuse.
pub(super) fn start_server(
    options: &HostOptions,
    plan: &Plan,
    mut command: Command,
) -> Result<Launch, BootstrapError> {
    tell_running(options, &command);
    // The loop exists before ssh is started, so that ssh's end is never missed.
    let events = events()?;
    let questions = Questions::watch(&options.ssh, events.now());
    if plan.carries {
        command.stdin(Stdio::piped());
    }
    let mut ssh = Running::start(&mut command)
        .map_err(|error| BootstrapError::ssh_missing(options.name, command.get_program(), error))?;
    if plan.carries {
        ssh.read_by_line();
    }
    listen(options, plan, ssh, events, questions, Startup::new(plan.rules()))
}

fn events() -> Result<EventLoop, BootstrapError> {
    EventLoop::new(Clock::start(), &[SIGCHLD])
        .map_err(|error| BootstrapError::Local { what: "waiting for ssh", error })
}

/// Reads the output of a running ssh. `startup` holds the facts that are known.
fn listen(
    options: &HostOptions,
    plan: &Plan,
    mut ssh: Running,
    mut events: EventLoop,
    mut questions: Questions,
    startup: Startup,
) -> Result<Launch, BootstrapError> {
    let mut listener = Listener {
        startup,
        screen: match options.session {
            WantedSession::Streams(_) => Screen::beside_output(),
            _ => Screen::new(options.name),
        },
        last_words: LastWords::new(&options.host, &plan.config, options.verbose),
        has_terminal: options.ssh_pty && !plan.is_tunnel(),
        is_announced: false,
        after_announcement: Vec::new(),
    };
    loop {
        let look_at = plan.carries.then(|| questions.look(events.now()));
        match ssh.step(&mut events, look_at) {
            Ok(Step::Said(said)) => {
                if let Err(error) = listener.read(said) {
                    ssh.end(&mut events);
                    return Err(error.into());
                }
                let is_announced = listener.is_announced;
                if plan.carries && is_announced && !listener.startup.announced.is_stock {
                    let asks_nothing = !questions.have_come(events.now());
                    let (announced, _) = listener.conclude(false)?;
                    let end = End::Carries { ssh: Box::new(ssh), asks_nothing };
                    return Ok(Launch { announced, end });
                }
                if plan.waits() && listener.startup.announced.lacks_program() {
                    let (announced, _) = listener.conclude(false)?;
                    let (ssh, plan) = (Box::new(ssh), plan.clone());
                    let known = announced.clone();
                    let asks_nothing = !questions.have_come(events.now());
                    let waiting = Waiting { ssh, plan, announced: known, asks_nothing };
                    return Ok(Launch { announced, end: End::Waits(Box::new(waiting)) });
                }
            }
            Ok(Step::Ended(status)) => {
                let (announced, refusal) = listener.conclude(plan.is_ssh_failure(status))?;
                let end = refusal.map_or(End::Ended(status), End::Refused);
                return Ok(Launch { announced, end });
            }
            Ok(Step::Late) | Err(Stop::Interrupted) => {}
            Err(Stop::Local(error)) => {
                return Err(BootstrapError::Local { what: "the output of ssh", error });
            }
        }
    }
}

/// Beginning of the line that a rove server prints after its announcement, under any name.
const OURS: &[u8] = b"[build rove ";
/// Most bytes kept of the output after an announcement. Chosen: ten times a server's.
const FAREWELL_BYTES_MAX: usize = 4096;

/// Reads both output streams of ssh, and finds the server's announcement in them.
struct Listener {
    startup: Startup,
    screen: Screen,
    /// ssh's own error lines, held back to be told in one sentence.
    last_words: LastWords,
    /// Whether the command on the host has a terminal, so that only ssh itself prints on the error stream.
    has_terminal: bool,
    is_announced: bool,
    /// The output that came together with the announcement and after it.
    after_announcement: Vec<u8>,
}

impl Listener {
    /// Reads bytes that arrived at the same time on both streams.
    fn read(&mut self, said: [(Stream, &[u8]); 2]) -> Result<(), StartupError> {
        // The licence and ssh's closing lines, which follow the announcement, are not shown. The order of the two
        // streams is unknown. Output of ssh at the time of the announcement counts as printed after it, as ssh was
        // silent for the whole login before.
        let was_announced = self.is_announced;
        let mut texts = [Vec::new(), Vec::new()];
        let mut outcome = Ok(());
        for ((stream, bytes), text) in said.into_iter().zip(&mut texts) {
            if was_announced && stream == Stream::Output {
                continue;
            }
            match self.startup.read(stream, bytes, text) {
                Ok(progress) => self.is_announced |= progress == Progress::Announced,
                Err(_) if was_announced => {}
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        if self.is_announced {
            for (_, bytes) in said {
                let room = FAREWELL_BYTES_MAX - self.after_announcement.len();
                self.after_announcement.extend(&bytes[..bytes.len().min(room)]);
            }
        }
        for ((stream, _), text) in said.into_iter().zip(texts) {
            let is_after_announcement =
                stream == Stream::Errors && self.is_announced && self.has_terminal;
            if !was_announced && !is_after_announcement {
                self.show(stream, &text);
            }
        }
        outcome
    }

    fn show(&mut self, stream: Stream, text: &[u8]) {
        match stream {
            Stream::Errors => self.screen.show(stream, &self.last_words.filter(text)),
            Stream::Output => self.screen.show(stream, text),
        }
    }

    /// Finishes both streams. Returns what the server announced and, if ssh failed for a known reason, that reason.
    fn conclude(mut self, has_failed: bool) -> Result<(Announced, Option<Refusal>), StartupError> {
        let mut refusal = None;
        for stream in Stream::ALL {
            let mut text = Vec::new();
            let end = self.startup.finish(stream, &mut text);
            if self.is_announced {
                continue;
            }
            self.show(stream, &text);
            if stream == Stream::Errors {
                let knows_more = self.startup.announced.proxy_failure.is_some();
                let (reason, held) = self.last_words.conclude(has_failed && !knows_more);
                self.screen.show(stream, &held);
                refusal = reason;
            }
            self.screen.finish(stream);
            end?;
        }
        let mut announced = self.startup.announced;
        announced.is_stock &=
            !self.after_announcement.windows(OURS.len()).any(|window| window == OURS);
        Ok((announced, refusal))
    }
}
