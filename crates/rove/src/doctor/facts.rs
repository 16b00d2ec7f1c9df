//! Observations on the way to a session, without their interpretation.

use std::net::SocketAddr;

use rove_udp::Refusal;
use rove_units::Duration;

use crate::install::remedy::Remedy;

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) here: Here,
    /// The facts about the host. `None` if no host was named.
    pub(crate) host: Option<Host>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Here {
    /// The variable that decides the character set, with its value. `None` if none is set.
    pub(crate) locale: Option<(String, String)>,
    /// Why the terminal's type is of no use, in a sentence. `None` if it is.
    pub(crate) terminal_type: Option<String>,
    /// Why no UDP socket can be opened. `None` if one can.
    pub(crate) no_socket: Option<String>,
    /// Whether UDP works between two sockets of this computer.
    pub(crate) loopback_works: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// The host's name, as the user wrote it.
    pub(crate) name: String,
    pub(crate) addresses: Vec<String>,
    /// How ssh connects, if not directly, in ssh's words.
    pub(crate) detour: Option<String>,
    /// How far ssh got.
    pub(crate) ssh: Ssh,
    /// The messages of ssh, or those of the server if ssh got that far, without control characters.
    pub(crate) said: Vec<String>,
    pub(crate) noise: Noise,
    /// The host's answers to the survey. `None` if it gave none.
    pub(crate) far: Option<Far>,
    /// Whether `rove install` can help. `None` unless the host has no server program.
    pub(crate) no_server_program: Option<Remedy>,
    /// Whether the server runs and its address is unknown.
    pub(crate) no_address: bool,
    /// Whether the server could not bind the UDP ports asked for.
    pub(crate) port_refused: bool,
    pub(crate) locale_refused: bool,
    /// The server that announced itself. `None` if none did.
    pub(crate) server: Option<Server>,
    /// How datagrams to and from the server got through. `None` without a server.
    pub(crate) path: Option<Path>,
    /// The facts from a second login, made if no datagram came back; otherwise `None`.
    pub(crate) aftermath: Option<Aftermath>,
}

/// How far ssh got with the login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ssh {
    /// ssh logged in and ran our command.
    #[default]
    Reached,
    Missing(String),
    /// The host's name has no address.
    NoAddress(String),
    /// ssh did not log in.
    Failed,
    /// ssh logged in, but something other than our command ran, or nothing.
    Diverted,
    TimedOut,
}

/// The output of start-up files on the host, which precedes our command's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noise {
    /// The number of lines with text.
    pub(crate) lines: usize,
    /// The first line with text, without control characters.
    pub(crate) sample: String,
    /// Whether the output contains escape sequences.
    pub(crate) escapes: bool,
    /// Whether stock would take a line for the server's announcement.
    pub(crate) fake: bool,
}

/// The host's answers to the survey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) system: String,
    /// The `PATH` of a login without a terminal.
    pub(crate) path: String,
    /// The character set of the locale in such a login.
    pub(crate) charset: String,
    pub(crate) locale: String,
    /// The path of the server program.
    pub(crate) server: String,
    /// The version of the server program, in its own words.
    pub(crate) version: String,
    /// How many seconds the host's calendar is ahead of ours. `None` if unknown.
    pub(crate) ahead_seconds: Option<i64>,
}

/// A server that announced itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) port: u16,
    /// The server's process number. `None` if it did not tell.
    pub(crate) pid: Option<u32>,
    /// Whether ssh did not end although the server had announced itself.
    pub(crate) holds_ssh: bool,
}

/// How datagrams between client and server got through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    /// The addresses that datagrams were sent to, in order.
    pub(crate) tried: Vec<SocketAddr>,
    /// The index in `tried` of the address that answered first. `None` if none did.
    pub(crate) answered: Option<usize>,
    /// How many datagrams were sent until the first answer, or in all.
    pub(crate) sent: usize,
    /// The ICMP error that came back instead of an answer. `None` if none did.
    pub(crate) refusal: Option<Refusal>,
    /// How many arriving datagrams the session's key did not open.
    pub(crate) foreign: usize,
    pub(crate) round_trip: Option<Duration>,
    /// The result for large datagrams to the host.
    pub(crate) up: Large,
    /// The result for large datagrams from the host.
    pub(crate) down: Large,
    /// Whether the server accepted the client at a new local port. `None` if that was not tried.
    pub(crate) rebinding: Option<bool>,
    /// Whether the session ended by an acknowledged shutdown.
    pub(crate) ended: bool,
}

/// Whether large datagrams get through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Large {
    #[default]
    Unknown,
    /// Large datagrams get through; the largest had this many bytes.
    Pass(usize),
    /// Large datagrams do not get through, but smaller ones do; sizes in bytes.
    Only { refused: usize, passed: usize },
    /// Nothing got through any more; the size of the largest in bytes, if known.
    Stuck(Option<usize>),
}

/// The facts from a second login, made after no datagram had come back. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Whether the server still ran.
    pub(crate) alive: Option<bool>,
    /// Whether the server had received a datagram of the client: only then does the session's command start.
    pub(crate) heard: Option<bool>,
    /// Whether the server's UDP port was bound.
    pub(crate) bound: Option<bool>,
    /// Whether logind ends the processes that a user leaves running.
    pub(crate) ends_leftovers: Option<bool>,
}
