//! Changes of size.

use rove_terminal::{Size, Terminal};

use super::follow::Follow;
use super::{cursor, host, rows};

/// Returns a host terminal after `input` and a series of sizes. The far end and the user follow each size.
fn resized(columns: u16, height: u16, input: &str, sizes: &[(u16, u16)]) -> Terminal {
    let mut terminal = host(columns, height, input);
    let mut follow = Follow::new(terminal.screen().size());
    follow.write(input.as_bytes());
    for (columns, rows) in sizes {
        let size = Size::new(*columns, *rows).expect("an allowed size");
        terminal.resize(size);
        follow.resize(size);
        follow.assert_seen(format!("{columns}x{rows} after {input}").as_bytes());
    }
    terminal
}

#[test]
fn shrinking_keeps_the_row_of_the_cursor() {
    for (input, size, expected, place) in [
        ("a\r\nb\r\nc\r\nd", (4, 2), &["c", "d"][..], (2, 2)),
        ("a\r\nb\r\nc\r\nd\x1b[H", (4, 2), &["a", "b"], (1, 1)),
        ("a\r\nb\r\nc\r\nd\x1b[3H", (4, 2), &["b", "c"], (2, 1)),
        ("abcd\r\nb", (2, 4), &["ab", "b"], (2, 2)),
        ("abcd\r\nb", (6, 6), &["abcd", "b"], (2, 2)),
        ("a一", (2, 4), &["a"], (1, 2)),
        ("一一", (1, 1), &[], (1, 1)),
    ] {
        let terminal = resized(4, 4, input, &[size]);
        assert_eq!(rows(terminal.screen()), expected, "{input:?}");
        assert_eq!(cursor(terminal.screen()), place, "{input:?}");
    }
}

#[test]
fn a_replica_cuts_rows_at_the_bottom() {
    let mut replica = Terminal::replica(Size::new(4, 4).unwrap());
    replica.write(b"a\r\nb\r\nc\r\nd");
    replica.resize(Size::new(4, 2).unwrap());
    assert_eq!(rows(replica.screen()), ["a", "b"]);
    assert_eq!(cursor(replica.screen()), (2, 2));
}

#[test]
fn growing_shows_blanks_and_not_the_old_text() {
    let terminal = resized(8, 2, "abcdefgh\r\nx", &[(4, 1), (8, 2)]);
    assert_eq!(rows(terminal.screen()), ["x"]);
    let terminal = resized(8, 2, "\x1b[41mabcdefgh\x1b[H", &[(4, 2), (8, 2)]);
    assert_eq!(rows(terminal.screen()), ["abcd"]);
}

#[test]
fn margins_and_tabs_follow_the_size() {
    let mut terminal = resized(8, 4, "\x1b[2;3r\x1b[3;1H", &[(40, 5)]);
    terminal.write(b"\x1b[5Hx\x1b[1;9H\t");
    assert_eq!(rows(terminal.screen()), ["", "", "", "", "x"]);
    assert_eq!(cursor(terminal.screen()), (1, 17));
    let mut cleared = resized(8, 1, "\x1b[3g", &[(40, 1)]);
    cleared.write(b"\ty");
    assert_eq!(cursor(cleared.screen()), (1, 40));
}

#[test]
fn the_hidden_screen_changes_its_size_too() {
    let mut terminal = resized(8, 4, "a\r\nb\r\nc\r\nd\x1b[?1049hALT", &[(4, 2)]);
    terminal.write(b"\x1b[?1049lX");
    assert_eq!(rows(terminal.screen()), ["c", "dX"]);
}

#[test]
fn a_cursor_saved_below_the_screen_of_now_does_no_harm() {
    let mut terminal = resized(4, 4, "a\r\nb\x1b[4H\x1b7\x1b[H", &[(4, 2)]);
    terminal.write(b"\x1b[?47h");
    terminal.resize(Size::new(4, 1).unwrap());
    terminal.write(b"\x1b[?47l\x1b8x");
    assert_eq!(rows(terminal.screen()), ["x"]);
}

#[test]
fn a_pending_wrap_lasts_until_there_is_room() {
    for (size, expected) in
        [((4, 3), &["abcd", "x"][..]), ((8, 3), &["abcdx"]), ((3, 3), &["abc", "x"])]
    {
        let mut terminal = resized(4, 2, "abcd", &[size]);
        terminal.write(b"x");
        assert_eq!(rows(terminal.screen()), expected, "{size:?}");
    }
}

#[test]
fn extreme_sizes_are_held() {
    let sizes = [(1, 1), (2, 1), (1, 2), (4096, 2048), (1, 1), (80, 24)];
    let mut terminal = resized(80, 24, "abc一\r\n", &[]);
    for (columns, rows) in sizes {
        terminal.resize(Size::new(columns, rows).unwrap());
        terminal
            .write("a一b\u{301}\r\n\t\x1b[99;99Hx\x1b[L\x1b[M\x1b[@\x1b[P\x1b[S\x1b[T".as_bytes());
    }
}

#[test]
fn full_rows_are_cut_at_the_edge_and_stay_cut() {
    let row = |n: u16| format!("{n:02}:{}", "abcdefghijklmnopqrstuvw".repeat(3));
    let text = (1..=24).map(row).collect::<Vec<_>>().join("\r\n");
    let terminal = resized(80, 24, &format!("{text}\x1b[H"), &[(40, 10)]);
    let cut: Vec<String> = (1..=10).map(|n| row(n)[..40].to_owned()).collect();
    assert_eq!(rows(terminal.screen()), cut);
    let terminal = resized(80, 24, &format!("{text}\x1b[H"), &[(40, 10), (80, 24)]);
    assert_eq!(rows(terminal.screen()), cut);
    assert_eq!(cursor(terminal.screen()), (1, 1));
}

#[test]
fn a_window_drawn_larger_and_smaller_row_by_row_is_followed() {
    let page = |rows: u16| (1..rows).map(|n| format!("line {n}\r\n")).collect::<String>() + ":";
    let mut follow = Follow::new(Size::DEFAULT);
    follow.write(page(24).as_bytes());
    let down = (14..24).rev().map(|rows| (80, rows));
    let up = (15..=24).map(|rows| (80, rows));
    let narrower = (70..80).rev().map(|columns| (columns, 24));
    let wider = (71..=80).map(|columns| (columns, 24));
    for (columns, rows) in down.chain(up).chain(narrower).chain(wider) {
        follow.resize(Size::new(columns, rows).unwrap());
        follow.assert_seen(b"a new size");
        // A pager draws its page again.
        follow.write(format!("\x1b[H\x1b[J{}", page(rows)).as_bytes());
        follow.assert_seen(b"a new page");
    }
    assert_eq!(rows(follow.user()).len(), 24);
    assert_eq!(rows(follow.user())[22], "line 23");
}

#[test]
fn unfinished_work_survives_a_resize() {
    for input in
        ["一一一一", "abcdefgh", "\x1b[2;3r\x1b[3H\x1b[?6h", "\x1b[?1049h一\x1b7", "a\u{301}"]
    {
        for size in [(1, 1), (2, 1), (7, 2), (8, 1), (9, 5), (4096, 1), (1, 2048)] {
            let mut terminal = resized(8, 4, input, &[size, (8, 4)]);
            terminal.write("x一\x1b8y\r\n".as_bytes());
        }
    }
}
