//! Motions of the cursor in programs that draw on the whole screen.

use proptest::prelude::*;
use rove_terminal::Size;

use super::rig::{Program, Rig};
use crate::policy::Preference;

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";
const LEFT: &str = "\x1b[D";

/// An editor with a ruler below its text. As vi (`is_vi`), it reads commands, and its cursor stops on the last
/// character.
struct Editor {
    lines: Vec<String>,
    row: usize,
    column: usize,
    goal: usize,
    is_vi: bool,
    has_ruler: bool,
    sequence: Vec<u8>,
}

impl Editor {
    fn new(lines: &[&str], is_vi: bool) -> Self {
        Self {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            row: 0,
            column: 0,
            goal: 0,
            is_vi,
            has_ruler: true,
            sequence: Vec::new(),
        }
    }

    fn last(&self) -> usize {
        let len = self.lines[self.row].len();
        if self.is_vi { len.saturating_sub(1) } else { len }
    }

    fn move_by(&mut self, key: u8) {
        match key {
            b'A' | b'k' => self.row = self.row.saturating_sub(1),
            b'B' | b'j' => self.row = (self.row + 1).min(self.lines.len() - 1),
            b'C' | b'l' => self.column = (self.column + 1).min(self.last()),
            b'D' | b'h' => self.column = self.column.saturating_sub(1),
            _ => {}
        }
        if matches!(key, b'A' | b'k' | b'B' | b'j') {
            self.column = self.goal.min(self.last());
        } else {
            self.goal = self.column;
        }
    }

    fn paint(&self) -> Vec<u8> {
        let mut output = String::from("\x1b[2J");
        for (row, line) in (1..).zip(&self.lines) {
            output.push_str(&format!("\x1b[{row};1H{line}"));
        }
        if self.has_ruler {
            output.push_str(&format!("\x1b[24;20H{},{}", self.row + 1, self.column + 1));
        }
        output.push_str(&format!("\x1b[{};{}H", self.row + 1, self.column + 1));
        output.into_bytes()
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        [b"\x1b[?1049h", &self.paint()[..]].concat()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == 0x1b || !self.sequence.is_empty() {
            self.sequence.push(key);
            if self.sequence.len() < 3 {
                return (0, Vec::new());
            }
            self.sequence.clear();
            self.move_by(key);
        } else if self.is_vi {
            self.move_by(key);
        } else {
            self.lines[self.row].insert(self.column, char::from(key));
            self.column += 1;
            self.goal = self.column;
        }
        (0, self.paint())
    }
}

const TEXT: [&str; 12] = [
    "The apple tree was planted in spring",
    "by the old wall",
    "of the garden, which is long and narrow",
    "and full of stones.",
    "Nobody",
    "knows who built it, or when, or for whom",
    "and nobody has ever asked.",
    "There are beans behind it,",
    "and leeks,",
    "and a heap of old leaves",
    "in which a hedgehog sleeps",
    "all day.",
];

fn rig(editor: Editor) -> Rig {
    Rig::sized(Size::new(50, 24).unwrap(), Preference::Always, editor)
}

fn place(rig: &Rig) -> (u16, u16) {
    let cursor = rig.frame.cursor();
    (cursor.row, cursor.column)
}

/// Types a key and waits for its answer.
fn run_until_idle(rig: &mut Rig, key: &str) {
    rig.type_keys(key);
    rig.run_until_idle();
}

#[test]
fn the_cursor_moves_at_once_where_it_has_moved_before() {
    let mut rig = rig(Editor::new(&TEXT, false));
    rig.type_keys(DOWN);
    assert_eq!(place(&rig), (0, 0), "nothing is known yet");
    rig.run_until_idle();
    for (key, expected) in [(DOWN, (2, 0)), (DOWN, (3, 0))] {
        rig.type_keys(key);
        assert_eq!(place(&rig), expected);
    }
    rig.assert_converges();
}

#[test]
fn a_column_is_kept_across_shorter_lines() {
    let mut rig = rig(Editor::new(&TEXT, false));
    run_until_idle(&mut rig, DOWN);
    run_until_idle(&mut rig, UP);
    (0..20).for_each(|_| run_until_idle(&mut rig, RIGHT));
    assert_eq!(place(&rig), (0, 20));
    // A single motion shows whether the cursor may be after the text.
    run_until_idle(&mut rig, DOWN);
    for (key, expected) in [(DOWN, (2, 20)), (DOWN, (3, 19)), (DOWN, (4, 6)), (DOWN, (5, 20))] {
        rig.type_keys(key);
        assert_eq!(place(&rig), expected);
    }
    rig.assert_converges();
}

#[test]
fn numbers_that_follow_the_cursor_are_turned_on() {
    let mut rig = rig(Editor::new(&TEXT, false));
    let ruler = |rig: &Rig| rig.frame.row_text(23).trim().to_owned();
    for expected in ["1,1", "2,1", "4,1", "5,1", "6,1", "7,1", "8,1", "9,1", "10,1"] {
        rig.type_keys(DOWN);
        assert_eq!(ruler(&rig), expected);
        rig.run_until_idle();
    }
    run_until_idle(&mut rig, RIGHT);
    run_until_idle(&mut rig, RIGHT);
    rig.type_keys(RIGHT);
    assert_eq!(ruler(&rig), "10,4");
    rig.assert_converges();
}

#[test]
fn a_key_that_was_seen_to_fail_is_hidden_for_longer() {
    let mut rig = rig(Editor::new(&TEXT[..4], false));
    (0..3).for_each(|_| run_until_idle(&mut rig, DOWN));
    // The cursor goes no further, but the engine takes the text below for the editor's next line.
    rig.print(b"\x1b[s\x1b[5;1Hno text of its\x1b[u");
    rig.run_until_idle();
    run_until_idle(&mut rig, DOWN);
    run_until_idle(&mut rig, UP);
    rig.type_keys(DOWN);
    rig.assert_converges();
}

#[test]
fn text_behind_a_motion_waits_for_its_answer() {
    let mut rig = rig(Editor::new(&TEXT, false));
    run_until_idle(&mut rig, DOWN);
    run_until_idle(&mut rig, "ab");
    run_until_idle(&mut rig, UP);
    // In the row to which the cursor has gone, the program may ask for a secret.
    rig.type_keys(DOWN);
    rig.type_keys("c");
    assert_eq!(rig.row().chars().filter(|c| *c == 'c').count(), 0);
    rig.assert_converges();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_motions_end_where_the_program_says(
        lines in proptest::collection::vec("[a-z ]{0,30}", 1..20),
        keys in proptest::collection::vec((0_usize..5, 0_u64..500), 1..60),
        is_vi: bool,
        has_ruler: bool,
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut rig = rig(Editor { has_ruler, ..Editor::new(&lines, is_vi) });
        for (key, wait) in keys {
            rig.type_keys([UP, DOWN, LEFT, RIGHT, "j"][key]);
            rig.run(wait);
        }
        rig.assert_converges();
    }
}
