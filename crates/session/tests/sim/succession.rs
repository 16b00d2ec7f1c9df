//! A session that one client after another takes over, each with its own key.

use rove_link::LinkConfig;
use rove_session::{ClientConfig, ClientOutcome, Door, ExitStatus, Outside, ServerOutcome, Tty};
use rove_ssp::{Config, Key};
use rove_terminal::Size;
use rove_units::Seed;

use crate::common::clients::*;
use crate::common::*;

#[test]
fn a_newcomer_sees_the_session_and_the_former_client_hears_who_came() {
    for former in [roves(), client_config(stock(Config::client()))] {
        let is_rove = former.transport.capabilities.is_some();
        let mut trio = session(former, &near_link(), Seed::new(1));
        types(&mut trio, 0, b"one");
        program(&mut trio, b"\x1b]2;title\x07one \x1b[31mred\r\n\x1b[?2004h\x1b[?1000h$ ");
        trio.run_for(secs(1));

        let config = invite(&mut trio, wide(size(100, 30)));
        trio.run_for(secs(1));
        assert_eq!(trio.left.0[0].client.outcome(), None, "nobody has come yet");
        come(&mut trio, config);
        // The client shows the screen after a round trip of 100 ms, and 50 ms more.
        trio.run_for(ms(150));
        assert!(is_in_sync(&trio, 1));
        assert_eq!(trio.right.0.server.screen().size(), size(100, 30));
        let terminal = trio.left.0[1].terminal.screen();
        assert_eq!((terminal.title(), terminal.row_text(1).as_str()), ("title", "$"));
        trio.run_for(secs(1));
        let by = ExitStatus::Outside(Outside::TakenOver(Some(ELSEWHERE)));
        let told = ClientOutcome::Ended(is_rove.then_some(by));
        assert_eq!(trio.left.0[0].client.outcome(), Some(told));

        types(&mut trio, 1, b"two");
        program(&mut trio, b"more");
        trio.run_for(secs(1));
        assert!(is_in_sync(&trio, 1));
        assert_eq!(trio.right.0.program.typed, b"onetwo");
        assert_eq!(trio.right.0.server.outcome(), None);
    }
}

#[test]
fn a_login_that_fails_takes_nothing_and_the_newest_invitation_counts() {
    let mut trio = session(roves(), &near_link(), Seed::new(1));
    let late = invite(&mut trio, roves());
    trio.run_for(secs(61));
    come(&mut trio, late);
    trio.run_for(secs(5));
    let first = invite(&mut trio, roves());
    trio.left.0.push(near(roves()));
    let second = invite(&mut trio, roves());
    trio.left.0.pop();
    come(&mut trio, first);
    types(&mut trio, 0, b"still here");
    trio.run_for(secs(5));
    assert_eq!(trio.left.0[0].client.outcome(), None);
    assert_eq!(trio.right.0.program.typed, b"still here");
    come(&mut trio, second);
    trio.run_for(secs(5));
    assert!(is_in_sync(&trio, 3) && trio.left.0[0].client.outcome().is_some());
    assert!(trio.left.0[1].client.screen().row_text(0).is_empty());
}

#[test]
fn a_client_that_is_gone_costs_nobody_the_session() {
    let mut trio = session(roves(), &near_link(), Seed::new(1));
    program(&mut trio, b"text");
    trio.run_for(secs(1));
    trio.left.0[0] = near(ClientConfig { key: Key::from_bytes([99; 16]), ..roves() });
    trio.run_for(secs(86_400));
    let config = invite(&mut trio, roves());
    come(&mut trio, config);
    trio.run_for(ms(150));
    assert!(is_in_sync(&trio, 1));
    // The server has given the absent former client up after 10 s, and wiped its key. The new client can still type.
    trio.run_for(secs(60));
    types(&mut trio, 1, b"x");
    trio.run_for(secs(1));
    assert_eq!(trio.right.0.program.typed, b"x");
}

#[test]
fn the_former_clients_key_is_of_use_for_its_farewell_and_for_ten_seconds_only() {
    for (absent, hears) in [(2, true), (11, false)] {
        let mut trio = session(roves(), &near_link(), Seed::new(1));
        trio.run_for(secs(1));
        let elsewhere = near(ClientConfig { key: Key::from_bytes([99; 16]), ..roves() });
        let former = std::mem::replace(&mut trio.left.0[0], elsewhere);
        let config = invite(&mut trio, roves());
        come(&mut trio, config);
        trio.run_for(secs(absent));
        trio.left.0[0] = former;
        types(&mut trio, 0, b"x");
        trio.run_for(secs(30));
        assert_eq!(trio.left.0[0].client.outcome().is_some(), hears, "{absent}");
        assert!(is_in_sync(&trio, 1) && trio.right.0.program.typed.is_empty());
    }
}

#[test]
fn a_prompt_that_was_stated_to_the_former_client_is_not_stated_to_the_next() {
    let mut trio = session(busiest_client(Size::DEFAULT), &near_link(), Seed::new(1));
    for _ in 0..20 {
        types(&mut trio, 0, b"x");
        trio.run_for(secs(1));
    }
    let prompt = trio.right.0.server.written_input();
    assert!(prompt.is_some());
    let config = invite(&mut trio, busiest_client(Size::DEFAULT));
    come(&mut trio, config);
    trio.run_for(ms(60));
    // The driver may still pass a prompt that it read for the former client.
    trio.right.0.server.handle_tty(Tty { prompt, ..Tty::USUAL });
    trio.run_for(secs(1));
    assert_eq!(trio.left.0[1].client.tty(), Some(Tty::USUAL));
}

#[test]
fn a_newcomer_to_a_session_that_is_ending_learns_how_it_ended() {
    let mut trio = session(roves(), &near_link(), Seed::new(1));
    let config = invite(&mut trio, roves());
    trio.left.0[0] = near(ClientConfig { key: Key::from_bytes([99; 16]), ..roves() });
    let now = trio.now();
    trio.right.0.server.handle_host_closed(now, Some(ExitStatus::Code(3)));
    come(&mut trio, config);
    trio.run_for(secs(5));
    let ended = ClientOutcome::Ended(Some(ExitStatus::Code(3)));
    assert_eq!(trio.left.0[1].client.outcome(), Some(ended));
    assert_eq!(trio.right.0.server.outcome(), Some(ServerOutcome::Ended));
}

#[test]
fn every_key_arrives_once_and_in_order_whatever_is_lost() {
    let mut told = 0;
    for seed in 0..40 {
        let link = LinkConfig { loss: 0.29, ..near_link() };
        let mut trio = session(roves(), &link, Seed::new(seed));
        for client in 0..4_usize {
            types(&mut trio, client, format!("<{client}").as_bytes());
            trio.run_for(secs(6));
            types(&mut trio, client, b">");
            program(&mut trio, b"\x07echo\r\n");
            trio.run_for(secs(6));
            assert!(is_in_sync(&trio, client), "{seed} {client}");
            let config = invite(&mut trio, roves());
            come(&mut trio, config);
            trio.run_for(secs(12));
            let outcome = trio.left.0[client].client.outcome();
            told += usize::from(matches!(outcome, Some(ClientOutcome::Ended(Some(_)))));
        }
        assert_eq!(trio.right.0.program.typed, b"<0><1><2><3>", "{seed}");
    }
    assert_eq!(told, 160, "a farewell is repeated for ten seconds");
}

#[test]
fn events_of_the_past_do_not_happen_again() {
    // Mosh 1.4.0 gets no notifications.
    for (capabilities, notified) in [(Some(rove_session::CAPABILITIES), 1), (None, 0)] {
        let mut trio = session(wide(Size::DEFAULT), &near_link(), Seed::new(1));
        program(&mut trio, b"\x07\x07\x07\x1b]52;c;b2xk\x07\x1b]9;past\x07text");
        trio.run_for(secs(2));
        assert_eq!(trio.left.0[0].user.copied.len(), 1);
        let mut config = invite(&mut trio, wide(Size::DEFAULT));
        config.transport.capabilities = capabilities;
        come(&mut trio, config);
        trio.run_for(secs(2));
        assert!(is_in_sync(&trio, 1));
        let happened = |trio: &Trio| {
            let ClientEnd { user, terminal, .. } = &trio.left.0[1];
            (user.copied.len(), user.notified.len(), terminal.screen().bells())
        };
        assert_eq!(happened(&trio), (0, 0, 0), "{capabilities:?}");
        // A program copies the text of the past again.
        program(&mut trio, b"\x07\x1b]52;c;b2xk\x07\x1b]9;new\x07");
        trio.run_for(secs(2));
        assert_eq!(happened(&trio), (1, notified, 1), "{capabilities:?}");
    }
}

/// Returns the modes that are set in the user's terminal.
fn modes_of(client: &ClientEnd) -> impl PartialEq + core::fmt::Debug + use<> {
    let screen = client.terminal.screen();
    (screen.input_modes(), screen.rich_modes(), screen.cursor().visible)
}

#[test]
fn modes_are_set_for_the_newcomer_and_left_behind_for_nobody() {
    const MODES: [&[u8]; 10] = [
        b"\x1b[?1h",
        b"\x1b[?25l",
        b"\x1b[?1000h",
        b"\x1b[?1006h",
        b"\x1b[?1004h",
        b"\x1b[?2004h",
        b"\x1b[?1049h",
        b"\x1b[4 q",
        b"\x1b[>5u",
        b"\x1b=",
    ];
    let seed = Seed::new(50).stream("modes");
    for case in 0..50 {
        let modes: Vec<&[u8]> = (0..10)
            .filter(|&mode| seed.at(case * 10 + mode).chance(0.5))
            .map(|mode| MODES[usize::try_from(mode).expect("ten")])
            .collect();
        let mut trio = session(roves(), &LinkConfig::lossless(ms(20)), Seed::new(case));
        program(&mut trio, &modes.concat());
        trio.run_for(secs(1));
        let config = invite(&mut trio, wide(Size::DEFAULT));
        let mut alone =
            session(wide(Size::DEFAULT), &LinkConfig::lossless(ms(20)), Seed::new(case));
        program(&mut alone, &modes.concat());
        alone.run_for(secs(1));
        come(&mut trio, config);
        trio.run_for(secs(2));
        assert!(is_in_sync(&trio, 1), "{case}");
        assert_eq!(modes_of(&trio.left.0[1]), modes_of(&alone.left.0[0]), "{case}");
        let now = trio.now();
        trio.left.0[0].close_terminal(now);
        let fresh = modes_of(&near(roves()));
        assert_eq!(modes_of(&trio.left.0[0]), fresh, "{case}: left behind");
    }
    println!("50 combinations of modes: 0 wrong in the new terminal, 0 left behind in the old one");
}

#[test]
fn a_locked_client_that_is_heard_again_keeps_its_session_from_one_invited_meanwhile() {
    for is_heard in [false, true] {
        let mut trio = session(roves(), &near_link(), Seed::new(4));
        trio.left.0[0].client.set_door(Door::Locked);
        trio.run_for(secs(1));
        assert_eq!(trio.right.0.server.door(), Door::Locked);
        let heir = invite(&mut trio, roves());
        if is_heard {
            types(&mut trio, 0, b"x");
            trio.run_for(secs(1));
        }
        come(&mut trio, heir);
        trio.run_for(secs(3));
        assert_eq!(trio.right.0.server.takeovers(), u32::from(!is_heard));
    }
}
