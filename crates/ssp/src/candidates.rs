//! Chooses the address of the server to which a client sends.
//!
//! A host has several addresses of both families: the address that ssh used, and the addresses that the host itself
//! states. The client uses an address for as long as it answers. While it does not answer, the client also probes the
//! other addresses: it repeats the newest payload to each. A server that gets a probe answers to the probe's source, as
//! it does for a client that has moved. The client keeps the first address that answers.
//!
//! A *detour* is a forwarder's address (docs/wire.md). On a detour, a client also probes the server's own addresses.

use core::cmp::Ordering;
use core::net::SocketAddr;

use rove_units::{Duration, Instant};

use crate::config::PathConfig;

/// Maximum number of addresses of its server that a client keeps; further addresses are left out. Chosen: more than the
/// IPv4 and IPv6 addresses of a host with several interfaces.
const CANDIDATES_MAX: usize = 8;

/// Time without an answer after which a client that has heard its server probes other addresses. Chosen: an idle server
/// sends a heartbeat every 3 s, so two heartbeats are lost by then. Half a second is left for delays.
const UNANSWERED_MAX: Duration = Duration::from_millis(6_500);

/// A pause this long between two sent datagrams shows that the client was suspended. Answers may have been lost in that
/// pause, so the address does not count as dead. Chosen: the time of two heartbeats.
const ASLEEP_AFTER: Duration = Duration::from_secs(6);

/// Time between two probes of one round, each to another address. Chosen: no burst, and all probes leave within 300 ms.
const STAGGER: Duration = Duration::from_millis(50);

/// Time from the first round of probes to the second; each later wait is twice the previous one. Chosen: the longest
/// RTO of Mosh 1.4.0, after which contents (diffs) are also sent again.
const ROUND_MIN: Duration = Duration::from_secs(1);
/// Longest time between rounds of probes of other addresses. Chosen: in a long outage, heartbeats outnumber probes.
const ROUND_MAX: Duration = Duration::from_secs(10);

/// Longest time from a probe of an address to the answer. Chosen: the longest round trip that Mosh 1.4.0 measures.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// An answer proves a chosen address only if the answered datagram was sent at least this long after the choice.
/// Chosen: a peer holds a timestamp for at most this long, and adds that time to the echo. The send time computed from
/// the echo is then too late by as much.
const PROOF_AFTER: Duration = Duration::from_secs(1);

/// The addresses at which a client's server may be reached, and the address in use.
///
/// The address with which the client was created comes first. While the address in use does not answer, the client
/// probes the others, and keeps the first that answers.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// All addresses in the order in which they were added; never empty.
    addresses: Vec<Candidate>,
    current: usize,
    /// When the client switched to the current address, unless a proof has come since ([`PROOF_AFTER`]).
    unproven_since: Option<Instant>,
    /// The index of an address that sends to this end but does not hear it. `None` if no such address is known.
    deaf: Option<usize>,
    /// The index at which the search for the next address to probe starts.
    next: usize,
    heard_at: Option<Instant>,
    /// When the client sent the newest datagram that the server has answered. `None` before the first answer.
    answered_at: Option<Instant>,
    sent_at: Option<Instant>,
    /// When the client first sent after the last arrival, suspension or side path switch. `None` if it has not sent.
    unanswered_since: Option<Instant>,
    /// Whether to probe other addresses at once, because the current address has no route or has long given no answer.
    is_unreachable: bool,
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    address: SocketAddr,
    is_detour: bool,
    probed_at: Option<Instant>,
}

/// A round of probes: a probe to each address except the current one.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// When the newest probe of this round was sent.
    probed_at: Instant,
    /// How many probes of this round are still to be sent.
    left: usize,
    /// Time from the last probe of this round to the next round.
    gap: Duration,
}

impl Candidates {
    /// Creates the list with one address, which is in use.
    pub(crate) fn new(first: SocketAddr) -> Self {
        let addresses = vec![Candidate { address: first, is_detour: false, probed_at: None }];
        Self { addresses, next: 1, ..Self::default() }
    }

    /// Adds one of the server's own addresses, unless it is in the list or the list is full.
    pub fn add(&mut self, address: SocketAddr) {
        self.push(address, false);
    }

    /// Adds an address of a forwarder, which is used only while the server's own addresses do not answer. A new round
    /// of probes includes it.
    pub fn add_detour(&mut self, address: SocketAddr) {
        self.round = None;
        self.push(address, true);
    }

    fn push(&mut self, address: SocketAddr, is_detour: bool) {
        let is_known = self.position(address).is_some();
        if self.addresses.len() < CANDIDATES_MAX && !is_known {
            self.addresses.push(Candidate { address, is_detour, probed_at: None });
        }
        debug_assert!(self.addresses.len() <= CANDIDATES_MAX, "a client keeps few addresses");
    }

    /// Removes the address of a forwarder that has ended, but never the first. If it is in use, the first replaces it.
    pub(crate) fn remove(&mut self, now: Instant, address: SocketAddr) {
        let Some(index) = self.position(address).filter(|index| *index > 0) else { return };
        self.addresses.remove(index);
        (self.deaf, self.round) = (None, None);
        match self.current.cmp(&index) {
            Ordering::Less => {}
            Ordering::Equal => self.choose(now, 0),
            Ordering::Greater => self.current -= 1,
        }
    }

    /// Returns the address in use or, while a side path (such as ssh) is used, the address that was used last.
    pub fn current(&self) -> SocketAddr {
        self.addresses[self.current].address
    }

    pub(crate) fn is_on_detour(&self) -> bool {
        self.addresses[self.current].is_detour
    }

    /// Returns all addresses in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = SocketAddr> {
        self.addresses.iter().map(|candidate| candidate.address)
    }

    pub(crate) fn are_several(&self) -> bool {
        self.addresses.len() > 1
    }

    /// Returns whether addresses other than the current one are being probed. On a detour, they always are.
    pub fn is_probing(&self) -> bool {
        self.round.is_some() || self.is_on_detour()
    }

    /// Records that a datagram is sent to the current address. After a suspension, the earlier silence is forgotten.
    pub(crate) fn handle_send(&mut self, now: Instant) {
        let pause = self.sent_at.map(|at| now.saturating_since(at));
        if pause.is_some_and(|pause| pause > ASLEEP_AFTER) {
            (self.unanswered_since, self.round) = (None, None);
        }
        self.unanswered_since.get_or_insert(now);
        self.sent_at = Some(now);
    }

    /// Records that the system has no route to an address. If the address is in use, the client probes others at once,
    /// and again for each further datagram that cannot be sent.
    pub fn handle_unreachable(&mut self, address: SocketAddr) {
        if address == self.current() {
            self.is_unreachable = true;
            self.handle_change();
        }
    }

    /// Records that this computer's network has changed, which ends the wait between two rounds of probes.
    pub(crate) fn handle_change(&mut self) {
        self.round = self.round.filter(|round| round.left > 0);
    }

    /// Called when a datagram of the server has arrived from `source`. Returns whether the client switches to `source`.
    ///
    /// A server sends to the source of the newest datagram that it received. So if a probed address answers, the probe
    /// to it was the newest datagram that the server had received.
    pub(crate) fn handle_answer(&mut self, now: Instant, source: SocketAddr) -> bool {
        self.heard_at = Some(now);
        (self.unanswered_since, self.round) = (None, None);
        self.is_unreachable = false;
        let Some(index) = self.position(source) else { return false };
        let moves =
            self.is_answer(now, source) && index != self.current && Some(index) != self.deaf;
        if moves {
            self.choose(now, index);
        }
        moves
    }

    /// Records that the datagram sent at `sent_at` has been answered. So the address in use works, and late answers to
    /// earlier probes change nothing. On a detour, answers by the server's own addresses still count.
    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        if self.answered_at.is_some_and(|at| sent_at <= at) {
            return;
        }
        self.answered_at = Some(sent_at);
        // Answers by a detour do not show that the server's own addresses fail.
        let keeps_own = self.is_on_detour();
        let settled = self.addresses.iter_mut().filter(|it| it.is_detour || !keeps_own);
        settled.for_each(|candidate| candidate.probed_at = None);
        if self.unproven_since.is_some_and(|since| sent_at > since + PROOF_AFTER) {
            (self.unproven_since, self.deaf) = (None, None);
        }
    }

    /// Records that the server has answered no datagram for a long time. If its datagrams arrive nevertheless, the
    /// client switches to the next address. Returns whether it switches.
    pub(crate) fn handle_no_roundtrip(&mut self, now: Instant) -> bool {
        let speaks = self.heard_at.is_some_and(|at| self.unproven_since.is_some_and(|it| at > it));
        self.is_unreachable = true;
        if self.are_several()
            && speaks
            && self.unanswered_since.is_none_or(|at| at + ANSWER_MAX > now)
        {
            // The client chose this address because datagrams came from it, but its own datagrams do not arrive at it.
            self.deaf = Some(self.current);
            self.choose(now, (self.current + 1) % self.addresses.len());
            return true;
        }
        false
    }

    /// Records a probe while a side path is used. Returns its address: first the last used address, then all in turn.
    pub(crate) fn probe_in_turn(&mut self, now: Instant) -> SocketAddr {
        let is_first = self.addresses[self.current].probed_at.is_none();
        let index = if is_first { self.current } else { self.next % self.addresses.len() };
        self.probe(now, index)
    }

    pub(crate) fn own_count(&self) -> usize {
        self.addresses.iter().filter(|candidate| !candidate.is_detour).count()
    }

    /// Records a probe while a detour is used. Returns its address: the server's own addresses in turn.
    pub(crate) fn probe_own_in_turn(&mut self, now: Instant) -> SocketAddr {
        let places =
            (0..self.addresses.len()).map(|step| (self.next + step) % self.addresses.len());
        let index = places.into_iter().find(|index| !self.addresses[*index].is_detour);
        let index = index.expect("the first address is the server's own");
        self.probe(now, index)
    }

    /// Returns whether a datagram from this address may answer a probe that was sent there at most [`ANSWER_MAX`] ago.
    pub(crate) fn is_answer(&self, now: Instant, source: SocketAddr) -> bool {
        let probed_at = self.position(source).and_then(|index| self.addresses[index].probed_at);
        probed_at.is_some_and(|at| now.saturating_since(at) <= ANSWER_MAX)
    }

    /// Called when a session continues at this address of the server after a time on a side path.
    pub(crate) fn handle_return(&mut self, now: Instant, address: SocketAddr) {
        self.heard_at = Some(now);
        self.handle_silence_excused();
        if let Some(index) = self.position(address).filter(|index| *index != self.current) {
            self.choose(now, index);
        }
    }

    /// Called at a switch to or from a side path. Forgets the silence, a missing route and all probes of the former
    /// path.
    pub(crate) fn handle_silence_excused(&mut self) {
        (self.unanswered_since, self.round, self.is_unreachable) = (None, None, false);
        self.addresses.iter_mut().for_each(|candidate| candidate.probed_at = None);
    }

    /// Returns when this end first sent a datagram after the last arrival. `None` if no datagram is unanswered.
    pub(crate) const fn unanswered_since(&self) -> Option<Instant> {
        self.unanswered_since
    }

    /// Returns the later of `at` and the time at which the newest answered datagram was sent.
    pub(crate) fn unanswered_after(&self, at: Instant) -> Instant {
        self.answered_at.map_or(at, |answered_at| answered_at.max(at))
    }

    /// Returns the address to probe now. `None` until the next probe is due.
    pub(crate) fn poll_probe(&mut self, now: Instant, config: &PathConfig) -> Option<SocketAddr> {
        if self.probe_at(config)? > now {
            return None;
        }
        let others = self.addresses.len() - 1;
        let (left, gap) = match self.round {
            Some(Round { left, gap, .. }) if left > 0 => (left, gap),
            Some(Round { gap, .. }) => (others, (2 * gap).min(ROUND_MAX)),
            None => (others, ROUND_MIN),
        };
        self.round = Some(Round { probed_at: now, left: left - 1, gap });
        let mut index = self.next % self.addresses.len();
        if index == self.current {
            index = (index + 1) % self.addresses.len();
        }
        Some(self.probe(now, index))
    }

    /// Returns when the next probe is due. `None` while no probe is needed.
    pub(crate) fn probe_at(&self, config: &PathConfig) -> Option<Instant> {
        let since = self.unanswered_since.filter(|_| self.are_several())?;
        Some(match self.round {
            Some(Round { probed_at, left, gap }) => {
                probed_at + if left > 0 { STAGGER } else { gap }
            }
            None if self.is_unreachable => since,
            None if self.heard_at.is_some() => since + UNANSWERED_MAX,
            None => since + config.first_alone,
        })
    }

    /// Records a probe to an address, and moves on to the next address. Returns the probed address.
    fn probe(&mut self, now: Instant, index: usize) -> SocketAddr {
        self.next = index + 1;
        let candidate = &mut self.addresses[index];
        candidate.probed_at = Some(now);
        candidate.address
    }

    fn choose(&mut self, now: Instant, index: usize) {
        self.current = index;
        self.unproven_since = Some(now);
        tracing::info!(address = %self.current(), "using another of the server's addresses");
    }

    fn position(&self, address: SocketAddr) -> Option<usize> {
        self.addresses.iter().position(|candidate| candidate.address == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const CONFIG: PathConfig = Config::client().path;

    const A: u16 = 1;
    const B: u16 = 2;
    const C: u16 = 3;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn candidates(ports: &[u16]) -> Candidates {
        let mut candidates = Candidates::new(address(ports[0]));
        ports.iter().for_each(|port| candidates.add(address(*port)));
        candidates
    }

    /// Reports a sent datagram every second from `from` until `until` (ms). Returns the time (ms) and port of each probe.
    fn probes(candidates: &mut Candidates, from: u64, until: u64) -> Vec<(u64, u16)> {
        let mut found = Vec::new();
        for now in from..until {
            if (now - from).is_multiple_of(1000) {
                candidates.handle_send(at(now));
            }
            if let Some(probe) = candidates.poll_probe(at(now), &CONFIG) {
                found.push((now, probe.port()));
            }
        }
        found
    }

    #[test]
    fn each_datagram_without_a_route_and_each_change_of_the_network_begins_a_round_of_probes() {
        let mut candidates = candidates(&[A, B]);
        candidates.handle_answer(at(0), address(A));
        candidates.handle_send(at(1_000));
        candidates.handle_unreachable(address(A));
        let probe = |candidates: &mut Candidates, millis| {
            candidates.poll_probe(at(millis), &CONFIG).map(|it| it.port())
        };
        assert_eq!(probe(&mut candidates, 1_000), Some(B));
        candidates.handle_unreachable(address(B));
        assert_eq!(probe(&mut candidates, 1_001), None, "another address has no route");
        // A keystroke that could not be sent to the first address goes to the other address at once.
        candidates.handle_unreachable(address(A));
        assert_eq!(probe(&mut candidates, 1_001), Some(B));
        assert_eq!(probe(&mut candidates, 1_002), None);
        candidates.handle_change();
        assert_eq!(probe(&mut candidates, 1_003), Some(B), "it does not wait for the next round");
        // A round of probes that has begun keeps its intervals.
        let mut several = self::candidates(&[A, B, C]);
        several.handle_answer(at(0), address(A));
        several.handle_send(at(1_000));
        several.handle_unreachable(address(A));
        assert_eq!(probe(&mut several, 1_000), Some(B));
        several.handle_unreachable(address(A));
        assert_eq!((probe(&mut several, 1_001), probe(&mut several, 1_050)), (None, Some(C)));
    }

    #[test]
    fn an_address_that_ends_leaves_the_others_and_the_first_stays() {
        for (current, removed, used, left) in
            [(C, C, A, &[A, B][..]), (C, B, C, &[A, C]), (B, C, B, &[A, B]), (A, A, A, &[A, B, C])]
        {
            let mut candidates = candidates(&[A, B, C]);
            candidates.handle_return(at(0), address(current));
            candidates.remove(at(1), address(removed));
            assert_eq!(candidates.current(), address(used), "{current} {removed}");
            assert!(candidates.iter().eq(left.iter().map(|port| address(*port))));
        }
    }

    #[test]
    fn an_only_address_is_never_probed_and_one_that_answers_stays_alone() {
        assert_eq!(probes(&mut candidates(&[A, A]), 0, 60_000), []);
        let mut several = candidates(&[A, B]);
        for now in (0..60_000).step_by(3000) {
            several.handle_send(at(now));
            assert!(several.probe_at(&CONFIG).is_some_and(|due| due > at(now + 499)));
            assert!(!several.handle_answer(at(now + 499), address(A)));
            assert_eq!(several.probe_at(&CONFIG), None);
        }
    }

    #[test]
    fn silence_at_the_start_has_the_others_probed_in_turn_ever_more_rarely() {
        let found = probes(&mut candidates(&[A, B, C]), 0, 30_000);
        let rounds = [500, 1_550, 3_600, 7_650, 15_700, 25_750];
        let wanted: Vec<(u64, u16)> =
            rounds.iter().flat_map(|start| [(*start, B), (start + 50, C)]).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_one_that_answers_is_kept_and_the_first_comes_back_only_when_that_fails() {
        let mut several = candidates(&[A, B]);
        assert_eq!(probes(&mut several, 0, 501), [(500, B)]);
        assert!(several.handle_answer(at(700), address(B)));
        assert_eq!(several.current(), address(B));
        // A late datagram from the first address does not make the client switch back.
        assert!(!several.handle_answer(at(800), address(A)));
        several.handle_roundtrip(at(2_000));
        assert_eq!(probes(&mut several, 3_000, 9_501), [(9_500, A)]);
        assert!(several.handle_answer(at(9_600), address(A)));
        assert_eq!(several.current(), address(A));
    }

    #[test]
    fn only_an_address_that_was_probed_of_late_can_take_over() {
        let mut several = candidates(&[A, B, C]);
        several.handle_send(at(0));
        for (source, now) in [(B, 100), (9, 100), (C, 200)] {
            assert!(!several.handle_answer(at(now), address(source)), "{source}");
        }
        let found = probes(&mut several, 1_000, 7_560);
        assert_eq!(found.len(), 2);
        assert!(!several.handle_answer(at(12_561), address(B)), "5 s and a bit after its probe");
    }

    #[test]
    fn an_address_that_speaks_and_does_not_listen_is_left() {
        let mut several = candidates(&[A, B]);
        probes(&mut several, 0, 501);
        assert!(several.handle_answer(at(600), address(B)));
        several.handle_send(at(10_000));
        several.handle_answer(at(10_500), address(B));
        assert!(several.handle_no_roundtrip(at(10_600)));
        assert_eq!(several.current(), address(A));
        // Datagrams from the deaf address do not make the client choose it again until the other address has answered.
        several.handle_send(at(10_700));
        assert_eq!(several.poll_probe(at(10_700), &CONFIG).map(|it| it.port()), Some(B));
        assert!(!several.handle_answer(at(10_800), address(B)));
        several.handle_roundtrip(at(11_700));
        probes(&mut several, 20_000, 26_501);
        assert!(several.handle_answer(at(26_600), address(B)));
    }

    #[test]
    fn an_unreachable_address_is_not_waited_for_and_sleep_is_no_silence() {
        let mut several = candidates(&[A, B]);
        several.handle_send(at(0));
        several.handle_unreachable(address(B));
        assert_eq!(several.probe_at(&CONFIG), Some(at(500)));
        several.handle_unreachable(address(A));
        assert_eq!(several.poll_probe(at(0), &CONFIG), Some(address(B)));

        let mut asleep = candidates(&[A, B]);
        asleep.handle_send(at(0));
        asleep.handle_answer(at(1), address(A));
        asleep.handle_send(at(3_000));
        asleep.handle_send(at(3_600_000));
        assert_eq!(asleep.probe_at(&CONFIG), Some(at(3_606_500)));
    }

    #[test]
    fn a_detour_is_probed_at_once_though_the_others_wait_for_their_next_round() {
        let mut several = candidates(&[A, B]);
        assert_eq!(probes(&mut several, 0, 8_000).last(), Some(&(7_500, B)));
        several.add_detour(address(C));
        assert_eq!(probes(&mut several, 8_000, 8_100), [(8_000, C), (8_050, B)]);
    }

    #[test]
    fn addresses_are_bounded() {
        let ports: Vec<u16> = (1..=20).collect();
        let several = candidates(&ports);
        assert_eq!(several.iter().count(), CANDIDATES_MAX);
        assert_eq!(several.iter().last(), Some(address(8)));
    }
}
