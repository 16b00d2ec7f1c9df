//! The description of one direction of a path.

use rove_units::{BitRate, Bytes, Duration};

use crate::codel::CoDelConfig;
use crate::fair::FairConfig;
use crate::gilbert_elliott::GilbertElliott;
use crate::outage::{OnOff, Outages};
use crate::pie::PieConfig;
use crate::trace::Schedule;

/// Description of one direction of a path. The default is a wire: no delay, no loss, no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Order of the stages. It is that of the config a link was made with, whatever later ones say.
    pub order: Order,
    /// Constant one-way delay.
    pub delay: Duration,
    /// Variable delay: what it means is up to `jitter_distribution`.
    pub jitter: Duration,
    /// Distribution of the variable delay.
    pub jitter_distribution: Distribution,
    /// Whether jitter may reorder packets; otherwise each waits for the one before it.
    pub reorder: bool,
    /// Probability that a packet is lost, each on its own.
    pub loss: f64,
    /// Other reasons to drop a packet than chance on its own and the queue.
    pub drops: Drops,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// The bottleneck's rate; `None` for no bottleneck.
    pub rate: Option<BitRate>,
    /// Size of the token bucket that holds the rate, so that as much may pass at once after idle time. `None` for a
    /// serialiser, which sends one packet after the other at the rate.
    pub burst: Option<Bytes>,
    /// The bottleneck's delivery opportunities, in place of a rate.
    pub schedule: Option<Schedule>,
    /// Which packets the queue before the bottleneck drops.
    pub queue: Discipline,
    /// Most bytes that wait before the bottleneck; the packet in transmission is not counted.
    pub queue_max: Bytes,
    /// Most packets that wait before the bottleneck.
    pub queue_packets_max: usize,
    /// Bytes that a packet counts in the queue and at the bottleneck beyond its own length: headers.
    pub overhead: Bytes,
}

/// Reasons to drop a packet besides chance on its own and the queue. The default drops nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drops {
    /// Most packets in the delay line; packets beyond are dropped. `None` for no limit.
    pub line_packets_max: Option<usize>,
    /// Largest packet that gets through, headers counted as by [`LinkConfig::overhead`]. Larger ones are lost without a word, as in
    /// a tunnel whose ICMP messages a firewall drops. It acts where losses do. `None` for no limit.
    pub mtu: Option<Bytes>,
    /// Losses in bursts, besides those of [`LinkConfig::loss`].
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Times at which all that arrives is lost.
    pub outages: Outages,
    /// Periods in turn, of which every second one loses all that arrives.
    pub on_off: Option<OnOff>,
}

/// The order in which a packet meets the stages of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Loss, the queue and its bottleneck, then the delay: a bottleneck near the sender. Mahimahi's uplink.
    #[default]
    LossQueueDelay,
    /// Loss, the delay, then the queue and its bottleneck: a bottleneck near the receiver. Cellsim, netem under a token
    /// bucket, Mahimahi's downlink.
    LossDelayQueue,
    /// The queue and its bottleneck, then loss and the delay: losses take capacity.
    QueueLossDelay,
    /// The delay, the queue and its bottleneck, then loss.
    DelayQueueLoss,
}

/// A part of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Outages, loss and duplication.
    Loss,
    /// The queue and its bottleneck.
    Queue,
    /// Delay and jitter.
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

/// How jitter is distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform extra delay in `[0, jitter]`.
    #[default]
    Uniform,
    /// Normal around `delay`, with `jitter` as the standard deviation; never below zero.
    Normal,
}

/// Which packets a queue drops. Its limits in bytes and packets are the link's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// Packets that do not fit are refused. Without a limit this is the infinite queue.
    #[default]
    DropTail,
    /// Every packet is accepted; the oldest ones go until the rest fits.
    DropHead,
    /// Controlled Delay (RFC 8289), with the limits at the tail.
    CoDel(CoDelConfig),
    /// Proportional Integral controller Enhanced (RFC 8033), with the limits at the tail.
    Pie(PieConfig),
    /// A queue with a CoDel of its own for each flow, served in turn (RFC 8290). Where the limits are reached, the longest queue loses its
    /// oldest packet.
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
    /// Creates a link that only delays.
    pub fn lossless(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Creates a link that nothing gets through.
    pub fn outage() -> Self {
        Self { loss: 1.0, ..Self::default() }
    }
}
