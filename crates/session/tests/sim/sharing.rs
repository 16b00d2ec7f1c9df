//! A session that other clients join, to view or to type.

use rove_link::LinkConfig;
use rove_session::{
    ClientConfig, ClientOutcome, Door, ExitStatus, JOINED_MAX, JoinMode, Outside, ServerEvent,
    ServerOutcome, SizeRule, Tty, Uninvited,
};
use rove_ssp::{Config, Ecn, Key};
use rove_terminal::{ClusterWidths, Size, UserTerminal};
use rove_units::{Instant, Seed};

use crate::common::clients::*;
use crate::common::*;

/// Returns the text of a client's notice bar.
fn bar(trio: &Trio, client: usize) -> String {
    trio.left.0[client].row_text(0)
}

#[test]
fn two_clients_type_and_both_see_all_of_it() {
    for loss in [0.0, 0.29] {
        let link = LinkConfig { loss, ..near_link() };
        let mut trio = shared_session(&link, &[JoinMode::Share], Seed::new(2));
        for round in 0..5 {
            types(&mut trio, 0, format!("<{round}").as_bytes());
            trio.run_for(secs(6));
            types(&mut trio, 1, b">");
            program(&mut trio, b"echo\r\n");
            trio.run_for(secs(6));
            assert!(same_picture(&trio.left.0[0], &trio.right.0));
            assert!(same_picture(&trio.left.0[1], &trio.right.0));
        }
        assert_eq!(trio.right.0.program.typed, b"<0><1><2><3><4>");
    }
}

#[test]
fn every_client_is_shown_each_join_and_each_leaving_at_once() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(3));
    trio.run_for(secs(20));
    let config = invite_to_join(&mut trio, JoinMode::Share, roves());
    come(&mut trio, config);
    // An event takes 50 ms to the server, and 50 ms on to each client.
    trio.run_for(ms(150));
    for client in [0, 1] {
        let bar = bar(&trio, client);
        assert!(bar.contains("192.0.2.2 (process 2) joined to type"), "{client}: {bar}");
    }
    assert!(bar(&trio, 2).contains("192.0.2.1 (process 1) joined to view"));
    command(&mut trio, 0, b's');
    let rows: Vec<String> = (0..20).map(|row| trio.left.0[0].row_text(row)).collect();
    assert!(rows.iter().any(|row| row.contains("192.0.2.1 (process 1) views")), "{rows:#?}");
    types(&mut trio, 0, b" ");
    trio.run_for(secs(20));
    command(&mut trio, 2, b'.');
    for client in [0, 1] {
        let bar = bar(&trio, client);
        assert!(bar.contains("192.0.2.2 (process 2) has left"), "{client}: {bar}");
    }
    assert_eq!(trio.left.0[2].client.outcome(), Some(ClientOutcome::Ended(None)));
    // A client that vanished without announcing its end leaves after a while.
    trio.left.0[1] = near(ClientConfig { key: Key::from_bytes([98; 16]), ..roves() });
    trio.run_for(secs(180));
    command(&mut trio, 0, b's');
    assert!((0..20).all(|row| !trio.left.0[0].row_text(row).contains("views")));
}

#[test]
fn a_join_while_the_users_shell_has_the_terminal_is_shown_when_the_client_is_back() {
    let mut trio = shared_session(&near_link(), &[], Seed::new(3));
    let is_shown = |trio: &Trio| bar(trio, 0).contains("192.0.2.1 (process 1) joined to view");
    let config = invite_to_join(&mut trio, JoinMode::View, roves());
    come(&mut trio, config);
    trio.run_for(ms(110));
    let close = trio.left.0[0].client.close_terminal();
    trio.left.0[0].terminal.write(&close);
    trio.run_for(secs(20));
    let now = trio.now();
    trio.left.0[0].client.handle_resume(now);
    trio.run_for(secs(9));
    assert!(is_shown(&trio), "{}", bar(&trio, 0));
    trio.run_for(secs(1));
    assert!(!is_shown(&trio), "{}", bar(&trio, 0));
}

#[test]
fn each_of_those_who_join_at_once_is_shown_whole_however_long_the_address() {
    let mut trio = shared_session(&near_link(), &[], Seed::new(17));
    let who = |pid: u32| format!("2001:db8:1234:5678:9abc:def0:1234:5678 (process {pid})");
    let ways = [(JoinMode::View, 4_194_303, "view"), (JoinMode::Share, 4_194_304, "type")];
    for (key, (way, pid, _)) in (1..).zip(ways) {
        let (now, chaff) = (trio.now(), Seed::new(key).stream("server.chaff"));
        let key = || Key::from_bytes([u8::try_from(key).expect("two clients"); 16]);
        let server = &mut trio.right.0.server;
        server.invite_to_join(now, &key(), chaff, (way, &who(pid))).expect("the door is open");
        come(&mut trio, ClientConfig { key: key(), ..roves() });
    }
    trio.run_for(ms(150));
    for (_, pid, purpose) in ways {
        let bar = bar(&trio, 0);
        assert!(bar.contains(&format!("{} joined to {purpose}", who(pid))), "{bar}");
        trio.run_for(secs(3));
    }
}

#[test]
fn nobody_joins_a_session_whose_client_does_not_show_it_or_is_closed_or_locked() {
    let mut trio = session(client_config(stock(Config::client())), &near_link(), Seed::new(4));
    assert_eq!(refusal(&mut trio), Some(Uninvited::Unseen));
    let mut trio = session(roves(), &near_link(), Seed::new(4));
    assert_eq!(refusal(&mut trio), Some(Uninvited::Unseen), "its user has not said that they may");
    for (door, expected) in [
        (Door::Closed, Some(Uninvited::Closed)),
        (Door::Open, None),
        (Door::Locked, Some(Uninvited::Closed)),
    ] {
        trio.left.0[0].client.set_door(door);
        trio.run_for(secs(1));
        assert_eq!(refusal(&mut trio), expected);
    }
    // The lock ends invitations that nobody has used.
    trio.left.0[0].client.set_door(Door::Open);
    trio.run_for(secs(1));
    let invited = invite_to_join(&mut trio, JoinMode::Share, roves());
    let heir = invite(&mut trio, ClientConfig { key: Key::from_bytes([97; 16]), ..roves() });
    command(&mut trio, 0, b'l');
    assert!(bar(&trio, 0).contains("Locked"));
    assert_eq!(trio.right.0.server.door(), Door::Locked);
    come(&mut trio, invited);
    come(&mut trio, heir);
    types(&mut trio, 1, b"x");
    trio.run_for(secs(3));
    assert_eq!((trio.right.0.program.typed.len(), trio.right.0.server.takeovers()), (0, 0));
    command(&mut trio, 0, b'l');
    assert_eq!(trio.right.0.server.door(), Door::Open);
}

#[test]
fn the_owner_ends_joined_clients_however_much_they_paste_into_a_program_that_does_not_read() {
    for len in [600_000, 1_200_000] {
        let mut trio = shared_session(&near_link(), &[JoinMode::Share], Seed::new(5));
        trio.right.0.program.stuck = true;
        types(&mut trio, 1, &vec![b'x'; len]);
        trio.run_for(secs(60));
        command(&mut trio, 0, b'e');
        trio.run_for(secs(5));
        assert_eq!(trio.left.0[1].client.outcome(), Some(DISMISSED), "{len}");
    }
}

#[test]
fn the_bar_says_that_clients_are_ended_and_the_session_locked_when_the_server_has_taken_that() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(5));
    trio.run_for(secs(15));
    trio.right.0.program.stuck = true;
    trio.left.0[0].user.paste = vec![b'x'; 1_100_000];
    trio.run_for(secs(60));
    for (letter, asked) in [(b'e', "asked to end"), (b'l', "asked to lock")] {
        command(&mut trio, 0, letter);
        let bar = bar(&trio, 0);
        assert!(bar.contains(asked), "{bar}");
        assert_eq!(trio.left.0[1].client.outcome(), None);
    }
    command(&mut trio, 0, b's');
    let shows = |trio: &Trio, text| (0..20).any(|row| trio.left.0[0].row_text(row).contains(text));
    assert!(shows(&trio, "asked to lock") && !shows(&trio, "locked:"));
    types(&mut trio, 0, b" ");
    trio.right.0.program.stuck = false;
    trio.run_for(secs(3));
    for told in ["are ended", "Locked"] {
        assert!(bar(&trio, 0).contains(told), "{}", bar(&trio, 0));
    }
    assert_eq!(trio.left.0[1].client.outcome(), Some(DISMISSED));
    command(&mut trio, 0, b's');
    assert!(shows(&trio, "locked: nobody joins"));
}

#[test]
fn a_lock_and_the_end_of_joined_clients_in_one_read_both_count() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(5));
    types(&mut trio, 0, b"\x1el\x1ee");
    trio.run_for(secs(3));
    assert_eq!(trio.left.0[1].client.outcome(), Some(DISMISSED));
    assert_eq!(trio.right.0.server.door(), Door::Locked);
}

#[test]
fn a_client_that_takes_over_is_not_told_of_those_who_came_and_left_before() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(5));
    command(&mut trio, 1, b'.');
    trio.run_for(secs(20));
    let heir = invite(&mut trio, ClientConfig { key: Key::from_bytes([97; 16]), ..roves() });
    come(&mut trio, heir);
    for _ in 0..50 {
        trio.run_for(ms(100));
        assert!(!bar(&trio, 2).contains("came and left"), "{}", bar(&trio, 2));
    }
    assert!(is_in_sync(&trio, 2));
}

#[test]
fn a_joined_client_stays_while_the_servers_computer_sleeps() {
    let mut trio = shared_session(&near_link(), &[JoinMode::Share], Seed::new(5));
    trio.run_for(secs(20));
    let later = trio.now() + secs(600);
    trio.stop_right(true);
    trio.run_for(secs(600));
    // The datagram of the session's own client arrives before the late timer runs.
    types(&mut trio, 0, b"o");
    let transmit = trio.left.0[0].client.poll_transmit(later).expect("a key");
    let server = &mut trio.right.0.server;
    let own = server.client_address().expect("the owner's");
    let _ = server.handle_datagram(later, own, Ecn::Capable, &transmit.payload);
    server.handle_timeout(later);
    trio.stop_right(false);
    trio.run_for(secs(10));
    assert_eq!(trio.left.0[1].client.outcome(), None);
    types(&mut trio, 1, b"awake");
    trio.run_for(secs(1));
    assert_eq!(trio.right.0.program.typed, b"oawake");
    // After the sleep, 120 s of silence count again: a client that vanishes without a word is dropped.
    trio.left.0[1] = near(ClientConfig { key: Key::from_bytes([98; 16]), ..roves() });
    trio.run_for(secs(180));
    command(&mut trio, 0, b's');
    assert!((0..20).all(|row| !trio.left.0[0].row_text(row).contains("types")));
}

#[test]
fn a_session_takes_so_many_clients_and_an_unused_invitation_keeps_nobody_out() {
    let ways = [JoinMode::View; JOINED_MAX - 1];
    let mut trio = shared_session(&near_link(), &ways, Seed::new(7));
    for _ in 0..20 {
        assert_eq!(refusal(&mut trio), None);
    }
    let config = invite_to_join(&mut trio, JoinMode::View, roves());
    come(&mut trio, config);
    trio.run_for(secs(3));
    program(&mut trio, b"all of you");
    trio.run_for(secs(3));
    for client in 0..=JOINED_MAX {
        assert_eq!(trio.left.0[client].client.screen().row_text(0), "all of you", "{client}");
    }
    assert_eq!(refusal(&mut trio), Some(Uninvited::Full));
}

#[test]
fn the_end_of_the_session_reaches_all_clients() {
    for quits in [true, false] {
        let mut trio =
            shared_session(&near_link(), &[JoinMode::View, JoinMode::Share], Seed::new(8));
        let now = trio.now();
        if quits {
            command(&mut trio, 0, b'.');
        } else {
            trio.right.0.server.handle_host_closed(now, Some(ExitStatus::Code(3)));
        }
        trio.run_for(secs(3));
        let ended = ClientOutcome::Ended((!quits).then_some(ExitStatus::Code(3)));
        for client in 0..3 {
            assert_eq!(trio.left.0[client].client.outcome(), Some(ended), "{quits} {client}");
        }
        assert!(trio.right.0.server.outcome().is_some());
    }
}

#[test]
fn joined_clients_are_told_of_a_kill_while_the_owner_is_away_or_when_it_is_asked_for_twice() {
    for (is_away, calls) in [(true, 1), (true, 2), (false, 2)] {
        let mut trio =
            shared_session(&near_link(), &[JoinMode::View, JoinMode::Share], Seed::new(8));
        if is_away {
            trio.left.0[0] = near(ClientConfig { key: Key::from_bytes([98; 16]), ..roves() });
            trio.run_for(secs(60));
        }
        let now = trio.now();
        for _ in 0..calls {
            trio.right.0.server.shutdown(now, Outside::Kill);
        }
        trio.run_for(secs(5));
        let killed = ClientOutcome::Ended(Some(ExitStatus::Outside(Outside::Kill)));
        for client in [1, 2] {
            let outcome = trio.left.0[client].client.outcome();
            assert_eq!(outcome, Some(killed), "{is_away} {calls}");
        }
        assert_eq!(trio.right.0.server.outcome(), Some(ServerOutcome::Unacknowledged));
    }
}

#[test]
fn a_kill_waits_two_seconds_at_most_for_joined_clients_that_are_away() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(8));
    for client in [0, 1] {
        trio.left.0[client] = near(ClientConfig { key: Key::from_bytes([98; 16]), ..roves() });
    }
    trio.run_for(secs(60));
    let now = trio.now();
    trio.right.0.server.shutdown(now, Outside::Kill);
    assert_eq!(trio.right.0.server.outcome(), None);
    trio.run_for(ms(2_001));
    assert_eq!(trio.right.0.server.outcome(), Some(ServerOutcome::Unacknowledged));
}

#[test]
fn a_statement_of_a_prompt_ends_with_anothers_key_and_never_reaches_a_joined_client() {
    let mut trio = session(busiest_client(Size::DEFAULT), &near_link(), Seed::new(10));
    trio.left.0[0].client.set_door(Door::Open);
    trio.run_for(secs(2));
    let config = invite_to_join(&mut trio, JoinMode::Share, busiest_client(Size::DEFAULT));
    come(&mut trio, config);
    types(&mut trio, 0, b"x");
    trio.run_for(secs(2));
    let prompt = trio.right.0.server.written_input();
    assert!(prompt.is_some());
    let stated = |trio: &mut Trio, prompt| {
        trio.right.0.server.handle_tty(Tty { prompt, ..Tty::USUAL });
        trio.run_for(secs(1));
        [0, 1].map(|client| trio.left.0[client].client.tty().and_then(|tty| tty.prompt))
    };
    assert_eq!(stated(&mut trio, prompt), [prompt, None]);
    types(&mut trio, 1, b"y");
    trio.run_for(secs(1));
    assert_eq!(stated(&mut trio, prompt), [None, None], "it was about another line");
    types(&mut trio, 0, b"z");
    trio.run_for(ms(60));
    assert_eq!(stated(&mut trio, prompt), [None, None]);
    let prompt = trio.right.0.server.written_input();
    assert_eq!(stated(&mut trio, prompt), [prompt, None]);
}

#[test]
fn a_datagram_of_one_client_is_nothing_when_it_comes_again_from_anywhere() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View, JoinMode::Share], Seed::new(11));
    let now = trio.now();
    types(&mut trio, 2, b"once");
    let transmit = trio.left.0[2].client.poll_transmit(now).expect("keys");
    let (own, other) = ("192.0.2.9:9".parse().unwrap(), "192.0.2.10:10".parse().unwrap());
    let server = &mut trio.right.0.server;
    let mut offer = |at: Instant, source| {
        let before = server.client_datagrams();
        let _ = server.handle_datagram(at, source, Ecn::Capable, &transmit.payload);
        server.client_datagrams() - before
    };
    assert_eq!(offer(now, own), 1);
    for source in [own, other] {
        assert_eq!(offer(now, source), 0, "a copy moves no address");
    }
    trio.run_for(secs(1));
    assert_eq!(trio.right.0.program.typed, b"once");
}

#[test]
fn the_owner_decides_whose_window_leads_and_a_viewers_never_does() {
    for (rule, expected) in [
        (SizeRule::Owner, [size(80, 24), size(80, 24)]),
        (SizeRule::Typist, [size(80, 24), size(100, 40)]),
        (SizeRule::Smallest, [size(80, 24), size(80, 24)]),
        (SizeRule::Fixed(size(90, 20)), [size(90, 20), size(90, 20)]),
    ] {
        let mut trio = shared_session(&near_link(), &[], Seed::new(12));
        trio.left.0[0].client.set_size_rule(rule);
        for (way, window) in [(JoinMode::View, size(40, 10)), (JoinMode::Share, size(100, 40))] {
            let config = invite_to_join(&mut trio, way, wide(window));
            come(&mut trio, config);
            trio.run_for(secs(3));
        }
        types(&mut trio, 0, b"a");
        trio.run_for(secs(3));
        let session = |trio: &Trio| trio.right.0.server.screen().size();
        assert_eq!(session(&trio), expected[0], "{rule:?}");
        // The server ignores wishes of joined clients.
        trio.left.0[1].client.set_size_rule(SizeRule::Fixed(size(10, 10)));
        trio.left.0[2].client.set_size_rule(SizeRule::Fixed(size(10, 10)));
        types(&mut trio, 2, b"b");
        trio.run_for(secs(3));
        assert_eq!(session(&trio), expected[1], "{rule:?}");
        program(&mut trio, b"\x1b[2J\x1b[H0123456789abcdefghijklmnopqrstuvwxyz0123456789\r\n$ ");
        trio.run_for(secs(12));
        for client in 0..3 {
            let (seen, window) =
                (trio.left.0[client].client.screen(), trio.left.0[client].terminal.screen().size());
            assert!(
                seen.size().columns() <= window.columns() && seen.size().rows() <= window.rows()
            );
            assert!(seen.row_text(0).starts_with("0123456789abc"), "{client}");
        }
        // If a window is larger than the session, the client draws the session's edge.
        let edge = trio.left.0[2].row_text(1);
        assert_eq!(edge.ends_with('│'), expected[1].columns() < 100, "{edge}");
    }
}

#[test]
fn two_typists_in_turns_change_the_size_now_and_then_only() {
    let mut trio = shared_session(&near_link(), &[], Seed::new(13));
    trio.left.0[0].client.set_size_rule(SizeRule::Typist);
    let config = invite_to_join(&mut trio, JoinMode::Share, wide(size(100, 40)));
    come(&mut trio, config);
    trio.run_for(secs(5));
    trio.right.0.program.events.clear();
    for _ in 0..50 {
        for client in [1, 0] {
            types(&mut trio, client, b"x");
            trio.run_for(ms(100));
        }
    }
    let sizes = trio.right.0.program.events.iter();
    let sizes = sizes.filter(|event| matches!(event, ServerEvent::Resize(_))).count();
    assert!((2..=6).contains(&sizes), "{sizes} sizes in ten seconds");
}

#[test]
fn the_smallest_window_leads_only_by_the_owners_choice_and_a_viewers_is_none() {
    let mut trio = shared_session(&near_link(), &[], Seed::new(14));
    let config = invite_to_join(&mut trio, JoinMode::Share, wide(size(60, 20)));
    come(&mut trio, config);
    trio.run_for(secs(3));
    assert_eq!(trio.right.0.server.screen().size(), Size::DEFAULT);
    trio.left.0[0].client.set_size_rule(SizeRule::Smallest);
    trio.run_for(secs(3));
    assert_eq!(trio.right.0.server.screen().size(), size(60, 20));
    command(&mut trio, 1, b'.');
    trio.run_for(secs(3));
    assert_eq!(trio.right.0.server.screen().size(), Size::DEFAULT);
}

#[test]
fn a_silent_clients_window_counts_for_no_size_until_the_client_is_heard_again() {
    for rule in [SizeRule::Smallest, SizeRule::Typist] {
        let mut trio = shared_session(&near_link(), &[], Seed::new(14));
        trio.left.0[0].client.set_size_rule(rule);
        let window = if rule == SizeRule::Smallest { size(60, 20) } else { size(100, 40) };
        let config = invite_to_join(&mut trio, JoinMode::Share, wide(window));
        come(&mut trio, config);
        trio.run_for(secs(3));
        types(&mut trio, 1, b"a");
        let session = |trio: &Trio| trio.right.0.server.screen().size();
        for _ in 0..2 {
            trio.run_for(secs(60));
            assert_eq!(session(&trio), window, "an idle client is heard");
            let gone = near(ClientConfig { key: Key::from_bytes([98; 16]), ..roves() });
            let gone = core::mem::replace(&mut trio.left.0[1], gone);
            // The server may have permitted a pause of 24 s. The window counts for another 10 s.
            trio.run_for(secs(24 + 11));
            assert_eq!(session(&trio), Size::DEFAULT, "{rule:?}");
            trio.left.0[1] = gone;
        }
        assert_eq!(trio.left.0[1].client.outcome(), None);
    }
}

#[test]
fn a_viewers_key_used_from_two_addresses_disturbs_nobody_else() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View, JoinMode::Share], Seed::new(15));
    let stolen = ClientConfig { key: Key::from_bytes([1; 16]), ..wide(Size::DEFAULT) };
    come(&mut trio, stolen);
    types(&mut trio, 3, b"stolen");
    types(&mut trio, 1, b"viewed");
    types(&mut trio, 2, b"shared");
    types(&mut trio, 0, b"own");
    program(&mut trio, b"text");
    trio.run_for(secs(10));
    assert_eq!(trio.right.0.program.typed.len(), "ownshared".len());
    assert!([0, 2].iter().all(|client| same_picture(&trio.left.0[*client], &trio.right.0)));
}

/// Returns the median time from a key to its echo on the typist's terminal, with this many viewers.
fn echo_median(viewers: usize, seed: u64) -> u64 {
    let mut trio = shared_session(&near_link(), &[], Seed::new(seed));
    for _ in 0..viewers {
        let config = invite_to_join(&mut trio, JoinMode::View, wide(Size::DEFAULT));
        come(&mut trio, config);
    }
    trio.right.1 = Some((0.29, Seed::new(seed).stream("viewers.loss"), 0));
    trio.run_for(secs(15));
    let mut waits = Vec::new();
    for key in 0..200_u8 {
        let letter = b'a' + key % 26;
        program(&mut trio, b"\x1b[2J\x1b[H\x1b[3;1H");
        trio.run_for(ms(500));
        let start = trio.now();
        types(&mut trio, 0, &[letter]);
        let before = trio.right.0.program.typed.len();
        while trio.right.0.program.typed.len() == before {
            trio.run_for(ms(1));
        }
        program(&mut trio, &[letter]);
        while trio.left.0[0].row_text(2).is_empty() {
            trio.run_for(ms(1));
        }
        waits.push(trio.now().saturating_since(start).as_millis());
    }
    waits.sort_unstable();
    u64::try_from(waits[waits.len() / 2]).expect("milliseconds")
}

#[test]
fn ten_viewers_that_lose_much_slow_no_typist() {
    for seed in 0..3 {
        let (alone, beside) = (echo_median(0, seed), echo_median(10, seed));
        println!("seed {seed}: echo median alone {alone} ms, beside ten viewers {beside} ms");
        assert!(beside * 100 <= alone * 105);
    }
}

/// Adds a client whose terminal counts clusters of these kinds, and answers the client's questions about them.
fn come_counting(trio: &mut Trio, config: ClientConfig, cluster_widths: ClusterWidths) -> usize {
    come(trio, ClientConfig { query: true, ..config });
    let client = trio.left.0.len() - 1;
    let counting = UserTerminal { cluster_widths, ..UserTerminal::default() };
    trio.left.0[client].terminal.set_user_terminal(counting);
    trio.run_for(secs(1));
    let answers = core::mem::take(&mut trio.left.0[client].user.replies);
    types(trio, client, &answers);
    trio.run_for(secs(6));
    client
}

/// Returns how many columns a joined emoji occupies in the session, and the host's answer about mode 2027.
fn counted(trio: &mut Trio) -> String {
    trio.right.0.program.typed.clear();
    program(trio, "\r\u{1f469}\u{200d}\u{1f52c}\x1b[6n\x1b[?2027$p\r\n".as_bytes());
    trio.run_for(secs(1));
    String::from_utf8_lossy(&trio.right.0.program.typed).replace("\x1b[", " ")
}

#[test]
fn the_client_whose_window_leads_sets_how_clusters_count() {
    const POINTS: &str = "5R ?2027;4$y";
    const CLUSTERS: &str = "3R ?2027;3$y";
    for (rule, window, expected) in [
        (SizeRule::Owner, size(60, 20), [POINTS, POINTS]),
        (SizeRule::Typist, size(60, 20), [POINTS, CLUSTERS]),
        (SizeRule::Typist, size(100, 40), [POINTS, CLUSTERS]),
        (SizeRule::Smallest, size(60, 20), [CLUSTERS, CLUSTERS]),
        (SizeRule::Smallest, size(60, 40), [CLUSTERS, CLUSTERS]),
        (SizeRule::Smallest, size(80, 20), [POINTS, POINTS]),
        (SizeRule::Fixed(size(90, 20)), size(60, 20), [POINTS, POINTS]),
    ] {
        let link = LinkConfig { loss: 0.05, ..near_link() };
        let mut trio = shared_session(&link, &[], Seed::new(16));
        trio.left.0[0].client.set_size_rule(rule);
        for (way, window) in [(JoinMode::View, size(20, 10)), (JoinMode::Share, window)] {
            let config = invite_to_join(&mut trio, way, wide(window));
            come_counting(&mut trio, config, ClusterWidths::ALL);
        }
        for round in 0..3 {
            for (client, expected) in [0, 2].into_iter().zip(expected) {
                types(&mut trio, client, b"x");
                trio.run_for(secs(4));
                let counted = counted(&mut trio);
                assert!(counted.ends_with(expected), "{rule:?} {window:?} {round} {counted:?}");
            }
            trio.run_for(secs(5));
            for client in [0, 2] {
                let (ours, theirs) = (&trio.left.0[client].client, trio.right.0.server.screen());
                assert_eq!(ours.screen().cluster_widths(), theirs.cluster_widths());
                let is_whole = ours.screen().size() == theirs.size();
                assert!(!is_whole || same_picture(&trio.left.0[client], &trio.right.0));
            }
        }
        // A client that has left does not lead.
        command(&mut trio, 2, b'.');
        trio.run_for(secs(5));
        assert!(counted(&mut trio).ends_with(POINTS), "{rule:?} {window:?}");
    }
}
