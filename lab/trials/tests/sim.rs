//! The command line of the simulation. The test runs the program that cargo builds for it.

use std::process::Command;

#[test]
fn a_run_says_how_many_sessions_it_played() {
    let program = Command::new(env!("CARGO_BIN_EXE_rove-trials"))
        .args(["sim", "--seeds", "2", "--seed", "7"])
        .output()
        .expect("cargo has built it");
    let said = String::from_utf8_lossy(&program.stdout);
    assert!(program.status.success() && said.starts_with("2 sessions, "), "{program:?}");
}
