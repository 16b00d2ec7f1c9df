//! Reads the output of ssh and the server until the server runs. Recognises the lines that rove's own programs print.
//! Passes all other output on to the user, without waiting for the end of a line.
//!
//! ```text
//! on ssh's error output, from rove's proxy command
//!   ROVE ADDRESS 5ad0... 2001:db8::7                  the host has this address, too
//!   ROVE IP 5ad0... 192.0.2.7                         ssh is connected to this one; `MOSH IP 192.0.2.7` as mosh
//!   ROVE FAILED 5ad0... cannot connect to h port 22   no address accepts; `ROVE UNKNOWN 5ad0...` if the name has none
//! on its standard output, from the host
//!   ROVE START 5ad0...                                rove's command begins here; earlier lines are not trusted
//!   ROVE STOCK 5ad0...                                the server that follows is stock, or a rove named mosh-server
//!   MOSH SSH_CONNECTION 198.51.100.1 50000 192.0.2.7 22  the third value is the host's own address
//!   MOSH CONNECT 60001 4NeCCgvZFe2RnPgrcU1PQw         from the server: UDP port and key
//! ```
//! A line is recognised only on its own stream. A banner, an impostor at ssh's TCP port and the hosts on the way can
//! print only on the error output. After ssh has authenticated the host, the standard output comes from the host. In
//! the `ROVE` lines above, the random word is the run's [`Challenge`]. Source: Mosh 1.4.0 as observed, and docs/wire.md
//! for the last line.

mod attachment;
mod early_output;

use core::fmt;
use std::net::{IpAddr, Ipv6Addr};

pub use self::attachment::{Attachment, LOOPBACK, TAKEN};
pub use self::early_output::EarlyOutput;
use crate::challenge::Challenge;
use crate::line::LineReader;
use crate::platform::Platform;
use crate::remote::{NO_SERVER_PROGRAM, START, STOCK_SERVER, SYSTEM};
use crate::tunnel::NO_TUNNEL_PROGRAM;

/// The beginning of a line with a further address of the host.
pub const ADDRESS: &str = "ROVE ADDRESS";

/// The beginning of the line with the address to which ssh is connected.
pub const IP: &str = "ROVE IP";

/// The beginning of the line in which a proxy command reports that the host's name has no address.
pub const UNKNOWN: &str = "ROVE UNKNOWN";

/// The beginning of the line in which a proxy command reports another reason why it could not connect.
pub const FAILED: &str = "ROVE FAILED";

/// Most addresses of a host that are kept besides the connected one. Chosen: more than a client tries.
const OTHER_ADDRESSES_MAX: usize = 16;

/// Length of a session key in text form, in characters. Source: docs/wire.md.
const KEY_LEN: usize = 22;

/// Part of the error message of a server that does not know port ranges.
const PORT_REFUSED: &[u8] = b"Bad UDP port";

/// The beginning of a line with a session that `rove attach` could choose. The port and a description follow.
pub const CHOICE: &str = "ROVE SESSION";

/// Most running sessions that a login offers to the user. Chosen: the user types a single digit.
pub const CHOICES_MAX: usize = 9;

/// Parts of the error messages of a rove server that does not know the command `server attach`, or an option of it.
const COMMAND_REFUSED: [&[u8]; 3] = [
    b"the first word must be \"new\"",
    b"attach takes one session",
    b"begins with a letter or a digit, and \"--",
];

/// An output stream of ssh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The standard output: the host's output, after ssh has checked the host's key.
    Output,
    /// The error output, on which ssh, its proxy command and the hosts on the way print.
    Errors,
}

impl Stream {
    /// Both streams in the order in which their output is shown, because a banner precedes a login.
    pub const ALL: [Self; 2] = [Self::Errors, Self::Output];
}

/// The rules by which lines are recognised, and by which malformed lines are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The rules of stock Mosh hold: malformed lines and a second address are fatal.
    Stock(StockAddress),
    /// The rules of rove hold: only well-formed lines are recognised, and all others are text.
    Tolerant {
        /// The random word that rove's own lines repeat.
        challenge: Challenge,
        /// Whether ssh runs rove's proxy command.
        proxy: bool,
        /// Whether the host runs rove's own shell command, which prints the start line first.
        start: bool,
    },
}

/// The source of the server's address under stock Mosh's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StockAddress {
    /// The proxy command prints the address on the error output.
    Proxy,
    /// The host prints the address, and the error output has none.
    Host,
    /// The address is already known, so any printed address is a second one.
    Known,
}

/// The facts that ssh's output states: addresses, session and failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// The address that rove's proxy command has connected to.
    pub proxy_address: Option<String>,
    /// The other addresses of the host that rove's proxy command has found.
    pub other_addresses: Vec<String>,
    /// Why rove's proxy command could not connect. `None` if it connected or did not run.
    pub proxy_failure: Option<ProxyFailure>,
    /// The address of the host at which its sshd was reached, as the host states it.
    pub server_address: Option<String>,
    /// The server's announcement: its port and key.
    pub connect: Option<Connect>,
    /// The kind of output that the host printed before rove's command started, or without starting it.
    pub early_output: EarlyOutput,
    /// Whether rove's own command, which prints why it fails, has begun. Always true if the rules expect no start line.
    pub has_started: bool,
    /// Whether rove's command started a `mosh-server`, because it found no rove.
    pub is_stock: bool,
    /// Whether the host has no server program.
    pub no_server_program: bool,
    /// Whether the host has no program for a tunnel.
    pub no_tunnel_program: bool,
    /// The host's system and processor. `None` unless the host lacks a program for the server or tunnel.
    pub platform: Option<Platform>,
    /// Whether the server complained about the UDP port, as a server does that knows no port ranges.
    pub port_refused: bool,
    /// The running sessions from which the user must choose, at most [`CHOICES_MAX`].
    pub sessions: Vec<RunningSession>,
    /// Facts about the session to which the login attaches.
    pub attachment: Attachment,
    /// Whether the host's version of rove did not know the command.
    pub is_older: bool,
}

/// Why a proxy command could not connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyFailure {
    /// The reason, as a sentence for the user.
    pub sentence: String,
    /// Whether the host's name has no address.
    pub is_unknown: bool,
}

/// A running session on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSession {
    /// The UDP port of the session's server.
    pub port: u16,
    /// The session's state, last contact and command, as text for the user.
    pub description: String,
}

/// The announcement of a server that has started.
#[derive(Clone, PartialEq, Eq)]
pub struct Connect {
    /// The UDP port of the server.
    pub port: String,
    /// The session key in text form.
    pub key: String,
}

/// A line that is an error by the rules of stock Mosh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum StartupError {
    /// A line of this kind is malformed.
    #[error("Bad {kind} string: {line}")]
    Malformed { kind: &'static str, line: String },
    /// A second address was printed.
    #[error("detected attempt to redefine MOSH IP")]
    Redefined,
}

/// Whether the caller must read more output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The server has not announced itself yet.
    Reading,
    /// The server has announced itself, so the caller can ignore further output.
    Announced,
}

/// Reads the output of ssh's two streams, and collects the facts in it.
#[derive(Debug)]
pub struct Startup {
    rules: Rules,
    /// The facts known so far.
    pub announced: Announced,
    /// Whether lines of the standard output are trusted to come from the server or from rove's command.
    started: bool,
    lines: [LineReader; 2],
}

/// A line of output, by its kind.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Ip(String),
    Address(String),
    ProxyFailure(ProxyFailure),
    SshConnection(Option<String>),
    Start,
    StockServer,
    Connect(Connect),
    NoServerProgram,
    NoTunnelProgram,
    System(Option<Platform>),
    Session(RunningSession),
    Attached(Attachment),
    Malformed(&'static str),
    Text,
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Announced {
    /// Returns whether the server could not start because the host has no program for it, or for its tunnel.
    pub const fn lacks_program(&self) -> bool {
        self.connect.is_none() && (self.no_server_program || self.no_tunnel_program)
    }

    /// Returns the addresses of the host that rove's proxy command has found, the connected one first.
    pub fn addresses(&self) -> Vec<String> {
        let Some(first) = &self.proxy_address else { return Vec::new() };
        let others = self.other_addresses.iter().filter(|other| *other != first);
        [first].into_iter().chain(others).cloned().collect()
    }
}

impl Startup {
    /// Creates a reader for output under these rules.
    pub fn new(rules: Rules) -> Self {
        let started = !matches!(rules, Rules::Tolerant { start: true, .. });
        let announced = Announced { has_started: started, ..Announced::default() };
        Self { rules, announced, started, lines: Default::default() }
    }

    /// Reads bytes of a stream, and appends text for the user to `text`. On `Output`, stops after the announcement.
    ///
    /// # Errors
    ///
    /// Returns an error under [`Rules::Stock`] only.
    pub fn read(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        text: &mut Vec<u8>,
    ) -> Result<Progress, StartupError> {
        for &byte in bytes {
            let (shown, is_echo) = (text.len(), self.is_echo(stream));
            if byte != b'\n' {
                self.lines[stream as usize].push(byte, text);
            } else {
                self.end_line(stream, Some(byte), text)?;
            }
            if is_echo {
                text.truncate(shown);
            }
            if byte == b'\n' && stream == Stream::Output && self.announced.connect.is_some() {
                break;
            }
        }
        let is_announced = self.announced.connect.is_some();
        Ok(if is_announced { Progress::Announced } else { Progress::Reading })
    }

    /// Reads the rest of a stream at its end. The last line may have no line end.
    ///
    /// # Errors
    ///
    /// Returns an error under [`Rules::Stock`] only.
    pub fn finish(&mut self, stream: Stream, text: &mut Vec<u8>) -> Result<(), StartupError> {
        let (shown, is_echo) = (text.len(), self.is_echo(stream));
        self.end_line(stream, None, text)?;
        if is_echo {
            text.truncate(shown);
        }
        Ok(())
    }

    /// Returns whether ssh's messages on this stream only repeat a failure that rove's proxy command has reported.
    fn is_echo(&self, stream: Stream) -> bool {
        stream == Stream::Errors && self.announced.proxy_failure.is_some()
    }

    fn end_line(
        &mut self,
        stream: Stream,
        end: Option<u8>,
        text: &mut Vec<u8>,
    ) -> Result<(), StartupError> {
        let line = self.lines[stream as usize].end();
        if line.is_text || !self.take(stream, &line.bytes)? {
            text.extend(line.held());
            text.extend(end);
            if stream == Stream::Output && !self.started {
                self.announced.early_output.add(&line.bytes);
            }
            let says = |text: &[u8]| line.bytes.windows(text.len()).any(|window| window == text);
            self.announced.port_refused |= says(PORT_REFUSED);
            self.announced.is_older |= COMMAND_REFUSED.into_iter().any(says);
        }
        Ok(())
    }

    /// Reads a line. Returns whether it is one of rove's lines. Under [`Rules::Stock`], a malformed line is an error.
    fn take(&mut self, stream: Stream, line: &[u8]) -> Result<bool, StartupError> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_ascii_end();
        let found = match stream {
            Stream::Output => self.rules.parse_output(line),
            Stream::Errors => self.rules.parse_errors(line),
        };
        let announced = &mut self.announced;
        match found {
            Line::Text => return Ok(false),
            Line::Malformed(kind) if matches!(self.rules, Rules::Stock(_)) => {
                return Err(StartupError::Malformed { kind, line: without_key(line) });
            }
            Line::Malformed(_) => return Ok(false),
            Line::Ip(_)
                if matches!(self.rules, Rules::Stock(address)
                    if address == StockAddress::Known || announced.proxy_address.is_some()) =>
            {
                return Err(StartupError::Redefined);
            }
            Line::ProxyFailure(failure) => drop(announced.proxy_failure.get_or_insert(failure)),
            Line::Ip(address) => drop(announced.proxy_address.get_or_insert(address)),
            // rove's proxy command prints further addresses only before it connects.
            Line::Address(address) => {
                let is_early = announced.proxy_address.is_none();
                if !is_early || announced.other_addresses.len() >= OTHER_ADDRESSES_MAX {
                    return Ok(false);
                }
                announced.other_addresses.push(address);
            }
            Line::Start => {
                self.started = true;
                announced.has_started = true;
            }
            // The line is not shown. It may come from a real server, and would then contain the session key.
            Line::Connect(_) if !self.started => announced.early_output = EarlyOutput::Impostor,
            Line::Connect(connect) => drop(announced.connect.get_or_insert(connect)),
            _ if !self.started => return Ok(false),
            Line::SshConnection(address) => announced.server_address = address,
            Line::StockServer => announced.is_stock = true,
            Line::NoServerProgram => announced.no_server_program = true,
            Line::Attached(told) => announced.attachment.add(told),
            Line::NoTunnelProgram => announced.no_tunnel_program = true,
            Line::System(platform) => announced.platform = platform,
            Line::Session(session) => {
                if announced.sessions.len() < CHOICES_MAX {
                    announced.sessions.push(session);
                }
            }
        }
        Ok(true)
    }
}

impl Rules {
    /// Returns the kind of a line of the error output.
    fn parse_errors(&self, line: &str) -> Line {
        match self {
            Self::Stock(StockAddress::Host) | Self::Tolerant { proxy: false, .. } => Line::Text,
            Self::Stock(_) => match line.strip_prefix("MOSH IP") {
                Some(rest) => match rest.strip_prefix(' ').filter(|it| is_address(it, self)) {
                    Some(address) => Line::Ip(address.to_owned()),
                    None if rest.is_empty() || rest.starts_with(' ') => Line::Malformed("MOSH IP"),
                    None => Line::Text,
                },
                None => Line::Text,
            },
            Self::Tolerant { challenge, .. } => {
                let answer = |marker| {
                    let address = challenge.answer(marker, line)?.strip_prefix(' ')?;
                    is_address(address, self).then(|| address.to_owned())
                };
                let failure = |marker| {
                    let sentence = challenge.answer(marker, line)?.strip_prefix(' ')?;
                    let sentence = rove_terminal::plain(sentence);
                    Some(ProxyFailure { sentence, is_unknown: marker == UNKNOWN })
                };
                answer(IP)
                    .map(Line::Ip)
                    .or_else(|| failure(FAILED).map(Line::ProxyFailure))
                    .or_else(|| failure(UNKNOWN).map(Line::ProxyFailure))
                    .or_else(|| answer(ADDRESS).map(Line::Address))
                    .unwrap_or(Line::Text)
            }
        }
    }

    /// Returns the kind of a line of the standard output.
    fn parse_output(&self, line: &str) -> Line {
        if let Self::Tolerant { challenge, start, .. } = self {
            if *start && challenge.answer(START, line) == Some("") {
                return Line::Start;
            }
            if challenge.answer(STOCK_SERVER, line) == Some("") {
                return Line::StockServer;
            }
            match line {
                NO_SERVER_PROGRAM => return Line::NoServerProgram,
                NO_TUNNEL_PROGRAM => return Line::NoTunnelProgram,
                _ => {}
            }
            if let Some(names) = line.strip_prefix(SYSTEM).and_then(|it| it.strip_prefix(' ')) {
                return Line::System(Platform::from_uname(names));
            }
            if let Some(told) = Attachment::of_line(line) {
                return Line::Attached(told);
            }
            if let Some(session) = line.strip_prefix(CHOICE).and_then(running_session) {
                return Line::Session(session);
            }
        }
        let Some(line) = line.strip_prefix("MOSH ") else { return Line::Text };
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        match (kind, words.as_slice()) {
            ("SSH_CONNECTION", &[_, _, address, _]) if is_address(address, self) => {
                Line::SshConnection(Some(address.to_owned()))
            }
            // An sshd has no address if another program carries its connection. Source: OpenSSH 9.2 as observed.
            ("SSH_CONNECTION", &[_, _, "UNKNOWN", _]) => Line::SshConnection(None),
            ("SSH_CONNECTION", _) => Line::Malformed("MOSH SSH_CONNECTION"),
            ("CONNECT", &[port, key]) if is_port(port, self) && is_key(key) => {
                Line::Connect(Connect { port: port.to_owned(), key: key.to_owned() })
            }
            ("CONNECT", _) => Line::Malformed("MOSH CONNECT"),
            _ => Line::Text,
        }
    }
}

fn running_session(words: &str) -> Option<RunningSession> {
    let (port, description) = words.strip_prefix(' ')?.split_once(' ')?;
    let description = rove_terminal::plain(description);
    Some(RunningSession { port: port.parse().ok()?, description })
}

/// Returns a malformed line in a form that can be shown, without the word that may be a session key.
fn without_key(line: &str) -> String {
    let shown = match (line.starts_with("MOSH CONNECT"), line.match_indices(' ').nth(2)) {
        (true, Some((end, _))) => format!("{} ...", &line[..end]),
        _ => line.to_owned(),
    };
    shown.escape_debug().to_string()
}

/// Returns whether a word can be an address on the client's command line. Stock Mosh accepts any word that is not an
/// option, and lets the client check it.
fn is_address(word: &str, rules: &Rules) -> bool {
    match rules {
        Rules::Stock(_) => {
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

fn is_port(word: &str, rules: &Rules) -> bool {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match rules {
        Rules::Stock(_) => is_number,
        Rules::Tolerant { .. } => is_number && word.parse::<u16>().is_ok_and(|port| port != 0),
    }
}

fn is_key(word: &str) -> bool {
    word.len() == KEY_LEN
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'))
}

#[cfg(test)]
mod tests;
