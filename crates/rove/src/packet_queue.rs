//! Limits the stream packets in the kernel's send queue, because the session's datagrams would wait behind them.

use std::os::fd::BorrowedFd;

use rove_units::{Duration, Instant};

use crate::sys;

/// Most unsent bytes in the kernel's queue at which another stream packet is sent. Chosen: the size of a packet as
/// Linux counts it, so that at most two wait.
const UNSENT_BYTES_MAX: usize = 2_560;

/// Most stream packets sent in one system call. Chosen: as many full packets as fit into the longest IP packet, which
/// is Linux's limit for such a call.
const BURST_MAX: usize = 44;

/// First and longest pause until a full queue is checked again. Chosen: the time of two packets at 100 Mbit/s. The
/// longest is below that time at 10 Mbit/s, and halved the wake-ups of a file copy at 5 Mbit/s.
const PAUSES: [Duration; 2] = [Duration::from_micros(200), Duration::from_micros(1_600)];

/// Decides how many packets may be sent at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketQueue {
    /// When to check the queue again, if it was full.
    retry_at: Option<Instant>,
    /// The pause before that check, which doubles while the queue is full. Zero after a check that found room.
    pause: Duration,
    /// The time of the last check, if it found room.
    room_at: Option<Instant>,
    /// How many packets the network device is expected to send at once without delay. 0 counts as 1.
    burst: usize,
    /// Whether packets wait for an event: an ssh has no room, or no socket has the server's address family.
    waits_elsewhere: bool,
}

impl PacketQueue {
    /// Returns how many packets may be sent by this socket. At the same `now`, call this again only after sending them.
    pub(crate) fn room(&mut self, now: Instant, socket: BorrowedFd<'_>) -> usize {
        self.room_beside(now, sys::unsent_bytes(socket))
    }

    /// Returns 1 if ssh has room for a packet, and 0 if it has none or no UDP socket has the server's address family.
    /// Packets then wait without a deadline, because an event wakes the loop when there is room.
    pub(crate) fn room_elsewhere(&mut self, has_room: bool) -> usize {
        *self = Self { waits_elsewhere: !has_room, ..Self::default() };
        has_room.into()
    }

    /// Returns how many packets may be sent while `unsent` bytes are in the queue. If the queue is empty directly after
    /// a burst, as on the loopback, the next burst has twice as many packets.
    fn room_beside(&mut self, now: Instant, unsent: Option<usize>) -> usize {
        let has_room = unsent.is_none_or(|unsent| unsent <= UNSENT_BYTES_MAX);
        let is_after_packets = self.room_at == Some(now);
        self.waits_elsewhere = false;
        let [first, longest] = PAUSES;
        let next = self.pause.saturating_mul(2).clamp(first, longest);
        self.pause = if has_room { Duration::ZERO } else { next };
        self.retry_at = (!has_room).then(|| now + self.pause);
        self.room_at = has_room.then_some(now);
        self.burst = match unsent {
            Some(0) if is_after_packets => (self.burst.max(1) * 2).min(BURST_MAX),
            Some(0) => self.burst,
            _ => 0,
        };
        debug_assert!(self.burst <= BURST_MAX, "a burst is bounded");
        if has_room { self.burst.max(1) } else { 0 }
    }

    /// Returns when to send packets due at `packets_due`: later if the queue was full, `None` if they wait for an event.
    pub(crate) fn poll_timeout(self, packets_due: Option<Instant>) -> Option<Instant> {
        packets_due
            .filter(|_| !self.waits_elsewhere)
            .map(|due| due.max(self.retry_at.unwrap_or(due)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use rove_streams::{Mux, Side};

    use super::*;
    use crate::tests::muxes::mux;

    #[test]
    fn an_empty_queue_has_room_and_a_full_one_is_looked_at_again() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = Instant::from_millis;
        let mut queue = PacketQueue::default();
        assert_eq!(queue.room(at(1), socket.as_fd()), 1);
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(1)));
        queue.retry_at = Some(at(2));
        assert_eq!(queue.poll_timeout(Some(at(1))), Some(at(2)));
        assert_eq!(
            (queue.poll_timeout(Some(at(9))), queue.poll_timeout(None)),
            (Some(at(9)), None)
        );
    }

    #[test]
    fn bytes_that_a_full_queue_holds_up_wake_the_loop_and_an_idle_end_sleeps() {
        let at = Instant::from_millis;
        let (mut mux, mut queue) = (mux(Side::Client), PacketQueue::default());
        let mut deadline = |mux: &mut Mux| {
            assert_eq!(queue.room_beside(at(1), Some(UNSENT_BYTES_MAX + 1)), 0);
            mux.handle_blocked(at(1));
            queue.poll_timeout(mux.poll_timeout())
        };
        assert_eq!(deadline(&mut mux), None, "nothing is to be sent");
        let id = mux.open(at(0)).unwrap();
        mux.write(id, &[0; 65_536]).unwrap();
        assert_eq!(deadline(&mut mux), Some(at(1) + PAUSES[0].saturating_mul(2)), "a new stream");
        assert!(mux.poll_transmit(at(1)).is_some());
        assert_eq!(
            deadline(&mut mux),
            Some(at(1) + PAUSES[0].saturating_mul(4)),
            "the window's rest"
        );
        let last = (0..9).map(|_| deadline(&mut mux)).last().flatten();
        assert_eq!(last, Some(at(1) + PAUSES[1]));
        while mux.poll_transmit(at(1)).is_some() {}
        let probe = deadline(&mut mux);
        assert!(probe > Some(at(100)), "a full window waits for the peer: {probe:?}");
    }

    #[test]
    fn packets_for_an_ssh_without_room_have_no_deadline_until_it_has_some() {
        let at = Instant::from_millis;
        let (mut mux, mut queue) = (mux(Side::Client), PacketQueue::default());
        let id = mux.open(at(0)).unwrap();
        mux.write(id, &[0; 65_536]).unwrap();
        assert_eq!(queue.room_beside(at(1), Some(UNSENT_BYTES_MAX + 1)), 0);
        for is_sent in [false, true] {
            assert_eq!(queue.room_elsewhere(false), 0);
            mux.handle_blocked(at(2));
            assert_eq!(queue.poll_timeout(mux.poll_timeout()), None, "{is_sent}");
            assert_eq!(queue.room_elsewhere(true), 1);
            assert_eq!(mux.poll_transmit(at(3)).is_some(), !is_sent);
            while mux.poll_transmit(at(3)).is_some() {}
            let probe = mux.poll_timeout().expect("bytes are in flight");
            assert_eq!(queue.poll_timeout(Some(probe)), Some(probe));
        }
        assert_eq!((queue.room_elsewhere(false), queue.room_beside(at(9), Some(0))), (0, 1));
        assert_eq!(queue.poll_timeout(Some(at(9))), Some(at(9)), "packets go by UDP again");
    }

    #[test]
    fn more_packets_go_at_once_only_where_the_queue_is_empty_directly_after_some() {
        let at = Instant::from_millis;
        let mut queue = PacketQueue::default();
        let mut room = |time, unsent| queue.room_beside(at(time), unsent);
        // The first check at each time proves nothing, because the device had time to empty the queue.
        assert_eq!((1..9).map(|time| room(time, Some(0))).collect::<Vec<_>>(), [1; 8]);
        assert_eq!([0; 7].map(|unsent| room(8, Some(unsent))), [2, 4, 8, 16, 32, 44, 44]);
        assert_eq!((room(9, Some(0)), room(9, Some(1))), (44, 1));
        assert_eq!((room(9, Some(0)), room(9, Some(UNSENT_BYTES_MAX + 1))), (2, 0));
        assert_eq!((room(9, Some(0)), room(10, None), room(10, None)), (1, 1, 1));
    }
}
