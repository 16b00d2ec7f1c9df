//! Replay: an attacker who records datagrams and sends them again changes nothing.

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_link::net::{End, LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_ssp::{Config, Direction, Ecn, ReceiveError};
use rove_units::{BitRate, Seed};

use crate::fake::{Fake, server, state, text};
use crate::pair::{Pair, Party, agree, ms, noise, pair};

/// Length in bytes of contents that need several datagrams.
const LARGE: usize = 8_000;

/// How many sequence numbers a window covers. A datagram that so many later ones have overtaken is refused.
const WINDOW: u64 = 8_128;

/// A path on which the datagrams of one instruction arrive 10 ms apart.
fn slow() -> LinkConfig {
    LinkConfig { rate: BitRate::from_bits_per_second(1_000_000), ..LinkConfig::lossless(ms(20)) }
}

/// Returns two ends after some seconds of a session, with a record of all their datagrams.
fn overheard() -> Pair<4096> {
    let mut net = pair::<4096>(Seed::new(1), slow());
    net.left.overheard = Some(Vec::new());
    net.right.overheard = Some(Vec::new());
    net.left.write(b"80x24");
    net.right.write(b"prompt");
    net.run_for(ms(10_000));
    assert!(agree(&net.left, &net.right));
    net
}

fn overheard_by(party: &mut Party<4096>) -> Vec<Vec<u8>> {
    party.overheard.take().expect("it was asked for")
}

#[test]
fn one_datagram_sent_again_for_ever_holds_up_no_large_frame() {
    for which in 0..4 {
        let mut net = overheard();
        let up = overheard_by(&mut net.left).swap_remove(which);
        let down = overheard_by(&mut net.right).swap_remove(which);
        net.left.write(&noise(Seed::new(2), LARGE));
        net.right.write(&noise(Seed::new(3), LARGE));
        let mut turns = 0;
        while !agree(&net.left, &net.right) {
            net.run_for(ms(1));
            let now = net.now();
            net.right.handle_datagram(now, LEFT_ADDRESS, &up);
            net.left.handle_datagram(now, RIGHT_ADDRESS, &down);
            turns += 1;
            assert!(turns < 2_000, "frozen by datagram {which}");
        }
    }
}

#[test]
fn an_older_datagram_that_arrives_between_fragments_discards_none_and_counts() {
    let large = String::from_utf8(vec![b'x'; 10]).expect("ASCII") + &incompressible(LARGE);
    for late in [state(0, 2, 0), text(0, 2, 0, "x")] {
        let mut fake = server::<4096>(Config::server());
        let kept_back: Vec<_> = (0..20).map(|seq| fake.sealed(&late, seq)).collect();
        fake.skip(20);
        let datagrams = fake.datagrams(&text(0, 3, 0, &large), None, None);
        assert!((5..20).contains(&datagrams.len()), "{} datagrams", datagrams.len());
        for (datagram, late) in datagrams.iter().zip(&kept_back) {
            assert_eq!(fake.hand_in(datagram), Ok(()));
            assert_eq!(fake.hand_in(late), Ok(()));
        }
        assert_eq!(fake.party.transport.remote().text(), large.as_bytes());
        let path = fake.party.transport.path();
        assert_eq!(path.loss_in.sent, 20 + u64::try_from(datagrams.len()).expect("few"));
        assert_eq!(path.loss_in.missing, path.loss_in.sent - path.received.datagrams);
    }
}

/// Returns letters that do not compress to much less.
fn incompressible(len: usize) -> String {
    noise(Seed::new(4), len).into_iter().map(|byte| char::from(b' ' + byte % 90)).collect()
}

#[test]
fn a_datagram_that_was_here_before_tells_nothing_and_changes_nothing() {
    let mut net = overheard();
    let up = overheard_by(&mut net.left);
    let down = overheard_by(&mut net.right);
    let stranger: SocketAddr = "203.0.113.7:4242".parse().expect("an address");
    let now = net.now() + ms(1);
    for (party, overheard) in [(&mut net.left, down), (&mut net.right, up)] {
        let before = look(party);
        for datagram in &overheard {
            for source in [stranger, LEFT_ADDRESS, RIGHT_ADDRESS] {
                let ecn = Ecn::CongestionExperienced;
                let outcome = party.transport.handle_datagram(now, source, ecn, datagram);
                assert!(matches!(outcome, Err(ReceiveError::Replayed { .. })), "{outcome:?}");
                assert!(outcome.is_err_and(|error| !error.is_from_peer()));
                assert_eq!(look(party), before);
                assert_eq!(party.poll_transmit(now), None);
                assert_eq!(party.transport.poll_event(), None);
            }
        }
    }
}

/// Returns the part of an end's state that a replayed datagram must not change.
fn look(party: &Party<4096>) -> impl PartialEq + core::fmt::Debug + use<> {
    let transport = &party.transport;
    let (path, peer, wakes) =
        (transport.path(), transport.peer_address(), transport.poll_timeout());
    (
        path,
        peer,
        wakes,
        transport.remote_num(),
        transport.remote_arrived_at(),
        transport.known_num(),
    )
}

#[test]
fn a_number_that_somebody_only_claims_is_not_taken_from_its_owner() {
    let mut fake = server::<4096>(Config::server());
    fake.say(&text(0, 1, 0, "a")).expect("taken");
    let next = fake.datagrams(&text(1, 2, 0, "b"), None, None).remove(0);
    let nonces = (0..40_u32).flat_map(|shift| [1 << shift, u64::from(shift)]);
    for nonce in nonces {
        let mut forged = next.clone();
        forged[..8].copy_from_slice(&nonce.to_be_bytes());
        *forged.last_mut().expect("a tag") ^= 1;
        assert!(fake.hand_in(&forged).is_err());
    }
    assert_eq!(fake.hand_in(&next), Ok(()));
    assert_eq!(fake.party.transport.remote().text(), b"ab");
}

#[test]
fn a_datagram_may_be_overtaken_by_the_whole_window_and_no_further() {
    let sealed =
        Fake::<4096>::new(Party::client(Seed::new(5), Config::client()), Direction::ToServer);
    for (seq, is_taken) in [(1, false), (2, true)] {
        let mut fake = server::<4096>(Config::server());
        let late = sealed.sealed(&text(0, 1, 0, "late"), seq);
        fake.skip(WINDOW + 1);
        fake.say(&state(0, 2, 0)).expect("taken");
        let (heard_at, peer) =
            (fake.party.transport.path().heard_at, fake.party.transport.peer_address());
        fake.now += ms(500);
        fake.source = "203.0.113.7:4242".parse().expect("an address");
        assert_eq!(fake.hand_in(&late).is_ok(), is_taken, "number {seq}");
        assert_eq!(fake.party.transport.path().heard_at, heard_at);
        assert_eq!(fake.party.transport.peer_address(), peer);
        assert!(fake.hand_in(&late).is_err(), "once at most");
    }
}
