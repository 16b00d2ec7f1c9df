//! The fields that the two ends of a Sprout flow send with each packet, and their form in bytes.
//!
//! The fields are those of the paper. The layout is rove's, with all numbers big-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 1 | 0, or 1 where a forecast follows |
//! | 8 | sequence number: bytes sent before this packet, with 50 for the headers of each packet |
//! | 4 | throwaway window: bytes before this packet that were sent in the last 10 ms |
//! | 2 | time to next, in ms |
//! | 48 | with a forecast: bytes received or lost (8), tick's start in ms (8), bytes by the end of each tick (4 each) |

use rove_units::{Bytes, Duration};

use crate::sprout::terms::{FORECAST_TICKS, Forecast};

/// Bytes of a packet's fields, without a forecast and application data.
pub const HEADER: Bytes = Bytes::new(15);

/// Bytes that a forecast adds to a packet.
pub const FEEDBACK: Bytes = Bytes::new(48);

/// Bytes that sequence numbers count for the headers of each packet. Source: the published program.
pub(crate) const SEQUENCE_OVERHEAD: u64 = 50;

/// The fields of a Sprout packet, and the size of its application data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The sequence number: bytes sent before this packet, with 50 for the headers of each packet.
    pub sequence: u64,
    /// The throwaway window: bytes before `sequence` that were sent in the last 10 ms. All bytes before the window have
    /// arrived or are lost.
    pub throwaway: u32,
    /// The time until the sender's next packet, as the sender promises. Zero within a flight of packets.
    pub time_to_next: Duration,
    /// The sending end's report about the packets that it receives. `None` if there is no new report.
    pub feedback: Option<Feedback>,
    /// The size of the application data.
    pub payload: Bytes,
}

/// A receiver's report to its sender: the arrivals so far, and a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// How many bytes have arrived or are lost, counted as in sequence numbers.
    pub received_or_lost: u64,
    /// The tick of the report, in ms of the receiver's clock. It only tells which report is newer.
    pub tick: u64,
    /// The forecast of the bytes that arrive in the next ticks.
    pub forecast: Forecast,
}

impl Packet {
    /// Returns the size of the packet, with its application data.
    pub fn len(&self) -> Bytes {
        let feedback = if self.feedback.is_some() { FEEDBACK } else { Bytes::ZERO };
        HEADER + feedback + self.payload
    }

    /// Returns whether the packet has no application data.
    pub fn is_empty(&self) -> bool {
        self.payload == Bytes::ZERO
    }

    /// Appends the fields of the packet to `bytes`. The application data must follow.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.feedback.is_some()));
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.throwaway.to_be_bytes());
        let millis = u16::try_from(self.time_to_next.as_millis()).unwrap_or(u16::MAX);
        bytes.extend(millis.to_be_bytes());
        let Some(Feedback { received_or_lost, tick, forecast }) = self.feedback else { return };
        bytes.extend(received_or_lost.to_be_bytes());
        bytes.extend(tick.to_be_bytes());
        for tick in forecast.bytes {
            bytes.extend(u32::try_from(tick).unwrap_or(u32::MAX).to_be_bytes());
        }
    }

    /// Reads a packet. Returns its fields and its application data. `None` if the bytes are no Sprout packet.
    pub fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut reader = Reader(bytes);
        let has_feedback = match reader.take::<1>()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        let sequence = u64::from_be_bytes(reader.take()?);
        let throwaway = u32::from_be_bytes(reader.take()?);
        let millis = u16::from_be_bytes(reader.take()?);
        let feedback = if has_feedback { Some(reader.feedback()?) } else { None };
        let packet = Self {
            sequence,
            throwaway,
            time_to_next: Duration::from_millis(millis.into()),
            feedback,
            payload: Bytes::from(reader.0.len()),
        };
        Some((packet, reader.0))
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn feedback(&mut self) -> Option<Feedback> {
        let received_or_lost = u64::from_be_bytes(self.take()?);
        let tick = u64::from_be_bytes(self.take()?);
        let mut bytes = [0; FORECAST_TICKS];
        for tick in &mut bytes {
            *tick = u32::from_be_bytes(self.take()?).into();
        }
        Some(Feedback { received_or_lost, tick, forecast: Forecast { bytes } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_packet_is_read_back_and_anything_shorter_is_refused() {
        let forecast = Forecast { bytes: [1, 2, 3, 4, 5, 6, 7, 4_000_000_000] };
        let feedback = Feedback { received_or_lost: u64::MAX, tick: 1 << 40, forecast };
        for feedback in [None, Some(feedback)] {
            let packet = Packet {
                sequence: 1 << 60,
                throwaway: 77,
                time_to_next: Duration::from_millis(50),
                feedback,
                payload: Bytes::new(3),
            };
            let mut bytes = Vec::new();
            packet.encode(&mut bytes);
            let fields = bytes.len();
            bytes.extend(b"abc");
            assert_eq!(Bytes::from(bytes.len()), packet.len());
            assert_eq!(Packet::decode(&bytes), Some((packet, &b"abc"[..])));
            assert!((0..fields).all(|len| Packet::decode(&bytes[..len]).is_none()));
        }
        assert_eq!(Packet::decode(&[2; 100]), None);
    }
}
