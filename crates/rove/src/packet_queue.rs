//! Keeps packets of streams out of the system's queue, in which the session's datagrams would wait after them.

use std::os::fd::BorrowedFd;

use rove_units::{Duration, Instant};

use crate::sys;

/// Most bytes that wait in the system's queue when a packet is sent. Chosen: those of a packet as Linux counts them, so
/// that two wait at most.
const UNSENT_BYTES_MAX: usize = 2_560;

/// Most packets that the system is given at once. Chosen: full ones fit the longest IP packet, which is the most that Linux
/// takes in one call.
const BURST_MAX: usize = 44;

/// How long to wait for room. Chosen: the time of two packets at 100 Mbit/s.
const PAUSE: Duration = Duration::from_micros(200);

/// For how many packets the system's queue has room.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketQueue {
    /// When to look again, if there was no room.
    retry_at: Option<Instant>,
    /// When there last was room.
    room_at: Option<Instant>,
    /// How many packets the device takes as fast as they come, as far as is known; 0 for one.
    burst: usize,
}

impl PacketQueue {
    /// Returns how many packets may be sent by this socket. Call this again in the same turn only after they were sent.
    pub(crate) fn room(&mut self, now: Instant, socket: BorrowedFd<'_>) -> usize {
        self.room_beside(now, sys::unsent_bytes(socket))
    }

    /// Returns how many packets may be sent while so many bytes are unsent. A queue that is empty directly after packets
    /// were sent is a loopback's, or as fast: more packets at once delay nothing there.
    fn room_beside(&mut self, now: Instant, unsent: Option<usize>) -> usize {
        let has_room = unsent.is_none_or(|unsent| unsent <= UNSENT_BYTES_MAX);
        let is_after_packets = self.room_at == Some(now);
        self.retry_at = (!has_room).then(|| now + PAUSE);
        self.room_at = has_room.then_some(now);
        self.burst = match unsent {
            Some(0) if is_after_packets => (self.burst.max(1) * 2).min(BURST_MAX),
            Some(0) => self.burst,
            _ => 0,
        };
        debug_assert!(self.burst <= BURST_MAX, "a burst is bounded");
        if has_room { self.burst.max(1) } else { 0 }
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
        assert_eq!(queue.room(at(1), socket.as_fd()), 1);
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(1)));
        queue.retry_at = Some(at(1) + PAUSE);
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(1) + PAUSE));
        assert_eq!(
            (queue.poll_timeout(Some(at(9))), queue.poll_timeout(None)),
            (Some(at(9)), None)
        );
    }

    #[test]
    fn more_packets_go_at_once_only_where_the_queue_is_empty_directly_after_some() {
        let at = Instant::from_millis;
        let mut queue = PacketQueue::default();
        let mut room = |time, unsent| queue.room_beside(at(time), unsent);
        // Each first look of a turn proves nothing: the device had time.
        assert_eq!((1..9).map(|time| room(time, Some(0))).collect::<Vec<_>>(), [1; 8]);
        assert_eq!([0; 7].map(|unsent| room(8, Some(unsent))), [2, 4, 8, 16, 32, 44, 44]);
        assert_eq!((room(9, Some(0)), room(9, Some(1))), (44, 1));
        assert_eq!((room(9, Some(0)), room(9, Some(UNSENT_BYTES_MAX + 1))), (2, 0));
        assert_eq!((room(9, Some(0)), room(10, None), room(10, None)), (1, 1, 1));
    }
}
