//! Removes variables that a session must not inherit from the ssh connection that started it. That connection has ended
//! when the session's programs run.
//!
//! With a dead agent, `ssh` and `git push` fail instead of asking for a password. With a dead display, X programs hang.
//! `SSH_TTY` may have become another user's terminal. Variables that only describe the login (`SSH_CONNECTION`,
//! `SSH_CLIENT`) stay, because prompts and scripts read them. All variables that ssh has not set also stay, and all
//! variables of a session that was not started over ssh.

use std::ffi::OsStr;
use std::path::Path;

use super::Environment;

/// First display number that sshd uses for forwarded X11. Source: OpenSSH, sshd_config(5), X11DisplayOffset.
const FORWARDED_DISPLAY_MIN: u32 = 10;

/// Removes the variables whose targets ended with the ssh connection. `SSH_TTY` becomes the session's own terminal,
/// because scripts write escape sequences for the user's terminal there, such as for the clipboard.
pub(super) fn forget(environment: &mut Environment, terminal: Option<&str>) {
    let value = |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty());
    if value("SSH_CONNECTION").is_none() {
        return;
    }
    // `ssh-agent` sets this variable, but sshd does not.
    let has_own_agent = value("SSH_AGENT_PID").is_some();
    let agent_is_stale = value("SSH_AUTH_SOCK").is_some_and(|path| is_forwarded_agent(path));
    let display_is_stale = value("DISPLAY").is_some_and(|display| is_forwarded_display(display));
    if agent_is_stale && !has_own_agent {
        environment.remove(OsStr::new("SSH_AUTH_SOCK"));
    }
    if display_is_stale {
        environment.remove(OsStr::new("DISPLAY"));
    }
    if let Some(old) = environment.remove(OsStr::new("SSH_TTY")).filter(|old| !old.is_empty())
        && let Some(terminal) = terminal
    {
        tracing::debug!(?old, terminal, "SSH_TTY");
        environment.insert("SSH_TTY".into(), terminal.into());
    }
}

/// Returns whether the name of this agent socket shows that an ssh server made it for a connection. Other sockets
/// outlive the connection. Source: OpenSSH before 10.1 (`/tmp/ssh-XXXXXXXXXX/agent.PID`) and since
/// (`~/.ssh/agent/s.X.sshd.X`), Dropbear (`/tmp/dropbear-XXXXXXXX/auth-XXXXXXXX-1`).
fn is_forwarded_agent(path: &OsStr) -> bool {
    let path = Path::new(path);
    let text = |name: Option<&OsStr>| name.map(|name| name.to_string_lossy().into_owned());
    let (Some(name), Some(folder)) =
        (text(path.file_name()), text(path.parent().and_then(Path::file_name)))
    else {
        return false;
    };
    (folder.starts_with("ssh-") && name.starts_with("agent."))
        || (folder == "agent" && name.starts_with("s.") && name.contains(".sshd."))
        || (folder.starts_with("dropbear-") && name.starts_with("auth-"))
}

/// Returns whether a display belongs to forwarded X11, because it names a host and has a high number.
fn is_forwarded_display(display: &OsStr) -> bool {
    let display = display.to_string_lossy();
    let Some((host, rest)) = display.rsplit_once(':') else { return false };
    let number = rest.split('.').next().unwrap_or_default();
    !host.is_empty()
        && !host.starts_with('/')
        && number.parse::<u32>().is_ok_and(|number| number >= FORWARDED_DISPLAY_MIN)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    const BY_SSH: (&str, &str) = ("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22");

    #[test]
    fn variables_that_ended_with_the_connection_are_not_inherited() {
        for (variable, stays) in [
            (("SSH_AUTH_SOCK", "/tmp/ssh-AbCdEfGhIj/agent.4711"), false),
            (("SSH_AUTH_SOCK", "/home/me/.ssh/agent/s.U4aBL0.sshd.x1Y2z3"), false),
            (("SSH_AUTH_SOCK", "/tmp/dropbear-0123abcd/auth-4567cdef-1"), false),
            (("SSH_AUTH_SOCK", "/home/me/.ssh/agent/s.U4aBL0.agent.x1Y2z3"), true),
            (("SSH_AUTH_SOCK", "/home/me/.ssh/agent.sock"), true),
            (("SSH_AUTH_SOCK", "/run/user/1000/gnupg/S.gpg-agent.ssh"), true),
            (("SSH_AUTH_SOCK", "/private/tmp/com.apple.launchd.a1B2c3D4e5/Listeners"), true),
            (("SSH_AUTH_SOCK", "agent"), true),
            (("DISPLAY", "localhost:10.0"), false),
            (("DISPLAY", "host.example:11"), false),
            (("DISPLAY", "[::1]:10.0"), false),
            (("DISPLAY", ":0"), true),
            (("DISPLAY", ":10"), true),
            (("DISPLAY", "xserver:0"), true),
            (("DISPLAY", "/private/tmp/launch/org.xquartz:10"), true),
            (("DISPLAY", "nonsense"), true),
            (("SSH_CLIENT", "192.0.2.1 50000 22"), true),
        ] {
            let mut found = environment(&[BY_SSH, variable]);
            forget(&mut found, None);
            assert_eq!(found.contains_key(OsStr::new(variable.0)), stays, "{variable:?}");
            assert!(found.contains_key(OsStr::new(BY_SSH.0)), "prompts ask for it");

            let mut found = environment(&[variable]);
            forget(&mut found, None);
            assert_eq!(found, environment(&[variable]), "not over ssh");
        }
    }

    #[test]
    fn an_agent_of_the_users_own_stays() {
        let own = [
            BY_SSH,
            ("SSH_AUTH_SOCK", "/tmp/ssh-AbCdEfGhIj/agent.4711"),
            ("SSH_AGENT_PID", "4712"),
        ];
        let mut found = environment(&own);
        forget(&mut found, None);
        assert_eq!(found, environment(&own));
    }

    #[test]
    fn the_terminal_is_the_sessions_where_ssh_had_one() {
        for (before, terminal, after) in [
            (Some("/dev/pts/1"), Some("/dev/pts/2"), Some("/dev/pts/2")),
            (Some("/dev/pts/1"), None, None),
            (None, Some("/dev/pts/2"), None),
        ] {
            let mut found = environment(&[BY_SSH]);
            found.extend(before.map(|terminal| ("SSH_TTY".into(), terminal.into())));
            forget(&mut found, terminal);
            assert_eq!(found.get(OsStr::new("SSH_TTY")), after.map(OsString::from).as_ref());
        }
    }
}
