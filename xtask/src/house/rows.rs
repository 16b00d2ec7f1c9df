//! The rows of the tables: each part of the workspace, each crate, and the documents, with the files of each.

use super::row::Row;
use super::source::Source;
use super::words::Word;
use crate::workspace::Texts;
use std::collections::BTreeMap;

/// Documents, and folders of documents, that a command writes.
const GENERATED: [&str; 2] = ["docs/limits.md", "docs/results/"];

/// The rows that sum up crates or documents.
pub(super) const SUMS: [&str; 3] = ["product", "laboratory", "documents"];

/// The rows whose totals have limits. `xtask` and `fuzz` are also crates.
pub(super) const PARTS: [&str; 5] = ["product", "laboratory", "xtask", "fuzz", "documents"];

/// Measures all parts, crates and documents.
pub(super) fn rows(texts: &Texts, words: &[Word]) -> Vec<Row> {
    let mut crates: BTreeMap<(String, String), Vec<Source>> = BTreeMap::new();
    let mut documents = Vec::new();
    for (path, text) in texts {
        if path.ends_with(".md") && !GENERATED.iter().any(|start| path.starts_with(start)) {
            documents.push(text.as_str());
        } else if let Some(place) = place(path).filter(|_| path.ends_with(".rs")) {
            crates.entry(place).or_default().push(Source::new(path, text));
        }
    }
    let mut rows = Vec::new();
    for part in PARTS.into_iter().filter(|part| *part != "documents") {
        let of_part = crates.iter().filter(|((of, _), _)| *of == part);
        let of_part: Vec<_> = of_part.map(|((_, name), it)| (name.as_str(), &it[..])).collect();
        rows.push(Row::of_crates(part, &of_part, words));
        let crates = of_part.chunks(1).filter(|one| one[0].0 != part);
        rows.extend(crates.map(|one| Row::of_crates(one[0].0, one, words)));
    }
    rows.push(Row::of_documents(&documents));
    rows
}

/// Returns the part of the workspace and the crate that a file belongs to.
fn place(path: &str) -> Option<(String, String)> {
    let (part, name) = match path.split('/').collect::<Vec<_>>()[..] {
        ["crates", name, _, ..] | ["lab", name @ "link", _, ..] => ("product", name),
        ["lab", name, _, ..] => ("laboratory", name),
        [name @ ("xtask" | "fuzz"), _, ..] => (name, name),
        _ => return None,
    };
    Some((part.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_belong_to_a_part_and_a_crate() {
        for (path, expected) in [
            ("crates/ssp/src/key.rs", Some(("product", "ssp"))),
            ("lab/link/src/lib.rs", Some(("product", "link"))),
            ("lab/trials/src/sim.rs", Some(("laboratory", "trials"))),
            ("xtask/src/house.rs", Some(("xtask", "xtask"))),
            ("fuzz/tests/seeds.rs", Some(("fuzz", "fuzz"))),
            ("packaging/a/b.rs", None),
        ] {
            let expected =
                expected.map(|(part, name): (&str, &str)| (part.to_owned(), name.to_owned()));
            assert_eq!(place(path), expected, "{path}");
        }
    }
}
