//! The datagrams of an end and their times, against a peer that sends exactly what the test wants.

use rove_link::LinkConfig;
use rove_ssp::wire::Timestamp16;
use rove_ssp::{Config, Ecn, Event, StateNum};
use rove_units::Seed;

use crate::fake::{acquainted, client, nums, server, settled, state, text};
use crate::pair::{agree, ms, pair};

#[test]
fn a_client_without_an_answer_tries_ever_more_rarely_and_hops_after_ten_seconds() {
    let heartbeats = [3_000, 6_000, 9_000, 12_000, 15_000, 18_000, 21_000, 24_000];
    for (config, tries) in
        [(Config::client().stock(), &[0][..]), (Config::client(), &[0, 200, 600, 1_400])]
    {
        let mut fake = client::<4096>(config);
        fake.party.write(b"80x24");
        fake.run_for(ms(25_000));
        assert_eq!(fake.heard_at(), [tries, &heartbeats].concat());
        assert!(nums(&mut fake).iter().all(|nums| *nums == (0, 1, 0, 0)));
        // The datagram that triggers the hop leaves from the old port.
        assert_eq!(fake.party.events, [(12_000, Event::OpenPort), (24_000, Event::OpenPort)]);
    }
}

#[test]
fn a_server_is_silent_until_it_is_spoken_to_and_then_answers_at_once() {
    let mut fake = server::<4096>(Config::server());
    fake.run_for(ms(10_000));
    assert_eq!(fake.heard_at(), [0; 0]);
    fake.say(&text(0, 1, 0, "80x24")).expect("taken");
    assert_eq!(nums(&mut fake), [(0, 1, 1, 0)]);
    assert_eq!(fake.heard_at(), [10_000]);
    fake.party.write(b"$ ");
    fake.run_for(ms(100));
    // The server's answer without contents is no frame, so no frame interval delays the first frame. It is sent after
    // half a millisecond, because no further change comes.
    assert_eq!(fake.heard_at(), [10_000]);
    assert_eq!(nums(&mut fake), [(0, 2, 1, 0)]);
    fake.party.write(b"l");
    fake.run_for(ms(100));
    // This change may be part of the same answer, so it waits 8 ms for the rest.
    assert_eq!(fake.heard_at(), [10_108]);
    fake.party.write(b"s");
    fake.run_for(ms(1_000));
    // SRTT is still 1 s, so frames that do not answer the peer are 250 ms apart.
    assert_eq!(fake.heard_at()[0], 10_358);
}

#[test]
fn the_first_state_with_contents_is_acknowledged_at_once() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.heard();
    fake.heard_at();
    fake.say_at(&text(0, 1, 1, "motd"), Timestamp16::new(1_000), None).expect("taken");
    assert_eq!(fake.heard_at(), [5]);
    assert_eq!(nums(&mut fake), [(1, 2, 1, 1)]);
    let datagram = fake.party.referee.datagrams.last().expect("sent");
    assert_eq!(datagram.timestamp_reply, Timestamp16::new(1_000));
}

#[test]
fn a_state_with_contents_is_acknowledged_after_100_ms_and_an_empty_one_is_not() {
    let mut fake = acquainted(client::<4096>(Config::client()));
    fake.say_at(&text(1, 2, 2, "prompt"), Timestamp16::new(1_000), None).expect("taken");
    fake.run_for(ms(99));
    assert_eq!(fake.heard_at(), [0; 0]);
    fake.run_for(ms(1));
    assert_eq!(fake.heard_at(), [105]);
    assert_eq!(nums(&mut fake), [(2, 3, 2, 2)]);
    // The end adds to the echoed timestamp the time for which it held the timestamp.
    let datagram = fake.party.referee.datagrams.last().expect("sent");
    assert_eq!(datagram.timestamp_reply, Timestamp16::new(1_100));

    fake.say(&state(2, 3, 3)).expect("taken");
    fake.run_for(ms(2_999));
    assert_eq!(fake.heard_at(), [0; 0]);
    fake.run_for(ms(1));
    assert_eq!(fake.heard_at(), [3_105], "nothing but the heartbeat");
}

#[test]
fn idle_ends_exchange_a_heartbeat_every_three_seconds() {
    let mut net = pair::<4096>(Seed::new(2), LinkConfig::lossless(ms(20)));
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    net.left.sent.clear();
    net.right.sent.clear();
    net.run_for(ms(30_000));
    assert_eq!((net.left.sent.len(), net.right.sent.len()), (10, 10));
}

#[test]
fn every_timestamp_is_echoed_once_and_within_a_second() {
    for (pause, echoed) in [(0, true), (999, true), (1_000, false)] {
        let mut fake = settled(client::<4096>(Config::client()));
        fake.run_for(ms(500));
        fake.say_at(&state(0, 1, 1), Timestamp16::new(7), None).expect("taken");
        fake.run_for(ms(pause));
        fake.party.write(b"x");
        fake.run_for(ms(1));
        fake.party.write(b"y");
        fake.run_for(ms(300));
        let replies = fake.party.referee.datagrams.iter().map(|d| d.timestamp_reply);
        let replies: Vec<_> = replies.flatten().collect();
        assert_eq!(replies.len(), usize::from(echoed), "{pause}");
    }
}

#[test]
fn congestion_makes_the_echoed_timestamp_half_a_second_older() {
    let mut fake = acquainted(client::<4096>(Config::client()));
    fake.ecn = Ecn::CongestionExperienced;
    fake.say_at(&text(1, 2, 2, "x"), Timestamp16::new(40_003), None).expect("taken");
    fake.run_for(ms(100));
    let datagram = fake.party.referee.datagrams.last().expect("sent");
    assert_eq!(datagram.timestamp_reply, Timestamp16::new(39_603));
}

#[test]
fn a_round_trip_time_is_learned_from_newer_datagrams_only() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.run_for(ms(195));
    fake.say_at(&state(0, 1, 1), None, Timestamp16::new(120)).expect("taken");
    assert_eq!(fake.party.transport.srtt(), Some(ms(80)));
    assert_eq!(fake.party.transport.frame_interval(), ms(40));
}

#[test]
fn lost_contents_are_sent_again_for_ten_seconds_after_the_last_new_state() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.run_for(ms(95));
    fake.say_at(&state(0, 1, 1), None, Timestamp16::new(100)).expect("taken");
    fake.heard_at();
    fake.party.write(b"x");
    fake.run_for(ms(30_000));
    // Round-trip time 0: RTO 50 ms, and the only unacknowledged entry is in flight for RTO + 100.
    let sent = fake.heard_at();
    // Contents that are presumed lost for the first time are sent twice.
    assert_eq!(sent[..5], [100, 250, 255, 405, 555]);
    let active = sent.iter().filter(|at| **at <= 10_100).count();
    assert_eq!(active, 68);
    let spaced: Vec<u64> = sent[active..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(spaced.iter().all(|gap| *gap == 3_000), "{spaced:?}");
    assert!(nums(&mut fake).iter().skip(1).all(|nums| (nums.0, nums.1) == (1, 2)));
}

#[test]
fn a_due_acknowledgment_takes_pending_contents_along_before_the_frame_interval() {
    let mut fake = acquainted(client::<4096>(Config::client()));
    fake.party.write(b"a");
    fake.run_for(ms(5));
    assert_eq!(fake.heard_at(), [5]);
    fake.say(&text(1, 2, 2, "x")).expect("taken");
    fake.party.write(b"b");
    fake.run_for(ms(100));
    assert_eq!(fake.heard_at(), [110]);
}

#[test]
fn an_empty_acknowledgment_holds_no_key_back() {
    let mut fake = acquainted(client::<4096>(Config::client()));
    fake.say(&text(1, 2, 2, "x")).expect("taken");
    fake.run_for(ms(100));
    fake.party.write(b"a");
    fake.run_for(ms(100));
    assert_eq!(fake.heard_at(), [105, 105]);
}

#[test]
fn sixty_five_states_leave_the_oldest_seventeen_and_the_newest_fifteen() {
    for (ack, accepted) in
        [(10, true), (16, true), (17, false), (20, false), (50, false), (51, true)]
    {
        let mut fake = settled(client::<4096>(Config::client()));
        for number in 1..=64 {
            fake.party.write(b"x");
            fake.run_for(ms(250));
            // The peer sends new states, but acknowledges none.
            fake.say(&text(number - 1, number, 0, "y")).expect("taken");
        }
        assert_eq!(fake.party.transport.sent_num(), StateNum::new(65));
        fake.heard();
        fake.say(&state(64, 65, ack)).expect("taken");
        fake.run_for(ms(4_000));
        let throwaway = fake.heard().last().expect("a heartbeat").throwaway_num.get();
        assert_eq!(throwaway, if accepted { ack } else { 0 }, "acknowledgment of {ack}");
    }
}

#[test]
fn a_server_forgets_a_client_not_heard_for_forty_seconds_until_it_is_back() {
    let mut fake = server::<4096>(Config::server());
    fake.say(&text(0, 1, 0, "80x24")).expect("taken");
    fake.run_for(ms(60_000));
    let last = *fake.heard_at().last().expect("heartbeats");
    assert!((40_001..=43_000).contains(&last), "{last}");
    assert_eq!(fake.party.events, [(0, Event::PeerMoved(fake.source)), (last, Event::PeerLost)]);
    assert_eq!(fake.party.transport.peer_address(), None);
    fake.say(&state(1, 2, 1)).expect("taken");
    assert_eq!(fake.heard_at(), [60_000]);
    assert_eq!(fake.party.transport.peer_address(), Some(fake.source));
}

#[test]
fn a_server_follows_newer_datagrams_to_another_address() {
    let mut fake = server::<4096>(Config::server());
    fake.say(&text(0, 1, 0, "80x24")).expect("taken");
    let first = fake.source;
    fake.source = "192.0.2.9:7".parse().expect("an address");
    fake.say(&text(1, 2, 1, "x")).expect("taken");
    let events: Vec<Event> = fake.party.events.drain(..).map(|(_, event)| event).collect();
    assert_eq!(events, [Event::PeerMoved(first), Event::PeerMoved(fake.source)]);
}

#[test]
fn a_client_that_has_moved_or_is_back_is_answered_at_once() {
    let mut fake = server::<4096>(Config::server());
    fake.say(&text(0, 1, 0, "80x24")).expect("taken");
    fake.run_for(ms(400));
    fake.say(&state(1, 2, 1)).expect("taken");
    fake.run_for(ms(100));
    fake.heard_at();
    // An empty state from the same address gets no separate answer.
    fake.say(&state(2, 3, 1)).expect("taken");
    fake.run_for(ms(500));
    assert_eq!(fake.heard_at(), [0; 0]);
    // From another port, the first empty state is answered at once, and the second not at all.
    fake.source = "192.0.2.9:7".parse().expect("an address");
    fake.say(&state(3, 4, 1)).expect("taken");
    fake.say(&state(4, 5, 1)).expect("taken");
    fake.run_for(ms(1_500));
    assert_eq!(fake.heard_at(), [1_000]);
    // The first state after a silence of over two heartbeat intervals is also answered at once.
    for (num, silence, answered) in [(6, 5_950, false), (7, 6_001, true)] {
        fake.run_for(ms(silence - 1_500));
        fake.say(&state(num - 1, num, 1)).expect("taken");
        let said_at = fake.now.as_millis();
        fake.run_for(ms(1_500));
        assert_eq!(fake.heard_at().contains(&said_at), answered, "{silence}");
    }
}

#[test]
fn a_client_whose_network_has_changed_says_the_newest_again_until_it_is_answered() {
    for is_answered in [false, true] {
        let mut fake = settled(client::<4096>(Config::client()));
        fake.say(&text(0, 1, 1, "motd")).expect("taken");
        fake.run_for(ms(1_000));
        let before = fake.heard();
        let newest = before.last().expect("an acknowledgment");
        fake.heard_at();
        fake.party.transport.handle_network_change(fake.now);
        let changed_at = fake.now.as_millis();
        fake.run_for(ms(200));
        if is_answered {
            let reply = Timestamp16::from_millis(changed_at);
            fake.say_at(&state(1, 2, 1), None, reply.into()).expect("taken");
        }
        fake.run_for(ms(1_000));
        let again = fake.heard();
        assert!(again.iter().all(|instruction| instruction == newest), "{again:?}");
        let after: Vec<u64> = fake.heard_at().iter().map(|at| at - changed_at).collect();
        assert_eq!(after, if is_answered { &[0][..] } else { &[0, 250, 750] });
    }
}

#[test]
fn a_client_that_slept_for_hours_speaks_as_it_wakes() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.run_for(ms(95));
    fake.say_at(&text(0, 1, 1, "prompt"), None, Timestamp16::new(20)).expect("taken");
    let srtt = fake.party.transport.srtt();
    fake.say_at(&text(1, 2, 2, "output"), Timestamp16::new(7), None).expect("taken");
    fake.party.write(b"x");
    fake.party.sent.clear();
    fake.heard();
    // The client falls asleep before it has sent the key.
    fake.now += ms(3 * 3_600_000);
    fake.run_for(ms(0));
    let woken_at = fake.now.as_millis();
    assert_eq!(fake.heard_at(), [woken_at]);
    assert_eq!(nums(&mut fake), [(2, 3, 2, 2)]);
    let datagram = fake.party.referee.datagrams.last().expect("sent");
    assert_eq!(datagram.timestamp_reply, None, "what was held through the sleep is too old");
    assert_eq!(fake.party.events, [(woken_at, Event::OpenPort)]);
    // A round trip later the peer acknowledges the key.
    fake.run_for(ms(80));
    let stamped = Timestamp16::from_millis(woken_at);
    fake.say_at(&state(2, 3, 3), None, Some(stamped)).expect("taken");
    assert_eq!(fake.party.transport.known_receiver_state().text(), b"x");
    assert_eq!(fake.party.transport.srtt(), srtt);
}

#[test]
fn an_end_agrees_with_itself_after_every_step() {
    let mut net = pair::<4096>(Seed::new(9), LinkConfig::lossless(ms(10)));
    for _ in 0..40 {
        net.left.write(b"a");
        net.run_for(ms(7));
        net.right.write(b"b");
        net.run_for(ms(7));
    }
    assert!(net.run_until(ms(1_000), agree));
}
