//! `rove-lab replay`: types recorded keys again, at rove's own client and server, over an emulated path in virtual
//! time. It measures how soon and how correctly the keys are answered.
//!
//! `options` are the command line. `script` makes a recording ready. `client_end` and `server_end` are the two sides,
//! and `run` puts them at the ends of a path. `judge` judges the user's screens, and `origin` sorts mistakes.
//! `figures` and `table` say how many keys were answered how soon. `explain` and `reasons` say why. `mechanisms` names
//! the mechanisms of engine and sender. `ablation` compares runs with and without a mechanism of the engine.

use core::ops::Range;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path as FilePath;

use anyhow::{Context, Result, anyhow};
use rove_flows::path::Path;
use rove_runs::parallel::{self, tell_progress};
use rove_runs::report;
use rove_runs::shown;
use rove_session::{Mechanism, Prediction};
use serde::Serialize;

use self::ablation::{Case, Row};
use self::figures::Figures;
pub use self::run::{Ends, Run, RunOptions, SETTLING, TAIL};
use self::script::Script;
pub use self::server_end::CLEAR;
use self::table::Named;
use crate::trace::Trace;

mod ablation;
mod client_end;
mod explain;
pub mod figures;
mod flattener;
pub(crate) mod flicker;
pub mod judge;
mod mechanisms;
mod options;
pub mod origin;
pub mod pace;
mod picture;
mod queries;
mod reasons;
mod run;
pub mod script;
mod server_end;
mod table;
#[cfg(test)]
mod tests;

pub use options::ReplayOptions;
pub use pace::Pace;

/// Fewest runs for which progress is shown. Chosen: some seconds of work.
const LONG_WORK: usize = 20;

/// A run to be done: a recording and its options.
struct Job<'a> {
    script: &'a Script,
    options: RunOptions,
}

/// Replays all recordings, and writes tables or JSON to `output`. The names of recordings that were left out of a
/// directory go to `notes`.
///
/// # Errors
///
/// Returns an error if a recording cannot be read or played, or `output` cannot be written.
pub fn run(options: &ReplayOptions, output: impl Write, notes: impl Write) -> Result<()> {
    let scripts = scripts(options, notes)?;
    let mut paths = options.links.clone();
    paths.iter_mut().try_for_each(Path::load)?;
    let output = BufWriter::new(output);
    if options.ablate {
        ablate(options, &scripts, &paths, output)
    } else {
        replay(options, &scripts, &paths, output)
    }
}

/// Replays all recordings over all paths with all seeds.
fn replay(
    options: &ReplayOptions,
    scripts: &[Script],
    paths: &[Path],
    mut output: impl Write,
) -> Result<()> {
    let mut jobs = Vec::new();
    for path in paths {
        for script in scripts {
            for seed in seeds(options) {
                jobs.push(Job { script, options: run_options(options, path, seed) });
            }
        }
    }
    let runs = play_all(&jobs, |_, run| run)?;
    let written = if options.json {
        write_json(&mut output, options, &jobs, &runs)
    } else {
        write_text(&mut output, options, &jobs, &runs)
    };
    written.and_then(|()| output.flush()).map_err(shown::refused)
}

/// Replays all recordings with all mechanisms of the engine and without each in turn, and writes the differences.
fn ablate(
    options: &ReplayOptions,
    scripts: &[Script],
    paths: &[Path],
    mut output: impl Write,
) -> Result<()> {
    let mechanisms = options.prediction().mechanisms;
    let has = |mechanism: &Mechanism| mechanisms.contains(*mechanism);
    let without = || [None].into_iter().chain(mechanisms::all().filter(has).map(Some));
    let mut jobs = Vec::new();
    for (path, mechanism) in paths.iter().flat_map(|path| without().map(move |it| (path, it))) {
        for (script, seed) in scripts.iter().flat_map(|it| seeds(options).map(move |n| (it, n))) {
            let mut options = run_options(options, path, seed);
            if let Some(mechanism) = mechanism {
                options.prediction.mechanisms = mechanisms.without(mechanism);
            }
            jobs.push(Job { script, options });
        }
    }
    let mut cases = play_all(&jobs, |job, run| Case::of(job.script, &run))?.into_iter();
    let mut rows = Vec::new();
    for (path, without) in paths.iter().flat_map(|path| without().map(move |it| (path, it))) {
        let of_script = scripts.iter().map(|script| {
            let mut sum = Case::default();
            let of_seeds = cases.by_ref().take(seeds(options).count());
            of_seeds.for_each(|case| sum.merge(&case));
            (script.name.clone(), sum)
        });
        rows.push(Row { link: path.text.clone(), without, cases: of_script.collect() });
    }
    let tables = ablation::tables(&rows);
    let written = if options.json {
        let lists = BTreeMap::from([("ablation", tables)]);
        let json = report::json(&Report { how: How::of(options), lists });
        output.write_all(json.as_bytes())
    } else {
        let how = format!(
            "predict {}{}, pace {}, seeds {}; points of instant keys, and keys with something wrong",
            options.prediction().preference.name(),
            memory_of(options),
            options.pace.name(),
            seeds_of(options),
        );
        ablation::write_text(&mut output, &how, &tables)
    };
    written.and_then(|()| output.flush()).map_err(shown::refused)
}

fn seeds(options: &ReplayOptions) -> Range<u64> {
    options.seed..options.seed.saturating_add(options.seeds)
}

fn seeds_of(options: &ReplayOptions) -> String {
    format!("{} to {}", options.seed, options.seed.saturating_add(options.seeds - 1))
}

/// Returns the words by which a table says whether prompts were remembered.
const fn memory_of(options: &ReplayOptions) -> &'static str {
    if options.prompt_memory { " with a memory of prompts" } else { "" }
}

/// Reads the recordings, and leaves out those of a directory that cannot be played.
fn scripts(options: &ReplayOptions, mut notes: impl Write) -> Result<Vec<Script>> {
    let (mut scripts, mut refused) = (Vec::new(), Vec::new());
    for path in &options.files()? {
        match script(path, options.first()) {
            Ok(script) => scripts.push(script),
            Err(error) if options.is_directory() => refused.push(error),
            Err(error) => return Err(error),
        }
    }
    if scripts.is_empty()
        && let Some(error) = refused.pop()
    {
        return Err(error);
    }
    for error in refused {
        // A write to `notes` fails if nobody reads them.
        let _ = writeln!(notes, "rove-lab replay: {error:#}; it is left out");
    }
    Ok(scripts)
}

fn script(path: &FilePath, first: Option<usize>) -> Result<Script> {
    let (name, trace) = read(path)?;
    let shown = path.display();
    Script::new(name, trace, first).with_context(|| format!("{shown} cannot be replayed"))
}

/// Reads a recording. Returns its name and its trace.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or is no recording.
pub fn read(path: &FilePath) -> Result<(String, Trace)> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let trace = Trace::read(BufReader::new(file)).with_context(|| format!("{shown}"))?;
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok((name, trace))
}

fn run_options(options: &ReplayOptions, path: &Path, seed: u64) -> RunOptions {
    RunOptions {
        pace: options.pace,
        seed,
        host_delay: options.host_delay,
        prompt_memory: options.prompt_memory,
        reference: options.reference,
        sender_without: options.sender_without.clone(),
        explain: options.explain.is_some(),
        ..RunOptions::new(options.prediction(), options.ends(), path.clone())
    }
}

/// Plays a recording once.
///
/// # Errors
///
/// Returns an error if the recording cannot be played, or the session does not begin.
pub fn play(name: &str, trace: Trace, options: &RunOptions) -> Result<(Script, Run)> {
    let script = Script::new(name.to_owned(), trace, None)
        .with_context(|| format!("{name} cannot be replayed"))?;
    let run = run::play(&script, options).map_err(|sentence| anyhow!("{name}: {sentence}"))?;
    Ok((script, run))
}

/// Plays all jobs on all processors. Returns what `keep` makes of each result, in the order of the jobs.
fn play_all<T: Send>(jobs: &[Job<'_>], keep: impl Fn(&Job<'_>, Run) -> T + Sync) -> Result<Vec<T>> {
    let play = |job: &Job<'_>| {
        let run = run::play(job.script, &job.options).map(|run| keep(job, run));
        run.map_err(|sentence| anyhow!("{}: {sentence}", job.script.name))
    };
    let is_long = jobs.len() >= LONG_WORK;
    let progress = |done| {
        if is_long {
            tell_progress("", done, jobs.len());
        }
    };
    parallel::try_map(jobs, play, progress)
}

/// Writes a table for each path, with a row for each recording over all seeds, and a row for all recordings.
fn write_text(
    output: &mut impl Write,
    options: &ReplayOptions,
    jobs: &[Job<'_>],
    runs: &[Run],
) -> io::Result<()> {
    let all: Vec<(&Job<'_>, &Run)> = jobs.iter().zip(runs).collect();
    for of_path in all.chunk_by(|(a, _), (b, _)| a.options.path == b.options.path) {
        let Some((job, _)) = of_path.first() else { continue };
        writeln!(
            output,
            "engine {}, predict {}{}, link {}, pace {}, seeds {}; shares of instant keys, times in ms",
            options.engine,
            options.prediction().preference.name(),
            memory_of(options),
            job.options.path.text,
            options.pace.name(),
            seeds_of(options),
        )?;
        writeln!(output, "{}", report::heading(table::LAYOUT))?;
        let mut pool = Figures::default();
        for of_trace in of_path.chunk_by(|(a, _), (b, _)| core::ptr::eq(a.script, b.script)) {
            let mut figures = Figures::default();
            of_trace.iter().for_each(|(job, run)| figures.merge(&Figures::of(job.script, run)));
            let named = of_all(&of_trace[0].0.script.name, &figures);
            writeln!(output, "{}", table::text(&named))?;
            pool.merge(&figures);
        }
        if of_path.len() > 1 {
            writeln!(output, "{}", table::text(&of_all(ablation::ALL, &pool)))?;
        }
        writeln!(output)?;
    }
    let Some(explained) = options.explain else { return Ok(()) };
    for (job, run) in &all {
        let (name, seed) = (&job.script.name, job.options.seed);
        writeln!(output, "{name}, link {}, seed {seed}", job.options.path.text)?;
        match explained.map(|key| usize::try_from(key).unwrap_or(usize::MAX)) {
            Some(key) => reasons::write(output, job.script, run, key)?,
            None => explain::write(output, job.script, run)?,
        }
        writeln!(output)?;
    }
    if explained.is_none() {
        reasons::write_losses(output, all.iter().map(|(job, run)| (job.script, *run)))?;
    }
    Ok(())
}

/// Returns a row named `trace`, with the figures of one or more recordings over all seeds.
fn of_all<'a>(trace: &'a str, figures: &Figures) -> Named<'a> {
    Named { trace: Some(trace), link: None, seed: None, row: figures.row() }
}

/// Writes all results as one JSON object.
fn write_json(
    output: &mut impl Write,
    options: &ReplayOptions,
    jobs: &[Job<'_>],
    runs: &[Run],
) -> io::Result<()> {
    let mut pools: Vec<(&str, Figures)> = Vec::new();
    let mut list = Vec::new();
    for (job, run) in jobs.iter().zip(runs) {
        let figures = Figures::of(job.script, run);
        let link = job.options.path.text.as_str();
        let (trace, seed) = (Some(job.script.name.as_str()), Some(job.options.seed));
        list.push(Named { trace, link: Some(link), seed, row: figures.row() });
        match pools.last_mut().filter(|pool| pool.0 == link) {
            Some(pool) => pool.1.merge(&figures),
            None => pools.push((link, figures)),
        }
    }
    let pooled = pools.iter().map(|(link, figures)| Named {
        trace: None,
        link: Some(link),
        seed: None,
        row: figures.row(),
    });
    let lists = BTreeMap::from([("pooled", pooled.collect()), ("runs", list)]);
    output.write_all(report::json(&Report { how: How::of(options), lists }).as_bytes())
}

/// The JSON output: lists of results, each under its name.
#[derive(Serialize)]
struct Report<T> {
    #[serde(flatten)]
    how: How,
    #[serde(flatten)]
    lists: BTreeMap<&'static str, Vec<T>>,
}

/// The options with which all runs were played.
#[derive(Serialize)]
struct How {
    engine: String,
    predict: &'static str,
    without: Vec<&'static str>,
    pace: String,
    host_delay_ms: f64,
    prompt_memory: bool,
    ends: String,
    reference: Option<String>,
    sender_without: Vec<&'static str>,
    first: Option<usize>,
}

impl How {
    fn of(options: &ReplayOptions) -> Self {
        let Prediction { preference, mechanisms, .. } = options.prediction();
        let without = mechanisms::all().filter(|mechanism| !mechanisms.contains(*mechanism));
        let sender_without = options.sender_without.iter().copied();
        Self {
            engine: options.engine.to_string(),
            predict: preference.name(),
            without: without.map(mechanisms::name).collect(),
            pace: options.pace.name(),
            host_delay_ms: figures::millis(options.host_delay),
            prompt_memory: options.prompt_memory,
            ends: format!("{:?}", options.ends()).to_lowercase(),
            reference: options.reference.map(|it| format!("{it:?}").to_lowercase()),
            sender_without: sender_without.map(mechanisms::sender_name).collect(),
            first: options.first(),
        }
    }
}
