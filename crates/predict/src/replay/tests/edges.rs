//! Input that continues after the right edge of a row.

use proptest::prelude::*;

use super::rig::{Program, Rig};
use crate::policy::Preference;
use rove_terminal::{Screen, Size, Terminal};

/// How a program continues input at the right edge of its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// The cursor moves to the next row as soon as a row is full.
    Eager,
    /// The cursor moves to the next row only with the next character.
    Lazy,
    /// Rows that continue in the next row have a mark in their last column.
    Mark,
    /// Input never continues in the next row: the row scrolls sideways.
    Scroll,
}

/// A line editor that redraws all of its input for each key, in a pane of `columns` columns.
struct Editor {
    prompt: &'static str,
    /// The text at the start of each row after the first.
    lead: &'static str,
    left: usize,
    columns: usize,
    style: Style,
    /// Whether the pane's edge is the terminal's, so that the program leaves the wrapping to the terminal.
    wraps_itself: bool,
    line: Vec<u8>,
    cursor: usize,
    /// The row of the cursor and the last row, counted from the input's first row.
    row: usize,
    last: usize,
    sequence: Vec<u8>,
}

impl Editor {
    fn new(prompt: &'static str, columns: usize, style: Style) -> Self {
        Self {
            prompt,
            lead: "",
            left: 0,
            columns,
            style,
            wraps_itself: style != Style::Mark,
            line: Vec::new(),
            cursor: 0,
            row: 0,
            last: 0,
            sequence: Vec::new(),
        }
    }

    /// Applies a key to the line. Returns whether the key has ended the line.
    fn edit(&mut self, key: u8) -> bool {
        if key == 0x1b || !self.sequence.is_empty() {
            self.sequence.push(key);
            if self.sequence.len() < 3 {
                return false;
            }
            let is_right = key == b'C' && self.cursor < self.line.len();
            let is_left = key == b'D' && self.cursor > 0;
            self.cursor = self.cursor + usize::from(is_right) - usize::from(is_left);
            self.sequence.clear();
            return false;
        }
        match key {
            b'\r' => return true,
            0x01 => self.cursor = 0,
            0x02 => self.cursor = self.cursor.saturating_sub(1),
            0x05 => self.cursor = self.line.len(),
            0x0b => self.line.truncate(self.cursor),
            0x15 => {
                self.line.drain(..self.cursor);
                self.cursor = 0;
            }
            0x17 => {
                let end = self.cursor;
                let is_blank = |at: usize| self.line[at] == b' ';
                while self.cursor > 0 && is_blank(self.cursor - 1) {
                    self.cursor -= 1;
                }
                while self.cursor > 0 && !is_blank(self.cursor - 1) {
                    self.cursor -= 1;
                }
                self.line.drain(self.cursor..end);
            }
            0x7f if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            0x7f => {}
            byte => {
                self.line.insert(self.cursor, byte);
                self.cursor += 1;
            }
        }
        false
    }

    /// Returns the row and column of the character with this index in the line.
    fn at(&self, place: usize) -> (usize, usize) {
        let columns = self.columns - usize::from(self.style == Style::Mark);
        let place = place + self.prompt.len();
        if place < columns {
            return (0, place);
        }
        let rest = columns - self.lead.len();
        (1 + (place - columns) / rest, self.lead.len() + (place - columns) % rest)
    }

    fn draw(&mut self) -> Vec<u8> {
        let up = |rows: usize| if rows > 0 { format!("\x1b[{rows}A") } else { String::new() };
        let to = |column: usize| format!("\x1b[{}G", self.left + column + 1);
        let clear = format!("{}{}", to(0), " ".repeat(self.columns - 1));
        let mut output = up(self.row);
        if self.style == Style::Scroll {
            let from = (self.cursor + self.prompt.len()).saturating_sub(self.columns - 1);
            let shown: Vec<u8> = self.line.iter().skip(from).copied().collect();
            let room = self.columns - 1 - self.prompt.len();
            let shown = String::from_utf8_lossy(&shown[..shown.len().min(room)]).into_owned();
            let column = self.prompt.len() + self.cursor - from;
            return format!("{output}{clear}{}{}{shown}{}", to(0), self.prompt, to(column)).into();
        }
        for row in 0..=self.last {
            output += &format!("{clear} {}", if row < self.last { "\x1b[B" } else { "" });
        }
        output += &format!("{}{}{}", up(self.last), to(0), self.prompt);
        let next_row = |wraps| match (self.style, wraps) {
            (Style::Mark, true) => format!("\\\r\n{}{}", to(0), self.lead),
            // The terminal itself continues in the next row.
            _ if self.wraps_itself => String::new(),
            _ => format!("\r\n{}{}", to(0), self.lead),
        };
        let end = self.at(self.line.len());
        let (mut row, is_lazy) = (0, self.style != Style::Eager);
        for (place, byte) in self.line.iter().enumerate() {
            let (next, _) = self.at(place);
            if next > row {
                output += &next_row(true);
                row = next;
            }
            output.push(char::from(*byte));
        }
        if end.0 > row && !is_lazy {
            output += &next_row(false);
            output += if self.wraps_itself { " \r" } else { "" };
            row = end.0;
        }
        self.last = row;
        let waits = self.cursor == self.line.len() && is_lazy && self.cursor > 0;
        let cursor = match self.at(self.cursor) {
            (cursor, _) if waits && cursor > row => (row, self.columns - 1),
            cursor => cursor,
        };
        output += &up(row - cursor.0);
        output += &to(cursor.1);
        self.row = cursor.0;
        output.into()
    }
}

impl Program for Editor {
    fn start(&mut self) -> Vec<u8> {
        format!("\x1b[?2004h{}", self.prompt).into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if !self.edit(key) {
            return (0, if self.sequence.is_empty() { self.draw() } else { Vec::new() });
        }
        let has_rows = self.style != Style::Scroll;
        let rows = if has_rows { self.at(self.line.len()).0 - self.row } else { 0 };
        (self.line, self.cursor, self.row, self.last) = (Vec::new(), 0, 0, 0);
        let down = "\n".repeat(rows + 1);
        (0, format!("\r{down}{}", self.prompt).into())
    }
}

fn rig(columns: u16, rows: u16, style: Style) -> Rig {
    let size = Size::new(columns, rows).unwrap();
    Rig::sized(size, Preference::Always, Editor::new("$ ", usize::from(columns), style))
}

/// Types a line that continues in the next row and ends it. So the engine learns how the program continues it.
fn teach(rig: &mut Rig, columns: usize) {
    rig.type_keys(&"x".repeat(columns + 1));
    rig.run_until_idle();
    rig.type_keys("\r");
    rig.run_until_idle();
}

fn taught(columns: u16, rows: u16, style: Style) -> Rig {
    let mut rig = rig(columns, rows, style);
    teach(&mut rig, usize::from(columns));
    rig
}

/// Keys that teach the engine: after each was predicted correctly once, the engine shows such keys at once.
const LESSONS: [&str; 13] = [
    "a b", "\x01", "\x05", "\x02", "\x05", "\x17", "c", "\x15", "de", "\x02", "\x15", "\x05",
    "\x15",
];

/// Types keys one by one. Asserts after each which two rows (from `top` on) and which cursor the user sees.
fn assert_typed(rig: &mut Rig, top: u16, expected: &[(&str, [&str; 2], (u16, u16))]) {
    for (key, rows, cursor) in expected {
        rig.type_keys(key);
        let seen = rig.rows(top..top + 2);
        let key = key.escape_debug();
        assert_eq!((&seen[..], rig.cursor()), (&rows.map(String::from)[..], *cursor), "{key}");
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn nothing_is_seen_beyond_the_edge_before_it_was_seen_there_once() {
    let mut rig = rig(12, 8, Style::Eager);
    rig.prove("a");
    rig.type_keys("bcdefg");
    assert_eq!((rig.row(), rig.column()), ("$ abcdefg".into(), 9));
    rig.type_keys("hijk");
    assert_eq!((rig.row(), rig.column()), ("$ abcdefg".into(), 9), "some move the row sideways");
    rig.run_until_idle();
    assert_eq!((rig.row(), rig.column()), ("k".into(), 1));
    rig.type_keys("l");
    assert_eq!((rig.row(), rig.column()), ("kl".into(), 2), "the row goes on");
    rig.assert_converges();
    rig.type_keys("mnopqrstuv");
    assert_eq!((rig.row(), rig.column()), ("".into(), 0), "as it is known to");
    rig.type_keys("w");
    assert_eq!((rig.row(), rig.column()), ("w".into(), 1));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_line_is_edited_across_the_edge() {
    let mut rig = taught(12, 8, Style::Eager);
    rig.type_keys("abcdefghijkl");
    let steps = [
        ("\x7f", ["$ abcdefghij", "k"], (3, 1)),
        ("\x7f", ["$ abcdefghij", ""], (3, 0)),
        ("\x7f", ["$ abcdefghi", ""], (2, 11)),
        ("\x7f", ["$ abcdefgh", ""], (2, 10)),
        ("i", ["$ abcdefghi", ""], (2, 11)),
        ("j", ["$ abcdefghij", ""], (3, 0)),
        ("k", ["$ abcdefghij", "k"], (3, 1)),
        ("\x1b[D", ["$ abcdefghij", "k"], (3, 0)),
        ("\x1b[D", ["$ abcdefghij", "k"], (2, 11)),
        ("X", ["$ abcdefghiX", "jk"], (3, 0)),
        ("\x7f", ["$ abcdefghij", "k"], (2, 11)),
        ("\x1b[C", ["$ abcdefghij", "k"], (3, 0)),
    ];
    assert_typed(&mut rig, 2, &steps);
}

#[test]
fn inserted_text_moves_the_rest_to_the_next_row_and_back() {
    let mut rig = taught(12, 8, Style::Eager);
    rig.type_keys("abcdefgh\x1b[D\x1b[D");
    let steps = [
        ("X", ["$ abcdefXgh", ""], (2, 9)),
        ("Y", ["$ abcdefXYgh", ""], (2, 10)),
        ("Z", ["$ abcdefXYZg", "h"], (2, 11)),
        ("W", ["$ abcdefXYZW", "gh"], (3, 0)),
        ("V", ["$ abcdefXYZW", "Vgh"], (3, 1)),
        ("\x7f", ["$ abcdefXYZW", "gh"], (3, 0)),
        ("\x7f", ["$ abcdefXYZg", "h"], (2, 11)),
        ("\x7f", ["$ abcdefXYgh", ""], (2, 10)),
        ("\x7f", ["$ abcdefXgh", ""], (2, 9)),
    ];
    assert_typed(&mut rig, 2, &steps);
}

#[test]
fn keys_for_the_whole_line_take_all_of_its_rows() {
    let mut rig = taught(12, 8, Style::Eager);
    for key in LESSONS {
        rig.type_keys(key);
        rig.run_until_idle();
    }
    rig.type_keys("abc defgh ijklm");
    rig.run_until_idle();
    let steps = [
        ("\x01", ["$ abc defgh", "ijklm"], (2, 2)),
        ("\x05", ["$ abc defgh", "ijklm"], (3, 5)),
        ("\x17", ["$ abc defgh", ""], (3, 0)),
        ("\x17", ["$ abc", ""], (2, 6)),
        ("defgh ijk", ["$ abc defgh", "ijk"], (3, 3)),
        ("\x1b[D", ["$ abc defgh", "ijk"], (3, 2)),
        ("\x15", ["$ k", ""], (2, 2)),
        ("defgh ijklm", ["$ defgh ijkl", "mk"], (3, 1)),
        ("\x01", ["$ defgh ijkl", "mk"], (2, 2)),
    ];
    assert_typed(&mut rig, 2, &steps);
}

#[test]
fn at_the_bottom_all_rows_move_up() {
    let mut rig = rig(12, 4, Style::Eager);
    for line in ["one", "two", "three", "four"] {
        rig.type_keys(line);
        rig.type_keys("\r");
        rig.run_until_idle();
    }
    rig.type_keys("abcdefghi");
    rig.type_keys("j");
    assert_eq!(rig.rows(2..4), ["$ four", "$ abcdefg"], "it was never seen");
    rig.run_until_idle();
    rig.type_keys("kl\r");
    rig.run_until_idle();
    rig.type_keys("abcdefghi");
    rig.run_until_idle();
    let steps = [
        ("j", ["$ abcdefghij", ""], (3, 0)),
        ("k", ["$ abcdefghij", "k"], (3, 1)),
        ("\x7f", ["$ abcdefghij", ""], (3, 0)),
        ("\x7f", ["$ abcdefghi", ""], (2, 11)),
        ("J", ["$ abcdefghiJ", ""], (3, 0)),
    ];
    assert_typed(&mut rig, 2, &steps);
    assert_eq!(rig.rows(0..2), ["$ abcdefghij", "kl"]);
}

/// A shell whose line scrolls up when the text needs a second row. It redraws only after the text fits one row again.
struct Returner;

impl Program for Returner {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h\r\n\r\n\r\n$ ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let output = match key {
            b'h'..=b'j' => Vec::new(),
            0x7f => b"hij \r\x1b[A\x1b[12G\x1b[K".to_vec(),
            b'\r' => b"\r\n$ ".to_vec(),
            key => vec![key],
        };
        (0, output)
    }
}

#[test]
fn text_in_the_last_row_is_shown_after_a_line_has_moved_up_for_its_own_next_row() {
    let mut rig = Rig::sized(Size::new(12, 4).unwrap(), Preference::Always, Returner);
    rig.prove("abcdefg");
    rig.prove("hij\x7f");
    assert_eq!((rig.row(), rig.cursor()), ("$ abcdefghi".into(), (2, 11)));
    rig.prove("\r");
    rig.prove("xzw");
    assert_eq!(rig.cursor(), (3, 5));
    rig.type_keys("y");
    assert_eq!(rig.row(), "$ xzwy");
    rig.assert_converges();
}

#[test]
fn nothing_is_shown_beyond_the_edge_where_a_program_does_something_else_there() {
    let indented =
        Editor { lead: "... ", wraps_itself: false, ..Editor::new("$ ", 12, Style::Eager) };
    let others =
        [Style::Lazy, Style::Mark, Style::Scroll].map(|style| Editor::new("$ ", 12, style));
    for editor in others.into_iter().chain([indented]) {
        let style = editor.style;
        let mut rig = Rig::sized(Size::new(12, 8).unwrap(), Preference::Always, editor);
        teach(&mut rig, 12);
        rig.type_keys("abcdefghi");
        rig.run_until_idle();
        let top = if style == Style::Scroll { 1 } else { 2 };
        let before = ["$ abcdefghi", ""];
        assert_typed(&mut rig, top, &["j", "k", "l"].map(|key| (key, before, (top, 11))));
    }
}

/// A shell like mksh. When the line has as many characters as the second field says, it shows only the last twelve.
struct Sideways(Vec<u8>, usize);

impl Program for Sideways {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h$ ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == b'\r' {
            self.0.clear();
            return (0, b"\r\n$ ".to_vec());
        }
        self.0.push(key);
        let moved = self.0.len().checked_sub(12).filter(|_| self.0.len() == self.1);
        let moved = moved.map(|from| String::from_utf8_lossy(&self.0[from..]));
        (0, moved.map_or(vec![key], |it| format!("\r\x1b[K{it}\x1b[24G<\x1b[13G").into()))
    }
}

#[test]
fn a_line_that_moves_sideways_at_the_edge_was_echoed_and_its_prompt_stays_known() {
    let cases = (17..22).flat_map(|edge| [1, 2, 40].map(|piece| (edge, piece)));
    for (edge, piece, len) in
        cases.flat_map(|it| [0, 1, 2, 5].map(|past| (it.0, it.1, it.0 + past)))
    {
        let size = Size::new(24, 8).unwrap();
        let mut rig = Rig::wary(size, Preference::Always, Sideways(Vec::new(), edge));
        for line in ["ls", "ls", "ls", &"echo some words of a line"[..len.min(25)], "ls"] {
            let pieces = line.as_bytes().chunks(piece);
            pieces.for_each(|piece| rig.prove(core::str::from_utf8(piece).unwrap()));
            rig.prove("\r");
        }
        rig.type_keys("l");
        assert_eq!(rig.row(), "$ l", "{len} characters, {piece} a round trip, edge after {edge}");
        rig.assert_converges();
    }
}

#[test]
fn text_typed_over_an_unknown_edge_is_not_shown_a_second_time() {
    let mut rig = rig(14, 6, Style::Lazy);
    for key in LESSONS {
        rig.type_keys(key);
        rig.run_until_idle();
    }
    for key in ["some words of text", "k", "l", "some words of text", "d", "e"] {
        rig.type_keys(key);
        for _ in 0..220 {
            rig.run(1);
            let row = rig.frame.row_text(2);
            assert!("ords of textde".starts_with(&row), "{row:?}");
        }
    }
    rig.assert_converges();
}

/// A full-screen editor that marks rows which continue, and has text below its input.
struct Marking(Editor);

impl Program for Marking {
    fn start(&mut self) -> Vec<u8> {
        let start = self.0.start();
        [b"\x1b[?1049h\x1b[8Ha status\x1b[H".as_slice(), &start].concat()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.0.answer(key)
    }
}

#[test]
fn text_that_is_pushed_into_the_last_column_of_an_editor_is_waited_for() {
    let size = Size::new(12, 8).unwrap();
    let editor = Marking(Editor::new("  ", 12, Style::Mark));
    let mut rig = Rig::sized(size, Preference::Always, editor);
    for key in ["abcdefgh", "\x1b[D", "\x1b[D"] {
        rig.type_keys(key);
        rig.run_until_idle();
    }
    let steps = [("X", "  abcdefXgh"), ("Y", "  abcdefXgh")];
    assert_typed(&mut rig, 0, &steps.map(|(key, row)| (key, [row, ""], (0, 9))));
}

/// An editor in the left or right half of the screen, which a line divides.
struct Half(Editor);

impl Program for Half {
    fn start(&mut self) -> Vec<u8> {
        let rows = (1..=8).map(|row| format!("\x1b[{row};13H│"));
        let column = self.0.left + 1;
        format!("{}\x1b[?2004h\x1b[1;{column}H{}", rows.collect::<String>(), self.0.prompt).into()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        self.0.answer(key)
    }
}

#[test]
fn the_edge_is_that_of_the_pane() {
    for left in [0, 13] {
        let editor = Editor { left, wraps_itself: false, ..Editor::new("$ ", 12, Style::Eager) };
        let mut rig = Rig::sized(Size::new(25, 8).unwrap(), Preference::Always, Half(editor));
        rig.type_keys("abcdefghijkl");
        rig.run_until_idle();
        rig.type_keys("\x15");
        rig.run_until_idle();
        rig.type_keys("a");
        rig.run_until_idle();
        rig.type_keys("bcdefghi");
        let row = |text: &str| {
            let text = format!("{text:<12}");
            if left == 0 {
                format!("{text}│")
            } else {
                format!("            │{text}").trim_end().into()
            }
        };
        let column = |column| column + u16::try_from(left).unwrap();
        for (key, rows, cursor) in [
            ("j", ["$ abcdefghij", ""], (1, column(0))),
            ("k", ["$ abcdefghij", "k"], (1, column(1))),
            ("\x7f", ["$ abcdefghij", ""], (1, column(0))),
            ("\x7f", ["$ abcdefghi", ""], (0, column(11))),
        ] {
            rig.type_keys(key);
            assert_eq!((rig.rows(0..2), rig.cursor()), (rows.map(row).to_vec(), cursor), "{key}");
        }
        rig.assert_converges();
    }
}

/// Returns keys of any kinds, in any order.
fn keys() -> impl Strategy<Value = Vec<&'static str>> {
    let key = prop_oneof![
        10 => Just("a letter"),
        1 => Just("some words of text"),
        3 => Just("\x7f"),
        3 => Just("\x1b[D"),
        2 => Just("\x1b[C"),
        1 => Just("\x01"),
        1 => Just("\x05"),
        1 => Just("\x15"),
        1 => Just("\x17"),
    ];
    prop::collection::vec(key, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_wrong_is_seen_whatever_is_typed(
        keys in keys(),
        pause in prop_oneof![Just(0_u64), Just(40), Just(200), Just(1000)],
        style in prop_oneof![2 => Just(Style::Eager), 1 => Just(Style::Lazy), 1 => Just(Style::Mark)],
        columns in 8_u16..30,
        rows in 2_u16..9,
        batch in prop_oneof![Just(1_u64), Just(100), Just(1000)],
    ) {
        let size = Size::new(columns, rows).unwrap();
        let columns = usize::from(columns);
        // The longest line for which the screen has room besides the prompt. Where the answers to several keys come at
        // once, the first text over the edge teaches nothing, so the line stays in its row.
        let rows_max = columns * (usize::from(rows) - 1) - 4 * usize::from(rows);
        let line_max = if batch > 1 { columns - 4 } else { rows_max };
        let editor = Editor::new("$ ", columns, style);
        let mut host = Terminal::host(size);
        let mut twin = Editor::new("$ ", columns, style);
        host.write(&twin.start());
        let mut rig = Rig::sized(size, Preference::Always, editor);
        rig.batch = batch;
        let mut pictures = vec![picture(host.screen())];
        let lessons = LESSONS.into_iter().map(|key| (key, 1000));
        let mut letters = ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"].iter().cycle();
        for (key, pause) in lessons.chain(keys.into_iter().map(|key| (key, pause))) {
            let letter = letters.next().unwrap();
            let key = if key == "a letter" { letter } else { key };
            let is_text = key.bytes().all(|byte| (b' '..0x7f).contains(&byte));
            // In these styles, the engine cannot know which text comes back over the edge.
            let is_odd = style != Style::Eager && twin.line.len() > columns / 2 && !is_text;
            // Nor can it know blanks at the end of a line that came back over the edge.
            let is_odd = is_odd || key == "\x05" && twin.line.ends_with(b" ");
            if is_odd || twin.line.len() + key.len() > line_max {
                continue;
            }
            rig.type_keys(key);
            for byte in key.bytes() {
                host.write(&twin.answer(byte).1);
                pictures.push(picture(host.screen()));
            }
            for _ in 0..=pause / 20 {
                let seen = picture(&rig.frame);
                prop_assert!(pictures.contains(&seen), "{seen:?} never comes\n{pictures:#?}");
                rig.run(20);
            }
        }
        for _ in 0..60 {
            let seen = picture(&rig.frame);
            prop_assert!(pictures.contains(&seen), "{seen:?} never comes\n{pictures:#?}");
            rig.run(40);
        }
        rig.assert_converges();
    }
}

/// Returns the text of a screen's rows, and its cursor.
fn picture(screen: &Screen) -> (Vec<String>, (u16, u16)) {
    let rows = (0..screen.size().rows()).map(|row| screen.row_text(row));
    (rows.collect(), (screen.cursor().row, screen.cursor().column))
}
