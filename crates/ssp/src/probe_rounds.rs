//! Schedules a client's probes of better paths to its server while it uses a worse path that works.
//!
//! A probe repeats the newest payload over a better path. A server answers to the address from which it last heard its
//! client. If a better path carries datagrams only to the server, a probe would make the answers disappear. So each
//! round of probes ends with a *recall*: the payload is sent once more over the path in use.

use rove_units::{Duration, Instant};

/// Time from the first round of probes to the second; it doubles with each round. Chosen: a little more than the 200 ms
/// after which first contents (diffs) are repeated.
const ROUND_MIN: Duration = Duration::from_millis(250);
/// Longest time between two rounds of probes of better paths. Chosen: with a round trip of half a second, a session is
/// back on the better path 2 s after this path works again.
const ROUND_MAX: Duration = Duration::from_millis(1_500);
/// Time without input after which rounds of probes become rare. Chosen: by then no user is waiting for the screen.
const IDLE_AFTER: Duration = Duration::from_secs(600);
/// Time between two rounds of probes after [`IDLE_AFTER`]. Chosen: as rare as other probes in a long outage.
const ROUND_IDLE: Duration = Duration::from_secs(10);
/// Time between two probes of a round. Chosen: the probes make no burst, and the recall still follows soon.
const STAGGER: Duration = Duration::from_millis(10);
/// Time from the last probe of a round to the recall. Chosen: on a short path the answer arrives first. If the better
/// path loses an answer, the next arrives only this much later over the path in use.
const RECALL_AFTER: Duration = Duration::from_millis(30);

/// The schedule of probes of better paths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProbeRounds {
    /// When the next probe is due.
    probe_at: Instant,
    /// How many probes of the current round are left.
    left: usize,
    /// Time from the newest round of probes to the next; zero before the first round.
    gap: Duration,
    recall_at: Option<Instant>,
    /// Whether the current round repeats input, so that its probes follow each other at once.
    is_input: bool,
    /// When a datagram to which the server replies, such as input, was last sent.
    asked_at: Instant,
}

/// The destination of a repeated payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// The payload goes over the next path that is better than the one in use.
    Better,
    /// The payload goes over the path in use, so that the server answers over that path.
    Recall,
}

impl ProbeRounds {
    /// Creates a schedule whose first round is due at once.
    pub(crate) fn begin(now: Instant) -> Self {
        Self { probe_at: now, asked_at: now, ..Self::default() }
    }

    /// Creates a schedule whose first round follows the first answer over the path in use, or starts at `latest`. Until
    /// then, no probe can divert answers to a path that carries datagrams only to the server.
    pub(crate) fn begin_after_answer(now: Instant, latest: Instant) -> Self {
        Self { probe_at: latest, asked_at: now, ..Self::default() }
    }

    /// Handles an answer over the path in use, after which the first round is due at once.
    pub(crate) fn handle_answer(&mut self, now: Instant) {
        if self.gap == Duration::ZERO {
            self.probe_at = self.probe_at.min(now);
        }
    }

    /// Starts a new round at once, because the computer's network has changed and may work again. The round probes all
    /// better paths, because the address family of the first path may be gone.
    pub(crate) fn handle_change(&mut self, now: Instant) {
        (self.probe_at, self.left, self.gap) = (now, 0, ROUND_MIN / 2);
    }

    /// Handles the sending of a datagram to which the server replies. The next round then follows at most [`ROUND_MAX`]
    /// after the last, or [`ROUND_MIN`] if the path in use `is_doubted`.
    pub(crate) fn handle_asked(&mut self, now: Instant, is_doubted: bool) {
        self.asked_at = now;
        let wait = if is_doubted { ROUND_MIN } else { ROUND_MAX };
        self.probe_at = self.probe_at.min(now.max(self.probe_at - self.gap + wait));
    }

    /// Immediately starts a round that repeats input over all better paths. Its recall follows at once, too.
    pub(crate) fn handle_input(&mut self, now: Instant) {
        (self.probe_at, self.left, self.is_input) = (now, 0, true);
        self.gap = (self.gap / 2).max(ROUND_MIN / 2);
    }

    /// Returns when the recall of the current round is due. `None` outside a round.
    pub(crate) fn recall_at(&self) -> Option<Instant> {
        self.recall_at.or((self.left > 0).then(|| self.probe_at + RECALL_AFTER))
    }

    pub(crate) fn poll_timeout(&self) -> Instant {
        self.recall_at.map_or(self.probe_at, |at| at.min(self.probe_at))
    }

    /// Returns the path over which to repeat the newest payload now, if any. `better` counts the better paths.
    pub(crate) fn poll(&mut self, now: Instant, better: usize) -> Option<Probe> {
        if self.poll_timeout() > now {
            return None;
        }
        if self.recall_at.is_some_and(|at| at <= now) {
            self.recall_at = None;
            return Some(Probe::Recall);
        }
        if self.left == 0 {
            // Like a client that uses the network, the first round tries only the first address.
            self.left = if self.gap == Duration::ZERO { 1 } else { better };
            self.gap = (2 * self.gap).clamp(ROUND_MIN, ROUND_MAX);
            if now.saturating_since(self.asked_at) > IDLE_AFTER {
                self.gap = ROUND_IDLE;
            }
        }
        self.left -= 1;
        if self.left > 0 {
            self.probe_at = if self.is_input { now } else { now + STAGGER };
        } else {
            let recall_after = if self.is_input { Duration::ZERO } else { RECALL_AFTER };
            (self.probe_at, self.recall_at) = (now + self.gap, Some(now + recall_after));
            self.is_input = false;
        }
        Some(Probe::Better)
    }
}
