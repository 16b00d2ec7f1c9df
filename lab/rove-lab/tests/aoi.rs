//! `rove-lab aoi` as its users call it.

use std::process::{Command, Output};

fn aoi(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("aoi").args(args).env_remove("ROVE_TRACES").output().expect("rove-lab runs")
}

fn text(of: &[u8]) -> String {
    String::from_utf8_lossy(of).into_owned()
}

const SHORT: [&str; 9] =
    ["study", "--delay", "200ms", "--loss", "10%", "--length", "20s", "--seeds", "3"];

#[test]
fn a_study_is_the_same_for_the_same_seed_and_another_for_another_one() {
    let [one, again] = [(); 2].map(|()| aoi(&SHORT));
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert_eq!(text(&one.stdout), text(&again.stdout));
    assert!(text(&one.stdout).contains("\n200 ms, 10 %"), "{}", text(&one.stdout));
    let other = aoi(&[&SHORT[..], &["--seed", "9"]].concat());
    assert_ne!(text(&one.stdout), text(&other.stdout));
}

#[test]
fn json_has_the_age_of_each_share_beside_its_closed_form() {
    let output = aoi(&[&SHORT[..], &["--lambda", "0", "--lambda", "1", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["study"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    let of = |row: usize, name: &str| rows[row][name].as_f64().expect("a number");
    assert!((of(1, "mean_age_ms") / of(1, "mean_age_form_ms") - 1.0).abs() < 0.05, "{rows:?}");
    assert!(of(0, "mean_age_ms") > of(1, "mean_age_ms") && of(0, "of_known") > 1.0, "{rows:?}");
    assert!((of(1, "of_known") - 1.0).abs() < 1e-9);
}

#[test]
fn a_wrong_line_is_refused_in_one_sentence() {
    for (args, words) in [
        (&["--loss", "100%"][..], "a loss is from 0 % to 99 %"),
        (&["--lambda", "2"], "lambda is from 0 to 1"),
        (&["--length", "1s"], "a run has from 2 s to an hour"),
        (&["--delay", "1h"], ""),
        (&["speed"], "speed"),
        (&["--halve"], "--delay"),
        (&["model", "--out"], "--out"),
    ] {
        let output = aoi(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{args:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{args:?}");
    }
}
