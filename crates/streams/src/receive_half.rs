//! The receiving direction of a stream: it keeps bytes until the owner reads them.

use std::collections::VecDeque;

use crate::error::{PacketError, StreamError, Violation};
use crate::ranges::Ranges;

/// Maximum number of pieces of a stream that wait for earlier bytes. Chosen: this bounds memory; refused pieces come
/// again.
const PIECES_MAX: usize = 1_024;

/// The outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// This many bytes were read, at least one.
    Bytes(usize),
    /// Nothing has arrived yet.
    Blocked,
    /// The stream has ended, and everything was read.
    End,
}

/// Whether arriving bytes are discarded, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discards {
    /// Arriving bytes are kept for the owner.
    No,
    /// Arriving bytes are discarded: the peer has reset the stream with this code, and the owner does not know yet.
    Reset(u64),
    /// Arriving bytes are discarded: the owner has stopped reading, and the peer has not ended the stream.
    Stopped,
    /// The receiving direction is over, so a stream whose sending direction is over, too, may be removed.
    Done,
}

/// The bytes that this end receives on a stream.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveHalf {
    /// The bytes from `base` on, with zeros in place of missing bytes.
    bytes: VecDeque<u8>,
    /// How many bytes the owner has read.
    base: u64,
    arrived: Ranges,
    /// How many bytes the stream has in all. `None` until the peer has stated this number.
    end: Option<u64>,
    /// The highest end offset of any data frame or reset so far.
    highest: u64,
    discards: Discards,
}

impl ReceiveHalf {
    pub(crate) fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            base: 0,
            arrived: Ranges::default(),
            end: None,
            highest: 0,
            discards: Discards::No,
        }
    }

    /// Handles bytes from `offset` on; above `limit` they are an error. If bytes arrive twice, the first are kept.
    pub(crate) fn handle_data(
        &mut self,
        offset: u64,
        bytes: &[u8],
        is_end: bool,
        limit: u64,
    ) -> Result<(), PacketError> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(Violation::BeyondCredit)?;
        self.check_end(end, is_end.then_some(end), limit)?;
        if self.discards == Discards::No {
            self.store(offset, end, bytes)?;
        }
        self.learn_end(end, is_end.then_some(end));
        Ok(())
    }

    /// Handles a reset after `end` bytes, at most `limit`. It has no effect once all bytes and the end have arrived.
    pub(crate) fn handle_reset(
        &mut self,
        code: u64,
        end: u64,
        limit: u64,
    ) -> Result<(), Violation> {
        self.check_end(end, Some(end), limit)?;
        let is_whole = self.end == Some(end) && self.arrived.covers(self.base..end);
        self.learn_end(end, Some(end));
        if self.discards == Discards::No && !is_whole {
            self.discard(Discards::Reset(code));
        }
        Ok(())
    }

    /// Stops reading. Returns whether the peer should be asked to reset the stream.
    pub(crate) fn stop(&mut self) -> bool {
        let is_asked = self.discards == Discards::No && self.end.is_none();
        if matches!(self.discards, Discards::No | Discards::Reset(_)) {
            self.discard(if is_asked { Discards::Stopped } else { Discards::Done });
        }
        is_asked
    }

    /// Reads the stream's next bytes into `buffer`. Only the first read after a reset returns [`StreamError::Reset`].
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Read, StreamError> {
        match self.discards {
            Discards::No => {}
            Discards::Reset(code) => {
                self.discards = Discards::Done;
                return Err(StreamError::Reset(code));
            }
            Discards::Stopped | Discards::Done => return Err(StreamError::Unknown),
        }
        let len = self.readable().min(buffer.len());
        if len == 0 {
            let is_over = self.end == Some(self.base);
            self.discards = if is_over { Discards::Done } else { Discards::No };
            return Ok(if is_over { Read::End } else { Read::Blocked });
        }
        // The bytes are copied in slices, because single bytes would cost more than decrypting the packet.
        let _ =
            std::io::Read::read_exact(&mut self.bytes, buffer.get_mut(..len).unwrap_or_default());
        self.base += len as u64;
        self.arrived.remove(0..self.base);
        if self.bytes.is_empty() {
            self.bytes = VecDeque::new();
        }
        Ok(Read::Bytes(len))
    }

    /// Returns whether a read would return bytes, the end or a reset.
    pub(crate) fn is_readable(&self) -> bool {
        match self.discards {
            Discards::No => self.readable() > 0 || self.end == Some(self.base),
            Discards::Reset(_) => true,
            Discards::Stopped | Discards::Done => false,
        }
    }

    /// Returns whether the receiving direction is over, so that it does not keep the stream open.
    pub(crate) fn is_done(&self) -> bool {
        self.discards == Discards::Done
    }

    /// Returns whether more bytes may come that the owner will read.
    pub(crate) fn wants_credit(&self) -> bool {
        self.discards == Discards::No && self.end.is_none()
    }

    pub(crate) const fn read_bytes(&self) -> u64 {
        self.base
    }

    pub(crate) fn held(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn readable(&self) -> usize {
        let first = self.arrived.first().filter(|it| it.start == self.base);
        first.map_or(0, |it| usize::try_from(it.end - it.start).unwrap_or(usize::MAX))
    }

    fn check_end(&self, highest: u64, end: Option<u64>, limit: u64) -> Result<(), Violation> {
        let known = self.end;
        if highest > limit {
            Err(Violation::BeyondCredit)
        } else if end.is_some() && known.is_some() && end != known {
            Err(Violation::TwoEnds)
        } else if known.is_some_and(|it| highest > it) || end.is_some_and(|it| it < self.highest) {
            Err(Violation::BeyondEnd)
        } else {
            Ok(())
        }
    }

    fn learn_end(&mut self, highest: u64, end: Option<u64>) {
        self.highest = self.highest.max(highest);
        self.end = self.end.or(end);
        if self.end.is_some() && self.discards == Discards::Stopped {
            self.discards = Discards::Done;
        }
    }

    fn store(&mut self, offset: u64, end: u64, bytes: &[u8]) -> Result<(), PacketError> {
        let start = offset.max(self.base);
        let missing: Vec<_> = self.arrived.missing(start..end.max(start)).collect();
        let index = |from: u64, at: u64| usize::try_from(at - from).unwrap_or(usize::MAX);
        let around = start.saturating_sub(1)..end.saturating_add(1);
        let is_apart = self.arrived.missing(around.clone()).next() == Some(around);
        // The next bytes to be read are always accepted, so that the stream goes on.
        if is_apart && start > self.base && self.arrived.len() >= PIECES_MAX {
            return Err(PacketError::TooManyGaps);
        }
        for range in missing {
            let Some(new) = bytes.get(index(offset, range.start)..index(offset, range.end)) else {
                continue;
            };
            let (from, to) = (index(self.base, range.start), index(self.base, range.end));
            if self.bytes.len() < from {
                self.bytes.resize(from, 0);
            }
            if self.bytes.len() == from {
                self.bytes.extend(new);
            } else {
                debug_assert!(to <= self.bytes.len(), "a gap ends before what has arrived");
                let len = self.bytes.len();
                let slots = self.bytes.range_mut(from..to.min(len));
                slots.zip(new).for_each(|(slot, byte)| *slot = *byte);
            }
            self.arrived.insert(range);
        }
        Ok(())
    }

    fn discard(&mut self, why: Discards) {
        (self.bytes, self.arrived) = (VecDeque::new(), Ranges::default());
        self.discards = why;
    }
}

#[cfg(test)]
mod tests;
