//! The echo of the peer's newest timestamp, from which the peer measures the round trip.

use rove_units::{Duration, Instant};

use crate::datagram::{Ecn, Timestamp16};

/// How long after its arrival a timestamp is still echoed. Source: Mosh 1.4.0 as observed, docs/wire.md; Mosh paper
/// (USENIX ATC 2012), section 2.2.
const TIMESTAMP_HELD_MAX: Duration = Duration::from_secs(1);

/// Milliseconds by which a timestamp is made older if its datagram met congestion. The peer then measures a longer
/// round trip and slows down. Source: Mosh 1.4.0 as observed, docs/wire.md.
const CONGESTION_PENALTY_MILLIS: u16 = 500;

/// The peer's newest timestamp, to be echoed once, and when it arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimestampEcho(Option<(u16, Instant)>);

impl TimestampEcho {
    /// Keeps the timestamp of a datagram that is newer than all that have arrived.
    pub(crate) fn hold(&mut self, now: Instant, timestamp: Timestamp16, ecn: Ecn) {
        let penalty = if ecn == Ecn::CongestionExperienced { CONGESTION_PENALTY_MILLIS } else { 0 };
        self.0 = Some((timestamp.get().wrapping_sub(penalty), now));
    }

    /// Returns the echo, once for each timestamp and only within [`TIMESTAMP_HELD_MAX`]; else `None`. The time for
    /// which this end held the timestamp is added, so that a delayed acknowledgment does not look like a slow path.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Timestamp16> {
        let (bits, arrived_at) = self.0?;
        let age = now.as_millis().saturating_sub(arrived_at.as_millis());
        if Duration::from_millis(age) >= TIMESTAMP_HELD_MAX {
            return None;
        }
        self.0 = None;
        let age = u16::try_from(age).expect("below TIMESTAMP_HELD_MAX");
        Timestamp16::new(bits.wrapping_add(age))
    }
}
