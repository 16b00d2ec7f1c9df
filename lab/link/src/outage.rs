//! Times at which a link carries nothing: outages at known times, and alternating on and off periods.

use std::sync::Arc;

use rove_units::{Duration, Instant, Stream};

use crate::chance::exponential;

/// Shortest mean length of an on or off period. Chosen: no radio changes faster, and an hour of such periods takes
/// milliseconds to compute.
pub const PERIOD_MIN: Duration = Duration::from_millis(1);

/// Outages of a link: packets that arrive during an outage are lost. An outage has a start and an end, and at its end
/// the link works again. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outages(Arc<[(Instant, Instant)]>);

/// A mistake in a list of outages or in the lengths of on and off periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutageError {
    /// An outage ends before it begins.
    #[error("outage {number} ends before it begins: write [start, end]")]
    Reversed {
        /// The number of the outage in the list, from 1.
        number: usize,
    },
    /// An outage begins before the outage listed above it has ended.
    #[error("outage {number} begins before the one above it is over: list them in order")]
    Overlapping {
        /// The number of the later outage in the list, from 1.
        number: usize,
    },
    /// The mean length of the on or the off periods is below [`PERIOD_MIN`].
    #[error("on and off periods last at least {PERIOD_MIN:?} in the mean")]
    PeriodTooShort,
}

impl Outages {
    /// Creates outages from pairs of start and end, as times of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if an outage ends before it begins, or begins before the one listed above it has ended.
    pub fn new(intervals: &[(Instant, Instant)]) -> Result<Self, OutageError> {
        let mut over = Instant::ZERO;
        for (number, (start, end)) in (1..).zip(intervals) {
            if end < start {
                return Err(OutageError::Reversed { number });
            }
            if *start < over {
                return Err(OutageError::Overlapping { number });
            }
            over = *end;
        }
        Ok(Self(intervals.into()))
    }

    /// Returns whether the list has no outage.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an outage covers this instant, so that the link is down.
    pub fn covers(&self, at: Instant) -> bool {
        let next = self.0.partition_point(|(_, end)| *end <= at);
        self.0.get(next).is_some_and(|(start, _)| *start <= at)
    }
}

/// Alternating periods in which the link works or carries nothing. In the first period, the link works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    on: Duration,
    off: Duration,
    length: PeriodLength,
}

/// The distribution of the length of on and off periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodLength {
    /// All periods are as long as the mean.
    Fixed,
    /// The lengths are exponentially distributed with the given mean.
    Exponential,
}

impl OnOff {
    /// Creates alternating periods with these mean lengths.
    ///
    /// # Errors
    ///
    /// Returns an error if a mean is shorter than [`PERIOD_MIN`].
    pub fn new(on: Duration, off: Duration, length: PeriodLength) -> Result<Self, OutageError> {
        if on.min(off) < PERIOD_MIN {
            return Err(OutageError::PeriodTooShort);
        }
        Ok(Self { on, off, length })
    }
}

/// Decides by outages and on-off periods which packets pass. It remembers the current period.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    chance: Stream,
    /// The model with exponential periods that `period` and `until` belong to. `None` before its first use.
    model: Option<OnOff>,
    /// The number of the current period. The link works in periods with even numbers.
    period: u64,
    /// When the current period ends.
    until: Instant,
}

impl Gate {
    pub(crate) fn new(chance: Stream) -> Self {
        Self { chance, model: None, period: 0, until: Instant::ZERO }
    }

    /// Returns whether a packet that arrives at `at` passes. Call this with ascending times.
    pub(crate) fn is_open(
        &mut self,
        outages: &Outages,
        on_off: Option<&OnOff>,
        at: Instant,
    ) -> bool {
        (outages.0.is_empty() || !outages.covers(at))
            && on_off.is_none_or(|model| self.is_on(model, at))
    }

    fn is_on(&mut self, model: &OnOff, at: Instant) -> bool {
        if model.length == PeriodLength::Fixed {
            let lap = model.on.saturating_add(model.off).as_nanos();
            return u128::from(at.as_nanos()) % lap < model.on.as_nanos();
        }
        if self.model != Some(*model) {
            *self = Self { model: Some(*model), ..Self::new(self.chance) };
            self.until = Instant::ZERO + self.length(model);
        }
        while self.until <= at {
            self.period += 1;
            self.until += self.length(model);
        }
        self.period.is_multiple_of(2)
    }

    /// Returns the length of the current period, a random number that depends on the period's number.
    fn length(&self, model: &OnOff) -> Duration {
        let mean = if self.period.is_multiple_of(2) { model.on } else { model.off };
        let nanos = mean.as_secs_f64() * exponential(self.chance.at(self.period));
        // A period lasts at least a nanosecond, so that the loop over periods ends.
        Duration::try_from_secs_f64(nanos).unwrap_or(Duration::MAX).max(Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn gate() -> Gate {
        Gate::new(Seed::new(9).stream("gate"))
    }

    #[test]
    fn an_outage_begins_with_its_start_and_is_over_at_its_end() {
        let outages =
            Outages::new(&[(at(10), at(20)), (at(20), at(25)), (at(40), at(41))]).unwrap();
        let covered: Vec<u64> = (0..50).filter(|millis| outages.covers(at(*millis))).collect();
        assert_eq!(covered, (10..25).chain([40]).collect::<Vec<_>>());
        assert!(!Outages::default().covers(at(0)));
    }

    #[test]
    fn outages_out_of_order_are_refused_by_number() {
        let reversed = Outages::new(&[(at(1), at(2)), (at(5), at(4))]);
        assert_eq!(reversed, Err(OutageError::Reversed { number: 2 }));
        let overlapping = Outages::new(&[(at(1), at(5)), (at(4), at(6))]);
        assert_eq!(overlapping, Err(OutageError::Overlapping { number: 2 }));
    }

    #[test]
    fn fixed_periods_alternate_and_begin_on() {
        let model = OnOff::new(ms(3), ms(2), PeriodLength::Fixed).unwrap();
        let mut gate = gate();
        let on: String = (0..12)
            .map(|millis| gate.is_open(&Outages::default(), Some(&model), at(millis)))
            .map(|is_open| if is_open { '1' } else { '0' })
            .collect();
        assert_eq!(on, "111001110011");
    }

    #[test]
    fn exponential_periods_are_on_for_their_share_whatever_is_asked() {
        let model = OnOff::new(ms(300), ms(100), PeriodLength::Exponential).unwrap();
        let asked = |step: usize| -> Vec<bool> {
            let mut gate = gate();
            let times = (0..4_000_000).step_by(step);
            times
                .map(|millis| gate.is_open(&Outages::default(), Some(&model), at(millis)))
                .collect()
        };
        let (often, seldom) = (asked(10), asked(250));
        let on = often.iter().filter(|on| **on).count();
        // 10 000 pairs of periods: the standard deviation of the share is 0.0037.
        assert!((294_000..306_000).contains(&on), "on at {on} of 400000 times");
        assert_eq!(seldom, often.into_iter().step_by(25).collect::<Vec<_>>());
    }

    #[test]
    fn periods_have_a_least_length() {
        let just = OnOff::new(PERIOD_MIN, PERIOD_MIN, PeriodLength::Exponential);
        assert!(just.is_ok());
        let short = PERIOD_MIN - Duration::from_nanos(1);
        let refused = OnOff::new(PERIOD_MIN, short, PeriodLength::Fixed);
        assert_eq!(refused, Err(OutageError::PeriodTooShort));
    }
}
