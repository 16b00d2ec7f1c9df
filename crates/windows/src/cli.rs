//! The command line: `rove client` and the client's half of `rove demo`.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use rove_cli_docs::{Manual, Program, Words};
use rove_relay::PathArgs;

use crate::client;
use crate::ending::FAILURE;
use crate::messages::{say, warn};

/// Exit code after a wrong command line, as on other systems.
const USAGE: u8 = 255;

static ROVE: Program = Program {
    name: "rove",
    about: "rove is a remote shell that survives the network. On Windows it shows a session that runs already.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["ssh", "mosh"],
};

/// The variables that both commands read.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("MOSH_KEY", "The session key that the server printed."),
    ("MOSH_PREDICTION_DISPLAY", "adaptive, always, never or experimental."),
];
/// The exit codes of both commands.
const EXIT_STATUS: &[(&str, &str)] = &[
    ("0 to 254", "The command's own."),
    ("1", "The session failed."),
    ("255", "The command line is wrong."),
];

static CLIENT: Manual = Manual {
    word: "client",
    definition: ClientArgs::command,
    words: Words::Unknown,
    examples: &[("rove client 192.0.2.1 60001", "join the session of this server")],
    environment: ENVIRONMENT,
    exit_status: EXIT_STATUS,
    ..Manual::of(&ROVE)
};

static DEMO: Manual = Manual {
    word: "demo",
    definition: DemoArgs::command,
    words: Words::Unknown,
    examples: &[("rove demo --rtt 500ms --loss 5% 192.0.2.1 60001", "join it over a bad link")],
    environment: ENVIRONMENT,
    exit_status: EXIT_STATUS,
    ..Manual::of(&ROVE)
};

/// Shows the session of a server that runs already
#[derive(Debug, Parser)]
#[command(name = "rove client", override_usage = "rove client IP PORT")]
struct ClientArgs {
    #[command(flatten)]
    server: Server,
}

/// Shows the session of a server that runs already, over an emulated link
#[derive(Debug, Parser)]
#[command(name = "rove demo", override_usage = "rove demo [options] IP PORT")]
struct DemoArgs {
    #[command(flatten)]
    path: PathArgs,
    #[command(flatten)]
    server: Server,
}

#[derive(Args, Clone, Copy, Debug)]
struct Server {
    /// Numeric address of the server
    #[arg(value_name = "IP")]
    ip: IpAddr,
    /// UDP port of the server
    #[arg(value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
}

impl Server {
    fn address(self) -> SocketAddr {
        SocketAddr::new(self.ip, self.port)
    }
}

/// Runs the program that `args` call.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter().skip(1);
    let word = args.next().unwrap_or_default();
    let args: Vec<OsString> = args.collect();
    let code = match word.to_str() {
        Some("client") => {
            run_command(&CLIENT, args, |args: ClientArgs| client::run(args.server.address()))
        }
        Some("demo") => run_command(&DEMO, args, demo),
        Some("--version" | "-V" | "version") => print(&format!("rove {}", ROVE.version)),
        Some("--help" | "-h" | "help") => print(&help()),
        _ => {
            warn(
                "rove: on Windows there are the commands client and demo alone; rove --help explains them",
            );
            USAGE
        }
    };
    ExitCode::from(code)
}

/// Joins the session through a relay on this computer.
fn demo(args: DemoArgs) -> anyhow::Result<u8> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = args.path.start(listen, args.server.address());
    let relay = relay.context("cannot start the emulated link")?;
    say(&format!(
        "rove demo: emulated link, {}. To leave: exit, or Ctrl-^ and then a dot.",
        args.path.description()
    ));
    client::run(relay.address())
}

/// Runs a command, and returns its exit code. An error is said in one sentence.
fn run_command<A: FromArgMatches>(
    manual: &Manual,
    args: Vec<OsString>,
    command: impl FnOnce(A) -> anyhow::Result<u8>,
) -> u8 {
    let parsed = rove_cli_docs::matches(manual, args).and_then(|it| A::from_arg_matches(&it));
    match parsed.map(command) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            warn(&format!("{}: {error:#}", manual.called()));
            FAILURE
        }
        Err(error) => match rove_cli_docs::refusal(manual, &error) {
            Some(refusal) => {
                warn(&refusal);
                USAGE
            }
            None => print(&manual.help()),
        },
    }
}

fn help() -> String {
    format!("{}\n\n{}\n{}", ROVE.about, CLIENT.help(), DEMO.help())
}

/// Prints text that the user asked for, and returns the exit code.
fn print(text: &str) -> u8 {
    say(text);
    0
}
