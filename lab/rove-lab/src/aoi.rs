//! `rove-lab aoi`: which state a difference should start from, by the age of information at the receiver.
//!
//! [`study`] is an experiment that somebody published, in virtual time: a [`sender`] with its [`estimator`] of round trips
//! and a [`receiver`], with their [`datagram`]s, over the paths of a [`grid`]. [`closed_form`] says what to expect of it, and
//! [`report`] puts both beside each other. The same question to the transport that ships is a figure of `experiment`.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rove_flows::path::share;
use rove_runs::shown;
use rove_units::{Duration, parse_duration};
use serde_json::json;
use std::io::Write;

use self::grid::Case;
use self::study::Artefacts;
pub(crate) use self::study::Study;

mod closed_form;
mod datagram;
mod estimator;
mod grid;
mod receiver;
mod report;
mod sender;
mod study;

/// Longest delay each way. Chosen: beyond any path.
const ONE_WAY_MAX: Duration = Duration::from_secs(30);

/// Longest run of the study. Chosen: 72,000 states, beyond any patience.
const RUN_MAX: Duration = Duration::from_secs(3_600);

/// Largest loss. Chosen: at a larger one there are too few states for a mean.
const LARGEST_LOSS: f64 = 0.99;

/// Least time that states are produced. Chosen: some dozens of them.
const SHORTEST_RUN: Duration = Duration::from_secs(2);

/// Repetitions of the study, quick and at length. Source of the second: the notes on the study, which ask for 40.
const SEEDS: [u64; 2] = [10, 40];

/// Delays and losses each way of the grid, and probabilities of the known state, where none are given.
const DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
const LOSSES: [f64; 6] = [0.0, 0.05, 0.10, 0.25, 0.50, 0.75];
const KNOWN_SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// States of each run of the slotted model, quick and at length. Source of the second: the notes on the study.
const STATES: [u32; 2] = [30_000, 150_000];

/// A part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The published experiment, as it was and over a grid of delays and losses
    Study,
    /// Closed forms beside runs of the model that they hold for
    Model,
}

/// Asks which state a difference should start from, by the age of information at the receiver
#[derive(Debug, Args)]
pub(crate) struct AoiOptions {
    /// The parts to do [default: all]
    #[arg(value_name = "PART")]
    parts: Vec<Part>,
    /// Delay of the study's path each way, in place of the published scenarios; may be given several times
    #[arg(long = "delay", value_name = "TIME", value_parser = parse_delay)]
    delays: Vec<Duration>,
    /// Half of each --delay holds each way: it is a round trip
    #[arg(long, requires = "delays")]
    halve: bool,
    /// Loss of the study's path each way, in place of the published scenarios; may be given several times
    #[arg(long = "loss", value_name = "SHARE", value_parser = parse_loss)]
    losses: Vec<f64>,
    /// Probability that a difference starts from the known state; may be given several times
    #[arg(long = "lambda", value_name = "NUMBER", value_parser = parse_lambda)]
    known_shares: Vec<f64>,
    /// How long states are produced in a run of the study
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = parse_length)]
    length: Duration,
    /// The study's receiver logs states when they arrive, whether or not it can apply them
    #[arg(long)]
    log_on_receipt: bool,
    /// The study's receiver begins to listen so much later than the sender begins to send
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_delay)]
    late: Duration,
    /// Runs as often and as long as the notes on the study ask for
    #[arg(long = "full")]
    is_full: bool,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// How many runs of the study, with seeds that follow --seed [default: 10, with --full 40]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Writes JSON in place of tables
    #[arg(long)]
    json: bool,
}

/// Does all parts, and writes to `output` what came of them.
///
/// # Errors
///
/// Returns an error if a result cannot be written.
pub(crate) fn run(options: &AoiOptions, mut output: impl Write) -> Result<()> {
    let mut report = json!({ "seed": options.seed, "full": options.is_full });
    let seeds = options.seeds.unwrap_or(SEEDS[usize::from(options.is_full)]);
    let seeds: Vec<u64> = (options.seed..).take(usize::try_from(seeds)?).collect();
    let mut say =
        |text: &str| if options.json { Ok(()) } else { output.write_all(text.as_bytes()) };
    for part in or(&options.parts, Part::value_variants()) {
        match part {
            Part::Study => {
                let rows = report::study(
                    &options.cases(),
                    or(&options.known_shares, &KNOWN_SHARES),
                    &seeds,
                );
                say(&format!(
                    "study: a state every 50 ms, each sent once; medians over {} seeds of median and mean catch-up, \
                     and means over them of the rest; times in ms\n{}\n",
                    seeds.len(),
                    report::study_text(&rows)
                ))
                .map_err(shown::refused)?;
                report["study"] = report::study_json(&rows);
            }
            Part::Model => {
                let states = STATES[usize::from(options.is_full)];
                let checks = report::model(states, options.seed);
                say(&format!(
                    "model: mean age in ms, closed forms beside runs of {states} states\n{}\n\
                     best share of the known state where the link's rate is limited\n{}\n",
                    report::model_text(&checks),
                    report::shares_text()
                ))
                .map_err(shown::refused)?;
                report["model"] = report::model_json(&checks);
                report["best_shares"] = report::shares_json();
            }
        }
    }
    if options.json {
        let text = serde_json::to_string_pretty(&report).context("cannot write JSON")? + "\n";
        output.write_all(text.as_bytes()).map_err(shown::refused)?;
    }
    output.flush().map_err(shown::refused)
}

impl AoiOptions {
    /// Returns the study's cases: the published ones, unless others are asked for, and the grid.
    fn cases(&self) -> Vec<Case> {
        let has_published = self.delays.is_empty() && self.losses.is_empty();
        let published = if has_published { Case::published() } else { Vec::new() };
        let artefacts =
            Artefacts { logs_on_receipt: self.log_on_receipt, listens_after: self.late };
        let grid = or(&self.delays, &DELAYS).iter().flat_map(|delay| {
            let delay = if self.halve { *delay / 2 } else { *delay };
            let case = move |loss: &f64| Case::of(delay, *loss, self.length, artefacts);
            or(&self.losses, &LOSSES).iter().map(case)
        });
        published.into_iter().chain(grid).collect()
    }
}

/// Returns what was given, or all of the others where nothing was.
fn or<'a, T>(given: &'a [T], others: &'a [T]) -> &'a [T] {
    if given.is_empty() { others } else { given }
}

fn parse_delay(text: &str) -> Result<Duration, String> {
    let delay = parse_duration(text).map_err(|error| error.to_string())?;
    (delay <= ONE_WAY_MAX).then_some(delay).ok_or_else(|| "the longest is 30 s".to_owned())
}

fn parse_length(text: &str) -> Result<Duration, String> {
    let length = parse_duration(text).map_err(|error| error.to_string())?;
    let is_possible = (SHORTEST_RUN..=RUN_MAX).contains(&length);
    is_possible.then_some(length).ok_or_else(|| "a run has from 2 s to an hour".to_owned())
}

fn parse_loss(text: &str) -> Result<f64, String> {
    let loss = share(text).ok().filter(|loss| (0.0..=LARGEST_LOSS).contains(loss));
    loss.ok_or_else(|| "a loss is from 0 % to 99 %, such as 29%".to_owned())
}

fn parse_lambda(text: &str) -> Result<f64, String> {
    let lambda = text.parse().ok().filter(|lambda| (0.0..=1.0).contains(lambda));
    lambda.ok_or_else(|| "lambda is from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times_are_held_within_what_makes_sense() {
        assert_eq!(parse_loss("29%"), Ok(0.29));
        assert_eq!(parse_loss("0.75"), Ok(0.75));
        for text in ["100%", "-1%", "nan", "", "1", "x"] {
            assert!(parse_loss(text).is_err(), "{text}");
        }
        assert_eq!(parse_lambda("0.25"), Ok(0.25));
        assert!(["1.01", "-0.1", "nan", "inf"].iter().all(|text| parse_lambda(text).is_err()));
        assert_eq!(parse_delay("1s"), Ok(Duration::from_secs(1)));
        assert!(parse_delay("31s").is_err());
        assert!(parse_length("1s").is_err() && parse_length("2h").is_err());
        assert_eq!(parse_length("2s"), Ok(SHORTEST_RUN));
    }
}
