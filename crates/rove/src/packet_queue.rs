//! Keeps packets of streams out of the system's queue, in which the session's datagrams would wait after them.

use std::os::fd::BorrowedFd;

use rove_units::{Duration, Instant};

use crate::sys;

/// Most bytes that wait in the system's queue when a packet is sent. Chosen: those of a packet as Linux counts them, so
/// that two wait at most.
const UNSENT_BYTES_MAX: usize = 2_560;

/// How long to wait for room. Chosen: the time of two packets at 100 Mbit/s.
const PAUSE: Duration = Duration::from_micros(200);

/// Whether the system's queue has room for a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketQueue {
    /// When to look again, if there was no room.
    retry_at: Option<Instant>,
}

impl PacketQueue {
    /// Returns whether a packet may be sent by this socket.
    pub(crate) fn has_room(&mut self, now: Instant, socket: BorrowedFd<'_>) -> bool {
        let has_room = sys::unsent_bytes(socket).is_none_or(|unsent| unsent <= UNSENT_BYTES_MAX);
        self.retry_at = (!has_room).then(|| now + PAUSE);
        has_room
    }

    /// Returns when to send packets that are due at `packets_due`.
    pub(crate) fn poll_timeout(self, packets_due: Option<Instant>) -> Option<Instant> {
        packets_due.map(|due| due.max(self.retry_at.unwrap_or(due)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn an_empty_queue_has_room_and_a_full_one_is_looked_at_again() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = Instant::from_millis;
        let mut queue = PacketQueue::default();
        assert!(queue.has_room(at(1), socket.as_fd()));
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(1)));
        queue.retry_at = Some(at(1) + PAUSE);
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(1) + PAUSE));
        assert_eq!(
            (queue.poll_timeout(Some(at(9))), queue.poll_timeout(None)),
            (Some(at(9)), None)
        );
    }
}
