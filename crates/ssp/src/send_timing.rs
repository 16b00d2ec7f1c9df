//! The sender's intervals, computed from measurements of the path. A state's contents are the diff sent with it.

use rove_units::{Duration, Instant};

use crate::config::Config;
use crate::hello::Capabilities;
use crate::rtt::RttEstimator;

/// Highest loss in either direction, as a share from 0 to 1, at which acknowledgments are late. Chosen: docs/timing.md,
/// "Late acknowledgments". If more is lost, states are often sent again, and each further try would wait for a late
/// acknowledgment.
const PATIENT_LOSS: f64 = 0.1;

/// The sender's intervals at one moment.
#[derive(Clone, Debug)]
pub(crate) struct SendTiming {
    pub(crate) config: Config,
    pub(crate) rto: Duration,
    pub(crate) frame_interval: Duration,
    /// How long either end delays an acknowledgment, so that contents may share its datagram.
    pub(crate) ack_delay: Duration,
    /// Whether both ends support late acknowledgments. A client supports them only if it predicts nothing. A datagram
    /// with only an acknowledgment or echo ack then changes nothing on its screen.
    pub(crate) bears_late: bool,
    /// Whether acknowledgments are late at present: both ends support that, and the path loses little.
    pub(crate) is_patient: bool,
    /// How long after RTO a sent state is presumed lost.
    pub(crate) grace: Duration,
    /// Time from sending contents until their acknowledgment is overdue.
    pub(crate) ack_expected: Duration,
    pub(crate) srtt: Duration,
    pub(crate) rttvar: Duration,
    /// The extensions that both ends offer.
    pub(crate) peer: Capabilities,
    pub(crate) path: PathView,
    /// The time until which this end need not send a heartbeat. `None` if the usual interval applies.
    pub(crate) speaks_by: Option<Instant>,
    /// When to repeat a heartbeat. `None` if it is not repeated.
    pub(crate) heartbeat_again_at: Option<Instant>,
    /// The time until which the peer need not send. `None` if the usual interval applies.
    pub(crate) hears_by: Option<Instant>,
}

/// Measurements of the path to the peer that the sender uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathView {
    /// The shortest recent round trip. `None` before the first sample.
    pub(crate) rtt_min: Option<Duration>,
    /// The estimated share of this end's datagrams that do not reach the peer, from 0 to 1.
    pub(crate) loss_out: f64,
    /// The estimated share of the peer's datagrams that do not reach this end, from 0 to 1.
    pub(crate) loss_in: f64,
    /// Maximum number of bytes of a compressed instruction that one datagram carries.
    pub(crate) contents_max: usize,
}

impl SendTiming {
    /// Computes the intervals from round trips and path; `peer` is the set of extensions that both ends offer.
    pub(crate) fn new(
        config: &Config,
        rtt: &RttEstimator,
        path: PathView,
        peer: Capabilities,
    ) -> Self {
        let rto = rtt.rto(&config.rtt);
        let bears_late =
            peer.contains(Capabilities::LATE_ACK) && config.acks.delay_late > config.acks.delay;
        // On a path that loses much, timeouts should repair losses soon, so acknowledgments must not be late.
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

    /// Returns whether the path has a queue. With a queue, SRTT exceeds the shortest round trip by more than `least`
    /// and by more than `1 / divisor` of that round trip. Also true while no round trip is known.
    pub(crate) fn has_queue(&self, least: Duration, divisor: u32) -> bool {
        let rtt_min = self.path.rtt_min;
        rtt_min.is_none_or(|rtt_min| self.srtt > rtt_min + least.max(rtt_min / divisor))
    }

    /// Returns the usual time from sending contents to their acknowledgment: SRTT + 2 * RTTVAR + the peer's delay.
    pub(crate) fn ack_usual(&self) -> Duration {
        self.srtt + 2 * self.rttvar + self.ack_delay
    }

    /// Returns how long a sent state counts as on its way; after that, it is presumed lost.
    pub(crate) fn in_flight(&self) -> Duration {
        self.rto + self.grace
    }

    /// Returns the intervals while large instructions are sent. If the path loses anything, acknowledgments are not
    /// late, so that a lost fragment is repaired soon.
    pub(crate) fn for_large(self) -> Self {
        if self.path.loss_out.max(self.path.loss_in) == 0.0 {
            return self;
        }
        let ack_delay = self.config.acks.delay;
        let ack_expected = self.ack_expected - (self.ack_delay - ack_delay);
        Self { is_patient: false, ack_delay, grace: ack_delay, ack_expected, ..self }
    }
}
