//! Questions of programs, and their answers.

use rove_terminal::{ClusterWidths, NewerWide, Size, Terminal, UserTerminal};

use super::{host, rows};

#[test]
fn questions_are_answered() {
    for (input, reply) in [
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[5;7H\x1b[6n", "\x1b[5;7R"),
        ("\x1b[5;7r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"),
        ("\x1b[c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
        ("\x1b[0c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
        ("\x1bZ", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
        ("\u{9a}", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
        ("\x1b[62\"p\x1b[c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
        ("\x1b[>c", "\x1b[>1;10;0c"),
        ("\x1b[>0c", "\x1b[>1;10;0c"),
        ("\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[?25l\x1b[?25$p", "\x1b[?25;2$y"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"),
        ("\x1b[?1006h\x1b[?1006$p\x1b[?1005$p", "\x1b[?1006;1$y\x1b[?1005;2$y"),
        ("\x1b[?1003$p", "\x1b[?1003;2$y"),
        ("\x1b[?9999$p", "\x1b[?9999;0$y"),
        ("\x1b[4h\x1b[4$p\x1b[20$p\x1b[99$p", "\x1b[4;1$y\x1b[20;2$y\x1b[99;0$y"),
        ("\x1b[>q", concat!("\x1bP>|rove(", env!("CARGO_PKG_VERSION"), ")\x1b\\")),
        ("\x1b[1;31;48;2;1;2;3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;31;48:2::1:2:3m\x1b\\"),
        ("\x1b[2;5r\x1bP$qr\x1b\\", "\x1bP1$r2;5r\x1b\\"),
        ("\x1b[5 q\x1bP$q q\x1b\\", "\x1bP1$r5 q\x1b\\"),
        ("\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1b[5;7H\x1b[?6n", "\x1b[?5;7;1R"),
        ("\x1b[5;7r\x1b[?6h\x1b[2;3H\x1b[?6n", "\x1b[?2;3;1R"),
        ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
        ("\x1b[x\x1b[1x", "\x1b[2;1;1;128;128;1;0x\x1b[3;1;1;128;128;1;0x"),
        ("\x1b[18t", "\x1b[8;24;80t"),
        ("\x1b[?2031$p\x1b[?2031h\x1b[?2031$p", "\x1b[?2031;2$y\x1b[?2031;1$y"),
        ("\x1b[6n\x1b[5n", "\x1b[1;1R\x1b[0n"),
    ] {
        let reply_given = host(80, 24, input).take_replies();
        assert_eq!(
            reply_given.escape_ascii().to_string(),
            reply.as_bytes().escape_ascii().to_string()
        );
    }
}

#[test]
fn other_questions_are_not_answered() {
    for input in [
        "\x1b[1c\x1b[>1c",
        "\x1b[?n\x1b[?1n\x1b[?7n\x1b[?14n\x1b[?61n\x1b[?99n",
        "\x1b[2x",
        "\x1b[11t\x1b[14t\x1b[16t\x1b[20t\x1b[21t",
        "\x1b[?996n",
        "\x1b[?2031h",
        "\x1b]2;title\x07\x1b[21t",
        "\x1b]10;?\x07\x1b]11;?\x07\x1b]12;?\x07",
        "\x1b]9;?\x07\x1b]13;?\x07\x1b]20;?\x07\x1b]4;261;?\x07\x1b]5;5;?\x07\x1b]4;x;?\x07\x1b]104;?\x07",
        "\x1b[=1c",
        "\x05",
        "\x1bP+q\x1b\\\x1bP+q;;\x1b\\",
    ] {
        let mut terminal = host(80, 24, input);
        assert!(terminal.take_replies().is_empty(), "{input:?}");
        assert!(rows(terminal.screen()).is_empty());
    }
}

#[test]
fn a_replica_answers_nothing() {
    let mut replica = Terminal::replica(Size::DEFAULT);
    replica.write(b"\x1b[5n\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?25$p\x1bP$qm\x1b\\");
    assert!(replica.take_replies().is_empty());
}

#[test]
fn a_flood_of_questions_stays_within_its_bound() {
    let mut terminal = host(80, 24, "\x1b[5n".repeat(1024));
    assert_eq!(terminal.clone().take_replies().len(), 4096);
    terminal.write(b"\x1b[5n");
    assert_eq!(terminal.take_replies().len(), 4096);
    terminal.write(b"\x1b[5n");
    assert_eq!(terminal.take_replies(), b"\x1b[0n");
}

#[test]
fn terminfo_is_told_by_name() {
    for (names, answers) in [
        ("544e", "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\"),
        ("5463", "\x1bP1+r5463\x1b\\"),
        ("524742", "\x1bP1+r524742=382F382F38\x1b\\"),
        ("436F;636f6c6f7273", "\x1bP1+r436F=323536\x1b\\\x1bP1+r636f6c6f7273=323536\x1b\\"),
        ("536D756C78", "\x1bP1+r536D756C78=1B5B343A25703125646D\x1b\\"),
        ("4D73", "\x1bP1+r4D73=1B5D35323B25703125733B257032257307\x1b\\"),
        ("7878;5375", "\x1bP0+r7878\x1b\\\x1bP1+r5375\x1b\\"),
        ("5", "\x1bP0+r\x1b\\"),
        ("5g", "\x1bP0+r\x1b\\"),
        ("+5", "\x1bP0+r\x1b\\"),
        ("54\u{e9}", "\x1bP0+r\x1b\\"),
    ] {
        let given = host(80, 24, format!("\x1bP+q{names}\x1b\\")).take_replies();
        assert_eq!(given.escape_ascii().to_string(), answers.as_bytes().escape_ascii().to_string());
    }
}

#[test]
fn many_names_in_one_question_are_answered_up_to_a_bound() {
    let answers = |names: usize, last: &str| {
        let text = ["5463;".repeat(names), last.to_owned()].concat();
        let replies = host(80, 24, format!("\x1bP+q{text}\x1b\\")).take_replies();
        replies.len() / "\x1bP1+r5463\x1b\\".len()
    };
    assert_eq!(answers(204, "5463"), 205);
    // A string of more than 1024 bytes is not a question.
    assert_eq!(answers(204, "54635"), 0);
}

/// A user's terminal with all facts known.
const KNOWN: UserTerminal = UserTerminal {
    kitty_keyboard: false,
    pixel_mouse: true,
    screen_checksums: false,
    read_copied: false,
    foreground: Some((0xd0, 0xd1, 0xd2)),
    background: Some((0x10, 0x11, 0x12)),
    cursor: Some((0xff, 0x80, 0)),
    cell_pixels: Some((9, 18)),
    cluster_widths: ClusterWidths::CODE_POINTS,
    newer_wide: NewerWide::NONE,
};

fn knowing(user_terminal: UserTerminal) -> Terminal {
    let mut terminal = Terminal::host(Size::DEFAULT);
    terminal.set_user_terminal(user_terminal);
    terminal
}

#[track_caller]
fn assert_answered(terminal: &mut Terminal, input: &str, replies: &str) {
    terminal.write(input.as_bytes());
    let given = terminal.take_replies();
    assert_eq!(
        given.escape_ascii().to_string(),
        replies.as_bytes().escape_ascii().to_string(),
        "{input:?}"
    );
}

#[test]
fn the_users_terminal_is_told_where_it_is_known() {
    for (input, replies) in [
        ("\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d1d1/d2d2\x07"),
        (
            "\x1b]10;?;?;?\x1b\\",
            "\x1b]10;rgb:d0d0/d1d1/d2d2\x1b\\\x1b]11;rgb:1010/1111/1212\x1b\\\x1b]12;rgb:ffff/8080/0000\x1b\\",
        ),
        ("\x1b]11;#fedcba\x07\x1b]11;?\x07", "\x1b]11;rgb:fefe/dcdc/baba\x07"),
        ("\x1b]11;#fedcba;\x07\x1b]111\x07\x1b]11;?\x07", "\x1b]11;rgb:1010/1111/1212\x07"),
        ("\x1bc\x1b]11;?\x07", "\x1b]11;rgb:1010/1111/1212\x07"),
        ("\x1b[>c", "\x1b[>41;379;0c"),
        ("\x1b[>0c", "\x1b[>41;379;0c"),
        ("\x1b[?996n", "\x1b[?997;1n"),
        // A background that a program sets is not the user's choice.
        ("\x1b]11;#fff\x07\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b[14t\x1b[16t\x1b[18t", "\x1b[4;432;720t\x1b[6;18;9t\x1b[8;24;80t"),
        ("\x1b[?2048h", "\x1b[48;24;80;432;720t"),
    ] {
        assert_answered(&mut knowing(KNOWN), input, replies);
    }
    let light = UserTerminal { background: Some((0xff, 0xff, 0xff)), ..KNOWN };
    assert_answered(&mut knowing(light), "\x1b[?996n", "\x1b[?997;2n");
}

#[test]
fn programs_that_ask_for_colours_hear_when_they_change() {
    let mut terminal = knowing(UserTerminal::default());
    terminal.set_user_terminal(KNOWN);
    assert_answered(&mut terminal, "\x1b[?2031h", "");
    let light = UserTerminal { background: Some((0xff, 0xff, 0xff)), ..KNOWN };
    for (user_terminal, replies) in [
        (KNOWN, ""),
        (light, "\x1b[?997;2n"),
        (UserTerminal { cell_pixels: Some((8, 16)), ..light }, ""),
        (KNOWN, "\x1b[?997;1n"),
        (UserTerminal { background: None, ..KNOWN }, ""),
    ] {
        terminal.set_user_terminal(user_terminal);
        assert_answered(&mut terminal, "", replies);
    }
    terminal.write(b"\x1b[?2031l");
    terminal.set_user_terminal(light);
    assert_answered(&mut terminal, "", "");
}

#[test]
fn programs_that_ask_for_the_size_hear_when_it_changes() {
    let mut terminal = knowing(KNOWN);
    assert_answered(&mut terminal, "\x1b[?2048$p", "\x1b[?2048;2$y");
    assert_answered(&mut terminal, "\x1b[?2048h", "\x1b[48;24;80;432;720t");
    assert_answered(&mut terminal, "\x1b[?2048$p", "\x1b[?2048;1$y");
    terminal.resize(Size::DEFAULT);
    assert_answered(&mut terminal, "", "");
    terminal.resize(Size::clamped(100, 30));
    assert_answered(&mut terminal, "", "\x1b[48;30;100;540;900t");
    terminal.set_user_terminal(UserTerminal { cell_pixels: Some((10, 20)), ..KNOWN });
    assert_answered(&mut terminal, "", "\x1b[48;30;100;600;1000t");
    assert_answered(&mut terminal, "\x1b[?2048l\x1b[?2048$p", "\x1b[?2048;2$y");
    terminal.write(b"\x1b[?2048h\x1bc");
    terminal.take_replies();
    terminal.resize(Size::DEFAULT);
    assert_answered(&mut terminal, "", "");
}

/// Programs assume that a terminal that reports its size also reports the mouse in pixels.
#[test]
fn a_terminal_without_pixels_announces_its_size_to_nobody() {
    let cells = UserTerminal { pixel_mouse: false, ..KNOWN };
    let unknown = UserTerminal { cell_pixels: None, ..KNOWN };
    for poor in [cells, unknown, UserTerminal::default()] {
        let mut terminal = knowing(poor);
        for input in ["", "\x1b[?2048s\x1b[?2048r", "\x1b[?2048h", "\x1b[?2048l", "\x1b[?2048h"] {
            terminal.write(input.as_bytes());
            assert_answered(&mut terminal, "\x1b[?2048$p", "\x1b[?2048;0$y");
        }
        terminal.resize(Size::clamped(100, 30));
        terminal.set_user_terminal(KNOWN);
        assert_answered(&mut terminal, "\x1b[?2048$p", "\x1b[?2048;2$y");
    }
}

#[test]
fn a_flood_of_sizes_stays_within_the_bound() {
    let mut terminal = knowing(KNOWN);
    terminal.write(b"\x1b[?2048h");
    for columns in 0..1000 {
        terminal.resize(Size::clamped(1 + columns, 24));
    }
    assert!((4000..=4096).contains(&terminal.take_replies().len()));
}
