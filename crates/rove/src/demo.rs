//! The demo (`rove demo`): a server and a client on this computer, connected by an emulated link.
//!
//! The demo needs no ssh, no privileges and no network. It runs the same client and server code as a real session.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, bail};
use rove_bootstrap::{Choices, ProgramName};
use rove_relay::PathArgs;
use rove_ssp::Key;
use rove_udp::PortRange;

use crate::bootstrap;
use crate::client::{self, ClientOptions};
use crate::colors;
use crate::escape_key::DEFAULT_ESCAPE_KEY;
use crate::server::{self, BindAddress, Listing, PreparedServer, ServerOptions};
use crate::session_call::SessionCall;
use crate::sys::{self, Fork};
use crate::threads;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DemoOptions {
    /// The emulated path between the two ends.
    pub(crate) path: PathArgs,
    /// The command and its arguments; empty for the login shell.
    pub(crate) command: Vec<OsString>,
    pub(crate) choices: Choices,
}

/// Runs the demo on this process's terminal; returns the command's exit code.
///
/// # Errors
///
/// Returns why the demo cannot start, in a sentence for the user.
pub(crate) fn run(options: DemoOptions) -> anyhow::Result<u8> {
    if let Some(stream) = bootstrap::missing_terminal() {
        bail!("{stream} is not a terminal, and the demo is something to look at: run it from one");
    }
    let server = ServerOptions {
        bind: BindAddress::Address(Ipv4Addr::LOCALHOST.into()),
        ports: PortRange { low: 0, high: 0 },
        colors: Some(colors::of_terminal_or_guess()),
        command: options.command.clone(),
        ..ServerOptions::default()
    };
    let introduction = introduction(&options);
    let mut prepared =
        PreparedServer::prepare(&server).context("cannot prepare the demo's server")?;
    // The introduction is also shown in the session, because the client's own screen covers this output.
    prepared.greet(&introduction);
    let (port, key) = (prepared.port(), prepared.key.clone());
    // A process with threads cannot fork safely, so the relay's thread starts after the fork.
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
    // Without the alternate screen, the session's output stays on the terminal, and already contains the introduction.
    if options.command.is_empty() && options.choices.init {
        let _ = writeln!(io::stdout(), "{introduction}");
    }
    join(&options, SocketAddr::from((Ipv4Addr::LOCALHOST, port)), key)
}

/// Connects a client on this terminal to the server through the link; returns the client's exit code.
fn join(options: &DemoOptions, server: SocketAddr, key: Key) -> anyhow::Result<u8> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = options.path.start(listen, server).context("cannot start the emulated link")?;
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

/// Makes this process the demo's server: it leaves the terminal's session and, on Linux, ends when the client ends.
fn stay_behind() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    server::silence(server::open_nothing()?)
}

/// Returns the line that describes the emulated link and says how to quit.
fn introduction(options: &DemoOptions) -> String {
    format!(
        "rove demo: emulated link, {}. To leave: exit, or Ctrl-^ and then a dot.",
        options.path.description()
    )
}
