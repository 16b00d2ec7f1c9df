//! The command line of `rove-lab aoi`.

use clap::{Args, Command, ValueEnum};
use rove_cli_docs::{Manual, Words};
use rove_units::{Duration, parse_duration};

use crate::aoi::{AoiOptions, Artefacts, Part};
use crate::cli::program::LABORATORY;
use crate::path::share;

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

/// The help and manual page of `rove-lab aoi`.
pub(crate) static MANUAL: Manual = Manual {
    word: "aoi",
    definition: || AoiArgs::augment_args(Command::new("rove-lab aoi")),
    notes: &[
        "A sender that tells a receiver of its newest state by a difference must choose the older state that the \
         difference starts from: the one that is known to have arrived, or the newest that has no reason to be lost \
         yet. Lambda is the probability that it takes the known one. The age of information says how old the newest \
         state is that the receiver has, at any time; catch-up is how long after its production a state, or a newer \
         one, is there.",
        "The same seed loses the same datagrams whatever lambda is. docs/lab.md describes what is written, and \
         answers the study's questions; `rove-lab figures aoi` asks them of the transport that ships.",
    ],
    examples: &[
        ("rove-lab aoi", "both parts, in short"),
        (
            "rove-lab aoi study --delay 300ms --loss 10% --lambda 0 --lambda 1",
            "one path, two senders",
        ),
        ("rove-lab aoi study --log-on-receipt --json", "with a mistake in the receiver"),
        ("rove-lab aoi model --full", "closed forms, and long runs of their model"),
    ],
    environment: &[],
    files: &[],
    exit_status: &[
        ("0", "Everything was done."),
        ("1", "A run could not be done, or a result not be written."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Asks which state a difference should start from, by the age of information at the receiver
#[derive(Debug, Args)]
pub(crate) struct AoiArgs {
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
    #[arg(long)]
    full: bool,
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

impl AoiArgs {
    /// Returns what is asked for.
    pub(crate) fn options(self) -> AoiOptions {
        let has_published = self.delays.is_empty() && self.losses.is_empty();
        let half = |delay: Duration| if self.halve { delay / 2 } else { delay };
        let delays = or(self.delays, &[Duration::from_millis(100), Duration::from_secs(1)]);
        AoiOptions {
            parts: or(self.parts, Part::value_variants()),
            delays: delays.into_iter().map(half).collect(),
            losses: or(self.losses, &[0.0, 0.05, 0.10, 0.25, 0.50, 0.75]),
            known_shares: or(self.known_shares, &[0.0, 0.25, 0.5, 0.75, 1.0]),
            length: self.length,
            artefacts: Artefacts { logs_on_receipt: self.log_on_receipt, listens_after: self.late },
            has_published,
            seed: self.seed,
            seeds: self.seeds.unwrap_or(SEEDS[usize::from(self.full)]),
            is_full: self.full,
            json: self.json,
        }
    }
}

/// Returns what was given, or all of the others where nothing was.
fn or<T: Clone>(given: Vec<T>, others: &[T]) -> Vec<T> {
    if given.is_empty() { others.to_vec() } else { given }
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
