//! A stream: its two directions, its credit, and the control frames that are due.

use rove_units::{Duration, Instant};

use crate::credit::Credit;
use crate::receive_half::ReceiveHalf;
use crate::send_half::SendHalf;

/// Bytes within a second at which a stream counts as bulk. Chosen: more than keys and echoes, and less than a transfer.
const INTERACTIVE_BYTES_MAX: u64 = 4 * 1024;

/// The span over which a stream's bytes are counted. Chosen: a pause of a second makes a stream interactive again.
const METER_SPAN: Duration = Duration::from_secs(1);

/// A stream of bytes in each direction.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) send: SendHalf,
    pub(crate) receive: ReceiveHalf,
    pub(crate) credit: Credit,
    pub(crate) meter: Meter,
    /// Whether the peer must be told that its credit has risen.
    pub(crate) owes_credit: bool,
    /// The code of the request that the peer reset the stream. `None` if no such request is to be sent.
    pub(crate) stop_due: Option<u64>,
    /// The code of the newest request that the peer reset the stream; 0 before the first.
    pub(crate) stop_code: u64,
    /// The code with which the peer has stopped reading. `None` while it reads.
    pub(crate) stopped: Option<u64>,
}

impl Stream {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            send: SendHalf::new(),
            receive: ReceiveHalf::new(),
            credit: Credit::new(now),
            meter: Meter::default(),
            owes_credit: false,
            stop_due: None,
            stop_code: 0,
            stopped: None,
        }
    }

    /// Returns whether a frame other than data is to be sent.
    pub(crate) fn owes_control(&self) -> bool {
        self.owes_credit || self.stop_due.is_some() || self.send.reset_due().is_some()
    }

    /// Returns whether both directions are over.
    pub(crate) fn is_done(&self) -> bool {
        self.send.is_done() && self.receive.is_done()
    }
}

/// Counts the bytes that this end has sent on a stream within a second from `began`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    began: Instant,
    bytes: u64,
}

impl Meter {
    pub(crate) fn count(&mut self, now: Instant, bytes: u64) {
        if now.saturating_since(self.began) >= METER_SPAN {
            *self = Self { began: now, bytes: 0 };
        }
        self.bytes += bytes;
    }

    /// Returns whether the stream carries so few bytes that it has priority over bulk streams.
    pub(crate) fn is_interactive(&self, now: Instant) -> bool {
        self.bytes < INTERACTIVE_BYTES_MAX || now.saturating_since(self.began) >= METER_SPAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_interactive_until_it_carries_much_in_a_second() {
        let at = Instant::from_millis;
        let mut meter = Meter::default();
        meter.count(at(2_000), INTERACTIVE_BYTES_MAX - 1);
        assert!(meter.is_interactive(at(2_500)));
        meter.count(at(2_600), 1);
        assert!(!meter.is_interactive(at(2_999)) && meter.is_interactive(at(3_000)));
    }
}
