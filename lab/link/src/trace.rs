//! Recorded delivery opportunities: the times at which a real link could carry a packet.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use rove_units::{Bytes, Duration, Instant};

/// Bytes that a delivery opportunity carries: whole packets or parts of packets, headers included. Source: the Mahimahi
/// manual, mm-link(1).
pub const OPPORTUNITY: Bytes = Bytes::new(1500);

/// Most delivery opportunities of a trace. Chosen: 16 MiB of memory, and an hour of 12 Mbit/s.
pub(crate) const OPPORTUNITIES_MAX: usize = 4 << 20;

/// Times at which a link can carry [`OPPORTUNITY`] bytes, or as many as [`Schedule::opportunity`] states. The last time
/// is also the period after which a trace may repeat.
///
/// The text form has a line for each opportunity: its time in milliseconds from the start, in ascending order. Clones
/// share the entries.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    millis: Arc<[u32]>,
    period: u32,
}

/// A mistake in a trace or its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is not a number of milliseconds.
    #[error("line {line} is no number of milliseconds: a whole number from 0 to {max} is expected", max = u32::MAX)]
    NoNumber {
        /// The number of the line, from 1.
        line: usize,
    },
    /// The time in a line is before the time in the line above.
    #[error("line {line} is before the line above it: times are expected in order")]
    Decreasing {
        /// The number of the line, from 1.
        line: usize,
    },
    /// There is no opportunity.
    #[error("it is empty: a line for each delivery opportunity is expected")]
    Empty,
    /// The last time is zero, so the trace has no period.
    #[error("its last line is not above zero, so it has no length")]
    NoPeriod,
    /// There are more opportunities than a trace may have, or a synthetic trace is longer than 49 days.
    #[error("it has more than {OPPORTUNITIES_MAX} lines")]
    TooLong,
}

impl Trace {
    /// Creates a trace from the times of its opportunities, in milliseconds.
    ///
    /// # Errors
    ///
    /// Returns an error if the times are out of order, too many or all zero, or if there are none.
    pub fn from_millis(millis: Vec<u32>) -> Result<Self, TraceError> {
        let lines = (1..).zip(millis.windows(2));
        if let Some((line, _)) = lines.into_iter().find(|(_, pair)| pair[0] > pair[1]) {
            return Err(TraceError::Decreasing { line: line + 1 });
        }
        if millis.len() > OPPORTUNITIES_MAX {
            return Err(TraceError::TooLong);
        }
        let period = *millis.last().ok_or(TraceError::Empty)?;
        if period == 0 {
            return Err(TraceError::NoPeriod);
        }
        Ok(Self { millis: millis.into(), period })
    }

    /// Returns the times of the opportunities of one period, from the start of the trace.
    pub fn times(&self) -> impl ExactSizeIterator<Item = Duration> + '_ {
        self.millis.iter().map(|millis| Duration::from_millis((*millis).into()))
    }

    /// Returns the length of the trace, after which it may repeat.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period.into())
    }

    fn len(&self) -> u64 {
        u64::try_from(self.millis.len()).unwrap_or(u64::MAX)
    }

    /// Returns the time of opportunity `number`, from the start of the trace. Numbers continue over repetitions.
    pub(crate) fn time(&self, number: u64) -> Duration {
        let len = self.len();
        let index = usize::try_from(number % len).unwrap_or_default();
        let laps = (number / len).saturating_mul(self.period.into());
        Duration::from_millis(laps.saturating_add(self.millis[index].into()))
    }

    /// Returns the number of the first opportunity later than `elapsed` after the start of the trace.
    pub(crate) fn first_after(&self, elapsed: Duration) -> u64 {
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let (laps, rest) = (millis / u64::from(self.period), millis % u64::from(self.period));
        // Opportunities are at whole milliseconds, so an opportunity in the current millisecond has begun already.
        let index = self.millis.partition_point(|time| u64::from(*time) <= rest);
        laps.saturating_mul(self.len()).saturating_add(u64::try_from(index).unwrap_or(u64::MAX))
    }
}

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let mut millis: Vec<u32> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let time = text.trim_ascii().parse().map_err(|_| TraceError::NoNumber { line })?;
            if millis.len() == OPPORTUNITIES_MAX {
                return Err(TraceError::TooLong);
            }
            millis.push(time);
        }
        Self::from_millis(millis)
    }
}

impl fmt::Display for Trace {
    /// Writes the text form, which parses to the same trace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.millis.iter().try_for_each(|millis| writeln!(f, "{millis}"))
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} opportunities in {} ms)", self.millis.len(), self.period)
    }
}

/// A trace of delivery opportunities that plays from a given instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The recorded opportunities.
    pub trace: Trace,
    /// When the trace begins to play.
    pub start: Instant,
    /// The offset in the trace at which playing begins.
    pub skipped: Duration,
    /// Bytes that an opportunity carries. Mahimahi uses 1504, and counts 4 bytes of packet information with each
    /// packet. To imitate it, set 1504 here and a [`LinkConfig::overhead`](crate::LinkConfig::overhead) of 4 bytes.
    pub opportunity: Bytes,
    /// Whether the trace repeats at its end. Otherwise no packet passes after its end.
    pub repeats: bool,
}

impl Schedule {
    /// Creates a schedule that plays the trace from the start of the run on, again and again, with opportunities of
    /// [`OPPORTUNITY`] bytes.
    pub const fn new(trace: Trace) -> Self {
        Self {
            trace,
            start: Instant::ZERO,
            skipped: Duration::ZERO,
            opportunity: OPPORTUNITY,
            repeats: true,
        }
    }

    /// Returns the time of the last opportunity. `None` if the trace repeats.
    pub fn end(&self) -> Option<Instant> {
        let end = self.start + self.trace.period().saturating_sub(self.skipped);
        (!self.repeats).then_some(end)
    }

    /// Returns the time of opportunity `number`. `None` if the trace ends before it.
    pub(crate) fn time(&self, number: u64) -> Option<Instant> {
        let is_there = self.repeats || number < self.trace.len();
        // Callers never ask for a skipped opportunity, because `first` and `first_after` return later ones.
        is_there.then(|| self.start + self.trace.time(number).saturating_sub(self.skipped))
    }

    /// Returns the number of the first opportunity that is not skipped.
    pub(crate) fn first(&self) -> u64 {
        let before = self.skipped.checked_sub(Duration::from_nanos(1));
        before.map_or(0, |before| self.trace.first_after(before))
    }

    /// Returns the number of the first opportunity later than `now`.
    pub(crate) fn first_after(&self, now: Instant) -> u64 {
        if now < self.start {
            return self.first();
        }
        self.trace.first_after(now.saturating_since(self.start) + self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str, count: u64) -> Vec<u128> {
        let trace: Trace = text.parse().unwrap();
        (0..count).map(|number| trace.time(number).as_millis()).collect()
    }

    #[test]
    fn a_trace_repeats_with_its_last_entry_as_the_period() {
        assert_eq!(times("1\n3\n", 6), [1, 3, 4, 6, 7, 9]);
        assert_eq!(times("1", 3), [1, 2, 3]);
        assert_eq!(times("0\n0\n2", 7), [0, 0, 2, 2, 2, 4, 4]);
    }

    #[test]
    fn the_first_opportunity_after_some_time_is_found_without_counting() {
        for text in ["1\n3", "1", "0\n0\n2", "2\n2\n5\n5\n9"] {
            let trace: Trace = text.parse().unwrap();
            for micros in (0..40_000).step_by(500) {
                let elapsed = Duration::from_micros(micros);
                let number = trace.first_after(elapsed);
                assert!(trace.time(number) > elapsed, "{text:?} {elapsed:?}");
                let before = number.checked_sub(1).map(|number| trace.time(number));
                assert!(before.is_none_or(|time| time <= elapsed), "{text:?} {elapsed:?}");
            }
        }
    }

    #[test]
    fn a_line_that_is_no_trace_is_refused_by_its_number() {
        for (text, error) in [
            ("", TraceError::Empty),
            ("0\n0", TraceError::NoPeriod),
            ("1\n\n2", TraceError::NoNumber { line: 2 }),
            ("1\n-2", TraceError::NoNumber { line: 2 }),
            ("1.5", TraceError::NoNumber { line: 1 }),
            ("1\n4294967296", TraceError::NoNumber { line: 2 }),
            ("5\n4", TraceError::Decreasing { line: 2 }),
        ] {
            assert_eq!(text.parse::<Trace>(), Err(error), "{text:?}");
        }
        assert!("4294967295".parse::<Trace>().is_ok());
    }

    #[test]
    fn a_trace_has_a_bound() {
        let full = "1\n".repeat(OPPORTUNITIES_MAX);
        assert!(full.parse::<Trace>().is_ok());
        assert_eq!(format!("{full}1\n").parse::<Trace>(), Err(TraceError::TooLong));
    }

    #[test]
    fn a_trace_is_written_as_it_is_read() {
        let trace: Trace = "0\n0\n2\n40".parse().unwrap();
        assert_eq!(trace.to_string(), "0\n0\n2\n40\n");
        assert_eq!(trace.to_string().parse(), Ok(trace));
        assert_eq!(Trace::from_millis(vec![1, 5, 4]), Err(TraceError::Decreasing { line: 3 }));
    }

    #[test]
    fn before_its_start_a_schedule_waits_for_its_first_opportunity() {
        let start = Instant::from_millis(100);
        let schedule = Schedule { start, ..Schedule::new("3\n5".parse().unwrap()) };
        assert_eq!(schedule.first_after(Instant::from_millis(7)), 0);
        assert_eq!(schedule.time(0), Some(Instant::from_millis(103)));
        assert_eq!(schedule.first_after(Instant::from_millis(103)), 1);
        let later = Schedule { skipped: Duration::from_millis(4), ..schedule };
        assert_eq!((later.first(), later.first_after(Instant::from_millis(7))), (1, 1));
        assert_eq!(later.time(1), Some(Instant::from_millis(101)));
        assert_eq!(later.time(2), Some(Instant::from_millis(104)));
    }

    #[test]
    fn a_trace_that_is_played_once_ends_with_its_last_line() {
        let over_and_over = Schedule::new("3\n5".parse().unwrap());
        assert_eq!(
            (over_and_over.end(), over_and_over.time(2)),
            (None, Some(Instant::from_millis(8)))
        );
        let once = Schedule { repeats: false, ..over_and_over };
        assert_eq!(once.end(), Some(Instant::from_millis(5)));
        assert_eq!((once.time(1), once.time(2)), (Some(Instant::from_millis(5)), None));
    }
}
