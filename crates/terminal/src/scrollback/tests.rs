use proptest::prelude::*;

use super::*;
use crate::display::properties::{look, program, size};
use crate::display::{Vocabulary, diff_without_events};
use crate::terminal::Terminal;

fn keeping(columns: u16, rows: u16, input: &str) -> Terminal {
    let mut terminal = Terminal::host(Size::clamped(columns, rows));
    terminal.keep_scrollback();
    terminal.write(input.as_bytes());
    terminal
}

fn texts(terminal: &mut Terminal) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some((_, line)) = terminal.take_scrollback_line() {
        texts.push(text(&line));
    }
    texts
}

fn text(line: &ScrollbackLine) -> String {
    let rows = line.rows(line.columns()).collect::<Vec<_>>();
    assert_eq!(rows.len(), 1);
    let screen = Screen::of_lines(line.columns(), [line].into_iter()).unwrap();
    screen.assert_integrity();
    screen.row_text(0)
}

#[test]
fn a_screen_that_is_cleared_as_a_whole_is_kept() {
    let all = || vec!["a", "", "c"];
    for (input, kept) in [
        // Ctrl-L in a shell; `clear` for xterm-256color, tmux-256color and screen.
        ("\x1b[H\x1b[2J", all()),
        ("\x1b[H\x1b[2J\x1b[3J", all()),
        ("\x1b[H\x1b[J\x1b[3J", all()),
        ("\x1b[H\x1b[J", all()),
        ("\x1b[3J\x1b[H\x1b[2J", all()),
        ("\x1b[44m\x1b[2J", all()),
        // Only the first of several clears stores the screen's rows.
        ("\x1b[2J\x1b[2J\x1b[H\x1b[J", all()),
        ("\x1b[H\x1b[2Jd\x1b[2J", vec!["a", "", "c", "d"]),
        // Clearing a part of the screen keeps nothing.
        ("\x1b[J", vec![]),
        ("\x1b[2H\x1b[J", vec![]),
        ("\x1b[;2H\x1b[J", vec![]),
        ("\x1b[4;5H\x1b[1J", vec![]),
        ("\x1b[H\x1b[4M", vec![]),
        ("\x1b[?1049h\x1b[Hvi\x1b[2J\x1b[?1049l", vec![]),
        ("\x1b[?40h\x1b[?3h", vec![]),
        // ED spares characters after SPA, so that each ED would store the same screen.
        ("\x1bVd\x1b[2J\x1b[2J", vec![]),
    ] {
        let mut terminal = keeping(5, 4, &format!("a\r\n\r\nc{input}"));
        assert_eq!(texts(&mut terminal), kept, "{input:?}");
    }
    // The line wrapped into a row that is gone, so it ends.
    let mut terminal = keeping(3, 4, "abcdef\x1b[2;1H\x1b[K\x1b[2J");
    let lines: Vec<_> = core::iter::from_fn(|| terminal.take_scrollback_line()).collect();
    let wraps: Vec<_> = lines.iter().map(|(_, line)| line.wrapped()).collect();
    assert_eq!(wraps, [false]);
    let mut terminal = keeping(3, 4, "abcdef\x1b[2J");
    assert!(terminal.take_scrollback_line().is_some_and(|(_, line)| line.wrapped()));
    // Copies of marks count as work, beside their removal.
    let [marked, bare] = ["a\u{301}", "a"].map(|text| {
        let mut terminal = keeping(200, 4, &text.repeat(800));
        let before = terminal.effort();
        terminal.write(b"\x1b[2J");
        terminal.effort() - before
    });
    assert!(marked >= bare + 4 * 800, "{marked} and {bare}");
    // An empty screen gives no lines.
    assert_eq!(keeping(5, 4, "\x1b[44m\x1b[2J\x1b[2J").scrollback_len(), 0);
}

#[test]
fn lines_that_leave_the_primary_screen_over_its_top_are_kept() {
    let full = "a\r\nb\r\nc";
    for (input, kept) in [
        ("", vec![]),
        ("\r\nd", vec!["a"]),
        ("\n\n", vec!["a", "b"]),
        ("\x1bD\x1bE", vec!["a", "b"]),
        ("\x1b[2S", vec!["a", "b"]),
        ("\x1b[9S", vec!["a", "b", "c"]),
        ("\x1b[3;5Hxyz", vec!["a"]),
        // A region that begins at the top, as installers use with a progress bar.
        ("\x1b[;2r\x1b[2H\n", vec!["a"]),
        ("\x1b[2;3r\x1b[3H\n", vec![]),
        ("\x1b[?69h\x1b[2;4s\x1b[3;2H\n", vec![]),
        ("\x1b[?1049h\x1b[9S\x1b[?1049l", vec![]),
        ("\x1b[H\x1b[2M", vec![]),
        ("\x1b[3J", vec![]),
        ("\x1bc\r\n\n\n", vec![""]),
        ("\n\x1bc", vec!["a"]),
    ] {
        let mut terminal = keeping(5, 3, &format!("{full}{input}"));
        assert_eq!(texts(&mut terminal), kept, "{input:?}");
    }
    let mut deaf = Terminal::host(Size::clamped(5, 3));
    deaf.write(b"\n\n\n\n\n");
    assert_eq!((deaf.scrollback_len(), deaf.take_scrollback_line()), (0, None));
    // A lower window cuts the rows above the cursor's. The alternate screen's are not kept.
    for (input, kept) in [("", vec!["a", "b"]), ("\x1b[H", vec![]), ("\x1b[?1049h", vec![])] {
        let mut shrunk = keeping(5, 3, &format!("{full}{input}"));
        shrunk.resize(Size::clamped(5, 1));
        assert_eq!(texts(&mut shrunk), kept, "{input:?}");
    }
}

#[test]
fn lines_beyond_the_limit_are_dropped_and_counted() {
    let max = SCROLLBACK_LINES_MAX;
    let mut terminal = keeping(10, 1, "");
    for number in 0..max {
        terminal.write(format!("{number}\r\n").as_bytes());
    }
    assert_eq!(terminal.scrollback_len(), max);
    terminal.write(b"one more\r\n");
    assert_eq!(terminal.scrollback_len(), max);
    let (number, line) = terminal.take_scrollback_line().unwrap();
    assert_eq!((number, text(&line)), (1, "1".into()));
    let last = texts(&mut terminal).pop();
    assert_eq!(last.as_deref(), Some("one more"));
    terminal.write(b"later\r\n");
    let past = u64::try_from(max).unwrap() + 1;
    assert_eq!(terminal.take_scrollback_line().unwrap().0, past);
}

#[test]
fn memory_is_bounded_where_lines_are_long() {
    let mut scrollback = Scrollback::default();
    let mut row = Row::erased(4096, Pen::default());
    row.write_ascii(0, &[b'x'; 4096], Pen::default());
    let each = ScrollbackLine::new(&row).bytes();
    let fitting = SCROLLBACK_BYTES_MAX / each;
    assert!(fitting < SCROLLBACK_LINES_MAX);
    for _ in 0..fitting {
        scrollback.push(&row);
    }
    assert_eq!((scrollback.len(), scrollback.end), (fitting, fitting as u64));
    scrollback.push(&row);
    assert_eq!((scrollback.len(), scrollback.end), (fitting, fitting as u64 + 1));
    assert_eq!(scrollback.bytes, fitting * each);
    while scrollback.pop().is_some() {}
    assert_eq!(scrollback.bytes, 0);
}

#[test]
fn a_short_line_costs_what_is_on_it() {
    let mut terminal = keeping(4000, 1, "y\r\n");
    let (_, line) = terminal.take_scrollback_line().unwrap();
    assert!(line.bytes() < 300, "{}", line.bytes());
    assert!(line.text_bytes() < 10);
    // Blank cells with a colour are part of the line.
    let mut terminal = keeping(4000, 1, "\x1b[41m\x1b[2Jy\r\n");
    let (_, line) = terminal.take_scrollback_line().unwrap();
    assert!(line.bytes() > 4000 * size_of::<Cell>());
}

#[test]
fn a_line_fits_into_any_window() {
    for (input, columns, rows) in [
        ("abcdef\n", 10, vec![("abcdef", false)]),
        ("abcdef\n", 6, vec![("abcdef", false)]),
        ("abcdef\n", 5, vec![("abcde", true), ("f", false)]),
        (
            "abcdef\n",
            1,
            "abcdef".split("").filter(|c| !c.is_empty()).map(|c| (c, c != "f")).collect(),
        ),
        ("\n", 3, vec![("", false)]),
        // A wide character is never cut between two rows. Rows of one column leave it out.
        ("ab一cd\n", 3, vec![("ab", true), ("一c", true), ("d", false)]),
        ("a一\n", 1, vec![("a", true), ("", true), ("", false)]),
        // A line that fills its row wraps into the next line if that has the same width.
        ("abcdefghijkl", 10, vec![("abcdefghij", true)]),
        ("abcdefghijkl", 11, vec![("abcdefghij", false)]),
        ("abcdefghijkl", 4, vec![("abcd", true), ("efgh", true), ("ij", false)]),
    ] {
        let mut terminal = keeping(10, 1, input);
        let (_, line) = terminal.take_scrollback_line().unwrap();
        let found: Vec<_> = line
            .rows(columns)
            .map(|row| {
                row.assert_integrity();
                let wrapped = row.wrapped();
                let mut screen = Screen::blank(Size::clamped(columns, 1));
                screen.rows[0] = Arc::new(row);
                (screen.row_text(0), wrapped)
            })
            .collect();
        let rows: Vec<_> = rows.into_iter().map(|(text, wraps)| (text.to_owned(), wraps)).collect();
        assert_eq!(found, rows, "{input:?} in {columns}");
    }
}

#[test]
fn a_notice_is_a_line_of_its_own() {
    let line = ScrollbackLine::text(8, "[… 5 lines not kept]", Pen::default());
    assert_eq!((text(&line).as_str(), line.wrapped()), ("[… 5 lin", false));
}

proptest! {
    #[test]
    fn lines_come_back_from_a_diff(text in program(), size in size()) {
        let mut terminal = Terminal::host(size);
        terminal.keep_scrollback();
        terminal.write(text.as_bytes());
        let mut lines = Vec::new();
        while let Some((_, line)) = terminal.take_scrollback_line() {
            lines.push(line);
        }
        for lines in lines.chunks(100) {
            let columns = size.columns();
            let picture = Screen::of_lines(columns, lines.iter()).unwrap();
            picture.assert_integrity();
            let mut replica = Terminal::replica(picture.size());
            let bytes = diff_without_events(&Screen::blank(picture.size()), &picture, Vocabulary::Rich);
            replica.write(&bytes);
            let back: Vec<_> = replica.screen().rows.iter().map(|row| ScrollbackLine::new(row)).collect();
            let again = Screen::of_lines(columns, back.iter()).unwrap();
            prop_assert_eq!(look(&again), look(&picture));
            for line in lines {
                // At its own width a line is a single row, and unchanged.
                let rows: Vec<_> = line.rows(columns).collect();
                prop_assert_eq!(rows.len(), 1);
                rows[0].assert_integrity();
                prop_assert_eq!(&rows[0].trimmed().cells, &line.row.cells);
                for columns in [1, 2, 7, 200] {
                    let pieces: Vec<_> = line.rows(columns).collect();
                    pieces.iter().for_each(Row::assert_integrity);
                    let cells = |row: &Row| row.cells.iter().filter_map(|cell| cell.base).filter(|c| *c != ' ').collect::<Vec<_>>();
                    let whole = cells(&line.row);
                    if columns > 1 {
                        prop_assert_eq!(pieces.iter().flat_map(cells).collect::<Vec<_>>(), whole);
                    }
                }
            }
        }
    }
}
