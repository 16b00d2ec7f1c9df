//! `rove -W`: joins standard input and output with a TCP port that a gate reaches, as the ProxyCommand of an ssh.
//!
//! `target` is the port, and `gates` notices a gate that is reached through itself.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rove_bootstrap::HostOptions;

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::screen::{tell, tell_running};
use crate::bootstrap::ssh_query;

pub(crate) mod gates;
pub(crate) mod target;

use gates::Gates;
use target::HostPort;

/// Joins standard input and output with the target, which the host of the options reaches. This process becomes ssh.
///
/// # Errors
///
/// Returns why that fails.
pub(crate) fn run(options: &HostOptions, target: &HostPort) -> anyhow::Result<u8> {
    let gates = Gates::entering(&options.host)?;
    if !options.quiet {
        let sentence =
            format!("`ssh -W` carries the connection to {target}, which ends with the network");
        tell("rove", &sentence);
    }
    Err(become_ssh(options, target, &gates).into())
}

/// Turns this process into `ssh -W`. Returns only if that fails, with the reason.
fn become_ssh(options: &HostOptions, target: &HostPort, gates: &Gates) -> BootstrapError {
    let config = ssh_query::ask(&options.ssh, &options.host);
    let (program, args) = options.ssh.split_first().expect("an ssh command has a program");
    let (variable, value) = gates.variable();
    let mut command = Command::new(program);
    command.args(args).args(config.sharing.words()).args(options.family_word());
    command.args(["-W", &target.to_string(), "--"]).arg(&options.host);
    command.env(variable, value).env_remove("MOSH_KEY");
    tell_running(options, &command);
    let error = command.exec();
    BootstrapError::ssh_missing(options.name, command.get_program(), error)
}
