//! The first run of an evaluator: a few figures, made in a minute or two and compared with the numbers that are expected.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rove_rig::scratch::Scratch;

use crate::experiment::material::Material;
use crate::experiment::programs::Programs;
use crate::experiment::store::Store;
use crate::experiment::sweep::{Plan, Profile};
use crate::experiment::{RUNS, csv, scenarios};

/// The name of the file of expected numbers in an artifact.
pub(super) const FILE: &str = "expected.csv";

/// The expected numbers: `figures.csv` of five figures. A test makes these figures again and compares them.
pub(super) const EXPECTED: &str = include_str!("../../../experiments/expected.csv");

/// Largest difference from an expected number, as a share of it or in its unit, whichever is more. Chosen: the
/// logarithms of another processor change the last digit of a time, after which other packets may be lost.
const WITHIN: f64 = 0.05;
const WITHIN_LEAST: f64 = 0.01;

/// A number, and the ends of its 95 % interval over the seeds if it has one.
type Numbers = [Option<f64>; 3];

/// The outcome of a first run.
#[derive(Debug, Default, PartialEq)]
struct Compared {
    same: usize,
    near: usize,
    /// A line for each number that differs too much, or is missing.
    faults: Vec<String>,
}

/// Makes the figures of an artifact's expected numbers. Returns whether all are near, and a text on those that are not.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or a figure not be made.
pub(super) fn run(artifact: &Path) -> Result<(bool, String)> {
    let file = artifact.join(FILE);
    let shown = file.display();
    let expected = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
    ensure!(expected.starts_with(csv::FIGURES), "{shown} does not begin with {}", csv::FIGURES);
    let names = names(&expected);
    let compared = compare(&expected, &made(&names)?);
    let Compared { same, near, faults } = &compared;
    let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
    let (far, names) = (faults.len(), names.join(", "));
    let text = format!(
        "{lines}{names}: {same} numbers are the expected ones, {near} others lie near, {far} do not\n"
    );
    Ok((faults.is_empty(), text))
}

/// Returns the names of the figures in a file of expected numbers.
pub(super) fn names(expected: &str) -> Vec<String> {
    let lines = expected.lines().skip(1).filter_map(|line| line.split_once(','));
    let mut names: Vec<String> = lines.map(|(name, _)| name.to_owned()).collect();
    names.dedup();
    names
}

/// Makes figures with the laboratory's own recordings, and returns their numbers.
fn made(names: &[String]) -> Result<String> {
    let scratch = Scratch::create()?;
    let store = Store::open(&scratch.path(RUNS))?;
    let material = Material { traces: None, tables: None, drawn: scratch.folder().to_owned() };
    let (profile, programs) = (Profile { is_full: false, seed: 1 }, Programs::prepare(false));
    let mut text = csv::FIGURES.to_owned();
    for scenario in scenarios(names)? {
        let plan = Plan::new(&scenario, profile, &material, &programs)?;
        text += &csv::figures(&plan.figure(&store)?);
    }
    Ok(text)
}

/// Returns the numbers of each line of a file, by the beginning of the line.
fn numbers(text: &str) -> BTreeMap<&str, Numbers> {
    let line = |line| {
        // The numbers stand last, and have no quotation marks.
        let mut parts = str::rsplitn(line, 4, ',');
        let [high, low, number] = [(); 3].map(|()| parts.next().and_then(|it| it.parse().ok()));
        Some((parts.next()?, [number, low, high]))
    };
    text.lines().skip(1).filter_map(line).collect()
}

fn compare(expected: &str, ours: &str) -> Compared {
    let (expected, ours) = (numbers(expected), numbers(ours));
    let mut compared = Compared::default();
    for (name, wanted) in &expected {
        let [number, low, high] = *wanted;
        let found = ours.get(name).and_then(|numbers| numbers[0]);
        let (Some(number), Some(found)) = (number, found) else {
            compared.faults.push(format!("{name}: missing"));
            continue;
        };
        let off = (number.abs() * WITHIN).max(WITHIN_LEAST);
        let low = low.unwrap_or(number).min(number - off);
        let high = high.unwrap_or(number).max(number + off);
        if found.to_bits() == number.to_bits() {
            compared.same += 1;
        } else if (low..=high).contains(&found) {
            compared.near += 1;
        } else {
            compared.faults.push(format!("{name}: {found} is not in {low} to {high}"));
        }
    }
    let others = ours.keys().filter(|name| !expected.contains_key(*name));
    compared.faults.extend(others.map(|name| format!("{name}: not expected")));
    compared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_lie_in_its_interval_or_near_and_nowhere_else() {
        let file = |lines: &str| format!("{}{lines}", csv::FIGURES);
        let expected = file("f,\"a, b\",l,,mean,100,80,101\nf,c,l,1,use (%),0,,\n");
        let told = |lines: &str| {
            let Compared { same, near, faults } = compare(&expected, &file(lines));
            (same, near, faults.join("; "))
        };
        let same = "f,\"a, b\",l,,mean,100,80,101\nf,c,l,1,use (%),0,,\n";
        assert_eq!(told(same), (2, 0, String::new()));
        assert_eq!(
            told("f,\"a, b\",l,,mean,81,,\nf,c,l,1,use (%),0.009,,\n"),
            (0, 2, String::new())
        );
        assert_eq!(
            told("f,\"a, b\",l,,mean,105.5,,\nf,d,l,,mean,1,,\n"),
            (
                0,
                0,
                "f,\"a, b\",l,,mean: 105.5 is not in 80 to 105; f,c,l,1,use (%): missing; f,d,l,,mean: not expected"
                    .to_owned()
            )
        );
        assert_eq!(names(&expected), ["f"]);
    }
}
