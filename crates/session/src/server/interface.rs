//! The configuration of a server, and its messages to its driver.

use core::net::SocketAddr;

use rove_ssp::{Config, Key};
use rove_terminal::Size;
use rove_units::{Duration, Stream};

use crate::parts::joined::{JOINED_MAX, JoinedClient};

/// The configuration of a server.
pub struct ServerConfig {
    /// The session key.
    pub key: Key,
    /// Protocol policies and timings.
    pub transport: Config,
    /// Whether the bound socket is IPv6 (a dual-stack socket is).
    pub ipv6: bool,
    /// The pty's size before the client has spoken.
    pub size: Size,
    /// Ends the session when no client has been heard for this long (`MOSH_SERVER_NETWORK_TMOUT`).
    pub network_timeout: Option<Duration>,
    /// Randomness for padding, drawn by the caller.
    pub chaff: Stream,
}

/// Something the driver must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// The first client message has arrived: let the command run.
    Start,
    /// Set the pty's window size.
    Resize(Size),
    /// The client's address is new or has changed.
    ClientMoved(SocketAddr),
    /// The client has not been heard for the association timeout.
    ClientLost,
    /// Another client has taken the session over: the numbers of input begin again.
    ClientChanged,
    /// Somebody has joined or left: those who have joined now.
    Joined(Vec<JoinedClient>),
}

/// Why a client may not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uninvited {
    /// Nobody would see it.
    #[error(
        "nobody may join it: its client does not show who joins (it is stock Mosh, called mosh, or an older rove), or is not there"
    )]
    Unseen,
    /// Its user wants nobody.
    #[error("nobody may join it: its user has set share = false, or locked it with Ctrl-^ l")]
    Closed,
    /// All places are taken.
    #[error("{JOINED_MAX} clients have joined it, which are all it takes")]
    Full,
}

/// How a session ended, seen from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOutcome {
    /// Both ends know of the end.
    Ended,
    /// No client ever came within 60 s.
    NeverConnected,
    /// The client never acknowledged the end, or there was none to tell.
    Unacknowledged,
    /// The session key can seal no more.
    KeyExhausted,
}
