//! rove-lab with a congestion controller of one's own: `cargo run --release -p rove-lab --example controller -- figures mine.toml`.
//!
//! The controller `Mine` keeps the round-trip time at one and a half times its least: it adds a packet each round trip below that, and takes a tenth
//! away above. `mine.toml` is a scenario whose systems have `own` among them.

use std::process::ExitCode;

use rove_congestion::{Ack, Controller, Loss};
use rove_flows::flow::contender;
use rove_flows::flow::source::FULL;
use rove_lab::cli;
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

fn main() -> ExitCode {
    contender::enter(|| Box::new(Mine { window: FULL, least: Duration::MAX, next: Instant::ZERO }));
    cli::run(std::env::args_os())
}
