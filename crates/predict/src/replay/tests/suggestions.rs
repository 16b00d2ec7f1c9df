//! Shells that suggest the rest of a line.

use rove_terminal::{Size, char_width};

use super::rig::{Program, Rig};
use crate::policy::Preference;

/// A shell that suggests the rest of the first known line that begins with the input.
struct Suggester {
    lines: &'static [&'static str],
    /// The colour sequence of suggestions.
    pen: &'static str,
    /// Whether the shell suggests text again that the user has erased.
    regrows: bool,
    line: String,
    cursor: usize,
    suggestion: String,
    sequence: Vec<u8>,
}

impl Suggester {
    fn new(lines: &'static [&'static str]) -> Self {
        Self {
            lines,
            pen: "\x1b[90m",
            regrows: true,
            line: String::new(),
            cursor: 0,
            suggestion: String::new(),
            sequence: Vec::new(),
        }
    }

    fn suggest(&mut self) {
        let rest = |line: &&str| line.strip_prefix(&self.line).map(str::to_owned);
        let found = self.lines.iter().find_map(rest).filter(|_| !self.line.is_empty());
        self.suggestion = found.unwrap_or_default();
    }

    fn press(&mut self, key: u8) {
        match key {
            b'C' | 0x05 if self.cursor == self.line.len() => {
                self.line.push_str(&core::mem::take(&mut self.suggestion));
                self.cursor = self.line.len();
            }
            b'C' => self.cursor += 1,
            b'D' => self.cursor = self.cursor.saturating_sub(1),
            0x7f if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
                self.suggest();
                if !self.regrows {
                    self.suggestion.clear();
                }
            }
            b'\r' => {
                self.line.clear();
                self.suggestion.clear();
                self.cursor = 0;
            }
            b' '..=b'~' => {
                self.line.insert(self.cursor, char::from(key));
                self.cursor += 1;
                self.suggest();
            }
            _ => {}
        }
    }
}

impl Program for Suggester {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.sequence.push(key);
        let is_sequence = self.sequence[0] == 0x1b;
        if is_sequence && self.sequence.len() < 3 {
            return (0, Vec::new());
        }
        // The last byte identifies the key, because no test types the letters that end a sequence.
        self.sequence.clear();
        self.press(key);
        let before = if key == b'\r' { "\r\n" } else { "" };
        let (line, pen, suggestion) = (&self.line, self.pen, &self.suggestion);
        let before_cursor = self.line[..self.cursor].chars();
        let column = 3 + before_cursor.map(char_width).sum::<u16>();
        let output = format!("{before}\r\x1b[K> {line}{pen}{suggestion}\x1b[m\x1b[{column}G");
        (0, output.into_bytes())
    }
}

/// Types keys one by one, and asserts what the user sees at once after each.
fn assert_shows(rig: &mut Rig, steps: &[(&str, &str, u16)]) {
    for (key, row, column) in steps {
        rig.type_keys(key);
        assert_eq!((rig.row(), rig.column()), ((*row).into(), *column), "{}", key.escape_debug());
    }
}

#[test]
fn a_program_that_does_not_suggest_again_what_was_taken_back_is_learned() {
    let program = Suggester { regrows: false, ..Suggester::new(&["grep -n apple"]) };
    let mut rig = Rig::new(program);
    rig.type_keys("grep");
    rig.run_until_idle();
    rig.type_keys("\x7f");
    assert_eq!(rig.row(), "> gre");
    rig.run_until_idle();
    assert_shows(&mut rig, &[("\x7f", "> gr", 4), ("\x7f", "> g", 3), ("x", "> gx", 4)]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_program_that_suggests_again_what_was_taken_back_is_learned() {
    let mut rig = Rig::new(Suggester::new(&["grep -n apple"]));
    rig.prove("grep");
    rig.prove("\x7f");
    assert_shows(&mut rig, &[("\x7f", "> grep -n apple", 4), ("\x7f", "> grep -n apple", 3)]);
    // A character that does not continue the suggested line ends the suggestion.
    assert_shows(&mut rig, &[("r", "> grep -n apple", 4), ("x", "> grx", 5)]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_suggestion_that_was_typed_is_told_from_one_that_was_not_by_its_colour() {
    for keys in ["rep\x1b[D\x1b[D", "rep\x1b[D\x1b[D\x1b[D", "gxx\x1b[D", "abc\x1b[D"] {
        let mut rig = Rig::new(Suggester::new(&["grep -n apple"]));
        rig.prove("g");
        rig.batch = 2;
        rig.type_keys(keys);
        rig.run(2 * Rig::ONE_WAY);
        assert_eq!(rig.wrong_millis(), 0, "{keys:?}");
    }
}

/// A program that shows a grey hint about missing arguments after the input.
struct Hinter(String);

impl Program for Hinter {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == 0x7f {
            self.0.pop();
        } else {
            self.0.push(char::from(key));
        }
        let output = format!("\r\x1b[K> {}\x1b[90m [key]\x1b[m\x1b[{}G", self.0, 3 + self.0.len());
        (0, output.into_bytes())
    }
}

#[test]
fn a_hint_that_stays_behind_what_is_typed_is_not_erased_each_time_anew() {
    let mut rig = Rig::new(Hinter(String::new()));
    rig.prove("s");
    assert_shows(&mut rig, &[("e", "> se", 4)]);
    rig.run_until_idle();
    assert_eq!(rig.row(), "> se [key]");
    // The hint will move to an unknown place, and stays where it is until then.
    assert_shows(&mut rig, &[("t", "> set[key]", 5), (" ", "> set key]", 6)]);
    rig.run_until_idle();
    assert_eq!(rig.row(), "> set  [key]");
    rig.prove("\x7f");
    assert_shows(&mut rig, &[("\x7f", "> set [key]", 4)]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_key_that_accepts_a_suggestion_is_seen_once_it_has_done_so() {
    for key in ["\x1b[C", "\x05"] {
        let mut rig = Rig::new(Suggester::new(&["grep -n apple"]));
        for columns in [[3, 3], [3, 15]] {
            rig.type_keys("g");
            rig.run_until_idle();
            rig.type_keys(key);
            assert_eq!(rig.column(), columns[1], "{}", key.escape_debug());
            rig.assert_converges();
            assert_eq!(rig.column(), 15);
            assert_shows(&mut rig, &[("s", "> grep -n apples", 16)]);
            rig.run_until_idle();
            rig.type_keys("\r");
            rig.run_until_idle();
            assert_eq!(rig.column(), 2);
        }
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn an_accepted_suggestion_shows_characters_of_two_columns_or_code_points_whole() {
    for (lines, row, column) in [
        (&["grep 港の灯台"], "> grep 港の灯台", 15),
        (&["grep e\u{301}te\u{301}"], "> grep e\u{301}te\u{301}", 10),
    ] {
        let mut rig = Rig::new(Suggester::new(lines));
        rig.prove("g\x1b[C\r");
        rig.prove("g");
        assert_shows(&mut rig, &[("r", row, 4), ("\x1b[C", row, column)]);
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

/// A shell whose input continues in the next row, and which suggests the rest of one line there.
struct LongSuggester(String);

impl Program for LongSuggester {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let Self(line) = self;
        line.push(char::from(key));
        let rest = "abcdefghijklm".strip_prefix(line.as_str()).filter(|rest| rest.len() < 4);
        let edge = if line.len() == 10 { " \r" } else { "" };
        let (c, rest) = (char::from(key), rest.unwrap_or_default());
        (0, format!("\x1b[K{c}{edge}\x1b7\x1b[90m{rest}\x1b[m\x1b8").into_bytes())
    }
}

#[test]
fn a_suggestion_in_a_lower_row_of_the_input_is_no_input_either() {
    for (key, row) in [("l", "klm"), ("x", "kx")] {
        let size = Size::new(12, 4).unwrap();
        let mut rig = Rig::sized(size, Preference::Always, LongSuggester(String::new()));
        for key in "abcdefghijk".chars() {
            rig.prove(&key.to_string());
        }
        assert_eq!((rig.row(), rig.column()), ("klm".into(), 1));
        assert_shows(&mut rig, &[(key, row, 2)]);
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}
