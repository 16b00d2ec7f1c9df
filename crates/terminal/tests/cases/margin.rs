//! The right margin.

use rove_terminal::{Size, Terminal};

use super::follow::Follow;
use super::{cell, check, cursor, host, paint, rows};

const E: &str = "EEEEEEEE";

#[test]
fn full_rows_leave_no_blank_rows_between_them() {
    let terminal = host(80, 24, format!("{}\r\n", "E".repeat(80)).repeat(25));
    assert_eq!(rows(terminal.screen()), vec!["E".repeat(80); 23]);
    assert_eq!(cursor(terminal.screen()), (24, 1));
}

#[test]
fn the_wrap_waits_for_the_next_character() {
    check(
        8,
        3,
        &[
            ("EEEEEEEE", &[E], (1, 8)),
            ("EEEEEEEEx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x08x", &["EEEEEExE"], (1, 8)),
            ("EEEEEEEE\x1b[Bx", &[E, "       x"], (2, 8)),
            ("EEEEEEEE\x1b[1mx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\tx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x07x", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x00\x7fx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x1b]2;t\x1b\\x", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x1b[?25l\x1b[?2004hx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x1b[Kx", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\x1b[Xx", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\x1b[Cx", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\rx", &["xEEEEEEE"], (1, 2)),
            ("EEEEEEEE\nx", &[E, "       x"], (2, 8)),
            ("EEEEEEEE\x1b7\x1b[H\x1b8x", &[E, "x"], (2, 2)),
            ("\x1b[99;99HX", &["", "", "       X"], (3, 8)),
            ("\x1b[99;99HXy", &["", "       X", "y"], (3, 2)),
            ("EEEEEEEE\x1b[31C\x1b[1mx", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\x1b[I\x1b[?5hx", &[E, "x"], (2, 2)),
            ("EEEEEEEE\x1b[?6hx", &["xEEEEEEE"], (1, 2)),
            ("EEEEEEEE\x1b[Zx", &["xEEEEEEE"], (1, 2)),
            ("EEEEEEEE\x1b[1@x", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\x1b[Px", &["EEEEEEEx"], (1, 8)),
            ("EEEEEEEE\x1b[999z\x1b[?1;2;3zx", &[E, "x"], (2, 2)),
        ],
    );
}

#[test]
fn sgr_in_a_pending_wrap_paints_the_next_row() {
    let terminal = host(8, 2, "EEEEEEEE\x1b[1mx");
    assert_eq!(paint(cell(terminal.screen(), 2, 1)), "b");
}

#[test]
fn without_autowrap_the_last_column_is_overwritten() {
    check(
        8,
        2,
        &[
            ("\x1b[?7labcdefghXYZ", &["abcdefgZ"], (1, 8)),
            ("\x1b[?7labcdefgh\x1b[?7hXY", &["abcdefgh", "XY"], (2, 3)),
            ("\x1b[4h\x1b[?7labcdefghXYZ", &["abcdefgZ"], (1, 8)),
        ],
    );
}

#[test]
fn a_wrapped_row_says_so_until_its_end_changes() {
    for (input, wrapped) in [
        ("wwwwwwwwww", true),
        ("wwwwwwww", false),
        ("wwwwwwww\r\nww", false),
        ("wwwwwwwwww\x1b[1;8Hx", false),
        ("wwwwwwwwww\x1b[1;7Hx", true),
        ("wwwwwwwwww\x1b[1;3H\x1b[K", false),
        ("wwwwwwwwww\x1b[1;3H\x1b[1K", true),
        ("wwwwwwwwww\x1b[1;3H\x1b[P", false),
        ("wwwwwwwwww\x1b[1;3H\x1b[@", false),
        ("wwwwwww一", false),
    ] {
        let terminal = host(8, 2, input);
        assert_eq!(terminal.screen().row(0).unwrap().wrapped(), wrapped, "{input:?}");
    }
}

#[test]
fn in_a_replica_the_first_back_space_only_cancels_the_wrap() {
    let mut replica = Terminal::replica(Size::new(8, 2).unwrap());
    replica.write(b"EEEEEEEE\x08x");
    assert_eq!(rows(replica.screen()), ["EEEEEEEx"]);
    replica.write(b"\x08\x08\x08y");
    assert_eq!(rows(replica.screen()), ["EEEEEyEx"]);
}

#[test]
fn rows_that_wrap_from_one_frame_into_the_next_stay_whole() {
    let mut follow = Follow::new(Size::DEFAULT);
    let (large, small) =
        (format!("abcd{}1234", "X".repeat(72)), format!("ABCD{}5678", "x".repeat(72)));
    for _ in 0..10 {
        for line in [&large, &small] {
            follow.write(line.as_bytes());
            follow.assert_seen(line.as_bytes());
        }
    }
    follow.write(b"\n");
    follow.assert_seen(b"the rows and a line feed");
    let shown = rows(follow.host().screen());
    assert_eq!(shown, [large.as_str(), &small].repeat(10));
    // A user who selects these two rows with the mouse copies a single line of text.
    for screen in [follow.host().screen(), follow.replica(), follow.user()] {
        let wrapped = (0..24).filter(|&row| screen.row(row).unwrap().wrapped());
        assert_eq!(wrapped.collect::<Vec<_>>(), (0..19).collect::<Vec<_>>());
    }
}

#[test]
fn a_long_line_is_one_line_to_the_users_mouse() {
    let mut follow = Follow::new(Size::DEFAULT);
    follow.write("w".repeat(100).as_bytes());
    for screen in [follow.host().screen(), follow.replica(), follow.user()] {
        assert!(screen.row(0).unwrap().wrapped() && !screen.row(1).unwrap().wrapped());
    }
}
