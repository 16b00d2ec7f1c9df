//! The search for the largest size that arrives, by probe datagrams without a diff (RFC 8899, section 5.3).

use rove_units::{Duration, Instant};

use super::{Cut, SIZE_BASE, SIZE_MIN, beyond_chance};
use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// Bytes of contents that must have been sent, in several datagrams at a time, for each byte of a probe. Probes thus
/// add at most a sixteenth to the traffic that they make cheaper. Chosen: 1472 bytes in place of 1200 save one datagram
/// in six, and 1 % of the bytes.
const WORTH: usize = 16;

/// Maximum number of path size probes that the bytes of earlier contents pay for. Chosen: a search then never waits for
/// more contents.
const SAVED_MAX: usize = 8;

/// The search ends if the largest size that arrives and the smallest that does not differ by at most this many bytes.
/// Chosen: 2 % of a datagram.
const CLOSE: usize = 32;

/// Sizes that differ by less than this count as equal, because the padding of a probe may fall short by a few bytes.
/// Chosen: less than the 16 bytes between Mosh's size over IPv6 (1216) and the size on an unprobed path.
const SAME: usize = 8;

/// Minimum number of unanswered probes before a size counts as too large. Source: RFC 8899, section 5.1.2 (MAX_PROBES).
const LOSSES_MIN: u32 = 3;

/// Maximum number of unanswered probes before a size counts as too large. Chosen: at 29 % loss in each direction, ten
/// probes in a row stay unanswered once in a thousand times.
const LOSSES_MAX: u32 = 10;

/// How long after contents of several datagrams a size may be probed, so that an idle path carries no probes. Chosen:
/// in this time a Mosh 1.4.0 peer acknowledges the contents.
const TRIED_WITHIN: Duration = Duration::from_secs(3);

/// Points that an unanswered probe adds to [`Search::failures`], and ([`HIDDEN`]) points of a probe whose answer a
/// later acknowledgment may have hidden. Chosen: hidden answers count, so that the search pauses if a peer hides them
/// all.
const LOST: u32 = 3;
const HIDDEN: u32 = 1;

/// Time after the last refusal of a size until all sizes may be probed again. Source: RFC 8899, section 5.1.1
/// (PMTU_RAISE_TIMER).
const RAISE_AFTER: Duration = Duration::from_secs(600);

/// A path size probe that is on its way.
#[derive(Clone, Copy, Debug)]
struct Try {
    num: StateNum,
    size: usize,
    sent_at: Instant,
    answer: Answer,
}

/// When the peer acknowledges a path size probe that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The peer acknowledges the probe at once, as rove does.
    AtOnce,
    /// The peer acknowledges the probe together with contents that were sent right before it.
    Soon,
    /// The peer acknowledges the probe with its next instruction, at an unknown time.
    Some,
}

/// The search for a larger size: which sizes arrive, as far as known, and the probe on its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    stock: usize,
    max: usize,
    /// The smallest size in bytes known not to arrive; `max + 1` while no such size is known.
    refused: usize,
    refused_at: Option<Instant>,
    /// A size that arrived once and has since become doubtful, if any. It is probed first.
    doubted: Option<usize>,
    under_way: Option<Try>,
    tried_at: Option<Instant>,
    /// When contents of several datagrams were last sent. `None` if they never were.
    used_at: Option<Instant>,
    /// Weighted count of the failed probes of the present size ([`LOST`], [`HIDDEN`]).
    failures: u32,
    /// Bytes of contents sent that have not been used up for probes ([`WORTH`]).
    saved: usize,
}

impl Search {
    pub(super) fn new(stock: usize, max: usize) -> Self {
        Self { stock, max, refused: max + 1, ..Self::default() }
    }

    /// Called when contents (a diff) are sent. Contents of the probe's state hide whether the probe has arrived.
    pub(super) fn handle_sent(
        &mut self,
        now: Instant,
        num: StateNum,
        cut: Cut,
        timing: &SendTiming,
    ) {
        if let Some(under_way) = self.under_way {
            let is_late = under_way.sent_at + timing.ack_expected <= now;
            if num == under_way.num {
                self.fail(now, HIDDEN, timing);
            } else if is_late && under_way.answer != Answer::Some {
                self.fail(now, LOST, timing);
            }
        }
        if cut.datagrams > 1 {
            self.used_at = Some(now);
            self.saved = (self.saved + cut.bytes).min(SAVED_MAX * WORTH * self.max);
        }
    }

    /// Returns the size to probe now while datagrams of `size` bytes are in use. `None` while no probe is due.
    pub(super) fn next_try(
        &mut self,
        now: Instant,
        size: usize,
        timing: &SendTiming,
    ) -> Option<usize> {
        if self.refused_at.is_some_and(|at| at + RAISE_AFTER <= now) {
            (self.refused, self.refused_at, self.failures) = (self.max + 1, None, 0);
        }
        let is_early = self.tried_at.is_some_and(|at| now < at + timing.in_flight());
        self.doubted = self.doubted.filter(|doubted| (size + 1..self.refused).contains(doubted));
        let is_used = self.used_at.is_some_and(|at| now <= at + TRIED_WITHIN);
        if self.under_way.is_some() || is_early || !(is_used || self.doubted.is_some()) {
            return None;
        }
        let next = self.doubted.or_else(|| self.candidate(size))?;
        let is_earned = self.doubted.is_some() || self.saved >= WORTH * next;
        is_earned.then_some(next)
    }

    /// Returns the size to probe next: the largest usual size that may arrive, or one halfway to the refused size.
    /// `None` once the two are [`CLOSE`].
    fn candidate(&self, size: usize) -> Option<usize> {
        let usual = [self.max, self.stock, SIZE_BASE].into_iter();
        // A size at or above the refused one would fail. A size at or below the present one gains nothing.
        let next = usual.filter(|usual| (size + SAME..self.refused).contains(usual)).max();
        let halfway = size + self.refused.saturating_sub(size) / 2;
        next.or_else(|| (self.refused > size + CLOSE).then_some(halfway))
    }

    /// Called when a probe of `size` bytes is sent, as the only datagram of state `num`.
    pub(super) fn handle_try(&mut self, now: Instant, num: StateNum, size: usize, answer: Answer) {
        if self.doubted.is_none() {
            self.saved = self.saved.saturating_sub(WORTH * size);
        }
        self.tried_at = Some(now);
        self.under_way = Some(Try { num, size, sent_at: now, answer });
    }

    /// Called with the newest state that the peer is known to hold, after each instruction from the peer. Returns the
    /// probe's size if the peer has acknowledged the probe, or else `None`.
    pub(super) fn handle_ack(
        &mut self,
        now: Instant,
        known: StateNum,
        timing: &SendTiming,
    ) -> Option<usize> {
        let under_way = self.under_way?;
        if known == under_way.num {
            self.under_way = None;
            self.failures = 0;
            self.doubted = self.doubted.filter(|doubted| *doubted > under_way.size);
            return Some(under_way.size);
        }
        if known > under_way.num {
            // The peer acknowledged only a later state, so the probe's arrival is unknown.
            self.fail(now, if under_way.answer == Answer::AtOnce { LOST } else { HIDDEN }, timing);
        } else if under_way.sent_at + timing.ack_expected <= now {
            self.fail(now, LOST, timing);
        }
        None
    }

    /// Counts the probe on its way as failed, with the weight `count`. Too many failures exclude its size.
    fn fail(&mut self, now: Instant, count: u32, timing: &SendTiming) {
        let Some(under_way) = self.under_way.take() else { return };
        self.failures += count;
        if self.failures >= LOST * losses_max(timing.path.loss_out) {
            self.refuse(now, under_way.size);
        }
    }

    /// Records a size that arrived once and has since become doubtful.
    pub(super) fn doubt(&mut self, size: usize) {
        (self.doubted, self.failures) = (Some(size), 0);
    }

    /// Records that datagrams of `size` bytes do not arrive.
    pub(super) fn refuse(&mut self, now: Instant, size: usize) {
        tracing::debug!(size, "datagrams of this size do not get through");
        self.under_way = self.under_way.filter(|under_way| under_way.size < size);
        self.refused = self.refused.min(size).max(SIZE_MIN + 1);
        self.refused_at = Some(now);
        (self.doubted, self.failures) = (None, 0);
    }
}

/// Returns how many unanswered probes in a row are too many for chance. A datagram is lost with the probability `loss`.
/// The probe and its acknowledgment can both be lost.
fn losses_max(loss: f64) -> u32 {
    let failure = 1.0 - (1.0 - loss).powi(2);
    let is_enough = |losses: &u32| f64::from(*losses) >= beyond_chance(failure);
    (LOSSES_MIN..LOSSES_MAX).find(is_enough).unwrap_or(LOSSES_MAX)
}
