//! Port forwards (`-L`, `-D`, `-R`) in the output of `ssh -G`: one end listens, the other connects to the target.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// The umask of new Unix sockets if the configuration has none. Source: ssh_config(5), OpenSSH 9.2.
const MASK: u32 = 0o177;

/// The user's port forwards, and the settings that apply to all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forwards {
    /// The forwards for which the client listens.
    pub all: Vec<Forward>,
    /// The forwards for which the host listens.
    pub remote: Vec<RemoteForward>,
    /// The lines of the configuration about listeners that could not be parsed. Neither end opens these listeners.
    pub unread: Vec<String>,
    /// The destinations that the SOCKS clients of [`Self::remote`] may name (`PermitRemoteOpen`).
    pub permitted: Permitted,
    /// Whether the session ends if a listener cannot be opened (`ExitOnForwardFailure`).
    pub are_required: bool,
    /// Whether a client's listener without an address uses all interfaces, not only the loopback (`GatewayPorts`).
    pub are_open: bool,
    /// The umask of new Unix sockets (`StreamLocalBindMask`).
    pub mask: u32,
    /// Whether a listener may replace an existing Unix socket (`StreamLocalBindUnlink`).
    pub replaces: bool,
}

/// A listener of the client, and the destination of its connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// Where the client listens.
    pub listen: Place,
    /// The destination that the host connects to. `None` if each connection names its own (SOCKS).
    pub target: Option<Place>,
}

/// A listener of the host, and the destination of its connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteForward {
    /// Where the host listens. If the port is 0, the host chooses a port.
    pub listen: Place,
    /// The destination that the client connects to. `None` if each connection names its own (SOCKS).
    pub target: Option<Place>,
}

/// The destinations that SOCKS clients on the host may name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Permitted {
    /// SOCKS clients may name all destinations, except the client's computer, link-local addresses and cloud metadata.
    #[default]
    Any,
    /// SOCKS clients may name only these hosts and ports. `None` means any port, or any host that `Any` permits.
    Only(Vec<(Option<String>, Option<u16>)>),
}

/// An address to listen at or to connect to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A TCP port of a host. A listener without a host uses the loopback or all interfaces (`GatewayPorts`).
    Port(Option<String>, u16),
    /// The path of a Unix socket.
    Socket(String),
}

impl Place {
    /// Returns whether a user who names the address `other` means this listener, as in ssh's `-KL` (OpenSSH 9.2 as
    /// observed). The loopback and all interfaces count as the same address.
    pub fn is_listener(&self, other: &Self) -> bool {
        let is_usual =
            |host: &Option<String>| matches!(host.as_deref(), None | Some("" | "*" | "localhost"));
        match (self, other) {
            (Self::Port(host, port), Self::Port(wanted, number)) => {
                port == number && (host == wanted || is_usual(host) && is_usual(wanted))
            }
            _ => self == other,
        }
    }
}

impl Default for Forwards {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            remote: Vec::new(),
            unread: Vec::new(),
            permitted: Permitted::Any,
            are_required: false,
            are_open: false,
            mask: MASK,
            replaces: false,
        }
    }
}

impl Forwards {
    /// Returns whether there are no forwards, and no lines in `unread`.
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty() && self.remote.is_empty() && self.unread.is_empty()
    }

    /// Reads a line of `ssh -G`. Ignores lines about other settings.
    pub(crate) fn take(&mut self, keyword: &str, value: &str) {
        let forward = match keyword {
            "localforward" => pair(value).map(|(listen, target)| (listen, Some(target))),
            "dynamicforward" => Place::parse(value).map(|listen| (listen, None)),
            "remoteforward" => match RemoteForward::parse(value) {
                Some(forward) => return self.remote.push(forward),
                None => None,
            },
            "permitremoteopen" => return self.permitted = Permitted::parse(value),
            "exitonforwardfailure" => return self.are_required = value == "yes",
            "gatewayports" => return self.are_open = value == "yes",
            "streamlocalbindmask" => {
                return self.mask = u32::from_str_radix(value, 8).unwrap_or(MASK) & 0o777;
            }
            "streamlocalbindunlink" => return self.replaces = value == "yes",
            _ => return,
        };
        match forward {
            Some((listen, target)) => self.all.push(Forward { listen, target }),
            None => self.unread.push(rove_terminal::plain(&format!("{keyword} {value}"))),
        }
    }

    /// Removes the dynamic forwards that repeat local forwards to Unix sockets, because OpenSSH 9.2 prints these in
    /// both forms. A local forward counts even if its line in `answer` could not be parsed.
    pub(crate) fn drop_repeated(&mut self, answer: &str) {
        let lines = answer.lines().filter_map(|line| line.strip_prefix("localforward "));
        let listeners = lines.flat_map(|line| line.match_indices(' ').map(|(at, _)| &line[..at]));
        let fixed: Vec<Place> = listeners.filter_map(Place::parse).collect();
        self.all.retain(|it| it.target.is_some() || !fixed.contains(&it.listen));
    }
}

impl RemoteForward {
    /// Parses a remote forward, or returns `None`. The destination `socks` means that each connection names its own.
    fn parse(value: &str) -> Option<Self> {
        let (listen, target) = pair(value)?;
        let is_socks = target == Place::Port(Some("socks".to_owned()), 0);
        Some(Self { listen, target: (!is_socks).then_some(target) })
    }
}

impl Permitted {
    /// Parses the value of ssh's `PermitRemoteOpen` or sshd's `PermitOpen`: `host:port`, where `*` means any.
    pub fn parse(value: &str) -> Self {
        let place = |word: &str| {
            let (host, port) = word.rsplit_once(':')?;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let port = if port == "*" { None } else { Some(port.parse().ok()?) };
            Some((Some(host).filter(|it| *it != "*").map(str::to_owned), port))
        };
        match value {
            "any" => Self::Any,
            // An entry that cannot be parsed permits nothing.
            value => Self::Only(value.split_ascii_whitespace().filter_map(place).collect()),
        }
    }

    /// Returns whether a connection may go to this destination. `Some(true)` if an entry names the host, and
    /// `Some(false)` if only `*` or `any` permits it. `None` if no entry permits it.
    pub fn find(&self, host: &str, port: u16) -> Option<bool> {
        let Self::Only(places) = self else { return Some(false) };
        let fits = |(name, number): &(Option<String>, Option<u16>)| {
            let is_named = name.as_deref().is_none_or(|name| name == host);
            is_named && number.is_none_or(|number| number == port)
        };
        places.iter().filter(|it| fits(it)).map(|(name, _)| name.is_some()).max()
    }
}

impl Place {
    /// Parses an address as `ssh -G` prints it. `None` if it is malformed or contains control characters.
    fn parse(text: &str) -> Option<Self> {
        let is_plain = !text.contains(char::is_control);
        let place = match text.strip_prefix('[').and_then(|rest| rest.rsplit_once("]:")) {
            Some((host, port)) => Self::Port(Some(host.to_owned()), port.parse().ok()?),
            None => match text.parse() {
                Ok(port) => Self::Port(None, port),
                Err(_) => Self::Socket(text.to_owned()).into_path()?,
            },
        };
        Some(place).filter(|_| is_plain)
    }

    fn into_path(self) -> Option<Self> {
        matches!(&self, Self::Socket(path) if path.contains('/')).then_some(self)
    }
}

/// Splits a forward's value into the address to listen at and the destination, which is never a port alone. Paths may
/// contain blanks. So the last blank between two addresses counts, preferably before `[` or a path. `None` without any.
fn pair(value: &str) -> Option<(Place, Place)> {
    let split = |beginnings: &[char]| {
        value.rmatch_indices(' ').find_map(|(at, _)| {
            let second = &value[at + 1..];
            let target = Place::parse(second)?;
            let fits = beginnings.is_empty() || second.starts_with(beginnings);
            let is_whole = fits && !matches!(target, Place::Port(None, _));
            Some((Place::parse(&value[..at])?, target)).filter(|_| is_whole)
        })
    };
    split(&['[', '/', '~', '.']).or_else(|| split(&[]))
}

impl Display for Forward {
    /// Writes the option in ssh's syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) => write!(f, "-L {}:{target}", self.listen),
            None => write!(f, "-D {}", self.listen),
        }
    }
}

impl Display for RemoteForward {
    /// Writes the option in ssh's syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) => write!(f, "-R {}:{target}", self.listen),
            None => write!(f, "-R {}", self.listen),
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(Some(host), port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Port(Some(host), port) => write!(f, "{host}:{port}"),
            Self::Port(None, port) => write!(f, "{port}"),
            Self::Socket(path) => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharing::Sharing;
    use crate::ssh_config;

    fn read(answer: &str) -> Forwards {
        ssh_config::parse(answer, |_| Sharing::Unknown).forwards
    }

    fn written(answer: &str) -> String {
        let written: Vec<String> = read(answer).all.iter().map(Forward::to_string).collect();
        written.join(", ")
    }

    #[test]
    fn each_form_of_ssh_is_read_as_ssh_prints_it() {
        // The left column was printed by OpenSSH 9.2.
        for (line, option) in [
            ("localforward 8080 [h]:80", "-L 8080:h:80"),
            ("localforward []:8081 [h]:80", "-L :8081:h:80"),
            ("localforward [*]:8082 [::1]:80", "-L *:8082:[::1]:80"),
            ("localforward [::1]:8083 [h]:80", "-L [::1]:8083:h:80"),
            ("localforward /tmp/x [h]:80", "-L /tmp/x:h:80"),
            ("localforward ./rel [h]:1", "-L ./rel:h:1"),
            ("localforward /a b [h]:1", "-L /a b:h:1"),
            ("localforward /a /b", "-L /a:/b"),
            ("localforward 8080 /a b/c", "-L 8080:/a b/c"),
            ("dynamicforward 1080", "-D 1080"),
            ("dynamicforward [::1]:1082", "-D [::1]:1082"),
            // OpenSSH 9.2 repeats a local forward to a socket as a dynamic forward.
            (
                "dynamicforward [1.2.3.4]:8084\nlocalforward [1.2.3.4]:8084 /r/s",
                "-L 1.2.3.4:8084:/r/s",
            ),
            ("dynamicforward /x\nlocalforward /x /r/s\ndynamicforward 5", "-L /x:/r/s, -D 5"),
            ("dynamicforward 18080\nlocalforward 18080 run/sock", "-L 18080:run/sock"),
            ("dynamicforward [h]:8\nlocalforward [h]:8 my run/sock", "-L h:8:my run/sock"),
            ("dynamicforward a/b\nlocalforward a/b c/d", "-L a/b:c/d"),
        ] {
            assert_eq!(written(line), option, "{line}");
        }
        for line in [
            "localforward 8080",
            "localforward 8080 80",
            "localforward 99999 [h]:1",
            "localforward 1 [h\u{1b}]:1",
            "localforward [h]:x [h]:1",
            "dynamicforward x",
            "dynamicforward \u{9b}/",
            // An unreadable local forward must not turn into a SOCKS proxy.
            "dynamicforward 8080\nlocalforward 8080 /\u{9b}",
        ] {
            assert_eq!(written(line), "", "{line}");
            assert_eq!(read(line).unread.len(), 1, "{line}");
        }
    }

    #[test]
    fn each_form_of_a_remote_forward_is_read_as_ssh_prints_it() {
        // The left column was printed by OpenSSH 9.2.
        for (line, option) in [
            ("remoteforward 0 [h]:80", "-R 0:h:80"),
            ("remoteforward 1081 [socks]:0", "-R 1081"),
            ("remoteforward [127.0.0.1]:1082 [socks]:0", "-R 127.0.0.1:1082"),
            ("remoteforward [*]:82 [h]:1", "-R *:82:h:1"),
            ("remoteforward []:83 [::1]:2", "-R :83:[::1]:2"),
            ("remoteforward [::1]:84 [h]:1", "-R [::1]:84:h:1"),
            ("remoteforward /tmp/x [h]:80", "-R /tmp/x:h:80"),
            ("remoteforward 5 /b", "-R 5:/b"),
            ("remoteforward 1 a/b", "-R 1:a/b"),
            ("remoteforward /a /b", "-R /a:/b"),
            ("remoteforward 5", ""),
            ("remoteforward 5 [h\u{1b}]:1", ""),
        ] {
            let found = read(line).remote;
            let shown: Vec<String> = found.iter().map(RemoteForward::to_string).collect();
            assert_eq!(shown.join(", "), option, "{line}");
            assert_eq!(read(line).unread.is_empty(), !option.is_empty(), "{line}");
        }
    }

    #[test]
    fn only_places_of_permit_remote_open_may_be_named_by_the_hosts_side() {
        for (value, host, port, found) in [
            ("any", "h", 1, Some(false)),
            ("none", "h", 1, None),
            ("a:1 b:*", "a", 1, Some(true)),
            ("a:1 b:*", "a", 2, None),
            ("a:1 b:*", "b", 2, Some(true)),
            ("*:80 a:80", "a", 80, Some(true)),
            ("*:80", "a", 80, Some(false)),
            ("[::1]:80", "::1", 80, Some(true)),
            ("a:x", "a", 1, None),
        ] {
            let permitted = read(&format!("permitremoteopen {value}")).permitted;
            assert_eq!(permitted.find(host, port), found, "{value} {host}");
        }
    }

    #[test]
    fn the_rules_are_sshs_own_unless_the_configuration_changes_them() {
        assert_eq!(read("port 22"), Forwards::default());
        assert_eq!(
            read("gatewayports no\nexitonforwardfailure no\nstreamlocalbindmask x"),
            Forwards::default()
        );
        let changed = read(
            "gatewayports yes\nexitonforwardfailure yes\nstreamlocalbindmask 0117\nstreamlocalbindunlink yes",
        );
        let usual = Forwards::default();
        assert_eq!(
            changed,
            Forwards { are_required: true, are_open: true, mask: 0o117, replaces: true, ..usual }
        );
    }
}
