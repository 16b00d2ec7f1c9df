//! When the packets of an acknowledgment arrived, by the peer's clock.

use std::collections::BTreeMap;

use rove_units::{Duration, Instant};

use crate::frame::AckFrame;

/// The arrival times of acknowledged packets, by the peer's clock.
#[derive(Debug)]
pub(crate) struct ArrivalTimes {
    newest: Instant,
    oldest: Instant,
    by_number: BTreeMap<u64, Instant>,
}

impl ArrivalTimes {
    /// Reads the times in an acknowledgment. `peer_now` is when the peer sent it, by the peer's clock.
    pub(crate) fn new(ack: &AckFrame, peer_now: Instant) -> Self {
        let newest = peer_now - Duration::from_micros(ack.delay_micros);
        let numbers = ack.numbers().unwrap_or_default();
        let mut numbers = numbers.into_iter().flat_map(|(low, high)| (low..=high).rev());
        let mut oldest = newest;
        let mut by_number: BTreeMap<u64, Instant> =
            numbers.next().map(|it| (it, newest)).into_iter().collect();
        for (number, difference) in numbers.zip(&ack.differences_micros) {
            let span = Duration::from_micros(difference.unsigned_abs());
            oldest = if *difference < 0 { oldest + span } else { oldest - span };
            by_number.insert(number, oldest);
        }
        Self { newest, oldest, by_number }
    }

    /// Returns when a packet arrived. A packet without a reported time counts as arrived with the lowest number that
    /// has one.
    pub(crate) fn of(&self, number: u64) -> Instant {
        self.by_number.get(&number).copied().unwrap_or(self.oldest)
    }

    /// Returns how long the peer delayed the acknowledgment of a packet. `delay` is its delay for the highest number.
    pub(crate) fn held(&self, number: u64, delay: Duration) -> Duration {
        (self.newest + delay).saturating_since(self.of(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrival_times_are_read_from_the_differences() {
        let differences_micros = vec![1_000, -500, 2_000];
        let ranges = vec![(0, 2), (3, 3)];
        let frame = AckFrame { largest: 9, delay_micros: 100, ranges, differences_micros };
        let times = ArrivalTimes::new(&frame, Instant::from_millis(10));
        let micros: Vec<u64> =
            [9, 8, 4, 3, 2].iter().map(|it| times.of(*it).as_nanos() / 1_000).collect();
        assert_eq!(micros, [9_900, 8_900, 9_400, 7_400, 7_400]);
        assert_eq!(times.held(8, Duration::from_micros(100)), Duration::from_micros(1_100));
        let frame = AckFrame { ranges: vec![(0, 2)], differences_micros: vec![-2_000], ..frame };
        let times = ArrivalTimes::new(&frame, Instant::from_millis(10));
        let held = times.held(8, Duration::from_micros(3_000));
        assert_eq!(
            held,
            Duration::from_micros(1_000),
            "it came after the one with the highest number"
        );
    }
}
