//! The parser and the screen alone, compared with `alacritty_terminal` and `vt100`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::report::{Line, Target};
use super::turns::Bench;

/// Runs the comparison of lab/oracle, in which the emulators take turns.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    eprintln!("{} rounds: three emulators", bench.rounds);
    lines(&bench.programs.example("throughput", bench.rounds)?)
}

/// Reads the example's output, a JSON object for each kind of terminal output.
fn lines(text: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let (kind, speeds) = series(line).with_context(|| format!("unexpected {line:?}"))?;
        let of = |name: &str| speeds.get(name).cloned().context("an emulator is missing");
        let what = format!("emulator alone, {kind}");
        let ours = || Ok::<_, anyhow::Error>(Line::new(what.clone(), "MB/s", of("rove")?));
        lines.push(ours()?.beside("alacritty", of("alacritty")?).target(Target::RatioAtLeast(1.5)));
        lines.push(ours()?.beside("vt100", of("vt100")?));
    }
    Ok(lines)
}

/// Reads a line of an example's output. Returns the kind, and the figures by name.
pub(super) fn series(line: &str) -> Result<(String, BTreeMap<String, Vec<f64>>)> {
    let mut value: BTreeMap<String, Value> = serde_json::from_str(line)?;
    let kind = value.remove("kind").and_then(|kind| Some(kind.as_str()?.to_owned()));
    let figures = value
        .into_iter()
        .map(|(name, figures)| Ok((name, serde_json::from_value(figures)?)))
        .collect::<Result<_>>()?;
    Ok((kind.context("there is no kind")?, figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_line_for_each_other_emulator() {
        let text = r#"{"kind":"plain","rove":[4.0,6.0],"alacritty":[2.0,3.0],"vt100":[1.0,2.0]}"#;
        let lines = lines(text).unwrap();
        let names: Vec<_> =
            lines.iter().map(|line| line.beside.as_ref().map(|beside| beside.name)).collect();
        assert_eq!(names, [Some("alacritty"), Some("vt100")]);
        assert_eq!(lines[0].target.map(|goal| goal.target), Some(Target::RatioAtLeast(1.5)));
        assert!(lines[1].target.is_none());
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        for text in ["x", "{}", r#"{"kind":"plain"}"#, r#"{"kind":"plain","rove":["x"]}"#] {
            assert!(lines(text).is_err(), "{text}");
        }
    }
}
