//! Chooses the runs, limits how many run at the same time, and reports their results.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Condvar, Mutex};

use super::Case;
use super::driver::{Outcome, Run};
use crate::support::{Maker, is_installed};

/// The default round-trip time. Chosen: most leaks that were ever found appear at this time.
const USUAL_RTT_MS: u64 = 300;
/// The round-trip times of samples, in turn. Chosen: every other case has the default, and few have the slow 800 ms.
const SAMPLE_RTTS_MS: [u64; 4] = [300, 100, 300, 800];
/// The round-trip times of `ROVE_SECRECY_RTT=all`.
const ALL_RTTS_MS: [u64; 4] = [40, 100, 300, 800];
/// Most simultaneous runs of all tests. Chosen: runs mostly wait, but more of them delay programs on two processors.
const RUNS_MAX: usize = 48;

/// Runs the chosen cases, each with both servers.
///
/// # Panics
///
/// Panics at the end, with a paragraph for each run that showed a letter or proved nothing.
pub(super) fn run(cases: &[Case]) {
    play(chosen(cases));
}

/// Runs each chosen case once. Servers and times ([`SAMPLE_RTTS_MS`]) differ from case to case. If a variable chooses
/// times or servers, runs the case with all of these.
///
/// # Panics
///
/// Panics as [`run`] does.
pub(super) fn sample(cases: &[Case], servers: &[Maker]) {
    let mut runs = chosen(cases);
    if variable("ROVE_SECRECY_RTT").is_none() && variable("ROVE_SECRECY_SERVER").is_none() {
        runs.retain(|run| run.server == Maker::Rove);
        for (number, run) in runs.iter_mut().enumerate() {
            let place = cases.iter().position(|case| case.name == run.case.name).unwrap_or(number);
            run.server = servers[place % servers.len()];
            run.rtt_ms = SAMPLE_RTTS_MS[place / servers.len() % SAMPLE_RTTS_MS.len()];
        }
    }
    play(runs);
}

fn play(runs: VecDeque<Run>) {
    let runs = Mutex::new(runs);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..RUNS_MAX {
            scope.spawn(|| {
                while let Some(run) = next(&runs) {
                    let outcome = PLACES.taken(|| run.play());
                    record(&run, &outcome);
                    if let Some(failure) = failure(&run, &outcome) {
                        failures.lock().expect("no holder of the lock panics").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no holder of the lock panics");
    assert!(failures.is_empty(), "{} runs failed\n\n{}", failures.len(), failures.join("\n\n"));
}

fn next(runs: &Mutex<VecDeque<Run>>) -> Option<Run> {
    runs.lock().expect("no holder of the lock panics").pop_front()
}

/// Returns the runs that the environment variables choose.
fn chosen(cases: &[Case]) -> VecDeque<Run> {
    let name = variable("ROVE_SECRECY_CASE").unwrap_or_default();
    let server = variable("ROVE_SECRECY_SERVER");
    let is_stock = variable("ROVE_SECRECY_CLIENT").is_some_and(|maker| maker == "stock");
    let client = if is_stock { Maker::Stock } else { Maker::Rove };
    let preference = variable("ROVE_SECRECY_PREDICT").unwrap_or_default();
    let (is_plain, is_always) = (preference == "never", preference == "always");
    let rtts_ms = match variable("ROVE_SECRECY_RTT").as_deref() {
        None => vec![USUAL_RTT_MS],
        Some("all") => ALL_RTTS_MS.to_vec(),
        Some(list) => list.split(',').map(|rtt| rtt.parse().expect("milliseconds")).collect(),
    };
    let loss = variable("ROVE_SECRECY_LOSS").map(|share| share.parse().expect("a share"));
    let is_chosen = |case: &&Case| name.split('|').any(|part| case.name.contains(part));
    let mut runs = VecDeque::new();
    for rtt_ms in rtts_ms {
        for case in cases.iter().filter(is_chosen).filter(|case| is_possible(case)) {
            for maker in [Maker::Rove, Maker::Stock] {
                if server.as_deref().is_none_or(|name| name == maker.name()) {
                    let mut case = loss.map_or(*case, |share| case.loss(share));
                    case.is_always |= is_always;
                    runs.push_back(Run { case, client, server: maker, rtt_ms, is_plain });
                }
            }
        }
    }
    runs
}

/// Returns the value of an environment variable, or `None` if it is unset or empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns whether the large programs that the case needs are installed. If not, prints their names.
fn is_possible(case: &Case) -> bool {
    let missing = case.large_programs().find(|(program, _)| !is_installed(program));
    if let Some((program, package)) = missing {
        eprintln!("left out without {program} (apt-get install {package}): {}", case.name);
    }
    missing.is_none()
}

/// Adds a line about the run to the table that `ROVE_SECRECY_TABLE` names.
fn record(run: &Run, outcome: &Outcome) {
    let Some(path) = std::env::var_os("ROVE_SECRECY_TABLE") else { return };
    let leak = match &outcome.leak {
        Some(leak) => leak.letters.clone(),
        None if outcome.shown.is_empty() => "-".to_owned(),
        None => format!("({})", outcome.shown),
    };
    let fault = outcome.fault.as_ref().map_or("", |fault| fault.lines().next().unwrap_or(""));
    let line =
        format!("{}\t{} ms\t{}\t{}\t{fault}\n", run.server.name(), run.rtt_ms, leak, run.case.name);
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a table");
    file.write_all(line.as_bytes()).expect("the table takes a line");
}

/// Returns a paragraph about the run if it failed.
fn failure(run: &Run, outcome: &Outcome) -> Option<String> {
    let mut text = format!("{}, {} server, {} ms", run.case.name, run.server.name(), run.rtt_ms);
    if let Some(leak) = &outcome.leak {
        let picture = leak.rows.join("\n    ");
        write!(text, "\n  shows {:?} of the secret:\n    {picture}", leak.letters).expect("text");
    }
    if let Some(fault) = &outcome.fault {
        write!(text, "\n  proves nothing: {fault}").expect("text");
    }
    (outcome.leak.is_some() || outcome.fault.is_some()).then_some(text)
}

/// The permits for runs, which all tests of this process share.
static PLACES: Places = Places { free: Mutex::new(RUNS_MAX), freed: Condvar::new() };

/// A number of permits. Each run holds a permit.
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Places {
    fn taken<T>(&self, work: impl FnOnce() -> T) -> T {
        let free = self.free.lock().expect("no holder of the lock panics");
        let mut free =
            self.freed.wait_while(free, |free| *free == 0).expect("no holder of the lock panics");
        *free -= 1;
        drop(free);
        let done = work();
        *self.free.lock().expect("no holder of the lock panics") += 1;
        self.freed.notify_one();
        done
    }
}
