//! The programs under measurement: rove built as it ships, and stock Mosh as it is installed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rove_rig::place::Place;
use rove_rig::system::System;

use super::{Options, Row};

/// Everything that is run.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    stock: System,
    rove: System,
    release: PathBuf,
}

impl Programs {
    /// Builds for release what the rows need.
    ///
    /// # Errors
    ///
    /// Returns an error when something does not build.
    pub(super) fn build(rows: &[Row], options: &Options) -> Result<Self> {
        for row in rows {
            let target = match row {
                Row::Flood
                | Row::Interrupt
                | Row::Wire
                | Row::Start
                | Row::Echo
                | Row::Record
                | Row::Onset
                | Row::Idle
                | Row::Sessions
                | Row::Attack => ["rove-shell", "--bin", "rove"],
                Row::Emulator => ["rove-oracle", "--example", "throughput"],
                Row::Frame => ["rove-session", "--example", "frame"],
                Row::Prediction => ["rove-predict", "--example", "prediction"],
                Row::IdleHour | Row::End | Row::Roaming | Row::Return => continue,
            };
            if options.program.is_none() || target[0] != "rove-shell" {
                build(target)?;
            }
        }
        let xtask = std::env::current_exe().context("cannot tell where this program lies")?;
        let target = xtask.ancestors().nth(2).context("this program lies in no target folder")?;
        let release = target.join("release");
        let program = options.program.clone().unwrap_or_else(|| release.join("rove"));
        Ok(Self {
            stock: match options.beside.clone() {
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

    /// Runs an example with the number of rounds and returns what it prints.
    ///
    /// # Errors
    ///
    /// Returns an error when it fails.
    pub(super) fn example(&self, name: &str, rounds: usize) -> Result<String> {
        let output = Command::new(self.release.join("examples").join(name))
            .args(["--json", &rounds.to_string()])
            .output()
            .with_context(|| format!("cannot start the example {name}"))?;
        ensure!(output.status.success(), "the example {name} failed: {}", output.status);
        String::from_utf8(output.stdout).with_context(|| format!("{name} printed no text"))
    }

    /// Returns what the stock server calls itself.
    ///
    /// # Errors
    ///
    /// Returns an error when it does not start.
    pub(super) fn stock_version(&self) -> Result<String> {
        let output = self.stock.server(Place::Here)?.arg("--version").output();
        let output = output.context("cannot start mosh-server")?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().find(|line| !line.is_empty()).unwrap_or("mosh-server").to_owned())
    }
}

/// Builds one target of a package as it ships.
fn build([package, kind, name]: [&str; 3]) -> Result<()> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--package", package, kind, name])
        .current_dir(crate::workspace_root())
        .status()
        .context("cargo did not start")?;
    ensure!(status.success(), "{package} does not build");
    Ok(())
}
