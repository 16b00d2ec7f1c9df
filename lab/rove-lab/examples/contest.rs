//! A congestion controller of one's own in the contest: `cargo run --release -p rove-lab --example contest [DIR]`.
//!
//! The controller `Mine` keeps the round-trip time at one and a half times its least: it adds a packet each round trip below that, and takes a tenth
//! away above. DIR has recorded links; without it some are drawn.

use std::path::PathBuf;

use rove_congestion::{Ack, Controller, Loss};
use rove_lab::contest::{self, ContestOptions};
use rove_lab::flow::contender::{self, Contender};
use rove_lab::flow::source::FULL;
use rove_units::{Bytes, Duration, Instant};

#[derive(Debug)]
struct Mine {
    window: Bytes,
    least: Duration,
    next: Instant,
}

impl Controller for Mine {
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.least = self.least.min(ack.rtt);
        if now < self.next {
            return;
        }
        let has_room = ack.rtt < self.least.mul_f64(1.5);
        let less = Bytes::new(self.window.get() / 10);
        self.window = if has_room { self.window + FULL } else { self.window - less };
        self.next = now + ack.rtt;
    }

    fn on_loss(&mut self, _: Instant, _: &Loss) {
        self.window = Bytes::new(self.window.get() / 2);
    }

    fn on_mtu_update(&mut self, _: Bytes) {}

    fn window(&self) -> Bytes {
        self.window.max(FULL)
    }
}

fn main() -> anyhow::Result<()> {
    let traces = std::env::args().nth(1).map(PathBuf::from);
    let mine = || Mine { window: FULL, least: Duration::MAX, next: Instant::ZERO };
    let entries: Vec<contest::Entry<'_>> = vec![
        ("mine".to_owned(), Box::new(|options| contender::run(mine(), options))),
        contest::entry(Contender::Sprout, None),
    ];
    let options =
        ContestOptions { traces: traces.as_deref(), seed: 1, has_frontier: true, json: false };
    contest::run(entries, options, std::io::stdout())
}
