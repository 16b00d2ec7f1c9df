//! The lead: how long before a departure the thread wakes up, so that it is awake in time.

use rove_units::Duration;

/// Longest time before a departure at which the link's thread wakes up. Chosen: what idle processors of a virtual
/// machine need to wake (0.03 to 0.05 ms), and no more of a processor than waking itself costs.
const LEAD_MAX: Duration = Duration::from_micros(50);
/// How far the lead grows after a wake-up that was later than the lead, and shrinks after any other. So three of four
/// wake-ups are later. Chosen: the median departure is then 4 us late, and the thread hardly spins. If three of four
/// came earlier, it would be 3 us late, for a percent more of a processor at 4000 packets per second.
const LATER: Duration = Duration::from_nanos(100);
const EARLIER: Duration = Duration::from_nanos(300);

/// A running estimate of how late timers wake this thread: the first quartile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lead {
    length: Duration,
}

impl Lead {
    /// Returns how long before a departure a wait should end.
    pub(super) const fn length(&self) -> Duration {
        self.length
    }

    /// Adjusts the lead after a timer that woke the thread `late`.
    pub(super) fn observe(&mut self, late: Duration) {
        self.length = if late > self.length {
            (self.length + LATER).min(LEAD_MAX)
        } else {
            self.length.saturating_sub(EARLIER)
        };
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    #[test]
    fn the_lead_settles_at_the_first_quartile_and_follows_a_change() {
        let mut lead = Lead::default();
        assert_eq!(lead.length(), Duration::ZERO);
        let stream = Seed::new(1).stream("lateness");
        for (range, from, to) in [(40.0, 8, 12), (20.0, 4, 6), (400.0, 49, 50)] {
            (0..10_000).for_each(|number| {
                let late = stream.at(number).unit() * range;
                lead.observe(Duration::from_secs_f64(late * 1e-6));
            });
            let length = lead.length();
            let expected = Duration::from_micros(from)..=Duration::from_micros(to);
            assert!(expected.contains(&length), "{range}: {length:?}");
        }
    }
}
