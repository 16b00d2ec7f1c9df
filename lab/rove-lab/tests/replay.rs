//! `rove-lab replay` as scripts call it: files, sentences and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod folder;

use folder::Folder;

/// A session in which `a`, `b` and `c` are typed and echoed, in base64.
const SESSION: &str = r#"{"t":0,"dir":"size","cols":20,"rows":3}
{"t":0.1,"dir":"host","data":"JCA="}
{"t":0.5,"dir":"user","data":"YQ=="}
{"t":0.501,"dir":"host","data":"YQ=="}
{"t":0.8,"dir":"user","data":"Yg=="}
{"t":0.801,"dir":"host","data":"Yg=="}
{"t":1.1,"dir":"user","data":"Yw=="}
{"t":1.101,"dir":"host","data":"Yw=="}
"#;

impl Folder {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the temporary directory can be written");
        path
    }
}

fn replay(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("replay").args(args).stdin(Stdio::null()).output().expect("the program starts")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours is UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("sentences are UTF-8")
}

#[test]
fn a_recording_of_a_directory_in_which_nobody_types_is_named_and_left_out() {
    let folder = Folder::new("replay-listing");
    let listing = SESSION.split_once('\n').expect("a first line").0;
    folder.write("listing.jsonl", listing);
    let directory = text(&folder.0);
    let output = replay(&["--traces", directory, "--json"]);
    assert_eq!(output.status.code(), Some(1), "it is the only one: {}", stderr(&output));
    folder.write("abc.jsonl", SESSION);
    folder.write("cut.jsonl", &SESSION[..SESSION.len() - 9]);
    let output = replay(&["--traces", directory, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("cut.jsonl: "), "{}", stderr(&output));
    let said = stderr(&output);
    let sentence = "cannot be replayed: nobody types anything in it; it is left out\n";
    assert!(said.ends_with(sentence) && said.contains("listing.jsonl"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(1));
    let output = replay(&["--traces", directory, "abc", "listing"]);
    assert_eq!(output.status.code(), Some(1), "one that was asked for: {}", stderr(&output));
}

#[test]
fn a_session_is_replayed_and_judged() {
    let folder = Folder::new("replay-session");
    let path = folder.write("abc.jsonl", SESSION);
    folder.write("other.txt", "no recording");
    let directory = text(&folder.0);
    for args in [&[text(&path)][..], &["--traces", directory], &["--traces", directory, "abc"]] {
        let how = ["--engine", "stock", "--link", "rtt=200ms", "--json", "--seeds", "2"];
        let output = replay(&[args, &how].concat());
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{args:?}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["runs"].as_array().map(Vec::len), Some(2));
        let pool = &report["pooled"][0];
        assert_eq!((&pool["runs"], &pool["keys"]), (&2.into(), &6.into()));
        assert_eq!(pool["all"]["instant"], 4, "all but the first key of each run");
        assert_eq!(pool["true_ends"], 2);
    }
    let output =
        replay(&[text(&path), "--engine=stock", "--link=rtt=200ms", "--link=rtt=200ms,loss=29%"]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(table.lines().filter(|line| line.starts_with("abc ")).count(), 2, "{table}");
    assert!(table.contains("66.7%"), "{table}");
}

#[test]
fn a_recording_that_is_none_gets_one_sentence_with_file_and_line() {
    let folder = Folder::new("replay-broken");
    let size = SESSION.lines().next().unwrap();
    let after_size = |line: &str| format!("{size}\n{line}\n");
    for (name, content, words) in [
        ("json", after_size("{\"t\":1,"), "line 2"),
        ("base64", after_size(r#"{"t":1,"dir":"user","data":"!"}"#), "line 2"),
        (
            "time",
            after_size(
                "{\"t\":2,\"dir\":\"user\",\"data\":\"\"}\n{\"t\":1,\"dir\":\"user\",\"data\":\"\"}",
            ),
            "line 3",
        ),
        ("empty", String::new(), "begins with the terminal's size"),
        ("huge", SESSION.replace("20", "9999"), "line 1"),
        ("silent", after_size(""), "nobody types anything"),
        (
            "resized",
            SESSION.replace(
                "{\"t\":1.1,",
                "{\"t\":1,\"dir\":\"size\",\"cols\":9,\"rows\":9}\n{\"t\":1.1,",
            ),
            "size changes",
        ),
    ] {
        let path = folder.write(name, &content);
        let output = replay(&[text(&path)]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let sentence = stderr(&output);
        assert!(sentence.contains(text(&path)) && sentence.contains(words), "{name}: {sentence}");
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
    }
    let output = replay(&["--seed", "18446744073709551615"]);
    assert_eq!(output.status.code(), Some(2), "seeds follow it: {}", stderr(&output));
    let output = replay(&["/nowhere/session.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot open /nowhere/session.jsonl"));
    let output = replay(&["/dev/zero"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/zero: line 1"), "{}", stderr(&output));
}

#[test]
fn recorded_opportunities_that_are_none_get_one_sentence() {
    let folder = Folder::new("replay-opportunities");
    let path = folder.write("abc.jsonl", SESSION);
    let good = folder.write("good.up", "1\n2\n5\n");
    let bad = folder.write("bad.up", "1\nx\n");
    let link = |file: &Path| format!("rtt=100ms,uplink={}", text(file));
    let output = replay(&[text(&path), "--link", &link(&good)]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    for (file, words) in [
        (bad.as_path(), "line 2 is no number of milliseconds"),
        (Path::new("/nowhere"), "cannot open /nowhere"),
        (Path::new("/dev/zero"), "/dev/zero is longer than"),
    ] {
        let output = replay(&[text(&path), "--link", &link(file)]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn a_wrong_command_line_is_refused_with_code_two() {
    for (args, words) in [
        (&[][..], "rove-lab replay: TRACE is missing\n"),
        (&["x", "--link", "rtt=1ms,jitter=1ms"], "jitter is at most half of rtt"),
        (&["x", "--link", "speed=1"], "nothing that a link has"),
        (&["x", "--predict", "sometimes"], "adaptive, always, never or experimental"),
        (&["x", "--engine", "steam"], "--engine is one of stock, replay, none, not \"steam\""),
        (&["x", "--seeds", "0"], "--seeds \"0\": this is not from 1 to 10000"),
        (&["x", "--first", "x"], "--first \"x\": this is no whole number"),
        (&["x", "--explain=first"], "this is no whole number"),
        (&["x", "--json", "--explain"], "--json and --explain[=<KEY>] do not go together"),
    ] {
        let output = replay(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
    let folder = Folder::new("replay-nothing");
    let output = replay(&["--traces", text(&folder.0)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no recording"));
}

#[test]
fn mechanisms_are_switched_off_by_name_and_each_in_turn() {
    let folder = Folder::new("replay-ablation");
    let path = folder.write("abc.jsonl", SESSION);
    let ablate = |more: &[&str]| replay(&[&[text(&path), "--ablate"], more].concat());
    let (first, second) = (ablate(&[]), ablate(&[]));
    assert_eq!((first.status.code(), stderr(&first)), (Some(0), ""));
    assert_eq!(first.stdout, second.stdout, "equal runs have equal tables");
    let table = String::from_utf8(first.stdout).unwrap();
    assert!(table.contains("\nnothing ") && table.contains("\nhistory "), "{table}");

    let output = ablate(&["--json", "--without", "history", "--without", "motions"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["without"], serde_json::json!(["motions", "history"]));
    let rows = report["ablation"][0]["mechanisms"].as_array().unwrap();
    let is_without = |name: &str| rows.iter().any(|row| row["without"] == name);
    assert!(is_without("rulers") && !is_without("history") && !is_without("motions"));
    assert!(rows.iter().all(|row| row["traces"][0]["trace"] == "abc"));
}

#[test]
fn the_gate_for_secrets_and_stock_have_no_mechanisms_to_switch_off() {
    let folder = Folder::new("replay-gate");
    let path = folder.write("abc.jsonl", SESSION);
    for (args, code, sentence) in [
        (&["--without", "secrecy"][..], 2, "secrecy"),
        (&["--engine", "stock", "--ablate"], 2, "use --engine replay"),
        (&["--engine", "none", "--without", "history"], 2, "use --engine replay"),
        (&["--predict", "never", "--ablate"], 2, "use --engine replay"),
        (&["--ablate", "--explain"], 2, "do not go together"),
    ] {
        let output = replay(&[&[text(&path)], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(stderr(&output).contains(sentence), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}
