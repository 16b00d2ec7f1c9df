//! All runs of a scenario, on all processors, and their results by system, link and value.

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use anyhow::{Context, Result, ensure};
use rove_flows::path::Path;
use rove_link::Steps;
use rove_runs::parallel;
use rove_runs::statistics::{Times, to_float};
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, Recording, Samples};
use crate::experiment::material::Material;
use crate::experiment::measure::shared::{is_published, table_of};
use crate::experiment::programs::Programs;
use crate::experiment::scenario::Scenario;
use crate::experiment::series::{Run, SeedMeans, Series};
use crate::experiment::shard::Shard;
use crate::experiment::store::Store;
use crate::experiment::system::{Clock, System};

/// How much work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Whether to make as many runs as scenarios say for their long profile.
    pub(crate) is_full: bool,
    /// The first seed.
    pub(crate) seed: u64,
}

/// The first seed of figures if the user sets no other.
pub(crate) const FIRST_SEED: u64 = 1;

/// A figure's data.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// The scenario that was asked for.
    pub(crate) scenario: Scenario,
    /// The stand-ins that the figure was made from, in the words of the title. Empty without stand-ins.
    pub(crate) made_from: String,
    /// Whether anything stands in for recordings that the scenario asks for.
    pub(crate) has_stand_ins: bool,
    /// How much work was done.
    pub(crate) profile: Profile,
    /// The number of seeds of each series.
    pub(crate) seeds: u64,
    /// The results of the scenario.
    pub(crate) series: Vec<Series>,
    /// The runs that the results come from.
    pub(crate) runs: Vec<Run>,
    /// Each recording and link of the figure's measurements, and the first digits of its file's SHA-256.
    pub(crate) digests: Vec<String>,
    /// Why there are no results, and how to get them.
    pub(crate) missing: Option<String>,
}

/// A scenario with everything that its runs are made from.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    scenario: &'a Scenario,
    programs: &'a Programs,
    keys: Option<usize>,
    /// The figure without results.
    empty: Figure,
    /// Whether the user asked for the scenario by its own name, and not for a group of them.
    is_named: bool,
    recordings: Vec<Recording>,
    links: Vec<NamedPath>,
    /// The directory of congestion controllers that others have published.
    tables: Option<&'a FilePath>,
}

/// A link's name, and for each varied value its path with a text that identifies the path.
#[derive(Debug)]
struct NamedPath {
    name: String,
    by_value: Vec<(String, Path)>,
    length: Option<Duration>,
}

/// A run to be done, and which series it belongs to.
struct Cell<'a> {
    conditions: Conditions<'a>,
    series: usize,
    key: String,
}

/// A finished run: its cell and its samples.
type Done<'a> = (&'a Cell<'a>, &'a Samples);

/// The system, the link and the value that the samples of a series have in common.
type Common = (Option<System>, String, Option<f64>);

impl Figure {
    /// Returns a figure without results.
    pub(crate) fn empty(scenario: Scenario) -> Self {
        Self {
            scenario,
            made_from: String::new(),
            has_stand_ins: false,
            profile: Profile { is_full: false, seed: FIRST_SEED },
            seeds: 1,
            series: Vec::new(),
            runs: Vec::new(),
            digests: Vec::new(),
            missing: None,
        }
    }

    /// Returns whether the picture shows a series.
    pub(crate) fn draws(&self, series: &Series) -> bool {
        let drawn = &self.scenario.body.drawn;
        series.system.is_none_or(|system| drawn.is_empty() || drawn.contains(&system))
    }
}

impl<'a> Plan<'a> {
    /// Reads the recordings, the links and the tables that a scenario needs.
    ///
    /// # Errors
    ///
    /// Returns an error if any of them cannot be read.
    pub(crate) fn new(
        scenario: &'a Scenario,
        profile: Profile,
        material: &'a Material,
        programs: &'a Programs,
    ) -> Result<Self> {
        let body = &scenario.body;
        let keys = body.full_keys.filter(|_| profile.is_full).or(body.keys);
        let (recordings, stand_in) = material.recordings(scenario, profile.is_full)?;
        let mut links = Vec::new();
        let mut are_recorded = true;
        for link in &body.links {
            let mut by_value = Vec::new();
            for value in or_none(body.values.iter().copied()) {
                let read = material.path(link, &scenario.folder, value);
                let (path, is_recorded) = read.with_context(|| link.name.clone())?;
                are_recorded &= is_recorded;
                by_value.push((contents(&path), path));
            }
            let seconds = link.full_seconds.filter(|_| profile.is_full).or(link.seconds);
            let length = seconds.map(Duration::from_secs);
            links.push(NamedPath { name: link.name.clone(), by_value, length });
        }
        let seeds = body.full_seeds.filter(|_| profile.is_full).unwrap_or(body.seeds);
        let tables = material.tables.as_deref();
        let is_there = |it: System| !is_published(it) || table_of(it, tables).is_some();
        let are_published = body.running().all(is_there);
        let stand_in = stand_in.filter(|_| body.measure.needs_recordings());
        let wants_any = !body.wanted(profile.is_full).is_empty();
        let has_stand_ins = !are_recorded || wants_any && stand_in.is_some();
        let drawn = (!are_recorded).then(|| "drawn links".to_owned());
        let unpublished = (!are_published).then(|| "without the published tables".to_owned());
        let parts: Vec<String> = [stand_in, drawn, unpublished].into_iter().flatten().collect();
        let empty = Figure {
            made_from: parts.join(" and "),
            has_stand_ins,
            profile,
            seeds,
            digests: material.digests(scenario, profile.is_full),
            ..Figure::empty(scenario.clone())
        };
        Ok(Self { scenario, programs, keys, empty, is_named: false, recordings, links, tables })
    }

    /// Notes whether `names` has this very scenario. If so, a first seed that changes no result is refused.
    pub(crate) fn asked_by(self, names: &[String]) -> Self {
        let is_its = |name: &String| {
            let stem = FilePath::new(name).file_stem();
            stem.is_some_and(|stem| *stem == *self.scenario.name)
        };
        Self { is_named: names.iter().any(is_its), ..self }
    }

    /// Makes those runs of a shard that the store lacks. Returns how many runs the shard and the scenario have.
    ///
    /// # Errors
    ///
    /// Returns an error if a run cannot be done or kept.
    pub(crate) fn run(&self, store: &Store, shard: Shard) -> Result<(usize, usize)> {
        let (cells, _) = self.cells(store);
        let all = cells.len();
        let numbered = cells.into_iter().enumerate();
        let part: Vec<Cell<'_>> =
            numbered.filter(|(number, _)| shard.has(*number)).map(|(_, cell)| cell).collect();
        run_all(self.scenario, &part, store)?;
        Ok((part.len(), all))
    }

    /// Returns the numbers of the runs that the store lacks.
    pub(crate) fn unfinished(&self, store: &Store) -> Vec<usize> {
        let (cells, _) = self.cells(store);
        let numbered = cells.iter().enumerate();
        numbered
            .filter(|(_, cell)| store.get(&cell.key).is_none())
            .map(|(number, _)| number)
            .collect()
    }

    /// Makes the runs that the store lacks, and puts all runs together.
    ///
    /// # Errors
    ///
    /// Returns an error if a run cannot be done or kept.
    pub(crate) fn figure(&self, store: &Store) -> Result<Figure> {
        let (cells, common) = self.cells(store);
        let results = match self.scenario.body.clock {
            Clock::Virtual => run_all(self.scenario, &cells, store)?,
            Clock::Real => {
                let of = self.scenario.body.measure;
                let measure = |conditions: &Conditions<'_>| self.programs.measure(of, conditions);
                match self.run_really(&cells, store, measure)? {
                    Ok(results) => results,
                    Err(reason) => {
                        return Ok(Figure { missing: Some(reason), ..self.empty.clone() });
                    }
                }
            }
        };
        let runs: Vec<Done<'_>> = cells.iter().zip(&results).collect();
        if self.scenario.body.clock == Clock::Virtual {
            self.refuse_seeds_without_effect(&runs)?;
        }
        let series = common.into_iter().enumerate().map(|(number, common)| {
            let of = runs.iter().copied().filter(|(cell, _)| cell.series == number).collect();
            self.pooled(&common, of)
        });
        let series = series.collect();
        let run = |(cell, samples): (&Cell<'_>, Samples)| {
            let recording = cell.conditions.recording.map(|recording| recording.name.clone());
            let (recording, seed) = (recording.unwrap_or_default(), cell.conditions.seed);
            Run { series: cell.series, recording, seed, samples }
        };
        let runs = cells.iter().zip(results).map(run).collect();
        Ok(Figure { series, runs, ..self.empty.clone() })
    }

    /// Returns the series of runs with several recordings, which contains a series of each recording.
    fn pooled(&self, common: &Common, runs: Vec<Done<'_>>) -> Series {
        let of_recording = |recording: &Recording| {
            let is_its = |(cell, _): &Done<'_>| {
                cell.conditions.recording.is_some_and(|it| it.name == recording.name)
            };
            let series = self.series(common, runs.iter().copied().filter(is_its).collect());
            Series { recording: Some(recording.name.clone()), ..series }
        };
        let played = if self.recordings.len() > 1 { self.played() } else { &[] };
        let recordings = played.iter().map(of_recording).collect();
        Series { recordings, ..self.series(common, runs) }
    }

    /// Returns the series of runs.
    fn series(&self, (system, link, value): &Common, runs: Vec<Done<'_>>) -> Series {
        let (mut times, mut pairs, mut invalid) = (Vec::new(), Vec::new(), Vec::new());
        let (mut missing, mut fault, mut course, mut is_absent) = (0, None, Vec::new(), false);
        let mut has_empty_runs = false;
        let mut by_seed: BTreeMap<u64, Vec<&Samples>> = BTreeMap::new();
        for (cell, samples) in runs {
            times.extend(samples.millis());
            missing += samples.missing;
            is_absent |= samples.is_absent;
            has_empty_runs |= samples.missing > 0 && samples.figures.is_empty();
            if course.is_empty() {
                course.clone_from(&samples.course);
            }
            fault = fault.or_else(|| samples.fault.clone());
            let of_sender =
                |[delay, rate]: &[u64; 2]| [to_float(*delay) * 1e-6, to_float(*rate) * 1e-3];
            pairs.extend(samples.pairs.iter().map(of_sender));
            invalid.extend(samples.invalid.iter().cloned());
            by_seed.entry(cell.conditions.seed).or_default().push(samples);
        }
        let figures = self.scenario.body.figures();
        let of_seed =
            |(seed, runs): (u64, Vec<&Samples>)| Some((seed, SeedMeans::of(figures, &runs)?));
        Series {
            system: *system,
            link: link.clone(),
            value: *value,
            invalid,
            times: Times::new(times, missing),
            by_seed: by_seed.into_iter().filter_map(of_seed).collect(),
            pairs,
            course,
            is_absent,
            has_empty_runs,
            fault,
            ..Series::default()
        }
    }

    /// Refuses several seeds if all give the same result, because an interval over them would look like certainty.
    /// Refuses a `--seed` without effect for a scenario that the user named. Runs without samples do not count.
    fn refuse_seeds_without_effect(&self, runs: &[Done<'_>]) -> Result<()> {
        // The seeds of the same conditions are neighbours.
        let seeds = usize::try_from(self.empty.seeds).unwrap_or(usize::MAX);
        let tells = |(_, samples): &&Done<'_>| samples.fault.is_none() && !samples.times.is_empty();
        let mut are_compared = false;
        let are_same = runs.chunks(seeds).all(|of| {
            let mut told = of.iter().filter(tells).map(|(_, samples)| samples);
            let first = told.next();
            told.all(|samples| {
                are_compared = true;
                Some(samples) == first
            })
        });
        let (name, nothing) = (&self.scenario.name, "nothing here is left to chance, so that");
        if seeds > 1 {
            ensure!(
                !(are_compared && are_same),
                "{name}: {nothing} {seeds} seeds give the same result: use seeds = 1"
            );
        } else if self.is_named && self.empty.profile.seed != FIRST_SEED {
            let mut changes = !runs.iter().any(|it| tells(&it));
            for (cell, samples) in runs.iter().filter(tells) {
                let conditions = Conditions { seed: FIRST_SEED, ..cell.conditions };
                changes = self.scenario.body.measure.run(&conditions)? != **samples;
                if changes {
                    break;
                }
            }
            let seed = self.empty.profile.seed;
            ensure!(changes, "{name}: {nothing} --seed {seed} changes no result: leave it out");
        }
        Ok(())
    }

    /// Returns the recordings that runs play.
    fn played(&self) -> &[Recording] {
        if self.scenario.body.measure.needs_recordings() { &self.recordings } else { &[] }
    }

    /// Makes the runs in real time that the store lacks, one by one. The inner error says why that is impossible here.
    fn run_really(
        &self,
        cells: &[Cell<'_>],
        store: &Store,
        measure: impl Fn(&Conditions<'_>) -> Result<Result<Samples, String>>,
    ) -> Result<Result<Vec<Samples>, String>> {
        let mut results = Vec::new();
        let mut absent = None;
        for (number, cell) in cells.iter().enumerate() {
            let again_if_invalid = |measured| match measured {
                Ok(Samples { ref invalid, .. }) if !invalid.is_empty() => measure(&cell.conditions),
                measured => Ok(measured),
            };
            let samples = match store.get(&cell.key) {
                Some(samples) => samples.clone(),
                None => match again_if_invalid(measure(&cell.conditions)?)? {
                    Ok(samples) => {
                        // An invalid run is not kept, so that it is made again with the figure.
                        if samples.invalid.is_empty() {
                            store.keep(&cell.key, &samples)?;
                        }
                        samples
                    }
                    // If the kernel lacks one congestion control, the runs of the others go on.
                    Err(reason) if cell.conditions.system().needs_control() => {
                        absent = Some(reason);
                        Samples::absent()
                    }
                    Err(reason) => return Ok(Err(reason)),
                },
            };
            results.push(samples);
            store.tell_progress(&self.scenario.name, number + 1, cells.len());
        }
        let has_any = results.iter().any(|samples| !samples.times.is_empty());
        Ok(absent.filter(|_| !has_any).map_or(Ok(results), Err))
    }

    /// Returns all runs, and what those of each series have in common.
    fn cells(&self, store: &Store) -> (Vec<Cell<'_>>, Vec<Common>) {
        let body = &self.scenario.body;
        let systems: Vec<Option<System>> = or_none(body.systems.iter().copied());
        let links: Vec<Option<&NamedPath>> = or_none(self.links.iter());
        let values: Vec<Option<f64>> = or_none(body.values.iter().copied());
        let played = or_none(self.played().iter());
        let first = self.empty.profile.seed;
        let seeds = first..first.saturating_add(self.empty.seeds);
        let (mut cells, mut common) = (Vec::new(), Vec::new());
        for system in &systems {
            for link in &links {
                for (place, value) in values.iter().enumerate() {
                    let path = link.map(|link| &link.by_value[place]);
                    for recording in &played {
                        for seed in seeds.clone() {
                            let conditions = Conditions {
                                system: *system,
                                path: path.map(|(_, path)| path),
                                recording: *recording,
                                pace: body.pace,
                                value: *value,
                                seed,
                                keys: self.keys,
                                downloads: body.downloads,
                                traffic: body.traffic.as_ref(),
                                tables: self.tables,
                                length: link.and_then(|link| link.length),
                            };
                            let contents = path.map_or("", |(contents, _)| contents.as_str());
                            let key = self.key(store, contents, &conditions);
                            cells.push(Cell { conditions, series: common.len(), key });
                        }
                    }
                    let link = link.map_or_else(String::new, |link| link.name.clone());
                    common.push((*system, link, *value));
                }
            }
        }
        (cells, common)
    }

    /// Returns the key under which a run's result is kept.
    fn key(&self, store: &Store, link: &str, conditions: &Conditions<'_>) -> String {
        let scenario = self.scenario;
        // In real time, the result depends on the programs and on the kernel.
        let is_real = scenario.body.clock == Clock::Real;
        let version = if is_real { self.programs.version(conditions.system) } else { "" };
        let recording = conditions.recording.map(|it| format!("{} {:?}", it.name, it.trace));
        // The result depends on the tables, which may change or be missing.
        let systems = conditions.system.into_iter().chain(scenario.body.others());
        let table = |it| format!("{:?}", table_of(it, conditions.tables));
        store.key(&[
            &scenario.name,
            &scenario.text,
            &format!("{:?}", conditions.system),
            link,
            &recording.unwrap_or_default(),
            &format!("{:?}", conditions.value),
            &conditions.seed.to_string(),
            &format!("{:?}", conditions.keys),
            &format!("{:?}", conditions.length),
            &systems.map(table).collect::<String>(),
            version,
        ])
    }
}

/// Returns a text that identifies a path by its contents, wherever its files lie.
fn contents(path: &Path) -> String {
    let links = path.links(Instant::ZERO, Seed::new(1));
    let of = |link: &Steps| {
        let opportunities = link.first().schedule.as_ref();
        let times = opportunities.map(|schedule| schedule.trace.times().collect::<Vec<_>>());
        format!("{link:?} {times:?}")
    };
    links.each_ref().map(of).concat() + &format!("{:?}", path.download)
}

/// Returns all items, or a single `None` if there are none.
fn or_none<T>(of: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let all: Vec<Option<T>> = of.map(Some).collect();
    if all.is_empty() { vec![None] } else { all }
}

/// Does all runs that are not known, on all processors. The results are in the order of the cells.
fn run_all(scenario: &Scenario, cells: &[Cell<'_>], store: &Store) -> Result<Vec<Samples>> {
    let run =
        |cell: &Cell<'_>| run_cell(scenario, cell, store).with_context(|| scenario.name.clone());
    let progress = |done| store.tell_progress(&scenario.name, done, cells.len());
    parallel::try_map(cells, run, progress)
}

fn run_cell(scenario: &Scenario, cell: &Cell<'_>, store: &Store) -> Result<Samples> {
    if let Some(samples) = store.get(&cell.key) {
        return Ok(samples.clone());
    }
    let samples = scenario.body.measure.run(&cell.conditions)?;
    store.keep(&cell.key, &samples)?;
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measure::Measure;

    const KERNELS: &str = "title = \"Kernels\"\nabout = \"a\"\nmeasure = \"flow\"\nclock = \"real\"\n\
                           plot = \"use-by-time\"\nseeds = 1\nsystems = [\"kernel-reno\", \"kernel-bbr\"]\n\
                           [[link]]\nname = \"l\"\npath = \"rtt=40ms,rate=5Mbit\"\nseconds = 3\n";

    /// Measures a run. The error says why that is impossible here.
    type Round<'a> = &'a dyn Fn(&Programs, &Conditions<'_>) -> Result<Samples, String>;

    /// Makes the runs of two of the kernel's congestion controls in each round, as the round's function measures them.
    fn rounds<const N: usize>(
        name: &str,
        rounds: [Round<'_>; N],
    ) -> [Result<Vec<Samples>, String>; N] {
        let folder = format!("rove-lab-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a directory");
        let scenario = Scenario::parse("kernels", "kernels.toml", KERNELS).expect("a scenario");
        let material = Material { traces: None, tables: None, drawn: folder.clone() };
        let programs = Programs::prepare(false);
        let profile = Profile { is_full: false, seed: 1 };
        let plan = Plan::new(&scenario, profile, &material, &programs).expect("a plan");
        let results = rounds.map(|measure| {
            let store = Store::open(&folder.join("runs.jsonl")).expect("a file");
            let (cells, _) = plan.cells(&store);
            let measure = |conditions: &Conditions<'_>| Ok(measure(&programs, conditions));
            plan.run_really(&cells, &store, measure).expect("nobody interrupts")
        });
        std::fs::remove_dir_all(&folder).expect("it is there");
        results
    }

    #[test]
    fn a_kernel_without_one_control_has_the_others_and_the_missing_one_is_tried_again() {
        let known = || Samples { times: vec![1], ..Samples::default() };
        let without_bbr = |_: &Programs, conditions: &Conditions<'_>| {
            let is_bbr = conditions.system() == System::KernelBbr;
            if is_bbr { Err("tcp_bbr is not loaded".to_owned()) } else { Ok(known()) }
        };
        let only_bbr = |_: &Programs, conditions: &Conditions<'_>| {
            assert!(conditions.system() == System::KernelBbr, "the other one has been kept");
            Ok(known())
        };
        let [first, second] = rounds("control", [&without_bbr, &only_bbr]);
        assert_eq!(first, Ok(vec![known(), Samples::absent()]));
        assert_eq!(second, Ok(vec![known(), known()]));
    }

    #[test]
    fn an_invalid_run_is_repeated_once_and_kept_only_when_it_is_valid() {
        let runs = std::cell::Cell::new(0);
        let busy_until = |valid_run: u32, conditions: &Conditions<'_>| {
            if conditions.system() == System::KernelReno {
                runs.set(runs.get() + 1);
            }
            let is_busy = conditions.system() == System::KernelReno && runs.get() < valid_run;
            let invalid = if is_busy { vec!["late".to_owned()] } else { Vec::new() };
            Ok(Samples { times: vec![runs.get().into()], invalid, ..Samples::default() })
        };
        let always_busy = |_: &Programs, conditions: &Conditions<'_>| busy_until(9, conditions);
        let then_free = |_: &Programs, conditions: &Conditions<'_>| busy_until(4, conditions);
        let [first, second, third] = rounds("invalid", [&always_busy, &then_free, &always_busy]);
        let of = |round: &Result<Vec<Samples>, String>| round.as_ref().expect("runs")[0].clone();
        assert_eq!((of(&first).times, of(&first).invalid), (vec![2], vec!["late".to_owned()]));
        assert_eq!((of(&second).times, of(&second).invalid), (vec![4], Vec::new()));
        assert_eq!(of(&third), of(&second), "the valid run has been kept");
        assert_eq!(runs.get(), 4);
    }

    #[test]
    fn without_rights_a_figure_of_kernels_says_why_there_is_none() {
        let measure = |programs: &Programs, conditions: &Conditions<'_>| {
            let measured = programs.measure(Measure::Flow, conditions);
            measured.expect("nobody interrupts")
        };
        let [result] = rounds("rights", [&measure]);
        assert!(result.is_err_and(|reason| reason.contains(if cfg!(target_os = "linux") {
            "left out"
        } else {
            "Linux only"
        })));
    }
}
