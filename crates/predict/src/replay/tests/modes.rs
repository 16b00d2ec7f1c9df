//! Editors with modes, which show their insert mode in the last row.

use super::rig::{Program, Rig};
use crate::policy::Preference;

/// The columns of text after which the small vi moves the last word of a row to the next one.
const TEXT_WIDTH: usize = 24;

/// A small vi, in which `jk` stands for Escape.
#[derive(Default)]
struct Vi {
    lines: Vec<String>,
    inserts: bool,
    /// Whether the editor holds a `j` back until the next key.
    waits: bool,
}

impl Vi {
    /// Time between two typed keys, in milliseconds.
    const KEY_INTERVAL: u64 = 40;

    fn insert(&mut self, key: char) {
        let line = self.lines.last_mut().expect("it inserts into a line");
        if core::mem::take(&mut self.waits) {
            if key == 'k' {
                self.inserts = false;
                return;
            }
            line.push('j');
        }
        self.waits = key == 'j';
        if !self.waits {
            line.push(key);
        }
        if line.len() > TEXT_WIDTH {
            let word = line.rfind(' ').map_or(0, |blank| blank + 1);
            let word = line.split_off(word);
            line.truncate(line.trim_end().len());
            self.lines.push(word);
        }
    }
}

impl Program for Vi {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[H".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        match key {
            // The editor draws nothing, because it waits for the rest of an escape sequence.
            0x1b => {
                self.inserts = false;
                return (0, Vec::new());
            }
            b'o' if !self.inserts => {
                self.lines.push(String::new());
                self.inserts = true;
            }
            _ if self.inserts => self.insert(char::from(key)),
            _ => {}
        }
        let line = self.lines.last().map_or("", String::as_str);
        let (row, end) = (self.lines.len().max(1), line.len());
        let above = self.lines.iter().rev().nth(1).map_or("", String::as_str);
        let above_row = row.saturating_sub(1).max(1);
        let (waiting, mode) =
            (if self.waits { "j" } else { "" }, if self.inserts { "-- INSERT --" } else { "" });
        let column = if self.inserts { end + 1 } else { end.max(1) };
        let drawn = format!(
            "\x1b[8H{mode}\x1b[K\x1b[{above_row}H{above}\x1b[K\x1b[{row}H{line}{waiting}\x1b[K\x1b[{row};{column}H"
        );
        (0, drawn.into_bytes())
    }
}

fn rig() -> Rig {
    let mut rig = Rig::with(Preference::Adaptive, Vi::default());
    rig.prove("o");
    rig.prove("one");
    rig
}

#[test]
fn two_characters_that_have_ended_a_mode_are_waited_for_the_next_time() {
    let mut rig = rig();
    rig.prove("jk");
    rig.prove("o");
    rig.prove("two");
    rig.type_keys("jko");
    assert_eq!(rig.row(), "two");
    rig.assert_converges();
    rig.prove("a big ");
    rig.type_keys("j");
    assert_eq!(rig.row(), "a big", "its cursor stays until the next key");
    rig.type_keys("am");
    assert_eq!(rig.row(), "a big jam", "other words have the first of them, too");
    rig.assert_converges();
}

#[test]
fn a_character_that_is_held_until_the_next_is_no_text_to_insert_before() {
    let mut rig = rig();
    rig.prove("j");
    assert_eq!((rig.row(), rig.column()), ("onej".into(), 3), "it stands at the cursor");
    rig.type_keys("am");
    assert_eq!(rig.row(), "onejam");
    rig.assert_converges();
    rig.prove(" j");
    rig.type_keys("k");
    rig.run(1);
    rig.type_keys("otwo");
    rig.run_until_idle();
    rig.prove(" jo");
    rig.type_keys("yjk");
    assert_eq!(
        rig.row(),
        "two joy",
        "the mode that has ended has begun again before a screen came"
    );
    rig.assert_converges();
}

#[test]
fn the_echo_of_the_second_of_two_equal_keys_is_none_of_the_first_which_was_a_command() {
    let mut rig = rig();
    rig.prove("\x1b");
    for key in ["\x1b", "o", "o", "f"] {
        rig.type_keys(key);
        rig.run(Vi::KEY_INTERVAL);
    }
    for _ in 0..1000 {
        rig.run(1);
        let row = rig.frame.row_text(1);
        assert!("of".starts_with(&row), "{row:?}");
    }
    rig.assert_converges();
}

#[test]
fn where_a_word_was_moved_to_the_next_row_text_is_waited_for() {
    let mut rig = rig();
    rig.prove(" row of words that is");
    rig.type_keys(" moved");
    rig.run_until_idle();
    assert_eq!(rig.rows(0..2), ["one row of words that is", "moved"]);
    rig.prove(" words fill");
    rig.type_keys(" a row");
    assert_eq!(rig.row(), "moved words fill a row", "as far as they did before");
    rig.prove(" o");
    rig.type_keys("f text");
    assert_eq!(rig.row(), "moved words fill a row o");
    rig.assert_converges();
    rig.prove(" on");
    rig.type_keys("e more");
    assert_eq!(rig.row(), "of text one more", "the next row is another");
    rig.assert_converges();
}

/// An editor that hangs while it shows a held character at its cursor.
#[derive(Default)]
struct Hung(String);

impl Program for Hung {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[8H-- INSERT --\x1b[H".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let Self(line) = self;
        if line.ends_with('!') {
            return (0, Vec::new());
        }
        line.push(char::from(key));
        let column = line.trim_end_matches('!').len() + 1;
        (0, format!("\x1b[H{line}\x1b[{column}G").into_bytes())
    }
}

#[test]
fn a_character_that_is_held_when_its_editor_hangs_leaves_nothing_behind_it() {
    let mut rig = Rig::with(Preference::Adaptive, Hung::default());
    rig.prove("one");
    rig.type_keys(" two!abc");
    assert_eq!(rig.row(), "one two!abc");
    rig.assert_converges();
}
