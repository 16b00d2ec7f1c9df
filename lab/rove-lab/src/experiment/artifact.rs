//! `rove-lab artifact`: a directory for those who evaluate a paper. It has figures, all that they were made from, and checksums.

use core::fmt::Write as _;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use rove_runs::files::{directory, write_whole};
use rove_runs::parallel::Engine;
use rove_runs::shown;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::experiment::results::machine;
use crate::experiment::scenario::Scenario;
use crate::experiment::system::{Clock, System};
use crate::experiment::verdict::{HEADINGS, Verdict};
use crate::experiment::{FiguresOptions, make, scenarios};

/// The checksums of all other files, as `sha256sum` reads them.
const SUMS: &str = "SHA256SUMS";

/// The other entries of the directory.
const README: &str = "README.md";
const LOCK: &str = "Cargo.lock";
const FIGURES: &str = "figures";
const SCENARIOS: &str = "scenarios";

/// The versions of all crates that the program was built from.
const LOCK_TEXT: &str = include_str!("../../../../Cargo.lock");

/// Makes figures with all that an evaluator of a paper needs, or checks such a directory
#[derive(Clone, Debug, Args)]
pub(crate) struct ArtifactOptions {
    /// Figures, as of `rove-lab figures`; all names where there is none
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    names: Vec<String>,
    /// Names each file of this directory that is missing, damaged, or not of it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["names", "out", "is_full", "seed"])]
    check: Option<PathBuf>,
    /// Directory of recordings of others: key traces, and delivery opportunities of links
    #[arg(long, value_name = "DIR", env = "ROVE_TRACES", value_parser = directory(), value_hint = ValueHint::DirPath)]
    traces: Option<PathBuf>,
    /// Directory of congestion controllers that others have published (.dna)
    #[arg(long, value_name = "DIR", env = "ROVE_REMY", value_parser = directory(), value_hint = ValueHint::DirPath)]
    tables: Option<PathBuf>,
    /// Directory that everything is written to
    #[arg(long, value_name = "DIR", default_value = "artifact", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// Runs as often as each scenario says for its long profile
    #[arg(long = "full")]
    is_full: bool,
    /// Number that decides all chance
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

impl ArtifactOptions {
    fn figures(&self) -> FiguresOptions {
        FiguresOptions {
            names: self.names.clone(),
            is_list: false,
            lists_papers: false,
            traces: self.traces.clone(),
            tables: self.tables.clone(),
            out: self.out.join(FIGURES),
            is_full: self.is_full,
            seed: self.seed,
            shard: None,
            engine: Engine::Local,
            is_worker: false,
            json: false,
        }
    }
}

/// Makes an artifact, or checks one. Returns whether all its files are as they were made.
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
    let out = &options.out;
    begin(out)?;
    let figures = options.figures();
    let mut all = Vec::new();
    for name in &options.names {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        for scenario in scenarios(core::slice::from_ref(name))? {
            save(&scenario, folder, &out.join(SCENARIOS))?;
            all.push(scenario);
        }
    }
    if options.names.is_empty() {
        all.extend(Scenario::built_in());
        all.iter().try_for_each(|it| save(it, Path::new(""), &out.join(SCENARIOS)))?;
    }
    let json = make(&figures, &mut output)?;
    write_whole(&out.join(LOCK), LOCK_TEXT)?;
    write_whole(&out.join(README), &readme(options, &all, &json))?;
    let sums = files(out)?.into_iter().filter(|file| file != SUMS).map(|file| {
        let sum = sum(&out.join(&file))?;
        Ok(format!("{sum}  {file}\n"))
    });
    write_whole(&out.join(SUMS), &sums.collect::<Result<String>>()?)?;
    shown::written(writeln!(output, "The artifact is {}; see {README} in it", out.display()))
        .map(|()| true)
}

/// Makes the directory. A directory that holds anything else is refused, as its files would become a part of the artifact.
fn begin(out: &Path) -> Result<()> {
    let shown = out.display();
    fs::create_dir_all(out).with_context(|| format!("cannot make the directory {shown}"))?;
    for entry in fs::read_dir(out).with_context(|| format!("cannot read {shown}"))? {
        let name = entry.with_context(|| format!("cannot read {shown}"))?.file_name();
        let is_ours = [SUMS, README, LOCK, FIGURES, SCENARIOS].iter().any(|own| name == **own);
        ensure!(is_ours, "{shown} has {}, which is of no artifact", name.display());
    }
    Ok(())
}

/// Saves a scenario with the files beside it.
fn save(scenario: &Scenario, folder: &Path, into: &Path) -> Result<()> {
    let shown = into.display();
    fs::create_dir_all(into).with_context(|| format!("cannot make the directory {shown}"))?;
    write_whole(&into.join(format!("{}.toml", scenario.name)), &scenario.text)?;
    let mut body = scenario.body.clone();
    let schedules = body.links.iter().filter_map(|link| link.schedule.as_ref());
    let mut beside: BTreeSet<PathBuf> = schedules.map(|it| PathBuf::from(it.get_ref())).collect();
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
        let parent = copy.parent().unwrap_or(into);
        let copied = fs::create_dir_all(parent).and_then(|()| fs::copy(&file, &copy));
        copied.with_context(|| format!("cannot copy {shown}"))?;
    }
    Ok(())
}

/// Returns whether a path leads to a place below its directory.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the text for evaluators.
fn readme(options: &ArtifactOptions, all: &[Scenario], json: &Value) -> String {
    let (material, _) = options.figures().material();
    let ours: Vec<Scenario> = Scenario::built_in().collect();
    let named = |scenario: &Scenario| {
        let name = &scenario.name;
        if ours.contains(scenario) { name.clone() } else { format!("{SCENARIOS}/{name}.toml") }
    };
    let files: BTreeSet<String> = all.iter().flat_map(|it| material.digests(it)).collect();
    let mut command: Vec<String> = ["rove-lab".to_owned(), FIGURES.to_owned()].into();
    command.extend(all.iter().map(|scenario| quoted(&named(scenario))));
    command.push(format!("--seed {}", options.seed));
    command.extend(options.is_full.then(|| "--full".to_owned()));
    command.extend((!files.is_empty()).then(|| "--traces DIR".to_owned()));
    command.extend(options.tables.as_ref().map(|_| "--tables DIR".to_owned()));
    let real = all.iter().filter(|scenario| scenario.body.clock == Clock::Real);
    let real: Vec<&str> = real.map(|scenario| scenario.name.as_str()).collect();
    let mut text = format!(
        "# Figures of rove-lab {}\n\nMade on {}. [{LOCK}]({LOCK}) has the versions of all crates.\n\n## Check the files\n\n    \
         rove-lab artifact --check .\n    sha256sum --check {SUMS}\n\n## Make the figures again\n\n    {} --out /tmp/again\n    \
         cmp /tmp/again/figures.csv {FIGURES}/figures.csv\n\nFigures in virtual time are the same to the byte, with the same version \
         and the same files. In real time are: {}.\n[{FIGURES}/figures.html]({FIGURES}/figures.html) has pictures and tables, \
         `figures.csv` and `runs.csv` the numbers.\n\n## Files of others\n\nThey are not in this directory. Their SHA-256 begins with:\n\n",
        env!("CARGO_PKG_VERSION"),
        machine(),
        command.join(" "),
        if real.is_empty() { "none".to_owned() } else { real.join(", ") },
    );
    text.extend(files.iter().map(|file| format!("- {file}\n")));
    text.push_str(if files.is_empty() { "- none\n" } else { "" });
    text.push_str("\n## Results\n\nA band in parentheses is the tolerance.\n\n");
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
    text += &row(&HEADINGS.map(str::to_owned)[..4]);
    text += "|---|---|---|---|\n";
    for figure in json[FIGURES].as_array().into_iter().flatten() {
        let verdicts = Verdict::read(figure);
        text.extend(verdicts.iter().map(|it| row(&it.row()[..4])));
        if verdicts.is_empty() {
            let _ = writeln!(text, "| {} | - | - | - |", figure["name"].as_str().unwrap_or(""));
        }
    }
    text
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "./_-".contains(it);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns how many files an artifact has, and a line for each that is missing, damaged, or not of it.
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
