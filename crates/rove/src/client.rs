//! The interactive client moves bytes between the user's terminal and the network, and restores the terminal at the
//! end. With `-N` it can run without a terminal. `forward` is the client of `rove -W`, `exec` and `put`.

use std::net::SocketAddr;

use anyhow::Context;
use rove_bootstrap::{Account, AgentUse, Choices, Forwards, Joined, ProgramName};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_platform::signals;
use rove_platform::tty::{self, Tty};
use rove_session::{Client, ClientConfig, ClientOutcome, Door, Running, TerminalReport};
use rove_ssp::{Capabilities, Config, Key, wiping};
use rove_terminal::TerminalCapabilities;
use rove_units::Instant;
use rustix::stdio;
use signal_hook::consts::SIGTERM;

use crate::bootstrap::{self, address};
use crate::listeners::Listeners;
use crate::messages::{warn, wrapped_for};
use crate::prompt_store::PromptKeeper;
use crate::resume::{RecordKeeper, Saved, Store, Way};
use crate::session_call::{SessionCall, StreamsCall};
use crate::stdio_forward::{self, json::Channel};
use crate::terminal_type::{self, RenderOptions};
use crate::tunnel::inherited::Inherited;
use crate::tunnel::near::Tunnel;
use crate::tunnel::spare::Spare;
use crate::{doctor, entropy, hardening, logging, sys, threads};

pub(crate) mod agent;
mod asking;
mod controller_choice;
mod ending;
pub(crate) mod file_sender;
mod forward;
mod lender;
mod login_callback;
mod pump;
mod remote_forwards;
mod streams;
pub(crate) mod wire;

use agent::{AgentCall, AgentLoan};
use controller_choice::ControllerChoice;
use ending::{FAILURE, ended_by, exit_code, failure, missing_output, shell_hint, stock_silence};
use forward::joined;
use forward::load::{Carried, Ends};
use login_callback::LoginCallbacks;
use pump::{End, Pump};
use rove_udp::DualStackSockets;
use streams::{ClientStreams, Purpose};
use wire::Wire;

/// Exit code of a session that ended because connections cannot be forwarded. Also the exit code of every session that
/// shows nothing ([`is_unseen`]), except after SIGTERM (0). Source: OpenSSH 9.2 as observed.
const NOT_FORWARDED: u8 = 255;

/// The notice at the start of a session without a program.
const ALONE: &str = "This session runs no program and forwards connections; Ctrl-C ends it.";

#[derive(Clone)]
pub(crate) struct ClientOptions {
    pub(crate) server: SocketAddr,
    pub(crate) key: Key,
    /// The name by which the program was called.
    pub(crate) name: ProgramName,
    /// How often `-v` was given.
    pub(crate) verbose: u8,
    /// The session's facts and the user's options, as the login passed them to this client.
    pub(crate) call: SessionCall,
}

/// Runs a client on this process's terminal, or the job of a `rove -W`, `exec` or `put` call. Returns the exit code.
///
/// # Errors
///
/// Returns why the session or job could not start, or which local error ended it, in a sentence for the user. The
/// client has then restored the terminal, and has ended the login's ssh.
pub(crate) fn run(options: ClientOptions) -> anyhow::Result<u8> {
    let ssh = options.call.tunnel.clone();
    run_call(options).inspect_err(|_| ssh.iter().for_each(Inherited::end))
}

fn run_call(options: ClientOptions) -> anyhow::Result<u8> {
    if let Some(joined) = options.call.streams.joined.clone() {
        return carry(options, joined);
    }
    let way = match &options.call.resumed {
        Some(resumed) => Way::after(resumed).context("the session cannot be resumed")?,
        None => Way::New,
    };
    run_from(options, way)
}

/// Runs a client that continues a former client's session at a stock mosh-server, from the former client's record.
///
/// # Errors
///
/// Returns the errors of [`run`], or why the session cannot be resumed.
pub(crate) fn go_on(options: ClientOptions, saved: Saved) -> anyhow::Result<u8> {
    run_from(options, Way::Stock(saved))
}

/// Does the job of `joined` (`rove -W`, `exec` or `put`). Returns its exit code or the errors of [`run`]. If the host
/// does not begin the job, this process becomes an ssh that does it. A `put` call fails instead.
fn carry(options: ClientOptions, joined: Joined) -> anyhow::Result<u8> {
    let joined = stdio_forward::handed_command::restore(joined);
    let channel = Channel::take();
    let errors = channel.as_ref().map(Channel::errors).transpose()?;
    let ends = Ends::Standard { errors, changed: Vec::new() };
    let load =
        joined::load(&joined, ends, options.call.quiet).context("the call names no target")?;
    let call = options.call.clone();
    let (carried, channel) = forward::run(options, load, channel)?;
    if let Carried::Declined(reason) = carried {
        channel.iter().for_each(Channel::leave_to_ssh);
        if matches!(joined, Joined::Files { .. }) {
            let host = call.host.as_deref().unwrap_or("HOST").escape_debug().to_string();
            let failed =
                Carried::Failed(vec![format!("{}: {reason}", stdio_forward::refusal(&host))]);
            return Ok(failed.into_word().conclude());
        }
        return Err(stdio_forward::fall_back(&call, &joined, &reason).into());
    }
    let word = carried.into_word();
    channel.iter().for_each(|channel| channel.say(&word));
    Ok(word.conclude())
}

fn run_from(options: ClientOptions, way: Way) -> anyhow::Result<u8> {
    let (name, server) = (options.name, options.server);
    let SessionCall { choices, quiet, host, command, attached_by, .. } = options.call.clone();
    let is_unseen = is_unseen(&options.call);
    // The output of a remote command stays on the terminal, so no line `[rove is exiting.]` follows it.
    let says_end = !quiet && !is_unseen && running(name, command.as_deref()) != Running::Command;
    let says_missing = choices.scrollback != Some(false);
    let End { outcome, tried, refusal, tunnel, output_error, signal, missing, not_forwarded } =
        session(options, way)?;
    let Some(outcome) = outcome else {
        // The session goes on in a background child process, or waits for `rove resume` after its terminal was closed.
        return Ok(exit_code(ClientOutcome::Ended(None), name, signal));
    };
    tracing::info!(?outcome, "session over");
    let output_failure =
        output_error.map(|error| format!("cannot draw on standard output: {error}"));
    let (host_named, by) = (host.as_deref(), attached_by.as_deref());
    let silence = || match (name, &tunnel) {
        (_, Some(reason)) => {
            doctor::tunnel_line(server.port(), refusal.as_ref(), reason, (by, host_named))
        }
        (ProgramName::Mosh, _) => stock_silence(server),
        (ProgramName::Rove, _) => doctor::one_line(tried, refusal.as_ref(), host_named, by),
    };
    let said = failure(outcome, name, server, host.as_deref(), silence);
    let said = said.or_else(|| ended_by(outcome, name, signal));
    let host = host.as_deref().unwrap_or("HOST").escape_debug().to_string();
    let missing = missing
        .filter(|_| says_missing)
        .zip(command.as_deref())
        .map(|(missing, command)| missing_output(missing, (&host, command), choices.strict));
    for text in output_failure.iter().chain(&said).chain(&missing).chain(&not_forwarded) {
        tell(name, text);
    }
    let hint = command
        .filter(|_| outcome == ClientOutcome::Ended(None) && name == ProgramName::Rove)
        .and_then(|command| shell_hint(&command, &host));
    logging::failure().iter().chain(&hint).for_each(|sentence| tell(name, sentence));
    if says_end {
        // Scripts wait for this line. As in stock Mosh, it begins at the cursor's position.
        tty::say(stdio::stdout(), &format!("[{} is exiting.]\n", name.as_str()));
    }
    Ok(match (output_failure, not_forwarded) {
        (Some(_), _) => FAILURE,
        (None, None) if is_unseen && signal == Some(SIGTERM) => 0,
        (None, reason) if reason.is_some() || is_unseen => NOT_FORWARDED,
        (None, _) => exit_code(outcome, name, signal),
    })
}

/// Runs a session on this process's terminal, or without one ([`is_unseen`]), and restores the terminal. Returns how
/// the client ended, or the errors of [`run`].
fn session(options: ClientOptions, way: Way) -> anyhow::Result<End> {
    logging::to_file(options.verbose)?;
    hardening::conceal_memory().context("cannot conceal the key")?;
    let ClientOptions { name, server, key, call, .. } = &options;
    let is_unseen = is_unseen(call);
    // `rove resume` needs a terminal, so a session without a terminal has no record.
    let record = (!is_unseen).then(|| RecordKeeper::new(*name, *server, key, call, &way));
    let mut record = record.flatten();
    let SessionCall { choices, command, account, tunnel, streams, .. } = options.call;
    let StreamsCall { forwards, agent, gate, .. } = streams;
    if tunnel.is_none() && agent.is_none() {
        hardening::renounce_privileges().context("cannot renounce privileges")?;
    }
    let term = std::env::var("TERM").unwrap_or_default();
    let name = options.name;
    let wanted = forwards.unwrap_or_default();
    let (listeners, closed) = listeners(name, &wanted)?;
    let forwards = ClientStreams::new(listeners, &wanted);
    let controller = ControllerChoice::new(choices.controller.clone());
    let has_program = !options.call.no_program;
    let purpose = Purpose::of(has_program, options.call.background, is_unseen);
    let running = running(name, command.as_deref());
    // By default, a remote command's output scrolls into the terminal's history, as a local command's output does.
    let scrollback = choices.scrollback.unwrap_or(running == Running::Command);
    let Choices { init, title_prefix, .. } = choices;
    let described = described(&term, RenderOptions { name, init, scrollback, title_prefix });
    let clock = Clock::start();
    let wire = open_wire(tunnel.as_ref(), options.server, clock.now())?;
    // Without a terminal in the foreground, an ignored signal stays ignored, as `nohup` needs it.
    let all = pump::SIGNALS;
    let signals = if purpose == Purpose::Unseen { signals::heard(&all) } else { all.to_vec() };
    let events = EventLoop::new(clock, &signals).context("cannot catch signals")?;
    let chaff = entropy::seed().context("cannot draw a seed")?.stream("client.chaff");
    let terminal = terminal(is_unseen, described.emergency_closing())?;
    let self_check = options.verbose >= logging::SELF_CHECK_VERBOSITY;
    let capabilities = (!choices.strict).then(|| offered(&way));
    let config = ClientConfig {
        server: options.server,
        key: options.key,
        transport: Config { capabilities, self_check, ..Config::client() },
        size: terminal.size(),
        terminal: described,
        // With `--strict` the client behaves as stock Mosh, which sends no queries to the terminal.
        query: choices.query && !choices.strict && terminal_type::can_be_asked(&term),
        escape_key: options.call.escape_key,
        prediction: choices.prediction(),
        program: options.name.as_str().to_owned(),
        offers_status: options.name == ProgramName::Rove,
        is_end_obeyed_twice: options.name == ProgramName::Rove,
        running,
        chaff,
    };
    let session = start(config, record.as_mut(), way, clock.now());
    let mut session = session.context("the session cannot be resumed")?;
    hardening::keep_in_memory(session.key_memory());
    // The printed sentences about listeners are covered by the session's screen, so the bar shows them too.
    let closed = closed.into_iter().filter(|_| !purpose.is_unseen());
    let said = (!has_program).then(|| ALONE.to_owned()).into_iter().chain(closed);
    said.for_each(|sentence| session.announce(clock.now(), sentence));
    allow(&mut session, &choices);
    add_paths(&mut session, &wire, clock.now(), &options.call.others);
    let account = account.filter(|_| name == ProgramName::Rove).and_then(Account::from_text);
    let prompts = account.and_then(|account| remember_prompts(&mut session, account));
    let pump = Pump::new(events, session, wire, terminal, options.name, prompts, record);
    let agent = agent.filter(|call| may_be_lent(call, is_unseen, options.call.escape_key, name));
    let agent = agent.map(AgentLoan::new);
    let callbacks = LoginCallbacks::new(options.call.host.as_deref());
    pump.with(forwards.lending(agent, gate).with(purpose, callbacks, controller)).run()
}

/// Returns whether the client shows nothing. It goes to the background (`-f`), or has neither program nor terminal.
fn is_unseen(call: &SessionCall) -> bool {
    call.background || call.no_program && bootstrap::missing_terminal().is_some()
}

/// Puts the user's terminal into raw mode and returns it. With `is_unseen`, returns a [`Tty`] without a terminal. After
/// a crash, the bytes `closing` are written to the terminal to restore it.
fn terminal(is_unseen: bool, closing: Vec<u8>) -> anyhow::Result<Tty> {
    match is_unseen {
        true => Tty::nobodys().context("cannot do without a terminal"),
        false => Tty::take_over(closing),
    }
}

/// Returns the protocol extensions that a client offers. Streams are among them, unless the client resumes a session
/// under the former client's key ([`Way::Stock`]).
fn offered(way: &Way) -> Capabilities {
    match way {
        // The former client may have sent stream packets under this key. A new stream layer would give the same packet
        // numbers to other packets.
        Way::Stock(_) => rove_session::CAPABILITIES,
        Way::New | Way::Rove(..) => rove_session::CAPABILITIES.union(Capabilities::STREAMS),
    }
}

/// Returns whether the agent can be forwarded. This needs a terminal that shows each use, and with
/// [`AgentUse::Confirm`] an escape key to allow it. Otherwise prints a warning.
fn may_be_lent(
    call: &AgentCall,
    is_unseen: bool,
    escape_key: Option<u8>,
    name: ProgramName,
) -> bool {
    let reason = if is_unseen {
        "nobody sees without a terminal how the host uses the agent"
    } else if call.how == AgentUse::Confirm && escape_key.is_none() {
        "no use of the agent can be allowed without an escape key"
    } else {
        return true;
    };
    warn(name.as_str(), &format!("-A: {reason}, so the host gets none"));
    false
}

/// Opens the listeners of `-L` and `-D`. Prints and returns a sentence for each that failed. Returns an error instead
/// if the user requires all.
fn listeners(name: ProgramName, wanted: &Forwards) -> anyhow::Result<(Listeners, Vec<String>)> {
    let (listeners, failures) = Listeners::open(wanted)?;
    let sentence = |failure| format!("{failure}; the session goes on without it");
    let closed: Vec<String> = failures.into_iter().map(sentence).collect();
    closed.iter().for_each(|sentence| warn(name.as_str(), sentence));
    Ok((listeners, closed))
}

/// Returns the capabilities of a terminal of type `term`. If terminfo does not describe the type, prints a warning and
/// returns those of a plain terminal.
fn described(term: &str, options: RenderOptions) -> TerminalCapabilities {
    terminal_type::capabilities(term, options).unwrap_or_else(|warning| {
        warn(options.name.as_str(), &warning.to_string());
        terminal_type::plain_capabilities(options)
    })
}

/// Starts a session, or resumes one from its record. Begins the record for a later `rove resume`, if `record` is given.
fn start(
    config: ClientConfig,
    record: Option<&mut RecordKeeper>,
    way: Way,
    now: Instant,
) -> anyhow::Result<Client> {
    let mut session = match &way {
        Way::New => Client::new(config, now),
        Way::Stock(saved) => Client::resume(config, &saved.records, entropy::jump()?, now)?,
        Way::Rove(_, next) => {
            let mut session = Client::new(config, now);
            session.go_on_after(next, now);
            session
        }
    };
    let store = way.into_saved().map(|saved| saved.store);
    match record {
        Some(record) => record.start(&mut session, store)?,
        None => {
            session.recording().stop();
            // The session sends the keystrokes of the former client's record again, so that record has served.
            store.into_iter().for_each(Store::remove);
        }
    }
    Ok(session)
}

/// Opens the datagram path to the server: UDP, the ssh that logged in, or UDP with that ssh as a second path.
fn open_wire(tunnel: Option<&Inherited>, server: SocketAddr, now: Instant) -> anyhow::Result<Wire> {
    let (beside, only): (Option<_>, Option<_>) = match tunnel {
        Some(ssh) if ssh.again.asks_nothing.is_some() => (Some(ssh), None),
        only => (None, only),
    };
    if let Some(ssh) = only {
        return Ok(Wire::tunnelled(Tunnel::take(ssh, now)?));
    }
    let sockets = DualStackSockets::open(server).context("cannot open a UDP socket")?;
    Ok(Wire::sockets(sockets, beside.map(|ssh| Spare::take(ssh, server)).transpose()?))
}

/// Tells the session whether ssh carries its datagrams, in place of UDP or beside it. Also adds the server's other
/// addresses. A malformed address is skipped, because the session works without it.
fn add_paths(session: &mut Client, wire: &Wire, now: Instant, others: &[String]) {
    match (wire.tunnel().is_some(), wire.has_pipe()) {
        (true, _) => session.handle_tunnel(now, None),
        (false, is_beside) => session.handle_side_path(now, is_beside),
    }
    let port = session.server().port();
    let others = others.iter().filter_map(|it| address::from_numeric(it, port));
    others.for_each(|address| session.candidates_mut().add(address));
}

/// Tells the session whether programs may read copied text, whether others may join it, and which window sets its size.
fn allow(session: &mut Client, choices: &Choices) {
    if choices.read_copied {
        session.allow(TerminalReport::ReadCopied);
    }
    if let Some(rule) = choices.size.as_ref().and_then(|rule| rule.parse().ok()) {
        session.set_size_rule(rule);
    }
    session.set_door(if choices.share { Door::Open } else { Door::Closed });
}

/// Gives the session the prompts that earlier sessions with this account have learned. Returns the keeper that will
/// save this session's prompts, or `None` if prompts are not remembered.
fn remember_prompts(session: &mut Client, account: Account) -> Option<PromptKeeper> {
    if !session.uses_prompt_memory() {
        return None;
    }
    let (keeper, memory) = PromptKeeper::open(account)
        .inspect_err(|error| tracing::debug!(%error, "prompts are not remembered"))
        .ok()?;
    session.handle_prompt_memory(memory);
    Some(keeper)
}

/// Prints a sentence on standard error, after the terminal was restored.
fn tell(name: ProgramName, sentence: &str) {
    let (speaker, stderr) = (name.as_str(), stdio::stderr());
    let text = wrapped_for(&stderr, speaker, &format!("{speaker}: {sentence}"));
    tty::say(stderr, &format!("{text}\n"));
}

/// Returns whether the session runs a shell or a command, as far as this client knows. Under the name `mosh` the answer
/// is always `Unknown`, so that the last screen disappears at the end, as in stock Mosh.
fn running(name: ProgramName, command: Option<&str>) -> Running {
    match (name, command) {
        (ProgramName::Mosh, _) | (_, None) => Running::Unknown,
        (ProgramName::Rove, Some("")) => Running::Shell,
        (ProgramName::Rove, Some(_)) => Running::Command,
    }
}

/// Returns the session key from `MOSH_KEY`, and removes the variable from the environment.
///
/// Call this before any thread exists and any other program is started.
///
/// # Errors
///
/// Returns why the key cannot be taken. The error never contains the variable's text.
pub(crate) fn take_key() -> anyhow::Result<Key> {
    hardening::conceal_memory().context("cannot conceal the key")?;
    let alone = threads::check_alone().context("cannot take the key")?;
    let text = wiping(|| sys::take_secret_variable(c"MOSH_KEY", alone));
    let text = text.context(
        "the environment variable MOSH_KEY is not set: \
         it must hold the key that the server printed on its MOSH CONNECT line",
    )?;
    let text = str::from_utf8(&text).ok().context("MOSH_KEY does not hold a key: it is no text")?;
    Key::from_text(text).context("MOSH_KEY does not hold a key")
}
