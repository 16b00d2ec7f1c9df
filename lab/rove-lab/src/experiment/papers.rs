//! The figures, tables and claims of the papers: the experiment that makes each again, or the reason why there is none.

use core::fmt::Write as _;

use serde::Deserialize;

const FILE: &str = include_str!("../../experiments/papers/papers.toml");

/// All rows of the papers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Papers {
    row: Vec<Row>,
}

/// A figure, a table or a claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    paper: String,
    what: String,
    /// Names of the figures that reproduce this row.
    #[serde(default)]
    figures: Vec<String>,
    /// Another command or test that reproduces this row.
    command: Option<String>,
    /// Why nothing reproduces this row.
    reason: Option<String>,
}

/// Returns the rows as text.
pub(crate) fn text() -> String {
    let mut out = String::new();
    let mut paper = "";
    let papers = read();
    for row in &papers.row {
        if row.paper != paper {
            paper = &row.paper;
            let _ = writeln!(out, "{paper}");
        }
        let reason = row.reason.iter().map(|reason| format!("none: {reason}"));
        let all = row.figures.iter().chain(&row.command).cloned().chain(reason);
        let _ = writeln!(out, "  {}: {}", row.what, all.collect::<Vec<_>>().join(", "));
    }
    out
}

fn read() -> Papers {
    toml::from_str(FILE).expect("a test reads it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::scenario::Scenario;

    #[test]
    fn every_row_has_an_experiment_or_a_reason_and_every_figure_a_row() {
        let known: Vec<String> = Scenario::built_in().map(|scenario| scenario.name).collect();
        let papers = read();
        for Row { what, figures, command, reason, .. } in &papers.row {
            let is_done = !figures.is_empty() || command.is_some();
            assert!(is_done != reason.is_some(), "{what}: an experiment, or a reason");
            let unknown = figures.iter().find(|name| !known.contains(name));
            assert!(unknown.is_none(), "{what}: there is no figure {unknown:?}");
        }
        let named = |name: &&String| papers.row.iter().any(|row| row.figures.contains(name));
        let unnamed: Vec<&String> = known.iter().filter(|name| !named(name)).collect();
        assert!(unnamed.is_empty(), "no row has {unnamed:?}");
        assert!(papers.row.iter().any(|row| text().contains(&row.what)));
    }
}
