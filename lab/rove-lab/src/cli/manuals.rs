//! The help and manual pages of the laboratory and its commands, whose texts are in the directory `manuals`.

use clap::Command;
use rove_cli_docs::{Entries, Manual, Program, Words};
use serde::Deserialize;

/// The laboratory's name, purpose and version.
pub(super) static LABORATORY: Program = Program {
    name: "rove-lab",
    about: "rove-lab is the laboratory of rove, a remote shell that survives the network. Each of its commands \
            examines a part of rove, and tells what it found as text or as JSON.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["rove"],
};

/// Rows of two columns, such as an option and its meaning.
type Rows = Vec<(String, String)>;

/// The texts of a manual, as its file has them. The fields are those of [`Manual`].
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Texts {
    notes: Vec<String>,
    lists: Vec<List>,
    examples: Rows,
    environment: Rows,
    files: Rows,
    exit_status: Rows,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    heading: String,
    entries: Rows,
}

/// Returns the manual of the command `word`, given the text of its file.
///
/// # Panics
///
/// Panics if the text is no file of a manual.
pub(super) fn manual(
    word: &'static str,
    text: &str,
    words: Words,
    definition: fn() -> Command,
) -> Manual {
    let texts: Texts = toml::from_str(text).expect("a test reads each of them");
    let notes: Vec<_> = texts.notes.into_iter().map(kept).collect();
    let lists: Vec<_> =
        texts.lists.into_iter().map(|it| (kept(it.heading), entries(it.entries))).collect();
    Manual {
        word,
        definition,
        words,
        notes: notes.leak(),
        lists: lists.leak(),
        examples: entries(texts.examples),
        environment: entries(texts.environment),
        files: entries(texts.files),
        exit_status: entries(texts.exit_status),
        ..Manual::of(&LABORATORY)
    }
}

fn entries(rows: Rows) -> Entries {
    let rows: Vec<_> = rows.into_iter().map(|(left, right)| (kept(left), kept(right))).collect();
    rows.leak()
}

/// Returns a text that is never freed. A process reads each manual once.
fn kept(text: String) -> &'static str {
    text.leak()
}
