//! The details in which the paper and its published program differ, or that they leave open.

use rove_units::Bytes;

use crate::sprout::packet::{FEEDBACK, HEADER, Packet};

/// The length of a payload, which counts with it. Source: the published program.
const PAYLOAD_LENGTH: Bytes = Bytes::new(2);

/// How a Sprout end counts packets and empties its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The size of a full datagram, which is a delivery opportunity.
    pub packet: Bytes,
    /// How the sender uses a forecast as it gets older.
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

    /// Returns the bytes of a packet that count.
    pub(crate) fn counted(&self, packet: &Packet) -> Bytes {
        match self.counting {
            Counting::Payload => packet.len() - HEADER + PAYLOAD_LENGTH,
            Counting::Datagrams => packet.len(),
        }
    }

    /// Returns the bytes that are a packet of a forecast.
    pub(crate) fn forecast_packet(&self) -> Bytes {
        match self.counting {
            Counting::Payload => self.payload_max(),
            Counting::Datagrams => self.packet,
        }
    }

    /// Returns the bytes that are a packet of a tick.
    pub(crate) fn tick_packet(&self) -> Bytes {
        match self.counting {
            Counting::Payload => Bytes::new(self.payload_max().get() * 1_400 / 1_440),
            Counting::Datagrams => self.packet,
        }
    }

    /// Returns the bytes of a window that are no application data.
    pub(crate) fn fields(&self) -> Bytes {
        match self.counting {
            Counting::Payload => PAYLOAD_LENGTH,
            // The window has room for a forecast even if the packet carries none.
            Counting::Datagrams => HEADER + FEEDBACK,
        }
    }
}

/// How a sender's assumed queue empties while no new forecast arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// By the bytes expected in each tick, as in the paper.
    #[default]
    ByTick,
    /// By the bytes expected from the forecast's start to the end of each tick, as in the published program. Without
    /// new forecasts the sender sends too much.
    Cumulative,
}

/// The bytes of a packet that count: in a tick of the receiver, and in the queue that the sender assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The payload with its length of two bytes, as in the published program: headers do not count, and a heartbeat is a packet. A
    /// full packet counts as 1.03, as it has 1440 bytes there and 1400 count as one.
    Payload,
    /// The packet with its header. A full packet counts as one at most. A slow link gives more, as a flow of few packets takes its own
    /// rate less often for the link's.
    Datagrams,
}
