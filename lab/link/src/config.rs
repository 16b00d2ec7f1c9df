//! The configuration of a link, which is one direction of a network path.

use rove_units::{BitRate, Bytes, Duration, Instant};

use crate::codel::CoDelConfig;
use crate::fair::FairConfig;
use crate::gilbert_elliott::GilbertElliott;
use crate::outage::{OnOff, Outages};
use crate::pie::PieConfig;
use crate::trace::Schedule;

/// The configuration of a link. The default link has no delay, no loss and no rate limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// The order in which packets pass loss, queue and delay. A later config of the same link cannot change it.
    pub order: Order,
    /// Constant one-way delay.
    pub delay: Duration,
    /// Size of the variable delay (jitter): its maximum or standard deviation, depending on `jitter_distribution`.
    pub jitter: Duration,
    /// Distribution of the variable delay.
    pub jitter_distribution: Distribution,
    /// Whether jitter may reorder packets. Otherwise no packet is released before an earlier one.
    pub reorder: bool,
    /// Probability that a packet is lost, independently of other packets.
    pub loss: f64,
    /// Reasons to drop a packet besides independent loss and the queue.
    pub drops: Drops,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// The rate of the bottleneck. `None`: no rate limit.
    pub rate: Option<BitRate>,
    /// Size of a token bucket that enforces the rate, so that bursts may pass after idle time. `None`: packets are sent
    /// one after the other at the rate.
    pub burst: Option<Bytes>,
    /// The delivery opportunities of the bottleneck. If set, `rate` and `burst` are ignored.
    pub schedule: Option<Schedule>,
    /// The queue discipline before the bottleneck, which decides which packets are dropped.
    pub queue: Discipline,
    /// Most bytes that wait before the bottleneck. The packet in transmission is not counted.
    pub queue_max: Bytes,
    /// Most packets that wait before the bottleneck.
    pub queue_packets_max: usize,
    /// Bytes of headers that are added to the length of each packet in the queue and at the bottleneck.
    pub overhead: Bytes,
}

/// Reasons to drop a packet besides independent loss and the queue. By default none of them applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drops {
    /// Most packets in the delay line. Further packets are dropped. `None`: no limit.
    pub line_packets_max: Option<usize>,
    /// Largest packet that passes, with the headers of [`LinkConfig::overhead`]. The loss stage drops larger packets
    /// without a message to the sender, as in a tunnel whose ICMP messages a firewall drops. `None`: no limit.
    pub mtu: Option<Bytes>,
    /// Losses in bursts, in addition to those of [`LinkConfig::loss`].
    pub gilbert_elliott: Option<GilbertElliott>,
    /// The time at which the time scale of `outages` and `on_off` starts.
    pub start: Instant,
    /// Outages, in which every packet that arrives is lost.
    pub outages: Outages,
    /// Alternating on and off periods. Every packet that arrives in an off period is lost.
    pub on_off: Option<OnOff>,
}

/// The order in which a packet passes the stages of a link. Here, `Queue` includes the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Loss, queue, delay: the bottleneck is near the sender, as in Mahimahi's uplink.
    #[default]
    LossQueueDelay,
    /// Loss, delay, queue: the bottleneck is near the receiver, as in Cellsim, netem under a token bucket and
    /// Mahimahi's downlink.
    LossDelayQueue,
    /// Queue, loss, delay: lost packets have used the bottleneck's capacity.
    QueueLossDelay,
    /// Delay, queue, loss.
    DelayQueueLoss,
}

/// A stage of a link. [`Order`] decides in which order packets pass the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Outages, the MTU, and loss and duplication of packets.
    Loss,
    /// The queue and the bottleneck that empties it.
    Queue,
    /// Constant delay and jitter.
    Delay,
}

impl Order {
    pub(crate) const fn stages(self) -> [Stage; 3] {
        use Stage::{Delay, Loss, Queue};
        match self {
            Self::LossQueueDelay => [Loss, Queue, Delay],
            Self::LossDelayQueue => [Loss, Delay, Queue],
            Self::QueueLossDelay => [Queue, Loss, Delay],
            Self::DelayQueueLoss => [Delay, Queue, Loss],
        }
    }
}

/// The distribution of the variable delay (jitter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Additional delay, uniform from 0 to `jitter`.
    #[default]
    Uniform,
    /// Normal delay around `delay`, with `jitter` as its standard deviation, never below zero.
    Normal,
}

/// The queue discipline: the rule by which a queue drops packets. [`LinkConfig`] has the queue's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// A packet that does not fit is dropped on arrival (at the tail). If no limits are set, nothing is dropped.
    #[default]
    DropTail,
    /// Every packet is accepted. The oldest packets are dropped until the rest fits.
    DropHead,
    /// Controlled Delay (RFC 8289). Packets beyond the limits are dropped on arrival.
    CoDel(CoDelConfig),
    /// Proportional Integral controller Enhanced (RFC 8033). Packets beyond the limits are dropped on arrival.
    Pie(PieConfig),
    /// Each flow has a queue with its own CoDel, and the flows take turns (RFC 8290). If a packet exceeds the limits,
    /// the longest queue loses its oldest packet.
    Fair(FairConfig),
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            order: Order::default(),
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            jitter_distribution: Distribution::default(),
            reorder: false,
            loss: 0.0,
            drops: Drops::default(),
            duplicate: 0.0,
            rate: None,
            burst: None,
            schedule: None,
            queue: Discipline::default(),
            queue_max: Bytes::MAX,
            queue_packets_max: usize::MAX,
            overhead: Bytes::ZERO,
        }
    }
}

impl LinkConfig {
    /// Creates a link that only delays packets.
    pub fn lossless(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Creates a link that loses every packet.
    pub fn outage() -> Self {
        Self { loss: 1.0, ..Self::default() }
    }
}
