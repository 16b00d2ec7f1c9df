//! Simulates whole sessions in virtual time. A seed determines all circumstances of a session.
//!
//! A seed draws the peers, the path, both clocks and the user's terminal. It also draws the user's keys, the program's
//! output, resizes, outages and changes of address (also during a paste). Either end may pause, sleep, or have its
//! clock jump. Then the path works again, and both ends must agree: the same screen, every key once and in order, and
//! the last size. No copy, bell or notification may come twice. The program's next actions and questions must work. In
//! some sessions, an end then closes the session, and both ends must know this.

mod dice;
mod ends;
mod machine;
mod program;
mod scenario;

use core::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Result, bail, ensure};
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_runs::parallel;
use rove_session::{ClientOutcome, ServerOutcome};
use rove_ssp::Capabilities;
use rove_units::{Duration, Seed};

use ends::{ClientEnd, ServerEnd};
use machine::Machine;
use scenario::{Action, Ending, Scenario};

/// Longest time until both ends agree on a path that works again. Chosen: lost datagrams are repeated within three
/// heartbeats. A server that has given its client up hears it only at the client's next heartbeat.
const CONVERGENCE_MAX: Duration = Duration::from_secs(60);

/// Most failing seeds that the error names.
const FAILURES_NAMED_MAX: usize = 5;

type Pair = Net<Machine<ClientEnd>, Machine<ServerEnd>>;

/// The totals of a simulation's sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Number of sessions.
    pub(crate) seeds: u64,
    /// Bytes that users typed. Each arrived exactly once.
    pub(crate) keys: u64,
    /// The virtual time of all sessions, added up.
    pub(crate) virtual_time: Duration,
}

/// Runs `seeds` sessions, whose seeds count from `first_seed`.
///
/// # Errors
///
/// Returns an error with the seeds that failed, the reasons, and the command that repeats a seed.
pub(crate) fn run(first_seed: u64, seeds: u64) -> Result<Report> {
    let all: Vec<u64> = (0..seeds).map(|number| first_seed.wrapping_add(number)).collect();
    let results = parallel::map(&all, |seed| run_caught(Seed::new(*seed)), |_| {});
    let (mut total, mut failures) = (Report::default(), Vec::new());
    for (seed, result) in all.into_iter().zip(results) {
        match result {
            Ok(report) => total.add(report),
            Err(error) => failures
                .push(format!("{error:#}\n  replay: cargo xtask sim --seeds 1 --seed {seed}")),
        }
    }
    if failures.is_empty() {
        return Ok(total);
    }
    let named = &failures[..failures.len().min(FAILURES_NAMED_MAX)];
    bail!("{} of {seeds} seeds failed\n{}", failures.len(), named.join("\n"));
}

impl Report {
    fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.keys += other.keys;
        self.virtual_time += other.virtual_time;
    }
}

/// Runs a session. A panic counts as a failure.
fn run_caught(seed: Seed) -> Result<Report> {
    catch_unwind(AssertUnwindSafe(|| run_one(seed)))
        .unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            bail!("panicked: {}", text.unwrap_or("with something that is no text"))
        })
        .with_context(|| format!("seed {}", seed.number()))
}

fn run_one(seed: Seed) -> Result<Report> {
    let scenario = Scenario::draw(seed);
    let healed = LinkConfig::lossless(Duration::from_millis(20));
    let client = ends::client_end(&scenario, seed);
    let client = Machine::new(client, scenario.client_ahead, scenario.stands_still);
    let server = ends::server_end(&scenario, seed);
    let server = Machine::new(server, scenario.server_ahead, scenario.stands_still);
    let mut pair = Net::new(client, server, healed.clone(), healed.clone(), seed);
    // A client gives up after a long silence. This simulation has no such silence at its start: both ends meet first.
    let met = pair.run_until(Duration::from_secs(5), |client, server| {
        server.end.program.started && client.end.client.pending_input() == 0
    });
    ensure!(met, "the two ends never met");

    pair.reconfigure(scenario.uplink.clone(), scenario.downlink.clone());
    for (pause, action) in &scenario.actions {
        pair.run_for(*pause);
        perform(&mut pair, &scenario, action);
        check_bounds(&pair)?;
    }
    for action in [
        Action::StopClient(false),
        Action::StopServer(false),
        Action::SleepClient(false),
        Action::SleepServer(false),
        Action::Jam(false),
        Action::Return(false),
    ] {
        perform(&mut pair, &scenario, &action);
    }
    pair.reconfigure(healed.clone(), healed);
    converge(&mut pair, &scenario)?;
    go_on(&mut pair, &scenario)?;
    end(&mut pair, &scenario)?;
    Ok(Report {
        seeds: 1,
        keys: u64::try_from(pair.right.end.program.read.len()).context("keys beyond counting")?,
        virtual_time: Duration::from_nanos(pair.now().as_nanos()),
    })
}

fn perform(pair: &mut Pair, scenario: &Scenario, action: &Action) {
    let now = pair.now();
    match action {
        Action::Type(text) => pair.left.end.user.type_text(text),
        Action::Resize(size) => pair.left.end.user.resize(*size),
        Action::Print(bytes) => pair.right.end.program.print(bytes),
        Action::Roam(datagrams, host) => {
            let address = Ipv4Addr::new(192, 0, 2, *host);
            pair.move_left_after(*datagrams, SocketAddr::from((address, 50_000)));
        }
        Action::Outage(true) => pair.reconfigure(LinkConfig::outage(), LinkConfig::outage()),
        Action::Outage(false) => {
            pair.reconfigure(scenario.uplink.clone(), scenario.downlink.clone());
        }
        Action::StopClient(stopped) => pair.stop_left(*stopped),
        Action::StopServer(stopped) => pair.stop_right(*stopped),
        Action::SleepClient(asleep) => pair.left.sleep(now, *asleep),
        Action::SleepServer(asleep) => pair.right.sleep(now, *asleep),
        Action::JumpClient(span) => pair.left.jump(*span),
        Action::JumpServer(span) => pair.right.jump(*span),
        Action::Jam(jammed) => {
            pair.left.end.user.jammed = *jammed;
            pair.right.end.program.jammed = *jammed;
        }
        Action::Return(returned) => {
            let now = pair.left.clock(now);
            ends::give_back(&mut pair.left.end, now, *returned);
        }
    }
}

/// Checks that neither end holds more input or output than its bound.
fn check_bounds(pair: &Pair) -> Result<()> {
    let (pending, waiting) = (pair.left.end.user.pending_max, pair.right.end.program.waiting_max);
    ensure!(pending <= ends::PENDING_MAX, "{pending} events wait at the client");
    ensure!(waiting <= ends::WAITING_MAX, "{waiting} bytes wait at the server");
    Ok(())
}

/// Waits until both ends agree, and checks that they still do later.
fn converge(pair: &mut Pair, scenario: &Scenario) -> Result<()> {
    let rich = scenario.capabilities().contains(Capabilities::RICH_SCREEN);
    let disagreement = |client: &Machine<ClientEnd>, server: &Machine<ServerEnd>| {
        ends::disagreement(&client.end, &server.end, rich)
    };
    // A server whose client's address has changed sends nothing until it hears from the new address.
    pair.run_for(Duration::from_secs(10));
    let agreed =
        pair.run_until(CONVERGENCE_MAX, |client, server| disagreement(client, server).is_none());
    if !agreed {
        let what = disagreement(&pair.left, &pair.right);
        bail!("after {CONVERGENCE_MAX:?} of a healthy path: {}", what.unwrap_or_default());
    }
    // Nothing may arrive for the second time.
    pair.run_for(Duration::from_secs(4));
    match disagreement(&pair.left, &pair.right) {
        Some(what) => bail!("both ends agreed and then parted: {what}"),
        None => check_bounds(pair),
    }
}

/// Lets the program copy, ring the bell, notify and ask once more. Each must happen exactly once, and the program must
/// get the answer of the user's terminal.
fn go_on(pair: &mut Pair, scenario: &Scenario) -> Result<()> {
    let capabilities = scenario.capabilities();
    let background = scenario
        .user_terminal
        .background
        .filter(|_| scenario.query && capabilities.contains(Capabilities::TERMINAL_REPORT));
    let (client, server) = (&pair.left.end, &mut pair.right.end);
    let (copied, told) = (client.user.copied.len(), client.user.told.len());
    let (bells, read) = (ends::bells(client), server.program.read.len());
    let number = 99_999_999;
    // Cancels a sequence that the program may have begun, and resets a colour that it may have set.
    let words = ["\x18\x1b]111\x07\x07", &program::copy(number, 8), &program::notification(number)];
    server.program.print(words.concat().as_bytes());
    if background.is_some() {
        server.program.print(b"\x1b]11;?\x07");
    }
    pair.run_for(Duration::from_secs(10));
    let (client, server) = (&pair.left.end, &pair.right.end);
    if capabilities.contains(Capabilities::RICH_SCREEN) {
        ensure!(
            ends::bells(client) == bells + 1,
            "one bell rang {} times",
            ends::bells(client) - bells
        );
        ensure!(
            client.user.copied[copied..] == [number],
            "{:?} copied",
            &client.user.copied[copied..]
        );
        ensure!(client.user.told[told..] == [number], "{:?} told", &client.user.told[told..]);
    }
    if let Some((red, green, blue)) = background {
        let [red, green, blue] = [red, green, blue].map(|part| format!("{part:02x}{part:02x}"));
        let answer = String::from_utf8_lossy(&server.program.read[read..]).into_owned();
        let wanted = format!("\x1b]11;rgb:{red}/{green}/{blue}\x07");
        ensure!(answer == wanted, "the program was answered {answer:?}, not {wanted:?}");
    }
    Ok(())
}

fn end(pair: &mut Pair, scenario: &Scenario) -> Result<()> {
    let now = pair.now();
    let wanted = match scenario.ending {
        Ending::None => return Ok(()),
        Ending::HostCloses(status) => {
            let now = pair.right.clock(now);
            pair.right.end.server.handle_host_closed(now, Some(status));
            let is_told = scenario.capabilities().contains(Capabilities::EXIT_STATUS);
            Some(status).filter(|_| is_told)
        }
        Ending::UserQuits => {
            let now = pair.left.clock(now);
            pair.left.end.client.shutdown(now, "Exiting...");
            None
        }
    };
    pair.run_until(Duration::from_secs(15), |client, server| {
        client.end.client.outcome().is_some() && server.end.server.outcome().is_some()
    });
    let outcomes = (pair.left.end.client.outcome(), pair.right.end.server.outcome());
    let clean = (Some(ClientOutcome::Ended(wanted)), Some(ServerOutcome::Ended));
    ensure!(outcomes == clean, "ended with {outcomes:?}, not with {clean:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_sessions_survive_whatever_their_seeds_draw() {
        let report = run(1, 20).expect("every seed passes");
        assert_eq!(report.seeds, 20);
        assert!(report.keys > 0);
    }

    #[test]
    fn a_seed_draws_the_same_session_again() {
        let (first, second) = (run(7, 1), run(7, 1));
        assert_eq!(first.expect("it passes"), second.expect("it passes"));
    }
}
