//! The round-trip time, as RFC 9002, section 5, estimates it, and the times that follow from it.

use rove_units::Duration;

/// The round-trip time before the first sample. Source: RFC 9002, section 6.2.2.
const INITIAL: Duration = Duration::from_millis(333);

/// Longest time for which an end delays an acknowledgment. Source: the wire contract, docs/wire.md.
pub(crate) const ACK_DELAY_MAX: Duration = Duration::from_millis(25);

/// The reordering window exceeds a packet's lateness by the lateness divided by this. Chosen: with a quarter, copies
/// with 2 % loss and 20 ms of jitter take an eighth less time than without this excess.
const LATE_PART: u32 = 4;

/// Least allowance for a timer's coarseness. Source: RFC 9002, section 6.1.2, kGranularity.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Estimates the round-trip time from samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
    latest: Duration,
    least: Duration,
    /// The reordering window: how much longer than a round trip the acknowledgment of an overtaken packet may take.
    /// Zero while the path keeps the order.
    reordering: Duration,
}

impl Rtt {
    /// Adds a sample. `delay` is the acknowledgment's delay at the peer, as the peer states it.
    pub(crate) fn handle_sample(&mut self, sample: Duration, delay: Duration) {
        self.least = if self.smoothed.is_none() { sample } else { self.least.min(sample) };
        let held = delay.min(ACK_DELAY_MAX);
        let sample = if sample >= self.least + held { sample - held } else { sample };
        self.latest = sample;
        let Some(smoothed) = self.smoothed else {
            (self.smoothed, self.variation) = (Some(sample), sample / 2);
            return;
        };
        self.variation = (self.variation * 3 + smoothed.abs_diff(sample)) / 4;
        self.smoothed = Some((smoothed * 7 + sample) / 8);
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub(crate) const fn sampled(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Returns the smoothed round-trip time, or [`INITIAL`] before the first sample.
    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed.unwrap_or(INITIAL)
    }

    /// Returns the age at which a packet counts as lost if a later packet was acknowledged. Source: RFC 9002, section
    /// 6.1.2, and RFC 8985, section 6.2, step 4: the reordering window is at most a round trip.
    pub(crate) fn loss_delay(&self) -> Duration {
        let base = self.smoothed().max(self.latest);
        (base + (base / 8).max(self.reordering.min(self.smoothed()))).max(GRANULARITY)
    }

    /// Returns whether the path reorders. If so, a packet's age shows that it is lost, and its number does not.
    pub(crate) const fn is_reordered(&self) -> bool {
        !self.reordering.is_zero()
    }

    /// Adds a packet of this age that was acknowledged after a later one. If it had counted as lost, the path reorders.
    pub(crate) fn handle_late(&mut self, age: Duration, was_lost: bool) {
        if was_lost || self.is_reordered() {
            let late = age.saturating_sub(self.smoothed().max(self.latest));
            self.reordering = self.reordering.max(late + late / LATE_PART).max(GRANULARITY);
        }
    }

    /// Shrinks the reordering window, because a lost packet has not arrived after all.
    pub(crate) fn handle_loss(&mut self) {
        let left = self.reordering.min(self.smoothed()) * 7 / 8;
        self.reordering = if left < GRANULARITY / 8 { Duration::ZERO } else { left };
    }

    /// Returns how long an acknowledgment may take until this end sends a probe. Source: RFC 9002, section 6.2.1.
    pub(crate) fn probe_timeout(&self) -> Duration {
        let variation = if self.smoothed.is_some() { self.variation } else { INITIAL / 2 };
        self.smoothed() + (variation * 4).max(GRANULARITY) + ACK_DELAY_MAX
    }

    /// Returns how long this end may delay an acknowledgment. Source: the wire contract, docs/wire.md. Without the
    /// minimum, each packet over a loopback would get a separate acknowledgment.
    pub(crate) fn ack_delay(&self) -> Duration {
        (self.smoothed() / 4).clamp(GRANULARITY, ACK_DELAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_follow_rfc_9002() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::default();
        assert_eq!((rtt.sampled(), rtt.ack_delay()), (None, ACK_DELAY_MAX));
        rtt.handle_sample(ms(80), ms(0));
        assert_eq!((rtt.smoothed(), rtt.loss_delay()), (ms(80), ms(90)));
        assert_eq!((rtt.probe_timeout(), rtt.ack_delay()), (ms(80 + 160 + 25), ms(20)));
        // The peer's delay counts only up to its limit, and never makes a sample shorter than the least sample.
        rtt.handle_sample(ms(180), ms(100));
        assert_eq!(rtt.latest, ms(155));
        rtt.handle_sample(ms(90), ms(25));
        assert_eq!(rtt.latest, ms(90));
    }

    #[test]
    fn the_reordering_window_holds_a_late_packet_and_no_more_than_a_round_trip() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::default();
        rtt.handle_sample(ms(80), ms(0));
        rtt.handle_late(ms(100), false);
        assert!(!rtt.is_reordered(), "no packet was lost because of it");
        for (age, delay) in [(70, 90), (100, 105), (90, 105), (120, 130), (9_000, 160)] {
            rtt.handle_late(ms(age), true);
            assert_eq!((rtt.is_reordered(), rtt.loss_delay()), (true, ms(delay)), "{age} ms");
        }
        rtt.handle_loss();
        assert_eq!(rtt.loss_delay(), ms(150));
    }
}
