//! A place in which programs are built: the sources and cargo's folders. No result may show the place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::product::Product;
use super::target::Target;
use crate::commands;
use crate::packages::cargo_home;
use crate::workspace::{target, tracked_files};

/// A folder with the sources, and cargo's folders.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) root: PathBuf,
    /// The files of the sources, relative to `root`.
    files: Vec<PathBuf>,
    target_folder: PathBuf,
    cargo_home: PathBuf,
    sysroot: PathBuf,
    /// The target for which programs are built.
    pub(super) target: Target,
    /// The version of all results.
    pub(super) version: String,
    /// The time of the last commit in seconds since 1970, which every file of a result gets.
    pub(super) epoch: String,
}

impl Place {
    /// Returns the workspace as a place.
    ///
    /// # Errors
    ///
    /// Returns an error when the toolchain or git does not answer, or cargo's folder is not known.
    pub(super) fn here(root: &Path) -> Result<Self> {
        let line = |program, words: &[&str]| -> Result<String> {
            let printed = commands::output(&mut commands::new(program, words, root))?;
            Ok(printed.trim_end().to_owned())
        };
        let cargo_home = cargo_home().context("HOME is not set, so cargo's folder is not known")?;
        let mut files = tracked_files(root)?;
        files.retain(|path| root.join(path).is_file());
        Ok(Self {
            root: root.to_owned(),
            files,
            target_folder: target(root),
            cargo_home,
            sysroot: line("rustc", &["--print", "sysroot"])?.into(),
            target: Target::host(),
            version: version(root)?,
            epoch: line("git", &["log", "-1", "--format=%ct"])?,
        })
    }

    /// Copies the sources and the crates already fetched to another place, below the folder for temporary files.
    ///
    /// # Errors
    ///
    /// Returns an error when something cannot be copied.
    pub(super) fn copy(here: &Self) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("rove-dist-{}", std::process::id()));
        let root = folder.join("elsewhere/sources");
        here.copy_sources(&root)?;
        let cargo_home = folder.join("another-cargo");
        fs::create_dir_all(cargo_home.join("registry"))?;
        for part in ["cache", "index"] {
            let from = here.cargo_home.join("registry").join(part);
            commands::run(Command::new("cp").arg("-r").args([from, cargo_home.join("registry")]))?;
        }
        let target_folder = folder.join("results");
        Ok(Self { root, target_folder, cargo_home, ..here.clone() })
    }

    /// Returns this place for building programs for another target.
    pub(super) fn with_target(&self, target: &Target) -> Self {
        Self { target: target.clone(), ..self.clone() }
    }

    /// Removes this place, which must be a copy.
    ///
    /// # Errors
    ///
    /// Returns an error when the folder cannot be removed.
    pub(super) fn remove(&self) -> Result<()> {
        let folder = self.root.ancestors().nth(2).context("a copy has a folder of its own")?;
        fs::remove_dir_all(folder).context("the copy cannot be removed")
    }

    /// Returns cargo with the environment of this place.
    pub(super) fn cargo(&self) -> Command {
        let mut command = Command::new("cargo");
        // The cargo folder of a copy has no programs, so those of this computer are used.
        if let Some(home) = cargo_home() {
            let mut path = std::env::var_os("PATH").unwrap_or_default();
            path.push(":");
            path.push(home.join("bin"));
            command.env("PATH", path);
        }
        command
            .current_dir(&self.root)
            .env("CARGO_HOME", &self.cargo_home)
            .env("CARGO_TARGET_DIR", self.build_folder())
            .env("CARGO_NET_OFFLINE", "true")
            .env("SOURCE_DATE_EPOCH", &self.epoch);
        command
    }

    /// Returns the folders that no result may name, each with its replacement. If two apply, the later one counts.
    pub(super) fn folders(&self) -> Vec<(PathBuf, &'static str)> {
        let home = std::env::var_os("HOME").map(|home| (PathBuf::from(home), "/home"));
        let own = [
            (self.cargo_home.clone(), "/cargo"),
            (self.sysroot.clone(), "/rust"),
            (self.root.clone(), "/rove"),
            (self.target_folder.clone(), "/rove/target"),
        ];
        // Without a home folder, `HOME` is `/`, with which every path begins.
        let home = home.filter(|(home, _)| home.components().count() > 1);
        home.into_iter().chain(own).collect()
    }

    /// Returns the folder of the results.
    pub(super) fn dist(&self) -> PathBuf {
        self.target_folder.join("dist")
    }

    /// Returns the folder in which results are prepared.
    pub(super) fn work(&self) -> PathBuf {
        self.target_folder.join("dist-work")
    }

    /// Returns cargo's target folder here. In the usual one, these flags would make cargo build everything again.
    pub(super) fn build_folder(&self) -> PathBuf {
        self.target_folder.join("dist-build")
    }

    /// Returns where cargo puts a program.
    pub(super) fn program(&self, product: &Product) -> PathBuf {
        let folder = self.build_folder().join(&self.target.triple).join(product.profile);
        folder.join(product.program)
    }

    /// Copies the files that git does not ignore, with any changes since the last commit.
    ///
    /// # Errors
    ///
    /// Returns an error when a file cannot be copied.
    pub(super) fn copy_sources(&self, to: &Path) -> Result<()> {
        for path in &self.files {
            let target = to.join(path);
            let folder = target.parent().context("a file lies in a folder")?;
            fs::create_dir_all(folder)?;
            fs::copy(self.root.join(path), &target)
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
        Ok(())
    }
}

/// Returns the version that all crates of the workspace share.
fn version(root: &Path) -> Result<String> {
    let file = root.join("Cargo.toml");
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let (_, package) = text.split_once("[workspace.package]").unwrap_or_default();
    let version =
        package.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.with_context(|| format!("{} has no version", file.display()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_sources() {
        let here = version(&crate::workspace::root()).expect("a version");
        assert_eq!(here, env!("CARGO_PKG_VERSION"));
        let old = std::env::temp_dir().join(format!("rove-dist-old-{}", std::process::id()));
        fs::create_dir_all(&old).expect("a folder");
        let text = "[workspace.package]\nversion = \"0.0.7\"\nedition = \"2024\"\n";
        fs::write(old.join("Cargo.toml"), text).expect("a file");
        assert_eq!(version(&old).expect("a version"), "0.0.7");
        fs::remove_dir_all(&old).expect("our own folder");
        assert!(version(&old).is_err());
    }
}
