//! The round-trip time, as RFC 9002, section 5, estimates it, and the times that follow from it.

use rove_units::Duration;

/// The round-trip time before the first sample. Source: RFC 9002, section 6.2.2.
const INITIAL: Duration = Duration::from_millis(333);

/// Longest time for which an end delays an acknowledgment. Source: the wire contract, docs/wire.md.
pub(crate) const ACK_DELAY_MAX: Duration = Duration::from_millis(25);

/// Least allowance for a timer's coarseness. Source: RFC 9002, section 6.1.2, kGranularity.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Estimates the round-trip time from samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
    latest: Duration,
    least: Duration,
}

impl Rtt {
    /// Adds a sample. `delay` is the time for which the peer says that it delayed the acknowledgment.
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

    /// Returns the smoothed round-trip time, or a guess before the first sample.
    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed.unwrap_or(INITIAL)
    }

    /// Returns at what age a packet counts as lost if a later one was acknowledged. Source: RFC 9002, section 6.1.2.
    pub(crate) fn loss_delay(&self) -> Duration {
        (self.smoothed().max(self.latest) * 9 / 8).max(GRANULARITY)
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
        // The peer's delay counts only up to its limit, and never brings a sample below the least one.
        rtt.handle_sample(ms(180), ms(100));
        assert_eq!(rtt.latest, ms(155));
        rtt.handle_sample(ms(90), ms(25));
        assert_eq!(rtt.latest, ms(90));
    }
}
