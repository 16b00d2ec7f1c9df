//! Line editors that recall entered lines.

use rove_terminal::{Tty, TtyModes};
use rove_units::Seed;

use super::rig::{Program, Rig, SilentProgram};
use crate::engine::Engine;

/// How a shell's history treats entered lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// The shell keeps all lines.
    Keeps,
    /// The shell omits a line that equals the line before it.
    DropsDoubles,
    /// The shell keeps only the newest of equal lines.
    DropsAll,
    /// The shell recalls only lines that begin with the typed text.
    Searches,
    /// The shell also recalls lines of other sessions, one more with each prompt.
    Shares,
}

/// A shell that remembers lines.
struct Historian {
    habit: Habit,
    prompts: &'static [&'static str],
    /// How many prompts the shell has printed.
    count: usize,
    lines: Vec<String>,
    begun: String,
    at: usize,
    line: String,
    sequence: Vec<u8>,
}

impl Historian {
    fn new(habit: Habit, lines: &[&str]) -> Self {
        Self {
            habit,
            prompts: &["\x1b[?2004huser@host:~$ "],
            count: 0,
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            begun: String::new(),
            at: lines.len(),
            line: String::new(),
            sequence: Vec::new(),
        }
    }

    fn prompt(&self) -> &'static str {
        self.prompts[self.count % self.prompts.len()]
    }

    fn enter(&mut self) {
        let line = core::mem::take(&mut self.line);
        let is_double = self.lines.last() == Some(&line);
        if self.habit == Habit::DropsAll {
            self.lines.retain(|known| *known != line);
        }
        if !(line.is_empty() || self.habit == Habit::DropsDoubles && is_double) {
            self.lines.push(line);
        }
        if self.habit == Habit::Shares {
            self.lines.push(format!("make {}", self.count));
        }
        self.count += 1;
        self.at = self.lines.len();
    }

    fn step(&mut self, is_back: bool) {
        if self.at == self.lines.len() {
            self.begun.clone_from(&self.line);
        }
        let is_found =
            |line: &String| self.habit != Habit::Searches || line.starts_with(&self.begun);
        let found = if is_back {
            self.lines[..self.at].iter().rposition(is_found)
        } else {
            let rest = self.lines.iter().enumerate().skip(self.at + 1);
            rest.into_iter().find(|(_, line)| is_found(line)).map(|(at, _)| at)
        };
        match found {
            Some(at) => self.at = at,
            None if is_back => {}
            None => self.at = self.lines.len(),
        }
        self.line = self.lines.get(self.at).unwrap_or(&self.begun).clone();
    }
}

impl Program for Historian {
    fn start(&mut self) -> Vec<u8> {
        self.prompt().into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.sequence.push(key);
        if self.sequence[0] == 0x1b && self.sequence.len() < 3 {
            return (0, Vec::new());
        }
        let mut before = "\r\x1b[K";
        match core::mem::take(&mut self.sequence)[..] {
            [0x1b, _, b'A'] | [0x10] => self.step(true),
            [0x1b, _, b'B'] | [0x0e] => self.step(false),
            [b'\r'] => {
                self.enter();
                before = "\r\n";
            }
            [0x7f] => {
                self.line.pop();
            }
            // As with an input method, these keys insert a wide character and one of two code points.
            [b'@'] => self.line.push('港'),
            [b'%'] => self.line.push_str("e\u{301}"),
            [key] => self.line.push(char::from(key)),
            _ => {}
        }
        (0, format!("{before}{}{}", self.prompt(), self.line).into_bytes())
    }
}

/// How many random sessions are played with each kind of shell.
const SEEDS: u64 = 6;

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";

/// Enters lines, and waits for the answer to each before typing the next.
fn enter(rig: &mut Rig, lines: &[&str]) {
    for line in lines {
        rig.type_keys(line);
        rig.run_until_idle();
        rig.type_keys("\r");
        rig.run_until_idle();
    }
}

/// Types keys one by one, and waits for the answer to each.
fn press(rig: &mut Rig, keys: &[&str]) {
    for key in keys {
        rig.type_keys(key);
        rig.run_until_idle();
    }
}

/// Types keys one by one, and asserts which line the user sees at once after each.
fn assert_shows(rig: &mut Rig, steps: &[(&str, &str)]) {
    for (key, line) in steps {
        rig.type_keys(key);
        let row = format!("user@host:~$ {line}");
        assert_eq!(rig.row(), row.trim_end(), "{}", key.escape_debug());
        assert_eq!(usize::from(rig.column()), row.len(), "{}", key.escape_debug());
    }
}

#[test]
fn lines_come_back_at_once_where_two_did_before() {
    for key in [UP, "\x10"] {
        let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
        enter(&mut rig, &["ls", "make test", "cd src"]);
        assert_shows(&mut rig, &[(key, "")]);
        rig.run_until_idle();
        assert_shows(&mut rig, &[(key, "cd src")]);
        rig.run_until_idle();
        press(&mut rig, &["\x7f", "c", "\r"]);
        assert_shows(
            &mut rig,
            &[(key, "make tesc"), (key, "cd src"), (key, "make test"), ("x", "make testx")],
        );
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

#[test]
fn a_line_of_wide_characters_comes_back_as_it_was() {
    let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
    enter(&mut rig, &["ls", "make test"]);
    for key in ["l", "s", " ", "@", "@", "x", "\r"] {
        rig.prove(key);
    }
    enter(&mut rig, &["cd src", "pwd"]);
    press(&mut rig, &[UP, UP, DOWN, DOWN, UP, UP]);
    rig.type_keys(UP);
    assert_eq!(rig.row(), "user@host:~$ ls 港港x");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_letter_after_a_resize_costs_no_remembered_line_and_an_enter_costs_them() {
    for (key, is_kept) in [("b", true), ("\r", false)] {
        let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
        enter(&mut rig, &["ls", "make test", "cd src"]);
        press(&mut rig, &[UP, UP, "\r"]);
        rig.type_keys("a");
        rig.engine.reset();
        rig.type_keys(key);
        rig.run_until_idle();
        press(&mut rig, if is_kept { &["\x7f", "\x7f"] } else { &["c", "\x7f"] });
        rig.type_keys(UP);
        assert_eq!(rig.row() == "user@host:~$ make test", is_kept, "{key:?}: {}", rig.row());
        rig.assert_converges();
    }
}

#[test]
fn a_line_with_combining_characters_is_waited_for() {
    let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
    enter(&mut rig, &["ls", "make test"]);
    for key in ["l", "s", " ", "%", "x", "\r"] {
        rig.prove(key);
    }
    enter(&mut rig, &["cd src", "pwd"]);
    press(&mut rig, &[UP, UP, DOWN, DOWN, UP, UP]);
    rig.type_keys(UP);
    assert_eq!(rig.row(), "user@host:~$ cd src");
    rig.assert_converges();
    assert_eq!(rig.row(), "user@host:~$ ls e\u{301}x");
    assert_eq!(rig.errors, 0);
}

#[test]
fn the_empty_line_comes_back_and_what_was_begun_is_waited_for() {
    let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
    enter(&mut rig, &["ls", "make test"]);
    press(&mut rig, &[UP, UP, "\x7f", "\r"]);
    assert_shows(&mut rig, &[(UP, "l"), (UP, "make test"), (DOWN, "l"), (DOWN, ""), ("i", "i")]);
    // A shell may search its history for typed text.
    assert_shows(&mut rig, &[(UP, "i")]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn the_older_of_two_equal_lines_is_seen_once_it_came_back() {
    for (habit, older) in
        [(Habit::Keeps, "ls"), (Habit::DropsDoubles, "pwd"), (Habit::DropsAll, "pwd")]
    {
        let mut rig = Rig::new(Historian::new(habit, &[]));
        enter(&mut rig, &["make", "id", "pwd"]);
        press(&mut rig, &[UP, UP, UP, "x", "\r"]);
        enter(&mut rig, &["pwd", "ls", "ls"]);
        assert_shows(&mut rig, &[(UP, "ls"), (UP, "ls")]);
        rig.run_until_idle();
        press(&mut rig, &[DOWN, DOWN]);
        assert_shows(&mut rig, &[(UP, "ls"), (UP, older)]);
        rig.assert_converges();
        assert_eq!(rig.errors, 0, "{habit:?}");
    }
}

/// Types and recalls random lines, mostly before the last answer has come. Returns how many steps were shown at once,
/// and how many of these were wrong.
fn type_history(habit: Habit, seed: u64, prompts: &'static [&'static str]) -> (usize, usize) {
    let draws = Seed::new(seed).stream("history");
    let shell = || Historian { prompts, ..Historian::new(habit, &["old", "older"]) };
    let (mut rig, mut twin) = (Rig::new(shell()), shell());
    let (mut seen, mut wrong) = (0, 0);
    for number in 0..250 {
        let key = match draws.at(2 * number).below(16) {
            0..=4 => UP,
            5 | 6 => DOWN,
            7..=9 => "\r",
            10 => "\x7f",
            _ => {
                let letter = usize::try_from(draws.at(3_000 + number).below(22)).unwrap();
                &"abcdefghijklmnopqrstuvwxyz"[letter..letter + 1 + letter % 4]
            }
        };
        let before = rig.row();
        rig.type_keys(key);
        key.bytes().for_each(|byte| drop(twin.answer(byte)));
        if (key == UP || key == DOWN) && rig.row() != before {
            let row = format!("{}{}", twin.prompt().trim_start_matches("\x1b[?2004h"), twin.line);
            seen += 1;
            wrong += usize::from(rig.row() != row.trim_end());
        }
        match draws.at(2 * number + 1).below(3) {
            0 => {}
            1 => rig.run(100),
            _ => rig.run_until_idle(),
        }
    }
    rig.assert_converges();
    (seen, wrong)
}

#[test]
fn no_other_line_is_seen_than_comes_back() {
    // Where the prompt changes with each line, hardly any line is expected.
    const PROMPTS: [(&[&str], usize); 2] =
        [(&["\x1b[?2004huser@host:~$ "], 5), (&["\x1b[?2004hon main $ ", "\x1b[?2004h$ "], 0)];
    for habit in [Habit::Keeps, Habit::DropsDoubles, Habit::DropsAll, Habit::Searches] {
        for (prompts, fewest) in PROMPTS {
            let (mut seen, mut wrong) = (0, 0);
            for seed in 0..SEEDS {
                let (more, errors) = type_history(habit, seed, prompts);
                (seen, wrong) = (seen + more, wrong + errors);
            }
            assert!(seen >= fewest, "{habit:?}: only {seen} were seen");
            assert_eq!(wrong, 0, "{habit:?}: of {seen}");
        }
    }
}

#[test]
fn a_shell_with_lines_of_others_is_not_believed() {
    let runs = (0..SEEDS).map(|seed| type_history(Habit::Shares, seed, &["\x1b[?2004h$ "]));
    let wrong: usize = runs.map(|(_, wrong)| wrong).sum();
    assert!(wrong <= 1, "{wrong} lines were wrong");
}

fn has_hunter(rig: &Rig) -> bool {
    format!("{:?}", rig.engine.state.learned.history.lines).contains("hun")
}

#[test]
fn a_line_that_is_not_echoed_is_not_remembered() {
    for prompt in ["Password: ", "\x1b[?2004hvault> ", "? ", ""] {
        for haste in [0, 60, 2000] {
            let mut rig = Rig::new(SilentProgram(prompt));
            for key in ["h", "u", "n", "t", "e", "r", "2", "\r", UP, UP, "\r"] {
                rig.type_keys(key);
                rig.run(haste);
                assert!(!has_hunter(&rig), "{prompt}");
            }
            rig.assert_converges();
            assert!(!has_hunter(&rig), "{prompt}");
        }
    }
}

#[test]
fn a_line_typed_while_the_terminal_hides_it_is_not_remembered() {
    let tty = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };
    let mut rig = Rig::new(Historian::new(Habit::Keeps, &[]));
    enter(&mut rig, &["ls"]);
    rig.tell(tty);
    rig.type_keys("hunter2\r");
    rig.run_until_idle();
    assert!(!has_hunter(&rig));
}
