//! Copies in streams: they survive silence, roaming and loss, and a peer without streams gets no packet of them.

mod common;

use core::net::SocketAddr;
use std::collections::BTreeSet;

use rove_headless::copying::with_streams;
use rove_headless::{
    Beside, Carries, ClientEnd, Owner, Program, ServerEnd, client_config, rove, server_config,
};
use rove_link::net::{End, LEFT_ADDRESS, Net};
use rove_link::{Drops, LinkConfig};
use rove_session::{ClientConfig, Server, ServerConfig, Streams};
use rove_ssp::Config;
use rove_streams::Side;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

use common::Copier;

/// How long a session that exists for its streams waits for its client. Source: docs/use.md.
const DAY: Duration = Duration::from_secs(86_400);

/// A program that fills the screen `screens` times, and then does nothing.
struct Idle {
    screens: u64,
}

impl Program for Idle {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        server.consume_host_input(server.host_input().len());
        if self.poll_timeout().is_some_and(|at| at <= now) {
            let draws = Seed::new(self.screens).stream("screen");
            let letter = |at| char::from(b'!' + u8::try_from(draws.at(at).below(94)).expect("94"));
            server.handle_host_output(now, (0..1_900).map(letter).collect::<String>().as_bytes());
            self.screens -= 1;
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let due = Instant::from_millis(300 * (SCREENS - self.screens));
        (self.screens > 0).then_some(due)
    }
}

/// An end that counts the packets of streams that it sends, and the datagrams that it receives.
struct Counting<E> {
    end: E,
    packets: usize,
    heard: usize,
    /// The largest payloads that packets may have, one for each size of datagrams.
    sizes: BTreeSet<usize>,
}

impl<E: Carries, O: Owner> End for Counting<Beside<E, O>> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.heard += 1;
        self.end.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.sizes.extend(self.end.end.carriage().map(|mut it| it.payload_max()));
        let transmit = self.end.poll_transmit(now)?;
        self.packets += usize::from(transmit.1[0] & 0x40 != 0);
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.poll_timeout()
    }
}

type Left = Counting<Beside<ClientEnd<()>, Copier>>;
type Right = Counting<Beside<ServerEnd<Idle>, Copier>>;

fn net(
    client: ClientConfig,
    server: Config,
    (up, down): (u64, u64),
    link: &LinkConfig,
) -> Net<Left, Right> {
    let seed = Seed::new(5);
    let client = ClientEnd::new(client, (), Instant::ZERO);
    let server = ServerConfig { network_timeout: Some(DAY), ..server_config(server, seed) };
    let server = ServerEnd::new(server, Idle { screens: 0 }, Instant::ZERO);
    let streams = |side| Streams::new(side, Instant::ZERO);
    let left = Beside::new(client, Copier::new(up), streams(Side::Client));
    let right = Beside::new(server, Copier::new(down), streams(Side::Server));
    let left = Counting { end: left, packets: 0, heard: 0, sizes: BTreeSet::new() };
    let right = Counting { end: right, packets: 0, heard: 0, sizes: BTreeSet::new() };
    Net::new(left, right, link.clone(), link.clone(), seed)
}

fn copying(up: u64, down: u64, link: &LinkConfig) -> Net<Left, Right> {
    let client = client_config(with_streams(Config::client()), Seed::new(5));
    net(client, with_streams(Config::server()), (up, down), link)
}

fn link(loss: f64) -> LinkConfig {
    LinkConfig {
        loss,
        delay: Duration::from_millis(30),
        rate: BitRate::from_bits_per_second(20_000_000),
        queue_max: Bytes::kib(250),
        ..LinkConfig::default()
    }
}

const SIZE: u64 = 3_000_000;

/// Number of a program's screens after which an end knows that large datagrams arrive.
const SCREENS: u64 = 40;

/// Returns the payload's size in a datagram of this size.
const fn payload(size: usize) -> usize {
    size - 24
}

fn is_done(left: &Left, right: &Right) -> bool {
    left.end.owner.is_ended && right.end.owner.is_ended
}

/// Runs until the copies in both directions are complete. Fails after `limit` seconds.
fn finish(net: &mut Net<Left, Right>, limit: u64) {
    assert!(
        net.run_until(Duration::from_secs(limit), is_done),
        "{} bytes",
        net.right.end.owner.read
    );
    assert_eq!((net.left.end.owner.read, net.right.end.owner.read), (SIZE, SIZE));
}

#[test]
fn a_copy_over_a_link_that_loses_29_percent_brings_every_byte() {
    let mut net = copying(SIZE, SIZE, &link(0.29));
    finish(&mut net, 4_000);
    let usual = BTreeSet::from([payload(1_200)]);
    assert_eq!([&net.left.sizes, &net.right.sizes], [&usual; 2], "no size is blamed");
}

#[test]
fn a_copy_leaves_a_path_that_drops_large_packets() {
    for (screens, mtu, sizes) in [
        (0, 1_150, [500, 500]),
        (SCREENS, 1_300, [1_200, 1_200]),
        (SCREENS, 1_150, [500, 500]),
        (0, 600, [500, 500]),
    ] {
        for loss in [0.0, 0.1] {
            let mut net = copying(0, 0, &link(0.0));
            net.right.end.end.program.screens = screens;
            net.run_for(Duration::from_secs(20));
            let largest = payload(if screens > 0 { 1_472 } else { 1_200 });
            assert_eq!(net.right.sizes.last(), Some(&largest));
            let drops = Drops { mtu: Some(Bytes::new(mtu)), ..Drops::default() };
            let hole = LinkConfig { drops, ..link(loss) };
            net.reconfigure(hole.clone(), hole);
            let start = net.now();
            (net.left.end.owner, net.right.end.owner) = (Copier::new(SIZE), Copier::new(SIZE));
            let limit = if loss > 0.0 { 300 } else { 30 };
            finish(&mut net, limit);
            let took = net.now().saturating_since(start);
            println!("{screens} screens, at most {mtu} bytes, loss {loss}: {took:?}");
            let ends = [net.left.end.end.carriage(), net.right.end.end.carriage()];
            let found = ends.map(|it| it.expect("streams").payload_max());
            assert_eq!(found, sizes.map(payload), "{screens} screens, {mtu}");
        }
    }
}

#[test]
fn a_size_that_was_blamed_comes_back_when_the_path_carries_it_again() {
    let mut net = copying(SIZE, SIZE, &link(0.0));
    net.run_for(Duration::from_millis(500));
    let drops = Drops { mtu: Some(Bytes::new(1_150)), ..Drops::default() };
    let hole = LinkConfig { drops, ..link(0.0) };
    net.reconfigure(hole.clone(), hole);
    let is_small = |end: &BTreeSet<usize>| end.contains(&payload(500));
    assert!(net.run_until(Duration::from_secs(10), |left, right| {
        is_small(&left.sizes) && is_small(&right.sizes)
    }));
    println!("left at {:?} by a copy since 0.5 s", net.now());
    net.reconfigure(link(0.0), link(0.0));
    finish(&mut net, 60);
    net.run_for(Duration::from_secs(20));
    let ends = [net.left.end.end.carriage(), net.right.end.end.carriage()];
    let found = ends.map(|it| it.expect("streams").payload_max());
    assert_eq!(found, [payload(1_200); 2]);
}

#[test]
fn a_copy_goes_on_while_its_client_moves_five_times_a_second() {
    let mut net = copying(SIZE, SIZE, &link(0.0));
    for port in 1..=4_000 {
        if is_done(&net.left, &net.right) {
            break;
        }
        net.run_for(Duration::from_millis(200));
        net.move_left(SocketAddr::new(LEFT_ADDRESS.ip(), 2_000 + port));
    }
    finish(&mut net, 60);
}

#[test]
fn a_copy_goes_on_after_almost_a_day_of_silence_and_after_a_day_its_session_has_ended() {
    let minute = Duration::from_secs(60);
    for (silence, goes_on) in [(DAY - minute, true), (DAY + minute, false)] {
        let mut net = copying(SIZE, SIZE, &link(0.0));
        net.run_for(Duration::from_secs(1));
        assert!(net.right.end.owner.read > 0 && !is_done(&net.left, &net.right));
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        net.run_for(silence);
        assert_eq!(net.right.end.end.server.outcome().is_none(), goes_on);
        if goes_on {
            net.reconfigure(link(0.0), link(0.0));
            finish(&mut net, 600);
        }
    }
}

#[test]
fn a_copy_goes_on_within_a_round_trip_of_the_first_sound_after_eight_hours() {
    let mut net = copying(SIZE, SIZE, &link(0.0));
    net.run_for(Duration::from_secs(1));
    let before = net.right.end.owner.read;
    assert!(before > 0 && !is_done(&net.left, &net.right));
    net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
    net.run_for(Duration::from_secs(8 * 3_600));
    net.reconfigure(link(0.0), link(0.0));
    let silent = net.right.heard;
    assert!(net.run_until(Duration::from_secs(60), |_, right| right.heard > silent));
    let (heard, stalled) = (net.now(), net.right.end.owner.read);
    assert!(net.run_until(Duration::from_secs(60), |_, right| right.end.owner.read > stalled));
    let late = net.now().saturating_since(heard);
    println!(
        "a copy each way goes on {late:?} after the first datagram, with a round trip of 60 ms"
    );
    assert!(late <= Duration::from_millis(60 + 100), "{late:?}");
    finish(&mut net, 600);
}

#[test]
fn no_packet_goes_to_a_peer_that_has_not_offered_streams() {
    let plain = |config| client_config(config, Seed::new(5));
    let as_mosh = ClientConfig { offers_status: false, ..plain(with_streams(Config::client())) };
    for (name, client, server) in [
        ("an older server", plain(with_streams(Config::client())), rove(Config::server())),
        ("an older client", plain(rove(Config::client())), with_streams(Config::server())),
        ("a client called mosh", as_mosh, with_streams(Config::server())),
        ("--strict", plain(Config::client()), with_streams(Config::server())),
        ("a stock server", plain(with_streams(Config::client())), Config::server()),
    ] {
        let mut net = net(client, server, (SIZE, SIZE), &link(0.0));
        net.run_for(Duration::from_secs(60));
        assert_eq!((net.left.packets, net.right.packets), (0, 0), "{name}");
        assert_ne!(net.left.end.end.client.carries_streams(), Some(true), "{name}");
        assert_ne!(net.left.end.end.client.carries_streams(), None, "{name}: it is known");
    }
    let mut net = copying(SIZE, SIZE, &link(0.0));
    net.run_for(Duration::from_secs(60));
    assert!(net.left.packets > 0 && net.right.packets > 0);
    assert_eq!(net.left.end.end.client.carries_streams(), Some(true));
}
