//! `rove-lab figures`: experiments, from scenario files to one page of figures.
//!
//! [`scenario`] reads a file with its [`link`]s, and [`unused_keys`] refuses keys that have no effect. The
//! [`catalogue`] has the built-in scenarios and recordings. [`material`] finds the recordings and links that a scenario
//! names, or substitutes. [`sweep`] makes the runs, or a [`shard`] of them, that the [`store`] of finished runs lacks;
//! [`spread`] lets other computers make runs. A run is a [`mod@measure`] of a [`system`], maybe a [`system_file`],
//! under [`conditions`]; [`traffic`] describes senders that share a path. [`programs`] measures real programs. A
//! [`series`] has the results of runs. [`table`], [`plot`] with its [`marks`], [`page`] and [`csv`] show them, and
//! [`verdict`] compares them with [`published`] numbers, such as a [`frontier`]. [`papers`] lists what each paper has,
//! [`results`] writes the files, [`markdown`] a page of text, [`artifact`] a directory for a paper's evaluators.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, process, thread};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, ValueHint};
use rove_flows::flow::program::end_all;
use rove_platform::clock::Clock as Stopwatch;
use rove_runs::files::{check_writable, directory, named};
use rove_runs::parallel::Engine;
use rove_runs::{FIRST_SEED_MAX, report, shown};
use rove_units::Instant;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::material::Material;
use self::programs::Programs;
use self::results::{All, PAGE, Results};
use self::scenario::Scenario;
use self::shard::Shard;
use self::store::Store;
use self::sweep::{FIRST_SEED, Plan, Profile};
use self::system::Clock;
use crate::picture::Picture;

pub(crate) mod artifact;
mod averages;
mod catalogue;
mod conditions;
mod csv;
mod film;
mod frontier;
mod link;
mod markdown;
mod marks;
mod material;
mod measure;
mod mistake;
mod page;
mod papers;
mod plot;
pub(crate) mod programs;
mod published;
mod results;
mod scenario;
mod series;
mod shard;
mod spread;
mod store;
mod sweep;
mod system;
mod system_file;
mod table;
#[cfg(test)]
mod tests;
mod traffic;
mod unused_keys;
mod verdict;

/// File of the runs that have ended, in the directory of the figures.
const RUNS: &str = "runs.jsonl";

/// The sentence for a user who has interrupted.
pub(crate) const INTERRUPTED: &str =
    "interrupted; the same command goes on with the runs that have not ended";

/// The figures that the user asks for, their material, and how much work is done.
#[derive(Clone, Debug, Default, Args, Deserialize, Serialize)]
pub(crate) struct Wish {
    /// Figures: names (see --list), the first word of several (aoi, cellular, mosh, programs, remy, response, sprout, streams), or scenario files that end in .toml; all names where there is none
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub(crate) names: Vec<String>,
    /// Directory of recordings of others: key traces, and delivery opportunities of links
    #[arg(long, value_name = "DIR", env = "ROVE_TRACES", value_parser = directory(), value_hint = ValueHint::DirPath)]
    pub(crate) traces: Option<PathBuf>,
    /// Directory of congestion controllers that others have published (.dna)
    #[arg(long, value_name = "DIR", env = "ROVE_REMY", value_parser = directory(), value_hint = ValueHint::DirPath)]
    pub(crate) tables: Option<PathBuf>,
    /// Runs as often as each scenario says for its long profile
    #[arg(long = "full")]
    pub(crate) is_full: bool,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = FIRST_SEED, value_parser = clap::value_parser!(u64).range(..=FIRST_SEED_MAX))]
    pub(crate) seed: u64,
}

/// Makes figures from experiments: tables, pictures, and one page of all
#[derive(Clone, Debug, Default, Args, Deserialize, Serialize)]
pub(crate) struct FiguresOptions {
    #[command(flatten)]
    pub(crate) wish: Wish,
    /// Lists the names
    #[arg(long = "list")]
    pub(crate) is_list: bool,
    /// Lists what the papers have, with the figure that does it again or why there is none
    #[arg(long = "papers")]
    pub(crate) lists_papers: bool,
    /// Directory that everything is written to
    #[arg(long, value_name = "DIR", default_value = "figures", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Does only this part of all runs, such as 2/8, and makes no figures: join the runs.jsonl of all parts in one DIR
    #[arg(long, value_name = "INDEX/COUNT", conflicts_with_all = ["json", "engine"])]
    #[serde(skip)]
    pub(crate) shard: Option<Shard>,
    /// Spreads the runs over these processors
    #[arg(long, value_name = "ENGINE", default_value = "local")]
    #[serde(skip)]
    pub(crate) engine: Engine,
    /// Does the parts of runs that standard input brings, for an engine
    #[arg(long = "worker")]
    pub(crate) is_worker: bool,
    /// Writes the tables to this file, too, with commit, machine, seed, profile and command before them (Markdown)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["json", "shard"])]
    #[serde(skip)]
    pub(crate) markdown: Option<PathBuf>,
    /// Writes JSON in place of tables
    #[arg(long)]
    pub(crate) json: bool,
}

impl FiguresOptions {
    /// Returns the material from which figures are made, and the profile of the runs.
    fn material(&self) -> (Material, Profile) {
        let material = Material {
            traces: named(self.wish.traces.clone()),
            tables: named(self.wish.tables.clone()),
            drawn: self.out.clone(),
        };
        (material, Profile { is_full: self.wish.is_full, seed: self.wish.seed })
    }
}

/// Writes the names and titles of the built-in scenarios.
///
/// # Errors
///
/// Returns an error if `output` cannot be written.
fn list(mut output: impl Write) -> Result<()> {
    for scenario in Scenario::built_in() {
        shown::written(writeln!(output, "{:16} {}", scenario.name, scenario.body.title))?;
    }
    Ok(())
}

/// Makes figures. Writes a table of each to `output`, and the files of all to the options' directory.
///
/// # Errors
///
/// Returns an error if a scenario or what it needs cannot be read, a run fails, or a result cannot be written.
pub(crate) fn run(options: &FiguresOptions, mut output: impl Write) -> Result<()> {
    if options.is_list {
        return list(output);
    }
    if options.lists_papers {
        return shown::written(output.write_all(papers::text().as_bytes()));
    }
    if options.is_worker {
        Interruption::listen()?;
        return spread::work(io::stdin().lock(), output);
    }
    if options.engine == Engine::Ray {
        // A wrong name is reported before another computer is asked.
        self::scenarios(&options.wish.names)?;
        make_directory(options)?;
        spread::on_ray(options, &options.out.join(RUNS))?;
    }
    if let Some(shard) = options.shard {
        Interruption::listen()?;
        return run_shard(options, shard, output);
    }
    let page = options.out.join(PAGE);
    if options.json {
        let made = make(options, io::sink())?;
        shown::written(output.write_all(report::json(&made.all).as_bytes()))
    } else {
        options.markdown.iter().try_for_each(|file| check_writable(file))?;
        let mut text = Vec::new();
        make(options, &mut text)?;
        shown::written(output.write_all(&text))?;
        if let Some(file) = &options.markdown {
            let (text, (_, profile)) = (String::from_utf8_lossy(&text), options.material());
            markdown::write(file, profile, env::args(), &text)?;
        }
        shown::written(writeln!(output, "All of them with pictures: {}", page.display()))
    }
}

/// Tells a user who interrupts how to go on, and ends the process.
struct Interruption {
    /// Whether programs run in real time. If so, the run gets the signal itself and ends its programs.
    is_real: Arc<AtomicBool>,
}

impl Interruption {
    fn listen() -> Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot wait for signals")?;
        let is_real = Arc::new(AtomicBool::new(false));
        let ends_itself = Arc::clone(&is_real);
        thread::spawn(move || {
            for signal in &mut signals {
                if !ends_itself.load(Ordering::Relaxed) {
                    let _ = writeln!(shown::stderr(), "rove-lab figures: {INTERRUPTED}");
                    end_all();
                    process::exit(128 + signal);
                }
            }
        });
        Ok(Self { is_real })
    }
}

/// Figures that were made.
struct Made {
    all: All,
    /// For each figure, a text: the time that it took, and how many of its runs the store already had.
    times: Vec<String>,
}

/// Makes figures on this computer. Writes a table of each to `tables`, and the files of all to the directory.
///
/// # Errors
///
/// Returns an error as [`run`] does.
fn make(options: &FiguresOptions, mut tables: impl Write) -> Result<Made> {
    let scenarios = scenarios(&options.wish.names)?;
    make_directory(options)?;
    // Rights must be acquired before there are threads.
    let is_real = scenarios.iter().any(|scenario| scenario.body.clock == Clock::Real);
    let programs = Programs::prepare(is_real);
    let interruption = Interruption::listen()?;
    let store = Store::open(&options.out.join(RUNS))?;
    let (material, profile) = options.material();
    let results = Results::new(&options.out);
    let (mut figures, mut verdicts, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut times = Vec::new();
    for scenario in &scenarios {
        let clock = Stopwatch::start();
        interruption.is_real.store(scenario.body.clock == Clock::Real, Ordering::Relaxed);
        let plan = Plan::new(scenario, profile, &material, &programs)?;
        let figure = plan.asked_by(&options.wish.names).figure(&store)?;
        let picture = match figure.missing {
            Some(_) => Picture::default(),
            None => plot::draw(&figure),
        };
        let of_figure = verdict::verdicts(&figure);
        let json = figure.to_json(&of_figure);
        results.add(&figure, &picture, &json)?;
        results.add_links(&figure)?;
        text.push_str(&format!("{}\n", figure.to_text()));
        verdicts.extend(of_figure);
        figures.push(json);
        let seconds = clock.now().saturating_since(Instant::ZERO).as_secs().max(1);
        times.push(match store.take_hits() {
            0 => format!("{seconds} s"),
            kept => format!("{seconds} s without {kept} runs that were there"),
        });
    }
    shown::written(write!(tables, "{}{text}", verdict::to_text(&verdicts)))?;
    Ok(Made { all: All::of(figures), times })
}

fn make_directory(options: &FiguresOptions) -> Result<()> {
    let shown = options.out.display();
    fs::create_dir_all(&options.out).with_context(|| format!("cannot make the directory {shown}"))
}

/// Makes the runs of one shard, and keeps them in the store.
fn run_shard(options: &FiguresOptions, shard: Shard, mut output: impl Write) -> Result<()> {
    make_directory(options)?;
    let store = Store::open(&options.out.join(RUNS))?;
    let (mut done, mut all) = (0, 0);
    for_each_plan(options, |plan| {
        let (part, whole) = plan.run(&store, shard)?;
        (done, all) = (done + part, all + whole);
        Ok(())
    })?;
    shown::written(writeln!(output, "{done} of {all} runs are done"))
}

/// Calls `with` with the plan of each scenario in virtual time, because only such runs may be spread over computers.
fn for_each_plan(
    options: &FiguresOptions,
    mut with: impl FnMut(&Plan<'_>) -> Result<()>,
) -> Result<()> {
    let scenarios = scenarios(&options.wish.names)?;
    let (material, profile) = options.material();
    let programs = Programs::prepare(false);
    // A run in real time needs a computer for itself.
    let is_virtual = |scenario: &&Scenario| scenario.body.clock == Clock::Virtual;
    let mut planned = scenarios.iter().filter(is_virtual);
    planned.try_for_each(|scenario| with(&Plan::new(scenario, profile, &material, &programs)?))
}

/// Returns the scenarios with these names, first words of names, or files. Without names, returns all of them.
fn scenarios(names: &[String]) -> Result<Vec<Scenario>> {
    if names.is_empty() {
        return Ok(Scenario::built_in().collect());
    }
    let of = |name: &String| {
        let mut known: Vec<Scenario> = Scenario::built_in().filter(|it| it.name == *name).collect();
        if known.is_empty() {
            let begin = format!("{name}-");
            known.extend(Scenario::built_in().filter(|it| it.name.starts_with(&begin)));
        }
        if !known.is_empty() {
            return Ok(known);
        }
        let file = PathBuf::from(name);
        if !name.ends_with(".toml") {
            let known: Vec<String> = Scenario::built_in().map(|scenario| scenario.name).collect();
            let known = known.join(", ");
            bail!("there is no figure {name:?}; there are {known}, and files that end in .toml");
        }
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {name}"))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parsed = Scenario::parse(&stem, name, &text).map_err(|sentence| anyhow!(sentence))?;
        unused_keys::check(&parsed, name)?;
        Ok(vec![parsed])
    };
    let mut files: Vec<PathBuf> = Vec::new();
    // The same file may be named in two ways.
    let is_new = |name: &&String| match fs::canonicalize(name) {
        Ok(file) if files.contains(&file) => false,
        Ok(file) => {
            files.push(file);
            true
        }
        Err(_) => true,
    };
    let names: Vec<&String> = names.iter().filter(is_new).collect();
    let mut all: Vec<Scenario> = Vec::new();
    for scenario in names.into_iter().map(of).collect::<Result<Vec<_>>>()?.concat() {
        if all.contains(&scenario) {
            continue;
        }
        let (name, is_alike) = (&scenario.name, |other: &Scenario| other.name == scenario.name);
        ensure!(
            !all.iter().any(is_alike),
            "two scenarios are named {name}, and their figures would be the same files: rename one of them"
        );
        all.push(scenario);
    }
    Ok(all)
}
