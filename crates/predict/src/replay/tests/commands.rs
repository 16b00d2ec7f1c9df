//! Scripted sessions with programs that take keys for commands, some of which open a line of input.

use super::rig::{Program, Rig};
use crate::policy::Preference;

/// An editor with modes, of one line: `i` inserts, `:` opens a line, `f` and `r` take another key.
struct Vi {
    text: String,
    column: usize,
    mode: Mode,
    /// What the last row shows.
    message: String,
    has_modes: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Normal,
    /// What comes next belongs to a command.
    Pending,
    Insert,
    /// In the line below.
    Command,
}

impl Vi {
    fn new(text: &str) -> Self {
        let (text, message) = (text.to_owned(), "\"notes\" 1 line".to_owned());
        Self { text, column: 0, mode: Mode::Normal, message, has_modes: true }
    }

    fn press(&mut self, key: u8) {
        match (self.mode, key) {
            (Mode::Normal, b'i') => self.enter(Mode::Insert, "-- INSERT --"),
            (Mode::Normal, b'a') => {
                self.column = (self.column + 1).min(self.text.len());
                self.enter(Mode::Insert, "-- INSERT --");
            }
            (Mode::Normal, b':') => self.enter(Mode::Command, ":"),
            (Mode::Normal, b'f') => self.mode = Mode::Pending,
            (Mode::Normal, b'l') => self.column += 1,
            (Mode::Normal, b'\r') => self.column = self.text.len() - 1,
            (Mode::Pending, key) => {
                let found = self.text[self.column..].find(char::from(key));
                self.column += found.unwrap_or(0);
                self.mode = Mode::Normal;
            }
            (Mode::Insert, 0x1b) => {
                self.column = self.column.saturating_sub(1);
                self.enter(Mode::Normal, "");
            }
            (Mode::Insert, key) => {
                self.text.insert(self.column, char::from(key));
                self.column += 1;
            }
            (Mode::Command, 0x1b | b'\r') => self.enter(Mode::Normal, "done"),
            (Mode::Command, key) => self.message.push(char::from(key)),
            _ => {}
        }
    }

    fn enter(&mut self, mode: Mode, message: &str) {
        self.mode = mode;
        let is_shown = self.has_modes || mode == Mode::Command;
        self.message = if is_shown { message.to_owned() } else { String::new() };
    }

    fn paint(&self) -> Vec<u8> {
        let (row, column) = match self.mode {
            Mode::Command => (8, self.message.len() + 1),
            _ => (1, self.column + 1),
        };
        let (text, message) = (&self.text, &self.message);
        format!("\x1b[H{text}\x1b[K\x1b[8H{message}\x1b[K\x1b[{row};{column}H").into_bytes()
    }
}

impl Program for Vi {
    fn start(&mut self) -> Vec<u8> {
        [b"\x1b[?1049h\x1b[2;1H~\r\n~\r\n~".to_vec(), self.paint()].concat()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.press(key);
        (0, self.paint())
    }
}

fn vi(text: &str) -> Rig {
    Rig::with(Preference::Adaptive, Vi::new(text))
}

/// Types a key and lets it be answered.
fn settle(rig: &mut Rig, key: &str) {
    rig.type_keys(key);
    rig.settle();
}

#[test]
fn a_line_that_a_key_has_opened_before_opens_at_once() {
    let mut rig = vi("one two");
    settle(&mut rig, ":");
    settle(&mut rig, "set");
    settle(&mut rig, "\r");
    rig.type_keys(":");
    assert_eq!((rig.row().as_str(), rig.cursor()), (":", (7, 1)));
    rig.type_keys("wq");
    assert_eq!((rig.row().as_str(), rig.cursor()), (":wq", (7, 3)));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn what_is_typed_behind_it_comes_true_in_any_order() {
    let mut rig = vi("one two");
    for wait in [400, 310, 160, 20, 90, 0, 240] {
        rig.type_keys(":");
        rig.run(wait);
        rig.type_keys("s");
        rig.run(wait);
        rig.type_keys("et:");
        rig.run(wait);
        settle(&mut rig, "\r");
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn behind_a_key_without_effect_it_belongs_to_a_command() {
    let mut rig = vi("one: two");
    for _ in 0..2 {
        settle(&mut rig, ":");
        settle(&mut rig, "w\r");
    }
    settle(&mut rig, "f");
    rig.type_keys(":");
    assert_eq!((rig.row().as_str(), rig.cursor()), ("one: two", (0, 0)));
    rig.settle();
    assert_eq!(rig.cursor(), (0, 3));
    rig.type_keys(":");
    assert_eq!(rig.row(), ":");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn in_text_it_is_text() {
    let mut rig = vi("one");
    for _ in 0..2 {
        settle(&mut rig, ":");
        settle(&mut rig, "w\r");
    }
    settle(&mut rig, "i");
    rig.type_keys("a:b");
    assert_eq!(rig.row(), "a:bone");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_mode_that_a_key_has_begun_before_begins_at_once() {
    let mut rig = vi("one");
    settle(&mut rig, "l");
    settle(&mut rig, "i");
    settle(&mut rig, "vw");
    settle(&mut rig, "\x1b");
    rig.type_keys("i");
    assert_eq!(rig.rows(7..8), ["-- INSERT --"]);
    rig.type_keys("yz");
    assert_eq!((rig.row().as_str(), rig.cursor()), ("ovyzwne", (0, 4)));
    rig.settle();
    rig.type_keys("\x1b");
    assert_eq!((rig.rows(7..8), rig.cursor()), (vec![String::new()], (0, 3)));
    // Behind it the next key is the editor's own again.
    rig.type_keys("i");
    rig.type_keys("a");
    assert_eq!(rig.row(), "ovyazwne");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn in_another_program_it_is_believed_again_only_when_it_was_seen_there() {
    let mut rig = vi("one");
    for _ in 0..2 {
        settle(&mut rig, ":");
        settle(&mut rig, "w\r");
    }
    // A command that calls another one.
    settle(&mut rig, "\r");
    rig.type_keys(":");
    assert_eq!(rig.row(), "one");
    rig.settle();
    settle(&mut rig, "w\r");
    rig.type_keys(":");
    assert_eq!(rig.row(), ":");
    rig.assert_converges();
}

/// A program that asks for a passphrase when a key is pressed, every third time.
#[derive(Default)]
struct Asking {
    count: usize,
    is_open: bool,
}

impl Asking {
    fn is_secret(&self) -> bool {
        self.count.is_multiple_of(3)
    }
}

impl Program for Asking {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[Hinbox\r\n 1 letter\r\n 2 letter\x1b[2;1H".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let output = match (self.is_open, key) {
            (false, b'd') => {
                self.is_open = true;
                self.count += 1;
                let asks = if self.is_secret() { "Passphrase: " } else { "Pattern: " };
                format!("\x1b[8H{asks}\x1b[K").into_bytes()
            }
            (true, b'\r') => {
                self.is_open = false;
                b"\x1b[8H\x1b[K\x1b[2;1H".to_vec()
            }
            // Nothing is shown of a passphrase.
            (true, key) if !self.is_secret() => vec![key],
            _ => Vec::new(),
        };
        (0, output)
    }
}

#[test]
fn a_line_that_asks_for_a_secret_shows_nothing_of_it() {
    let mut rig = Rig::new(Asking::default());
    for _ in 0..7 {
        settle(&mut rig, "d");
        rig.type_keys("ab");
        assert!(!rig.row().starts_with("Passphrase: a"), "{}", rig.row());
        rig.settle();
        settle(&mut rig, "\r");
    }
    rig.assert_converges();
}

#[test]
fn what_has_changed_once_is_seen_again_before_it_is_shown() {
    let mut rig = Rig::new(Asking::default());
    for (time, shown) in [(1, ""), (2, ""), (3, "Pattern:"), (4, ""), (5, "")] {
        rig.type_keys("d");
        assert_eq!(rig.rows(7..8), [shown], "{time}");
        rig.settle();
        settle(&mut rig, "\r");
    }
    rig.assert_converges();
}
