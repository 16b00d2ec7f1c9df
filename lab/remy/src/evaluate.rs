//! `rove-lab remy evaluate`: what tables are worth on a prior, network by network.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use rove_congestion::remy::Table;
use rove_platform::clock::Clock;
use rove_units::Seed;
use serde_json::{Value, json};

use crate::baseline::{Baseline, Driven};
use crate::control::{Control, Ruled};
use crate::evaluator::Evaluator;
use crate::fault::Fault;
use crate::network::Outcome;
use crate::objective::{Normalisation, Objective};
use crate::prior::Prior;
use crate::tables;
use crate::terms::Terms;
use crate::training_network::TrainingNetwork;
use crate::uses;
use crate::workers::Workers;

/// An evaluation as it is asked for.
#[derive(Clone, Debug)]
pub struct EvaluateOptions {
    /// The files of the tables, or names of baselines.
    pub tables: Vec<PathBuf>,
    /// The file of the prior.
    pub prior: PathBuf,
    /// The worth of throughput and delay.
    pub objective: Objective,
    /// Decides all chance.
    pub seed: u64,
    /// How many threads work at once.
    pub threads: usize,
    /// Whether the output is JSON.
    pub json: bool,
}

/// Writes the score of each table, and the figures of each sender of each network.
///
/// # Errors
///
/// Returns an error if a file cannot be used, an evaluation fails or `output` cannot be written.
pub(crate) fn evaluate(options: &EvaluateOptions, mut output: impl Write) -> Result<()> {
    if options.tables.is_empty() {
        bail!("name the tables that are to be evaluated");
    }
    let (networks, terms) = networks(options)?;
    let workers = Workers::Threads(options.threads);
    let evaluator = Evaluator { networks: &networks, terms, workers: &workers };
    let mut all = Vec::new();
    for file in &options.tables {
        let clock = Clock::start();
        let shown = file.display().to_string();
        let worth = match Baseline::ALL.iter().find(|(name, _)| **name == *shown) {
            Some((_, baseline)) => worth(&evaluator, |_| Driven::new(*baseline))?,
            None => {
                let table = tables::read(file)?;
                worth(&evaluator, |_| Ruled::new(&table, None))?
            }
        };
        let seconds = clock.now().as_nanos() as f64 * 1e-9;
        if !options.json {
            writeln!(output, "{shown}: {}", worth.text(seconds))
                .context("cannot write standard output")?;
        }
        all.push(json!({
            "table": shown,
            "score": worth.score(),
            "specimens": worth.rows,
            "events": worth.events,
            "packets": worth.packets,
            "seconds": seconds,
        }));
    }
    if options.json {
        let text = serde_json::to_string_pretty(&all).context("cannot write JSON")?;
        writeln!(output, "{text}").context("cannot write standard output")?;
    }
    Ok(())
}

/// Writes which rules of a table the networks of a prior use.
///
/// # Errors
///
/// Returns an error as [`evaluate`] does.
pub(crate) fn uses(table: &Table, options: &EvaluateOptions, mut output: impl Write) -> Result<()> {
    let (networks, terms) = networks(options)?;
    let workers = Workers::Threads(options.threads);
    let evaluator = Evaluator { networks: &networks, terms, workers: &workers };
    let text = uses::text(table, &evaluator)?;
    output.write_all(text.as_bytes()).context("cannot write standard output")
}

/// Returns the networks of a prior, and the terms.
fn networks(options: &EvaluateOptions) -> Result<(Vec<TrainingNetwork>, Terms)> {
    let prior = Prior::read(&options.prior)?;
    let networks = prior.networks(Seed::new(options.seed)).map_err(|sentence| anyhow!(sentence))?;
    let EvaluateOptions { objective, seed, .. } = *options;
    Ok((networks, Terms { objective, seed, length_ms: prior.length_s * 1e3 }))
}

/// The worth of a controller on all networks.
struct Worth {
    scores: Vec<f64>,
    rows: Vec<Value>,
    events: u64,
    packets: u64,
}

/// Runs a controller on all networks.
fn worth<C: Control + Send>(
    evaluator: &Evaluator<'_>,
    control: impl Fn(usize) -> C + Sync,
) -> Result<Worth, Fault> {
    let mut worth = Worth { scores: Vec::new(), rows: Vec::new(), events: 0, packets: 0 };
    for (network, run) in evaluator.networks.iter().zip(evaluator.run_all(control)) {
        let run = run?;
        let score = evaluator.terms.objective.score(&run.outcomes, &run.keys);
        let senders: Vec<Value> = run.outcomes.iter().map(|it| sender(it, network)).collect();
        worth.scores.push(score);
        let mut row = json!({ "specimen": network, "score": score, "senders": senders });
        if network.typing.is_some() {
            let keys = run.keys;
            row["keys"] = json!({
                "received": keys.received,
                "lost": keys.lost,
                "delay_ms": keys.delay_ms(),
            });
        }
        worth.rows.push(row);
        worth.events += run.events;
        worth.packets += run.outcomes.iter().map(|outcome| outcome.received).sum::<u64>();
    }
    debug_assert_eq!(worth.rows.len(), evaluator.networks.len(), "each network has its row");
    Ok(worth)
}

impl Worth {
    fn score(&self) -> f64 {
        self.scores.iter().sum()
    }

    /// Returns the evaluation as text.
    fn text(&self, seconds: f64) -> String {
        let [events, packets] = [self.events, self.packets].map(|it| it as f64 * 1e-6 / seconds);
        let rows: String = self.rows.iter().map(|row| text(row) + "\n").collect();
        let score = self.score();
        let mean = score / self.rows.len() as f64;
        format!(
            "score {score:.4}, of a specimen {mean:.4}\n{rows}  {events:.1} million events and {packets:.1} million \
             packets a second ({seconds:.1} s)"
        )
    }
}

/// Returns the figures of a sender.
fn sender(outcome: &Outcome, network: &TrainingNetwork) -> Value {
    let share = outcome.throughput(Normalisation::Share);
    let on = outcome.throughput(Normalisation::OnTime);
    json!({
        "received": outcome.received,
        "share_of_link": share.map(|share| share / network.packets_per_ms),
        "packets_per_ms_on": on,
        "delay_ms": outcome.delay_ms(),
        "delay_by_rtt": outcome.delay_ms().map(|delay| delay / network.rtt_ms),
    })
}

/// Returns the figures of a network as a line.
fn text(row: &Value) -> String {
    let mean = |name: &str| {
        let values = row["senders"].as_array().into_iter().flatten();
        let values: Vec<f64> = values.filter_map(|sender| sender[name].as_f64()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let of = |name: &str| row["specimen"][name].as_f64().unwrap_or_default();
    let keys = row["keys"]["delay_ms"].as_f64();
    let keys = keys.map_or_else(String::new, |delay| format!(", keys {delay:.1} ms"));
    format!(
        "  {:7.3} packets/ms, {:3} ms, {:2} senders: share {:.3} of the link, delay {:.1} ms ({:.3} of the round \
         trip){keys}, score {:.3}",
        of("packets_per_ms"),
        of("rtt_ms"),
        of("senders"),
        mean("share_of_link"),
        mean("delay_ms"),
        mean("delay_by_rtt"),
        row["score"].as_f64().unwrap_or_default(),
    )
}
