//! `cargo xtask reference`: makes docs/results/lab-reference.md, with the fields of the laboratory's files, from types.
//!
//! A row is a field or a variant: its name as serde has it, its type, and its comment.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::{self, Texts, text};

/// The path of the page.
const PAGE: &str = concat!("docs", "/results/lab-reference.md");

/// The text above the tables.
const INTRODUCTION: &str = "\
# Reference of the laboratory's files

`cargo xtask reference` makes this page from the types in the source, and `cargo xtask tidy` fails where the two disagree.
[lab.md](../lab.md) has the rest. A key with a question mark may be left out.
";

/// The types: the title of a table, the file, and the name.
const TYPES: [(&str, &str, &str); 26] = [
    ("Scenario files: the whole file", "rove-lab/src/experiment/scenario.rs", "Body"),
    ("Scenario files: `[[link]]`", "rove-lab/src/experiment/link.rs", "Link"),
    ("Scenario files: `[traffic]`", "rove-lab/src/experiment/traffic.rs", "Traffic"),
    ("Scenario files: `others` of `[traffic]`", "rove-lab/src/experiment/traffic.rs", "Others"),
    ("Scenario files: `[[published]]`", "rove-lab/src/experiment/published.rs", "Published"),
    ("Scenario files: `results` of it", "rove-lab/src/experiment/published.rs", "PublishedResult"),
    ("Scenario files: a band", "rove-lab/src/experiment/published.rs", "Band"),
    ("Words: `measure`", "rove-lab/src/experiment/measure.rs", "Measure"),
    ("Words: `plot`", "rove-lab/src/experiment/scenario.rs", "Plot"),
    ("Words: `clock`", "rove-lab/src/experiment/system.rs", "Clock"),
    ("Words: `direction`", "rove-lab/src/experiment/link.rs", "Direction"),
    ("Words: `begin`", "rove-lab/src/experiment/traffic.rs", "TcpBegin"),
    ("Words: systems", "rove-lab/src/experiment/system.rs", "System"),
    ("Words: systems that are flows", "flows/src/flow/contender.rs", "Contender"),
    ("Schedules: the whole file", "flows/src/path/schedule.rs", "Document"),
    ("Schedules: a step", "flows/src/path/schedule.rs", "Step"),
    ("Priors: the whole file", "remy/src/prior.rs", "Prior"),
    ("Priors: `[typing]`", "remy/src/training_network.rs", "Typing"),
    ("Priors: `[search]`", "remy/src/prior.rs", "Settings"),
    ("Priors: `[search.actions]`", "remy/src/action_range.rs", "ActionRanges"),
    ("Priors: a range of it", "remy/src/action_range.rs", "Range"),
    ("`figures.json`: `published`", "rove-lab/src/experiment/verdict.rs", "Verdict"),
    ("`figures.json`: `outcome`", "rove-lab/src/experiment/verdict.rs", "Outcome"),
    ("`trace --json`: `statistics`", "rove-lab/src/link_trace.rs", "Statistics"),
    ("`emulate --json`", "net/src/testbed.rs", "Report"),
    ("`emulate --json`: each direction", "net/src/testbed.rs", "DirectionReport"),
];

/// Writes the page.
///
/// # Errors
///
/// Returns an error when a file cannot be read or written, or a type is not there.
pub(crate) fn write(root: &Path) -> Result<()> {
    fs::write(root.join(PAGE), page(&workspace::texts(root)?)?)
        .context("cannot write the reference")
}

/// Compares the page with the source.
///
/// # Errors
///
/// Returns an error when a file cannot be read, or a type is not there.
pub(crate) fn check(texts: &Texts, findings: &mut Vec<String>) -> Result<()> {
    if texts.get(PAGE) != Some(&page(texts)?) {
        findings.push(format!("{PAGE}: not what the source says; run `cargo xtask reference`"));
    }
    Ok(())
}

fn page(texts: &Texts) -> Result<String> {
    let mut page = INTRODUCTION.to_owned();
    for (title, file, name) in TYPES {
        let rows = rows(text(texts, &format!("lab/{file}"))?, name)
            .with_context(|| format!("lab/{file} has no {name}"))?;
        page += &format!("\n## {title}\n\n{}", table(&rows));
    }
    Ok(page)
}

/// Returns a table of rows. Without types in its rows, the table has no column of types.
fn table(rows: &[Row]) -> String {
    let has_kinds = rows.iter().any(|row| !row.kind.is_empty());
    let head = if has_kinds { "| key | value | meaning |" } else { "| word | meaning |" };
    let rule = if has_kinds { "|---|---|---|" } else { "|---|---|" };
    let line = |Row { name, kind, meaning }: &Row| {
        let kind = if has_kinds { format!(" {kind} |") } else { String::new() };
        format!("| `{name}` |{kind} {meaning} |\n")
    };
    format!("{head}\n{rule}\n") + &rows.iter().map(line).collect::<String>()
}

/// A row of a table: a field or a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    name: String,
    kind: String,
    meaning: String,
}

/// Returns the rows of a struct with named fields, or of an enum. Names follow the attributes of serde and clap.
fn rows(source: &str, name: &str) -> Option<Vec<Row>> {
    let lines: Vec<&str> = source.lines().collect();
    let heads = [format!("struct {name} {{"), format!("enum {name} {{")];
    let head = lines.iter().position(|line| heads.contains(&bare(line).to_owned()))?;
    let is_enum = bare(lines[head]) == heads[1];
    let mut above = lines[..head].iter().rev().take_while(|line| line.starts_with(['#', '/']));
    let is_kebab = is_enum || above.any(|line| line.contains("kebab-case"));
    let mut rows = Vec::new();
    let (mut meaning, mut attributes) = (Vec::new(), String::new());
    for line in lines[head + 1..].iter().take_while(|line| **line != "}").map(|it| it.trim()) {
        if let Some(comment) = line.strip_prefix("///") {
            meaning.push(comment.trim());
        } else if line.starts_with("#[") {
            attributes += line;
        } else if !line.is_empty() {
            let row = Row::read(line, &attributes, is_enum, is_kebab);
            let meaning = cleaned(&core::mem::take(&mut meaning));
            rows.extend(row.map(|row| Row { meaning, ..row }));
            attributes.clear();
        }
    }
    Some(rows)
}

impl Row {
    /// Reads a field or a variant from a line. `None` if its attributes leave it out.
    fn read(line: &str, attributes: &str, is_enum: bool, is_kebab: bool) -> Option<Self> {
        if attributes.contains("skip)") || attributes.contains("flatten") {
            return None;
        }
        let field = bare(line).trim_end_matches(',');
        let (name, kind) = field.split_once(": ").unwrap_or((field, ""));
        let name = name.split(['(', ' ']).next()?;
        let renamed = attributes.split_once("rename = \"").and_then(|(_, it)| it.split_once('"'));
        let own = if is_kebab { kebab(name) } else { name.to_owned() };
        let name = renamed.map_or(own, |(name, _)| name.to_owned());
        let is_optional = kind.starts_with("Option<") || attributes.contains("default");
        let mark = if is_optional && !is_enum { "?" } else { "" };
        Some(Self { name: name + mark, kind: plain(kind), meaning: String::new() })
    }
}

/// Returns a comment as a single line without links, which fits into a table.
fn cleaned(comment: &[&str]) -> String {
    comment.join(" ").replace('|', "\\|").replace("[`", "`").replace("`]", "`")
}

/// Returns a line without the visibility (`pub` or the like) at its beginning.
fn bare(line: &str) -> &str {
    line.trim_start_matches("pub(crate) ")
        .trim_start_matches("pub(super) ")
        .trim_start_matches("pub ")
}

/// Returns a type in words.
fn plain(kind: &str) -> String {
    let inner = |outer: &str| kind.strip_prefix(outer)?.strip_suffix('>').map(plain);
    if let Some(kind) = inner("Option<").or_else(|| inner("Spanned<")) {
        return kind;
    }
    if let Some(kind) = inner("Vec<") {
        return format!("list: {kind}");
    }
    if let Some((each, count)) = kind.trim_matches(['[', ']']).split_once("; ") {
        return format!("{count} times: {}", plain(each));
    }
    match kind {
        "String" => "text",
        "f64" => "number",
        "u16" | "u32" | "u64" | "usize" => "whole number",
        "bool" => "`true` or `false`",
        other => other,
    }
    .to_owned()
}

/// Returns a Rust name in the form of files: `MeanByValue` and `mean_by_value` become `mean-by-value`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() || letter == '_' {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase().filter(|letter| *letter != '_'));
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_variants_have_the_names_and_comments_of_the_source() {
        let source = "\
/// A link.
#[derive(Deserialize)]
#[serde(rename_all = \"kebab-case\")]
pub(crate) struct Link {
    /// Its
    /// [`name`].
    pub(crate) link_name: Option<Spanned<String>>,
    #[serde(default, rename = \"seconds\")]
    length: Vec<f64>,
    #[serde(skip)]
    hidden: bool,
}
enum Links {
    /// None.
    Link,
}
enum Link2 {
    /// The first.
    #[value(skip)]
    FirstOne(Link),
    Second,
}
";
        let row = |name: &str, kind: &str, meaning: &str| Row {
            name: name.to_owned(),
            kind: kind.to_owned(),
            meaning: meaning.to_owned(),
        };
        let link = [row("link-name?", "text", "Its `name`."), row("seconds?", "list: number", "")];
        assert_eq!(rows(source, "Link").expect("a struct"), link);
        assert_eq!(rows(source, "Link2").expect("an enum"), [row("second", "", "")]);
        assert_eq!(rows(source, "Other"), None);
    }
}
