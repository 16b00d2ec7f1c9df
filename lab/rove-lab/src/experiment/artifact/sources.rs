//! The sources of the program with all crates that it is built from, as an archive that needs no network.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rove_rig::scratch::Scratch;

/// The archive's name in an artifact, and the directory in the archive.
pub(super) const FILE: &str = "sources.tar.gz";
const FOLDER: &str = "rove";

/// Cargo's settings file, and the settings that replace the public registry, which has all our crates, by a directory.
const SETTINGS: &str = ".cargo/config.toml";
const VENDORED: &str = "\n[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";

/// Packs the newest commit of a git clone with its crates. Returns the commit.
///
/// # Errors
///
/// Returns an error if the clone has other crates than `lock` names or changes that are not committed, or git, cargo or tar fails.
pub(super) fn pack(clone: &Path, lock: &str, archive: &Path) -> Result<String> {
    let shown = clone.display();
    let git = |args: &[&str]| output(Command::new("git").arg("-C").arg(clone).args(args));
    let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    let is_same = git(&["show", "HEAD:./Cargo.lock"])? == lock;
    ensure!(is_same, "{shown} is not what this program was built from: its Cargo.lock differs");
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    ensure!(changes.is_empty(), "{shown} has changes that are not committed");
    let scratch = Scratch::create()?;
    let (sources, folder) = (scratch.path("sources.tar"), scratch.path(FOLDER));
    let text = sources.to_str().context("the temporary folder's name is no UTF-8")?;
    git(&["archive", "--prefix", &format!("{FOLDER}/"), "--output", text, "HEAD"])?;
    let tar = || {
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(scratch.folder());
        tar
    };
    output(tar().arg("-xf").arg(&sources))?;
    let vendor = ["vendor", "--quiet", "--locked", "--versioned-dirs"];
    output(Command::new("cargo").args(vendor).current_dir(&folder))?;
    let file = folder.join(SETTINGS);
    fs::create_dir_all(file.parent().unwrap_or(&folder))
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&file))
        .and_then(|mut file| file.write_all(VENDORED.as_bytes()))
        .with_context(|| format!("cannot write {}", file.display()))?;
    let packed = scratch.path(FILE);
    output(tar().arg("-czf").arg(&packed).arg(FOLDER))?;
    fs::copy(&packed, archive)
        .inspect_err(|_| drop(fs::remove_file(archive)))
        .with_context(|| format!("cannot write {}", archive.display()))?;
    Ok(commit)
}

/// Returns the standard output of a program that does not fail.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", said.trim().replace('\n', "; "));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_commit_and_its_crates_but_no_change_beside_it() {
        let scratch = Scratch::new();
        let clone = scratch.path("clone");
        let lock = "version = 4\n\n[[package]]\nname = \"small\"\nversion = \"0.1.0\"\n";
        let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        for (file, text) in
            [("Cargo.toml", manifest), ("Cargo.lock", lock), ("src/lib.rs", "//! Small.\n")]
        {
            scratch.write(&format!("clone/{file}"), text);
        }
        let git = |args: &[&str]| output(Command::new("git").arg("-C").arg(&clone).args(args));
        git(&["init", "--quiet"]).expect("a clone");
        git(&["add", "."]).expect("files");
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(&[&author[..], &["commit", "--quiet", "-m", "Small"]].concat()).expect("a commit");

        let archive = scratch.path("sources.tar.gz");
        let commit = pack(&clone, lock, &archive).expect("an archive");
        assert_eq!(commit.len(), 40, "{commit}");
        let list = output(Command::new("tar").arg("-tzf").arg(&archive)).expect("a list");
        for file in ["Cargo.lock", "src/lib.rs", SETTINGS] {
            assert!(list.contains(&format!("{FOLDER}/{file}\n")), "{list}");
        }
        let refusal = |lock| format!("{:#}", pack(&clone, lock, &archive).expect_err("refused"));
        assert!(refusal("version = 3\n").ends_with("its Cargo.lock differs"));
        scratch.write("clone/src/lib.rs", "//! Changed.\n");
        assert!(refusal(lock).ends_with("has changes that are not committed"));
    }
}
