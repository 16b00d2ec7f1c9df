//! The readable form of a RemyCC table: TOML, made for people and for version control.
//!
//! The file leaves out each side of a box that equals the whole table's side. Numbers survive writing and reading.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::remy::action::Action;
use crate::remy::domain::Domain;
use crate::remy::error::TableError;
use crate::remy::memory::Axis;
use crate::remy::table::{Rule, Table};

/// The name and version of this form, which a file states as `form`.
const FORM: &str = "rove-remy-1";

/// Largest file in the readable form, in bytes. Chosen: the same as for a `.dna` file.
const FILE_BYTES_MAX: usize = 16_777_216;

/// The contents of a file in the readable form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    form: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    domain: BTreeMap<String, [f64; 2]>,
    #[serde(default)]
    rule: Vec<Entry>,
}

/// A rule in a file of the readable form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    when: BTreeMap<String, [f64; 2]>,
    window_multiple: f64,
    window_increment: i32,
    intersend_ms: f64,
}

impl Table {
    /// Reads a table in the readable form.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] if the text is not of this form, or holds no usable table.
    pub fn from_readable(text: &str) -> Result<Self, TableError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(TableError::TooLarge { len: text.len(), max: FILE_BYTES_MAX });
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
            });
            TableError::Readable { sentence: format!("line {line}: {}", error.message()) }
        })?;
        if file.form != FORM {
            let sentence = format!("its form is {:?}, and only {FORM:?} is known", file.form);
            return Err(TableError::Readable { sentence });
        }
        let domain = sides(&file.domain, &Domain::WHOLE)?;
        let rules = file.rule.iter().map(|entry| {
            Ok(Rule {
                domain: sides(&entry.when, &domain)?,
                action: Action {
                    multiple: entry.window_multiple,
                    increment: entry.window_increment,
                    intersend_ms: entry.intersend_ms,
                },
            })
        });
        let mut table = Self::new(domain, rules.collect::<Result<_, TableError>>()?)?;
        table.about = file.about;
        Ok(table)
    }

    /// Returns the table in the readable form.
    pub fn to_readable(&self) -> String {
        let mut out = format!("form = {FORM:?}\n");
        if !self.about.is_empty() {
            // Three quotes would end the string, and a backslash would begin an escape.
            let about = self.about.trim().replace('\\', "\\\\");
            let about = about.replace("\"\"\"", "\\\"\\\"\\\"");
            let _ = writeln!(out, "about = \"\"\"\n{about}\n\"\"\"");
        }
        put_sides("domain", self.domain(), &Domain::WHOLE, &mut out);
        for rule in self.rules() {
            out.push_str("\n[[rule]]\n");
            put_sides("when", &rule.domain, self.domain(), &mut out);
            let Action { multiple, increment, intersend_ms } = rule.action;
            let _ = writeln!(out, "window_multiple = {multiple:?}");
            let _ = writeln!(out, "window_increment = {increment}");
            let _ = writeln!(out, "intersend_ms = {intersend_ms:?}");
        }
        out
    }
}

/// Returns a box with the sides in `named`, and else those of `whole`. The name of an unknown signal is an error.
fn sides(named: &BTreeMap<String, [f64; 2]>, whole: &Domain) -> Result<Domain, TableError> {
    let mut domain = *whole;
    for (name, [lower, upper]) in named {
        let Some(axis) = Axis::ALL.into_iter().find(|axis| axis.name() == name) else {
            let known = Axis::ALL.map(Axis::name).join(", ");
            let sentence = format!("there is no signal {name:?}; there are {known}");
            return Err(TableError::Readable { sentence });
        };
        domain.lower[axis.index()] = *lower;
        domain.upper[axis.index()] = *upper;
    }
    Ok(domain)
}

/// Writes the sides of `domain` that differ from those of `whole`.
fn put_sides(key: &str, domain: &Domain, whole: &Domain, out: &mut String) {
    let side =
        |domain: &Domain, axis: Axis| (domain.lower[axis.index()], domain.upper[axis.index()]);
    let named: Vec<String> = (Axis::ALL.into_iter())
        .filter(|axis| side(domain, *axis) != side(whole, *axis))
        .map(|axis| {
            let (lower, upper) = side(domain, axis);
            format!("{} = [{lower:?}, {upper:?}]", axis.name())
        })
        .collect();
    if !named.is_empty() {
        let _ = writeln!(out, "{key} = {{ {} }}", named.join(", "));
    }
}

#[cfg(test)]
mod tests;
