//! Scripted sessions: a user, an engine, a path and a program, in virtual time.

mod barriers;
mod drawn_cursor;
mod edges;
mod editors;
mod fields;
mod flash;
mod history;
mod kernel;
mod mask;
mod modes;
mod navigation;
mod paint;
mod paste;
mod preview;
mod rig;
mod secrets;
mod suggestions;
mod wide;
mod words;

use rig::{Program, Rig, Shell, SilencedShell, SilentProgram, SlowShell, SuggestingShell};
use rove_terminal::Size;

use super::log;
use crate::engine::Engine;
use crate::policy::Preference;

/// At first the engine knows no prompt.
#[test]
fn the_first_key_ever_is_hidden_and_the_next_ones_are_seen_at_once() {
    let mut rig = Rig::new(Shell::new("$ "));
    rig.type_keys("l");
    assert_eq!(rig.row(), "$");
    rig.run_until_idle();
    for (key, row) in [("s", "$ ls"), (" ", "$ ls"), ("x", "$ ls x"), ("\x7f", "$ ls")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_prompt_seen_before_needs_no_new_proof() {
    let mut rig = Rig::new(Shell::new("ada@relay:~$ "));
    rig.type_keys("ls");
    rig.run_until_idle();
    rig.type_keys("\r");
    rig.run_until_idle();
    rig.type_keys("c");
    assert_eq!(rig.row(), "ada@relay:~$ c");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_prompt_is_believed_behind_three_lines_and_not_behind_two() {
    let shell = Shell::new("\x1b[?2004h$ ");
    let mut rig = Rig::wary(Size::new(40, 8).unwrap(), Preference::Always, shell);
    for row in ["$", "$", "$", "$ l"] {
        rig.type_keys("l");
        assert_eq!(rig.row(), row);
        rig.run_until_idle();
        rig.type_keys("s\r");
        rig.run_until_idle();
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn an_experiment_shows_every_key_and_takes_back_those_without_an_echo() {
    let size = Size::new(40, 8).unwrap();
    let mut rig = Rig::wary(size, Preference::Experimental, SilentProgram("Your name: "));
    rig.type_keys("jk");
    assert_eq!(rig.row(), "Your name: jk");
    assert!(!rig.engine.has_no_secret());
    rig.assert_converges();
    assert_eq!(rig.row(), "Your name:");
}

#[test]
fn another_clients_key_ends_every_permission_and_its_echo_proves_nothing() {
    let shell = Shell::new("\x1b[?2004h$ ");
    let mut rig = Rig::wary(Size::new(40, 8).unwrap(), Preference::Always, shell);
    for _ in 0..3 {
        rig.prove("l");
        rig.prove("s\r");
    }
    rig.type_keys("a");
    assert_eq!(rig.row(), "$ a");
    rig.run_until_idle();
    rig.type_keys("b");
    assert_eq!(rig.row(), "$ ab");
    rig.let_another_type();
    assert_eq!(rig.row(), "$ a");
    // The echo of these keys may belong to keys of the other client.
    for (key, row) in [("c", "$ a"), ("d", "$ abc")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
        rig.run(600);
    }
    rig.run_until_idle();
    for (key, row) in [("e", "$ abcd"), ("f", "$ abcdef")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
        rig.run_until_idle();
    }
    // The engine no longer doubts the prompt.
    rig.prove("\r");
    rig.type_keys("g");
    assert_eq!(rig.row(), "$ g");
}

/// A program that echoes nothing. After `key` it prints its prompt again in the next row.
struct Silent {
    prompt: &'static str,
    key: u8,
}

impl Program for Silent {
    fn start(&mut self) -> Vec<u8> {
        self.prompt.into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let prompt = format!("\r\n{}", self.prompt);
        (0, if key == self.key { prompt.into() } else { Vec::new() })
    }
}

#[test]
fn text_that_is_nowhere_on_the_screen_is_no_echo() {
    for keys in ["bc\x01", "bc\x01d", "b\x1b[D\x01", "a\x7f\x01", "a\x7f"] {
        let silent = Silent { prompt: "ann@mill:~$ ", key: 1 };
        let mut rig = Rig::wary(Size::new(40, 8).unwrap(), Preference::Always, silent);
        rig.type_keys(keys);
        rig.run_until_idle();
        for _ in 0..3 {
            rig.type_keys("x");
            assert_eq!(rig.row(), "ann@mill:~$", "{keys:?}");
            rig.run_until_idle();
        }
    }
}

#[test]
fn text_typed_before_the_prompt_returns_is_seen_with_it() {
    let mut rig = Rig::new(Shell::new("$ "));
    rig.type_keys("ls");
    rig.run_until_idle();
    rig.type_keys("\r");
    rig.run(100);
    rig.type_keys("pw");
    assert_eq!(rig.row(), "$ ls", "nothing is known of the row that they will be in");
    rig.run(2 * Rig::ONE_WAY - 100 + 1);
    assert_eq!(rig.row(), "$ pw", "the prompt is there, its echo is not");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// A program that echoes each byte.
struct Echo;

impl Program for Echo {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h$ ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (0, vec![key])
    }
}

#[test]
fn a_cluster_that_is_committed_at_once_is_seen_as_a_whole_or_not_at_all() {
    for cluster in
        ["e\u{301}", "\u{1f469}\u{200d}\u{1f680}", "\u{1f44d}\u{1f3fd}", "\u{915}\u{93e}"]
    {
        let mut rig = Rig::new(Echo);
        rig.prove("ab");
        rig.paste_keys(&format!("c{cluster}"));
        for _ in 0..3 * Rig::ONE_WAY {
            let row = rig.row();
            let whole = format!("$ abc{cluster}");
            assert!(["$ ab", "$ abc", &whole].contains(&row.as_str()), "{}", row.escape_unicode());
            rig.run(1);
        }
        assert_eq!(rig.row(), format!("$ abc{cluster}"));
    }
}

#[test]
fn keys_stay_within_the_input() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
    rig.prove("ls\r");
    rig.type_keys("ab");
    for (key, column) in [
        ("\x1b[C", 4),
        ("\x1b[D", 3),
        ("\x1b[D", 2),
        ("\x1b[D", 2),
        ("\x1b[C", 3),
        ("\x1b[C", 4),
        ("\x1b[C", 4),
        ("\x7f", 3),
        ("\x7f", 2),
        ("\x7f", 2),
    ] {
        rig.type_keys(key);
        assert_eq!(rig.column(), column, "{}", key.escape_debug());
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn text_is_inserted_and_taken_out_in_the_middle_of_a_line() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
    rig.prove("ls\r");
    rig.type_keys("hello\x1b[D\x1b[D");
    for (key, row) in [("x", "$ helxlo"), ("y", "$ helxylo"), ("\x7f", "$ helxlo")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

/// A shell that inserts the end of an unknown key's sequence as text, as zsh does.
struct TildeShell(Shell, Vec<u8>);

impl Program for TildeShell {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.1.push(key);
        let keys = match *self.1.as_slice() {
            [0x1b] | [0x1b, b'['] | [0x1b, b'[', b'4'] => return (0, Vec::new()),
            [0x1b, b'[', b'4', b'~'] => vec![b'~'],
            _ => self.1.clone(),
        };
        self.1.clear();
        (0, keys.into_iter().flat_map(|key| self.0.answer(key).1).collect())
    }
}

/// In a changed line, the cursor may by chance be at the position to which the key would have moved it.
#[test]
fn a_key_that_moves_is_not_learned_from_a_line_that_changed() {
    let mut rig = Rig::new(TildeShell(Shell::new("\x1b[?2004h$ "), Vec::new()));
    for _ in 0..3 {
        rig.type_keys("wr\x1b[D");
        rig.run_until_idle();
        rig.type_keys("\x1b[4~");
        assert_eq!((rig.row().as_str(), rig.column()), ("$ wr", 3));
        rig.run_until_idle();
        assert_eq!((rig.row().as_str(), rig.column()), ("$ w~r", 4));
        rig.type_keys("\r");
        rig.run_until_idle();
    }
    assert_eq!(rig.errors, 0);
}

#[test]
fn nothing_is_seen_of_what_is_not_echoed() {
    for prompt in ["Password: ", "? ", ""] {
        let mut rig = Rig::new(SilentProgram(prompt));
        for key in ["h", "u", "n", "t", "e", "r", "2"] {
            rig.type_keys(key);
            assert_eq!(rig.row(), prompt.trim_end());
            rig.run(60);
            assert_eq!(rig.row(), prompt.trim_end());
        }
        rig.assert_converges();
    }
}

#[test]
fn a_host_that_echoes_late_is_learned() {
    let mut rig = Rig::new(SlowShell::new("$ ", 300));
    rig.type_keys("a");
    rig.run_until_idle();
    let mut seen = 0;
    for count in 0..20 {
        rig.type_keys("x");
        seen += usize::from(rig.row().len() == "$ a".len() + count + 1);
        rig.run(400);
    }
    assert!(seen >= 16, "{seen} of 20 were seen at once");
    rig.assert_converges();
}

/// A shell that echoes each key after the milliseconds that the function returns.
struct Laggard(Shell, fn(u8) -> u64);

impl Laggard {
    /// Returns a session in which 20 keys were predicted correctly.
    fn known(delay: fn(u8) -> u64) -> Rig {
        let mut rig = Rig::new(Self(Shell::new("$ "), delay));
        (0..20).for_each(|_| rig.prove("a"));
        rig
    }
}

impl Program for Laggard {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        ((self.1)(key), self.0.answer(key).1)
    }
}

/// Asserts that the cursor's row has `len` characters and stays the same for a second, until the host shows it too.
fn assert_stays(rig: &mut Rig, len: usize) {
    let row = rig.row();
    assert_eq!(row.len(), len);
    for _ in 0..1000 {
        rig.run(1);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_key_that_is_seen_is_waited_for_longer_than_lost_frames_take() {
    for (key, len) in [("x", 23), ("\x7f", 21)] {
        let mut rig = Laggard::known(|key| if key == b'a' { 0 } else { 900 });
        rig.type_keys(key);
        assert_stays(&mut rig, len);
    }
}

#[test]
fn a_program_that_works_on_the_keys_before_is_waited_for() {
    let mut rig = Laggard::known(|key| if key == b'a' { 0 } else { u64::from(key - b'w') * 150 });
    rig.type_keys("xyz{");
    assert_stays(&mut rig, 26);
}

/// After an overdue echo, the program may have turned echo off.
#[test]
fn text_typed_after_an_echo_is_late_is_not_seen_before_it() {
    let mut rig = Laggard::known(|key| if key == b'x' { 340 } else { 0 });
    rig.type_keys("x");
    rig.run(2 * Rig::ONE_WAY + 50 + Rig::ONE_WAY);
    rig.type_keys("b");
    assert!(rig.row().ends_with("aax"), "{}", rig.row());
    rig.run(145);
    assert!(rig.row().ends_with("aaxb"), "{}", rig.row());
    rig.assert_converges();
}

#[test]
fn text_that_is_rubbed_out_is_not_taken_for_done_before_the_host_has_had_time() {
    let mut rig = Laggard::known(|key| if key == b'a' { 0 } else { 100 });
    rig.type_keys("x");
    rig.run(60);
    rig.type_keys("\x7f");
    rig.run(20);
    rig.type_keys("y");
    rig.run(135);
    rig.print(b"\x1b7\x1b[6;1H*\x1b8");
    assert_stays(&mut rig, 23);
}

/// The line is the same before a letter and after its Backspace. So an old screen looks like the newest one.
#[test]
fn a_host_that_is_slow_is_not_believed_to_be_suddenly_quick() {
    let mut rig = Rig::new(SlowShell::new("$ ", 300));
    rig.type_keys("a");
    rig.run_until_idle();
    for _ in 0..20 {
        rig.type_keys("x");
        rig.run(300);
    }
    rig.run_until_idle();
    let before = rig.row();
    let mut line = String::new();
    for key in ["t", "h", "e", "\x7f", "\x7f"] {
        rig.type_keys(key);
        if key == "\x7f" {
            line.pop();
        } else {
            line.push_str(key);
        }
        assert_eq!(rig.row(), format!("{before}{line}"));
        rig.run(40);
    }
    for _ in 0..200 {
        assert_eq!(rig.row(), format!("{before}{line}"));
        rig.run(10);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_program_that_contradicts_everything_leaves_nothing_behind() {
    let mut rig = Rig::new(Contradiction);
    for round in 0..40 {
        rig.type_keys(["a", "\x7f", "\x1b[D", "\r", "\t", "\x1b[C"][round % 6]);
        rig.run(u64::try_from(round).unwrap() * 7);
    }
    rig.assert_converges();
}

#[test]
fn text_taken_back_proves_nothing() {
    let mut rig = Rig::new(SilentProgram("> "));
    rig.type_keys("y\x7f");
    rig.run_until_idle();
    rig.type_keys("s");
    assert_eq!(rig.row(), ">");
    rig.assert_converges();
}

#[test]
fn a_prompt_is_not_believed_behind_a_line_that_turns_the_echo_off() {
    for (line, row) in [("stty -echo", "$"), ("stty sane", "$ s")] {
        let mut rig = Rig::new(SilencedShell::new("\x1b[?2004h$ "));
        rig.type_keys(line);
        rig.type_keys("\r");
        rig.run_until_idle();
        rig.type_keys("s");
        assert_eq!(rig.row(), row, "{line}");
        rig.assert_converges();
    }
}

#[test]
fn a_suggestion_stays_as_long_as_it_is_followed_and_goes_with_the_first_other_key() {
    let mut rig = Rig::new(SuggestingShell::new("hello world"));
    rig.type_keys("h");
    rig.run_until_idle();
    for (key, row) in
        [("e", "> hello world"), ("l", "> hello world"), ("x", "> helx"), ("y", "> helxy")]
    {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn predictions_move_with_their_row() {
    let mut rig = Rig::new(Shell::new("\x1b[?2004hada@relay:~$ "));
    rig.type_keys("ab");
    rig.run_until_idle();
    // A job prints above the line.
    rig.print(b"\r\x1b[Knews\r\nada@relay:~$ ab");
    rig.type_keys("cd");
    assert_eq!((rig.row(), rig.frame.cursor().row), ("ada@relay:~$ abcd".into(), 0));
    rig.run(Rig::ONE_WAY + 1);
    assert_eq!((rig.row(), rig.frame.cursor().row), ("ada@relay:~$ abcd".into(), 1));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn more_keys_than_are_kept_are_waited_for() {
    for count in [log::EVENTS_MAX, log::EVENTS_MAX + 1, 3 * log::EVENTS_MAX] {
        let mut rig = Rig::new(Shell::new("\x1b[?2004h$ "));
        rig.type_keys(&"ab\x7f".repeat(count / 3 + 1));
        rig.assert_converges();
        rig.type_keys("\r");
        rig.run_until_idle();
        rig.type_keys("x");
        rig.run_until_idle();
        rig.type_keys("y");
        assert_eq!(rig.row(), "$ xy", "{count} keys");
        rig.assert_converges();
    }
}

#[test]
fn a_screen_of_any_size_converges() {
    for (columns, rows) in [(1, 1), (1, 8), (2, 2), (40, 1), (3, 2)] {
        let size = Size::new(columns, rows).unwrap();
        let mut rig = Rig::sized(size, Preference::Always, Shell::new("\x1b[?2004h$ "));
        rig.type_keys("ab\x7f\x1b[D\x1b[Dc\x1b[Cd");
        rig.assert_converges();
        rig.type_keys("\rx");
        rig.assert_converges();
    }
}

#[test]
fn the_words_of_a_search_are_not_seen_where_the_cursor_is() {
    let mut rig = Rig::new(SilentProgram("\x1b[?2004h$ "));
    rig.print(b"\r\x1b[K(reverse-i-search)`': ");
    rig.type_keys("\x12b");
    for _ in 0..20 {
        assert!(!rig.row().contains("': b"), "{}", rig.row());
        rig.run(20);
    }
}

#[test]
fn nothing_is_seen_of_what_stars_stand_for() {
    let mut rig = Rig::new(Vault { asks: false });
    rig.type_keys("open\r");
    rig.run_until_idle();
    for key in ["s", "*", "3", "c", "*", "r"] {
        rig.type_keys(key);
        for _ in 0..60 {
            assert!(!rig.row().contains(['s', '3', 'c', 'r']), "{}", rig.row());
            rig.run(10);
        }
    }
    rig.assert_converges();
}

#[test]
fn a_key_after_an_escape_or_a_prefix_is_seen_once_it_is_known_to_be_text() {
    // The first is the Escape of vi mode, which moves the cursor; the second is Ctrl-K, as in joe.
    for (start, before) in [("\x1b[?2004h$ ", "\x1b"), ("\x1b[?1049h", "\x0b")] {
        let mut rig = Rig::new(Modal { start, takes_commands: false, takes_command: false });
        rig.type_keys("ab");
        rig.run_until_idle();
        rig.type_keys(before);
        rig.run_until_idle();
        let stands = rig.row();
        for command in ["b", "x"] {
            rig.type_keys(command);
            assert_eq!(rig.row(), stands, "{command} behind {before:?}");
            rig.run_until_idle();
            rig.type_keys(before);
            rig.run_until_idle();
        }
        rig.type_keys("i");
        rig.run_until_idle();
        rig.type_keys("c");
        rig.run_until_idle();
        rig.type_keys("d");
        assert!(rig.row().contains("cd"), "{} behind {before:?}", rig.row());
        rig.assert_converges();
        assert_eq!(rig.errors, 0);
    }
}

/// A line editor that reads keys after an Escape as commands until an `i`, and a single key after a Ctrl-K.
struct Modal {
    start: &'static str,
    takes_commands: bool,
    takes_command: bool,
}

impl Program for Modal {
    fn start(&mut self) -> Vec<u8> {
        self.start.into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let is_command = self.takes_commands || self.takes_command;
        self.takes_command = false;
        let output = match key {
            0x1b => {
                self.takes_commands = true;
                b"\x08".to_vec()
            }
            0x0b => {
                self.takes_command = true;
                Vec::new()
            }
            _ if is_command => {
                self.takes_commands &= key != b'i';
                Vec::new()
            }
            _ => [b"\x1b[@", &[key][..]].concat(),
        };
        (0, output)
    }
}

/// A shell that starts a program with a prompt like a line editor's. The program shows a star for each key.
struct Vault {
    asks: bool,
}

impl Program for Vault {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h$ ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let output = match key {
            b'\r' => b"\r\nvault> ".to_vec(),
            _ if self.asks => b"*".to_vec(),
            _ => vec![key],
        };
        self.asks |= key == b'\r';
        (0, output)
    }
}

/// A program that answers each key with other text in another place.
struct Contradiction;

impl Program for Contradiction {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        (0, format!("\x1b[{};{}Hq{key}\n", key % 9, key % 70).into_bytes())
    }
}

/// A shell whose Ctrl-A starts a program. The program reads Enter silently, draws the prompt again and asks for a
/// secret.
struct Pausing {
    shell: Shell,
    asks: bool,
}

impl Program for Pausing {
    fn start(&mut self) -> Vec<u8> {
        self.shell.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.asks |= key == 1;
        match key {
            b'\r' if self.asks => (0, [b"\r\n", &self.shell.start()[..]].concat()),
            _ if self.asks => (0, Vec::new()),
            _ => self.shell.answer(key),
        }
    }
}

#[test]
fn a_prompt_that_is_drawn_again_is_no_echo() {
    let shell = Pausing { shell: Shell::new("\x1b[?2004h$ "), asks: false };
    let mut rig = Rig::wary(Size::new(40, 12).unwrap(), Preference::Always, shell);
    for _ in 0..4 {
        rig.prove("l");
        rig.prove("s\r");
    }
    for keys in ["\x01", "\r"] {
        rig.prove(keys);
    }
    for key in ["x", "y", "z"] {
        rig.type_keys(key);
        assert_eq!(rig.row(), "$");
        rig.run(50);
    }
}

/// A shell that asks for a secret after each third line. Its Ctrl-A changes nothing.
struct Keeper {
    shell: Shell,
    lines: usize,
}

impl Program for Keeper {
    fn start(&mut self) -> Vec<u8> {
        self.shell.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.lines += usize::from(key == b'\r');
        match key {
            b'\r' if self.lines % 4 == 3 => (0, b"\r\nPassphrase: ".to_vec()),
            b'\r' => (0, [b"\r\n", &self.shell.start()[..]].concat()),
            _ if self.lines % 4 == 3 || key == 1 => (0, Vec::new()),
            _ => (0, vec![key]),
        }
    }
}

#[test]
fn the_first_line_after_an_answered_question_is_shown_at_once() {
    for (secret, is_shown) in [("qwe\x7f\x7f", true), ("qwe", true), ("qwe\x01", false)] {
        let shell = Keeper { shell: Shell::new("\x1b[?2004hada@mill$ "), lines: 0 };
        let mut rig = Rig::wary(Size::new(40, 12).unwrap(), Preference::Always, shell);
        for _ in 0..3 {
            rig.prove("l");
            rig.prove("s\r");
        }
        for key in secret.chars() {
            rig.prove(&key.to_string());
            assert_eq!(rig.row(), "Passphrase:");
        }
        rig.prove("\r");
        rig.type_keys("w");
        assert_eq!(rig.row() == "ada@mill$ w", is_shown, "{secret:?}");
    }
}
