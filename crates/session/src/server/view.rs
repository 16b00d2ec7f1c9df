//! Questions to a server that change nothing.

use core::net::SocketAddr;
use core::ops::Range;

use rove_ssp::{Capabilities, Closed};
use rove_terminal::Screen;
use rove_units::Instant;

use super::{Server, ServerOutcome};
use crate::wish::Door;

impl Server {
    /// Returns how the session ended, once it has.
    pub fn outcome(&self) -> Option<ServerOutcome> {
        self.abandoned.or_else(|| {
            let outcome = match self.publisher.transport.closed()? {
                Closed::Acknowledged | Closed::ByPeer => ServerOutcome::Ended,
                Closed::Unacknowledged => ServerOutcome::Unacknowledged,
                Closed::KeyExhausted => ServerOutcome::KeyExhausted,
            };
            self.audience.is_over().then_some(outcome)
        })
    }

    /// Returns until when the server of a session ended by its client stays to acknowledge the end again
    /// ([`rove_ssp::Transport::lingers_until`]). The driver releases everything else meanwhile.
    pub fn lingers_until(&self) -> Option<Instant> {
        self.publisher.transport.lingers_until().filter(|_| self.abandoned.is_none())
    }

    /// Returns how many datagrams the clients have sent, as far as is known. Each that is newer than all before lets
    /// it grow, and nothing else does.
    pub fn client_datagrams(&self) -> u64 {
        self.publisher.transport.peer_datagrams() + self.audience.datagrams()
    }

    /// Returns when the client was last heard; `None` before its first message.
    pub fn client_heard_at(&self) -> Option<Instant> {
        self.publisher.transport.remote_arrived_at()
    }

    /// Returns since when the client is unexpectedly silent: when it was last heard, or when its announced silence
    /// ended. `None` before its first message.
    pub fn client_missed_since(&self) -> Option<Instant> {
        let heard_at = self.client_heard_at()?;
        Some(heard_at.max(self.publisher.transport.remote_excused_until().unwrap_or(heard_at)))
    }

    /// Returns when the user's last key came; `None` before the first.
    pub fn key_arrived_at(&self) -> Option<Instant> {
        self.key_arrived_at
    }

    /// Returns where the client was last heard from; `None` before its first datagram.
    pub fn client_address(&self) -> Option<SocketAddr> {
        self.publisher.transport.peer_address()
    }

    /// Returns whether the client, as far as it is known, understands how the program has ended.
    pub fn client_learns_exit_status(&self) -> bool {
        self.publisher.transport.capabilities().contains(Capabilities::EXIT_STATUS)
    }

    /// Returns where the session's secrets lie ([`rove_ssp::Transport::key_memory`]).
    pub fn key_memory(&self) -> Range<*const u8> {
        self.publisher.transport.key_memory()
    }

    /// Returns how often another client has taken the session over. The numbers of input begin again each time.
    pub const fn takeovers(&self) -> u32 {
        self.succession.takeovers
    }

    /// Returns the live screen.
    pub fn screen(&self) -> &Screen {
        self.terminal.screen()
    }

    /// Returns who may come beside the present client, by its own word.
    pub const fn door(&self) -> Door {
        self.door
    }

    /// Returns where the secrets of the invited client lie; see [`Server::key_memory`].
    pub fn invited_key_memory(&self) -> Option<Range<*const u8>> {
        self.succession.key_memory()
    }
}
