//! `cargo xtask test`: every check in order, and a summary of what ran; or the end-to-end tests on a static build.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::needs::Needs;
use crate::{dist, failed_tests, packages, portable, systems, tidy, workspace};

/// The program that checks licences and sources of dependencies.
const DENY: (&str, &str) = ("cargo-deny", "0.20.2");

/// How many tests run at once. Chosen: end-to-end tests mostly wait. With twelve threads they use half of two
/// processors; with sixteen, logins took longer than rove allows.
const TEST_THREADS: &str = "12";

/// The seed of the properties' random cases, unless the caller sets one: a failure then repeats.
const PROPTEST_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

enum Outcome {
    Passed,
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::Failed(why) => write!(f, "FAILED: {why}"),
        }
    }
}

/// A check of the workspace at this path.
type Step = fn(&Path) -> Outcome;

/// Runs every check, even past a failure, and prints the summary.
///
/// # Errors
///
/// Returns an error when something that a check needs is missing, or any check failed.
pub(crate) fn run(install: bool) -> Result<()> {
    let root = workspace::root();
    let targets = systems::targets();
    let needs = Needs {
        programs: &packages::PROGRAMS,
        cargo_programs: &[DENY],
        targets: &targets,
        ..Needs::default()
    };
    needs.require("test", install)?;
    // Tests leave half of two processors idle, which this step uses meanwhile. No other step needs its result.
    let systems_root = root.clone();
    let systems = thread::spawn(move || timed("systems", systems_check, &systems_root));
    let steps: [(&str, Step); 8] = [
        ("fmt", fmt_check),
        ("clippy", clippy),
        ("tidy", tidy_check),
        ("docs", docs),
        ("deny", deny),
        ("tests", tests),
        ("portable", portable_modules),
        ("simulation", simulation),
    ];
    let mut summary = Vec::new();
    for (name, step) in steps {
        println!("== {name}");
        summary.push(timed(name, step, &root));
    }
    summary.push(systems.join().expect("the step does not panic"));
    report(&summary)
}

/// A step that has run: its name, the seconds that it took, and its outcome.
type Ran = (&'static str, u64, Outcome);

/// Prints the results of all steps.
fn report(summary: &[Ran]) -> Result<()> {
    println!("\nsummary");
    for (name, seconds, outcome) in summary {
        println!("  {name:<10} {seconds:>4} s  {outcome}");
    }
    let is_failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    let failed = summary.iter().filter(|(_, _, outcome)| is_failed(outcome)).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed", summary.len());
    }
    Ok(())
}

/// Runs a step, and measures its time.
fn timed(name: &'static str, step: Step, root: &Path) -> Ran {
    #[expect(clippy::disallowed_methods, reason = "how long it took is only printed")]
    let start = Instant::now();
    let outcome = step(root);
    println!("== {name}: {outcome}");
    (name, start.elapsed().as_secs(), outcome)
}

/// Runs the end-to-end tests on a static release. Its musl differs from glibc in allocator and start-up code, and a
/// release in its stack from the gate's build.
///
/// # Errors
///
/// Returns an error when a package or the static target is missing, or a test failed.
pub(crate) fn run_static(install: bool) -> Result<()> {
    let root = workspace::root();
    let target = dist::static_target();
    let needs = Needs { programs: &packages::PROGRAMS, targets: &[&target], ..Needs::default() };
    needs.require("test --static", install)?;
    let mut command = Command::new("cargo");
    command.args(["test", "--locked", "--release", "--target", &target]);
    command.args(["--package", "rove-shell", "--test", "e2e"]);
    match run_tests(&mut command, &root) {
        Outcome::Failed(why) => bail!("the end-to-end tests of the static build: {why}"),
        Outcome::Passed => Ok(()),
    }
}

/// Runs all tests of the workspace with the branches that macOS and the BSDs take.
///
/// # Errors
///
/// Returns an error when a package is missing, or a test failed.
pub(crate) fn run_portable(install: bool) -> Result<()> {
    let needs = Needs { programs: &packages::PROGRAMS, ..Needs::default() };
    needs.require("test --portable", install)?;
    let root = workspace::root();
    match run_tests(&mut portable::suite(&root), &root) {
        Outcome::Failed(why) => bail!("the tests with the branches of macOS and the BSDs: {why}"),
        Outcome::Passed => Ok(()),
    }
}

fn fmt_check(root: &Path) -> Outcome {
    cargo(root, &["fmt", "--all", "--check"])
}

fn clippy(root: &Path) -> Outcome {
    cargo(root, &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn tidy_check(root: &Path) -> Outcome {
    match tidy::run(root) {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

fn docs(root: &Path) -> Outcome {
    run_command(
        Command::new("cargo")
            .args(["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .current_dir(root),
    )
}

fn deny(root: &Path) -> Outcome {
    cargo(root, &["deny", "check", "licenses", "bans", "sources"])
}

/// Compiles for the other systems, beside the other steps. Each of the three checks runs even if another failed.
fn systems_check(root: &Path) -> Outcome {
    let outcomes = systems::checks(root).map(|mut check| match check.output() {
        Ok(output) if output.status.success() => Outcome::Passed,
        // Output is held until the step ends: otherwise it would be mixed with that of other steps.
        Ok(output) => {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            Outcome::Failed(output.status.to_string())
        }
        Err(error) => Outcome::Failed(format!("it did not start: {error}")),
    });
    let is_failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    outcomes.into_iter().find(is_failed).unwrap_or(Outcome::Passed)
}

fn tests(root: &Path) -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["test", "--locked", "--workspace", "--no-fail-fast"]);
    run_tests(&mut command, root)
}

fn run_tests(command: &mut Command, root: &Path) -> Outcome {
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        command.env("RUST_TEST_THREADS", TEST_THREADS);
    }
    let (name, seed) = PROPTEST_SEED;
    if std::env::var_os(name).is_none() {
        command.env(name, seed);
    }
    command.env("INSTA_UPDATE", "no").current_dir(root);
    // A run prints thousands of lines, of which many readers see only the last. So the summary names the failed tests.
    match failed_tests::run(command) {
        Ok((status, _)) if status.success() => Outcome::Passed,
        Ok((status, failed)) => Outcome::Failed(format!("{status}{failed}")),
        Err(error) => Outcome::Failed(format!("it did not run: {error}")),
    }
}

fn portable_modules(root: &Path) -> Outcome {
    run_tests(&mut portable::modules(root), root)
}

/// Runs `cargo xtask sim` by the program that the step `tests` has built. Built alone, it would have other features of
/// some crates, and cargo would compile the laboratory again.
fn simulation(root: &Path) -> Outcome {
    let program = workspace::target(root).join("debug/rove-trials");
    run_command(Command::new(program).args(["sim", "--seeds", "1000"]).current_dir(root))
}

fn cargo(root: &Path, args: &[&str]) -> Outcome {
    // The gate compares snapshots, and never rewrites them.
    run_command(Command::new("cargo").args(args).env("INSTA_UPDATE", "no").current_dir(root))
}

fn run_command(command: &mut Command) -> Outcome {
    match command.status().context("it did not start") {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("{status}")),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}
