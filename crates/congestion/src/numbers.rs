//! Conversions between counts, sizes and floating-point numbers.

use rove_units::Bytes;

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// Returns a number in single precision, which keeps seven digits.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough where it is called")]
pub(crate) fn single(number: f64) -> f32 {
    number as f32
}

/// Returns the whole part of a number; 0 for a negative number and for NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast holds every number within the type"
)]
pub(crate) fn whole(number: f64) -> usize {
    number as usize
}

pub(crate) fn in_packets(size: Bytes, packet: Bytes) -> f64 {
    let [size, packet] = [size, packet].map(|it| u32::try_from(it.get()).unwrap_or(u32::MAX));
    f64::from(size) / f64::from(packet.max(1))
}
