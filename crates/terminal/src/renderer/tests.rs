use super::*;
use crate::display::{Functions, Repertoire};
use crate::terminal::Terminal;

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x1b', "^").replace('\x07', "!")
}

fn host(input: &str) -> Terminal {
    let mut host = Terminal::host(Size::clamped(20, 3));
    host.write(input.as_bytes());
    host
}

fn capabilities() -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions::ALL,
        osc: OscSupport { any: true, window: true, ..OscSupport::default() },
        title_prefix: "[rove] ".into(),
        alternate_screen: AlternateScreen {
            enter: b"<enter>".to_vec(),
            leave: b"<leave>".to_vec(),
        },
        init: true,
        ..TerminalCapabilities::default()
    }
}

/// A renderer that shows the host's screen, with its title.
fn showing(host: &Terminal, capabilities: TerminalCapabilities) -> Renderer {
    let mut renderer = Renderer::new(capabilities);
    renderer.open();
    renderer.frame(host.screen());
    renderer
}

#[test]
fn the_terminal_is_taken_over_once_and_repainted() {
    let mut renderer = Renderer::new(capabilities());
    assert_eq!(readable(&renderer.open()), "<enter>");
    let first = readable(&renderer.frame(host("$ ").screen()));
    assert!(first.starts_with("^[?5l^[?2004l^[?1004l^[?1003l"), "{first}");
    assert!(first.ends_with("^[r^[m^[H^[2J$ ^[?25h"), "{first}");
    assert_eq!(renderer.frame(host("$ ").screen()), b"");
}

#[test]
fn a_typed_key_does_not_make_the_cursor_blink() {
    let mut renderer = showing(&host("$ l"), capabilities());
    assert_eq!(readable(&renderer.frame(host("$ ls").screen())), "s");
    assert_eq!(readable(&renderer.frame(host("$ ls\x1b[2D").screen())), "\x08\x08");
}

#[test]
fn drawing_elsewhere_hides_the_cursor_meanwhile() {
    let mut renderer = showing(&host("$ "), capabilities());
    let frame = renderer.frame(host("$ \x1b7\x1b[3;1Hx\x1b8").screen());
    assert_eq!(readable(&frame), "^[?25l\r\n\nx^[;3H^[?25h");
}

#[test]
fn scrolled_lines_reach_the_history_of_the_terminal() {
    let mut renderer = showing(&host("first line\r\nsecond line\r\nthird line"), capabilities());
    let next = host("first line\r\nsecond line\r\nthird line\r\nfourth line");
    assert_eq!(readable(&renderer.frame(next.screen())), "^[?25l\n\rfourth line^[?25h");
    let mut renderer =
        showing(&host("first line\r\nsecond line\r\nthird line\x1b[H"), capabilities());
    let frame = readable(&renderer.frame(next.screen()));
    assert_eq!(frame, "^[?25l\n\n\nfourth line^[?25h");
}

#[test]
fn the_window_title_bears_the_prefix_until_the_end() {
    let mut renderer = showing(&host("\x1b]1;icon\x07"), capabilities());
    let titled = host("\x1b]1;icon\x07\x1b]2;hello\x07");
    assert_eq!(readable(&renderer.frame(titled.screen())), "^]2;[rove] hello!");
    let both = host("\x1b]0;h\u{e9}llo\x1b\\");
    assert_eq!(readable(&renderer.frame(both.screen())), "^]0;[rove] h\u{e9}llo!");
    let close = readable(&renderer.close());
    assert!(close.starts_with("^]0;h\u{e9}llo!"), "{close}");
}

#[test]
fn the_users_own_title_returns_when_a_program_gives_its_title_back() {
    let mut renderer = showing(&host(""), capabilities());
    let titled = host("\x1b[22t\x1b]2;vim\x07");
    assert_eq!(readable(&renderer.frame(titled.screen())), "^[22;0t^]2;[rove] vim!");
    let back = host("\x1b[22t\x1b]2;vim\x07\x1b[23t");
    assert_eq!(readable(&renderer.frame(back.screen())), "^]2;!^[23;0t");
    renderer.invalidate();
    let bytes = [renderer.frame(back.screen()), renderer.close()].concat();
    assert!(!readable(&bytes).contains("^]"));
    assert!(!readable(&bytes).contains("^[23"));
}

#[test]
fn titles_are_left_alone_where_none_was_set_or_none_may_be() {
    let mut renderer = showing(&host("$ "), capabilities());
    assert!(!readable(&renderer.close()).contains("^]"));
    let mut renderer =
        Renderer::new(TerminalCapabilities { osc: OscSupport::default(), ..capabilities() });
    let bytes = [renderer.open(), renderer.frame(host("\x1b]2;x\x07").screen()), renderer.close()];
    assert!(!readable(&bytes.concat()).contains("^]"));
}

#[test]
fn a_repaint_repeats_all_and_no_frame_rings_or_copies() {
    let host =
        host("\x1b]2;t\x07\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?5hab\x07\x1b]52;c;YQ==\x07");
    let mut renderer = Renderer::new(capabilities());
    renderer.open();
    let blank = Terminal::host(Size::clamped(20, 3));
    renderer.frame(blank.screen());
    let frame = readable(&renderer.frame(host.screen()));
    assert_eq!(frame, "^[22;0t^]2;[rove] t!^[?5h^[?2004h^[?1002h^[?1006hab");
    renderer.invalidate();
    let frame = readable(&renderer.frame(host.screen()));
    assert!(frame.starts_with("^]2;[rove] t!^[?5l"), "{frame}");
    assert!(frame.contains("^[?5h^[?2004h^[?1002h^[?1006h^[?1h^>^[?25l"), "{frame}");
    assert!(frame.ends_with("^[2Jab^[?25h"), "{frame}");
    assert_eq!(renderer.frame(host.screen()), b"");
}

#[test]
fn closing_resets_whatever_a_program_switched_on() {
    let host = host("\x1b[?2004h\x1b[?1004h\x1b[?1003h\x1b[?1015h\x1b[?5h\x1b[?25l\x1b[1mx");
    let mut renderer = showing(&host, capabilities());
    let close = readable(&renderer.close());
    for reset in [
        "^[?1l", "^>", "^[m", "^[?25h", "^[?5l", "^[?2004l", "^[?1004l", "^[?9l", "^[?1000l",
        "^[?1001l", "^[?1002l", "^[?1003l", "^[?1005l", "^[?1006l", "^[?1015l", "^[?1016l", "^[r",
    ] {
        assert!(close.contains(reset), "{reset} in {close}");
    }
    assert!(close.ends_with("<leave>"), "{close}");
    assert_eq!(renderer.close(), b"", "a second time there is nothing to give back");
}

#[test]
fn after_a_pause_everything_is_drawn_again() {
    let host = host("ab\x07");
    let mut renderer = showing(&host, capabilities());
    renderer.close();
    assert_eq!(readable(&renderer.open()), "<enter>");
    let frame = readable(&renderer.frame(host.screen()));
    assert!(frame.ends_with("^[2Jab^[?25h") && !frame.contains('!'), "{frame}");
}

#[test]
fn a_row_with_a_cluster_is_redrawn_from_there_when_it_changes() {
    let flag = "\u{1f1e9}\u{1f1ea}";
    let mut renderer = showing(&host(&format!("ab {flag} cd\x1b[H")), capabilities());
    let frame = renderer.frame(host(&format!("xb {flag} cd\x1b[H")).screen());
    let expected = "xb ^[K\u{1f1e9}\u{1f1ea}^[?25l^[;6H cd\r^[?25h";
    assert_eq!(readable(&frame), expected);
}

#[test]
fn a_row_that_loses_or_gains_a_cluster_is_redrawn_from_there() {
    let (plain, joined) = (host("a\u{2764} cd\x1b[2H"), host("a\u{2764}\u{fe0f} cd\x1b[2H"));
    for (was, now, expected) in [
        (&plain, &joined, "^[?25l^[;2H^[K\u{2764}\u{fe0f}^[;3H cd\r\n^[?25h"),
        (&joined, &plain, "^[?25l^[;2H^[K\u{2764}^[;3H cd\r\n^[?25h"),
    ] {
        let frame = showing(was, capabilities()).frame(now.screen());
        assert_eq!(readable(&frame), expected);
    }
}

#[test]
fn long_lines_are_left_to_the_terminal_to_wrap() {
    let mut renderer = showing(&host(""), capabilities());
    let frame = renderer.frame(host("0123456789abcdefghijxyz").screen());
    // The first character is written again, because the window may have become wider.
    assert_eq!(readable(&frame), "0123456789abcdefghijx^[?25l^[2Hxyz^[?25h");
}

#[test]
fn a_colour_is_written_as_the_program_wrote_it() {
    for (parameters, expected) in [
        ("31", "31"),
        ("97", "97"),
        ("38;5;1", "38;5;1"),
        ("38;5;8", "38;5;8"),
        ("38;5;15", "38;5;15"),
        ("42", "42"),
        ("100", "100"),
        ("48;5;2", "48;5;2"),
        ("48;5;8", "48;5;8"),
        ("48:5:15", "48;5;15"),
    ] {
        for terminal in [
            capabilities(),
            TerminalCapabilities { repertoire: Repertoire::FULL, ..capabilities() },
        ] {
            let mut renderer = showing(&host(""), terminal);
            let frame = renderer.frame(host(&format!("\x1b[{parameters}mx\x1b[m")).screen());
            assert_eq!(readable(&frame), format!("^[{expected}mx^[m"));
        }
    }
}

#[test]
fn without_bce_coloured_blanks_are_spaces() {
    let mut renderer = showing(
        &host(""),
        TerminalCapabilities {
            functions: Functions { background_color_erase: false, ..Functions::ALL },
            ..capabilities()
        },
    );
    let frame = readable(&renderer.frame(host("\x1b[44m\x1b[K").screen()));
    assert_eq!(frame, "^[44m                    \r");
}

#[test]
fn without_ech_blanks_are_spaces() {
    let mut renderer = showing(
        &host("0123456789"),
        TerminalCapabilities {
            functions: Functions { erase_characters: false, ..Functions::ALL },
            ..capabilities()
        },
    );
    let frame = readable(&renderer.frame(host("0123456789\r\x1b[7X").screen()));
    assert_eq!(frame, "^[?25l\r       \r^[?25h");
}

#[test]
fn a_terminal_without_absolute_motions_and_keypad_gets_none_of_them() {
    let frames =
        ["0123456789abcdefghij\x1b=", "\x1b[3;20Hx\x1b[;20H", "\x1b[3;15H", "\x1b[;3H", ""];
    for has in [Functions::default(), Functions { absolute_rows: true, ..Functions::default() }] {
        let mut renderer = Renderer::new(TerminalCapabilities { functions: has, ..capabilities() });
        renderer.follow(Vocabulary::Rich);
        let (mut written, mut user) = (renderer.open(), host(""));
        for frame in frames.map(host) {
            let bytes = renderer.frame(frame.screen());
            user.write(&bytes);
            assert_eq!(user.screen().cursor(), frame.screen().cursor());
            written.extend(bytes);
        }
        written.extend(renderer.close());
        written.extend(renderer.capabilities().emergency_closing());
        let written = readable(&written);
        let finals = |last| {
            let mut sequences = written.split("^[").skip(1);
            sequences
                .any(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(last))
        };
        assert!(!finals('G') && (has.absolute_rows || !finals('d')), "{written}");
        assert!(!written.contains("^=") && !written.contains("^>"), "{written}");
    }
}

#[test]
fn synchronized_frames_are_bracketed() {
    let mut renderer =
        showing(&host("a"), TerminalCapabilities { synchronized_output: true, ..capabilities() });
    assert_eq!(readable(&renderer.frame(host("ab").screen())), "^[?2026hb^[?2026l");
    assert_eq!(renderer.frame(host("ab").screen()), b"");
    assert!(readable(&renderer.close()).starts_with("^[?2026l"));
}
