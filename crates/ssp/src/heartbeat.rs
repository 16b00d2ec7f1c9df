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

/// The heartbeat pauses of one end.
#[derive(Clone, Debug)]
pub(crate) enum HeartbeatSchedule {
    Server(HeartbeatBackoff),
    Client(AnnouncedHeartbeat),
}

impl HeartbeatSchedule {
    /// Creates the heartbeat pauses of a server, none longer than `pause_max`.
    pub(crate) fn server(pause_max: Duration) -> Self {
        Self::Server(HeartbeatBackoff::new(pause_max))
    }

    /// Creates the heartbeat pauses of a client, which its server announces.
    pub(crate) fn client() -> Self {
        Self::Client(AnnouncedHeartbeat::default())
    }

    /// Returns until when this end need not send if it has nothing to send. `None` if the interval of Mosh holds.
    pub(crate) fn speaks_by(&self) -> Option<Instant> {
        match self {
            Self::Server(backoff) => backoff.speaks_by(),
            Self::Client(announced) => announced.speaks_by(),
        }
    }

    /// Returns when a server repeats its newest heartbeat, given how long an answer takes. `None` without a repetition.
    pub(crate) fn again_at(&self, answer_expected: Duration) -> Option<Instant> {
        match self {
            Self::Server(backoff) => backoff.again_at(answer_expected),
            Self::Client(_) => None,
        }
    }

    /// Returns the time until which a peer that has nothing to say may be silent. `None` if that is unknown.
    pub(crate) fn hears_by(&self) -> Option<Instant> {
        match self {
            Self::Server(backoff) => backoff.hears_by(),
            Self::Client(announced) => announced.until(),
        }
    }

    /// Returns the time up to which all that a client has sent counts as received, even without an acknowledgment.
    /// `None` at a server.
    pub(crate) fn answered_until(&self) -> Option<Instant> {
        match self {
            Self::Server(_) => None,
            Self::Client(announced) => announced.kept_until(),
        }
    }

    /// Called with the number of the newest state that the peer has acknowledged.
    pub(crate) fn handle_ack(&mut self, known: StateNum) {
        if let Self::Server(backoff) = self {
            backoff.handle_ack(known);
        }
    }

    /// Called when a server's client sends from a new address.
    pub(crate) fn handle_moved(&mut self) {
        if let Self::Server(backoff) = self {
            backoff.handle_moved();
        }
    }

    /// Returns the pause that a heartbeat sent now announces. `None` at a client, or if pauses above 3 s fail.
    pub(crate) fn announce(&mut self, now: Instant, num: StateNum) -> Option<Duration> {
        match self {
            Self::Server(backoff) if backoff.is_worth_it() => {
                Some(backoff.handle_heartbeat(now, num))
            }
            Self::Server(_) | Self::Client(_) => None,
        }
    }

    /// Called when an instruction is sent that announces no heartbeat. Returns whether the instruction is only a
    /// client's answer to a heartbeat, to which the server does not reply.
    pub(crate) fn handle_sent(&mut self, has_contents: bool) -> bool {
        match self {
            Self::Server(backoff) => {
                backoff.handle_other_sent();
                false
            }
            Self::Client(announced) => announced.take_answer() && !has_contents,
        }
    }
}
