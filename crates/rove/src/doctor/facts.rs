//! Observations on the steps to a session, without their interpretation.

use std::net::SocketAddr;

use rove_bootstrap::{Forwards, TunnelUse};
use rove_udp::Refusal;
use rove_units::Duration;

use crate::install::remedy::Remedy;
use crate::sessions::Listing;

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) here: Here,
    /// The facts about the host. `None` if no host was named.
    pub(crate) host: Option<Host>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Here {
    /// The locale variable that decides the character set, with its value. `None` if no such variable is set.
    pub(crate) locale: Option<(String, String)>,
    /// Why the terminal's type cannot be used, in a sentence. `None` if it can be used.
    pub(crate) terminal_type: Option<String>,
    /// Why no UDP socket can be opened. `None` if a socket can be opened.
    pub(crate) no_socket: Option<String>,
    /// Whether UDP works between two sockets of this computer.
    pub(crate) loopback_works: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// The host's name, as the user wrote it.
    pub(crate) name: String,
    pub(crate) addresses: Vec<String>,
    /// When ssh carries a session with the user's options: always, or only while UDP is silent. `None` if never.
    pub(crate) tunnel: Option<TunnelUse>,
    /// The jump host or proxy through which ssh connects, in ssh's words. `None` if ssh connects directly.
    pub(crate) detour: Option<String>,
    pub(crate) ssh: Ssh,
    /// Messages of ssh, or of the server if ssh has logged in, without control characters.
    pub(crate) said: Vec<String>,
    pub(crate) noise: Noise,
    /// The host's answers to the doctor's survey. `None` if the host gave no answers.
    pub(crate) far: Option<Far>,
    /// Whether `rove install` can copy rove to the host, in words. `None` unless the host lacks a server program.
    pub(crate) no_server_program: Option<Remedy>,
    /// Whether the server runs but its address is unknown.
    pub(crate) no_address: bool,
    /// Whether the server refused the requested range of UDP ports.
    pub(crate) port_refused: bool,
    pub(crate) locale_refused: bool,
    /// The server that announced itself. `None` if no server did.
    pub(crate) server: Option<Server>,
    /// The results of the datagrams to and from the server. `None` without a server.
    pub(crate) path: Option<Path>,
    /// The facts from a second login, which is made if no datagram came back. `None` without a second login.
    pub(crate) aftermath: Option<Aftermath>,
}

/// The state of an agent on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loan {
    Answers,
    /// There is no agent, or it does not answer.
    Silent,
}

/// The result of ssh's login on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ssh {
    /// ssh logged in and ran the doctor's command.
    #[default]
    Reached,
    Missing(String),
    /// The host's name has no address.
    NoAddress(String),
    /// ssh did not log in.
    Failed,
    /// ssh logged in, but the doctor's command did not run.
    Diverted,
    TimedOut,
}

/// Output of the host's start-up files and messages of ssh, from before the output of the doctor's command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noise {
    /// The number of lines in the output that contain text.
    pub(crate) lines: usize,
    /// The first line of the output that contains text, without control characters.
    pub(crate) sample: String,
    /// Whether the output contains escape sequences.
    pub(crate) escapes: bool,
    /// Whether stock Mosh would mistake a line of the output for the server's announcement.
    pub(crate) fake: bool,
}

/// The host's answers to the doctor's survey (`survey.rs`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) system: String,
    /// The `PATH` of a login without a terminal.
    pub(crate) path: String,
    /// The character set of the locale in a login without a terminal.
    pub(crate) charset: String,
    pub(crate) locale: String,
    /// The state of the agent that a session would lend to the host. `None` if it would lend no agent.
    pub(crate) loan: Option<Loan>,
    /// The connections that a session with the user's options would forward.
    pub(crate) forwards: Forwards,
    /// The socket of the agent that the login forwards. Empty if the login forwards no agent.
    pub(crate) agent: String,
    /// The path of the server program.
    pub(crate) server: String,
    /// The path of the host's rove, if the user named the server program. Empty if there is none.
    pub(crate) rove: String,
    /// The first line that the server program prints for `--version`.
    pub(crate) version: String,
    /// Whether processes that the user leaves running survive the logout. `None` if unknown.
    pub(crate) logout: Option<Logout>,
    pub(crate) sessions: Sessions,
}

/// The user's sessions on the host, as `rove list --json` prints them there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// The host's rove did not answer, or was not asked.
    #[default]
    Unknown,
    /// The list is too long, or malformed.
    Unreadable,
    Listed(Listing),
}

/// The way in which systemd-logind treats processes that a user leaves running at logout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logout {
    /// The processes keep running after the logout.
    Leaves,
    /// The processes end, and so do those of the user's service manager.
    Ends,
    /// The processes end. The user's service manager stays, and can keep rove's server alive in a systemd scope.
    EndsThoughLingering,
}

/// A server that announced itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) port: u16,
    /// The server's process number. `None` if the server did not tell it.
    pub(crate) pid: Option<u32>,
    /// Whether ssh kept running although the server had announced itself.
    pub(crate) holds_ssh: bool,
}

/// The results of the datagrams between client and server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    /// The addresses at which the server may be, in the order to try.
    pub(crate) tried: Vec<SocketAddr>,
    /// The index in `tried` of the address that answered first. `None` if no address answered.
    pub(crate) answered: Option<usize>,
    /// Whether the server answered through a forwarder on the jump host, after none of `tried` had answered.
    pub(crate) by_jump_host: bool,
    /// How many datagrams the trial has sent.
    pub(crate) sent: usize,
    /// The last error that network or system reported in place of the first answer. `None` if neither did.
    pub(crate) refusal: Option<Refusal>,
    /// How many received datagrams could not be opened with the session's key.
    pub(crate) foreign: usize,
    pub(crate) round_trip: Option<Duration>,
    /// Whether, and up to which size, large datagrams pass from the client to the host.
    pub(crate) up: Large,
    /// Whether, and up to which size, large datagrams pass from the host to the client.
    pub(crate) down: Large,
    /// Whether the server followed the client to a new local port. `None` if that was not tried.
    pub(crate) rebinding: Option<bool>,
    /// Whether the server forwards connections. `None` if the server has not said.
    pub(crate) forwards: Option<bool>,
}

/// Whether large datagrams pass in one direction of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Large {
    #[default]
    Unknown,
    /// Large datagrams pass. The number is the size of the largest, in bytes.
    Pass(usize),
    /// Datagrams of `refused` bytes do not pass, but datagrams of `passed` bytes do.
    Only { refused: usize, passed: usize },
    /// After a large datagram nothing passed any more. The number is the datagram's size in bytes, if known.
    Stuck(Option<usize>),
}

/// The facts from a second login, made after no datagram had come back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Whether the server was still running. `None` if unknown.
    pub(crate) alive: Option<bool>,
    /// Whether the server had received a datagram of the client. `None` if unknown. At the first datagram, the server
    /// starts the session's command, which leaves a mark on the host.
    pub(crate) heard: Option<bool>,
    /// Whether the server's UDP port was still bound. `None` if unknown.
    pub(crate) bound: Option<bool>,
}
