//! The states sent to the peer: what to send next, when, and from which of them.
//!
//! The first entry of the list is the known receiver state: the newest that the peer has
//! acknowledged. The assumed receiver state is the newest that has no reason to be lost yet. Nothing
//! is ever retransmitted as it was; the sender makes a new diff to the newest state instead. There
//! are two exceptions, both for instructions of several fragments, which a receiver puts together
//! only while no other instruction comes between:
//!
//! - An instruction to be sent again with the same contents is repeated to the byte, so that its
//!   fragments add up over several tries.
//! - A diff over [`Object::DIFF_MAX`] travels as a chain of states (module `chunk`).

mod backoff;
mod budget;
mod changes;
mod chunk;
mod delivery_estimate;
mod first_contact;
mod reference;
mod repetition;
mod sending;
mod shutdown;
mod steady;
mod timers;

use std::collections::VecDeque;

use rove_units::{Bytes, Instant, Stream};

use crate::config::{ReferencePolicy, SENT_BYTES_MAX, SENT_CULLED_FROM_END, SENT_MAX};
use crate::hello::Capabilities;
use crate::num::StateNum;
use crate::object::Object;
use crate::send_timing::SendTiming;
use reference::{Choice, PROSPECTIVE_LEN_MAX, ReferenceChooser};
use sending::{Due, Occasion, Sending};
pub(crate) use sending::{Outgoing, Step};
pub(crate) use shutdown::PATIENCE as ANNOUNCED_FOR;

/// How often a large instruction that is presumed lost is repeated before newer contents replace it.
/// Chosen: of pictures of ten fragments that change every 40 ms, 40 arrive within 20 s at 30 % loss and
/// 100 ms, 0.7 s apart at most; without repeats 5 to 11 do, up to 4.6 s apart (tests/pair/picture.rs).
const REPEATS_MAX: u32 = 8;

/// Most loss on the way to the peer, as a share, at which a datagram that tries the path follows contents that are on their
/// way. Chosen: where a fragment of those is lost, what has arrived of them is of no use any more.
const PROBED_LOSS: f64 = 0.02;

/// One sent state.
#[derive(Clone, Debug)]
struct SentState<L> {
    num: StateNum,
    first_sent_at: Instant,
    sent_at: Instant,
    /// Whether it was sent with a diff: the peer acknowledges such a state soon.
    has_contents: bool,
    object: L,
}

/// The list of sent states, ascending by number, never empty, and the timers.
#[derive(Clone, Debug)]
pub(crate) struct Sender<L> {
    current: L,
    sent: VecDeque<SentState<L>>,
    /// Index of the assumed receiver state as of the last recalculation.
    assumed: usize,
    next_ack: Instant,
    next_send: Option<Instant>,
    /// When the last instruction was sent; this end's creation before the first.
    last_sent_at: Instant,
    has_sent: bool,
    /// When contents were last sent.
    last_frame_at: Option<Instant>,
    changes: changes::Changes,
    /// The objects differ, but there is no diff between them: nothing to wake up for.
    nothing_to_say: bool,
    ack_num: StateNum,
    ack_wanted_since: Option<Instant>,
    /// Whether that acknowledgment waits for no company.
    is_ack_urgent: bool,
    /// Whether anything of the peer's has been acknowledged.
    has_acknowledged: bool,
    last_new_remote: Option<Instant>,
    /// Whether the peer's newest contents are large: more may wait for their acknowledgment.
    is_remote_large: bool,
    /// When contents of either end's were last large.
    large_at: Option<Instant>,
    /// Whether that was lately, as of the last step.
    has_large: bool,
    /// When the peer's newest contents arrived, and how many frames have gone out since with something that its user
    /// waits for.
    answering: Option<(Instant, u8)>,
    shutdown: shutdown::Shutdown,
    /// The last instruction, if it has several fragments.
    kept: Option<Outgoing>,
    repeats: u32,
    backoff: backoff::Backoff,
    chunks: chunk::Chunks,
    first_contact: first_contact::FirstContact,
    references: ReferenceChooser,
    repetition: repetition::Repetition,
    steady: steady::SteadyOutput,
    delivery_estimate: delivery_estimate::DeliveryEstimate,
}

impl<L: Object> Sender<L> {
    /// Creates the sender of an object in its initial state; `rng` is for a policy that chooses
    /// at random.
    pub(crate) fn new(initial: L, rng: Stream, now: Instant) -> Self {
        let state = SentState {
            num: StateNum::INITIAL,
            first_sent_at: now,
            sent_at: now,
            has_contents: false,
            object: initial.clone(),
        };
        Self {
            current: initial,
            sent: VecDeque::from([state]),
            assumed: 0,
            next_ack: now,
            next_send: Some(now),
            last_sent_at: now,
            has_sent: false,
            last_frame_at: None,
            changes: changes::Changes::default(),
            nothing_to_say: false,
            ack_num: StateNum::INITIAL,
            ack_wanted_since: None,
            is_ack_urgent: false,
            has_acknowledged: false,
            last_new_remote: None,
            is_remote_large: false,
            large_at: None,
            has_large: false,
            answering: None,
            shutdown: shutdown::Shutdown::default(),
            kept: None,
            repeats: 0,
            backoff: backoff::Backoff::default(),
            chunks: chunk::Chunks::default(),
            first_contact: first_contact::FirstContact::default(),
            references: ReferenceChooser::new(rng),
            repetition: repetition::Repetition::new(now),
            steady: steady::SteadyOutput::new(now),
            delivery_estimate: delivery_estimate::DeliveryEstimate::new(),
        }
    }

    /// Takes an acknowledgment. One of a number that is not in the list is ignored: it is older than
    /// another, or of a state that was culled.
    pub(crate) fn handle_ack(&mut self, now: Instant, ack_num: StateNum) {
        match self.sent.iter().position(|state| state.num == ack_num) {
            None | Some(0) => return,
            Some(acknowledged) => self.sent.drain(..acknowledged),
        };
        self.chunks.handle_ack();
        self.first_contact.handle_ack();
        self.backoff.handle_ack();
        self.repetition.handle_ack(ack_num);
        self.delivery_estimate.handle_ack(now, ack_num);
        self.nothing_to_say = false;
        if self.kept.as_ref().is_some_and(|kept| kept.new_num <= ack_num) {
            self.kept = None;
        }
        self.drop_prefixes();
    }

    /// Takes note of a new newest state of the peer's, with a diff of so many bytes.
    pub(crate) fn handle_new_remote(&mut self, now: Instant, num: StateNum, contents_len: usize) {
        self.ack_num = num;
        self.handle_heard(now);
        if contents_len > 0 {
            self.is_remote_large = contents_len >= PROSPECTIVE_LEN_MAX;
            self.large_at = self.is_remote_large.then_some(now).or(self.large_at);
            self.heed_large(now);
            self.want_ack(now);
            self.answering = Some((now, 0));
        }
    }

    /// Takes note that the peer's newest contents have come again. Where the acknowledgment must have reached it
    /// by now, it was lost.
    pub(crate) fn handle_remote_again(&mut self, now: Instant, timing: &SendTiming) {
        let is_first =
            timing.config.repetition.says_again_at_first && !self.first_contact.is_made();
        let answered_within = if is_first { first_contact::UNHEARD_AFTER } else { timing.rto };
        if timing.config.acks.acknowledges_again && self.last_sent_at + answered_within <= now {
            // It has waited long enough for company.
            self.ack_wanted_since.get_or_insert(self.last_sent_at);
        }
    }

    /// Sends an acknowledgment soon, whether or not it says anything new.
    pub(crate) fn want_ack(&mut self, now: Instant) {
        self.ack_wanted_since.get_or_insert(now);
    }

    /// Sends an acknowledgment now.
    pub(crate) fn want_ack_at_once(&mut self, now: Instant) {
        self.want_ack(now);
        self.is_ack_urgent = true;
    }

    /// Takes note that the peer is there: what is unacknowledged is worth sending again.
    pub(crate) fn handle_heard(&mut self, now: Instant) {
        self.last_new_remote = Some(now);
    }

    /// Makes `object` the current state, unless this end is shutting down.
    pub(crate) fn publish(&mut self, object: L) {
        if !self.shutdown.is_started() {
            if !object.same_as(&self.current) {
                self.changes.handle_change();
            }
            self.current = object;
            self.nothing_to_say = false;
            self.drop_prefixes();
        }
    }

    pub(crate) fn start_shutdown(&mut self, now: Instant) {
        self.shutdown.start(now);
    }

    /// Returns what to send now, if anything is due. To be asked again until it is not.
    pub(crate) fn step(&mut self, now: Instant, timing: &SendTiming) -> Option<Step> {
        let peer = timing.peer;
        self.recalculate(now, timing);
        let is_ack_due = now >= self.next_ack;
        if !is_ack_due && self.next_send.is_none_or(|due| now < due) {
            return None;
        }
        let diff_from_known = diff_within_max(&self.current, &self.known().object, peer);
        if diff_from_known.as_ref().is_none_or(|diff| diff.len() >= PROSPECTIVE_LEN_MAX)
            && let Some(until) = self.holds_back(now, timing)
        {
            self.next_send = until;
            return is_ack_due.then(|| self.acknowledge(now));
        }
        if diff_from_known.is_none()
            && let Some(step) = self.chunk_step(now, timing)
        {
            self.count_answer();
            return Some(step);
        }
        let diff_from_known =
            diff_from_known.unwrap_or_else(|| self.current.diff_from(&self.known().object, peer));
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
            let is_heartbeat = self.is_heartbeat_due(now, timing);
            let step = self.step_without_diff(now, reference, is_ack_due, peer)?;
            return Some(match step {
                Step::Send(outgoing) => Step::Send(Outgoing { is_heartbeat, ..outgoing }),
                Step::Repeat => step,
            });
        }
        Some(self.send_contents(now, timing, reference, diff, due))
    }

    /// Sends the current state as a diff from an entry of the list.
    fn send_contents(
        &mut self,
        now: Instant,
        timing: &SendTiming,
        reference: usize,
        diff: Vec<u8>,
        due: Due,
    ) -> Step {
        let last = self.last();
        let new_num = match self.is_shutting_down() {
            true => StateNum::SHUTDOWN,
            false if self.current.same_as(&last.object) => last.num,
            false => last.num.next(),
        };
        let reference_num = self.sent[reference].num;
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
            self.count_answer();
        }
        let step = if is_again {
            self.send_again(now, timing, reference_num, self.sent.len() - 1, diff)
        } else {
            let object = self.current.clone();
            self.send_new(now, reference_num, new_num, object, diff)
        };
        self.first_contact.handle_sent(&sending);
        self.repetition.handle_sent(&sending, timing.srtt);
        step
    }

    /// Returns why the current contents are sent.
    fn occasion(&self, is_copy_due: bool, is_again: bool, timing: &SendTiming) -> Occasion {
        match is_copy_due {
            _ if !self.current.shows_same(&self.last().object) => Occasion::News,
            true => Occasion::Copy,
            false if is_again && self.is_missed_by(self.assumed, timing) => Occasion::PresumedLost,
            false => Occasion::Other,
        }
    }

    /// Returns an instruction without contents for a datagram that tries the path, unless something waits to be said. Its
    /// state holds what the last one holds; where that may still be lost, the two go only on a path that loses little.
    pub(crate) fn probe(&mut self, now: Instant, timing: &SendTiming) -> Option<Outgoing> {
        let is_answered = self.unacknowledged_since().is_none();
        let is_likely_held = timing.path.loss_out <= PROBED_LOSS && !self.is_overdue(now, timing);
        let is_free = self.known_num() != StateNum::INITIAL
            && self.ack_num != StateNum::SHUTDOWN
            && !self.is_shutting_down()
            && !self.chunks.is_active()
            && !self.is_missed_by(self.sent.len() - 1, timing);
        if !is_free || !(is_answered || is_likely_held) {
            return None;
        }
        match self.acknowledge(now) {
            Step::Send(outgoing) => {
                self.repetition.handle_renumbered(outgoing.new_num);
                Some(outgoing)
            }
            Step::Repeat => None,
        }
    }

    /// Keeps an instruction of several fragments, just sent, which [`Step::Repeat`] will mean from
    /// now on.
    pub(crate) fn keep(&mut self, outgoing: Outgoing) {
        self.kept = Some(outgoing);
        self.repeats = 0;
        self.backoff.handle_try(self.last_sent_at);
    }

    /// Takes note that an instruction was sent in so many datagrams and bytes.
    pub(crate) fn handle_cut(
        &mut self,
        now: Instant,
        outgoing: &Outgoing,
        datagrams: usize,
        bytes: usize,
        timing: &SendTiming,
    ) {
        if !outgoing.diff.is_empty() {
            self.steady.handle_frame(now, datagrams, bytes, timing);
        }
        if timing.config.weighs_references() {
            self.delivery_estimate.handle_sent(now, outgoing, datagrams, bytes, timing);
        }
    }

    /// Forgets the kept instruction: its fragments are gone or of the wrong size.
    pub(crate) fn forget_kept(&mut self) {
        self.kept = None;
    }

    pub(crate) fn current(&self) -> &L {
        &self.current
    }

    pub(crate) fn known_receiver_state(&self) -> &L {
        &self.known().object
    }

    pub(crate) fn known_num(&self) -> StateNum {
        self.known().num
    }

    pub(crate) fn known_sent_at(&self) -> Instant {
        self.known().sent_at
    }

    pub(crate) fn last_state(&self) -> &L {
        &self.last().object
    }

    pub(crate) fn last_num(&self) -> StateNum {
        self.last().num
    }

    /// Returns whether large contents are or lately were on their way, in either direction.
    pub(crate) const fn has_large(&self) -> bool {
        self.has_large
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.is_started()
    }

    /// Chooses the state to start a diff from, the assumed receiver state or the known one.
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
            let place = |num| self.sent.iter().position(|state| state.num == num);
            let diff_from =
                |num| Some(self.current.diff_from(&self.sent[place(num)?].object, peer));
            let (other, diff) =
                self.delivery_estimate.choose(now, timing, diff_from_known, diff_from);
            return (other.and_then(place).unwrap_or(0), diff);
        }
        if self.assumed == 0 {
            return (0, diff_from_known);
        }
        let contents_max = timing.path.contents_max;
        let assumed = &self.sent[self.assumed].object;
        let from_assumed = || self.current.diff_from(assumed, peer);
        match self.references.choose(policy, diff_from_known, from_assumed, contents_max) {
            Choice::Known(diff) => (0, diff),
            Choice::Assumed(diff) => (self.assumed, diff),
        }
    }

    /// Returns until when large contents wait, if they do: for the end of the backoff or, once the
    /// peer wants nothing but the acknowledgment of its end, for ever.
    fn holds_back(&self, now: Instant, timing: &SendTiming) -> Option<Option<Instant>> {
        if self.is_shutting_down() {
            return None;
        }
        if self.ack_num == StateNum::SHUTDOWN {
            return Some(None);
        }
        self.backoff.until(timing).filter(|until| now < *until).map(Some)
    }

    /// Acknowledges without contents while there are some. The new state holds what the last one
    /// holds; a peer without that one cannot take it, but reads the acknowledgment first.
    pub(crate) fn acknowledge(&mut self, now: Instant) -> Step {
        let (last_num, object) = (self.last().num, self.last().object.clone());
        self.send_new(now, last_num, last_num.next(), object, Vec::new())
    }

    /// Sends an empty acknowledgment if one is due. It takes a number of its own: that is how the
    /// peer sees that we are alive.
    fn step_without_diff(
        &mut self,
        now: Instant,
        reference: usize,
        is_ack_due: bool,
        peer: Capabilities,
    ) -> Option<Step> {
        // The state went back to what the reference holds, while the peer may hold what came
        // between; then the empty diff is news.
        let last = self.last();
        let is_news = !self.current.same_as(&last.object)
            && !self.current.diff_from(&last.object, peer).is_empty();
        if !is_ack_due && !is_news {
            self.nothing_to_say = true;
            self.changes.handle_sent();
            self.next_send = None;
            return None;
        }
        let new_num = if self.is_shutting_down() { StateNum::SHUTDOWN } else { last.num.next() };
        let object = self.current.clone();
        self.repetition.handle_renumbered(new_num);
        Some(self.send_new(now, self.sent[reference].num, new_num, object, Vec::new()))
    }

    /// Returns whether to repeat the kept instruction although there are newer contents: something
    /// was lost, and a newer instruction would make the receiver throw away the fragments it has.
    fn finishes_first(&self, now: Instant, timing: &SendTiming) -> bool {
        let Some(kept) = &self.kept else { return false };
        kept.new_num == self.last().num
            && kept.old_num == self.known().num
            && self.repeats < REPEATS_MAX
            && !self.is_shutting_down()
            && self.is_overdue(now, timing)
            && self.may_repeat(now, timing)
    }

    /// Sends an entry of the list again: to the byte where it may be, else with fresh surroundings.
    fn send_again(
        &mut self,
        now: Instant,
        timing: &SendTiming,
        old_num: StateNum,
        index: usize,
        diff: Vec<u8>,
    ) -> Step {
        let new_num = self.sent[index].num;
        let is_kept = self.kept.as_ref().is_some_and(|kept| {
            kept.old_num == old_num && kept.new_num == new_num && kept.diff == diff
        });
        if is_kept && self.may_repeat(now, timing) {
            return self.repeat(now);
        }
        self.sent[index].sent_at = now;
        self.sent[index].has_contents = true;
        let last_frame_at = self.last_frame_at;
        let outgoing = self.outgoing(now, old_num, new_num, diff);
        if timing.is_patient {
            // A late acknowledgment takes the contents along that are on their way, and often comes right before a key.
            self.last_frame_at = last_frame_at;
        }
        Step::Send(outgoing)
    }

    fn send_new(
        &mut self,
        now: Instant,
        old_num: StateNum,
        new_num: StateNum,
        object: L,
        diff: Vec<u8>,
    ) -> Step {
        debug_assert!(new_num > self.last().num || new_num == StateNum::SHUTDOWN);
        self.sent.push_back(SentState {
            num: new_num,
            first_sent_at: now,
            sent_at: now,
            has_contents: !diff.is_empty(),
            object,
        });
        self.cull();
        Step::Send(self.outgoing(now, old_num, new_num, diff))
    }

    fn repeat(&mut self, now: Instant) -> Step {
        let new_num = self.kept.as_ref().expect("only a kept instruction is repeated").new_num;
        if let Some(state) = self.sent.iter_mut().find(|state| state.num == new_num) {
            state.sent_at = now;
        }
        self.repeats += 1;
        self.backoff.handle_try(now);
        self.delivery_estimate.handle_repeated(now, new_num);
        self.after_send(now, new_num);
        tracing::debug!(num = %new_num, repeats = self.repeats, "instruction repeated");
        Step::Repeat
    }

    fn outgoing(
        &mut self,
        now: Instant,
        old_num: StateNum,
        new_num: StateNum,
        diff: Vec<u8>,
    ) -> Outgoing {
        self.after_send(now, new_num);
        if !diff.is_empty() {
            self.last_frame_at = Some(now);
            self.changes.handle_frame();
        }
        self.ack_wanted_since = None;
        self.is_ack_urgent = false;
        self.has_acknowledged |= self.ack_num != StateNum::INITIAL;
        self.kept = None;
        let (ack_num, throwaway_num) = (self.ack_num, self.known().num);
        debug_assert!(
            throwaway_num <= old_num,
            "a throwaway above the reference ends a stock peer"
        );
        debug_assert!(old_num <= new_num);
        tracing::debug!(num = %new_num, base = %old_num, diff_bytes = diff.len(), "frame sent");
        Outgoing { old_num, new_num, ack_num, throwaway_num, diff, is_heartbeat: false }
    }

    /// Logs what is wrong with a diff of the current state, if anything is.
    fn check(&self, num: StateNum, reference: usize, diff: &[u8], peer: Capabilities) {
        let SentState { num: base, object, .. } = &self.sent[reference];
        if let Err(error) = self.current.check(object, diff, peer) {
            tracing::error!(%num, %base, %error, "self-check failed");
        }
    }

    /// Called when a frame goes with something that the peer's user waits for.
    fn count_answer(&mut self) {
        if let Some((_, frames)) = &mut self.answering {
            *frames = frames.saturating_add(1);
        }
    }

    fn after_send(&mut self, now: Instant, new_num: StateNum) {
        if new_num == StateNum::SHUTDOWN {
            self.shutdown.handle_announced();
        }
        self.last_sent_at = now;
        self.has_sent = true;
        self.next_send = None;
        self.changes.handle_sent();
        self.nothing_to_say = false;
    }

    /// Drops entries from the middle while the list is over a limit: the known state is needed, and
    /// the newest ones are the likeliest to be acknowledged.
    fn cull(&mut self) {
        if self.sent.len() > SENT_MAX {
            self.sent.remove(self.sent.len() - SENT_CULLED_FROM_END);
        }
        while self.sent.len() > 2 && self.bytes() > SENT_BYTES_MAX {
            self.sent.remove(self.sent.len() / 2);
        }
        debug_assert!(self.sent.len() <= SENT_MAX);
        debug_assert!(self.sent.iter().is_sorted_by(|a, b| a.num <= b.num));
    }

    fn bytes(&self) -> Bytes {
        let neighbours = core::iter::once(None).chain(self.sent.iter().map(Some));
        let states = self.sent.iter().zip(neighbours);
        states.map(|(state, before)| state.object.bytes_beyond(before.map(|s| &s.object))).sum()
    }

    /// Forgets what the known receiver state has in common with all states.
    fn drop_prefixes(&mut self) {
        let known = self.known().object.clone();
        self.current.drop_prefix(&known);
        for state in &mut self.sent {
            state.object.drop_prefix(&known);
        }
    }

    fn known(&self) -> &SentState<L> {
        self.sent.front().expect("the known receiver state is never thrown away")
    }

    fn last(&self) -> &SentState<L> {
        self.sent.back().expect("the known receiver state is never thrown away")
    }
}

/// Returns the diff from `base` to `target` unless it is longer than one instruction may be.
fn diff_within_max<L: Object>(target: &L, base: &L, peer: Capabilities) -> Option<Vec<u8>> {
    if target.is_far_from(base) {
        return None;
    }
    Some(target.diff_from(base, peer)).filter(|diff| diff.len() <= L::DIFF_MAX)
}

#[cfg(test)]
mod tests;
