//! Runs every input that earlier runs have stored. All properties must still hold.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_fuzz::{TARGETS, Target};

/// Most bytes of a target's file of seeds. Chosen: the repository should not contain a whole corpus.
const FILE_BYTES_MAX: usize = 512 * 1024;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}

fn play(name: &str, target: Target) {
    let text = fs::read_to_string(folder().join(name)).expect("a file for each target");
    assert!((1..=FILE_BYTES_MAX).contains(&text.len()), "{name} has {} bytes", text.len());
    for line in text.lines() {
        println!("{name}: {line}");
        target(&STANDARD.decode(line).expect("base64"));
    }
}

#[test]
fn what_was_found_holds() {
    thread::scope(|scope| {
        for (name, target) in TARGETS {
            scope.spawn(move || play(name, target));
        }
    });
}

#[test]
fn seeds_are_kept_for_the_targets_only() {
    let files = fs::read_dir(folder()).expect("the folder of seeds");
    let names = files.map(|entry| entry.expect("a file").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, targets);
}
