//! A client's way to its server beside the network: its driver carries datagrams by other means, as through ssh.
//!
//! The network is better, as datagrams do not wait for each other there. So while the side path is used, the newest payload also
//! goes to the server's addresses, again and again. A server answers where it has heard its client last. If the network carries
//! datagrams to the server and not back, a probe would leave its answers lost. So each round of probes ends with a *recall*: the
//! payload goes by the side path once more.
//!
//! An address counts only by an answer that echoes a timestamp. The server sends this to where the timestamp came from, so both
//! directions of that path work.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use rove_units::{Duration, Instant};

/// Stands for the side path in place of an address. No host has it, and no datagram is sent there.
/// Source: RFC 7600, section 4.8 (the IPv4 dummy address); the port is that of "discard".
pub const SIDE_PATH: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 0, 8), 9));

/// Time from the first round of probes to the second; it doubles. Chosen: as fast as a first word is said again.
const ROUND_MIN: Duration = Duration::from_millis(250);
/// Longest time between two rounds. Chosen: with a round trip of half a second, a session is back on the network 2 s after that
/// carries datagrams again.
const ROUND_MAX: Duration = Duration::from_millis(1_500);
/// After this much time without input, rounds are rare. Chosen: nobody waits.
const IDLE_AFTER: Duration = Duration::from_secs(600);
/// Time between two rounds then. Chosen: as rare as other probes in a long outage.
const ROUND_IDLE: Duration = Duration::from_secs(10);
/// Time between two probes of a round. Chosen: no burst, and the recall comes soon.
const STAGGER: Duration = Duration::from_millis(10);
/// Time from the last probe to the recall. Chosen: on a near path the answer comes before it, and an answer that is lost in the
/// network comes this much later by the side path.
const RECALL_AFTER: Duration = Duration::from_millis(30);
/// How long the network may leave something unanswered until the side path is wanted. Chosen: longer than a round trip of the worst
/// path, and a user waits no longer.
pub(crate) const WANTED_AFTER: Duration = Duration::from_secs(5);
/// How long the side path may leave something unanswered until each input goes by the network, too. Chosen: the longest RTO.
const DOUBTED_AFTER: Duration = Duration::from_secs(1);
/// How long it may do so until it counts as dead. Chosen: a stalled TCP connection has sent again several times.
const DEAD_AFTER: Duration = Duration::from_secs(10);
/// Least pause between two datagrams after which the computer counts as asleep. Chosen: as for addresses.
const ASLEEP_AFTER: Duration = Duration::from_secs(6);
const _: () = assert!(DOUBTED_AFTER.as_millis() < DEAD_AFTER.as_millis());

/// The side path, and the probes of the network beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SidePath {
    is_used: bool,
    /// When it was last begun or ceased to be used.
    changed_at: Option<Instant>,
    /// Whether it ended while it was used, and the network has not answered since.
    is_missed: bool,
    /// When the next probe is due.
    probe_at: Instant,
    /// How many probes of the round are left.
    left: usize,
    /// Time from the newest round to the next; zero before the first.
    gap: Duration,
    recall_at: Option<Instant>,
    /// When the user, or anything else that wants an answer, last spoke.
    asked_at: Instant,
    /// Since when it has left something unanswered.
    unheard_since: Option<Instant>,
    sent_at: Instant,
    /// When the computer was last awake again.
    awake_at: Instant,
}

/// Where the newest payload goes once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// To the next of the server's addresses.
    Network,
    /// By the side path.
    Recall,
}

impl SidePath {
    /// Returns whether datagrams go by it.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns since when datagrams go as they go; `None` if that never changed.
    pub fn changed_at(&self) -> Option<Instant> {
        self.changed_at
    }

    /// Returns when it counts as dead unless it brings something.
    pub fn dead_at(&self) -> Option<Instant> {
        self.unheard_since.filter(|_| self.is_used).map(|since| since + DEAD_AFTER)
    }

    /// Returns when it is wanted, where the network has left something unanswered since then.
    pub(crate) fn wanted_at(&self, unanswered_since: Option<Instant>) -> Option<Instant> {
        if self.is_used {
            return None;
        }
        let late = unanswered_since.map(|since| since.max(self.awake_at) + WANTED_AFTER);
        if self.is_missed { Some(self.changed_at.unwrap_or_default()) } else { late }
    }

    /// Begins to use it.
    pub(crate) fn begin(&mut self, now: Instant) {
        *self = Self {
            is_used: true,
            changed_at: Some(now),
            probe_at: now,
            asked_at: now,
            sent_at: self.sent_at,
            awake_at: self.awake_at,
            ..Self::default()
        };
        tracing::info!("using the side path");
    }

    /// Ceases to use it, as the network has answered, or (`is_missed`) as it has ended.
    pub(crate) fn cease(&mut self, now: Instant, is_missed: bool) {
        (self.is_used, self.is_missed, self.changed_at) = (false, is_missed, Some(now));
        (self.recall_at, self.unheard_since) = (None, None);
        tracing::info!(is_missed, "using the network");
    }

    /// Called when the network has answered.
    pub(crate) fn handle_network(&mut self) {
        self.is_missed = false;
    }

    /// Called when something has come by the side path.
    pub(crate) fn handle_heard(&mut self) {
        self.unheard_since = None;
    }

    /// Called when the computer's network has changed: it may carry datagrams now.
    pub(crate) fn handle_change(&mut self, now: Instant) {
        (self.probe_at, self.gap) = (now, Duration::ZERO);
    }

    /// Notes that a datagram goes to the server, by whichever path.
    pub(crate) fn handle_sent(&mut self, now: Instant, is_answer: bool) {
        if now.saturating_since(self.sent_at) > ASLEEP_AFTER {
            (self.awake_at, self.unheard_since) = (now, None);
        }
        self.sent_at = now;
        if is_answer || !self.is_used {
            return;
        }
        self.asked_at = now;
        let since = *self.unheard_since.get_or_insert(now);
        let is_doubted = now.saturating_since(since) >= DOUBTED_AFTER;
        let wait = if is_doubted { ROUND_MIN } else { ROUND_MAX };
        // Rounds that had become rare are frequent again.
        self.probe_at = self.probe_at.min(now.max(self.probe_at - self.gap + wait));
    }

    /// Returns when [`SidePath::poll`] is due.
    pub(crate) fn probe_at(&self) -> Option<Instant> {
        let due = self.recall_at.map_or(self.probe_at, |at| at.min(self.probe_at));
        Some(due).filter(|_| self.is_used)
    }

    /// Returns where to send the newest payload once more, of a server with so many addresses.
    pub(crate) fn poll(&mut self, now: Instant, addresses: usize) -> Option<Probe> {
        if !self.is_used || self.probe_at()? > now {
            return None;
        }
        if self.recall_at.is_some_and(|at| at <= now) {
            self.recall_at = None;
            return Some(Probe::Recall);
        }
        if self.left == 0 {
            // The first address alone at first, as on the network itself.
            self.left = if self.gap == Duration::ZERO { 1 } else { addresses };
            self.gap = (2 * self.gap).clamp(ROUND_MIN, ROUND_MAX);
            if now.saturating_since(self.asked_at) > IDLE_AFTER {
                self.gap = ROUND_IDLE;
            }
        }
        self.left -= 1;
        if self.left > 0 {
            self.probe_at = now + STAGGER;
        } else {
            (self.probe_at, self.recall_at) = (now + self.gap, Some(now + RECALL_AFTER));
        }
        Some(Probe::Network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Returns what goes out from `from` to `until`, with its times.
    fn polled(side: &mut SidePath, from: u64, until: u64, addresses: usize) -> Vec<(u64, Probe)> {
        let times = from..until;
        times.filter_map(|now| Some((now, side.poll(at(now), addresses)?))).collect()
    }

    #[test]
    fn the_network_is_probed_at_once_and_then_every_second_and_a_half_each_time_with_a_recall() {
        let mut side = SidePath::default();
        assert_eq!(polled(&mut side, 0, 9_000, 1), [], "only beside a side path");
        side.begin(at(0));
        let rounds = [0, 250, 750, 1_750, 3_250, 4_750];
        let wanted: Vec<_> = rounds
            .iter()
            .flat_map(|&round| [(round, Probe::Network), (round + 30, Probe::Recall)])
            .collect();
        assert_eq!(polled(&mut side, 0, 5_000, 1), wanted);
        side.cease(at(5_000), false);
        assert_eq!(polled(&mut side, 5_000, 60_000, 1), []);
    }

    #[test]
    fn other_addresses_of_the_server_are_probed_from_the_second_round_on() {
        let mut side = SidePath::default();
        side.begin(at(0));
        let found = polled(&mut side, 0, 400, 3);
        let network: Vec<u64> =
            found.iter().filter(|it| it.1 == Probe::Network).map(|it| it.0).collect();
        assert_eq!(network, [0, 250, 260, 270]);
        assert_eq!(found.last(), Some(&(300, Probe::Recall)));
    }

    #[test]
    fn who_is_away_probes_rarely_and_is_back_with_the_first_key() {
        let mut side = SidePath::default();
        side.begin(at(0));
        assert!(polled(&mut side, 0, 600_000, 1).len() > 700);
        let found = polled(&mut side, 602_000, 900_000, 1);
        assert!(found.len() <= 2 * 31, "{}", found.len());
        // Just after a rare round, the next one would be far away.
        let last = found.last().expect("there are some").0;
        side.handle_sent(at(last + 5_000), false);
        assert_eq!(side.probe_at(), Some(at(last + 5_000)));
    }

    #[test]
    fn a_change_of_the_network_is_tried_at_once() {
        let mut side = SidePath::default();
        side.begin(at(0));
        polled(&mut side, 0, 3_300, 1);
        side.handle_change(at(3_300));
        assert_eq!(side.poll(at(3_300), 1), Some(Probe::Network));
    }

    #[test]
    fn it_is_wanted_five_seconds_after_an_unanswered_word_and_at_once_where_it_ends_in_use() {
        let mut side = SidePath::default();
        assert_eq!(side.wanted_at(None), None);
        assert_eq!(side.wanted_at(Some(at(1_000))), Some(at(6_000)));
        // A computer that slept has not waited.
        side.handle_sent(at(1_000), false);
        side.handle_sent(at(900_000), false);
        assert_eq!(side.wanted_at(Some(at(1_000))), Some(at(905_000)));
        side.begin(at(906_000));
        assert_eq!(side.wanted_at(Some(at(1_000))), None);
        side.cease(at(950_000), true);
        assert_eq!(side.wanted_at(None), Some(at(950_000)));
        side.handle_network();
        assert_eq!(side.wanted_at(None), None);
    }

    #[test]
    fn one_that_brings_nothing_is_doubted_and_then_dead() {
        let mut side = SidePath::default();
        side.begin(at(0));
        polled(&mut side, 0, 20_000, 1);
        side.handle_sent(at(20_000), false);
        assert_eq!(side.dead_at(), Some(at(30_000)));
        side.handle_heard();
        assert_eq!(side.dead_at(), None);
        side.handle_sent(at(20_100), false);
        polled(&mut side, 20_100, 21_300, 1);
        side.handle_sent(at(21_300), false);
        assert!(side.probe_at().is_some_and(|due| due <= at(21_500)), "{:?}", side.probe_at());
        side.handle_sent(at(21_400), true);
        assert_eq!(side.dead_at(), Some(at(30_100)), "an answer wants none");
    }
}
