//! A packet before it is sealed: its number, the time at which it was sent, and frames.

use rove_units::{Duration, Instant};

use crate::id::PacketNum;

/// Bytes of the send time at the front of a payload. Source: the wire contract, docs/wire.md.
pub const SEND_TIME_LEN: usize = 4;

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

/// The peer's clock. Packets carry the low 32 bits of its microseconds. Only differences between times have a meaning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerClock {
    newest: Instant,
}

impl PeerClock {
    /// Returns the time that these 32 bits of microseconds mean: the one nearest to the newest time so far.
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

    #[test]
    fn the_peers_clock_goes_on_where_its_bits_wrap() {
        let mut clock = PeerClock::default();
        let times = [
            0_u64,
            1_000,
            900,
            2_000_000_000,
            4_000_000_000,
            3_999_999_000,
            4_300_000_000,
            6_000_000_000,
        ];
        for micros in times {
            let bits = u32::from_be_bytes(send_time(Instant::ZERO + Duration::from_micros(micros)));
            assert_eq!(clock.read(bits), Instant::ZERO + Duration::from_micros(micros));
        }
    }
}
