//! Keys that line editors know by the same name, and whose effects differ at some places.

use super::rig::{Program, Rig};

const CONTROL_U: &str = "\x15";
const CONTROL_W: &str = "\x17";
const ALT_B: &str = "\x1bb";
const ALT_F: &str = "\x1bf";
const ALT_D: &str = "\x1bd";
const TWICE_LEFT: &str = "\x1b[D\x1b[D";

/// A line editor that treats lines and words as zsh does, or (`is_readline`) as bash.
struct Editor {
    is_readline: bool,
    line: Vec<char>,
    cursor: usize,
    read: String,
}

impl Editor {
    fn rig(is_readline: bool) -> Rig {
        let (line, read) = (Vec::new(), String::new());
        Rig::new(Self { is_readline, line, cursor: 0, read })
    }

    fn is_word(&self, c: char) -> bool {
        c.is_alphanumeric() || !self.is_readline && "~-".contains(c)
    }

    fn word_start(&self, is_word: impl Fn(char) -> bool) -> usize {
        let mut at = self.cursor;
        while at > 0 && !is_word(self.line[at - 1]) {
            at -= 1;
        }
        while at > 0 && is_word(self.line[at - 1]) {
            at -= 1;
        }
        at
    }

    /// Returns the first place from `at` on whose character is a part of a word (`is_word`), or is not.
    fn seek(&self, at: usize, is_word: bool) -> usize {
        (at..self.line.len())
            .find(|at| self.is_word(self.line[*at]) == is_word)
            .unwrap_or(self.line.len())
    }

    fn edit(&mut self, key: &str) {
        let Self { is_readline, cursor, .. } = *self;
        let word = self.word_start(|c| self.is_word(c));
        let word_end = self.seek(self.seek(cursor, true), false);
        match key {
            ALT_B => self.cursor = word,
            ALT_F if is_readline => self.cursor = word_end,
            ALT_F => self.cursor = self.seek(self.seek(cursor, false), true),
            ALT_D => drop(self.line.drain(cursor..word_end)),
            CONTROL_W => {
                self.cursor = if is_readline { self.word_start(|c| c != ' ') } else { word };
                self.line.drain(self.cursor..cursor);
            }
            CONTROL_U => {
                self.line.drain(..if is_readline { cursor } else { self.line.len() });
                self.cursor = 0;
            }
            "\x1b[D" | "\x02" => self.cursor -= 1,
            "\x01" => self.cursor = 0,
            "\x7f" => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            _ => {
                self.line.splice(cursor..cursor, key.chars());
                self.cursor += 1;
            }
        }
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.read.push(char::from(key));
        if matches!(&*self.read, "\x1b" | "\x1b[") {
            return (0, Vec::new());
        }
        let read = core::mem::take(&mut self.read);
        self.edit(&read);
        let line: String = self.line.iter().collect();
        (0, format!("\r\x1b[K> {line}\x1b[{}G", self.cursor + 3).into_bytes())
    }
}

/// Types a line and `keys`, which move the cursor in it, and then `key`. Returns whether the user sees the effect of
/// `key` at once. Asserts that the effect is never shown otherwise than on the host.
fn is_seen(rig: &mut Rig, line: &str, keys: &str, key: &str) -> bool {
    rig.prove(line);
    if !keys.is_empty() {
        rig.prove(keys);
    }
    let view = |rig: &Rig| (rig.row(), rig.column());
    let before = view(rig);
    rig.paste_keys(key);
    let mut views = vec![view(rig)];
    for _ in 0..1000 {
        rig.run(1);
        views.push(view(rig));
    }
    rig.assert_converges();
    let after = view(rig);
    let is_seen = views[0] == after;
    views.dedup();
    assert!(before != after, "{line:?} {key:?}");
    assert!(
        views.iter().all(|view| [&before, &after].contains(&view)),
        "{line:?} {key:?}: {views:?}"
    );
    // The next line begins empty in both editors.
    rig.prove("\x01");
    for _ in 0..10 {
        rig.paste_keys(ALT_D);
        rig.run_until_idle();
    }
    assert_eq!(rig.row(), ">");
    is_seen
}

/// Each case: a key, a line and place where the editors agree, and a line and place where they differ.
const CASES: [(&str, [&str; 2], [&str; 2]); 5] = [
    (CONTROL_U, ["ab cd", ""], ["ab cd", TWICE_LEFT]),
    (CONTROL_W, ["ab cd", ""], ["ab, cd:x", ""]),
    (ALT_B, ["ab cd", ""], ["ab ~", ""]),
    (ALT_F, ["ab", "\x01"], ["ab cd", "\x01"]),
    (ALT_D, ["ab cd", "\x01"], ["ab-cd ef", "\x01"]),
];

#[test]
fn a_key_is_not_shown_where_editors_differ_after_it_was_right_where_they_agree() {
    for (key, [agreed, place], [disputed, other_place]) in CASES {
        let mut rig = Editor::rig(false);
        for round in 0..3 {
            assert_eq!(is_seen(&mut rig, agreed, place, key), round > 0, "{key:?}");
        }
        for _ in 0..3 {
            assert!(!is_seen(&mut rig, disputed, other_place, key), "{key:?}");
        }
        assert!(is_seen(&mut rig, agreed, place, key), "{key:?}");
        assert_eq!(rig.errors, 0, "{key:?}");
    }
}

#[test]
fn a_key_is_shown_where_editors_differ_after_it_was_right_at_such_a_place() {
    for (key, _, [disputed, place]) in CASES {
        let mut rig = Editor::rig(true);
        for round in 0..3 {
            assert_eq!(is_seen(&mut rig, disputed, place, key), round > 0, "{key:?}");
        }
        assert_eq!(rig.errors, 0, "{key:?}");
    }
}

#[test]
fn text_right_of_the_cursor_is_the_echo_of_keys_that_are_answered_at_once() {
    for keys in [
        "win\x1b[D",
        "echo abc\x1b[D\x1b[D\x1b[D",
        "echo abc\x02\x02",
        "echo abc\x01d",
        "echo abc\x1bb",
        "ab\x1b[Dcd\x1b[D",
        "abc\x1b[D\x7fde\x1b[D\x1b[D",
        "aa\x1b[Da\x1b[Da\x1b[D",
    ] {
        for (proof, output) in [("", ""), ("x", ""), ("xy", "\r\x1b[KDone\r\n")] {
            let mut rig = Editor::rig(true);
            rig.prove(proof);
            rig.batch = 2;
            for key in keys.split_inclusive(|c: char| c != '\x1b' && c != '[') {
                rig.paste_keys(key);
            }
            rig.run(Rig::ONE_WAY - 1);
            rig.print(output.as_bytes());
            rig.run(Rig::ONE_WAY + 1);
            assert_eq!(rig.wrong_millis(), 0, "{proof:?} {keys:?} {output:?}");
        }
    }
}
