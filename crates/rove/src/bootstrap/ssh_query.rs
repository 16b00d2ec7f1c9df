//! Asks ssh for its configuration of a host (`ssh -G`), so that `Match`, `Include` and the system's files count. `ssh
//! -G` opens no connection.

use std::ffi::OsStr;
use std::process::Command;

use rove_bootstrap::ssh_config::{self, SshConfig, is_ssh};
use rove_bootstrap::{HostOptions, ProgramName, RemoteIp, Sharing, TunnelUse};

use crate::answer;
use crate::bootstrap::sharing;

/// Most bytes of `ssh -G`'s output that are read. Chosen: a hundred times the usual output.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Returns ssh's configuration for a host. The result is empty for another program, which is not run: it might log in.
pub(crate) fn ask(ssh: &[String], host: &OsStr) -> SshConfig {
    let ask = |command: Option<&str>| {
        let (program, args) = ssh.split_first().filter(|_| is_ssh(ssh))?;
        let mut query = Command::new(program);
        answer::of(query.args(args).arg("-G").arg(host).args(command), ANSWER_BYTES_MAX)
    };
    // With `ForkAfterAuthentication yes` or `SessionType subsystem`, ssh answers only if there is a command.
    let answer = ask(None).or_else(|| ask(Some("x")));
    // An ssh that fails here fails again at the login, where the user sees its message.
    answer.map_or_else(SshConfig::default, |answer| {
        ssh_config::parse(&String::from_utf8_lossy(&answer), sharing::judge)
    })
}

/// Returns the part of ssh's configuration that a session needs. Stock `mosh` does not ask ssh. Under that name, the
/// result therefore only says whether ssh may use an open connection.
pub(crate) fn config(options: &HostOptions) -> SshConfig {
    if options.local {
        return SshConfig::default();
    }
    if let Some(known) = &options.config {
        return (**known).clone();
    }
    if options.name == ProgramName::Rove {
        return ask(&options.ssh, &options.host);
    }
    // With rove's proxy command, no open connection is used.
    let is_own = options.tunnel != TunnelUse::Always
        && matches!(options.remote_ip, None | Some(RemoteIp::Proxy));
    let sharing = if is_own { Sharing::Unconfigured } else { sharing(options, &options.host) };
    sharing.into()
}

/// Returns whether ssh may use an open connection to this destination, and whether such a connection exists.
pub(crate) fn sharing(options: &HostOptions, destination: &OsStr) -> Sharing {
    if options.name == ProgramName::Mosh
        && options.tunnel != TunnelUse::Always
        && !is_ssh(&options.ssh)
    {
        // Stock `mosh` gives a program other than ssh no option that only ssh knows.
        return Sharing::Unconfigured;
    }
    ask(&options.ssh, destination).sharing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_need_a_command_are_read_too() {
        for setting in ["ForkAfterAuthentication=yes", "SessionType=subsystem"] {
            let ssh = ["ssh", "-F", "/dev/null", "-o", setting].map(str::to_owned);
            let config = ask(&ssh, OsStr::new("host"));
            assert_eq!(config.overrides().len(), 2, "{setting}");
            assert_eq!(config.command.is_subsystem, setting.ends_with("subsystem"));
        }
    }

    #[test]
    fn programs_other_than_ssh_are_not_asked() {
        let ssh = ["sh", "-c", "echo proxyjump x"].map(str::to_owned);
        let config = ask(&ssh, OsStr::new("host"));
        assert_eq!(config, SshConfig::default());
        // Nobody knows which connection a program other than ssh would use.
        assert_eq!(config.sharing, Sharing::Unknown);
    }
}
