//! Methods that read a server's state and change nothing.

use core::net::SocketAddr;
use core::ops::Range;

use rove_ssp::{Capabilities, Closed};
use rove_terminal::{InputNum, Screen};
use rove_units::{Duration, Instant};

use super::{Server, ServerOutcome};
use crate::former::ClientId;
use crate::wish::Door;

/// How long the server waits for its first client. Source: Mosh 1.4.0 as observed, docs/wire.md.
const NO_CLIENT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a client counts as alive after a datagram of it was expected but did not come. Chosen: ten heartbeats.
const ALIVE_FOR: Duration = Duration::from_secs(30);

impl Server {
    /// Returns how the session ended. `None` until it has ended for all clients.
    pub fn outcome(&self) -> Option<ServerOutcome> {
        let closed = self.publisher.transport.closed().map(|closed| match closed {
            Closed::Acknowledged | Closed::ByPeer => ServerOutcome::Ended,
            Closed::Unacknowledged => ServerOutcome::Unacknowledged,
            Closed::KeyExhausted => ServerOutcome::KeyExhausted,
        });
        self.abandoned.or(closed).filter(|_| self.audience.is_over())
    }

    /// Returns whether the program or the session has ended, even if clients are still to be told.
    pub fn is_ending(&self) -> bool {
        let transport = &self.publisher.transport;
        self.abandoned.is_some()
            || self.last_lines.is_some()
            || transport.is_shutting_down()
            || transport.closed().is_some()
    }

    /// Returns until when the driver keeps a server whose client has ended the session. Until then the server can
    /// acknowledge the end again ([`rove_ssp::Transport::lingers_until`]). `None` if that is not needed. The driver
    /// first releases all other resources.
    pub fn lingers_until(&self) -> Option<Instant> {
        self.publisher.transport.lingers_until().filter(|_| self.abandoned.is_none())
    }

    /// Returns how many sequence numbers the clients have used for datagrams and stream packets, by the highest number
    /// received from each. Only a datagram or packet newer than all others of its client raises the number.
    pub fn client_datagrams(&self) -> u64 {
        self.publisher.transport.peer_datagrams_and_packets() + self.audience.datagrams()
    }

    /// Returns when a state of the session's own client last arrived. `None` before the first.
    pub fn client_heard_at(&self) -> Option<Instant> {
        self.publisher.transport.remote_arrived_at()
    }

    /// Returns since when the client's silence is unexpected. This is the later of two times: when the client was last
    /// heard, and the end of a pause that the server permits. `None` if it was never heard.
    pub fn client_missed_since(&self) -> Option<Instant> {
        let heard_at = self.client_heard_at()?;
        Some(heard_at.max(self.publisher.transport.remote_excused_until().unwrap_or(heard_at)))
    }

    /// Returns whether the session's own client counts as alive.
    pub(super) fn is_client_alive(&self, now: Instant) -> bool {
        self.client_missed_since().is_some_and(|at| now.saturating_since(at) < ALIVE_FOR)
    }

    /// Returns when the server stops waiting for its first client. `None` after one has connected.
    pub(super) fn no_client_deadline(&self) -> Option<Instant> {
        (!self.has_started).then(|| self.start + NO_CLIENT_TIMEOUT)
    }

    /// Returns when the client's silence exceeds the network timeout. `None` without a timeout or a client, and at the
    /// session's end.
    pub(super) fn network_deadline(&self) -> Option<Instant> {
        if self.publisher.transport.is_shutting_down() {
            return None;
        }
        Some(self.client_heard_at()?.max(self.awake_since) + self.network_timeout?)
    }

    /// Returns when the newest key of any client arrived. `None` before the first key.
    pub fn key_arrived_at(&self) -> Option<Instant> {
        self.key_arrived_at
    }

    /// Returns the client's address. `None` before its first datagram, and after `ServerEvent::ClientLost`.
    pub fn client_address(&self) -> Option<SocketAddr> {
        self.publisher.transport.peer_address()
    }

    /// Returns whether the client understands exit statuses; `false` until it is known.
    pub fn client_learns_exit_status(&self) -> bool {
        self.publisher.transport.capabilities().contains(Capabilities::EXIT_STATUS)
    }

    /// Returns the memory ranges of the own client's keys, to be kept out of swap
    /// ([`rove_ssp::Transport::key_memory`]).
    pub fn key_memory(&self) -> Vec<Range<*const u8>> {
        self.publisher.transport.key_memory()
    }

    /// Returns how often another client has taken the session over. Input numbers start again at each takeover.
    pub const fn takeovers(&self) -> u32 {
        self.succession.takeovers
    }

    /// Returns whether `client` was given a key of this session.
    pub fn is_own(&self, client: ClientId) -> bool {
        self.succession.own.contains(&client)
    }

    /// Returns the screen as programs have drawn it, even if it is not published.
    pub fn screen(&self) -> &Screen {
        self.terminal.screen()
    }

    /// Returns whether others may join or take the session over, as the session's own client has decided.
    pub const fn door(&self) -> Door {
        self.audience.door()
    }

    /// Returns the memory ranges of the keys of the client invited to take over ([`Server::key_memory`]), if any.
    pub fn invited_key_memory(&self) -> Option<Vec<Range<*const u8>>> {
        self.succession.key_memory()
    }

    /// Returns the number of the client's newest input (keys or a size) if the pty has taken all of it, no other input
    /// waits, and the newest screen is published. Returns `None` otherwise, and for a client to which the server does
    /// not send the modes of the pty.
    pub fn written_input(&self) -> Option<InputNum> {
        let is_written = self.host_input.waiting().is_empty()
            && self.input.keys.poll_timeout().is_none()
            && self.publisher.is_published();
        (is_written && self.publisher.tells_tty()).then_some(self.input.num)
    }

    /// Returns the bytes that wait for the pty (keys, and answers of the terminal); empty if there are none. Report the
    /// written bytes with [`Server::consume_host_input`].
    pub fn host_input(&self) -> &[u8] {
        self.host_input.waiting()
    }
}
