//! Runs a client on this process's console, and tells the user how the session ended.

use std::net::SocketAddr;

use anyhow::Context;
use rove_bootstrap::Choices;
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_platform::tty::Tty;
use rove_session::{CAPABILITIES, Client, ClientConfig, Preference};
use rove_ssp::{Config, Key};
use rove_terminal::display::{Functions, Repertoire};
use rove_terminal::{AlternateScreen, Attributes, OscSupport, TerminalCapabilities};
use rove_udp::DualStackSockets;
use rove_units::Seed;

use crate::ending;
use crate::messages::{say, warn};
use crate::pump::{End, Pump};

/// The escape key, Ctrl-^. Source: Mosh 1.4.0 as observed.
const ESCAPE_KEY: u8 = 0x1e;

/// A server to connect to, and the session's key.
pub(crate) struct Call {
    pub(crate) server: SocketAddr,
    /// Further addresses at which the server may be, in the order to try them.
    pub(crate) others: Vec<SocketAddr>,
    pub(crate) key: Key,
}

impl Call {
    /// Returns the call for `server`, with the key from the environment variable `MOSH_KEY`.
    ///
    /// # Errors
    ///
    /// Returns an error if `MOSH_KEY` is unset or holds no key.
    pub(crate) fn from_environment(server: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { server, others: Vec::new(), key: key()? })
    }
}

/// Runs a client on this process's console until the session ends; returns the exit code.
///
/// # Errors
///
/// Returns a sentence for the user: why the session could not start, or how it failed. By then, the console has its
/// former state again.
pub(crate) fn run(call: Call) -> anyhow::Result<u8> {
    let Call { server, others, key } = call;
    let choices = Choices { predict: preference()?, ..Choices::default() };
    let clock = Clock::start();
    let sockets = DualStackSockets::open(server).context("cannot open a UDP socket")?;
    let events = EventLoop::new(clock).context("cannot wait for the console")?;
    let chaff = getrandom::u64().map(Seed::new).context("cannot draw a seed")?;
    let terminal = Tty::take_over(described().emergency_closing())?;
    let transport = Config { capabilities: Some(CAPABILITIES), ..Config::client() };
    let config = ClientConfig {
        size: terminal.size(),
        terminal: described(),
        // Windows Terminal sets `WT_SESSION`. It prints no part of a query that it does not support.
        query: std::env::var_os("WT_SESSION").is_some(),
        escape_key: Some(ESCAPE_KEY),
        prediction: choices.prediction(),
        ..ClientConfig::new(server, key, transport, chaff.stream("client.chaff"))
    };
    let mut session = Client::new(config, clock.now());
    others.into_iter().for_each(|other| session.candidates_mut().add(other));
    let End { outcome, output_error } = Pump::new(events, session, sockets, terminal).run()?;
    if let Some(error) = output_error {
        anyhow::bail!("cannot draw on the console: {error}");
    }
    match ending::sentence(outcome, server) {
        Some(sentence) => warn(&format!("rove: {sentence}")),
        None => say("[rove is exiting.]"),
    }
    Ok(ending::exit_code(outcome))
}

fn key() -> anyhow::Result<Key> {
    let text = std::env::var("MOSH_KEY").ok().context(
        "the environment variable MOSH_KEY is not set: it must hold the key that the server printed on its MOSH \
         CONNECT line",
    )?;
    Key::from_text(&text).context("MOSH_KEY does not hold a key")
}

fn preference() -> anyhow::Result<Preference> {
    let Ok(mode) = std::env::var("MOSH_PREDICTION_DISPLAY") else {
        return Ok(Preference::default());
    };
    Preference::from_name(&mode)
        .with_context(|| format!("Unknown prediction mode {mode:?} in MOSH_PREDICTION_DISPLAY"))
}

/// Returns the capabilities of consoles since Windows 10. Source: Microsoft, "Console Virtual Terminal Sequences".
fn described() -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions::ALL,
        repertoire: Repertoire { attributes: Attributes::NONE, ..Repertoire::PLAIN },
        osc: OscSupport { any: true, window: true, progress: false },
        title_prefix: "[rove] ".to_owned(),
        alternate_screen: AlternateScreen::xterm(),
        init: true,
        ..TerminalCapabilities::default()
    }
}
