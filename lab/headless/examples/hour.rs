//! Measures how long an hour of a session takes in virtual time: idle, and with 5,000 keys.
//!
//! `cargo run --release -p rove-headless --example hour`. Only a release build says anything.

use std::time::Instant as Clock;

use rove_headless::{Act, ClientEnd, Program, ServerEnd, User, client_config, rove, server_config};
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{Client, ClientConfig, Prediction, Server};
use rove_ssp::Config;
use rove_terminal::Terminal;
use rove_units::{Duration, Instant, Seed};

/// Runs of each kind, of which the median counts.
const RUNS: usize = 9;

/// A user who types letters at a steady pace, and Enter after each 60.
struct Typist {
    next: Option<Instant>,
    pace: Duration,
    typed: u32,
}

/// A program that echoes.
struct Echo;

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        self.next.filter(|next| *next <= now)?;
        self.next = self.next.map(|next| next + self.pace);
        self.typed += 1;
        Some(Act::Type(if self.typed.is_multiple_of(60) { b"\r".to_vec() } else { b"a".to_vec() }))
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        self.next
    }
}

impl Program for Echo {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        server.consume_host_input(typed.len());
        for byte in typed {
            server.handle_host_output(
                now,
                if byte == b'\r' { b"\r\n" } else { core::slice::from_ref(&byte) },
            );
        }
    }
}

fn hour(keys: u32) -> f64 {
    let seed = Seed::new(1);
    let pace = Duration::from_secs(3_600) / keys.max(1);
    let typist = Typist { next: (keys > 0).then_some(Instant::ZERO), pace, typed: 0 };
    let client = ClientConfig {
        prediction: Prediction::default(),
        ..client_config(rove(Config::client()), seed)
    };
    let client = ClientEnd::new(client, typist, Instant::ZERO);
    let server = server_config(rove(Config::server()), seed);
    let server = ServerEnd::new(server, Echo, Instant::ZERO);
    let link = LinkConfig::lossless(Duration::from_millis(50));
    let mut net = Net::new(client, server, link.clone(), link, seed);
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let begin = Clock::now();
    net.run_for(Duration::from_secs(3_600));
    let took = begin.elapsed();
    assert!(net.left.user.typed >= keys, "everything was typed");
    took.as_secs_f64() * 1e3
}

fn main() {
    for (name, keys) in [("an idle hour", 0), ("an hour with 5,000 keys", 5_000)] {
        let mut times: Vec<f64> = (0..RUNS).map(|_| hour(keys)).collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{name}: {:.1} ms (least {:.1}, most {:.1})",
            times[RUNS / 2],
            times[0],
            times[RUNS - 1]
        );
    }
}
