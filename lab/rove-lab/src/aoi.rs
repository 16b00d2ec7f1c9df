//! `rove-lab aoi`: which state a difference should start from, by the age of information at the receiver.
//!
//! [`study`] is an experiment that somebody published, in virtual time: a [`sender`] with its [`estimator`] of round trips
//! and a [`receiver`], with their [`datagram`]s, over the paths of a [`grid`]. [`closed_form`] says what to expect of it, and
//! [`report`] puts both beside each other. The same question to the transport that ships is a figure of `experiment`.

use anyhow::{Context, Result, anyhow};
use rove_units::Duration;
use serde_json::json;
use std::io::{self, Write};

use self::grid::Case;
pub(crate) use self::study::{Artefacts, Study};

mod closed_form;
mod datagram;
mod estimator;
mod grid;
mod receiver;
mod report;
mod sender;
mod study;

/// States of each run of the slotted model, quick and at length. Source of the second: the notes on the study.
const STATES: [u32; 2] = [30_000, 150_000];

/// A part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// The published experiment, as it was and over a grid of delays and losses
    Study,
    /// Closed forms beside runs of the model that they hold for
    Model,
}

/// The parts to run, and their settings.
#[derive(Clone, Debug)]
pub(crate) struct AoiOptions {
    /// The parts.
    pub(crate) parts: Vec<Part>,
    /// Delays each way of the study's grid.
    pub(crate) delays: Vec<Duration>,
    /// Its losses each way.
    pub(crate) losses: Vec<f64>,
    /// Probabilities that a diff starts from the known state.
    pub(crate) known_shares: Vec<f64>,
    /// How long states are produced in a run of the grid.
    pub(crate) length: Duration,
    /// Mistakes of the study's programs in the grid.
    pub(crate) artefacts: Artefacts,
    /// Whether the published scenarios are run, too.
    pub(crate) has_published: bool,
    /// The first seed.
    pub(crate) seed: u64,
    /// How many seeds the study has.
    pub(crate) seeds: u64,
    /// Whether the long profile runs.
    pub(crate) is_full: bool,
    /// Whether standard output has JSON in place of tables.
    pub(crate) json: bool,
}

/// Does all parts, and writes to `output` what came of them.
///
/// # Errors
///
/// Returns an error if a result cannot be written.
pub(crate) fn run(options: &AoiOptions, mut output: impl Write) -> Result<()> {
    let mut report = json!({ "seed": options.seed, "full": options.is_full });
    let seeds: Vec<u64> = (options.seed..).take(usize::try_from(options.seeds)?).collect();
    let mut say =
        |text: &str| if options.json { Ok(()) } else { output.write_all(text.as_bytes()) };
    for part in &options.parts {
        match part {
            Part::Study => {
                let rows = report::study(&options.cases(), &options.known_shares, &seeds);
                say(&format!(
                    "study: a state every 50 ms, each sent once; medians over {} seeds of median and mean catch-up, \
                     and means over them of the rest; times in ms\n{}\n",
                    seeds.len(),
                    report::study_text(&rows)
                ))
                .map_err(refused)?;
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
                .map_err(refused)?;
                report["model"] = report::model_json(&checks);
                report["best_shares"] = report::shares_json();
            }
        }
    }
    if options.json {
        let text = serde_json::to_string_pretty(&report).context("cannot write JSON")? + "\n";
        output.write_all(text.as_bytes()).map_err(refused)?;
    }
    output.flush().map_err(refused)
}

impl AoiOptions {
    /// Returns the study's cases: the published ones, and the grid.
    fn cases(&self) -> Vec<Case> {
        let published = if self.has_published { Case::published() } else { Vec::new() };
        let grid = self.delays.iter().flat_map(|delay| {
            let case = |loss: &f64| Case::of(*delay, *loss, self.length, self.artefacts);
            self.losses.iter().map(case)
        });
        published.into_iter().chain(grid).collect()
    }
}

/// Says why standard output has refused what came of it.
fn refused(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            anyhow!("standard output was closed by its reader before everything was written")
        }
        _ => anyhow!(error).context("cannot write standard output"),
    }
}
