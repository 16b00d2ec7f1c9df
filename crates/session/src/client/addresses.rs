//! Where the server is reached: its addresses, and what the system says of them.

use core::net::SocketAddr;

use super::Client;

impl Client {
    /// Returns where datagrams go: where the server listens, as far as is known.
    pub fn server(&self) -> SocketAddr {
        self.transport.peer_address().unwrap_or(self.server)
    }

    /// Adds an address that the server may be reached at, too. It is tried while the one before does not
    /// answer; the one that answers is kept.
    pub fn add_candidate(&mut self, address: SocketAddr) {
        self.transport.add_candidate(address);
    }

    /// Returns all addresses that the server may be reached at, the first of them first.
    pub fn candidates(&self) -> impl Iterator<Item = SocketAddr> {
        self.transport.candidates()
    }

    /// Returns whether others of these addresses than the one in use are being tried.
    pub fn is_probing(&self) -> bool {
        self.transport.is_probing()
    }

    /// Takes word that the system has no way to an address.
    pub fn handle_unreachable(&mut self, address: SocketAddr) {
        self.transport.handle_unreachable(address);
    }

    /// Falls back to small datagrams after a send failed for its size.
    pub fn handle_message_too_long(&mut self) {
        self.transport.handle_message_too_long();
    }
}
