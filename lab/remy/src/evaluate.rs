//! `rove-lab remy evaluate`: the scores of tables on each network of a prior.

use std::io::Write;

use anyhow::{Context, Result, anyhow};
use rove_congestion::remy::Table;
use rove_platform::clock::Clock;
use rove_runs::report;
use rove_runs::statistics::mean;
use rove_units::Seed;
use serde::Serialize;

use crate::baseline::{Baseline, Driven};
use crate::control::{Control, Ruled};
use crate::evaluator::Evaluator;
use crate::fault::Fault;
use crate::network::{Keys, Outcome};
use crate::objective::Normalisation;
use crate::options::RemyOptions;
use crate::prior::Prior;
use crate::tables;
use crate::terms::Terms;
use crate::training_network::TrainingNetwork;
use crate::uses;
use crate::workers::Workers;

/// Evaluates tables and baselines. Writes the score of each, and the figures of the senders on each network.
///
/// # Errors
///
/// Returns an error if a file cannot be used, an evaluation fails or `output` cannot be written.
pub(crate) fn evaluate(options: &RemyOptions, mut output: impl Write) -> Result<()> {
    let (networks, terms) = networks(options)?;
    let workers = Workers::Threads(options.threads());
    let evaluator = Evaluator { networks: &networks, terms, workers: &workers };
    let mut all = Vec::new();
    for file in &options.tables {
        let clock = Clock::start();
        let shown = file.display().to_string();
        let mut worth = match Baseline::ALL.iter().find(|(name, _)| **name == *shown) {
            Some((_, baseline)) => worth(&evaluator, |_| Driven::new(*baseline))?,
            None => {
                let table = tables::read(file)?;
                worth(&evaluator, |_| Ruled::new(&table, None))?
            }
        };
        (worth.table, worth.seconds) = (shown, clock.now().as_nanos() as f64 * 1e-9);
        if !options.json {
            writeln!(output, "{}", worth.text()).context("cannot write standard output")?;
        }
        all.push(worth);
    }
    if options.json {
        let text = report::json(&all);
        output.write_all(text.as_bytes()).context("cannot write standard output")?;
    }
    Ok(())
}

/// Writes which rules of a table are used on the networks of a prior.
///
/// # Errors
///
/// Returns an error as [`evaluate`] does.
pub(crate) fn uses(table: &Table, options: &RemyOptions, mut output: impl Write) -> Result<()> {
    let (networks, terms) = networks(options)?;
    let workers = Workers::Threads(options.threads());
    let evaluator = Evaluator { networks: &networks, terms, workers: &workers };
    let text = uses::text(table, &evaluator)?;
    output.write_all(text.as_bytes()).context("cannot write standard output")
}

/// Returns the networks of a prior, and the terms on which tables run.
fn networks(options: &RemyOptions) -> Result<(Vec<TrainingNetwork>, Terms)> {
    let prior = Prior::read(options.prior())?;
    let networks = prior.networks(Seed::new(options.seed)).map_err(|sentence| anyhow!(sentence))?;
    let RemyOptions { objective, seed, .. } = *options;
    Ok((networks, Terms { objective, seed, length_ms: prior.length_s * 1e3 }))
}

/// The score of a controller over all networks, and its figures.
#[derive(Default, Serialize)]
struct Worth {
    table: String,
    score: f64,
    specimens: Vec<Specimen>,
    events: u64,
    packets: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Specimen {
    specimen: TrainingNetwork,
    score: f64,
    senders: Vec<Sender>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<KeyFigures>,
}

#[derive(Serialize)]
struct Sender {
    received: u64,
    share_of_link: Option<f64>,
    packets_per_ms_on: Option<f64>,
    delay_ms: Option<f64>,
    delay_by_rtt: Option<f64>,
}

#[derive(Serialize)]
struct KeyFigures {
    received: u64,
    lost: u64,
    delay_ms: Option<f64>,
}

/// Runs a controller on all networks.
fn worth<C: Control + Send>(
    evaluator: &Evaluator<'_>,
    control: impl Fn(usize) -> C + Sync,
) -> Result<Worth, Fault> {
    let mut worth = Worth::default();
    for (network, run) in evaluator.networks.iter().zip(evaluator.run_all(control)) {
        let run = run?;
        let score = evaluator.terms.objective.score(&run.outcomes, &run.keys);
        let senders = run.outcomes.iter().map(|it| Sender::of(it, network)).collect();
        let Keys { received, lost, .. } = run.keys;
        let keys = KeyFigures { received, lost, delay_ms: run.keys.delay_ms() };
        let keys = network.typing.map(|_| keys);
        worth.score += score;
        worth.specimens.push(Specimen { specimen: *network, score, senders, keys });
        worth.events += run.events;
        worth.packets += run.outcomes.iter().map(|outcome| outcome.received).sum::<u64>();
    }
    debug_assert_eq!(worth.specimens.len(), evaluator.networks.len(), "each network has its row");
    Ok(worth)
}

impl Worth {
    /// Returns the evaluation as text, with a line for each network.
    fn text(&self) -> String {
        let Self { table, score, seconds, .. } = self;
        let [events, packets] = [self.events, self.packets].map(|it| it as f64 * 1e-6 / seconds);
        let rows: String = self.specimens.iter().map(|row| row.text() + "\n").collect();
        let mean = score / self.specimens.len() as f64;
        format!(
            "{table}: score {score:.4}, of a specimen {mean:.4}\n{rows}  {events:.1} million events and {packets:.1} million \
             packets a second ({seconds:.1} s)"
        )
    }
}

impl Sender {
    fn of(outcome: &Outcome, network: &TrainingNetwork) -> Self {
        let share = outcome.throughput(Normalisation::Share);
        Self {
            received: outcome.received,
            share_of_link: share.map(|share| share / network.packets_per_ms),
            packets_per_ms_on: outcome.throughput(Normalisation::OnTime),
            delay_ms: outcome.delay_ms(),
            delay_by_rtt: outcome.delay_ms().map(|delay| delay / network.rtt_ms),
        }
    }
}

impl Specimen {
    /// Returns the figures of a network as a line of text.
    fn text(&self) -> String {
        let mean = |figure: fn(&Sender) -> Option<f64>, digits: usize| {
            let values: Vec<f64> = self.senders.iter().filter_map(figure).collect();
            mean(&values).map_or_else(|| "-".to_owned(), |mean| format!("{mean:.digits$}"))
        };
        let TrainingNetwork { packets_per_ms, rtt_ms, senders, .. } = self.specimen;
        let keys = self.keys.as_ref().and_then(|keys| keys.delay_ms);
        let keys = keys.map_or_else(String::new, |delay| format!(", keys {delay:.1} ms"));
        format!(
            "  {packets_per_ms:7.3} packets/ms, {rtt_ms:3} ms, {senders:2} senders: share {} of the link, delay {} ms \
             ({} of the round trip){keys}, score {:.3}",
            mean(|it| it.share_of_link, 3),
            mean(|it| it.delay_ms, 1),
            mean(|it| it.delay_by_rtt, 3),
            self.score,
        )
    }
}
