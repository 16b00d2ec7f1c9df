//! The first message in each direction of a stream: the opener's request, and the acceptor's answer.
//!
//! A message is a length and the fields of a protobuf message. The bytes that the stream carries follow it in both
//! directions. Source: the wire contract, docs/wire.md.

use rove_units::Instant;

use crate::error::StreamError;
use crate::fields::{Value, each_field, put_bytes, put_number, with_length};
use crate::id::StreamId;
use crate::mux::Mux;
use crate::receive_half::Read;
use crate::varint;

mod listen;
mod put;

pub use listen::{Listen, ListenPlace};
pub use put::{FILE_NAME_MAX, Put};

/// Maximum length of a message that opens or answers a stream, in bytes. Source: the wire contract, docs/wire.md.
pub const MESSAGE_MAX: usize = 4_096;

/// Maximum length of a host's name, in bytes. Source: the wire contract, docs/wire.md; a DNS name has at most 253.
pub const HOST_MAX: usize = 255;

/// Longest path of a socket, in bytes. Source: `unix(7)`: addresses have 108 bytes with the null byte at the end.
pub const PATH_MAX: usize = 107;

/// Maximum length of a program's command, in bytes. Source: the wire contract, docs/wire.md. Linux accepts an argument
/// of 131,071 bytes, and a client may put the name of a variable before the command.
pub const COMMAND_MAX: usize = 131_000;

/// Maximum number of characters of the text in an answer to a stream. Source: the wire contract, docs/wire.md.
pub const TEXT_MAX: usize = 256;

/// Maximum length of the path in the answer about a copied file, in bytes. Chosen: longer than a user reads.
const SHOWN_MAX: usize = 1_024;

/// Kind of a stream that leads to a host's port.
const TCP: u64 = 1;

/// Kind of a stream that leads to a socket in the file system.
const UNIX: u64 = 2;

/// Kind of a stream of a program's input or output.
const PROGRAM: u64 = 3;

/// Kind of a stream for a connection that a listener accepted.
const ACCEPTED: u64 = 5;

/// Kind of the stream by which the client names the socket of the user's ssh agent.
const AGENT: u64 = 6;

/// Kind of the stream that asks which program has the terminal in the foreground.
const FOREGROUND: u64 = 9;

/// Kind of the stream that names the congestion controller for the acceptor's packets.
const CONTROLLER: u64 = 10;

/// The part of a program that a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The stream carries the command, and standard input after it.
    Input {
        /// How many bytes the command has; 0 for the login shell.
        command_len: usize,
        /// Whether the command names a subsystem of ssh.
        is_subsystem: bool,
    },
    /// The stream carries standard output of the program whose input is the stream of this number.
    Output(StreamId),
    /// The stream carries standard error of the program whose input is the stream of this number.
    Errors(StreamId),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program ended by itself, with this code.
    Code(u8),
    /// A signal of this number ended the program.
    Signal(u8),
}

/// The destination of a stream, or the request that it makes, as its acceptor (the other end than the opener) sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A port of a host, which the acceptor looks up.
    Tcp {
        /// The host's name or address.
        host: String,
        /// The port.
        port: u16,
    },
    /// A socket in the acceptor's file system.
    Unix {
        /// The socket's absolute path.
        path: Vec<u8>,
    },
    /// A program that the acceptor runs.
    Program(Part),
    /// A socket of the acceptor at which programs reach the ssh agent of the opener's user; the answer names its path.
    /// The opener then sends a line: the path of the socket by which ssh forwards this agent to the acceptor.
    Agent,
    /// The stream has no destination: it asks the acceptor to listen for connections.
    Listen(Listen),
    /// The destination that a client has registered for connections to the listener of this number.
    Accepted(u64),
    /// A file that the acceptor stores.
    Put(Put),
    /// The stream has no destination: its answer names the foreground program of the acceptor's terminal.
    Foreground,
    /// The stream has no destination: it chooses the congestion controller for the acceptor's packets.
    Controller(String),
}

/// The reason why a message cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefaceError {
    /// The message's length or its fields are not valid protobuf.
    #[error("a message that cannot be read")]
    Malformed,
    /// The message has too many bytes.
    #[error("a message of more than {MESSAGE_MAX} bytes")]
    TooLong,
    /// The name of a host or a controller is missing, is not UTF-8, has control characters or has too many bytes.
    #[error("a name that is empty, has control characters or over {HOST_MAX} bytes")]
    Host,
    /// The port is not from 1 to 65535.
    #[error("a port that is not from 1 to 65535")]
    Port,
    /// The path is not absolute, or has a null byte or too many bytes.
    #[error("a socket's path that is not absolute or has over {PATH_MAX} bytes")]
    Path,
    /// The command has too many bytes.
    #[error("a command of more than {COMMAND_MAX} bytes")]
    Command,
    /// The file's name is empty or too long, or the name of its session is too long or not UTF-8.
    #[error("a file's name that is empty or has over {FILE_NAME_MAX} bytes")]
    File,
    /// The stream's kind is unknown to its acceptor.
    #[error("a stream of the unknown kind {0}")]
    Kind(u64),
    /// The stream has ended without a message, or was reset.
    #[error("a stream without a message")]
    Ended,
}

impl Target {
    /// Returns whether the acceptor can answer only later: it connects, runs a program or stores a file.
    pub(crate) const fn takes_time(&self) -> bool {
        use Target::{Accepted, Agent, Controller, Foreground, Listen, Program, Put, Tcp, Unix};
        match self {
            Tcp { .. } | Unix { .. } | Program(_) | Accepted(_) | Put(_) => true,
            Agent | Listen(_) | Foreground | Controller(_) => false,
        }
    }

    /// Checks the values of the fields.
    ///
    /// # Errors
    ///
    /// Returns the reason why a field is not valid.
    pub fn check(&self) -> Result<(), PrefaceError> {
        match self {
            Self::Tcp { host, .. } | Self::Controller(host)
                if host.is_empty() || host.len() > HOST_MAX || host.contains(char::is_control) =>
            {
                Err(PrefaceError::Host)
            }
            Self::Tcp { port: 0, .. } => Err(PrefaceError::Port),
            Self::Unix { path } => check_path(path),
            Self::Listen(Listen { at: ListenPlace::Path(path), .. }) => check_path(path),
            Self::Listen(Listen { at: ListenPlace::Port { host: Some(host), .. }, .. })
                if host.len() > HOST_MAX || host.contains(char::is_control) =>
            {
                Err(PrefaceError::Host)
            }
            Self::Program(Part::Input { command_len, .. }) if *command_len > COMMAND_MAX => {
                Err(PrefaceError::Command)
            }
            Self::Put(put) if !put.is_within_bounds() => Err(PrefaceError::File),
            Self::Tcp { .. }
            | Self::Controller(_)
            | Self::Program(_)
            | Self::Agent
            | Self::Listen(_)
            | Self::Put(_)
            | Self::Accepted(_)
            | Self::Foreground => Ok(()),
        }
    }

    /// Returns the message that opens a stream to this destination.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        match self {
            Self::Tcp { host, port } => {
                put_number(&mut fields, 1, TCP);
                put_bytes(&mut fields, 2, host.as_bytes());
                put_number(&mut fields, 3, u64::from(*port));
            }
            Self::Unix { path } => {
                put_number(&mut fields, 1, UNIX);
                put_bytes(&mut fields, 4, path);
            }
            Self::Program(part) => {
                put_number(&mut fields, 1, PROGRAM);
                match part {
                    Part::Input { command_len, is_subsystem } => {
                        put_number(&mut fields, 5, *command_len as u64);
                        put_number(&mut fields, 6, u64::from(*is_subsystem));
                    }
                    Part::Output(input) => put_number(&mut fields, 7, input.get()),
                    Part::Errors(input) => put_number(&mut fields, 8, input.get()),
                }
            }
            Self::Agent => put_number(&mut fields, 1, AGENT),
            Self::Accepted(listener) => {
                put_number(&mut fields, 1, ACCEPTED);
                put_number(&mut fields, 9, *listener);
            }
            Self::Listen(listen) => listen.put(&mut fields),
            Self::Put(put) => put.put(&mut fields),
            Self::Foreground => put_number(&mut fields, 1, FOREGROUND),
            Self::Controller(name) => {
                put_number(&mut fields, 1, CONTROLLER);
                put_bytes(&mut fields, 2, name.as_bytes());
            }
        }
        with_length(&fields)
    }

    /// Reads a message's fields.
    ///
    /// # Errors
    ///
    /// Returns the reason why no stream can be opened.
    pub fn decode(fields: &[u8]) -> Result<Self, PrefaceError> {
        let (mut kind, mut host, mut port, mut path) = (0, None, 0, None);
        let (mut command_len, mut is_subsystem, mut of) = (0, false, None);
        let (mut number_of, mut mask, mut replaces) = (0, 0, false);
        let (mut len, mut session) = (0, None);
        each_field(fields, |number, value| match (number, value) {
            (1, Value::Number(value)) => kind = value,
            (2, Value::Bytes(bytes)) => host = Some(bytes),
            (3, Value::Number(value)) => port = value,
            (4, Value::Bytes(bytes)) => path = Some(bytes),
            (5, Value::Number(value)) => command_len = value,
            (6, Value::Number(value)) => is_subsystem = value != 0,
            (7, Value::Number(value)) => of = Some(Part::Output(StreamId::new(value))),
            (8, Value::Number(value)) => of = Some(Part::Errors(StreamId::new(value))),
            (9, Value::Number(value)) => number_of = value,
            (10, Value::Number(value)) => mask = value,
            (11, Value::Number(value)) => replaces = value != 0,
            (12, Value::Number(value)) => len = value,
            (13, Value::Bytes(bytes)) => session = Some(bytes),
            _ => {}
        })
        .ok_or(PrefaceError::Malformed)?;
        let host = host.map(str::from_utf8).transpose().map_err(|_| PrefaceError::Host)?;
        let host = host.map(str::to_owned);
        let port = || u16::try_from(port).map_err(|_| PrefaceError::Port);
        let target = match kind {
            TCP => Self::Tcp { host: host.unwrap_or_default(), port: port()? },
            UNIX => Self::Unix { path: path.unwrap_or_default().to_vec() },
            ACCEPTED => Self::Accepted(number_of),
            listen::KIND => {
                let at = path.map(|path| Ok(ListenPlace::Path(path.to_vec())));
                let at = at.unwrap_or_else(|| Ok(ListenPlace::Port { host, port: port()? }))?;
                let mask = u32::try_from(mask & 0o777).unwrap_or(0o777);
                Self::Listen(Listen { number: number_of, at, mask, replaces })
            }
            PROGRAM => {
                let command_len = usize::try_from(command_len).unwrap_or(usize::MAX);
                Self::Program(of.unwrap_or(Part::Input { command_len, is_subsystem }))
            }
            AGENT => Self::Agent,
            FOREGROUND => Self::Foreground,
            CONTROLLER => Self::Controller(host.unwrap_or_default()),
            put::KIND => {
                let session = session.map(str::from_utf8).transpose();
                let session = session.map_err(|_| PrefaceError::File)?.map(str::to_owned);
                Self::Put(Put { name: path.unwrap_or_default().to_vec(), len, session })
            }
            kind => return Err(PrefaceError::Kind(kind)),
        };
        target.check().map(|()| target)
    }
}

/// The answer of the end that accepts a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The acceptor has done what the stream asks for. For example, it has connected to this address.
    Opened {
        /// The address as text, or a listener's port, or the name of a program or controller.
        address: String,
    },
    /// The acceptor has refused the stream.
    Refused {
        /// The class of the reason, such as [`UNREACHED`].
        code: u64,
        /// The reason in words.
        text: String,
    },
    /// The program has ended.
    Exited(Exit),
    /// The file has been stored.
    Kept {
        /// The path of the file, which may have any characters.
        path: String,
        /// The reason why the server did not type the path into the session; empty if it did.
        untyped: String,
    },
}

/// The code of a refusal for a message that cannot be carried out.
pub(crate) const NOT_UNDERSTOOD: u64 = 1;

/// The code of a refusal because too many streams wait for an answer.
pub const BUSY: u64 = 2;

/// The code of a refusal because the stream's destination could not be reached.
pub const UNREACHED: u64 = 3;

impl Answer {
    /// Returns the message. Texts are cut to their limits and, except for a file's path, made printable.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        match self {
            Self::Opened { address } => put_bytes(&mut fields, 1, printable(address).as_bytes()),
            Self::Refused { code, text } => {
                put_number(&mut fields, 2, *code);
                put_bytes(&mut fields, 3, printable(text).as_bytes());
            }
            Self::Exited(Exit::Code(code)) => put_number(&mut fields, 4, u64::from(*code)),
            Self::Exited(Exit::Signal(signal)) => put_number(&mut fields, 5, u64::from(*signal)),
            Self::Kept { path, untyped } => {
                put_bytes(&mut fields, 6, clipped(path).as_bytes());
                put_bytes(&mut fields, 3, printable(untyped).as_bytes());
            }
        }
        with_length(&fields)
    }

    /// Reads a message's fields. Except for a file's path, all returned texts have only printable ASCII characters.
    ///
    /// # Errors
    ///
    /// Returns [`PrefaceError::Malformed`] for a message that is not an answer.
    pub fn decode(fields: &[u8]) -> Result<Self, PrefaceError> {
        let (mut address, mut code, mut text, mut exit) = (None, None, &[][..], None);
        let mut path = None;
        let byte = |value: u64| u8::try_from(value).ok();
        each_field(fields, |number, value| match (number, value) {
            (1, Value::Bytes(bytes)) => address = Some(bytes),
            (2, Value::Number(value)) => code = Some(value),
            (3, Value::Bytes(bytes)) => text = bytes,
            (4, Value::Number(value)) => exit = byte(value).map(Exit::Code),
            (5, Value::Number(value)) => exit = byte(value).map(Exit::Signal),
            (6, Value::Bytes(bytes)) => path = Some(bytes),
            _ => {}
        })
        .ok_or(PrefaceError::Malformed)?;
        let plain = |bytes: &[u8]| printable(&String::from_utf8_lossy(bytes));
        match (code, address, exit, path) {
            (Some(code), ..) => Ok(Self::Refused { code, text: plain(text) }),
            (None, Some(address), ..) => Ok(Self::Opened { address: plain(address) }),
            (None, None, Some(exit), _) => Ok(Self::Exited(exit)),
            (None, None, None, Some(path)) => {
                let path = String::from_utf8_lossy(path);
                Ok(Self::Kept { path: clipped(&path).to_owned(), untyped: plain(text) })
            }
            (None, None, None, None) => Err(PrefaceError::Malformed),
        }
    }
}

/// Collects the first message of a stream, and reads no byte after it.
#[derive(Clone, Debug, Default)]
pub struct MessageReader {
    length: Vec<u8>,
    body: Option<(usize, Vec<u8>)>,
}

impl MessageReader {
    /// Reads from the stream. Returns the complete fields. `None` until then, or if the stream layer is closed.
    ///
    /// # Errors
    ///
    /// Returns the reason why no message will come.
    pub fn read(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        id: StreamId,
    ) -> Result<Option<Vec<u8>>, PrefaceError> {
        let mut buffer = [0; MESSAGE_MAX];
        loop {
            if let Some((len, body)) = &mut self.body
                && body.len() == *len
            {
                return Ok(Some(body.clone()));
            }
            let wanted = buffer.get_mut(..self.wanted()).ok_or(PrefaceError::TooLong)?;
            match mux.read(now, id, wanted) {
                Ok(Read::Bytes(count)) => self.handle(wanted.get(..count).unwrap_or_default())?,
                Ok(Read::Blocked) | Err(StreamError::Closed) => return Ok(None),
                Ok(Read::End) | Err(_) => return Err(PrefaceError::Ended),
            }
        }
    }

    /// Returns how many bytes may be read without reading past the message.
    fn wanted(&self) -> usize {
        self.body.as_ref().map_or(1, |(len, body)| len.saturating_sub(body.len()))
    }

    fn handle(&mut self, bytes: &[u8]) -> Result<(), PrefaceError> {
        if let Some((_, body)) = &mut self.body {
            body.extend(bytes);
            return Ok(());
        }
        self.length.extend(bytes);
        if self.length.last().is_some_and(|last| last & 0x80 == 0) {
            let len = varint::take(&mut &self.length[..]).ok_or(PrefaceError::Malformed)?;
            let len = usize::try_from(len).ok().filter(|len| *len <= MESSAGE_MAX);
            self.body = Some((len.ok_or(PrefaceError::TooLong)?, Vec::new()));
        } else if self.length.len() >= varint::len(u64::MAX) {
            return Err(PrefaceError::Malformed);
        }
        Ok(())
    }
}

fn check_path(path: &[u8]) -> Result<(), PrefaceError> {
    let is_path = path.len() <= PATH_MAX && path.first() == Some(&b'/');
    if is_path && !path.contains(&0) { Ok(()) } else { Err(PrefaceError::Path) }
}

/// Returns a text's first [`TEXT_MAX`] characters, with a question mark for each that is not printable ASCII.
fn printable(text: &str) -> String {
    let shown = |it: char| if it.is_ascii_graphic() || it == ' ' { it } else { '?' };
    text.chars().take(TEXT_MAX).map(shown).collect()
}

/// Returns as many first characters of a text as fit into [`SHOWN_MAX`] bytes.
fn clipped(text: &str) -> &str {
    text.get(..text.floor_char_boundary(SHOWN_MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
