//! Limits: an end refuses input beyond them and goes on.

use proptest::prelude::*;
use rove_ssp::wire::{Instruction, Timestamp16};
use rove_ssp::{Capabilities, Config, Direction, Hello, Loss, Peer, ReceiveError, StateNum};
use rove_units::{Duration, Seed};

use crate::fake::{Fake, client, nums, server, settled, state, text};
use crate::pair::{Party, ms};

#[test]
fn a_flood_fills_the_list_with_1024_states_and_then_one_per_quarter_minute() {
    let mut fake = server::<4096>(Config::server());
    for num in 1..=1_024 {
        assert_eq!(fake.say(&state(0, num, 0)), Ok(()), "state {num}");
    }
    // With the initial state, the list now has 1025 entries, and is over its limit from here on.
    assert_eq!(fake.say(&state(0, 1_025, 0)), Ok(()));
    assert_eq!(fake.say(&state(0, 1_026, 0)), Err(ReceiveError::QueueFull));
    fake.run_for(ms(14_999));
    assert_eq!(fake.say(&state(0, 1_027, 0)), Err(ReceiveError::QueueFull));
    fake.run_for(ms(1));
    assert_eq!(fake.say(&state(0, 1_028, 0)), Ok(()));
    assert_eq!(fake.say(&state(0, 1_029, 0)), Err(ReceiveError::QueueFull));
    // The receiver first drops the states below the throwaway number, so the list has room again.
    let emptying = Instruction { throwaway_num: StateNum::new(1_028), ..state(1_028, 1_030, 0) };
    assert_eq!(fake.say(&emptying), Ok(()));
    assert_eq!(fake.party.transport.remote_num(), StateNum::new(1_030));
}

#[test]
fn instructions_against_the_rules_are_ignored_and_the_session_goes_on() {
    let num = StateNum::new;
    let throwaway = |old, new, throwaway_num| Instruction {
        throwaway_num: num(throwaway_num),
        ..state(old, new, 0)
    };
    let mut fake = server::<4096>(Config::server());
    let cases = [
        (text(0, 1, 0, "ab"), Ok(()), 1),
        (text(0, 1, 0, "other"), Ok(()), 1),
        (text(7, 8, 0, "c"), Err(ReceiveError::StaleReference { old_num: num(7) }), 1),
        (text(0, 2, 0, "ac"), Err(ReceiveError::NotFollowing { new_num: num(2) }), 1),
        (state(0, 2, 0), Err(ReceiveError::NotFollowing { new_num: num(2) }), 1),
        (
            throwaway(1, 3, 2),
            Err(ReceiveError::ThrowawayBeyondReference { throwaway_num: num(2), old_num: num(1) }),
            1,
        ),
        (text(1, 5, 9, "c"), Ok(()), 5),
        (text(1, 3, 0, "x"), Ok(()), 5),
        (text(3, 4, 0, "y"), Ok(()), 5),
        (throwaway(5, 6, 5), Ok(()), 6),
        (text(1, 7, 0, "z"), Err(ReceiveError::StaleReference { old_num: num(1) }), 6),
        (text(6, 2, 0, "z"), Ok(()), 6),
        (text(6, 5, 0, "z"), Ok(()), 6),
        (text(6, 1_000_000, 0, "z"), Ok(()), 1_000_000),
    ];
    for (instruction, outcome, newest) in cases {
        assert_eq!(fake.say(&instruction), outcome, "{instruction:?}");
        assert_eq!(fake.party.transport.remote_num(), num(newest), "{instruction:?}");
    }
    assert_eq!(fake.party.transport.remote().text(), b"abcz");
    let broken = fake.say(&text(1_000_000, 1_000_001, 0, "\0"));
    assert!(matches!(broken, Err(ReceiveError::Apply(_))));
    assert_eq!(fake.party.transport.remote_num(), num(1_000_000));
}

#[test]
fn a_held_receiver_leaves_contents_with_the_peer_and_reads_acknowledgments() {
    let mut fake = settled(client::<4096>(Config::client()));
    fake.party.transport.hold_remote(true);
    assert_eq!(fake.say(&text(0, 1, 1, "x")), Ok(()));
    assert_eq!(fake.party.transport.remote_num(), StateNum::INITIAL);
    assert!(fake.party.transport.known_state_sent_at().is_some());
    assert_eq!(fake.say(&state(0, 2, 1)), Ok(()));
    assert_eq!(fake.party.transport.remote_num(), StateNum::new(2));
    fake.party.transport.hold_remote(false);
    assert_eq!(fake.say(&text(0, 3, 1, "x")), Ok(()));
    assert_eq!(fake.party.transport.remote().text(), b"x");
}

#[test]
fn an_out_of_order_datagram_tells_nothing_but_its_payload_counts() {
    let mut fake = server::<4096>(Config::server());
    let first =
        Fake::<4096>::new(Party::client(Seed::new(5), Config::client()), Direction::ToServer);
    let late = first.sealed(&text(0, 1, 0, "a"), 3);
    let early = first.sealed(&text(0, 2, 0, "ab"), 5);
    for (payload, source) in [(early, "192.0.2.1:1"), (late, "192.0.2.2:2")] {
        fake.source = source.parse().expect("an address");
        fake.hand_in(&payload).expect("taken");
    }
    let address = fake.party.transport.peer_address().expect("heard");
    assert_eq!(address, "192.0.2.1:1".parse().expect("an address"));
    assert_eq!(fake.say(&text(1, 3, 0, "bc")), Ok(()), "state 1 is held");
}

#[test]
fn a_peer_is_recognised_by_its_hello_or_by_an_acknowledgment_without_one() {
    let hello =
        |bits| Some(Hello { version: 1, capabilities: Capabilities::from_bits_retain(bits) });
    let ours = Capabilities::from_bits_retain(0b011);
    for (offer, says, ack, peer, both) in [
        (Some(ours), None, 0, Peer::Unknown, 0),
        (Some(ours), None, 1, Peer::Stock, 0),
        (Some(ours), hello(0b110), 0, Peer::Rove(hello(0b110).expect("some")), 0b010),
        (Some(ours), hello(0b110), 1, Peer::Rove(hello(0b110).expect("some")), 0b010),
        (None, hello(0b110), 1, Peer::Unknown, 0),
    ] {
        let config = Config { capabilities: offer, ..Config::client() };
        let mut fake = settled(client::<4096>(config));
        let sent = fake.heard();
        assert!(sent.iter().all(|i| i.hello.map(|h| h.capabilities) == offer));
        fake.say(&Instruction { hello: says, ..state(0, 1, ack) }).expect("taken");
        assert_eq!(fake.party.transport.peer(), peer);
        assert_eq!(fake.party.transport.capabilities(), Capabilities::from_bits_retain(both));
        fake.run_for(ms(7_000));
        let goes_on = ack == 0 && offer.is_some();
        assert!(fake.heard().iter().all(|i| i.hello.is_some() == goes_on), "{says:?} {ack}");
    }
}

#[test]
fn the_loss_is_told_only_where_both_ends_offer_it() {
    let reports = Capabilities::LOSS_REPORT;
    for (ours, theirs, is_told) in [
        (None, Some(reports), false),
        (Some(Capabilities::empty()), Some(reports), false),
        (Some(reports), None, false),
        (Some(reports), Some(Capabilities::empty()), false),
        (Some(reports), Some(reports), true),
    ] {
        let mut fake = server::<64>(Config { capabilities: ours, ..Config::server() });
        let hello = theirs.map(Hello::new);
        fake.say(&Instruction { hello, ..state(0, 1, 0) }).expect("taken");
        // The first datagram never arrives, and three later ones do.
        fake.skip(1);
        for num in 2..5 {
            fake.say(&Instruction { hello, ..state(0, num, 0) }).expect("taken");
        }
        fake.run_for(ms(7_000));
        let told: Vec<Loss> = fake.heard().iter().filter_map(|i| i.loss_report).collect();
        assert_eq!(!told.is_empty(), is_told, "{ours:?} {theirs:?}");
        let last = Loss { sent: 5, missing: 1, recent_sent: 5, recent_missing: 1 };
        assert!(told.last().is_none_or(|told| *told == last), "{told:?}");
    }
}

#[test]
fn the_small_datagrams_after_a_refusal_carry_everything() {
    let mut fake = settled(client::<{ 1 << 20 }>(Config::client()));
    let noise = crate::pair::noise(Seed::new(1), 3_000);
    fake.party.write(&noise);
    fake.run_for(ms(300));
    assert!(fake.party.sent.iter().any(|(_, len)| *len == 1_200));
    fake.party.sent.clear();
    fake.party.transport.handle_message_too_long(fake.now, 1_200);
    fake.run_for(ms(4_000));
    assert!(fake.party.sent.iter().all(|(_, len)| *len <= 500));
    assert!(fake.party.sent.iter().any(|(_, len)| *len == 500));
    let complete = fake.heard().iter().any(|i| i.diff == noise);
    assert!(complete);
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let num = || prop_oneof![0..6_u64, Just(u64::MAX), any::<u64>()].prop_map(StateNum::new);
    let diff = prop::collection::vec(0..3_u8, 0..4);
    let hello = prop::option::of((any::<u64>(), any::<u64>()).prop_map(|(version, bits)| Hello {
        version,
        capabilities: Capabilities::from_bits_retain(bits),
    }));
    let small = || prop_oneof![0..6_u32, any::<u32>()];
    let loss_report = prop::option::of((small(), small(), small(), small()).prop_map(
        |(sent, missing, recent_sent, recent_missing)| Loss {
            sent: sent.into(),
            missing: missing.into(),
            recent_sent,
            recent_missing,
        },
    ));
    let next_heartbeat = prop::option::of(prop_oneof![0..30_000_u64, any::<u64>()])
        .prop_map(|millis| millis.map(Duration::from_millis));
    (num(), num(), num(), num(), diff, hello, loss_report, next_heartbeat).prop_map(
        |(old_num, new_num, ack_num, throwaway_num, diff, hello, loss_report, next_heartbeat)| {
            Instruction {
                old_num,
                new_num,
                ack_num,
                throwaway_num,
                diff,
                chaff: Vec::new(),
                hello,
                loss_report,
                next_heartbeat,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn authentic_garbage_never_harms_an_end(
        is_client in any::<bool>(),
        garbage in prop::collection::vec(
            (
                prop_oneof![
                    8 => instruction().prop_map(Ok),
                    1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Err),
                ],
                prop::option::of(any::<u16>()),
                prop::option::of(any::<u16>()),
                0..2_000_u64,
            ),
            1..60,
        ),
    ) {
        let tells = |config| Config { capabilities: Some(Capabilities::LOSS_REPORT), ..config };
        let mut fake = if is_client {
            client::<64>(tells(Config::client()))
        } else {
            server(tells(Config::server()))
        };
        for (said, timestamp, reply, pause) in garbage {
            let timestamp = timestamp.and_then(Timestamp16::new);
            let reply = reply.and_then(Timestamp16::new);
            let _ = match said {
                Ok(instruction) => fake.say_at(&instruction, timestamp, reply),
                Err(payload) => fake.deliver(payload, timestamp, reply),
            };
            if pause % 3 == 0 {
                fake.party.write(b"some text to send");
            }
            fake.run_for(ms(pause));
            let path = fake.party.transport.path();
            if let Some(Loss { sent, missing, recent_sent, recent_missing }) = path.loss_out {
                prop_assert!(missing <= sent && sent <= path.sent.datagrams);
                prop_assert!(recent_missing <= recent_sent && u64::from(recent_sent) <= sent);
            }
        }
        let _ = nums(&mut fake);
    }
}
