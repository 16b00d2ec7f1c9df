//! The states received from the peer: what its next diffs may start from.

use core::hash::Hasher;
use std::collections::VecDeque;
use std::hash::DefaultHasher;

use rove_units::{Bytes, Instant};

use crate::config::{Config, RECEIVED_MAX, REFUSED_MAX};
use crate::error::ReceiveError;
use crate::instruction::Instruction;
use crate::num::StateNum;
use crate::object::Object;

/// A received state.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedState<R> {
    pub(crate) num: StateNum,
    /// When it arrived, or when the newest instruction did that was left with the peer since then. For the initial state, when this
    /// end was created.
    pub(crate) arrived_at: Instant,
    /// Memory beyond what it shares with the entry before it.
    bytes: Bytes,
    pub(crate) object: R,
}

/// A state in the making, whose diff has been applied in part.
#[derive(Clone, Debug)]
struct UnderWay<R> {
    old_num: StateNum,
    new_num: StateNum,
    diff: Vec<u8>,
    object: R,
}

/// An instruction that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused {
    old_num: StateNum,
    new_num: StateNum,
    /// Hash of the diff. A forged diff with the same hash is refused as well.
    print: u64,
}

impl Refused {
    fn new(old_num: StateNum, new_num: StateNum, diff: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(diff);
        Self { old_num, new_num, print: hasher.finish() }
    }
}

/// Effect of an instruction on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It brought a state newer than all before.
    Newest,
    /// It brought a state that is left with the peer for now. The peer is alive all the same.
    LeftWithPeer,
    /// It brought the newest state once more, with contents.
    NewestAgain,
    /// It brought an older state, or one held already.
    Nothing,
    /// It is more work than may be done at once: [`Receiver::work`] has to go on with it.
    Begun,
}

/// The list of received states, ascending by number, never empty.
#[derive(Clone, Debug)]
pub(crate) struct Receiver<R> {
    states: VecDeque<ReceivedState<R>>,
    under_way: Option<UnderWay<R>>,
    /// The instructions that were refused last.
    refused: VecDeque<Refused>,
    /// The work done so far.
    effort: u64,
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
        Self {
            states: VecDeque::from([initial]),
            under_way: None,
            refused: VecDeque::new(),
            effort: 0,
            quenched_until: Instant::ZERO,
            held: false,
        }
    }

    /// Accepts the state that an instruction brings, if it is new and allowed, and does about so much work for it at
    /// once. There must be no work left of the one before.
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
            return self.insert(now, new_num, object);
        }
        self.under_way = Some(UnderWay { old_num, new_num, diff, object });
        self.work(now, effort)
    }

    /// Goes on with the state in the making, if there is one, for about so much work.
    pub(crate) fn work(&mut self, now: Instant, effort: u64) -> Result<Received, ReceiveError> {
        let Some(mut under_way) = self.under_way.take() else { return Ok(Received::Nothing) };
        match under_way.object.apply_part(&under_way.diff, effort) {
            Ok(part) => {
                self.effort = self.effort.saturating_add(part.effort);
                if part.is_whole {
                    return self.insert(now, under_way.new_num, under_way.object);
                }
                self.under_way = Some(under_way);
                Ok(Received::Begun)
            }
            Err(error) => {
                self.effort = self.effort.saturating_add(effort);
                if self.refused.len() == REFUSED_MAX {
                    self.refused.pop_front();
                }
                let UnderWay { old_num, new_num, diff, .. } = &under_way;
                self.refused.push_back(Refused::new(*old_num, *new_num, diff));
                Err(error.into())
            }
        }
    }

    /// Returns whether a state is in the making.
    pub(crate) fn has_work(&self) -> bool {
        self.under_way.is_some()
    }

    /// Returns the work done so far, in the object's units; what a refused diff took is an estimate that runs high.
    pub(crate) const fn effort(&self) -> u64 {
        self.effort
    }

    /// Changes all states that are held in the same way.
    pub(crate) fn adjust(&mut self, adjust: impl FnMut(&mut R)) {
        let held = self.states.iter_mut().map(|state| &mut state.object);
        let under_way = self.under_way.iter_mut().map(|under_way| &mut under_way.object);
        held.chain(under_way).for_each(adjust);
    }

    /// Returns the newest state.
    pub(crate) fn newest(&self) -> &ReceivedState<R> {
        self.states.back().expect("the list of received states is never empty")
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
        if self.states.len() > 1 && bytes > self.newest().object.received_bytes_max() {
            return Err(ReceiveError::QueueFull);
        }
        Ok(())
    }

    fn insert(&mut self, now: Instant, num: StateNum, object: R) -> Result<Received, ReceiveError> {
        let index = self.states.partition_point(|state| state.num < num);
        let is_newest = index == self.states.len();
        if is_newest && !object.follows(&self.newest().object) {
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
}

#[cfg(test)]
mod tests;
