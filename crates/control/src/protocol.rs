//! The protocol of a control socket: a line of text is the request, and a line of JSON the answer.
//!
//! An answer is `{"protocol":1,"session":{...}}`, with the further JSON fields that the list below names. A refusal is
//! `{"protocol":1,"error":"..."}`. ADDRESS is the IP address from which the user asks.
//!
//! - `rove/1 status` asks for the session's description.
//! - `rove/1 end` ends the session. The exit of the server then closes the connection.
//! - `rove/1 attach [ADDRESS]` asks for `key`, the session key for a client that takes the session over.
//! - `rove/1 view [ADDRESS]`, `rove/1 share [ADDRESS]` ask for the `key` of a client that joins the present client.
//! - `rove/1 resume FORMER [ADDRESS]` is `attach` for a client that continues the client FORMER. The answer's `taken`
//!   is the number of FORMER's typed keys that the server has received.
//! - `rove/1 tunnel PORT` names the local UDP port from which `rove tunnel` sends the client's datagrams.
//! - `rove/1 jump SOURCE` names the address and port from which a jump host's forwarder sends the client's datagrams.
//! - `rove/1 drop NAME` asks the server to type the path of file NAME in the user's drop folder.
//!
//! Later versions may add JSON fields, which readers skip. A changed field needs another protocol number.

use std::net::{IpAddr, SocketAddr};

use rove_session::{Former, JoinMode};
use rove_units::Duration;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// The protocol number of this version.
const PROTOCOL: u32 = 1;
/// Longest request to a server, in bytes with its line end. Chosen: more than `drop` with the longest name, 113 bytes.
pub(crate) const REQUEST_LEN_MAX: usize = 128;
/// Longest reply of a session's server, in bytes with its line end. Chosen: room for the largest [`SessionStatus`],
/// whose every byte may become six in JSON, and for fields of later versions.
pub(crate) const REPLY_LEN_MAX: usize = 32_768;
/// Most bytes of the session's command in a reply; the rest is cut off. Chosen: more than a terminal's line shows.
const COMMAND_BYTES_MAX: usize = 1024;
/// Most words of the session's command in a reply; the rest is cut off. Chosen: more than a terminal's line shows.
const COMMAND_WORDS_MAX: usize = 64;
/// Most bytes of each other text in a reply, such as the window title. Chosen: more than a terminal's line shows.
const TEXT_BYTES_MAX: usize = 256;
/// Most bytes that describe a joined client in a reply. Chosen: room for an address, a process and a mode.
const JOINED_BYTES_MAX: usize = 72;
/// Most joined clients that a reply describes. Source: as many as a session accepts.
const JOINED_MAX: usize = 16;
/// Most bytes of a reply's list of addresses at which the server listens for its client. Chosen: enough for 32 ports.
const LISTENERS_BYTES_MAX: usize = 704;
/// Most listening addresses that a reply lists. Source: as many as a server opens for its client.
const LISTENERS_MAX: usize = 32;
/// Number of texts in a reply besides the command: name, version, client, title, terminal, session, word.
const TEXTS: usize = 7;
const _: () = assert!(
    6 * (COMMAND_BYTES_MAX
        + TEXTS * TEXT_BYTES_MAX
        + JOINED_MAX * JOINED_BYTES_MAX
        + LISTENERS_BYTES_MAX)
        + 3 * (COMMAND_WORDS_MAX + JOINED_MAX + LISTENERS_MAX)
        < REPLY_LEN_MAX / 8 * 7
);

/// How long a client's datagram may be overdue before the session counts as detached. Chosen: three heartbeats.
const ATTACHED_MAX: Duration = Duration::from_secs(9);

/// A request to a session's server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Asks for a description of the session.
    Status,
    /// Asks the server to end its session in an orderly way.
    End,
    /// Asks for the session key of a client that joins in this mode, or takes the session over (`None`). The address is
    /// the IP address from which the user asks.
    Attach(Option<JoinMode>, Option<IpAddr>),
    /// Asks for the session key of a client that continues this former client, for the user at this IP address.
    Resume(Former, Option<IpAddr>),
    /// Names the UDP port on this computer from which `rove tunnel` sends the client's datagrams.
    Tunnel(u16),
    /// Names the address from which the forwarder on a jump host sends the client's datagrams.
    Forwarder(SocketAddr),
    /// Asks the server to type the path of the file with this name in the user's drop folder.
    Drop(String),
}

/// The text of a session key, which is wiped from memory when it is dropped.
pub type KeyText = Zeroizing<String>;

/// The answer of a session's server.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The description of the session.
    pub status: SessionStatus,
    /// The session key for the session's next client. `None` if the request asked for no key.
    pub key: Option<KeyText>,
    /// How many typed keys of the former client the server has received. `None` if it knows no such client.
    pub taken: Option<u64>,
    /// Why the server gives no key or types no path. The answer then consists of this text only.
    pub refusal: Option<String>,
}

/// Whether a session has a client, and whether the client is reachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No client has connected yet.
    #[default]
    Waiting,
    /// No datagram of the client is overdue by 9 s or more.
    Attached,
    /// A datagram of the client is overdue by at least 9 s: the client is unreachable, asleep or gone.
    Detached,
}

impl State {
    /// Returns the state of a session whose client's datagram has been overdue for `silence`. `None` means that no
    /// client has ever sent a datagram.
    pub fn of_silence(silence: Option<Duration>) -> Self {
        match silence {
            None => Self::Waiting,
            Some(silence) if silence < ATTACHED_MAX => Self::Attached,
            Some(_) => Self::Detached,
        }
    }

    /// Returns the word for the state, as users read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Attached => "attached",
            Self::Detached => "detached",
        }
    }
}

/// The size of a session's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    /// The width of the terminal in columns.
    pub columns: u16,
    /// The height of the terminal in rows.
    pub rows: u16,
}

/// The facts that the next client of a session needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attachment {
    /// The name that the user gave the session. `None` if the session has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A random word in the environment of the session's programs. A client that finds it in its own environment runs
    /// inside this session. `None` from an older server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// Whether the server listens only on the loopback interface, so that clients on other computers need a tunnel.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub loopback: bool,
    /// Whether the session runs no program (as for file transfer), so that no client can attach to it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub no_program: bool,
    /// Number of times that another client has taken the session over.
    pub takeovers: u32,
    /// The forwarded connections and further programs of the session.
    #[serde(flatten)]
    pub forwards: Forwarding,
    /// The clients that have joined: each text names the user's address, the client's process and its mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
}

/// How a client's datagrams reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// The datagrams come as UDP over the network.
    Udp,
    /// The datagrams come through an ssh connection to this computer.
    Ssh,
}

impl Carrier {
    /// Returns the carrier's name, as users read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Ssh => "ssh",
        }
    }
}

/// The path of a session's client, and how long the client has been silent. Empty if no client ever connected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientPath {
    /// The client's last known address and port. If ssh is the carrier, the address of `rove tunnel` on this computer.
    pub client: Option<String>,
    /// The carrier of the client's datagrams. `None` without a client, or from a server that does not state it.
    pub path: Option<Carrier>,
    /// Seconds since the client changed to this path.
    pub path_age_seconds: Option<u64>,
    /// Whether a forwarder on a jump host sends the client's datagrams to the server.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub by_jump_host: bool,
    /// Seconds for which a datagram of the client has been overdue. 0 if none is overdue, and from older servers.
    #[serde(skip_serializing_if = "is_zero")]
    pub missed_seconds: u64,
}

impl ClientPath {
    /// Returns the path's name, as users read it. `None` if the path is unknown.
    pub fn name(&self) -> Option<&'static str> {
        if self.by_jump_host { Some("UDP by jump host") } else { self.path.map(Carrier::as_str) }
    }
}

/// A server's description of its session. It contains no key, and no text of the screen except the window title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionStatus {
    /// The process number of the server.
    pub pid: u32,
    /// The UDP port of the server.
    pub port: u16,
    /// The name by which the server was started: `rove` or `mosh`.
    pub name: String,
    /// The version of the server.
    pub version: String,
    /// Whether the session has a client, and whether the client is reachable.
    pub state: State,
    /// When the session started, in seconds since 1970.
    pub started_at: u64,
    /// How long ago the session started, in seconds.
    pub age_seconds: u64,
    /// The path of the client.
    #[serde(flatten)]
    pub path: ClientPath,
    /// Seconds since the last datagram of the client. `None` if there was none.
    pub contact_age_seconds: Option<u64>,
    /// Seconds since the client's last key. `None` if there was none.
    pub key_age_seconds: Option<u64>,
    /// The size of the terminal.
    #[serde(flatten)]
    pub window: Window,
    /// The device of the terminal, such as `/dev/pts/3`.
    pub terminal: String,
    /// The window title, as the session's programs set it.
    pub title: String,
    /// The command of the session with its arguments.
    pub command: Vec<String>,
    /// The facts that the session's next client needs.
    #[serde(flatten)]
    pub attachment: Attachment,
}

/// The streams that a session carries beside its terminal, as far as its server knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forwarding {
    /// The addresses at which the server listens for its client: `host:port`, or the path of a socket.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<String>,
    /// Number of open streams: forwarded connections, and programs other than the session's own.
    #[serde(skip_serializing_if = "is_zero")]
    pub streams: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request is in another version of the protocol.
    #[error("this server speaks rove/{PROTOCOL}")]
    Version,
    /// The request is malformed or unknown.
    #[error("no such request")]
    Unknown,
}

/// Why a reply contains no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The server refuses the request, with this reason.
    #[error("it answers: {0}")]
    Refused(String),
    /// The reply is malformed.
    #[error("it answers something that is not understood")]
    Malformed,
}

#[derive(Serialize, Deserialize)]
struct Reply<'a> {
    protocol: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionStatus>,
    /// The session key, borrowed from the line that was read, so that no further copy of it stays in memory.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Returns a request as a line of text with its line end.
pub(crate) fn encode_request(request: Request) -> String {
    let from = |by: Option<IpAddr>| by.map_or(String::new(), |by| format!(" {by}"));
    match request {
        Request::Status => format!("rove/{PROTOCOL} status\n"),
        Request::Drop(name) => format!("rove/{PROTOCOL} drop {name}\n"),
        Request::End => format!("rove/{PROTOCOL} end\n"),
        Request::Tunnel(port) => format!("rove/{PROTOCOL} tunnel {port}\n"),
        Request::Forwarder(source) => {
            // An IPv6 zone is left out, so that the line stays within [`REQUEST_LEN_MAX`].
            let source = SocketAddr::new(source.ip(), source.port());
            format!("rove/{PROTOCOL} jump {source}\n")
        }
        Request::Attach(mode, by) => format!("rove/{PROTOCOL} {}{}\n", attach_word(mode), from(by)),
        Request::Resume(former, by) => format!("rove/{PROTOCOL} resume {former}{}\n", from(by)),
    }
}

/// The modes in which a further client may ask for a session key. `None` means that the client takes the session over.
const ATTACH_MODES: [Option<JoinMode>; 3] = [None, Some(JoinMode::View), Some(JoinMode::Share)];

/// Returns the word that requests a session key in this mode.
const fn attach_word(mode: Option<JoinMode>) -> &'static str {
    match mode {
        None => "attach",
        Some(JoinMode::View) => "view",
        Some(JoinMode::Share) => "share",
    }
}

/// Parses a request from its line, without the line end.
///
/// # Errors
///
/// Returns why the request is refused.
pub fn decode_request(line: &[u8]) -> Result<Request, RequestError> {
    let line = str::from_utf8(line).map_err(|_| RequestError::Unknown)?;
    let (version, word) = line.trim_end().split_once(' ').ok_or(RequestError::Unknown)?;
    let version = version.strip_prefix("rove/").ok_or(RequestError::Unknown)?;
    if version.parse() != Ok(PROTOCOL) {
        return Err(RequestError::Version);
    }
    let (word, by) = word.split_once(' ').unwrap_or((word, ""));
    let mode = ATTACH_MODES.into_iter().find(|mode| attach_word(*mode) == word);
    let address = |by: &str| (!by.is_empty()).then(|| by.parse()).transpose();
    match (word, by) {
        ("status", "") => Ok(Request::Status),
        ("end", "") => Ok(Request::End),
        ("jump", by) => by.parse().map(Request::Forwarder).map_err(|_| RequestError::Unknown),
        ("tunnel", port) => port.parse().map(Request::Tunnel).map_err(|_| RequestError::Unknown),
        ("drop", name) if !name.is_empty() => Ok(Request::Drop(name.to_owned())),
        ("resume", words) => {
            let (former, by) = words.split_once(' ').unwrap_or((words, ""));
            let former = former.parse().map_err(|_| RequestError::Unknown)?;
            address(by).map(|by| Request::Resume(former, by)).map_err(|_| RequestError::Unknown)
        }
        _ => {
            let mode = mode.ok_or(RequestError::Unknown)?;
            address(by).map(|by| Request::Attach(mode, by)).map_err(|_| RequestError::Unknown)
        }
    }
}

/// Returns a reply as a line of JSON with its line end. Cuts texts of the session's description that are too long.
pub fn encode_reply(answer: Result<Answer, RequestError>) -> Zeroizing<Vec<u8>> {
    // The buffer has its full size from the start, because growing would leave a copy of the key in memory.
    let mut line = Zeroizing::new(Vec::with_capacity(REPLY_LEN_MAX));
    let reply = Reply { protocol: PROTOCOL, session: None, key: None, taken: None, error: None };
    let written = match answer {
        Ok(Answer { refusal: Some(refusal), .. }) => {
            serde_json::to_writer(&mut *line, &Reply { error: Some(refusal), ..reply })
        }
        Ok(Answer { status, key, taken, refusal: None }) => {
            let key = key.as_ref().map(|key| key.as_str());
            let reply = Reply { session: Some(status.within_bounds()), key, taken, ..reply };
            serde_json::to_writer(&mut *line, &reply)
        }
        Err(error) => {
            serde_json::to_writer(&mut *line, &Reply { error: Some(error.to_string()), ..reply })
        }
    };
    written.expect("texts and numbers have a JSON form");
    line.push(b'\n');
    debug_assert!(line.len() <= REPLY_LEN_MAX);
    line
}

/// Parses a reply from its line, with or without the line end.
///
/// # Errors
///
/// Returns the server's refusal, or that the line is malformed.
pub fn decode_reply(line: &[u8]) -> Result<Answer, ReplyError> {
    let reply: Reply = serde_json::from_slice(line).map_err(|_| ReplyError::Malformed)?;
    match (reply.session, reply.error) {
        (_, Some(error)) => Err(ReplyError::Refused(error)),
        (Some(status), None) if reply.protocol == PROTOCOL => {
            let key = reply.key.map(|key| Zeroizing::new(key.to_owned()));
            Ok(Answer { status, key, taken: reply.taken, refusal: None })
        }
        _ => Err(ReplyError::Malformed),
    }
}

impl SessionStatus {
    /// Returns the status with its texts and lists cut to their limits.
    fn within_bounds(mut self) -> Self {
        for text in [&mut self.name, &mut self.version, &mut self.title, &mut self.terminal] {
            clip(text, TEXT_BYTES_MAX);
        }
        for text in self
            .path
            .client
            .iter_mut()
            .chain(&mut self.attachment.session)
            .chain(&mut self.attachment.word)
        {
            clip(text, TEXT_BYTES_MAX);
        }
        self.attachment.joined.truncate(JOINED_MAX);
        self.attachment.joined.iter_mut().for_each(|text| clip(text, JOINED_BYTES_MAX));
        clip_all(&mut self.attachment.forwards.listeners, LISTENERS_MAX, LISTENERS_BYTES_MAX);
        clip_all(&mut self.command, COMMAND_WORDS_MAX, COMMAND_BYTES_MAX);
        self
    }
}

/// Cuts a list to at most `count` texts, which have at most `room` bytes together.
fn clip_all(texts: &mut Vec<String>, count: usize, mut room: usize) {
    texts.truncate(count);
    for text in texts {
        clip(text, room);
        room -= text.len();
    }
}

/// Cuts a text to at most `max` bytes, at a character boundary.
fn clip(text: &mut String, max: usize) {
    text.truncate(text.floor_char_boundary(max));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn status() -> SessionStatus {
        SessionStatus {
            pid: 17,
            port: 60_001,
            name: "rove".to_owned(),
            state: State::Detached,
            path: ClientPath {
                client: Some("[2001:db8::1]:4242".to_owned()),
                path: Some(Carrier::Udp),
                path_age_seconds: Some(7),
                by_jump_host: false,
                missed_seconds: 31,
            },
            contact_age_seconds: Some(31),
            title: "a \"title\"\n".to_owned(),
            command: vec!["sh".to_owned(), String::new(), "é\u{1b}".to_owned()],
            ..SessionStatus::default()
        }
    }

    #[test]
    fn a_request_is_one_short_line_and_reads_as_it_was_written() {
        let by = |text: &str| Request::Attach(Some(JoinMode::Share), Some(text.parse().unwrap()));
        let long = by("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        let jump = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535".parse().unwrap();
        let jump = Request::Forwarder(jump);
        for request in
            [Request::Status, Request::End, Request::Tunnel(u16::MAX), by("192.0.2.1"), long, jump]
                .into_iter()
                .chain([None, Some("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")].map(|by| {
                    let former = format!("0123456789abcdef.{}", u64::MAX).parse().unwrap();
                    Request::Resume(former, by.map(|by| by.parse().unwrap()))
                }))
                .chain(ATTACH_MODES.map(|mode| Request::Attach(mode, None)))
                .chain([Request::Drop("é b".repeat(25))])
        {
            let line = encode_request(request.clone());
            assert!(line.len() <= REQUEST_LEN_MAX && line.ends_with('\n'), "{line:?}");
            assert_eq!(decode_request(line.trim_end().as_bytes()), Ok(request));
        }
        assert_eq!(encode_request(Request::Status), "rove/1 status\n");
    }

    #[test]
    fn malformed_requests_are_refused_with_their_reason() {
        for (line, error) in [
            ("rove/2 status", RequestError::Version),
            ("rove/99999999999 status", RequestError::Version),
            ("rove/ status", RequestError::Version),
            ("rove/1 dance", RequestError::Unknown),
            ("rove/1 status x", RequestError::Unknown),
            ("rove/1 attach host", RequestError::Unknown),
            ("rove/1 resume", RequestError::Unknown),
            ("rove/1 resume 0123456789abcdef.1 host", RequestError::Unknown),
            ("rove/1 tunnel", RequestError::Unknown),
            ("rove/1 tunnel 65536", RequestError::Unknown),
            ("rove/1 view host", RequestError::Unknown),
            ("rove/1", RequestError::Unknown),
            ("GET / HTTP/1.1", RequestError::Unknown),
            ("", RequestError::Unknown),
            ("\u{0}", RequestError::Unknown),
        ] {
            assert_eq!(decode_request(line.as_bytes()), Err(error), "{line:?}");
        }
        assert_eq!(decode_request(b"\xff 1"), Err(RequestError::Unknown));
    }

    #[test]
    fn a_reply_is_one_line_and_reads_as_it_was_written() {
        for key in [None, Some(Zeroizing::new("4NeCCgvZFe2RnPgrcU1PQw".to_owned()))] {
            let taken = key.as_ref().map(|_| 7);
            let answer = || Answer { status: status(), key: key.clone(), taken, refusal: None };
            let line = encode_reply(Ok(answer()));
            assert_eq!(line.iter().position(|&byte| byte == b'\n'), Some(line.len() - 1));
            assert_eq!(decode_reply(&line), Ok(answer()));
        }
        let refusal = Some("nobody may join".to_owned());
        let line = encode_reply(Ok(Answer { refusal: refusal.clone(), ..Answer::default() }));
        assert_eq!(decode_reply(&line).err(), refusal.map(ReplyError::Refused));
        let line = encode_reply(Err(RequestError::Version));
        let refused = ReplyError::Refused("this server speaks rove/1".to_owned());
        assert_eq!(decode_reply(&line), Err(refused));
    }

    #[test]
    fn a_later_servers_fields_are_skipped_and_missing_ones_are_empty() {
        let line = br#"{"protocol":1,"session":{"pid":5,"mood":"fine"},"more":[]}"#;
        let status = SessionStatus { pid: 5, ..SessionStatus::default() };
        assert_eq!(decode_reply(line), Ok(Answer { status, ..Answer::default() }));
        for line in [
            r#"{"protocol":2,"session":{"pid":5}}"#,
            r#"{"protocol":1}"#,
            r#"{"protocol":1,"session":{"pid":-5}}"#,
            r#"{"protocol":1,"session":{"state":"asleep"}}"#,
            "[]",
            "",
            "no JSON",
        ] {
            assert_eq!(decode_reply(line.as_bytes()), Err(ReplyError::Malformed), "{line}");
        }
    }

    #[test]
    fn the_largest_session_fits_a_reply() {
        let long = |len: usize| "\u{1}".repeat(len);
        for extra in [0, 1] {
            let status = SessionStatus {
                pid: u32::MAX,
                port: u16::MAX,
                started_at: u64::MAX,
                age_seconds: u64::MAX,
                contact_age_seconds: Some(u64::MAX),
                key_age_seconds: Some(u64::MAX),
                window: Window { columns: u16::MAX, rows: u16::MAX },
                name: long(TEXT_BYTES_MAX + extra),
                version: long(TEXT_BYTES_MAX + extra),
                path: ClientPath {
                    client: Some(long(TEXT_BYTES_MAX + extra)),
                    path: Some(Carrier::Ssh),
                    path_age_seconds: Some(u64::MAX),
                    by_jump_host: true,
                    missed_seconds: u64::MAX,
                },
                terminal: long(TEXT_BYTES_MAX + extra),
                title: long(TEXT_BYTES_MAX + extra),
                attachment: Attachment {
                    session: Some(long(TEXT_BYTES_MAX + extra)),
                    word: Some(long(TEXT_BYTES_MAX + extra)),
                    takeovers: u32::MAX,
                    loopback: true,
                    no_program: true,
                    forwards: Forwarding {
                        listeners: vec![
                            long(LISTENERS_BYTES_MAX / 8 + extra);
                            LISTENERS_MAX + extra
                        ],
                        streams: u64::MAX,
                    },
                    joined: vec![long(JOINED_BYTES_MAX + extra); JOINED_MAX + extra],
                },
                command: vec![long(COMMAND_BYTES_MAX / 8 + extra); COMMAND_WORDS_MAX + extra],
                ..SessionStatus::default()
            };
            let key = Some("k".repeat(22).into());
            let line =
                encode_reply(Ok(Answer { status, key, taken: Some(u64::MAX), refusal: None }));
            assert!(line.len() <= REPLY_LEN_MAX, "{} bytes", line.len());
            assert_eq!(line.capacity(), REPLY_LEN_MAX, "no copy was left behind");
            let read = decode_reply(&line).unwrap().status;
            assert_eq!(read.title.len(), TEXT_BYTES_MAX);
            assert_eq!(read.command.len(), COMMAND_WORDS_MAX);
            assert_eq!(read.command.concat().len(), COMMAND_BYTES_MAX);
        }
        let mut text = "é".repeat(3);
        clip(&mut text, 3);
        assert_eq!(text, "é", "characters stay whole");
    }

    #[test]
    fn a_session_has_no_client_once_three_heartbeats_in_a_row_have_not_come() {
        for (silence, state) in [
            (None, State::Waiting),
            (Some(Duration::from_millis(8_999)), State::Attached),
            (Some(Duration::from_secs(9)), State::Detached),
            (Some(Duration::ZERO), State::Attached),
        ] {
            assert_eq!(State::of_silence(silence), state, "{silence:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_request(&bytes);
            let _ = decode_reply(&bytes);
        }
    }
}
