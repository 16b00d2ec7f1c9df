//! How long the pauses between a server's heartbeats are.
//!
//! A pause of a length that was not tried yet may be more than a NAT or firewall on the path keeps a flow for, so the
//! pauses grow step by step, and each step needs the answer to the heartbeat after the one before. A heartbeat that is not
//! answered is followed by the next after 3 s, as with stock; a step that fails more often than now and then is not
//! tried again until the client is somewhere else.

use rove_units::{Duration, Instant};

use crate::num::StateNum;

/// The pauses, the shortest of which is stock's. Chosen: each twice the one before, up to what most boxes bear. RFC 4787
/// (REQ-5) asks a NAT to keep a flow for 2 minutes and more, but many keep one for 30 s, as Linux does until it has seen
/// a few datagrams both ways; WireGuard's documents recommend 25 s for the same reason.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(12),
    Duration::from_secs(24),
];

/// Longest pause between the heartbeats of a server. Chosen: as above, and well below the 40 s after which a server counts its client as gone.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(24);
const _: () = assert!(PAUSES[PAUSES.len() - 1].as_millis() == PAUSE_MAX.as_millis());

/// How often a step must fail at least before it is given up. Chosen: once may be chance.
const FAILURES_MIN: u32 = 2;

/// What part of a step's pauses may fail. Chosen: 6 % loss each way takes as much; where more is lost, short pauses are
/// worth their datagrams.
const FAILURES_DIVISOR: u32 = 8;

/// The pauses so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    newest: Option<Heartbeat>,
    /// Whether nothing was sent since.
    is_resting: bool,
    /// How the pauses went, by step.
    tallies: [Tally; PAUSES.len()],
    pause_max: Duration,
}

/// A heartbeat that was sent.
#[derive(Clone, Copy, Debug)]
struct Heartbeat {
    num: StateNum,
    sent_at: Instant,
    /// The step of the pause before it, and of the one that it has promised.
    steps: [usize; 2],
    is_answered: bool,
    /// Until when the client need not speak. A client that did not answer the one before has no excuse later than that.
    excused_until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    borne: u32,
    failed: u32,
}

impl Stretch {
    /// Starts with short pauses, which shall become no longer than this.
    pub(super) fn new(pause_max: Duration) -> Self {
        Self { newest: None, is_resting: false, tallies: Default::default(), pause_max }
    }

    /// Returns whether pauses may become longer than stock's at all.
    pub(super) fn is_worth_it(&self) -> bool {
        self.best_up_to(1) > 0
    }

    /// Takes note of a heartbeat that is sent now; returns the pause until the next, which it promises.
    pub(super) fn handle_heartbeat(&mut self, now: Instant, num: StateNum) -> Duration {
        let steps = match self.newest {
            None => [0, 0],
            Some(Heartbeat { is_answered: false, .. }) => {
                self.handle_missed();
                [0, 0]
            }
            Some(Heartbeat { steps: [_, promised], .. }) if self.is_resting => {
                [promised, self.best_up_to(promised + 1)]
            }
            Some(Heartbeat { steps: [before, _], .. }) => [0, self.best_up_to(before)],
        };
        let excused_until = match self.newest {
            Some(Heartbeat { is_answered: false, excused_until, .. }) => excused_until,
            Some(_) => Some(now),
            None => None,
        };
        self.newest =
            Some(Heartbeat { num, sent_at: now, steps, is_answered: false, excused_until });
        self.is_resting = true;
        PAUSES[steps[1]]
    }

    /// Takes note that something else was sent.
    pub(super) fn handle_other_sent(&mut self) {
        self.is_resting = false;
    }

    /// Takes the newest state that the client has acknowledged, with which it may have answered the newest heartbeat.
    pub(crate) fn handle_ack(&mut self, known: StateNum) {
        let answered = self.newest.as_mut().filter(|it| !it.is_answered && it.num <= known);
        if let Some(newest) = answered {
            newest.is_answered = true;
            newest.excused_until = Some(newest.sent_at + PAUSES[newest.steps[1]]);
            let tally = &mut self.tallies[newest.steps[0]];
            tally.borne = tally.borne.saturating_add(1);
        }
    }

    /// Takes note that the client has missed the newest heartbeat: the pause before it was too long, maybe.
    pub(crate) fn handle_missed(&mut self) {
        if let Some(newest) = self.newest.as_mut().filter(|newest| !newest.is_answered) {
            let tally = &mut self.tallies[newest.steps[0]];
            tally.failed = tally.failed.saturating_add(1);
            // Whatever is acknowledged later says nothing of that pause.
            newest.steps = [0, 0];
        }
    }

    /// Returns since when a heartbeat is not answered.
    pub(crate) fn unanswered_since(&self) -> Option<Instant> {
        self.newest.filter(|newest| !newest.is_answered).map(|newest| newest.sent_at)
    }

    /// Takes note that the client is somewhere else: its path is another one.
    pub(crate) fn handle_moved(&mut self) {
        *self = Self::new(self.pause_max);
    }

    /// Returns when the next heartbeat is due, if that is later than stock's would be.
    pub(super) fn speaks_by(&self) -> Option<Instant> {
        let newest = self.newest.filter(|newest| newest.is_answered && self.is_resting)?;
        newest.excused_until
    }

    /// Returns until when the client need not speak.
    pub(super) fn hears_by(&self) -> Option<Instant> {
        self.newest?.excused_until
    }

    /// Returns the longest step up to this one that may be tried.
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

    fn stretch() -> Stretch {
        Stretch::new(PAUSE_MAX)
    }

    /// Sends a heartbeat whenever one is due, and has it answered where `bears` says so of the pause before it; returns
    /// the pauses in seconds.
    fn pauses(stretch: &mut Stretch, count: u64, bears: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut now, mut sent_at, mut found) = (Instant::ZERO, Instant::ZERO, Vec::new());
        for num in 1..=count {
            let due = stretch.speaks_by().unwrap_or(sent_at + PAUSES[0]);
            now = now.max(due);
            let pause = now.saturating_since(sent_at);
            sent_at = now;
            found.push(pause.as_secs());
            stretch.handle_heartbeat(now, StateNum::new(num));
            if bears(pause.as_secs()) {
                stretch.handle_ack(StateNum::new(num));
            }
        }
        found
    }

    #[test]
    fn pauses_grow_step_by_step_up_to_the_longest() {
        assert_eq!(pauses(&mut stretch(), 8, |_| true), [3, 3, 6, 12, 24, 24, 24, 24]);
    }

    #[test]
    fn a_pause_that_the_path_does_not_bear_is_tried_twice_and_no_more() {
        let found = pauses(&mut stretch(), 40, |pause| pause < 20);
        assert_eq!(found.iter().filter(|pause| **pause == 24).count(), 2, "{found:?}");
        assert_eq!(found[30..], [12; 10], "{found:?}");
        let failed_at = found.iter().position(|pause| *pause == 24).expect("it was tried");
        assert_eq!(found[failed_at + 1], 3, "the next comes soon");
    }

    #[test]
    fn chance_gives_no_step_up() {
        let mut stretch = stretch();
        let mut now = Instant::ZERO;
        let mut longest = 0;
        for num in 1..=1_000 {
            let pause = stretch.handle_heartbeat(now, StateNum::new(num));
            now += pause;
            if num % 50 != 0 {
                stretch.handle_ack(StateNum::new(num));
            }
            longest += u32::from(pause == PAUSE_MAX);
        }
        assert!(longest > 900, "{longest}");
    }

    #[test]
    fn a_client_that_has_moved_begins_with_short_pauses() {
        let mut stretch = stretch();
        pauses(&mut stretch, 8, |_| true);
        stretch.handle_moved();
        assert_eq!(stretch.speaks_by(), None);
        assert_eq!(stretch.handle_heartbeat(Instant::from_millis(1), StateNum::new(9)), PAUSES[0]);
    }

    #[test]
    fn what_is_said_in_between_ends_a_pause_and_not_what_was_learned() {
        let mut stretch = stretch();
        pauses(&mut stretch, 8, |_| true);
        stretch.handle_other_sent();
        assert_eq!(stretch.speaks_by(), None);
        assert!(stretch.hears_by().is_some(), "the client is silent all the same");
        let at = Instant::from_millis(200_000);
        assert_eq!(stretch.handle_heartbeat(at, StateNum::new(9)), PAUSE_MAX);
    }

    #[test]
    fn pauses_stay_within_what_the_owner_wants() {
        let pauses = |most| pauses(&mut Stretch::new(Duration::from_secs(most)), 6, |_| true);
        assert_eq!(pauses(7), [3, 3, 6, 6, 6, 6]);
        assert_eq!(pauses(0), [3; 6]);
    }
}
