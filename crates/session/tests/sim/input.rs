//! Input of any amount over any path: every byte arrives once and in order, and memory stays bounded.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use rove_link::LinkConfig;
use rove_session::{ClientOutcome, ServerOutcome};

use crate::common::*;

/// The client's bound on unacknowledged input, as `Client::wants_input` documents it.
const INPUT_PENDING_MAX: u64 = 1_048_576;
/// The bound on bytes that wait for the pty. A single client message may exceed it.
const HOST_INPUT_MAX: usize = 1_048_576;

fn bytes(len: usize) -> Vec<u8> {
    // The letters contain neither the escape key nor a cursor key. Their period divides no buffer size.
    (0..len).map(|n| b'a' + u8::try_from((n + n / 257) % 26).unwrap()).collect()
}

fn paste(pair: &mut Pair, len: usize, limit_secs: u64) {
    pair.run_for(secs(1));
    let text = bytes(len);
    pair.left.user.paste = text.clone();
    let arrived =
        pair.run_until(secs(limit_secs), |_, server| server.program.typed.len() >= text.len());
    assert!(arrived, "{} of {len} bytes in {limit_secs} s", pair.right.program.typed.len());
    assert!(pair.right.program.typed == text, "the bytes arrived, but not as they were typed");
    pair.run_for(secs(2));
    assert_eq!(pair.right.program.typed.len(), len);
    let bound = INPUT_PENDING_MAX + u64::try_from(READ_MAX).unwrap();
    assert!(pair.left.user.pending_max < bound, "{} events pending", pair.left.user.pending_max);
}

#[test]
fn a_paste_of_twenty_megabytes_arrives_once_and_in_order() {
    paste(&mut pair(&LinkConfig::lossless(ms(5))), 20_000_000, 120);
}

#[test]
fn a_paste_of_one_megabyte_arrives_over_lossy_paths() {
    for (loss, limit_secs) in [(0.0, 10), (0.1, 120), (0.3, 600)] {
        let link = LinkConfig { loss, ..LinkConfig::lossless(ms(20)) };
        paste(&mut pair(&link), 1_000_000, limit_secs);
    }
}

#[test]
fn the_client_stops_reading_at_its_bound_and_goes_on_below_it() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    pair.stop_right(true);
    let max = usize::try_from(INPUT_PENDING_MAX).unwrap();
    type_text(&mut pair, &bytes(max - 1));
    assert!(pair.left.client.wants_input());
    type_text(&mut pair, b"x");
    assert!(!pair.left.client.wants_input());
    pair.stop_right(false);
    assert!(pair.run_until(secs(30), |client, _| client.client.wants_input()));
}

#[test]
fn sizes_that_find_the_input_full_are_sent_when_there_is_room() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    pair.stop_right(true);
    let max = usize::try_from(INPUT_PENDING_MAX).unwrap();
    type_text(&mut pair, &bytes(max));
    for step in 1..=1000_u16 {
        let now = pair.now();
        pair.left.client.handle_resize(now, size(100 + step, 30));
        assert_eq!(pair.left.client.pending_input(), INPUT_PENDING_MAX);
    }
    pair.stop_right(false);
    let wanted = size(1100, 30);
    assert!(pair.run_until(secs(30), |_, server| server.server.screen().size() == wanted));
}

#[test]
fn a_program_that_stops_reading_loses_nothing_and_bounds_memory() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    pair.right.program.stuck = true;
    let text = bytes(4_000_000);
    pair.left.user.paste = text.clone();
    pair.run_for(secs(60));
    assert!(!pair.left.client.wants_input(), "the client is held back");
    // The bound may be exceeded by a single message of the client.
    let waiting = pair.right.program.waiting_max;
    assert!((HOST_INPUT_MAX..HOST_INPUT_MAX + 65_536).contains(&waiting), "{waiting} bytes");
    // The screen is still updated, and the notice says that the server acknowledges no keys.
    print(&mut pair, b"\r\nalive");
    assert!(pair.run_until(secs(2), same_picture));
    assert!(pair.left.row_text(0).contains("Last reply"), "{}", pair.left.row_text(0));
    pair.right.program.stuck = false;
    assert!(pair.run_until(secs(60), |_, server| server.program.typed.len() >= text.len()));
    assert!(pair.right.program.typed == text);
}

#[test]
fn a_session_whose_program_never_reads_ends_when_the_client_says_so() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    pair.right.program.stuck = true;
    pair.left.user.paste = bytes(HOST_INPUT_MAX + 60_000);
    pair.run_for(secs(60));
    type_text(&mut pair, b"\x03");
    pair.run_for(secs(1));
    let left = pair.left.client.pending_input();
    assert!((1..32_768).contains(&left), "{left} bytes of keys, which fit into one diff");
    let now = pair.now();
    pair.left.client.shutdown(now, "Exiting on user request...");
    assert!(pair.run_until(secs(5), |client, _| client.client.outcome().is_some()));
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(None)));
    assert_eq!(pair.right.server.outcome(), Some(ServerOutcome::Ended));
}

#[test]
fn a_program_that_asks_and_never_reads_goes_without_answers() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    pair.right.program.stuck = true;
    let questions = b"\x1b[6n".repeat(1000);
    for _ in 0..1000 {
        print(&mut pair, &questions);
    }
    let waiting = pair.right.server.host_input().len();
    let most = HOST_INPUT_MAX / 2;
    assert!((most..most + 65_536).contains(&waiting), "{waiting} bytes");
}

#[test]
fn arrows_and_answers_reach_the_program_in_its_form() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1bOA");
    pair.run_for(secs(1));
    print(&mut pair, b"\x1b[?1h\x1b[6n");
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1bOA\x1bO");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"\x1b[A\x1b[1;1R\x1bOA\x1bO");
}
