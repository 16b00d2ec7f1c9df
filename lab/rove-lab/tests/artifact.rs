//! `rove-lab artifact` as its users call it.

use std::fs;
use std::process::Command;

mod folder;

use folder::Folder;

/// A scenario with a schedule beside it.
const SCENARIO: &str = include_str!("scenarios/small.toml");
const LINK: &str = "[[link]]\nname = \"steps\"\nschedule = \"steps.json\"\n";
const STEPS: &str = include_str!("scenarios/steps.json");

impl Folder {
    /// Returns a call's exit code, output and error. The variables of recordings and tables are set, as often.
    fn artifact(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command
            .arg("artifact")
            .args(args)
            .current_dir(&self.0)
            .env("ROVE_TRACES", ".")
            .env("ROVE_REMY", ".");
        let output = command.output().expect("rove-lab runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    }
}

#[test]
fn an_artifact_names_each_file_that_is_missing_damaged_or_not_of_it() {
    let folder = Folder::new("artifact");
    let file = |name: &str| folder.0.join(name);
    fs::write(file("small.toml"), format!("{SCENARIO}\n{LINK}")).expect("a file");
    fs::write(file("steps.json"), STEPS).expect("a file");
    let (code, text) = folder.artifact(&["small.toml"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = folder.artifact(&["--check", "artifact"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with(" files are as they were made\n"), "{text}");
    let readme = fs::read_to_string(file("artifact/README.md")).expect("it was made");
    let command = "rove-lab figures scenarios/small.toml --seed 1";
    let row = format!("| small | `{command}` | ");
    let time = readme
        .lines()
        .find_map(|line| line.strip_prefix(&row)?.strip_suffix(" s | the same bytes |"));
    assert!(time.is_some_and(|time| time.parse::<u32>().is_ok_and(|it| it > 0)), "{readme}");
    for part in [
        format!("\n    {command} --out /tmp/again\n"),
        format!("\n{row}"),
        "Its sources are not here: the option `--sources CLONE`".to_owned(),
        "This makes response-instant, aoi-boxes, mosh-flight, ".to_owned(),
        "\n- none\n".to_owned(),
        "\n|---|---|---|---|\n| small | - | - | - |\n".to_owned(),
    ] {
        assert!(readme.contains(&part), "{part}: {readme}");
    }
    assert_eq!(fs::read_to_string(file("artifact/scenarios/steps.json")).expect("a copy"), STEPS);

    fs::copy(file("small.toml"), file("other.toml")).expect("a copy");
    let (code, text) = folder.artifact(&["other.toml"]);
    assert!(code == Some(1) && text.contains("artifact is an artifact of small, too"), "{text}");

    let (code, text) = folder.artifact(&["--sources", ".", "small.toml"]);
    assert!(code == Some(1) && text.contains("git failed: "), "{text}");

    fs::remove_file(file("artifact/Cargo.lock")).expect("a file");
    fs::write(file("artifact/figures/figures.csv"), "another\n").expect("a file");
    fs::write(file("artifact/notes"), "mine").expect("a file");
    let (code, text) = folder.artifact(&["--check", "artifact"]);
    assert_eq!(code, Some(1), "{text}");
    let faults = "Cargo.lock: missing\nfigures/figures.csv: damaged\nnotes: not of the artifact\n";
    assert_eq!(text, faults);
    let (code, text) = folder.artifact(&["small.toml"]);
    assert!(code == Some(1) && text.contains("notes, which is of no artifact"), "{text}");

    for (sums, sentence) in [
        (format!("{}  ../small.toml\n", "0".repeat(64)), "SHA256SUMS:1: no checksum and file"),
        (String::new(), "SHA256SUMS names no file"),
    ] {
        fs::write(file("artifact/SHA256SUMS"), sums).expect("a file");
        let (code, text) = folder.artifact(&["--check", "artifact"]);
        assert!(code == Some(1) && text.contains(sentence), "{text}");
    }
}

/// A flow over a recorded link, with a file that a value names.
const FLOW: &str = "title = \"Flow\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\n\
                    systems = [\"fixed-window\"]\nvalue = \"file\"\nvalues = [7]\n[[link]]\nname = \"l\"\n\
                    path = \"rtt=40ms,uplink={value}.up,downlink=links/my.down\"\nseconds = 2\n";

#[test]
fn an_artifact_has_the_opportunities_beside_a_scenario_and_makes_its_figure_again() {
    let folder = Folder::new("artifact-links");
    let file = |name: &str| folder.0.join(name);
    fs::create_dir_all(file("a/links")).expect("a folder");
    fs::write(file("a/flow.toml"), FLOW).expect("a file");
    let times: String = (1..=300).map(|number| format!("{}\n", number * 10)).collect();
    fs::write(file("a/7.up"), &times).expect("a file");
    fs::write(file("a/links/my.down"), &times).expect("a file");
    let (code, text) = folder.artifact(&["a/flow.toml"]);
    assert_eq!(code, Some(0), "{text}");
    fs::create_dir(file("b")).expect("a folder");
    let other = FLOW.replace(",downlink=links/my.down", "");
    fs::write(file("b/other.toml"), other).expect("a file");
    fs::write(file("b/7.up"), "7\n").expect("a file");
    let (code, text) = folder.artifact(&["a/flow.toml", "b/other.toml", "--out", "both"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a/7.up and b/7.up would be the same file"), "{text}");
    fs::remove_dir_all(file("a")).expect("it is ours");

    let mut again = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    again.args(["figures", "scenarios/flow.toml", "--out", "again"]).current_dir(file("artifact"));
    let output = again.output().expect("rove-lab runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [first, second] = ["artifact/figures", "artifact/again"]
        .map(|made| fs::read_to_string(file(made).join("figures.csv")).expect("it was made"));
    assert_eq!(first, second);
}

/// If this fails, the laboratory's numbers have changed, on purpose or by mistake. The new expected file is the
/// `figures.csv` of these figures, made without the variables.
#[test]
fn the_first_run_has_the_expected_numbers_and_names_every_other() {
    let folder = Folder::new("first-run");
    let expected = include_str!("../experiments/expected.csv");
    fs::write(folder.0.join("expected.csv"), expected).expect("a file");
    let (code, text) = folder.artifact(&["--first-run", "."]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with(" others lie near, 0 do not\n"), "{text}");

    let [heading, number] = [0, 1].map(|line| expected.lines().nth(line).expect("a line"));
    let (name, _) = number.rsplit_once(',').and_then(|it| it.0.rsplit_once(',')).expect("numbers");
    let (name, _) = name.rsplit_once(',').expect("a number");
    fs::write(folder.0.join("expected.csv"), format!("{heading}\n{name},123456,,\n"))
        .expect("a file");
    let (code, text) = folder.artifact(&["--first-run", "."]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains(&format!("{name}: ")) && text.contains(" is not in 117283.2 to "),
        "{text}"
    );
    let (code, text) = folder.artifact(&["--first-run", "nowhere"]);
    assert!(code == Some(1) && text.contains("cannot read nowhere/expected.csv"), "{text}");
}
