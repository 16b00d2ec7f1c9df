//! `rove -W`: joins standard input and output with a TCP port that a gate reaches, as the ProxyCommand of an ssh.
//!
//! `target` is the port, and `gates` notices a gate that is reached through itself.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rove_bootstrap::{
    HostOptions, InstallPolicy, NoSession, Passage, ProgramName, Sharing, WantedSession,
};

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::screen::tell;
use crate::bootstrap::{self, Invocation, ssh_query};
use crate::session_call::SessionCall;

pub(crate) mod gates;
pub(crate) mod target;

use gates::Gates;
use target::HostPort;

/// Joins standard input and output with the target, which the host of the options reaches. This process becomes the
/// client of a session without a program, or ssh where the host has no such session.
///
/// # Errors
///
/// Returns why that fails.
pub(crate) fn run(
    options: &HostOptions,
    invocation: &Invocation,
    target: &HostPort,
) -> anyhow::Result<u8> {
    let gates = Gates::entering(&options.host)?.into_text();
    let target = target.to_string();
    let session = WantedSession::Streams(Passage { target: target.clone(), gates });
    // An ssh that waits for its ProxyCommand has no use for a question.
    let (install, client) = (InstallPolicy::Never, None);
    let family = options.family_word().map(str::to_owned);
    let ssh = options.ssh.iter().cloned().chain(family).collect();
    let options = HostOptions { session, install, client, ssh, ..options.clone() };
    let Err(error) = bootstrap::run(&options, invocation);
    if !has_logged_in(&error) {
        return Err(error.into());
    }
    if !options.quiet {
        let host = options.host.to_string_lossy();
        let reason = format!("{} has no rove that carries connections", host.escape_debug());
        tell_of_fallback(&target, &reason);
    }
    let mut command = forwarding_ssh(&options.ssh, &options.host, &target);
    command.envs(gates::variable(&options));
    Err(exec(command).into())
}

/// Turns the client of a session that carries no connection into ssh. `reason` says why it carries none. Returns only if
/// that fails, with the reason.
pub(crate) fn fall_back(call: &SessionCall, target: &str, reason: &str) -> BootstrapError {
    if !call.quiet {
        tell_of_fallback(target, reason);
    }
    exec(forwarding_ssh(&call.ssh, OsStr::new(call.host.as_deref().unwrap_or_default()), target))
}

/// Returns whether ssh has logged in, so that it can carry the connection.
fn has_logged_in(error: &BootstrapError) -> bool {
    use NoSession::{NotConnected, SshFailed};
    match error {
        BootstrapError::NoSession(SshFailed { .. } | NotConnected { .. }) => false,
        BootstrapError::NoSession(_) | BootstrapError::NoRove { .. } => true,
        BootstrapError::NoTunnelProgram { .. } => true,
        _ => false,
    }
}

fn tell_of_fallback(target: &str, reason: &str) {
    let rest = format!("so `ssh -W` carries the one to {target}, which ends with the network");
    tell(ProgramName::Rove.as_str(), &format!("{reason}, {rest}"));
}

/// Returns the `ssh -W` that connects to the target through the host, by the ssh command in `words`.
fn forwarding_ssh(words: &[String], host: &OsStr, target: &str) -> Command {
    let sharing: Sharing = ssh_query::ask(words, host).sharing;
    let (program, args) = words.split_first().expect("an ssh command has a program");
    let mut command = Command::new(program);
    command.args(args).args(sharing.words()).args(["-W", target, "--"]).arg(host);
    command.env_remove("MOSH_KEY");
    command
}

/// Turns this process into this ssh. Returns only if that fails, with the reason.
fn exec(mut command: Command) -> BootstrapError {
    let error = command.exec();
    BootstrapError::ssh_missing(ProgramName::Rove, command.get_program(), error)
}
