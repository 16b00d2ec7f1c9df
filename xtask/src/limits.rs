//! `cargo xtask limits`: makes docs/limits.md, a table of all limits, from the constants in the source.
//!
//! Name, value, place and meaning of a row come from the source. The last column says what happens beyond a limit:
//! people write it in the table, and the command keeps it.

mod value;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::{self, Texts};
use value::Value;

/// The path of the table.
const TABLE: &str = concat!("docs", "/limits.md");

/// The headings of the table.
const HEADING: &str = "| limit | value | where | what it is | beyond it |\n|---|---|---|---|---|\n";

/// The text above the table.
const INTRODUCTION: &str = "\
# Limits

Everything that comes from the network, a host program, a file or the user has a bound. This table is made by
`cargo xtask limits` from the constants in the source, whose comments say why each has its value; only the last column
is written here, and stays when the table is made anew. `cargo xtask tidy` fails where the two disagree.

";

/// Crates that the table leaves out, because they do not ship.
const BESIDE: [&str; 2] = ["oracle", "trials"];

/// A limit as the source states it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    name: String,
    kind: String,
    expression: String,
    /// The first sentence of the constant's comment.
    meaning: String,
}

/// Writes the table. Rows of known limits keep their last column.
///
/// # Errors
///
/// Returns an error when a file cannot be read or written, or the value of a constant cannot be computed.
pub(crate) fn write(root: &Path) -> Result<()> {
    let page = page(&workspace::texts(root)?)?;
    fs::write(root.join(TABLE), page).context("cannot write the table of limits")
}

/// Compares the table with the source.
///
/// # Errors
///
/// Returns an error when the value of a constant cannot be computed.
pub(crate) fn check(texts: &Texts, findings: &mut Vec<String>) -> Result<()> {
    let old = old(texts);
    if page(texts)? != old {
        findings.push(format!("{TABLE}: not what the source says; run `cargo xtask limits`"));
    }
    for line in old.lines().filter(|line| line.ends_with("|  |")) {
        findings.push(format!("{TABLE}: does not say what happens beyond the limit: {line}"));
    }
    Ok(())
}

/// Returns the page in the working tree, which is empty if there is none.
fn old(texts: &Texts) -> &str {
    texts.get(TABLE).map_or("", String::as_str)
}

/// Returns the whole page. The last column comes from the old page.
fn page(texts: &Texts) -> Result<String> {
    let said: Vec<_> = old(texts).lines().filter_map(beyond).collect();
    let sources = texts.iter().map(|(path, text)| (PathBuf::from(path), text));
    let sources = sources.filter(|(path, _)| is_source(path));
    let sources: BTreeMap<_, _> = sources.map(|(path, text)| (path, limits(text))).collect();
    let mut page = INTRODUCTION.to_owned() + HEADING;
    for (path, limits) in &sources {
        for limit in limits.iter().filter(|limit| limit.is_listed()) {
            let place = place(path);
            let (name, meaning) = (&limit.name, &limit.meaning);
            let value = limit
                .value(limits, &sources)
                .with_context(|| format!("{}: {name} is no plain sum", path.display()))?;
            let beyond = kept(&said, name, &place);
            page += &format!("| `{name}` | {value} | `{place}` | {meaning} | {beyond} |\n");
        }
    }
    Ok(page)
}

/// Returns a limit's last column, from the old row with its name and place, or from the only row with its name.
fn kept<'a>(said: &[((&str, &str), &'a str)], name: &str, place: &str) -> &'a str {
    let of_name: Vec<_> = said.iter().filter(|row| row.0.0 == name).collect();
    let here = of_name.iter().find(|row| row.0.1 == place);
    match (here, of_name.as_slice()) {
        (Some(row), _) | (None, [row]) => row.1,
        _ => "",
    }
}

/// Returns a row's name and place, and its last column.
fn beyond(row: &str) -> Option<((&str, &str), &str)> {
    let cells: Vec<&str> = row.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
    let &[name, _, place, _, beyond] = cells.as_slice() else { return None };
    Some(((name.trim_end_matches('`'), place.trim_matches('`')), beyond))
}

/// Returns whether the table has the constants of a file.
fn is_source(path: &Path) -> bool {
    let is_test = path.file_stem().is_some_and(|stem| stem == "tests" || stem == "properties");
    let parts: Vec<_> = path.iter().collect();
    path.extension().is_some_and(|extension| extension == "rs")
        && !is_test
        && matches!(parts[..], [half, name, src, ..]
            if (half == "crates" || half == "lab") && !BESIDE.iter().any(|beside| name == *beside) && src == "src")
}

/// Returns the path of a file in the table: without the first folder and without `src`.
fn place(path: &Path) -> String {
    path.iter().skip(1).filter(|part| *part != "src").collect::<PathBuf>().display().to_string()
}

/// Returns the constants of a file, up to its tests.
fn limits(source: &str) -> Vec<Limit> {
    let mut found = Vec::new();
    let mut comment = String::new();
    for line in source.lines().take_while(|line| *line != "mod tests {") {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if let Some(limit) = constant(line, &comment) {
            found.push(limit);
            comment.clear();
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    found
}

/// Reads the declaration of a constant from a line. `comment` is the comment above it.
fn constant(line: &str, comment: &str) -> Option<Limit> {
    let at = line.find("const ")?;
    let is_declaration = line[..at].is_empty() || line.starts_with("pub");
    let (name, rest) = line[at + "const ".len()..].split_once(": ")?;
    let (kind, expression) = rest.strip_suffix(';')?.split_once(" = ")?;
    let is_name = name.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_');
    (is_declaration && is_name && expression != name).then(|| Limit {
        name: name.to_owned(),
        kind: kind.to_owned(),
        expression: expression.to_owned(),
        meaning: first_sentence(comment),
    })
}

fn first_sentence(comment: &str) -> String {
    let comment = comment.trim();
    let end = comment.find(". ").unwrap_or(comment.trim_end_matches('.').len());
    comment[..end].replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

impl Limit {
    /// Returns whether the table has this constant, because its name is that of a limit or of a timeout.
    fn is_listed(&self) -> bool {
        let is_limit = self.name.ends_with("_MAX") || self.name.ends_with("_TIMEOUT");
        let is_kind = self.name.contains("_MAX_");
        (is_limit || is_kind) && !self.kind.starts_with(['&', '[']) && self.kind != "Self"
    }

    /// Computes the value. A name in it is a constant of the same file, or else of other files if they all agree.
    fn value(&self, neighbours: &[Self], all: &BTreeMap<PathBuf, Vec<Self>>) -> Option<Value> {
        let lookup = |name: &str| {
            let of_name = |limits: &[Self]| limits.iter().find(|limit| limit.name == name).cloned();
            let other = || {
                let mut found = all.values().filter_map(|limits| of_name(limits));
                let first = found.next()?;
                found.all(|it| it.expression == first.expression).then_some(first)
            };
            let limit = of_name(neighbours).or_else(other)?;
            (limit.name != self.name).then(|| limit.value(neighbours, all))?
        };
        let value = Value::read(&self.expression, &lookup)?;
        Some(value.with_unit_of(&self.name, &self.meaning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! Some module.

/// Most things, as [`Thing`] has them. Chosen: enough.
pub(crate) const THINGS_MAX: usize = 4 * STEP;
const STEP: usize = 8;
/// Longest name, in bytes.
const NAME_MAX: usize = 1 << 10;
const NAME_MAX: usize = NAME_MAX;
const NAMES_MAX: &[&str] = &[];
#[cfg(test)]
mod tests {
const TEST_MAX: usize = 1;
";

    #[test]
    fn constants_are_found_with_their_first_sentence() {
        let found = limits(SOURCE);
        let listed: Vec<_> = found.iter().filter(|limit| limit.is_listed()).collect();
        let rows: Vec<_> = listed
            .iter()
            .map(|limit| {
                let value = limit.value(&found, &BTreeMap::new()).expect("plain");
                (limit.name.as_str(), value.to_string(), limit.meaning.as_str())
            })
            .collect();
        let wanted = [
            ("THINGS_MAX", "32".to_owned(), "Most things, as `Thing` has them"),
            ("NAME_MAX", "1 KiB".to_owned(), "Longest name, in bytes"),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn a_constant_of_other_files_counts_only_where_they_agree_on_it() {
        let user = limits("/// Most ways.\nconst WAYS_MAX: usize = JOINED_MAX;\n");
        let joined = |most| limits(&format!("/// Most.\nconst JOINED_MAX: usize = {most};\n"));
        for (other, value) in [(16, Some("16".to_owned())), (17, None)] {
            let all = [("a.rs", joined(16)), ("b.rs", joined(other))];
            let all = all.map(|(path, limits)| (PathBuf::from(path), limits)).into();
            assert_eq!(user[0].value(&user, &all).map(|it| it.to_string()), value);
        }
    }

    #[test]
    fn what_is_written_by_hand_is_found_again() {
        let row = "| `A_MAX` | 3 | `ssp/a.rs` | Most of it | the rest is left out |";
        assert_eq!(beyond(row), Some((("A_MAX", "ssp/a.rs"), "the rest is left out")));
        assert_eq!(beyond("| limit | value | where | what it is | beyond it |"), None);
        let said = [(("A_MAX", "a.rs"), "x"), (("B_MAX", "a.rs"), "y"), (("B_MAX", "b.rs"), "z")];
        for (name, place, kept_text) in [
            ("A_MAX", "a.rs", "x"),
            ("A_MAX", "moved.rs", "x"),
            ("B_MAX", "b.rs", "z"),
            ("B_MAX", "moved.rs", ""),
            ("C_MAX", "a.rs", ""),
        ] {
            assert_eq!(kept(&said, name, place), kept_text, "{name} {place}");
        }
    }

    #[test]
    fn what_ships_is_told_from_tests() {
        for (path, ships) in [
            ("crates/ssp/src/key.rs", true),
            ("crates/ssp/src/sender/chunk.rs", true),
            ("crates/ssp/src/ocb/tests.rs", false),
            ("crates/ssp/tests/vectors.rs", false),
            ("lab/oracle/src/pair.rs", false),
            ("lab/trials/src/sim.rs", false),
            ("xtask/src/main.rs", false),
        ] {
            assert_eq!(is_source(Path::new(path)), ships, "{path}");
        }
        assert_eq!(place(Path::new("crates/ssp/src/sender/chunk.rs")), "ssp/sender/chunk.rs");
    }
}
