//! `rove-lab remy describe`: shows a table to people, as text and as a picture.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use rove_congestion::remy::{Axis, Rule, Table};
use rove_runs::files::write_whole;

use crate::surface;

/// Writes a table's rules to `output`, and draws them into the file `picture` if that is given.
///
/// # Errors
///
/// Returns an error if `output` or the picture cannot be written.
pub(crate) fn describe(
    table: &Table,
    picture: Option<&Path>,
    mut output: impl Write,
) -> Result<()> {
    output.write_all(text(table).as_bytes()).context("cannot write standard output")?;
    match picture {
        Some(file) => write_whole(file, &surface::draw(table)?),
        None => Ok(()),
    }
}

/// Returns the rules as text, with a line for each rule.
fn text(table: &Table) -> String {
    let axes = table.dividing_axes();
    let names: Vec<&str> = axes.iter().map(|axis| axis.name()).collect();
    let mut out = String::new();
    if !table.about.trim().is_empty() {
        out.push_str(table.about.trim());
        out.push('\n');
    }
    let rules = table.rules();
    out.push_str(&match names.as_slice() {
        [] => "one rule for all memories\n".to_owned(),
        names => format!("{} rules by {}\n", rules.len(), names.join(", ")),
    });
    for (number, rule) in rules.iter().enumerate() {
        let sides: Vec<String> = axes.iter().filter_map(|axis| side(table, rule, *axis)).collect();
        let when = if sides.is_empty() { "always".to_owned() } else { sides.join(", ") };
        let action = rule.action;
        out.push_str(&format!(
            "{:4}: window x {} {:+}, {} ms between packets; {when}\n",
            number + 1,
            action.multiple,
            action.increment,
            action.intersend_ms,
        ));
    }
    out
}

/// Returns the part of an axis that a rule covers, as text. `None` if it covers the whole axis.
fn side(table: &Table, rule: &Rule, axis: Axis) -> Option<String> {
    let (lower, upper) = (rule.domain.lower[axis.index()], rule.domain.upper[axis.index()]);
    let is_open = upper >= table.domain().upper[axis.index()];
    let name = axis.name();
    match (lower <= table.domain().lower[axis.index()], is_open) {
        (true, true) => None,
        (true, false) => Some(format!("{name} < {upper:.4}")),
        (false, true) => Some(format!("{name} >= {lower:.4}")),
        (false, false) => Some(format!("{lower:.4} <= {name} < {upper:.4}")),
    }
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Domain};

    use super::*;

    #[test]
    fn a_table_is_described_by_its_rules_and_drawn_by_their_actions() {
        let action = |increment| Action { multiple: 0.5, increment, intersend_ms: 0.25 };
        let [near, far] = Domain::WHOLE.split(Axis::RttRatio, 1.5);
        let rules = [(near, 3), (far, -2)];
        let rules = rules.map(|(domain, increment)| Rule { domain, action: action(increment) });
        let table = Table::new(Domain::WHOLE, rules.to_vec()).expect("two halves");
        assert_eq!(
            text(&table),
            "2 rules by rtt_ratio\n   \
             1: window x 0.5 +3, 0.25 ms between packets; rtt_ratio < 1.5000\n   \
             2: window x 0.5 -2, 0.25 ms between packets; rtt_ratio >= 1.5000\n"
        );
        let svg = surface::draw(&table).expect("a picture");
        assert!(svg.contains("window increment (packets): -2 to 3"), "its least and most");
        assert!(svg.contains("#003C6E") && svg.contains("#EBF3FA"), "dark where more is added");
        let uniform = Table::uniform(action(1)).expect("one rule");
        assert!(text(&uniform).contains("one rule for all memories\n"), "{}", text(&uniform));
    }
}
