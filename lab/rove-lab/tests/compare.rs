//! `rove-lab compare` with real programs: order and outcome under one hang guard.
//!
//! Where namespaces, ssh or Mosh are missing, a test says so and is done.
#![cfg(target_os = "linux")]

mod common;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::{env, fs, thread};

use common::copy_of_program;
use rove_rig::guard::{HANG_GUARD, within_guard};
use rove_rig::scratch::Scratch;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

/// A shell session of our own.
const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/bash-long.jsonl");

fn compare(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("compare").args(args).stdin(Stdio::null()).env_remove("ROVE");
    command
}

/// Runs under the hang guard.
fn output(mut command: Command) -> Output {
    within_guard("the comparison", move || command.output().expect("the program starts"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns whether everything is there that a system needs.
fn has(programs: &[&str]) -> bool {
    let is_there = |program: &&str| {
        let path = env::var("PATH").unwrap_or_default() + ":/usr/sbin";
        path.split(':').any(|folder| Path::new(folder).join(program).is_file())
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !is_there(program)).collect();
    let has_all = geteuid().is_root() && missing.is_empty();
    if !has_all {
        println!("skipped: it needs root (found: {}), and lacks {missing:?}", geteuid().as_raw());
    }
    has_all
}

/// Returns rove, if it is built beside rove-lab.
fn rove() -> Option<PathBuf> {
    let rove = Path::new(env!("CARGO_BIN_EXE_rove-lab")).with_file_name("rove");
    let is_there = rove.is_file();
    if !is_there {
        println!("skipped: there is no rove beside rove-lab; build the workspace");
    }
    is_there.then_some(rove)
}

/// Returns the result of a system.
fn of<'a>(report: &'a Value, system: &str) -> &'a Value {
    let pooled = report["pooled"].as_array().expect("a list");
    pooled.iter().find(|it| it["system"] == system).expect("it was compared")
}

#[test]
fn every_key_is_answered_by_ssh_and_mosh_and_ssh_takes_a_round_trip() {
    if !has(&["ssh", "sshd", "ssh-keygen", "mosh-client", "mosh-server"]) {
        return;
    }
    let output = output(compare(&[
        RECORDING, "--keys", "12", "--link", "rtt=60ms", "--system", "ssh", "--system", "mosh",
        "--json", "-",
    ]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for system in ["ssh", "mosh"] {
        let found = of(&report, system);
        assert_eq!(found["keys"], 12, "{found:#}");
        assert_eq!(found["all"]["never_seen"], 0, "{found:#}");
        assert_eq!((&found["true_ends"], &found["unexpected_bytes"]), (&1.into(), &0.into()));
        for part in ["uplink", "downlink"] {
            assert!(found[part]["packets"].as_f64() > Some(0.0), "{found:#}");
        }
        for side in ["client", "server"] {
            assert!(found[side]["processor_seconds"].as_f64() > Some(0.0), "{found:#}");
            assert!(found[side]["peak_megabytes"].as_f64() > Some(1.0), "{found:#}");
        }
    }
    let median = &of(&report, "ssh")["all"]["latency_ms"]["p50"];
    assert!(median.as_f64() >= Some(60.0), "nothing is answered before the round trip: {median}");
}

/// Runs a program as a user who has nothing but a name and a shell. The program lies on a mount of its own, as in a
/// `/tmp` that is a tmpfs. The kernel detaches that mount when the program leaves its mount namespace as the last one.
const AS_A_USER: &str = "\
folder=$1; shift
cp /etc/passwd \"$folder/passwd\"
echo 'rove-anna:x:61234:61234::/:/bin/sh' >> \"$folder/passwd\"
mount --make-rprivate / && mount --bind \"$folder/passwd\" /etc/passwd || exit 99
mount --bind \"$folder\" \"$folder\" || exit 99
exec setpriv --reuid 61234 --regid 61234 --clear-groups -- \"$@\"
";

#[test]
fn a_user_without_rights_compares_ssh_and_mosh() {
    if !has(&["ssh", "sshd", "ssh-keygen", "mosh-client", "mosh-server", "unshare", "setpriv"]) {
        return;
    }
    let folder = Scratch::new();
    fs::set_permissions(&*folder, Permissions::from_mode(0o755)).expect("it is ours");
    let program = copy_of_program(&folder);
    let recording = folder.path("keys.jsonl");
    fs::copy(RECORDING, &recording).expect("there is room");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", AS_A_USER, "sh"]).arg(folder.folder()).arg(&program);
    command.arg("compare").arg(&recording).args(["--keys", "6", "--link", "rtt=40ms"]);
    command.args(["--system", "ssh", "--system", "mosh", "--json", "-"]).stdin(Stdio::null());
    let output = output(command);
    let errors = text(&output.stderr);
    if output.status.code() == Some(99) || errors.contains("cannot make a network namespace") {
        println!("skipped: no namespaces here: {errors}");
        return;
    }
    assert!(output.status.success(), "{errors}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for system in ["ssh", "mosh"] {
        let found = of(&report, system);
        let seen = (&found["keys"], &found["all"]["never_seen"]);
        assert_eq!(seen, (&6.into(), &0.into()), "{found:#}");
    }
}

#[test]
fn a_run_that_fails_says_why_beside_the_figures() {
    if !has(&[]) {
        return;
    }
    let of_no_rove =
        ["--link", "rtt=10ms", "--system", "rove", "--rove", "/bin/false", "--json", "-"];
    let output = output(compare(&[&[RECORDING, "--keys", "1"][..], &of_no_rove].concat()));
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let reason = report["runs"][0]["error"].as_str().expect("it cannot work");
    let said = text(&output.stderr);
    assert!(said.contains(&format!("run 1 of 1 failed: {reason}")), "{reason}: {said}");
}

#[test]
fn without_predictions_no_key_is_answered_before_the_round_trip_beside_a_download() {
    if !has(&[]) {
        return;
    }
    let Some(rove) = rove() else { return };
    let rove = rove.to_str().expect("UTF-8");
    let output = output(compare(&[
        RECORDING,
        "--keys",
        "5",
        "--link",
        "rtt=40ms,rate=20Mbit",
        "--no-prediction",
        "--system",
        "rove",
        "--rove",
        rove,
        "--bulk",
        "1",
        "--bulk-cc",
        "reno",
        "--json",
        "-",
    ]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = of(&report, "rove");
    assert_eq!((&found["all"]["instant"], &found["all"]["never_seen"]), (&0.into(), &0.into()));
    assert!(found["all"]["latency_ms"]["p5"].as_f64() >= Some(40.0), "{found:#}");
    assert!(found["bulk_bits_per_second"].as_f64() > Some(1e5), "{found:#}");
    // The download's packets are thousands, the session's some dozens.
    assert!(found["downlink"]["packets"].as_f64() < Some(500.0), "{found:#}");
}

#[test]
fn results_of_an_earlier_call_stay_until_there_are_new_ones() {
    if !has(&["unshare"]) {
        return;
    }
    let folder = Scratch::new();
    let [json, film] = ["json", "film"].map(|name| folder.write(name, "old"));
    // This user namespace may have no network namespaces, as if they were switched off.
    let without = "echo 0 >/proc/sys/user/max_net_namespaces || exit 99; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", without, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_rove-lab")).args(["compare", RECORDING, "--system", "rove"]);
    command.args(["--rove", "/bin/false", "--json"]).arg(&json).arg("--film").arg(&film);
    let output = output(command);
    let said = text(&output.stderr);
    if output.status.code() == Some(99) || said.starts_with("unshare") {
        println!("skipped: no user namespaces here: {said}");
        return;
    }
    assert!(said.contains("cannot make a network namespace"), "{said}");
    assert_eq!((folder.read("json"), folder.read("film")), ("old".to_owned(), "old".to_owned()));
    assert_eq!(fs::read_dir(&*folder).expect("a folder").count(), 2);
}

/// Ends a process that a failed test has left.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the processes that have a file of this folder on their command line.
fn with_files_of(folder: &Path) -> Vec<u32> {
    let folder = folder.to_str().expect("UTF-8").as_bytes();
    let entries = fs::read_dir("/proc").expect("there is a list of processes");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).any(|word| word.starts_with(folder)))
    };
    pids.filter(is_one).collect()
}

#[test]
fn an_interrupt_ends_all_programs_and_keeps_what_is_finished() {
    if !has(&["mosh-client", "mosh-server"]) {
        return;
    }
    // The file's name tells this test's processes from those of others: each replayed program has it on its command line.
    let folder = Scratch::new();
    let mut command = compare(&[
        RECORDING, "--keys", "3", "--link", "rtt=20ms", "--system", "mosh", "--repeat", "1000",
    ]);
    command.env("TMPDIR", folder.folder()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guarded(command.spawn().expect("it starts"));
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
        child.0.stderr.take().expect("it has an error output"),
    ));
    let (done, result) = mpsc::channel();
    let waiter = thread::spawn(move || {
        // The third run has begun: two are finished.
        let third = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("run 3 "));
        let _ = done.send(third.is_some());
        lines.map_while(Result::ok).last()
    });
    assert!(result.recv_timeout(HANG_GUARD).expect("it gets that far"), "it has ended before");
    let pid = i32::try_from(child.0.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::INT).expect("it is told");
    let stdout = child.0.stdout.take().expect("it has an output");
    let printed = std::io::read_to_string(stdout).expect("text");
    let status = child.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    assert!(waiter.join().expect("no panic").is_some_and(|last| last.ends_with("interrupted")));
    let row = printed.lines().find(|line| line.starts_with("bash-long")).expect("a row");
    assert!(row.contains(" mosh "), "{row}");
    let left: Vec<_> = fs::read_dir(&*folder).expect("a folder").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    // A program is hung up when its server has ended, and ends a moment later.
    within_guard("the end of all programs", move || {
        while !with_files_of(&folder).is_empty() {
            thread::yield_now();
        }
    });
}

#[test]
fn a_wrong_command_line_and_a_missing_program_are_one_sentence() {
    for (args, code, words) in [
        (&[][..], 2, "RECORDING"),
        (&[RECORDING, "--bulk-cc", "vegas"], 2, "vegas"),
        (&[RECORDING, "--timeout", "1s"], 2, "a time-out is at least 5 s"),
        (&[RECORDING, "--link", "rtt=1s,sideways=2"], 2, "sideways"),
        (&[RECORDING, "--system", "rove", "--rove", "/no/rove"], 1, "there is no rove at /no/rove"),
        (
            &["/no/recording", "--system", "rove", "--rove", "/bin/sh"],
            1,
            "cannot open /no/recording",
        ),
    ] {
        let output = output(compare(args));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{args:?}: {}", text(&output.stderr));
    }
    let mut command = compare(&[RECORDING, "--system", "mosh"]);
    let output = output({
        command.env("PATH", "/nowhere");
        command
    });
    let said = text(&output.stderr);
    assert!(said.contains("which is not installed; on Debian: apt install mosh"), "{said}");
}
