//! When the next acknowledgment and the next contents (diff) are due.
//!
//! The sender has two timers: one for an acknowledgment or a heartbeat, and one for contents. Both are computed from
//! the list of sent states before every wait.

use rove_units::{Duration, Instant};

use crate::config::Config;
use crate::num::StateNum;
use crate::object::Object;
use crate::send_timing::SendTiming;
use crate::sender::Sender;

/// How long a heartbeat waits after an arrival, if answers take over 3 s. Chosen: mostly an answer of this end, sent in
/// that time, replaces the heartbeat.
const HEARD_LATELY: Duration = Duration::from_secs(1);

/// The first frame that answers new contents waits until nothing has changed for the round trip divided by this.
/// `FrameConfig::quiet_delay` replaces that time if the client predicts, or if the delay is longer. Chosen:
/// docs/timing.md, "Near paths"; the pieces in which programs write a page take 11 % fewer bytes in one frame (200 ms).
const QUIET_DIVISOR: u32 = 200;

impl<L: Object> Sender<L> {
    /// Computes the assumed receiver state and when to send next.
    pub(crate) fn recalculate(&mut self, now: Instant, timing: &SendTiming) {
        self.large.heed(now, self.chunks.is_active());
        self.steady.heed(now, self.answers.asked_at, timing);
        self.sent.assumed = self.sent.newest_assumed(now, timing);
        debug_assert!(self.sent.assumed < self.sent.list.len());
        self.next_ack = self.ack_due(now, timing);
        self.next_send = self.send_due(now, timing);
    }

    /// Returns when to call [`Sender::step`], as [`Sender::recalculate`] last computed it.
    pub(crate) fn next_step(&self) -> Instant {
        self.next_send.map_or(self.next_ack, |send| send.min(self.next_ack))
    }

    /// Returns when to close without an acknowledgment of the shutdown. `None` if this end is not shutting down.
    pub(crate) fn gives_up_at(&self, timing: &SendTiming) -> Option<Instant> {
        self.shutdown.gives_up_at(self.sent.last_at, timing)
    }

    /// Returns whether to send or repeat a heartbeat: its time has come, no contents are unacknowledged, and no end
    /// shuts down.
    pub(super) fn is_heartbeat_due(&self, now: Instant, timing: &SendTiming) -> bool {
        let is_due = self.sent.last_at + timing.config.heartbeat.interval <= now
            || timing.heartbeat_again_at.is_some_and(|at| at <= now);
        self.sent.has_sent
            && is_due
            && !self.shutdown.is_started()
            && self.acks.num != StateNum::SHUTDOWN
            && self.sent.unacknowledged_since().is_none()
    }

    /// Returns whether the kept instruction (of several fragments) may be repeated. It may if no newer acknowledgment
    /// than the one in it is due, and the peer is not shutting down.
    pub(super) fn may_repeat(&self, now: Instant, timing: &SendTiming) -> bool {
        let is_ack_due = self.wanted_ack_due(now, timing).is_some_and(|due| due <= now);
        self.acks.num != StateNum::SHUTDOWN && !is_ack_due
    }

    fn ack_due(&self, now: Instant, timing: &SendTiming) -> Instant {
        // The parts of a large change that are sent before the shutdown keep their own pace.
        let is_chain_pending =
            self.chunks.is_active() && !self.current.same_as(&self.sent.known().object);
        let is_announcing = self.shutdown.is_started() && !is_chain_pending;
        if self.acks.num == StateNum::SHUTDOWN {
            return self.sent.last_at + timing.frame_interval;
        }
        if is_announcing {
            return self.sent.last_at + self.shutdown.interval(timing);
        }
        // The first instruction is sent at the first opportunity, even without contents.
        let silence_max =
            if self.sent.has_sent { timing.config.heartbeat.interval } else { Duration::ZERO };
        let heartbeat = self.sent.last_at + silence_max;
        let heartbeat = self.put_off(heartbeat, timing);
        // Unacknowledged contents may be lost, so each heartbeat carries them.
        let is_acknowledged = self.sent.unacknowledged_since().is_none();
        let quiet = timing.speaks_by.filter(|_| is_acknowledged);
        let heartbeat = quiet.map_or(heartbeat, |by| by.max(heartbeat));
        let again = timing.heartbeat_again_at.filter(|_| is_acknowledged);
        let heartbeat = again.map_or(heartbeat, |at| at.min(heartbeat));
        self.wanted_ack_due(now, timing).map_or(heartbeat, |wanted| wanted.min(heartbeat))
    }

    /// Returns when to send the heartbeat due at `heartbeat`. If answers take longer than the heartbeat interval, it
    /// waits until a moment after the next answer. An instruction that this end then sends mostly replaces it.
    fn put_off(&self, heartbeat: Instant, timing: &SendTiming) -> Instant {
        if timing.in_flight() <= timing.config.heartbeat.interval {
            return heartbeat;
        }
        let is_answered = self.sent.unacknowledged_since().is_none();
        let heard = self.answers.heard_at.map(|at| at + HEARD_LATELY);
        let settled =
            heard.filter(|_| is_answered).unwrap_or(self.sent.last_at + timing.in_flight());
        heartbeat.max(settled.min(self.sent.last_at + timing.config.heartbeat.interval_far_max))
    }

    /// Returns when a wanted acknowledgment is due. `None` if none is wanted.
    fn wanted_ack_due(&self, now: Instant, timing: &SendTiming) -> Option<Instant> {
        let is_slow = self.large.backoff.is_slow(timing);
        let is_in_repair =
            self.large.kept.is_some() && self.sent.is_overdue(now, timing) && !is_slow;
        self.acks.due(is_in_repair, self.sent.known().num, timing)
    }

    /// Returns whether the next frame is sent as soon as changes pause. While large contents are being sent, a frame
    /// waits longer, because its contents would delay the next frame.
    fn is_hurried(&self, config: &Config) -> bool {
        self.large.kept.is_none() && self.answers.is_first_next(config)
    }

    /// Returns whether the peer's user waits for the unsent change. A change of only the echo ack does not count. A
    /// separate frame for it, soon after the echo's frame, would cost each key two datagrams, with its acknowledgment.
    /// At an end without [`FrameConfig::answer_frames`](crate::FrameConfig::answer_frames) every change counts.
    fn is_awaited(&self, timing: &SendTiming) -> bool {
        let before = &self.sent.last().object;
        timing.config.frames.answer_frames == 0 || self.current.is_urgent_to(timing.peer, before)
    }

    /// Returns the time until which the sender waits for further changes that can share the unsent change's frame.
    fn collected_at(&mut self, now: Instant, is_awaited: bool, timing: &SendTiming) -> Instant {
        let config = &timing.config;
        let since = self.changes.collected_since(now, is_awaited);
        let changed_at = self.changes.notice(now);
        let longest = since + config.frames.collection_delay;
        if self.is_hurried(config) {
            longest.min(changed_at + quiet_delay(timing))
        } else {
            longest
        }
    }

    /// Returns when the newest contents are to be sent again proactively ([`Repetition`]). `None` if they are not.
    ///
    /// [`Repetition`]: super::repetition::Repetition
    pub(super) fn copy_due(&self, timing: &SendTiming) -> Option<Instant> {
        let is_worth_it = !self.shutdown.is_started() && !self.chunks.is_active();
        self.repetition.due(timing).filter(|_| is_worth_it)
    }

    /// Returns when the first contents are to be sent again ([`FirstContact`]). `None` if they are not.
    ///
    /// [`FirstContact`]: super::first_contact::FirstContact
    pub(super) fn first_due(&self, timing: &SendTiming) -> Option<Instant> {
        let is_worth_it = timing.config.repetition.says_again_at_first
            && !self.shutdown.is_started()
            && self.current.same_as(&self.sent.last().object);
        self.first_contact.due().filter(|_| is_worth_it)
    }

    fn send_due(&mut self, now: Instant, timing: &SendTiming) -> Option<Instant> {
        if self.changes.nothing_to_say {
            return None;
        }
        let frame = self.frame_due(now, timing);
        [self.copy_due(timing), self.first_due(timing), frame].into_iter().flatten().min()
    }

    fn frame_due(&mut self, now: Instant, timing: &SendTiming) -> Option<Instant> {
        let config = &timing.config;
        let next_frame = self.sent.last_at + timing.frame_interval;
        let presumed_lost = self.sent.last_at + timing.in_flight();
        let heard_at = self.answers.heard_at.max(timing.hears_by);
        let is_active = heard_at.is_some_and(|at| now < at + config.repetition.active_retry);

        if self.chunks.is_active() && !self.may_extend(timing) {
            return is_active.then_some(presumed_lost);
        }
        let new_frame = self.new_frame_due(now, timing);
        if new_frame.is_some() || !is_active {
            return new_frame;
        }
        if !self.is_missed_by(self.sent.assumed, timing) {
            return self.is_missed_by(0, timing).then_some(presumed_lost);
        }
        let collected = self.changes.since().map(|since| since + config.frames.collection_delay);
        Some(collected.map_or(next_frame, |collected| collected.max(next_frame)))
    }

    /// Returns when to send the unsent changes. `None` without changes, or if no user waits for them and, because
    /// acknowledgments may be late, they can travel with the next instruction.
    fn new_frame_due(&mut self, now: Instant, timing: &SendTiming) -> Option<Instant> {
        let config = &timing.config;
        if self.current.same_as(&self.sent.last().object) {
            return None;
        }
        let is_awaited = self.is_awaited(timing);
        let collected = self.collected_at(now, is_awaited, timing);
        if timing.bears_late && !is_awaited {
            return None;
        }
        // The interval counts from the last frame. An instruction with only an acknowledgment is no frame, so the next
        // key does not wait for it.
        let longest = if !is_awaited {
            config.frames.interval_max
        } else if self.changes.are_of_held_key() {
            config.frames.held_interval_max
        } else if timing.bears_late {
            let late = config.frames.news_interval_late.min(timing.srtt / 3);
            late.max(config.frames.news_interval_max)
        } else {
            config.frames.news_interval_max
        };
        let interval = timing.frame_interval.min(longest);
        let paced = self.sent.last_frame_at.map_or(collected, |at| at + interval);
        let answer = self.answers.due(self.is_hurried(config), config).filter(|_| is_awaited);
        let sooner =
            answer.into_iter().chain(self.steady.next_frame(timing).filter(|_| is_awaited));
        let paced = sooner.fold(paced, Instant::min);
        Some(paced.max(collected))
    }

    /// Returns whether a peer whose newest state is entry `index` lacks a change that is worth a separate datagram.
    pub(super) fn is_missed_by(&self, index: usize, timing: &SendTiming) -> bool {
        let held = &self.sent.list[index].object;
        let is_same = if timing.bears_late { L::shows_same } else { L::same_as };
        !is_same(&self.current, held)
    }
}

/// Returns the time without further changes after which a first answer is sent. A client that predicts compares each
/// screen with its predictions, so it gets screens without the longer wait.
fn quiet_delay(timing: &SendTiming) -> Duration {
    let least = timing.config.frames.quiet_delay;
    if least > Duration::ZERO && timing.bears_late {
        least.max(timing.srtt / QUIET_DIVISOR)
    } else {
        least
    }
}
