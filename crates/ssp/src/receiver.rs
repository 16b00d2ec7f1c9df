//! The states received from the peer, from which its next diffs may start. The contents of a state are its diff.

use core::hash::Hasher;
use std::collections::VecDeque;
use std::hash::DefaultHasher;

use rove_units::{Bytes, Instant, push_newest};

use crate::config::{Config, RECEIVED_MAX, REFUSED_MAX};
use crate::error::ReceiveError;
use crate::instruction::Instruction;
use crate::journal::{Journal, ReceivedDiff};
use crate::num::StateNum;
use crate::object::Object;

#[derive(Clone, Debug)]
pub(crate) struct ReceivedState<R> {
    pub(crate) num: StateNum,
    /// When the state arrived or, if later, when the last newer state came that was not accepted ([`Receiver::hold`]).
    /// For the initial state and resumed ones, when this end was created.
    pub(crate) arrived_at: Instant,
    /// Memory that the state needs beyond what it shares with the entry before it.
    bytes: Bytes,
    pub(crate) object: R,
}

/// A new state whose diff has been applied in part.
#[derive(Clone, Debug)]
struct UnderWay<R> {
    old_num: StateNum,
    new_num: StateNum,
    diff: Vec<u8>,
    object: R,
}

/// An instruction whose diff could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused {
    old_num: StateNum,
    new_num: StateNum,
    /// Hash of the diff. Another diff with the same hash is refused as well.
    print: u64,
}

impl Refused {
    fn new(old_num: StateNum, new_num: StateNum, diff: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(diff);
        Self { old_num, new_num, print: hasher.finish() }
    }
}

/// The effect of an instruction on the list of received states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The instruction added a state newer than all before.
    Newest,
    /// The state was not accepted, because this end refuses contents ([`Receiver::hold`]). The peer sends it again.
    LeftWithPeer,
    /// The instruction carried the diff of the newest state again, so the acknowledgment may be lost.
    NewestAgain,
    /// The instruction's state is an older one, or one held already.
    Nothing,
    /// The diff needs more work than may be done at once. [`Receiver::work`] applies the remaining parts.
    Begun,
}

/// The list of received states, ascending by number, never empty.
#[derive(Clone, Debug)]
pub(crate) struct Receiver<R> {
    states: VecDeque<ReceivedState<R>>,
    under_way: Option<UnderWay<R>>,
    /// The newest refused instructions, at most [`REFUSED_MAX`].
    refused: VecDeque<Refused>,
    /// Work done so far for all diffs, in the object's units.
    effort: u64,
    /// The time until which a list over [`RECEIVED_MAX`] accepts no further state.
    quenched_until: Instant,
    /// Whether states with contents, except the session's last, are refused for a time, so that the peer keeps them.
    held: bool,
    pub(crate) journal: Journal,
}

impl<R: Object> Receiver<R> {
    pub(crate) fn new(initial: R, now: Instant) -> Self {
        let bytes = initial.bytes_beyond(None);
        let initial =
            ReceivedState { num: StateNum::INITIAL, arrived_at: now, bytes, object: initial };
        Self {
            states: VecDeque::from([initial]),
            under_way: None,
            refused: VecDeque::new(),
            effort: 0,
            quenched_until: Instant::ZERO,
            held: false,
            journal: Journal::default(),
        }
    }

    /// Accepts the state of an instruction if it is new and allowed (otherwise an error), and does about `effort` work
    /// at once. Call this only if [`Receiver::has_work`] is false.
    pub(crate) fn handle_instruction(
        &mut self,
        now: Instant,
        instruction: Instruction,
        effort: u64,
        config: &Config,
    ) -> Result<Received, ReceiveError> {
        debug_assert!(!self.has_work());
        let Instruction { old_num, new_num, throwaway_num, diff, .. } = instruction;
        let is_outdated = new_num < self.first().num;
        if new_num == self.newest().num && !diff.is_empty() {
            return Ok(Received::NewestAgain);
        }
        if is_outdated || self.states.iter().any(|state| state.num == new_num) {
            return Ok(Received::Nothing);
        }
        // The last state ends the session, so this end accepts it in any case.
        if self.held && !diff.is_empty() && new_num != StateNum::SHUTDOWN {
            let newest = self.states.back_mut().expect("the list is never empty");
            newest.arrived_at = now;
            return Ok(Received::LeftWithPeer);
        }
        if self.states.iter().all(|state| state.num != old_num) {
            return Err(ReceiveError::StaleReference { old_num });
        }
        if throwaway_num > old_num {
            return Err(ReceiveError::ThrowawayBeyondReference { throwaway_num, old_num });
        }
        // A diff is hashed only if a diff to the same state was refused before.
        let is_suspect = self.refused.iter().any(|refused| refused.new_num == new_num);
        if is_suspect && self.refused.contains(&Refused::new(old_num, new_num, &diff)) {
            return Err(ReceiveError::RefusedBefore { new_num });
        }
        self.throw_away(throwaway_num);
        self.make_room(now, config)?;

        let reference = self.states.iter().find(|state| state.num == old_num);
        let object = reference.expect("nothing at or above it was thrown away").object.clone();
        if diff.is_empty() {
            return self.insert(now, UnderWay { old_num, new_num, diff, object });
        }
        self.under_way = Some(UnderWay { old_num, new_num, diff, object });
        self.work(now, effort)
    }

    /// Continues to apply a partly applied diff, if any, with about `effort` work. An error means that the diff is
    /// invalid.
    pub(crate) fn work(&mut self, now: Instant, effort: u64) -> Result<Received, ReceiveError> {
        let Some(mut under_way) = self.under_way.take() else { return Ok(Received::Nothing) };
        match under_way.object.apply_part(&under_way.diff, effort) {
            Ok(part) => {
                self.effort = self.effort.saturating_add(part.effort);
                if part.is_whole {
                    return self.insert(now, under_way);
                }
                self.under_way = Some(under_way);
                Ok(Received::Begun)
            }
            Err(error) => {
                self.effort = self.effort.saturating_add(effort);
                let UnderWay { old_num, new_num, diff, .. } = &under_way;
                let refused = Refused::new(*old_num, *new_num, diff);
                push_newest(&mut self.refused, refused, REFUSED_MAX);
                Err(error.into())
            }
        }
    }

    /// Returns whether a diff has been applied in part, and work is left.
    pub(crate) fn has_work(&self) -> bool {
        self.under_way.is_some()
    }

    /// Returns the work done so far, in the object's units. For refused diffs it is an upper estimate.
    pub(crate) const fn effort(&self) -> u64 {
        self.effort
    }

    /// Calls `adjust` on every state of the list, and on the state whose diff has been applied in part.
    pub(crate) fn adjust(&mut self, adjust: impl FnMut(&mut R)) {
        let held = self.states.iter_mut().map(|state| &mut state.object);
        let under_way = self.under_way.iter_mut().map(|under_way| &mut under_way.object);
        held.chain(under_way).for_each(adjust);
    }

    /// Returns the state with the highest number.
    pub(crate) fn newest(&self) -> &ReceivedState<R> {
        self.states.back().expect("the list of received states is never empty")
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = (StateNum, &R)> {
        self.states.iter().map(|state| (state.num, &state.object))
    }

    /// Replaces the states by the states that an earlier process of this end had received.
    pub(crate) fn resume(&mut self, received: Vec<(StateNum, R)>, now: Instant) {
        self.states.clear();
        for (num, object) in received {
            let bytes = object.bytes_beyond(self.states.back().map(|before| &before.object));
            self.states.push_back(ReceivedState { num, arrived_at: now, bytes, object });
        }
    }

    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Drops the states below `throwaway_num`, and the contents that all remaining states share.
    fn throw_away(&mut self, throwaway_num: StateNum) {
        let kept = self.states.iter().position(|state| state.num >= throwaway_num);
        let kept = kept.expect("the reference is at or above the throwaway number");
        if kept == 0 {
            return;
        }
        self.states.drain(..kept);
        let known = self.first().object.clone();
        for state in &mut self.states {
            state.object.drop_prefix(&known);
        }
        for index in 0..self.states.len() {
            let neighbour = index.checked_sub(1).map(|before| &self.states[before].object);
            self.states[index].bytes = self.states[index].object.bytes_beyond(neighbour);
        }
    }

    /// Returns an error if the list exceeds a limit and may accept no state at `now`.
    fn make_room(&mut self, now: Instant, config: &Config) -> Result<(), ReceiveError> {
        if self.states.len() > RECEIVED_MAX {
            if now < self.quenched_until {
                return Err(ReceiveError::QueueFull);
            }
            self.quenched_until = now + config.quench_interval;
        }
        // A single state that exceeds the limit must still get a successor, because otherwise the session would hang.
        let bytes: Bytes = self.states.iter().map(|state| state.bytes).sum();
        if self.states.len() > 1 && bytes > self.newest().object.received_bytes_max() {
            return Err(ReceiveError::QueueFull);
        }
        Ok(())
    }

    fn insert(&mut self, now: Instant, whole: UnderWay<R>) -> Result<Received, ReceiveError> {
        let UnderWay { old_num, new_num: num, diff, object } = whole;
        let index = self.states.partition_point(|state| state.num < num);
        let is_newest = index == self.states.len();
        if is_newest && !object.follows(&self.newest().object) {
            return Err(ReceiveError::NotFollowing { new_num: num });
        }
        let neighbour = index.checked_sub(1).map(|before| &self.states[before].object);
        let bytes = object.bytes_beyond(neighbour);
        self.states.insert(index, ReceivedState { num, arrived_at: now, bytes, object });
        debug_assert!(self.states.iter().is_sorted_by(|a, b| a.num < b.num));
        let throwaway_num = self.first().num;
        self.journal.push(ReceivedDiff { num, old_num, throwaway_num, diff });
        Ok(if is_newest { Received::Newest } else { Received::Nothing })
    }

    fn first(&self) -> &ReceivedState<R> {
        self.states.front().expect("the list of received states is never empty")
    }
}

#[cfg(test)]
mod tests;
