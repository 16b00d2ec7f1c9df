//! The start: how long a user waits for what a program prints at once.

use rove_headless::Program;
use rove_session::{Server, ServerEvent};
use rove_units::{Duration, Instant};

use crate::experiment::conditions::{Conditions, Samples, nanos};
use crate::experiment::measure::session::session;

/// The program's only word.
const WORD: &str = "hello";

/// How long the user waits for the word. Chosen: a client gives up sooner on a server that it has never heard.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that prints a word as soon as it is started.
#[derive(Default)]
struct Printer {
    is_started: bool,
}

impl Program for Printer {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        if core::mem::take(&mut self.is_started) {
            server.handle_host_output(now, WORD.as_bytes());
        }
    }

    fn handle_event(&mut self, event: ServerEvent) {
        self.is_started |= event == ServerEvent::Start;
    }
}

/// Measures the time from the client's start, when the server waits for it, to the program's word on the user's screen.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let mut net = session(conditions, (), Printer::default());
    let is_shown = net.run_until(PATIENCE, |client, _| client.row_text(0) == WORD);
    let time = nanos(net.now().saturating_since(Instant::ZERO));
    let times = is_shown.then_some(time).into_iter().collect();
    Samples { missing: u64::from(!is_shown), times, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    #[test]
    fn a_path_without_loss_takes_a_round_trip() {
        let path: Path = "rtt=100ms".parse().expect("a path");
        for (system, most) in [(System::Rove, 120.0), (System::MoshRules, 360.0)] {
            let conditions = Conditions {
                system: Some(system),
                path: Some(&path),
                value: Some(0.0),
                ..Conditions::NONE
            };
            let samples = run(&conditions);
            let time = samples.millis().next().expect("the word is shown");
            assert!((100.0..=most).contains(&time), "{system:?}: {time}");
        }
    }
}
