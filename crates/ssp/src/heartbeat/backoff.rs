//! The length of the pauses between a server's heartbeats.
//!
//! A NAT or firewall on the path may forget the flow during a pause that is longer than any before. The pauses
//! therefore grow step by step, and each step needs an answer to the heartbeat after the previous pause.
//!
//! A heartbeat that stays unanswered after a long pause is soon repeated one time. A NAT that forgot the flow drops the
//! repetition, too. A path that only loses datagrams mostly delivers it, and then the pauses go on. Otherwise the next
//! heartbeat follows after 3 s, as in Mosh 1.4.0. A step that fails often is not tried again until the client moves.

use rove_units::{Duration, Instant};

use crate::num::StateNum;

/// The possible pauses between heartbeats. The shortest is that of Mosh 1.4.0. Chosen: each is twice the previous one,
/// up to the time for which most NATs keep a flow. RFC 4787 (REQ-5) asks for 2 minutes and more. But many keep one for
/// 30 s, as Linux does until it has seen a few datagrams both ways. WireGuard's documents therefore recommend 25 s.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(12),
    Duration::from_secs(24),
];

/// Longest pause between the heartbeats of a server. Chosen: the last of the steps, and well below the 40 s after which
/// a server counts its client as gone.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(24);
const _: () = assert!(PAUSES[PAUSES.len() - 1].as_millis() == PAUSE_MAX.as_millis());

/// Minimum number of failed pauses after which a server gives up their length. Chosen: one failure may be chance.
const FAILURES_MIN: u32 = 2;

/// A pause length is given up if more than one in this many of its pauses fails. Chosen: at 20 % loss in each
/// direction, chance causes so many failures. At more loss, short pauses are worth their datagrams.
const FAILURES_DIVISOR: u32 = 8;

/// Latest time after a heartbeat at which its repetition still tests the pause. Later, a client that has missed the
/// heartbeat has sent by itself ([`LATE`]). A NAT then knows a forgotten flow again.
const AGAIN_WITHIN: Duration = Duration::from_millis(900);
const _: () = assert!(AGAIN_WITHIN.as_millis() < LATE.as_millis());

/// How late an announced heartbeat may be before the client sends by itself. Chosen: a queue delays datagrams by less.
/// The answer must come within 3.5 s after the heartbeat was due, when the client would report a lost contact.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// A server's record of its heartbeats, which decides how long the next pause is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeartbeatBackoff {
    newest: Option<Heartbeat>,
    /// Whether nothing was sent after the newest heartbeat except its repetitions.
    is_resting: bool,
    /// How many pauses of each length in [`PAUSES`] were answered, and how many failed.
    tallies: [Tally; PAUSES.len()],
    pause_max: Duration,
}

/// The newest heartbeat of a server.
#[derive(Clone, Copy, Debug)]
struct Heartbeat {
    num: StateNum,
    sent_at: Instant,
    /// Indexes into [`PAUSES`]: the pause before this heartbeat, and the pause that it has announced.
    steps: [usize; 2],
    is_answered: bool,
    /// Whether this heartbeat was repeated.
    is_again: bool,
    /// The time until which the client need not send. Once this heartbeat is answered: the end of the pause that it has
    /// announced. Until then: its send time if the previous heartbeat was answered, or else the value of the previous
    /// heartbeat (`None` for the first).
    excused_until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    borne: u32,
    failed: u32,
}

impl Heartbeat {
    /// Returns whether a repetition `at` this time can still tell an overlong pause from a datagram lost by chance.
    fn may_go_again(&self, at: Instant) -> bool {
        let is_open = !self.is_answered && !self.is_again && self.steps[0] > 0;
        is_open && at < self.sent_at + AGAIN_WITHIN
    }
}

impl HeartbeatBackoff {
    /// Starts with the pauses of Mosh 1.4.0. No pause becomes longer than `pause_max`.
    pub(super) fn new(pause_max: Duration) -> Self {
        Self { newest: None, is_resting: false, tallies: Default::default(), pause_max }
    }

    /// Returns whether any pause longer than 3 s may be tried.
    pub(super) fn is_worth_it(&self) -> bool {
        self.best_up_to(1) > 0
    }

    /// Called when a heartbeat is sent; returns the pause that it announces until the next one.
    pub(super) fn handle_heartbeat(&mut self, now: Instant, num: StateNum) -> Duration {
        if let Some(newest) = self.newest.as_mut().filter(|newest| newest.may_go_again(now)) {
            newest.is_again = true;
            return (newest.sent_at + PAUSES[newest.steps[1]]).saturating_since(now);
        }
        let steps = match self.newest {
            None => [0, 0],
            Some(Heartbeat { is_answered: false, .. }) => {
                self.handle_missed();
                [0, 0]
            }
            Some(Heartbeat { steps: [_, announced], .. }) if self.is_resting => {
                [announced, self.best_up_to(announced + 1)]
            }
            Some(Heartbeat { steps: [before, _], .. }) => [0, self.best_up_to(before)],
        };
        let excused_until = match self.newest {
            Some(Heartbeat { is_answered: false, excused_until, .. }) => excused_until,
            Some(_) => Some(now),
            None => None,
        };
        let (is_answered, is_again) = (false, false);
        self.newest =
            Some(Heartbeat { num, sent_at: now, steps, is_answered, is_again, excused_until });
        self.is_resting = true;
        PAUSES[steps[1]]
    }

    /// Called when an instruction other than a heartbeat is sent.
    pub(super) fn handle_other_sent(&mut self) {
        self.is_resting = false;
    }

    /// Called with the newest state that the client has acknowledged, which may answer the newest heartbeat.
    pub(crate) fn handle_ack(&mut self, known: StateNum) {
        let answered = self.newest.as_mut().filter(|it| !it.is_answered && it.num <= known);
        if let Some(newest) = answered {
            newest.is_answered = true;
            newest.excused_until = Some(newest.sent_at + PAUSES[newest.steps[1]]);
            let tally = &mut self.tallies[newest.steps[0]];
            tally.borne = tally.borne.saturating_add(1);
        }
    }

    /// Called if the newest heartbeat may be unanswered. If it is unanswered, the pause before it counts as failed.
    pub(crate) fn handle_missed(&mut self) {
        if let Some(newest) = self.newest.as_mut().filter(|newest| !newest.is_answered) {
            let tally = &mut self.tallies[newest.steps[0]];
            tally.failed = tally.failed.saturating_add(1);
            // A later acknowledgment does not show that a NAT on the path keeps the flow through that pause.
            newest.steps = [0, 0];
        }
    }

    /// Returns whether the answer to the newest heartbeat is overdue. If so, the pause before it counts as failed.
    pub(crate) fn heed_missed(&mut self, now: Instant, answer_expected: Duration) -> bool {
        let unanswered = self.newest.filter(|newest| !newest.is_answered);
        let is_missed = unanswered.is_some_and(|it| it.sent_at + answer_expected < now);
        if is_missed {
            self.handle_missed();
        }
        is_missed
    }

    /// Called when the client sends from another address, so that all pauses are tried again on the new path.
    pub(crate) fn handle_moved(&mut self) {
        *self = Self::new(self.pause_max);
    }

    /// Returns when to repeat the newest heartbeat, given how long an answer takes. `None` if it is not to be repeated.
    pub(crate) fn again_at(&self, answer_expected: Duration) -> Option<Instant> {
        let newest = self.newest.filter(|_| self.is_resting)?;
        let again_at = newest.sent_at + answer_expected;
        newest.may_go_again(again_at).then_some(again_at)
    }

    /// Returns when the next heartbeat is due. `None` if the interval of Mosh 1.4.0 decides.
    pub(super) fn speaks_by(&self) -> Option<Instant> {
        let newest = self.newest.filter(|newest| newest.is_answered && self.is_resting)?;
        newest.excused_until
    }

    /// Returns the time until which the client need not send. `None` before the first answer to a heartbeat.
    pub(super) fn hears_by(&self) -> Option<Instant> {
        self.newest?.excused_until
    }

    /// Returns the highest index into [`PAUSES`], of at most `step`, up to which all pauses are usable.
    fn best_up_to(&self, step: usize) -> usize {
        let is_good = |step: &usize| {
            let Tally { borne, failed } = self.tallies[*step];
            let is_given_up =
                failed >= FAILURES_MIN && failed > (borne + failed) / FAILURES_DIVISOR;
            !is_given_up && PAUSES[*step] <= self.pause_max
        };
        (1..=step.min(PAUSES.len() - 1)).take_while(is_good).last().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long an answer takes on a path with a round trip of 150 ms.
    const ANSWER_EXPECTED: Duration = Duration::from_millis(250);

    fn backoff() -> HeartbeatBackoff {
        HeartbeatBackoff::new(PAUSE_MAX)
    }

    /// Returns a backoff whose pauses have reached their greatest length, and the time of its newest, unanswered heartbeat.
    fn unanswered() -> (HeartbeatBackoff, Instant) {
        let mut backoff = backoff();
        pauses(&mut backoff, 8, |_| true);
        let sent_at = backoff.speaks_by().expect("the one before was answered");
        backoff.handle_heartbeat(sent_at, StateNum::new(9));
        (backoff, sent_at)
    }

    /// Sends `count` heartbeats when due. Each is answered if `bears` is true for the pause before it, in seconds.
    /// Returns the pauses.
    fn pauses(backoff: &mut HeartbeatBackoff, count: u64, bears: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut now, mut sent_at, mut found) = (Instant::ZERO, Instant::ZERO, Vec::new());
        for num in 1..=count {
            let due = backoff.speaks_by().unwrap_or(sent_at + PAUSES[0]);
            now = now.max(due);
            let pause = now.saturating_since(sent_at);
            sent_at = now;
            found.push(pause.as_secs());
            backoff.handle_heartbeat(now, StateNum::new(num));
            if bears(pause.as_secs()) {
                backoff.handle_ack(StateNum::new(num));
            } else if let Some(again_at) = backoff.again_at(ANSWER_EXPECTED) {
                backoff.handle_heartbeat(again_at, StateNum::new(num));
            }
        }
        found
    }

    #[test]
    fn pauses_grow_step_by_step_up_to_the_longest() {
        assert_eq!(pauses(&mut backoff(), 8, |_| true), [3, 3, 6, 12, 24, 24, 24, 24]);
    }

    #[test]
    fn a_pause_that_the_path_does_not_bear_is_tried_twice_and_no_more() {
        let found = pauses(&mut backoff(), 40, |pause| pause < 20);
        assert_eq!(found.iter().filter(|pause| **pause == 24).count(), 2, "{found:?}");
        assert_eq!(found[30..], [12; 10], "{found:?}");
        let failed_at = found.iter().position(|pause| *pause == 24).expect("it was tried");
        assert_eq!(found[failed_at + 1], 3, "the next comes soon");
    }

    #[test]
    fn a_heartbeat_that_chance_has_taken_goes_again_soon_and_the_pauses_stay_long() {
        // The client may answer the heartbeat (9) or its repetition (10).
        for answered in [9, 10] {
            let (mut backoff, sent_at) = unanswered();
            let again_at = sent_at + ANSWER_EXPECTED;
            assert_eq!(backoff.again_at(ANSWER_EXPECTED), Some(again_at));
            let announced = backoff.handle_heartbeat(again_at, StateNum::new(10));
            assert_eq!(announced, PAUSE_MAX - ANSWER_EXPECTED);
            assert_eq!(backoff.again_at(ANSWER_EXPECTED), None, "once");
            backoff.handle_ack(StateNum::new(answered));
            assert_eq!(backoff.speaks_by(), Some(sent_at + PAUSE_MAX));
        }
    }

    #[test]
    fn a_heartbeat_goes_again_only_if_that_tells_something() {
        let (backoff, _) = unanswered();
        assert_eq!(backoff.again_at(AGAIN_WITHIN), None, "the client has spoken by then");
        let (mut backoff, _) = unanswered();
        backoff.handle_other_sent();
        assert_eq!(backoff.again_at(ANSWER_EXPECTED), None, "its answer comes to something else");
        let (mut backoff, _) = unanswered();
        backoff.handle_missed();
        assert_eq!(backoff.again_at(ANSWER_EXPECTED), None, "the client has asked");
        let mut backoff = HeartbeatBackoff::new(PAUSE_MAX);
        backoff.handle_heartbeat(Instant::ZERO, StateNum::new(1));
        assert_eq!(backoff.again_at(ANSWER_EXPECTED), None, "the next one comes soon");
    }

    #[test]
    fn chance_gives_no_step_up() {
        let mut backoff = backoff();
        let mut now = Instant::ZERO;
        let mut longest = 0;
        for num in 1..=1_000 {
            let pause = backoff.handle_heartbeat(now, StateNum::new(num));
            now += pause;
            if num % 50 != 0 {
                backoff.handle_ack(StateNum::new(num));
            }
            longest += u32::from(pause == PAUSE_MAX);
        }
        assert!(longest > 900, "{longest}");
    }

    #[test]
    fn a_client_that_has_moved_begins_with_short_pauses() {
        let mut backoff = backoff();
        pauses(&mut backoff, 8, |_| true);
        backoff.handle_moved();
        assert_eq!(backoff.speaks_by(), None);
        assert_eq!(backoff.handle_heartbeat(Instant::from_millis(1), StateNum::new(9)), PAUSES[0]);
    }

    #[test]
    fn a_word_in_between_ends_a_pause_and_leaves_the_steps_as_they_were() {
        let mut backoff = backoff();
        pauses(&mut backoff, 8, |_| true);
        backoff.handle_other_sent();
        assert_eq!(backoff.speaks_by(), None);
        assert!(backoff.hears_by().is_some(), "the client is silent all the same");
        let at = Instant::from_millis(200_000);
        assert_eq!(backoff.handle_heartbeat(at, StateNum::new(9)), PAUSE_MAX);
    }

    #[test]
    fn pauses_stay_within_what_the_owner_wants() {
        let pauses =
            |most| pauses(&mut HeartbeatBackoff::new(Duration::from_secs(most)), 6, |_| true);
        assert_eq!(pauses(7), [3, 3, 6, 6, 6, 6]);
        assert_eq!(pauses(0), [3; 6]);
    }
}
