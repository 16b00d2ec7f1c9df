//! How large datagrams may be on the path to the peer (DPLPMTUD, RFC 8899).
//!
//! A path starts with a size that nearly all paths carry. Once an end has sent enough in several datagrams at a time to
//! gain from a larger size, it probes larger sizes ([`Search`]). The loss of a probe delays nothing. If contents
//! (diffs) stay unanswered more often than chance explains ([`Unanswered`]), the end sends them in smaller datagrams.
//! It does the same if large stream packets do not arrive. A later probe of the former size finds out whether the size
//! was to blame. On another path, the search starts again.
//!
//! RFC 8899 expects a separate acknowledgment for each probe. Here, the peer acknowledges an empty state that only the
//! probe has carried. A Mosh 1.4.0 peer (stock) does so, too.

mod search;
mod unanswered;

use rove_units::{Duration, Instant};

use crate::num::StateNum;
use crate::path::Loss;
use crate::send_timing::SendTiming;
pub(crate) use search::Answer;
use search::Search;
use unanswered::Unanswered;

/// A UDP payload that is small enough for every path, in bytes. It is also the size after the system has refused to
/// send [`SIZE_BASE`] bytes or fewer. Source: Mosh 1.4.0, docs/wire.md.
pub(crate) const SIZE_MIN: usize = 500;

/// The UDP payload that a path starts with, in bytes. Source: RFC 9000, section 14: 1200 bytes; RFC 8899, section 5.1.2
/// (BASE_PLPMTU).
pub(crate) const SIZE_BASE: usize = 1_200;

/// Maximum number of falls of the datagram size, each within [`FALLS_APART`] of the last, after which the former size
/// is probed again at once. A further fall excludes that size. Chosen: an end adapts at once to a path that changes. On
/// a path that carries only the probes, the falls end.
const FALLS_MAX: u32 = 4;
const FALLS_APART: Duration = Duration::from_secs(60);

/// How long the datagram size is not blamed for missing answers, after smaller datagrams also got none. Each further
/// time in a row is twice as long. Chosen: a heartbeat's interval. The time ends, because a path may have an outage and
/// also drop large datagrams. After the outage, their size is to blame.
const ACQUITTAL: Duration = Duration::from_secs(3);

/// Maximum number of doublings of the time ([`ACQUITTAL`]) for which missing answers are not blamed on datagram size.
/// Chosen: times of up to 48 s, because a peer that accepts nothing may do so for hours.
const ACQUITTALS_MAX: u32 = 4;

/// The sizes of datagrams that depend on the address family, as bytes of UDP payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The fixed size of Mosh. Source: Mosh 1.4.0 as observed, docs/wire.md. The size is that of a link of 1280 bytes,
    /// less 28 of headers over IPv4, less 64 of headers and options over IPv6.
    stock: usize,
    /// The largest size that is probed: a link of 1500 bytes, Ethernet's, less 28 or 48 of headers. Chosen: hardly any
    /// path through the Internet has more, and a Mosh 1.4.0 peer accepts 2048.
    max: usize,
}

impl Family {
    const IPV4: Self = Self { stock: 1_280 - 28, max: 1_500 - 28 };
    const IPV6: Self = Self { stock: 1_280 - 64, max: 1_500 - 48 };

    const fn of(ipv6: bool) -> Self {
        if ipv6 { Self::IPV6 } else { Self::IPV4 }
    }
}

/// The number and sizes of the datagrams that carry one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes of UDP payload of the largest datagram.
    pub(crate) largest: usize,
    /// How many datagrams carry the instruction.
    pub(crate) datagrams: usize,
    /// Bytes of UDP payload of all datagrams together.
    pub(crate) bytes: usize,
}

/// The size of datagrams on the path to the peer, and the search for a better one.
#[derive(Clone, Debug)]
pub(crate) struct PathSize {
    family: Family,
    size: usize,
    /// Whether the fragments being sent must be cut again, because the size has changed.
    is_recut: bool,
    /// The search for a larger size. `None` if the size is the fixed one of Mosh 1.4.0.
    search: Option<Search>,
    unanswered: Unanswered,
    /// The size before it fell. `None` if it has not fallen since the last acknowledgment of contents.
    fallen_from: Option<usize>,
    falls: u32,
    fell_at: Option<Instant>,
    /// Until when, if at all, missing answers do not make the size fall, as smaller datagrams also got none.
    acquitted_until: Option<Instant>,
    /// How often, since the last acknowledgment, smaller datagrams also stayed unanswered; at most [`ACQUITTALS_MAX`].
    acquittals: u32,
}

impl PathSize {
    /// Creates the state of a new path. Unless sizes are probed (`is_tried`), the size is the fixed one of Mosh 1.4.0.
    pub(crate) fn new(ipv6: bool, is_tried: bool) -> Self {
        let family = Family::of(ipv6);
        Self {
            family,
            size: if is_tried { SIZE_BASE } else { family.stock },
            is_recut: false,
            search: is_tried.then(|| Search::new(family.stock, family.max)),
            unanswered: Unanswered::default(),
            fallen_from: None,
            falls: 0,
            fell_at: None,
            acquitted_until: None,
            acquittals: 0,
        }
    }

    /// Returns the largest UDP payload to send now, in bytes. Only a probe is larger.
    pub(crate) const fn get(&self) -> usize {
        self.size
    }

    /// Returns the size that Mosh 1.4.0 uses on this path, in bytes. Most paths of the family carry it.
    pub(crate) const fn stock(&self) -> usize {
        self.family.stock
    }

    /// Returns whether a datagram of `len` bytes from the peer, without a diff, counts as a path size probe. The peer
    /// waits for the acknowledgment of a probe. Always false at an end that does not probe sizes.
    pub(crate) fn is_try(&self, len: usize) -> bool {
        self.search.is_some() && len > SIZE_MIN
    }

    /// Returns whether fragments must be cut again, because the size has changed. The next call returns false.
    pub(crate) fn take_recut(&mut self) -> bool {
        core::mem::take(&mut self.is_recut)
    }

    /// Called before contents (a diff) are sent, for the first time or again. `sent` is the next sequence number.
    pub(crate) fn handle_sent(
        &mut self,
        now: Instant,
        num: StateNum,
        cut: Cut,
        sent: u64,
        timing: &SendTiming,
    ) {
        let Some(search) = &mut self.search else { return };
        search.handle_sent(now, num, cut, timing);
        if cut.largest > SIZE_MIN || self.fallen_from.is_some() {
            self.unanswered.push(now, num, cut, sent, timing);
        }
    }

    /// Called with each report of the peer on the datagrams sent.
    pub(crate) fn handle_report(&mut self, report: Loss) {
        self.unanswered.handle_report(report);
    }

    /// Called with the number of the known receiver state after each instruction from the peer.
    pub(crate) fn handle_ack(&mut self, now: Instant, known: StateNum, timing: &SendTiming) {
        let Some(search) = &mut self.search else { return };
        if let Some(passed) = search.handle_ack(now, known, timing) {
            tracing::debug!(size = passed, "larger datagrams get through");
            self.size = self.size.max(passed);
        }
        if !self.unanswered.handle_ack(known) {
            return;
        }
        self.acquitted_until = None;
        self.acquittals = 0;
        self.settle(now);
    }

    /// Makes datagrams smaller, because packets of `len` bytes or more do not arrive, although smaller ones do.
    pub(crate) fn handle_black_hole(&mut self, now: Instant, len: usize) {
        if self.search.is_some() && len <= self.size && self.fall_below(len) {
            self.settle(now);
        }
    }

    /// Plans a probe of the former size once smaller datagrams arrive. After too many falls, excludes that size.
    fn settle(&mut self, now: Instant) {
        let (Some(search), Some(from)) = (&mut self.search, self.fallen_from.take()) else {
            return;
        };
        let is_apart = self.fell_at.is_none_or(|at| at + FALLS_APART <= now);
        self.falls = if is_apart { 1 } else { self.falls + 1 };
        self.fell_at = Some(now);
        if self.falls <= FALLS_MAX { search.doubt(from) } else { search.refuse(now, from) }
    }

    /// Makes datagrams smaller than `blamed` bytes and than at present. Returns false if there is no smaller size.
    fn fall_below(&mut self, blamed: usize) -> bool {
        let below = blamed.min(self.size);
        let lower = [SIZE_BASE, SIZE_MIN].into_iter().find(|size| *size < below);
        if let Some(lower) = lower {
            tracing::debug!(size = lower, from = self.size, "large datagrams stay unanswered");
            self.fallen_from.get_or_insert(self.size);
            self.shrink(lower);
        }
        lower.is_some()
    }

    /// Makes datagrams smaller if contents stay unanswered more often than chance explains. If the smallest also stay
    /// unanswered, restores the former size, at least for a while.
    pub(crate) fn heed_silence(&mut self, now: Instant, timing: &SendTiming) {
        let is_acquitted = self.acquitted_until.is_some_and(|until| now < until);
        let is_watching = self.search.is_some() && !is_acquitted;
        let overdue = self.unanswered.overdue(now, timing);
        let Some(largest) = overdue.filter(|_| is_watching) else { return };
        self.unanswered.clear();
        if !self.fall_below(largest) {
            self.acquitted_until = Some(now + ACQUITTAL * (1 << self.acquittals));
            self.acquittals = (self.acquittals + 1).min(ACQUITTALS_MAX);
            if let Some(from) = self.fallen_from.take() {
                (self.size, self.is_recut) = (from, true);
            }
        }
    }

    /// Returns the size in bytes that a datagram without a diff is to probe now. `None` while no probe is due.
    pub(crate) fn next_try(&mut self, now: Instant, timing: &SendTiming) -> Option<usize> {
        let size = self.size;
        let is_settled = self.fallen_from.is_none();
        self.search.as_mut().filter(|_| is_settled)?.next_try(now, size, timing)
    }

    /// Called when a probe of `size` bytes is sent, as the only datagram of state `num`.
    pub(crate) fn handle_try(&mut self, now: Instant, num: StateNum, size: usize, answer: Answer) {
        if let Some(search) = &mut self.search {
            search.handle_try(now, num, size, answer);
        }
    }

    /// Called when the system has refused to send `len` bytes. Shrinks datagrams to [`SIZE_BASE`] or [`SIZE_MIN`].
    pub(crate) fn handle_refused(&mut self, now: Instant, len: usize) {
        if let Some(search) = &mut self.search {
            search.refuse(now, len);
        }
        if len <= self.size {
            let is_base_borne = self.search.is_some() && len > SIZE_BASE;
            self.fallen_from = None;
            self.shrink(if is_base_borne { SIZE_BASE } else { SIZE_MIN });
        }
    }

    /// Starts the search again, because datagrams take another path, possibly of the other address family.
    pub(crate) fn handle_moved(&mut self, ipv6: bool) {
        let is_recut = self.is_recut;
        let fresh = Self::new(ipv6, self.search.is_some());
        // With a fixed size, a refusal lowers the size for good, on every path.
        let size = if self.search.is_some() { fresh.size } else { fresh.size.min(self.size) };
        *self = Self { size, is_recut: is_recut || size < self.size, ..fresh };
    }

    pub(crate) fn is_ipv6(&self) -> bool {
        self.family == Family::IPV6
    }

    fn shrink(&mut self, size: usize) {
        debug_assert!(size >= SIZE_MIN);
        self.is_recut |= size < self.size;
        self.size = size;
    }
}

/// Failures that are less probable than this are not explained by chance. Chosen: a value ten times larger or smaller
/// changes the number of tolerated failures by a third.
const CHANCE: f64 = 1e-3;

/// Returns how many failures in a row are too many for chance, if each has the probability `failure`. Chance alone
/// causes such a row less than once in a thousand times.
fn beyond_chance(failure: f64) -> f64 {
    CHANCE.ln() / failure.clamp(0.01, 0.99).ln()
}

#[cfg(test)]
mod tests;
