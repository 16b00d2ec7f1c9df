//! The command line of `rove-lab contest`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Command, ValueHint};
use rove_cli_docs::Manual;

use crate::cli::program::LABORATORY;
use crate::cli::{directory, named};
use crate::contest::{self, ContestOptions};
use crate::flow::contender::Contender;

/// The manual of `rove-lab contest`.
pub(crate) static MANUAL: Manual = Manual {
    word: "contest",
    definition: || ContestArgs::augment_args(Command::new("rove-lab contest")),
    notes: &[
        "A flow with all the data of the world runs over each link in virtual time, 20 ms of delay each way and a queue that never \
         drops, for as long as the recording lasts; figures leave its first minute out. The score is kbit/s for each \
         millisecond of the 95 % end-to-end delay; that of all links is their geometric mean.",
        "Links are recordings of delivery opportunities, pairs of files NAME.up and NAME.down, each direction by itself. Without any, \
         some are drawn as Sprout's paper takes cellular links for.",
        "docs/lab.md shows how to enter a controller of one's own: a file of less than 60 lines.",
    ],
    examples: &[
        ("rove-lab contest --traces DIR", "Sprout on all links of a directory"),
        (
            "rove-lab contest --controller cubic --controller vegas --frontier",
            "two others, and fixed windows from 1 to 1024 packets",
        ),
        ("rove-lab contest --controller sprout --setting 50", "with a confidence of 50 %"),
    ],
    environment: &[("ROVE_TRACES", "The directory of recordings, where --traces names none.")],
    exit_status: &[
        ("0", "Everything was scored."),
        ("1", "The links could not be read, or the result not be written."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Scores congestion controllers by throughput over delay, on recorded or drawn links
#[derive(Debug, Args)]
pub(crate) struct ContestArgs {
    /// Controller to be scored; may be given several times [default: sprout]
    #[arg(long = "controller", value_name = "NAME")]
    controllers: Vec<Contender>,
    /// Sets what can be set of it: Sprout's confidence (%), Sprout-EWMA's gain (%), the packets of a fixed window
    #[arg(long, value_name = "NUMBER")]
    setting: Option<f64>,
    /// Runs fixed windows from 1 to 1024 packets as well
    #[arg(long)]
    frontier: bool,
    /// Directory of recorded links, or one with the directory `links` in it
    #[arg(long, value_name = "DIR", env = "ROVE_TRACES", value_parser = directory(), value_hint = ValueHint::DirPath)]
    traces: Option<PathBuf>,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Writes JSON in place of a table
    #[arg(long)]
    json: bool,
}

impl ContestArgs {
    /// Returns a sentence on a setting that a controller does not have.
    pub(crate) fn refusal(&self) -> Option<String> {
        let setting = self.setting?;
        if !setting.is_finite() || setting < 0.0 {
            return Some("--setting is a number from 0 on".to_owned());
        }
        let other = self.controllers.iter().find(|it| it.setting().is_none())?;
        Some(format!("{} has nothing to be set: leave --setting out", other.name()))
    }

    /// Runs the contest.
    pub(crate) fn run(&self, output: impl Write) -> Result<()> {
        let controllers = match self.controllers.as_slice() {
            [] => &[Contender::Sprout],
            controllers => controllers,
        };
        let entries = controllers.iter().map(|it| contest::entry(*it, self.setting)).collect();
        let options = ContestOptions {
            traces: named(self.traces.as_deref()),
            seed: self.seed,
            has_frontier: self.frontier,
            json: self.json,
        };
        contest::run(entries, options, output)
    }
}
