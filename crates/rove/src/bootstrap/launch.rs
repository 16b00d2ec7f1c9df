//! Runs ssh, or the server on this computer, and reads the server's announcement from its output.

use std::io;
use std::process::{Command, ExitStatus, Stdio};

use rove_bootstrap::last_words::{LastWords, Refusal};
use rove_bootstrap::startup::{Announced, Progress, Startup, StartupError, Stream};
use rove_bootstrap::tunnel::banner::PREFACE_BYTES_MAX;
use rove_bootstrap::{HostOptions, Plan, WantedSession};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_platform::signals::set_ignored;
use rove_units::Duration;
use signal_hook::consts::{SIGCHLD, SIGHUP};

use crate::bootstrap::command::{Running, Step, Stop};
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::questions::Questions;
use crate::bootstrap::screen::{Screen, tell, tell_running};

/// Longest wait for the start of rove's command on the host, for `rove exec`, `-W` and `put`. Then ssh's input is
/// closed, because a forced command of sshd that reads it would never end. Chosen: three times as long as a slow login.
const INPUT_MAX: Duration = Duration::from_secs(15);
/// Longest wait for the start of rove's command, in place of [`INPUT_MAX`], if ssh may ask the user. After this time,
/// no question is open. Source: sshd_config(5), `LoginGraceTime`.
const ASKED_INPUT_MAX: Duration = Duration::from_secs(120);

/// The result of a run of ssh, or of the server on this computer.
pub(super) struct Launch {
    /// The facts in the output, such as the server's address, port and key; each may be missing.
    pub(super) announced: Announced,
    pub(super) end: End,
}

/// How ssh, or the server on this computer, has ended, or why it still runs.
pub(super) enum End {
    Ended(ExitStatus),
    /// ssh failed for this reason.
    Refused(Refusal),
    /// The host has no server program, and ssh keeps the connection open.
    Waits(Box<Waiting>),
    /// The server is rove's, and ssh stays to carry datagrams to it.
    Carries {
        ssh: Box<Running>,
        /// Whether ssh seems to have logged in without asking the user anything.
        asks_nothing: bool,
    },
}

/// An ssh whose command waits on a host that has no server program.
pub(super) struct Waiting {
    pub(super) ssh: Box<Running>,
    /// The plan of the login. With `plan.carries`, a line on ssh's input makes the host search for a server again.
    pub(super) plan: Plan,
    announced: Announced,
    asks_nothing: bool,
}

impl Waiting {
    /// Returns the host's addresses, or an empty list if [`proxy`](super::proxy) has not reported them.
    pub(super) fn addresses(&self) -> Vec<String> {
        self.announced.addresses()
    }

    /// Makes the command on the host search for a server again, after rove was copied there. Returns the plan and the
    /// result, or the errors of [`start_server`].
    pub(super) fn search(self, options: &HostOptions) -> Result<(Plan, Launch), BootstrapError> {
        let Self { mut ssh, plan, announced, asks_nothing } = self;
        let events = events()?;
        // If ssh has ended, `listen` reports that.
        let _ = ssh.send_line();
        let mut startup = Startup::new(plan.rules());
        startup.announced =
            Announced { no_server_program: false, no_tunnel_program: false, ..announced };
        let questions = Questions::after(asks_nothing, &options.ssh, events.now());
        let launch = listen(options, &plan, *ssh, events, questions, startup)?;
        Ok((plan, launch))
    }
}

/// Runs the plan's `command` (ssh, or the server on this computer) until it ends or carries datagrams. Also returns if
/// the command waits because the host has no server program. The user sees its output up to the server's announcement.
///
/// # Errors
///
/// Returns an error if ssh cannot be run or the announcement is malformed.
pub(super) fn start_server(
    options: &HostOptions,
    plan: &Plan,
    mut command: Command,
) -> Result<Launch, BootstrapError> {
    tell_running(options, &command);
    // The event loop exists before ssh is started, so that it never misses ssh's end.
    let events = events()?;
    let questions = Questions::watch(&options.ssh, events.now());
    if plan.carries {
        command.stdin(Stdio::piped());
    }
    let mut ssh = start_watched(&mut command, plan.outlives_terminal())
        .map_err(|error| BootstrapError::ssh_missing(options.name, command.get_program(), error))?;
    if plan.carries {
        ssh.read_by_line();
    }
    listen(options, plan, ssh, events, questions, Startup::new(plan.rules()))
}

/// Starts ssh, which ends if this process is killed. An ssh that outlives the terminal ignores SIGHUP. This process
/// obeys SIGHUP until the session begins, so that closing the terminal also ends an unfinished login.
fn start_watched(command: &mut Command, outlives_terminal: bool) -> io::Result<Running> {
    let was_ignored = outlives_terminal.then(|| set_ignored(SIGHUP, true)).transpose()?;
    let ssh = Running::start(command);
    was_ignored.map(|was_ignored| set_ignored(SIGHUP, was_ignored)).transpose()?;
    let mut ssh = ssh?;
    ssh.watch();
    Ok(ssh)
}

fn events() -> Result<EventLoop, BootstrapError> {
    EventLoop::new(Clock::start(), &[SIGCHLD])
        .map_err(|error| BootstrapError::Local { what: "waiting for ssh", error })
}

/// Reads the output of a running ssh, and returns as [`start_server`] does. `startup` parses the announcement, and
/// holds the facts from an earlier search.
fn listen(
    options: &HostOptions,
    plan: &Plan,
    mut ssh: Running,
    mut events: EventLoop,
    mut questions: Questions,
    startup: Startup,
) -> Result<Launch, BootstrapError> {
    let mut listener = Listener::new(options, plan, startup);
    let is_call = matches!(options.session, WantedSession::Streams(_));
    let input_max = if questions.may_come() { ASKED_INPUT_MAX } else { INPUT_MAX };
    let mut input_until = Some(events.now() + input_max);
    loop {
        let is_foreign = is_call && !listener.startup.announced.has_started;
        if is_foreign && input_until.take_if(|until| *until <= events.now()).is_some() {
            // If ssh's input closes, a session over UDP only loses its fallback, the tunnel through this ssh.
            if !plan.is_tunnel() {
                drop(ssh.take_input());
            }
            tell_of_silence(options, input_max);
        }
        if is_foreign && listener.output_bytes > PREFACE_BYTES_MAX {
            // The output is a forced command's, which ssh passes on in full.
            ssh.end(&mut events);
            let (announced, _) = listener.conclude(false)?;
            return Ok(Launch { announced, end: End::Ended(ExitStatus::default()) });
        }
        let look_at = plan.carries.then(|| questions.look(events.now()));
        let wake_at = look_at.into_iter().chain(input_until.filter(|_| is_foreign)).min();
        match ssh.step(&mut events, wake_at) {
            Ok(Step::Said(said)) => {
                if let Err(error) = listener.read(said) {
                    ssh.end(&mut events);
                    return Err(error.into());
                }
                let is_announced = listener.is_announced;
                let is_carrier = plan.carries && ssh.has_input();
                if is_carrier && is_announced && !listener.startup.announced.is_stock {
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

/// Tells the user of a call that the host has not started rove's command for the time `waited`.
fn tell_of_silence(options: &HostOptions, waited: Duration) {
    if !options.quiet {
        let (host, seconds) = (options.host.to_string_lossy(), waited.as_millis() / 1000);
        let said = format!(
            "{} has not started rove's command in {seconds} s: its login is slow, or its sshd runs another command \
             (ForceCommand, or command= in authorized_keys); Ctrl-C ends the wait",
            host.escape_debug()
        );
        tell(options.name.as_str(), &said);
    }
}

/// Start of the line that a rove server prints after its announcement, even if it was called as `mosh-server`.
const OURS: &[u8] = b"[build rove ";
/// Most bytes kept of ssh's output from the server's announcement on. Chosen: ten times a server's output.
const FAREWELL_BYTES_MAX: usize = 4096;

/// Most bytes of the first line end on standard output. Chosen: a terminal on the host adds a carriage return.
const BLANK_BYTES_MAX: usize = 2;

/// Reads both output streams of ssh, and finds the server's announcement in them.
struct Listener {
    startup: Startup,
    screen: Screen,
    /// Holds back ssh's own error lines, because a sentence of rove may replace them.
    last_words: LastWords,
    /// The line end with which rove's command begins its output, until other output is shown. It is left out if the
    /// command's own text follows. `None` after other output, and if another command runs.
    blank: Option<Vec<u8>>,
    /// Whether ssh's error stream is hidden after the announcement. It has ssh's messages or a server's licence text.
    hides_errors: bool,
    is_announced: bool,
    /// How many bytes of standard output have been read.
    output_bytes: usize,
    /// The output that arrived with or after the announcement.
    after_announcement: Vec<u8>,
}

impl Listener {
    fn new(options: &HostOptions, plan: &Plan, startup: Startup) -> Self {
        Self {
            blank: (!startup.announced.has_started).then(Vec::new),
            startup,
            screen: match options.session {
                WantedSession::Streams(_) => Screen::beside_output(),
                _ => Screen::new(options.name),
            },
            last_words: LastWords::new(&options.host, &plan.config, options.verbose),
            hides_errors: options.ssh_pty && !plan.is_tunnel(),
            is_announced: false,
            output_bytes: 0,
            after_announcement: Vec::new(),
        }
    }

    /// Reads bytes that arrived at the same time on both streams. Returns the error of a malformed announcement.
    fn read(&mut self, said: [(Stream, &[u8]); 2]) -> Result<(), StartupError> {
        // The server's licence text and ssh's closing messages follow the announcement and are not shown. The streams'
        // order is unknown. So a message of ssh that arrives together with the announcement is hidden, too.
        let was_announced = self.is_announced;
        let mut texts = [Vec::new(), Vec::new()];
        let mut outcome = Ok(());
        for ((stream, bytes), text) in said.into_iter().zip(&mut texts) {
            self.output_bytes += if stream == Stream::Output { bytes.len() } else { 0 };
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
                stream == Stream::Errors && self.is_announced && self.hides_errors;
            if !was_announced && !is_after_announcement {
                self.show(stream, &text);
            }
        }
        outcome
    }

    fn show(&mut self, stream: Stream, text: &[u8]) {
        match stream {
            Stream::Errors => self.screen.show(stream, &self.last_words.filter(text)),
            Stream::Output => self.show_output(text),
        }
    }

    fn show_output(&mut self, mut text: &[u8]) {
        if let Some(blank) = &mut self.blank {
            while let [byte @ (b'\r' | b'\n'), rest @ ..] = text
                && blank.len() < BLANK_BYTES_MAX
                && blank.last() != Some(&b'\n')
            {
                blank.push(*byte);
                text = rest;
            }
            if text.is_empty() {
                return;
            }
            let blank = self.blank.take().filter(|_| !self.startup.announced.has_started);
            blank.iter().for_each(|blank| self.screen.show(Stream::Output, blank));
        }
        self.screen.show(Stream::Output, text);
    }

    /// Finishes both streams. Returns the announced facts, and why ssh failed, if it `has_failed` for a known reason.
    fn conclude(mut self, has_failed: bool) -> Result<(Announced, Option<Refusal>), StartupError> {
        let mut refusal = None;
        let blank = self.blank.take().filter(|_| self.is_announced);
        blank.iter().for_each(|blank| self.screen.show(Stream::Output, blank));
        for stream in Stream::ALL {
            let mut text = Vec::new();
            let end = self.startup.finish(stream, &mut text);
            if self.is_announced {
                if stream == Stream::Errors {
                    // After a successful login, no sentence of rove replaces ssh's lines.
                    self.screen.show(stream, &self.last_words.conclude(false).1);
                }
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
