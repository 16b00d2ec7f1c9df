//! Age of information: how old the newest state is that a receiver has.
//!
//! A [`Timeline`] notes when states were produced and when a receiver took them. A state counts as taken when it has been
//! applied, not when its datagram arrived. All is computed from these times alone, so they may be of a virtual clock or of
//! one that two programs share. Nothing is sampled: between two states taken, the age grows by a second each second.
//!
//! Source of the terms: Yates and others, *Age of Information: An Introduction and Survey* (2021).

use rove_runs::statistics::rank;
use rove_units::{Duration, Instant};

use crate::metrics::Pieces;

/// The times of a run: when states were produced, and when a receiver took them.
///
/// States are numbered from 0 in the order in which they were produced.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    produced: Vec<Instant>,
    /// When the receiver took each state that was newer than all its earlier ones, and the state's number.
    taken: Vec<(Instant, usize)>,
}

/// The ages of a run. Means are rounded down to a nanosecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Age {
    /// The time average of the age.
    pub mean: Duration,
    /// The average peak age: the mean of the ages just before a newer state was taken. Without any, the last age.
    pub mean_peak: Duration,
    /// The age that is not exceeded 95 % of the time.
    pub percentile_95: Duration,
    /// Timeline catch-up: for each state produced, how long until it or a newer one was taken, the shortest first.
    pub catch_up: Delays,
}

/// Delays of single states, the shortest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays(Vec<Duration>);

impl Timeline {
    /// Notes that a state was produced at `now`, and returns its number.
    ///
    /// # Panics
    ///
    /// Panics if time went back.
    pub fn produce(&mut self, now: Instant) -> usize {
        assert!(self.produced.last().is_none_or(|last| *last <= now), "time went back to {now}");
        self.produced.push(now);
        self.produced.len() - 1
    }

    /// Notes that the receiver took a state. A state that is not newer than all it had changes nothing. If it takes
    /// several at one instant, the newest counts.
    ///
    /// # Panics
    ///
    /// Panics if time went back, or the state was not produced before.
    pub fn take(&mut self, now: Instant, state: usize) {
        assert!(self.produced.get(state).is_some_and(|born| *born <= now), "no state {state} yet");
        if let Some((last, newest)) = self.taken.last() {
            assert!(*last <= now, "time went back to {now}");
            if *newest >= state {
                return;
            }
            if *last == now {
                self.taken.pop();
            }
        }
        self.taken.push((now, state));
    }

    /// Returns the ages between `from` and `until`, or the last state taken if that is later. Delays are those of
    /// states produced since `from`. `None` if no state was taken before the end.
    pub fn age(&self, from: Instant, until: Instant) -> Option<Age> {
        let (mut area_doubled, mut span) = (0, 0);
        let mut pieces = Pieces::default();
        let mut peaks = Vec::new();
        let (newest_at, newest) = *self.taken.last()?;
        let ends = self.taken.iter().skip(1).map(|(at, _)| *at).chain([until.max(newest_at)]);
        for ((before, held), at) in self.taken.iter().zip(ends) {
            let begin = (*before).max(from);
            if at <= begin {
                continue;
            }
            let born = self.produced[*held];
            let [least, peak] = [begin, at].map(|time| time.saturating_since(born));
            let width = at.saturating_since(begin);
            area_doubled += (least + peak).as_nanos() * width.as_nanos();
            span += width.as_nanos();
            pieces.push(least, width);
            if *held < newest || peaks.is_empty() {
                peaks.push(peak);
            }
        }
        if span == 0 {
            return None;
        }
        let first = self.produced.partition_point(|born| *born < from);
        Some(Age {
            mean: nanos(area_doubled / (2 * span)),
            mean_peak: Delays(peaks).mean()?,
            percentile_95: pieces.percentile(95)?,
            catch_up: self.catch_up(first, newest),
        })
    }

    /// Returns how long each state from `first` to `newest` waited until it or a newer one was taken.
    fn catch_up(&self, first: usize, newest: usize) -> Delays {
        let mut states = first..=newest;
        let mut delays = Vec::new();
        for (at, taken) in &self.taken {
            while !states.is_empty() && states.start() <= taken {
                let state = states.next().expect("it is not empty");
                delays.push(at.saturating_since(self.produced[state]));
            }
        }
        debug_assert!(states.is_empty(), "every state up to the newest one has its delay");
        delays.into_iter().collect()
    }
}

impl FromIterator<Duration> for Delays {
    /// Sorts the delays, which may be in any order.
    fn from_iter<I: IntoIterator<Item = Duration>>(delays: I) -> Self {
        let mut delays: Vec<Duration> = delays.into_iter().collect();
        delays.sort_unstable();
        Self(delays)
    }
}

impl Delays {
    /// Returns how many delays there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the mean, rounded down. `None` without delays.
    pub fn mean(&self) -> Option<Duration> {
        let sum: u128 = self.0.iter().map(Duration::as_nanos).sum();
        let count = u128::try_from(self.0.len()).ok().filter(|count| *count > 0)?;
        Some(nanos(sum / count))
    }

    /// Returns the delay that `percent` of the delays do not exceed. `None` without delays.
    pub fn percentile(&self, percent: u8) -> Option<Duration> {
        rank(&self.0, 0, u64::from(percent.min(100)))
    }
}

fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn timeline(produced: &[u64], taken: &[(u64, usize)]) -> Timeline {
        let mut timeline = Timeline::default();
        for born in produced {
            timeline.produce(Instant::from_millis(*born));
        }
        for (at, state) in taken {
            timeline.take(Instant::from_millis(*at), *state);
        }
        timeline
    }

    #[test]
    fn a_sawtooth_has_its_area_its_peaks_and_its_delays() {
        // The age grows from 20 ms to 50. State 2 brings it to 30, and it grows to 70. State 3 brings it to 30.
        let ages = timeline(&[0, 10, 20, 60, 99], &[(20, 0), (50, 2), (55, 1), (90, 3)]);
        let age = ages.age(Instant::ZERO, at(90)).expect("70 ms");
        assert_eq!(age.mean, Duration::from_nanos((35 * 30 + 50 * 40) * 1_000_000 / 70));
        assert_eq!(age.mean_peak, ms(60));
        // Ages from 20 to 70 ms occur once, and those from 30 to 50 ms twice. 95 % of the 70 ms are 66.5 ms.
        assert_eq!(age.percentile_95, Duration::from_micros(66_500));
        assert_eq!(age.catch_up, [20, 40, 30, 30].map(ms).into_iter().collect());
        assert_eq!(age.catch_up.percentile(50), Some(ms(30)));
        assert_eq!(age.catch_up.mean(), Some(ms(30)));
        // In the next 10 ms the age grows from 30 to 40 ms, and nothing else changes.
        let later = ages.age(Instant::ZERO, at(100)).expect("80 ms");
        assert_eq!(
            later.mean,
            Duration::from_nanos((35 * 30 + 50 * 40 + 35 * 10) * 1_000_000 / 80)
        );
        assert_eq!((later.mean_peak, later.catch_up), (age.mean_peak, age.catch_up));
    }

    #[test]
    fn a_run_may_be_looked_at_from_some_time_on() {
        let ages = timeline(&[0, 10, 20, 60], &[(20, 0), (50, 2), (90, 3)]);
        let late = ages.age(at(70), at(90)).expect("20 ms");
        assert_eq!((late.mean, late.mean_peak), (ms(60), ms(70)));
        assert_eq!(late.catch_up.count(), 0);
        assert_eq!(late.catch_up.mean(), None);
        assert_eq!(ages.age(at(90), at(90)), None);
        assert_eq!(timeline(&[0], &[(20, 0)]).age(Instant::ZERO, at(20)), None);
        let stuck = timeline(&[0], &[(20, 0)]).age(Instant::ZERO, at(40)).expect("20 ms");
        assert_eq!((stuck.mean, stuck.mean_peak), (ms(30), ms(40)));
        assert_eq!(Timeline::default().age(Instant::ZERO, at(90)), None);
    }

    #[test]
    #[should_panic(expected = "no state 1 yet")]
    fn a_state_is_produced_before_it_is_taken() {
        timeline(&[0], &[(20, 1)]);
    }

    /// Computes the ages by a sum over single nanoseconds.
    ///
    /// Returns also twice the age in the middle of each nanosecond, for the percentile.
    fn brute_force(
        produced: &[u64],
        taken: &[(u64, usize)],
        [from, more]: [u64; 2],
    ) -> Option<(Age, Vec<u64>)> {
        let newest_at =
            |time: u64| taken.iter().filter(|(at, _)| *at <= time).map(|(_, state)| *state).max();
        let newest = newest_at(u64::MAX)?;
        let end = taken.iter().find(|(_, state)| *state == newest)?.0 + more;
        let begin = taken.first()?.0.max(from);
        let (mut area_doubled, mut twice) = (0, Vec::new());
        for time in begin..end {
            let age = time - produced[newest_at(time)?];
            // Twice the age in the middle of this nanosecond, which is a whole number.
            area_doubled += 2 * age + 1;
            twice.push(2 * age + 1);
        }
        if twice.is_empty() {
            return None;
        }
        let peaks = (begin + 1..=end).filter_map(|time| {
            let (before, now) = (newest_at(time - 1)?, newest_at(time)?);
            (before != now).then(|| Duration::from_nanos(time - produced[before]))
        });
        let at_end = Duration::from_nanos(end - produced[newest]);
        let mean_peak = peaks.collect::<Delays>().mean().unwrap_or(at_end);
        let first = produced.partition_point(|born| *born < from);
        let catch_up = (first..=newest).filter_map(|state| {
            let at = taken.iter().filter(|(_, taken)| *taken >= state).map(|(at, _)| *at).min()?;
            Some(Duration::from_nanos(at - produced[state]))
        });
        let count = u64::try_from(twice.len()).ok()?;
        let age = Age {
            mean: Duration::from_nanos(area_doubled / (2 * count)),
            mean_peak,
            percentile_95: Duration::ZERO,
            catch_up: catch_up.collect(),
        };
        Some((age, twice))
    }

    proptest! {
        #[test]
        fn ages_are_those_of_a_sum_over_every_nanosecond(
            gaps in prop::collection::vec(0_u64..30, 1..20),
            delays in prop::collection::vec((any::<bool>(), 0_u64..80), 20),
            from in 0_u64..200,
            more in 0_u64..100,
        ) {
            let produced: Vec<u64> = gaps.iter().scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            }).collect();
            let mut taken: Vec<(u64, usize)> = produced.iter().zip(&delays).enumerate()
                .filter(|(_, (_, (arrives, _)))| *arrives)
                .map(|(state, (born, (_, delay)))| (born + delay, state))
                .collect();
            taken.sort_unstable();
            let mut timeline = Timeline::default();
            produced.iter().for_each(|born| {
                timeline.produce(Instant::from_nanos(*born));
            });
            taken.iter().for_each(|(at, state)| timeline.take(Instant::from_nanos(*at), *state));
            let until = timeline.taken.last().map_or(0, |(at, _)| at.as_nanos()) + more;
            let exact = timeline.age(Instant::from_nanos(from), Instant::from_nanos(until));
            let summed = brute_force(&produced, &taken, [from, more]);
            prop_assert_eq!(exact.is_some(), summed.is_some());
            if let (Some(exact), Some((summed, twice))) = (exact, summed) {
                let percentile = u64::try_from(exact.percentile_95.as_nanos()).expect("short");
                let below = |age: u64| twice.iter().filter(|it| **it <= 2 * age).count();
                let target = twice.len() * 95 / 100;
                prop_assert!(below(percentile) <= target && target <= below(percentile + 1));
                prop_assert_eq!(Age { percentile_95: Duration::ZERO, ..exact }, summed);
            }
        }
    }
}
