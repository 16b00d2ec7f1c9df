//! Copies by a stream beside a session: they outlast silence, roaming and loss, and no packet goes to a peer without them.

mod common;

use core::net::SocketAddr;

use rove_headless::copying::with_streams;
use rove_headless::{Beside, ClientEnd, Program, ServerEnd, client_config, rove, server_config};
use rove_link::LinkConfig;
use rove_link::net::{End, LEFT_ADDRESS, Net};
use rove_session::{ClientConfig, Server, ServerConfig, Streams};
use rove_ssp::Config;
use rove_streams::Side;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

use common::Copier;

/// How long a session that is there for its streams waits for its client. Source: docs/use.md.
const DAY: Duration = Duration::from_secs(86_400);

/// A program that does nothing.
struct Idle;

impl Program for Idle {
    fn turn(&mut self, _: Instant, server: &mut Server) {
        server.consume_host_input(server.host_input().len());
    }
}

/// An end that counts the packets of streams that it sends, and the datagrams that it receives.
struct Counting<E> {
    end: E,
    packets: usize,
    heard: usize,
}

impl<E: End> End for Counting<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.heard += 1;
        self.end.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
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
    let server = ServerEnd::new(server, Idle, Instant::ZERO);
    let streams = |side| Streams::new(side, Instant::ZERO);
    let left = Beside::new(client, Copier::new(up), streams(Side::Client));
    let right = Beside::new(server, Copier::new(down), streams(Side::Server));
    let left = Counting { end: left, packets: 0, heard: 0 };
    let right = Counting { end: right, packets: 0, heard: 0 };
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

fn is_done(left: &Left, right: &Right) -> bool {
    left.end.owner.is_ended && right.end.owner.is_ended
}

/// Asserts that the copies in both directions are complete within `limit`.
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
    finish(&mut copying(SIZE, SIZE, &link(0.29)), 4_000);
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
