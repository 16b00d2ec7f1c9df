//! A packet before it is sealed: its number, the time at which it was sent, and frames.

use rove_units::{Duration, Instant};

use crate::id::PacketNum;

/// Bytes of the send time at the front of a payload. Source: the wire contract, docs/wire.md.
pub const SEND_TIME_LEN: usize = 4;

/// Lower bound for the maximum size of a packet, in bytes. Chosen: the largest acknowledgment and control frames fit.
pub const PACKET_MIN: usize = 400;

/// A packet that is to be sealed under its number and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The packet's number.
    pub number: PacketNum,
    /// The send time and the frames.
    pub payload: Vec<u8>,
}

/// Returns the first bytes of a payload that is sent at `now`: the low 32 bits of the clock's reading in microseconds.
pub(crate) fn send_time(now: Instant) -> [u8; SEND_TIME_LEN] {
    let [.., a, b, c, d] = (now.as_nanos() / 1_000).to_be_bytes();
    [a, b, c, d]
}

/// The time that a peer's clock is assumed to show at first. It is far above zero. The first packet's time may be half
/// the range of the 32 bits (36 minutes) below it, and an [`Instant`] is never negative.
const EPOCH: Duration = Duration::from_micros(1 << 40);

/// The peer's clock. Packets carry the low 32 bits of its microseconds. Only differences between times have a meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerClock {
    newest: Instant,
}

impl Default for PeerClock {
    fn default() -> Self {
        Self { newest: Instant::ZERO + EPOCH }
    }
}

impl PeerClock {
    /// Returns the time whose low 32 bits in microseconds are `bits`, and that is nearest to the newest time so far.
    pub(crate) fn read(&mut self, bits: u32) -> Instant {
        let newest = self.newest.as_nanos() / 1_000;
        let [.., a, b, c, d] = newest.to_be_bytes();
        let ahead = bits.wrapping_sub(u32::from_be_bytes([a, b, c, d]));
        let span = Duration::from_micros(ahead.min(ahead.wrapping_neg()).into());
        let time = if ahead.cast_signed() < 0 { self.newest - span } else { self.newest + span };
        self.newest = self.newest.max(time);
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(seconds: f64) -> u32 {
        u32::from_be_bytes(send_time(Instant::ZERO + Duration::from_secs_f64(seconds)))
    }

    #[test]
    fn the_peers_clock_goes_on_where_its_bits_wrap() {
        for first in [0.0, 300.0, 2_000.0, 3_000.0, 4_290.0, 100_000.0] {
            let mut clock = PeerClock::default();
            let mut before = clock.read(bits(first));
            let steps = [0.001, -0.000_1, 2_000.0, 1_999.0, -0.001, 295.0, 1_700.0];
            for (index, step) in steps.into_iter().enumerate() {
                let seconds = first + steps[..=index].iter().sum::<f64>();
                let time = clock.read(bits(seconds));
                let (later, earlier) = if step < 0.0 { (before, time) } else { (time, before) };
                let passed = later.saturating_since(earlier).as_secs_f64();
                assert!((passed - step.abs()).abs() < 2e-6, "{step} s after {seconds} s");
                before = time;
            }
        }
    }

    #[test]
    fn the_peers_clock_runs_after_a_pause_of_any_length() {
        for pause in (0..150).map(|minutes| f64::from(minutes) * 60.0) {
            let mut clock = PeerClock::default();
            clock.read(bits(300.0));
            let time = clock.read(bits(300.0 + pause));
            let later = clock.read(bits(300.1 + pause));
            assert_eq!(later.saturating_since(time), Duration::from_millis(100), "{pause} s");
        }
    }
}
