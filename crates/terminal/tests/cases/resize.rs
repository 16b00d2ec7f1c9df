//! Changes of size.

use rove_terminal::{Size, Terminal};

use super::{cursor, host, rows};

/// Returns a host terminal that took `input` and then a series of sizes.
fn resized(columns: u16, height: u16, input: &str, sizes: &[(u16, u16)]) -> Terminal {
    let mut terminal = host(columns, height, input);
    for (columns, rows) in sizes {
        terminal.resize(Size::new(*columns, *rows).expect("an allowed size"));
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
