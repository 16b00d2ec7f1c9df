//! Times at which a link carries nothing: outages at known times, and on/off periods.

use std::sync::Arc;

use rove_units::{Duration, Instant, Stream};

use crate::chance::exponential;

/// Shortest mean of an on or off period.
/// Chosen: no radio changes faster, and an hour of them takes milliseconds to step through.
pub const PERIOD_MIN: Duration = Duration::from_millis(1);

/// Times without a link: packets that arrive in one are lost. Each outage is a pair of instants, its start and its end; the link is
/// back at the end. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outages(Arc<[(Instant, Instant)]>);

/// A mistake in a list of outages or a pair of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutageError {
    /// An outage ends before it begins.
    #[error("outage {number} ends before it begins: write [start, end]")]
    Reversed {
        /// Its number in the list, from 1.
        number: usize,
    },
    /// An outage begins before the one listed above it is over.
    #[error("outage {number} begins before the one above it is over: list them in order")]
    Overlapping {
        /// Its number in the list, from 1.
        number: usize,
    },
    /// The mean of the on or the off periods is too short.
    #[error("on and off periods last at least {PERIOD_MIN:?} in the mean")]
    PeriodTooShort,
}

impl Outages {
    /// Creates outages from their starts and ends, on the clock of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if one ends before it begins or begins before the one listed before it has ended.
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

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there is no link at this instant.
    pub fn covers(&self, at: Instant) -> bool {
        let next = self.0.partition_point(|(_, end)| *end <= at);
        self.0.get(next).is_some_and(|(start, _)| *start <= at)
    }
}

/// A link that is on and off in turn, beginning on at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    on: Duration,
    off: Duration,
    length: PeriodLength,
}

/// How long periods last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodLength {
    /// All as long as the mean.
    Fixed,
    /// Exponentially distributed around the mean.
    Exponential,
}

impl OnOff {
    /// Creates a link that is on and off for these times in the mean.
    ///
    /// # Errors
    ///
    /// Returns an error if one is shorter than [`PERIOD_MIN`].
    pub fn new(on: Duration, off: Duration, length: PeriodLength) -> Result<Self, OutageError> {
        if on.min(off) < PERIOD_MIN {
            return Err(OutageError::PeriodTooShort);
        }
        Ok(Self { on, off, length })
    }
}

/// The way through outages: where in the on and off periods the link is.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    chance: Stream,
    /// The periods that `period` and `until` belong to.
    model: Option<OnOff>,
    /// The number of the current period; even ones are on.
    period: u64,
    /// When the current period is over.
    until: Instant,
}

impl Gate {
    pub(crate) fn new(chance: Stream) -> Self {
        Self { chance, model: None, period: 0, until: Instant::ZERO }
    }

    /// Returns whether a packet that comes at `at` gets through. To be called with times in order.
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

    /// Returns how long the current period lasts, by its number.
    fn length(&self, model: &OnOff) -> Duration {
        let mean = if self.period.is_multiple_of(2) { model.on } else { model.off };
        let nanos = mean.as_secs_f64() * exponential(self.chance.at(self.period));
        // A period has at least a nanosecond, so that time moves on.
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
