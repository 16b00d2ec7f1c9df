//! The answers of the user's terminal reach the server, but no program. Nothing waits for them.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use rove_link::LinkConfig;
use rove_session::{ClientConfig, ClientEvent, ClientOutcome};
use rove_ssp::{Capabilities, Config};
use rove_terminal::{NewerChar, Size, Terminal, TerminalCapabilities, UserTerminal};
use rove_units::Instant;

use crate::common::*;

/// The answers of a terminal that knows everything.
const ANSWERS: &[u8] =
    b"\x1b[?0u\x1b[?2026;2$y\x1b[?1007;1$y\x1b[?1016;2$y\x1b]10;rgb:ffff/8080/0000\x1b\\\
    \x1b]11;rgb:1111/2222/3333\x1b\\\x1b]12;rgb:0000/ffff/0000\x1b\\\x1bP>|kitty(0.31.0)\x1b\\\
    \x1b[6;20;9t\x1b[?62;22c";
/// The last answer (device attributes).
const ATTRIBUTES: &[u8] = b"\x1b[?62;22c";

/// Returns two ends, the client of which asks its terminal.
fn asking_pair(server: Config) -> Pair {
    let client = ClientConfig { query: true, ..client_config(rove(Config::client())) };
    let link = LinkConfig::lossless(ms(50));
    join(near(client), far(server), &link)
}

/// Returns the answers to a program that asks for the background, the size of a cell, the keyboard and the mouse.
fn told_to_programs(pair: &mut Pair) -> String {
    let before = pair.right.program.typed.len();
    print(pair, b"\x1b]11;?\x1b\\\x1b[16t\x1b[?u\x1b[?1016$p");
    pair.run_for(secs(1));
    String::from_utf8(pair.right.program.typed.split_off(before)).unwrap()
}

#[test]
fn the_questions_come_behind_the_first_frame_and_at_once() {
    let client = ClientConfig { query: true, ..client_config(rove(Config::client())) };
    let mut client = near(client).client;
    let mut plain = near_of(rove(Config::client())).client;
    let frame = plain.poll_output(Instant::ZERO).unwrap();
    let output = client.poll_output(Instant::ZERO).unwrap();
    let questions = output.strip_prefix(frame.as_slice()).unwrap();
    assert!(questions.starts_with(b"\x1b[?u") && questions.ends_with(b"\x1b[c"));
    assert_eq!(client.poll_output(Instant::ZERO), None);
}

#[test]
fn without_a_blank_row_the_picture_is_painted_again_over_what_a_terminal_prints_of_a_question() {
    let size = Size::clamped(9, 5);
    let picture = [false, true].map(|query| {
        let config = client_config(rove(Config::client()));
        let mut client = near(ClientConfig { query, size, ..config }).client;
        let mut terminal = Terminal::host(size);
        while let Some(output) = client.poll_output(Instant::ZERO) {
            let output = String::from_utf8(output).unwrap();
            terminal.write(output.replace("$p", "\x18p").as_bytes());
        }
        terminal.snapshot()
    });
    assert!((0..size.rows()).all(|row| picture[0].row(row) == picture[1].row(row)));
    assert_eq!(picture[0].cursor(), picture[1].cursor());
}

#[test]
fn a_rove_server_learns_of_the_terminal_and_its_program_reads_only_keys() {
    for answered_after in [0, 1, 40, 70, 300, 3000] {
        let mut pair = asking_pair(rove(Config::server()));
        pair.run_for(ms(answered_after));
        let typed = [b"a", ANSWERS, b"b"].concat();
        type_text(&mut pair, &typed);
        pair.run_for(secs(1));
        assert_eq!(pair.right.program.typed, b"ab", "answered after {answered_after} ms");
        let told = told_to_programs(&mut pair);
        assert!(told.contains("]11;rgb:1111/2222/3333"), "{told:?}");
        assert!(told.contains("\x1b[6;20;9t") && told.contains("\x1b[?0u"), "{told:?}");
        assert!(told.contains("\x1b[?1016;2$y"), "{told:?}");
        assert_eq!(pair.left.client.pending_input(), 0);
    }
}

#[test]
fn a_program_hears_of_a_new_size_in_its_input_where_the_terminal_has_pixels() {
    for (answers, heard) in [(ANSWERS, "\x1b[48;30;100;600;900t"), (ATTRIBUTES, "")] {
        let mut pair = asking_pair(rove(Config::server()));
        pair.run_for(ms(10));
        type_text(&mut pair, answers);
        pair.run_for(secs(1));
        print(&mut pair, b"\x1b[?2048h");
        pair.run_for(secs(1));
        pair.right.program.typed.clear();
        let now = pair.now();
        pair.left.client.handle_resize(now, size(100, 30));
        pair.run_for(secs(1));
        assert_eq!(String::from_utf8_lossy(&pair.right.program.typed), heard);
    }
}

#[test]
fn a_server_that_has_not_shown_to_know_reports_gets_none() {
    let knows_less = Config { capabilities: Some(Capabilities::EXIT_STATUS), ..Config::server() };
    for server in [stock(Config::server()), knows_less] {
        let mut pair = asking_pair(server);
        let typed = [b"a", ANSWERS, b"b"].concat();
        pair.run_for(ms(10));
        type_text(&mut pair, &typed);
        // Two keys and the window's size are unacknowledged.
        assert_eq!(pair.left.client.pending_input(), 3);
        pair.run_for(secs(1));
        type_text(&mut pair, b"c");
        assert_eq!(pair.left.client.pending_input(), 1);
        pair.run_for(secs(1));
        assert_eq!(pair.right.program.typed, b"abc");
        let told = told_to_programs(&mut pair);
        assert!(!told.contains("1111/2222/3333") && !told.contains("6;20;9"), "{told:?}");
        assert!(!told.contains("\x1b[?0u"), "{told:?}");
    }
}

#[test]
fn the_next_frame_makes_use_of_the_answers() {
    for (answer, is_used) in [("\x1b[?2026;2$y", true), ("\x1b[?2026;0$y", false)] {
        let mut pair = asking_pair(rove(Config::server()));
        pair.run_for(secs(1));
        type_text(&mut pair, answer.as_bytes());
        pair.run_for(secs(1));
        let now = pair.now();
        pair.left.client.handle_resume(now);
        let frame = pair.left.client.poll_output(now).unwrap();
        let bracketed = frame.windows(8).any(|bytes| bytes == b"\x1b[?2026h");
        assert_eq!(bracketed, is_used, "{answer:?}");
    }
}

#[test]
fn a_terminal_that_never_answers_costs_nothing_but_a_short_wait_at_a_short_sessions_end() {
    let mut pair = asking_pair(rove(Config::server()));
    pair.run_for(ms(50));
    type_text(&mut pair, b"a\x1b");
    pair.run_for(ms(150));
    assert_eq!(pair.right.program.typed, b"a\x1b", "ESC is held for 50 ms at the start");
    type_text(&mut pair, b"\x1e.");
    assert!(pair.run_until(secs(5), |client, _| client.client.outcome().is_some()));
    assert!(pair.now() >= Instant::from_millis(250), "{:?}", pair.now());
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(None)));
}

#[test]
fn a_short_session_ends_when_the_terminal_has_answered() {
    let mut pair = asking_pair(rove(Config::server()));
    pair.run_for(ms(60));
    type_text(&mut pair, b"\x1e.");
    pair.run_for(ms(170));
    assert_eq!(pair.left.client.outcome(), None);
    assert!(pair.left.client.wants_input());
    type_text(&mut pair, ATTRIBUTES);
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(None)));
    assert!(!pair.left.client.wants_input());
}

#[test]
fn a_suspend_waits_for_the_answers_and_a_resume_asks_only_a_terminal_that_gave_none() {
    for answers in [true, false] {
        let mut pair = asking_pair(rove(Config::server()));
        pair.run_for(ms(60));
        type_text(&mut pair, b"\x1e\x1a");
        pair.run_for(ms(100));
        assert_eq!(pair.left.user.events, []);
        if answers {
            type_text(&mut pair, ATTRIBUTES);
            pair.run_for(ms(1));
        } else {
            pair.run_for(ms(500));
        }
        assert_eq!(pair.left.user.events, [ClientEvent::Suspend]);
        pair.left.client.close_terminal();
        let now = pair.now();
        pair.left.client.handle_resume(now);
        let output = pair.left.client.poll_output(now).unwrap();
        assert_eq!(output.ends_with(b"\x1b[c"), !answers);
    }
}

#[test]
fn a_terminal_is_not_asked_for_a_setting_that_is_ours_by_then() {
    let base = client_config(rove(Config::client()));
    let capabilities = TerminalCapabilities { init: true, ..base.terminal.clone() };
    let client = near(ClientConfig { query: true, terminal: capabilities, ..base });
    let link = LinkConfig::lossless(ms(50));
    let server = far(rove(Config::server()));
    let mut pair = join(client, server, &link);
    pair.run_for(secs(1));
    pair.left.client.close_terminal();
    let now = pair.now();
    pair.left.client.handle_resume(now);
    let output = pair.left.client.poll_output(now).unwrap();
    let has = |text: &[u8]| output.windows(text.len()).any(|part| part == text);
    assert!(has(b"\x1b[?2026$p") && has(b"\x1b[?1007l"));
    assert!(!has(b"\x1b[?1007$p"), "the answer would be taken for the user's own setting");
}

/// Lets the user's terminal answer all questions, and returns its answers.
fn answer(pair: &mut Pair) -> Vec<u8> {
    let replies = core::mem::take(&mut pair.left.user.replies);
    type_text(pair, &replies);
    pair.run_for(secs(1));
    replies
}

#[test]
fn a_character_of_a_newer_unicode_is_counted_as_the_terminal_counts_it() {
    const NEWER: char = '\u{1faec}';
    for (server, knows) in [
        (rove(Config::server()), true),
        (rove(Config::server()), false),
        (stock(Config::server()), true),
    ] {
        let is_rove = server == rove(Config::server());
        let mut pair = asking_pair(server);
        let mut user_terminal = UserTerminal::default();
        if knows {
            user_terminal.newer_wide.insert(NewerChar::new(NEWER).unwrap());
        }
        pair.left.terminal.set_user_terminal(user_terminal);
        pair.run_for(secs(1));
        assert!(!answer(&mut pair).is_empty());
        pair.run_for(secs(5));
        print(&mut pair, format!("a{NEWER}b\r\n").as_bytes());
        pair.run_for(secs(1));
        let place = if knows { "\x1b[24;3R" } else { "\x1b[24;2R" };
        assert_eq!(answer(&mut pair), if is_rove { place.as_bytes() } else { b"" });
        print(&mut pair, format!("{NEWER}b\x1b[6n\r\n").as_bytes());
        pair.run_for(secs(1));
        let place = if knows && is_rove { "\x1b[2;4R" } else { "\x1b[2;3R" };
        assert_eq!(String::from_utf8_lossy(&pair.right.program.typed), place);
        // Text printed before the answer keeps its width. Later text has the measured width.
        let shown = pair.left.terminal.screen();
        let first = if knows { "a b" } else { "a\u{1faec}b" };
        let second = if knows && !is_rove { " b" } else { "\u{1faec}b" };
        assert_eq!([shown.row_text(0), shown.row_text(1)], [first, second]);
        assert!(same_picture(&pair.left, &pair.right));
        assert_eq!(answer(&mut pair), b"", "it is asked once");
    }
}
