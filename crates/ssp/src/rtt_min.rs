//! The shortest recent round trip: the time that the path takes without a queue.

use rove_units::{Duration, Instant};

/// Shortest time for which a minimum counts; the longest is twice this. Chosen: a longer route is recognised within a
/// minute. A queue that stays for a minute counts as part of the path.
const WINDOW: Duration = Duration::from_secs(30);

/// The shortest samples of the present window and of the previous one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttMin {
    began_at: Option<Instant>,
    current: Option<Duration>,
    previous: Option<Duration>,
}

impl RttMin {
    pub(crate) fn handle_sample(&mut self, now: Instant, sample: Duration) {
        if self.began_at.is_none_or(|began_at| began_at + WINDOW <= now) {
            self.began_at = Some(now);
            self.previous = self.current.take();
        }
        self.current = Some(self.current.map_or(sample, |current| current.min(sample)));
    }

    /// Returns the shortest round trip of the present window and the previous one. `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.current.into_iter().chain(self.previous).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_sample_counts_until_the_next_window_is_over() {
        let mut min = RttMin::default();
        assert_eq!(min.get(), None);
        for (at, sample, shortest) in [
            (0, 100, 100),
            (1_000, 120, 100),
            (2_000, 90, 90),
            (29_999, 300, 90),
            (30_000, 300, 90),
            (59_999, 250, 90),
            (60_000, 260, 250),
            (200_000, 400, 260),
        ] {
            min.handle_sample(Instant::from_millis(at), Duration::from_millis(sample));
            assert_eq!(min.get(), Some(Duration::from_millis(shortest)), "at {at}");
        }
    }
}
