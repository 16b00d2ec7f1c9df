//! Divides a large change into parts. Each part is a state whose diff fits into one instruction of bounded size.
//!
//! Each part is a diff from the state of the part before. While nothing is lost, several parts are on their way at
//! once. As soon as one is presumed lost, only the oldest unacknowledged part is repeated, byte for byte, until it is
//! acknowledged. A receiver holds the fragments of one instruction only, so another part would make it drop those of
//! the oldest. After [`REPEATS_MAX`] repetitions without an answer, the next part alternates with the oldest, in case
//! only the acknowledgment was lost.

use rove_units::Instant;

use crate::hello::Capabilities;
use crate::num::StateNum;
use crate::object::Object;
use crate::send_timing::SendTiming;
use crate::sender::Sender;
use crate::sender::sending::Step;

/// Maximum number of parts of a large change on their way at once. Chosen: parts of 32 KiB are half a round trip apart,
/// so four last for a round trip and the delayed acknowledgment.
const WINDOW_MAX: usize = 4;

/// How often a part of a large change is repeated before the next part is sent. The part may have arrived, and its
/// acknowledgment, which Mosh 1.4.0 sends only once, may be lost. Chosen: after five tries 27 fragments at 30 % loss
/// are complete 15 times out of 16.
const REPEATS_MAX: u32 = 4;

/// Maximum number of halvings of a large change until its diff fits. Chosen: enough for any length of 64 bits.
const HALVINGS_MAX: usize = 64;

/// The progress in sending the parts of a large change.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    is_active: bool,
    /// Maximum number of parts on their way at once, at present.
    window: usize,
    /// Whether a part was sent again since the last acknowledgment.
    is_repaired: bool,
    /// Whether the part after the oldest unacknowledged one is being sent, in case only an acknowledgment was lost.
    is_leaping: bool,
}

impl Default for Chunks {
    fn default() -> Self {
        Self { is_active: false, window: 1, is_repaired: false, is_leaping: false }
    }
}

impl Chunks {
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }

    pub(super) fn handle_ack(&mut self) {
        self.window = if self.is_repaired { 1 } else { WINDOW_MAX.min(self.window + 1) };
        (self.is_repaired, self.is_leaping) = (false, false);
    }
}

impl<L: Object> Sender<L> {
    /// Returns whether the next part may be sent: no part is unacknowledged, or few are and none is presumed lost.
    pub(super) fn may_extend(&self, timing: &SendTiming) -> bool {
        let in_flight = self.sent.with_contents().count();
        let is_all_assumed = self.sent.assumed + 1 == self.sent.list.len();
        in_flight == 0
            || (in_flight < self.chunks.window
                && is_all_assumed
                && timing.config.reference.allows_chains()
                && !self.current.same_as(&self.sent.last().object))
    }

    /// Sends the next part of the change, or repeats the oldest unacknowledged part. `None` if no part is short enough.
    pub(super) fn chunk_step(&mut self, now: Instant, timing: &SendTiming) -> Option<Step> {
        let is_extendable = self.may_extend(timing) && self.sent.last().num != StateNum::SHUTDOWN;
        let step =
            if is_extendable { self.extend(now, timing.peer) } else { self.repair(now, timing) };
        self.chunks.is_active = step.is_some();
        step
    }

    fn extend(&mut self, now: Instant, peer: Capabilities) -> Option<Step> {
        // If nothing is on its way, the newest entry has the known receiver state's contents, but may not have arrived.
        let is_first_link = self.sent.with_contents().next().is_none();
        let base = if is_first_link { self.sent.known() } else { self.sent.last() };
        let base_num = base.num;
        let (object, diff) = largest_part(&self.current, &base.object, peer)?;
        let is_whole = object.same_as(&self.current);
        let new_num = if is_whole && self.shutdown.is_started() {
            StateNum::SHUTDOWN
        } else {
            self.sent.next_num()
        };
        Some(Step::Send(self.send_new(now, base_num, new_num, object, diff)))
    }

    /// Sends the oldest unacknowledged part again or, after [`REPEATS_MAX`] repetitions, the next part. The two parts
    /// alternate, each with all its repetitions in a row. `None` if no part is short enough.
    fn repair(&mut self, now: Instant, timing: &SendTiming) -> Option<Step> {
        // A part of a single fragment is not kept for repetition. If it is the next part, it is sent once before the
        // oldest part is repeated again.
        let is_turn_over = match self.large.kept {
            Some(_) => self.large.repeats >= REPEATS_MAX,
            None => self.chunks.is_leaping,
        };
        if is_turn_over {
            let may_leap =
                timing.config.reference.allows_chains() && !self.large.backoff.is_slow(timing);
            self.chunks.is_leaping = may_leap && !self.chunks.is_leaping;
        }
        self.chunks.is_repaired = true;
        self.chunks.window = 1;
        let (oldest, diff) = self.link_after(0, timing.peer)?;
        if self.chunks.is_leaping {
            if let Some((next, diff)) = self.link_after(oldest, timing.peer) {
                return Some(self.send_again(now, timing, self.sent.list[oldest].num, next, diff));
            }
            if self.sent.last().num != StateNum::SHUTDOWN
                && !self.current.same_as(&self.sent.last().object)
            {
                return self.extend(now, timing.peer);
            }
        }
        Some(self.send_again(now, timing, self.sent.known().num, oldest, diff))
    }

    /// Returns the index of the newest entry whose diff from entry `base` fits into one instruction, or else of the
    /// first entry with a diff. Also returns that diff. `None` if all later entries equal `base`.
    fn link_after(&self, base: usize, peer: Capabilities) -> Option<(usize, Vec<u8>)> {
        let from = &self.sent.list[base].object;
        let mut link = None;
        for (index, state) in self.sent.list.iter().enumerate().skip(base + 1) {
            let diff = state.object.diff_from(from, peer);
            if link.is_some() && diff.len() > L::DIFF_MAX {
                break;
            }
            if !diff.is_empty() {
                link = Some((index, diff));
            }
        }
        link
    }
}

/// Halves the change from `base` to `target` until its diff fits into one instruction. Returns the state reached and
/// its diff. `None` if no diff is short enough, or the first such diff is empty.
fn largest_part<L: Object>(target: &L, base: &L, peer: Capabilities) -> Option<(L, Vec<u8>)> {
    let mut part = target.clone();
    for _ in 0..HALVINGS_MAX {
        if let Some(diff) = diff_within_max(&part, base, peer) {
            return (!diff.is_empty()).then_some((part, diff));
        }
        part = part.midpoint(base)?;
    }
    None
}

/// Returns the diff from `base` to `target`. `None` if it is longer than one instruction may be.
pub(super) fn diff_within_max<L: Object>(
    target: &L,
    base: &L,
    peer: Capabilities,
) -> Option<Vec<u8>> {
    if target.is_far_from(base) {
        return None;
    }
    Some(target.diff_from(base, peer)).filter(|diff| diff.len() <= L::DIFF_MAX)
}
