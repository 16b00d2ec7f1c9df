//! The commands `rove -W`, `rove exec` and `rove put`. `rove -W` connects standard input and output with a TCP port or
//! a socket that a host (the gate) reaches, for ssh's ProxyCommand. `rove exec` connects the two with a program on a
//! host, and `rove put` copies files.
//!
//! `target` reads the port or path, and `handed_command` passes the program's command to the client. `gates` detects a
//! gate that is reached through itself, and `json` reports a run of `rove exec` in JSON.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::{
    HostOptions, InstallPolicy, Joined, NoSession, Passage, ProgramName, WantedSession,
};

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::screen::tell;
use crate::bootstrap::{self, Invocation, ssh_query};
use crate::server::open_nothing;
use crate::session_call::SessionCall;
use crate::share::borrower;

pub(crate) mod gates;
pub(crate) mod handed_command;
pub(crate) mod json;
pub(crate) mod target;

use json::Channel;

/// Connects the standard descriptors with the port or program in `joined`, or copies its files. Returns the exit code
/// if a running client takes the call. Otherwise this process becomes the client of a session without a program, or
/// becomes ssh if the host has no suitable rove.
pub(crate) fn run(
    options: &HostOptions,
    invocation: &Invocation,
    joined: Joined,
) -> anyhow::Result<u8> {
    let gates = gates::entering(&options.host)?;
    let config = ssh_query::config(options);
    let joined = with_configured(joined, &config)?;
    if config.command.has_no_input && matches!(joined, Joined::Program { .. }) {
        close_input();
    }
    if let Some(code) = borrower::run(options, &joined, &config) {
        return Ok(code);
    }
    let session = WantedSession::Streams(Passage { joined: joined.clone(), gates });
    // The program that starts such a call, such as an ssh, cannot answer a question.
    let (install, client) = (InstallPolicy::Never, None);
    let family = options.family_word().map(str::to_owned);
    let ssh = options.ssh.iter().cloned().chain(family).collect();
    let config = Some(config.into());
    let options = HostOptions { session, install, client, ssh, config, ..options.clone() };
    let Err(error) = bootstrap::run(&options, invocation);
    if !has_logged_in(&error) {
        return Err(error.into());
    }
    let host = options.host.to_string_lossy();
    if let Joined::Files { .. } = joined {
        anyhow::bail!("{}: {error}", refusal(&host.escape_debug().to_string()));
    }
    if !options.quiet {
        let lacks = match joined {
            Joined::Port(_) => "carries connections",
            _ => "runs programs for rove exec",
        };
        tell_of_fallback(&joined, &format!("{} has no rove that {lacks}", host.escape_debug()));
    }
    Channel::take().iter().for_each(Channel::leave_to_ssh);
    let mut command = plain_ssh(&options.ssh, &options.host, &joined);
    command.envs(gates::variable(&options));
    Err(exec(command).into())
}

/// Lets a call without a command run the command in ssh's configuration (`RemoteCommand`), perhaps as a subsystem.
///
/// # Errors
///
/// Returns [`BootstrapError::TwoCommands`] if the call also has a command.
fn with_configured(joined: Joined, config: &SshConfig) -> Result<Joined, BootstrapError> {
    let Joined::Program { mut command, is_subsystem } = joined else { return Ok(joined) };
    if let Some(configured) = &config.command.configured {
        if is_subsystem || !command.is_empty() {
            return Err(BootstrapError::TwoCommands);
        }
        command = configured.into();
    }
    Ok(Joined::Program { command, is_subsystem: is_subsystem || config.command.is_subsystem })
}

/// Replaces standard input by `/dev/null`.
pub(crate) fn close_input() {
    if let Ok(nothing) = open_nothing() {
        let _ = rustix::stdio::dup2_stdin(nothing);
    }
}

/// Replaces this process by an ssh that does the work of `joined`, because the session carries no streams for it.
/// `reason` says why. Returns only if ssh cannot be run, with that error.
pub(crate) fn fall_back(call: &SessionCall, joined: &Joined, reason: &str) -> BootstrapError {
    if !call.quiet {
        tell_of_fallback(joined, reason);
    }
    exec(plain_ssh(&call.ssh, OsStr::new(call.host.as_deref().unwrap_or_default()), joined))
}

/// Returns the message that no rove on the host receives files. For files there is no fallback to ssh.
pub(crate) fn refusal(host: &str) -> String {
    format!(
        "no rove at {host} takes files (scp copies them, and rove install {host} copies this rove there)"
    )
}

/// Returns whether ssh has logged in, so that ssh alone can do the call's work.
fn has_logged_in(error: &BootstrapError) -> bool {
    use NoSession::{NotConnected, SshFailed};
    match error {
        BootstrapError::NoSession(SshFailed { .. } | NotConnected { .. }) => false,
        BootstrapError::NoSession(_) | BootstrapError::NoRove { .. } => true,
        BootstrapError::NoTunnelProgram { .. } => true,
        _ => false,
    }
}

fn tell_of_fallback(joined: &Joined, reason: &str) {
    let rest = match joined {
        Joined::Port(target) => {
            format!("so `ssh -W` carries the one to {target}, which ends with the network")
        }
        _ => "so ssh runs this one, which ends with the network".to_owned(),
    };
    tell(ProgramName::Rove.as_str(), &format!("{reason}, {rest}"));
}

/// Returns the command of an ssh that does the work of `joined`. `words` is the user's ssh command.
fn plain_ssh(words: &[String], host: &OsStr, joined: &Joined) -> Command {
    let config = ssh_query::ask(words, host);
    let (program, args) = words.split_first().expect("an ssh command has a program");
    let mut command = Command::new(program);
    command.args(args).args(config.sharing.words());
    match joined {
        Joined::Port(target) => command.args(["-W", target, "--"]).arg(host),
        Joined::Program { command: run, is_subsystem } => {
            let words = is_subsystem.then_some("-s").into_iter().chain(["-T", "--"]);
            // ssh runs the command of its configuration, and accepts no second command.
            let is_known = run.is_empty() || config.command.configured.is_some();
            let run: Option<&OsString> = Some(run).filter(|_| !is_known);
            command.args(words).arg(host).args(run)
        }
        Joined::Files { .. } => &mut command,
    };
    command.env_remove("MOSH_KEY").env_remove(handed_command::VARIABLE);
    command
}

/// Replaces this process by an ssh. Returns only if that fails, with the reason.
fn exec(mut command: Command) -> BootstrapError {
    let error = command.exec();
    BootstrapError::ssh_missing(ProgramName::Rove, command.get_program(), error)
}
