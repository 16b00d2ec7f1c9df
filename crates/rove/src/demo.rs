//! The demo: a server and a client on this computer, joined by an emulated link.
//!
//! It needs no ssh, no privileges and no network. Client and server are those of a real session.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use rove_bootstrap::{Choices, ProgramName};
use rove_link::LinkConfig;
use rove_ssp::Key;
use rove_udp::PortRange;
use rove_units::{BitRate, Bytes, Duration, Seed};
use rustix::stdio;
use rustix::termios::isatty;

use crate::client::{self, ClientOptions};
use crate::colors;
use crate::escape_key::DEFAULT_ESCAPE_KEY;
use crate::relay::{Relay, RelayConfig};
use crate::server::{self, BindAddress, Listing, PreparedServer, ServerOptions};
use crate::session_call::SessionCall;
use crate::sys::{self, Fork};
use crate::threads;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DemoOptions {
    /// Round-trip time of the emulated path; half of it in each direction.
    pub(crate) rtt: Duration,
    /// Largest extra delay of a datagram in each direction, uniformly distributed.
    pub(crate) jitter: Duration,
    /// Probability that a datagram is lost in each direction, from 0 to 1.
    pub(crate) loss: f64,
    /// Rate of the bottleneck in each direction. `None` for no bottleneck.
    pub(crate) rate: Option<BitRate>,
    /// Capacity of the queue before the bottleneck, in bytes.
    pub(crate) queue: Bytes,
    /// Whether rove's threads may be those of an emulator that it does not know.
    pub(crate) allow_emulator: bool,
    /// The command and its arguments; empty for the login shell.
    pub(crate) command: Vec<OsString>,
    pub(crate) choices: Choices,
    /// Seed of the random numbers that decide losses and delays.
    pub(crate) seed: Seed,
}

/// Runs the demo on this process's terminal; returns the command's exit code.
///
/// # Errors
///
/// Returns why the demo cannot start, in a sentence for the user.
pub(crate) fn run(options: DemoOptions) -> anyhow::Result<u8> {
    check_terminal()?;
    let server = ServerOptions {
        bind: BindAddress::Address(Ipv4Addr::LOCALHOST.into()),
        ports: PortRange { low: 0, high: 0 },
        colors: Some(colors::of_terminal_or_guess()),
        command: options.command.clone(),
        ..ServerOptions::default()
    };
    if options.allow_emulator {
        threads::allow_emulator();
    }
    let introduction = introduction(&options);
    let mut prepared =
        PreparedServer::prepare(&server).context("cannot prepare the demo's server")?;
    // The introduction is also shown in the session, because the client's own screen covers this output.
    prepared.greet(&introduction);
    let (port, key) = (prepared.port(), prepared.key.clone());
    // The relay's thread comes after the fork: a process with threads cannot be split.
    let alone = threads::check_alone().context("cannot start the demo's server")?;
    match sys::fork(alone).context("cannot start the demo's server")? {
        Fork::Parent(_) => {}
        Fork::Child => {
            stay_behind().context("cannot detach the demo's server")?;
            let (clock, events) = server::start_loop()?;
            prepared.serve(clock, events, Listing::Unlisted)?;
            return Ok(0);
        }
    }
    drop(prepared);
    // A last screen that stays, or goes to the terminal's history, has it already.
    if options.command.is_empty() && options.choices.init {
        let _ = writeln!(io::stdout(), "{introduction}");
    }
    join(&options, SocketAddr::from((Ipv4Addr::LOCALHOST, port)), key)
}

fn check_terminal() -> anyhow::Result<()> {
    for (stream, is_terminal) in
        [("standard input", isatty(stdio::stdin())), ("standard output", isatty(stdio::stdout()))]
    {
        anyhow::ensure!(
            is_terminal,
            "{stream} is not a terminal, and the demo is something to look at: run it from one"
        );
    }
    Ok(())
}

/// Connects a client on this terminal to the server through the link; returns the client's exit code.
fn join(options: &DemoOptions, server: SocketAddr, key: Key) -> anyhow::Result<u8> {
    let link = link(options);
    let relay = Relay::start(RelayConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        server,
        uplink: link.clone(),
        downlink: link,
        seed: options.seed,
    })
    .context("cannot start the emulated link")?;
    client::run(ClientOptions {
        server: relay.address(),
        key,
        name: ProgramName::Rove,
        verbose: 0,
        call: SessionCall {
            choices: options.choices.clone(),
            escape_key: Some(DEFAULT_ESCAPE_KEY),
            command: Some(shell_words::join(options.command.iter().map(|it| it.to_string_lossy()))),
            ..SessionCall::default()
        },
    })
}

/// Makes this process the demo's server, which leaves the terminal and ends with the client.
fn stay_behind() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    server::silence(server::open_nothing()?)
}

/// Returns the configuration of one direction of the link.
fn link(options: &DemoOptions) -> LinkConfig {
    LinkConfig {
        delay: options.rtt / 2,
        jitter: options.jitter,
        loss: options.loss,
        rate: options.rate,
        queue_max: options.queue,
        ..LinkConfig::default()
    }
}

/// Returns the line that tells what is emulated and how to quit.
fn introduction(options: &DemoOptions) -> String {
    let mut parts = vec![format!("{:?} round trip", options.rtt)];
    if !options.jitter.is_zero() {
        parts.push(format!("up to {:?} jitter each way", options.jitter));
    }
    if options.loss > 0.0 {
        parts.push(format!("{} % loss each way", (options.loss * 1000.0).round() / 10.0));
    }
    if let Some(rate) = options.rate {
        parts.push(format!("{rate} with a queue of {}", options.queue));
    }
    format!(
        "rove demo: emulated link, {}. To leave: exit, or Ctrl-^ and then a dot.",
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> DemoOptions {
        DemoOptions {
            rtt: Duration::from_millis(500),
            jitter: Duration::ZERO,
            loss: 0.0,
            rate: None,
            queue: Bytes::kib(64),
            allow_emulator: false,
            command: Vec::new(),
            choices: Choices::default(),
            seed: Seed::new(1),
        }
    }

    #[test]
    fn the_introduction_names_what_is_emulated_and_nothing_else() {
        let plain = introduction(&options());
        assert!(plain.contains("link, 500ms round trip."), "{plain}");
        assert!(plain.contains("Ctrl-^"), "{plain}");
        let bad = DemoOptions {
            jitter: Duration::from_millis(20),
            loss: 0.05,
            rate: "1Mbit".parse().ok(),
            ..options()
        };
        let bad = introduction(&bad);
        for part in ["up to 20ms jitter", "5 % loss", "1 Mbit/s with a queue of 64 KiB"] {
            assert!(bad.contains(part), "{bad}");
        }
    }

    #[test]
    fn half_the_round_trip_is_spent_each_way() {
        assert_eq!(link(&options()).delay, Duration::from_millis(250));
    }
}
