//! The command line of `rove-lab remy`.

use std::path::PathBuf;

use clap::{Args, Command, ValueEnum, ValueHint};
use rove_cli_docs::{Manual, Words};
use rove_remy::{EvaluateOptions, Objective, RemyCall, TrainOptions};
use rove_runs::parallel::{self, Engine};

use crate::cli::program::LABORATORY;

/// The manual of `rove-lab remy`.
pub(crate) static MANUAL: Manual = Manual {
    word: "remy",
    definition: || RemyArgs::augment_args(Command::new("rove-lab remy")),
    words: Words::OneOf(&["describe", "convert", "evaluate", "train", "worker"]),
    notes: &[
        "A table is a congestion controller: for each combination of a few signals of a flow it says how the \
         window changes, and how far apart packets are sent. describe prints its rules, and with --out NAME.svg draws \
         them. With a prior it says which rules its networks use, what the table is worth with the most used alone, and how a flow \
         goes from rule to rule. convert writes it in another form: .dna is the published one, .toml the readable one. evaluate says \
         what tables are worth on the networks of a prior. train searches a table for a prior and an objective. worker \
         does parts of a search for an engine: tasks come in as lines of JSON, answers go out. `rove-lab figures remy` puts tables beside other controllers, on paths that several senders share.",
        "A prior is a file (TOML) of assumptions: the links, the round trips, how many senders, when they have \
         data. An objective says what a sender's throughput and delay are worth. Both are described in docs/lab.md.",
        "A search writes its table, and beside it a checkpoint, after every improvement. The same command goes \
         on from the checkpoint, and ends with the table of a search that was not interrupted.",
    ],
    examples: &[
        ("rove-lab remy describe table.dna --out table.svg", "rules, and a picture of them"),
        (
            "rove-lab remy describe table.dna --prior two-senders.toml",
            "and the rules that are used",
        ),
        ("rove-lab remy convert table.dna --out table.toml", "the readable form"),
        ("rove-lab remy evaluate table.toml --prior two-senders.toml", "its score"),
        ("rove-lab remy train --prior two-senders.toml --out table.toml", "search a table"),
    ],
    files: &[("NAME.search.json", "The checkpoint of a search for the table NAME.toml.")],
    exit_status: &[
        ("0", "It was done."),
        ("1", "A table, a prior or a checkpoint could not be used, or a result not be written."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// The thing to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// Prints the rules of a table
    Describe,
    /// Writes a table in another form
    Convert,
    /// Says what tables are worth
    Evaluate,
    /// Searches a table
    Train,
    /// Does tasks of a search that standard input brings
    Worker,
}

/// Congestion controllers found by search: describes, evaluates and searches them
#[derive(Debug, Args)]
pub(crate) struct RemyArgs {
    /// The thing to be done
    #[arg(value_name = "ACTION", hide_possible_values = true)]
    action: Action,
    /// Tables: .dna (published) or .toml (readable); evaluate also takes aimd, new-reno, cubic, compound and vegas
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    tables: Vec<PathBuf>,
    /// Assumptions about the networks (describe, evaluate, train)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    prior: Option<PathBuf>,
    /// Worth of throughput and delay, such as alpha=1,delta=0.1 or alpha=2,delta=0,throughput=on-time
    #[arg(long, value_name = "LIST", default_value = "alpha=1,beta=1,delta=1,throughput=share")]
    objective: Objective,
    /// File that is written to
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Table that a search begins with; one rule where it is left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    begin: Option<PathBuf>,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// A search ends after so many splits of a rule
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    epochs: u32,
    /// A search ends after so many steps: the table says how many made it
    #[arg(long, value_name = "COUNT")]
    steps: Option<u64>,
    /// A search pauses after so many minutes
    #[arg(long, value_name = "COUNT")]
    minutes: Option<f64>,
    /// Threads, or workers of an engine; one for each processor where it is left out. No result depends on it
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Spreads the runs over these processors (train)
    #[arg(long, value_name = "ENGINE", default_value = "local")]
    engine: Engine,
    /// Writes JSON in place of text (evaluate)
    #[arg(long)]
    json: bool,
}

impl RemyArgs {
    /// Returns the call of the command that the options ask for.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the command line does not say enough, or too much.
    pub(crate) fn call(self) -> Result<RemyCall, String> {
        let missing = |what: &str, example: &str| format!("{what}, as in: rove-lab remy {example}");
        let one = |example: &str| match self.tables.as_slice() {
            [table] => Ok(table.clone()),
            _ => Err(missing("name one table", example)),
        };
        let (objective, seed) = (self.objective, self.seed);
        let threads = self.threads.unwrap_or_else(parallel::processors);
        let evaluation =
            |tables, prior, json| EvaluateOptions { tables, prior, objective, seed, threads, json };
        match self.action {
            Action::Describe => {
                let table = one("describe table.dna")?;
                let uses = self.prior.map(|prior| evaluation(Vec::new(), prior, false));
                Ok(RemyCall::Describe { table, picture: self.out, uses })
            }
            Action::Convert => {
                let example = "convert table.dna --out table.toml";
                let table = one(example)?;
                let out = self.out.ok_or_else(|| missing("name the file with --out", example))?;
                Ok(RemyCall::Convert { table, out })
            }
            Action::Evaluate => {
                let example = "evaluate table.toml --prior prior.toml";
                let prior = self.prior.ok_or_else(|| missing("name a prior", example))?;
                if self.tables.is_empty() {
                    return Err(missing("name a table", example));
                }
                Ok(RemyCall::Evaluate(evaluation(self.tables, prior, self.json)))
            }
            Action::Worker => Ok(RemyCall::Work),
            Action::Train => {
                let example = "train --prior prior.toml --out table.toml";
                let prior = self.prior.ok_or_else(|| missing("name a prior", example))?;
                let out = self.out.ok_or_else(|| missing("name the table with --out", example))?;
                if out.extension().is_none_or(|ending| ending != "toml") {
                    return Err(missing("a search writes a readable table", example));
                }
                Ok(RemyCall::Train(TrainOptions {
                    prior,
                    objective: self.objective,
                    out,
                    begin: self.begin,
                    seed: self.seed,
                    epochs: self.epochs,
                    steps: self.steps,
                    minutes: self.minutes,
                    threads: self.threads,
                    engine: self.engine,
                }))
            }
        }
    }
}
