//! `cargo xtask fresh --target aarch64`: tests on a Debian of 64-bit ARM, whose programs an emulator runs.
//!
//! This computer compiles the tests. The emulator is registered only within a namespace of users: outside of it, this
//! computer runs no programs for ARM.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::options::Options;
use super::root::{ENTER, make_root};
use crate::commands;
use crate::needs::Needs;
use crate::workspace;

/// The emulator, and its oldest version that works. Version 7.2 lacks a call for terminals (TCGETS2).
const EMULATOR: &str = "qemu-aarch64";
const EMULATOR_MIN: u32 = 11;

/// The target of static programs. Its linker comes with the compiler.
const TARGET: &str = "aarch64-unknown-linux-musl";

/// The packages whose programs the tests run: stock Mosh, and programs for sessions.
const PACKAGES: &str = "mosh,openssh-server,tmux,procps,iproute2,ncurses-term,less,vim";

/// Tests: a package, cargo's options that choose its test programs, and filters for their tests. The first run whole
/// sessions, also with stock Mosh. The second check predictions, the third the terminal emulator's recordings.
const TESTS: [(&str, &[&str], &[&str]); 3] = [
    ("rove-shell", &["--test", "e2e"], &["interop::", "exit_status::", "predict::"]),
    ("rove-predict", &["--lib"], &[]),
    ("rove-terminal", &["--test", "recordings", "--test", "vttest"], &[]),
];

/// A script that runs a command in a user namespace with all users, in which an emulator is registered. `$1` is the
/// script [`INSIDE`], `$2` the emulator. The command follows.
const OUTSIDE: &str = r#"
set -e
inside=$1
shift
pipe=$(mktemp --dry-run)
mkfifo "$pipe"
unshare --user --mount --pid --fork --kill-child sh -c "$inside" "$pipe" "$@" &
until [ "$(readlink /proc/$!/ns/user)" != "$(readlink /proc/$$/ns/user)" ]; do :; done
for map in uid_map gid_map; do echo "0 0 4294967295" >"/proc/$!/$map"; done
echo >"$pipe"
wait $!
"#;

/// `$0` is a pipe by which [`OUTSIDE`] tells that all users are mapped. The numbers are the head of an ELF program, and
/// a mask of the bits that count. With `F`, every root uses this file of the emulator. Source: Linux, binfmt-misc.
const INSIDE: &str = r#"
set -e
read -r _ <"$0"
rm "$0"
emulator=$1
shift
mount -t proc proc /proc
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
head='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf %s ":aarch64:M::$head:$mask:$emulator:PF" >/proc/sys/fs/binfmt_misc/register
exec "$@"
"#;

/// Makes a root and runs the tests there.
///
/// # Errors
///
/// Returns an error when the emulator or a program is missing, or a test fails.
pub(super) fn run(folder: &Path, options: &Options) -> Result<()> {
    let emulator = emulator(options.emulator.as_deref())?;
    let needs = Needs { targets: &[TARGET], ..Needs::default() };
    needs.require("fresh", options.install)?;
    let built = TESTS.map(|(package, what, _)| build(package, what));
    if !folder.exists() {
        let arguments = ["--architectures=arm64", "--skip=check/qemu"];
        make_root(folder, &options.suite, PACKAGES, &arguments, |command| {
            commands::run(&mut inside(&emulator, &command))
        })?;
    }
    let mut failed = Vec::new();
    for ((package, _, chosen), programs) in TESTS.into_iter().zip(built) {
        for program in programs? {
            let chosen = if options.command.is_empty() { chosen } else { &[] };
            let mut test = enter(folder, options, package, &program);
            test.args(chosen).args(&options.command);
            println!("== {package}: {}", program.display());
            if commands::run(&mut inside(&emulator, &test)).is_err() {
                failed.push(package);
            }
        }
    }
    ensure!(failed.is_empty(), "tests failed on aarch64: {}", failed.join(", "));
    Ok(())
}

/// Returns the path of the emulator, or an error if it is missing or too old.
fn emulator(named: Option<&Path>) -> Result<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&search).map(|folder| folder.join(EMULATOR));
    let found = named.map(Path::to_owned).or_else(|| found.find(|file| file.is_file()));
    let said = found.as_deref().and_then(|file| Command::new(file).arg("--version").output().ok());
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = said.as_deref().and_then(version);
    ensure!(
        version.is_some_and(|version| version >= EMULATOR_MIN),
        "this needs {EMULATOR} {EMULATOR_MIN} or newer: get the package qemu-user of Debian sid, as with `apt-get download \
         qemu-user && dpkg-deb -x qemu-user_*.deb qemu`, and name the program with --emulator"
    );
    let found = found.context("an emulator has answered")?;
    std::fs::canonicalize(found).context("the emulator is gone")
}

/// Reads the first number of a version in a text such as `qemu-aarch64 version 11.1.3 (Debian ...)`.
fn version(said: &str) -> Option<u32> {
    said.split_once(" version ")?.1.split('.').next()?.parse().ok()
}

/// Compiles tests, and returns the paths of the test programs.
fn build(package: &str, what: &[&str]) -> Result<Vec<PathBuf>> {
    let root = workspace::root();
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--no-run", "--locked", "--message-format=json-render-diagnostics"]);
    cargo.args(["--target", TARGET, "--package", package]).args(what).current_dir(&root);
    cargo.arg("--target-dir").arg(workspace::target(&root).join("aarch64"));
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let output = cargo.stderr(Stdio::inherit()).output().context("cargo did not start")?;
    ensure!(output.status.success(), "the tests of {package} do not compile");
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(test_program).collect())
}

/// Returns the path of the test program that a line of cargo's JSON messages names.
fn test_program(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["profile"]["test"] == true;
    message["executable"].as_str().filter(|_| is_test).map(PathBuf::from)
}

/// Returns the command that runs a test program in the root, in the folder of its package. The workspace has the same
/// path there, because tests know their files by absolute paths.
fn enter(folder: &Path, options: &Options, package: &str, program: &Path) -> Command {
    let root = workspace::root();
    let name = package.strip_prefix("rove-").unwrap_or(package);
    let crate_folder = root.join("crates").join(if name == "shell" { "rove" } else { name });
    let mut command = Command::new("sh");
    command.args(["-c", ENTER, "sh"]).arg(folder).args([&root, &root, &crate_folder]);
    // Without this variable, insta would ask cargo for the folder of snapshots.
    let snapshots = format!("INSTA_WORKSPACE_ROOT={}", root.display());
    command.args([options.tmp(), "env", &snapshots]).arg(program);
    command
}

/// Returns a command that runs `command` in the namespace in which the emulator is registered.
fn inside(emulator: &Path, command: &Command) -> Command {
    let mut outside = Command::new("sh");
    outside.args(["-c", OUTSIDE, "sh", INSIDE].map(OsStr::new)).arg(emulator);
    outside.arg(command.get_program()).args(command.get_args());
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulators_version_is_read_and_anything_else_is_none() {
        for (said, number) in [
            ("qemu-aarch64 version 11.1.3 (Debian 1:11.1.3+ds-1)\nCopyright (c)", Some(11)),
            ("qemu-aarch64 version 7.2.22", Some(7)),
            ("qemu-aarch64 version x", None),
            ("", None),
        ] {
            assert_eq!(version(said), number, "{said}");
        }
    }

    #[test]
    fn an_emulator_that_is_missing_is_named_with_the_commands_that_get_it() {
        for program in ["/nonexistent", "/bin/true"] {
            let said = emulator(Some(Path::new(program))).expect_err("no emulator").to_string();
            assert!(said.contains("apt-get download") && said.contains("--emulator"), "{said}");
        }
    }

    #[test]
    fn only_programs_of_tests_are_run() {
        let message = |is_test| {
            format!(r#"{{"executable":"/a/e2e-1","profile":{{"test":{is_test}}},"reason":"x"}}"#)
        };
        assert_eq!(test_program(&message(true)), Some("/a/e2e-1".into()));
        assert_eq!(test_program(&message(false)), None, "rove itself is built for them");
        assert_eq!(test_program("no message"), None);
    }
}
