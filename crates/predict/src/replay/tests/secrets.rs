//! Secrets after events that the engine does not see as keys: a new window size, a prompt that is printed again.

use rove_terminal::{InputNum, Size, Tty, TtyModes};
use rove_units::Instant;

use super::rig::{Program, Rig, Shell};
use crate::engine::Engine;
use crate::policy::{Prediction, Preference};
use crate::prompt_memory::PromptMemory;
use crate::replay::{Replay, log};

fn size() -> Size {
    Size::clamped(40, 8)
}

/// The modes while a program reads single keys, with the server's statement that its shell had read nine keys.
const STATED: Tty = Tty {
    modes: TtyModes::USUAL.difference(TtyModes::ECHO).difference(TtyModes::CANONICAL),
    prompt: Some(InputNum::new(9)),
    ..Tty::USUAL
};

/// A shell that echoes some lines, and then starts a program that reads without echo.
struct Hushed(Shell, usize);

impl Program for Hushed {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let Self(shell, lines) = self;
        if *lines == 0 {
            return (0, Vec::new());
        }
        *lines -= usize::from(key == b'\r');
        shell.answer(key)
    }
}

/// Returns a session in which three lines (nine keys) were echoed, of the `lines` lines that its program echoes. The
/// second fact about the prompt is bracketed paste or, with `tty`, the server's statement.
fn at_known_prompt(tty: Option<Tty>, lines: usize) -> Rig {
    let prompt = if tty.is_some() { "$ " } else { "\x1b[?2004h$ " };
    let shell = Hushed(Shell::new(prompt), lines);
    let mut rig = Rig::wary(size(), Preference::Always, shell);
    tty.into_iter().for_each(|tty| rig.tell(tty));
    for _ in 0..3 {
        rig.prove("l");
        rig.prove("s\r");
    }
    rig
}

#[test]
fn a_secret_after_an_enter_that_a_resize_has_dropped_stays_unseen() {
    for tty in [None, Some(STATED)] {
        let mut rig = at_known_prompt(tty, 4);
        rig.type_keys("su\r");
        assert_eq!(rig.row(), "$ su", "{tty:?}");
        rig.engine.reset();
        rig.type_keys("hunter2");
        assert_eq!(rig.row(), "$", "{tty:?}");
        assert!(!rig.engine.has_no_secret());
        rig.assert_converges();
    }
}

/// Types `su`, and then `line` at the next prompt. Resets the engine `millis` milliseconds after the first `keys` keys
/// of that line. Returns how many prompts are refused at the end.
fn refused_after_reset(prompt_returns: bool, line: &str, keys: usize, millis: u64) -> usize {
    let mut rig = at_known_prompt(None, if prompt_returns { 9 } else { 4 });
    rig.engine.handle_prompt_memory(PromptMemory::new([7; 16], Vec::new(), Vec::new()));
    rig.type_keys("su\r");
    for (index, key) in line.chars().enumerate() {
        if index == keys {
            rig.run(millis);
            rig.engine.reset();
        }
        rig.run(if index == 0 { 2 * Rig::ONE_WAY + 20 } else { 60 });
        rig.type_keys(&key.to_string());
    }
    rig.run_until_idle();
    rig.engine.prompt_memory().unwrap().refused().len()
}

#[test]
fn a_reset_loses_no_refusal_whenever_it_comes_and_refuses_no_shell() {
    for keys in 0..7 {
        for millis in [0, 100, 170, 310, 1500] {
            let refused = |echoes, line| refused_after_reset(echoes, line, keys, millis);
            assert_ne!(refused(false, "hunter\r"), 0, "{keys} keys, {millis} ms");
            for line in ["l\x7fpwd\r:\r", "cd  ..\rl\r"] {
                assert_eq!(refused(true, line), 0, "{line:?}: {keys} keys, {millis} ms");
            }
        }
    }
}

#[test]
fn keys_that_a_resize_has_dropped_are_waited_for_and_the_echo_after_them_is_proof() {
    let mut rig = at_known_prompt(None, 4);
    rig.type_keys("a");
    assert_eq!(rig.row(), "$ a");
    rig.engine.reset();
    for (key, row) in [("b", "$"), ("c", "$ ab"), ("d", "$ abcd")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
        rig.run_until_idle();
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn nothing_is_shown_after_more_keys_than_are_kept_even_if_the_window_is_resized() {
    for (tty, is_reset) in [(None, true), (Some(STATED), true), (Some(STATED), false)] {
        let mut rig = at_known_prompt(tty, 3);
        rig.type_keys(&"\x18".repeat(log::EVENTS_MAX + 1));
        if is_reset {
            rig.engine.reset();
        }
        for key in ["h", "u", "n"] {
            rig.type_keys(key);
            assert_eq!(rig.row(), "$");
            assert!(!rig.engine.has_no_secret());
            rig.run_until_idle();
        }
    }
}

/// A program that asks `code> `. It echoes an `a` and its Backspace, and nothing else.
struct Vault(Shell);

impl Program for Vault {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if matches!(key, b'a' | 0x7f) { self.0.answer(key) } else { (0, Vec::new()) }
    }
}

#[test]
fn an_echo_is_no_proof_after_the_program_has_printed_its_prompt_again() {
    // In the second screen the new prompt is in the same row, because all text moves up.
    for (above, again) in
        [("", "\r\ncode> "), ("\n\n\n\n\n\n\n", "\r\ncode> "), ("", "\r\nlate\r\ncode> ")]
    {
        for is_typing in [false, true] {
            let mut rig = Rig::wary(size(), Preference::Always, Vault(Shell::new("code> ")));
            rig.print(above.as_bytes());
            rig.print(b"\rcode> ");
            rig.run_until_idle();
            rig.prove("a");
            rig.prove("\x7f");
            rig.print(again.as_bytes());
            // A letter typed before the prompt came may have been shown.
            rig.type_keys(if is_typing { "h" } else { "" });
            rig.run(2 * Rig::ONE_WAY);
            for key in ["u", "n"] {
                rig.type_keys(key);
                assert!(!rig.row().contains(key), "{above:?} {again:?} {is_typing} {}", rig.row());
                assert!(!rig.engine.has_no_secret());
            }
            rig.assert_converges();
        }
    }
}

#[test]
fn text_printed_above_a_line_leaves_its_echo_a_proof() {
    let mut rig = Rig::wary(size(), Preference::Always, Shell::new("code> "));
    rig.prove("ab");
    rig.print(b"\r\x1b[Knews\r\ncode> ab");
    rig.run_until_idle();
    rig.type_keys("c");
    assert_eq!(rig.row(), "code> abc");
}

/// A key that a program has read without echo is not shown before its echo, even at a known prompt.
#[test]
fn a_key_that_has_arrived_and_is_not_echoed_may_be_a_secret() {
    let mut rig = at_known_prompt(None, 4);
    rig.engine.handle_keys(Instant::from_millis(100_000), InputNum::new(100), b"h");
    for (arrived, is_safe) in [(100, true), (101, false)] {
        rig.engine.state.base.arrived = InputNum::new(arrived);
        assert_eq!(rig.engine.has_no_secret(), is_safe, "{arrived}");
    }
}

#[test]
fn a_part_of_a_key_may_be_a_secret() {
    for (bytes, rest) in [(&b"\xc3"[..], &b"\xa9"[..]), (b"\x1b]5", b"2\x07"), (b"\x1b[", b"C")] {
        let mut engine = Replay::new(Prediction::default(), size());
        assert!(engine.has_no_secret(), "no key is pending");
        engine.handle_keys(Instant::ZERO, InputNum::new(0), bytes);
        assert!(!engine.has_no_secret(), "{bytes:?}");
        engine.handle_keys(Instant::ZERO, InputNum::new(1), rest);
        assert_eq!(engine.has_no_secret(), bytes != b"\xc3", "{bytes:?}");
    }
}

#[test]
fn an_experiment_shows_no_secret_that_words_or_the_terminal_or_a_command_announce() {
    let hidden = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };
    for (prompt, line, tty) in [
        ("Password: ", "", None),
        ("> ", "", Some(hidden)),
        ("Password: ", "", Some(hidden)),
        ("\x1b[?2004h$ ", "stty -echo\r", None),
    ] {
        let shell = Hushed(Shell::new(prompt), usize::from(!line.is_empty()));
        let mut rig = Rig::wary(size(), Preference::Experimental, shell);
        tty.into_iter().for_each(|tty| rig.tell(tty));
        rig.prove(line);
        let row = rig.row();
        for key in "hunter2\x7f2".chars() {
            rig.type_keys(&key.to_string());
            assert_eq!(rig.row(), row, "{prompt:?}");
            rig.run(60);
            assert_eq!(rig.row(), row, "{prompt:?}");
        }
        rig.assert_converges();
    }
}

#[test]
fn an_experiment_shows_what_a_question_for_a_secret_echoes() {
    let mut rig = Rig::wary(size(), Preference::Experimental, Shell::new("Token name: "));
    rig.prove("ab");
    rig.type_keys("c");
    assert_eq!(rig.row(), "Token name: abc");
    rig.assert_converges();
}

/// A server sends the modes of its terminal only to a client whose engine uses them.
#[test]
fn every_preference_with_predictions_uses_the_state_of_the_terminal() {
    for preference in [Preference::Adaptive, Preference::Always, Preference::Experimental] {
        let prediction = Prediction { preference, ..Prediction::default() };
        assert!(Replay::new(prediction, size()).uses_tty(), "{preference:?}");
    }
}
