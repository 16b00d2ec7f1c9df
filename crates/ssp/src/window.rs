//! Decides by a sliding window which sequence numbers are accepted, as in RFC 6479 and QUIC (RFC 9000, section 12.3).
//!
//! A number above all before it is accepted, and moves the window up. A number within the window is accepted once. A
//! number below the window is refused, because it may have arrived before. Numbers are in clear text, so a datagram can
//! be refused for its number before its tag is verified. Its number is recorded only after the tag has been verified.

use core::ops::Range;

use crate::loss_estimate::{LossEstimate, TOLD_APART};
use crate::num::SeqNum;
use crate::path::Loss;

/// Number of 64-bit words in the bitmap, which is used as a ring.
const WORDS: usize = 128;

/// Number of sequence numbers that the window covers, from the highest down. A datagram that so many later ones have
/// overtaken is refused. The word with the highest number is not full, so it does not count. Chosen: a record of a
/// kilobyte, as in WireGuard. A paste of 1 MiB has some 900 datagrams; nine times as many may overtake the first.
const OVERTAKEN_MAX: u64 = 127 * 64;
const _: () = assert!(OVERTAKEN_MAX == (WORDS as u64 - 1) * WORD);

/// How many sequence numbers a word records.
const WORD: u64 = u64::BITS as u64;

/// How many of the newest numbers the recent loss covers. Chosen: as many as a typing user causes in some seconds.
const RECENT: u64 = 128;
const _: () = assert!(OVERTAKEN_LOST <= RECENT && RECENT <= OVERTAKEN_MAX);

/// How far below the highest arrived number a missing number counts as lost, on a path that has recently reordered
/// datagrams. Source: RFC 5681, section 3.2 (three duplicate acknowledgments).
pub(crate) const OVERTAKEN_LOST: u64 = 3;

/// Replaces [`OVERTAKEN_LOST`] on a path that has not recently reordered datagrams. Source: RFC 8985, section 6.2 (no
/// reordering window where no reordering was observed).
const OVERTAKEN_LOST_IN_ORDER: u64 = 1;

/// Number of datagrams after a reordering for which a path counts as reordering. Chosen: a loss is remembered as long.
const OUT_OF_ORDER: u64 = 512;

/// The sequence numbers that have arrived, in a sliding window, and an estimate of the loss.
#[derive(Clone, Debug)]
pub struct Window {
    /// The highest arrived number plus one; 0 before the first.
    next: u64,
    /// How many different numbers have arrived.
    count: u64,
    /// All numbers below this one have arrived or count as lost.
    settled: u64,
    /// The number up to which the path counts as reordering.
    out_of_order_until: u64,
    estimate: LossEstimate,
    /// The bitmap of arrived numbers; the bit of number `n` is in word `n / 64 % WORDS`.
    words: [u64; WORDS],
}

impl Default for Window {
    fn default() -> Self {
        Self::new()
    }
}

impl Window {
    /// Creates a window that accepts every number.
    pub fn new() -> Self {
        Self {
            next: 0,
            count: 0,
            settled: 0,
            out_of_order_until: 0,
            estimate: LossEstimate::default(),
            words: [0; WORDS],
        }
    }

    /// Creates a window that accepts the numbers from `next` on; all below count as received.
    pub fn above(next: u64) -> Self {
        let mut window = Self { next, count: next, settled: next, ..Self::new() };
        window.words = [u64::MAX; WORDS];
        let (word, lowest) = place(next);
        window.words[word] = lowest - 1;
        window
    }

    /// Returns whether a datagram with this number may be new: it has not arrived, and is not below the window.
    pub fn takes(&self, seq: SeqNum) -> bool {
        let seq = seq.get();
        seq >= self.next || (self.next - seq <= OVERTAKEN_MAX && !self.contains(seq))
    }

    /// Records the number of an authentic datagram; returns whether it is higher than all before.
    pub fn record(&mut self, seq: SeqNum) -> bool {
        debug_assert!(self.takes(seq), "what the window does not take is refused before");
        let is_newest = seq.get() >= self.next;
        if is_newest {
            self.move_up(seq.get());
        } else {
            self.out_of_order_until = self.next + OUT_OF_ORDER;
            let has_counted =
                seq.get() < self.settled && seq.get() + (TOLD_APART as u64) >= self.settled;
            self.estimate.handle_late(u64::from(has_counted));
        }
        let (word, bit) = place(seq.get());
        self.words[word] |= bit;
        self.count += 1;
        self.settle();
        is_newest
    }

    /// Returns how many numbers the sender has used, as the highest arrived number shows.
    pub(crate) const fn sent(&self) -> u64 {
        self.next
    }

    /// Returns how many of the sent numbers have not arrived.
    pub(crate) fn loss(&self) -> Loss {
        let recent = self.next.saturating_sub(RECENT)..self.next;
        let count = |it: u64| u32::try_from(it).expect("at most RECENT");
        Loss {
            sent: self.next,
            missing: self.next - self.count,
            recent_sent: count(self.next - recent.start),
            recent_missing: count(self.missing_among(recent)),
        }
    }

    /// Returns how many of the sent numbers count as lost. A missing number counts once enough later numbers have come.
    pub(crate) fn settled_loss(&self) -> Loss {
        let loss = self.loss();
        let open = self.missing_among(self.settled..self.next);
        let recent_open = u32::try_from(open).expect("at most OVERTAKEN_LOST");
        Loss {
            missing: loss.missing - open,
            recent_missing: loss.recent_missing - recent_open,
            ..loss
        }
    }

    /// Returns the estimated share of numbers that do not arrive, from 0 to 1.
    pub(crate) fn loss_rate(&self) -> f64 {
        self.estimate.rate()
    }

    /// Updates the loss estimate with the numbers that have arrived or begun to count as lost since the last call.
    fn settle(&mut self) {
        let is_in_order = self.out_of_order_until <= self.next;
        let overtaken = if is_in_order { OVERTAKEN_LOST_IN_ORDER } else { OVERTAKEN_LOST };
        let end = self.next.saturating_sub(overtaken);
        for seq in self.settled.max(end.saturating_sub(TOLD_APART as u64))..end {
            self.estimate.handle_datagram(!self.contains(seq));
        }
        self.settled = self.settled.max(end);
    }

    /// Returns how many of these numbers have not arrived. All of them must be in the window.
    fn missing_among(&self, numbers: Range<u64>) -> u64 {
        let mut missing = 0;
        let mut from = numbers.start;
        while from < numbers.end {
            let (word, lowest) = place(from);
            let next_word = (from / WORD + 1) * WORD;
            let until = next_word.min(numbers.end);
            // The bits from `lowest` on, without those of numbers after `until`.
            let mask = !(lowest - 1) & (u64::MAX >> (next_word - until));
            missing += u64::from((!self.words[word] & mask).count_ones());
            from = until;
        }
        missing
    }

    /// Makes `seq` the highest number, and clears the words of the ring that now record new numbers.
    fn move_up(&mut self, seq: u64) {
        let highest = self.next.saturating_sub(1) / WORD;
        let entered = (seq / WORD - highest).min(WORDS as u64);
        for word in 0..entered {
            let (word, _) = place(seq - word * WORD);
            self.words[word] = 0;
        }
        self.next = seq + 1;
    }

    /// Returns whether a number in the window has arrived.
    fn contains(&self, seq: u64) -> bool {
        let (word, bit) = place(seq);
        self.words[word] & bit != 0
    }
}

/// Returns the index of the word that records a number, and the number's bit in it.
fn place(seq: u64) -> (usize, u64) {
    let word = usize::try_from(seq / WORD % WORDS as u64).expect("below WORDS");
    (word, 1 << (seq % WORD))
}

#[cfg(test)]
mod tests;
