//! Unicode: combining and wide characters, broken input, character sets, strings.

use super::{cell, check, cursor, host, paint, rows};

#[test]
fn latin_1_takes_one_column_each() {
    for range in ['\u{20}'..='\u{7e}', '\u{a0}'..='\u{ff}'] {
        for c in range {
            assert_eq!(cursor(host(8, 1, c.to_string()).screen()), (1, 2), "{c:?}");
        }
    }
}

#[test]
fn a_page_of_latin_1_keeps_its_columns() {
    let printable = ('\u{20}'..='\u{7e}').chain('\u{a0}'..='\u{ff}');
    let entries: Vec<String> = printable.map(|c| format!("{:02x} {c} ", u32::from(c))).collect();
    let lines: Vec<String> = entries.chunks(16).map(<[String]>::concat).collect();
    let shown = rows(host(80, 24, lines.join("\r\n")).screen());
    let expected: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(' ')).collect();
    assert_eq!(shown, expected);
}

#[test]
fn combining_characters_join_what_stands_there() {
    check(
        8,
        3,
        &[
            ("e\u{301}x", &["e\u{301}x"], (1, 3)),
            ("\u{302}x", &["\u{a0}\u{302}x"], (1, 3)),
            ("abc\r\n\u{302}\r\ndef", &["abc", "\u{a0}\u{302}", "def"], (3, 4)),
            ("0\x1b[1J\u{334}x", &["\u{a0}\u{334} x"], (1, 4)),
            ("abc\x1b[1;1H\u{302}", &["a\u{302}bc"], (1, 1)),
            ("abcdefgh\u{302}i", &["abcdefgh\u{302}", "i"], (2, 2)),
            ("a\u{200b}b", &["a\u{200b}b"], (1, 3)),
            ("\u{2764}\u{fe0f}x", &["\u{2764}\u{fe0f}x"], (1, 3)),
            ("\u{1f468}\u{200d}\u{1f469}x", &["\u{1f468}\u{200d}\u{1f469}x"], (1, 6)),
            ("一\x1b[1;2H\u{302}", &["一\u{302}"], (1, 2)),
            ("e\u{301}\x1b[1;1H\x1b[@x", &["xe\u{301}"], (1, 2)),
            ("abe\u{301}\x1b[1;1H\x1b[2P", &["e\u{301}"], (1, 1)),
            ("abe\u{301}\x1b[1;2H\x1b[2Px", &["ax"], (1, 3)),
            ("e\u{301}\x1b[1;1Hx", &["x"], (1, 2)),
            ("a\u{302}\x1b[31m\u{301}", &["a\u{302}\u{301}"], (1, 2)),
            ("a\x1b[3;8H\u{302}", &["a", "", "       \u{a0}\u{302}"], (3, 8)),
        ],
    );
}

#[test]
fn a_cell_keeps_32_bytes_of_text_and_the_character_that_passes_them() {
    // The base takes a byte, and each mark two. The sixteenth mark reaches 33 bytes and is the last.
    for (marks, kept) in [(15, 15), (16, 16), (17, 16), (40, 16)] {
        let terminal = host(8, 1, format!("e{}x", "\u{301}".repeat(marks)));
        let row = terminal.screen().row(0).unwrap();
        assert_eq!(row.marks(0).chars().count(), kept);
        assert_eq!(cursor(terminal.screen()), (1, 3));
    }
}

#[test]
fn wide_characters_never_stand_across_the_edge() {
    check(
        8,
        2,
        &[
            ("aaaaaaa一x", &["aaaaaaa", "一x"], (2, 4)),
            ("aaaaaa一x", &["aaaaaa一", "x"], (2, 2)),
            ("\x1b[?7laaaaaaa一", &["aaaaaaa"], (1, 8)),
            ("\x1b[?7laaaaaaaa一", &["aaaaaaa"], (1, 8)),
            ("\x1b[1;8H\x1b[4h一", &["", "一"], (2, 3)),
        ],
    );
    check(1, 2, &[("一x", &["x"], (1, 1)), ("\x1b[?7l一", &[], (1, 1))]);
}

#[test]
fn a_half_overwritten_wide_character_goes_whole() {
    check(
        8,
        2,
        &[
            ("一b\x1b[1;1Hx", &["x b"], (1, 2)),
            ("一b\x1b[1;2Hx", &[" xb"], (1, 3)),
            ("一二三\x1b[1;1H\x1b[P", &[" 二三"], (1, 1)),
            ("一二三\x1b[1;2H\x1b[P", &[" 二三"], (1, 2)),
            ("一二三\x1b[1;2H\x1b[X", &["  二三"], (1, 2)),
            ("一二三\x1b[1;3H\x1b[1K", &["    三"], (1, 3)),
            ("一二三\x1b[1;4H\x1b[K", &["一"], (1, 4)),
            ("一二三\x1b[1;2H\x1b[4hX", &[" X 二三"], (1, 3)),
            ("一二三四\x1b[1;1H\x1b[@", &[" 一二三"], (1, 1)),
            ("一二\x1b[1;2H三", &[" 三"], (1, 4)),
            ("一二\x1b[1;4H\x1b[@", &["一"], (1, 4)),
            ("一二三\x1b[1;1H\x1b[4hX", &["X一二三"], (1, 2)),
            ("一二三\x1b[1;3H\x1b[4h四", &["一四二三"], (1, 5)),
            ("一二三四\x1b[1;1H\x1b[4hX", &["X一二三"], (1, 2)),
            ("一二三\x1b[1;2H\x1b[3X", &["    三"], (1, 2)),
            ("一二三\x1b[1;2H\x1b[2P", &["  三"], (1, 2)),
            ("一二三\x1b[1;4H\x1b[J", &["一"], (1, 4)),
            ("一二三\x1b[1;3H\x1b[1J", &["    三"], (1, 3)),
        ],
    );
}

#[test]
fn the_right_half_has_the_background_of_the_left() {
    let terminal = host(8, 1, "\x1b[1;31;42m一");
    assert_eq!(paint(cell(terminal.screen(), 1, 1)), "b on 1 at 2");
    assert_eq!(paint(cell(terminal.screen(), 1, 2)), "at 2");
    assert_eq!(cell(terminal.screen(), 1, 2).base, None);
}

#[test]
fn broken_text_is_replaced_and_costs_nothing_else() {
    let input = b"a\xffb\xc0\x80c\xed\xa0\x80d\xf8\x88\x80\x80\x80e\xe4\xb8Zf";
    let text = rows(host(40, 1, input).screen()).concat();
    assert_eq!(text.replace('\u{fffd}', ""), "abcdeZf");
    assert_eq!(
        text,
        "a\u{fffd}b\u{fffd}\u{fffd}c\u{fffd}\u{fffd}\u{fffd}d\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}e\u{fffd}Zf"
    );
}

#[test]
fn a_lone_c1_byte_is_broken_text_and_a_coded_one_a_control() {
    assert_eq!(rows(host(9, 1, b"a\x9b31mb").screen()), ["a\u{fffd}31mb"]);
    let terminal = host(9, 1, "a\u{9b}31mb");
    assert_eq!(rows(terminal.screen()), ["ab"]);
    assert_eq!(paint(cell(terminal.screen(), 1, 2)), "on 1");
}

#[test]
fn character_sets_are_translated_when_printed() {
    check(
        10,
        2,
        &[
            ("\x1b(0lqk\x1b(B\x0eabc\x0fdef", &["┌─┐abcdef"], (1, 10)),
            ("\x1b)0a\x0eqx\x0fq", &["a─│q"], (1, 5)),
            ("\x1b*0\x1bNqq", &["─q"], (1, 3)),
            ("\x1b+0\x1bOqq", &["─q"], (1, 3)),
            ("\x1b*0\x1bnq\x0fq", &["─q"], (1, 3)),
            ("\x1b+0\x1boq\x0fq", &["─q"], (1, 3)),
            ("\x1b(A#\x1b(B#\x1b(K#", &["£##"], (1, 4)),
            ("\x1b(0q\x1bcq", &["q"], (1, 2)),
            ("\x1b%Ga\x1b(1b", &["ab"], (1, 3)),
        ],
    );
}

#[test]
fn nul_and_del_are_nothing() {
    check(8, 1, &[("a\x00b\x7fc", &["abc"], (1, 4)), ("a\x05\x11b", &["ab"], (1, 3))]);
}

#[test]
fn strings_are_swallowed() {
    check(
        8,
        2,
        &[
            ("\x1bP#0;2~\x1b\\x", &["x"], (1, 2)),
            ("\x1bPq#0;2;0;0;0~~@@vv\x1b\\x", &["x"], (1, 2)),
            ("\x1b_hidden\x1b\\x", &["x"], (1, 2)),
            ("\x1b^pm\x1b\\y", &["y"], (1, 2)),
            ("\x1bXsos\x1b\\z", &["z"], (1, 2)),
            ("\x1b]2;abc\x18def", &["def"], (1, 4)),
            ("\x1b]8;id=foo;http://example.com\x07link\x1b]8;;\x1b\\ x", &["link x"], (1, 7)),
            ("\x1b]133;A\x07$ \x1b]7;file:///\x1b\\x", &["$ x"], (1, 4)),
        ],
    );
}

#[test]
fn the_width_of_a_character_is_known_to_both_ends() {
    // Marks, joiners, flags, emoji, jamo, private use: the text after them keeps its column.
    for text in [
        "\u{2764}\u{fe0f}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{1f1e9}\u{1f1ea}",
        "\u{1f44d}\u{1f3fd}",
        "1\u{fe0f}\u{20e3}",
        "\u{1112}\u{1161}\u{11ab}",
        "\u{e0b0}\u{f0001}",
        "\u{0e33}\u{0b95}\u{0bcd}",
        "\u{feff}\u{2060}\u{200e}",
        "\u{3099}\u{ff9e}\u{fffd}",
    ] {
        let input = format!("[{text}]\r\n{text}|\x1b[1;1H{text}|\x1b[5G+\x1b[2;3H\x1b[P");
        let terminal = host(20, 3, &input);
        assert_eq!(terminal.screen().row(0).unwrap().cells()[4].base, Some('+'), "{input:?}");
    }
}

#[test]
fn an_endless_string_is_swallowed_too() {
    let mut terminal = host(8, 1, "a\x1b]52;c;");
    (0..64).for_each(|_| terminal.write(&[b'A'; 4096]));
    terminal.write(b"\x07b");
    assert_eq!(rows(terminal.screen()), ["ab"]);
    assert_eq!(&**terminal.screen().clipboard(), "");
}
