//! The configuration of one direction of a path.

use rove_units::{BitRate, Bytes, Duration};

use crate::codel::CoDelConfig;
use crate::fair::FairConfig;
use crate::gilbert_elliott::GilbertElliott;
use crate::outage::{OnOff, Outages};
use crate::pie::PieConfig;
use crate::trace::Schedule;

/// The configuration of one direction of a path. The default is a wire: no delay, no loss, no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Order of the stages loss, queue and delay. A link keeps the order of its first config.
    pub order: Order,
    /// Constant one-way delay.
    pub delay: Duration,
    /// Variable delay (jitter), whose meaning `jitter_distribution` defines.
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
    /// The bottleneck's rate. `None`: there is no bottleneck.
    pub rate: Option<BitRate>,
    /// Size of the token bucket that limits the rate, so that bursts may pass after idle time. `None`: a serialiser
    /// sends one packet after the other at the rate.
    pub burst: Option<Bytes>,
    /// The bottleneck's delivery opportunities, which replace a rate. `None`: the rate counts.
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

/// Reasons to drop a packet besides independent loss and the queue. The default drops nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drops {
    /// Most packets in the delay line; further packets are dropped. `None`: no limit.
    pub line_packets_max: Option<usize>,
    /// Largest packet that passes, with the headers of [`LinkConfig::overhead`]. Larger packets are lost without a
    /// message, as in a tunnel whose ICMP messages a firewall drops. They are lost where losses occur. `None`: no
    /// limit.
    pub mtu: Option<Bytes>,
    /// Losses in bursts, in addition to those of [`LinkConfig::loss`].
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Outages, in which every packet that arrives is lost.
    pub outages: Outages,
    /// Alternating on and off periods. Every packet that arrives in an off period is lost.
    pub on_off: Option<OnOff>,
}

/// The order in which a packet passes the stages of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Loss, the queue and its bottleneck, then the delay: the bottleneck is near the sender, as in Mahimahi's uplink.
    #[default]
    LossQueueDelay,
    /// Loss, the delay, then the queue and its bottleneck: the bottleneck is near the receiver, as in Cellsim, netem
    /// under a token bucket and Mahimahi's downlink.
    LossDelayQueue,
    /// The queue and its bottleneck, then loss and the delay: lost packets have used capacity.
    QueueLossDelay,
    /// The delay, the queue and its bottleneck, then loss.
    DelayQueueLoss,
}

/// A stage of a link, which packets pass in the [`Order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Outages, loss and duplication of packets.
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

/// The queue discipline: which packets a queue drops. The limits in bytes and packets are those of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// Packets that do not fit are dropped at the tail. Without a limit this is the infinite queue.
    #[default]
    DropTail,
    /// Every packet is accepted. The oldest packets are dropped until the rest fits.
    DropHead,
    /// Controlled Delay (RFC 8289), with the limits at the tail.
    CoDel(CoDelConfig),
    /// Proportional Integral controller Enhanced (RFC 8033), with the limits at the tail.
    Pie(PieConfig),
    /// A queue with its own CoDel for each flow, served in turn (RFC 8290). If the limits are reached, the longest
    /// queue loses its oldest packet.
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
