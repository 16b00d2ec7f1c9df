//! Scripted sessions in which Enter begins rows of a text.

use rove_terminal::Size;

use super::rig::{Program, Rig, SilentProgram};
use crate::policy::Preference;

/// What an editor shows beside its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    None,
    Absolute,
    Relative,
}

/// An editor with room for fourteen rows above a bar that tells the line of the cursor.
struct Editor {
    lines: Vec<String>,
    top: usize,
    row: usize,
    column: usize,
    numbers: Numbers,
    /// Whether a new row is indented as the one before.
    indents: bool,
    /// What a row must contain for Enter to leave the text, after which nothing is echoed.
    leaves: Option<&'static str>,
    has_left: bool,
}

impl Editor {
    const ROWS: usize = 14;

    fn new(lines: &[&str], row: usize) -> Self {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Self {
            column: lines[row].len(),
            lines,
            top: 0,
            row,
            numbers: Numbers::None,
            indents: true,
            leaves: None,
            has_left: false,
        }
    }

    fn draw(&self) -> Vec<u8> {
        let rows = self.top..self.top + Self::ROWS;
        let number = |row: usize| match self.numbers {
            Numbers::None => String::new(),
            Numbers::Relative if row != self.row => format!("{:3} ", row.abs_diff(self.row)),
            Numbers::Relative => format!("{:<3} ", row + 1),
            Numbers::Absolute => format!("{:3} ", row + 1),
        };
        let rows: String = rows
            .map(|row| match self.lines.get(row) {
                Some(line) => format!("{}{line}\x1b[K\r\n", number(row)),
                None => "~\x1b[K\r\n".to_owned(),
            })
            .collect();
        let gutter = number(self.row).len();
        let (row, column) = (self.row - self.top + 1, self.column + gutter + 1);
        let line = self.row + 1;
        format!("\x1b[H{rows}\x1b[7m line {line:<34}\x1b[m\x1b[{row};{column}H").into_bytes()
    }

    fn enter(&mut self) {
        let line = &mut self.lines[self.row];
        let blanks = line.len() - line.trim_start().len();
        let indentation = if self.indents { blanks } else { 0 };
        let rest = " ".repeat(indentation) + &line.split_off(self.column);
        (self.row, self.column) = (self.row + 1, indentation);
        self.lines.insert(self.row, rest);
        self.top = self.top.max((self.row + 1).saturating_sub(Self::ROWS));
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        [b"\x1b[?1049h".to_vec(), self.draw()].concat()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if self.has_left {
            return (0, Vec::new());
        }
        match key {
            b'\r' if self.leaves.is_some_and(|word| self.lines[self.row].contains(word)) => {
                self.has_left = true;
                return (0, format!("\x1b[{};1H", self.row - self.top + 2).into_bytes());
            }
            b'\r' => self.enter(),
            b' '..=b'~' => {
                self.lines[self.row].insert(self.column, char::from(key));
                self.column += 1;
            }
            _ => {}
        }
        (0, self.draw())
    }
}

fn rig(editor: Editor) -> Rig {
    Rig::sized(Size::new(40, 16).unwrap(), Preference::Always, editor)
}

/// Types keys, each after the answer to the one before.
fn type_slowly(rig: &mut Rig, keys: &str) {
    for key in keys.chars() {
        rig.type_keys(&key.to_string());
        rig.settle();
    }
}

#[test]
fn rows_are_parted_at_once_when_they_were_twice() {
    let mut rig = rig(Editor::new(&["red beet", "leek", "pea"], 0));
    type_slowly(&mut rig, "s");
    for _ in 0..2 {
        rig.type_keys("\ra");
        assert_eq!(rig.column(), rig.row().len().try_into().unwrap(), "nothing is known");
        rig.settle();
    }
    rig.type_keys("\rb\r");
    assert_eq!(rig.rows(0..6), ["red beets", "a", "a", "b", "", "leek"]);
    assert_eq!(rig.cursor(), (4, 0));
    assert_eq!(rig.frame.row_text(14), " line 5", "the bar tells the line");
    rig.type_keys("cd");
    assert_eq!(rig.rows(0..6), ["red beets", "a", "a", "b", "cd", "leek"]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn what_stands_behind_the_cursor_goes_to_the_new_row() {
    let mut rig = rig(Editor { column: 5, ..Editor::new(&["  onetwo", "three"], 0) });
    type_slowly(&mut rig, "s\ra\rb");
    assert_eq!(rig.rows(0..4), ["  ones", "  a", "  btwo", "three"]);
    rig.type_keys("\rc");
    assert_eq!(rig.rows(0..5), ["  ones", "  a", "  b", "  ctwo", "three"]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_text_moves_up_where_it_was_seen_to() {
    let mut rig = rig(Editor::new(&["1", "2", "3", "4", "5", "6", "7", "8"], 7));
    type_slowly(&mut rig, "s\ra\ra\ra\ra\ra\ra");
    assert_eq!(rig.cursor(), (13, 1));
    type_slowly(&mut rig, "\rb");
    assert_eq!(rig.cursor(), (13, 1));
    rig.type_keys("\rc\rd");
    assert_eq!(rig.rows(10..14), ["a", "b", "c", "d"]);
    assert_eq!(rig.cursor(), (13, 1));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn line_numbers_go_on() {
    for numbers in [Numbers::Absolute, Numbers::Relative] {
        let editor = Editor { numbers, ..Editor::new(&["a", "b", "c", "d", "e"], 1) };
        let mut rig = rig(editor);
        type_slowly(&mut rig, "x\ry\rz");
        rig.type_keys("\r");
        let shown = rig.rows(0..6);
        assert_eq!(rig.cursor(), (4, 4));
        rig.settle();
        assert_eq!(rig.rows(0..6), shown);
        rig.type_keys("w\rv");
        let shown = rig.rows(0..6);
        rig.assert_converges();
        assert_eq!(rig.rows(0..6), shown);
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn a_new_row_is_indented_as_others_were() {
    for (indents, column) in [(true, 4), (false, 0)] {
        let lines = ["    one", "two"];
        let mut rig = rig(Editor { indents, ..Editor::new(&lines, 0) });
        type_slowly(&mut rig, "s");
        for _ in 0..2 {
            type_slowly(&mut rig, "\r");
            if !indents {
                type_slowly(&mut rig, "    ");
            }
            type_slowly(&mut rig, "x");
        }
        rig.type_keys("\r");
        assert_eq!(rig.cursor(), (3, column));
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn what_is_typed_behind_an_enter_that_leaves_the_text_is_taken_back_and_not_seen_again() {
    let editor = Editor { leaves: Some("bye"), ..Editor::new(&["one", "two"], 0) };
    let mut rig = rig(editor);
    type_slowly(&mut rig, "s\ra\rb\rbye");
    rig.type_keys("\r");
    rig.settle();
    let before = rig.rows(0..6);
    rig.type_keys("secret");
    rig.settle();
    assert_eq!(rig.rows(0..6), before);
    rig.type_keys("secret");
    assert_eq!(rig.rows(0..6), before);
    rig.assert_converges();
}

#[test]
fn behind_a_line_that_may_ask_for_a_secret_nothing_is_seen() {
    let editor = Editor { leaves: Some("sudo"), ..Editor::new(&["one", "two"], 0) };
    let mut rig = rig(editor);
    type_slowly(&mut rig, "s\ra\rb\rsudo ls");
    rig.type_keys("\rsesame");
    assert!(!rig.rows(0..6).concat().contains("se"), "{:?}", rig.rows(0..6));
    rig.run(2 * Rig::ONE_WAY + 20);
    rig.type_keys("sesame");
    assert!(!rig.rows(0..6).concat().contains("se"), "{:?}", rig.rows(0..6));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn what_shows_no_answer_to_enter_is_no_text() {
    let mut rig = Rig::new(SilentProgram("\x1b[?1049h\x1b[H\x1b[7m title \x1b[m\r\n"));
    for _ in 0..4 {
        rig.type_keys("\rab");
        assert_eq!(rig.cursor(), (1, 0));
        rig.settle();
    }
    rig.assert_converges();
}

/// Echoes lines on the whole screen, but for the fourth one and those behind it.
struct Form(usize);

impl Program for Form {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[H\x1b[7m title \x1b[m\r\n".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        match key {
            b'\r' => {
                self.0 += 1;
                (0, b"\r\n".to_vec())
            }
            _ if self.0 > 2 => (0, Vec::new()),
            _ => (0, vec![key]),
        }
    }
}

#[test]
fn where_enter_moves_no_text_nothing_is_seen_behind_it() {
    let mut rig = Rig::new(Form(0));
    for line in ["ada", "rome", "relay"] {
        type_slowly(&mut rig, line);
        let before = rig.cursor();
        rig.type_keys("\r");
        assert_eq!(rig.cursor(), before);
        rig.settle();
    }
    rig.type_keys("sesame");
    assert!(!rig.rows(0..8).concat().contains("se"), "{:?}", rig.rows(0..8));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
