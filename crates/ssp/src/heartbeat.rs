//! Heartbeats of idle ends, between two roves.
//!
//! A Mosh 1.4.0 end (stock) sends every 3 s. Between two roves, the server alone decides on the pauses. Its heartbeat
//! announces when the server sends again at the latest, and the client answers once and is silent until then. The
//! pauses grow while heartbeats after long pauses are answered ([`HeartbeatBackoff`]). A client that misses an
//! announced heartbeat sends by itself ([`AnnouncedHeartbeat`]). For all else that is sent, Mosh's rules hold.

mod announced;
mod backoff;

use rove_units::{Duration, Instant};

use crate::num::StateNum;
use announced::AnnouncedHeartbeat;
use backoff::HeartbeatBackoff;
pub(crate) use backoff::PAUSE_MAX;

/// The heartbeat pauses of one end. A client announces no heartbeat, and a server hears of none.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatSchedule {
    pub(crate) backoff: HeartbeatBackoff,
    pub(crate) announced: AnnouncedHeartbeat,
}

impl HeartbeatSchedule {
    /// Creates the heartbeat pauses of an end that announces none longer than `pause_max`: zero at a client.
    pub(crate) fn new(pause_max: Duration) -> Self {
        let announced = AnnouncedHeartbeat::default();
        Self { backoff: HeartbeatBackoff::new(pause_max), announced }
    }

    /// Returns until when this end need not send if it has nothing to send. `None` if the interval of Mosh holds.
    pub(crate) fn speaks_by(&self) -> Option<Instant> {
        self.backoff.speaks_by().or(self.announced.speaks_by())
    }

    /// Returns the time until which a peer that has nothing to say may be silent. `None` if that is unknown.
    pub(crate) fn hears_by(&self) -> Option<Instant> {
        self.backoff.hears_by().or(self.announced.until())
    }

    /// Returns the pause that a heartbeat sent now announces. `None` at a client, or if pauses above 3 s fail.
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
