use proptest::prelude::*;

use rove_terminal::{ClusterWidths, Size, Terminal, TerminalCapabilities};

use super::*;
use crate::report::TerminalReport;

/// The answers of a terminal that supports everything, in the order of the questions.
const ANSWERS: [&str; 10] = [
    "\x1b[?0u",
    "\x1b[?2026;2$y",
    "\x1b[?1007;1$y",
    "\x1b[?1016;2$y",
    "\x1b]10;rgb:ffff/8080/0000\x1b\\",
    "\x1b]11;rgb:00/80/ff\x07",
    "\x1b]12;rgba:f/0/8/f\x1b\\",
    "\x1bP>|kitty(0.31.0)\x1b\\",
    "\x1b[6;20;9t",
    "\x1b[?62;22;52c",
];

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Returns a probe that has asked its first questions.
fn asked() -> Probe {
    let mut probe = Probe::new(true);
    assert!(!probe.ask(at(0), false, Some(3)).is_empty());
    probe
}

fn keys_of(probe: &mut Probe, millis: u64, bytes: &[u8]) -> Vec<u8> {
    let mut keys = Vec::new();
    probe.handle_input(at(millis), bytes, &mut keys);
    keys
}

fn answers(probe: &mut Probe) -> Vec<Answer> {
    core::iter::from_fn(|| probe.poll_answer()).collect()
}

#[test]
fn the_questions_end_with_the_one_that_every_terminal_answers() {
    let mut probe = Probe::new(true);
    let questions =
        b"\x1b[?u\x1b[?2026$p\x1b[?1007$p\x1b[?1016$p\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\\
        \x1b[>q\x1b[16t\x1b[c";
    assert_eq!(probe.ask(at(0), false, None), questions, "nothing can be printed unseen");
    assert_eq!(Probe::new(false).ask(at(0), false, Some(3)), b"");
}

#[test]
fn a_terminal_is_asked_again_only_until_it_has_answered() {
    let mut probe = asked();
    keys_of(&mut probe, 10, b"\x1b[?0u");
    assert_eq!(probe.ask(at(20), false, Some(3)), b"", "a second answer would be typed");
    probe.handle_timeout(at(500), &mut Vec::new());
    let again = probe.ask(at(500), false, Some(3));
    assert!(!again.starts_with(b"\x1b[?u") && again.ends_with(b"\x1b[c"));
    assert!(again.windows(9).any(|bytes| bytes == b"\x1b[?2026$p"));
    keys_of(&mut probe, 510, b"\x1b[?62c");
    assert_eq!(probe.ask(at(520), false, Some(3)), b"");
}

#[test]
fn answers_are_taken_out_and_keys_pass() {
    let mut probe = asked();
    let typed: String = ANSWERS
        .iter()
        .zip('a'..)
        .flat_map(|(answer, key)| [(*answer).to_owned(), key.to_string()])
        .collect();
    assert_eq!(keys_of(&mut probe, 1, typed.as_bytes()), b"abcdefghij");
    let wanted = [
        Answer::Report(TerminalReport::KittyKeyboard),
        Answer::SynchronizedOutput(true),
        Answer::AlternateScroll(Some(true)),
        Answer::PixelMouse(true),
        Answer::Report(TerminalReport::Foreground((255, 128, 0))),
        Answer::Report(TerminalReport::Background((0, 128, 255))),
        Answer::Report(TerminalReport::Cursor((255, 0, 136))),
        Answer::Version("kitty(0.31.0)".to_owned()),
        Answer::Report(TerminalReport::CellPixels { width: 9, height: 20 }),
        Answer::End,
    ];
    assert_eq!(answers(&mut probe), wanted);
    assert_eq!(probe.poll_timeout(), None);
    // The probe awaits no answer, so it passes even a lone ESC at once.
    assert_eq!(keys_of(&mut probe, 2, b"\x1b"), b"\x1b");
}

#[test]
fn a_mode_that_is_not_known_is_told_from_one_that_is_not_set() {
    for (answer, wanted) in [
        ("\x1b[?2026;0$y", Answer::SynchronizedOutput(false)),
        ("\x1b[?2026;1$y", Answer::SynchronizedOutput(true)),
        ("\x1b[?2026;4$y", Answer::SynchronizedOutput(false)),
        ("\x1b[?1007;0$y", Answer::AlternateScroll(None)),
        ("\x1b[?1007;2$y", Answer::AlternateScroll(Some(false))),
        ("\x1b[?1016;0$y", Answer::PixelMouse(false)),
        (
            "\x1b]10;rgb:fff/000/888\x1b\\",
            Answer::Report(TerminalReport::Foreground((255, 0, 136))),
        ),
    ] {
        let mut probe = asked();
        assert_eq!(keys_of(&mut probe, 1, answer.as_bytes()), b"", "{answer:?}");
        assert_eq!(answers(&mut probe), [wanted]);
    }
}

#[test]
fn keys_that_only_resemble_an_answer_pass_at_once() {
    for text in [
        "\x1b[A",
        "\x1bOP",
        "\x1b[1;5A",
        "\x1b[6~",
        "\x1b[97u",
        "\x1b[?u",
        "\x1b[?1;2;u",
        "\x1b[?c",
        "\x1b[?;c",
        "\x1b[?2026;2$p",
        "\x1b[?2026;12$y",
        "\x1b[?2004;2$y",
        "\x1b[?1007;9$y",
        "\x1b]10;?\x1b\\",
        "\x1b]13;rgb:0/0/0\x1b\\",
        "\x1b]10;rgb:0/0\x07",
        "\x1b]10;rgb:0/0/0/0\x07",
        "\x1b]10;rgb:00000/0/0\x07",
        "\x1b]10;rgba:0/0/0\x07",
        "\x1b]10;rgb:0/0/0\x1bx",
        "\x1bP>|a\x07x",
        "\x1bP>|\u{e9}",
        "\x1b[6;20t",
        "\x1b[6;70000;9t",
        "\x1b[4;600;800t",
        "\x1b[>0;1;2c",
        "\x1b[200~\x1b\x1b[?",
        "\x1b\x1bx",
    ] {
        let mut probe = asked();
        let typed = format!("{text}x");
        assert_eq!(keys_of(&mut probe, 1, typed.as_bytes()), typed.as_bytes());
        assert_eq!(answers(&mut probe), [], "{text:?}");
    }
}

#[test]
fn each_question_takes_one_answer() {
    let mut probe = asked();
    for answer in ANSWERS {
        if answer != ANSWERS[9] {
            assert_eq!(keys_of(&mut probe, 1, answer.as_bytes()), b"", "{answer:?}");
        }
        let keys = keys_of(&mut probe, 1, answer.as_bytes());
        assert_eq!(keys.is_empty(), answer == ANSWERS[9], "{answer:?}");
    }
}

#[test]
fn an_answer_is_held_no_longer_than_its_bound() {
    let attributes = |len: usize| format!("\x1b[?{}c", "1".repeat(len));
    let version = |len: usize| format!("\x1bP>|{}\x1b\\", "v".repeat(len));
    for (answer, taken) in [
        (attributes(64), true),
        (attributes(65), false),
        (version(answer::VERSION_MAX), true),
        (version(answer::VERSION_MAX + 1), false),
        (version(100_000), false),
    ] {
        let mut probe = asked();
        let keys = keys_of(&mut probe, 1, answer.as_bytes());
        assert_eq!(keys.is_empty(), taken, "{} bytes", answer.len());
        assert!(taken || keys == answer.as_bytes());
        assert!(probe.held.capacity() < 512, "{}", probe.held.capacity());
    }
}

#[test]
fn a_beginning_that_nothing_follows_are_keys_after_a_while() {
    for (typed, hold) in
        [("\x1b", 50), ("\x1b[", 50), ("\x1b]", 50), ("\x1b[?", 250), ("\x1b]11;rgb:ff", 250)]
    {
        let mut probe = asked();
        keys_of(&mut probe, 600, b""); // the session's end no longer waits
        assert_eq!(keys_of(&mut probe, 1000, typed.as_bytes()), b"");
        assert_eq!(probe.poll_timeout(), Some(at(1000 + hold)), "{typed:?}");
        let mut keys = Vec::new();
        probe.handle_timeout(at(999 + hold), &mut keys);
        assert_eq!(keys, b"");
        probe.handle_timeout(at(1000 + hold), &mut keys);
        assert_eq!(keys, typed.as_bytes());
        assert_eq!(probe.poll_timeout(), None);
    }
}

#[test]
fn answers_are_awaited_for_five_seconds_and_late_ones_are_keys() {
    for (first, millis, taken) in
        [("", 4999, true), ("", 5000, false), (ANSWERS[9], 4999, true), (ANSWERS[9], 5000, false)]
    {
        let mut probe = asked();
        keys_of(&mut probe, 1, first.as_bytes());
        let keys = keys_of(&mut probe, millis, ANSWERS[0].as_bytes());
        assert_eq!(keys.is_empty(), taken, "after {millis} ms");
    }
    let mut probe = Probe::new(true);
    assert_eq!(keys_of(&mut probe, 0, ANSWERS[9].as_bytes()), ANSWERS[9].as_bytes());
}

#[test]
fn an_end_waits_for_a_first_answer_shorter_than_for_the_rest_of_them() {
    for (first, until) in [("", 350), (ANSWERS[0], 600)] {
        let mut probe = Probe::new(true);
        assert!(!probe.owes_answers());
        probe.ask(at(100), false, Some(3));
        keys_of(&mut probe, 120, first.as_bytes());
        assert_eq!(probe.poll_timeout(), Some(at(until)), "{first:?}");
        probe.handle_timeout(at(until - 1), &mut Vec::new());
        assert!(probe.owes_answers(), "{first:?}");
        probe.handle_timeout(at(until), &mut Vec::new());
        assert!(!probe.owes_answers(), "{first:?}");
    }
    let mut probe = asked();
    keys_of(&mut probe, 20, ANSWERS[9].as_bytes());
    assert!(!probe.owes_answers());
}

/// Keys that a user may type: no piece is an awaited answer or the middle of one.
fn any_keys() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        "\x1b?[A-Za-z0-9?]",
        "\x1b\\[[0-9;]{0,5}[ABCDHFu~]",
        "\x1bO[A-DP-S]",
        "\x1b\\[<[0-9;]{3,9}[Mm]",
        "\x1b\\[\\?[0-9;]{0,5}[hl]",
        Just("\x1b".to_owned()),
        Just("\x1b]10;rgb:12/3".to_owned()),
        Just("\x1bP>|hostile".to_owned()),
    ]
}

proptest! {
    #[test]
    fn keys_come_out_exactly_among_answers_in_any_pieces(
        keys in proptest::collection::vec(any_keys(), ANSWERS.len() + 1),
        count in 0..=ANSWERS.len(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut typed = String::new();
        for (key, answer) in keys.iter().zip(ANSWERS[..count].iter().chain([&"", &""])) {
            typed.push_str(key);
            typed.push_str(answer);
        }
        let wanted: String = keys.iter().take(count + 2).map(String::as_str).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(typed.len() + 1)).collect();
        cuts.push(typed.len());
        cuts.sort_unstable();
        let (mut probe, mut out, mut from) = (asked(), Vec::new(), 0);
        for (millis, cut) in (1..).zip(cuts) {
            probe.handle_input(at(millis), &typed.as_bytes()[from..cut], &mut out);
            from = cut;
        }
        probe.handle_timeout(at(1000), &mut out);
        prop_assert_eq!(String::from_utf8_lossy(&out), wanted);
        prop_assert_eq!(answers(&mut probe).len(), count);
    }

    #[test]
    fn any_bytes_pass_but_for_awaited_answers(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut probe = asked();
        let mut out = keys_of(&mut probe, 1, &bytes);
        probe.handle_timeout(at(1000), &mut out);
        prop_assert!(answers(&mut probe).is_empty());
        prop_assert_eq!(out, bytes);
    }
}

/// Returns the cursor reports of a terminal that gives these numbers of columns to the samples.
fn columns(columns: [u16; 8]) -> String {
    columns.map(|columns| format!("\x1b[4;{}R", columns + 1)).concat()
}

#[test]
fn clusters_are_measured_in_a_blank_row_and_leave_nothing_behind() {
    let mut host = Terminal::host(Size::clamped(20, 5));
    host.write(b"one\r\n\x1b[31mtwo");
    let before = host.snapshot();
    assert_eq!(blank_row(&before), Some(4));
    let questions = Probe::new(true).ask(at(0), false, Some(4));
    host.write(&questions);
    let (shown, was) = (host.screen(), &before);
    assert!((0..5).all(|row| shown.row(row) == was.row(row)) && shown.cursor() == was.cursor());
    // rove's emulator adds up the widths of code points, and reports its cursor's position.
    let replies = String::from_utf8(host.take_replies()).unwrap();
    let places: Vec<&str> =
        replies.split('R').filter_map(|it| it.rsplit_once("\x1b[5;")).map(|it| it.1).collect();
    assert_eq!(places, ["5", "5", "2", "2", "3", "4", "3", "4"]);
    for (columns, rows) in [(20, 1), (9, 5)] {
        let small = Terminal::host(Size::clamped(columns, rows)).snapshot();
        assert_eq!(blank_row(&small), None, "a key sends the first row, and a sample could wrap");
    }
}

#[test]
fn a_terminal_that_prints_a_question_shows_nothing_of_it() {
    let mut host = Terminal::host(Size::clamped(20, 5));
    host.write(b"one\r\n\x1b[31mtwo");
    let before = host.snapshot();
    let questions = Probe::new(true).ask(at(0), false, Some(4));
    // Terminal.app stops reading the question at the dollar sign, and prints the rest.
    let misread = String::from_utf8(questions).unwrap().replace("$p", "\x18p");
    assert_eq!(misread.matches("\x18p").count(), 3);
    host.write(misread.as_bytes());
    let (shown, was) = (host.screen(), &before);
    assert!((0..5).all(|row| shown.row(row) == was.row(row)) && shown.cursor() == was.cursor());
}

#[test]
fn the_place_of_the_cursor_tells_which_clusters_a_terminal_knows() {
    for (answered, kinds) in [
        ([4, 4, 1, 1, 2, 3, 2, 3], ClusterWidths::CODE_POINTS),
        ([2, 2, 2, 2, 1, 2, 2, 3], ClusterWidths::ALL),
        ([2, 2, 2, 2, 1, 2, 2, 2], ClusterWidths::ALL.union(ClusterWidths::BARE_MODIFIERS)),
        ([2, 2, 2, 2, 1, 2, 2, 1], ClusterWidths::ALL.union(ClusterWidths::BARE_MODIFIERS)),
        ([2, 4, 1, 1, 2, 3, 1, 3], ClusterWidths::JOINED.union(ClusterWidths::MARKS)),
    ] {
        let mut probe = asked();
        let keys = keys_of(&mut probe, 10, format!("{}\x1b[?62c", columns(answered)).as_bytes());
        assert_eq!(keys, b"");
        let mut capabilities = TerminalCapabilities::default();
        let reports: Vec<_> =
            answers(&mut probe).into_iter().filter_map(|it| it.teach(&mut capabilities)).collect();
        assert_eq!(reports, [TerminalReport::ClusterWidths(kinds)]);
        assert_eq!(capabilities.cluster_widths, kinds);
    }
}

#[test]
fn a_function_key_is_no_place_of_the_cursor() {
    let mut probe = asked();
    for key in ["\x1b[1;2R", "\x1b[1;5R", "\x1b[4R", "\x1bR"] {
        assert_eq!(keys_of(&mut probe, 10, key.as_bytes()), key.as_bytes());
    }
    assert_eq!(answers(&mut probe), []);
}

/// Returns a screen of 20 columns and 5 rows with this text.
fn screen(text: &str) -> Screen {
    let mut terminal = Terminal::host(Size::clamped(20, 5));
    terminal.write(text.as_bytes());
    terminal.snapshot()
}

/// Returns a probe that has received the answers to all of its first questions.
fn measured() -> Probe {
    let mut probe = asked();
    let start = [ANSWERS[..9].concat(), columns([2, 2, 2, 2, 1, 2, 2, 2]), ANSWERS[9].to_owned()];
    assert_eq!(keys_of(&mut probe, 10, start.concat().as_bytes()), b"");
    answers(&mut probe);
    probe
}

#[test]
fn a_character_that_our_tables_do_not_know_is_measured_once() {
    let mut probe = measured();
    let shown = screen("a\u{1f600}\u{1faed} \u{1faec}");
    let mut host = Terminal::host(Size::clamped(20, 5));
    host.write(&probe.ask_newer(at(20), &shown));
    assert_eq!(host.snapshot(), screen(""), "nobody sees it");
    assert_eq!(host.take_replies(), b"\x1b[5;2R");
    assert!(probe.owes_answers());
    assert_eq!(probe.ask_newer(at(30), &shown), b"", "one at a time");
    // Keys beside the answer stay keys, even a function key with bytes like an answer.
    assert_eq!(keys_of(&mut probe, 40, b"x\x1b[1;2R\x1b[5;3Ry\x1b[5;2R"), b"x\x1b[1;2Ry\x1b[5;2R");
    assert!(!probe.owes_answers());
    assert!(!probe.ask_newer(at(50), &shown).is_empty());
    keys_of(&mut probe, 60, b"\x1b[5;2R");
    assert_eq!(probe.ask_newer(at(70), &shown), b"", "each was measured");
    assert_eq!(
        answers(&mut probe),
        [
            Answer::Newer(NewerChar::new('\u{1faed}').unwrap(), true),
            Answer::Newer(NewerChar::new('\u{1faec}').unwrap(), false),
        ]
    );
}

#[test]
fn a_character_that_cannot_be_measured_is_not_asked_for() {
    let shown = screen("\u{1faed}");
    let full = screen("\u{1faed}\r\nb\r\nc\r\nd\r\ne");
    assert_eq!(measured().ask_newer(at(20), &full), b"", "no row is blank");
    assert_eq!(
        asked().ask_newer(at(20), &shown),
        b"",
        "the questions of the start are not answered"
    );
    let mut silent = asked();
    keys_of(&mut silent, 10, ANSWERS[9].as_bytes());
    assert_eq!(silent.ask_newer(at(6000), &shown), b"", "it does not tell where its cursor is");
    let mut probe = measured();
    let newer = ('\u{1fc00}'..='\u{1fcff}').take(LOOKED_UP_MAX + 1);
    for (c, millis) in newer.zip((1..).map(|turn| turn * 6000)) {
        let has_room = !probe.ask_newer(at(millis), &screen(&c.to_string())).is_empty();
        assert_eq!(has_room, u32::from(c) < 0x1fc00 + 64, "{c:?}");
    }
}
