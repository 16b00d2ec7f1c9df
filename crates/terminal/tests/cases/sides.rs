//! Side margins (DECSLRM), inserted and deleted columns, rectangles. The rows and cursors are those of xterm 379, which
//! reported each of its cells (DECRQCRA).

use rove_terminal::{Attributes, Color, Size};

use super::{cell, check, host, paint, rows};

/// Margins at columns 3 and 8.
const SIDES: &str = "\x1b[?69h\x1b[3;8s";
/// A screen without any blank.
const FILLED: [&str; 6] = [
    "0123456789ABCDEF",
    "ghijklmnopqrstuv",
    "0123456789ABCDEF",
    "ghijklmnopqrstuv",
    "0123456789ABCDEF",
    "ghijklmnopqrstuv",
];

/// Runs each case after the input `start`. `|` separates rows, and `=` stands for a row that stays as it was filled.
#[track_caller]
pub(super) fn check_behind(start: &str, cases: &[(&str, &str, (u16, u16))]) {
    for (input, shown, cursor) in cases {
        let rows = shown.split('|').filter(|_| !shown.is_empty()).zip(FILLED);
        let rows: Vec<&str> = rows.map(|(row, was)| if row == "=" { was } else { row }).collect();
        check(16, 6, &[(&format!("{start}{input}"), &rows, *cursor)]);
    }
}

pub(super) fn filled(rest: &str) -> String {
    format!("\x1b[H{}{rest}", FILLED.join("\r\n"))
}

#[test]
fn text_wraps_at_the_right_margin_and_goes_on_at_the_left_one() {
    check_behind(
        SIDES,
        &[
            ("\x1b[1;4Habcdefghij", "   abcde|  fghij", (2, 8)),
            ("\x1b[1;1Habcdefghijklmn", "abcdefgh|  ijklmn", (2, 8)),
            ("\x1b[1;10Habcdefghijklmn", "         abcdefg|  hijklm|  n", (3, 4)),
            ("\x1b[?7l\x1b[1;4Habcdefghij", "   abcdj", (1, 8)),
            ("\x1b[1;4Ha\x1b[9b", "   aaaaa|  aaaaa", (2, 8)),
            ("\x1b[?1049h\x1b[1;4Habcdefghij", "   abcde|  fghij", (2, 8)),
            ("\x1b[1;8Ha\x1b7\x1b[5;5H\x1b8b", "       a|  b", (2, 4)),
        ],
    );
    check_behind(
        &filled(SIDES),
        &[
            (
                "\x1b[6;4Habcdefghij",
                "01ijklmn89ABCDEF|gh234567opqrstuv|01ijklmn89ABCDEF|gh234567opqrstuv|01iabcde89ABCDEF|ghfghij opqrstuv",
                (6, 8),
            ),
            ("\x1b[2;5r\x1b[6;4Habcdefghij", "=|=|=|=|=|ghfghijeopqrstuv", (6, 8)),
            ("\x1b[2;5r\x1b[5;15HABCDE", "=|=|=|=|01CDE56789ABCDAB|=", (5, 6)),
        ],
    );
}

#[test]
fn movements_stop_at_the_margins_at_the_sides() {
    check_behind(
        SIDES,
        &[
            ("\x1b[1;5Hab\rX", "  X ab", (1, 4)),
            ("\x1b[1;2Hab\rX", " aX", (1, 4)),
            ("\x1b[1;12Hab\rX", "  X        ab", (1, 4)),
            ("\x1b[1;4Hab\x08\x08\x08\x08\x08X", "  Xab", (1, 4)),
            ("\x1b[1;2Hab\x08\x08\x08\x08\x08X", " aX", (1, 4)),
            ("\x1b[2;4H\x1b[9DX", "|  X", (2, 4)),
            ("\x1b[2;2H\x1b[9DX", "|X", (2, 2)),
            ("\x1b[2;4H\x1b[9CX", "|       X", (2, 8)),
            ("\x1b[2;10H\x1b[99CX", "|               X", (2, 16)),
            ("\x1b[2;4H\t\tX", "|       X", (2, 8)),
            ("\x1b[2;4H\x1b[2IX", "|       X", (2, 8)),
            ("\x1b[2;8H\x1b[2ZX", "|X", (2, 2)),
            ("\x1b[1;8Ha\x08b", "      ba", (1, 8)),
            ("\x1b[1;8Ha\tb", "       a|  b", (2, 4)),
            ("\x1b[1;4H\x1b[9ax", "            x", (1, 14)),
            ("\x1b[3;4H\x1b[Ex", "|||  x", (4, 4)),
            ("\x1b[3;12H\x1b[Fx", "|  x", (2, 4)),
            ("\x1b[3;1H\x1b[Fx", "|x", (2, 2)),
            ("\x1b[20h\x1b[3;12H\nX", "|||  X", (4, 4)),
        ],
    );
}

#[test]
fn addresses_count_from_the_margins_in_origin_mode() {
    check_behind(
        &filled(SIDES),
        &[
            (
                "\x1b[2;5r\x1b[?6h\x1b[1;1HX\x1b[2;3HY\x1b[99;99HZ",
                "=|ghXjklmnopqrstuv|0123Y56789ABCDEF|=|0123456Z89ABCDEF|=",
                (5, 8),
            ),
            (
                "\x1b[2;5r\x1b[?6h\x1b[4GX\x1b[99GY\x1b[2dZ",
                "=|ghijkXmYopqrstuv|0123456Z89ABCDEF|=|=|=",
                (3, 8),
            ),
        ],
    );
}

#[test]
fn tabs_back_stop_at_the_left_margin_in_origin_mode() {
    let input = "\x1b[1;7H\x1b[9ZX\x1b[?6h\x1b[1;5H\x1b[9ZY";
    check_behind(SIDES, &[(input, "X Y", (1, 4))]);
}

#[test]
fn cells_shift_up_to_the_right_margin() {
    check_behind(
        &filled(SIDES),
        &[
            ("\x1b[2;4H\x1b[2@", "=|ghi  jklopqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[2;2H\x1b[2@", "=|=|=|=|=|=", (2, 2)),
            ("\x1b[2;4H\x1b[2P", "=|ghilmn  opqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[2;12H\x1b[2P", "=|=|=|=|=|=", (2, 12)),
            ("\x1b[4h\x1b[2;4HXY", "=|ghiXYjklopqrstuv|=|=|=|=", (2, 6)),
            ("\x1b[4h\x1b[2;12HXY", "=|ghijklmnopqXYtuv|=|=|=|=", (2, 14)),
            ("\x1b[4h\x1b[2;1HXY", "=|XYijklmnopqrstuv|=|=|=|=", (2, 3)),
            ("\x1b[4h\x1b[2;2HXY", "=|gXYijklmopqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[?7l\x1b[4h\x1b[2;1HXYZ", "=|XYZijklmopqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[2;4H\x1b[K", "=|ghi|=|=|=|=", (2, 4)),
            ("\x1b[2;4H\x1b[9X", "=|ghi         stuv|=|=|=|=", (2, 4)),
        ],
    );
}

#[test]
fn rows_scroll_between_the_margins_at_the_sides() {
    check_behind(
        &filled(SIDES),
        &[
            (
                "\x1b[2;5r\x1b[3;4H\x1b[L",
                "=|=|01      89ABCDEF|gh234567opqrstuv|01ijklmn89ABCDEF|=",
                (3, 3),
            ),
            (
                "\x1b[2;5r\x1b[3;4H\x1b[M",
                "=|=|01ijklmn89ABCDEF|gh234567opqrstuv|01      89ABCDEF|=",
                (3, 3),
            ),
            ("\x1b[2;5r\x1b[3;12H\x1b[M", "=|=|=|=|=|=", (3, 12)),
            ("\x1b[2;5r\x1b[2S", "=|=|=|gh      opqrstuv|01      89ABCDEF|=", (1, 1)),
            (
                "\x1b[2;5r\x1b[1T",
                "=|gh      opqrstuv|01ijklmn89ABCDEF|gh234567opqrstuv|01ijklmn89ABCDEF|=",
                (1, 1),
            ),
            (
                "\x1b[2;5r\x1b[5;4H\nX",
                "=|gh234567opqrstuv|01ijklmn89ABCDEF|gh234567opqrstuv|01 X    89ABCDEF|=",
                (5, 5),
            ),
            ("\x1b[2;5r\x1b[5;12H\nX", "=|=|=|=|0123456789AXCDEF|=", (5, 13)),
            (
                "\x1b[2;5r\x1b[2;4H\x1bMX",
                "=|gh X    opqrstuv|01ijklmn89ABCDEF|gh234567opqrstuv|01ijklmn89ABCDEF|=",
                (2, 5),
            ),
            ("\x1b[2;5r\x1b[2;12H\x1bMX", "=|ghijklmnopqXstuv|=|=|=|=", (2, 13)),
            ("\x1b[2;5r\x1b[5;12H\x1bEX", "=|=|=|=|01X3456789ABCDEF|=", (5, 4)),
        ],
    );
}

#[test]
fn columns_shift_between_the_margins() {
    check_behind(
        &filled(""),
        &[
            (
                "\x1b[2 A",
                "  0123456789ABCD|  ghijklmnopqrst|  0123456789ABCD|  ghijklmnopqrst|  0123456789ABCD|  ghijklmnopqrst",
                (6, 16),
            ),
            (
                "\x1b[2 @",
                "23456789ABCDEF|ijklmnopqrstuv|23456789ABCDEF|ijklmnopqrstuv|23456789ABCDEF|ijklmnopqrstuv",
                (6, 16),
            ),
            (
                "\x1b[2;5r\x1b[2;4H\x1b[2 @",
                "=|ijklmnopqrstuv|23456789ABCDEF|ijklmnopqrstuv|23456789ABCDEF|=",
                (2, 4),
            ),
        ],
    );
    check_behind(
        &filled(SIDES),
        &[
            (
                "\x1b[2;5r\x1b[2;4H\x1b[2 @",
                "=|ghklmn  opqrstuv|014567  89ABCDEF|ghklmn  opqrstuv|014567  89ABCDEF|=",
                (2, 4),
            ),
            (
                "\x1b[2;5r\x1b[2;4H\x1b[2 A",
                "=|gh  ijklopqrstuv|01  234589ABCDEF|gh  ijklopqrstuv|01  234589ABCDEF|=",
                (2, 4),
            ),
            ("\x1b[2;5r\x1b[6;12H\x1b[2 @", "=|=|=|=|=|=", (6, 12)),
            (
                "\x1b[2;5r\x1b[3;4H\x1b[2'}",
                "=|ghi  jklopqrstuv|012  34589ABCDEF|ghi  jklopqrstuv|012  34589ABCDEF|=",
                (3, 4),
            ),
            (
                "\x1b[2;5r\x1b[3;4H\x1b[2'~",
                "=|ghilmn  opqrstuv|012567  89ABCDEF|ghilmn  opqrstuv|012567  89ABCDEF|=",
                (3, 4),
            ),
            ("\x1b[2;5r\x1b[3;12H\x1b[2'~", "=|=|=|=|=|=", (3, 12)),
            (
                "\x1b[2;5r\x1b[3;3H\x1b6X",
                "=|gh ijklmopqrstuv|01X2345689ABCDEF|gh ijklmopqrstuv|01 2345689ABCDEF|=",
                (3, 4),
            ),
            (
                "\x1b[2;5r\x1b[3;8H\x1b9X",
                "=|ghjklmn opqrstuv|0134567X89ABCDEF|ghjklmn opqrstuv|0134567 89ABCDEF|=",
                (3, 8),
            ),
            ("\x1b[2;5r\x1b[3;16H\x1b9X", "=|=|0123456789ABCDEX|=|=|=", (3, 16)),
            ("\x1b[2;5r\x1b[6;3H\x1b6X", "=|=|=|=|=|ghXjklmnopqrstuv", (6, 4)),
        ],
    );
}

#[test]
fn margins_at_the_sides_are_set_and_opened() {
    check_behind("", &[("\x1b[3;8s\x1b[1;4Habcdefghij", "   abcdefghij", (1, 14))]);
    check_behind(
        SIDES,
        &[
            ("\x1b[s\x1b[1;1Habcdefghijklmno", "abcdefghijklmno", (1, 16)),
            ("\x1b[5;4s\x1b[1;4Habcdefghijklmno", "   abcde|  fghijk|  lmno", (3, 7)),
            ("\x1b[3;3H\x1b[5s\x1b[1;1Habcdefghijklmno", "abcdefghijklmno", (1, 16)),
            ("\x1b[?69l\x1b[1;4Habcdefghij", "   abcdefghij", (1, 14)),
            ("\x1b[!p\x1b[1;4Habcdefghij", "   abcdefghij", (1, 14)),
            (
                "\x1b#8\x1b[1;4Habcdefghij",
                "EEEabcdefghijEEE|EEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEE",
                (1, 14),
            ),
            ("\x1bc\x1b[1;4Habcdefghij", "   abcdefghij", (1, 14)),
        ],
    );
}

#[test]
fn rectangles_are_erased_filled_and_copied() {
    check_behind(
        &filled(""),
        &[
            ("\x1b[2;3;4;6$z", "=|gh    mnopqrstuv|01    6789ABCDEF|gh    mnopqrstuv|=|=", (6, 16)),
            ("\x1b[$z", "", (6, 16)),
            ("\x1b[4;4;2;2$z", "=|=|=|=|=|=", (6, 16)),
            (
                "\x1b[88;2;3;4;6$x",
                "=|ghXXXXmnopqrstuv|01XXXX6789ABCDEF|ghXXXXmnopqrstuv|=|=",
                (6, 16),
            ),
            ("\x1b[31;2;3;4;6$x", "=|=|=|=|=|=", (6, 16)),
            ("\x1b[88;5;15;9;99$x", "=|=|=|=|0123456789ABCDXX|ghijklmnopqrstXX", (6, 16)),
            ("\x1b[1;1;2;4;1;3;5;1$v", "=|=|0123012389ABCDEF|ghijghijopqrstuv|=|=", (6, 16)),
            (
                "\x1b[1;1;4;8;1;2;2;1$v",
                "=|g01234567pqrstuv|0ghijklmn9ABCDEF|g01234567pqrstuv|0ghijklmn9ABCDEF|=",
                (6, 16),
            ),
            (
                "\x1b[2;2;5;9;1;1;1;1$v",
                "hijklmno89ABCDEF|12345678opqrstuv|hijklmno89ABCDEF|12345678opqrstuv|=|=",
                (6, 16),
            ),
            ("\x1b[1;1;2;4;1;5;14$v", "=|=|=|=|0123456789ABC012|ghijklmnopqrsghi", (6, 16)),
        ],
    );
    check_behind(
        &filled(SIDES),
        &[
            (
                "\x1b[2;5r\x1b[?6h\x1b[88;1;1;2;99$x",
                "=|ghXXXXXXopqrstuv|01XXXXXX89ABCDEF|=|=|=",
                (2, 3),
            ),
            (
                "\x1b[2;5r\x1b[?6h\x1b[1;1;2;2;1;3;3$v",
                "=|=|=|ghijijmnopqrstuv|0123236789ABCDEF|=",
                (2, 3),
            ),
        ],
    );
}

#[test]
fn wide_characters_at_the_margins_stay_whole() {
    for (input, expected) in [
        ("\x1b[1;7H一二", &["      一", "  二"][..]),
        ("\x1b[1;8H一", &["", "  一"]),
        ("\x1b[1;3H一二三\x1b[1;3H\x1b[@", &["   一二"]),
        ("\x1b[1;3Ha一二三\x1b[1;3H\x1b[P", &["  一二", "  三"]),
        ("\x1b[1;1H\x1b[?69la一二\x1b[?69h\x1b[3;8s\x1b[S", &["a"]),
        ("\x1b[1;1H\x1b[?69l一一一一一\r\nab二二二\x1b[?69h\x1b[4;7s\x1b[S", &["一  二  一", "ab"]),
        ("\x1b[?69l一二三\x1b[1;2;1;5;1;2;1$v", &["一二三", " 二"]),
        ("\x1b[?69l一二三\x1b[88;1;2;1;3$x", &[" XX 三"]),
    ] {
        let terminal = host(16, 6, format!("{SIDES}{input}"));
        assert_eq!(rows(terminal.screen()), expected, "{input:?}");
    }
}

#[test]
fn marks_and_links_move_with_their_cells() {
    let text = "\x1b[1;3H\x1b[4:3;58:5:9;31ma\x1b]8;;http://a/\x07b\x1b]8;;\x07e\u{301}\x1b[m";
    for (input, row, column) in [
        ("\x1b[T", 1, 2),
        ("\x1b[1;3H\x1b[2@", 0, 4),
        ("\x1b[1;1;1;16;1;3;4$v", 2, 5),
        ("\x1b[?69l\x1b[1;1H\x1b[ A", 0, 3),
    ] {
        let terminal = host(16, 6, format!("{SIDES}{text}{input}"));
        let shown = terminal.screen().row(row).expect("a row of the screen");
        let colored = |column| shown.decoration(column).underline_color == Color::Indexed(9);
        assert!((column..column + 3).all(colored), "{input:?}");
        let link = shown.decoration(column + 1).link.as_ref().expect("a link");
        assert_eq!((link.uri(), shown.marks(column + 2)), ("http://a/", "\u{301}"), "{input:?}");
        assert_eq!(paint(cell(terminal.screen(), row + 1, column + 1)), "u3 on 1", "{input:?}");
    }
    let filled = host(16, 6, "\x1b[1;44m\x1b]8;;http://a/\x07\x1b[88;2;2;3;4$x");
    assert_eq!(rows(filled.screen()), ["", " XXX", " XXX"]);
    let corner = cell(filled.screen(), 3, 4);
    assert!(corner.pen.attributes.contains(Attributes::BOLD));
    assert_eq!(corner.pen.background, Color::Named(4));
    let link = &filled.screen().row(2).expect("a row").decoration(3).link;
    assert!(link.is_some());
}

#[test]
fn margins_at_the_sides_are_told() {
    for (input, reply) in [
        ("\x1b[?69$p", "\x1b[?69;2$y"),
        ("\x1b[?69h\x1b[?69$p\x1bP$qs\x1b\\", "\x1b[?69;1$y\x1bP1$r1;16s\x1b\\"),
        ("\x1b[?69h\x1b[3;8s\x1bP$qs\x1b\\", "\x1bP1$r3;8s\x1b\\"),
        ("\x1b[?69h\x1b[3;8s\x1b[?6h\x1b[2;4H\x1b[6n", "\x1b[2;4R"),
    ] {
        assert_eq!(host(16, 6, input).take_replies(), reply.as_bytes(), "{input:?}");
    }
}

#[test]
fn a_change_of_size_opens_the_margins() {
    let mut terminal = host(16, 6, format!("{SIDES}\x1b[2;4r\x1b[1;8Ha"));
    terminal.resize(Size::clamped(20, 6));
    terminal.write(b"b\x1b[1;8Hcdef");
    assert_eq!(rows(terminal.screen()), ["       cdef"]);
}
