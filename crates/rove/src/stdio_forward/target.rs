//! The target that `rove -W` names, in ssh's spelling: a TCP port of a host, or a socket in the file system.

use std::fs;

use rove_bootstrap::Place;
use rove_streams::PATH_MAX;

/// Longest name of a host, in bytes. Source: RFC 1035, section 2.3.4.
const HOST_BYTES_MAX: usize = 255;
/// The list of service names for ports.
const SERVICES: &str = "/etc/services";

/// The reason why a text is no target of `-W`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("\"{}\" is neither HOST:PORT nor a path; an IPv6 address stands in brackets: [::1]:22", .0.escape_debug())]
    Form(String),
    #[error("a socket's path has at most {PATH_MAX} bytes, and this one has {0}")]
    LongPath(usize),
    #[error("the path \"{}\" has control characters", .0.escape_debug())]
    Control(String),
    #[error("no host is named in \"{}\"", .0.escape_debug())]
    NoHost(String),
    #[error("the host \"{}\" begins as an option does", .0.escape_debug())]
    Option(String),
    #[error("a host's name has at most {HOST_BYTES_MAX} bytes, and this one has {0}")]
    Long(usize),
    #[error("\"{}\" is neither a port from 1 to {} nor a TCP service in {SERVICES}", .0.escape_debug(), u16::MAX)]
    Port(String),
}

/// Reads `host:port`, `[host]:port` or `/path`. The port may be the name of a service. Source: ssh(1), OpenSSH 9.2 as
/// observed and 9.4 for the path.
///
/// # Errors
///
/// Returns why the text names no target.
pub(crate) fn parse(text: &str) -> Result<Place, TargetError> {
    parse_with(text, |name| service(&fs::read_to_string(SERVICES).unwrap_or_default(), name))
}

fn parse_with(text: &str, service: impl FnOnce(&str) -> Option<u16>) -> Result<Place, TargetError> {
    if text.starts_with('/') {
        return match text.len() {
            _ if text.contains(char::is_control) => Err(TargetError::Control(text.to_owned())),
            len if len > PATH_MAX => Err(TargetError::LongPath(len)),
            _ => Ok(Place::Socket(text.to_owned())),
        };
    }
    let halves = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => text.split_once(':').filter(|(_, port)| !port.contains(':')),
    };
    let (host, port) = halves.ok_or_else(|| TargetError::Form(text.to_owned()))?;
    if host.is_empty() {
        return Err(TargetError::NoHost(text.to_owned()));
    }
    if host.starts_with('-') {
        return Err(TargetError::Option(host.to_owned()));
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(TargetError::Long(host.len()));
    }
    let number = port.parse().ok().or_else(|| service(port)).filter(|port| *port != 0);
    let port = number.ok_or_else(|| TargetError::Port(port.to_owned()))?;
    Ok(Place::Port(Some(host.to_owned()), port))
}

/// Returns the TCP port of the service with this name or alias in a list of services (services(5)), if it is listed.
fn service(list: &str, name: &str) -> Option<u16> {
    list.lines().find_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let (first, rest) = line.trim().split_once(char::is_whitespace)?;
        let mut words = rest.split_whitespace();
        let port = words.next()?.strip_suffix("/tcp")?;
        let is_meant = first == name || words.any(|alias| alias == name);
        port.parse().ok().filter(|_| is_meant)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# x\nssh\t22/tcp # login\nhttp 80/tcp www\nsnmp 161/udp\n";

    fn parse(text: &str) -> Result<Place, TargetError> {
        parse_with(text, |name| service(LIST, name))
    }

    #[test]
    fn a_target_is_read_as_ssh_reads_it() {
        let longest = "h".repeat(HOST_BYTES_MAX);
        let path = format!("/{}", "p".repeat(PATH_MAX - 1));
        for (text, written) in [
            ("host:22", "host:22"),
            ("host:022", "host:22"),
            ("host:65535", "host:65535"),
            ("[::1]:22", "[::1]:22"),
            ("[fe80::1%eth0]:22", "[fe80::1%eth0]:22"),
            ("[host]:22", "host:22"),
            ("[2001:db8::5]:22", "[2001:db8::5]:22"),
            ("host:ssh", "host:22"),
            ("host:www", "host:80"),
            (&format!("{longest}:1"), &format!("{longest}:1")),
            ("/run/a socket:1", "/run/a socket:1"),
            (&path, &path),
        ] {
            let target = parse(text).map(|target| target.to_string());
            assert_eq!(target.as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_target_is_refused_with_the_fault() {
        let form = |text: &str| TargetError::Form(text.to_owned());
        let port = |text: &str| TargetError::Port(text.to_owned());
        for (text, error) in [
            ("", form("")),
            ("host", form("host")),
            ("22", form("22")),
            ("::1:22", form("::1:22")),
            ("[::1]", form("[::1]")),
            ("[::1]22", form("[::1]22")),
            (":22", TargetError::NoHost(":22".to_owned())),
            ("[]:22", TargetError::NoHost("[]:22".to_owned())),
            ("-oProxyCommand=x:22", TargetError::Option("-oProxyCommand=x".to_owned())),
            ("[-x]:22", TargetError::Option("-x".to_owned())),
            ("run/socket", form("run/socket")),
            ("/run\n", TargetError::Control("/run\n".to_owned())),
            (&format!("/{}", "p".repeat(PATH_MAX)), TargetError::LongPath(PATH_MAX + 1)),
            ("host:", port("")),
            ("host:0", port("0")),
            ("host:65536", port("65536")),
            ("host:-1", port("-1")),
            ("host:snmp", port("snmp")),
            ("host:x", port("x")),
            (&format!("{}:1", "h".repeat(HOST_BYTES_MAX + 1)), TargetError::Long(256)),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }
}
