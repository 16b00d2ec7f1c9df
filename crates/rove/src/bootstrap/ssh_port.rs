//! Advice after a failed login with `-p`. In ssh this letter is the TCP port, but in rove it is the session's UDP port.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rove_bootstrap::{HostOptions, NoSession, ProgramName, ssh_config};

use crate::bootstrap::address;
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::ssh_query;
use crate::messages::warn;
use crate::question;

/// Longest wait for the TCP connection, and again for the ssh server's first line. Chosen: four round trips of a bad
/// path, because the user waits for the result.
const PATIENCE: Duration = Duration::from_secs(2);

/// Beginning of the first line that an ssh server sends. Source: RFC 4253, section 4.2.
const IDENTIFICATION: &[u8] = b"SSH-";

/// Explains after a failed login that `-p` is not ssh's port. If an ssh server answers at this port and the user
/// agrees, returns options with the port for ssh. `None` in other cases.
pub(crate) fn offer(options: &HostOptions, error: &BootstrapError) -> Option<HostOptions> {
    let is_login = matches!(
        error,
        BootstrapError::NoSession(NoSession::SshFailed { .. } | NoSession::NotConnected { .. })
            | BootstrapError::Refused(_)
    );
    if options.name == ProgramName::Mosh || !is_login {
        return None;
    }
    let port = options.single_port()?;
    // For a port below 1024 the same hint was given before the login.
    if options.quiet || options.port_hint().is_none() {
        let hint = "is the UDP port of the session; ssh's port is";
        warn("rove", &format!("-p {port} {hint} --ssh=\"ssh -p {port}\""));
    }
    let is_asked = !options.quiet && question::can_be_asked();
    let is_agreed = is_asked && is_sshs(options, port) && {
        let host = options.host.to_string_lossy();
        let question =
            format!("ssh answers at TCP port {port} of {}: ssh's port?", host.escape_debug());
        question::ask(&question, true)
    };
    is_agreed.then(|| with_port(options, port))
}

fn with_port(options: &HostOptions, port: u16) -> HostOptions {
    let ssh = ssh_config::with_options(&options.ssh, &["-p", &port.to_string()]);
    HostOptions { port: None, ssh, ..options.clone() }
}

/// Returns whether an ssh server answers at this TCP port of the host, and ssh's configuration names another port.
fn is_sshs(options: &HostOptions, port: u16) -> bool {
    let config = ssh_query::ask(&options.ssh, &options.host);
    let Some(host) = config.host_name.as_deref().filter(|_| config.detour.is_none()) else {
        return false;
    };
    let addresses =
        address::resolve(host, port, config.family(&options.family)).unwrap_or_default();
    config.port != Some(port) && addresses.into_iter().next().is_some_and(answers_as_ssh)
}

fn answers_as_ssh(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect_timeout(&address, PATIENCE) else { return false };
    let mut beginning = [0; IDENTIFICATION.len()];
    stream.set_read_timeout(Some(PATIENCE)).is_ok()
        && stream.read_exact(&mut beginning).is_ok()
        && beginning == IDENTIFICATION
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn the_port_is_told_to_ssh_and_not_to_the_program_that_runs_it() {
        let ssh = ["nice", "ssh", "-p", "22"].map(str::to_owned).to_vec();
        let options = HostOptions { ssh, port: Some("2222".to_owned()), ..HostOptions::default() };
        let corrected = with_port(&options, 2222);
        assert_eq!(corrected.ssh.join(" "), "nice ssh -p 2222 -p 22");
        assert_eq!(corrected.port, None);
    }

    #[test]
    fn only_what_begins_as_ssh_does_is_taken_for_ssh() {
        for (said, is_ssh) in [
            (&b"SSH-2.0-x\r\n"[..], true),
            (b"HTTP/1.1 400\r\n", false),
            (b"SSH", false),
            (b"", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = thread::spawn(move || listener.accept().unwrap().0.write_all(said));
            assert_eq!(answers_as_ssh(address), is_ssh, "{}", said.escape_ascii());
            server.join().unwrap().unwrap();
            assert!(!answers_as_ssh(address), "nobody is there");
        }
    }
}
