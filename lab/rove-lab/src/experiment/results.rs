//! The results in a directory. A new figure replaces an older one of the same name, and all others stay.

use std::fs;
use std::io::ErrorKind;
use std::path::Path as FilePath;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::experiment::plot;
use crate::experiment::scenario::Plot;
use crate::experiment::sweep::Figure;
use crate::experiment::verdict::Verdict;
use crate::experiment::{csv, page};
use crate::picture::Picture;
use rove_runs::files::write_whole;
use rove_runs::{parallel, report};

/// File of the page of all figures.
pub(crate) const PAGE: &str = "figures.html";

#[derive(Deserialize, Serialize)]
pub(crate) struct All {
    #[serde(skip_deserializing)]
    version: &'static str,
    pub(crate) figures: Vec<Value>,
}

impl All {
    /// Returns figures with the version of rove-lab that made them.
    pub(crate) fn of(figures: Vec<Value>) -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), figures }
    }
}

/// A directory that results are written to.
#[derive(Debug)]
pub(crate) struct Results<'a> {
    directory: &'a FilePath,
    machine: String,
}

impl<'a> Results<'a> {
    /// Creates the results of one call, made on this computer.
    pub(crate) fn new(directory: &'a FilePath) -> Self {
        Self { directory, machine: machine() }
    }

    /// Puts a figure into all files, given its JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub(crate) fn add(&self, figure: &Figure, picture: &Picture, json: &Value) -> Result<()> {
        let name = &figure.scenario.name;
        if figure.missing.is_none() {
            self.merge(&format!("{name}.svg"), |_| Ok(picture.svg.clone()))?;
        }
        for (file, heading, lines) in [
            ("runs.csv", csv::RUNS.to_owned(), csv::runs(figure)),
            ("figures.csv", csv::FIGURES.to_owned(), csv::figures(figure)),
            ("course.csv", csv::course_heading(), csv::course(figure)),
        ] {
            // Without a course, a figure adds no lines, so a missing file is not created.
            if !lines.is_empty() || self.directory.join(file).exists() {
                self.merge(file, |old| merged_lines(old, &heading, name, &lines))?;
            }
        }
        let mut verdicts = Vec::new();
        self.merge("figures.json", |old| {
            let others: All = match old {
                "" => All::of(Vec::new()),
                _ => serde_json::from_str(old).context("it has no figures: move it away")?,
            };
            let all = replaced(others.figures, json.clone(), |it| it["name"].clone());
            verdicts = all.iter().flat_map(Verdict::read).collect();
            Ok(report::json(&All::of(all)))
        })?;
        let section = page::Section::new(figure, picture, &self.machine)?;
        self.merge(PAGE, |old| {
            let sections = replaced(page::sections(old), section, |it| it.name.clone());
            page::page(&sections, &verdicts)
        })
    }

    /// Writes a picture of each link, if the figure shows flows by their delay over several links.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub(crate) fn add_links(&self, figure: &Figure) -> Result<()> {
        let body = &figure.scenario.body;
        let has_pictures = body.plot == Plot::UseByTime && body.links.len() > 1;
        for link in body.links.iter().filter(|_| has_pictures && figure.missing.is_none()) {
            let mut one = figure.clone();
            one.series.retain(|series| series.link == link.name);
            let file = format!("{}.{}.svg", one.scenario.name, link.picture());
            write_whole(&self.directory.join(file), &plot::draw(&one).svg)?;
        }
        Ok(())
    }

    /// Rewrites a file. `text` makes the new text from the old one, which is empty if there is no file.
    fn merge(&self, file: &str, text: impl FnOnce(&str) -> Result<String>) -> Result<()> {
        let file = self.directory.join(file);
        let told = || format!("cannot read {}", file.display());
        let old = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            // A spreadsheet may have saved the file with other line endings, and with a byte order mark.
            read => read.with_context(told)?.trim_start_matches('\u{feff}').replace("\r\n", "\n"),
        };
        write_whole(&file, &text(&old).with_context(told)?)
    }
}

/// Returns all items with `new` in place of an older item of its name, or else at the end.
fn replaced<T, K: PartialEq>(mut all: Vec<T>, new: T, name: impl Fn(&T) -> K) -> Vec<T> {
    match all.iter().position(|old| name(old) == name(&new)) {
        Some(place) => all[place] = new,
        None => all.push(new),
    }
    all
}

/// Returns a file's lines with those of the figure `name` replaced, and last. A file with other columns is refused.
fn merged_lines(old: &str, heading: &str, name: &str, lines: &str) -> Result<String> {
    let own = csv::line(&[name]).replace('\n', ",");
    let others = if old.is_empty() { Some(old) } else { old.strip_prefix(heading) };
    let others = others.with_context(|| {
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        format!("it begins with {:?}, not with {:?}: move it away", first(old), first(heading))
    })?;
    let others = others.split_inclusive('\n').filter(|line| !line.starts_with(&own));
    Ok(format!("{heading}{}{lines}", others.collect::<String>()))
}

/// Returns the processor and the system. Figures in real time depend on them.
pub(super) fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let system = rustix::system::uname();
    let [name, release] = [system.sysname(), system.release()].map(|text| text.to_string_lossy());
    format!("{model}, {} processors, {name} {release}", parallel::processors())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_figure_replace_its_older_ones_and_leave_all_others() {
        let merged = |old: &str, name: &str| {
            let merged = merged_lines(old, "h,x\n", name, &format!("{name},new\n"));
            merged.map_err(|error| error.to_string())
        };
        let lines = |text: &str| Ok(text.to_owned());
        assert_eq!(merged("", "a"), lines("h,x\na,new\n"));
        let old = "h,x\na,1\nab,2\na,3\n";
        assert_eq!(merged(old, "a"), lines("h,x\nab,2\na,new\n"));
        let said = merged("h;x\nab;2\n", "a").expect_err("other columns");
        assert!(said.contains("it begins with \"h;x\", not with \"h,x\""), "{said}");
        assert_eq!(replaced(vec![1, 2, 3], 2, |it| *it), [1, 2, 3]);
    }
}
