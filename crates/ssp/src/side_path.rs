//! The side path: a client's path to its server outside the network. The driver may use ssh for it.
//!
//! The network is the better path, because there no datagram waits for an earlier one, as it does in ssh's TCP
//! connection. So while the side path is used, the client also probes the server's addresses ([`ProbeRounds`]).
//!
//! The network counts as working only if an answer over it echoes a timestamp. The server sends that answer to the
//! address from which the timestamp came, so both directions of the path work.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use rove_units::{Duration, Instant};

use crate::probe_rounds::{Probe, ProbeRounds};

/// The address that means the side path. No host has it, and no datagram is sent to it. Source: RFC 7600, section 4.8
/// (the IPv4 dummy address); the port belongs to "discard".
pub const SIDE_PATH: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 0, 8), 9));

/// How long a datagram over the network may stay unanswered until the driver should open a side path. Chosen: longer
/// than a round trip of the worst path, and no longer than a user waits.
pub(crate) const WANTED_AFTER: Duration = Duration::from_secs(5);
/// How long the side path may leave a datagram unanswered until probes of the network become more frequent. The driver
/// should then open another side path. Chosen: the longest RTO. A living TCP connection has repaired a loss by then.
pub(crate) const DOUBTED_AFTER: Duration = Duration::from_secs(1);
/// How long the side path may leave a datagram unanswered until it counts as dead. Chosen: a stalled TCP connection has
/// retransmitted several times by then.
const DEAD_AFTER: Duration = Duration::from_secs(10);
/// Shortest pause between two sent datagrams that shows that the computer has slept. Chosen: two heartbeats.
const ASLEEP_AFTER: Duration = Duration::from_secs(6);
const _: () = assert!(DOUBTED_AFTER.as_millis() < DEAD_AFTER.as_millis());

/// The state of the side path, and the schedule of probes of the network beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SidePath {
    is_used: bool,
    /// When the client last switched between the network, a detour (forwarder) in it, and the side path, if ever.
    changed_at: Option<Instant>,
    /// Whether the side path was used when it ended, and the network has not answered since.
    is_missed: bool,
    rounds: ProbeRounds,
    /// When the first datagram was sent over the side path since the last arrival there. `None` if none was sent.
    unheard_since: Option<Instant>,
    /// The time of the first recall ([`Probe::Recall`]) after [`SidePath::unheard_since`]. `None` before that recall.
    recalled_at: Option<Instant>,
    /// How many datagrams were given to the side path since one last arrived by it.
    unheard: u64,
    sent_at: Instant,
    /// When the computer last woke from sleep.
    awake_at: Instant,
}

impl SidePath {
    /// Returns whether datagrams are sent over the side path.
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns when the client last switched between the network, a detour (forwarder) in it, and the side path, if
    /// ever.
    pub fn changed_at(&self) -> Option<Instant> {
        self.changed_at
    }

    /// Returns when the first datagram was sent that the side path has left unanswered. `None` while the path answers.
    pub(crate) const fn unheard_since(&self) -> Option<Instant> {
        self.unheard_since
    }

    /// Returns when the side path counts as dead unless a datagram arrives. `None` while it is unused or answers.
    pub fn dead_at(&self) -> Option<Instant> {
        self.unheard_since.filter(|_| self.is_used).map(|since| since + DEAD_AFTER)
    }

    /// Returns when the driver should open another side path, because this one is slow or dead. `None` while it is
    /// unused or answers. An answer usually comes within `answer_max`. After a change of network (`has_changed`) the
    /// client waits only for `answer_max`, because connections seldom survive a change.
    pub(crate) fn late_at(&self, answer_max: Duration, has_changed: bool) -> Option<Instant> {
        let since = self.unheard_since.filter(|_| self.is_used)?;
        if !has_changed {
            return Some(since + answer_max.max(DOUBTED_AFTER));
        }
        // A probe may have made the server answer over the network. The next recall brings an answer by this path.
        let recall_at = self.recalled_at.or(self.rounds.recall_at());
        Some(recall_at.map_or(since, |at| at.max(since)) + answer_max)
    }

    /// Returns when the driver should open the side path. `None` if it is used or not needed. `unanswered_since` is the
    /// time of the oldest datagram that the network has left unanswered.
    pub(crate) fn wanted_at(&self, unanswered_since: Option<Instant>) -> Option<Instant> {
        if self.is_used {
            return None;
        }
        let late = unanswered_since.map(|since| since.max(self.awake_at) + WANTED_AFTER);
        if self.is_missed { Some(self.changed_at.unwrap_or_default()) } else { late }
    }

    /// Starts to send over the side path. If the client has never switched paths, it probes the network at once,
    /// because the network may also work.
    pub(crate) fn begin(&mut self, now: Instant) {
        let rounds = match self.changed_at {
            None => ProbeRounds::begin(now),
            Some(_) => ProbeRounds::begin_after_answer(now, now + DOUBTED_AFTER),
        };
        *self = Self {
            is_used: true,
            changed_at: Some(now),
            rounds,
            sent_at: self.sent_at,
            awake_at: self.awake_at,
            ..Self::default()
        };
        tracing::info!("using the side path");
    }

    /// Stops sending over the side path, because the network has answered or (`is_missed`) the side path has ended.
    pub(crate) fn cease(&mut self, now: Instant, is_missed: bool) {
        (self.is_used, self.is_missed, self.changed_at) = (false, is_missed, Some(now));
        self.forget_silence();
        tracing::info!(is_missed, "using the network");
    }

    /// Records that the client begins or ceases to use a detour in the network.
    pub(crate) fn handle_detour(&mut self, now: Instant) {
        self.changed_at = Some(now);
    }

    /// Handles an answer over the network. An ended side path then need not be replaced at once.
    pub(crate) fn handle_network(&mut self) {
        self.is_missed = false;
    }

    /// Handles a datagram that has arrived over the side path.
    pub(crate) fn handle_heard(&mut self, now: Instant) {
        self.forget_silence();
        self.rounds.handle_answer(now);
        self.unheard = 0;
    }

    /// Counts a probe that is sent over the side path.
    pub(crate) fn handle_given(&mut self) {
        self.unheard += 1;
    }

    /// Returns how many datagrams the ended side path may have lost. Later calls return 0, as do calls while it is
    /// used.
    pub(crate) fn take_dropped(&mut self) -> u64 {
        if self.is_used { 0 } else { core::mem::take(&mut self.unheard) }
    }

    /// Records that a probe was sent over the side path. The server answers the probe.
    pub(crate) fn handle_tried(&mut self, now: Instant) {
        self.unheard_since.get_or_insert(now);
    }

    /// Handles a change of the computer's network, by probing it at once, because it may now carry datagrams.
    pub(crate) fn handle_change(&mut self, now: Instant) {
        self.rounds.handle_change(now);
    }

    /// Handles the sending of a datagram over any path. `is_answer`: the datagram only answers a heartbeat. After a
    /// change of network that is still unanswered (`has_changed`), a round of probes repeats the datagram at once.
    pub(crate) fn handle_sent(&mut self, now: Instant, is_answer: bool, has_changed: bool) {
        if now.saturating_since(self.sent_at) > ASLEEP_AFTER {
            self.awake_at = now;
            self.forget_silence();
        }
        self.sent_at = now;
        self.unheard += u64::from(self.is_used);
        if is_answer || !self.is_used {
            return;
        }
        let since = *self.unheard_since.get_or_insert(now);
        let is_doubted = now.saturating_since(since) >= DOUBTED_AFTER;
        self.rounds.handle_asked(now, is_doubted);
        if has_changed {
            self.rounds.handle_input(now);
        }
    }

    /// Returns when [`SidePath::poll`] is due. `None` while the side path is unused.
    pub(crate) fn probe_at(&self) -> Option<Instant> {
        self.is_used.then(|| self.rounds.poll_timeout())
    }

    /// Returns the path over which to repeat the newest payload. `None` if the side path is not used, or no probe is
    /// due. `addresses` is the number of the server's addresses.
    pub(crate) fn poll(&mut self, now: Instant, addresses: usize) -> Option<Probe> {
        let probe = self.is_used.then(|| self.rounds.poll(now, addresses)).flatten();
        if probe == Some(Probe::Recall) && self.unheard_since.is_some() {
            self.recalled_at.get_or_insert(now);
        }
        probe
    }

    fn forget_silence(&mut self) {
        (self.unheard_since, self.recalled_at) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Returns the probes from `from` to `until` (ms), each with its time.
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
            .flat_map(|&round| [(round, Probe::Better), (round + 30, Probe::Recall)])
            .collect();
        assert_eq!(polled(&mut side, 0, 5_000, 1), wanted);
        side.cease(at(5_000), false);
        assert_eq!(polled(&mut side, 5_000, 60_000, 1), []);
    }

    #[test]
    fn in_mid_session_the_network_is_probed_after_an_answer_or_a_second() {
        for (heard_at, first) in [(10_060, 10_060), (11_500, 11_000)] {
            let mut side = SidePath::default();
            side.begin(at(0));
            side.cease(at(5_000), true);
            side.begin(at(10_000));
            assert_eq!(
                polled(&mut side, 10_000, heard_at, 1).first().map_or(first, |it| it.0),
                first
            );
            side.handle_heard(at(heard_at));
            let found = polled(&mut side, heard_at, 12_000, 1);
            assert_eq!(found.first().is_some_and(|it| it.0 == heard_at), first == heard_at);
        }
    }

    #[test]
    fn other_addresses_of_the_server_are_probed_from_the_second_round_on() {
        let mut side = SidePath::default();
        side.begin(at(0));
        let found = polled(&mut side, 0, 400, 3);
        let network: Vec<u64> =
            found.iter().filter(|it| it.1 == Probe::Better).map(|it| it.0).collect();
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
        // Right after one of the rare rounds, the next is 10 s away. Input starts a round at once.
        let last = found.last().expect("there are some").0;
        side.handle_sent(at(last + 5_000), false, false);
        assert_eq!(side.probe_at(), Some(at(last + 5_000)));
    }

    #[test]
    fn a_change_of_the_network_is_tried_at_once() {
        let mut side = SidePath::default();
        side.begin(at(0));
        polled(&mut side, 0, 3_300, 1);
        side.handle_change(at(3_300));
        assert_eq!(side.poll(at(3_300), 1), Some(Probe::Better));
    }

    #[test]
    fn after_a_change_of_the_network_input_goes_by_all_paths_at_once_and_last_by_this_one() {
        let mut side = SidePath::default();
        side.begin(at(0));
        polled(&mut side, 0, 3_300, 2);
        side.handle_change(at(3_300));
        polled(&mut side, 3_300, 3_350, 2);
        side.handle_sent(at(3_350), false, true);
        let sent: Vec<_> = core::iter::from_fn(|| side.poll(at(3_350), 2)).collect();
        assert_eq!(sent, [Probe::Better, Probe::Better, Probe::Recall]);
        side.handle_sent(at(3_360), true, true);
        side.handle_sent(at(3_370), false, false);
        let next = polled(&mut side, 3_360, 3_660, 2);
        let rounds = [(3_600, Probe::Better), (3_610, Probe::Better), (3_640, Probe::Recall)];
        assert_eq!(next, rounds, "neither an answer nor input after an answer starts a round");
    }

    #[test]
    fn it_is_wanted_five_seconds_after_an_unanswered_word_and_at_once_where_it_ends_in_use() {
        let mut side = SidePath::default();
        assert_eq!(side.wanted_at(None), None);
        assert_eq!(side.wanted_at(Some(at(1_000))), Some(at(6_000)));
        // The time during which the computer slept does not count.
        side.handle_sent(at(1_000), false, false);
        side.handle_sent(at(900_000), false, false);
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
        side.handle_sent(at(20_000), false, false);
        assert_eq!(side.dead_at(), Some(at(30_000)));
        side.handle_heard(at(20_000));
        assert_eq!(side.dead_at(), None);
        side.handle_sent(at(20_100), false, false);
        polled(&mut side, 20_100, 21_300, 1);
        side.handle_sent(at(21_300), false, false);
        assert!(side.probe_at().is_some_and(|due| due <= at(21_500)), "{:?}", side.probe_at());
        side.handle_sent(at(21_400), true, false);
        assert_eq!(side.dead_at(), Some(at(30_100)), "an answer wants none");
    }

    #[test]
    fn another_is_wanted_beside_one_that_is_silent_and_sooner_in_another_network() {
        let mut side = SidePath::default();
        side.handle_tried(at(0));
        assert_eq!(side.late_at(ms(200), true), None, "it is not used");
        side.begin(at(0));
        assert_eq!(side.late_at(ms(200), true), None);
        side.handle_tried(at(1_000));
        side.handle_sent(at(1_300), false, false);
        // (usual longest time of an answer, whether the network has changed, and when the answer is late)
        for (answer_max, has_changed, late_at) in
            [(200, false, 2_000), (5_000, false, 6_000), (200, true, 1_200), (5_000, true, 6_000)]
        {
            assert_eq!(side.late_at(ms(answer_max), has_changed), Some(at(late_at)));
        }
        // A round of probes may divert the answer, and the recall after it at 1,330 ms brings another.
        for until in [1_301, 1_331, 5_000] {
            polled(&mut side, 1_300, until, 1);
            assert_eq!(side.late_at(ms(200), true), Some(at(1_530)), "{until}");
        }
        side.handle_heard(at(5_000));
        assert_eq!(side.late_at(ms(200), true), None);
    }
}
