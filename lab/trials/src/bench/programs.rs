//! The measured programs: rove as it is released, and stock Mosh as it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rove_rig::place::Place;
use rove_rig::system::System;

/// A package, and the kind and name of a target in it.
pub(super) type Target = [&'static str; 3];

/// The target of the program rove.
pub(super) const ROVE: Target = ["rove-shell", "--bin", "rove"];

/// The measured programs, and cargo's folder of release builds.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    stock: System,
    rove: System,
    release: PathBuf,
}

impl Programs {
    /// Builds these targets for release, except for a rove that the user names. `beside` may replace stock Mosh.
    ///
    /// # Errors
    ///
    /// Returns an error if a target does not build.
    pub(super) fn build(
        targets: impl Iterator<Item = Target>,
        program: Option<PathBuf>,
        beside: Option<PathBuf>,
    ) -> Result<Self> {
        for target in targets.filter(|target| program.is_none() || *target != ROVE) {
            build(target)?;
        }
        let xtask = std::env::current_exe().context("cannot tell where this program lies")?;
        let target = xtask.ancestors().nth(2).context("this program lies in no target folder")?;
        let release = target.join("release");
        let program = program.unwrap_or_else(|| release.join("rove"));
        Ok(Self {
            stock: match beside {
                Some(program) => System::rove("stock", program),
                None => System::stock("stock"),
            },
            rove: System::rove("rove", program),
            release,
        })
    }

    /// Returns stock Mosh and rove, in this order.
    pub(super) const fn systems(&self) -> [&System; 2] {
        [&self.stock, &self.rove]
    }

    /// Runs the example `name` for so many rounds. Returns its output.
    ///
    /// # Errors
    ///
    /// Returns an error if the example fails.
    pub(super) fn example(&self, name: &str, rounds: usize) -> Result<String> {
        let output = Command::new(self.release.join("examples").join(name))
            .arg(rounds.to_string())
            .output()
            .with_context(|| format!("cannot start the example {name}"))?;
        ensure!(output.status.success(), "the example {name} failed: {}", output.status);
        String::from_utf8(output.stdout).with_context(|| format!("{name} printed no text"))
    }

    /// Returns the name and version that the stock server prints.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub(super) fn stock_version(&self) -> Result<String> {
        let output = self.stock.server(Place::Here)?.arg("--version").output();
        let output = output.context("cannot start mosh-server")?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().find(|line| !line.is_empty()).unwrap_or("mosh-server").to_owned())
    }
}

/// Builds a target of a package as it is released.
fn build([package, kind, name]: Target) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let workspace = folder.expect("the crate lies two folders below the workspace");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--package", package, kind, name])
        .current_dir(workspace)
        .status()
        .context("cargo did not start")?;
    ensure!(status.success(), "{package} does not build");
    Ok(())
}
