//! The sender's intervals of a moment, worked out from what the connection knows of the path.

use rove_units::{Duration, Instant};

use crate::config::Config;
use crate::hello::Capabilities;
use crate::rtt::RttEstimator;

/// Most loss of either direction, as a share, at which acknowledgments are late. Chosen: docs/timing.md, "Late
/// acknowledgments"; where more is lost, a state's second try waits for them.
const PATIENT_LOSS: f64 = 0.1;

/// The intervals of this moment.
#[derive(Clone, Debug)]
pub(crate) struct SendTiming {
    pub(crate) config: Config,
    pub(crate) rto: Duration,
    pub(crate) frame_interval: Duration,
    /// How long an acknowledgment waits for company, at either end.
    pub(crate) ack_delay: Duration,
    /// Whether both ends bear late acknowledgments: the person at the client sees nothing of those that come alone.
    pub(crate) bears_late: bool,
    /// Whether acknowledgments are late: nothing is said twice without a reason.
    pub(crate) is_patient: bool,
    /// How much longer than RTO a sent state is assumed to be on its way.
    pub(crate) grace: Duration,
    /// How long until a state with contents must have been acknowledged, had nothing been lost.
    pub(crate) ack_expected: Duration,
    pub(crate) srtt: Duration,
    pub(crate) rttvar: Duration,
    /// The extensions that both ends offer.
    pub(crate) peer: Capabilities,
    pub(crate) path: PathView,
    /// Until when no sign of life is due.
    pub(crate) speaks_by: Option<Instant>,
    /// When to show once more that this end is there.
    pub(crate) heartbeat_again_at: Option<Instant>,
    /// Until when nothing need be heard from the peer.
    pub(crate) hears_by: Option<Instant>,
}

/// The path to the peer, as the connection sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathView {
    /// The shortest round trip of late; `None` before the first.
    pub(crate) rtt_min: Option<Duration>,
    /// The share of datagrams that do not reach the peer, from 0 to 1: an estimate.
    pub(crate) loss_out: f64,
    /// The same of the peer's datagrams.
    pub(crate) loss_in: f64,
    /// Most bytes of an instruction that one datagram carries.
    pub(crate) contents_max: usize,
}

impl SendTiming {
    /// Works them out for a path and what may be used between the two ends.
    pub(crate) fn new(
        config: &Config,
        rtt: &RttEstimator,
        path: PathView,
        peer: Capabilities,
    ) -> Self {
        let rto = rtt.rto(&config.rtt);
        let bears_late =
            peer.contains(Capabilities::LATE_ACK) && config.acks.delay_late > config.acks.delay;
        // On a path that loses much, a timeout is to repair it soon.
        let is_patient = bears_late && path.loss_out.max(path.loss_in) <= PATIENT_LOSS;
        let (ack_delay, grace) = if is_patient {
            (config.acks.delay_late, config.acks.grace_late)
        } else {
            (config.acks.delay, config.acks.delay)
        };
        Self {
            config: config.clone(),
            rto,
            frame_interval: rtt.frame_interval(&config.frames),
            ack_delay,
            bears_late,
            is_patient,
            grace,
            ack_expected: rto.max(rtt.unclamped_rto()) + ack_delay,
            srtt: rtt.srtt().unwrap_or(rto),
            rttvar: rtt.rttvar().unwrap_or(rto / 2),
            peer,
            path,
            speaks_by: None,
            heartbeat_again_at: None,
            hears_by: None,
        }
    }

    /// Returns whether round trips take longer than the shortest one by more than `least` and by more than this part of it: datagrams
    /// queue. So they may where no round trip is known.
    pub(crate) fn has_queue(&self, least: Duration, divisor: u32) -> bool {
        let rtt_min = self.path.rtt_min;
        rtt_min.is_none_or(|rtt_min| self.srtt > rtt_min + least.max(rtt_min / divisor))
    }

    /// Returns how long an acknowledgment takes that nothing delays but what usually does.
    pub(crate) fn ack_usual(&self) -> Duration {
        self.srtt + 2 * self.rttvar + self.ack_delay
    }

    /// Returns how long a sent state is assumed to be on its way.
    pub(crate) fn in_flight(&self) -> Duration {
        self.rto + self.grace
    }

    /// Returns the same without late acknowledgments where something is lost: a large instruction that has lost a fragment is
    /// to be repaired soon.
    pub(crate) fn for_large(self) -> Self {
        if self.path.loss_out.max(self.path.loss_in) == 0.0 {
            return self;
        }
        let ack_delay = self.config.acks.delay;
        let ack_expected = self.ack_expected - (self.ack_delay - ack_delay);
        Self { is_patient: false, ack_delay, grace: ack_delay, ack_expected, ..self }
    }
}
