//! Contents (diffs) in large datagrams that were not acknowledged in time. They show a black hole, a path that drops
//! large datagrams silently (RFC 8899, section 4.3).

use std::collections::VecDeque;

use rove_units::{Instant, push_newest};

use super::{CHANCE, Cut, beyond_chance};
use crate::num::StateNum;
use crate::path::Loss;
use crate::send_timing::SendTiming;

/// Minimum number of unanswered sends before the datagram size is blamed, because one acknowledgment may be late.
const TRIES_MIN: usize = 2;

/// Number of unanswered sends at which the datagram size is blamed, however much the path loses. Chosen: at 29 % loss,
/// so many sends of four datagrams get no answer less than twice in a thousand times. This holds even if the peer keeps
/// no fragment of an earlier send.
const TRIES_MAX: usize = 32;

/// Replaces [`TRIES_MAX`] while no loss reports of the peer arrive either, as happens if both ends send only large
/// datagrams. Chosen: at 29 % loss six reports in a row are lost less than once in a thousand times.
const UNREPORTED_MAX: usize = 6;

/// Minimum number of missing large datagrams before their size is blamed. Chosen: as many as three diffs of three
/// datagrams have, whose last datagrams are small. Fewer may only be late.
const LARGE_LOST: u64 = 6;

/// Unacknowledged contents that were sent within the time of one answer, so that one acknowledgment may cover all.
#[derive(Clone, Copy, Debug)]
struct Try {
    /// The number of the state that was sent first.
    num: StateNum,
    at: Instant,
    /// The largest number of datagrams that one of these diffs needed.
    datagrams: usize,
    /// The size in bytes of the smallest among the contents' largest datagrams.
    largest_min: usize,
    /// How many datagrams of the contents had the largest size.
    large: u64,
    /// The sequence number of the first datagram of the contents.
    before: u64,
    /// The sequence number after the last datagram of the contents.
    sent: u64,
    /// How many datagrams the peer had reported as missing before these contents.
    missing: u64,
}

/// The newest sends of contents that are not acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Unanswered {
    tries: VecDeque<Try>,
    /// The peer's newest report on the datagrams sent. `None` before the first.
    report: Option<Loss>,
    /// The estimated loss towards the peer when the first unacknowledged contents were sent. `None` without such
    /// contents.
    loss: Option<f64>,
}

impl Unanswered {
    /// Called before contents are sent, for the first time or again. Sends within about a round trip count as one.
    /// `before` is the next sequence number.
    pub(super) fn push(
        &mut self,
        now: Instant,
        num: StateNum,
        cut: Cut,
        before: u64,
        timing: &SendTiming,
    ) {
        // The last of several datagrams has the remaining bytes, and is not large.
        let large = (cut.datagrams as u64).max(2) - 1;
        let sent = before + cut.datagrams as u64;
        let newest = self.tries.back_mut().filter(|newest| now < newest.at + timing.in_flight());
        if let Some(newest) = newest {
            newest.datagrams = newest.datagrams.max(cut.datagrams);
            newest.largest_min = newest.largest_min.min(cut.largest);
            newest.large += large;
            newest.sent = sent;
            return;
        }
        let Cut { datagrams, largest: largest_min, .. } = cut;
        let missing = self.report.map_or(0, |report| report.missing);
        self.loss.get_or_insert(timing.path.loss_out);
        let newest = Try { num, at: now, datagrams, largest_min, large, before, sent, missing };
        push_newest(&mut self.tries, newest, TRIES_MAX);
    }

    /// Called with each report of the peer on the datagrams sent.
    pub(super) fn handle_report(&mut self, report: Loss) {
        self.report = Some(report);
    }

    /// Drops the recorded sends that an acknowledgment of `known` answers. Returns whether any were dropped.
    pub(super) fn handle_ack(&mut self, known: StateNum) -> bool {
        let before = self.tries.len();
        self.tries.retain(|it| it.num > known);
        let is_answered = self.tries.len() < before;
        self.loss = self.loss.filter(|_| !is_answered);
        is_answered
    }

    pub(super) fn clear(&mut self) {
        self.tries.clear();
    }

    /// Returns `None` as long as chance explains the unanswered sends. Otherwise returns a size to be blamed, in bytes:
    /// the smallest among the largest datagrams of these sends.
    pub(super) fn overdue(&self, now: Instant, timing: &SendTiming) -> Option<usize> {
        let overdue = || self.tries.iter().filter(|it| it.at + timing.in_flight() <= now);
        let datagrams = overdue().map(|it| it.datagrams).max()?;
        let most = if self.is_unreported() { UNREPORTED_MAX } else { TRIES_MAX };
        let is_beyond_chance =
            overdue().count() >= tries_max(timing.path.loss_out, datagrams).min(most);
        let is_to_blame = is_beyond_chance || self.are_large_lost();
        overdue().map(|it| it.largest_min).min().filter(|_| is_to_blame)
    }

    /// Returns whether no report of the peer covers any of the tries.
    fn is_unreported(&self) -> bool {
        let first = self.tries.front().map_or(0, |first| first.sent);
        self.report.is_none_or(|report| report.sent < first)
    }

    /// Returns whether at least as many of the reported datagrams are missing as were large, and the loss estimated
    /// earlier does not explain that. The present estimate is of no use, because it includes these datagrams.
    fn are_large_lost(&self) -> bool {
        let (Some(report), Some(first)) = (self.report, self.tries.front()) else { return false };
        let told = self.tries.iter().take_while(|it| it.sent <= report.sent);
        let large: u64 = told.map(|it| it.large).sum();
        let sent = report.sent.saturating_sub(first.before);
        large >= LARGE_LOST
            && report.missing.saturating_sub(first.missing) >= large
            && is_rare(large, sent, self.loss.unwrap_or_default())
    }
}

/// Returns whether the chance that `lost` or more of `sent` datagrams are lost, each with the chance `loss`, is below
/// 1/1000. Source: Hoeffding, JASA 58(301), 1963, theorem 1.
fn is_rare(lost: u64, sent: u64, loss: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let (lost, sent, loss) = (lost as f64, sent as f64, loss.clamp(0.01, 0.99));
    let share = (lost / sent).min(0.99);
    let divergence =
        share * (share / loss).ln() + (1.0 - share) * ((1.0 - share) / (1.0 - loss)).ln();
    share > loss && sent * divergence > -CHANCE.ln()
}

/// Returns how many unanswered sends are too many for chance. Each send has `datagrams` datagrams and one
/// acknowledgment, each lost with the probability `loss`.
fn tries_max(loss: f64, datagrams: usize) -> usize {
    let datagrams = i32::try_from(datagrams).unwrap_or(i32::MAX).saturating_add(1);
    let wanted = beyond_chance(1.0 - (1.0 - loss).powi(datagrams));
    let tries = (TRIES_MIN..TRIES_MAX).zip(2_u8..);
    let enough = tries.into_iter().find(|(_, tries)| f64::from(*tries) >= wanted);
    enough.map_or(TRIES_MAX, |(tries, _)| tries)
}
