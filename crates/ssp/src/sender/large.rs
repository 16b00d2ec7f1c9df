//! Large contents (diffs): the newest instruction of several fragments, and when large contents were last sent.

use rove_units::{Duration, Instant};

use super::backoff::Backoff;
use crate::instruction::Instruction;
use crate::num::StateNum;

/// Time after large contents of either end during which this end's acknowledgments are not late, on a path that loses
/// datagrams. Chosen: a transfer of 1 MiB at 1 Mbit/s and 5 % loss takes 35 s, and 45 s with late acknowledgments.
const LARGE_LATELY: Duration = Duration::from_secs(10);

/// How often a large instruction that is presumed lost is repeated before newer contents replace it. Chosen: a screen
/// of ten fragments changes every 40 ms for 20 s, at 30 % loss and 100 ms of round trip. Then 40 screens arrive, at
/// most 0.7 s apart; without repeats 5 to 11, up to 4.6 s apart. The test in tests/pair/picture.rs requires 30 screens.
pub(super) const REPEATS_MAX: u32 = 8;

/// The instruction of several fragments that may be repeated, and whether contents were recently large.
#[derive(Clone, Debug, Default)]
pub(crate) struct LargeContents {
    /// The last instruction, if it has several fragments. `None` after its acknowledgment or a change of datagram size.
    pub(crate) kept: Option<Instruction>,
    /// How often the kept instruction was repeated.
    pub(super) repeats: u32,
    pub(super) backoff: Backoff,
    /// When either end last sent large contents. `None` if none were sent.
    at: Option<Instant>,
    /// Whether contents were large within [`LARGE_LATELY`] before the last call of [`LargeContents::heed`].
    pub(crate) is_recent: bool,
}

impl LargeContents {
    /// Keeps an instruction of several fragments that is sent now, for [`Step::Repeat`](super::Step::Repeat).
    pub(crate) fn keep(&mut self, now: Instant, instruction: Instruction) {
        (self.kept, self.repeats) = (Some(instruction), 0);
        self.backoff.handle_try(now);
    }

    /// Updates whether large contents are, or recently were, on their way. `are_others_large` is true if other contents
    /// than the kept instruction's are large.
    pub(super) fn heed(&mut self, now: Instant, are_others_large: bool) {
        let is_large = are_others_large || self.kept.is_some();
        self.at = is_large.then_some(now).or(self.at);
        self.is_recent = self.at.is_some_and(|at| now < at + LARGE_LATELY);
    }

    /// Returns whether the kept instruction has the same state numbers and the same diff.
    pub(super) fn is_kept(&self, old_num: StateNum, new_num: StateNum, diff: &[u8]) -> bool {
        let is_it =
            |it: &Instruction| (it.old_num, it.new_num, &*it.diff) == (old_num, new_num, diff);
        self.kept.as_ref().is_some_and(is_it)
    }

    /// Returns whether the kept instruction leads from state `old_num` to `new_num` and may be repeated once more.
    pub(super) fn may_be_finished(&self, old_num: StateNum, new_num: StateNum) -> bool {
        let is_it = |it: &Instruction| (it.old_num, it.new_num) == (old_num, new_num);
        self.repeats < REPEATS_MAX && self.kept.as_ref().is_some_and(is_it)
    }

    pub(super) fn handle_ack(&mut self, ack_num: StateNum) {
        self.backoff.handle_ack();
        self.kept.take_if(|kept| kept.new_num <= ack_num);
    }

    /// Called when the kept instruction is sent once more. Returns the number of the state to which it leads.
    pub(super) fn handle_repeated(&mut self, now: Instant) -> StateNum {
        self.repeats += 1;
        self.backoff.handle_try(now);
        self.kept.as_ref().expect("only a kept instruction is repeated").new_num
    }
}
