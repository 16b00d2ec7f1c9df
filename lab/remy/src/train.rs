//! `rove-lab remy train`: runs a search, and writes its progress, its checkpoints and its result.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use rove_congestion::remy::{Action, Table};
use rove_platform::clock::Clock;
use rove_runs::files::{check_writable, write_whole};
use rove_runs::parallel::Engine;
use rove_runs::ray::Pool;
use rove_units::Seed;

use crate::checkpoint::{Checkpoint, file_of};
use crate::options::RemyOptions;
use crate::prior::Prior;
use crate::search::{Search, State, Step};
use crate::tables;
use crate::workers::Workers;

/// Searches for a table until the options end the search. Continues from the table's checkpoint if there is one.
///
/// # Errors
///
/// Returns an error if the prior or a checkpoint is not usable, a file cannot be written, or an evaluation fails.
pub(crate) fn train(options: &RemyOptions, mut progress: impl Write) -> Result<()> {
    let shown = options.prior().display();
    let prior = Prior::read(options.prior())?;
    let text =
        fs::read_to_string(options.prior()).with_context(|| format!("cannot read {shown}"))?;
    let seed = Seed::new(options.seed);
    let networks = prior.networks(seed).map_err(|sentence| anyhow!("{shown}: {sentence}"))?;
    let file = file_of(options.out());
    let mut checkpoint = begun(options, &prior, text)?;
    check_writable(options.out())?;
    let workers = workers(options, &mut progress)?;
    // Another seed, which no step has, draws the held-out networks.
    let others = Seed::new(seed.stream("remy.held-out").at(0).bits());
    let held_out = prior.networks(others).map_err(|sentence| anyhow!("{shown}: {sentence}"))?;
    let mut search = Search {
        prior: &prior,
        networks: &networks,
        held_out: &held_out,
        objective: options.objective,
        seed,
        workers: &workers,
        state: checkpoint.state.clone(),
    };
    let before = checkpoint.seconds;
    let clock = Clock::start();
    let elapsed = || clock.now().as_nanos() as f64 * 1e-9;
    loop {
        let is_late = options.minutes.is_some_and(|minutes| elapsed() > minutes * 60.0);
        let has_steps = options.steps.is_some_and(|steps| search.state.steps >= steps);
        if is_late || has_steps || search.state.epoch >= options.epochs {
            break;
        }
        let step = search.step()?;
        tell(&mut progress, before + elapsed(), &search, &step);
        checkpoint.seconds = before + elapsed();
        checkpoint.state.clone_from(&search.state);
        checkpoint.write(&file)?;
        if let Step::Split { score, .. } = step {
            write_table(options, &search, &search.state.grown.table, score, before + elapsed())?;
        }
        if step == Step::Done {
            break;
        }
    }
    // The improvements since the last split stay only if they are better in the long run.
    let State { grown, backup, backup_score, .. } = &search.state;
    let score = search.long_score()?;
    let (table, score) = match backup_score.filter(|older| *older >= score) {
        Some(older) => (&backup.table, older),
        None => (&grown.table, score),
    };
    let seconds = before + elapsed();
    write_table(options, &search, table, score, seconds)?;
    let (out, rules) = (options.out().display(), table.rules().len());
    let _ = writeln!(progress, "{out}: {rules} rules, score {score:.4}, after {seconds:.0} s");
    Ok(())
}

/// Returns the checkpoint from which the search continues, or that of a new search. `text` is the prior's text.
fn begun(options: &RemyOptions, prior: &Prior, text: String) -> Result<Checkpoint> {
    let table = options.begin.as_deref().map(tables::read).transpose()?;
    let begin = table.as_ref().map(|table| [begin_of(options), table.to_readable()]);
    let (file, objective) = (file_of(options.out()), options.objective.to_string());
    if file.exists() {
        let checkpoint = Checkpoint::read(&file)?;
        let is_same = checkpoint.prior == text && checkpoint.objective == objective;
        ensure!(
            is_same && checkpoint.seed == options.seed && checkpoint.begin == begin,
            "{} is of a search with another prior, objective or seed, or another table to begin with; give the same ones to go \
             on, or delete it to begin again",
            file.display()
        );
        return Ok(checkpoint);
    }
    let state = table.map_or_else(|| State::first(prior), |table| Ok(State::from(table)))?;
    Ok(Checkpoint { prior: text, objective, seed: options.seed, begin, seconds: 0.0, state })
}

/// Returns the option that names the search's first table. Empty if the search began with a single rule.
fn begin_of(options: &RemyOptions) -> String {
    options.begin.as_deref().map_or_else(String::new, |it| format!(" --begin {}", name(it)))
}

/// Returns the name of a file without its folder.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the threads or the pool that the options choose.
fn workers(options: &RemyOptions, progress: &mut impl Write) -> Result<Workers> {
    let workers = match options.engine {
        Engine::Local => Workers::Threads(options.threads()),
        Engine::Ray => Workers::Pool(Pool::start(&["remy", "worker"], options.threads)?),
    };
    if let Workers::Pool(pool) = &workers {
        let _ = writeln!(progress, "{workers}: {}", pool.names.join(", "));
    }
    Ok(workers)
}

/// Writes a table, with remarks about the search that has found it.
fn write_table(
    options: &RemyOptions,
    search: &Search<'_>,
    grown: &Table,
    score: f64,
    seconds: f64,
) -> Result<()> {
    let State { epoch, steps, .. } = &search.state;
    let mut table = grown.clone();
    let (prior, out) = (name(options.prior()), name(options.out()));
    let networks = search.networks.len();
    let held_out = search.held_out_score(grown)?;
    let begin = begin_of(options);
    table.about = format!(
        "Found by search: {}\nScore {score:.4} (on others {held_out:.4}), summed over {}, after {epoch} splits, {steps} steps and {seconds:.0} s on {}.\n\
         Made with: rove-lab remy train --prior {prior} --objective {} --seed {}{begin} --steps {steps} --out {out}",
        search.prior.about.trim(),
        if networks == 1 { "1 specimen".to_owned() } else { format!("{networks} specimens") },
        search.workers,
        options.objective,
        options.seed,
    );
    write_whole(options.out(), &table.to_readable())
}

/// Writes a line about a step to `progress`.
fn tell(progress: &mut impl Write, seconds: f64, search: &Search<'_>, step: &Step) {
    let action = |it: &Action| {
        format!("window x {} {:+}, {} ms", it.multiple, it.increment, it.intersend_ms)
    };
    let State { epoch, generation, held_out, .. } = search.state;
    let line = match step {
        Step::Improved { rule, actions: [before, after], scores: [first, best], long }
            if before != after =>
        {
            let verdict = match (long, held_out) {
                (Some([older, newer]), _) if older >= newer => {
                    format!("no better in the long run: {older:.4}, not {newer:.4}")
                }
                (Some([older, newer]), Some(others)) => {
                    format!(
                        "in the long run {older:.4} -> {newer:.4}; on other specimens {others:.4}"
                    )
                }
                (_, others) => format!("on other specimens {:.4}", others.unwrap_or(f64::NAN)),
            };
            let [before, after] = [action(before), action(after)];
            format!("rule {rule}: {before} -> {after}; score {first:.4} -> {best:.4}; {verdict}")
        }
        Step::Improved { rule, scores: [first, _], .. } => {
            format!("rule {rule}: nothing better; score {first:.4}")
        }
        Step::Generation => "every rule has been improved".to_owned(),
        Step::Split { score, is_reverted: false, rules } => {
            format!("score {score:.4} in the long run; split into {rules} rules")
        }
        Step::Split { score, is_reverted: true, rules } => format!(
            "nothing better in the long run: back to the older table with {score:.4}; split into {rules} rules"
        ),
        Step::Done => "no rule can be split".to_owned(),
    };
    // If the progress cannot be written, the search continues.
    let _ = writeln!(progress, "{seconds:8.0} s  epoch {epoch}, generation {generation}: {line}");
}
