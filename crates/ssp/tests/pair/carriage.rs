//! Stream packets travel only between two ends that have offered them, and to the address to which the session's
//! datagrams go.

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_link::net::{End, LEFT_ADDRESS};
use rove_ssp::{Capabilities, CarriedPacket, Config, ReceiveError};
use rove_units::{Instant, Seed};

use crate::pair::{Pair, Party, agree, ms, pair_with};

const STREAMS: Option<Capabilities> = Some(Capabilities::STREAMS);

/// Joins two ends with these capabilities, and lets each hear the other.
fn meet(client: Option<Capabilities>, server: Option<Capabilities>) -> Pair<4096> {
    let client = Config { capabilities: client, ..Config::client() };
    let server = Config { capabilities: server, ..Config::server() };
    let mut net = pair_with(Seed::new(4), LinkConfig::lossless(ms(20)), client, server);
    net.left.overheard = Some(Vec::new());
    net.right.overheard = Some(Vec::new());
    net.left.write(b"80x24");
    net.right.write(b"prompt");
    net.run_for(ms(20_000));
    assert!(agree(&net.left, &net.right));
    net
}

/// Seals a stream packet of the client.
fn packet(net: &mut Pair<4096>, number: u64) -> Vec<u8> {
    let mut carriage = net.left.transport.carriage().expect("agreed");
    carriage.seal(number, b"timeframes").expect("a server").payload
}

#[test]
fn packets_go_only_between_two_ends_that_offer_them() {
    let older = Some(Capabilities::all().difference(Capabilities::STREAMS));
    for client in [None, Some(Capabilities::empty()), older, STREAMS] {
        for server in [None, Some(Capabilities::empty()), older, STREAMS] {
            let mut net = meet(client, server);
            let is_agreed = client == STREAMS && server == STREAMS;
            assert_eq!(net.left.transport.carriage().is_some(), is_agreed);
            assert_eq!(net.right.transport.carriage().is_some(), is_agreed);
            let sent = net.left.overheard.iter().chain(&net.right.overheard).flatten();
            assert!(sent.into_iter().all(|it| it[0] & 0x40 == 0), "{client:?} {server:?}");
        }
    }
}

#[test]
fn an_end_without_streams_takes_a_packet_for_a_forged_datagram() {
    let mut net = meet(STREAMS, STREAMS);
    let sealed = packet(&mut net, 0);
    for server in [None, Some(Capabilities::empty())] {
        let mut other = meet(STREAMS, server);
        let (now, datagrams) = (other.now(), other.right.sent.len());
        other.right.handle_datagram(now, LEFT_ADDRESS, &sealed);
        assert_eq!(other.right.errors, [ReceiveError::Forged]);
        assert!(other.right.poll_transmit(now).is_none() && other.right.sent.len() == datagrams);
    }
}

#[test]
fn the_newest_packet_moves_the_clients_address_and_a_replayed_one_does_not() {
    let mut net = meet(STREAMS, STREAMS);
    let packets: Vec<_> = [0, 1, 2].map(|number| packet(&mut net, number)).into();
    let away: SocketAddr = "203.0.113.9:40000".parse().expect("a literal address");
    let now = net.now();
    for (sealed, source, peer) in [
        (&packets[1], away, away),
        (&packets[1], LEFT_ADDRESS, away),
        (&packets[0], LEFT_ADDRESS, away),
        (&packets[2], LEFT_ADDRESS, LEFT_ADDRESS),
    ] {
        net.right.handle_datagram(now, source, sealed);
        assert_eq!(net.right.transport.peer_address(), Some(peer));
    }
    let mut carriage = net.right.transport.carriage().expect("agreed");
    assert_eq!(carriage.heard_at(), Some(now));
    let numbers: Vec<u64> =
        core::iter::from_fn(|| carriage.poll_packet()).map(|it| it.number).collect();
    assert_eq!(numbers, [1, 0, 2], "each once");
    assert!(net.right.poll_transmit(now).is_some(), "a client that has moved is answered at once");
}

#[test]
fn a_packet_that_comes_before_the_hello_waits_for_it() {
    let mut net = meet(STREAMS, STREAMS);
    let sealed = packet(&mut net, 0);
    let hello = net.left.overheard.take().expect("it was asked for").swap_remove(0);
    let config = Config { capabilities: STREAMS, ..Config::server() };
    let mut server = Party::<4096>::server(Seed::new(4), config);
    server.handle_datagram(Instant::ZERO, LEFT_ADDRESS, &sealed);
    assert!(server.transport.carriage().is_none() && server.errors.is_empty());
    server.handle_datagram(Instant::ZERO, LEFT_ADDRESS, &hello);
    let expected = CarriedPacket { number: 0, payload: b"timeframes".to_vec() };
    assert_eq!(server.transport.carriage().and_then(|mut it| it.poll_packet()), Some(expected));
}
