//! The command line of `rove-lab figures`.

use std::path::PathBuf;

use clap::{Args, Command, ValueHint};
use rove_cli_docs::Manual;

use crate::cli::program::LABORATORY;
use crate::cli::{directory, named};
use crate::experiment::{FiguresOptions, Shard};
use crate::parallel::Engine;

/// The manual of `rove-lab figures`.
pub(crate) static MANUAL: Manual = Manual {
    word: "figures",
    definition: || FiguresArgs::augment_args(Command::new("rove-lab figures")),
    notes: &[
        "Each figure is a scenario: what is measured, of which systems, over which links, with which \
         recordings, and what others have published of it. The client and the server are those that ship. In \
         most figures the network between them is simulated: the same seed gives the same figures. Those whose \
         names begin with programs are of ssh, stock Mosh and rove in real time; they need root or user \
         namespaces and those programs, and say what is missing. Other scenarios than \
         those that rove-lab brings are files (TOML), described in docs/lab.md.",
        "Recordings and links of others are used where --traces has them. Without them a figure is made from \
         recordings of our own and from links that are drawn, and its title says so.",
        "Runs that have ended are kept in the directory: after an interrupt, and with other names or more \
         seeds, only what is missing is run.",
    ],
    examples: &[
        ("rove-lab figures", "every figure, in the quick profile"),
        (
            "rove-lab figures response-500ms --traces DIR --full",
            "one, with recordings of others, at length",
        ),
        ("rove-lab figures sprout --traces DIR", "those about Sprout and other controllers"),
        ("rove-lab figures ./mine.toml --json | jq '.figures[0].series'", "a scenario of your own"),
    ],
    environment: &[
        ("ROVE_TRACES", "The directory of recordings, where --traces names none."),
        ("ROVE_REMY", "The directory of published controllers, where --tables names none."),
    ],
    files: &[
        ("DIR/figures.html", "Everything on one page."),
        ("DIR/NAME.svg", "Each figure's picture."),
        ("DIR/figures.json", "Each figure's statistics."),
        ("DIR/runs.jsonl", "The runs that have ended."),
    ],
    exit_status: &[
        ("0", "Everything was made."),
        (
            "1",
            "A scenario or a recording could not be read, a run not be done, or a result not be written.",
        ),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Makes figures from experiments: tables, pictures, and one page of all
#[derive(Debug, Args)]
pub(crate) struct FiguresArgs {
    /// Figures: names (see --list), the first word of several (aoi, programs, remy, response, sprout), or scenario files that end in .toml; all names where there is none
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    names: Vec<String>,
    /// Lists the names
    #[arg(long)]
    list: bool,
    /// Directory of recordings of others: key traces, and delivery opportunities of links
    #[arg(long, value_name = "DIR", env = "ROVE_TRACES", value_parser = directory(), value_hint = ValueHint::DirPath)]
    traces: Option<PathBuf>,
    /// Directory of congestion controllers that others have published (.dna)
    #[arg(long, value_name = "DIR", env = "ROVE_REMY", value_parser = directory(), value_hint = ValueHint::DirPath)]
    tables: Option<PathBuf>,
    /// Directory that everything is written to
    #[arg(long, value_name = "DIR", default_value = "figures", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// Runs as often as each scenario says for its long profile
    #[arg(long)]
    full: bool,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Does only this part of all runs, such as 2/8, and makes no figures: join the runs.jsonl of all parts in one DIR
    #[arg(long, value_name = "INDEX/COUNT", conflicts_with_all = ["json", "engine"])]
    shard: Option<Shard>,
    /// Spreads the runs over these processors
    #[arg(long, value_name = "ENGINE", default_value = "local")]
    engine: Engine,
    /// Writes JSON in place of tables
    #[arg(long)]
    json: bool,
}

impl FiguresArgs {
    /// Returns whether only the names are wanted.
    pub(crate) const fn lists(&self) -> bool {
        self.list
    }

    /// Returns what is asked for.
    pub(crate) fn options(self) -> FiguresOptions {
        FiguresOptions {
            names: self.names,
            traces: named(self.traces),
            tables: named(self.tables),
            out: self.out,
            is_full: self.full,
            seed: self.seed,
            shard: self.shard,
            engine: self.engine,
            json: self.json,
        }
    }
}
