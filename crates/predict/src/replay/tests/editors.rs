//! Scripted sessions with programs that edit text on the whole screen.

use super::rig::{Program, Rig, Shell};
use crate::policy::Preference;

/// An editor that shows a few lines above a bar.
struct Editor {
    lines: Vec<String>,
    row: usize,
    column: usize,
    sequence: Vec<u8>,
}

impl Editor {
    fn new(lines: &[&str]) -> Self {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Self { lines, row: 0, column: 0, sequence: Vec::new() }
    }

    fn draw(&self) -> Vec<u8> {
        let lines: String = self.lines.iter().map(|line| format!("{line}\x1b[K\r\n")).collect();
        let (row, column) = (self.row + 1, self.column + 1);
        format!("\x1b[H{lines}\x1b[J\x1b[8H\x1b[7m notes {:32}\x1b[m\x1b[{row};{column}H", "")
            .into_bytes()
    }

    fn go_to_row(&mut self, row: usize) {
        self.row = row.min(self.lines.len() - 1);
        self.column = self.column.min(self.lines[self.row].len());
    }

    /// Begins a row, indented as the one before.
    fn enter(&mut self) {
        let line = &mut self.lines[self.row];
        let indentation = line.len() - line.trim_start().len();
        let rest = " ".repeat(indentation) + &line.split_off(self.column);
        (self.row, self.column) = (self.row + 1, indentation);
        self.lines.insert(self.row, rest);
    }

    fn press(&mut self, key: u8, has_alt: bool) {
        let line = &mut self.lines[self.row];
        match key {
            0x7f if has_alt => {
                let words = line[..self.column].trim_end_matches(char::is_alphanumeric).len();
                line.drain(words..self.column);
                self.column = words;
            }
            // Backspace erases indentation by four columns.
            0x7f if line[..self.column].ends_with("    ") && line.trim().is_empty() => {
                self.column -= 4;
                line.drain(self.column..self.column + 4);
            }
            0x7f if self.column > 0 => {
                self.column -= 1;
                line.remove(self.column);
            }
            b' '..=b'~' => {
                line.insert(self.column, char::from(key));
                self.column += 1;
            }
            _ => {}
        }
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        [b"\x1b[?1049h".to_vec(), self.draw()].concat()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.sequence.push(key);
        match self.sequence[..] {
            [0x1b] | [0x1b, b'['] => return (0, Vec::new()),
            [0x1b, b'[', b'A'] => self.go_to_row(self.row.saturating_sub(1)),
            [0x1b, b'[', b'B'] => self.go_to_row(self.row + 1),
            [0x1b, b'[', b'C'] => self.column = self.lines[self.row].len().min(self.column + 1),
            [0x1b, b'[', b'H'] => self.column = 0,
            [0x1b, b'[', b'F'] => self.column = self.lines[self.row].len(),
            [0x1b, b'[', b'D'] => self.column = self.column.saturating_sub(1),
            [b'\r'] => self.enter(),
            [0x1b, key] => self.press(key, true),
            _ => self.press(key, false),
        }
        self.sequence.clear();
        (0, self.draw())
    }
}

/// A shell on a host that answers nothing for a while after it gets an `x`.
struct Hiccup {
    shell: Shell,
    /// For how many more milliseconds the host answers nothing.
    lag: u64,
}

impl Hiccup {
    const KEY_INTERVAL: u64 = 60;
}

impl Program for Hiccup {
    fn start(&mut self) -> Vec<u8> {
        self.shell.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.lag = if key == b'x' { 300 } else { self.lag.saturating_sub(Self::KEY_INTERVAL) };
        (self.lag, self.shell.answer(key).1)
    }
}

#[test]
fn an_effect_that_comes_late_is_told_from_one_that_never_comes() {
    let mut rig = Rig::new(Hiccup { shell: Shell::new("$ "), lag: 0 });
    for key in ["a", "b", "c", "x", "d", "e", "f", "g", "h", "\x7f", "\x7f"] {
        rig.type_keys(key);
        rig.run(Hiccup::KEY_INTERVAL);
    }
    rig.run_until_idle();
    for (key, row) in [("i", "$ abcxdefi"), ("\x7f", "$ abcxdef"), ("k", "$ abcxdefk")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// A shell that closes each opening bracket. While the flag is set, a typed closing bracket only moves the cursor.
struct Closer(Shell, bool);

impl Program for Closer {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let keys: &[u8] = match key {
            b'(' => b"()\x1b[D",
            b')' if self.1 => b"\x1b[C",
            _ => &[key],
        };
        self.1 = key == b'(' || self.1 && key != b')';
        (0, keys.iter().flat_map(|key| self.0.answer(*key).1).collect())
    }
}

#[test]
fn a_bracket_on_one_like_it_may_be_typed_over_it() {
    let mut rig = Rig::new(Closer(Shell::new("\x1b[?2004h> "), false));
    rig.prove("f");
    rig.prove("(");
    for (key, row) in [("x", "> f(x)"), (")", "> f(x)"), (";", "> f(x)")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.run_until_idle();
    assert_eq!(rig.row(), "> f(x);");
    // A closing bracket next to other characters is text.
    rig.type_keys(")");
    assert_eq!(rig.row(), "> f(x);)");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn escape_makes_another_key_of_the_next() {
    let mut rig = Rig::with(Preference::Adaptive, Editor::new(&["one two", ""]));
    rig.type_keys("\x1b[C\x1b[C\x1b[C");
    rig.run_until_idle();
    rig.type_keys(" abc");
    rig.run_until_idle();
    rig.type_keys("\x1b");
    rig.run_until_idle();
    rig.type_keys("\x7f");
    for _ in 0..60 {
        assert!(["one abc two", "one  two"].contains(&rig.row().as_str()), "{}", rig.row());
        rig.run(10);
    }
    rig.type_keys("d");
    rig.run_until_idle();
    // The Escape does not change a later Backspace.
    rig.type_keys("\x7f");
    assert_eq!(rig.row(), "one  two");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_key_that_was_wrong_once_is_believed_again() {
    let mut rig = Rig::with(Preference::Adaptive, Editor::new(&["", ""]));
    for key in ["a", "\x7f", " ", " ", " ", " ", "\x7f"] {
        rig.type_keys(key);
        rig.run_until_idle();
    }
    // Backspace erased all four blanks.
    assert_eq!(rig.column(), 0);
    for _ in 0..3 {
        rig.type_keys("abc");
        rig.run_until_idle();
        rig.type_keys("\x7f");
        rig.run_until_idle();
    }
    rig.type_keys("d\x7f");
    assert_eq!(rig.column(), 6);
    rig.assert_converges();
}

/// A full-screen program that reads lines without a prompt.
struct LineReader;

impl Program for LineReader {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[H".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (0, if key == b'\r' { b"\r\n".to_vec() } else { vec![key] })
    }
}

#[test]
fn each_row_of_a_text_needs_its_own_proof_where_no_mode_is_shown() {
    let mut rig = Rig::new(Editor::new(&["one", "two", "three", "four"]));
    for (keys, first, shown) in [
        ("\x1b[B", "a", "two"),
        ("\x1b[B", "b", "three"),
        ("\x1b[A", "c", "atwo"),
        ("\r", "d", "wo"),
    ] {
        rig.type_keys(keys);
        rig.run_until_idle();
        rig.type_keys(first);
        assert_eq!(rig.row(), shown, "{first}");
        rig.run_until_idle();
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_row_that_enter_has_begun_may_ask_for_a_secret() {
    let mut rig = Rig::new(LineReader);
    for text in ["a", "b", "c"] {
        rig.type_keys(text);
        assert_eq!(rig.row(), "");
        rig.run_until_idle();
        rig.type_keys("d\r");
        rig.run_until_idle();
    }
}

#[test]
fn a_key_that_moves_is_believed_once_it_has_shown_what_it_does() {
    let mut rig = Rig::new(Editor::new(&["one two", "three"]));
    rig.type_keys("a");
    rig.run_until_idle();
    for (key, column, shown) in
        [("\x1b[F", 8, 1), ("\x1b[H", 0, 8), ("\x1b[F", 8, 8), ("\x1b[H", 0, 0)]
    {
        rig.type_keys(key);
        assert_eq!(rig.column(), shown, "{}", key.escape_debug());
        rig.run_until_idle();
        assert_eq!(rig.column(), column);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// vi in replace mode, in one line.
struct Replacing {
    old: &'static str,
    typed: String,
}

impl Program for Replacing {
    fn start(&mut self) -> Vec<u8> {
        let old = self.old;
        format!("\x1b[?1049h\x1b[H{old}\x1b[8H-- REPLACE --\x1b[H").into_bytes()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == 0x7f {
            self.typed.pop();
        } else {
            self.typed.push(char::from(key));
        }
        let (typed, rest) = (&self.typed, &self.old[self.typed.len()..]);
        (0, format!("\x1b[H{typed}{rest}\x1b[1;{}H", typed.len() + 1).into_bytes())
    }
}

#[test]
fn text_that_stands_again_where_something_was_replaced_is_waited_for() {
    let mut rig = Rig::new(Replacing { old: "hedges", typed: String::new() });
    for (key, row, column) in
        [("a", "aedges", 1), ("b", "abdges", 2), ("\x7f", "abdges", 2), ("c", "abdges", 2)]
    {
        rig.type_keys(key);
        assert_eq!((rig.row().as_str(), rig.column()), (row, column), "{key:?}");
    }
    rig.assert_converges();
    assert_eq!((rig.row().as_str(), rig.column(), rig.errors), ("acdges", 2, 0));
}
