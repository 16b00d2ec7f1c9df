//! The server: datagrams in, keys for the pty out; host output in, datagrams out.

use core::net::SocketAddr;

use rove_ssp::{Config, Ecn, Key, ReceiveError, Transmit};
use rove_terminal::{Screen, Size};
use rove_units::{Duration, Instant, Stream};

use crate::exit_status::ExitStatus;

/// What a server needs to know at its start.
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

/// The server end of a session.
pub struct Server {
    _stub: (),
}

impl Server {
    /// Creates a server with a blank screen. It sends nothing until a client has spoken.
    pub fn new(config: ServerConfig, now: Instant) -> Self {
        let _ = (config, now);
        todo!()
    }

    /// Takes a datagram from the network.
    ///
    /// # Errors
    ///
    /// Returns why it was of no use, for the log.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        let _ = (now, source, ecn, payload);
        todo!()
    }

    /// Takes bytes that programs wrote to the pty.
    pub fn handle_host_output(&mut self, now: Instant, bytes: &[u8]) {
        let _ = (now, bytes);
        todo!()
    }

    /// Takes the end of the command: everything it wrote must have been handed in before.
    pub fn handle_host_closed(&mut self, now: Instant, status: Option<ExitStatus>) {
        let _ = (now, status);
        todo!()
    }

    /// Starts the orderly end (a signal, an idle limit); with no client it ends at once.
    pub fn shutdown(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Falls back to small datagrams after a send failed for its size.
    pub fn handle_message_too_long(&mut self) {
        todo!()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let _ = now;
        todo!()
    }

    /// Returns bytes waiting for the pty (keys, answers); empty for none. Report what was written
    /// with [`Server::consume_host_input`].
    pub fn host_input(&self) -> &[u8] {
        todo!()
    }

    /// Forgets the first `len` bytes of [`Server::host_input`]: the pty has taken them.
    pub fn consume_host_input(&mut self, len: usize) {
        let _ = len;
        todo!()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        todo!()
    }

    /// Returns when to call [`Server::handle_timeout`] if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns how the session ended, once it has.
    pub fn outcome(&self) -> Option<ServerOutcome> {
        todo!()
    }

    /// Returns when the client was last heard; `None` before its first message.
    pub fn client_heard_at(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns the live screen.
    pub fn screen(&self) -> &Screen {
        todo!()
    }
}
