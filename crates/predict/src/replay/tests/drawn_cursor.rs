//! Programs that hide the terminal's cursor and draw their own.

use rove_terminal::{Attributes, Position, Size};

use super::rig::{Program, Rig};
use crate::policy::Preference;

/// A prompt in a box, as Ink draws it. Each key redraws all of it, and the terminal's hidden cursor is below it.
#[derive(Default)]
struct Chat {
    text: String,
    at: usize,
    /// Whether the program shows a star for each character.
    is_masked: bool,
    sequence: Vec<u8>,
}

impl Chat {
    fn draw(&self) -> String {
        let Self { text, at, .. } = self;
        let shown = if self.is_masked { "*".repeat(text.len()) } else { text.clone() } + " ";
        let (left, cursor, right) = (&shown[..*at], &shown[*at..=*at], &shown[at + 1..]);
        let (line, blanks) = ("\u{2500}".repeat(28), " ".repeat(25 - text.len()));
        let count = text.len();
        format!(
            "\u{256d}{line}\u{256e}\r\n\u{2502}> {left}\x1b[7m{cursor}\x1b[m{right}{blanks}\u{2502}\r\n\
             \u{2570}{line}\u{256f}\r\n  {count} characters\r\n"
        )
    }
}

impl Program for Chat {
    fn start(&mut self) -> Vec<u8> {
        format!("\x1b[?25l{}", self.draw()).into_bytes()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.sequence.push(key);
        if self.sequence[0] == 0x1b && self.sequence.len() < 3 {
            return (0, Vec::new());
        }
        match core::mem::take(&mut self.sequence)[..] {
            [0x1b, _, b'D'] => self.at = self.at.saturating_sub(1),
            [0x1b, _, b'C'] => self.at = self.text.len().min(self.at + 1),
            [0x7f] if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            [c @ b' '..=b'~'] => {
                self.text.insert(self.at, char::from(c));
                self.at += 1;
            }
            _ => {}
        }
        (0, format!("\x1b[4A\x1b[J{}", self.draw()).into_bytes())
    }
}

fn rig(program: Chat) -> Rig {
    Rig::wary(Size::new(30, 8).unwrap(), Preference::Adaptive, program)
}

/// Returns the input's row as the user sees it, and its columns in reverse video, which erased cells do not show.
fn input(rig: &Rig) -> (String, Vec<u16>) {
    let is_inverse = |column: &u16| {
        let glyph = rig.frame.glyph(Position { row: 1, column: *column }).unwrap();
        glyph.cell.base.is_some() && glyph.cell.pen.attributes.contains(Attributes::INVERSE)
    };
    let text = rig.rows(1..2).remove(0);
    let text = text.trim_matches(['\u{2502}', ' ']).to_owned();
    (text, (0..30).filter(is_inverse).collect())
}

#[test]
fn text_moves_a_cursor_that_the_program_draws_and_leaves_the_hidden_one() {
    let mut rig = rig(Chat::default());
    rig.type_keys("ab");
    assert_eq!(input(&rig), (">".to_owned(), vec![3]), "nothing was echoed yet");
    rig.run_until_idle();
    for (keys, text, column) in [
        ("cd", "> abcd", 7),
        ("\x7f", "> abc", 6),
        ("\x1b[D", "> abc", 5),
        ("x", "> abxc", 6),
        ("\x1b[C", "> abxc", 7),
    ] {
        rig.type_keys(keys);
        assert_eq!(input(&rig), (text.to_owned(), vec![column]), "{}", keys.escape_debug());
        assert_eq!((rig.cursor(), rig.frame.cursor().visible), ((4, 0), false));
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_number_that_counts_the_characters_is_counted_on() {
    let mut rig = rig(Chat::default());
    for key in ["a", "b", "c"] {
        rig.prove(key);
    }
    for (keys, count) in [
        ("defghi", "  9 characters"),
        ("jk", "  11 characters"),
        ("\x7f\x7f\x7f", "  8 characters"),
    ] {
        rig.type_keys(keys);
        assert_eq!(rig.rows(3..4), [count], "{}", keys.escape_debug());
    }
    rig.assert_converges();
}

#[test]
fn characters_that_stars_stand_for_are_never_shown() {
    let mut rig = rig(Chat { is_masked: true, ..Chat::default() });
    for keys in ["hu", "nt", "er", "2"] {
        rig.type_keys(keys);
        assert!(!input(&rig).0.contains(keys), "{:?}", input(&rig));
        rig.run_until_idle();
        assert!(input(&rig).0.ends_with('*'));
    }
    rig.assert_converges();
}

#[test]
fn a_longer_mark_is_no_cursor_and_two_single_ones_are_none() {
    for (marks, text) in [("\x1b[7mab\x1b[m", "> abcd"), ("\x1b[7ma\x1b[m b", "> abc")] {
        let mut rig = rig(Chat::default());
        rig.prove("abc");
        rig.print(format!("\x1b[s\x1b[7;1H{marks}\x1b[u").as_bytes());
        rig.run_until_idle();
        rig.type_keys("d");
        assert_eq!(input(&rig).0, text, "{}", marks.escape_debug());
    }
}
