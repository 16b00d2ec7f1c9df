//! Compares forecasts with those of the published inference code, and runs both ends together.

use proptest::prelude::*;
use rove_units::{Bytes, Duration, Instant};

use crate::sprout::config::{Config, Counting};
use crate::sprout::endpoint::{Endpoint, HEARTBEAT, Waiting};
use crate::sprout::estimator::{Bayesian, Estimator};
use crate::sprout::packet::{Feedback, HEADER, Packet};
use crate::sprout::receiver::Receiver;
use crate::sprout::terms::Forecast;

const PACKET: Bytes = Bytes::new(1_400);

/// A configuration in which 1400 bytes count as a packet, as in the published forecasts.
const DATAGRAMS: Config = Config::new(PACKET);

/// A receiver with the clock of its test.
struct Bench {
    receiver: Receiver<Bayesian>,
    now: Instant,
    sequence: u64,
}

impl Bench {
    fn new() -> Self {
        let receiver = Receiver::new(Bayesian::new(), DATAGRAMS);
        Self { receiver, now: Instant::ZERO, sequence: 0 }
    }

    fn packet(&mut self, at: Instant, size: u64, time_to_next: u64) {
        let packet = Packet {
            sequence: self.sequence,
            throwaway: 0,
            time_to_next: Duration::from_millis(time_to_next),
            feedback: None,
            payload: Bytes::new(size) - HEADER,
        };
        self.sequence += size + 50;
        self.receiver.handle_packet(at, &packet);
    }

    /// Receives `count` evenly spread packets in each of `ticks` ticks.
    fn ticks(mut self, ticks: u64, count: u32) -> Self {
        for _ in 0..ticks {
            // The first packet arrives exactly at the end of the tick before, and counts in that tick.
            for number in 0..count {
                let at = self.now + Duration::from_millis(20) * number / count;
                self.packet(at, 1_400, 0);
            }
            self.now += Duration::from_millis(20);
        }
        self
    }

    fn forecast(mut self) -> [u64; 8] {
        self.receiver.advance(self.now + Duration::from_micros(1));
        self.receiver.forecast().bytes.map(|bytes| bytes / 1_400)
    }
}

fn assert_near(name: &str, forecast: [u64; 8], expected: [u64; 8]) {
    let is_near = forecast.iter().zip(expected).all(|(one, other)| one.abs_diff(other) <= 1);
    assert!(is_near, "{name}: {forecast:?}, expected {expected:?}");
}

#[test]
fn forecasts_are_those_of_the_published_inference() {
    let steady = |count, ticks| Bench::new().ticks(ticks, count).forecast();
    for (count, ticks, expected) in [
        (1, 50, [0; 8]),
        (2, 5, [0, 0, 1, 2, 3, 4, 5, 6]),
        (2, 50, [0, 0, 1, 2, 2, 3, 4, 6]),
        (5, 5, [1, 4, 7, 10, 13, 17, 20, 23]),
        (5, 50, [1, 4, 7, 10, 13, 16, 19, 22]),
        (10, 5, [5, 12, 19, 27, 34, 42, 49, 57]),
        (10, 50, [5, 12, 19, 27, 34, 42, 50, 58]),
        (15, 5, [9, 20, 32, 44, 56, 68, 80, 92]),
        (15, 50, [9, 20, 32, 44, 57, 69, 81, 94]),
        (20, 5, [12, 27, 42, 58, 74, 90, 106, 122]),
        (20, 50, [12, 28, 44, 60, 77, 94, 110, 127]),
    ] {
        assert_near(&format!("{count} x {ticks}"), steady(count, ticks), expected);
    }
    for (count, empty, expected) in [
        (15, 5, [0, 0, 0, 0, 1, 2, 2, 3]),
        (20, 5, [1, 4, 7, 10, 13, 16, 19, 22]),
        (10, 15, [0; 8]),
        (15, 15, [0; 8]),
        (20, 15, [0; 8]),
    ] {
        let forecast = Bench::new().ticks(50, count).ticks(empty, 0).forecast();
        assert_near(&format!("{count}, then {empty} empty"), forecast, expected);
    }
    let faster = Bench::new().ticks(25, 5).ticks(10, 15).forecast();
    assert_near("5, then 15", faster, [7, 17, 27, 37, 48, 58, 68, 79]);
}

#[test]
fn forecasts_before_the_first_packet_are_those_of_the_prior() {
    let packets =
        |estimator: &Bayesian| estimator.forecast().map(|it| crate::numbers::whole(it) as u64);
    let mut prior = Bayesian::new();
    assert_near("prior", packets(&prior), [1, 1, 3, 4, 5, 6, 8, 9]);
    // The published program's clock starts at 1000 ms, and its belief at 0 ms.
    let mut warm = Bayesian::new();
    (0..49).for_each(|_| warm.tick(None));
    assert_near("warmed up", packets(&warm), [2, 4, 7, 9, 12, 15, 17, 20]);
    prior.tick(Some(0.0));
    assert_near("one empty tick", packets(&prior), [0; 8]);
}

#[test]
fn a_promised_pause_says_nothing_of_the_link() {
    for (idle, expected) in [
        (100, [4, 11, 18, 25, 31, 38, 45, 52]),
        (200, [4, 10, 16, 23, 29, 35, 41, 48]),
        (300, [4, 9, 15, 21, 26, 32, 38, 44]),
        (400, [4, 9, 14, 19, 24, 30, 35, 40]),
        (500, [3, 8, 13, 18, 22, 27, 32, 37]),
    ] {
        let mut bench = Bench::new().ticks(49, 10).ticks(1, 9);
        bench.packet(bench.now - Duration::from_micros(700), 1_400, 1_000);
        bench.now += Duration::from_millis(idle);
        assert_near(&format!("idle for {idle} ms"), bench.forecast(), expected);
    }
}

#[test]
fn heartbeats_alone_are_taken_for_a_slow_link() {
    let mut bench = Bench::new();
    for number in 0..100 {
        bench.packet(Instant::from_millis(50 * number), 60, 50);
    }
    bench.now = Instant::from_millis(5_000);
    assert_near("heartbeats", bench.forecast(), [0, 0, 0, 0, 0, 0, 0, 1]);
}

/// Generates packets with any values in their fields, each with the time since the packet before, in ns.
fn any_packet() -> impl Strategy<Value = (u64, Packet)> {
    let feedback = (any::<u64>(), any::<u64>(), any::<[u32; 8]>());
    let gap = prop_oneof![0..1_000_u64, 0..100_000_000_u64, any::<u64>()];
    let fields =
        (any::<u64>(), any::<u32>(), any::<u16>(), proptest::option::of(feedback), 0..3_000_u64);
    (gap, fields).prop_map(|(gap, (sequence, throwaway, millis, feedback, payload))| {
        let feedback = feedback.map(|(received_or_lost, tick, bytes)| Feedback {
            received_or_lost,
            tick,
            forecast: Forecast { bytes: bytes.map(u64::from) },
        });
        let time_to_next = Duration::from_millis(millis.into());
        (gap, Packet { sequence, throwaway, time_to_next, feedback, payload: Bytes::new(payload) })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No packet of a peer makes an end panic, hang or send without bound. At an instant the end sends no more than its
    /// window, and after the last packet it sends only heartbeats.
    #[test]
    fn an_end_sends_within_its_window_with_any_feedback(
        packets in proptest::collection::vec(any_packet(), 1..60)
    ) {
        let mut now = Instant::ZERO;
        let mut end = Endpoint::new(DATAGRAMS, Bayesian::new(), now);
        for (gap, packet) in packets {
            now += Duration::from_nanos(gap);
            end.handle_packet(now, &packet);
            let window = end.window(now);
            let mut sent = Bytes::ZERO;
            while let Some(packet) = end.poll_send(now, Waiting::Stream(Bytes::new(1_000_000))) {
                sent += packet.len();
                if sent > Bytes::new(100_000) {
                    break;
                }
            }
            prop_assert!(sent <= window + PACKET || sent > Bytes::new(100_000));
        }
        if now > Instant::FAR_FUTURE - Duration::from_secs(100) {
            return Ok(());
        }
        // A forecast lasts 160 ms.
        now += Duration::from_secs(1);
        let mut count = 0;
        while let Some(due) = end.poll_timeout(now, true).filter(|due| *due <= now + Duration::from_secs(1)) {
            now = due.max(now);
            while end.poll_send(now, Waiting::Stream(Bytes::new(1_000_000))).is_some() {
                count += 1;
            }
            if count >= 30 {
                break;
            }
        }
        prop_assert!(count <= 30, "{} packets, heartbeats are every {:?}", count, HEARTBEAT);
    }
}

#[test]
fn feedback_from_the_past_or_of_bytes_never_sent_changes_nothing() {
    let mut end = Endpoint::new(DATAGRAMS, Bayesian::new(), Instant::ZERO);
    let first = end.window(Instant::ZERO);
    let feedback = |tick, received_or_lost| Packet {
        sequence: 0,
        throwaway: 0,
        time_to_next: HEARTBEAT,
        feedback: Some(Feedback {
            received_or_lost,
            tick,
            forecast: Forecast { bytes: [1, 2, 3, 4, 5, 1_000_000, 1_000_000, 1_000_000] },
        }),
        payload: Bytes::ZERO,
    };
    end.handle_packet(Instant::ZERO, &feedback(9, 5_000_000));
    assert_eq!(end.window(Instant::ZERO), first, "nothing was sent yet");
    end.handle_packet(Instant::ZERO, &feedback(9, 0));
    assert_eq!(end.window(Instant::ZERO), Bytes::new(999_999));
    // An older report arrives late.
    let mut old = feedback(8, 0);
    old.feedback.as_mut().expect("it has one").forecast = Forecast::default();
    end.handle_packet(Instant::ZERO, &old);
    assert_eq!(end.window(Instant::ZERO), Bytes::new(999_999));
}

#[test]
fn a_receiver_holds_a_bounded_number_of_packets_and_outlives_any_silence() {
    let mut receiver = Receiver::new(Bayesian::new(), DATAGRAMS);
    for number in 0..100_000_u64 {
        let packet = Packet {
            sequence: number * 1_450,
            throwaway: u32::MAX,
            time_to_next: Duration::ZERO,
            feedback: None,
            payload: Bytes::new(1_385),
        };
        receiver.handle_packet(Instant::from_nanos(number * 1_000), &packet);
    }
    let told = receiver.feedback().expect("packets came").received_or_lost;
    assert!(told <= 100_000 * 1_450 && told > 99_000 * 1_400, "{told}");
    receiver.advance(Instant::FAR_FUTURE);
    let silent = receiver.forecast().bytes;
    assert!(silent.iter().all(|bytes| *bytes < 29 * 8 * 1_400), "{silent:?}");
}

#[test]
fn a_heartbeat_counts_as_a_packet_and_a_header_does_not_count() {
    let packet = |payload| Packet {
        sequence: 0,
        throwaway: 0,
        time_to_next: HEARTBEAT,
        feedback: None,
        payload: Bytes::new(payload),
    };
    let config = Config { counting: Counting::Payload, ..DATAGRAMS };
    let full = packet(config.payload_max().get());
    assert_eq!(config.counted(&packet(0)), Bytes::new(2));
    assert_eq!(config.counted(&full), config.payload_max() + Bytes::new(2));
    let share = crate::numbers::in_packets(config.counted(&full), config.tick_packet());
    assert!((1.03..1.04).contains(&share), "{share} of a packet: 1442 of 1400 bytes");
    let share = crate::numbers::in_packets(DATAGRAMS.counted(&full), DATAGRAMS.tick_packet());
    assert!(share < 1.0, "{share}");
}
