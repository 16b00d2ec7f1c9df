//! The program as scripts call it: streams, sentences and exit codes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

fn rove_lab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command that is fed with `input`.
fn fed(args: &[&str], input: &[u8]) -> Output {
    let mut child = rove_lab(args).stdin(Stdio::piped()).spawn().expect("the program starts");
    let stdin = child.stdin.take();
    stdin.expect("its input is a pipe").write_all(input).expect("it reads to the end");
    child.wait_with_output().expect("it ends")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("sentences are UTF-8")
}

#[test]
fn a_screen_comes_out_as_text_or_as_json() {
    let output = fed(&["screen", "--size", "5x2"], b"hello\r\nworld");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    assert_eq!(output.stdout, b"hello\nworld\n");

    let output = fed(&["screen", "--size", "5x2", "--json", "--stats"], b"\x1b[2;3Hhi");
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"][1]["text"], "  hi");
    assert_eq!(report["cursor"]["column"], 4);
    assert!(stderr(&output).starts_with("rove-lab: 8 bytes, "), "{}", stderr(&output));
}

#[test]
fn a_wrong_command_line_is_refused_with_code_two() {
    for (args, sentence) in [
        (&["screen", "--size", "0x24"][..], "a screen of 0 columns and 24 rows is outside"),
        (&["screen", "--size", "4097x24"], "outside 1x1 to 4096x2048"),
        (&["screen", "--size", "big"], "a size is columns and rows, such as 80x24"),
        (&["screen", "--size", "80x24", "--colour"], "unknown option --colour"),
        (&["screen", "--size", "80x24", "recording"], "there is no place for \"recording\""),
        (&["scream"], "there is no command \"scream\"; there are screen, "),
        (&[], "Usage: rove-lab"),
    ] {
        let output = rove_lab(args).output().unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{args:?}");
        assert!(stderr(&output).contains(sentence), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_terminal_is_refused_as_input() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let program_side = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let output = rove_lab(&["screen", "--size", "80x24"]).stdin(program_side).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert!(stderr(&output).starts_with("rove-lab screen: standard input is a terminal"));
    assert_eq!(stderr(&output).lines().count(), 1);
}

#[test]
fn an_input_that_cannot_be_read_is_told() {
    let folder = File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = rove_lab(&["screen", "--size", "80x24"]).stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("rove-lab screen: cannot read standard input: "));
}

#[test]
fn a_screen_without_a_size_is_refused() {
    let output = rove_lab(&["screen"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert!(stderr(&output).contains("--size"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_went_away_is_told_in_one_sentence() {
    for extra in [&[][..], &["--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let args = [&["screen", "--size", "80x24"], extra].concat();
        let output = rove_lab(&args).stdout(writer).output().unwrap();
        let sentence = "rove-lab screen: standard output was closed by its reader before the screen was written\n";
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), sentence));
    }
}

#[test]
fn help_has_examples_the_format_and_the_exit_codes() {
    let output = rove_lab(&["screen", "--help"]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let help = String::from_utf8(output.stdout).unwrap();
    for part in ["Examples:", "reply_bytes", "Exit status:", "from 1x1"] {
        assert!(help.contains(part), "{part} is missing in:\n{help}");
    }
}

#[test]
fn a_command_line_that_calls_no_command_says_which_there_are() {
    for (args, sentence) in [
        (&["bogus"][..], "rove-lab: there is no command \"bogus\"; there are screen, "),
        (&["scren"], "rove-lab: there is no command \"scren\"; did you mean screen?"),
        (&["--bogus"], "rove-lab: unknown option --bogus\nUsage: rove-lab COMMAND [options]\n"),
        (&["--verison"], "rove-lab: unknown option --verison; did you mean --version?\n"),
        (
            &["screen", "--sise", "80x24"],
            "rove-lab screen: unknown option --sise; did you mean --size?\nUsage: rove-lab screen ",
        ),
        (&["record"], "rove-lab record: COMMAND is missing\n"),
        (
            &["completions", "csh"],
            "rove-lab completions: no completions for \"csh\": know bash, zsh, fish",
        ),
        (&["man", "bogus"], "rove-lab man: there is no command \"bogus\"; there are screen, "),
    ] {
        let output = rove_lab(args).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        assert!(stderr(&output).starts_with(sentence), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn shells_read_the_completions_and_complete_options_and_values() {
    let program = env!("CARGO_BIN_EXE_rove-lab");
    let script = rove_lab(&["completions", "bash"]).output().unwrap();
    assert_eq!(script.status.code(), Some(0));
    for (words, wanted) in [
        ("rove-lab re", " record replay remy "),
        ("rove-lab record --scr", " --script= "),
        ("rove-lab replay --engine sto", " stock "),
        ("rove-lab man scr", " screen "),
    ] {
        let (before, current) = words.rsplit_once(' ').unwrap();
        let ask = format!(
            "PATH=${{0%/*}}:$PATH; {}\nCOMP_WORDS=({words}); COMP_CWORD={}; _rove_lab rove-lab '{current}'; echo \" ${{COMPREPLY[*]}} \"",
            String::from_utf8_lossy(&script.stdout),
            before.split(' ').count(),
        );
        let output = Command::new("bash").args(["-c", &ask, program]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{wanted}\n"), "{words}");
    }
}
