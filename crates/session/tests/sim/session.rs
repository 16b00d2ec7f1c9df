//! The life of a session in virtual time: start, silence, roaming, resizing, the end.

use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{
    ClientEvent, ClientOutcome, ExitStatus, Outside, ServerConfig, ServerEvent, ServerOutcome,
    Trouble,
};
use rove_ssp::Config;
use rove_terminal::Size;
use rove_units::{Duration, Instant, Seed};

use crate::common::*;

#[test]
fn a_key_reaches_the_program_and_its_screen_comes_back() {
    let mut pair = pair(&LinkConfig::lossless(ms(50)));
    pair.run_for(secs(1));
    assert_eq!(
        pair.right.program.events[..2],
        [ServerEvent::Resize(Size::DEFAULT), ServerEvent::Start]
    );
    type_text(&mut pair, b"ls\r");
    assert!(pair.run_until(secs(1), |_, server| server.program.typed == b"ls\r"));
    print(&mut pair, b"ls\r\nCargo.toml\r\n$ ");
    assert!(pair.run_until(secs(1), |client, server| {
        in_sync(client, server) && client.terminal.screen().row_text(1) == "Cargo.toml"
    }));
}

#[test]
fn a_silent_server_is_given_up_after_nineteen_seconds() {
    let client = near_of(Config::client());
    let wire = LinkConfig::default();
    let mut net = Net::new(client, Nobody, wire.clone(), wire, Seed::new(1));
    net.run_for(ms(200));
    assert_eq!(net.left.row_text(0), "");
    net.run_for(ms(100));
    let told = "rove: Nothing received from server on UDP port 60001. [To quit: Ctrl-^ .]";
    assert_eq!(net.left.row_text(0), told);
    net.run_for(ms(14_699));
    let told = net.left.row_text(0);
    let server = rove_link::net::RIGHT_ADDRESS;
    assert!(told.starts_with(&format!("rove: No answer from {server} (")), "{told}");
    assert!(told.contains(" sent in 14 s)"), "{told}");
    net.run_for(ms(1));
    assert!(net.left.row_text(0).starts_with("rove: Timed out waiting for server..."));
    assert!(!net.left.client.wants_input());
    assert!(net.run_until(secs(10), |client, _| client.client.outcome().is_some()));
    assert_eq!(net.left.client.outcome(), Some(ClientOutcome::NeverConnected));
    let total = net.now().as_millis();
    assert!((18_500..19_500).contains(&total), "{total} ms");
}

#[test]
fn a_user_who_leaves_a_server_that_was_never_heard_waits_a_second() {
    let client = near_of(Config::client());
    let wire = LinkConfig::default();
    let mut net = Net::new(client, Nobody, wire.clone(), wire, Seed::new(1));
    net.run_for(secs(2));
    let now = net.now();
    net.left.client.handle_input(now, b"\x1e.");
    net.run_for(ms(999));
    assert_eq!(net.left.client.outcome(), None);
    net.run_for(ms(1));
    assert_eq!(net.left.client.outcome(), Some(ClientOutcome::NeverConnected));
}

#[test]
fn lost_contact_is_told_and_the_notice_goes_when_it_is_back() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(5));
    print(&mut pair, b"top");
    pair.run_for(secs(5));
    assert_eq!(pair.left.row_text(0), "top");
    pair.stop_right(true);
    let lost_within = pair.run_until(secs(7), |client, _| client.row_text(0).contains("contact"));
    assert!(lost_within);
    assert_eq!(pair.left.row_text(0), "rove: Last contact 6 seconds ago. [To quit: Ctrl-^ .]");
    let frames = pair.left.user.frames;
    pair.run_for(secs(10));
    assert_eq!(pair.left.row_text(0), "rove: Last contact 16 seconds ago. [To quit: Ctrl-^ .]");
    assert!(pair.left.user.frames - frames <= 11, "{} frames", pair.left.user.frames - frames);
    pair.stop_right(false);
    assert!(
        pair.run_until(secs(1), |client, _| client.row_text(0) == "top"),
        "{}",
        pair.left.row_text(0)
    );
}

#[test]
fn a_failing_way_up_is_told_as_a_missing_reply() {
    let wire = LinkConfig::lossless(ms(20));
    let mut pair = pair(&wire);
    pair.run_for(secs(10));
    pair.reconfigure(LinkConfig::outage(), wire.clone());
    // The sum is 6 s (the longest pause yet), 3 s until a missed answer ends the next pause, and 10 s without a reply.
    assert!(pair.run_until(secs(19), |client, _| client.row_text(0).contains("Last reply")));
    pair.reconfigure(wire.clone(), wire);
    assert!(pair.run_until(secs(7), |client, _| client.row_text(0).is_empty()));
}

#[test]
fn a_client_stopped_for_a_minute_goes_on() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(2));
    pair.stop_left(true);
    for minute in 0..20 {
        print(&mut pair, format!("line {minute}\r\n").as_bytes());
        pair.run_for(secs(3));
    }
    assert!(pair.right.program.events.contains(&ServerEvent::ClientLost));
    pair.right.program.events.clear();
    pair.stop_left(false);
    type_text(&mut pair, b"back");
    assert!(pair.run_until(secs(5), |client, server| {
        server.program.typed == b"back" && in_sync(client, server)
    }));
    assert!(matches!(pair.right.program.events[..], [ServerEvent::ClientMoved(_)]));
}

#[test]
fn a_roaming_client_is_followed() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(2));
    for hop in 1..=5_u16 {
        let address = format!("203.0.113.{hop}:{}", 40_000 + hop).parse().unwrap();
        pair.move_left(address);
        type_text(&mut pair, &hop.to_be_bytes()[1..]);
        print(&mut pair, b"x");
        assert!(pair.run_until(secs(2), |client, server| {
            server.program.typed.len() == usize::from(hop) && in_sync(client, server)
        }));
        assert!(pair.right.program.events.contains(&ServerEvent::ClientMoved(address)));
    }
    assert_eq!(pair.right.program.typed, [1, 2, 3, 4, 5]);
}

#[test]
fn a_storm_of_resizes_ends_in_the_last_size() {
    let mut pair = pair(&LinkConfig::lossless(ms(50)));
    pair.run_for(secs(1));
    print(&mut pair, b"text");
    for step in 1..=300_u16 {
        let now = pair.now();
        pair.left.client.handle_resize(now, size(20 + step, 10 + step % 7));
        if step % 10 == 0 {
            print(&mut pair, b".");
        }
        pair.run_for(ms(3));
    }
    pair.left.terminal.resize(size(320, 16));
    assert!(pair.run_until(secs(2), in_sync));
    assert_eq!(pair.right.server.screen().size(), size(320, 16));
    let last = pair.right.program.events.iter().rev().find(|e| matches!(e, ServerEvent::Resize(_)));
    assert_eq!(last, Some(&ServerEvent::Resize(size(320, 16))));
}

#[test]
fn a_resize_is_shown_at_once_before_the_server_answers() {
    let mut pair = pair(&LinkConfig::lossless(ms(500)));
    pair.run_for(secs(4));
    print(&mut pair, b"first\r\nsecond\r\nthird");
    pair.run_for(secs(2));
    let now = pair.now();
    pair.left.client.handle_resize(now, size(3, 2));
    pair.left.terminal.resize(size(3, 2));
    pair.run_for(ms(1));
    // The rows end at the cursor, as those of the terminal itself and of the server's next screen do.
    let tty = pair.left.terminal.screen();
    assert_eq!((tty.row_text(0).as_str(), tty.row_text(1).as_str()), ("sec", "thi"));
    assert_eq!(tty.cursor().row, 1);
}

#[test]
fn the_exit_status_travels_between_two_roves_only() {
    let wire = LinkConfig::lossless(ms(20));
    let status = ExitStatus::Signal(15);
    for (client, server, seen) in [
        (rove(Config::client()), rove(Config::server()), Some(status)),
        (stock(Config::client()), rove(Config::server()), None),
        (rove(Config::client()), stock(Config::server()), None),
    ] {
        let mut pair = pair_with(&wire, client, server);
        pair.run_for(secs(1));
        print(&mut pair, b"last words");
        let now = pair.now();
        pair.right.server.handle_host_closed(now, Some(status));
        print(&mut pair, b" ignored");
        assert_eq!(run_to_end(&mut pair), ServerOutcome::Ended);
        assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(seen)));
        assert_eq!(pair.left.client.screen().row_text(0), "last words");
        assert_eq!(pair.left.client.poll_timeout(), None);
        assert_eq!(pair.right.server.poll_timeout(), None);
    }
}

#[test]
fn an_end_from_outside_tells_the_client_by_what() {
    let wire = LinkConfig::lossless(ms(20));
    for by in [Outside::Kill, Outside::Signal(15), Outside::Silence] {
        for (server, seen) in [
            (rove(Config::server()), Some(ExitStatus::Outside(by))),
            (stock(Config::server()), None),
        ] {
            let mut pair = pair_with(&wire, rove(Config::client()), server);
            pair.run_for(secs(1));
            let now = pair.now();
            pair.right.server.shutdown(now, by);
            // The loss of its terminal kills the command, but that is not the reason for the session's end.
            pair.right.server.handle_host_closed(now, Some(ExitStatus::Signal(1)));
            assert_eq!(run_to_end(&mut pair), ServerOutcome::Ended);
            assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(seen)));
        }
    }
}

/// Runs for `seconds` without a server. If `refuses` is set, the host refuses a datagram every third second.
fn run_without_server(pair: &mut Pair, seconds: u64, refuses: bool) {
    pair.stop_right(true);
    for second in 1..=seconds {
        pair.run_for(secs(1));
        let now = pair.now();
        if refuses && second % 3 == 0 {
            pair.left.client.handle_refusal(now);
            pair.left.client.handle_network_error(now, "Connection refused");
        }
    }
}

#[test]
fn a_server_that_is_gone_is_named_and_nobody_waits_for_it() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(5));
    run_without_server(&mut pair, 13, true);
    assert!(
        pair.left.row_text(0).starts_with("rove: Server gone: port "),
        "{}",
        pair.left.row_text(0)
    );
    type_text(&mut pair, b"\x1e.");
    assert!(pair.run_until(ms(1_100), |client, _| client.client.outcome().is_some()));
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Gone));
    assert_eq!(pair.left.client.poll_timeout(), None);
}

#[test]
fn a_server_that_was_only_refused_for_a_while_is_no_longer_gone_when_it_is_heard() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(5));
    run_without_server(&mut pair, 13, true);
    type_text(&mut pair, b"\x1e.");
    pair.stop_right(false);
    assert_eq!(run_to_end(&mut pair), ServerOutcome::Ended);
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(None)));
}

#[test]
fn udp_that_stops_names_what_helps_and_says_no_more_once_it_passes_again() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(5));
    run_without_server(&mut pair, 33, false);
    let row = pair.left.row_text(0);
    assert!(
        row.contains("--tunnel") && row.contains("rove doctor") && row.ends_with(" .]"),
        "{row}"
    );
    pair.stop_right(false);
    assert!(pair.run_until(secs(5), |client, _| client.row_text(0).is_empty()));
}

#[test]
fn udp_that_stops_on_the_way_there_only_names_what_helps_too() {
    let wire = LinkConfig::lossless(ms(20));
    // The table has a session in use and an idle one. Two idle roves exchange a heartbeat and its answer every 24 s.
    for (server, idle, told_by) in [
        (rove(Config::server()), 5, 31),
        (rove(Config::server()), 600, 24 + 31),
        (stock(Config::server()), 5, 31),
    ] {
        for typed in [&b""[..], b"x"] {
            let mut pair = pair_with(&wire, rove(Config::client()), server.clone());
            pair.run_for(secs(idle));
            pair.reconfigure(LinkConfig::outage(), wire.clone());
            type_text(&mut pair, typed);
            let advises = |pair: &Pair| {
                let row = pair.left.row_text(0);
                row.contains("--tunnel") && row.contains("rove doctor") && row.ends_with(" .]")
            };
            pair.run_for(secs(26));
            assert!(!advises(&pair), "{}", pair.left.row_text(0));
            pair.run_for(secs(told_by - 26));
            // A server that hears nothing for some time falls silent too, but the advice stays.
            for _ in 0..60 {
                assert!(advises(&pair), "{}", pair.left.row_text(0));
                pair.run_for(secs(1));
            }
            pair.reconfigure(wire.clone(), wire.clone());
            assert!(pair.run_until(secs(30), |client, _| client.row_text(0).is_empty()));
        }
    }
}

#[test]
fn a_tunnel_that_needs_the_user_offers_a_login_and_the_key_asks_for_it() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    let now = pair.now();
    let trouble = |needs_login| {
        let (text, reason) = ("The ssh tunnel has ended".to_owned(), "x".to_owned());
        Trouble { text, reason, needs_login }
    };
    pair.left.client.handle_tunnel(now, Some(trouble(false)));
    type_text(&mut pair, b"\x1er");
    pair.run_for(secs(6));
    assert_eq!(pair.left.user.events, [], "nothing is offered");
    let now = pair.now();
    pair.left.client.handle_tunnel(now, Some(trouble(true)));
    pair.run_for(ms(1));
    assert!(pair.left.row_text(0).contains("Ctrl-^ r"), "{}", pair.left.row_text(0));
    type_text(&mut pair, b"\x1e");
    pair.run_for(ms(1));
    assert!(pair.left.row_text(0).contains("\"r\" logs in again"), "{}", pair.left.row_text(0));
    type_text(&mut pair, b"r");
    pair.run_for(secs(1));
    assert!(pair.left.user.events.contains(&ClientEvent::LogIn));
    assert!(pair.right.program.typed.is_empty());
}

#[test]
fn quitting_ends_both_ends_and_leaves_no_notice_behind() {
    let mut pair = pair(&LinkConfig::lossless(ms(100)));
    pair.run_for(secs(1));
    print(&mut pair, b"prompt");
    pair.run_for(secs(1));
    type_text(&mut pair, b"ok\x1e");
    pair.run_for(secs(2));
    assert!(pair.left.row_text(0).starts_with("rove: . quit, "));
    type_text(&mut pair, b".lost");
    pair.run_for(ms(1));
    assert_eq!(pair.left.row_text(0), "rove: Exiting on user request...");
    assert_eq!(run_to_end(&mut pair), ServerOutcome::Ended);
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(None)));
    assert_eq!(pair.right.program.typed, b"ok");
    let close = pair.left.client.close_terminal();
    pair.left.terminal.write(&close);
    assert_eq!(pair.left.row_text(0), "prompt");
    assert_eq!(pair.left.client.close_terminal(), b"");
}

#[test]
fn quitting_an_unreachable_server_ends_within_ten_seconds() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(2));
    pair.stop_right(true);
    let now = pair.now();
    pair.left.client.shutdown(now, "Signal received, shutting down...");
    assert!(pair.run_until(secs(10), |client, _| client.client.outcome().is_some()));
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Unacknowledged));
}

#[test]
fn suspending_gives_the_terminal_back_until_it_is_taken_again() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"a\x1e\x1ab");
    pair.run_for(secs(1));
    assert_eq!(pair.left.user.events, [ClientEvent::Suspend]);
    assert_eq!(pair.right.program.typed, b"ab");
    assert!(!pair.left.client.close_terminal().is_empty());
    let frames = pair.left.user.frames;
    print(&mut pair, b"meanwhile");
    pair.run_for(secs(1));
    assert_eq!(pair.left.user.frames, frames);
    let now = pair.now();
    pair.left.client.handle_resume(now);
    pair.run_for(ms(1));
    assert_eq!(pair.left.row_text(0), "meanwhile");
}

#[test]
fn control_l_passes_and_repaints() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    print(&mut pair, b"prompt");
    pair.run_for(secs(1));
    pair.left.terminal.write(b"\x1b[H\x1b[2Jgarbage");
    type_text(&mut pair, b"\x0c");
    pair.run_for(ms(1));
    assert_eq!(pair.left.row_text(0), "prompt");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"\x0c");
}

#[test]
fn a_server_nobody_comes_to_ends_after_a_minute() {
    let wire = LinkConfig::default();
    let mut net = Net::new(Nobody, far(Config::server()), wire.clone(), wire, Seed::new(1));
    assert!(net.run_until(secs(66), |_, server| server.server.outcome().is_some()));
    assert_eq!(net.right.server.outcome(), Some(ServerOutcome::NeverConnected));
    assert_eq!(net.now(), Instant::from_millis(60_000));
}

/// Returns a pair whose server ends the session after ten seconds of its client's silence.
fn impatient_pair() -> Pair {
    let timeout = Some(secs(10));
    let config = ServerConfig { network_timeout: timeout, ..server_config(Config::server()) };
    let wire = LinkConfig::lossless(ms(20));
    let client = near_of(Config::client());
    join(client, far_with(config), &wire)
}

#[test]
fn a_network_timeout_ends_the_server_of_a_client_that_is_gone() {
    let mut pair = impatient_pair();
    pair.run_for(secs(30));
    assert_eq!(pair.right.server.outcome(), None);
    pair.stop_left(true);
    assert!(pair.run_until(secs(17), |_, server| server.server.outcome().is_some()));
    assert!(pair.now() >= Instant::from_millis(37_000), "{}", pair.now());
}

#[test]
fn a_server_that_slept_gives_its_client_the_whole_network_timeout_again() {
    let mut pair = impatient_pair();
    pair.run_for(secs(30));
    let server = &mut pair.right.server;
    let woken_at = Instant::ZERO + secs(3_600);
    for (now, text) in [(woken_at, "awake"), (woken_at + ms(9_999), "awake and well")] {
        server.handle_timeout(now);
        // A server that is shutting down takes no more output.
        server.handle_host_output(now, format!("\r{text}").as_bytes());
        assert_eq!(server.screen().row_text(0).trim_end(), text);
    }
    server.handle_timeout(woken_at + secs(10));
    server.handle_host_output(woken_at + secs(10), b"\rover ");
    assert!(server.screen().row_text(0).starts_with("awake"), "nobody came");
}

#[test]
fn a_signal_ends_the_server_at_once_without_a_client_or_when_repeated() {
    let mut lonely = far(Config::server()).server;
    lonely.shutdown(Instant::ZERO, Outside::Signal(15));
    assert_eq!(lonely.outcome(), Some(ServerOutcome::Unacknowledged));

    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    pair.stop_left(true);
    let now = pair.now();
    pair.right.server.shutdown(now, Outside::Signal(15));
    assert_eq!(pair.right.server.outcome(), None);
    pair.right.server.shutdown(now, Outside::Signal(15));
    assert_eq!(pair.right.server.outcome(), Some(ServerOutcome::Unacknowledged));
}

#[test]
fn a_half_drawn_screen_is_held_back_but_not_for_long() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(5));
    print(&mut pair, b"\x1b[?2026hhalf");
    pair.run_for(ms(140));
    assert_eq!(pair.left.client.screen().row_text(0), "");
    pair.run_for(ms(60));
    assert_eq!(pair.left.client.screen().row_text(0), "half");
    print(&mut pair, b" whole");
    pair.run_for(ms(100));
    assert_eq!(pair.left.client.screen().row_text(0), "half");
    print(&mut pair, b"\x1b[?2026l");
    pair.run_for(ms(50));
    assert_eq!(pair.left.client.screen().row_text(0), "half whole");
}

#[test]
fn an_idle_session_sleeps() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(10));
    let (start, mut turns) = (pair.now(), 0);
    let limit = secs(30);
    pair.run_until(limit, |_, _| {
        turns += 1;
        false
    });
    assert_eq!(pair.now(), start + limit);
    assert!(turns < 150, "{turns} wake-ups in 30 s");
}

#[test]
fn a_client_that_may_be_silent_is_not_missed() {
    let mut pair = pair(&LinkConfig::lossless(ms(50)));
    pair.run_for(secs(60));
    let (mut silent, mut missed) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..1_200 {
        pair.run_for(ms(100));
        let server = &pair.right.server;
        let since = |at: Option<Instant>| pair.now().saturating_since(at.expect("heard"));
        silent = silent.max(since(server.client_heard_at()));
        missed = missed.max(since(server.client_missed_since()));
        assert_eq!(pair.left.row_text(0), "", "no notice");
    }
    assert!(silent > secs(20) && missed < secs(4), "{silent:?} {missed:?}");
}

#[test]
fn a_session_that_ends_after_a_short_silence_asks_for_none() {
    for timeout in [7, 10, 20] {
        let config = server_config(rove(Config::server()));
        let server = far_with(ServerConfig { network_timeout: Some(secs(timeout)), ..config });
        let mut pair = join(near_of(rove(Config::client())), server, &LinkConfig::lossless(ms(50)));
        pair.run_for(secs(600));
        assert_eq!(pair.right.server.outcome(), None, "{timeout} s");
    }
}
