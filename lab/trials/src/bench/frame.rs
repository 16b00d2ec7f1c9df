//! The server's cost for a frame of a large screen, which is a snapshot and a difference.

use anyhow::{Context, Result};

use super::emulator::series;
use super::report::{Line, Target};
use super::turns::Bench;

/// Runs the example of lab/headless that makes frames.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    eprintln!("{} rounds: frames", bench.rounds);
    lines(&bench.programs.example("frame", bench.rounds)?)
}

/// Reads the example's output into lines of the table.
fn lines(text: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let (kind, mut figures) = series(line).with_context(|| format!("unexpected {line:?}"))?;
        let microseconds = figures.remove("microseconds").context("a frame took no time")?;
        let limit = match kind.as_str() {
            "no change" => Some(Target::AtMost(2.0)),
            "one key" => Some(Target::AtMost(10.0)),
            _ => None,
        };
        let line = Line::new(format!("frame of 200x60, {kind}"), "us", microseconds);
        lines.push(match limit {
            Some(target) => line.target(target),
            None => line,
        });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_small_frames_have_targets() {
        let text = "{\"kind\":\"no change\",\"microseconds\":[0.3]}\n\
                    {\"kind\":\"one key\",\"microseconds\":[0.9]}\n\
                    {\"kind\":\"everything\",\"microseconds\":[70.0]}";
        let found: Vec<_> = lines(text).unwrap().iter().map(|it| Some(it.target?.target)).collect();
        assert_eq!(found, [Some(Target::AtMost(2.0)), Some(Target::AtMost(10.0)), None]);
        assert!(lines("{\"kind\":\"no change\"}").is_err());
    }
}
