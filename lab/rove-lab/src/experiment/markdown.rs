//! A page of results in Markdown: the commit, the machine, the seed, the profile and the command, and then the tables.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use rove_runs::files::write_whole;

use crate::experiment::results::machine;
use crate::experiment::sweep::Profile;

/// The paths from which the program is built. Only a clone of this project has the first.
const SOURCES: [&str; 4] = ["lab/rove-lab", "lab", "crates", "Cargo.lock"];

/// Writes the page of figures to `file`. `args` are the arguments of this process.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(crate) fn write(
    file: &Path,
    Profile { is_full, seed }: Profile,
    args: impl Iterator<Item = String>,
    text: &str,
) -> Result<()> {
    let name = file.file_stem().unwrap_or_default().display();
    let profile = if is_full { "full" } else { "quick" };
    let (version, machine, command) = (version(), machine(), command(args));
    let head = format!("{version}; {machine}; {profile} profile, seed {seed}.");
    write_whole(
        file,
        &format!("# {name}\n\n{head}\n\n```\n$ {command}\n{}\n```\n", text.trim_end()),
    )
}

/// Returns the commit if this directory is that of the sources, and else the program's version.
fn version() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).arg("--").args(SOURCES).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["log", "-1", "--format=%h", "--abbrev=12"]);
    match commit.filter(|it| Path::new(SOURCES[0]).is_dir() && !it.is_empty()) {
        Some(commit) if git(&["status", "--porcelain"]).is_some_and(|it| it.is_empty()) => {
            format!("Commit {commit}")
        }
        Some(commit) => format!("Commit {commit} with changes"),
        None => format!("rove-lab {}", env!("CARGO_PKG_VERSION")),
    }
}

/// Returns the command as a user types it, without the option that asks for the page.
fn command(mut args: impl Iterator<Item = String>) -> String {
    args.next();
    let mut words = vec!["rove-lab".to_owned()];
    while let Some(word) = args.next() {
        match word.strip_prefix("--markdown") {
            Some("") => drop(args.next()),
            Some(file) if file.starts_with('=') => {}
            _ => words.push(quoted(&word)),
        }
    }
    words.join(" ")
}

/// Returns a word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "./_-".contains(it);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
