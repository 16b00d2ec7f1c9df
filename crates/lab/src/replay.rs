//! `rove-lab replay`: recorded keys typed once more, through the client and the server that ship, over an
//! emulated path in virtual time; and how soon and how truly they were answered.
//!
//! [`mod@script`] makes a recording ready, [`near`] and [`far`] are the two sides, [`mod@run`] puts them at the ends of
//! a path, [`judge`] judges what the user sees, [`figures`], [`table`] and [`explain`] say what came of it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use rove_session::Prediction;
use rove_units::Duration;
use serde_json::{Value, json};

use self::figures::Figures;
pub(crate) use self::run::Ends;
use self::run::{Run, RunOptions};
use self::script::Script;
use crate::path::Path;
use crate::trace::Trace;

#[cfg(test)]
mod corpus;
mod explain;
mod far;
mod figures;
mod judge;
mod near;
mod picture;
mod queries;
mod run;
mod script;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use near::Pace;

/// From so many runs on a person is told how far they are. Chosen: some seconds of work.
const LONG_WORK: usize = 20;

/// What to replay, and how.
#[derive(Clone, Debug)]
pub(crate) struct ReplayOptions {
    /// The recordings.
    pub(crate) traces: Vec<PathBuf>,
    pub(crate) prediction: Prediction,
    /// The engine's name, as it was asked for.
    pub(crate) engine: &'static str,
    pub(crate) pace: Pace,
    /// The paths; every recording is played over each.
    pub(crate) paths: Vec<Path>,
    /// The first seed.
    pub(crate) seed: u64,
    /// How many seeds follow one another.
    pub(crate) seeds: u64,
    /// Only so many keys of each recording.
    pub(crate) first: Option<usize>,
    /// How late the program on the far side reads a key.
    pub(crate) host_delay: Duration,
    pub(crate) ends: Ends,
    pub(crate) json: bool,
    pub(crate) explain: bool,
}

/// One run to be done, and its place among all.
struct Job<'a> {
    script: &'a Script,
    options: RunOptions,
}

/// Replays all recordings and writes to `output` what came of it.
///
/// # Errors
///
/// Returns an error if a recording cannot be read or played, or `output` cannot be written.
pub(crate) fn run(options: &ReplayOptions, output: impl Write) -> Result<()> {
    let scripts: Vec<Script> =
        options.traces.iter().map(|path| script(path, options.first)).collect::<Result<_>>()?;
    let mut jobs = Vec::new();
    let mut paths = options.paths.clone();
    paths.iter_mut().try_for_each(Path::load)?;
    for path in &paths {
        for script in &scripts {
            for seed in options.seed..options.seed.saturating_add(options.seeds) {
                jobs.push(Job { script, options: run_options(options, path, seed) });
            }
        }
    }
    let runs = play_all(&jobs)?;
    let mut output = BufWriter::new(output);
    let written = if options.json {
        write_json(&mut output, options, &jobs, &runs)
    } else {
        write_text(&mut output, options, &jobs, &runs)
    };
    written.and_then(|()| output.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => {
            anyhow!("standard output was closed by its reader before everything was written")
        }
        _ => anyhow!(error).context("cannot write standard output"),
    })
}

fn script(path: &PathBuf, first: Option<usize>) -> Result<Script> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let trace = Trace::read(BufReader::new(file)).with_context(|| format!("{shown}"))?;
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Script::new(name, trace, first).with_context(|| format!("{shown} cannot be replayed"))
}

fn run_options(options: &ReplayOptions, path: &Path, seed: u64) -> RunOptions {
    RunOptions {
        prediction: options.prediction,
        pace: options.pace,
        path: path.clone(),
        seed,
        host_delay: options.host_delay,
        ends: options.ends,
        explain: options.explain,
    }
}

/// Plays all jobs on all processors; the results are in the order of the jobs.
fn play_all(jobs: &[Job<'_>]) -> Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    let workers = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { return };
                    let run = run::play(job.script, &job.options);
                    let mut done = done.lock().expect("no worker panics while it holds this");
                    done.push((number, run));
                    tell_progress(done.len(), jobs.len());
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics while it holds this");
    done.sort_unstable_by_key(|(number, _)| *number);
    let runs = done.into_iter().map(|(number, run)| {
        run.map_err(|sentence| anyhow!("{}: {sentence}", jobs[number].script.name))
    });
    runs.collect()
}

/// Tells a person who waits how far it is.
fn tell_progress(done: usize, all: usize) {
    if all < LONG_WORK || !io::stderr().is_terminal() {
        return;
    }
    let end = if done == all { "\r\x1b[K" } else { "" };
    let _ = write!(io::stderr(), "\r{done} of {all} runs{end}");
}

/// Writes tables: for each path its recordings, each over all seeds, and all of them together.
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
            "engine {}, predict {}, link {}, pace {}, seeds {} to {}; shares of instant keys, times in ms",
            options.engine,
            options.prediction.preference.name(),
            job.options.path.text,
            format!("{:?}", options.pace).to_lowercase(),
            options.seed,
            options.seed.saturating_add(options.seeds - 1),
        )?;
        table::heading(output)?;
        let mut pool = Figures::default();
        for of_trace in of_path.chunk_by(|(a, _), (b, _)| core::ptr::eq(a.script, b.script)) {
            let mut figures = Figures::default();
            of_trace.iter().for_each(|(job, run)| figures.merge(&Figures::of(job.script, run)));
            table::row(output, &of_trace[0].0.script.name, &figures)?;
            pool.merge(&figures);
        }
        if of_path.len() > 1 {
            table::row(output, "all together", &pool)?;
        }
        writeln!(output)?;
    }
    for (job, run) in all.iter().filter(|_| options.explain) {
        let (name, seed) = (&job.script.name, job.options.seed);
        writeln!(output, "{name}, link {}, seed {seed}", job.options.path.text)?;
        explain::write(output, job.script, run)?;
        writeln!(output)?;
    }
    Ok(())
}

/// Writes everything as one object.
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
        let mut object = figures.to_json();
        object["trace"] = json!(job.script.name);
        object["link"] = json!(link);
        object["seed"] = json!(job.options.seed);
        list.push(object);
        match pools.last_mut().filter(|pool| pool.0 == link) {
            Some(pool) => pool.1.merge(&figures),
            None => pools.push((link, figures)),
        }
    }
    let pools: Vec<Value> = pools
        .into_iter()
        .map(|(link, figures)| {
            let mut object = figures.to_json();
            object["link"] = json!(link);
            object
        })
        .collect();
    let report = json!({
        "engine": options.engine,
        "predict": options.prediction.preference.name(),
        "pace": format!("{:?}", options.pace).to_lowercase(),
        "host_delay_ms": figures::millis(options.host_delay),
        "ends": format!("{:?}", options.ends).to_lowercase(),
        "first": options.first,
        "runs": list,
        "pooled": pools,
    });
    serde_json::to_writer_pretty(&mut *output, &report)?;
    writeln!(output)
}
