//! Hostile bytes, on a pty or in a diff. The terminal does not panic, hang or grow without bound, and it shows the text
//! that follows.

use rove_terminal::{OscSupport, Renderer, Screen, Size, Terminal, TerminalCapabilities, display};

/// A little more than a megabyte: longer than any string that the terminal keeps.
const ENDLESS_BYTES: usize = (1 << 20) + 1;

/// Most memory a screen of 80x24 may take: its cells and marks, titles and copied text. Chosen: 80 x 24 cells of 16
/// bytes, each with at most 35 bytes of marks and 24 bytes of overhead. The cells count twice because of the hidden
/// screen, and a megabyte is for everything else.
const MEMORY_MAX: u64 = 2 * 80 * 24 * (16 + 35 + 24) + (1 << 20);

/// Most memory that links may add to two screens of 80x24: 64 KiB in each row of a replica. A replica holds old and new
/// links halfway through a diff.
const LINKS_MEMORY_MAX: u64 = MEMORY_MAX + 2 * 24 * 65_536;

/// Most memory of a string that copies nothing: twice its 16 KiB, because a string doubles its memory when it grows.
const STRING_MEMORY_MAX: u64 = 2 * (16_384 + 32);

/// The sequences that begin a string, with 7-bit and 8-bit controls.
const STRINGS: [&str; 12] = [
    "\x1b]",
    "\x1bP",
    "\x1bX",
    "\x1b^",
    "\x1b_",
    "\x1bPq",
    "\x1bP1;2$q",
    "\u{9d}",
    "\u{90}",
    "\u{98}",
    "\u{9e}",
    "\u{9f}",
];

/// Streams with all kinds of sequences.
const CORPUS: [&str; 14] = [
    "plain text\r\n\tand more\x08\x08 \x07\x0b\x0c",
    "e\u{301}一二\u{1f468}\u{200d}\u{1f469}\u{302}é",
    "\x1b[1;4:3;38:2::1:2:3;48;5;200mcolours\x1b[0;31m",
    "\x1b[2;4r\x1b[?6h\x1b[99;99Hx\n\n\x1bM\x1b[L\x1b[3M\x1b[2S\x1b[T",
    "\x1b[?1049halternate\x1b7\x1b[?47l\x1b8\x1b[?1049l",
    "\x1b]0;title\x07\x1b]2;more\x1b\\\x1b]52;c;aGk=\x07\x1b]8;id=a;http://a/\x1b\\l\x1b]8;;\x1b\\",
    "\x1bP$qm\x1b\\\x1b_x\x1b\\\x1b^y\x1b\\\x1bXz\x1b\\",
    "\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?25$p\x1b[18t\x05\x1bZ",
    "\x1b(0lqk\x1b(B\x0ea\x0f\x1bNb\x1b*0\x1bnq\x0f",
    "\x1b[4h一x\x1b[4l\x1b[5@\x1b[3P\x1b[9X\x1b[1K\x1b[2J\x1b#8",
    "\x1b[?7l0123456789012345678901234567890123456789\x1b[?7h01234\x1b[99b",
    "\x1bH\x1b[3g\t\t\x1b[Z\x1b[I\x1b[!p\x1bc\u{9b}31mx\u{85}\u{84}\u{8d}",
    "\x1b]4;1;#123;2;?\x07\x1b]10;#fff;rgb:1/2/3\x1b\\\x1b]104;1\x07\x1b]110\x07\x1b]7;file://h/a\x07\x1b]9;4;1;5\x07",
    "\x1bP+q544e;5463\x1b\\\x1b[=c\x1b[?6n\x1b[x\x1b[14t\x1b[?996n\x1b[?2031;2048h\x1b[?2048$p",
];

fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).expect("an allowed size")
}

fn both(size: Size) -> [Terminal; 2] {
    [Terminal::host(size), Terminal::replica(size)]
}

/// Asserts that the terminal can print in its first row after the end of any string.
#[track_caller]
fn assert_recovers(terminal: &mut Terminal, name: &str) {
    terminal.write(b"\x18\x1bcok");
    assert_eq!(terminal.screen().row_text(0), "ok", "{name}");
    assert!(terminal.bytes_beyond(None).get() < MEMORY_MAX, "{name}");
}

/// Draws a screen on a user's terminal, and returns all bytes.
fn drawn(screen: &Screen) -> Vec<u8> {
    let (drawn, closing) = drawn_and_closed(screen);
    [drawn, closing].concat()
}

/// Draws a screen on a user's terminal. Returns the bytes of the session, and those that restore the terminal.
fn drawn_and_closed(screen: &Screen) -> (Vec<u8>, Vec<u8>) {
    let capabilities = TerminalCapabilities {
        osc: OscSupport { any: true, window: true, ..OscSupport::default() },
        synchronized_output: true,
        ..TerminalCapabilities::default()
    };
    let mut renderer = Renderer::new(capabilities);
    let mut out = renderer.open();
    out.extend(renderer.frame(&Screen::blank(screen.size())));
    out.extend(renderer.frame(screen));
    let mut user = Terminal::host(screen.size());
    user.write(&out);
    assert!(user.take_replies().is_empty(), "a frame asks nothing");
    assert!(!user.synchronized_output(), "a frame ends");
    (out, renderer.close())
}

#[test]
fn strings_without_an_end_are_swallowed_within_bounds() {
    let filler = "A".repeat(4096);
    for start in STRINGS {
        for mut terminal in both(Size::DEFAULT) {
            let idle = terminal.bytes_beyond(None);
            terminal.write(start.as_bytes());
            for _ in 0..=ENDLESS_BYTES / filler.len() {
                terminal.write(filler.as_bytes());
            }
            let kept = terminal.bytes_beyond(None).get() - idle.get();
            assert!(kept <= STRING_MEMORY_MAX, "{start:?} keeps {kept} bytes");
            terminal.write(b"\x1b\\behind");
            assert_eq!(terminal.screen().row_text(0), "behind", "{start:?}");
            assert_recovers(&mut terminal, start);
        }
    }
}

#[test]
fn strings_broken_off_leave_what_follows_alone() {
    for start in STRINGS {
        for (end, shown) in [
            ("\x18x", "x"),
            ("\x1ax", "x"),
            ("\u{9c}x", "x"),
            ("\x1b\\x", "x"),
            ("\x1b[1;3Hx", "  x"),
            ("\u{9b}1;3Hx", "  x"),
            ("\x1b]2;title\x07x", "x"),
            ("\x1bP\x1b_\x1b^\x1bX\x1b]\x1b\\x", "x"),
            ("\x1b\x1b\x1b\\x", "x"),
            ("\x1bcx", "x"),
        ] {
            for mut terminal in both(size(20, 3)) {
                terminal.write(start.as_bytes());
                terminal.write(b"some text");
                terminal.write(end.as_bytes());
                assert_eq!(terminal.screen().row_text(0), shown, "{start:?} {end:?}");
            }
        }
    }
}

#[test]
fn strings_within_strings_end_the_outer_one() {
    for enclosing in STRINGS {
        for inner in STRINGS {
            for mut terminal in both(size(20, 3)) {
                let nested = format!("{enclosing}a{inner}b").repeat(2000);
                terminal.write(nested.as_bytes());
                terminal.write(b"\x1b\\ok");
                assert_eq!(terminal.screen().row_text(0), "ok", "{enclosing:?} {inner:?}");
            }
        }
    }
}

#[test]
fn titles_of_a_megabyte_are_cut_and_put_aside_within_bounds() {
    for letter in ["a", "é", "一", "\u{1f600}"] {
        let title = letter.repeat(ENDLESS_BYTES / letter.len());
        for mut terminal in both(Size::DEFAULT) {
            for number in ["0", "1", "2", ""] {
                terminal.write(format!("\x1b]{number};{title}\x07\x1b[22t").as_bytes());
            }
            terminal.write("\x1b[22t".repeat(1000).as_bytes());
            assert_eq!(terminal.screen().title(), letter.repeat(254));
            assert_eq!(terminal.screen().icon_name(), letter.repeat(254));
            assert_recovers(&mut terminal, letter);
        }
    }
}

#[test]
fn copied_text_of_a_megabyte_is_ignored_and_forgotten() {
    for mut terminal in both(Size::DEFAULT) {
        terminal.write(format!("\x1b]52;c;{}\x07", "A".repeat(ENDLESS_BYTES)).as_bytes());
        assert_eq!(&**terminal.screen().clipboard(), "");
        assert_recovers(&mut terminal, "copied text");
    }
}

#[test]
fn invalid_utf_8_in_every_position_harms_only_what_it_cuts() {
    for bad in [
        &b"\xff"[..],
        b"\x80",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xe4\xb8",
        b"\xf0\x9f\x98",
        b"\xc2",
    ] {
        for text in CORPUS {
            for at in 0..=text.len() {
                let bytes = [&text.as_bytes()[..at], bad, &text.as_bytes()[at..]].concat();
                let [mut host, mut replica] = both(size(30, 6));
                host.write(&bytes);
                let mut pieces = Terminal::host(size(30, 6));
                bytes.chunks(1).for_each(|byte| pieces.write(byte));
                assert!(host.screen() == pieces.screen(), "{}", bytes.escape_ascii());
                assert_eq!(host.take_replies(), pieces.take_replies());
                replica.write(&bytes);
                drawn(host.screen());
                drawn(replica.screen());
                assert_recovers(&mut host, text);
                assert_recovers(&mut replica, text);
            }
        }
    }
}

#[test]
fn text_between_invalid_bytes_survives_in_order() {
    let bad: [&[u8]; 4] = [b"\xff", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80"];
    for bad in bad {
        let bytes = "abcdef".bytes().flat_map(|c| [&[c], bad].concat()).collect::<Vec<_>>();
        let mut terminal = Terminal::host(size(80, 1));
        terminal.write(&bytes);
        terminal.write(b"\x00");
        let text = terminal.screen().row_text(0);
        assert_eq!(text.replace('\u{fffd}', ""), "abcdef", "{}", bytes.escape_ascii());
        assert!(text.matches('\u{fffd}').count() >= 6);
    }
}

#[test]
fn parameters_of_a_thousand_millions_cost_no_more_than_a_screenful() {
    let most = 4 * 24 * 80;
    for last in 0x40..=0x7e_u8 {
        for mark in ["", "?", ">", "<", "=", "!", "$", "?$", " ", "'", "*"] {
            for numbers in ["1000000000", "1000000000;1000000000", ";1000000000;1", "1:1000000000"]
            {
                let (private, intermediate) = match mark {
                    "!" | "$" | " " | "'" | "*" => ("", mark),
                    "?$" => ("?", "$"),
                    _ => (mark, ""),
                };
                let sequence = format!("\x1b[{private}{numbers}{intermediate}{}", char::from(last));
                for mut terminal in both(Size::DEFAULT) {
                    terminal.write("a一e\u{301}".as_bytes());
                    let before = terminal.effort();
                    terminal.write(sequence.as_bytes());
                    let effort = terminal.effort() - before;
                    assert!(effort <= most, "{sequence:?} costs {effort}");
                    drawn(terminal.screen());
                    assert_recovers(&mut terminal, &sequence);
                }
            }
        }
    }
}

#[test]
fn ten_thousand_parameters_are_read_like_the_first_few() {
    for last in 0x40..=0x7e_u8 {
        for (number, separator) in [("1", ";"), ("", ";"), ("38", ":"), ("1000", ";"), ("0", ":")] {
            let numbers = format!("{number}{separator}").repeat(10_000);
            for mark in ["", "?", ">"] {
                let sequence = format!("\x1b[{mark}{numbers}{}", char::from(last));
                for mut terminal in both(size(80, 4)) {
                    terminal.write(b"a");
                    terminal.write(sequence.as_bytes());
                    assert_recovers(&mut terminal, &sequence[..20]);
                }
            }
        }
    }
    let mut terminal = Terminal::host(size(10, 1));
    terminal.write(format!("\x1b[{}31mx", "1;".repeat(10_000)).as_bytes());
    assert_eq!(terminal.screen().row_text(0), "x");
}

#[test]
fn a_new_size_between_any_two_bytes_does_no_harm() {
    let sizes = [(1, 1), (80, 24), (2, 1), (1, 2), (4096, 1), (3, 3), (1, 2048), (20, 6)];
    for start in 0..sizes.len() {
        for text in CORPUS {
            let [mut host, mut replica] = both(Size::DEFAULT);
            let mut hostile = Terminal::replica(Size::DEFAULT);
            let turns = sizes.iter().cycle().skip(start);
            for (byte, (columns, rows)) in text.as_bytes().chunks(1).zip(turns) {
                let size = size(*columns, *rows);
                let before = host.snapshot();
                host.write(byte);
                host.resize(size);
                replica.resize(size);
                replica.write(&display::diff(&before, host.screen(), display::Vocabulary::Rich));
                assert_eq!(replica.screen().cursor(), host.screen().cursor());
                for row in 0..host.screen().size().rows() {
                    assert_eq!(replica.screen().row_text(row), host.screen().row_text(row));
                }
                hostile.resize(size);
                hostile.write(byte);
            }
            drawn(hostile.screen());
            for terminal in [&mut host, &mut hostile] {
                terminal.resize(Size::DEFAULT);
                assert_recovers(terminal, text);
            }
        }
    }
}

#[test]
fn a_question_for_the_clipboard_goes_nowhere() {
    for question in [
        "\x1b]52;c;?\x07",
        "\x1b]52;c;?\x1b\\",
        "\x1b]52;c;?\u{9c}",
        "\u{9d}52;c;?\x07",
        "\x1b]52;;?\x07",
        "\x1b]52;p;?\x07",
        "\x1b]52;cps01234567;?\x07",
        "\x1b]52;c;?",
        "\x1b]52;c;?;aGk=\x07",
        "\x1b]52;c;aGk=?\x07",
        "\x1b]52;c;?aGk=\x07",
        "\x1b]52;c;\x00?\x01\x07",
        "\x1b]52;?;c\x07",
        "\x1b]52;c;\u{ff1f}\x07",
        "\x1b]052;c;?\x07",
        "\x1b]52;c;aGk=\x07\x1b]52;c;?\x07",
        "\x1b]2;\x1b]52;c;?\x07",
        "\x1b]2;a\u{9d}52;c;?\x07",
        "\x1bP\x1b]52;c;?\x07",
        "\x1b]52;c;AAAA\x18\x1b]52;c;?\x07",
    ] {
        for mut terminal in both(Size::DEFAULT) {
            terminal.write(question.as_bytes());
            let clipboard = terminal.screen().clipboard().to_owned();
            assert!(!clipboard.contains('?'), "{question:?} leaves {clipboard:?}");
            assert!(terminal.take_replies().is_empty(), "{question:?}");
            let blank = Screen::blank(Size::DEFAULT);
            let told = usize::from(!clipboard.is_empty());
            for (sent, wanted) in [
                (display::diff(&blank, terminal.screen(), display::Vocabulary::Rich), told),
                (drawn(terminal.screen()), 0),
            ] {
                let copies = sent.windows(5).filter(|window| window == b"\x1b]52;").count();
                assert_eq!(copies, wanted, "{question:?}");
                assert!(!sent.windows(2).any(|window| window == b";?"), "{question:?}");
            }
        }
    }
}

#[test]
fn nothing_a_title_holds_becomes_a_sequence_on_the_users_terminal() {
    for title in ["a\x1bc", "a\u{9b}31m", "a\u{9c}b", "\x07\x07", "a\u{9d}52;c;?", "a\nb\x00"] {
        for mut terminal in both(Size::DEFAULT) {
            terminal.write(format!("\x1b]2;{title}\x1b\\").as_bytes());
            let text = terminal.screen().title().to_owned();
            assert!(!text.contains(char::is_control), "{title:?} is kept as {text:?}");
            let mut user = Terminal::host(Size::DEFAULT);
            user.write(b"\x1b]2;the user's\x07");
            let (drawn, closing) = drawn_and_closed(terminal.screen());
            user.write(&drawn);
            // A program can remove its title only by an empty title, after which the user's own title returns.
            let shown = if text.is_empty() { "the user's" } else { &text };
            assert_eq!(user.screen().title(), shown);
            user.write(&closing);
            assert_eq!(user.screen().title(), "the user's");
        }
    }
}

#[test]
fn marks_in_every_cell_of_two_screens_stay_within_their_bound() {
    let cell = format!("e{}", "\u{e0100}".repeat(64));
    let page = format!("\x1b[H{}", cell.repeat(80 * 24));
    for mut terminal in both(Size::DEFAULT) {
        terminal.write(page.as_bytes());
        terminal.write(b"\x1b[?47h");
        terminal.write(page.as_bytes());
        let bytes = terminal.bytes_beyond(None).get();
        assert!(bytes < MEMORY_MAX, "{bytes} bytes");
        let marks = terminal.screen().row(0).expect("a row of the screen").marks(0).len();
        assert!(1 + marks < 32 + 4, "{marks} bytes of marks");
    }
}

#[test]
fn links_in_every_cell_of_two_screens_stay_within_their_bound() {
    // Each cell of the screen has a different link. The links are so long that a row can hold few of them.
    let page: String = (0..80 * 24)
        .map(|n| format!("\x1b]8;id={n};http://{n:04}/{}\x07x", "y".repeat(2000)))
        .collect();
    for mut terminal in both(Size::DEFAULT) {
        terminal.write(b"\x1b[H");
        terminal.write(page.as_bytes());
        terminal.write(b"\x1b[?47h\x1b[H");
        terminal.write(page.as_bytes());
        let bytes = terminal.bytes_beyond(None).get();
        assert!(bytes < LINKS_MEMORY_MAX, "{bytes} bytes");
        for row in 0..24 {
            assert_eq!(terminal.screen().row_text(row), "x".repeat(80));
        }
        drawn(terminal.screen());
        assert_recovers(&mut terminal, "links");
    }
}

#[test]
fn copying_a_row_costs_what_stands_beside_its_cells_too() {
    let row = |color: &dyn Fn(u16) -> u16| -> String {
        (0..4096).map(|at| format!("\x1b[4;58:5:{}mx", color(at))).collect()
    };
    for terminal in both(size(4096, 2)) {
        let [uniform, motley] = [row(&|_| 1), row(&|at| at % 2)].map(|text| {
            let mut terminal = terminal.clone();
            terminal.write(text.as_bytes());
            let before = terminal.effort();
            terminal.write(b"\x1b[1;1;1;4096;1;2;1;1$v");
            terminal.effort() - before
        });
        assert!(motley >= uniform + 4096 / 2, "{motley} and {uniform}");
    }
}

#[test]
fn colors_set_and_asked_for_without_end_are_bounded() {
    let colors: String =
        (0..100_000).map(|n| format!("\x1b]4;{};#{:06x};{};?\x07", n % 300, n, n % 256)).collect();
    for mut terminal in both(Size::DEFAULT) {
        terminal.write(colors.as_bytes());
        terminal.write(format!("\x1b]4;{}\x07", "1;red;".repeat(10_000)).as_bytes());
        assert!(terminal.take_replies().len() <= 4096);
        assert_recovers(&mut terminal, "colours");
    }
}

/// Sequences that no diff may contain (docs/terminal.md, "Diffs").
const RULES_BROKEN: [&[u8]; 16] = [
    b"\x1b[2;3r",
    b"\x1b[?6h",
    b"\x1b[4h",
    b"\x1b[?7l",
    b"\x1b[3g",
    b"\x1b[?2026h",
    b"\x1b[20h",
    b"\x1b(0\x0e\x1bN",
    b"\x1b[?1049h\x1b7",
    b"\x1b[?1h\x1b=\x1b[?66h",
    b"\x1b[6n\x1b[c\x1b[>c\x1b[?25$p\x1bP$qm\x1b\\\x05",
    b"\x1b]2;unfinished",
    b"\x1b[31",
    b"\xe4\xb8",
    "一\x1b[1;2Hx\x1b[1;80H一\x1b[1;1H\u{301}\u{301}".as_bytes(),
    b"\x1b[65535;65535H\x1b[65535b\x1b[65535@",
];

#[test]
fn diffs_that_break_the_rules_leave_a_screen_that_can_be_drawn_and_left() {
    for first in RULES_BROKEN {
        for second in RULES_BROKEN {
            let mut replica = Terminal::replica(Size::DEFAULT);
            replica.write(b"text before\r\n");
            for diff in [first, second, b"\r\ntext behind", b"\x1b[H\x1b[2Jafter"] {
                replica.write(diff);
                assert!(replica.take_replies().is_empty(), "{first:?} {second:?}");
                let sent = drawn(replica.screen());
                // The user's terminal is restored from any state.
                let mut user = Terminal::host(Size::DEFAULT);
                user.write(&sent);
                let fresh = Terminal::host(Size::DEFAULT);
                assert!(user.screen().cursor().visible, "{first:?} {second:?}");
                assert_eq!(user.screen().pen(), fresh.screen().pen());
                assert_eq!(user.screen().input_modes(), fresh.screen().input_modes());
                assert!(
                    !user.screen().rich_modes().application_cursor_keys
                        && !user.screen().rich_modes().alternate_screen
                );
                user.write(b"\x1b[H\x1b[2Jprompt\r\n\tnext");
                assert_eq!(user.screen().row_text(0), "prompt", "{first:?} {second:?}");
                assert_eq!(user.screen().row_text(1), "        next", "{first:?} {second:?}");
            }
            assert_recovers(&mut replica, "a diff");
        }
    }
}

#[test]
fn a_flood_of_questions_is_answered_up_to_a_bound() {
    let questions = "\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?25$p\x1bP$qm\x1b\\".repeat(20_000);
    let mut terminal = Terminal::host(Size::DEFAULT);
    terminal.write(questions.as_bytes());
    let replies = terminal.take_replies();
    assert!(replies.len() <= 4096, "{} bytes", replies.len());
    assert!(replies.starts_with(b"\x1b[1;1R\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"));
    terminal.write(b"\x1b[6n");
    assert_eq!(terminal.take_replies(), b"\x1b[1;1R");
}
