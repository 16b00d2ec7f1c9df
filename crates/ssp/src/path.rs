//! What an end knows of the path to its peer, counted for people to look at. No decision hangs on it.

use rove_units::{Bytes, Duration, Instant};

/// How many of the newest sequence numbers the recent loss is of. Chosen: what a typing user causes in
/// some seconds, and one bit each of a number.
const RECENT: u32 = u128::BITS;

/// Datagrams and what was in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub datagrams: u64,
    /// Their UDP payloads.
    pub bytes: Bytes,
}

/// How much of what the peer sent did not arrive. What is late, and not lost, counts until it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Sequence numbers the peer has used, as far as is known.
    pub sent: u64,
    /// Those of them that have not arrived.
    pub missing: u64,
    /// How many of the newest `recent_missing` is of.
    pub recent_sent: u32,
    /// Those of the newest that have not arrived.
    pub recent_missing: u32,
}

/// The path to the peer, as this end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// How far samples are from it; `None` before the first.
    pub rttvar: Option<Duration>,
    /// The loss on the way here.
    pub loss: Loss,
    /// What was sealed for the peer.
    pub sent: Traffic,
    /// What was authentic.
    pub received: Traffic,
    /// When the newest datagram arrived; `None` before the first.
    pub heard_at: Option<Instant>,
    /// How often a client has changed its local port.
    pub hops: u64,
}

/// Which sequence numbers have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// The lowest number above all that have arrived.
    next: u64,
    /// How many different numbers have arrived; one that comes behind [`RECENT`] newer ones is not counted.
    count: u64,
    /// Bit 0 is the number below `next`, bit 1 the one below that.
    recent: u128,
}

impl Traffic {
    pub(crate) fn count(&mut self, payload_len: usize) {
        let bytes = u64::try_from(payload_len).expect("a datagram's length");
        self.datagrams += 1;
        self.bytes = Bytes::new(self.bytes.get() + bytes);
    }
}

impl Arrivals {
    pub(crate) fn handle(&mut self, seq: u64) {
        let bit = if seq >= self.next {
            let ahead = u32::try_from(seq - self.next + 1).unwrap_or(u32::MAX);
            self.recent = self.recent.checked_shl(ahead).unwrap_or(0);
            self.next = seq + 1;
            1
        } else {
            let behind = u32::try_from(self.next - 1 - seq).unwrap_or(u32::MAX);
            1_u128.checked_shl(behind).unwrap_or(0)
        };
        if bit != 0 && self.recent & bit == 0 {
            self.recent |= bit;
            self.count += 1;
        }
    }

    pub(crate) fn loss(&self) -> Loss {
        let recent_sent = u32::try_from(self.next).unwrap_or(u32::MAX).min(RECENT);
        Loss {
            sent: self.next,
            missing: self.next - self.count,
            recent_sent,
            recent_missing: recent_sent - self.recent.count_ones(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(arrivals: impl IntoIterator<Item = u64>) -> (u64, u64, u32, u32) {
        let mut seen = Arrivals::default();
        arrivals.into_iter().for_each(|seq| seen.handle(seq));
        let Loss { sent, missing, recent_sent, recent_missing } = seen.loss();
        (sent, missing, recent_sent, recent_missing)
    }

    #[test]
    fn what_does_not_arrive_is_missing_and_what_comes_late_or_twice_is_not() {
        for (arrivals, wanted) in [
            (vec![], (0, 0, 0, 0)),
            (vec![0, 1, 2], (3, 0, 3, 0)),
            (vec![0, 3], (4, 2, 4, 2)),
            (vec![0, 3, 2, 1], (4, 0, 4, 0)),
            (vec![0, 0, 0], (1, 0, 1, 0)),
            (vec![5], (6, 5, 6, 5)),
        ] {
            assert_eq!(loss(arrivals.clone()), wanted, "{arrivals:?}");
        }
    }

    #[test]
    fn the_recent_loss_forgets_what_is_older() {
        assert_eq!(loss([0, 2].into_iter().chain(3..129)), (129, 1, 128, 1));
        assert_eq!(loss([0, 2].into_iter().chain(3..130)), (130, 1, 128, 0));
        // 127 behind is still known, 128 behind is too late.
        assert_eq!(loss((1..128).chain([0])), (128, 0, 128, 0));
        assert_eq!(loss((1..129).chain([0])), (129, 1, 128, 0));
        assert_eq!(loss([0, 1000]), (1001, 999, 128, 127));
        assert_eq!(loss([(1 << 47) - 1, 0]).1, (1 << 47) - 1);
    }
}
