//! Modes, resets and the alternate screen.

use rove_terminal::{MouseEncoding, MouseReporting, Size, Terminal};

use super::{cell, check, cursor, host, paint, rows};

#[test]
fn the_alternate_screen_gives_the_primary_one_back() {
    check(
        12,
        3,
        &[
            ("main\x1b[?1049hALT\x1b[?1049lX", &["mainX"], (1, 6)),
            ("main\x1b[?1049hALT", &["    ALT"], (1, 8)),
            ("main\x1b[?1049h\x1b[HA\x1b7\x1b[3;3H\x1b[?1049lX", &["mainX"], (1, 6)),
            ("main\x1b[?47hALT\x1b[?47lX", &["main   X"], (1, 9)),
            ("main\x1b[?47hALT\x1b[?47l\x1b[?47hX", &["    ALTX"], (1, 9)),
            ("main\x1b[?1047hALT\x1b[?1047l\x1b[?1047hX", &["       X"], (1, 9)),
            ("main\x1b[?1047hALT\x1b[?1047lX", &["main   X"], (1, 9)),
            ("ab\x1b[?1048h\x1b[3;3H\x1b[?1048lX", &["abX"], (1, 4)),
            ("main\x1b[?1049h\x1b[?1049hALT\x1b[?1049lX", &["mainX"], (1, 6)),
            ("main\x1b[?1049hALT\x1bcX\x1b[?1049lY", &["Y"], (1, 2)),
        ],
    );
    assert!(host(4, 2, "\x1b[?1049h").screen().rich_modes().alternate_screen);
    assert!(!host(4, 2, "\x1b[?1049h\x1b[?1049l").screen().rich_modes().alternate_screen);
}

#[test]
fn the_first_character_stands_in_the_first_row_and_the_last_is_not_lost() {
    check(
        80,
        24,
        &[
            ("", &[], (1, 1)),
            ("\x1b[H\x1b[2J", &[], (1, 1)),
            ("first", &["first"], (1, 6)),
            ("$ printf abc\r\nabc", &["$ printf abc", "abc"], (2, 4)),
        ],
    );
}

#[test]
fn screens_are_equal_when_the_bytes_are_and_differ_by_an_attribute() {
    assert!(host(8, 1, "X").screen() == host(8, 1, "X").screen());
    assert!(host(8, 1, "X").screen() != host(8, 1, "\x1b[1mX\x1b[m").screen());
    assert!(host(8, 1, "X").screen() != host(8, 1, "X\x1b[1m").screen());
}

#[test]
fn each_screen_has_its_own_saved_cursor() {
    check(
        12,
        4,
        &[(
            "\x1b[2;2H\x1b7\x1b[?47h\x1b[3;3H\x1b7\x1b[?47l\x1b8A\x1b[?47h\x1b8B",
            &["", "", "  B"],
            (3, 4),
        )],
    );
}

#[test]
fn the_screen_that_is_not_shown_counts_as_memory() {
    let text: String = (1..=100).map(|row| format!("\x1b[{row}Hx")).collect();
    let hiding = host(200, 100, format!("\x1b[?47h{text}\x1b[?47l"));
    assert_eq!(rows(hiding.screen()), [""; 0]);
    let cells = 100 * 200 * 16;
    assert!(hiding.bytes_beyond(None).get() > cells);
    assert!(hiding.bytes_beyond(Some(&host(200, 100, ""))).get() > cells);
    assert!(hiding.clone().bytes_beyond(Some(&hiding)).get() < cells / 50);
}

#[test]
fn a_full_reset_leaves_a_blank_screen_and_the_titles() {
    let mut terminal =
        host(20, 4, "\x1b]2;t\x07abc\x1b[31m\x1b[?25l\x1b[?1h\x1b[2;3r\x1b[?2026h\x07\x1bcX");
    assert_eq!(rows(terminal.screen()), ["X"]);
    assert_eq!(cursor(terminal.screen()), (1, 2));
    assert_eq!(paint(cell(terminal.screen(), 1, 1)), "");
    assert!(terminal.screen().cursor().visible);
    assert!(
        !terminal.screen().rich_modes().application_cursor_keys && !terminal.synchronized_output()
    );
    assert_eq!((terminal.screen().title(), terminal.screen().bells()), ("t", 1));
    terminal.write(b"\r\n\n\n\nY");
    assert_eq!(rows(terminal.screen()), ["", "", "", "Y"]);
}

#[test]
fn a_soft_reset_leaves_the_picture() {
    let terminal = host(
        20,
        12,
        "\x1b[?25l\x1b[4h\x1b[5;6r\x1b[?6h\x1b[?6l\x1b[10;10Habc\x1b[1m\x1b[!pX\x1b[10;10Hq\x1b8z",
    );
    assert_eq!(terminal.screen().row_text(9), "         qbcX");
    assert_eq!(terminal.screen().row_text(0), "z");
    assert_eq!(paint(cell(terminal.screen(), 10, 13)), "");
    assert!(terminal.screen().cursor().visible);
}

#[test]
fn modes_of_the_screen_are_set_and_reset() {
    let on = host(8, 1, "\x1b[?5;2004;1004h\x1b[?25l");
    let screen = on.screen();
    let modes = screen.input_modes();
    assert!(screen.reverse_video() && modes.bracketed_paste && modes.focus_reporting);
    assert!(!screen.cursor().visible);
    let off = host(8, 1, "\x1b[?5;2004;1004h\x1b[?25l\x1b[?5;2004;1004l\x1b[?25h");
    assert!(off.screen() == host(8, 1, "").screen());
    assert!(host(8, 1, "\x1b[?1h").screen().rich_modes().application_cursor_keys);
    assert!(!host(8, 1, "\x1b[?1h\x1b[?1l").screen().rich_modes().application_cursor_keys);
    assert!(host(8, 1, "\x1b[?2026h").synchronized_output());
    assert!(!host(8, 1, "\x1b[?2026h\x1b[?2026l").synchronized_output());
}

#[test]
fn mouse_modes_replace_each_other() {
    for (input, reporting) in [
        ("\x1b[?9h", MouseReporting::X10),
        ("\x1b[?1000h", MouseReporting::Normal),
        ("\x1b[?1001h", MouseReporting::Highlight),
        ("\x1b[?1000h\x1b[?1002h", MouseReporting::ButtonMotion),
        ("\x1b[?1003h", MouseReporting::AnyMotion),
        ("\x1b[?1003h\x1b[?1000l", MouseReporting::Off),
    ] {
        assert_eq!(
            host(8, 1, input).screen().input_modes().mouse_reporting,
            reporting,
            "{input:?}"
        );
    }
    for (input, encoding) in [
        ("\x1b[?1005h", MouseEncoding::Utf8),
        ("\x1b[?1005;1006h", MouseEncoding::Sgr),
        ("\x1b[?1015h", MouseEncoding::Urxvt),
        ("\x1b[?1006h\x1b[?1005l", MouseEncoding::Default),
        ("\x1b[?1016h", MouseEncoding::Default),
    ] {
        assert_eq!(host(8, 1, input).screen().input_modes().mouse_encoding, encoding, "{input:?}");
    }
}

#[test]
fn unknown_sequences_are_swallowed() {
    check(
        8,
        2,
        &[
            ("a\x1b[4 q\x1b[>4;2m\x1b[>1u\x1b[?u\x1b=\x1b>\x1b[?1034h\x1b[18tb", &["ab"], (1, 3)),
            ("a\x1b[1\"q\x1b[61\"p\x1b[1;2;3;4$r\x1b[1;2sb", &["ab"], (1, 3)),
            ("a\x1b[4:3Hc", &["ac"], (1, 3)),
        ],
    );
}

#[test]
fn a_change_of_columns_clears_where_it_is_allowed_and_changes_no_width() {
    for set in ["h", "l"] {
        check(
            8,
            4,
            &[
                (&format!("ab\x1b[?3{set}c"), &["abc"], (1, 4)),
                (&format!("ab\x1b[?40h\x1b[?3{set}c"), &["c"], (1, 2)),
                (&format!("ab\x1b[?40h\x1b[?40l\x1b[?3{set}c"), &["abc"], (1, 4)),
                (
                    &format!("\x1b[2;3r\x1b[?6h\x1b[?40h\x1b[?3{set}a\x1b[3;1Hb\nc"),
                    &["a", "", "b", " c"],
                    (4, 3),
                ),
                (&format!("\x1b[?40hab\x1bcde\x1b[?3{set}f"), &["def"], (1, 4)),
            ],
        );
    }
    for (input, answers) in [
        ("\x1b[?40h\x1b[?40$p\x1b[?3$p", "\x1b[?40;1$y\x1b[?3;2$y"),
        ("\x1b[?3h\x1b[?3$p", "\x1b[?3;2$y"),
        ("\x1b[?40h\x1b[?3h\x1b[?40l\x1b[?3$p\x1b[?3l\x1b[?3$p", "\x1b[?3;1$y\x1b[?3;1$y"),
        ("\x1b[?40h\x1b[?3h\x1b[?3l\x1b[?3$p", "\x1b[?3;2$y"),
    ] {
        assert_eq!(host(8, 1, input).take_replies(), answers.as_bytes(), "{input:?}");
    }
}

/// With mode 41, a tab at the end of a row moves to the next row, as in xterm 379.
#[test]
fn a_tab_wraps_where_a_program_asked_for_it() {
    for (input, rows_told, place) in [
        ("\x1b[?41h\x1b[1;16Hx\tE", &["               x", "        E"][..], (2, 10)),
        ("\x1b[?41h\x1b[?41l\x1b[1;16Hx\tE", &["               x", "E"], (2, 2)),
        ("\x1b[1;16Hx\tE", &["               x", "E"], (2, 2)),
        ("\x1b[?41h\x1b[1;14Hx\tE", &["             x E"], (1, 16)),
        ("\x1b[?41h\x1b[1;15Hx\t\tE", &["              xE"], (1, 16)),
        ("\x1b[?41h\x1b[1;16Hx\x1b[IE", &["               x", "        E"], (2, 10)),
        ("\x1b[?41h\x1b[1;16Hx\x1b[2IE", &["               x", "        E"], (2, 10)),
        ("\x1b[?41h\x1b[1;16Hx\t\tE", &["               x", "               E"], (2, 16)),
        ("\x1b[?41h\x1b[?7l\x1b[1;16Hx\tE", &["               E"], (1, 16)),
        ("\x1b[?41h\x1b[3;16Hx\tE", &["", "               x", "        E"], (3, 10)),
        ("\x1b[?41h\x1b[?69h\x1b[3;6s\x1b[1;6Hx\tE", &["     x", "     E"], (2, 6)),
        ("\x1b[?41h\x1b[1;16Hx\x1b[Z\x1b[?6n", &["               x"], (1, 9)),
        ("\x1b[?41h\x1bc\x1b[1;16Hx\tE", &["               x", "E"], (2, 2)),
        (
            "\x1b[?41h\x1b[?41s\x1b[?41l\x1b[?41r\x1b[1;16Hx\tE",
            &["               x", "        E"],
            (2, 10),
        ),
    ] {
        let terminal = host(16, 3, input);
        assert_eq!(rows(terminal.screen()), rows_told, "{input:?}");
        assert_eq!(cursor(terminal.screen()), place, "{input:?}");
    }
    let mut replica = Terminal::replica(Size::clamped(16, 3));
    replica.write(b"\x1b[?41h\x1b[1;16Hx\t");
    assert_eq!(cursor(replica.screen()), (1, 16));
}
