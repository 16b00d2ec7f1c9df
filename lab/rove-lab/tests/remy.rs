//! `rove-lab remy` as users call it.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

mod folder;

use folder::Folder;
use serde_json::Value;

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
        let json: Value = serde_json::from_str(&folder.succeeds(&args.concat())).expect("JSON");
        [&json[0]["specimens"], &json[1]["specimens"]].map(ToString::to_string)
    };
    assert_eq!(score(&["--threads", "1"]), score(&["--threads", "3"]), "no result depends on them");
    assert_ne!(score(&[]), score(&["--seed", "2"]));
    assert_ne!(score(&[]), score(&["--objective", "delta=0.1"]));
}

/// Returns a text without the lines that say how long a search took and on what.
fn timeless(text: &str) -> String {
    let is_timeless = |line: &&str| !line.contains(" s on ") && !line.contains("\"seconds\"");
    text.lines().filter(is_timeless).collect::<Vec<_>>().join("\n")
}

/// Returns the arguments of a search that ends after `steps` steps.
fn train(steps: &'static str) -> Vec<&'static str> {
    vec!["train", "--prior", "prior.toml", "--out", "table.toml", "--steps", steps]
}

impl Folder {
    /// Returns the table and the checkpoint of a search, but for their times.
    fn search(&self) -> [String; 2] {
        ["table.toml", "table.search.json"].map(|name| {
            timeless(&fs::read_to_string(self.0.join(name)).expect("the search wrote it"))
        })
    }
}

#[test]
fn a_search_goes_on_after_an_interruption_and_ends_with_the_same_table() {
    let (whole, parts) = (Folder::new("remy-whole"), Folder::new("remy-parts"));
    whole.file("prior.toml", PRIOR);
    parts.file("prior.toml", PRIOR);
    whole.succeeds(&train("7"));
    for steps in ["2", "5", "7"] {
        parts.succeeds(&train(steps));
    }
    assert_eq!(whole.search(), parts.search());
    let [text, _] = whole.search();
    assert!(text.contains("rove-lab remy train --prior prior.toml"), "{text}");
    assert!(whole.succeeds(&["describe", "table.toml"]).contains("Found by search"));
    let refusal = parts.fails(&[&train("8")[..], &["--seed", "2"]].concat(), 1);
    assert!(refusal.contains("another prior, objective or seed"), "{refusal}");
    parts.file("table.search.json", "{");
    let refusal = parts.fails(&train("8"), 1);
    assert!(refusal.contains("table.search.json is damaged"), "{refusal}");
}

#[test]
fn a_search_can_begin_with_a_table() {
    let folder = Folder::new("remy-begin");
    folder.file("prior.toml", PRIOR);
    folder.file("first.toml", TABLE);
    folder.succeeds(&[&train("1")[..], &["--begin", "first.toml"]].concat());
    let [text, _] = folder.search();
    assert_eq!(rules(&text).len(), rules(TABLE).len(), "one rule was improved, and none split");
    assert!(text.contains(" --begin first.toml --steps 1 "), "{text}");
    let refusal = folder.fails(&train("2"), 1);
    assert!(refusal.contains("another table to begin with"), "{refusal}");
    folder.file("first.toml", &text);
    let refusal = folder.fails(&[&train("2")[..], &["--begin", "first.toml"]].concat(), 1);
    assert!(refusal.contains("another table to begin with"), "{refusal}");
}

/// A search on Ray, whose progress is read line by line.
struct RaySearch {
    child: Child,
    progress: Lines<BufReader<ChildStderr>>,
    /// The workers' processes, as the search's first line names them.
    workers: Vec<String>,
}

impl RaySearch {
    /// Starts a search with two workers. `None`, with a word about it, where there is no Ray.
    fn start(folder: &Folder, steps: &'static str) -> Option<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.arg("remy").args(train(steps)).args(["--engine", "ray", "--threads", "2"]);
        command.current_dir(&folder.0).stderr(Stdio::piped());
        let mut child = command.spawn().expect("rove-lab runs");
        let stderr = child.stderr.take().expect("a pipe");
        let mut progress = BufReader::new(stderr).lines();
        // Ray itself may have something to say before.
        let is_ours =
            |line: &String| line.contains(" of Ray: ") || line.contains("rove-lab remy: ");
        let mut lines = progress.by_ref().map(|line| line.expect("text"));
        let first = lines.find(is_ours).expect("a line of ours");
        let Some(workers) = first.split_once(" of Ray: ").map(|(_, names)| names) else {
            let is_missing =
                first.contains("pip install ray") || first.contains("cannot run python3");
            assert!(is_missing && first.contains("without --engine ray"), "{first}");
            assert_eq!(child.wait().expect("it ends").code(), Some(1));
            println!("skipped: no Ray; get it with: pip install ray");
            return None;
        };
        let workers = workers.split(", ").map(process).collect();
        Some(Self { child, progress, workers })
    }

    /// Returns the next line of the progress that has a part, and passes the lines before it on to `see`.
    fn wait_for(&mut self, part: &str, mut see: impl FnMut(&str)) -> String {
        loop {
            let line = self.progress.next().unwrap_or_else(|| panic!("no line with {part:?}"));
            let line = line.expect("text");
            if line.contains(part) {
                return line;
            }
            see(&line);
        }
    }

    fn code(mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }
}

/// Returns the process of a worker, whose name is a computer and a process.
fn process(name: &str) -> String {
    name.split(' ').nth(1).expect("a computer and a process").to_owned()
}

/// Kills a process. Returns whether it was there.
fn kill(process: &str) -> bool {
    let mut command = Command::new("kill");
    command.args(["-9", process]).stderr(Stdio::null()).status().expect("kill runs").success()
}

#[test]
fn a_search_on_ray_ends_with_the_table_of_this_computer_though_a_worker_is_killed() {
    let (here, ray) = (Folder::new("remy-here"), Folder::new("remy-ray"));
    here.file("prior.toml", PRIOR);
    ray.file("prior.toml", PRIOR);
    let Some(mut search) = RaySearch::start(&ray, "6") else { return };
    search.wait_for("rule 1: ", |_| ());
    assert!(kill(&search.workers[0]), "it works");
    let lost = search.wait_for("a worker is lost", |_| ());
    assert!(lost.contains(&format!("{} died of signal 9", search.workers[0])), "{lost}");
    search.wait_for("table.toml: ", |line| {
        assert!(!line.starts_with("a worker is lost"), "{line}");
    });
    assert_eq!(search.code(), Some(0));
    here.succeeds(&train("6"));
    assert_eq!(here.search(), ray.search());
}

#[test]
fn a_search_on_ray_whose_workers_die_again_and_again_says_so_and_keeps_its_checkpoint() {
    let folder = Folder::new("remy-deaths");
    folder.file("prior.toml", PRIOR);
    folder.succeeds(&train("2"));
    // From here on a single run takes longer than it takes to kill its worker.
    let long = PRIOR.replace("length_s = 10", "length_s = 100000");
    let checkpoint = fs::read(folder.0.join("table.search.json")).expect("a checkpoint");
    let mut checkpoint: Value = serde_json::from_slice(&checkpoint).expect("JSON");
    checkpoint["prior"] = long.clone().into();
    let checkpoint = checkpoint.to_string();
    folder.file("prior.toml", long);
    folder.file("table.search.json", &checkpoint);
    let Some(mut search) = RaySearch::start(&folder, "6") else { return };
    assert!(search.workers.iter().all(|worker| kill(worker)), "they work");
    // Each process that replaces a dead one is killed as soon as it is named.
    let end = search.wait_for("rove-lab remy: ", |line| {
        if line.starts_with("a worker is lost") {
            let (_, next) = line.split_once("; ").expect("the next worker");
            // After the last of them the search ends, and its workers with it.
            let _ = kill(&process(next));
        }
    });
    assert!(end.contains("3 workers were lost over the same tasks"), "{end}");
    assert!(end.contains("nothing but the work in flight is lost"), "{end}");
    assert_eq!(search.code(), Some(1));
    let kept = fs::read_to_string(folder.0.join("table.search.json")).expect("a checkpoint");
    assert_eq!(kept, checkpoint);
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
        (&["train", "table.toml"], 2, "TABLE is for describe, convert, evaluate, not for train"),
        (
            &["evaluate", "table.toml", "--epochs", "1"],
            2,
            "--epochs is for train, not for evaluate",
        ),
        (&["evaluate", "table.toml", "--out", "r.json"], 2, "not for evaluate"),
        (&["describe", "table.toml", "--json"], 2, "--json is for evaluate, not for describe"),
        (&["convert", "table.toml", "--prior", "prior.toml"], 2, "not for convert"),
        // The error comes before the search, whose first step would name the checkpoint.
        (
            &["train", "--prior", "prior.toml", "--out", "no/new.toml"],
            1,
            "cannot write no/new.toml",
        ),
    ] {
        let sentence = folder.fails(args, code);
        assert!(sentence.contains(told), "{args:?}: {sentence}");
    }
    assert!(!folder.0.join("new.toml").exists(), "nothing was begun");
}
