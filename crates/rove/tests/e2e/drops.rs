//! Files that the escape key or `rove put` copies to the host, and whose paths rove then types into a session.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Border, Far, Invocation, Scratch, Sshd, Terminal, rove, within_guard};

const BASH: [&str; 3] = ["/usr/bin/bash", "--norc", "--noprofile"];

/// Starts a session with this program.
fn session(sshd: &Sshd, options: &[&str], program: &[&str]) -> Terminal {
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(options);
    Terminal::start(&call.args(["far", "--"]).args(program), (24, 160))
}

/// Runs `rove put` with these words and waits for its end.
fn put(sshd: &Sshd, words: &[&str]) -> Output {
    let call = Invocation::new(rove()).arg("put").arg(format!("--ssh={}", sshd.ssh()));
    let mut command = call.args(words).command();
    within_guard("rove put", move || command.output().expect("rove starts"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(sshd: &Sshd) -> PathBuf {
    sshd.path(".cache/rove/drop")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn the_escape_key_copies_files_and_a_shell_reads_the_paths_that_are_typed() {
    let (sshd, here) = (Sshd::start(Far::default()), Scratch::new());
    let name = "it's a \"pic\" $HOME.png";
    let file = here.write(name, &"x".repeat(54_321));
    let bytes = here.write("bytes", "123");
    let mut terminal = session(&sshd, &[], &BASH);
    terminal.wait_for_text("bash-");
    terminal.send("wc -c ");
    terminal.wait_for_text("wc -c ");
    let quoted = file.to_str().expect("it is text").replace('\'', r"'\''");
    terminal.send(format!("\x1ep'{quoted}' {}\r", bytes.display()));
    terminal.wait_for_text("drop/bytes");
    terminal.send("\r");
    terminal.wait_for_text("54324 total");
    let kept = folder(&sshd).join(name);
    assert_eq!((mode(&folder(&sshd)), mode(&kept)), (0o700, 0o600));
    assert_eq!(fs::read(&kept).expect("it is there"), fs::read(&file).expect("it was written"));
    terminal.send("\x1ep/nowhere/at/all\r");
    terminal.wait_for_text("all is not copied: No such file or directory");
    terminal.send("\x1ep'\r");
    terminal.wait_for_text("not understood: '");
    terminal.send("exit\r");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn nothing_is_typed_into_a_secret_and_the_user_reads_the_path() {
    let (sshd, here) = (Sshd::start(Far::default()), Scratch::new());
    let file = here.write("a.txt", "1");
    let secret = "echo; echo ready; read -s x; echo \"got <$x>\"; cat";
    let mut terminal = session(&sshd, &[], &["/usr/bin/bash", "-c", secret]);
    terminal.wait_for_text("ready");
    terminal.send(format!("\x1ep{}\r", file.display()));
    terminal.wait_for_text(
        "a.txt is at ~/.cache/rove/drop/a.txt, which is not typed: the program may be",
    );
    terminal.send("\r");
    terminal.wait_for_text("got <>");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn an_editor_takes_a_path_as_text_in_its_insert_mode() {
    let (sshd, here) = (Sshd::start(Far::default()), Scratch::new());
    let file = here.write("a b.txt", "1");
    let mut terminal = session(&sshd, &[], &["/usr/bin/vim", "-N", "-u", "NONE", "-i", "NONE"]);
    terminal.wait_for_text("VIM - Vi IMproved");
    terminal.send("i");
    terminal.wait_for_text("-- INSERT --");
    terminal.send(format!("\x1ep'{}'\r", file.display()));
    terminal.wait_for_text("drop/a b.txt'");
    terminal.send("\x1b:q!\r");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn rove_put_reaches_the_session_that_runs_and_asks_which_if_there_are_two() {
    let (sshd, here) = (Sshd::start(Far::default()), Scratch::new());
    let file = here.write("a.txt", "1");
    let file = file.to_str().expect("it is text");
    let none = put(&sshd, &["far", file]);
    assert_eq!(none.status.code(), Some(255));
    let said = text(&none.stderr);
    assert!(said.contains("a.txt is not copied: no session of yours runs on the host"), "{said}");
    let terminal = session(&sshd, &["--session", "one"], &BASH);
    terminal.wait_for_text("bash-");
    let output = put(&sshd, &["far", file, file]);
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(printed, "~/.cache/rove/drop/a.txt\n~/.cache/rove/drop/a-1.txt\n");
    terminal.wait_for_text("drop/a-1.txt");
    assert!(terminal.screen().contents().contains("drop/a.txt"), "{}", terminal.dump());
    let other = session(
        &sshd,
        &["--session", "two"],
        &["sh", "-c", "echo; echo ready; stty -echo; echo off; cat"],
    );
    other.wait_for_text("off");
    let output = put(&sshd, &["far", file]);
    assert_eq!(output.status.code(), Some(255));
    assert!(text(&output.stderr).contains("2 sessions of yours run there: name one"));
    let output = put(&sshd, &["far:two", file]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a-2.txt, which is not typed: the program may be"), "{said}");
    assert_eq!(put(&sshd, &["far:one", file]).status.code(), Some(0));
    terminal.wait_for_text("drop/a-3.txt");
}

#[test]
fn a_copy_goes_on_after_the_network_was_down_in_its_middle() {
    const LEN: usize = 64 << 20;
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let here = Scratch::new();
    let file = here.path("large");
    let bytes: Vec<u8> = (0..=250).cycle().take(LEN).collect();
    fs::write(&file, &bytes).expect("there is room");
    let port = format!("-p{}", border.port);
    let terminal = session(&border.sshd, &[&port, "--no-tunnel"], &BASH);
    terminal.wait_for_text("bash-");
    terminal.send(format!("\x1ep{}\r", file.display()));
    let drop = folder(&border.sshd);
    let place = drop.clone();
    within_guard("the first bytes", move || {
        let has_begun = |path: PathBuf| fs::metadata(path).is_ok_and(|it| it.len() > 0);
        while !fs::read_dir(&place).is_ok_and(|all| all.flatten().any(|it| has_begun(it.path()))) {
            crate::support::pause(std::time::Duration::from_millis(5));
        }
    });
    border.let_pass(false, false);
    terminal.wait_for_text("ast contact");
    border.let_pass(true, true);
    terminal.wait_for_text("drop/large");
    assert!(fs::read(drop.join("large")).expect("it is complete") == bytes);
    assert_eq!(fs::read_dir(&drop).expect("it is there").count(), 1, "nothing else is left");
}

#[test]
fn a_host_without_a_rove_that_takes_files_is_named_and_nothing_stands_in() {
    let sshd = Sshd::start(Far { programs: &["rove as mosh-server"], ..Far::default() });
    let here = Scratch::new();
    let file = here.write("a.txt", "1");
    let output = put(&sshd, &["far", file.to_str().expect("it is text")]);
    let said = text(&output.stderr);
    assert!(output.status.code() != Some(0) && output.stdout.is_empty(), "{said}");
    assert!(said.contains("no rove at far takes files (scp copies them"), "{said}");
}

#[test]
fn files_that_the_hosts_rules_forbid_are_not_copied_as_the_status_says() {
    let Some(sshd) = Sshd::start_with_rules("streams = false\n", 0o644) else { return };
    let here = Scratch::new();
    let file = here.write("a.txt", "1");
    let output = put(&sshd, &["far", file.to_str().expect("it is text")]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains("no rove at far takes files"), "{said}");
}
