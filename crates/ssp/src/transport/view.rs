//! The state of one end as its driver sees it: nothing here changes it.

use core::net::SocketAddr;
use core::ops::Range;

use rove_units::{Duration, Instant};

use crate::closing::Closed;
use crate::hello::{Capabilities, Peer};
use crate::num::StateNum;
use crate::object::Object;
use crate::path::Path;
use crate::transport::Transport;

impl<Local: Object, Remote: Object> Transport<Local, Remote> {
    /// Returns the work done so far for what has been received, in the units of the remote object: an estimate that runs high.
    pub fn effort(&self) -> u64 {
        self.effort.saturating_add(self.receiver.effort())
    }

    /// Returns our current object.
    pub fn local(&self) -> &Local {
        &self.sender.current
    }

    /// Returns the newest of our states that the peer is known to hold.
    pub fn known_receiver_state(&self) -> &Local {
        &self.sender.sent.known().object
    }

    /// Returns the number of that state.
    pub fn known_num(&self) -> StateNum {
        self.sender.sent.known().num
    }

    /// Returns when the known receiver state was last sent; `None` before the first acknowledgment.
    pub fn known_state_sent_at(&self) -> Option<Instant> {
        self.is_acknowledged().then(|| self.sender.sent.known().sent_at)
    }

    /// Returns when contents that were sent should have been acknowledged: from then on something was lost.
    pub fn overdue_at(&self) -> Option<Instant> {
        self.sender.sent.overdue_at(&self.send_timing())
    }

    /// Returns the newest of our states that was sent, whatever became of it.
    pub fn sent_state(&self) -> &Local {
        &self.sender.sent.last().object
    }

    /// Returns when the peer's next word is due, at the latest: a heartbeat after its newest, or when that has announced
    /// one. Contents of ours that wait for an acknowledgment are to be answered sooner.
    pub fn remote_due_at(&self) -> Instant {
        let due_at = self.receiver.newest().arrived_at + self.config.heartbeat.interval;
        due_at.max(self.asked_before(self.heartbeats.hears_by()).unwrap_or(due_at))
    }

    /// Returns until when the peer need not speak, where that is known.
    pub fn remote_excused_until(&self) -> Option<Instant> {
        self.heartbeats.hears_by()
    }

    /// Returns up to when what this end has sent counts as answered: the known receiver state, and whatever was sent while
    /// a server that heard us was silent as it had announced. `None` before the first acknowledgment.
    pub fn answered_until(&self) -> Option<Instant> {
        let known_sent_at = self.known_state_sent_at()?;
        Some(known_sent_at).max(self.asked_before(self.heartbeats.answered_until()))
    }

    /// Returns the number of our newest sent state.
    pub fn sent_num(&self) -> StateNum {
        self.sender.sent.last().num
    }

    /// Returns the newest state of the peer's object. Look at it after each
    /// [`Transport::handle_datagram`]: contents that all newer states share are forgotten.
    pub fn remote(&self) -> &Remote {
        &self.receiver.newest().object
    }

    /// Returns the memory in which all that is derived from the key lies for as long as this end lives, for a
    /// caller that can keep it off the disk.
    pub fn key_memory(&self) -> Range<*const u8> {
        self.connection.key_memory()
    }

    /// Returns the number of the newest state of the peer's object; 0 until one has arrived.
    pub fn remote_num(&self) -> StateNum {
        self.receiver.newest().num
    }

    /// Returns when the newest remote state arrived, or one that is held off
    /// ([`Transport::hold_remote`]) since then; `None` before the first.
    pub fn remote_arrived_at(&self) -> Option<Instant> {
        (self.remote_num() != StateNum::INITIAL).then(|| self.receiver.newest().arrived_at)
    }

    /// Returns whether [`Transport::start_shutdown`] was called.
    pub fn is_shutting_down(&self) -> bool {
        self.sender.shutdown.is_started()
    }

    /// Returns whether the peer has announced its end.
    pub fn is_peer_shutting_down(&self) -> bool {
        self.remote_num() == StateNum::SHUTDOWN
    }

    /// Returns how the session ended, once it has. Drain [`Transport::poll_transmit`] first.
    pub fn closed(&self) -> Option<Closed> {
        self.closing.closed()
    }

    /// Returns until when a server that its client has left acknowledges that again if it is asked to. A client is in doubt
    /// if the driver stops sooner and the first acknowledgment was lost.
    pub fn lingers_until(&self) -> Option<Instant> {
        self.closing.lingers_until()
    }

    /// Returns what is known of the far end.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Returns what may be used between the two ends: what both have offered.
    pub fn capabilities(&self) -> Capabilities {
        match (self.config.capabilities, self.peer) {
            (Some(ours), Peer::Rove(hello)) => ours.intersection(hello.capabilities),
            _ => Capabilities::NONE,
        }
    }

    /// Returns the peer's address: at a client the one in use, at a server the newest authentic one. A server
    /// has none before its client has spoken and after [`crate::Event::PeerLost`].
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.connection.peer()
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.connection.rtt().srtt()
    }

    /// Returns how many datagrams the peer has sent, as far as is known. It grows with each authentic datagram
    /// that is newer than all before, and with no other: whoever keeps something of where such a one came from
    /// looks at this before and after.
    pub fn peer_datagrams(&self) -> u64 {
        self.connection.peer_datagrams()
    }

    /// Returns what is known of the path to the peer, for people to look at.
    pub fn path(&self) -> Path {
        self.connection.path()
    }

    /// Returns the interval between frames (also send interval): half of SRTT, within its bounds.
    pub fn frame_interval(&self) -> Duration {
        self.connection.rtt().frame_interval(&self.config.frames)
    }

    /// Returns the earlier of `until` and when contents of ours are to be answered.
    fn asked_before(&self, until: Option<Instant>) -> Option<Instant> {
        let asked_at = self.sender.sent.unacknowledged_since();
        let answer_due = asked_at.map(|at| at + self.config.heartbeat.interval);
        until.map(|until| answer_due.map_or(until, |due| until.min(due)))
    }
}
