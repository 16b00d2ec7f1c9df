//! The check that programs compile without a warning for systems other than this computer's.

use std::path::Path;
use std::process::Command;

use crate::{commands, workspace};

/// The targets of both programs: macOS, FreeBSD, Linux on aarch64, and Android.
const PROGRAM_TARGETS: [&str; 5] = [
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-unknown-freebsd",
    "aarch64-unknown-linux-musl",
    "aarch64-linux-android",
];

/// The target for which the cores are compiled alone. It has no operating system, which shows that cores use none.
const CORE_TARGET: &str = "wasm32-unknown-unknown";

/// The target for Windows: of the cores, and of the program that runs there.
pub(crate) const WINDOWS_TARGET: &str = "x86_64-pc-windows-gnu";

/// The packages of the programs, the product's first.
const PROGRAMS: [&str; 2] = ["rove-shell", "rove-lab"];

/// The crates that do no I/O. Each builds only on earlier ones.
const CORES: [&str; 11] = [
    "rove-units",
    "rove-ssp",
    "rove-terminal",
    "rove-predict",
    "rove-stock-predict",
    "rove-link",
    "rove-congestion",
    "rove-streams",
    "rove-session",
    "rove-headless",
    "rove-bootstrap",
];

/// Returns all targets whose standard library the check needs.
pub(crate) fn targets() -> Vec<&'static str> {
    [PROGRAM_TARGETS.as_slice(), &[CORE_TARGET, WINDOWS_TARGET]].concat()
}

/// Returns the commands of the three checks. Targets of one check share their macros.
pub(crate) fn checks(root: &Path) -> [Command; 3] {
    let of_windows = [CORES.as_slice(), &PROGRAMS[..1]].concat();
    [
        check(root, &PROGRAMS, &PROGRAM_TARGETS),
        check(root, &CORES, &[CORE_TARGET]),
        check(root, &of_windows, &[WINDOWS_TARGET]),
    ]
}

fn check(root: &Path, packages: &[&str], targets: &[&str]) -> Command {
    let words = ["check", "--quiet", "--locked", "--keep-going"];
    let mut command = commands::new("cargo", &words, root);
    // Cargo locks its folder, so the checks have a separate folder.
    command.arg("--target-dir").arg(workspace::target(root).join("systems"));
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    command.args(targets.iter().flat_map(|target| ["--target", target]));
    // With `--target`, cargo does not pass these flags to macros and build scripts.
    command.env("RUSTFLAGS", "-D warnings");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_checked_with_warnings_as_errors() {
        let checks = checks(Path::new("."));
        let words: Vec<_> = checks.iter().flat_map(Command::get_args).collect();
        for target in targets() {
            assert!(words.windows(2).any(|pair| pair == ["--target", target]), "{target}");
        }
        for command in &checks {
            let flags = command.get_envs().find(|(name, _)| *name == "RUSTFLAGS");
            assert_eq!(flags.and_then(|(_, flags)| flags), Some("-D warnings".as_ref()));
        }
    }
}
