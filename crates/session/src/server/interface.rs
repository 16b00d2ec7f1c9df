//! The configuration of a server, and the events and errors that it reports to its driver.

use core::net::SocketAddr;

use rove_ssp::{Config, Key};
use rove_terminal::Size;
use rove_units::{Duration, Stream};

use crate::parts::joined::{JOINED_MAX, JoinedClient};

/// The configuration of a new server.
pub struct ServerConfig {
    /// The key of the session's first client.
    pub key: Key,
    /// The policies and timings of the transport.
    pub transport: Config,
    /// Whether the server's socket is IPv6. A dual-stack socket counts as IPv6.
    pub ipv6: bool,
    /// The screen's size until the client has sent its window size.
    pub size: Size,
    /// How long a client may be silent until the session ends (`MOSH_SERVER_NETWORK_TMOUT`). `None` for no limit.
    pub network_timeout: Option<Duration>,
    /// The random numbers for the padding of datagrams, drawn by the caller.
    pub chaff: Stream,
    /// Whether the echo ack of a key waits, so that the key's echo can come first. Only the laboratory sets `false`, to
    /// measure the effect of the wait.
    pub awaits_echo: bool,
}

/// An event that the driver must handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// The first client message has arrived: start the command.
    Start,
    /// The pty must get this window size.
    Resize(Size),
    /// The client's address is known for the first time, or has changed to this one.
    ClientMoved(SocketAddr),
    /// The client has been silent for so long that the server sends nothing until it hears the client again.
    ClientLost,
    /// Another client has taken the session over, and the numbers of client input start again.
    ClientChanged,
    /// A client has joined or left. The list holds the clients that are joined at present.
    Joined(Vec<JoinedClient>),
}

/// The reason why a client may not join a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uninvited {
    /// The session's client cannot show its user who joins.
    #[error(
        "nobody may join it: its client does not show who joins (it is stock Mosh, called mosh, or an older rove), or is not there"
    )]
    Unseen,
    /// The session's user has forbidden others to join.
    #[error("nobody may join it: its user has set share = false, or locked it with Ctrl-^ l")]
    Closed,
    /// The session has [`JOINED_MAX`] joined clients already.
    #[error("{JOINED_MAX} clients have joined it, which are all it takes")]
    Full,
}

/// How a session ended, as far as its server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOutcome {
    /// Both ends know of the end: the client has acknowledged or requested it.
    Ended,
    /// No client connected within 60 s.
    NeverConnected,
    /// The client did not acknowledge the end, or the session had no client.
    Unacknowledged,
    /// The session key has encrypted as much data as the cipher safely allows.
    KeyExhausted,
}
