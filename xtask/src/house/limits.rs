//! The limits in `house.toml`, and which figures are beyond them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::row::{FLAWS, Row, TABLES};
use super::rows::{PARTS, SUMS};

/// The file with the limits.
pub(super) const FILE: &str = "house.toml";

/// Limits by row and figure, joined by a dot.
pub(super) struct Limits(BTreeMap<String, f64>);

impl Limits {
    /// Reads the file, whose lines are `row.figure = number`.
    ///
    /// # Errors
    ///
    /// Returns an error when a line is neither a limit, nor a comment, nor blank.
    pub(super) fn read(text: &str) -> Result<Self> {
        let read = |line: &str| {
            let (key, limit) = line.split_once(" = ")?;
            Some((key.to_owned(), limit.parse().ok()?))
        };
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let limits = lines.map(|line| read(line).with_context(|| format!("no limit: {line}")));
        limits.collect::<Result<_>>().map(Self)
    }

    /// Returns the limit of a figure in a row, if the row limits it. A limit that is not in the file is 0.
    pub(super) fn of(&self, row: &Row, figure: &str) -> Option<f64> {
        let is_flaw = FLAWS.iter().any(|(flaw, _)| *flaw == figure);
        let name = row.name.as_str();
        let is_limited = if is_flaw { !SUMS.contains(&name) } else { PARTS.contains(&name) };
        let limit = self.0.get(&format!("{name}.{figure}")).copied().unwrap_or_default();
        (is_limited && row.figures.contains_key(figure)).then_some(limit)
    }

    /// Returns a sentence for each figure beyond its limit, and for each line that limits no figure.
    pub(super) fn excesses(mut self, rows: &[Row]) -> Vec<String> {
        let mut findings = Vec::new();
        let figures = |row| TABLES.into_iter().flatten().map(move |figure| (row, figure));
        for (row, (figure, remedy)) in rows.iter().flat_map(figures) {
            let Some(limit) = self.of(row, figure) else { continue };
            let (key, value) = (format!("{}.{figure}", row.name), row.figures[figure]);
            let is_beyond = if *figure == "asserts" { value < limit } else { value > limit };
            if is_beyond {
                findings.push(format!("{FILE}: {key} is {value} and its limit {limit}: {remedy}"));
            }
            self.0.remove(&key);
        }
        findings.extend(self.0.into_keys().map(|key| format!("{FILE}: there is no figure {key}")));
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::source::Source;

    #[test]
    fn lines_are_limits_or_comments() {
        for text in ["ssp.long_functions: 1\n", "ssp.circle = many\n", "ssp.circle = 1 # why\n"] {
            assert!(Limits::read(text).is_err(), "{text}");
        }
        let limits =
            Limits::read("# head\n\nssp.circle = 1\nssp.p50 = 2.5\n").expect("well-formed");
        assert_eq!(limits.0.values().collect::<Vec<_>>(), [&1.0, &2.5]);
    }

    #[test]
    fn what_is_beyond_its_limit_is_told_in_a_sentence() {
        let long = format!("fn long() {{\n{}}}\n", "    go();\n".repeat(70));
        let asserting = "assert!(a);\n".repeat(3) + &"b();\n".repeat(997);
        let total = "product.code = 1000\nproduct.asserts = ";
        for (row, text, limits, finding) in [
            ("ssp", &long, "ssp.long_functions = 1\n", ""),
            (
                "ssp",
                &long.repeat(2),
                "ssp.long_functions = 1\n",
                "ssp.long_functions is 2 and its limit 1: split",
            ),
            ("ssp", &long, "", "is 1 and its limit 0"),
            ("ssp", &String::new(), "ssp.none = 1\n", "there is no figure ssp.none"),
            ("ssp", &String::new(), "ssp.code = 1\n", "there is no figure ssp.code"),
            ("product", &asserting, &format!("{total}3\n"), ""),
            (
                "product",
                &asserting,
                &format!("{total}3.1\n"),
                "product.asserts is 3 and its limit 3.1: assert",
            ),
        ] {
            let sources = [Source::new("crates/ssp/examples/a.rs", text)];
            let row = Row::of_crates(row, &[("ssp", &sources)], &[]);
            let found = Limits::read(limits).expect("well-formed").excesses(&[row]).join("\n");
            assert_eq!(found.lines().count(), usize::from(!finding.is_empty()), "{found}");
            assert!(found.contains(finding), "{found}");
        }
    }
}
