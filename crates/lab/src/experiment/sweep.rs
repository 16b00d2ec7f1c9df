//! All runs of a scenario, on all processors, and what they come to by system, link and value.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};

use crate::experiment::material::Material;
use crate::experiment::measure::{Conditions, Samples};
use crate::experiment::scenario::Scenario;
use crate::experiment::statistics::Times;
use crate::experiment::store::Store;
use crate::experiment::system::System;
use crate::path::Path;

/// How much work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Whether as many runs as the long profile says.
    pub(crate) is_full: bool,
    /// The first seed.
    pub(crate) seed: u64,
}

/// A figure's data.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// What was asked for.
    pub(crate) scenario: Scenario,
    /// What it was made from, as a title says it; empty for what needs no recordings.
    pub(crate) made_from: String,
    /// Seeds of each series.
    pub(crate) seeds: u64,
    /// What came of it.
    pub(crate) series: Vec<Series>,
}

/// The samples of one system over one link with one value.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// The system; `None` for recordings by themselves.
    pub(crate) system: Option<System>,
    /// The link's name; empty where there is none.
    pub(crate) link: String,
    /// What was varied.
    pub(crate) value: Option<f64>,
    /// All samples.
    pub(crate) times: Times,
    /// The mean of all recordings together for each seed, for the confidence of the mean.
    pub(crate) means: Vec<f64>,
}

/// A run to be done, and which series it belongs to.
struct Cell<'a> {
    conditions: Conditions<'a>,
    series: usize,
    key: String,
}

/// Runs a scenario, but for what the store has.
///
/// # Errors
///
/// Returns an error if what it is made from cannot be read, or a run cannot be done or kept.
pub(crate) fn run(
    scenario: &Scenario,
    profile: Profile,
    material: &Material,
    store: &Store,
) -> Result<Figure> {
    let body = &scenario.body;
    let (recordings, are_wanted) = material.recordings(scenario)?;
    let mut links: Vec<(String, Path)> = Vec::new();
    let mut are_recorded = true;
    for link in &body.links {
        let (path, is_recorded) = material.path(link).with_context(|| link.name.clone())?;
        are_recorded &= is_recorded;
        links.push((link.name.clone(), path));
    }
    let seeds = body.full_seeds.filter(|_| profile.is_full).unwrap_or(body.seeds);

    let systems: Vec<Option<System>> = or_none(body.systems.iter().copied());
    let paths: Vec<Option<&(String, Path)>> = or_none(links.iter());
    let values: Vec<Option<f64>> = or_none(body.values.iter().copied());
    let played = if body.measure.needs_recordings() { recordings.iter() } else { [].iter() };
    let played = or_none(played);
    let mut series = Vec::new();
    let mut cells = Vec::new();
    for system in &systems {
        for link in &paths {
            for value in &values {
                for recording in &played {
                    for seed in profile.seed..profile.seed.saturating_add(seeds) {
                        let conditions = Conditions {
                            system: *system,
                            path: link.map(|(_, path)| path),
                            recording: *recording,
                            pace: body.pace,
                            value: *value,
                            seed,
                        };
                        let key = key(store, scenario, &conditions);
                        cells.push(Cell { conditions, series: series.len(), key });
                    }
                }
                let link = link.map_or_else(String::new, |(name, _)| name.clone());
                series.push((*system, link, *value));
            }
        }
    }
    let results = run_all(scenario, &cells, store)?;
    let series = series.into_iter().enumerate().map(|(number, (system, link, value))| {
        let mut times = Vec::new();
        let mut missing = 0;
        let mut by_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (cell, samples) in cells.iter().zip(&results).filter(|(cell, _)| cell.series == number)
        {
            times.extend(&samples.times);
            missing += samples.missing;
            by_seed.entry(cell.conditions.seed).or_default().extend(&samples.times);
        }
        let means = by_seed.into_values().filter_map(|times| Times::new(times, 0).mean()).collect();
        Series { system, link, value, times: Times::new(times, missing), means }
    });
    Ok(Figure {
        scenario: scenario.clone(),
        made_from: made_from(scenario, are_wanted, are_recorded),
        seeds,
        series: series.collect(),
    })
}

/// Returns all of them, or once nothing where there are none.
fn or_none<T>(of: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let all: Vec<Option<T>> = of.map(Some).collect();
    if all.is_empty() { vec![None] } else { all }
}

/// Returns what a figure was made from, for its title.
fn made_from(scenario: &Scenario, are_wanted: bool, are_recorded: bool) -> String {
    let mut parts = Vec::new();
    if scenario.body.measure.needs_recordings() && !are_wanted {
        parts.push("the laboratory's own recordings");
    }
    if !are_recorded {
        parts.push("drawn links");
    }
    parts.join(" and ")
}

/// Returns the name that a run's result is kept under.
fn key(store: &Store, scenario: &Scenario, conditions: &Conditions<'_>) -> String {
    let link = conditions.path.map(|path| format!("{path:?}")).unwrap_or_default();
    let recording = conditions.recording.map(|it| format!("{} {:?}", it.name, it.trace));
    store.key(&[
        &scenario.name,
        &scenario.text,
        &format!("{:?}", conditions.system),
        &link,
        &recording.unwrap_or_default(),
        &format!("{:?}", conditions.value),
        &conditions.seed.to_string(),
    ])
}

/// Does all runs that are not known, on all processors; the results are in the order of the cells.
fn run_all(scenario: &Scenario, cells: &[Cell<'_>], store: &Store) -> Result<Vec<Samples>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(cells.len()));
    let workers = thread::available_parallelism().map_or(1, usize::from).min(cells.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(number) else { return };
                    let result = run_cell(scenario, cell, store);
                    let mut done = done.lock().expect("no worker panics while it holds this");
                    done.push((number, result));
                    tell_progress(scenario, done.len(), cells.len());
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics while it holds this");
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result.with_context(|| scenario.name.clone())).collect()
}

fn run_cell(scenario: &Scenario, cell: &Cell<'_>, store: &Store) -> Result<Samples> {
    if let Some(samples) = store.get(&cell.key) {
        return Ok(samples.clone());
    }
    let samples = scenario.body.measure.run(&cell.conditions)?;
    store.keep(&cell.key, &samples)?;
    Ok(samples)
}

/// Tells a person who waits how far it is.
fn tell_progress(scenario: &Scenario, done: usize, all: usize) {
    if io::stderr().is_terminal() {
        let end = if done == all { "\r\x1b[K" } else { "" };
        let _ = write!(io::stderr(), "\r{}: {done} of {all} runs{end}", scenario.name);
    }
}
