//! The command line of `rove-lab remy`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use rove_runs::parallel::{self, Engine};

use crate::objective::Objective;

/// The thing to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
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
#[derive(Clone, Debug, Args)]
pub struct RemyOptions {
    /// The thing to be done
    #[arg(value_name = "ACTION", hide_possible_values = true)]
    pub(crate) action: Action,
    /// Tables: .dna (published) or .toml (readable); evaluate also takes aimd, new-reno, cubic, compound and vegas
    #[arg(id = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) tables: Vec<PathBuf>,
    /// Assumptions about the networks (describe, evaluate, train)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prior: Option<PathBuf>,
    /// Worth of throughput and delay, such as alpha=1,delta=0.1 or alpha=2,delta=0,throughput=on-time
    #[arg(long, value_name = "LIST", default_value = "alpha=1,beta=1,delta=1,throughput=share")]
    pub(crate) objective: Objective,
    /// File that is written to
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Table that a search begins with; one rule where it is left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) begin: Option<PathBuf>,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A search ends after so many splits of a rule
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) epochs: u32,
    /// A search ends after so many steps: the table says how many made it
    #[arg(long, value_name = "COUNT")]
    pub(crate) steps: Option<u64>,
    /// A search pauses after so many minutes
    #[arg(long, value_name = "COUNT")]
    pub(crate) minutes: Option<f64>,
    /// Threads, or workers of an engine; one for each processor where it is left out. No result depends on it
    #[arg(long, value_name = "COUNT")]
    pub(crate) threads: Option<usize>,
    /// Spreads the runs over these processors (train)
    #[arg(long, value_name = "ENGINE", default_value = "local")]
    pub(crate) engine: Engine,
    /// Writes JSON in place of text (evaluate)
    #[arg(long)]
    pub(crate) json: bool,
}

impl RemyOptions {
    /// Returns a sentence if the command line does not say enough.
    pub fn refusal(&self) -> Option<String> {
        let has_one = (self.tables.len() == 1, "name one table");
        let has_prior = (self.prior.is_some(), "name a prior");
        let out = self.out.as_deref();
        let (example, needs) = match self.action {
            Action::Worker => return None,
            Action::Describe => ("describe table.dna", vec![has_one]),
            Action::Convert => {
                let has_out = (out.is_some(), "name the file with --out");
                ("convert table.dna --out table.toml", vec![has_one, has_out])
            }
            Action::Evaluate => {
                let has_table = (!self.tables.is_empty(), "name a table");
                ("evaluate table.toml --prior prior.toml", vec![has_prior, has_table])
            }
            Action::Train => {
                let has_out = (out.is_some(), "name the table with --out");
                let is_readable =
                    out.is_some_and(|it| it.extension().is_some_and(|it| it == "toml"));
                let is_readable = (is_readable, "a search writes a readable table");
                ("train --prior prior.toml --out table.toml", vec![has_prior, has_out, is_readable])
            }
        };
        let (_, missing) = needs.into_iter().find(|(is_there, _)| !is_there)?;
        Some(format!("{missing}, as in: rove-lab remy {example}"))
    }

    pub(crate) fn prior(&self) -> &Path {
        self.prior.as_deref().expect("a checked command line names a prior")
    }

    pub(crate) fn out(&self) -> &Path {
        self.out.as_deref().expect("a checked command line names a file")
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(parallel::processors)
    }
}
