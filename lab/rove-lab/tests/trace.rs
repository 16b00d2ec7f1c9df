//! `rove-lab trace` as its users call it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

mod folder;

use folder::Folder;

fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("trace").args(args).current_dir(&folder.0);
    command
}

fn trace(folder: &Folder, args: &[&str]) -> Output {
    command(folder, args).output().expect("rove-lab runs")
}

fn read(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.0.join(file)).expect("it was written")
}

#[test]
fn a_trace_is_described_cut_scaled_and_drawn() {
    let folder = Folder::new("trace-tools");
    let text: String = (1..=3_000).map(|number| format!("{}\n", number * 2)).collect();
    fs::write(folder.0.join("a.up"), text).expect("a file");
    let output = trace(&folder, &["a.up", "--json", "--draw", "a.svg"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json[0]["statistics"]["mean_kbit_s"], 6_000.0, "{json:#}");
    assert_eq!(json[0]["statistics"]["outages"], 0, "{json:#}");
    let svg = read(&folder, "a.svg");
    assert!(svg.starts_with("<svg ") && svg.contains(">a.up<"), "{svg}");
    let args = ["a.up", "--from", "1s", "--to", "3s", "--scale", "0.5", "--out", "b.up"];
    let table = String::from_utf8(trace(&folder, &args).stdout).expect("text");
    assert!(table.contains("omniscient") && table.contains("3000.0"), "{table}");
    let lines = read(&folder, "b.up");
    let part = (lines.lines().count(), lines.lines().last());
    assert_eq!(part, (500, Some("2000")), "every second one of two seconds");
}

#[test]
fn a_way_that_one_process_saturates_is_recorded_by_another() {
    let folder = Folder::new("trace-record");
    let mut receiver =
        command(&folder, &["--receive", "--listen", "127.0.0.1:0", "--out", "new.down"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
    let mut line = String::new();
    let stderr = receiver.stderr.as_mut().expect("a pipe");
    BufReader::new(stderr).read_line(&mut line).expect("its address");
    let address = line.trim().strip_prefix("listens at ").expect("its address");
    let output = trace(&folder, &["--saturate", "--call", address, "--for", "300ms"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    kill_process(Pid::from_child(&receiver), Signal::INT).expect("it waits for more");
    let output = receiver.wait_with_output().expect("it ends");
    assert!(output.status.success() && !output.stdout.is_empty());
    assert!(read(&folder, "new.down").lines().count() > 10);
}

#[test]
fn a_wrong_line_is_refused_in_one_sentence() {
    let folder = Folder::new("trace-wrong");
    fs::write(folder.0.join("a"), "1\n2\n").expect("a file");
    fs::write(folder.0.join("text"), "1\nx\n").expect("a file");
    for (args, code, words) in [
        (&[][..], 2, "name a FILE, or record one by --receive"),
        (&["a", "text", "--out", "b"], 2, "--out takes one FILE at a time"),
        (&["a", "--from", "1"], 2, "1ms"),
        (&["--receive"], 2, "--out"),
        (&["--receive", "--out", "b", "--from", "1s"], 2, "do not go together"),
        (&["--receive", "--out", "b", "--to", "1s"], 2, "do not go together"),
        (&["--receive", "--out", "b", "--scale", "2"], 2, "do not go together"),
        (&["--saturate", "--from", "1s"], 2, "do not go together"),
        (&["--saturate", "--json"], 2, "do not go together"),
        (&["a", "--for", "5s"], 2, "do not go together"),
        (&["a", "--call", "127.0.0.1:1"], 2, "do not go together"),
        (&["a", "--listen", "127.0.0.1:1"], 2, "do not go together"),
        (&["--receive", "--out", "b", "--for", "5s"], 2, "do not go together"),
        (&["a", "--from", "5ms"], 1, "a: no opportunity is after 5ms"),
        (&["a", "--scale", "0"], 1, "a: a rate is scaled by 0.001 to 1000"),
        (&["text"], 1, "text is no trace of a link: line 2 is no number"),
        (&["a", "--draw", "no/a.svg"], 1, "cannot write no/a.svg"),
        (
            &["--saturate", "--call", "127.0.0.1:1", "--for", "50ms"],
            1,
            "nobody answers at 127.0.0.1:1",
        ),
    ] {
        let output = trace(&folder, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
