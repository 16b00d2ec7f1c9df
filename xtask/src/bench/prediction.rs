//! What predicting the echo of keys costs the client, by either engine.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::Bench;
use super::emulator::series;
use super::report::{Line, Target};

/// Runs the example of crates/predict that types.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    eprintln!("{} rounds: predictions", bench.rounds);
    lines(&bench.programs.example("prediction", bench.rounds)?)
}

/// Reads what the example printed: rove's engine beside stock's rules.
fn lines(text: &str) -> Result<Vec<Line>> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let (kind, mut figures) = series(line).with_context(|| format!("unexpected {line:?}"))?;
        found.insert(kind, figures.remove("microseconds").context("a prediction took no time")?);
    }
    let mut figures = |kind: String| found.remove(&kind).with_context(|| format!("no {kind:?}"));
    ["a key", "a screen"]
        .into_iter()
        .map(|what| {
            let ours = figures(format!("replay, {what}"))?;
            Ok(Line::new(format!("prediction at 200x60, {what}"), "us", ours)
                .beside("stock's rules", figures(format!("stock, {what}"))?)
                .target(Target::AtMost(50.0)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_are_side_by_side() {
        let kinds = ["replay, a key", "replay, a screen", "stock, a key", "stock, a screen"];
        let text: Vec<_> = kinds
            .iter()
            .map(|kind| format!("{{\"kind\":\"{kind}\",\"microseconds\":[9.0]}}"))
            .collect();
        let found = lines(&text.join("\n")).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|line| line.target == Some(Target::AtMost(50.0))));
        assert!(lines(&text[1..].join("\n")).is_err(), "one is missing");
    }
}
