//! Decides which state to send to the peer next, when to send it, and from which state its diff starts.
//!
//! The first entry of the list of sent states is the known receiver state: the newest that the peer has acknowledged.
//! The assumed receiver state is the newest before the first that is presumed lost. Contents are an instruction's diff.
//! The sender does not retransmit a lost instruction: it makes a new diff to the newest state. There are two exceptions
//! for instructions of several fragments, because a fragment of a newer instruction makes the receiver drop older ones:
//!
//! - An instruction that would be sent again with the same contents is repeated byte for byte. Fragments of several
//!   tries then add up.
//! - A diff over [`Object::DIFF_MAX`] travels in parts, each a state of its own (module `chunk`).

mod acks;
mod answers;
mod backoff;
mod budget;
mod changes;
mod chunk;
mod delivery_estimate;
mod first_contact;
mod large;
mod reference;
mod repetition;
mod sending;
mod sent_states;
mod shutdown;
mod steady;
mod timers;

use rove_units::{Instant, Stream};

use crate::config::ReferencePolicy;
use crate::hello::Capabilities;
use crate::instruction::Instruction;
use crate::num::StateNum;
use crate::object::Object;
use crate::send_timing::SendTiming;
use acks::Acks;
use chunk::diff_within_max;
use reference::{PROSPECTIVE_LEN_MAX, ReferenceChooser};
pub(crate) use sending::Step;
use sending::{Due, Occasion, Sending};
use sent_states::{SentState, SentStates};
pub(crate) use shutdown::PATIENCE as ANNOUNCED_FOR;

/// Highest loss on the way to the peer, as a share from 0 to 1, at which a path size probe may follow unacknowledged
/// contents. Chosen: the probe is a new instruction, which makes the fragments of an incomplete one useless.
const PROBED_LOSS: f64 = 0.02;

/// The current state, the states that were sent, and the mechanisms that decide what to send next and when.
#[derive(Clone, Debug)]
pub(crate) struct Sender<L> {
    pub(crate) current: L,
    pub(crate) sent: SentStates<L>,
    next_ack: Instant,
    next_send: Option<Instant>,
    changes: changes::Changes,
    pub(crate) acks: Acks,
    answers: answers::Answers,
    pub(crate) shutdown: shutdown::Shutdown,
    pub(crate) large: large::LargeContents,
    chunks: chunk::Chunks,
    first_contact: first_contact::FirstContact,
    references: ReferenceChooser,
    repetition: repetition::Repetition,
    steady: steady::SteadyOutput,
    delivery_estimate: delivery_estimate::DeliveryEstimate,
}

impl<L: Object> Sender<L> {
    /// Creates the sender of an object in its initial state; `rng` gives [`ReferencePolicy::Mixture`] its numbers.
    pub(crate) fn new(initial: L, rng: Stream, now: Instant) -> Self {
        Self {
            sent: SentStates::new(StateNum::INITIAL, initial.clone(), now),
            current: initial,
            next_ack: now,
            next_send: Some(now),
            changes: changes::Changes::default(),
            acks: Acks::default(),
            answers: answers::Answers::default(),
            shutdown: shutdown::Shutdown::default(),
            large: large::LargeContents::default(),
            chunks: chunk::Chunks::default(),
            first_contact: first_contact::FirstContact::default(),
            references: ReferenceChooser::new(rng),
            repetition: repetition::Repetition::new(now),
            steady: steady::SteadyOutput::new(now),
            delivery_estimate: delivery_estimate::DeliveryEstimate::new(),
        }
    }

    /// Continues from an earlier process of this end, whose states had numbers below `numbers_from`. `remote` is the
    /// number of the peer's newest state.
    pub(crate) fn resume(
        &mut self,
        (known_num, known): (StateNum, L),
        current: L,
        numbers_from: StateNum,
        remote: StateNum,
        now: Instant,
    ) {
        self.sent = SentStates::new(known_num, known, now);
        self.sent.numbers_from = numbers_from;
        self.acks.num = remote;
        self.publish(current);
    }

    /// Called with the newest state number that an instruction of the peer acknowledges.
    pub(crate) fn handle_ack(&mut self, now: Instant, ack_num: StateNum) {
        if !self.sent.handle_ack(ack_num) {
            return;
        }
        self.chunks.handle_ack();
        self.first_contact.handle_ack();
        self.large.handle_ack(ack_num);
        self.repetition.handle_ack(ack_num);
        self.delivery_estimate.handle_ack(now, ack_num);
        self.changes.nothing_to_say = false;
        self.sent.drop_prefixes(&mut self.current);
    }

    /// Called when a new state of the peer has become the newest. `contents_len` is the length of its diff in bytes.
    pub(crate) fn handle_new_remote(&mut self, now: Instant, num: StateNum, contents_len: usize) {
        debug_assert!(num >= self.acks.num, "the peer's newest state never gets older");
        self.acks.num = num;
        self.handle_heard(now);
        if contents_len > 0 {
            self.acks.is_remote_large = contents_len >= PROSPECTIVE_LEN_MAX;
            self.large.heed(now, self.acks.is_remote_large || self.chunks.is_active());
            self.acks.want(now);
            self.answers.handle_contents(now);
        }
    }

    /// Called when the peer repeats its newest contents. If this end's acknowledgment had time to arrive, it counts as
    /// lost, and the end sends another.
    pub(crate) fn handle_remote_again(&mut self, now: Instant, timing: &SendTiming) {
        let is_first =
            timing.config.repetition.says_again_at_first && !self.first_contact.is_made();
        let answered_within = if is_first { first_contact::UNHEARD_AFTER } else { timing.rto };
        if timing.config.acks.acknowledges_again && self.sent.last_at + answered_within <= now {
            // The acknowledgment's delay counts from the sending of the lost acknowledgment, so it is due soon.
            self.acks.want(self.sent.last_at);
        }
    }

    /// Called when the peer shows that it is alive, so that unacknowledged contents are worth sending again.
    pub(crate) fn handle_heard(&mut self, now: Instant) {
        self.answers.heard_at = Some(now);
    }

    /// Called when this computer's network has changed. Earlier frames then do not delay the next frame.
    pub(crate) const fn handle_network_change(&mut self) {
        self.sent.last_frame_at = None;
    }

    /// Makes `object` the current state, unless this end is shutting down.
    pub(crate) fn publish(&mut self, object: L) {
        if !self.shutdown.is_started() {
            if !object.same_as(&self.current) {
                self.changes.handle_change();
            }
            self.current = object;
            self.changes.nothing_to_say = false;
            self.sent.drop_prefixes(&mut self.current);
        }
    }

    /// Returns an instruction if one is due. Call this until it returns `None`.
    pub(crate) fn step(&mut self, now: Instant, timing: &SendTiming) -> Option<Step> {
        let peer = timing.peer;
        self.recalculate(now, timing);
        let is_ack_due = now >= self.next_ack;
        if !is_ack_due && self.next_send.is_none_or(|due| now < due) {
            return None;
        }
        let diff_from_known = diff_within_max(&self.current, &self.sent.known().object, peer);
        if diff_from_known.as_ref().is_none_or(|diff| diff.len() >= PROSPECTIVE_LEN_MAX)
            && let Some(until) = self.holds_back(now, timing)
        {
            self.next_send = until;
            return is_ack_due.then(|| Step::Send(self.acknowledge(now)));
        }
        if diff_from_known.is_none()
            && let Some(step) = self.chunk_step(now, timing)
        {
            self.answers.handle_frame();
            return Some(step);
        }
        let diff_from_known = diff_from_known
            .unwrap_or_else(|| self.current.diff_from(&self.sent.known().object, peer));
        self.chunks.stop();
        if self.finishes_first(now, timing) {
            return Some(self.repeat(now));
        }
        let due = Due {
            copy: self.copy_due(timing).is_some_and(|at| at <= now),
            first_contact: self.first_due(timing).is_some_and(|at| at <= now),
        };
        let (reference, diff) = if due.copy || due.first_contact {
            (0, diff_from_known)
        } else {
            self.choose_reference(now, diff_from_known, timing)
        };
        if diff.is_empty() {
            let step =
                if self.is_heartbeat_due(now, timing) { Step::Heartbeat } else { Step::Send };
            return self.step_without_diff(now, reference, is_ack_due, peer).map(step);
        }
        Some(self.send_contents(now, timing, reference, diff, due))
    }

    /// Sends the current state as a diff from the sent state with index `reference`.
    fn send_contents(
        &mut self,
        now: Instant,
        timing: &SendTiming,
        reference: usize,
        diff: Vec<u8>,
        due: Due,
    ) -> Step {
        let last = self.sent.last();
        let new_num = match self.shutdown.is_started() {
            true => StateNum::SHUTDOWN,
            false if self.current.same_as(&last.object) => last.num,
            false => self.sent.next_num(),
        };
        let reference_num = self.sent.list[reference].num;
        if timing.config.self_check {
            self.check(new_num, reference, &diff, timing.peer);
        }
        let is_again = new_num == last.num;
        let sending = Sending {
            at: now,
            num: new_num,
            diff_len: diff.len(),
            stands_alone: reference == 0,
            occasion: self.occasion(due.copy, is_again, timing),
            due,
        };
        if is_again || self.current.is_urgent_to(timing.peer, &last.object) {
            self.answers.handle_frame();
        }
        let step = if is_again {
            self.send_again(now, timing, reference_num, self.sent.list.len() - 1, diff)
        } else {
            let object = self.current.clone();
            Step::Send(self.send_new(now, reference_num, new_num, object, diff))
        };
        self.first_contact.handle_sent(&sending);
        self.repetition.handle_sent(&sending, timing.srtt);
        step
    }

    /// Returns the reason for which the current contents are sent.
    fn occasion(&self, is_copy_due: bool, is_again: bool, timing: &SendTiming) -> Occasion {
        match is_copy_due {
            _ if !self.current.shows_same(&self.sent.last().object) => Occasion::News,
            true => Occasion::Copy,
            false if is_again && self.is_missed_by(self.sent.assumed, timing) => {
                Occasion::PresumedLost
            }
            false => Occasion::Other,
        }
    }

    /// Returns an instruction without contents for a path size probe. `None` before the first acknowledgment, in a
    /// shutdown, or while something waits to be sent. The instruction's state equals the last sent state. While
    /// contents are unacknowledged but not overdue, a probe is sent only on a path that loses little. Once they are
    /// overdue, the probe waits for their acknowledgment.
    pub(crate) fn probe(&mut self, now: Instant, timing: &SendTiming) -> Option<Instruction> {
        let is_answered = self.sent.unacknowledged_since().is_none();
        let is_likely_held =
            timing.path.loss_out <= PROBED_LOSS && !self.sent.is_overdue(now, timing);
        let is_free = self.sent.known().num != StateNum::INITIAL
            && self.acks.num != StateNum::SHUTDOWN
            && !self.shutdown.is_started()
            && !self.chunks.is_active()
            && !self.is_missed_by(self.sent.list.len() - 1, timing);
        if !is_free || !(is_answered || is_likely_held) {
            return None;
        }
        let instruction = self.acknowledge(now);
        self.repetition.handle_renumbered(instruction.new_num);
        Some(instruction)
    }

    /// Called when an instruction is sent, cut into `datagrams` fragments with `bytes` bytes in all.
    pub(crate) fn handle_cut(
        &mut self,
        now: Instant,
        instruction: &Instruction,
        datagrams: usize,
        bytes: usize,
        timing: &SendTiming,
    ) {
        if !instruction.diff.is_empty() {
            self.steady.handle_frame(now, datagrams, bytes, timing);
        }
        if timing.config.weighs_references() {
            self.delivery_estimate.handle_sent(now, instruction, datagrams, bytes, timing);
        }
    }

    /// Chooses the state that a diff starts from. Returns its index in the list, and the diff.
    fn choose_reference(
        &mut self,
        now: Instant,
        diff_from_known: Vec<u8>,
        timing: &SendTiming,
    ) -> (usize, Vec<u8>) {
        let peer = timing.peer;
        let policy = match timing.config.reference {
            ReferencePolicy::Prospective if self.steady.is_active() => ReferencePolicy::Bayesian,
            policy => policy,
        };
        if policy == ReferencePolicy::Bayesian {
            let place = |num| self.sent.list.iter().position(|state| state.num == num);
            let diff_from =
                |num| Some(self.current.diff_from(&self.sent.list[place(num)?].object, peer));
            let (other, diff) =
                self.delivery_estimate.choose(now, timing, diff_from_known, diff_from);
            return (other.and_then(place).unwrap_or(0), diff);
        }
        if self.sent.assumed == 0 {
            return (0, diff_from_known);
        }
        let contents_max = timing.path.contents_max;
        let assumed = &self.sent.list[self.sent.assumed].object;
        let from_assumed = || self.current.diff_from(assumed, peer);
        self.references
            .choose(policy, &diff_from_known, from_assumed, contents_max)
            .map_or((0, diff_from_known), |diff| (self.sent.assumed, diff))
    }

    /// Returns the time until which large contents must wait, because of the backoff. Once the peer has announced its
    /// shutdown, they wait for ever (`Some(None)`). `None` if they may be sent.
    fn holds_back(&self, now: Instant, timing: &SendTiming) -> Option<Option<Instant>> {
        if self.shutdown.is_started() {
            return None;
        }
        if self.acks.num == StateNum::SHUTDOWN {
            return Some(None);
        }
        self.large.backoff.until(timing).filter(|until| now < *until).map(Some)
    }

    /// Returns an instruction that only acknowledges, even if contents wait to be sent. Its state equals the last sent
    /// state. A peer that lacks the last state cannot apply the instruction, but reads the acknowledgment first.
    pub(crate) fn acknowledge(&mut self, now: Instant) -> Instruction {
        let (last_num, object) = (self.sent.last().num, self.sent.last().object.clone());
        self.send_new(now, last_num, self.sent.next_num(), object, Vec::new())
    }

    /// Returns an instruction without a diff if an acknowledgment is due, or if the peer may hold a state with other
    /// contents; else `None`. Except at shutdown its state has a new number, which shows the peer that this end is
    /// alive.
    fn step_without_diff(
        &mut self,
        now: Instant,
        reference: usize,
        is_ack_due: bool,
        peer: Capabilities,
    ) -> Option<Instruction> {
        // The object equals the reference state. If the peer may hold another state in between, an empty diff is due.
        let last = self.sent.last();
        let is_news = !self.current.same_as(&last.object)
            && !self.current.diff_from(&last.object, peer).is_empty();
        if !is_ack_due && !is_news {
            self.changes.handle_sent(true);
            self.next_send = None;
            return None;
        }
        let is_ending = self.shutdown.is_started();
        let new_num = if is_ending { StateNum::SHUTDOWN } else { self.sent.next_num() };
        let object = self.current.clone();
        self.repetition.handle_renumbered(new_num);
        Some(self.send_new(now, self.sent.list[reference].num, new_num, object, Vec::new()))
    }

    /// Returns whether to repeat the kept instruction (of several fragments) although newer contents exist. A fragment
    /// was lost, and a newer instruction would make the receiver drop the others.
    fn finishes_first(&self, now: Instant, timing: &SendTiming) -> bool {
        self.large.may_be_finished(self.sent.known().num, self.sent.last().num)
            && !self.shutdown.is_started()
            && self.sent.is_overdue(now, timing)
            && self.may_repeat(now, timing)
    }

    /// Sends a state of the list again: byte for byte if it is the kept instruction, otherwise in a new instruction.
    fn send_again(
        &mut self,
        now: Instant,
        timing: &SendTiming,
        old_num: StateNum,
        index: usize,
        diff: Vec<u8>,
    ) -> Step {
        let new_num = self.sent.list[index].num;
        let is_kept = self.large.is_kept(old_num, new_num, &diff);
        if is_kept && self.may_repeat(now, timing) {
            return self.repeat(now);
        }
        self.sent.list[index].sent_at = now;
        self.sent.list[index].has_contents = true;
        let last_frame_at = self.sent.last_frame_at;
        let instruction = self.instruction(now, old_num, new_num, diff);
        if timing.is_patient {
            // This instruction carries a late acknowledgment, and repeats contents that are on their way. It must not
            // delay the next key's frame.
            self.sent.last_frame_at = last_frame_at;
        }
        Step::Send(instruction)
    }

    fn send_new(
        &mut self,
        now: Instant,
        old_num: StateNum,
        new_num: StateNum,
        object: L,
        diff: Vec<u8>,
    ) -> Instruction {
        self.sent.push(now, new_num, !diff.is_empty(), object);
        self.instruction(now, old_num, new_num, diff)
    }

    fn repeat(&mut self, now: Instant) -> Step {
        let new_num = self.large.handle_repeated(now);
        if let Some(state) = self.sent.list.iter_mut().find(|state| state.num == new_num) {
            state.sent_at = now;
        }
        self.delivery_estimate.handle_repeated(now, new_num);
        self.after_send(now, new_num);
        tracing::debug!(num = %new_num, repeats = self.large.repeats, "instruction repeated");
        Step::Repeat
    }

    fn instruction(
        &mut self,
        now: Instant,
        old_num: StateNum,
        new_num: StateNum,
        diff: Vec<u8>,
    ) -> Instruction {
        self.after_send(now, new_num);
        if !diff.is_empty() {
            self.sent.last_frame_at = Some(now);
            self.changes.handle_frame();
        }
        self.acks.handle_sent();
        self.large.kept = None;
        let (ack_num, throwaway_num) = (self.acks.num, self.sent.known().num);
        debug_assert!(
            throwaway_num <= old_num,
            "a throwaway above the reference ends a stock peer"
        );
        debug_assert!(old_num <= new_num);
        tracing::debug!(num = %new_num, base = %old_num, diff_bytes = diff.len(), "frame sent");
        Instruction { old_num, new_num, ack_num, throwaway_num, diff, ..Instruction::default() }
    }

    /// Logs the error if [`Object::check`] refuses a diff of the current state.
    fn check(&self, num: StateNum, reference: usize, diff: &[u8], peer: Capabilities) {
        let SentState { num: base, object, .. } = &self.sent.list[reference];
        if let Err(error) = self.current.check(object, diff, peer) {
            tracing::error!(%num, %base, %error, "self-check failed");
        }
    }

    fn after_send(&mut self, now: Instant, new_num: StateNum) {
        if new_num == StateNum::SHUTDOWN {
            self.shutdown.handle_announced();
        }
        (self.sent.last_at, self.sent.has_sent) = (now, true);
        self.next_send = None;
        self.changes.handle_sent(false);
    }
}

#[cfg(test)]
mod tests;
