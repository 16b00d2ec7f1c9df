use rove_terminal::{Size, Terminal};

use super::*;
use crate::replay::history_cursor::{CHARACTERS_MAX, HistoryCursor};

fn name(kind: Kind) -> Name {
    Name { prompt: PromptId::default(), kind }
}

/// Enters a line whose text was visible on the screen.
fn enter(history: &mut History, kind: Kind, text: &str) {
    let (input, name, row) = (InputNum::new(1), name(kind), None);
    let text = Line::new(text);
    history.sheet = Some(Sheet { input, name, text, row, left: 0, was_seen: true });
    history.end_line(input, &Screen::blank(Size::DEFAULT), false);
}

fn entered(lines: &[&str]) -> History {
    let mut history = History::default();
    lines.iter().for_each(|line| enter(&mut history, Kind::Line, line));
    history
}

/// Returns the line that is predicted after `depth` steps back in the history.
fn expected_at(history: &History, depth: u16) -> Option<&str> {
    HistoryCursor { depth, ..HistoryCursor::default() }.line(history.lines(name(Kind::Line)))
}

/// Returns the lines that are predicted after 1, 2, ... steps back, up to the first unknown line.
fn expected(history: &History) -> Vec<&str> {
    (1..).map_while(|depth| expected_at(history, depth)).collect()
}

#[test]
fn lines_are_expected_as_far_as_all_editors_would_give_them_back() {
    for (lines, known) in [
        (&["a", "b", "c"][..], &["c", "b", "a"][..]),
        (&["a", "b", "b"], &["b"]),
        (&["a", "b", "a"], &["a", "b"]),
        (&["a", "", "c"], &["c", "a"]),
        (&["a", " b", "c"], &["c"]),
        (&["a", "b ", "c"], &["c"]),
        (&["a", "echo !!", "c"], &["c"]),
        (&["a", "x != y", "c"], &["c", "x != y", "a"]),
        (&["a", "sudo -i"], &[]),
        (&["ssh relay", "a"], &["a"]),
        (&[], &[]),
    ] {
        assert_eq!(expected(&entered(lines)), known, "{lines:?}");
    }
}

#[test]
fn the_older_of_two_equal_lines_is_expected_once_it_came_back() {
    for (third, known) in [("b", &["b", "c", "b", "a"][..]), ("a", &["b", "c", "a"])] {
        let mut history = entered(&["a", "b", "c", "b"]);
        assert_eq!(expected(&history), ["b", "c"]);
        history.observe(name(Kind::Line), 3, third);
        assert_eq!(expected(&history), known, "{third}");
    }
}

#[test]
fn a_line_that_was_not_expected_is_believed() {
    let mut history = entered(&["a", "b"]);
    history.observe(name(Kind::Line), 1, "other");
    assert_eq!(expected(&history), ["other"]);
    history.observe(name(Kind::Line), 2, "older");
    assert_eq!(expected(&history), ["other", "older"]);
    // At the oldest line, an editor ignores further steps back.
    history.observe(name(Kind::Line), 3, "older");
    assert_eq!(expected(&history), ["other", "older"]);
    history.observe(name(Kind::Line), 4, "oldest");
    assert_eq!(expected(&history), ["other", "older"], "a line between them is not known");
    history.observe(name(Kind::Line), 2, "stranger");
    assert_eq!(expected(&history), [""; 0]);
}

#[test]
fn nothing_is_expected_that_is_older_than_a_line_of_another_prompt() {
    let mut history = entered(&["a", "b"]);
    enter(&mut history, Kind::Full, "c");
    assert_eq!(expected(&history), [""; 0]);
    assert!(history.has_kind(Kind::Full) && !history.has_kind(Kind::Line));
    enter(&mut history, Kind::Line, "d");
    assert_eq!(expected(&history), ["d"]);
}

#[test]
fn a_line_that_nobody_knows_ends_what_is_expected() {
    let screen = Screen::blank(Size::DEFAULT);
    let sheet = |is_seen, input| {
        let (text, row) = (Line::new("b"), Some(Line::new("$ b")));
        let input = InputNum::new(input);
        Some(Sheet { input, name: name(Kind::Line), text, row, left: 0, was_seen: is_seen })
    };
    for (sheet, is_hidden, is_pasted, known) in [
        (sheet(true, 1), false, false, &["b", "a"][..]),
        (sheet(false, 1), false, false, &[]),
        (sheet(true, 2), false, false, &[]),
        (sheet(true, 1), true, false, &[]),
        (sheet(true, 1), false, true, &[]),
        (None, false, false, &[]),
    ] {
        let mut history = entered(&["a"]);
        history.sheet.clone_from(&sheet);
        if is_pasted {
            history.note_paste();
        }
        history.end_line(InputNum::new(1), &screen, is_hidden);
        assert_eq!(expected(&history), known, "{sheet:?}, {is_hidden}, {is_pasted}");
    }
}

#[test]
fn a_line_is_seen_that_stands_above_the_cursor_with_nothing_behind_it() {
    let row = Some(Line::new("$ ls"));
    let text = Line::new("ls");
    let input = InputNum::new(1);
    let sheet = Sheet { input, name: name(Kind::Line), text, row, left: 1, was_seen: false };
    for (shown, is_seen) in [
        ("|$ ls\r\n", true),
        ("|$ ls  | 12:30\r\nout\r\n", true),
        ("|$ ls -l\r\n", false),
        ("|$ ls", false),
        ("$ ls\r\n", false),
    ] {
        let mut terminal = Terminal::host(Size::DEFAULT);
        terminal.write(shown.as_bytes());
        assert_eq!(sheet.stands_on(&terminal.snapshot()), is_seen, "{shown:?}");
    }
}

#[test]
fn a_history_cursor_is_lost_where_a_line_was_begun_or_changed() {
    let history_cursor = HistoryCursor::default().step(true, true);
    assert_eq!((history_cursor.depth, history_cursor.is_lost), (1, false));
    assert_eq!(history_cursor.step(false, false).line(&[]), Some(""), "the empty line comes back");
    assert!(
        HistoryCursor::default().step(true, false).is_lost,
        "some editors look for what was begun"
    );
    assert!(HistoryCursor::default().step(false, true).is_lost, "nothing is newer");
    let mut edited = history_cursor;
    edited.edit();
    assert!(edited.step(true, false).is_lost);
    assert_eq!(edited.line(&[]), None);
}

#[test]
fn no_more_is_remembered_than_there_is_room_for() {
    let mut history = History::default();
    for number in 0..=LINES_MAX {
        enter(&mut history, Kind::Line, &format!("line {number}"));
    }
    assert_eq!(expected(&history).len(), LINES_MAX);
    let depth = u16::try_from(LINES_MAX).unwrap() + 1;
    history.observe(name(Kind::Line), depth, "older");
    assert_eq!(history.lines.len(), LINES_MAX);
    for (len, is_kept) in [(CHARACTERS_MAX, true), (CHARACTERS_MAX + 1, false)] {
        let history = entered(&[&"x".repeat(len)]);
        assert_eq!(!history.lines.is_empty(), is_kept, "{len}");
    }
}
