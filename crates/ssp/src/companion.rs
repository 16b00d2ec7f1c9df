//! The client's newest small stream packet, sent again with each datagram of the session while the server is silent.
//!
//! After a silence neither end knows which of its packets have arrived. The client's newest packet acknowledges all
//! that the client has received. Only a client knows several addresses of its peer. So the client sends this packet to
//! each address to which a datagram goes. All copies are identical, and the peer handles only the first to arrive.

use core::net::SocketAddr;

use crate::side_path::SIDE_PATH;

/// Longest stream packet that a client sends again with its datagrams while its server is silent, in bytes. Chosen: the
/// largest acknowledgment fits, and delays a key by less than 60 ms at 64 kbit/s.
const COMPANION_MAX: usize = 400;

/// The newest small stream packet sent since the peer's last answer, and the address to which the client sends it next.
#[derive(Debug, Default)]
pub(crate) struct Companion {
    packet: Vec<u8>,
    to: Option<SocketAddr>,
}

impl Companion {
    /// Keeps a sealed stream packet for repetition if it has at most [`COMPANION_MAX`] bytes.
    pub(crate) fn handle_packet(&mut self, packet: &Vec<u8>) {
        if packet.len() <= COMPANION_MAX {
            self.packet.clone_from(packet);
        }
    }

    /// Forgets the kept packet, because a packet of the peer has arrived.
    pub(crate) fn handle_answer(&mut self) {
        (self.packet, self.to) = (Vec::new(), None);
    }

    /// Plans to send the kept packet after a datagram to this address; not on the side path, which loses nothing.
    pub(crate) fn handle_sent(&mut self, to: SocketAddr) {
        self.to = Some(to).filter(|to| *to != SIDE_PATH && !self.packet.is_empty());
    }

    /// Returns the packet and its destination. `None` if no packet waits to follow a datagram.
    pub(crate) fn poll(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        Some((self.to.take()?, self.packet.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn the_newest_small_packet_goes_once_with_each_datagram_until_a_packet_answers() {
        let mut companion = Companion::default();
        companion.handle_sent(address(1));
        assert_eq!(companion.poll(), None, "there is no packet");
        for len in [COMPANION_MAX, COMPANION_MAX + 1] {
            companion.handle_packet(&vec![7; len]);
        }
        for port in [1, 2] {
            companion.handle_sent(address(port));
            assert_eq!(companion.poll(), Some((address(port), vec![7; COMPANION_MAX])));
            assert_eq!(companion.poll(), None);
        }
        companion.handle_sent(SIDE_PATH);
        assert_eq!(companion.poll(), None);
        companion.handle_sent(address(1));
        companion.handle_answer();
        assert_eq!(companion.poll(), None, "the packet has an answer");
        companion.handle_sent(address(1));
        assert_eq!(companion.poll(), None);
    }
}
