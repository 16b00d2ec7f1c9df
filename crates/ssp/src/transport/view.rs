//! Methods by which the driver reads the state of one end. No method here changes it.

use core::net::SocketAddr;
use core::ops::Range;

use rove_units::{Duration, Instant};

use crate::candidates::Candidates;
use crate::closing::Closed;
use crate::hello::{Capabilities, Peer};
use crate::num::StateNum;
use crate::object::Object;
use crate::path::Path;
use crate::send_timing::SendTiming;
use crate::side_path::SidePath;
use crate::transport::Transport;

impl<Local: Object, Remote: Object> Transport<Local, Remote> {
    /// Returns an upper estimate of the work done so far for received datagrams, in the remote object's units.
    pub fn effort(&self) -> u64 {
        self.effort.saturating_add(self.receiver.effort())
    }

    /// Returns this end's current object, sent or not.
    pub fn local(&self) -> &Local {
        &self.sender.current
    }

    /// Returns the newest of this end's states that the peer has acknowledged.
    pub fn known_receiver_state(&self) -> &Local {
        &self.sender.sent.known().object
    }

    /// Returns the number of [`Transport::known_receiver_state`].
    pub fn known_num(&self) -> StateNum {
        self.sender.sent.known().num
    }

    /// Returns when the known receiver state was last sent; `None` before the first acknowledgment.
    pub fn known_state_sent_at(&self) -> Option<Instant> {
        self.is_acknowledged().then(|| self.sender.sent.known().sent_at)
    }

    /// Returns when the acknowledgment of the oldest contents (a diff) is overdue. `None` if all are acknowledged.
    pub fn overdue_at(&self) -> Option<Instant> {
        self.sender.sent.overdue_at(&self.send_timing())
    }

    /// Returns the newest of this end's states that was sent, whether or not it arrived.
    pub fn sent_state(&self) -> &Local {
        &self.sender.sent.last().object
    }

    /// Returns the addresses at which a client's server may be reached; `None` at a server.
    pub fn candidates(&self) -> Option<&Candidates> {
        self.connection.client().map(|client| &client.candidates)
    }

    /// Returns when the peer must send again. That is a heartbeat interval after its newest state arrived or, if later,
    /// when the announced pause ends. The announcement counts at most until a heartbeat interval after this end sent
    /// its oldest unacknowledged contents (a diff). The peer must acknowledge them.
    pub fn remote_due_at(&self) -> Instant {
        let due_at = self.receiver.newest().arrived_at + self.config.heartbeat.interval;
        due_at.max(self.asked_before(self.heartbeats.hears_by()).unwrap_or(due_at))
    }

    /// Returns the time until which the peer, as the last heartbeat announced, need not send. `None` if none announced.
    pub fn remote_excused_until(&self) -> Option<Instant> {
        self.heartbeats.hears_by()
    }

    /// Returns the time before which this end's datagrams count as received. It is the send time of the known receiver
    /// state or, if later, the end of the silence that a server announced and kept. `None` before an acknowledgment.
    pub fn answered_until(&self) -> Option<Instant> {
        let known_sent_at = self.known_state_sent_at()?;
        Some(known_sent_at).max(self.asked_before(self.heartbeats.announced.kept_until()))
    }

    /// Returns the number of this end's newest sent state.
    pub fn sent_num(&self) -> StateNum {
        self.sender.sent.last().num
    }

    /// Returns the newest state of the peer's object. Read it after each [`Transport::handle_datagram`], because
    /// contents that all newer states share are dropped later.
    pub fn remote(&self) -> &Remote {
        &self.receiver.newest().object
    }

    /// Returns the memory that holds everything derived from the key for as long as this end lives. A caller can thus
    /// keep this memory out of swap. It belongs to the session's cipher and, if any, the stream packets' cipher.
    pub fn key_memory(&self) -> Vec<Range<*const u8>> {
        let packets = self.packets.as_ref().map(|packets| packets.key_memory());
        [self.connection.key_memory()].into_iter().chain(packets).collect()
    }

    /// Returns the number of the newest state of the peer's object; 0 until one has arrived.
    pub fn remote_num(&self) -> StateNum {
        self.receiver.newest().num
    }

    /// Returns when the newest remote state arrived or, if later, when a newer one was refused
    /// ([`Transport::hold_remote`]). `None` before the first state.
    pub fn remote_arrived_at(&self) -> Option<Instant> {
        (self.remote_num() != StateNum::INITIAL).then(|| self.receiver.newest().arrived_at)
    }

    /// Returns whether [`Transport::start_shutdown`] was called.
    pub fn is_shutting_down(&self) -> bool {
        self.sender.shutdown.is_started()
    }

    /// Returns whether the peer has announced its shutdown.
    pub fn is_peer_shutting_down(&self) -> bool {
        self.remote_num() == StateNum::SHUTDOWN
    }

    /// Returns how the session ended; `None` while it runs. First call [`Transport::poll_transmit`] until it returns
    /// `None`.
    pub fn closed(&self) -> Option<Closed> {
        self.closing.closed()
    }

    /// Returns until when a server acknowledges repeats of its client's shutdown. `None` if it does not linger. If the
    /// driver stops sooner and the first acknowledgment was lost, the client does not learn that the session ended.
    pub fn lingers_until(&self) -> Option<Instant> {
        self.closing.lingers_until()
    }

    /// Returns whether the peer is rove or Mosh 1.4.0, if that is known.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Returns the extensions that both ends have offered, which may be used in this session.
    pub fn capabilities(&self) -> Capabilities {
        match (self.config.capabilities, self.peer) {
            (Some(ours), Peer::Rove(hello)) => ours.intersection(hello.capabilities),
            _ => Capabilities::empty(),
        }
    }

    /// Returns the peer's address: at a client the address in use, at a server the source of the newest authentic
    /// datagram. `None` at a server before its client has sent, and after [`crate::Event::PeerLost`].
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.connection.peer()
    }

    /// Returns a client's side path; `None` at a server.
    pub fn side_path(&self) -> Option<&SidePath> {
        self.connection.client().map(|client| &client.side)
    }

    /// Returns when a client's driver should open a side path: 5 s after the first datagram that the network left
    /// unanswered. A side path that has ended is replaced at once. `None` if no side path is needed.
    pub fn side_path_wanted_at(&self) -> Option<Instant> {
        let unacknowledged_since = self.sender.sent.unacknowledged_since();
        self.connection.client()?.side_path_wanted_at(unacknowledged_since)
    }

    /// Returns when to open another side path, because the one in use is slow or dead. `None` if none is needed.
    pub fn side_path_late_at(&self) -> Option<Instant> {
        self.connection.client()?.side_path_late_at(self.send_timing().ack_expected)
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.connection.rtt().srtt()
    }

    /// Returns how many datagrams the peer has sent, as the highest received number shows. It grows only with an
    /// authentic datagram that is newer than all before. A caller that stores a datagram's source compares this number
    /// before and after that datagram.
    pub fn peer_datagrams(&self) -> u64 {
        self.connection.peer_datagrams()
    }

    /// Returns the sum of [`Transport::peer_datagrams`] and the number of stream packets that the peer has sent.
    pub fn peer_datagrams_and_packets(&self) -> u64 {
        self.peer_datagrams() + self.packets.as_ref().map_or(0, |packets| packets.peer_packets())
    }

    /// Returns the measurements of the path to the peer, for a status display.
    pub fn path(&self) -> Path {
        self.connection.path()
    }

    /// Returns the frame interval (also send interval): half of SRTT, within `interval_min` and `interval_max`.
    pub fn frame_interval(&self) -> Duration {
        self.connection.rtt().frame_interval(&self.config.frames)
    }

    /// Limits `until`, if given, to the time by which the peer must answer this end's unacknowledged contents.
    fn asked_before(&self, until: Option<Instant>) -> Option<Instant> {
        let asked_at = self.sender.sent.unacknowledged_since();
        let answer_due = asked_at.map(|at| at + self.config.heartbeat.interval);
        until.map(|until| answer_due.map_or(until, |due| until.min(due)))
    }

    pub(super) fn reports_loss(&self) -> bool {
        self.capabilities().contains(Capabilities::LOSS_REPORT)
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.sender.sent.known().num != StateNum::INITIAL
    }

    pub(super) fn send_timing(&self) -> SendTiming {
        let timing = self.connection.send_timing(&self.config, self.capabilities());
        let timing = if self.sender.large.is_recent { timing.for_large() } else { timing };
        SendTiming {
            speaks_by: self.heartbeats.speaks_by(),
            hears_by: self.heartbeats.hears_by(),
            heartbeat_again_at: self.heartbeats.backoff.again_at(timing.ack_expected),
            ..timing
        }
    }
}
