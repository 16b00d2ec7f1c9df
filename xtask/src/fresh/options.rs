//! Words of the command line of `cargo xtask fresh`.

use std::path::PathBuf;

/// Options of `cargo xtask fresh`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Run tests on this other processor, by an emulator, in place of the gate: aarch64.
    #[arg(long, value_parser = ["aarch64"])]
    pub(super) target: Option<String>,
    /// Emulator for that processor, named `qemu-...` [default: qemu-aarch64 in PATH].
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(super) emulator: Option<PathBuf>,
    /// Debian release of the root.
    #[arg(long, default_value = "bookworm")]
    pub(super) suite: String,
    /// Folder for the root, which stays there; must not exist, except with --target [default: one below target, removed].
    #[arg(long, value_name = "FOLDER")]
    pub(super) keep: Option<PathBuf>,
    /// Leave `/tmp` on the root's own disk, in place of a tmpfs.
    #[arg(long)]
    pub(super) tmp_on_disk: bool,
    /// First install everything that this computer lacks (also when CI=true).
    #[arg(long)]
    pub(super) install: bool,
    /// Command to run there in place of the gate; with --target, words for each program of tests.
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

impl Options {
    /// Returns the word that tells the script what `/tmp` is in the root.
    pub(super) const fn tmp(&self) -> &'static str {
        if self.tmp_on_disk { "disk" } else { "tmpfs" }
    }
}
