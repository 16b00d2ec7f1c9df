//! Line editors that bind the keys of Emacs, and others.

use super::rig::{Program, Rig};

/// A line editor's use of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// As readline does.
    Readline,
    /// Ctrl-U takes all of the line, and words end at signs.
    Zsh,
    /// Only the keys of the kernel do anything.
    Vi,
}

/// A line editor that draws its line anew with each key.
struct Editor {
    habit: Habit,
    prompts: &'static [&'static str],
    count: usize,
    line: Vec<u8>,
    cursor: usize,
}

impl Editor {
    fn new(habit: Habit) -> Self {
        let prompts = &["shell$ ", "psql> "];
        Self { habit, prompts, count: 0, line: Vec::new(), cursor: 0 }
    }

    fn word_start(&self) -> usize {
        let is_part = |byte: &u8| match self.habit {
            Habit::Zsh => byte.is_ascii_alphanumeric(),
            Habit::Readline | Habit::Vi => *byte != b' ',
        };
        let before = &self.line[..self.cursor];
        let end = before.iter().rposition(is_part).map_or(0, |last| last + 1);
        before[..end].iter().rposition(|byte| !is_part(byte)).map_or(0, |last| last + 1)
    }

    fn press(&mut self, key: u8) {
        let has_letters = self.habit != Habit::Vi;
        let end = self.line.len();
        match key {
            0x01 if has_letters => self.cursor = 0,
            0x05 if has_letters => self.cursor = end,
            0x0b if has_letters => self.line.truncate(self.cursor),
            0x15 if self.habit == Habit::Zsh => {
                self.line.clear();
                self.cursor = 0;
            }
            0x15 => {
                self.line.drain(..self.cursor);
                self.cursor = 0;
            }
            0x17 => {
                let start = self.word_start();
                self.line.drain(start..self.cursor);
                self.cursor = start;
            }
            b' '..=b'~' => {
                self.line.insert(self.cursor, key);
                self.cursor += 1;
            }
            _ => {}
        }
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        format!("\x1b[?2004h{}", self.prompts[0]).into_bytes()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let mut before = "\r\x1b[K";
        if key == b'\r' {
            self.line.clear();
            self.cursor = 0;
            self.count += 1;
            before = "\r\n";
        } else {
            self.press(key);
        }
        let prompt = self.prompts[self.count % self.prompts.len()];
        let line = String::from_utf8_lossy(&self.line);
        let column = prompt.len() + self.cursor + 1;
        (0, format!("{before}{prompt}{line}\x1b[{column}G").into_bytes())
    }
}

/// Types keys one by one and says what each shows at once.
fn assert_shows(rig: &mut Rig, steps: &[(&str, &str, u16)]) {
    for (key, row, column) in steps {
        rig.type_keys(key);
        assert_eq!((rig.row(), rig.column()), ((*row).into(), *column), "{}", key.escape_debug());
    }
}

#[test]
fn a_word_that_is_one_to_all_and_a_line_are_taken_out_at_once() {
    for habit in [Habit::Readline, Habit::Zsh, Habit::Vi] {
        let mut rig = Rig::new(Editor::new(habit));
        rig.type_keys("say hello");
        rig.settle();
        assert_shows(
            &mut rig,
            &[("\x17", "shell$ say", 11), ("you", "shell$ say you", 14), ("\x15", "shell$", 7)],
        );
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn what_is_a_word_to_some_only_is_waited_for() {
    for (habit, row) in [(Habit::Readline, "shell$ cd"), (Habit::Zsh, "shell$ cd a/")] {
        let mut rig = Rig::new(Editor::new(habit));
        rig.type_keys("cd a/b");
        rig.settle();
        assert_shows(&mut rig, &[("\x17", "shell$ cd a/b", 13)]);
        rig.settle();
        assert_eq!(rig.row(), row);
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn a_line_is_taken_out_in_its_middle_where_it_is_known_that_the_rest_stays() {
    for (habit, row) in [(Habit::Readline, "shell$ two"), (Habit::Zsh, "shell$")] {
        let mut rig = Rig::new(Editor::new(habit));
        rig.type_keys("two\x01");
        rig.settle();
        rig.type_keys("one ");
        rig.settle();
        assert_shows(&mut rig, &[("\x15", "shell$ one two", 11)]);
        rig.settle();
        assert_eq!(rig.row(), row);
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn who_binds_one_key_of_emacs_binds_all_here_and_at_other_prompts() {
    let mut rig = Rig::new(Editor::new(Habit::Readline));
    rig.type_keys("one two");
    rig.settle();
    assert_shows(&mut rig, &[("\x01", "shell$ one two", 14)]);
    rig.settle();
    assert_shows(&mut rig, &[("\x05", "shell$ one two", 14), ("\x01", "shell$ one two", 7)]);
    assert_shows(&mut rig, &[("\x0b", "shell$", 7)]);
    rig.settle();
    rig.type_keys("\r");
    rig.settle();
    rig.type_keys("one");
    rig.settle();
    rig.type_keys("s");
    assert_shows(&mut rig, &[("\x01", "psql> ones", 6), ("\x05", "psql> ones", 10)]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn who_binds_no_key_of_emacs_shows_no_other() {
    let mut rig = Rig::new(Editor::new(Habit::Vi));
    rig.type_keys("one two");
    rig.settle();
    for key in ["\x01", "\x05", "\x0b", "\x01"] {
        assert_shows(&mut rig, &[(key, "shell$ one two", 14)]);
        rig.settle();
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
