//! A sweep on Ray: workers make shards of its runs, and send back the lines of finished runs.
//!
//! The results equal those of runs on this computer: workers run the same program file, and a run's key has everything
//! that decides the run. Each worker gets the options. A task is a shard, such as `2/8`. Its answer is the text of its
//! finished runs, or the reason why a run cannot be done, which holds for every worker.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use rove_runs::files::named;
use rove_runs::parallel::tell_progress_in;
use rove_runs::ray::{self, Pool};
use serde::{Deserialize, Serialize};

use crate::experiment::store::Store;
use crate::experiment::{FiguresOptions, RUNS, for_each_plan, run_shard};

/// Shards for each worker. Chosen: two, so that a worker whose runs are short gets another shard.
const SHARDS_EACH: usize = 2;

/// Why a shard could not be done.
#[derive(Clone, Debug, Deserialize, Serialize, thiserror::Error)]
#[error("a shard has failed: {0}")]
struct Failure(String);

/// Makes the runs on Ray, and stores them in the file `runs`.
///
/// # Errors
///
/// Returns an error if there is no Python or no Ray, if a shard fails, or if its runs cannot be kept.
pub(crate) fn on_ray(options: &FiguresOptions, runs: &Path) -> Result<()> {
    let pool = Pool::start(&["figures", "--worker"], None)?;
    let store = Store::open(runs)?;
    let shards = unfinished(options, &store, SHARDS_EACH * pool.names.len())?;
    let (mut done, of) = (0, shards.len());
    let keep = |answer: &Result<String, Failure>| {
        store.keep_all(answer.as_ref().map_err(Clone::clone)?)?;
        done += 1;
        tell_progress_in("shards", "", done, of);
        Ok(())
    };
    pool.run(&found_anywhere(options), &shards, keep).map(|_| ())
}

/// Returns the shards of which the file lacks a run.
pub(super) fn unfinished(
    options: &FiguresOptions,
    store: &Store,
    of: usize,
) -> Result<Vec<String>> {
    let mut rests = BTreeSet::new();
    for_each_plan(options, |plan| {
        rests.extend(plan.unfinished(store).into_iter().map(|number| number % of));
        Ok(())
    })?;
    Ok(rests.into_iter().map(|rest| format!("{}/{of}", rest + 1)).collect())
}

/// Makes the runs of the shards that `input` names, and writes them to `output`.
///
/// # Errors
///
/// Returns an error at the first line that is no message, or cannot be answered.
pub(crate) fn work(input: impl BufRead, output: impl Write) -> Result<()> {
    let answer = |options: &FiguresOptions, shard: String| {
        Ok(finished(options, &shard).map_err(|error| Failure(format!("{error:#}"))))
    };
    ray::work(input, output, Ok, answer)
}

/// Returns the options with absolute paths, because workers run in folders of their own.
fn found_anywhere(options: &FiguresOptions) -> FiguresOptions {
    let whole = |file: PathBuf| fs::canonicalize(&file).unwrap_or(file);
    let mut options = options.clone();
    let wish = &mut options.wish;
    for name in wish.names.iter_mut().filter(|name| name.ends_with(".toml")) {
        *name = whole(PathBuf::from(&*name)).to_string_lossy().into_owned();
    }
    wish.traces = named(wish.traces.take()).map(whole);
    wish.tables = named(wish.tables.take()).map(whole);
    options
}

/// Makes the runs of a shard in a temporary directory. Returns its finished runs.
fn finished(options: &FiguresOptions, shard: &str) -> Result<String> {
    let shard = shard.parse().map_err(|sentence: String| anyhow!(sentence))?;
    let out = std::env::temp_dir().join(format!("rove-lab-shard-{}", std::process::id()));
    fs::create_dir(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let options = FiguresOptions { out: out.clone(), ..options.clone() };
    let runs = run_shard(&options, shard, io::sink())
        .and_then(|()| fs::read_to_string(out.join(RUNS)).context("cannot read finished runs"));
    let _ = fs::remove_dir_all(&out);
    runs
}
