//! Reverse wraparound (modes 45 and 1045) in BS and CUB. The rows and cursors are those of xterm 379 in its mode 45,
//! which reported each of its cells (DECRQCRA). From xterm 383 on that mode is 1045, and 45 stays within a line.

use rove_terminal::{Size, Terminal};

use super::sides::check_behind;
use super::{cursor, host};

/// Bytes sent after the mode is set, and the rows and cursor of xterm after them.
const CASES: &[(&str, &str, (u16, u16))] = &[
    ("\x1b[2;1H\x08X", "               X", (1, 16)),
    ("\x1b[2;2H\x1b[4DX", "             X", (1, 15)),
    ("\x1b[1;1H\x08X", "|||||               X", (6, 16)),
    ("\x1b[1;2H\x1b[3DX", "|||||              X", (6, 16)),
    ("\x1b[3;3H\x1b[40DX", "|||||          X", (6, 12)),
    ("\x1b[3;3H\x1b[200DX", "|          X", (2, 12)),
    ("\x1b[?7l\x1b[2;1H\x08X", "|X", (2, 2)),
    ("\x1b[?7l\x1b[2;1H\x1b[DX", "|X", (2, 2)),
    ("0123456789ABCDEF\x08X", "0123456789ABCDEX", (1, 16)),
    ("0123456789ABCDEF\x1b[DX", "0123456789ABCDEX", (1, 16)),
    ("0123456789ABCDEF\x1b[2DX", "0123456789ABCDXF", (1, 16)),
    ("0123456789ABCDEFG\x08\x08X", "0123456789ABCDEX|G", (1, 16)),
    ("0123456789ABCDEFG\x1b[2DX", "0123456789ABCDEX|G", (1, 16)),
    ("0123456789ABCDEFGH\x08\x08\x08X", "0123456789ABCDEX|GH", (1, 16)),
    ("0123456789ABCDEFGH\x1b[3DX", "0123456789ABCDEX|GH", (1, 16)),
    ("0123456789ABCDEF\r\nG\x08\x08X", "0123456789ABCDEX|G", (1, 16)),
    ("0123456789ABCDEF\r\nG\x1b[2DX", "0123456789ABCDEX|G", (1, 16)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;3H\x08X", "       X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;3H\x1b[3DX", "     X", (1, 7)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;2H\x1b[3DX", "      X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;2H\x08\x08X", "       X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;1H\x08X", "       X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;12H\x1b[11DX", "      X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[1;3H\x08X", "|||||       X", (6, 8)),
    ("\x1b[2;5r\x1b[2;1H\x08X", "||||               X", (5, 16)),
    ("\x1b[2;5r\x1b[1;1H\x08X", "|||||               X", (6, 16)),
    ("\x1b[2;5r\x1b[6;1H\x08X", "||||               X", (5, 16)),
    ("\x1b[2;5r\x1b[6;2H\x1b[50DX", "|               X", (2, 16)),
    ("\x1b[?6h\x1b[2;5r\x1b[1;1H\x08X", "||||               X", (5, 16)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;5r\x1b[?6h\x1b[1;1H\x08X", "||||       X", (5, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;5r\x1b[1;1H\x08X", "|||||       X", (6, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[2;5r\x1b[6;3H\x08X", "||||       X", (5, 8)),
    ("\x1b[?69h\x1b[3;8s0123456789\x08\x08\x08\x08\x08X", "01234X67|  89", (1, 7)),
    ("\x1b[?69h\x1b[3;8s\x1b[1;3H012345678\x1b[4DX", "  01234X|  678", (1, 8)),
    ("\x1b[?7l\x1b[1;1H0123456789ABCDEF\x08X", "0123456789ABCDXF", (1, 16)),
    ("\x1b[3;1H\x1b[16DX", "|X", (2, 2)),
    ("\x1b[3;1H\x1b[17DX", "               X", (1, 16)),
    ("\x1b[3;1H\x1b[1;1H\x1b[0DX", "|||||               X", (6, 16)),
    ("\x1b[?69h\x1b[3;8s\x1b[1;16H0\x08X", "               X", (1, 16)),
    ("\x1b[?69h\x1b[3;8s\x1b[3;5H\x1b[7DX", "|   X", (2, 5)),
    ("\x1b[?69h\x1b[3;8s\x1b[3;5H\x1b[8DX", "|  X", (2, 4)),
    ("\x1b[?69h\x1b[3;8s\x1b[3;5H\x1b[9DX", "       X", (1, 8)),
    ("\x1b[?69h\x1b[3;8s\x1b[3;12H\x1b[12DX", "|     X", (2, 7)),
    ("\x1b[1;1H\x08\x08\x08X", "|||||             X", (6, 15)),
    ("0123456789ABCDEF\x1b[16DX", "X123456789ABCDEF", (1, 2)),
    ("0123456789ABCDEF\x1b[17DX", "0123456789ABCDEF|||||               X", (6, 16)),
    ("0123456789ABCDEFGHIJ\x1b[21DX", "0123456789ABCDEF|GHIJ||||               X", (6, 16)),
    ("\x1b[2;5r\x1b[1;1H\x1b[3DX", "|||||             X", (6, 15)),
    ("漢字漢字漢字漢字漢\x08\x08\x08X", "漢字漢字漢字漢 X|漢", (1, 16)),
    ("0123456789ABCDE漢\x1b[3DX", "0123456789ABCDEX|漢", (1, 16)),
    ("\x1b[!p\x1b[2;1H\x08X", "|X", (2, 2)),
    ("\x1bc\x1b[2;1H\x08X", "|X", (2, 2)),
    ("\x1b[?1045l\x1b[2;1H\x08X", "|X", (2, 2)),
    ("\x1b[?1045s\x1b[?1045l\x1b[?1045r\x1b[2;1H\x08X", "               X", (1, 16)),
];

#[test]
fn bs_and_cub_go_on_at_the_end_of_the_row_above() {
    check_behind("\x1b[?1045h", CASES);
    // With both modes set, BS and CUB go as far as mode 1045 allows.
    check_behind("\x1b[?45h\x1b[?1045h", &CASES[..40]);
}

/// Versions of xterm from 383 on behave in this way.
#[test]
fn within_a_line_bs_and_cub_stop_where_it_begins() {
    check_behind(
        "\x1b[?45h",
        &[
            ("\x1b[2;1H\x08X", "|X", (2, 2)),
            ("ab\r\n\x08X", "ab|X", (2, 2)),
            ("ab\x1bE\x08X", "ab|X", (2, 2)),
            ("0123456789ABCDEF\r\nG\x08\x08X", "0123456789ABCDEF|X", (2, 2)),
            ("0123456789ABCDEFG\x08\x08X", "0123456789ABCDEX|G", (1, 16)),
            ("0123456789ABCDEFG\x1b[2DX", "0123456789ABCDEX|G", (1, 16)),
            ("0123456789ABCDEFGH\x1b[3DX", "0123456789ABCDEX|GH", (1, 16)),
            ("0123456789ABCDEFG\x1b[99DX", "X123456789ABCDEF|G", (1, 2)),
            ("0123456789ABCDEF\x08X", "0123456789ABCDEX", (1, 16)),
            ("0123456789ABCDEF\x1b[2DX", "0123456789ABCDXF", (1, 16)),
            ("0123456789ABCDEFG\x1b[1K\x1b[1A\x1b[2K\x1b[1B\x1b[5DX", "|X", (2, 2)),
            ("\x1b[1;1H\x08X", "X", (1, 2)),
            ("\x1b[2;5r\x1b[1;1H0123456789ABCDEFG\x08\x08X", "0123456789ABCDEF|X", (2, 2)),
            ("\x1b[?7l\x1b[1;1H0123456789ABCDEF\x08X", "0123456789ABCDXF", (1, 16)),
            ("0123456789ABCDEFG\x1b[?45l\x08\x08X", "0123456789ABCDEF|X", (2, 2)),
            ("0123456789ABCDEFG\x1b[!p\x08\x08X", "0123456789ABCDEF|X", (2, 2)),
            (
                "0123456789ABCDEFG\x1b[?1045h\x1b[1;1H\x08X",
                "0123456789ABCDEF|G||||               X",
                (6, 16),
            ),
        ],
    );
}

/// If CUB begins in the first cell between the margins, xterm goes to the last cell, whatever the count is.
#[test]
fn cub_from_the_first_cell_is_as_many_bs() {
    for (count, place) in [(1, (6, 16)), (3, (6, 14)), (96, (1, 1)), (97, (6, 16))] {
        let moved = host(16, 6, format!("\x1b[?1045h\x1b[H\x1b[{count}D"));
        let stepped = host(16, 6, format!("\x1b[?1045h\x1b[H{}", "\x08".repeat(count)));
        assert_eq!((cursor(moved.screen()), cursor(stepped.screen())), (place, place), "{count}");
    }
}

#[test]
fn other_movements_stop_at_the_margin() {
    for (input, place) in [
        ("\x1b[?1045h\x1b[2;1H\x1b6", (2, 1)),
        ("\x1b[?1045h\x1b[2;1H\x1b[Z", (2, 1)),
        ("\x1b[?1045h\x1b[2;16H\x1b[C", (2, 16)),
    ] {
        assert_eq!(cursor(host(16, 6, input).screen()), place, "{input:?}");
    }
}

#[test]
fn a_replica_does_not_know_it() {
    for mode in [45, 1045] {
        let mut replica = Terminal::replica(Size::clamped(16, 6));
        replica.write(format!("\x1b[?{mode}h\x1b[2;1H\x08").as_bytes());
        assert_eq!(cursor(replica.screen()), (2, 1));
    }
}
