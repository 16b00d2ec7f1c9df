//! `rove-lab remy` as users call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of a test's own.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rove-remy-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.arg("remy").args(args).current_dir(&self.0);
        command.env_remove("ROVE_REMY").env_remove("ROVE_TRACES").output().expect("rove-lab runs")
    }

    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Returns the one sentence with which a call fails.
    fn fails(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("rove-lab remy: "), "{said}");
        said
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TABLE: &str = r#"form = "rove-remy-1"

[[rule]]
when = { rtt_ratio = [0.0, 1.5] }
window_multiple = 1.0
window_increment = 2
intersend_ms = 0.25

[[rule]]
when = { rtt_ratio = [1.5, 163840.0] }
window_multiple = 0.5
window_increment = 1
intersend_ms = 3.0
"#;

const PRIOR: &str = "
link_packets_per_ms = 1.0
rtt_ms = 50
senders = 2
mean_on_ms = 1000
mean_off_ms = 1000
length_s = 4

[search]
generations = 1
signals = 1

[search.actions]
window_multiple = { min = 0, max = 1, min_change = 0.5, max_change = 0.5, factor = 4, first = 1 }
window_increment = { min = 0, max = 64, min_change = 8, max_change = 8, factor = 4, first = 1 }
intersend_ms = { min = 0.25, max = 3, min_change = 1, max_change = 1, factor = 4, first = 3 }
";

#[test]
fn a_table_is_described_drawn_converted_there_and_back_and_evaluated() {
    let directory = Directory::new("tables");
    directory.file("table.toml", TABLE);
    directory.file("prior.toml", PRIOR);
    let text = directory.succeeds(&["describe", "table.toml", "--out", "table.svg"]);
    assert!(text.starts_with("2 rules by rtt_ratio\n"), "{text}");
    let svg = fs::read_to_string(directory.0.join("table.svg")).expect("a picture");
    assert!(svg.starts_with("<svg"), "{svg:.40}");
    directory.succeeds(&["convert", "table.toml", "--out", "table.dna"]);
    directory.succeeds(&["convert", "table.dna", "--out", "back.toml"]);
    assert_eq!(fs::read_to_string(directory.0.join("back.toml")).expect("a table"), TABLE);
    let score = |args: &[&str]| {
        let args = [&["evaluate", "table.dna", "cubic", "--prior", "prior.toml", "--json"], args];
        let json: serde_json::Value =
            serde_json::from_str(&directory.succeeds(&args.concat())).expect("JSON");
        [&json[0]["specimens"], &json[1]["specimens"]].map(ToString::to_string)
    };
    assert_eq!(score(&["--threads", "1"]), score(&["--threads", "3"]), "no result depends on them");
    assert_ne!(score(&[]), score(&["--seed", "2"]));
    assert_ne!(score(&[]), score(&["--objective", "delta=0.1"]));
}

#[test]
fn a_search_goes_on_after_an_interruption_and_ends_with_the_same_table() {
    let (whole, parts) = (Directory::new("whole"), Directory::new("parts"));
    let train = ["train", "--prior", "prior.toml", "--out", "table.toml", "--steps"];
    let with = |steps: &'static str| [&train[..], &[steps]].concat();
    whole.file("prior.toml", PRIOR);
    parts.file("prior.toml", PRIOR);
    whole.succeeds(&with("7"));
    for steps in ["2", "5", "7"] {
        parts.succeeds(&with(steps));
    }
    // Only the time that it took is another.
    let read = |directory: &Directory, name: &str| {
        let text = fs::read_to_string(directory.0.join(name)).expect("a file");
        let lines =
            text.lines().filter(|line| !line.contains(" s on ") && !line.contains("\"seconds\""));
        lines.collect::<Vec<_>>().join("\n")
    };
    for name in ["table.toml", "table.search.json"] {
        assert_eq!(read(&whole, name), read(&parts, name), "{name}");
    }
    let text = read(&whole, "table.toml");
    assert!(text.contains("rove-lab remy train --prior prior.toml"), "{text}");
    assert!(whole.succeeds(&["describe", "table.toml"]).contains("Found by search"));
    let refusal = parts.fails(&[&with("8")[..], &["--seed", "2"]].concat(), 1);
    assert!(refusal.contains("another prior, objective or seed"), "{refusal}");
    parts.file("table.search.json", "{");
    let refusal = parts.fails(&with("8"), 1);
    assert!(refusal.contains("table.search.json is damaged"), "{refusal}");
}

#[test]
fn what_cannot_be_used_is_refused_in_one_sentence() {
    let directory = Directory::new("refused");
    directory.file("table.toml", TABLE);
    directory.file("prior.toml", PRIOR);
    directory.succeeds(&["convert", "table.toml", "--out", "table.dna"]);
    let whole = fs::read(directory.0.join("table.dna")).expect("a table");
    directory.file("cut.dna", &whole[..whole.len() / 2]);
    directory.file("overlap.toml", TABLE.replace("1.5]", "1.6]"));
    directory.file("gap.toml", TABLE.replace("1.5]", "1.4]"));
    directory.file("bytes.toml", b"\xff\xfe");
    directory.file("nobody.toml", PRIOR.replace("senders = 2", "senders = 0"));
    directory.file("absurd.toml", PRIOR.replace("rtt_ms = 50", "rtt_ms = 1e99"));
    for (args, code, told) in [
        (&["describe", "nothing.dna"][..], 1, "cannot read nothing.dna"),
        (&["describe", "cut.dna"], 1, "cut.dna cannot be used: the file is cut off"),
        (&["describe", "overlap.toml"], 1, "rules 1 and 2 overlap"),
        (&["describe", "gap.toml"], 1, "no rule is for memories around"),
        (&["describe", "bytes.toml"], 1, "is no text"),
        (&["describe"], 2, "name one table"),
        (&["convert", "table.toml", "--out", "table.txt"], 1, "neither in .dna nor in .toml"),
        (&["convert", "table.toml"], 2, "name the file with --out"),
        (&["evaluate", "table.toml"], 2, "name a prior"),
        (&["evaluate", "table.toml", "--prior", "nobody.toml"], 1, "senders goes from 0 to 0"),
        (&["evaluate", "table.toml", "--prior", "absurd.toml"], 1, "rtt_ms goes from"),
        (&["evaluate", "table.toml", "--prior", "table.toml"], 1, "table.toml: line"),
        (&["train", "--prior", "nobody.toml", "--out", "new.toml"], 1, "senders goes from 0 to 0"),
        (&["train", "--prior", "prior.toml", "--out", "new.dna"], 2, "writes a readable table"),
        (&["train", "--prior", "prior.toml"], 2, "name the table with --out"),
    ] {
        let sentence = directory.fails(args, code);
        assert!(sentence.contains(told), "{args:?}: {sentence}");
    }
    assert!(!Path::new(&directory.0).join("new.toml").exists(), "nothing was begun");
}
