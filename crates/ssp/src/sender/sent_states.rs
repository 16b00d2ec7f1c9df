//! The states that were sent: known, assumed and newest receiver state, and when an instruction was last sent. The
//! contents of a state are the diff that was sent with it.

use std::collections::VecDeque;

use rove_units::{Bytes, Instant};

use crate::config::{SENT_BYTES_MAX, SENT_CULLED_FROM_END, SENT_MAX};
use crate::num::StateNum;
use crate::object::Object;
use crate::send_timing::SendTiming;

/// A state that was sent to the peer.
#[derive(Clone, Debug)]
pub(crate) struct SentState<L> {
    pub(crate) num: StateNum,
    first_sent_at: Instant,
    pub(crate) sent_at: Instant,
    /// Whether the state was sent with a diff, which the peer acknowledges soon.
    pub(super) has_contents: bool,
    pub(crate) object: L,
}

/// The list of sent states, ascending by number and never empty.
#[derive(Clone, Debug)]
pub(crate) struct SentStates<L> {
    pub(super) list: VecDeque<SentState<L>>,
    /// Index of the assumed receiver state when it was last computed.
    pub(super) assumed: usize,
    /// When the last instruction was sent. Before the first instruction, the time when this end was created.
    pub(super) last_at: Instant,
    pub(super) has_sent: bool,
    /// When an instruction with contents was last sent. `None` before the first.
    pub(super) last_frame_at: Option<Instant>,
    /// The lowest number that a new state may have.
    pub(super) numbers_from: StateNum,
}

impl<L: Object> SentStates<L> {
    /// Creates the list with a state that both ends hold.
    pub(super) fn new(num: StateNum, object: L, now: Instant) -> Self {
        let state =
            SentState { num, first_sent_at: now, sent_at: now, has_contents: false, object };
        let list = VecDeque::from([state]);
        Self {
            list,
            assumed: 0,
            last_at: now,
            has_sent: false,
            last_frame_at: None,
            numbers_from: num,
        }
    }

    /// Returns the known receiver state: the newest that the peer has acknowledged.
    pub(crate) fn known(&self) -> &SentState<L> {
        self.list.front().expect("the known receiver state is never thrown away")
    }

    pub(crate) fn last(&self) -> &SentState<L> {
        self.list.back().expect("the known receiver state is never thrown away")
    }

    pub(crate) fn next_num(&self) -> StateNum {
        self.last().num.next().max(self.numbers_from)
    }

    /// Returns the index of the newest state before the first that is presumed lost.
    pub(super) fn newest_assumed(&self, now: Instant, timing: &SendTiming) -> usize {
        let is_in_flight = |state: &SentState<L>| now < state.sent_at + timing.in_flight();
        // The peer does not acknowledge a state without contents by itself, so a missing acknowledgment shows no loss.
        let has_no_say = |state: &SentState<L>| timing.is_patient && !state.has_contents;
        let states = self.list.iter().enumerate().skip(1);
        let credible = states.take_while(|(_, state)| is_in_flight(state) || has_no_say(state));
        credible.filter(|(_, state)| is_in_flight(state)).last().map_or(0, |(index, _)| index)
    }

    pub(super) fn with_contents(&self) -> impl Iterator<Item = &SentState<L>> {
        self.list.iter().skip(1).filter(|state| state.has_contents)
    }

    /// Returns when the acknowledgment of the oldest state with contents is overdue. `None` if all are acknowledged.
    pub(crate) fn overdue_at(&self, timing: &SendTiming) -> Option<Instant> {
        self.with_contents().map(|state| state.first_sent_at + timing.ack_expected).min()
    }

    /// Returns whether the acknowledgment of a state with contents is overdue.
    pub(crate) fn is_overdue(&self, now: Instant, timing: &SendTiming) -> bool {
        self.overdue_at(timing).is_some_and(|at| at <= now)
    }

    /// Returns when the oldest unacknowledged contents were sent. `None` if all are acknowledged.
    pub(crate) fn unacknowledged_since(&self) -> Option<Instant> {
        self.with_contents().next().map(|state| state.first_sent_at)
    }

    /// Makes an acknowledged state the known receiver state. Returns whether the known receiver state has changed.
    /// Ignores a number that is not in the list, because it belongs to an older or dropped state.
    pub(super) fn handle_ack(&mut self, ack_num: StateNum) -> bool {
        let acknowledged = self.list.iter().position(|state| state.num == ack_num);
        self.list.drain(..acknowledged.unwrap_or(0));
        debug_assert!(acknowledged.is_none() || self.known().num == ack_num);
        acknowledged.is_some_and(|index| index > 0)
    }

    /// Appends a state that is being sent.
    pub(super) fn push(&mut self, now: Instant, num: StateNum, has_contents: bool, object: L) {
        debug_assert!(num > self.last().num || num == StateNum::SHUTDOWN);
        self.list.push_back(SentState {
            num,
            first_sent_at: now,
            sent_at: now,
            has_contents,
            object,
        });
        self.cull();
    }

    /// Drops from `current` and each listed state the prefix that the known state holds ([`Object::drop_prefix`]).
    pub(super) fn drop_prefixes(&mut self, current: &mut L) {
        let known = self.known().object.clone();
        current.drop_prefix(&known);
        for state in &mut self.list {
            state.object.drop_prefix(&known);
        }
    }

    /// Drops an entry from the middle while the list exceeds a limit. The known state is needed, and the peer most
    /// likely acknowledges a new state next.
    fn cull(&mut self) {
        if self.list.len() > SENT_MAX {
            self.list.remove(self.list.len() - SENT_CULLED_FROM_END);
        }
        while self.list.len() > 2 && self.bytes() > SENT_BYTES_MAX {
            self.list.remove(self.list.len() / 2);
        }
        debug_assert!(self.list.len() <= SENT_MAX);
        debug_assert!(self.list.iter().is_sorted_by(|a, b| a.num <= b.num));
    }

    fn bytes(&self) -> Bytes {
        let neighbours = core::iter::once(None).chain(self.list.iter().map(Some));
        let states = self.list.iter().zip(neighbours);
        states.map(|(state, before)| state.object.bytes_beyond(before.map(|s| &s.object))).sum()
    }
}
