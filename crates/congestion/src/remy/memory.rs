//! Memory: the congestion signals that a RemyCC sender measures on a flow.

use rove_units::Instant;

/// Number of congestion signals.
pub const AXES: usize = 4;

/// Weight of a new sample in the moving averages. Source: Remy paper (SIGCOMM 2013), section 4.1.
const WEIGHT: f64 = 1.0 / 8.0;

/// Weight of a new sample in the slow moving average. Source: tables of the learnability paper (SIGCOMM 2014).
const SLOW_WEIGHT: f64 = 1.0 / 256.0;

/// A congestion signal, which is one axis of the space that the rules divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Moving average of the time between the sendings of acknowledged packets, in ms.
    SendEwma,
    /// Moving average of the time between the arrivals of acknowledged packets, in ms.
    AckEwma,
    /// Ratio of the last round-trip time to the least of the flow, 1 or more; 0 before the second packet.
    RttRatio,
    /// Slow moving average of the time between the arrivals of acknowledged packets, in ms (tables of 2014).
    SlowAckEwma,
}

impl Axis {
    /// All signals, in the order of their declaration and of a [`Memory`].
    pub const ALL: [Self; AXES] =
        [Self::SendEwma, Self::AckEwma, Self::RttRatio, Self::SlowAckEwma];

    /// Returns the index of the signal in a [`Memory`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name of the signal, which includes the unit of its values.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendEwma => "send_ewma_ms",
            Self::AckEwma => "ack_ewma_ms",
            Self::RttRatio => "rtt_ratio",
            Self::SlowAckEwma => "slow_ack_ewma_ms",
        }
    }
}

/// The values of all signals of a flow at one moment. When a flow begins, all are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory(pub [f64; AXES]);

impl Memory {
    /// Returns the value of one signal.
    pub const fn get(&self, axis: Axis) -> f64 {
        self.0[axis.index()]
    }
}

/// Updates the [`Memory`] of one flow.
#[derive(Clone, Debug, Default)]
pub struct MemoryTracker {
    memory: Memory,
    /// When the packet that was acknowledged last was sent and received. `None` before the first acknowledgment.
    last: Option<(Instant, Instant)>,
    rtt_min_ms: f64,
}

impl MemoryTracker {
    /// Returns the current values of all signals.
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Updates the signals when a packet of this flow is acknowledged. After the first packet all signals are still
    /// zero, because there is no earlier packet for a comparison.
    pub fn acknowledge(&mut self, sent: Instant, received: Instant) {
        let rtt_ms = millis(sent, received);
        let Some((last_sent, last_received)) = self.last.replace((sent, received)) else {
            self.rtt_min_ms = rtt_ms;
            return;
        };
        self.rtt_min_ms = self.rtt_min_ms.min(rtt_ms);
        let sent_gap = millis(last_sent, sent);
        let received_gap = millis(last_received, received);
        let [send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma] = &mut self.memory.0;
        *send_ewma += WEIGHT * (sent_gap - *send_ewma);
        *ack_ewma += WEIGHT * (received_gap - *ack_ewma);
        *slow_ack_ewma += SLOW_WEIGHT * (received_gap - *slow_ack_ewma);
        // The ratio of two round trips of zero length counts as 1.
        *rtt_ratio =
            if rtt_ms > self.rtt_min_ms { rtt_ms / self.rtt_min_ms.max(1e-6) } else { 1.0 };
    }
}

/// Returns the time from `from` to `to` in ms; zero if `to` is earlier.
fn millis(from: Instant, to: Instant) -> f64 {
    to.as_nanos().saturating_sub(from.as_nanos()) as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_first_packet_of_a_flow_leaves_every_signal_at_zero() {
        let mut tracker = MemoryTracker::default();
        tracker.acknowledge(at(10), at(110));
        assert_eq!(*tracker.memory(), Memory::default());
    }

    #[test]
    fn signals_follow_their_definitions_step_by_step() {
        let mut tracker = MemoryTracker::default();
        for (sent, received) in [(10, 110), (18, 126), (20, 118)] {
            tracker.acknowledge(at(sent), at(received));
        }
        // The second packet was sent 8 ms and received 16 ms after the first, so the ratio is 108 ms to 100 ms. The
        // third was received before the second. Its gap counts as zero, and its round trip of 98 ms is the least.
        let expected = [
            8.0 / 8.0 * 7.0 / 8.0 + 2.0 / 8.0,
            16.0 / 8.0 * 7.0 / 8.0,
            1.0,
            16.0 / 256.0 * 255.0 / 256.0,
        ];
        for (axis, expected) in Axis::ALL.into_iter().zip(expected) {
            let got = tracker.memory().get(axis);
            assert!((got - expected).abs() < 1e-12, "{}: {got}, not {expected}", axis.name());
        }
        tracker.acknowledge(at(30), at(177));
        assert!((tracker.memory().get(Axis::RttRatio) - 1.5).abs() < 1e-12);
    }
}
