//! `rove HOST`: runs ssh, which starts a server on the host, and then becomes the client of this server.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::{Command, ExitStatus};

use anyhow::Context;
use clap::Parser;
use rove_bootstrap::last_words::LastWords;
use rove_bootstrap::ssh_config::{self, SshConfig};
use rove_bootstrap::startup::{Announced, Startup, Stream};
use rove_bootstrap::{
    Challenge, HostOptions, Plan, Printable, Route, Sharing, Way, numeric, remote,
};
use rove_platform::tty::Tty;
use rove_ssp::Key;

use crate::client::{self, Call};
use crate::messages::warn;
use crate::ssh;

/// Exit code if no server was started. Rove has the same code on other systems.
pub(crate) const NO_SERVER: u8 = 10;

/// The number of colours in the terminal's description on the host. Source: terminfo of xterm-256color.
const COLORS: u32 = 256;

/// The locale for a host whose own is not UTF-8. Chosen: it exists without a language pack.
const LOCALE: (&str, &str) = ("LC_CTYPE", "C.UTF-8");

/// Prefix of the shell command for the host. It joins errors to the standard output, where rove reads both until the
/// server announces itself. On other systems a pseudo-terminal does so, but Windows' ssh would need a console for it.
const JOINS_STREAMS: &str = "exec 2>&1; ";

/// Most bytes of `ssh -G`'s output that are kept. The rest is ignored. Chosen: a hundred times the usual output.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Port for the resolver, which requires a port. Rove uses only the resolved addresses.
const SSH_PORT: u16 = 22;

/// Starts a session on a host by ssh
#[derive(Debug, Parser)]
#[command(name = "rove", override_usage = "rove [options] [user@]HOST [-- COMMAND...]")]
pub(crate) struct HostArgs {
    /// ssh, with its options
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    ssh: String,
    /// UDP port of the session on the host
    #[arg(short, long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Server program on the host
    #[arg(long, value_name = "COMMAND")]
    server: Option<OsString>,
    /// Host, by the name that ssh knows
    #[arg(value_name = "[user@]HOST")]
    host: OsString,
    /// Command in place of the login shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Starts a session, and runs its client until the session ends; returns the exit code.
///
/// # Errors
///
/// Returns an error if the client could not start, or if the session failed.
pub(crate) fn run(args: HostArgs) -> anyhow::Result<u8> {
    match start(args) {
        Ok(call) => client::run(call),
        Err(error) => {
            warn(&format!("rove: {error:#}"));
            Ok(NO_SERVER)
        }
    }
}

/// Starts a server by ssh, and returns the server's addresses and key.
fn start(args: HostArgs) -> anyhow::Result<Call> {
    Tty::require_console()?;
    let options = HostOptions {
        ssh: ssh::words(&args.ssh),
        port: args.port.map(|port| port.to_string()),
        server: args.server,
        host: args.host,
        command: args.command,
        ..HostOptions::default()
    };
    anyhow::ensure!(!options.ssh.is_empty(), "--ssh names no program");
    let plan = plan(&options)?;
    for note in plan.config.notes(&options.host, false, true) {
        warn(&format!("rove: {note}"));
    }
    let (announced, status) = log_in(&options, &plan)?;
    anyhow::ensure!(
        !announced.lacks_program(),
        "neither rove nor mosh-server found on {}: install one there, or say where it is with --server=PATH",
        options.host.display()
    );
    let others = plan.other_addresses(&options, &announced);
    let (server, connect) = plan.judge(&options, announced, status)?;
    if let Some(note) = server.note {
        warn(&format!("rove: {note}"));
    }
    let port = &connect.port;
    Ok(Call {
        server: socket(&server.text, port).context("the server's address is none")?,
        others: others.iter().filter_map(|other| socket(other, port)).collect(),
        key: Key::from_text(&connect.key).context("the server's key is none")?,
    })
}

/// Decides which command line ssh runs on the host.
fn plan(options: &HostOptions) -> anyhow::Result<Plan> {
    let config = config(options);
    let mut word = [0; 16];
    getrandom::fill(&mut word).context("cannot draw a random word")?;
    let locale = vec![(LOCALE.0.to_owned(), LOCALE.1.to_owned())];
    let args = remote::server_arguments(options, COLORS, locale);
    let destination = options.host.clone();
    let way = Way { route: route(&config), destination, config, own: None };
    let challenge = Challenge::from_bytes(word);
    Ok(Plan::new(options, way, challenge, &args, JOINS_STREAMS, OsStr::new("rove")))
}

/// Runs ssh to its end, and shows its output up to the server's announcement. Returns announced facts and ssh's status.
fn log_in(options: &HostOptions, plan: &Plan) -> anyhow::Result<(Announced, ExitStatus)> {
    let mut startup = Startup::new(plan.rules());
    let mut last_words = LastWords::new(&options.host, &plan.config, false);
    let mut filters: [Printable; 2] = Default::default();
    let mut show = |stream: Stream, text: &[u8]| {
        // A closed standard output is no reason to end the session.
        let mut screen = io::stdout();
        let _ = screen.write_all(&filters[stream as usize].filter(text));
        let _ = screen.flush();
    };
    let mut command = plan.ssh_command(options);
    command.env_remove("MOSH_KEY");
    let mut is_announced = false;
    let status = ssh::run(&mut command, |stream, bytes| {
        let mut text = Vec::new();
        // `read` fails only in the mode for servers of Mosh 1.4.0, which is not used here.
        let _ = startup.read(stream, bytes, &mut text);
        match stream {
            // After the announcement, the last messages of the server's start and of ssh are not shown.
            _ if is_announced => {}
            Stream::Output => show(stream, &text),
            Stream::Errors => show(stream, &last_words.filter(&text)),
        }
        is_announced = startup.announced.connect.is_some();
    });
    let status = status.with_context(|| {
        let program = command.get_program().display();
        format!(
            "cannot run {program}: add the optional feature \"OpenSSH Client\" to Windows, or name an ssh with \
             --ssh=COMMAND"
        )
    })?;
    if is_announced {
        // The filter held back a warning of ssh, in case it explained a failed login. The login has succeeded.
        show(Stream::Errors, &last_words.conclude(false).1);
        return Ok((startup.announced, status));
    }
    for stream in Stream::ALL {
        let mut text = Vec::new();
        let _ = startup.finish(stream, &mut text);
        match stream {
            Stream::Output => show(stream, &text),
            Stream::Errors => show(stream, &last_words.filter(&text)),
        }
    }
    let (refusal, held) = last_words.conclude(plan.is_ssh_failure(status));
    show(Stream::Errors, &held);
    refusal.map_or(Ok(()), Err)?;
    Ok((startup.announced, status))
}

/// Returns the configuration from `ssh -G`. It is empty if ssh fails, or if `--ssh` names another program than ssh.
fn config(options: &HostOptions) -> SshConfig {
    let (program, args) = options.ssh.split_first().expect("an ssh command has a program");
    if !ssh_config::is_ssh(&options.ssh) {
        return SshConfig::default();
    }
    let mut answer = Vec::new();
    let mut question = Command::new(program);
    question.args(args).arg("-G").arg(&options.host);
    let status = ssh::run(&mut question, |stream, bytes| {
        if stream == Stream::Output && answer.len() < ANSWER_BYTES_MAX {
            answer.extend(bytes);
        }
    });
    match status {
        // Windows' ssh has no connection sharing.
        Ok(status) if status.success() => {
            ssh_config::parse(&String::from_utf8_lossy(&answer), |_| Sharing::Unknown)
        }
        // If ssh fails here, it fails again with a message when it connects.
        _ => SshConfig::default(),
    }
}

/// Returns how the client learns the host's address: by the host's name, or from the host if only ssh can reach it.
fn route(config: &SshConfig) -> Route {
    if let Some(words) = &config.detour {
        return Route::Detour(words.clone());
    }
    let Some(name) = &config.host_name else { return Route::Direct };
    let mut found: Vec<SocketAddr> =
        (name.as_str(), SSH_PORT).to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    found.sort_by_key(SocketAddr::is_ipv6);
    match found.is_empty() {
        true => Route::Direct,
        false => Route::Known(found.into_iter().map(numeric).collect()),
    }
}

/// Returns the socket address of a numeric IP address and a port. `None` if either is malformed.
fn socket(address: &str, port: &str) -> Option<SocketAddr> {
    let forms = [format!("{address}:{port}"), format!("[{address}]:{port}")];
    forms.iter().find_map(|form| form.parse().ok())
}
