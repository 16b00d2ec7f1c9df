//! `rove-lab remy` as users call it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

mod folder;

use folder::Folder;

impl Folder {
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

/// A table of the laboratory's, with remarks.
const TABLE: &str = include_str!("../remy/remy-two-senders.toml");

const PRIOR: &str = include_str!("priors/small.toml");

/// Returns the rules of a readable table, a text each.
fn rules(table: &str) -> Vec<&str> {
    table.split("\n[[rule]]\n").skip(1).map(str::trim_end).collect()
}

#[test]
fn a_table_is_described_drawn_converted_there_and_back_and_evaluated() {
    let folder = Folder::new("remy-tables");
    folder.file("table.toml", TABLE);
    folder.file("prior.toml", PRIOR);
    let text = folder.succeeds(&["describe", "table.toml", "--out", "table.svg"]);
    let count = rules(TABLE).len();
    assert!(
        text.contains(&format!("\n{count} rules by send_ewma_ms, ack_ewma_ms, rtt_ratio\n")),
        "{text}"
    );
    let svg = fs::read_to_string(folder.0.join("table.svg")).expect("a picture");
    assert!(svg.starts_with("<svg"), "{svg:.40}");
    folder.succeeds(&["convert", "table.toml", "--out", "table.dna"]);
    folder.succeeds(&["convert", "table.dna", "--out", "back.toml"]);
    let back = fs::read_to_string(folder.0.join("back.toml")).expect("a table");
    assert_eq!(rules(&back), rules(TABLE), "the published form keeps no remarks");
    let score = |args: &[&str]| {
        let args = [&["evaluate", "table.dna", "cubic", "--prior", "prior.toml", "--json"], args];
        let json: serde_json::Value =
            serde_json::from_str(&folder.succeeds(&args.concat())).expect("JSON");
        [&json[0]["specimens"], &json[1]["specimens"]].map(ToString::to_string)
    };
    assert_eq!(score(&["--threads", "1"]), score(&["--threads", "3"]), "no result depends on them");
    assert_ne!(score(&[]), score(&["--seed", "2"]));
    assert_ne!(score(&[]), score(&["--objective", "delta=0.1"]));
}

#[test]
fn a_search_goes_on_after_an_interruption_and_ends_with_the_same_table() {
    let (whole, parts) = (Folder::new("remy-whole"), Folder::new("remy-parts"));
    let train = ["train", "--prior", "prior.toml", "--out", "table.toml", "--steps"];
    let with = |steps: &'static str| [&train[..], &[steps]].concat();
    whole.file("prior.toml", PRIOR);
    parts.file("prior.toml", PRIOR);
    whole.succeeds(&with("7"));
    for steps in ["2", "5", "7"] {
        parts.succeeds(&with(steps));
    }
    // Only the time that it took is another.
    let read = |folder: &Folder, name: &str| {
        let text = fs::read_to_string(folder.0.join(name)).expect("a file");
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
fn unusable_files_and_calls_are_refused_in_one_sentence() {
    let folder = Folder::new("remy-refused");
    folder.file("table.toml", TABLE);
    folder.file("prior.toml", PRIOR);
    folder.succeeds(&["convert", "table.toml", "--out", "table.dna"]);
    let whole = fs::read(folder.0.join("table.dna")).expect("a table");
    folder.file("cut.dna", &whole[..whole.len() / 2]);
    let (rest, last) = TABLE.rsplit_once("\n[[rule]]\n").expect("rules");
    folder.file("overlap.toml", format!("{TABLE}\n[[rule]]\n{last}"));
    folder.file("gap.toml", rest);
    folder.file("bytes.toml", b"\xff\xfe");
    folder.file("nobody.toml", PRIOR.replace("[1, 2, 1]", "0"));
    folder.file("absurd.toml", PRIOR.replace("rtt_ms = 50", "rtt_ms = 1e99"));
    for (args, code, told) in [
        (&["describe", "nothing.dna"][..], 1, "cannot read nothing.dna"),
        (&["describe", "cut.dna"], 1, "cut.dna cannot be used: the file is cut off"),
        (&["describe", "overlap.toml"], 1, "the boxes of rules 15 and 16 overlap"),
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
        let sentence = folder.fails(args, code);
        assert!(sentence.contains(told), "{args:?}: {sentence}");
    }
    assert!(!folder.0.join("new.toml").exists(), "nothing was begun");
}
