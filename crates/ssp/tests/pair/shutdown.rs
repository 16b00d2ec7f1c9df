//! The orderly end of a session, from either side and from both.

use rove_link::LinkConfig;
use rove_link::net::End;
use rove_ssp::{Closed, Config};
use rove_units::{Instant, Seed};

use crate::fake::{client, nums, server, settled, state, text};
use crate::pair::{Fate, Pair, Party, ms, noise, pair};

const MAX64: u64 = u64::MAX;

/// Runs until both ends are closed or `limit_ms` has passed.
fn run_to_the_end<const MAX: usize>(net: &mut Pair<MAX>, limit_ms: u64) -> [Option<Closed>; 2] {
    net.run_until(ms(limit_ms), |left, right| {
        left.transport.closed().is_some() && right.transport.closed().is_some()
    });
    [net.left.transport.closed(), net.right.transport.closed()]
}

#[test]
fn a_shutdown_without_an_answer_is_tried_sixteen_times() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.heard();
    fake.heard_at();
    fake.run_for(ms(995));
    fake.party.transport.start_shutdown(fake.now);
    fake.run_for(ms(3_999));
    let sent = fake.heard_at();
    assert_eq!(sent, (0..16).map(|try_| 1_000 + 250 * try_).collect::<Vec<u64>>());
    assert!(nums(&mut fake).iter().all(|nums| nums.1 == MAX64));
    assert_eq!(fake.party.transport.closed(), None);
    fake.run_for(ms(1));
    assert_eq!(fake.party.transport.closed(), Some(Closed::Unacknowledged));
    assert_eq!(fake.party.transport.poll_timeout(), None);
}

#[test]
fn an_end_waits_for_a_busy_peer_however_near_it_is() {
    for left_starts in [true, false] {
        let mut net = pair::<4096>(Seed::new(9), LinkConfig::lossless(ms(1)));
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        let now = net.now();
        if left_starts {
            net.stop_right(true);
            net.left.transport.start_shutdown(now);
        } else {
            net.stop_left(true);
            net.right.transport.start_shutdown(now);
        }
        net.run_for(ms(3_900));
        net.stop_left(false);
        net.stop_right(false);
        let [left, right] = run_to_the_end(&mut net, 500);
        let (first, second) = if left_starts { (left, right) } else { (right, left) };
        assert_eq!((first, second), (Some(Closed::Acknowledged), Some(Closed::ByPeer)));
    }
}

#[test]
fn a_near_peer_that_is_gone_is_told_five_times_at_once_and_given_up_after_four_seconds() {
    let mut net = pair::<4096>(Seed::new(9), LinkConfig::lossless(ms(1)));
    net.run_for(ms(2_000));
    net.stop_right(true);
    let start = net.now();
    net.left.transport.start_shutdown(start);
    for (until, announced) in [(ms(100), 5), (ms(340), 6), (ms(3_999), 20)] {
        net.run_for(until - net.now().saturating_since(start));
        let finals = net.left.referee.instructions.iter().filter(|i| i.new_num.get() == MAX64);
        assert_eq!((finals.count(), net.left.transport.closed()), (announced, None), "{until:?}");
    }
    // The newest announcement gets time to be answered.
    net.run_for(ms(251));
    assert_eq!(net.left.transport.closed(), Some(Closed::Unacknowledged));
}

#[test]
fn a_shutdown_gives_up_after_ten_seconds_when_it_has_nobody_to_try() {
    let mut fake = server::<4096>(Config::server());
    fake.party.transport.start_shutdown(fake.now);
    fake.run_for(ms(9_999));
    assert_eq!((fake.heard_at(), fake.party.transport.closed()), (vec![], None));
    fake.run_for(ms(1));
    assert_eq!(fake.party.transport.closed(), Some(Closed::Unacknowledged));
}

#[test]
fn an_acknowledged_shutdown_ends_both() {
    for left_starts in [true, false] {
        let mut net = pair::<4096>(Seed::new(3), LinkConfig::lossless(ms(30)));
        net.left.write(b"ls");
        net.run_for(ms(2_000));
        let now = net.now();
        let (initiator, other) = if left_starts {
            (&mut net.left, &mut net.right)
        } else {
            (&mut net.right, &mut net.left)
        };
        initiator.write(b"last words");
        initiator.transport.start_shutdown(now);
        initiator.write(b"too late");
        other.write(b"bye");
        let [left, right] = run_to_the_end(&mut net, 1_000);
        let (first, second) = if left_starts { (left, right) } else { (right, left) };
        assert_eq!(first, Some(Closed::Acknowledged));
        assert_eq!(second, Some(Closed::ByPeer));
        let heard = if left_starts { &net.right } else { &net.left };
        assert!(heard.transport.remote().text().ends_with(b"last words"));
    }
}

#[test]
fn ends_that_shut_down_at_once_acknowledge_each_other() {
    let mut net = pair::<4096>(Seed::new(4), LinkConfig::lossless(ms(30)));
    net.run_for(ms(2_000));
    let now = net.now();
    net.left.transport.start_shutdown(now);
    net.right.transport.start_shutdown(now);
    assert!(
        run_to_the_end(&mut net, 1_000)
            .iter()
            .all(|closed| { matches!(closed, Some(Closed::ByPeer | Closed::Acknowledged)) })
    );
}

#[test]
fn a_shutdown_may_be_the_first_instruction_of_a_session() {
    let mut net = pair::<4096>(Seed::new(5), LinkConfig::lossless(ms(30)));
    net.left.write(b"80x24");
    net.left.transport.start_shutdown(Instant::ZERO);
    let closed = run_to_the_end(&mut net, 2_000);
    assert_eq!(closed, [Some(Closed::Acknowledged), Some(Closed::ByPeer)]);
    assert_eq!(net.right.transport.remote().text(), b"80x24");
}

#[test]
fn a_client_that_the_acknowledgment_of_its_end_has_not_reached_is_told_again() {
    for lost in 1..=3 {
        for one_way in [1, 30, 250] {
            let mut net = pair::<4096>(Seed::new(6), LinkConfig::lossless(ms(one_way)));
            net.run_for(ms(4_000));
            let now = net.now();
            net.left.transport.start_shutdown(now);
            net.right.fates.extend([Fate::Lost; 3].iter().take(lost));
            let closed = run_to_the_end(&mut net, 12_000);
            let sure = [Some(Closed::Acknowledged), Some(Closed::ByPeer)];
            assert_eq!(closed, sure, "{lost} lost, {one_way} ms");
        }
    }
}

#[test]
fn a_server_goes_in_doubt_where_the_acknowledgment_of_its_end_is_lost() {
    let mut net = pair::<4096>(Seed::new(6), LinkConfig::lossless(ms(30)));
    net.run_for(ms(4_000));
    let now = net.now();
    net.right.transport.start_shutdown(now);
    net.left.fates.push_back(Fate::Lost);
    let closed = run_to_the_end(&mut net, 12_000);
    assert_eq!(closed, [Some(Closed::ByPeer), Some(Closed::Unacknowledged)]);
    // The client does not linger, because its user waits.
    assert_eq!(net.left.transport.lingers_until(), None);
}

/// Returns how many of this end's instructions acknowledge its peer's shutdown.
fn acknowledged<const MAX: usize>(party: &Party<MAX>) -> usize {
    party.referee.instructions.iter().filter(|it| it.ack_num.get() == MAX64).count()
}

#[test]
fn an_end_is_acknowledged_once_where_nothing_is_lost_and_twice_where_much_is() {
    for left_starts in [true, false] {
        for (loss, wanted) in [(0.0, 1..=1), (0.3, 2..=12)] {
            let wire = LinkConfig::lossless(ms(100));
            let mut net = pair::<4096>(Seed::new(8), LinkConfig { loss, ..wire.clone() });
            for _ in 0..60 {
                net.left.write(b"a");
                net.right.write(b"b");
                net.run_for(ms(500));
            }
            net.reconfigure(wire.clone(), wire);
            net.run_for(ms(2_000));
            let now = net.now();
            let starts = if left_starts { &mut net.left } else { &mut net.right };
            starts.transport.start_shutdown(now);
            net.run_for(ms(20_000));
            let (announces, answers) =
                if left_starts { (&net.left, &net.right) } else { (&net.right, &net.left) };
            assert_eq!(announces.transport.closed(), Some(Closed::Acknowledged));
            // A second announcement is on its way before the acknowledgment of the first arrives.
            let finals = announces.referee.instructions.iter().filter(|i| i.new_num.get() == MAX64);
            assert!(finals.count() >= 2);
            let found = acknowledged(answers);
            assert!(wanted.contains(&found), "{found} at a loss of {loss}");
        }
    }
}

#[test]
fn a_lingering_server_answers_announcements_only_and_ends_for_certain() {
    let mut fake = server::<4096>(Config::server());
    fake.say(&text(0, 1, 0, "ls")).expect("taken");
    fake.run_for(ms(2_000));
    fake.say(&state(1, MAX64, 0)).expect("taken");
    fake.run_for(ms(250));
    assert_eq!(fake.party.transport.closed(), Some(Closed::ByPeer));
    let start = fake.now;
    // This time is longer than an answer to the acknowledgment could take.
    fake.run_for(ms(1_250));
    fake.party.sent.clear();
    // A late text gets no answer. The announcement gets one, and its replay below is refused.
    fake.say(&text(1, 2, 0, "x")).expect("authentic");
    let replayed = fake.datagrams(&state(1, MAX64, 0), None, None).remove(0);
    fake.hand_in(&replayed).expect("authentic");
    assert_eq!(fake.heard_at(), [fake.now.as_millis()]);
    fake.run_for(ms(1_250));
    fake.hand_in(&replayed).expect_err("replayed");
    fake.say(&state(1, 3, 0)).expect("authentic");
    assert_eq!(fake.heard_at(), []);
    let (mut announced, mut lasted) = (0, start);
    while fake.party.transport.lingers_until().is_some() {
        lasted = fake.now;
        fake.say(&state(1, MAX64, 0)).expect("authentic");
        announced += 1;
        fake.run_for(ms(200));
        assert!(announced < 100, "it ends");
    }
    let answered = fake.heard_at().len();
    assert!((1..=announced).contains(&answered), "{answered} answers to {announced}");
    assert!(lasted.saturating_since(start) <= ms(5_000));
    assert_eq!(fake.party.transport.poll_timeout(), None);
    fake.say(&state(1, MAX64, 0)).expect("authentic");
    fake.run_for(ms(5_000));
    assert_eq!(fake.heard_at(), [], "it is over");
    assert_eq!(fake.party.transport.closed(), Some(Closed::ByPeer));
}

#[test]
fn an_acknowledgment_of_a_shutdown_that_was_never_sent_is_ignored() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.say(&state(0, 1, MAX64)).expect("taken");
    fake.run_for(ms(100));
    assert_eq!(fake.party.transport.closed(), None);
    assert_eq!(fake.party.transport.known_state_sent_at(), None);
}

#[test]
fn the_peers_end_is_acknowledged_at_the_frame_interval_and_once() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.run_for(ms(995));
    fake.say(&text(0, MAX64, 1, "bye")).expect("taken");
    assert!(fake.party.transport.is_peer_shutting_down());
    assert_eq!(nums(&mut fake), [(0, 1, 0, 0), (1, 2, MAX64, 1)]);
    assert_eq!(fake.party.transport.closed(), Some(Closed::ByPeer));
    assert_eq!(fake.party.poll_timeout(), None);
}

#[test]
fn the_peers_end_is_acknowledged_in_one_datagram_whatever_waits() {
    for len in [3_000, 20_000] {
        let mut fake = settled(client::<4096>(Config::client()));
        fake.party.write(&noise(Seed::new(1), len));
        fake.run_for(ms(995));
        fake.party.sent.clear();
        fake.heard();
        fake.say(&text(0, MAX64, 1, "bye")).expect("taken");
        fake.run_for(ms(250));
        let said = fake.heard().pop().expect("an acknowledgment");
        assert_eq!((said.ack_num.get(), said.diff.len()), (MAX64, 0), "{len} bytes");
        assert_eq!(fake.heard_at().len(), 1, "{len} bytes");
        assert_eq!(fake.party.transport.closed(), Some(Closed::ByPeer));
    }
}

#[test]
fn a_shutdown_waits_for_contents_too_large_for_one_instruction() {
    for loss in [0.0, 0.1] {
        let link = LinkConfig { loss, ..LinkConfig::lossless(ms(20)) };
        let mut net = pair::<4096>(Seed::new(7), link);
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        net.left.write(&noise(Seed::new(7), 30_000));
        let now = net.now();
        net.left.transport.start_shutdown(now);
        let closed = run_to_the_end(&mut net, 12_000);
        assert_eq!(net.right.transport.remote().text().len(), 30_005, "loss {loss}");
        assert_eq!(closed[1], Some(Closed::ByPeer));
        let finals = net.left.referee.instructions.iter().filter(|i| i.new_num.get() == MAX64);
        assert!(finals.clone().count() > 0 && finals.clone().all(|i| i.diff.len() <= 4096));
    }
}

#[test]
fn a_held_receiver_takes_the_end_and_contents_of_several_instructions_once_it_is_let_go() {
    for (len, is_taken) in [(10, true), (10_000, false)] {
        let mut net = pair::<4096>(Seed::new(8), LinkConfig::lossless(ms(20)));
        net.run_for(ms(1_000));
        net.right.transport.hold_remote(true);
        let words = noise(Seed::new(8), len);
        net.left.write(&words);
        let now = net.now();
        net.left.transport.start_shutdown(now);
        net.run_for(ms(100));
        let taken = if is_taken { &words[..] } else { b"" };
        assert_eq!(net.right.transport.remote().text(), taken);
        net.right.transport.hold_remote(false);
        let closed = run_to_the_end(&mut net, 1_000);
        assert_eq!(closed, [Some(Closed::Acknowledged), Some(Closed::ByPeer)], "{len}");
        assert_eq!(net.right.transport.remote().text(), words);
    }
}
