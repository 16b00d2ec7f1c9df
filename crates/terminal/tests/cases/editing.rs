//! Moving, scrolling, erasing, inserting, deleting, tabs.

use rove_terminal::{Size, Terminal};

use super::follow::Follow;
use super::{cell, check, cursor, host, paint, rows};

/// Text that fills eight rows with `l1` to `l8`.
const ROWS: &str = "l1\r\nl2\r\nl3\r\nl4\r\nl5\r\nl6\r\nl7\r\nl8";

#[test]
fn the_cursor_moves_and_stops_at_the_edges() {
    check(
        20,
        8,
        &[
            ("\x1b[3;3H\x1b[9AX\x1b[9DY", &["Y X"], (1, 2)),
            (
                "\x1b[10GA\x1b[5dB\x1b[20`C",
                &["         A", "", "", "", "          B        C"],
                (5, 20),
            ),
            ("ab\x1b[2ECD\x1b[1FE", &["ab", "E", "CD"], (2, 2)),
            ("ab\x1b[3aC\x1b[2eD", &["ab   C", "", "      D"], (3, 8)),
            ("\x1b[2;20H\x1b[99eX", &["", "", "", "", "", "", "", "                   X"], (8, 20)),
            ("\x1b[0;0HA\x1b[0CB", &["A B"], (1, 4)),
            ("ab\x1b[2\nCX", &["ab", "    X"], (2, 6)),
            ("ab\x1bDcd\x1bEef\u{85}gh\u{84}ij", &["ab", "  cd", "ef", "gh", "  ij"], (5, 5)),
            ("ab\x0bcd\x0cef", &["ab", "  cd", "    ef"], (3, 7)),
            ("ab\x1b[20h\ncd", &["ab", "cd"], (2, 3)),
            ("one\r\ntwo\x1b[1;3H\x1bMX", &["  X", "one", "two"], (1, 4)),
        ],
    );
}

#[test]
fn text_scattered_over_the_screen_is_followed_letter_by_letter() {
    let mut follow = Follow::new(Size::DEFAULT);
    let places = [
        (1, 1, "A"),
        (10, 1, "B"),
        (1, 2, "C"),
        (1, 4, "D"),
        (10, 4, "E"),
        (1, 7, "F"),
        (1, 11, "G"),
        (10, 11, "H"),
        (1, 16, "I"),
        (2, 16, "J"),
        (1, 22, "K"),
        (60, 23, "L"),
        (59, 23, "M"),
        (57, 23, "N"),
        (54, 23, "O"),
        (50, 23, "P"),
        (45, 23, "Q"),
        (39, 23, "R"),
        (32, 23, "S"),
        (1, 24, "done"),
    ];
    let mut expected = vec![vec![b' '; 80]; 24];
    for (column, row, text) in places {
        let input = format!("\x1b[{row};{column}H{text}");
        follow.write(input.as_bytes());
        follow.assert_seen(input.as_bytes());
        expected[row - 1][column - 1..][..text.len()].copy_from_slice(text.as_bytes());
    }
    let text = |row: &Vec<u8>| String::from_utf8_lossy(row).trim_end().to_owned();
    assert_eq!(rows(follow.user()), expected.iter().map(text).collect::<Vec<_>>());
    assert_eq!(cursor(follow.user()), (24, 5));
}

#[test]
fn margins_stop_a_cursor_that_is_between_them() {
    check(
        4,
        8,
        &[
            ("\x1b[3;5r\x1b[4H\x1b[9AX", &["", "", "X"], (3, 2)),
            ("\x1b[3;5r\x1b[4H\x1b[9BX", &["", "", "", "", "X"], (5, 2)),
            ("\x1b[3;5r\x1b[2H\x1b[9AX", &["X"], (1, 2)),
            ("\x1b[3;5r\x1b[7H\x1b[9BX", &["", "", "", "", "", "", "", "X"], (8, 2)),
        ],
    );
}

#[test]
fn scrolling_moves_the_region_and_not_the_cursor() {
    let rest = ["", "", "l5", "l6", "l7", "l8", "", "  X"];
    check(
        8,
        8,
        &[
            (&format!("{ROWS}\x1b[4S\x1b[2TX"), &rest, (8, 4)),
            (&format!("{ROWS}\x1b[99SX"), &["", "", "", "", "", "", "", "  X"], (8, 4)),
            (
                &format!("{ROWS}\x1b[3;6r\x1b[2S"),
                &["l1", "l2", "l5", "l6", "", "", "l7", "l8"],
                (1, 1),
            ),
            (
                &format!("{ROWS}\x1b[3;6r\x1b[65535T"),
                &["l1", "l2", "", "", "", "", "l7", "l8"],
                (1, 1),
            ),
            (
                &format!("{ROWS}\x1b[2;4r\x1b[4;1H\nX"),
                &["l1", "l3", "l4", "X", "l5", "l6", "l7", "l8"],
                (4, 2),
            ),
            (
                &format!("{ROWS}\x1b[2;4r\x1b[2;1H\x1bMX"),
                &["l1", "X", "l2", "l3", "l5", "l6", "l7", "l8"],
                (2, 2),
            ),
            (
                &format!("{ROWS}\x1b[2;4r\x1b[8;1H\nX"),
                &["l1", "l2", "l3", "l4", "l5", "l6", "l7", "X8"],
                (8, 2),
            ),
        ],
    );
}

#[test]
fn whole_lines_scroll_as_printed() {
    let lines: String = (1..=24).map(|n| format!("\n\rtext {n}")).collect();
    let input = format!("{lines}\x1b[4S\x1b[2T\rBad line\x1b[24;1HLast line\x1b[HFirst line\r\n");
    let terminal = host(80, 24, input);
    let rows = rows(terminal.screen());
    assert_eq!((rows[0].as_str(), rows[23].as_str()), ("First line", "Last line"));
    assert_eq!(rows.iter().filter(|row| row.starts_with("text")).count(), 20);
    assert!(!rows.contains(&"text 4".to_owned()) && rows.contains(&"text 24".to_owned()));
}

#[test]
fn lines_are_inserted_and_deleted_within_the_margins_only() {
    check(
        8,
        8,
        &[
            (
                &format!("{ROWS}\x1b[3;6r\x1b[4;2H\x1b[LX\x1b[8;1H\x1b[LY"),
                &["l1", "l2", "l3", "X", "l4", "l5", "l7", "Y8"],
                (8, 2),
            ),
            (
                &format!("{ROWS}\x1b[3;6r\x1b[4;2H\x1b[2MX"),
                &["l1", "l2", "l3", "X6", "", "", "l7", "l8"],
                (4, 2),
            ),
            (
                &format!("{ROWS}\x1b[2H\x1b[0L"),
                &["l1", "", "l2", "l3", "l4", "l5", "l6", "l7"],
                (2, 1),
            ),
        ],
    );
    for last in ['L', 'M'] {
        for count in [0, 1, 2, 22, 23, 24, 25, 26, 65_535] {
            let terminal = host(80, 24, format!("{count}\r\x1b[{count}{last}"));
            assert!(rows(terminal.screen()).iter().all(|row| last == 'L' || row.is_empty()));
            assert_eq!(cursor(terminal.screen()), (1, 1));
        }
    }
}

#[test]
fn characters_are_inserted_deleted_and_erased() {
    check(
        10,
        2,
        &[
            ("abcdef\x1b[1;3H\x1b[2@XY", &["abXYcdef"], (1, 5)),
            ("abcdef\x1b[1;3H\x1b[2PX", &["abXf"], (1, 4)),
            ("abcdef\x1b[1;3H\x1b[2XX", &["abX ef"], (1, 4)),
            ("abcdef\x1b[1;3H\x1b[999X", &["ab"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[999@", &["ab"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[999P", &["ab"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[4hXY\x1b[4lZ", &["abXYZdef"], (1, 6)),
            ("abcdefghij\x1b[1;9H\x1b[4hXYZ", &["abcdefghXY", "Z"], (2, 2)),
            ("abcdef\x1b[1;3H\x1b[1K", &["   def"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[2KX", &["  X"], (1, 4)),
            ("abcdef\x1b[1;3H\x1b[K", &["ab"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[9K", &["abcdef"], (1, 3)),
            ("abcdef\x1b[1;3H\x1b[?K", &["ab"], (1, 3)),
        ],
    );
}

#[test]
fn the_display_is_erased_around_the_cursor() {
    check(
        4,
        3,
        &[
            ("abc\r\ndef\r\nghi\x1b[2;2H\x1b[J", &["abc", "d"], (2, 2)),
            ("abc\r\ndef\r\nghi\x1b[2;2H\x1b[1J", &["", "  f", "ghi"], (2, 2)),
            ("abc\r\ndef\r\nghi\x1b[2;2H\x1b[2J", &[], (2, 2)),
            ("abc\r\ndef\r\nghi\x1b[2;2H\x1b[3J", &["abc", "def", "ghi"], (2, 2)),
            ("abc\x1b[2;3H\x1b#8\x1b[2;2Hx", &["EEEE", "ExEE", "EEEE"], (2, 3)),
        ],
    );
}

#[test]
fn origin_mode_counts_from_the_margins() {
    check(
        4,
        8,
        &[
            ("\x1b[3;6r\x1b[?6h\x1b[1;1HA\x1b[20;1HB", &["", "", "A", "", "", "B"], (6, 2)),
            ("\x1b[3;6r\x1b[?6h\x1b[?6lC", &["C"], (1, 2)),
            ("\x1b[3;6r\x1b[?6h\x1b[2dC\x1b[eD", &["", "", "", "C", " D"], (5, 3)),
            ("ab\x1b[8;5rX\x1b[0;1rY", &["abXY"], (1, 4)),
            ("abc\x1b[2;99rX", &["Xbc"], (1, 2)),
        ],
    );
}

#[test]
fn tabs_go_to_their_stops() {
    check(
        80,
        4,
        &[
            ("hello, wurld\x1b[Zo", &["hello, world"], (1, 10)),
            ("hello, wurld\x1b[2Zo", &["oello, wurld"], (1, 2)),
            ("hello, wurld\x1b[99Z9", &["9ello, wurld"], (1, 2)),
            ("hello, wurld\x1b[It", &["hello, wurld    t"], (1, 18)),
            ("\x1b[3g\x1b[5G\x1bH\x1b[1GA\tB", &["A   B"], (1, 6)),
            ("\x1b[3g\x1b[5G\x1bH\x1b[1GA\tB\tC", &[&format!("A   B{:74}C", "")], (1, 80)),
            ("\x1b[9G\x1b[g\x1b[1GA\tB", &["A               B"], (1, 18)),
            ("A\u{88}\x1b[1G\tB", &["AB"], (1, 3)),
        ],
    );
    for (input, column) in [("\x1b[99I#", 80), ("\x1b[3g\tx", 80), ("\t\t\t\t\t\t\t\t\t1\t0", 80)] {
        assert_eq!(cursor(host(80, 2, input).screen()), (1, column), "{input:?}");
    }
    let digits = host(80, 2, "\t1\t2\t3\t4\t5\t6\t7\t8\t9\t0");
    for (number, column) in (1..=9).zip((8..).step_by(8)) {
        let shown = digits.screen().row_text(0).as_bytes()[column];
        assert_eq!(char::from(shown).to_digit(10), Some(number));
    }
}

#[test]
fn the_last_character_is_repeated() {
    check(
        6,
        3,
        &[
            ("a\x1b[5bX", &["aaaaaa", "X"], (2, 2)),
            ("a\x1b[bX", &["aaX"], (1, 4)),
            ("\x1b[5bX", &["X"], (1, 2)),
            ("一\x1b[3b", &["一一一", "一"], (2, 3)),
            ("\x1b(0q\x1b(B\x1b[2b", &["───"], (1, 4)),
            ("ab\x1b[8b", &["abbbbb", "bbbb"], (2, 5)),
        ],
    );
}

#[test]
fn a_screenful_is_repeated_and_no_more() {
    check(
        4,
        2,
        &[
            ("a\x1b[8b", &["aaaa", "a"], (2, 2)),
            ("a\x1b[9b", &["aaaa", "a"], (2, 2)),
            ("a\x1b[65535b", &["aaaa", "a"], (2, 2)),
            ("一\x1b[65535b", &["一一", "一"], (2, 3)),
        ],
    );
}

#[test]
fn a_replica_repeats_nothing_as_stock_mosh() {
    let mut replica = Terminal::replica(Size::DEFAULT);
    replica.write(b"a\x1b[5bX");
    assert_eq!(rows(replica.screen()), ["aX"]);
}

#[test]
fn the_cursor_is_saved_with_its_pen_origin_and_character_sets() {
    check(
        12,
        8,
        &[
            ("\x1b[2;3H\x1b7\x1b[1;1Hq\x1b8X", &["q", "  X"], (2, 4)),
            ("\x1b[2;3H\x1b[s\x1b[1;1Hq\x1b[uX", &["q", "  X"], (2, 4)),
            (
                "\x1b[3;6r\x1b[?6h\x1b[2;2H\x1b7\x1b[?6l\x1b[1;1Hq\x1b8X",
                &["q", "", "", " X"],
                (4, 3),
            ),
            ("\x1b(0\x1b7\x1b(Bq\x1b8q", &["─"], (1, 2)),
            ("abc\x1b8X", &["Xbc"], (1, 2)),
        ],
    );
    let terminal = host(20, 8, "\x1b[5;10H\x1b[1;31m\x1b7\x1b[m\x1b[1;1Hq\x1b8X");
    assert_eq!(paint(cell(terminal.screen(), 1, 1)), "");
    assert_eq!(paint(cell(terminal.screen(), 5, 10)), "b on 1");
}
