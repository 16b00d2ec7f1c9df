//! Flows in virtual time: datagrams one way, an acknowledgment of each or a forecast the other way.
//!
//! A [`source`] decides when datagrams go: in bulk with a fixed window, or as a person types. [`controlled`] is a
//! source that a congestion controller drives. A [`contender`] is the name of a controller, and a [`program`] is a
//! controller in another language. [`ends`] are the two ends of a flow, and a [`saturator`] records a link with them.
//! `on_off_sources` are many senders on one path. [`sprout`] has the ends of Sprout, [`sprout_form`] Sprout's options.
//! [`beside`] puts a flow and a session on one path. [`shared`] puts several flows there, with or without a tunnel.
//! [`run`] and [`run_sprout`] measure a single flow. The same seed gives the same datagrams to the nanosecond.

use rove_congestion::Controller;
use rove_congestion::sprout::{Config, Estimator};
use rove_link::Steps;
use rove_link::net::{End, LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_units::{Bytes, Duration, Instant, Seed};

pub mod beside;
pub mod contender;
pub mod controlled;
pub mod ends;
pub mod on_off_sources;
pub mod program;
pub mod saturator;
pub mod shared;
pub mod source;
pub mod sprout;
pub mod sprout_form;

use crate::course::{self, Come, Slot, Slots, capacity, lap};
use crate::flow::controlled::Controlled;
use crate::flow::ends::{ARRIVALS_MAX, Arrival, Receiver, Sender};
use crate::flow::shared::TUNNELLED;
use crate::flow::source::Source;
use crate::flow::sprout::SproutEnd;
use crate::metrics::{Delivery, end_to_end_delay, omniscient_delay};

/// A flow over a path of its own, and how it is measured.
#[derive(Clone, Debug)]
pub struct FlowOptions {
    /// The link that the datagrams take.
    pub uplink: Steps,
    /// The link that the acknowledgments take.
    pub downlink: Steps,
    /// The seed of all random numbers of the links and the source.
    pub seed: Seed,
    /// How long the flow runs.
    pub length: Duration,
    /// The time at the beginning of the flow that the figures leave out.
    pub skipped: Duration,
    /// The length of each slot of [`FlowReport::course`]. With 0, the course has no slots.
    pub slot: Duration,
}

/// The figures of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// Datagrams that were sent in the whole flow, including the skipped part.
    pub sent: u64,
    /// Datagrams of the whole flow that the sender counted as lost.
    pub lost: u64,
    /// Whether more datagrams arrived than the receiver keeps, so that every figure is wrong.
    pub is_cut: bool,
    /// Datagrams that arrived after the skipped part.
    pub arrived: u64,
    /// Rate of these datagrams in bit/s, headers included.
    pub bits_per_second: f64,
    /// The arrived bits as a share of the link's capacity. `None` if the link lacks a bottleneck at any time.
    pub utilisation: Option<f64>,
    /// The 95 % end-to-end delay of the Sprout paper, in milliseconds.
    pub end_to_end_p95_ms: Option<f64>,
    /// The end-to-end delay in milliseconds, less the smallest delay that the recorded opportunities allow. `None`
    /// without recorded opportunities, or if the flow lasts longer than they do.
    pub self_inflicted_ms: Option<f64>,
    /// The figures of each slot. Empty if [`FlowOptions::slot`] is 0.
    pub course: Vec<Slot>,
}

/// The directions in which a flow of Sprout always has data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturation {
    /// Both directions, as in the published program: the receiver's forecast travels with data.
    Both,
    /// Only the measured direction: the receiver's forecast has a datagram of its own.
    One,
}

/// Runs a source over a path of its own. Returns the flow's figures and its arrivals.
pub fn run(source: impl Source, options: FlowOptions) -> (FlowReport, Vec<Arrival>) {
    let mut sender = Sender::new(source, RIGHT_ADDRESS);
    sender.start(Instant::ZERO);
    let receiver = Receiver::new(LEFT_ADDRESS);
    let FlowOptions { uplink, downlink, seed, .. } = options.clone();
    let mut net = Net::new(sender, receiver, uplink, downlink, seed);
    let course = watch(&mut net, &options, |net| (net.right.arrivals(), net.left.window()));
    let arrivals = net.right.take_arrivals();
    let report = report(&options, [net.left.sent(), net.left.lost()], &arrivals);
    (FlowReport { course, ..report }, arrivals)
}

/// Runs a flow of Sprout, with an estimator at each end, over a path of its own. Returns its figures and its arrivals.
pub fn run_sprout<E: Estimator>(
    config: Config,
    estimators: [E; 2],
    saturation: Saturation,
    options: FlowOptions,
) -> (FlowReport, Vec<Arrival>) {
    let [left, right] = estimators;
    let left = SproutEnd::new(config, left, RIGHT_ADDRESS, true);
    let right = SproutEnd::new(config, right, LEFT_ADDRESS, saturation == Saturation::Both);
    let FlowOptions { uplink, downlink, seed, .. } = options.clone();
    let mut net = Net::new(left, right, uplink, downlink, seed);
    let course = watch(&mut net, &options, |net| (net.right.arrivals(), Bytes::ZERO));
    let arrivals = net.right.take_arrivals();
    let lost = net.uplink.stats().entered - net.uplink.stats().delivered;
    let inside = u64::try_from(net.uplink.inside()).unwrap_or_default();
    let report = report(&options, [net.left.sent(), lost.saturating_sub(inside)], &arrivals);
    (FlowReport { course, ..report }, arrivals)
}

/// Runs a flow for its length, and returns the slots. `state` returns the arrivals so far and the sender's window.
fn watch<A: End, B: End>(
    net: &mut Net<A, B>,
    options: &FlowOptions,
    state: impl Fn(&Net<A, B>) -> (&[Arrival], Bytes),
) -> Vec<Slot> {
    let slots = Slots { length: options.slot, link: &options.uplink, is_up: true };
    course::watch(net, options.length, slots, |net| {
        let (come, window) = state(net);
        let newest = come.iter().map(|it| it.delivery.sent).max().unwrap_or_default();
        let bytes = come.iter().map(|it| it.size + rove_headless::HEADERS).sum();
        Come { newest, bytes, window }
    })
}

/// Runs an endless flow under a controller through its own Sprout tunnel, and returns the flow's figures.
pub fn run_tunnelled(controller: Box<dyn Controller>, options: FlowOptions) -> FlowReport {
    let source = Controlled::new(controller).in_packets_of(TUNNELLED);
    let mut sender = Sender::new(source, RIGHT_ADDRESS);
    sender.start(Instant::ZERO);
    let receiver = Receiver::new(LEFT_ADDRESS);
    let FlowOptions { uplink, downlink, seed, length, .. } = options.clone();
    let (near, far) = shared::tunnel(vec![sender], vec![receiver]);
    let mut net = Net::new(near, far, uplink, downlink, seed);
    net.run_for(length);
    let arrivals = net.right.ends[0].take_arrivals();
    report(&options, [net.left.ends[0].sent(), net.left.ends[0].lost()], &arrivals)
}

/// Returns the figures of a flow, given the counts of sent and lost datagrams.
pub fn report(options: &FlowOptions, [sent, lost]: [u64; 2], arrivals: &[Arrival]) -> FlowReport {
    let FlowOptions { uplink, length, skipped, .. } = options;
    let begin = Instant::ZERO + *skipped;
    let counted = arrivals.iter().filter(|arrival| arrival.delivery.arrived >= begin);
    let sizes = counted.map(|it| it.size.get() + rove_headless::HEADERS.get());
    let (arrived, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    let seconds = length.saturating_sub(*skipped).as_secs_f64();
    let all: Vec<Delivery> = arrivals.iter().map(|arrival| arrival.delivery).collect();
    let millis = |delay: Duration| delay.as_secs_f64() * 1e3;
    let end_to_end = end_to_end_delay(&all, begin..Instant::ZERO + *length, 95).map(millis);
    let link = uplink.first();
    let opportunities = link.schedule.as_ref().filter(|it| it.trace.period() >= *length).map(lap);
    let omniscient = opportunities
        .and_then(|times| omniscient_delay(times, link.delay, *skipped..*length))
        .map(millis);
    let bits_per_second = as_f64(bytes) * 8.0 / seconds.max(1e-9);
    FlowReport {
        sent,
        lost,
        is_cut: arrivals.len() >= ARRIVALS_MAX,
        arrived,
        bits_per_second,
        utilisation: capacity(uplink, *skipped, *length).map(|most| bits_per_second / most),
        end_to_end_p95_ms: end_to_end,
        self_inflicted_ms: end_to_end.zip(omniscient).map(|(all, least)| all - least),
        course: Vec::new(),
    }
}

/// Returns a number as a float, with a relative error below 2^-32.
fn as_f64(bytes: u64) -> f64 {
    Duration::from_nanos(bytes).as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests;
