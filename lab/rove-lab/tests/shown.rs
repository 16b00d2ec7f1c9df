//! Files of strangers reach the terminal as text: no control, and nothing that hides or reorders other characters.

use std::fs;
use std::process::{Command, Output, Stdio};

mod folder;

use folder::Folder;
use rove_terminal::plain;

const SCENARIO: &str = include_str!("scenarios/small.toml");

/// A title, an 8-bit colour control, a right-to-left override, a carriage return, and characters that nobody sees.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{9b}31m\u{202e}back\r\u{200b}\u{7f}";

/// [`HOSTILE`] as TOML and JSON escape it.
const ESCAPED: &str = r"\u001b]0;title\u0007\u009b31m\u202eback\r\u200b\u007f";

impl Folder {
    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    /// Runs rove-lab with standard input from a file of the folder.
    fn run(&self, args: &[&str], input: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.args(args).current_dir(&self.0).env_remove("ROVE_TRACES").env_remove("ROVE_REMY");
        let input = input.map(|name| fs::File::open(self.0.join(name)).expect("it is there"));
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        command.output().expect("rove-lab runs")
    }

    /// Runs rove-lab, and checks and returns what it shows.
    fn shows(&self, args: &[&str], input: Option<&str>, code: i32) -> [String; 2] {
        let output = self.run(args, input);
        let shown =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
        for line in shown.iter().flat_map(|text| text.split('\n')) {
            assert_eq!(line, plain(line), "{args:?}");
        }
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown:?}");
        shown
    }
}

#[test]
fn no_text_of_a_scenario_acts_on_the_terminal() {
    let folder = Folder::new("shown-scenario");
    let name = format!("{HOSTILE}.toml");
    let published = format!(
        "\n[[published]]\npaper = \"{ESCAPED}\"\nplace = \"{ESCAPED}\"\nreason = \"{ESCAPED}\"\n\
         results = [{{ system = \"rove\", mean = {{ to = 0.001 }} }}]\n"
    );
    let mut scenario = SCENARIO.to_owned() + &published;
    for text in ["A small figure", "Echoes of", "first keys\"", "40 ms\""] {
        assert!(scenario.contains(text));
        scenario = scenario.replace(text, &format!("{ESCAPED}<script>{text}"));
    }
    folder.file(&name, &scenario);
    let [text, _] = folder.shows(&["figures", &name], None, 0);
    assert!(text.contains("A small figure") && text.contains("not reproduced"), "{text}");
    let [text, _] = folder.shows(&["figures", &name, "--json"], None, 0);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        json["figures"][0]["title"],
        format!("{HOSTILE}<script>A small figure"),
        "nothing is lost"
    );
    let page = fs::read_to_string(folder.0.join("figures/figures.html")).expect("a page");
    let svg = fs::read_to_string(folder.0.join(format!("figures/{HOSTILE}.svg")));
    let (svg, first) = (svg.expect("a picture"), "\u{200b}&lt;script>first");
    assert!(page.contains("&lt;script&gt;A small figure") && svg.contains(first));
    // The page has a script of its own.
    assert!(page.matches("<script").count() == 1 && !svg.contains("<script"));
}

#[test]
fn no_complaint_about_a_file_acts_on_the_terminal() {
    let folder = Folder::new("shown-complaints");
    for (wrong, right) in [
        ("\"rove\"", "systems = [\"{}\"]"),
        ("path = \"rtt=40ms,loss=10%\"", "path = \"{}=40ms\""),
        ("path = \"rtt=40ms,loss=10%\"", "\"{}\" = 1"),
        ("path = \"rtt=40ms,loss=10%\"", "schedule = \"{}\""),
        ("path = \"rtt=40ms,loss=10%\"", "cellular = \"{}\""),
        ("measure = \"onset\"", "measure = \"response\"\nrecordings = [\"{}\"]"),
        ("measure = \"onset\"", "measure = \"{}\""),
    ] {
        assert!(SCENARIO.contains(wrong));
        folder.file("wrong.toml", SCENARIO.replace(wrong, &right.replace("{}", ESCAPED)));
        folder.shows(&["figures", "wrong.toml"], None, 1);
    }
    folder.file("steps.json", format!("[{{\"{ESCAPED}\": 1}}]"));
    folder.file("prior.toml", format!("\"{ESCAPED}\" = 1"));
    folder.file(&format!("{HOSTILE}.dna"), "no table");
    let table = format!("{HOSTILE}.dna");
    for (args, code) in [
        (&["figures", &format!("{HOSTILE}-missing.toml")][..], 1),
        (&["replay", HOSTILE], 1),
        (&["compare", HOSTILE], 1),
        (&["emulate", "--schedule", "steps.json", "--", "true"], 1),
        (&["emulate", "--schedule", HOSTILE, "--", "true"], 1),
        (&["emulate", "--uplink", HOSTILE, "--", "true"], 1),
        (&["emulate", "--", HOSTILE], 127),
        (&["record", "--script", HOSTILE, "--", "true"], 2),
        (&["record", "--", HOSTILE], 1),
        (&["remy", "describe", &table], 1),
        (&["remy", "train", "--prior", "prior.toml", "--out", "out.toml"], 1),
        (&["remy", HOSTILE], 2),
        (&["replay", &format!("--{HOSTILE}")], 2),
        (&[HOSTILE], 2),
    ] {
        let [_, said] = folder.shows(args, None, code);
        assert!(!said.is_empty(), "{args:?}");
    }
}

#[test]
fn no_text_of_a_recording_or_a_table_acts_on_the_terminal() {
    let folder = Folder::new("shown-recording");
    let size = "{\"t\":0,\"dir\":\"size\",\"cols\":80,\"rows\":24}\n";
    let keys = "{\"t\":1,\"dir\":\"user\",\"data\":\"YQ==\"}\n{\"t\":2,\"dir\":\"host\",\"data\":\"YQ==\"}\n";
    let name = format!("{HOSTILE}.jsonl");
    folder.file(&name, format!("{size}{keys}"));
    let [text, _] = folder.shows(&["replay", &name], None, 0);
    assert!(text.contains("back"), "{text}");
    folder.shows(&["replay", &name, "--json"], None, 0);
    folder.shows(&["replay", &name, "--explain"], None, 0);
    folder.file(
        "wrong.jsonl",
        format!("{size}{{\"t\":1,\"dir\":\"user\",\"data\":1,\"{ESCAPED}\":\"\"}}\n"),
    );
    folder.shows(&["replay", "wrong.jsonl"], None, 1);
    folder.file("output", format!("text{HOSTILE}\u{2066} and more"));
    folder.shows(&["screen", "--size", "80x24"], Some("output"), 0);
    folder.shows(&["screen", "--size", "80x24", "--json"], Some("output"), 0);
    let table = include_str!("../remy/remy-two-senders.toml");
    let about = format!("about = \"\"\"{ESCAPED}");
    folder.file("table.toml", table.replacen("about = \"\"\"", &about, 1));
    let [text, _] = folder.shows(&["remy", "describe", "table.toml"], None, 0);
    assert!(text.contains("back"), "{text}");
}
