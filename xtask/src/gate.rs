//! `cargo xtask test`: every check in order, and a summary of what ran; or the end-to-end tests on a static build.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::failed_tests::{self, FailedTests};
use crate::needs::Needs;
use crate::{commands, dist, packages, portable, systems, tidy, workspace};

/// The program that checks licences and sources of dependencies.
const DENY: (&str, &str) = ("cargo-deny", "0.20.2");

/// How many tests run at once. Chosen: end-to-end tests mostly wait. With twelve threads they use half of two
/// processors; with sixteen, logins took longer than rove allows.
const TEST_THREADS: &str = "12";

/// The seed of the properties' random cases, unless the caller sets one: a failure then repeats.
const PROPTEST_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// A check of the workspace at this path.
type Step = fn(&Path) -> Result<()>;

/// Runs every check, even past a failure, and prints the summary.
///
/// # Errors
///
/// Returns an error when something that a check needs is missing, or any check failed.
pub(crate) fn run(install: bool) -> Result<()> {
    let root = workspace::root();
    let packages = Needs { programs: &packages::PROGRAMS, ..Needs::default() };
    let targets = systems::targets();
    Needs { programs: packages.programs, ..tools(&targets) }.check("test", install)?;
    // apt-get may ask for a password, so nothing else runs meanwhile.
    packages.install()?;
    let summary = thread::scope(|scope| {
        let others = scope.spawn(|| in_order(&root, &OTHER_STEPS));
        let mut summary = in_order(&root, &FIRST_STEPS);
        let idle = scope.spawn(|| in_order(&root, &IDLE_STEPS));
        summary.extend(in_order(&root, &REAL_STEPS));
        summary.extend(idle.join().expect("no step panics"));
        summary.extend(others.join().expect("no step panics"));
        summary
    });
    report(&summary)
}

/// The steps that use all processors. Cargo compiles all tests here, so that its lock is free while they run.
const FIRST_STEPS: [(&str, Step); 6] = [
    ("fmt", |root| cargo(root, &["fmt", "--all", "--check"])),
    ("clippy", clippy),
    ("tidy", tidy::run),
    ("docs", docs),
    ("build", |root| cargo(root, &["test", "--locked", "--workspace", "--no-run"])),
    ("portable build", |root| commands::run(&mut portable::build(root))),
];

/// The tests of real processes. They mostly wait, and leave most of two processors idle.
const REAL_STEPS: [(&str, Step); 2] = [
    ("e2e", |root| {
        let words = ["test", "--locked", "--workspace", "--test", "e2e"];
        run_tests(commands::new("cargo", &words, root))
    }),
    ("portable", |root| run_tests(portable::modules(root))),
];

/// The steps that run beside the tests of real processes.
const IDLE_STEPS: [(&str, Step); 2] = [("tests", tests), ("simulation", simulation)];

/// The steps that run in the pauses of all others, from the start.
const OTHER_STEPS: [(&str, Step); 3] = [
    ("tools", |_| tools(&systems::targets()).install()),
    ("deny", |root| cargo(root, &["deny", "check", "licenses", "bans", "sources"])),
    // Each of the three checks runs even if another failed.
    ("systems", |root| systems::checks(root).map(|check| run_idle(&check)).into_iter().collect()),
];

/// Returns the needs of [`OTHER_STEPS`].
fn tools<'a>(targets: &'a [&str]) -> Needs<'a> {
    Needs { cargo_programs: &[DENY], targets, ..Needs::default() }
}

/// Cargo's setting that lets it run all test programs but the end-to-end tests.
const ALL_BUT_END_TO_END: &str = r#"target.'cfg(all())'.runner = ["sh", "-c", 'case $0 in */e2e-*) ;; *) exec "$0" "$@" ;; esac']"#;

/// Runs the steps, one after the other, and measures their times.
fn in_order(root: &Path, steps: &[(&'static str, Step)]) -> Vec<Ran> {
    let run = |&(name, step): &(&'static str, Step)| {
        println!("== {name}");
        #[expect(clippy::disallowed_methods, reason = "how long it took is only printed")]
        let start = Instant::now();
        let outcome = step(root);
        println!("== {name}: {}", shown(&outcome));
        (name, start.elapsed().as_secs(), outcome)
    };
    steps.iter().map(run).collect()
}

/// A step that has run: its name, the seconds that it took, and its outcome.
type Ran = (&'static str, u64, Result<()>);

fn report(summary: &[Ran]) -> Result<()> {
    println!("\nsummary");
    for (name, seconds, outcome) in summary {
        println!("  {name:<14} {seconds:>4} s  {}", shown(outcome));
    }
    let failed = summary.iter().filter(|(_, _, outcome)| outcome.is_err()).count();
    ensure!(failed == 0, "{failed} of {} checks failed", summary.len());
    Ok(())
}

fn shown(outcome: &Result<()>) -> String {
    outcome.as_ref().map_or_else(|error| format!("FAILED: {error:#}"), |()| "ok".to_owned())
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
    let mut command = commands::new("cargo", &["test", "--locked", "--release"], &root);
    command.args(["--package", "rove-shell", "--target", &target, "--test", "e2e"]);
    command.args(["--test", "mosh_programs"]);
    run_tests(command).context("the end-to-end tests of the static build")
}

/// Runs all tests of the workspace with the branches that macOS and the BSDs take.
///
/// # Errors
///
/// Returns an error when a package is missing, or a test failed.
pub(crate) fn run_portable(install: bool) -> Result<()> {
    let needs = Needs { programs: &packages::PROGRAMS, ..Needs::default() };
    needs.require("test --portable", install)?;
    run_tests(portable::suite(&workspace::root()))
        .context("the tests with the branches of macOS and the BSDs")
}

fn clippy(root: &Path) -> Result<()> {
    cargo(root, &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn docs(root: &Path) -> Result<()> {
    let words = ["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"];
    commands::run(commands::new("cargo", &words, root).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Runs a command at a low priority, and prints its output at the end. Printed earlier, the output would be mixed
/// with that of other steps.
fn run_idle(command: &Command) -> Result<()> {
    let mut nice = Command::new("nice");
    nice.args(["-n", "10"]).arg(command.get_program()).args(command.get_args());
    nice.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let folder = command.get_current_dir().context("the step names no folder")?;
    let output = nice.current_dir(folder).output().context("it did not start")?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    print!("{out}");
    eprint!("{err}");
    let failed = FailedTests::in_output(&out, &err);
    ensure!(output.status.success(), "{}{failed}", output.status);
    Ok(())
}

fn tests(root: &Path) -> Result<()> {
    let words =
        ["test", "--locked", "--workspace", "--no-fail-fast", "--config", ALL_BUT_END_TO_END];
    run_idle(prepare(&mut commands::new("cargo", &words, root)))
}

/// Sets the variables of a command that runs tests.
fn prepare(command: &mut Command) -> &mut Command {
    let (name, seed) = PROPTEST_SEED;
    for (name, value) in [("RUST_TEST_THREADS", TEST_THREADS), (name, seed)] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    // Backtraces would hide the messages of failed tests in a log that is cut.
    command.env("INSTA_UPDATE", "no").env("RUST_BACKTRACE", "0")
}

fn run_tests(mut command: Command) -> Result<()> {
    // A run prints thousands of lines, of which many readers see only the last. So the summary names the failed tests.
    let (status, failed) = failed_tests::run(prepare(&mut command)).context("it did not run")?;
    ensure!(status.success(), "{status}{failed}");
    Ok(())
}

/// Runs the simulator that the step `build` has built. For it alone, cargo would compile the laboratory again.
fn simulation(root: &Path) -> Result<()> {
    let program = workspace::target(root).join("debug/rove-trials");
    run_idle(Command::new(program).args(["sim", "--seeds", "1000"]).current_dir(root))
}

fn cargo(root: &Path, args: &[&str]) -> Result<()> {
    // The gate compares snapshots, and never rewrites them.
    commands::run(commands::new("cargo", args, root).env("INSTA_UPDATE", "no"))
}
