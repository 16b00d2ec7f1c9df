//! The serialiser sends one packet after the other at a constant rate, without bursts.

use rove_units::{BitRate, Bytes, Duration, Instant};

/// A bottleneck that sends packets at a constant rate, or in no time if `rate` is `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serialiser {
    pub(crate) rate: Option<BitRate>,
    /// When the current transmission ends.
    busy_until: Instant,
}

impl Serialiser {
    pub(crate) const fn new(rate: Option<BitRate>, busy_until: Instant) -> Self {
        Self { rate, busy_until }
    }

    /// Returns when the next transmission can begin.
    pub(crate) const fn free_at(&self) -> Instant {
        self.busy_until
    }

    /// Sends a packet from `start` on, and returns when the transmission ends.
    pub(crate) fn transmit(&mut self, start: Instant, size: Bytes) -> Instant {
        let busy = self.rate.map_or(Duration::ZERO, |rate| rate.transmission_time(size));
        debug_assert!(
            self.rate.is_none() || self.busy_until <= start,
            "transmissions do not overlap"
        );
        self.busy_until = self.busy_until.max(start + busy);
        start + busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_its_length_at_the_rate() {
        let mut serialiser =
            Serialiser::new(BitRate::from_bits_per_second(8_000), Instant::from_millis(5));
        let through = serialiser.transmit(Instant::from_millis(10), Bytes::new(100));
        assert_eq!((through, serialiser.free_at()), (Instant::from_millis(110), through));
        let mut wire = Serialiser::new(None, Instant::ZERO);
        assert_eq!(wire.transmit(Instant::from_millis(1), Bytes::MAX), Instant::from_millis(1));
    }
}
