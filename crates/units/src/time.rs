//! Points in time, counted in nanoseconds from the start of a run.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

pub use core::time::Duration;

use crate::size::ParseUnitError;

/// A point in time: nanoseconds since the run began.
///
/// The type has no `now()`: an event loop passes the time of its clock once per turn, and a simulator virtual time.
/// Additions saturate at [`Instant::FAR_FUTURE`], 584 years after the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run, 0 nanoseconds.
    pub const ZERO: Self = Self(0);
    /// The last representable instant, used for a deadline that is never reached.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// Creates the instant `nanos` nanoseconds after the run's start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates the instant `millis` milliseconds after the run's start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the nanoseconds since the run's start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the whole milliseconds since the run's start, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the time from `earlier` to `self`, or zero if `earlier` is not earlier.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Returns `duration` in nanoseconds, limited to the range of an [`Instant`].
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// Returns the instant `duration` before `self`, or [`Instant::ZERO`] if the run had not started then.
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(duration)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000_000, self.0 / 1_000 % 1_000_000)
    }
}

/// Reads a duration such as `1.5s`: a number with the unit ns, us (µs), ms, s, m or min. The number 0 needs no unit.
///
/// # Errors
///
/// Returns [`ParseUnitError`] for any other text, and for negative or non-finite numbers.
pub fn parse_duration(text: &str) -> Result<Duration, ParseUnitError> {
    const UNITS: [(&str, f64); 7] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("min", 60.0),
        ("m", 60.0),
        ("s", 1.0),
    ];
    let error =
        || ParseUnitError { text: text.to_owned(), wanted: "a time such as 500ms or 1.5s".into() };
    let trimmed = text.trim();
    if trimmed.parse().is_ok_and(|number: f64| number != 0.0) {
        let wanted = format!("a time such as {trimmed}ms: it has no unit").into();
        return Err(ParseUnitError { text: text.to_owned(), wanted });
    }
    let (number, scale) = UNITS
        .iter()
        .find_map(|(unit, scale)| trimmed.strip_suffix(unit).map(|number| (number, *scale)))
        .unwrap_or((trimmed, 1e-3));
    let value: f64 = number.trim_end().parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(value * scale).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_saturate() {
        assert_eq!(Instant::from_millis(3) - Duration::from_millis(5), Instant::ZERO);
        assert_eq!(Instant::FAR_FUTURE + Duration::from_secs(1), Instant::FAR_FUTURE);
        assert_eq!(Instant::ZERO + Duration::MAX, Instant::FAR_FUTURE);
        assert_eq!(Instant::ZERO.saturating_since(Instant::from_nanos(1)), Duration::ZERO);
    }

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, micros) in [
            ("500ms", 500_000),
            ("1.5s", 1_500_000),
            ("20us", 20),
            ("20 µs", 20),
            ("3m", 180_000_000),
            ("2min", 120_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_micros(micros)), "{text}");
        }
        for text in ["", "ms", "-1s", "inf", "nan", "1e300s", "5 parsecs"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        let sentence = parse_duration("100").expect_err("no unit").to_string();
        assert_eq!(sentence, "\"100\" is not a time such as 100ms: it has no unit");
    }
}
