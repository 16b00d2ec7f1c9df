//! The command line: `rove HOST`, `rove client` and the client's half of `rove demo`.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use rove_cli_docs::{Manual, Program, Words};
use rove_relay::PathArgs;

use crate::client::{self, Call};
use crate::ending::FAILURE;
use crate::host::{self, HostArgs};
use crate::messages::{say, warn};

/// Commands that rove has only on other systems. A word in this list is never read as a host's name.
const NOT_YET: [&str; 15] = [
    "attach",
    "completions",
    "config",
    "doctor",
    "exec",
    "forget",
    "install",
    "kill",
    "list",
    "man",
    "proxy-config",
    "put",
    "resume",
    "server",
    "tunnel",
];

/// Exit code after a wrong command line. Rove has the same code on other systems.
const USAGE: u8 = 255;

static ROVE: Program = Program {
    name: "rove",
    about: "rove is a remote shell that survives the network. On Windows it is a client.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["ssh", "mosh"],
};

static HOST: Manual = Manual {
    definition: HostArgs::command,
    words: Words::HostAndCommand,
    text: include_str!("../manuals/rove.toml"),
    ..Manual::of(&ROVE)
};

static CLIENT: Manual = Manual {
    word: "client",
    definition: ClientArgs::command,
    words: Words::Unknown,
    text: include_str!("../manuals/client.toml"),
    ..Manual::of(&ROVE)
};

static DEMO: Manual = Manual {
    word: "demo",
    definition: DemoArgs::command,
    words: Words::Unknown,
    text: include_str!("../manuals/demo.toml"),
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

/// Runs the command that `args` name after the program's name. Returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().skip(1).collect();
    let word = args.first().map(|word| word.to_string_lossy().into_owned());
    let code = match word.as_deref() {
        Some("client") => run_command(&CLIENT, args.split_off(1), |args: ClientArgs| {
            client::run(Call::from_environment(args.server.address())?)
        }),
        Some("demo") => run_command(&DEMO, args.split_off(1), demo),
        Some("--version" | "-V" | "version") => print(&format!("rove {}", ROVE.version)),
        Some("--help" | "-h" | "help") => print(&help()),
        Some(word) if NOT_YET.contains(&word) => {
            warn(&format!("rove: rove {word} is not there on Windows yet"));
            USAGE
        }
        _ => run_command(&HOST, args, host::run),
    };
    ExitCode::from(code)
}

/// Connects to the server through a relay on this computer that emulates the link.
fn demo(args: DemoArgs) -> anyhow::Result<u8> {
    let call = Call::from_environment(args.server.address())?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let relay = args.path.start(listen, call.server);
    let relay = relay.context("cannot start the emulated link")?;
    say(&format!(
        "rove demo: emulated link, {}. To leave: exit, or Ctrl-^ and then a dot.",
        args.path.description()
    ));
    client::run(Call { server: relay.address(), ..call })
}

/// Runs a command, and returns its exit code. Prints an error as one sentence.
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
    format!("{}\n\n{}\n{}\n{}", ROVE.about, HOST.help(), CLIENT.help(), DEMO.help())
}

/// Prints text that the user asked for, and returns the exit code.
fn print(text: &str) -> u8 {
    say(text);
    0
}
