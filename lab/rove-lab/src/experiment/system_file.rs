//! A congestion controller in a file beside the scenario: a table that Remy has found, or a program with arguments.

use core::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rove_flows::flow::program::{Limits, Program};
use rove_remy::parse_table;
use rustix::fs::{Access, access};

/// The name of a file. Both texts are leaked, so that systems can be `Copy`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemFile {
    /// The file's name in the scenario, followed by arguments if the file is a program.
    name: &'static str,
    /// Where the file is. A relative path has a slash, so that the file is looked for nowhere else.
    path: &'static str,
}

impl fmt::Debug for SystemFile {
    /// Writes the scenario's name for the file. A run is the same wherever the scenario lies.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl SystemFile {
    /// Creates the name of a file in the directory of this process.
    pub(crate) fn new(name: String) -> Self {
        let mut file = Self { name: name.leak(), path: "" };
        file.look_in(Path::new(""));
        file
    }

    /// Sets the path to that of the file in a directory.
    pub(crate) fn look_in(&mut self, directory: &Path) {
        let path = Path::new(".").join(directory).join(self.words().next().unwrap_or_default());
        self.path = path.display().to_string().leak();
    }

    fn words(self) -> impl Iterator<Item = &'static str> {
        self.name.split_whitespace()
    }

    /// Returns the name that the scenario has.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// Reads the whole file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        fs::read(self.path).with_context(|| format!("cannot read {}", self.path))
    }

    /// Returns the program, with a setting as its last argument. `None` if the file is a table.
    pub(crate) fn program(self, setting: Option<f64>, limits: Limits) -> Option<Program> {
        let is_table = [".toml", ".dna"].iter().any(|ending| self.path.ends_with(ending));
        let words = core::iter::once(self.path).chain(self.words().skip(1)).map(str::to_owned);
        let words = words.chain(setting.map(|setting| setting.to_string())).collect();
        (!is_table).then(|| Program::new(words, limits))
    }

    /// Refuses a file that holds no controller.
    ///
    /// # Errors
    ///
    /// Returns the fault of the file.
    pub(crate) fn check(self) -> Result<()> {
        let bytes = self.read()?;
        if self.program(None, Limits::VIRTUAL).is_none() {
            return parse_table(Path::new(self.path), &bytes).map(|_| ());
        }
        let may_run = access(self.path, Access::EXEC_OK).is_ok();
        ensure!(may_run, "{0} is no program that may be run: chmod +x {0}", self.path);
        Ok(())
    }
}
