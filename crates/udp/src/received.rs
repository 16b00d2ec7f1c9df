//! A datagram that was received, with the system's facts about it.

use std::net::{Ipv6Addr, SocketAddr};

use rove_ssp::Ecn;
use rove_ssp::wire::DATAGRAM_LEN_MAX;

/// Number of datagrams after which a turn of the event loop stops reading a socket, so that a flood delays neither keys
/// nor the pty. Chosen: at 1.2 kB each, more than a screen's worth of fragments.
pub const DATAGRAMS_PER_TURN: usize = 32;

/// Most bytes of a message: a datagram, or a batch of datagrams of one sender and one size (UDP receive offload).
/// Source: the length of an IP packet.
pub(crate) const MESSAGE_BYTES: usize = 65_536;

const _: () = assert!(MESSAGE_BYTES > DATAGRAM_LEN_MAX, "a longer datagram is seen to be longer");

/// The size, addresses and ECN mark of a datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The length of the datagram in bytes. A datagram that is too long is cut to [`DATAGRAM_LEN_MAX`] + 1 bytes.
    pub len: usize,
    /// The sender's address.
    pub source: SocketAddr,
    /// The ECN bits of the IP header.
    pub ecn: Ecn,
    /// The local address that the datagram was sent to. `None` if the system does not tell.
    pub local: Option<Ipv6Addr>,
}

impl Received {
    /// Splits a message after every `each` bytes, and passes at most [`DATAGRAM_LEN_MAX`] + 1 bytes of each datagram to
    /// `handle`. Returns the number of datagrams.
    pub(crate) fn split(
        self,
        message: &[u8],
        each: usize,
        handle: &mut impl FnMut(Self, &[u8]),
    ) -> usize {
        debug_assert!(each > 0, "a batch has an end");
        // An empty message is an empty datagram.
        let count = message.len().div_ceil(each).max(1);
        for number in 0..count {
            let rest = &message[number * each..];
            let datagram = &rest[..each.min(rest.len()).min(DATAGRAM_LEN_MAX + 1)];
            handle(Self { len: datagram.len(), ..self }, datagram);
        }
        count
    }
}
