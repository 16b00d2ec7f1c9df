//! Questions for modes (DECRQM), and modes that programs save and restore (XTSAVE, XTRESTORE). The answers are those of
//! xterm 379, unless a comment says otherwise.

use rove_terminal::{ClusterWidths, Size, Terminal, UserTerminal};

use super::host;

/// Returns the states in answers to DECRQM.
fn states(answers: &[u8]) -> Vec<u8> {
    let text = core::str::from_utf8(answers).expect("ASCII");
    let state = |answer: &str| answer.rsplit(';').next().and_then(|state| state.bytes().next());
    text.split("$y")
        .filter(|answer| !answer.is_empty())
        .filter_map(state)
        .map(|c| c - b'0')
        .collect()
}

/// Returns DECRQM's states of a mode at the start, after it was set, and after it was reset.
fn life(mark: &str, mode: u16) -> Vec<u8> {
    let ask = format!("\x1b[{mark}{mode}$p");
    let input = format!("{ask}\x1b[{mark}{mode}h{ask}\x1b[{mark}{mode}l{ask}");
    states(&host(80, 24, input).take_replies())
}

#[test]
fn modes_that_can_be_changed_are_told_as_they_were_set() {
    // These modes are set at the start.
    for mode in [7, 25, 35, 1010, 1034, 1035, 1040] {
        assert_eq!(life("?", mode), [1, 1, 2], "{mode}");
    }
    assert_eq!(life("", 12), [1, 1, 2]);
    for mode in [
        1, 4, 5, 6, 9, 12, 18, 19, 30, 40, 41, 42, 44, 45, 47, 66, 67, 69, 1000, 1001, 1002, 1003,
        1004, 1005, 1006, 1011, 1015, 1036, 1037, 1039, 1041, 1042, 1043, 1044, 1047, 1049, 1050,
        1051, 1060, 1061, 2001, 2002, 2003, 2004, 2005, 2006,
    ] {
        assert_eq!(life("?", mode), [2, 1, 2], "{mode}");
    }
    for mode in [2, 4, 20] {
        assert_eq!(life("", mode), [2, 1, 2], "{mode}");
    }
    // xterm 379 does not know the first mode, was built without the next three, and does not know the others.
    for mode in [1045, 1014, 1052, 1053, 2026, 2031] {
        assert_eq!(life("?", mode), [2, 1, 2], "{mode}");
    }
    // The user's terminal has this mode on until a program sets it. In xterm it is off.
    assert_eq!(life("?", 1007), [1, 1, 2]);
}

#[test]
fn modes_that_cannot_be_changed_are_told_as_such() {
    for mode in [1, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19] {
        assert_eq!(life("", mode), [4, 4, 4], "{mode}");
    }
    for mode in [8, 46] {
        assert_eq!(life("?", mode), [4, 4, 4], "{mode}");
    }
    assert_eq!(life("?", 14), [3, 3, 3]);
    // A program can restore a saved cursor at any time.
    assert_eq!(life("?", 1048), [1, 1, 1]);
    // Sequences are always ANSI sequences. In xterm, a reset of this mode makes the terminal a VT52.
    assert_eq!(life("?", 2), [1, 1, 1]);
    // An xterm that is built or started to show controls or images, or as a Tektronix, answers 2 or 1.
    assert_eq!(life("", 3), [4, 4, 4]);
    for (mode, state) in
        [(10, 4), (13, 4), (38, 4), (43, 4), (80, 4), (1046, 3), (1070, 3), (8452, 4)]
    {
        assert_eq!(life("?", mode), [state; 3], "{mode}");
    }
}

#[test]
fn programs_learn_whether_the_users_terminal_counts_clusters_and_cannot_change_it() {
    assert_eq!(life("?", 2027), [4, 4, 4]);
    let mut terminal = Terminal::host(Size::DEFAULT);
    let counting = UserTerminal { cluster_widths: ClusterWidths::ALL, ..UserTerminal::default() };
    terminal.set_user_terminal(counting);
    terminal.write(b"\x1b[?2027$p\x1b[?2027l\x1b[?2027$p");
    assert_eq!(terminal.take_replies(), b"\x1b[?2027;3$y\x1b[?2027;3$y");
}

#[test]
fn other_modes_are_unknown() {
    for mode in [0, 11, 34, 36, 53, 57, 64, 68, 70, 73, 81, 95, 96, 117, 1016, 2048, 9999, 65535] {
        assert_eq!(life("?", mode), [0, 0, 0], "{mode}");
    }
    for mode in [0, 6, 8, 9, 21, 22] {
        assert_eq!(life("", mode), [0, 0, 0], "{mode}");
    }
}

#[test]
fn a_reset_brings_every_mode_back_to_the_start() {
    for mode in [4, 12, 35, 45, 67, 95, 1010, 1034, 1045, 2006] {
        let ask = format!("\x1b[?{mode}$p");
        for set in ["h", "l"] {
            let told = host(80, 24, format!("{ask}\x1b[?{mode}{set}\x1bc{ask}")).take_replies();
            let states = states(&told);
            assert_eq!(states[0], states[1], "{mode}{set}");
        }
    }
}

#[test]
fn a_soft_reset_brings_some_modes_back() {
    for (mode, state) in [
        ("?45", 2),
        ("?1045", 2),
        ("?12", 2),
        ("?4", 1),
        ("?40", 1),
        ("?67", 1),
        ("?1007", 1),
        ("2", 2),
        ("20", 1),
    ] {
        let (mark, number) = mode.strip_prefix('?').map_or(("", mode), |number| ("?", number));
        let input = format!("\x1b[{mark}{number}h\x1b[!p\x1b[{mark}{number}$p");
        assert_eq!(states(&host(80, 24, input).take_replies()), [state], "{mode}");
    }
    assert_eq!(states(&host(80, 24, "\x1b[12l\x1b[!p\x1b[12$p").take_replies()), [2]);
}

#[test]
fn private_modes_are_saved_and_restored() {
    for mode in [
        1, 4, 5, 6, 7, 9, 12, 18, 19, 25, 30, 35, 40, 41, 42, 44, 45, 47, 66, 67, 69, 1000, 1001,
        1002, 1003, 1004, 1005, 1006, 1007, 1010, 1011, 1015, 1034, 1035, 1036, 1037, 1039, 1040,
        1041, 1042, 1043, 1044, 1045, 1047, 1049, 1050, 1051, 1060, 1061, 2001, 2002, 2003, 2004,
        2005, 2006, 2026, 2031,
    ] {
        let [set, reset, save, restore, ask] =
            ["h", "l", "s", "r", "$p"].map(|last| format!("\x1b[?{mode}{last}"));
        let input = [
            // The second piece resets the terminal (RIS), which keeps saved values.
            format!("{set}{save}{reset}{restore}{ask}{reset}{save}{set}{restore}{ask}"),
            format!("{set}{restore}{ask}{set}{save}\x1bc{reset}{restore}{ask}"),
        ]
        .concat();
        assert_eq!(states(&host(80, 24, input).take_replies()), [1, 2, 2, 1], "{mode}");
    }
}

#[test]
fn saving_has_its_cases() {
    for (input, answer) in [
        // XTSAVE of any mouse mode saves the mouse mode of this kind that is set.
        (
            "\x1b[?1002h\x1b[?1000s\x1b[?1003h\x1b[?1000r\x1b[?1002$p\x1b[?1003$p",
            "\x1b[?1002;1$y\x1b[?1003;2$y",
        ),
        (
            "\x1b[?1006h\x1b[?1005s\x1b[?1015h\x1b[?1005r\x1b[?1006$p\x1b[?1015$p",
            "\x1b[?1006;1$y\x1b[?1015;2$y",
        ),
        ("\x1b[?1;7s\x1b[?1h\x1b[?7l\x1b[?1;7r\x1b[?1$p\x1b[?7$p", "\x1b[?1;2$y\x1b[?7;1$y"),
        ("\x1b[?25l\x1b[?s\x1b[?25h\x1b[?r\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[?1048h\x1b[3;3H\x1b[?1048r\x1b[6n", "\x1b[1;1R"),
        ("\x1b[?1048s\x1b[3;3H\x1b[?1048r\x1b[6n", "\x1b[1;1R"),
        ("\x1b[5;5H\x1b[?1049s\x1b[3;3H\x1b[?1049r\x1b[6n", "\x1b[3;3R"),
        ("\x1b[?1049h\x1b[?1049s\x1b[?1049l\x1b[?1049r\x1b[?1049$p", "\x1b[?1049;1$y"),
        ("\x1b[?6h\x1b[?6s\x1b[?6l\x1b[3;3H\x1b[?6r\x1b[6n", "\x1b[1;1R"),
        ("\x1b[?69h\x1b[3;8s\x1b[?69s\x1b[?69l\x1b[?69r\x1bP$qs\x1b\\", "\x1bP1$r1;80s\x1b\\"),
        // mc and old versions of vim do this around their use of the mouse.
        (
            "\x1b[?1001s\x1b[?1000h\x1b[?1000l\x1b[?1001r\x1b[?1000$p\x1b[?1001$p",
            "\x1b[?1000;2$y\x1b[?1001;2$y",
        ),
        // A mode that was never saved gets its start value. xterm resets it, even autowrap and the cursor.
        ("\x1b[?7;25l\x1b[?7;25r\x1b[?7$p\x1b[?25$p", "\x1b[?7;1$y\x1b[?25;1$y"),
        (
            "\x1b[?1;1000;2004h\x1b[?1;1000;2004r\x1b[?1$p\x1b[?1000$p\x1b[?2004$p",
            "\x1b[?1;2$y\x1b[?1000;2$y\x1b[?2004;2$y",
        ),
    ] {
        let given = host(80, 24, input).take_replies();
        assert_eq!(
            given.escape_ascii().to_string(),
            answer.as_bytes().escape_ascii().to_string(),
            "{input:?}"
        );
    }
}

#[test]
fn restoring_the_other_screen_leaves_both_as_they_are() {
    let shown = |input: &str| host(12, 2, input).screen().row_text(0);
    assert_eq!(shown("main\x1b[?1049s\x1b[?47hALT\x1b[?1049r"), "main");
    assert_eq!(shown("main\x1b[?47hALT\x1b[?1047s\x1b[?47l\x1b[?1047r"), "    ALT");
}

#[test]
fn restoring_a_size_announcement_announces_only_a_change() {
    let mut terminal = Terminal::host(Size::DEFAULT);
    let pixels =
        UserTerminal { cell_pixels: Some((9, 18)), pixel_mouse: true, ..UserTerminal::default() };
    terminal.set_user_terminal(pixels);
    terminal.write(b"\x1b[?2048h\x1b[?2048s\x1b[?2048r\x1b[?2048l\x1b[?2048r");
    assert_eq!(terminal.take_replies(), b"\x1b[48;24;80;432;720t\x1b[48;24;80;432;720t");
}

#[test]
fn a_replica_saves_nothing() {
    let mut replica = Terminal::replica(Size::DEFAULT);
    replica.write(b"\x1b[?1;5;1007h\x1b[?1;5;1007s\x1b[?1;5l\x1b[?1;5;1007r");
    let screen = replica.screen();
    assert!(!screen.rich_modes().application_cursor_keys && !screen.reverse_video());
    assert_eq!(screen.rich_modes().alternate_scroll, None);
}
