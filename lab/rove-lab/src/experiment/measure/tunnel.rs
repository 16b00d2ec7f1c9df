//! A call beside a bulk flow: both directly on one path, or both in a Sprout tunnel.

use rove_congestion::cubic::Cubic;
use rove_flows::flow::FlowOptions;
use rove_flows::flow::contender::Contender;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::ends::{Arrival, Receiver, Sender};
use rove_flows::flow::shared::{self, Shared, TUNNELLED};
use rove_flows::flow::source::Keystrokes;
use rove_flows::metrics::{Delivery, packet_delay};
use rove_link::net::{End, LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_runs::statistics::{to_float, whole};
use rove_units::{Bytes, Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::flow;

/// A call: a packet of a kilobyte every 20 ms on average, 400 kbit/s. Chosen: as a video call of the paper's time.
const CALL: (Duration, Bytes) = (Duration::from_millis(20), Bytes::new(1_000));

/// Figures of a run beside the 95 % delay of the call's packets.
pub(super) const FIGURES: [RunFigure; 2] = [
    RunFigure { name: "call, kbit/s", scale: 1e-3, is_compared: false },
    RunFigure { name: "bulk, kbit/s", scale: 1e-3, is_compared: true },
];

type Near = Shared<Box<dyn End>>;

/// Returns whether this measurement knows the system.
pub(super) fn is_measured(contender: Option<Contender>) -> bool {
    matches!(contender, Some(Contender::Cubic | Contender::CubicTunnel))
}

pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let options = flow::options(conditions, conditions.path());
    let FlowOptions { uplink, downlink, seed, length, skipped, .. } = options;
    let (near, far) = ends(conditions.system().contender() == Some(Contender::CubicTunnel), seed);
    let mut net = Net::new(near, far, uplink, downlink, seed);
    net.run_for(length);
    let begin = Instant::ZERO + skipped;
    let mut taken = net.right.ends.iter_mut().map(|receiver| {
        let mut arrivals = receiver.take_arrivals();
        arrivals.retain(|arrival| arrival.delivery.arrived >= begin);
        arrivals
    });
    let (bulk, call) = (taken.next().unwrap_or_default(), taken.next().unwrap_or_default());
    let deliveries: Vec<Delivery> = call.iter().map(|arrival| arrival.delivery).collect();
    let Some(delay) = packet_delay(&deliveries, 95) else {
        return Samples::empty();
    };
    let seconds = length.saturating_sub(skipped).as_secs_f64().max(1e-9);
    let bits = |arrivals: &[Arrival]| {
        let bytes: u64 = arrivals.iter().map(|arrival| arrival.size.get()).sum();
        whole(8.0 * to_float(bytes) / seconds)
    };
    let figures = vec![bits(&call), bits(&bulk)];
    Samples { times: vec![nanos(delay)], missing: 0, figures, ..Samples::default() }
}

/// Returns both ends, each with the bulk flow first, then the call.
fn ends(is_tunnelled: bool, seed: Seed) -> (Near, Shared<Receiver>) {
    let source = Controlled::new(Box::new(Cubic::new(TUNNELLED))).in_packets_of(TUNNELLED);
    let mut bulk = Sender::new(source, RIGHT_ADDRESS);
    bulk.start(Instant::ZERO);
    let (pause, size) = CALL;
    let mut call = Sender::new(Keystrokes::new(pause, size, seed.stream("call")), RIGHT_ADDRESS);
    call.start(Instant::ZERO);
    let near: Vec<Box<dyn End>> = vec![Box::new(bulk), Box::new(call)];
    let far = vec![Receiver::new(LEFT_ADDRESS), Receiver::new(LEFT_ADDRESS)];
    if !is_tunnelled {
        return (Shared::direct(near, RIGHT_ADDRESS), Shared::direct(far, LEFT_ADDRESS));
    }
    shared::tunnel(near, far)
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    #[test]
    fn a_tunnel_takes_the_call_out_of_the_queue_of_the_bulk_flow() {
        let path: Path = "rtt=40ms,rate=4Mbit".parse().expect("a path");
        let of = |contender| {
            let system = Some(System::Flow(contender));
            let samples = run(&Conditions { system, path: Some(&path), ..Conditions::NONE });
            let delay = samples.millis().next();
            (delay.expect("packets came"), samples.figures)
        };
        let (direct, _) = of(Contender::Cubic);
        let (tunnelled, figures) = of(Contender::CubicTunnel);
        assert!(direct > 1_000.0 && tunnelled < 200.0, "{direct} {tunnelled}");
        assert!(figures[0] > 360_000 && figures[1] > 1_000_000, "{figures:?}");
        // The half that is measured is not a whole number of seconds.
        let (system, length) =
            (Some(System::Flow(Contender::CubicTunnel)), Duration::from_millis(7_800));
        let of = Conditions { system, path: Some(&path), length: Some(length), ..Conditions::NONE };
        let call = run(&of).figures[0];
        assert!((350_000..450_000).contains(&call), "{call} bit/s");
    }
}
