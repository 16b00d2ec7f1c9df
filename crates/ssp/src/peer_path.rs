//! The address to which datagrams to the peer go, and how large datagrams may be on the path to it.

use core::net::SocketAddr;

use crate::path_size::PathSize;

/// The peer's address, the size of datagrams on the path to it, and how many times that path has changed.
#[derive(Debug)]
pub(crate) struct PeerPath {
    /// The address to send to. `None` while no peer is known.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) size: PathSize,
    /// How many times the path to the peer may have changed.
    pub(crate) changes: u64,
}

impl PeerPath {
    pub(crate) const fn new(address: Option<SocketAddr>, size: PathSize) -> Self {
        Self { address, size, changes: 0 }
    }

    /// Sets the address to send to, and starts with the datagram sizes of IPv6 or of IPv4.
    pub(crate) fn handle_moved(&mut self, address: SocketAddr, ipv6: bool) {
        self.address = Some(address);
        self.size.handle_moved(ipv6);
        self.changes += 1;
    }

    /// Handles a change of the network between this end and the address.
    pub(crate) fn handle_network_change(&mut self) {
        self.handle_port_change();
        self.changes += 1;
    }

    /// Handles a change of the local port, after which other routers may carry the datagrams.
    pub(crate) fn handle_port_change(&mut self) {
        self.size.handle_moved(self.size.is_ipv6());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_size::SIZE_BASE;

    #[test]
    fn a_change_is_counted_and_starts_the_sizes_again_but_another_port_is_no_change() {
        let address = |text: &str| Some(text.parse::<SocketAddr>().expect("an address"));
        let mut path = PeerPath::new(None, PathSize::new(false, true));
        let moves: [fn(&mut PeerPath); 3] = [
            |path| path.handle_moved("[::1]:7".parse().expect("an address"), true),
            PeerPath::handle_network_change,
            PeerPath::handle_port_change,
        ];
        for (moves, changes) in moves.into_iter().zip([1, 2, 2]) {
            path.size.handle_refused(rove_units::Instant::from_millis(0), SIZE_BASE);
            assert!(path.size.get() < SIZE_BASE);
            moves(&mut path);
            let found = (path.size.get(), path.size.is_ipv6(), path.changes, path.address);
            assert_eq!(found, (SIZE_BASE, true, changes, address("[::1]:7")));
        }
    }
}
