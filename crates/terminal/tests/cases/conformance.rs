//! DECSCL's levels, settings (DECRQSS), devices (DECDSR) and checksums (DECRQCRA). They are as in xterm 379, unless a
//! comment says otherwise.

use rove_terminal::{Size, Terminal, UserTerminal};

use super::{host, rows};

#[track_caller]
fn assert_answers(cases: &[(&str, &str)]) {
    for (input, answer) in cases {
        let given = host(80, 24, input).take_replies();
        let answer = answer.as_bytes().escape_ascii().to_string();
        assert_eq!(given.escape_ascii().to_string(), answer, "{input:?}");
    }
}

#[test]
fn settings_are_told() {
    for (input, setting, told) in [
        ("", "m", "0m"),
        ("", "\"p", "64;1\"p"),
        ("", "r", "1;24r"),
        ("", "s", "1;80s"),
        ("\x1b[?69h\x1b[3;10s", "s", "3;10s"),
        ("\x1b[3;10s", "s", "1;80s"),
        ("", "t", "24t"),
        ("", "$|", "80$|"),
        ("", "*|", "24*|"),
        ("", "\"q", "0\"q"),
        ("\x1b[1\"q", "\"q", "1\"q"),
        ("\x1b[2\"q", "\"q", "0\"q"),
        ("\x1b[1\"q\x1b[1m\x1b[m", "\"q", "1\"q"),
        ("\x1bV", "\"q", "0\"q"),
        ("\x1bV\x1bW", "\"q", "0\"q"),
        ("\x1b[1 q", " q", "1 q"),
        ("\x1b[6 q", " q", "6 q"),
        // The style 0 is the user's own cursor, which xterm does not have.
        ("\x1b[0 q", " q", "0 q"),
        // There is no status line. An xterm that hides its status line gives the same answers. The recorded xterm was
        // built without a status line.
        ("\x1b[1$}", "$}", "0$}"),
        ("\x1b[2$~", "$~", "0$~"),
    ] {
        assert_answers(&[(
            &format!("{input}\x1bP$q{setting}\x1b\\"),
            &format!("\x1bP1$r{told}\x1b\\"),
        )]);
    }
    for name in ["*x", "$q", "z", "", "|", "\"v", "+q", "mm", "x", "*}", ",|", " p", " r"] {
        assert_answers(&[(&format!("\x1bP$q{name}\x1b\\"), "\x1bP0$r\x1b\\")]);
    }
}

#[test]
fn a_level_is_chosen_and_told() {
    for (level, told) in [
        ("61", 61),
        ("62", 62),
        ("62;0", 62),
        ("62;1", 62),
        ("63;1", 63),
        ("64;2", 64),
        // xterm knows this level only if it is started as a VT500.
        ("65;1", 65),
        ("66", 64),
        ("60", 64),
        ("", 64),
        ("62;1\"p\x1bc\x1b[", 62),
        ("62;1\"p\x1b[!p\x1b[", 62),
    ] {
        // xterm does not answer at level 1. After 62;0 it answers with 8-bit controls.
        let input = format!("\x1b[{level}\"p\x1bP$q\"p\x1b\\");
        assert_answers(&[(&input, &format!("\x1bP1$r{told};1\"p\x1b\\"))]);
    }
}

#[test]
fn a_change_of_level_is_a_soft_reset() {
    assert_answers(&[
        ("\x1b[?1;6h\x1b[64;1\"p\x1b[?1$p\x1b[?6$p", "\x1b[?1;2$y\x1b[?6;2$y"),
        ("\x1b[?1049h\x1b[64;1\"p\x1b[?1049$p", "\x1b[?1049;1$y"),
        ("\x1b[4h\x1b[64;1\"p\x1b[4$p", "\x1b[4;2$y"),
        (
            "\x1b[?25l\x1b[1;3;31m\x1b[64;1\"p\x1bP$qm\x1b\\\x1b[?25$p",
            "\x1bP1$r0m\x1b\\\x1b[?25;1$y",
        ),
        ("abc\x1b[64;1\"p\x1b[6n", "\x1b[1;4R"),
        ("\x1b[?69h\x1b[3;8s\x1b[63;1\"p\x1b[64;1\"p\x1bP$qs\x1b\\", "\x1bP1$r1;80s\x1b\\"),
    ]);
    assert_eq!(rows(host(8, 2, "abc\x1b[62;1\"p").screen()), ["abc"]);
}

#[test]
fn a_level_has_the_reports_of_its_terminals() {
    // Each question, and the first level at which it is answered.
    for (question, least, answer) in [
        ("\x1b[?15n", 2, "\x1b[?13n"),
        ("\x1b[?25n", 2, "\x1b[?20n"),
        // The recorded xterm answers 53, because it was built with a locator.
        ("\x1b[?53n", 3, "\x1b[?50n"),
        ("\x1b[?55n", 3, "\x1b[?50n"),
        ("\x1b[?56n", 3, "\x1b[?57;0n"),
        ("\x1b[?62n", 4, "\x1b[0000*{"),
        ("\x1b[?62;1n", 4, "\x1b[0000*{"),
        ("\x1b[?63n", 4, "\x1bP0!~0000\x1b\\"),
        ("\x1b[?63;7n", 4, "\x1bP7!~0000\x1b\\"),
        ("\x1b[?63;70000n", 4, "\x1bP65535!~0000\x1b\\"),
        ("\x1b[?75n", 4, "\x1b[?70n"),
        ("\x1b[?85n", 4, "\x1b[?83n"),
        ("\x1b[=c", 4, "\x1bP!|00000000\x1b\\"),
        ("\x1b[4$p", 3, "\x1b[4;2$y"),
        ("\x1b[?7$p", 1, "\x1b[?7;1$y"),
        ("\x1bP$qm\x1b\\", 1, "\x1bP1$r0m\x1b\\"),
        ("\x1b[18t", 1, "\x1b[8;24;80t"),
        ("\x1b[?5n", 1, "\x1b[?0n"),
        ("\x1b[5n", 1, "\x1b[0n"),
        ("\x1b[6n", 1, "\x1b[1;1R"),
    ] {
        for level in 1..=5 {
            let answer = if level < least { "" } else { answer };
            assert_answers(&[(&format!("\x1b[6{level};1\"p{question}"), answer)]);
        }
        assert_answers(&[(question, answer)]);
    }
    for (level, answers) in [
        (1, "\x1b[?1;1R"),
        (2, "\x1b[?1;1R\x1b[?27;1n"),
        (3, "\x1b[?1;1;1R\x1b[?27;1;0n"),
        (4, "\x1b[?1;1;1R\x1b[?27;1;0;0n"),
    ] {
        assert_answers(&[(&format!("\x1b[6{level};1\"p\x1b[?6n\x1b[?26n"), answers)]);
    }
}

#[test]
fn a_level_has_the_functions_of_its_terminals() {
    for (input, least, below, shown) in [
        ("\x1b[88;1;1;2;2$x", 4, "", "XX|XX"),
        ("abcd\x1b[1;1;1;2$z", 4, "abcd", "  cd"),
        ("abcd\x1b[1;1;1;2${", 4, "abcd", "  cd"),
        ("ab\x1b[1;1;1;2;1;2;1;1$v", 4, "ab", "ab|ab"),
        ("abc\r\x1b[2'}", 4, "abc", "  abc"),
        ("abc\r\x1b['~", 4, "abc", "bc"),
        ("abc\r\x1b6", 4, "abc", " abc"),
        ("\x1b[16Gx\x1b[16G\x1b9", 4, "               x", "              x"),
        ("abc\r\x1b[2X", 1, "", "  c"),
        ("abc\r\x1b[@", 1, "", " abc"),
        ("abc\r\x1b[P", 1, "", "bc"),
        ("\x1b[1\"qab\x1b[0\"qcd\x1b[?2K", 1, "", "ab"),
        ("ab\x1bVcd\x1bW\x1b[2K", 1, "", "  cd"),
        ("abc\r\x1b[ A", 1, "", " abc"),
        ("abc\x1b[ @", 1, "", "bc"),
        ("a\x1b[3b", 1, "", "aaaa"),
        ("\x1b[?1045h\x1b[2;1H\x08x", 1, "", "               x"),
        ("\x1b[?1049hab", 1, "", "ab"),
    ] {
        for level in 1..=5 {
            let terminal = host(16, 6, format!("\x1b[6{level};1\"p{input}"));
            let expected = if level < least { below } else { shown };
            assert_eq!(rows(terminal.screen()).join("|"), expected, "{input:?} at level {level}");
        }
    }
    // Programs can set side margins from level 4 on.
    for (level, answers) in
        [(3, "\x1b[?69;0$y\x1bP1$r1;80s\x1b\\"), (4, "\x1b[?69;1$y\x1bP1$r3;8s\x1b\\")]
    {
        assert_answers(&[(
            &format!("\x1b[6{level};1\"p\x1b[?69h\x1b[3;8s\x1b[?69$p\x1bP$qs\x1b\\"),
            answers,
        )]);
    }
}

/// xterm has the mode DECNCSM at the level of a VT500.
#[test]
fn at_the_highest_level_a_change_of_columns_may_keep_the_text() {
    for (level, answer, shown) in [(4, "\x1b[?95;0$y", ""), (5, "\x1b[?95;1$y", "ab")] {
        let mut terminal =
            host(8, 2, format!("\x1b[6{level};1\"pab\x1b[?40;95h\x1b[?3h\x1b[?95$p"));
        assert_eq!(terminal.take_replies(), answer.as_bytes());
        assert_eq!(terminal.screen().row_text(0), shown);
        assert_eq!((terminal.screen().cursor().row, terminal.screen().cursor().column), (0, 0));
    }
}

#[test]
fn a_replica_has_one_level() {
    let mut replica = Terminal::replica(Size::clamped(16, 2));
    replica.write(b"\x1b[61;1\"p\x1b[88;1;1;2;2$x");
    assert_eq!(rows(replica.screen()), ["XX", "XX"]);
}

/// Returns the answers of a terminal of 16 columns and 6 rows that plays a recording.
fn checksums(input: &str) -> String {
    let mut terminal = Terminal::host(Size::clamped(16, 6));
    terminal.set_user_terminal(UserTerminal { screen_checksums: true, ..UserTerminal::default() });
    terminal.write(input.as_bytes());
    String::from_utf8(terminal.take_replies()).expect("ASCII")
}

#[track_caller]
fn assert_checksum(input: &str, checksum: &str) {
    assert_eq!(checksums(input), format!("\x1bP1!~{checksum}\x1b\\"), "{input:?}");
}

#[test]
fn a_checksum_is_told_only_where_a_recording_is_played() {
    assert_answers(&[("secret\x1b[1;1;1;1;1;1*y", "")]);
    assert_checksum("secret\x1b[1;1;1;1;1;1*y", "FF8D");
}

#[test]
fn the_checksum_of_a_cell_counts_its_character_and_some_attributes() {
    for (text, checksum) in [
        ("\x1b[1mx", "FF08"),
        ("\x1b[2mx", "FF88"),
        ("\x1b[3mx", "FF88"),
        ("\x1b[4mx", "FF78"),
        ("\x1b[5mx", "FF48"),
        ("\x1b[7mx", "FF68"),
        ("\x1b[8mx", "FFE0"),
        ("\x1b[8;1mx", "FF60"),
        ("\x1b[9mx", "FF88"),
        ("\x1b[53mx", "FF88"),
        ("\x1b[21mx", "FF88"),
        ("\x1b[4:3mx", "FF88"),
        ("\x1b[31;41mx", "FF88"),
        ("\x1b[1;4mx", "FEF8"),
        ("\x1b[1\"qx", "FF88"),
        ("\x1bVx", "FF88"),
        (" ", "FFE0"),
        ("", "FFE0"),
        ("\x1b[1m ", "FF60"),
        ("\x1b[41m\x1b[2J", "FFE0"),
        ("x\r\x1b[X", "FFE0"),
        ("x\r\x1b[K", "FFE0"),
        ("é", "FF17"),
        ("漢", "FFDE"),
        ("─", "0000"),
        ("\x1b(0q", "0000"),
        ("😀", "0000"),
        ("\x1b#8", "FFBB"),
        ("\x1b[120;1;1;2;2$x", "FF88"),
    ] {
        assert_checksum(&format!("{text}\x1b[m\x1b[1;1;1;1;1;1*y"), checksum);
    }
}

#[test]
fn the_checksum_of_a_rectangle_counts_what_was_written_and_its_first_cell() {
    for (input, checksum) in [
        ("abc\x1b[1;1;1;1;1;3*y", "FEDA"),
        ("a b\x1b[1;1;1;1;1;3*y", "FF1D"),
        ("a b   \x1b[1;1;1;1;1;6*y", "FEBD"),
        ("a b\x1b[1;1;1;1;1;6*y", "FF1D"),
        ("   \x1b[1;1;1;1;1;3*y", "FFA0"),
        ("ab\r\ncd\x1b[1;1;1;1;2;2*y", "FE76"),
        ("ab\x1b[1;0;1;1;1;2*y", "FF3D"),
        ("ab\x1b[1;2;1;1;1;2*y", "FF3D"),
        ("ab\x1b[1;1;2;2;1;1*y", "0000"),
        ("ab\x1b[1;1;1;1;99;99*y", "FF3D"),
        ("ab\x1b[1;1;1;1*y", "FF3D"),
        ("ab\x1b[1;1;0;0;1;2*y", "FF3D"),
        ("\x1b[2;3r\x1b[?6h ab\x1b[1;1;1;1;1;3*y", "FF1D"),
        ("ab\x1b[?1049h\x1b[1;1;1;1;1;2*y", "FFE0"),
        ("a\x1b[1;1;7;1;8;1*y", "0000"),
        ("a\x1b[7m \x1b[mb\x1b[1;1;1;1;1;3*y", "FEFD"),
        (" a\x1b[1;1;1;1;1;2*y", "FF7F"),
        ("\x1b[2Ca\x1b[1;1;1;1;1;3*y", "FF7F"),
        ("a\r\n b \r\n\x1b[1;1;1;1;2;3*y", "FEFD"),
        ("漢\x1b[1;1;1;2;1;2*y", "FF01"),
        ("漢\x1b[1;1;1;1;1;2*y", "FEDF"),
        ("\x1b[3;3Hx\x1b[1;1;1;1;6;16*y", "FF68"),
        ("x\r\n\x1b[3Cx\x1b[1;1;1;1;6;16*y", "FF10"),
        ("\x1b[7m\x1b[2J\x1b[1;1;1;1;6;16*y", "FFE0"),
    ] {
        assert_checksum(input, checksum);
    }
    let full = format!("{}\x1b[1;1;1;1;6;16*y", "x".repeat(96));
    assert_checksum(&full, "D300");
    assert_eq!(checksums("ab\x1b[70000;1;1;1;1;2*y"), "\x1bP65535!~FF3D\x1b\\");
}

#[test]
fn checksums_can_be_had_in_other_ways() {
    for (extension, checksum) in [
        (0, "FCF5"),
        (1, "030B"),
        (2, "FD75"),
        (3, "028B"),
        (4, "FC95"),
        (5, "036B"),
        (7, "02EB"),
        (8, "FCF5"),
        (12, "FCF5"),
        (16, "8EF5"),
        (19, "708B"),
        (20, "8E95"),
        (31, "708B"),
        (63, "708B"),
    ] {
        assert_checksum(
            &format!("\x1b[{extension}#y\x1b[1ma\x1b[m é漢\x1b[1;1;1;1;1;8*y"),
            checksum,
        );
    }
    for (input, checksum) in [
        ("\x1b[4#y\x1b[3;3Hx\x1b[1;1;1;1;6;16*y", "F3A8"),
        ("\x1b[12#y\x1b[3;3Hx\x1b[1;1;1;1;6;16*y", "FF88"),
        ("\x1b[1#y\x1bcx\x1b[1;1;1;1;1;1*y", "FF88"),
        ("\x1b[1#y\x1b[!px\x1b[1;1;1;1;1;1*y", "FF88"),
        ("\x1b[1#y\x1b[#yx\x1b[1;1;1;1;1;1*y", "FF88"),
    ] {
        assert_checksum(input, checksum);
    }
}

/// The answers are those of xterm 379, with two exceptions. Bold text is reported in its colour and not in the bright
/// one, and xterm does not know some renditions.
#[test]
fn renditions_are_told_in_the_form_of_xterm() {
    for (set, told) in [
        ("", "0"),
        ("0", "0"),
        ("1", "0;1"),
        ("2", "0;2"),
        ("3", "0;3"),
        ("4", "0;4"),
        ("5", "0;5"),
        ("6", "0;5"),
        ("7", "0;7"),
        ("8", "0;8"),
        ("9", "0;9"),
        ("21", "0;21"),
        ("1;2;3;4;5;7;8;9", "0;1;4;5;7;8;2;3;9"),
        ("30", "0;30"),
        ("31;42", "0;31;42"),
        ("37;40", "0;37;40"),
        ("90", "0;90"),
        ("91;102", "0;91;102"),
        ("97;107", "0;97;107"),
        ("38;5;1", "0;31"),
        ("38;5;9", "0;91"),
        ("38;5;15;48;5;8", "0;97;100"),
        ("38;5;16", "0;38:5:16"),
        ("38:5:196", "0;38:5:196"),
        ("1;38;5;196;48;5;21", "0;1;38:5:196;48:5:21"),
        ("38;2;1;2;3", "0;38:2::1:2:3"),
        ("38:2::1:2:3;48:2:4:5:6", "0;38:2::1:2:3;48:2::4:5:6"),
        ("39;49", "0"),
        // xterm does not know this rendition.
        ("1;31", "0;1;31"),
        ("4:2", "0;21"),
        ("4:3;53", "0;4:3;53"),
        ("4;58;5;1", "0;4;58:5:1"),
        ("4:5;58:2::1:2:3;31", "0;4:5;31;58:2::1:2:3"),
    ] {
        let (input, answer) =
            (format!("\x1b[{set}m\x1bP$qm\x1b\\"), format!("\x1bP1$r{told}m\x1b\\"));
        assert_answers(&[(&input, &answer)]);
        // The reported parameters set the same rendition again.
        let again = format!("\x1b[{set}mX\x1b[H\x1b[{told}mX\x1bP$qm\x1b\\");
        assert_answers(&[(&again, &answer)]);
    }
}
