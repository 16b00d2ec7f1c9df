//! The least round-trip time measured on a path: its round-trip time without a queue.

use rove_units::{Duration, Instant};

/// Time after which the least sample expires. Source: BBR (Cardwell et al., ACM Queue 2016), `RTpropFilterLen`.
const LIFETIME: Duration = Duration::from_secs(10);

/// Shortest time for which the window shrinks to empty the queue. Source: BBR, `ProbeRTTDuration`.
const PROBE: Duration = Duration::from_millis(200);

/// The least round-trip time that a flow has measured recently. With a permanent queue, each sample has the queue's
/// delay. So after 10 s without an equally low sample, the window must shrink for a moment ([`BaseRtt::is_probing`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseRtt {
    least: Option<Duration>,
    seen_at: Instant,
    probe: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    ends: Instant,
    least: Option<Duration>,
}

impl BaseRtt {
    pub(crate) fn update(&mut self, now: Instant, sample: Duration) {
        if self.least.is_none_or(|least| sample <= least) {
            (self.least, self.seen_at, self.probe) = (Some(sample), now, None);
        }
        let lifetime = now.saturating_since(self.seen_at);
        let new = || Probe { ends: now + PROBE.max(2 * sample), least: None };
        let Some(mut probe) = self.probe.or_else(|| (lifetime > LIFETIME).then(new)) else {
            return;
        };
        probe.least = Some(probe.least.map_or(sample, |least| least.min(sample)));
        if now >= probe.ends {
            (self.least, self.seen_at, self.probe) = (probe.least, now, None);
        } else {
            self.probe = Some(probe);
        }
    }

    /// Returns the least round-trip time since the last complete probe began. `None` before the first sample.
    pub(crate) const fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Returns whether the window must shrink, so that the queue empties and the path can be measured.
    pub(crate) const fn is_probing(&self) -> bool {
        self.probe.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_sample_counts_at_once_and_a_higher_one_after_a_probe() {
        let mut base = BaseRtt::default();
        let ms = Duration::from_millis;
        base.update(Instant::ZERO, ms(50));
        base.update(Instant::from_millis(5_000), ms(40));
        assert_eq!((base.least(), base.is_probing()), (Some(ms(40)), false));
        base.update(Instant::from_millis(14_999), ms(90));
        assert_eq!((base.least(), base.is_probing()), (Some(ms(40)), false));
        base.update(Instant::from_millis(15_001), ms(90));
        assert_eq!((base.least(), base.is_probing()), (Some(ms(40)), true));
        base.update(Instant::from_millis(15_100), ms(60));
        base.update(Instant::from_millis(15_300), ms(70));
        assert_eq!((base.least(), base.is_probing()), (Some(ms(60)), false));
    }
}
