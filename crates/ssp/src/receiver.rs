//! The states received from the peer: what its next diffs may start from.

use std::collections::VecDeque;

use rove_units::{Bytes, Instant};

use crate::config::{Config, RECEIVED_BYTES_MAX, RECEIVED_MAX};
use crate::error::ReceiveError;
use crate::instruction::Instruction;
use crate::num::StateNum;
use crate::object::Object;

/// One received state.
#[derive(Clone, Debug)]
struct ReceivedState<R> {
    num: StateNum,
    arrived_at: Instant,
    /// Memory beyond what it shares with the entry before it.
    bytes: Bytes,
    object: R,
}

/// What an instruction did to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It brought a state newer than all before.
    Newest,
    /// It brought a state that is left with the peer for now. The peer is alive all the same.
    LeftWithPeer,
    /// It brought an older state, or one held already.
    Nothing,
}

/// The list of received states, ascending by number, never empty.
#[derive(Clone, Debug)]
pub(crate) struct Receiver<R> {
    states: VecDeque<ReceivedState<R>>,
    /// An over-full list takes nothing before this.
    quenched_until: Instant,
    /// States with contents are left with the peer.
    held: bool,
}

impl<R: Object> Receiver<R> {
    pub(crate) fn new(initial: R, now: Instant) -> Self {
        let bytes = initial.bytes_beyond(None);
        let initial =
            ReceivedState { num: StateNum::INITIAL, arrived_at: now, bytes, object: initial };
        Self { states: VecDeque::from([initial]), quenched_until: Instant::ZERO, held: false }
    }

    /// Takes the state that an instruction brings, if it is new and may be taken.
    pub(crate) fn handle_instruction(
        &mut self,
        now: Instant,
        instruction: &Instruction,
        config: &Config,
    ) -> Result<Received, ReceiveError> {
        let &Instruction { old_num, new_num, throwaway_num, ref diff, .. } = instruction;
        let is_outdated = new_num < self.first().num;
        if is_outdated || self.states.iter().any(|state| state.num == new_num) {
            return Ok(Received::Nothing);
        }
        if self.held && !diff.is_empty() {
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
        self.throw_away(throwaway_num);
        self.make_room(now, config)?;

        let reference = self.states.iter().find(|state| state.num == old_num);
        let mut object = reference.expect("nothing at or above it was thrown away").object.clone();
        if !diff.is_empty() {
            object.apply(diff)?;
        }
        self.insert(now, new_num, object)
    }

    /// Returns the newest state.
    pub(crate) fn newest(&self) -> &R {
        &self.last().object
    }

    pub(crate) fn newest_num(&self) -> StateNum {
        self.last().num
    }

    /// Returns when the newest state arrived, or the last that was left with the peer since then; for
    /// the initial one, when this end was created.
    pub(crate) fn newest_arrived_at(&self) -> Instant {
        self.last().arrived_at
    }

    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Drops the states below `throwaway_num`, and what all that remain have in common.
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

    /// Refuses another state while the list is over a limit.
    fn make_room(&mut self, now: Instant, config: &Config) -> Result<(), ReceiveError> {
        if self.states.len() > RECEIVED_MAX {
            if now < self.quenched_until {
                return Err(ReceiveError::QueueFull);
            }
            self.quenched_until = now + config.quench_interval;
        }
        // A state that alone goes over the limit must still have a successor, or the session ends here.
        let bytes: Bytes = self.states.iter().map(|state| state.bytes).sum();
        if self.states.len() > 1 && bytes > RECEIVED_BYTES_MAX {
            return Err(ReceiveError::QueueFull);
        }
        Ok(())
    }

    fn insert(&mut self, now: Instant, num: StateNum, object: R) -> Result<Received, ReceiveError> {
        let index = self.states.partition_point(|state| state.num < num);
        let is_newest = index == self.states.len();
        if is_newest && !object.follows(self.newest()) {
            return Err(ReceiveError::NotFollowing { new_num: num });
        }
        let neighbour = index.checked_sub(1).map(|before| &self.states[before].object);
        let bytes = object.bytes_beyond(neighbour);
        self.states.insert(index, ReceivedState { num, arrived_at: now, bytes, object });
        debug_assert!(self.states.iter().is_sorted_by(|a, b| a.num < b.num));
        Ok(if is_newest { Received::Newest } else { Received::Nothing })
    }

    fn first(&self) -> &ReceivedState<R> {
        self.states.front().expect("the list of received states is never empty")
    }

    fn last(&self) -> &ReceivedState<R> {
        self.states.back().expect("the list of received states is never empty")
    }
}

#[cfg(test)]
mod tests;
