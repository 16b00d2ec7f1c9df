//! The sending direction of a stream: it keeps bytes until the peer has acknowledged them.

use core::ops::Range;
use std::collections::VecDeque;

use crate::credit::FIRST_CREDIT;
use crate::ranges::Ranges;

/// Whether a message (the stream's end, or its reset) has been sent to the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    /// The direction has not ended (or was not reset), so there is no message.
    #[default]
    Never,
    /// The message is to be sent, for the first time or again after a loss.
    Due,
    /// The message was sent and is not acknowledged.
    Sent,
    /// The peer has acknowledged the message.
    Acked,
}

/// A range of a stream's bytes to be sent in one frame, and whether the stream ends with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) range: Range<u64>,
    pub(crate) is_end: bool,
}

/// The bytes that this end sends on a stream.
#[derive(Clone, Debug)]
pub(crate) struct SendHalf {
    /// The bytes from `base` on.
    bytes: VecDeque<u8>,
    /// The lowest offset that is not acknowledged.
    base: u64,
    /// The offset below which all bytes have been sent at least once.
    sent: u64,
    lost: Ranges,
    /// The acknowledged bytes above `base`.
    acked: Ranges,
    limit: u64,
    end: Told,
    reset: Told,
    reset_code: u64,
}

impl SendHalf {
    pub(crate) fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            base: 0,
            sent: 0,
            lost: Ranges::default(),
            acked: Ranges::default(),
            limit: FIRST_CREDIT,
            end: Told::Never,
            reset: Told::Never,
            reset_code: 0,
        }
    }

    /// Returns whether the owner may still write, because the direction was neither ended nor reset.
    pub(crate) fn is_open(&self) -> bool {
        self.end == Told::Never && self.reset == Told::Never
    }

    /// Returns whether the peer has acknowledged all bytes and the stream's end, or the stream's reset.
    pub(crate) fn is_done(&self) -> bool {
        self.reset == Told::Acked || self.is_finished()
    }

    /// Returns whether the peer has acknowledged all bytes and the end.
    pub(crate) fn is_finished(&self) -> bool {
        self.reset == Told::Never && self.end == Told::Acked && self.bytes.is_empty()
    }

    pub(crate) fn held(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns how many bytes the owner may add: the peer's unused credit, and [`FIRST_CREDIT`] bytes beyond it.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_add(FIRST_CREDIT).saturating_sub(self.written())
    }

    /// Adds bytes. The caller has checked that there is room.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        debug_assert!(self.is_open());
        self.bytes.extend(bytes);
    }

    /// Ends the sending direction after all written bytes.
    pub(crate) fn finish(&mut self) {
        if self.is_open() {
            self.end = Told::Due;
        }
    }

    /// Ends the direction at once, unless it was reset before or the peer has acknowledged all bytes and the end.
    pub(crate) fn reset(&mut self, code: u64) {
        if self.reset == Told::Never && !self.is_done() {
            (self.reset, self.reset_code) = (Told::Due, code);
            self.bytes = VecDeque::new();
            self.base = self.sent;
            (self.lost, self.acked) = (Ranges::default(), Ranges::default());
        }
    }

    /// Returns the reset to send, if any: its code, and the number of bytes that may have been sent before it.
    pub(crate) fn reset_due(&self) -> Option<(u64, u64)> {
        (self.reset == Told::Due).then_some((self.reset_code, self.sent))
    }

    pub(crate) fn handle_reset_sent(&mut self) {
        self.reset = Told::Sent;
    }

    pub(crate) fn handle_reset_acked(&mut self) {
        self.reset = Told::Acked;
    }

    pub(crate) fn handle_reset_lost(&mut self) {
        if self.reset == Told::Sent {
            self.reset = Told::Due;
        }
    }

    /// Raises the offset below which bytes may be sent. A lower limit arrived late, and is ignored.
    pub(crate) fn handle_credit(&mut self, limit: u64) {
        self.limit = self.limit.max(limit);
    }

    /// Returns whether bytes or the stream's end are to be sent now.
    pub(crate) fn has_work(&self) -> bool {
        let is_new = self.sent < self.written().min(self.limit);
        let is_end = self.end == Told::Due && self.sent == self.written();
        self.reset == Told::Never && (is_new || is_end || !self.lost.is_empty())
    }

    /// Marks at most `max` bytes as sent and returns their range, if there are any to send. Lost bytes come first.
    pub(crate) fn take(&mut self, max: usize) -> Option<Chunk> {
        if !self.has_work() {
            return None;
        }
        let max = max as u64;
        let range = if let Some(lost) = self.lost.first() {
            let range = lost.start..lost.end.min(lost.start.saturating_add(max));
            self.lost.remove(range.clone());
            range
        } else {
            let end =
                self.written().min(self.limit).min(self.sent.saturating_add(max)).max(self.sent);
            let range = self.sent..end;
            self.sent = end;
            range
        };
        let is_end = matches!(self.end, Told::Due | Told::Sent) && range.end == self.written();
        if is_end {
            self.end = Told::Sent;
        }
        debug_assert!(range.end <= self.limit, "nothing is sent beyond the credit");
        (is_end || !range.is_empty()).then_some(Chunk { range, is_end })
    }

    /// Returns the bytes of a range that [`SendHalf::take`] has returned.
    pub(crate) fn copy(&self, range: &Range<u64>) -> Vec<u8> {
        let [from, to] = [range.start, range.end].map(|it| self.index(it));
        let (front, back) = self.bytes.as_slices();
        let cut = |at: usize| (at.min(front.len()), at.saturating_sub(front.len()));
        let ((from, back_from), (to, back_to)) = (cut(from), cut(to));
        let parts = [front.get(from..to), back.get(back_from..back_to)];
        parts.map(Option::unwrap_or_default).concat()
    }

    pub(crate) fn handle_acked(&mut self, range: Range<u64>, is_end: bool) {
        if self.reset != Told::Never {
            return;
        }
        if is_end {
            self.end = Told::Acked;
        }
        self.lost.remove(range.clone());
        self.acked.insert(range.start.max(self.base)..range.end);
        if let Some(first) = self.acked.first().filter(|it| it.start <= self.base) {
            let count = self.index(first.end);
            self.bytes.drain(..count);
            self.base = first.end;
            self.acked.remove(0..self.base);
            if self.bytes.is_empty() {
                self.bytes = VecDeque::new();
            }
        }
    }

    /// Handles a chunk that counts as lost. Its bytes that are not acknowledged are then sent again.
    pub(crate) fn handle_lost(&mut self, range: Range<u64>, is_end: bool) {
        if self.reset != Told::Never {
            return;
        }
        if is_end && self.end == Told::Sent {
            self.end = Told::Due;
        }
        let start = range.start.max(self.base);
        let missing: Vec<_> = self.acked.missing(start..range.end.max(start)).collect();
        missing.into_iter().for_each(|it| self.lost.insert(it));
    }

    fn written(&self) -> u64 {
        self.base + self.held()
    }

    fn index(&self, offset: u64) -> usize {
        let index = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        index.min(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_bytes_go_again_before_new_ones_and_acknowledged_ones_never() {
        let mut half = SendHalf::new();
        half.write(b"abcdefgh");
        assert_eq!(half.take(3), Some(Chunk { range: 0..3, is_end: false }));
        assert_eq!(half.take(2), Some(Chunk { range: 3..5, is_end: false }));
        half.handle_acked(3..5, false);
        half.handle_lost(0..5, false);
        assert_eq!(half.take(9), Some(Chunk { range: 0..3, is_end: false }));
        half.finish();
        assert_eq!(half.take(9), Some(Chunk { range: 5..8, is_end: true }));
        assert_eq!((half.copy(&(5..8)), half.take(9)), (b"fgh".to_vec(), None));
        half.handle_acked(0..3, false);
        assert_eq!((half.base, half.held()), (5, 3));
        half.handle_lost(5..8, true);
        assert_eq!(half.take(9), Some(Chunk { range: 5..8, is_end: true }));
        half.handle_acked(5..8, true);
        assert!(half.is_done() && half.held() == 0);
    }

    #[test]
    fn nothing_goes_beyond_the_credit_and_an_end_goes_alone() {
        let mut half = SendHalf::new();
        let bytes = vec![1; usize::try_from(FIRST_CREDIT).unwrap() + 5];
        assert_eq!(half.room(), 2 * FIRST_CREDIT);
        half.write(&bytes);
        half.finish();
        assert_eq!(half.take(usize::MAX), Some(Chunk { range: 0..FIRST_CREDIT, is_end: false }));
        half.handle_credit(5);
        assert_eq!((half.take(9), half.has_work()), (None, false), "credit never shrinks");
        half.handle_credit(FIRST_CREDIT + 5);
        let end = FIRST_CREDIT + 5;
        assert_eq!(half.take(9), Some(Chunk { range: FIRST_CREDIT..end, is_end: true }));
        let mut empty = SendHalf::new();
        empty.finish();
        assert_eq!(empty.take(0), Some(Chunk { range: 0..0, is_end: true }));
        empty.handle_lost(0..0, true);
        assert_eq!(empty.take(0), Some(Chunk { range: 0..0, is_end: true }));
    }

    #[test]
    fn a_reset_forgets_the_bytes_and_waits_until_it_has_arrived() {
        let mut half = SendHalf::new();
        half.write(b"abc");
        half.take(2);
        half.reset(7);
        half.reset(8);
        assert_eq!((half.reset_due(), half.take(9), half.held()), (Some((7, 2)), None, 0));
        half.handle_reset_sent();
        half.handle_acked(0..2, false);
        half.handle_lost(0..2, false);
        assert!(!half.has_work() && half.reset_due().is_none() && !half.is_done());
        half.handle_reset_lost();
        assert!(half.reset_due().is_some());
        half.handle_reset_acked();
        assert!(half.is_done());
    }
}
