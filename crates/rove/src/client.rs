//! The client: takes the user's terminal over, pumps between it and the network, and gives it back.

use std::net::SocketAddr;

use anyhow::Context;
use rove_bootstrap::{Account, AgentUse, Choices, Forwards, Joined, ProgramName, quote};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_platform::tty::{self, Tty};
use rove_session::{
    Client, ClientConfig, ClientOutcome, Door, ExitStatus, MissingLines, Outside, Running,
    TerminalReport,
};
use rove_ssp::{Capabilities, Config, Key, wiping};
use rove_terminal::TerminalCapabilities;
use rove_units::Instant;
use rustix::stdio;

use crate::bootstrap::address;
use crate::listeners::Listeners;
use crate::messages::{warn, wrapped_for};
use crate::prompt_store::PromptKeeper;
use crate::resume::{RecordKeeper, Saved, Store, Way};
use crate::session_call::SessionCall;
use crate::stdio_forward::{self, json::Channel};
use crate::terminal_type::{self, RenderOptions};
use crate::tunnel::inherited::Inherited;
use crate::tunnel::near::Tunnel;
use crate::tunnel::spare::Spare;
use crate::{doctor, entropy, hardening, logging, sys, threads};

pub(crate) mod agent;
mod asking;
pub(crate) mod file_sender;
mod forward;
mod lender;
mod login_callback;
mod pump;
mod remote_forwards;
mod streams;
mod turn;
pub(crate) mod wire;

use agent::{AgentCall, AgentLoan};
use forward::joined;
use forward::load::{Carried, Ends};
use login_callback::LoginCallbacks;
use pump::{End, Pump};
use rove_udp::DualStackSockets;
use streams::ClientStreams;
use wire::Wire;

/// Exit code of a session that failed. Source: Mosh 1.4.0 as observed, docs/wire.md.
const FAILURE: u8 = 1;

/// Exit code of a session that was ended because connections cannot be forwarded. Source: OpenSSH 9.2 as observed.
const NOT_FORWARDED: u8 = 255;

#[derive(Clone)]
pub(crate) struct ClientOptions {
    pub(crate) server: SocketAddr,
    pub(crate) key: Key,
    /// The name by which the program was called.
    pub(crate) name: ProgramName,
    /// How often `-v` was given.
    pub(crate) verbose: u8,
    /// The session, and how to show it.
    pub(crate) call: SessionCall,
}

/// Runs a client on this process's terminal until the session ends; returns the exit code.
///
/// # Errors
///
/// Returns why the session could not start or how it failed, in a sentence for the user.
/// The terminal has been given back by then.
pub(crate) fn run(options: ClientOptions) -> anyhow::Result<u8> {
    if let Some(joined) = options.call.joined.clone() {
        return carry(options, joined);
    }
    let way = match &options.call.resumed {
        Some(resumed) => Way::after(resumed).context("the session cannot be resumed")?,
        None => Way::New,
    };
    run_from(options, way)
}

/// Runs a client that goes on from the record of another one.
///
/// # Errors
///
/// As [`run`], and why it cannot go on.
pub(crate) fn go_on(options: ClientOptions, saved: Saved) -> anyhow::Result<u8> {
    run_from(options, Way::Stock(saved))
}

/// Joins the standard descriptors with the streams that are asked for, or becomes the ssh that does.
fn carry(options: ClientOptions, joined: Joined) -> anyhow::Result<u8> {
    let joined = stdio_forward::handed_command::restore(joined);
    let channel = Channel::take();
    let errors = channel.as_ref().map(Channel::errors).transpose()?;
    let ends = Ends::Standard { errors };
    let load = joined::load(&joined, ends).context("the call names no target")?;
    let call = options.call.clone();
    let (carried, channel) = forward::run(options, load, channel)?;
    if let Carried::Declined(reason) = carried {
        channel.iter().for_each(Channel::leave_to_ssh);
        if matches!(joined, Joined::Files { .. }) {
            let host = call.host.as_deref().unwrap_or("HOST").escape_debug().to_string();
            anyhow::bail!("{}: {reason}", stdio_forward::refusal(&host));
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
    let says_end = !quiet && says_end(name, command.as_deref());
    let says_missing = choices.scrollback != Some(false);
    let End { outcome, tried, refusal, tunnel, output_error, signal, missing, not_forwarded } =
        session(options, way)?;
    let Some(outcome) = outcome else {
        // The session waits for `rove resume`, and nobody would read a message.
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
        .map(|(missing, command)| missing_output(missing, &host, command));
    for text in output_failure.iter().chain(&said).chain(&missing).chain(&not_forwarded) {
        tell(name, text);
    }
    let hint = command
        .filter(|_| outcome == ClientOutcome::Ended(None) && name == ProgramName::Rove)
        .and_then(|command| shell_hint(&command, &host));
    logging::failure().iter().chain(&hint).for_each(|sentence| tell(name, sentence));
    if says_end {
        // Scripts wait for this line; it goes right where the cursor is left.
        tty::say(stdio::stdout(), &format!("[{} is exiting.]\n", name.as_str()));
    }
    Ok(match (output_failure, not_forwarded) {
        (Some(_), _) => FAILURE,
        (None, Some(_)) => NOT_FORWARDED,
        (None, None) => exit_code(outcome, name, signal),
    })
}

/// Runs a session on this process's terminal and gives the terminal back.
///
/// # Errors
///
/// As [`run`].
fn session(options: ClientOptions, way: Way) -> anyhow::Result<End> {
    logging::to_file(options.verbose)?;
    hardening::conceal_memory().context("cannot conceal the key")?;
    let ClientOptions { name, server, key, call, .. } = &options;
    let mut record = RecordKeeper::new(*name, *server, key, call, &way);
    let SessionCall { choices, command, account, tunnel, agent, gate, .. } = options.call;
    if tunnel.is_none() && agent.is_none() {
        hardening::renounce_privileges().context("cannot renounce privileges")?;
    }
    let term = std::env::var("TERM").unwrap_or_default();
    let name = options.name;
    let wanted = options.call.forwards.unwrap_or_default();
    let forwards = ClientStreams::new(listeners(name, &wanted)?, &wanted);
    let has_program = !options.call.no_program;
    let forwards = if has_program { forwards } else { forwards.without_program() };
    let running = running(name, command.as_deref());
    // As a local command does, it leaves its output in the history.
    let scrollback = choices.scrollback.unwrap_or(running == Running::Command);
    let Choices { init, title_prefix, .. } = choices;
    let described = described(&term, RenderOptions { name, init, scrollback, title_prefix });
    let clock = Clock::start();
    let wire = open_wire(tunnel.as_ref(), options.server, clock.now())?;
    let events = EventLoop::new(clock, &pump::SIGNALS).context("cannot catch signals")?;
    let chaff = entropy::seed().context("cannot draw a seed")?.stream("client.chaff");
    let terminal = Tty::take_over(described.emergency_closing())?;
    let self_check = options.verbose >= logging::SELF_CHECK_VERBOSITY;
    let capabilities = (!choices.strict).then(|| offered(&way));
    let config = ClientConfig {
        server: options.server,
        key: options.key,
        transport: Config { capabilities, self_check, ..Config::client() },
        size: terminal.size(),
        terminal: described,
        // A stock client asks the terminal nothing.
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
    if !has_program {
        let text = "This session runs no program and forwards connections; Ctrl-C ends it.";
        session.announce(clock.now(), text.to_owned());
    }
    allow(&mut session, &choices);
    match (wire.tunnel().is_some(), wire.has_pipe()) {
        (true, _) => session.handle_tunnel(clock.now(), None),
        (false, is_beside) => session.handle_side_path(clock.now(), is_beside),
    }
    add_others(&mut session, &options.call.others, options.server.port());
    let account = account.filter(|_| name == ProgramName::Rove).and_then(Account::from_text);
    let prompts = account.and_then(|account| remember_prompts(&mut session, account));
    let pump = Pump::new(events, session, wire, terminal, options.name, prompts, record);
    let agent = agent.filter(|call| may_be_lent(call, options.call.escape_key, name));
    let agent = agent.map(|call| AgentLoan::new(call, clock.now()));
    let callbacks = LoginCallbacks::new(options.call.host.as_deref());
    pump.with(forwards.lending(agent).shared_by(gate).with(callbacks)).run()
}

/// Returns the extensions that a client offers which comes to its session in this way.
fn offered(way: &Way) -> Capabilities {
    match way {
        // The packets of the client before had the same key and the same numbers.
        Way::Stock(_) => rove_session::CAPABILITIES,
        Way::New | Way::Rove(..) => rove_session::CAPABILITIES.union(Capabilities::STREAMS),
    }
}

/// Returns whether the agent can be lent as the user wants it. Says so if not.
fn may_be_lent(call: &AgentCall, escape_key: Option<u8>, name: ProgramName) -> bool {
    let can_ask = call.how == AgentUse::Notify || escape_key.is_some();
    if !can_ask {
        let text =
            "-A: no use of the agent can be allowed without an escape key, so the host gets none";
        warn(name.as_str(), text);
    }
    can_ask
}

/// Listens for the connections that are to be forwarded. Says which ones cannot be.
fn listeners(name: ProgramName, wanted: &Forwards) -> anyhow::Result<Listeners> {
    let (listeners, failures) = Listeners::open(wanted)?;
    for failure in failures {
        warn(name.as_str(), &format!("{failure}; the session goes on without it"));
    }
    Ok(listeners)
}

/// Returns the abilities of a terminal of this type. Warns of a type that is not known.
fn described(term: &str, options: RenderOptions) -> TerminalCapabilities {
    terminal_type::capabilities(term, options).unwrap_or_else(|warning| {
        warn(options.name.as_str(), &warning.to_string());
        terminal_type::plain_capabilities(options)
    })
}

/// Starts a session, or goes on with a saved one, with a record if one is kept.
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
            // The keys that it has are on their way again.
            store.into_iter().for_each(Store::remove);
        }
    }
    Ok(session)
}

/// Opens the wire to this address, through or beside the ssh that was inherited, if one was.
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

/// Gives the session the server's other addresses. Text that is no address is left out, because the session can do
/// without.
fn add_others(session: &mut Client, others: &[String], port: u16) {
    let others = others.iter().filter_map(|it| address::from_numeric(it, port));
    others.for_each(|address| session.candidates_mut().add(address));
}

/// Gives the session the user's choices: whether programs may read copied text, who may join, whose window leads.
fn allow(session: &mut Client, choices: &Choices) {
    if choices.read_copied {
        session.allow(TerminalReport::ReadCopied);
    }
    if let Some(rule) = choices.size.as_ref().and_then(|rule| rule.parse().ok()) {
        session.set_size_rule(rule);
    }
    session.set_door(if choices.share { Door::Open } else { Door::Closed });
}

/// Gives the session the prompts that earlier sessions with this account knew. Returns the keeper of its own prompts.
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

/// Prints a sentence on standard error, after the terminal was given back.
fn tell(name: ProgramName, sentence: &str) {
    let (speaker, stderr) = (name.as_str(), stdio::stderr());
    let text = wrapped_for(&stderr, speaker, &format!("{speaker}: {sentence}"));
    tty::say(stderr, &format!("{text}\n"));
}

/// Returns whether the client says at its end that it exits. A command's last screen stays on the terminal, as the
/// output of a local one does, and nothing follows it.
fn says_end(name: ProgramName, command: Option<&str>) -> bool {
    running(name, command) != Running::Command
}

/// Returns what the session runs, as far as this client knows. As `mosh` it need not know, because stock leaves
/// nothing.
fn running(name: ProgramName, command: Option<&str>) -> Running {
    match (name, command) {
        (ProgramName::Mosh, _) | (_, None) => Running::Unknown,
        (ProgramName::Rove, Some("")) => Running::Shell,
        (ProgramName::Rove, Some(_)) => Running::Command,
    }
}

/// Returns advice about a command that was probably meant for a shell. A stock server gives none.
fn shell_hint(command: &str, host: &str) -> Option<String> {
    let words = shell_words::split(command).ok()?;
    let [line] = words.as_slice() else { return None };
    quote::is_for_a_shell(line).then(|| {
        let with_a_shell = quote::with_a_shell(line);
        format!("commands are run without a shell; with one: rove {host} -- {with_a_shell}")
    })
}

/// Returns the sentence about a command's output that has not come, and how to get that output.
fn missing_output(missing: MissingLines, host: &str, command: &str) -> String {
    // The host's shell splits the command, and this computer's shell the whole line.
    let command = shell_words::quote(command);
    let ssh = format!("`ssh {host} {command}` prints them all");
    match missing {
        MissingLines::Count(1) => format!("1 line of the output was not kept; {ssh}"),
        MissingLines::Count(count) => format!("{count} lines of the output were not kept; {ssh}"),
        MissingLines::AboveLastScreen => format!(
            "the lines that scrolled off above the last screen are missing, as its server sends and counts none \
             (`rove install {host}` puts one there that does); {ssh}"
        ),
    }
}

/// Returns the session key's text from `MOSH_KEY` and removes the variable from the environment.
///
/// Call it first thing in `main`, before any thread exists and any command is started.
///
/// # Errors
///
/// Returns an error that says why there is no key; never the text itself.
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

/// Returns the sentence about a session that did not end well; `None` for one that ended. `silence` makes the sentence
/// for a session that never began.
fn failure(
    outcome: ClientOutcome,
    name: ProgramName,
    server: SocketAddr,
    host: Option<&str>,
    silence: impl FnOnce() -> String,
) -> Option<String> {
    let host = host.unwrap_or("HOST").escape_debug();
    match (outcome, name) {
        (ClientOutcome::Ended(_), _) => None,
        (ClientOutcome::NeverConnected, _) => Some(silence()),
        (ClientOutcome::Unacknowledged, ProgramName::Rove) => Some(format!(
            "the server at {server} did not confirm the end of the session, so it may still be running: \
             `rove list {host}` shows it there, and `rove kill {host} {}` ends it. If UDP no longer passes, \
             `rove --tunnel {host}` does, and `rove doctor {host}` says what fails.",
            server.port()
        )),
        (ClientOutcome::Unacknowledged, ProgramName::Mosh) => Some(format!(
            "the server at {server} did not confirm the end of the session, so it may still be \
             running: log in and look for it with `pgrep -l 'mosh-server|rove'`."
        )),
        (ClientOutcome::Gone, _) => Some(format!(
            "the server at {server} is gone: its host refuses the UDP port. `rove list {host}` shows \
             what still runs there; log in again for a new session."
        )),
        (ClientOutcome::KeyExhausted, _) => {
            Some("the session key has sealed all it safely may; start a new session.".to_owned())
        }
    }
}

/// Returns the sentence about what ended this client: a signal, an end of its session from outside, a takeover, or a
/// dismissal. `None` if the program was called as `mosh`, or if the session's own command or user ended the session.
fn ended_by(outcome: ClientOutcome, name: ProgramName, signal: Option<i32>) -> Option<String> {
    let outside = match outcome {
        ClientOutcome::Ended(Some(ExitStatus::Outside(outside))) => outside,
        _ if name == ProgramName::Rove => {
            return signal
                .map(|signal| format!("{} ended this client and its session", named(signal)));
        }
        _ => return None,
    };
    let by = match outside {
        Outside::Kill => "`rove kill` on the host".to_owned(),
        Outside::Signal(signal) => {
            format!("{}, sent to its server on the host", named(signal.into()))
        }
        Outside::Silence => {
            "its server, as nothing was heard of this client for too long".to_owned()
        }
        Outside::TakenOver(by) => {
            let from = by.map_or(String::new(), |by| format!(" from {}", by.to_canonical()));
            let sentence = format!("`rove attach`{from} took the session over; it goes on there");
            return (name == ProgramName::Rove).then_some(sentence);
        }
        Outside::Dismissed => {
            let sentence = "the session goes on without this client: its own client has ended this \
                            one, or shows nobody who joins, or this one was silent for too long";
            return (name == ProgramName::Rove).then(|| sentence.to_owned());
        }
    };
    (name == ProgramName::Rove).then(|| format!("the session was ended by {by}"))
}

fn named(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Returns what stock says of a server that never answered. Source: Mosh 1.4.0 as observed.
fn stock_silence(server: SocketAddr) -> String {
    format!(
        "did not make a successful connection to {server}.\nPlease verify that UDP port {port} is not \
         firewalled and can reach the server.\n\n(By default, mosh uses a UDP port between 60000 and \
         61000. The -p option\nselects a specific UDP port number.)",
        port = server.port()
    )
}

/// Returns the exit code. As `rove`: that of the remote command where it is known, else that of the signal that this
/// client was to end by, else 0 or [`FAILURE`]. As `mosh`: 0 for a session that ended, else [`FAILURE`].
fn exit_code(outcome: ClientOutcome, name: ProgramName, signal: Option<i32>) -> u8 {
    let by_signal = signal.and_then(|signal| u8::try_from(signal).ok()).map(ExitStatus::Signal);
    match (outcome, name) {
        (ClientOutcome::Ended(status), ProgramName::Rove) => {
            status.or(by_signal).map_or(0, ExitStatus::shell_code)
        }
        // Stock always reports a clean end this way, whatever the command did.
        (ClientOutcome::Ended(_), ProgramName::Mosh) => 0,
        (_, ProgramName::Rove) => by_signal.map_or(FAILURE, ExitStatus::shell_code),
        (_, ProgramName::Mosh) => FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_udp::Refusal;

    #[test]
    fn the_exit_code_is_the_commands_between_two_roves_and_stocks_otherwise() {
        let ended = |status| ClientOutcome::Ended(status);
        for (outcome, rove, mosh) in [
            (ended(None), 0, 0),
            (ended(Some(ExitStatus::Code(0))), 0, 0),
            (ended(Some(ExitStatus::Code(3))), 3, 0),
            (ended(Some(ExitStatus::Signal(15))), 143, 0),
            (ended(Some(ExitStatus::Outside(Outside::Kill))), 143, 0),
            (ended(Some(ExitStatus::Outside(Outside::Signal(2)))), 130, 0),
            (ClientOutcome::NeverConnected, 1, 1),
            (ClientOutcome::Unacknowledged, 1, 1),
            (ClientOutcome::KeyExhausted, 1, 1),
            (ClientOutcome::Gone, 1, 1),
        ] {
            assert_eq!(exit_code(outcome, ProgramName::Rove, None), rove, "{outcome:?}");
            assert_eq!(exit_code(outcome, ProgramName::Mosh, None), mosh, "{outcome:?}");
        }
        for (outcome, rove, mosh) in [
            (ended(None), 143, 0),
            (ended(Some(ExitStatus::Code(3))), 3, 0),
            (ClientOutcome::Unacknowledged, 143, 1),
        ] {
            assert_eq!(exit_code(outcome, ProgramName::Rove, Some(15)), rove, "{outcome:?}");
            assert_eq!(exit_code(outcome, ProgramName::Mosh, Some(15)), mosh, "{outcome:?}");
        }
    }

    #[test]
    fn an_end_from_outside_names_what_it_was() {
        let (rove, mosh) = (ProgramName::Rove, ProgramName::Mosh);
        let outside = |by| ClientOutcome::Ended(Some(ExitStatus::Outside(by)));
        for (outcome, signal, part) in [
            (outside(Outside::Kill), None, "ended by `rove kill`"),
            (outside(Outside::Signal(15)), None, "ended by SIGTERM, sent to its server"),
            (outside(Outside::Signal(200)), None, "ended by signal 200, "),
            (outside(Outside::Silence), None, "for too long"),
            (outside(Outside::TakenOver(None)), None, "`rove attach` took the session over"),
            (outside(Outside::Dismissed), None, "goes on without this client"),
            (ClientOutcome::Ended(None), Some(15), "SIGTERM ended this client"),
        ] {
            let text = ended_by(outcome, rove, signal).unwrap();
            assert!(text.contains(part), "{text}");
            assert_eq!(ended_by(outcome, mosh, signal), None);
        }
        let ended = ClientOutcome::Ended(Some(ExitStatus::Code(0)));
        assert_eq!(ended_by(ended, rove, None), None);
        assert_eq!(ended_by(ClientOutcome::Ended(None), rove, None), None);
    }

    #[test]
    fn a_line_for_a_shell_is_explained_and_a_command_is_not() {
        let hint = shell_hint("'ls | wc'", "host");
        assert!(hint.unwrap().ends_with("with one: rove host -- sh -c 'ls | wc'"));
        for command in ["", "ls -l", "sh -c 'ls | wc'", "'"] {
            assert_eq!(shell_hint(command, "host"), None, "{command}");
        }
    }

    #[test]
    fn lines_that_are_missing_are_counted_and_the_command_that_prints_them_is_named() {
        for (missing, command, parts) in [
            (
                MissingLines::Count(1200),
                "seq 9000",
                ["1200 lines of the output were not kept", "`ssh me@host 'seq 9000'`"],
            ),
            (
                MissingLines::Count(1),
                "dmesg",
                ["1 line of the output was not kept", "`ssh me@host dmesg`"],
            ),
            (
                MissingLines::AboveLastScreen,
                "sh -c 'a | b'",
                ["`rove install me@host`", r"`ssh me@host 'sh -c '\''a | b'\'''`"],
            ),
        ] {
            let text = missing_output(missing, "me@host", command);
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn a_failure_names_the_address_and_what_to_do() {
        let server = "192.0.2.1:60005".parse().unwrap();
        for (refusal, host, parts) in [
            (None, Some("me@host"), ["192.0.2.1", "60005", "firewall", "`rove doctor me@host`"]),
            (Some(Refusal::Port), None, ["192.0.2.1", "60005", "refuse", "`rove doctor HOST`"]),
        ] {
            let silence = || doctor::one_line(vec![server], refusal.as_ref(), host, None);
            let never = ClientOutcome::NeverConnected;
            let text = failure(never, ProgramName::Rove, server, host, silence).unwrap();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains('\n') && !text.contains("later login"), "{text}");
        }
        let rove =
            |outcome| failure(outcome, ProgramName::Rove, server, Some("me@host"), String::new);
        for (outcome, parts) in [
            (
                ClientOutcome::Unacknowledged,
                &["may still be running", "`rove list me@host`", "`rove kill me@host 60005`"][..],
            ),
            (ClientOutcome::Unacknowledged, &["`rove --tunnel me@host`", "`rove doctor me@host`"]),
            (ClientOutcome::Gone, &["is gone", "log in again", "`rove list me@host`"]),
        ] {
            let text = rove(outcome).unwrap();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(rove(ClientOutcome::Ended(None)), None);
        let mosh =
            failure(ClientOutcome::Unacknowledged, ProgramName::Mosh, server, None, String::new);
        assert!(mosh.unwrap().contains("pgrep"));
    }

    #[test]
    fn a_client_of_a_running_session_that_hears_nothing_is_told_of_a_later_login_first() {
        let server = "192.0.2.1:60005".parse().unwrap();
        let (by, host) = (Some("rove attach --view"), Some("me@host"));
        let first = "do: repeat `rove attach --view me@host`, because a later login";
        let udp = |refusal| doctor::one_line(vec![server], refusal, host, by);
        let ssh = |refusal, reason| doctor::tunnel_line(60005, refusal, reason, (by, host));
        for (text, other) in [(udp(None), "firewall"), (ssh(None, ""), "`ssh -T HOST rove tunnel")]
        {
            let (_, rest) = text.split_once(first).expect(&text);
            assert!(rest.contains("If that stays silent, ") && rest.contains(other), "{text}");
        }
        // The reason is known.
        let refused = Some(&Refusal::Port);
        for text in [udp(refused), ssh(refused, ""), ssh(None, "it was killed")] {
            assert!(!text.contains("later login"), "{text}");
        }
    }

    #[test]
    fn called_mosh_a_silent_server_is_reported_in_stocks_words() {
        let text = stock_silence("127.0.0.1:60998".parse().unwrap());
        assert!(text.starts_with("did not make a successful connection to 127.0.0.1:60998.\n"));
        assert!(text.contains("UDP port 60998 is not firewalled"));
    }
}
