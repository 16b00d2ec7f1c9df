//! The client: the user's keys in, datagrams out; datagrams in, frames out.

use core::net::SocketAddr;

use rove_ssp::{Closed, Config, Ecn, Key, ReceiveError, Transmit};
use rove_terminal::{Outer, Screen, Size};
use rove_units::{Duration, Instant, Stream};

use crate::exit_status::ExitStatus;

/// What a client needs to know at its start.
pub struct ClientConfig {
    /// Where the server listens.
    pub server: SocketAddr,
    /// The session key.
    pub key: Key,
    /// Protocol policies and timings.
    pub transport: Config,
    /// The user's window.
    pub size: Size,
    /// What the user's terminal can do.
    pub outer: Outer,
    /// The escape key; `None` turns escape processing off.
    pub escape_key: Option<u8>,
    /// The program's name in notices: `rove` or `mosh`.
    pub program: String,
    /// Randomness for padding, drawn by the caller.
    pub chaff: Stream,
}

/// Something the driver must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// Open a new local UDP port and send from it from now on.
    OpenPort,
    /// Close the oldest local ports down to this many.
    ClosePorts {
        /// How many stay open.
        keep: usize,
    },
    /// Give the terminal back, say so, stop the process group; then call [`Client::handle_resume`].
    Suspend,
}

/// How a session ended, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOutcome {
    /// Orderly; with the remote command's exit status where both ends are rove.
    Ended(Option<ExitStatus>),
    /// Nothing was ever heard from the server.
    NeverConnected,
    /// It was connected once, but the server never acknowledged the end and may still run.
    Unacknowledged,
    /// The session key can seal no more.
    KeyExhausted,
}

/// The client end of a session.
pub struct Client {
    _stub: (),
}

impl Client {
    /// Creates a client. Its first datagram, the window size, is ready at once.
    pub fn new(config: ClientConfig, now: Instant) -> Self {
        let _ = (config, now);
        todo!()
    }

    /// Takes a datagram from the network.
    ///
    /// # Errors
    ///
    /// Returns why it was of no use, for the log; the client has noted what the user should see.
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

    /// Takes bytes the user typed. Call it only while [`Client::wants_input`] holds; nothing given
    /// to it is ever dropped.
    pub fn handle_input(&mut self, now: Instant, bytes: &[u8]) {
        let _ = (now, bytes);
        todo!()
    }

    /// Returns whether the user's terminal should be read: false above 1 MiB of unacknowledged input
    /// and once the session is ending.
    pub fn wants_input(&self) -> bool {
        todo!()
    }

    /// Takes the end of the user's input (the terminal is gone): starts the orderly end.
    pub fn handle_input_closed(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Takes the window's new size.
    pub fn handle_resize(&mut self, now: Instant, size: Size) {
        let _ = (now, size);
        todo!()
    }

    /// Starts the orderly end because of a signal or on request; `reason` is shown.
    pub fn shutdown(&mut self, now: Instant, reason: &str) {
        let _ = (now, reason);
        todo!()
    }

    /// Takes the terminal over again after [`ClientEvent::Suspend`] or a SIGCONT: full repaint.
    pub fn handle_resume(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Shows a local network error (send or receive) to the user for a while.
    pub fn handle_network_error(&mut self, now: Instant, text: &str) {
        let _ = (now, text);
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

    /// Returns bytes for the user's terminal, or `None` when it shows what it should.
    pub fn poll_output(&mut self, now: Instant) -> Option<Vec<u8>> {
        let _ = now;
        todo!()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        todo!()
    }

    /// Returns when to call [`Client::handle_timeout`] if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns the bytes that give the terminal back as it was found: for the end and for a suspend.
    pub fn close_terminal(&mut self) -> Vec<u8> {
        todo!()
    }

    /// Returns how the session ended, once it has.
    pub fn outcome(&self) -> Option<ClientOutcome> {
        todo!()
    }

    /// Returns the server's newest screen, without notices.
    pub fn screen(&self) -> &Screen {
        todo!()
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        todo!()
    }
}

const _: fn(Closed) = |_| {};
