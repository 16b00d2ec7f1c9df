//! A client's paths to its server: local ports, the server's addresses, the side path (outside the network, such as
//! ssh), and the payload of probes.

use core::net::SocketAddr;

use rove_units::{Duration, Instant};

use crate::candidates::Candidates;
use crate::companion::Companion;
use crate::config::PathConfig;
use crate::datagram::DATAGRAM_OVERHEAD;
use crate::hop::PortHop;
use crate::path_revalidation::PathRevalidation;
use crate::probe_rounds::{Probe, ProbeRounds};
use crate::side_path::{DOUBTED_AFTER, SIDE_PATH, SidePath};

/// The state of a client's paths: local ports, the server's addresses, the side path, and the payload for probes.
#[derive(Debug)]
pub(crate) struct ClientPath {
    pub(crate) hop: PortHop,
    pub(crate) candidates: Candidates,
    /// Repeats datagrams after this computer's network has changed.
    pub(crate) revalidation: PathRevalidation,
    pub(crate) side: SidePath,
    pub(crate) companion: Companion,
    /// The probes of the server's own addresses while the client uses a detour (a forwarder's address).
    own: ProbeRounds,
    /// The payload that probes repeat: the payload of the newest datagram that was small enough for other paths. Empty
    /// before the first such datagram, and after the system has refused it as too long.
    newest_payload: Vec<u8>,
}

impl ClientPath {
    pub(crate) fn new(server: SocketAddr, now: Instant) -> Self {
        Self {
            hop: PortHop::new(now),
            candidates: Candidates::new(server),
            revalidation: PathRevalidation::default(),
            side: SidePath::default(),
            companion: Companion::default(),
            own: ProbeRounds::default(),
            newest_payload: Vec::new(),
        }
    }

    /// Called when a datagram is sent (`is_answer`: it only answers a heartbeat). Keeps its payload for probes if it
    /// fits into a datagram of `size_max` bytes, because another path may not carry a longer one.
    pub(crate) fn handle_sent(
        &mut self,
        now: Instant,
        payload: &Vec<u8>,
        is_answer: bool,
        size_max: usize,
    ) {
        self.side.handle_sent(now, is_answer, self.revalidation.is_unanswered());
        if !is_answer && !self.side.is_used() {
            self.candidates.handle_send(now);
            self.own.handle_asked(now, false);
        }
        if payload.len() + DATAGRAM_OVERHEAD <= size_max {
            self.newest_payload.clone_from(payload);
        }
        self.accompany(now, self.destination());
    }

    /// Sends the newest stream packet along with a datagram to this address if the server has not answered for
    /// [`DOUBTED_AFTER`]. After an unanswered network change, the packet also goes along with probes of other paths.
    fn accompany(&mut self, now: Instant, to: SocketAddr) {
        let since = match self.side.is_used() {
            true => self.side.unheard_since(),
            false => self.candidates.unanswered_since(),
        };
        let is_doubted = since.is_some_and(|since| now.saturating_since(since) >= DOUBTED_AFTER);
        let is_tried = self.revalidation.is_unanswered() && to != self.destination();
        if is_doubted || is_tried {
            self.companion.handle_sent(to);
        }
    }

    /// Called when the system has refused a datagram of `len` bytes as too long. A probes' payload of that size is
    /// dropped.
    pub(crate) fn handle_refused(&mut self, len: usize) {
        if len <= self.newest_payload.len() + DATAGRAM_OVERHEAD {
            self.newest_payload.clear();
        }
    }

    /// Returns the destination of the next datagram: the server's current address, or [`SIDE_PATH`].
    pub(crate) fn destination(&self) -> SocketAddr {
        if self.side.is_used() { SIDE_PATH } else { self.candidates.current() }
    }

    /// Records that the datagram sent at `sent_at` has been answered over the path in use.
    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        if !self.side.is_used() {
            self.hop.handle_roundtrip(sent_at);
            self.candidates.handle_roundtrip(sent_at);
        }
        self.revalidation.handle_roundtrip(sent_at);
    }

    /// Handles the arrival of a datagram from `source`. `is_echo` is true if it echoes a timestamp of this end. Returns
    /// whether the client leaves the side path, because the network has answered a probe.
    pub(crate) fn handle_source(
        &mut self,
        now: Instant,
        source: SocketAddr,
        is_echo: bool,
    ) -> bool {
        if source == SIDE_PATH {
            self.side.handle_heard(now);
            return false;
        }
        if is_echo {
            self.side.handle_network();
        }
        let moves = is_echo && self.side.is_used() && self.candidates.is_answer(now, source);
        if moves {
            self.side.cease(now, false);
            self.candidates.handle_return(now, source);
            self.own = ProbeRounds::begin(now);
            // A round of probes ends with a copy over the side path (a recall), to which the server may answer. A
            // further datagram over the network makes the server answer over the network.
            self.revalidation.handle_change(now);
        }
        moves
    }

    /// Handles the newest datagram's source while the network is used. Returns whether the destination changes.
    pub(crate) fn handle_answer(&mut self, now: Instant, source: SocketAddr) -> bool {
        let was_on_detour = self.candidates.is_on_detour();
        let moves = self.candidates.handle_answer(now, source);
        if self.candidates.is_on_detour() == was_on_detour {
            return moves;
        }
        self.side.handle_detour(now);
        if was_on_detour {
            // A copy over the detour (a recall) may have drawn the server's answers. A further datagram undoes that.
            self.revalidation.handle_change(now);
        } else {
            self.own = ProbeRounds::begin(now);
        }
        moves
    }

    /// Removes a forwarder's address. If the client was using it, the client repeats a datagram to its new destination,
    /// so that the server answers over that path. Returns whether the destination changes.
    pub(crate) fn remove_candidate(&mut self, now: Instant, address: SocketAddr) -> bool {
        let before = self.destination();
        self.candidates.remove(now, address);
        let moves = self.destination() != before;
        if moves {
            self.side.handle_detour(now);
            self.revalidation.handle_change(now);
        }
        moves
    }

    /// Records that this computer's network has changed. Returns true if the newest datagram is to be repeated at once.
    /// In that case, new rounds of probes also begin.
    pub(crate) fn handle_network_change(&mut self, now: Instant) -> bool {
        self.revalidation.handle_change(now);
        let is_tried = self.revalidation.due().is_some_and(|due| due <= now);
        if is_tried {
            self.side.handle_change(now);
            self.own.handle_change(now);
        }
        is_tried
    }

    /// Called when the driver has opened or closed the side path. The client uses an open side path if `fails`: the
    /// path in use fails, or nothing was sent yet. Returns whether the destination of datagrams changes.
    pub(crate) fn handle_side_path(&mut self, now: Instant, is_open: bool, fails: bool) -> bool {
        let moves = if is_open { fails } else { self.side.is_used() };
        if moves {
            match is_open {
                true => self.side.begin(now),
                false => self.side.cease(now, true),
            }
            self.candidates.handle_silence_excused();
            if !self.newest_payload.is_empty() {
                self.revalidation.handle_change(now);
            }
        }
        moves
    }

    /// Returns when the driver should open the side path. `None` if that path is used or the network answers.
    /// `unacknowledged_since` is the time of the oldest unacknowledged contents (a diff).
    pub(crate) fn side_path_wanted_at(
        &self,
        unacknowledged_since: Option<Instant>,
    ) -> Option<Instant> {
        let unacknowledged = unacknowledged_since.map(|at| self.candidates.unanswered_after(at));
        let silent = self.candidates.unanswered_since();
        self.side.wanted_at(silent.into_iter().chain(unacknowledged).min())
    }

    /// Returns when the driver should open another side path ([`SidePath::late_at`]). `None` while it need not.
    pub(crate) fn side_path_late_at(&self, answer_max: Duration) -> Option<Instant> {
        self.side.late_at(answer_max, self.revalidation.is_unanswered())
    }

    /// Returns when to send the next probe over any path. `None` if no probe is needed, or no payload is kept for it.
    pub(crate) fn probe_at(&self, config: &PathConfig) -> Option<Instant> {
        let probe = match self.side.is_used() {
            true => self.side.probe_at(),
            false => self.candidates.probe_at(config),
        };
        let is_on_detour = !self.side.is_used() && self.candidates.is_on_detour();
        let own = is_on_detour.then(|| self.own.poll_timeout());
        let times = [probe, own, self.revalidation.due()];
        times.into_iter().flatten().min().filter(|_| !self.newest_payload.is_empty())
    }

    /// Returns a probe that is due: its destination and the newest payload. `None` if no probe is due. After a network
    /// change, it goes to the current destination. Otherwise it goes to another address or, as a recall, over the path
    /// in use.
    pub(crate) fn poll_probe(
        &mut self,
        now: Instant,
        config: &PathConfig,
    ) -> Option<(SocketAddr, Vec<u8>)> {
        self.probe_at(config)?;
        let is_aside = self.side.is_used();
        let destination = if self.revalidation.poll(now) {
            match is_aside {
                true => self.side.handle_tried(now),
                false => {
                    self.candidates.handle_send(now);
                    self.candidates.handle_change();
                }
            }
            self.destination()
        } else if is_aside {
            match self.side.poll(now, self.candidates.iter().count())? {
                Probe::Better => self.candidates.probe_in_turn(now),
                Probe::Recall => SIDE_PATH,
            }
        } else if self.candidates.is_on_detour()
            && let Some(probe) = self.own.poll(now, self.candidates.own_count())
        {
            match probe {
                Probe::Better => self.candidates.probe_own_in_turn(now),
                Probe::Recall => self.candidates.current(),
            }
        } else {
            self.candidates.poll_probe(now, config)?
        };
        if destination == SIDE_PATH {
            self.side.handle_given();
        }
        self.accompany(now, destination);
        Some((destination, self.newest_payload.clone()))
    }
}
