//! The server program: it binds a UDP port, announces itself, detaches, and moves data between the pty and the network.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use anyhow::Context;
use rove_bootstrap::remote::{
    AGENT_VARIABLE, DETACHED_VARIABLE, SESSION_VARIABLE, WINDOW_VARIABLE,
};
use rove_bootstrap::{DetachedUse, ProgramName, SessionLabel};
use rove_control::{Attachment, SessionName, SessionStatus, lock, wait_for_file};
use rove_platform::clock::{self, Clock};
use rove_platform::event_loop::EventLoop;
use rove_platform::signals;
use rove_session::{Server, ServerConfig, ServerOutcome};
use rove_ssp::{Capabilities, Config, Key};
use rove_terminal::Size;
use rove_udp::{PortRange, ServerSocket};
use rove_units::{Duration, Instant};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Rlimit, Signal, kill_process};
use rustix::stdio;
use rustix::termios::{isatty, tcdrain};

use crate::messages::say;
use crate::sys::{self, Fork};
use crate::{announcement, attach, entropy, getent, hardening, logging, threads};

mod agent;
mod binding;
mod client_path;
mod drops;
mod exec;
mod forward;
mod hold;
mod host;
mod host_listeners;
mod host_output;
mod linger;
mod other_session;
pub(crate) mod policy;
mod prepared_program;
mod pump;
mod scope;
mod ssh_target;
mod stream_life;
mod typing;
mod visitors;
mod wire;

use agent::Agent;
pub(crate) use binding::BindAddress;
use forward::Forwards;
use hold::Hold;
use host::{Content, Control, Host};
use policy::Policy;
use prepared_program::PreparedProgram;
use pump::Pump;
use stream_life::StreamLife;
use wire::Wire;

/// Environment variable: seconds without a client after which the session ends; 0 means never.
const NETWORK_TIMEOUT_VARIABLE: &str = "MOSH_SERVER_NETWORK_TMOUT";
/// Environment variable: SIGUSR1 ends only sessions whose client has been silent for this many seconds.
const SIGNAL_TIMEOUT_VARIABLE: &str = "MOSH_SERVER_SIGNAL_TMOUT";

/// Longest silence of the client before a session of `rove` with a program ends: 30 days. The client may sleep, or
/// another client may attach. Meanwhile the session uses memory and a port. Chosen: longer than a laptop stays shut
/// over a holiday.
const DETACHED_MAX: Duration = Duration::from_secs(2_592_000);

/// The purpose of a server's session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The session runs a program on a terminal.
    #[default]
    Program,
    /// The session only carries streams, without a program and a terminal. [`StreamLife`] says when it ends.
    Streams,
    /// The session only carries streams (`rove -N`). It also goes on while no stream is open.
    Forwards,
}

impl Purpose {
    /// Returns the rule by which a session without a program stays or ends.
    const fn life(self, now: Instant) -> StreamLife {
        match self {
            Self::Forwards => StreamLife::Kept,
            Self::Streams | Self::Program => StreamLife::new(now),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerOptions {
    pub(crate) purpose: Purpose,
    pub(crate) bind: BindAddress,
    pub(crate) ports: PortRange,
    /// How many colours the user's terminal has (`-c`). `None` if unknown.
    pub(crate) colors: Option<u32>,
    /// Variables from the client (`-l NAME=VALUE`): `COLORTERM`, rove's own variables, and locale variables for a host
    /// whose own locale is not UTF-8.
    pub(crate) locale: Vec<(String, String)>,
    /// The command and its arguments; empty for the login shell.
    pub(crate) command: Vec<OsString>,
    pub(crate) verbose: u8,
    /// The name under which the program was called.
    pub(crate) name: ProgramName,
    /// The session's label (`-n NAME`), if the user has chosen one. If a session with this label exists, no server
    /// starts. In that case, rove prints a key for that session's next client.
    pub(crate) session: Option<SessionLabel>,
}

/// Runs a server: announces it on standard output, detaches, and serves in a child process. If the user wants a session
/// that already runs, starts no server. In that case, prints that session's port and key, or a list of sessions.
/// Returns the exit code: in the parent after printing, in the child at the session's end.
///
/// # Errors
///
/// Returns why no server can start, in a sentence for the user.
pub(crate) fn run(options: ServerOptions) -> anyhow::Result<u8> {
    // This process holds the lock until other logins can find the new session by its label.
    let lock = options.session.as_ref().map(|_| lock("names.lock", wait_for_file)).transpose();
    let lock = lock.context("cannot give the session a name")?;
    if let Some(name) = &options.session
        && attach::run_if_there(name, offered(&options, SESSION_VARIABLE))?
    {
        return Ok(0);
    }
    if options.purpose == Purpose::Program
        && let Some(code) = attach::instead_of_new(detached_use(&options))
    {
        return Ok(code);
    }
    scope::leave_login(options.name);
    let prepared = PreparedServer { lock, ..PreparedServer::prepare(&options)? };
    let (clock, events) = start_loop()?;
    let nothing = open_nothing().context("cannot open /dev/null")?;
    // The session must outlive the ssh connection that started it, whose end sends SIGHUP.
    signals::set_ignored(libc::SIGHUP, true).context("cannot ignore SIGHUP")?;
    let alone = threads::check_alone().context("cannot detach")?;
    match sys::fork(alone).context("cannot detach")? {
        Fork::Parent(server) => {
            // The parent announces the server last. So the user gets no port and key if an earlier step fails.
            if let Err(error) = announcement::print(prepared.port(), &prepared.key) {
                let _ = kill_process(server, Signal::TERM);
                return Err(error.context("cannot announce the server"));
            }
            say_goodbye(options.name, server);
            return Ok(0);
        }
        Fork::Child => {}
    }
    detach(options.verbose, nothing).context("cannot detach")?;
    logging::to_standard_error(options.verbose);
    let outcome = prepared.serve(clock, events, Listing::Listed)?;
    tracing::info!(?outcome, "session over");
    if options.verbose > 0 {
        // Writing may fail, because the reader of this output may be gone.
        let _ = writeln!(io::stdout(), "\n[{} is exiting.]", program(options.name));
    }
    Ok(0)
}

/// Returns the clock of a session and its event loop. The loop still works in a forked child. Create it before the
/// session's program starts, so that the program's end is never missed.
///
/// # Errors
///
/// Returns the system's error, for example a lack of descriptors.
pub(crate) fn start_loop() -> anyhow::Result<(Clock, EventLoop)> {
    let clock = Clock::start();
    Ok((clock, EventLoop::new(clock, &pump::SIGNALS).context("cannot catch signals")?))
}

/// Whether a session appears in the list of logged-in users (utmp) and in `rove list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The session appears in both lists.
    Listed,
    /// The session appears in neither list, because it belongs to `rove demo`.
    Unlisted,
}

/// A server's socket, key and program, obtained while errors can still be shown to the user.
pub(crate) struct PreparedServer {
    socket: ServerSocket,
    pub(crate) key: Key,
    /// The session's program. `None` for a session that only carries streams.
    program: Option<PreparedProgram>,
    purpose: Purpose,
    name: ProgramName,
    session: Option<SessionLabel>,
    /// The random word in the environment of the session's programs (`ROVE_SESSION`).
    word: String,
    /// The lock on session labels, held until other logins can find this session's label. `None` without a label.
    lock: Option<OwnedFd>,
    network_timeout: Option<Duration>,
    signal_timeout: Option<Duration>,
    self_check: bool,
    /// Whether the session offers its programs the client's ssh agent.
    has_agent: bool,
    /// The limit on core dumps that this server inherited, for the session's programs. Its own limit is lower.
    core_limit: Rlimit,
}

impl PreparedServer {
    /// Binds a port, draws a key and prepares the program, unless the session has none.
    ///
    /// # Errors
    ///
    /// Returns what failed, in a sentence for the user.
    pub(crate) fn prepare(options: &ServerOptions) -> anyhow::Result<Self> {
        // A slow user directory would stop the event loop at the first `rove exec`, so the user is looked up here.
        let _ = getent::own_user();
        let core_limit = hardening::conceal_memory().context("cannot conceal the key")?;
        let socket = binding::bind(options.bind, options.ports, options.name)?;
        let word = entropy::challenge().context("cannot draw a session's word")?.to_string();
        let has_program = options.purpose == Purpose::Program;
        let program = has_program
            .then(|| PreparedProgram::prepare(options, &word, core_limit))
            .transpose()?;
        Ok(Self {
            socket,
            key: entropy::key().context("cannot draw a session key")?,
            program,
            purpose: options.purpose,
            name: options.name,
            session: options.session.clone(),
            word,
            lock: None,
            network_timeout: idle_limit(
                NETWORK_TIMEOUT_VARIABLE,
                silence_max(options.purpose, options.name),
            ),
            signal_timeout: idle_limit(SIGNAL_TIMEOUT_VARIABLE, None),
            self_check: options.verbose >= logging::SELF_CHECK_VERBOSITY,
            has_agent: has_program && offered(options, AGENT_VARIABLE).is_some(),
            core_limit,
        })
    }

    /// Shows `line` on the session's screen before all other output.
    pub(crate) fn greet(&mut self, line: &str) {
        self.program.iter_mut().for_each(|program| program.greet(line));
    }

    pub(crate) const fn port(&self) -> u16 {
        self.socket.local_addr().port()
    }

    /// Serves until the session ends, with the clock and loop of [`start_loop`]. The program runs in a child process.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses a resource that a server needs.
    pub(crate) fn serve(
        self,
        clock: Clock,
        events: EventLoop,
        listing: Listing,
    ) -> anyhow::Result<ServerOutcome> {
        let card = self.card();
        let listed = listing == Listing::Listed;
        let size = self.program.as_ref().map_or(Size::DEFAULT, |program| program.size);
        // The agent socket's path contains the number of this process, so the socket is made after the fork.
        let agent = if self.has_agent { Agent::open() } else { Agent::default() };
        let (content, hold, entry) = match self.program {
            Some(mut program) => {
                program.lead_to(agent.path());
                let (hosted, hold, entry) = program.start(listed)?;
                (Content::Program(hosted), hold, entry)
            }
            None => (Content::Streams(self.purpose.life(clock.now())), Hold::new(false), None),
        };
        let name = listed.then_some(SessionName { pid: card.pid, port: card.port });
        let control = name.map(|name| Control::open(name, card));
        drop(self.lock);
        let session = Server::new(
            ServerConfig {
                key: self.key,
                transport: Config {
                    capabilities: Some(capabilities(self.name)),
                    self_check: self.self_check,
                    ..Config::server()
                },
                ipv6: self.socket.local_addr().is_ipv6(),
                size,
                network_timeout: self.network_timeout,
                chaff: entropy::seed().context("cannot draw a seed")?.stream("server.chaff"),
                awaits_echo: true,
            },
            clock.now(),
        );
        hardening::keep_in_memory(session.key_memory());
        let host = Host { content, hold, entry, control };
        let wire = Wire::new(self.socket, name);
        let forwards = Forwards::new(self.core_limit, agent);
        Pump::new(events, session, wire, host, forwards, self.signal_timeout).run()
    }

    /// Returns the facts about the session that never change, for answers at its control socket. Call this after the
    /// fork, because the process number is among them.
    fn card(&self) -> SessionStatus {
        let program = self.program.as_ref();
        SessionStatus {
            pid: std::process::id(),
            port: self.port(),
            name: self.name.as_str().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: clock::unix_seconds(),
            terminal: program.map(PreparedProgram::terminal).unwrap_or_default(),
            command: program.map(PreparedProgram::command).unwrap_or_default(),
            attachment: Attachment {
                session: self.session.as_ref().map(ToString::to_string),
                word: Some(self.word.clone()),
                no_program: program.is_none(),
                loopback: self.socket.local_addr().ip().to_canonical().is_loopback(),
                ..Attachment::default()
            },
            ..SessionStatus::default()
        }
    }
}

/// Returns the protocol extensions that a server of this name offers under the host's policy.
fn capabilities(name: ProgramName) -> Capabilities {
    match name {
        ProgramName::Rove if Policy::read().streams => {
            rove_session::CAPABILITIES.union(Capabilities::STREAMS)
        }
        ProgramName::Rove | ProgramName::Mosh => rove_session::CAPABILITIES,
    }
}

/// Returns the user's choice of what this login does about detached sessions.
fn detached_use(options: &ServerOptions) -> DetachedUse {
    let name = offered(options, DETACHED_VARIABLE).filter(|_| options.name == ProgramName::Rove);
    name.and_then(DetachedUse::from_name).unwrap_or_default()
}

/// Returns the size of the user's window, if the client has sent it. A login shell then starts before the client's
/// first datagram. `None` for a command, and under Mosh's name.
fn window(options: &ServerOptions) -> Option<Size> {
    let is_shell = options.name == ProgramName::Rove && options.command.is_empty();
    let (columns, rows) =
        offered(options, WINDOW_VARIABLE).filter(|_| is_shell)?.split_once('x')?;
    Size::new(columns.parse::<u16>().ok()?, rows.parse::<u16>().ok()?).ok()
}

fn offered<'a>(options: &'a ServerOptions, variable: &str) -> Option<&'a str> {
    let found = options.locale.iter().find(|(name, _)| name == variable);
    found.map(|(_, value)| value.as_str())
}

/// Prints a warning on standard error.
fn warn(text: impl AsRef<str>) {
    // Writing may fail, because standard error may be a pipe without a reader.
    say(io::stderr(), text.as_ref());
}

/// Returns the default for how long the client may be silent before the session ends. `None` for no limit.
const fn silence_max(purpose: Purpose, name: ProgramName) -> Option<Duration> {
    match (purpose, name) {
        (Purpose::Streams | Purpose::Forwards, _) => Some(stream_life::UNHEARD_MAX),
        (Purpose::Program, ProgramName::Rove) => Some(DETACHED_MAX),
        // Mosh's own servers wait for ever, and scripts may depend on that.
        (Purpose::Program, ProgramName::Mosh) => None,
    }
}

/// Returns the limit on the client's silence from the environment variable. The limit is `default` if the variable is
/// unset, empty or wrong, and `None` if the variable is 0.
fn idle_limit(variable: &str, default: Option<Duration>) -> Option<Duration> {
    let Some(text) = std::env::var_os(variable).filter(|text| !text.is_empty()) else {
        return default;
    };
    match parse_idle_limit(&text) {
        Some(limit) => Some(limit).filter(|limit| !limit.is_zero()),
        None => {
            warn(format!("{variable} is ignored: {text:?} is no number of seconds"));
            default
        }
    }
}

/// Reads a number of seconds. `None` if the text is not a number.
fn parse_idle_limit(text: &OsStr) -> Option<Duration> {
    text.to_str()?.parse().ok().map(Duration::from_secs)
}

/// Returns the name of the server program in messages.
const fn program(name: ProgramName) -> &'static str {
    match name {
        ProgramName::Mosh => "mosh-server",
        ProgramName::Rove => "rove server",
    }
}

/// Prints the version and the server's process number. Scripts read both.
fn say_goodbye(name: ProgramName, server: Pid) {
    let server = server.as_raw_nonzero();
    let ours = env!("CARGO_PKG_VERSION");
    let version = match name {
        ProgramName::Mosh => format!("mosh-server (mosh 1.4.0) [build rove {ours}]"),
        ProgramName::Rove => format!("rove {ours}"),
    };
    let program = program(name);
    let _ = write!(io::stderr(), "\n{version}\n\n[{program} detached, pid = {server}]\n");
    for output in [stdio::stdout(), stdio::stderr()] {
        if isatty(output) {
            let _ = tcdrain(output);
        }
    }
}

/// Leaves the ssh connection's terminal session, and its pipes unless the user wants to read messages (`verbose`).
fn detach(verbose: u8, nothing: OwnedFd) -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    if verbose == 0 {
        // ssh ends only after these descriptors are closed.
        silence(nothing)?;
    }
    Ok(())
}

/// Opens `/dev/null`, which replaces the standard descriptors.
pub(crate) fn open_nothing() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
}

/// Redirects the three standard descriptors to `nothing`, and closes others that the process's parent has left open.
pub(crate) fn silence(nothing: OwnedFd) -> rustix::io::Result<()> {
    sys::close_inherited();
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(&nothing)?;
    stdio::dup2_stderr(&nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_of_roves_own_name_end_by_themselves_when_detached() {
        for (purpose, name, wanted) in [
            (Purpose::Program, ProgramName::Rove, Some(DETACHED_MAX)),
            (Purpose::Program, ProgramName::Mosh, None),
            (Purpose::Streams, ProgramName::Rove, Some(Duration::from_secs(24 * 3600))),
            (Purpose::Forwards, ProgramName::Rove, Some(Duration::from_secs(24 * 3600))),
        ] {
            assert_eq!(idle_limit("ROVE_TEST_UNSET", silence_max(purpose, name)), wanted);
        }
    }

    #[test]
    fn an_idle_limit_is_a_whole_number_of_seconds() {
        for (text, seconds) in
            [("", None), ("0", Some(0)), ("604800", Some(604_800)), ("-1", None), ("2x", None)]
        {
            let limit = seconds.map(Duration::from_secs);
            assert_eq!(parse_idle_limit(OsStr::new(text)), limit, "{text:?}");
        }
    }
}
