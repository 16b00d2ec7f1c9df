//! Sizes in bytes, rates in bits per second, and shares.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::str::FromStr;

use core::time::Duration;
use std::borrow::Cow;

/// The error for a text that is not a size, rate, time or share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseUnitError {
    /// The text that could not be parsed.
    pub text: String,
    /// The expected form, with an example, for the message.
    pub wanted: Cow<'static, str>,
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.text, self.wanted)
    }
}

impl core::error::Error for ParseUnitError {}

/// A size as a number of bytes. Sums saturate at [`Bytes::MAX`], and differences at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// A size of no bytes.
    pub const ZERO: Self = Self(0);
    /// The largest size, used where there is no limit.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a size from a number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Creates a size from a number of KiB (1024 bytes).
    pub const fn kib(kib: u64) -> Self {
        Self(kib * 1024)
    }

    /// Creates a size from a number of MiB (1024 * 1024 bytes).
    pub const fn mib(mib: u64) -> Self {
        Self(mib * 1024 * 1024)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<usize> for Bytes {
    fn from(bytes: usize) -> Self {
        Self(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;

    /// Returns the difference, or zero if it would be negative.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (scale, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
            if self.0 > 0 && self.0.is_multiple_of(scale) {
                return write!(f, "{} {unit}", self.0 / scale);
            }
        }
        write!(f, "{} B", self.0)
    }
}

impl FromStr for Bytes {
    type Err = ParseUnitError;

    /// Reads `1500`, `64k`, `1M` or `1MiB`. The prefixes are powers of 1024.
    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let error = || ParseUnitError {
            text: text.to_owned(),
            wanted: "a size such as 64k, 1M or 1500".into(),
        };
        let bare = text.trim().trim_end_matches(['b', 'B']).trim_end_matches('i');
        let (number, scale) = split_prefix(bare, 1024);
        let count: u64 = number.trim_end().parse().map_err(|_| error())?;
        count.checked_mul(scale).map(Self).ok_or_else(error)
    }
}

/// A rate in bits per second, always above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(core::num::NonZeroU64);

impl BitRate {
    /// Creates a rate from a number of bits per second. `None` if it is zero.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        match core::num::NonZeroU64::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// Returns the rate in bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0.get()
    }

    /// Returns how long the transmission of `size` takes at this rate, rounded up to a nanosecond.
    pub fn transmission_time(self, size: Bytes) -> Duration {
        let nanos = (u128::from(size.get()) * 8 * 1_000_000_000).div_ceil(u128::from(self.0.get()));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0.get();
        for (scale, unit) in [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")] {
            if bits.is_multiple_of(scale) {
                return write!(f, "{} {unit}", bits / scale);
            }
        }
        write!(f, "{bits} bit/s")
    }
}

impl FromStr for BitRate {
    type Err = ParseUnitError;

    /// Reads `64000`, `64k`, `1.5M`, `1Mbit`, `1Mbit/s` or `10G`. The prefixes are powers of 1000.
    fn from_str(text: &str) -> Result<Self, ParseUnitError> {
        let error = || ParseUnitError {
            text: text.to_owned(),
            wanted: "a rate above zero such as 64k, 1Mbit or 1.5M (bits per second)".into(),
        };
        let trimmed = text.trim();
        let bare = ["bit/s", "bps", "bit"]
            .iter()
            .find_map(|unit| trimmed.strip_suffix(unit))
            .unwrap_or(trimmed)
            .trim_end();
        let (number, scale) = split_prefix(bare, 1000);
        let value: f64 = number.trim_end().parse().map_err(|_| error())?;
        #[expect(clippy::cast_precision_loss, reason = "scale is at most 10^9")]
        let bits = (value * scale as f64).round();
        if !(1.0..=1e18).contains(&bits) {
            return Err(error());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "held within 1 and 10^18 just above"
        )]
        let bits = bits as u64;
        Self::from_bits_per_second(bits).ok_or_else(error)
    }
}

/// Reads a share from 0 to 1, as `5%` or `0.05`.
///
/// # Errors
///
/// Returns [`ParseUnitError`] for any other text.
pub fn parse_share(text: &str) -> Result<f64, ParseUnitError> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse().map(|number: f64| number * unit);
    share.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| ParseUnitError {
        text: text.to_owned(),
        wanted: "a share between 0% and 100%".into(),
    })
}

/// Removes a trailing `k`, `M` or `G` from `text`. Returns the rest and the factor: a power of `base`, or 1.
fn split_prefix(text: &str, base: u64) -> (&str, u64) {
    for (letters, power) in [(['k', 'K'], 1), (['m', 'M'], 2), (['g', 'G'], 3)] {
        if let Some(number) = text.strip_suffix(letters) {
            return (number, base.pow(power));
        }
    }
    (text, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_show_as_people_write_them() {
        for (bytes, text) in [(0, "0 B"), (1500, "1500 B"), (65_536, "64 KiB"), (3 << 20, "3 MiB")]
        {
            assert_eq!(Bytes::new(bytes).to_string(), text);
        }
        for (text, bytes) in [("1500", 1500), ("64k", 65_536), ("1M", 1 << 20), ("1MiB", 1 << 20)] {
            assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
        }
        for text in ["", "k", "-1", "1.5k", "99999999999G"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_read_as_people_write_them() {
        for (text, bits) in
            [("64000", 64_000), ("64k", 64_000), ("1.5M", 1_500_000), ("1Mbit/s", 1_000_000)]
        {
            let rate: BitRate = text.parse().expect(text);
            assert_eq!(rate.bits_per_second(), bits, "{text}");
        }
        for text in ["", "0", "-1k", "nan", "inf", "fast"] {
            assert!(text.parse::<BitRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_outside_its_range_is_refused() {
        for (text, share) in [("0%", 0.0), ("1", 1.0), ("100%", 1.0), ("5%", 0.05)] {
            assert_eq!(parse_share(text), Ok(share), "{text}");
        }
        for text in ["101%", "-1%", "NaN", "inf", "", "%", "x"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn transmission_time_rounds_up() {
        let rate = BitRate::from_bits_per_second(3).expect("three is above zero");
        assert_eq!(rate.transmission_time(Bytes::new(1)), Duration::from_nanos(2_666_666_667));
        assert_eq!(rate.transmission_time(Bytes::ZERO), Duration::ZERO);
        assert!(rate.transmission_time(Bytes::MAX) > Duration::from_secs(1));
    }
}
