//! `rove-lab artifact`: a directory for those who evaluate a paper. It has figures, all that they were made from, and checksums.
//!
//! [`first_run`] compares a few numbers in minutes, and [`sources`] packs the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use minijinja::context;
use minijinja::value::{Serde, Value};
use rove_runs::files::write_whole;
use rove_runs::shown;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::experiment::markdown::quoted;
use crate::experiment::measure::shared::is_published;
use crate::experiment::page::filled;
use crate::experiment::results::machine;
use crate::experiment::scenario::Scenario;
use crate::experiment::system::{Clock, System};
use crate::experiment::verdict::{HEADINGS, Verdict};
use crate::experiment::{FiguresOptions, Made, Wish, make, scenarios};

mod first_run;
mod sources;

/// The checksums of all other files, as `sha256sum` reads them.
const SUMS: &str = "SHA256SUMS";

/// The other entries of the directory.
const README: &str = "README.md";
const LOCK: &str = "Cargo.lock";
const FIGURES: &str = "figures";
const SCENARIOS: &str = "scenarios";

/// The text for evaluators, with placeholders for all that depends on the figures.
const README_TEXT: &str = include_str!("artifact.md");

/// The versions of all crates that the program was built from.
const LOCK_TEXT: &str = include_str!("../../../../Cargo.lock");

/// Makes figures with all that an evaluator of a paper needs, or checks such a directory
#[derive(Clone, Debug, Args)]
pub(crate) struct ArtifactOptions {
    #[command(flatten)]
    wish: Wish,
    /// Names each file of this directory that is missing, damaged, or not of it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["names", "out", "is_full", "seed", "sources"])]
    check: Option<PathBuf>,
    /// Makes a few figures in two minutes at most, and compares their numbers with those that this artifact expects
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["names", "out", "is_full", "seed", "check", "sources"])]
    first_run: Option<PathBuf>,
    /// Puts the program's sources, of this git clone, and all crates into the artifact
    #[arg(long, value_name = "CLONE", value_hint = ValueHint::DirPath)]
    sources: Option<PathBuf>,
    /// Directory that everything is written to
    #[arg(long, value_name = "DIR", default_value = "artifact", value_hint = ValueHint::DirPath)]
    out: PathBuf,
}

impl ArtifactOptions {
    fn figures(&self) -> FiguresOptions {
        let (wish, out) = (self.wish.clone(), self.out.join(FIGURES));
        FiguresOptions { wish, out, ..FiguresOptions::default() }
    }
}

/// Makes an artifact, or checks its files or numbers. Returns whether all files are intact, or all numbers as expected.
///
/// # Errors
///
/// Returns an error if a figure cannot be made, a file not be read or written, or the directory is no artifact.
pub(crate) fn run(options: &ArtifactOptions, mut output: impl Write) -> Result<bool> {
    if let Some(artifact) = &options.check {
        let (count, faults) = check(artifact)?;
        let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
        let whole = format!("{count} files are as they were made\n");
        shown::written(output.write_all(if faults.is_empty() { whole } else { lines }.as_bytes()))?;
        return Ok(faults.is_empty());
    }
    if let Some(artifact) = &options.first_run {
        let (is_expected, text) = first_run::run(artifact)?;
        return shown::written(output.write_all(text.as_bytes())).map(|()| is_expected);
    }
    let out = &options.out;
    let all = scenarios(&options.wish.names)?;
    begin(out, &all)?;
    // The sources come first, so that a clone that cannot be packed is reported before the work.
    let archive = out.join(sources::FILE);
    let commit = match &options.sources {
        Some(clone) => Some(sources::pack(clone, LOCK_TEXT, &archive)?),
        None => {
            // An archive of an earlier call may be of another commit.
            let _ = fs::remove_file(archive);
            None
        }
    };
    let figures = options.figures();
    let mut copies = BTreeMap::new();
    all.iter().try_for_each(|scenario| save(scenario, &out.join(SCENARIOS), &mut copies))?;
    let made = make(&figures, &mut output)?;
    write_whole(&out.join(LOCK), LOCK_TEXT)?;
    write_whole(&out.join(first_run::FILE), first_run::EXPECTED)?;
    write_whole(&out.join(README), &readme(options, &all, &made, commit.as_deref())?)?;
    let sums = files(out)?.into_iter().filter(|file| file != SUMS).map(|file| {
        let sum = sum(&out.join(&file))?;
        Ok(format!("{sum}  {file}\n"))
    });
    write_whole(&out.join(SUMS), &sums.collect::<Result<String>>()?)?;
    shown::written(writeln!(output, "The artifact is {}; see {README} in it", out.display()))
        .map(|()| true)
}

/// Makes the directory. Refuses a directory with other files, which would become a part of the artifact, or with other
/// scenarios.
fn begin(out: &Path, all: &[Scenario]) -> Result<()> {
    let shown = out.display();
    fs::create_dir_all(out).with_context(|| format!("cannot make the directory {shown}"))?;
    for entry in fs::read_dir(out).with_context(|| format!("cannot read {shown}"))? {
        let name = entry.with_context(|| format!("cannot read {shown}"))?.file_name();
        let ours = [SUMS, README, LOCK, FIGURES, SCENARIOS, first_run::FILE, sources::FILE];
        let is_ours = ours.iter().any(|own| name == **own);
        ensure!(is_ours, "{shown} has {}, which is of no artifact", name.display());
    }
    let files = files(out)?;
    let names =
        files.iter().filter_map(|file| file.strip_prefix("scenarios/")?.strip_suffix(".toml"));
    let other = names.into_iter().find(|name| all.iter().all(|it| it.name != *name));
    let other = other.unwrap_or_default();
    ensure!(other.is_empty(), "{shown} is an artifact of {other}, too: name another --out");
    Ok(())
}

/// Saves a scenario with the files beside it. `copies` has the original of each copied file.
fn save(scenario: &Scenario, into: &Path, copies: &mut BTreeMap<PathBuf, PathBuf>) -> Result<()> {
    let (folder, shown) = (&scenario.folder, into.display());
    fs::create_dir_all(into).with_context(|| format!("cannot make the directory {shown}"))?;
    write_whole(&into.join(format!("{}.toml", scenario.name)), &scenario.text)?;
    let mut body = scenario.body.clone();
    let mut beside: BTreeSet<PathBuf> = BTreeSet::new();
    // The files of a cellular link are not beside the scenario: they are recordings of others.
    for link in body.links.iter().filter(|link| link.cellular.is_none()) {
        for value in body.values() {
            let mut path = link.path(folder, value)?;
            beside.extend(path.files_mut().map(|file| file.clone()));
        }
    }
    for system in body.named_systems() {
        if let System::File(file) = system {
            beside.extend(file.name().split_whitespace().next().map(|word| folder.join(word)));
        }
    }
    for file in beside {
        let shown = file.display();
        let inside = file.strip_prefix(folder).ok().filter(|inside| is_inside(inside));
        let inside = inside.with_context(|| format!("{shown} is not beside {}", scenario.name))?;
        let copy = into.join(inside);
        let other = copies.insert(copy.clone(), file.clone()).filter(|other| *other != file);
        let other = other.map_or_else(String::new, |other| other.display().to_string());
        ensure!(other.is_empty(), "{other} and {shown} would be the same file: rename one of them");
        let parent = copy.parent().unwrap_or(into);
        let copied = fs::create_dir_all(parent).and_then(|()| fs::copy(&file, &copy));
        copied.with_context(|| format!("cannot copy {shown}"))?;
    }
    Ok(())
}

/// Returns whether a relative path stays below the directory that it starts from.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// A figure in the text for evaluators.
#[derive(Serialize)]
struct FigureRow {
    name: String,
    command: String,
    time: String,
    tolerance: &'static str,
}

/// Returns the command that makes figures again in the directory.
fn command(options: &ArtifactOptions, scenarios: &[Scenario]) -> String {
    let mut command = vec!["rove-lab".to_owned(), FIGURES.to_owned()];
    command.extend(scenarios.iter().map(|scenario| match &scenario.name {
        name if Scenario::built_in().any(|ours| ours == *scenario) => quoted(name),
        name => quoted(&format!("{SCENARIOS}/{name}.toml")),
    }));
    command.push(format!("--seed {}", options.wish.seed));
    command.extend(options.wish.is_full.then(|| "--full".to_owned()));
    let bodies = || scenarios.iter().map(|scenario| &scenario.body);
    let is_recorded = bodies().any(|it| {
        !it.wanted(true).is_empty() || it.links.iter().any(|link| link.cellular.is_some())
    });
    let has_tables = bodies().any(|it| it.running().any(is_published));
    command.extend(
        options.wish.traces.iter().filter(|_| is_recorded).map(|_| "--traces DIR".to_owned()),
    );
    command.extend(
        options.wish.tables.iter().filter(|_| has_tables).map(|_| "--tables DIR".to_owned()),
    );
    command.join(" ")
}

/// Returns the rows of all verdicts. A figure without a verdict has a row, too.
fn verdict_rows(made: &Made) -> Vec<String> {
    let mut rows = Vec::new();
    for figure in &made.all.figures {
        let verdicts = Verdict::read(figure);
        let row = |verdict: &Verdict| verdict.row()[..4].to_vec().join(" | ").replace('\n', " ");
        rows.extend(verdicts.iter().map(row));
        let name = figure["name"].as_str().unwrap_or_default();
        rows.extend(verdicts.is_empty().then(|| format!("{name} | - | - | -")));
    }
    rows
}

/// Returns the text for evaluators. `commit` is that of the sources, if they are in the directory.
fn readme(
    options: &ArtifactOptions,
    all: &[Scenario],
    made: &Made,
    commit: Option<&str>,
) -> Result<String> {
    let (material, _) = options.figures().material();
    let figure = |(scenario, time): (&Scenario, &String)| FigureRow {
        name: scenario.name.clone(),
        command: command(options, core::slice::from_ref(scenario)),
        time: time.clone(),
        tolerance: match scenario.body.clock {
            Clock::Virtual => "the same bytes",
            Clock::Real => "the 95 % interval",
        },
    };
    let figures: Vec<FigureRow> = all.iter().zip(&made.times).map(figure).collect();
    let files: BTreeSet<String> =
        all.iter().flat_map(|it| material.digests(it, options.wish.is_full)).collect();
    let values = context! {
        version => env!("CARGO_PKG_VERSION"),
        rust => env!("CARGO_PKG_RUST_VERSION"),
        machine => machine(),
        commit => commit,
        first => first_run::names(first_run::EXPECTED),
        command => command(options, all),
        figures => Value::from(Serde(&figures)),
        files => Vec::from_iter(files),
        headings => HEADINGS[..4].to_vec(),
        rows => verdict_rows(made),
    };
    filled("artifact.md", README_TEXT, values)
}

/// Returns how many files an artifact has, and a line for each that is missing, damaged, or no part of the artifact.
fn check(artifact: &Path) -> Result<(usize, Vec<String>)> {
    let list = artifact.join(SUMS);
    let shown = list.display();
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {shown}"))?;
    let mut faults = Vec::new();
    let mut known = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let parts = line.split_once("  ").filter(|(sum, file)| {
            sum.len() == 64
                && sum.bytes().all(|it| it.is_ascii_hexdigit())
                && is_inside(Path::new(file))
        });
        let (expected, file) =
            parts.with_context(|| format!("{shown}:{}: no checksum and file", number + 1))?;
        let path = artifact.join(file);
        if !path.exists() {
            faults.push(format!("{file}: missing"));
        } else if sum(&path)? != expected {
            faults.push(format!("{file}: damaged"));
        }
        known.insert(file.to_owned());
    }
    ensure!(!known.is_empty(), "{shown} names no file");
    let others = files(artifact)?.into_iter().filter(|file| file != SUMS && !known.contains(file));
    faults.extend(others.map(|file| format!("{file}: not of the artifact")));
    Ok((known.len(), faults))
}

/// Returns the SHA-256 of a file.
fn sum(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the names of all files below a directory, in order.
fn files(directory: &Path) -> Result<BTreeSet<String>> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![directory.to_owned()]);
    while let Some(folder) = folders.pop() {
        let shown = folder.display();
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {shown}"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {shown}"))?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                continue;
            }
            let path = entry.path();
            let name = path.strip_prefix(directory).ok().and_then(Path::to_str);
            let name = name.filter(|name| !name.contains(char::is_control));
            let name = name.with_context(|| format!("a list cannot name {path:?}"))?;
            found.insert(name.to_owned());
        }
    }
    Ok(found)
}
