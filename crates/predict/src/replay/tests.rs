//! Scripted sessions: a user, an engine, a path and a program, in virtual time.

mod rig;

use rig::{Program, Rig, Shell, SilentProgram, SlowShell};

/// What a letter typed at the first prompt shows.
#[test]
fn the_first_key_ever_is_hidden_and_the_next_ones_are_seen_at_once() {
    let mut rig = Rig::new(Shell::new("$ "));
    rig.type_keys("l");
    assert_eq!(rig.row(), "$");
    rig.settle();
    for (key, row) in [("s", "$ ls"), (" ", "$ ls"), ("x", "$ ls x"), ("\x7f", "$ ls")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_prompt_seen_before_needs_no_new_proof() {
    let mut rig = Rig::new(Shell::new("ada@relay:~$ "));
    rig.type_keys("ls");
    rig.settle();
    rig.type_keys("\r");
    rig.settle();
    rig.type_keys("c");
    assert_eq!(rig.row(), "ada@relay:~$ c");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_line_editor_that_says_so_is_believed_at_once() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
    rig.type_keys("l");
    assert_eq!(rig.row(), "$ l");
    rig.assert_converges();
}

#[test]
fn what_is_typed_before_the_prompt_returns_is_seen_with_it() {
    let mut rig = Rig::new(Shell::new("$ "));
    rig.type_keys("ls");
    rig.settle();
    rig.type_keys("\r");
    rig.run(100);
    rig.type_keys("pw");
    assert_eq!(rig.row(), "$ ls", "nothing is known of the row that they will be in");
    rig.run(2 * Rig::ONE_WAY - 100 + 1);
    assert_eq!(rig.row(), "$ pw", "the prompt is there, its echo is not");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn keys_stay_within_the_input() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
    rig.type_keys("ab");
    for (key, column) in [
        ("\x1b[C", 4),
        ("\x1b[D", 3),
        ("\x1b[D", 2),
        ("\x1b[D", 2),
        ("\x1b[C", 3),
        ("\x1b[C", 4),
        ("\x1b[C", 4),
        ("\x7f", 3),
        ("\x7f", 2),
        ("\x7f", 2),
    ] {
        rig.type_keys(key);
        assert_eq!(rig.column(), column, "{}", key.escape_debug());
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn text_is_inserted_and_taken_out_in_the_middle_of_a_line() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
    rig.type_keys("hello\x1b[D\x1b[D");
    for (key, row) in [("x", "$ helxlo"), ("y", "$ helxylo"), ("\x7f", "$ helxlo")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn nothing_is_seen_of_what_is_not_echoed() {
    for prompt in ["Password: ", "? ", ""] {
        let mut rig = Rig::new(SilentProgram(prompt));
        for key in ["h", "u", "n", "t", "e", "r", "2"] {
            rig.type_keys(key);
            assert_eq!(rig.row(), prompt.trim_end());
            rig.run(60);
            assert_eq!(rig.row(), prompt.trim_end());
        }
        rig.assert_converges();
    }
}

#[test]
fn a_host_that_echoes_late_is_learned() {
    let mut rig = Rig::new(SlowShell::new("$ ", 300));
    rig.type_keys("a");
    rig.settle();
    let mut seen = 0;
    for count in 0..20 {
        rig.type_keys("x");
        seen += usize::from(rig.row().len() == "$ a".len() + count + 1);
        rig.run(400);
    }
    assert!(seen >= 16, "{seen} of 20 were seen at once");
    rig.assert_converges();
}

#[test]
fn a_program_that_contradicts_everything_leaves_nothing_behind() {
    let mut rig = Rig::new(Contradiction);
    for round in 0..40 {
        rig.type_keys(["a", "\x7f", "\x1b[D", "\r", "\t", "\x1b[C"][round % 6]);
        rig.run(u64::try_from(round).unwrap() * 7);
    }
    rig.assert_converges();
}

/// Answers each key with something else, somewhere.
struct Contradiction;

impl Program for Contradiction {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (0, format!("\x1b[{};{}Hq{key}\n", key % 9, key % 70).into_bytes())
    }
}
