//! Plain flows in virtual time: datagrams of a [`Source`] one way, an acknowledgment of each the other way.
//!
//! [`source`] decides when datagrams go: in bulk with a fixed window, on and off, or as a person types. [`ends`] are the two
//! ends of a flow, and [`beside`] puts a flow beside a session on one path. [`run`] measures a flow alone. The same seed gives
//! the same datagrams to the nanosecond.

use rove_link::Steps;
use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_units::{Duration, Instant, Seed};
use serde::Serialize;

pub mod beside;
pub mod ends;
pub mod source;

use crate::flow::ends::{Arrival, Receiver, Sender};
use crate::flow::source::Source;
use crate::metrics::{Delivery, end_to_end_delay, omniscient_delay, packet_delay};

/// A flow over a path of its own.
#[derive(Clone, Debug)]
pub struct FlowOptions {
    /// The way of the datagrams.
    pub uplink: Steps,
    /// The way of their acknowledgments.
    pub downlink: Steps,
    /// Decides what the links and the source leave to chance.
    pub seed: Seed,
    /// How long the flow runs.
    pub length: Duration,
    /// The begin that figures leave out.
    pub skipped: Duration,
}

/// The figures of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowReport {
    /// Datagrams that were sent, from the first.
    pub sent: u64,
    /// Datagrams that the sender took for lost.
    pub lost: u64,
    /// Datagrams that arrived after the begin that is left out.
    pub arrived: u64,
    /// Their bits, headers included, by the time in seconds.
    pub bits_per_second: f64,
    /// The median of the one-way delays of packets, in milliseconds.
    pub p50_delay_ms: Option<f64>,
    /// The one-way delay that 95 % of the packets do not exceed, in milliseconds.
    pub p95_delay_ms: Option<f64>,
    /// The 95 % end-to-end delay of the Sprout paper, in milliseconds.
    pub end_to_end_p95_ms: Option<f64>,
    /// The least that it could be over the recorded opportunities, in milliseconds; `None` without such, or where the flow
    /// lasts longer than they do.
    pub omniscient_p95_ms: Option<f64>,
    /// Their difference.
    pub self_inflicted_ms: Option<f64>,
}

/// Runs a source over a path of its own; returns its figures, and what arrived and when.
pub fn run(source: impl Source, options: FlowOptions) -> (FlowReport, Vec<Arrival>) {
    let FlowOptions { uplink, downlink, seed, length, skipped } = options;
    let first = uplink.first().clone();
    let mut sender = Sender::new(source, RIGHT_ADDRESS);
    sender.start(Instant::ZERO);
    let receiver = Receiver::new(LEFT_ADDRESS);
    let mut net = Net::new(sender, receiver, uplink, downlink, seed);
    net.run_for(length);
    let begin = Instant::ZERO + skipped;
    let arrivals = net.right.take_arrivals();
    let counted: Vec<&Arrival> =
        arrivals.iter().filter(|arrival| arrival.delivery.arrived >= begin).collect();
    let bytes: u64 = counted.iter().map(|it| it.size.get() + rove_headless::HEADERS.get()).sum();
    let seconds = length.saturating_sub(skipped).as_secs_f64();
    let all: Vec<Delivery> = arrivals.iter().map(|arrival| arrival.delivery).collect();
    let late: Vec<Delivery> = counted.iter().map(|arrival| arrival.delivery).collect();
    let millis = |delay: Duration| delay.as_secs_f64() * 1e3;
    let end_to_end = end_to_end_delay(&all, begin, 95).map(millis);
    let opportunities =
        first.schedule.filter(|it| it.trace.period() >= length && it.skipped.is_zero());
    let omniscient = opportunities
        .and_then(|schedule| omniscient_delay(&schedule.trace, first.delay, skipped))
        .map(millis);
    let report = FlowReport {
        sent: net.left.sent(),
        lost: net.left.lost(),
        arrived: u64::try_from(counted.len()).unwrap_or(u64::MAX),
        bits_per_second: as_f64(bytes) * 8.0 / seconds.max(1e-9),
        p50_delay_ms: packet_delay(&late, 50).map(millis),
        p95_delay_ms: packet_delay(&late, 95).map(millis),
        end_to_end_p95_ms: end_to_end,
        omniscient_p95_ms: omniscient,
        self_inflicted_ms: end_to_end.zip(omniscient).map(|(all, least)| all - least),
    };
    (report, arrivals)
}

/// Returns a number, to 2^32 of its size.
fn as_f64(bytes: u64) -> f64 {
    Duration::from_nanos(bytes).as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests;
