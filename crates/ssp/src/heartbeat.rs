//! Heartbeats of idle ends, between two roves.
//!
//! A Mosh 1.4.0 end (stock) sends every 3 s. Between two roves, only the server chooses the pauses. Its heartbeat
//! announces the latest time of the server's next datagram. The client answers once and is then silent until that time.
//! The pauses grow while heartbeats after long pauses are answered ([`HeartbeatBackoff`]). A client that misses an
//! announced heartbeat sends by itself ([`AnnouncedHeartbeat`]). All other instructions follow Mosh's rules.

mod announced;
mod backoff;

use rove_units::{Duration, Instant};

use crate::num::StateNum;
use announced::AnnouncedHeartbeat;
use backoff::HeartbeatBackoff;
pub(crate) use backoff::PAUSE_MAX;

/// The heartbeat pauses of one end. Only a server announces heartbeats, and only a client gets announcements.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatSchedule {
    pub(crate) backoff: HeartbeatBackoff,
    pub(crate) announced: AnnouncedHeartbeat,
}

impl HeartbeatSchedule {
    /// Creates the schedule of an end that announces pauses of at most `pause_max`, which is zero at a client.
    pub(crate) fn new(pause_max: Duration) -> Self {
        let announced = AnnouncedHeartbeat::default();
        Self { backoff: HeartbeatBackoff::new(pause_max), announced }
    }

    /// Returns the time until which this end, if idle, need not send. `None` if Mosh's interval applies.
    pub(crate) fn speaks_by(&self) -> Option<Instant> {
        self.backoff.speaks_by().or(self.announced.speaks_by())
    }

    /// Returns the time until which a peer with nothing to send may be silent. `None` if Mosh's interval applies.
    pub(crate) fn hears_by(&self) -> Option<Instant> {
        self.backoff.hears_by().or(self.announced.until())
    }

    /// Returns the pause that a heartbeat sent now announces. `None` at a client, or if all pauses above 3 s fail.
    pub(crate) fn announce(&mut self, now: Instant, num: StateNum) -> Option<Duration> {
        self.backoff.is_worth_it().then(|| self.backoff.handle_heartbeat(now, num))
    }

    /// Called when an instruction is sent that announces no heartbeat. Returns whether the instruction is only a
    /// client's answer to a heartbeat, to which the server does not reply.
    pub(crate) fn handle_sent(&mut self, has_contents: bool) -> bool {
        self.backoff.handle_other_sent();
        self.announced.take_answer() && !has_contents
    }
}
