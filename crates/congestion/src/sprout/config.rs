//! Settings in which the Sprout paper and its published program differ, or which the paper leaves open.

use rove_units::Bytes;

use crate::sprout::packet::{FEEDBACK, HEADER, Packet};

/// Length of the field with a payload's length, which counts as a part of the payload. Source: the published program.
const PAYLOAD_LENGTH: Bytes = Bytes::new(2);

/// How a Sprout end counts packets, and how its estimate of the queue falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The size of a full datagram, which is as much as a delivery opportunity carries.
    pub packet: Bytes,
    /// How the sender's estimate of the queue falls while a forecast gets older.
    pub drain: Drain,
    /// How many bytes of a packet the forecast counts.
    pub counting: Counting,
}

impl Config {
    /// Returns the configuration of the paper, for datagrams of this size.
    pub const fn new(packet: Bytes) -> Self {
        Self { packet, drain: Drain::ByTick, counting: Counting::Datagrams }
    }

    /// Returns the most application data of a packet, which leaves room for a forecast.
    pub(crate) fn payload_max(&self) -> Bytes {
        self.packet - HEADER - FEEDBACK
    }

    /// Returns how many bytes of a packet count, in a tick and in the estimate of the queue.
    pub(crate) fn counted(&self, packet: &Packet) -> Bytes {
        match self.counting {
            Counting::Payload => packet.len() - HEADER + PAYLOAD_LENGTH,
            Counting::Datagrams => packet.len(),
        }
    }

    /// Returns how many bytes count as one packet in a forecast.
    pub(crate) fn forecast_packet(&self) -> Bytes {
        match self.counting {
            Counting::Payload => self.payload_max(),
            Counting::Datagrams => self.packet,
        }
    }

    /// Returns how many bytes count as one packet in a tick.
    pub(crate) fn tick_packet(&self) -> Bytes {
        match self.counting {
            Counting::Payload => Bytes::new(self.payload_max().get() * 1_400 / 1_440),
            Counting::Datagrams => self.packet,
        }
    }

    /// Returns how many bytes of the window a packet uses besides its application data.
    pub(crate) fn fields(&self) -> Bytes {
        match self.counting {
            Counting::Payload => PAYLOAD_LENGTH,
            // Each packet leaves room for a forecast, even if it carries none.
            Counting::Datagrams => HEADER + FEEDBACK,
        }
    }
}

/// How the sender's estimate of the queue falls while no new forecast arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// In each tick, the estimate falls by the bytes expected in this tick, as in the paper.
    #[default]
    ByTick,
    /// In each tick, the estimate falls by all bytes expected since the forecast's start, as in the published program.
    /// Without new forecasts the sender sends too much.
    Cumulative,
}

/// The bytes of a packet that count: in a tick of the receiver, and in the sender's estimate of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The payload, the two bytes of its length and a forecast count, as in the published program. Headers do not. A
    /// full packet of 1440 bytes counts as 1.03 packets in a tick, because 1400 bytes count as a packet.
    Payload,
    /// The packet counts with its header. A full packet counts as one at most. Slow links then carry more, because a
    /// flow of few packets less often mistakes its own rate for the link's.
    Datagrams,
}
