//! Characters of two columns, or of several code points.

use rig::{Program, Rig};

use super::{Echo, rig};

/// A line editor whose second line has wide characters from the beginning, with the cursor before them.
struct WideShell {
    line: String,
    before: String,
}

impl WideShell {
    fn draw(&self) -> Vec<u8> {
        let Self { before, line } = self;
        // The program sets the cursor: it goes back to the start and prints the text before the cursor again.
        format!("\r\x1b[K> {before}{line}\r> {before}").into_bytes()
    }
}

impl Program for WideShell {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        match key {
            b'\r' => {
                (self.before, self.line) = (String::new(), "港の灯台は静か lamp".to_owned());
                (0, [b"\r\n".to_vec(), self.draw()].concat())
            }
            0x7f => {
                self.before.pop();
                (0, self.draw())
            }
            key => {
                self.before.push(char::from(key));
                (0, self.draw())
            }
        }
    }
}

/// A shell whose recalled line has a word of wide characters, and whose Ctrl-W erases the last word.
struct WordShell(String);

impl Program for WordShell {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        match key {
            0x17 => self.0.truncate(self.0.trim_end().rfind(' ').map_or(0, |blank| blank + 1)),
            b'\t' => self.0 = "echo 港の灯台".to_owned(),
            key => self.0.push(char::from(key)),
        }
        (0, format!("\r\x1b[K> {}", self.0).into_bytes())
    }
}

#[test]
fn a_word_of_wide_characters_is_erased_whole() {
    let mut rig = Rig::new(WordShell(String::new()));
    rig.prove("ab cd\x17");
    rig.prove("\t");
    assert_eq!(rig.row(), "> echo 港の灯台");
    rig.type_keys("\x17");
    assert_eq!((rig.row(), rig.column()), ("> echo".to_owned(), 7));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn wide_characters_stay_when_they_are_moved_by_a_column() {
    let mut rig = Rig::new(WideShell { line: String::new(), before: String::new() });
    rig.prove("ls\r");
    for (key, row) in [
        ("x", "> x港の灯台は静か lamp"),
        ("y", "> xy港の灯台は静か lamp"),
        ("z", "> xyz港の灯台は静か lamp"),
        ("\x7f", "> xy港の灯台は静か lamp"),
        ("\x7f", "> x港の灯台は静か lamp"),
    ] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// The cluster before the cursor ends in a zero width joiner.
#[test]
fn a_character_that_joins_the_cluster_before_the_cursor_is_waited_for() {
    for (before, c, column) in [("\u{1f469}\u{200d}", "\u{1f680}", 6), ("e\u{301}", "x", 6)] {
        let mut rig = Rig::new(Echo);
        rig.draw_clusters();
        rig.prove("ab");
        rig.paste_keys(before);
        rig.run_until_idle();
        rig.paste_keys(c);
        assert_eq!(rig.column(), column, "{}", c.escape_unicode());
        rig.assert_converges();
        assert_eq!(rig.column(), column, "{}", c.escape_unicode());
    }
}
