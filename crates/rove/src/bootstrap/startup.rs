//! What ssh and the server print until the server stands: some kinds of lines are for us, all else
//! is for the user, and goes there without waiting for a line's end.
//!
//! ```text
//! ROVE ADDRESS 2001:db8::7                            from our proxy command: the host has this one, too
//! MOSH IP 192.0.2.7                                   from our proxy command
//! MOSH SSH_CONNECTION 198.51.100.1 50000 192.0.2.7 22 from the host, the third is its own address
//! MOSH CONNECT 60001 4NeCCgvZFe2RnPgrcU1PQw           from the server: UDP port and key
//! ```
//! Source: Mosh 1.4.0 as observed; the last line also docs/wire.md.

use core::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::bootstrap::remote::{NO_SERVER_PROGRAM, START};
use crate::tunnel::NO_TUNNEL_PROGRAM;

/// Longest line that can be for us, in bytes; longer ones are for the user. Chosen: five times the
/// longest that makes sense, two IPv6 addresses with zones and their ports.
const LINE_BYTES_MAX: usize = 1024;

/// What our lines begin with.
const MARKERS: [&[u8]; 2] = [b"MOSH ", b"ROVE "];

/// What a line with another address of the host begins with.
pub(crate) const ADDRESS: &str = "ROVE ADDRESS ";

/// Most other addresses of a host that are taken. Chosen: more than a client tries.
const OTHER_ADDRESSES_MAX: usize = 16;

/// Length of a session key's text form. Source: docs/wire.md.
const KEY_LEN: usize = 22;

/// What a server that knows no port range says of one.
const PORT_REFUSED: &[u8] = b"Bad UDP port";

/// How malformed and unexpected lines are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// As stock takes them: malformed lines and a second address are fatal. `address_known` says that
    /// the address is settled already, so that any is a second.
    Stock { address_known: bool },
    /// Only well-formed lines count, whatever a banner says; others are text. Only with `proxy` can a
    /// `MOSH IP` line come from our own proxy command, and then the first is it. With `start` our command
    /// on the host says where it begins, and announcements from before that are not the server's.
    Tolerant { proxy: bool, start: bool },
}

/// What has been learnt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Announced {
    /// The address that our proxy command connected to.
    pub(crate) proxy_address: Option<String>,
    /// The other addresses that our proxy command knows of the host.
    pub(crate) other_addresses: Vec<String>,
    /// The host's own address, as its sshd sees it.
    pub(crate) server_address: Option<String>,
    /// Where the server listens.
    pub(crate) connect: Option<Connect>,
    /// Whether the host has no server program.
    pub(crate) no_server_program: bool,
    /// Whether the host has no program for a tunnel.
    pub(crate) no_tunnel_program: bool,
    /// Whether something complained about the UDP port.
    pub(crate) port_refused: bool,
}

/// The server's announcement.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Connect {
    /// Its UDP port.
    pub(crate) port: String,
    /// The session key.
    pub(crate) key: String,
}

/// A line that stock does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StartupError {
    /// A line of this kind is malformed.
    #[error("Bad {kind} string: {line}")]
    Malformed { kind: &'static str, line: String },
    /// There is a second address.
    #[error("detected attempt to redefine MOSH IP")]
    Redefined,
}

/// Whether more is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The server has not announced itself yet.
    Reading,
    /// It has; what follows is of no interest.
    Announced,
}

/// A reader of the bootstrap's output.
#[derive(Debug)]
pub(crate) struct Startup {
    rules: Rules,
    announced: Announced,
    /// Whether what stands here now can be the server's.
    started: bool,
    /// The last announcement from before the start. Where a host runs a command of its own in place of
    /// ours there is no start, and this is the server's after all.
    early: Option<Connect>,
    /// The line so far, up to [`LINE_BYTES_MAX`].
    line: Vec<u8>,
    /// Whether the line is for the user, and has been passed on so far.
    is_text: bool,
}

/// A line of ours.
enum Line {
    Ip(String),
    Address(String),
    SshConnection(String),
    Start,
    Connect(Connect),
    NoServerProgram,
    NoTunnelProgram,
    Malformed(&'static str),
    Text,
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Startup {
    /// Creates a reader.
    pub(crate) fn new(rules: Rules) -> Self {
        let started = !matches!(rules, Rules::Tolerant { start: true, .. });
        Self {
            rules,
            announced: Announced::default(),
            started,
            early: None,
            line: Vec::new(),
            is_text: false,
        }
    }

    /// Takes bytes of the output; what is for the user goes to `text`.
    ///
    /// # Errors
    ///
    /// Returns an error under [`Rules::Stock`] only.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        text: &mut Vec<u8>,
    ) -> Result<Progress, StartupError> {
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line(Some(byte), text)?;
                if self.announced.connect.is_some() {
                    return Ok(Progress::Announced);
                }
                continue;
            }
            let fits = self.line.len() < LINE_BYTES_MAX;
            if fits {
                self.line.push(byte);
            }
            if self.is_text {
                text.push(byte);
            } else if !fits || !may_be_ours(&self.line) {
                self.is_text = true;
                text.extend(&self.line);
                if !fits {
                    text.push(byte);
                }
            }
        }
        Ok(Progress::Reading)
    }

    /// Takes the end of the output, which may lack its last line end.
    ///
    /// # Errors
    ///
    /// As [`Startup::read`].
    pub(crate) fn finish(&mut self, text: &mut Vec<u8>) -> Result<Progress, StartupError> {
        self.end_line(None, text)?;
        if let Some(early) = self.early.take() {
            self.announced.connect.get_or_insert(early);
        }
        Ok(Progress::Announced)
    }

    /// Returns what has been learnt.
    pub(crate) fn into_announced(self) -> Announced {
        self.announced
    }

    fn end_line(&mut self, end: Option<u8>, text: &mut Vec<u8>) -> Result<(), StartupError> {
        let line = core::mem::take(&mut self.line);
        let was_text = core::mem::take(&mut self.is_text);
        if was_text || !self.take(&line)? {
            if !was_text {
                text.extend(&line);
            }
            text.extend(end);
            self.announced.port_refused |=
                line.windows(PORT_REFUSED.len()).any(|window| window == PORT_REFUSED);
        }
        Ok(())
    }

    /// Takes a line; returns whether it was ours.
    fn take(&mut self, line: &[u8]) -> Result<bool, StartupError> {
        let line = String::from_utf8_lossy(line);
        match (parse(&line, self.rules), self.rules) {
            (Line::Text, _) | (Line::Malformed(_), Rules::Tolerant { .. }) => return Ok(false),
            (Line::Malformed(kind), Rules::Stock { .. }) => {
                return Err(StartupError::Malformed { kind, line: without_key(&line) });
            }
            (Line::Ip(_), Rules::Tolerant { proxy: false, .. }) => return Ok(false),
            (Line::Ip(_), Rules::Stock { address_known })
                if address_known || self.announced.proxy_address.is_some() =>
            {
                return Err(StartupError::Redefined);
            }
            (Line::Ip(address), _) => {
                self.announced.proxy_address.get_or_insert(address);
            }
            // Our proxy command says them before it connects, and nobody else can speak then.
            (Line::Address(address), Rules::Tolerant { proxy: true, .. })
                if self.announced.proxy_address.is_none()
                    && self.announced.other_addresses.len() < OTHER_ADDRESSES_MAX =>
            {
                self.announced.other_addresses.push(address);
            }
            (Line::Address(_), _) => return Ok(false),
            (Line::SshConnection(address), _) => self.announced.server_address = Some(address),
            (Line::Start, Rules::Tolerant { start: true, .. }) => {
                self.started = true;
                self.announced.server_address = None;
                self.early = None;
            }
            (Line::Start, _) => return Ok(false),
            (Line::Connect(connect), _) if self.started => self.announced.connect = Some(connect),
            // It is not shown: should it be the server's after all, it holds the key.
            (Line::Connect(connect), _) => self.early = Some(connect),
            (Line::NoServerProgram, _) => self.announced.no_server_program = true,
            (Line::NoTunnelProgram, _) => self.announced.no_tunnel_program = true,
        }
        Ok(true)
    }
}

/// Returns a malformed line as it may be shown: what stands where a key would may be one.
fn without_key(line: &str) -> String {
    let line = line.trim_end();
    let shown = match (line.starts_with("MOSH CONNECT"), line.match_indices(' ').nth(2)) {
        (true, Some((end, _))) => format!("{} ...", &line[..end]),
        _ => line.to_owned(),
    };
    shown.escape_debug().to_string()
}

/// Returns whether a line that begins like this may be one of ours.
fn may_be_ours(line: &[u8]) -> bool {
    MARKERS.iter().any(|marker| line.iter().zip(*marker).all(|(byte, expected)| byte == expected))
}

fn parse(line: &str, rules: Rules) -> Line {
    let line = line.trim_ascii_end();
    if line == NO_SERVER_PROGRAM {
        return Line::NoServerProgram;
    }
    if line == NO_TUNNEL_PROGRAM {
        return Line::NoTunnelProgram;
    }
    if line == START {
        return Line::Start;
    }
    if let Some(address) = line.strip_prefix(ADDRESS).filter(|it| is_address(it, rules)) {
        return Line::Address(address.to_owned());
    }
    let Some(line) = line.strip_prefix("MOSH ") else { return Line::Text };
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let words: Vec<&str> = rest.split(' ').collect();
    match (kind, words.as_slice()) {
        ("IP", &[address]) if is_address(address, rules) => Line::Ip(address.to_owned()),
        ("IP", _) => Line::Malformed("MOSH IP"),
        ("SSH_CONNECTION", &[_, _, address, _]) if is_address(address, rules) => {
            Line::SshConnection(address.to_owned())
        }
        ("SSH_CONNECTION", _) => Line::Malformed("MOSH SSH_CONNECTION"),
        ("CONNECT", &[port, key]) if is_port(port, rules) && is_key(key) => {
            Line::Connect(Connect { port: port.to_owned(), key: key.to_owned() })
        }
        ("CONNECT", _) => Line::Malformed("MOSH CONNECT"),
        _ => Line::Text,
    }
}

/// Returns whether a word can stand for an address on the client's command line: stock takes any that
/// is no option, and lets the client judge it.
fn is_address(word: &str, rules: Rules) -> bool {
    match rules {
        Rules::Stock { .. } => {
            let is_plain = word.bytes().all(|byte| byte.is_ascii_graphic());
            is_plain && !word.is_empty() && !word.starts_with('-')
        }
        Rules::Tolerant { .. } => match word.split_once('%') {
            None => word.parse::<IpAddr>().is_ok(),
            Some((address, zone)) => {
                let is_zone = !zone.is_empty() && zone.bytes().all(|b| b.is_ascii_graphic());
                address.parse::<Ipv6Addr>().is_ok() && is_zone
            }
        },
    }
}

fn is_port(word: &str, rules: Rules) -> bool {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match rules {
        Rules::Stock { .. } => is_number,
        Rules::Tolerant { .. } => is_number && word.parse::<u16>().is_ok_and(|port| port != 0),
    }
}

fn is_key(word: &str) -> bool {
    word.len() == KEY_LEN
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'))
}

#[cfg(test)]
mod tests;
