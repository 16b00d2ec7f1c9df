//! Whole flows, by their figures.

use rove_congestion::cubic::Cubic;
use rove_link::{LinkConfig, Schedule, Steps, Synthetic, Trace};
use rove_units::{BitRate, Bytes};

use super::*;
use crate::flow::source::{Bulk, FULL, Keystrokes};
use crate::metrics::packet_delay;

const SEED: Seed = Seed::new(7);

fn options(uplink: LinkConfig, seconds: u64) -> FlowOptions {
    let downlink = LinkConfig::lossless(uplink.delay);
    FlowOptions {
        uplink: uplink.into(),
        downlink: downlink.into(),
        seed: SEED,
        length: Duration::from_secs(seconds),
        skipped: Duration::from_secs(1),
        slot: Duration::ZERO,
    }
}

/// A link of 12 Mbit/s and 20 ms: a full packet takes a millisecond.
fn link() -> LinkConfig {
    LinkConfig {
        rate: BitRate::from_bits_per_second(12_000_000),
        overhead: rove_headless::HEADERS,
        ..LinkConfig::lossless(Duration::from_millis(20))
    }
}

/// Returns the one-way delay in ms at a percentile of packets that arrived after the first second.
fn one_way(arrivals: &[Arrival], percent: u8) -> Option<f64> {
    let deliveries = arrivals.iter().map(|arrival| arrival.delivery);
    let late = deliveries.filter(|it| it.arrived >= Instant::from_millis(1_000));
    let delay = packet_delay(&late.collect::<Vec<_>>(), percent)?;
    Some(delay.as_secs_f64() * 1e3)
}

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-3)
}

#[test]
fn a_window_below_the_bandwidth_delay_product_leaves_the_queue_empty() {
    // 20 packets in each round trip of 20 + 1 + 20 ms.
    let (report, arrivals) = run(Bulk::new(Bytes::new(20 * 1_472)), options(link(), 42));
    let expected = 20.0 * 12_000.0 / 0.041;
    assert!((report.bits_per_second / expected - 1.0).abs() < 1e-3, "{report:?}");
    let delays = [50, 95].map(|percent| one_way(&arrivals, percent));
    assert!(delays.iter().all(|delay| near(*delay, 21.0)), "{delays:?}");
    assert_eq!(report.lost, 0);
}

#[test]
fn a_window_beyond_it_fills_the_link_and_stands_in_the_queue() {
    let (report, arrivals) = run(Bulk::new(Bytes::new(141 * 1_472)), options(link(), 30));
    assert!((report.bits_per_second / 12e6 - 1.0).abs() < 1e-3, "{report:?}");
    // The window is 141 packets of a millisecond each. 40 are on the way, so each packet queues as the last of 101.
    assert!(near(one_way(&arrivals, 50), 20.0 + 101.0), "{report:?}");
    assert!(near(report.end_to_end_p95_ms, 121.95), "{report:?}");
}

#[test]
fn lost_datagrams_leave_the_window() {
    let lossy = LinkConfig { loss: 0.1, ..link() };
    let (report, arrivals) = run(Bulk::new(Bytes::new(20 * 1_472)), options(lossy, 60));
    let share = report.lost * 1_000 / report.sent;
    assert!((90..110).contains(&share), "{report:?}");
    assert!(arrivals.len() > 10_000, "{report:?}");
    // No acknowledgment comes back. After each 30 s of silence the flow sends another window.
    let outage = LinkConfig { loss: 1.0, ..link() };
    let (report, arrivals) = run(Bulk::new(Bytes::new(20 * 1_472)), options(outage, 65));
    assert_eq!((report.sent, report.lost, arrivals.len()), (60, 40, 0));
}

/// Checks that an acknowledgment also covers earlier data, as with TCP.
#[test]
fn a_lost_acknowledgment_costs_nothing_if_the_next_one_comes() {
    let flow = |downlink: LinkConfig| {
        let options = FlowOptions { downlink: downlink.into(), ..options(link(), 30) };
        run(Controlled::new(Box::new(Cubic::new(FULL))), options).0
    };
    let back = LinkConfig::lossless(Duration::from_millis(20));
    let (whole, lossy) = (flow(back.clone()), flow(LinkConfig { loss: 0.05, ..back }));
    assert!(lossy.bits_per_second > 0.99 * whole.bits_per_second, "{lossy:?} {whole:?}");
    assert_eq!(lossy.lost, 0);
}

#[test]
fn keystrokes_come_one_by_one_with_their_mean_pause() {
    let pause = Duration::from_millis(200);
    let source = Keystrokes::new(pause, Bytes::new(60), SEED.stream("flow"));
    let (report, arrivals) = run(source, options(link(), 1_000));
    assert!((4_500..5_500).contains(&report.sent), "{report:?}");
    assert!(arrivals.iter().all(|arrival| arrival.size == Bytes::new(60)));
    assert!(one_way(&arrivals, 50).is_some_and(|delay| delay < 20.1), "{report:?}");
}

#[test]
fn a_flow_over_a_trace_has_what_no_sender_could_avoid_and_what_it_did_itself() {
    let trace =
        Synthetic { length: Duration::from_secs(20), start: Some(400.0), ..Synthetic::default() };
    let trace: Trace = trace.trace(SEED.stream("trace")).expect("a trace");
    let link = LinkConfig { rate: None, schedule: Some(Schedule::new(trace)), ..link() };
    let (report, _) = run(Bulk::new(Bytes::kib(300)), options(link, 15));
    let all = report.end_to_end_p95_ms.expect("packets arrive");
    let own = report.self_inflicted_ms.expect("a trace");
    assert!(all - own >= 20.0 && own > 100.0, "{report:?}");
}

/// Checks that a run from the middle of a recorded link has the figures of a run from its beginning.
#[test]
fn a_flow_that_begins_within_a_trace_has_its_use_and_its_own_delay() {
    let trace =
        Synthetic { length: Duration::from_secs(20), start: Some(400.0), ..Synthetic::default() };
    let trace: Trace = trace.trace(SEED.stream("trace")).expect("a trace");
    for skipped in [0, 7_300, 19_000] {
        let skipped = Duration::from_millis(skipped);
        let schedule = Schedule { skipped, ..Schedule::new(trace.clone()) };
        let link = LinkConfig { rate: None, schedule: Some(schedule), ..link() };
        let (report, _) = run(Bulk::new(Bytes::kib(900)), options(link, 20));
        let used = report.utilisation.expect("the link has a bottleneck");
        assert!((0.97..1.001).contains(&used), "{skipped:?}: {report:?}");
        assert!(report.self_inflicted_ms.is_some_and(|own| own > 500.0), "{skipped:?}: {report:?}");
    }
}

#[test]
fn the_use_of_a_link_that_changes_is_of_what_all_its_steps_carry() {
    let used = |rates: [Option<BitRate>; 2]| {
        let steps = rates.map(|rate| (Duration::from_secs(10), LinkConfig { rate, ..link() }));
        let uplink = Steps::new(steps).expect("two steps");
        let options = FlowOptions { uplink, ..options(link(), 20) };
        run(Bulk::new(Bytes::kib(90)), options).0.utilisation
    };
    let [slow, fast] = [1_000_000, 5_000_000].map(BitRate::from_bits_per_second);
    let share = used([slow, fast]).expect("a bottleneck all the time");
    assert!((0.95..1.01).contains(&share), "{share}");
    assert_eq!(used([slow, None]), None);
    assert_eq!(used([None, None]), None);
}

#[test]
fn the_same_seed_makes_the_same_flow_to_the_nanosecond_and_another_one_another() {
    let flow = |seed: u64| {
        let seed = Seed::new(seed);
        let source = Keystrokes::new(Duration::from_millis(5), FULL, seed.stream("flow"));
        let link = LinkConfig { loss: 0.02, jitter: Duration::from_millis(3), ..link() };
        let (report, arrivals) = run(source, FlowOptions { seed, ..options(link, 60) });
        format!("{report:?} {arrivals:?}")
    };
    assert!(flow(1) == flow(1), "to the byte");
    assert!(flow(1) != flow(2));
}
