//! Measures the cost of Sprout's inference: `cargo run --release -p rove-congestion --example tick`.
//!
//! It prints the time to make the tables, and medians of a tick with its forecast at several rates, in microseconds.

use std::hint::black_box;
use std::time::Instant;

use rove_congestion::sprout::{Bayesian, Estimator, Scale};
use rove_congestion::sprout_ack::SproutAck;
use rove_congestion::{Ack, Controller};
use rove_units::{Bytes, Duration};

/// Ticks that are measured. Chosen: an odd number has a middle value, the median, and a run takes a second or less.
const TICKS: u64 = 10_001;

const PACKET: Bytes = Bytes::new(1_400);

fn main() {
    let start = now();
    black_box(Bayesian::new().forecast());
    println!("tables                    {:9.1} ms", start.elapsed().as_secs_f64() * 1e3);
    for count in [1, 5, 15] {
        let mut estimator = Bayesian::new();
        let median = median(|_| {
            estimator.tick(Some(f64::from(count)));
            black_box(estimator.forecast());
        });
        println!("Sprout, {count:2} packets a tick   {median:7.2} us");
    }
    for scale in [Scale::Linear, Scale::Wide] {
        let mut controller = SproutAck::new(scale, PACKET, Duration::ZERO);
        let median = median(|tick| {
            let sent = rove_units::Instant::from_millis(20 * tick);
            let received = sent + Duration::from_millis(20);
            for _ in 0..8 {
                controller.on_sent(sent, PACKET, PACKET);
                let (size, rtt) = (PACKET, Duration::from_millis(20));
                let ack =
                    Ack { sent, received, size, rtt, in_flight: PACKET, is_app_limited: false };
                controller.on_ack(received, &ack);
            }
            black_box(controller.window());
        });
        println!("Sprout-ACK, {scale:?}, 8 acks {median:7.2} us");
    }
}

/// Returns the median time of a piece of work, in microseconds.
fn median(mut work: impl FnMut(u64)) -> f64 {
    let mut times: Vec<f64> = (0..TICKS)
        .map(|tick| {
            let start = now();
            work(tick);
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    Instant::now()
}
