//! Pastes, which a terminal puts between markers.

use super::rig::{Program, Rig};
use crate::engine::Engine;
use crate::replay::log::PASTE_CHARACTERS_MAX;

/// A line editor that highlights pasted text until the next key, as Bash does.
#[derive(Default)]
struct Editor {
    line: String,
    sequence: String,
    pasted: Option<String>,
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h$ ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == 0x1b || !self.sequence.is_empty() {
            self.sequence.push(char::from(key));
            if key != b'~' {
                return (0, Vec::new());
            }
            let is_start = core::mem::take(&mut self.sequence) == "\x1b[200~";
            if is_start {
                self.pasted = Some(String::new());
                return (0, Vec::new());
            }
            let pasted = self.pasted.take().unwrap_or_default();
            let shown = pasted.replace('\r', "\r\n");
            let output = format!("\r\x1b[K$ {}\x1b[7m{shown}\x1b[m", self.line);
            self.line.push_str(&pasted);
            return (0, output.into_bytes());
        }
        match &mut self.pasted {
            Some(pasted) => {
                pasted.push(char::from(key));
                (0, Vec::new())
            }
            None if key == b'\r' => {
                self.line.clear();
                (0, b"\r\n$ ".to_vec())
            }
            None => {
                self.line.push(char::from(key));
                (0, format!("\r\x1b[K$ {}", self.line).into_bytes())
            }
        }
    }
}

#[test]
fn a_paste_of_one_line_is_seen_at_once() {
    let mut rig = Rig::new(Editor::default());
    rig.type_keys("ec");
    rig.run_until_idle();
    rig.paste("ho one two");
    assert_eq!(rig.row(), "$ echo one two");
    rig.type_keys("x");
    assert_eq!(rig.row(), "$ echo one twox");
    rig.run_until_idle();
    rig.type_keys("y");
    assert_eq!(rig.row(), "$ echo one twoxy");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// Password managers paste. A program that imitates a shell's prompt could otherwise make the engine show a secret.
#[test]
fn a_paste_at_a_known_prompt_is_waited_for_until_something_is_echoed() {
    let marked_or_not: [fn(&mut Rig, &str); 2] = [Rig::paste, Rig::paste_keys];
    for paste in marked_or_not {
        let mut rig = Rig::new(Editor::default());
        for key in ["ab", "\r"].repeat(3) {
            rig.prove(key);
        }
        rig.type_keys("x");
        assert_eq!(rig.row(), "$ x", "the prompt is known");
        rig.prove("\r");
        paste(&mut rig, "hunter21");
        rig.type_keys("x");
        assert_eq!(rig.row(), "$");
        assert!(!rig.engine.has_no_secret());
        rig.run_until_idle();
        paste(&mut rig, "hunter21");
        assert_eq!(rig.row(), "$ hunter21xhunter21");
        rig.assert_converges();
        rig.prove("\r");
        rig.paste_keys("hunter2");
        assert_eq!(rig.row(), "$ hunter2", "so few keys of one read are typed");
    }
}

#[test]
fn a_paste_that_is_no_plain_text_is_waited_for() {
    for pasted in ["one\rtwo", "a\tb", "", "a\x07b"] {
        let mut rig = Rig::new(Editor::default());
        rig.type_keys("ab");
        rig.run_until_idle();
        rig.paste(pasted);
        rig.type_keys("x");
        assert_eq!(rig.row(), "$ ab", "{pasted:?}");
        rig.assert_converges();
    }
}

#[test]
fn a_long_paste_is_waited_for() {
    for (len, is_seen) in [(PASTE_CHARACTERS_MAX, true), (PASTE_CHARACTERS_MAX + 1, false)] {
        let mut rig = Rig::new(Editor::default());
        rig.type_keys("ab");
        rig.run_until_idle();
        rig.paste(&"x".repeat(len));
        assert_eq!(rig.row().starts_with("$ abxxx"), is_seen, "{len} characters");
        rig.assert_converges();
    }
}

#[test]
fn a_paste_is_hidden_where_typed_text_is() {
    let mut rig = Rig::new(super::SilentProgram("Password: "));
    rig.paste("hunter2");
    for _ in 0..60 {
        assert_eq!(rig.row(), "Password:");
        rig.run(10);
    }
    rig.assert_converges();
}
