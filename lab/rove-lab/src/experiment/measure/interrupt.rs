//! Interrupt: from Ctrl-C under a flood of output to the prompt on the user's screen.

use rove_headless::{Act, Program, User};
use rove_session::{Client, Server};
use rove_terminal::Terminal;
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, Samples, nanos};
use crate::experiment::measure::session::session;

/// How often the program writes, and how much: four megabytes in a second.
const WRITE_INTERVAL: Duration = Duration::from_millis(1);
const WRITE_LINES: usize = 64;

/// Shortest time from the session's start to Ctrl-C. The flood begins a second after the start.
const BEFORE: Duration = Duration::from_secs(3);

/// How long the user waits for the prompt before the run ends.
const PATIENCE: Duration = Duration::from_secs(60);

const CTRL_C: u8 = 0x03;

/// The prompt, which the program writes when it has read Ctrl-C.
const PROMPT: &str = "$ ";

/// A user who types Ctrl-C, once.
struct Typist {
    typed_at: Instant,
    has_typed: bool,
    seen_at: Option<Instant>,
}

/// A program that prints without end until it reads Ctrl-C.
struct Flood {
    next: Option<Instant>,
    lines: u64,
}

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        (!self.has_typed && self.typed_at <= now).then(|| {
            self.has_typed = true;
            Act::Type(vec![CTRL_C])
        })
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        (!self.has_typed).then_some(self.typed_at)
    }

    fn handle_frame(&mut self, now: Instant, _: &Client, terminal: &mut Terminal) {
        let screen = terminal.screen();
        if screen.row_text(screen.cursor().row) == PROMPT.trim_end() {
            self.seen_at.get_or_insert(now);
        }
    }
}

impl Program for Flood {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let is_interrupted = server.host_input().contains(&CTRL_C);
        server.consume_host_input(server.host_input().len());
        if is_interrupted {
            self.next = None;
            server.handle_host_output(now, format!("\r\n{PROMPT}").as_bytes());
        }
        while self.next.is_some_and(|next| next <= now) {
            let lines: String = (0..WRITE_LINES)
                .map(|_| {
                    self.lines += 1;
                    format!("{:062}\r\n", self.lines)
                })
                .collect();
            server.handle_host_output(now, lines.as_bytes());
            self.next = self.next.map(|next| next + WRITE_INTERVAL);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }
}

pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let phase = Seed::new(conditions.seed).stream("phase").at(0).unit();
    let typed_at = Instant::ZERO + BEFORE + Duration::from_secs(1).mul_f64(phase);
    let typist = Typist { typed_at, has_typed: false, seen_at: None };
    let flood = Flood { next: Some(Instant::ZERO + Duration::from_secs(1)), lines: 0 };
    let mut net = session(conditions, typist, flood);
    net.run_until(BEFORE + PATIENCE, |client, _| client.user.seen_at.is_some());
    let seen_at = net.left.user.seen_at;
    let times: Vec<u64> =
        seen_at.map(|at| nanos(at.saturating_since(typed_at))).into_iter().collect();
    Samples { missing: u64::from(times.is_empty()), times, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    #[test]
    fn the_prompt_comes_within_a_few_frames() {
        let path: Path = "rtt=100ms,rate=1Mbit".parse().expect("a path");
        let conditions =
            Conditions { system: Some(System::Rove), path: Some(&path), ..Conditions::NONE };
        let samples = run(&conditions);
        let time = samples.millis().next().expect("the prompt came");
        assert!(time > 99.0 && time < 1_000.0, "{samples:?}");
    }
}
