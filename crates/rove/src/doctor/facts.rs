//! Observations on the way to a session, without their interpretation.

use std::net::SocketAddr;

use rove_udp::Refusal;
use rove_units::Duration;

use crate::install::remedy::Remedy;

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) here: Here,
    /// The host's facts; `None` if none was named.
    pub(crate) host: Option<Host>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Here {
    /// The variable that decides the character set, with its value.
    pub(crate) locale: Option<(String, String)>,
    /// Why the terminal's type is of no help, in a sentence.
    pub(crate) terminal_type: Option<String>,
    /// Why no UDP socket can be opened.
    pub(crate) no_socket: Option<String>,
    /// Whether UDP works between two sockets of this computer.
    pub(crate) loopback_works: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// Its name, as the user wrote it.
    pub(crate) name: String,
    pub(crate) addresses: Vec<String>,
    /// The way around a direct connection, in ssh's words.
    pub(crate) detour: Option<String>,
    /// How ssh went.
    pub(crate) ssh: Ssh,
    /// The messages of ssh, or of the server if ssh got so far, without control characters.
    pub(crate) said: Vec<String>,
    pub(crate) noise: Noise,
    /// Facts from inside the host.
    pub(crate) far: Option<Far>,
    /// The help that `rove install` is, if the host has no server program.
    pub(crate) no_server_program: Option<Remedy>,
    /// Whether a server stands whose address nobody tells.
    pub(crate) no_address: bool,
    /// Whether the server refused the UDP ports asked for.
    pub(crate) port_refused: bool,
    pub(crate) locale_refused: bool,
    /// The server that announced itself.
    pub(crate) server: Option<Server>,
    /// How datagrams fared.
    pub(crate) path: Option<Path>,
    /// The facts of a second login, after silence.
    pub(crate) aftermath: Option<Aftermath>,
}

/// How ssh went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ssh {
    /// It logged in and ran our command.
    #[default]
    Reached,
    Missing(String),
    /// The host's name leads nowhere.
    NoAddress(String),
    /// It did not log in.
    Failed,
    /// It logged in, but something other than our command ran, or nothing.
    Diverted,
    TimedOut,
}

/// The output of start-up files on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noise {
    /// Lines with text.
    pub(crate) lines: usize,
    /// The first of them, without control characters.
    pub(crate) sample: String,
    /// Whether there were escape sequences among it.
    pub(crate) escapes: bool,
    /// Whether there was a line that stock takes for the server's.
    pub(crate) fake: bool,
}

/// The host's own answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) system: String,
    /// The PATH of a login without a terminal.
    pub(crate) path: String,
    /// The character set of its locale there.
    pub(crate) charset: String,
    pub(crate) locale: String,
    /// The path of the server program.
    pub(crate) server: String,
    /// That program's version, in its own words.
    pub(crate) version: String,
    /// How far its calendar is ahead of ours, in seconds.
    pub(crate) ahead_seconds: Option<i64>,
}

/// A server that announced itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) port: u16,
    /// Its process, if it told.
    pub(crate) pid: Option<u32>,
    /// Whether ssh did not end though the server stood.
    pub(crate) holds_ssh: bool,
}

/// How datagrams fared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    /// Where datagrams were sent, in this order.
    pub(crate) tried: Vec<SocketAddr>,
    /// Which of these answered first.
    pub(crate) answered: Option<usize>,
    /// Datagrams sent until then, or in all.
    pub(crate) sent: usize,
    /// The message that came back instead of an answer.
    pub(crate) refusal: Option<Refusal>,
    /// Datagrams that the session's key does not open.
    pub(crate) foreign: usize,
    pub(crate) round_trip: Option<Duration>,
    /// Large datagrams to the host.
    pub(crate) up: Large,
    /// Large datagrams from the host.
    pub(crate) down: Large,
    /// Whether the server took a new local port for the same client; `None` if that was not tried.
    pub(crate) rebinding: Option<bool>,
    /// Whether the session ended in order.
    pub(crate) ended: bool,
}

/// The fate of large datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Large {
    #[default]
    Unknown,
    /// They get through; the largest had so many bytes.
    Pass(usize),
    /// They do not, but smaller ones do.
    Only { refused: usize, passed: usize },
    /// Nothing got through any more; the largest had so many bytes, if that is known.
    Stuck(Option<usize>),
}

/// The facts of a second login, made after no datagram had come back. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Whether the server still ran.
    pub(crate) alive: Option<bool>,
    /// Whether it had heard the client: only then does a session's command start.
    pub(crate) heard: Option<bool>,
    /// Whether its port was bound.
    pub(crate) bound: Option<bool>,
    /// Whether logind ends what a user leaves behind.
    pub(crate) ends_leftovers: Option<bool>,
}
