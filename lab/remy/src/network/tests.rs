//! The evaluator's network, compared with formulas, with `rove-link`, with a simpler model, and step by step.

use rove_congestion::remy::{Action, Axis, Domain, Rule, Table};
use rove_link::{Link, LinkConfig};
use rove_units::{BitRate, Bytes, Duration};

use super::*;
use crate::control::Ruled;
use crate::training_network::Typing;

/// A control with a constant window and a constant time between packets.
#[derive(Clone, Copy)]
struct Constant {
    window: u32,
    intersend_nanos: u64,
}

impl Control for Constant {
    fn start(&mut self, _: Instant) {}
    fn acknowledge(&mut self, _: Instant, _: Instant, _: u64) {}
    fn decide(&mut self) {}
    fn window(&self) -> u32 {
        self.window
    }
    fn intersend_nanos(&self) -> u64 {
        self.intersend_nanos
    }
}

const NETWORK: TrainingNetwork = TrainingNetwork {
    packets_per_ms: 1.0,
    rtt_ms: 150.0,
    senders: 1,
    mean_on_ms: 1e12,
    mean_off_ms: 1e-3,
    buffer_packets: None,
    loss: 0.0,
    typing: None,
};

/// All packets that were sent and received, each with its time in ns.
#[derive(Default)]
struct Log {
    sent: Vec<(u64, Packet)>,
    received: Vec<(u64, Packet)>,
}

impl Watch for Log {
    fn sent(&mut self, now: u64, packet: &Packet) {
        self.sent.push((now, *packet));
    }
    fn received(&mut self, now: u64, packet: &Packet) {
        self.received.push((now, *packet));
    }
}

fn close(got: f64, expected: f64, part: f64) -> bool {
    (got / expected - 1.0).abs() <= part
}

#[test]
fn a_constant_window_has_the_throughput_and_delay_of_its_closed_form() {
    for (window, packets_per_ms, rtt_ms) in [
        (1, 1.0, 150.0),
        (60, 1.0, 150.0),
        (150, 0.5, 100.0),
        (400, 2.0, 150.0),
        (1_000, 1.0, 10.0),
    ] {
        let network = TrainingNetwork { packets_per_ms, rtt_ms, ..NETWORK };
        let constant = Constant { window, intersend_nanos: 0 };
        let run = run(&network, Seed::new(1), 1e6, |_| constant, &mut ());
        let outcome = run.outcomes[0];
        // Without a queue, a round trip is propagation and transmission. With a queue, the path holds a full window.
        let empty = rtt_ms + 1.0 / packets_per_ms;
        let window = f64::from(window);
        let throughput = packets_per_ms.min(window / empty);
        let delay_ms = empty.max(window / packets_per_ms);
        let got = outcome.received as f64 / outcome.share_ms;
        assert!(close(got, throughput, 0.01), "{window}: {got} packets/ms, not {throughput}");
        let got = outcome.delay_ms().expect("received");
        assert!(close(got, delay_ms, 0.01), "{window}: {got} ms, not {delay_ms}");
    }
}

#[test]
fn a_pace_below_the_links_rate_is_the_throughput() {
    let constant = Constant { window: 1_000_000, intersend_nanos: 4_000_000 };
    let run = run(&NETWORK, Seed::new(1), 1e6, |_| constant, &mut ());
    assert!(close(run.outcomes[0].received as f64 / run.outcomes[0].on_ms, 0.25, 0.01));
    assert!(close(run.outcomes[0].delay_ms().expect("received"), 151.0, 1e-9));
}

/// Returns packets carried and the sum of times on, in a model in which the link is full while any sender is on.
fn share_of_link(network: &TrainingNetwork, seed: u64, length_ms: f64) -> (f64, f64) {
    let mut draws = (0..).map(|number| {
        let unit = Seed::new(seed).stream("second model").at(number).unit();
        -(1.0 - unit).ln()
    });
    let mut exponential = |mean: f64| mean * draws.next().expect("endless");
    let mut is_on = vec![false; network.senders];
    let mut switches: Vec<f64> = is_on.iter().map(|_| exponential(network.mean_off_ms)).collect();
    let (mut now, mut busy, mut on) = (0.0, 0.0, 0.0);
    while now < length_ms {
        let number = (0..is_on.len())
            .min_by(|a, b| switches[*a].total_cmp(&switches[*b]))
            .expect("a sender");
        let next = switches[number].min(length_ms);
        let count = is_on.iter().filter(|it| **it).count();
        busy += if count > 0 { next - now } else { 0.0 };
        on += count as f64 * (next - now);
        now = next;
        is_on[number] = !is_on[number];
        let mean = if is_on[number] { network.mean_on_ms } else { network.mean_off_ms };
        switches[number] += exponential(mean);
    }
    (busy * network.packets_per_ms, on)
}

#[test]
fn senders_that_are_on_and_off_share_the_link_as_a_plain_second_model_has_it() {
    for (senders, mean_on_ms, mean_off_ms) in
        [(2, 1_000.0, 1_000.0), (8, 5_000.0, 5_000.0), (3, 500.0, 2_000.0)]
    {
        let network = TrainingNetwork { senders, mean_on_ms, mean_off_ms, rtt_ms: 1.0, ..NETWORK };
        let length = 4e6;
        // With a short round trip, a small window fills the link, and few packets are left when a sender switches off.
        let constant = Constant { window: 8, intersend_nanos: 0 };
        let run = run(&network, Seed::new(3), length, |_| constant, &mut ());
        let (packets, on_ms) = share_of_link(&network, 4, length);
        let got: u64 = run.outcomes.iter().map(|it| it.received).sum();
        assert!(close(got as f64, packets, 0.03), "{senders}: {got} packets, not {packets}");
        let got: f64 = run.outcomes.iter().map(|it| it.on_ms).sum();
        assert!(close(got, on_ms, 0.03), "{senders}: {got} ms, not {on_ms}");
        let shares: f64 = run.outcomes.iter().map(|it| it.share_ms).sum();
        assert!(close(shares, packets, 0.03), "all shares are the time that any was on");
        for outcome in &run.outcomes {
            let rate = outcome.received as f64 / outcome.share_ms;
            assert!(close(rate, 1.0, 0.03), "{senders}: a share of {rate} of the link");
        }
    }
}

/// A table with effects that can be computed by hand. Each acknowledgment adds a packet to the window. From a ratio of
/// round trips of 1.01 on, it halves the window and adds a packet. If packets leave 9 ms apart or more, it adds three.
fn three_rules() -> Table {
    let [near, far] = Domain::WHOLE.split(Axis::SendEwma, 9.0);
    let [short, long] = near.split(Axis::RttRatio, 1.01);
    let rule = |domain, multiple, increment, intersend_ms| Rule {
        domain,
        action: Action { multiple, increment, intersend_ms },
    };
    let rules = vec![rule(short, 1.0, 1, 2.0), rule(long, 0.5, 1, 10.0), rule(far, 1.0, 3, 1.0)];
    Table::new(Domain::WHOLE, rules).expect("three parts of a box")
}

/// Computes a sender's flow with [`three_rules`] by hand. Returns when each packet is sent and received, in ms.
fn trajectory(steps: usize, start: f64) -> Vec<(f64, f64)> {
    let (mut window, mut pace) = (1.0, 2.0);
    let (mut send_ewma, mut ratio, mut least) = (0.0, 0.0, f64::INFINITY);
    let mut packets: Vec<(f64, f64)> = Vec::new();
    let (mut heard, mut now, mut link_free) = (0, start, start);
    while packets.len() < steps {
        // The next event is an acknowledgment, or a packet that the pace permits while the window is open.
        let next_ack = packets.get(heard).map_or(f64::INFINITY, |packet| packet.1);
        let is_open = (packets.len() as f64) < heard as f64 + window;
        let next_send = match packets.last() {
            _ if !is_open => f64::INFINITY,
            None => now,
            Some((sent, _)) => (sent + pace).max(now),
        };
        now = next_ack.min(next_send);
        if next_ack <= now {
            let (sent, received) = packets[heard];
            least = least.min(received - sent);
            if heard > 0 {
                send_ewma += (sent - packets[heard - 1].0 - send_ewma) / 8.0;
                ratio = (received - sent) / least;
            }
            heard += 1;
            (window, pace) = if send_ewma >= 9.0 {
                (window + 3.0, 1.0)
            } else if ratio >= 1.01 {
                ((window * 0.5 + 1.0_f64).trunc(), 10.0)
            } else {
                (window + 1.0, 2.0)
            };
        }
        let is_open = (packets.len() as f64) < heard as f64 + window;
        if is_open && packets.last().is_none_or(|(sent, _)| sent + pace <= now) {
            // Transmission takes 4 ms, and propagation 100 ms.
            link_free = link_free.max(now) + 4.0;
            packets.push((now, link_free + 100.0));
        }
    }
    packets
}

#[test]
fn three_rules_are_followed_step_by_step() {
    let table = three_rules();
    let network = TrainingNetwork { packets_per_ms: 0.25, rtt_ms: 100.0, ..NETWORK };
    let mut log = Log::default();
    let run = run(&network, Seed::new(5), 60_000.0, |_| Ruled::new(&table, None), &mut log);
    let start = millis(log.sent[0].0);
    let steps = trajectory(log.sent.len(), start);
    assert!(steps.len() > 500, "{} packets", steps.len());
    for ((sent, packet), (expected, _)) in log.sent.iter().zip(&steps) {
        let got = millis(*sent);
        assert!((got - expected).abs() < 1e-5, "{}: sent {got}, not {expected}", packet.number);
    }
    for ((received, packet), (_, expected)) in log.received.iter().zip(&steps) {
        let got = millis(*received);
        assert!((got - expected).abs() < 1e-5, "{}: at {got}, not {expected}", packet.number);
    }
    assert!(run.controls[0].uses.iter().all(|uses| *uses > 1), "{:?}", run.controls[0].uses);
}

#[test]
fn the_link_model_delivers_and_drops_the_same_packets_at_the_same_nanoseconds() {
    for (senders, buffer_packets, window, types) in [
        (1, None, 400, false),
        (2, Some(20), 200, false),
        (8, Some(5), 40, false),
        (3, Some(0), 10, false),
        (4, None, 100, false),
        (2, None, 60, true),
        (3, Some(8), 60, true),
    ] {
        // A packet of 1250 bytes takes 833,334 ns at 12 Mbit/s in both models. A packet of 125 bytes takes 83,334 ns.
        let rate = BitRate::from_bits_per_second(12_000_000).expect("a rate");
        let [transmission, key] = [1_250, 125].map(|size| {
            u64::try_from(rate.transmission_time(Bytes::new(size)).as_nanos()).expect("short")
        });
        let typing = Typing { mean_gap_ms: 7.0, size: key as f64 / transmission as f64 };
        let network = TrainingNetwork {
            packets_per_ms: 1e6 / transmission as f64,
            rtt_ms: 30.0,
            senders,
            mean_on_ms: 700.0,
            mean_off_ms: 300.0,
            buffer_packets,
            loss: 0.0,
            typing: types.then_some(typing),
        };
        assert_eq!(network.transmission_nanos(), transmission);
        assert_eq!(network.key_transmission_nanos(), if types { key } else { 1 });
        let mut log = Log::default();
        let constant = Constant { window, intersend_nanos: 1_100_000 };
        let run = run(&network, Seed::new(7), 20_000.0, |_| constant, &mut log);
        let mut link = Link::new(
            LinkConfig {
                rate: Some(rate),
                queue_packets_max: buffer_packets.unwrap_or(usize::MAX),
                delay: Duration::from_millis(30),
                ..LinkConfig::default()
            },
            Seed::new(1).stream("link"),
        );
        let mut delivered = Vec::new();
        let mut drain = |link: &mut Link<Vec<u8>>, until: u64| {
            while let Some((at, bytes)) = link.poll_packet(Instant::from_nanos(until)) {
                let number = u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"));
                delivered.push((at.as_nanos(), number));
            }
        };
        for (number, (at, packet)) in (0_u64..).zip(&log.sent) {
            drain(&mut link, *at);
            let mut bytes = number.to_be_bytes().to_vec();
            bytes.resize(if packet.sender == SESSION { 125 } else { 1_250 }, 0);
            link.handle_packet(Instant::from_nanos(*at), bytes);
        }
        drain(&mut link, u64::MAX);
        let delivered: Vec<(u64, Packet)> = (delivered.into_iter())
            .map(|(at, number)| (at, log.sent[usize::try_from(number).expect("few")].1))
            .filter(|(at, _)| *at <= 20_000_000_000)
            .collect();
        assert!(log.received.len() > 3_000, "{} packets", log.received.len());
        assert_eq!(log.received, delivered, "{senders} senders, {buffer_packets:?}");
        assert_eq!(link.stats().dropped() > 100, buffer_packets.is_some());
        let keys = |log: &[(u64, Packet)]| log.iter().filter(|it| it.1.sender == SESSION).count();
        assert_eq!(keys(&log.sent) > 2_000, types);
        assert_eq!(run.keys.received, keys(&log.received) as u64);
        let lost = keys(&log.sent) as u64 - run.keys.received;
        assert!(run.keys.lost <= lost && lost < run.keys.lost + 60, "{:?}", run.keys);
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_and_losses_are_as_many_as_they_should_be() {
    let network =
        TrainingNetwork { senders: 4, loss: 0.1, mean_on_ms: 500.0, mean_off_ms: 500.0, ..NETWORK };
    let constant = Constant { window: 20, intersend_nanos: 0 };
    let figures = |seed| {
        let mut log = Log::default();
        let outcomes = run(&network, Seed::new(seed), 1e5, |_| constant, &mut log).outcomes;
        (outcomes, log.sent.len(), log.received.len())
    };
    let first = figures(1);
    assert_eq!(first, figures(1));
    assert_ne!(first.0, figures(2).0);
    let share = first.2 as f64 / first.1 as f64;
    assert!((0.85..0.92).contains(&share), "{share} received: a tenth lost, few still under way");
}

#[test]
fn a_key_waits_for_the_queue_that_is_before_it_and_for_nothing_else() {
    let typing = Some(Typing { mean_gap_ms: 100.0, size: 0.1 });
    // With a window of 250 packets, the path holds 150, the queue 99, and the link one.
    for (window, waiting) in [(1, 0.0), (250, 99.0), (500, 349.0)] {
        let network = TrainingNetwork { typing, ..NETWORK };
        let constant = Constant { window, intersend_nanos: 0 };
        let run = run(&network, Seed::new(1), 1e6, |_| constant, &mut ());
        let keys = run.keys;
        assert_eq!(keys.lost, 0);
        assert!((9_000..11_000).contains(&keys.received), "{keys:?}");
        let delay_ms = keys.delay_nanos as f64 * 1e-6 / keys.received as f64;
        // Keys take the places of some packets in the queue. On average, half of a packet is still on the link.
        let expected = 150.0 + 0.1 + waiting;
        assert!((delay_ms - expected).abs() < 1.5, "{window}: {delay_ms} ms, not {expected}");
        let without = super::run(&NETWORK, Seed::new(1), 1e6, |_| constant, &mut ());
        assert_eq!(without.keys, Keys::default());
    }
    let network = TrainingNetwork { typing, loss: 0.2, ..NETWORK };
    let constant = Constant { window: 1, intersend_nanos: 0 };
    let keys = run(&network, Seed::new(1), 1e6, |_| constant, &mut ()).keys;
    let share = keys.lost as f64 / (keys.lost + keys.received) as f64;
    assert!((share - 0.2).abs() < 0.02, "{share} lost");
}
