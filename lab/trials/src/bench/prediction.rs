//! The client's cost of predicting the echo of keys, by either engine.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::emulator::series;
use super::report::{Line, Target};
use super::turns::Bench;

/// Each measured case with its target in microseconds: typing, and the most expensive cases.
const KINDS: [(&str, f64); 8] = [
    ("a key", 50.0),
    ("a screen", 50.0),
    ("a key behind 100", 1000.0),
    ("a screen before 100", 1000.0),
    ("a paste of 190", 1000.0),
    ("a screen with 190", 1000.0),
    ("an unknown key", 1000.0),
    ("a screen that answers 60", 1000.0),
];

/// Runs the example of lab/headless that predicts keys.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    eprintln!("{} rounds: predictions", bench.rounds);
    lines(&bench.programs.example("prediction", bench.rounds)?)
}

/// Reads the example's output, with rove's engine compared to stock Mosh's rules.
fn lines(text: &str) -> Result<Vec<Line>> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let (kind, mut figures) = series(line).with_context(|| format!("unexpected {line:?}"))?;
        found.insert(kind, figures.remove("microseconds").context("a prediction took no time")?);
    }
    let mut figures = |kind: String| found.remove(&kind).with_context(|| format!("no {kind:?}"));
    KINDS
        .into_iter()
        .map(|(what, most)| {
            let ours = figures(format!("replay, {what}"))?;
            Ok(Line::new(format!("prediction at 200x60, {what}"), "us", ours)
                .beside("stock's rules", figures(format!("stock, {what}"))?)
                .target(Target::AtMost(most)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_are_side_by_side() {
        let kinds = KINDS.map(|(what, _)| what);
        let text: Vec<_> = ["replay", "stock"]
            .iter()
            .flat_map(|engine| kinds.map(|what| format!("{engine}, {what}")))
            .map(|kind| format!("{{\"kind\":\"{kind}\",\"microseconds\":[9.0]}}"))
            .collect();
        let found = lines(&text.join("\n")).unwrap();
        let targets: Vec<_> = found.iter().map(|line| Some(line.target?.target)).collect();
        assert_eq!(targets, KINDS.map(|(_, most)| Some(Target::AtMost(most))));
        assert!(found.iter().all(|line| line.beside.is_some()));
        assert!(lines(&text[1..].join("\n")).is_err(), "one is missing");
    }
}
