//! What ssh's configuration says of a host: ssh itself is asked (`ssh -G`), so that `Match`, `Include`
//! and the system's files count.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Most bytes of `ssh -G`'s answer that are read. Chosen: a hundred times the usual answer.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Longest way around a direct connection that is told, in characters. Chosen: four lines of a terminal.
pub(crate) const DETOUR_CHARS_MAX: usize = 320;

/// What we want to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SshConfig {
    /// The configured way around a direct connection, in ssh_config's words.
    pub(crate) detour: Option<String>,
    /// The host's name after aliases.
    pub(crate) host_name: Option<String>,
}

/// Asks ssh. A program that is not ssh is not asked, for it might take the question for a login.
pub(crate) fn ask(ssh: &[String], host: &OsStr) -> SshConfig {
    let Some((program, args)) = ssh.split_first() else { return SshConfig::default() };
    if !is_ssh(ssh) {
        return SshConfig::default();
    }
    let spawned = Command::new(program)
        .args(args)
        .arg("-G")
        .arg(host)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    // Whatever fails here fails again, with a message, when ssh is to connect.
    let Ok(mut child) = spawned else { return SshConfig::default() };
    let mut answer = Vec::new();
    if let Some(output) = child.stdout.take() {
        let _ = output.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
    }
    match child.wait() {
        Ok(status) if status.success() => parse(&String::from_utf8_lossy(&answer)),
        _ => SshConfig::default(),
    }
}

/// Returns whether a command runs OpenSSH's ssh, as far as its name tells.
pub(crate) fn is_ssh(ssh: &[String]) -> bool {
    ssh.iter().any(|word| Path::new(word).file_name() == Some(OsStr::new("ssh")))
}

/// Takes what we want to know from the answer. It may hold what a configuration had from somewhere else, so the way
/// is told without what would act on a terminal, and a host's name is nothing that a program takes for an option.
pub(crate) fn parse(answer: &str) -> SshConfig {
    let mut config = SshConfig::default();
    for line in answer.lines() {
        let Some((keyword, value)) = line.split_once(' ') else { continue };
        let shown: String =
            value.chars().filter(|c| !c.is_control()).take(DETOUR_CHARS_MAX).collect();
        let is_set = !shown.is_empty() && !shown.eq_ignore_ascii_case("none");
        let is_name = !value.contains(|c: char| c.is_whitespace() || c.is_control());
        match keyword.to_ascii_lowercase().as_str() {
            "proxyjump" if is_set => config.detour = Some(format!("ProxyJump {shown}")),
            "proxycommand" if is_set => config.detour = Some(format!("ProxyCommand {shown}")),
            "hostname" if is_set && is_name && !value.starts_with('-') => {
                config.host_name = Some(value.to_owned())
            }
            _ => {}
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_is_what_ssh_says_it_is() {
        for (answer, detour) in [
            ("user me\nhostname x\nproxyjump bastion\n", Some("ProxyJump bastion")),
            ("proxycommand nc -X 5 %h %p\n", Some("ProxyCommand nc -X 5 %h %p")),
            ("proxycommand none\nport 22\n", None),
            ("proxyjump\nproxyusefdpass no\n", None),
            ("proxycommand a\u{1b}]0;t\u{7}\n", Some("ProxyCommand a]0;t")),
            ("", None),
        ] {
            assert_eq!(parse(answer).detour.as_deref(), detour, "{answer:?}");
        }
        for (answer, name) in [
            ("hostname a.example\n", Some("a.example")),
            ("hostname -oProxyCommand=x\n", None),
            ("hostname a\u{9b}b\n", None),
            ("hostname a b\n", None),
        ] {
            assert_eq!(parse(answer).host_name.as_deref(), name, "{answer:?}");
        }
        for (len, kept) in
            [(DETOUR_CHARS_MAX, DETOUR_CHARS_MAX), (DETOUR_CHARS_MAX + 1, DETOUR_CHARS_MAX)]
        {
            let detour = parse(&format!("proxycommand {}\n", "x".repeat(len))).detour;
            assert_eq!(detour.unwrap().len(), "ProxyCommand ".len() + kept);
        }
    }

    #[test]
    fn programs_other_than_ssh_are_not_asked() {
        let ssh = ["sh", "-c", "echo proxyjump x"].map(str::to_owned);
        assert_eq!(ask(&ssh, OsStr::new("host")), SshConfig::default());
    }
}
