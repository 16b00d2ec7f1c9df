//! A packet that is being filled with frames.

use rove_units::Instant;

use crate::frame::Frame;
use crate::packet::send_time;
use crate::recovery::Carried;

/// The bytes of a packet, and a record of its parts, which is needed when the packet is acknowledged or lost.
#[derive(Debug)]
pub(crate) struct Writer {
    payload: Vec<u8>,
    max: usize,
    carried: Vec<Carried>,
    asks: bool,
}

impl Writer {
    /// Begins a payload of at most `max` bytes with the send time `now`.
    pub(crate) fn new(now: Instant, max: usize) -> Self {
        let mut payload = Vec::with_capacity(max);
        payload.extend(send_time(now));
        Self { payload, max, carried: Vec::new(), asks: false }
    }

    pub(crate) fn room(&self) -> usize {
        self.max.saturating_sub(self.payload.len())
    }

    /// Appends a frame. The caller has checked that there is room.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, carried: Option<Carried>) {
        frame.encode(&mut self.payload);
        debug_assert!(self.payload.len() <= self.max, "the frames fit the packet");
        self.asks |= frame.asks_for_ack();
        self.carried.extend(carried);
    }

    /// Returns whether any frame asks for an acknowledgment.
    pub(crate) const fn asks(&self) -> bool {
        self.asks
    }

    pub(crate) fn finish(self) -> (Vec<u8>, Vec<Carried>) {
        (self.payload, self.carried)
    }
}
