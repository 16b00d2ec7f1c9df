//! The promises to users, in virtual time. Keys arrive once, a notice reports silence, an idle session is quiet, and
//! strangers at a server's port change nothing.

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_session::{Client, ClientConfig, ClientOutcome, Server, ServerConfig, ServerEvent};
use rove_ssp::{Config, Ecn, Key, Transmit};
use rove_units::{Bytes, Duration, Instant};

use crate::common::*;

/// The step by which the virtual time of a [`Crowd`] advances.
const STEP: Duration = Duration::from_millis(5);

/// A server and any number of clients, without any delay between them.
struct Crowd {
    now: Instant,
    server: Server,
    typed: Vec<u8>,
    events: Vec<ServerEvent>,
    clients: Vec<(SocketAddr, Client)>,
}

impl Crowd {
    fn new(key: Key) -> Self {
        let config = ServerConfig { key, ..server_config(rove(Config::server())) };
        let server = Server::new(config, Instant::ZERO);
        Self {
            now: Instant::ZERO,
            server,
            typed: Vec::new(),
            events: Vec::new(),
            clients: Vec::new(),
        }
    }

    /// Adds a client, and returns its index.
    fn join(&mut self, key: Key) -> usize {
        let place = self.clients.len();
        let address = format!("203.0.113.{}:40000", place + 1).parse().expect("an address");
        let config = ClientConfig { key, ..client_config(rove(Config::client())) };
        self.clients.push((address, Client::new(config, self.now)));
        place
    }

    fn type_text(&mut self, place: usize, text: &[u8]) {
        self.clients[place].1.handle_input(self.now, text);
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += STEP;
            self.step();
        }
    }

    fn step(&mut self) {
        let Self { now, server, clients, .. } = self;
        let now = *now;
        for (address, client) in &mut *clients {
            client.handle_timeout(now);
            let _ = client.poll_output(now);
            while let Some(Transmit { payload, .. }) = client.poll_transmit(now) {
                let _ = server.handle_datagram(now, *address, Ecn::Capable, &payload);
            }
        }
        server.handle_timeout(now);
        self.typed.extend_from_slice(server.host_input());
        server.consume_host_input(server.host_input().len());
        self.events.extend(core::iter::from_fn(|| server.poll_event()));
        while let Some(Transmit { destination, payload, .. }) = server.poll_transmit(now) {
            for (_, client) in clients.iter_mut().filter(|(address, _)| *address == destination) {
                let source = rove_link::net::RIGHT_ADDRESS;
                let _ = client.handle_datagram(now, source, Ecn::Capable, &payload);
            }
        }
    }
}

#[test]
fn a_second_client_with_the_same_key_takes_nothing_from_the_first() {
    let mut crowd = Crowd::new(key());
    let first = crowd.join(key());
    crowd.run_for(secs(5));
    crowd.type_text(first, b"one ");
    crowd.run_for(secs(1));
    let second = crowd.join(key());
    crowd.run_for(secs(3));
    crowd.type_text(second, b"not mine");
    crowd.run_for(secs(3));
    crowd.type_text(first, b"two ");
    crowd.server.handle_host_output(crowd.now, b"answer");
    crowd.run_for(secs(3));
    assert_eq!(crowd.typed, b"one two ");
    assert_eq!(crowd.clients[first].1.screen().row_text(0), "answer");
    let moves = crowd.events.iter().filter(|event| matches!(event, ServerEvent::ClientMoved(_)));
    assert_eq!(moves.count(), 1, "{:?}", crowd.events);
    crowd.run_for(secs(20));
    assert_eq!(crowd.clients[second].1.outcome(), Some(ClientOutcome::NeverConnected));
    assert_eq!(crowd.clients[first].1.outcome(), None);
}

#[test]
fn a_port_used_again_by_another_users_server_tells_the_old_client_nothing() {
    let other = || Key::from_bytes(*b"another key ....");
    let mut crowd = Crowd::new(other());
    let (old, new) = (crowd.join(key()), crowd.join(other()));
    crowd.run_for(secs(1));
    crowd.type_text(old, b"rm -r");
    crowd.type_text(new, b"ls");
    crowd.server.handle_host_output(crowd.now, b"secret");
    crowd.run_for(secs(25));
    assert_eq!(crowd.typed, b"ls");
    assert_eq!(crowd.clients[new].1.screen().row_text(0), "secret");
    assert_eq!(crowd.clients[old].1.screen().row_text(0), "");
    assert_eq!(crowd.clients[old].1.outcome(), Some(ClientOutcome::NeverConnected));
}

#[test]
fn two_hundred_lines_arrive_once_and_in_order_over_a_path_that_does_everything_wrong() {
    let bad = LinkConfig {
        delay: ms(40),
        jitter: ms(80),
        reorder: true,
        loss: 0.5,
        duplicate: 0.1,
        ..LinkConfig::default()
    };
    let mut pair = pair(&bad);
    let mut typed = Vec::new();
    for number in 0..200 {
        let line = format!("line {number}\r");
        type_text(&mut pair, line.as_bytes());
        typed.extend(line.into_bytes());
        pair.run_for(ms(50));
        if number == 100 {
            pair.reconfigure(LinkConfig::outage(), LinkConfig::outage());
            pair.run_for(secs(2));
            pair.reconfigure(bad.clone(), bad.clone());
        }
    }
    assert!(pair.run_until(secs(60), |_, server| server.program.typed.len() >= typed.len()));
    pair.run_for(secs(5));
    assert_eq!(String::from_utf8_lossy(&pair.right.program.typed), String::from_utf8_lossy(&typed));
}

#[test]
fn a_server_whose_host_sleeps_is_told_of_and_comes_back_with_all_that_was_typed() {
    for minutes in [1, 60] {
        let mut pair = pair(&LinkConfig::lossless(ms(20)));
        pair.run_for(secs(5));
        pair.stop_right(true);
        let told =
            pair.run_until(ms(7500), |client, _| client.row_text(0).contains("Last contact"));
        assert!(told && pair.now() >= Instant::from_millis(5000 + 3000), "{}", pair.now());
        type_text(&mut pair, b"typed into the silence");
        pair.run_for(secs(60 * minutes));
        assert_eq!(pair.left.client.outcome(), None, "a session waits for ever");
        assert!(
            pair.left.row_text(0).starts_with("rove: Last contact "),
            "{}",
            pair.left.row_text(0)
        );
        pair.stop_right(false);
        assert!(pair.run_until(secs(5), |client, server| {
            server.program.typed == b"typed into the silence" && client.row_text(0).is_empty()
        }));
    }
}

#[test]
fn an_idle_session_says_a_little_each_way_every_three_seconds_and_less_between_two_roves() {
    for (client, server, wanted) in [
        (rove(Config::client()), rove(Config::server()), 2..=5),
        (stock(Config::client()), rove(Config::server()), 15..=42),
    ] {
        let mut counted = Counting::new(client, server);
        counted.run_for(secs(10));
        counted.datagrams = [0; 2];
        counted.longest = Bytes::ZERO;
        counted.run_for(secs(60));
        for datagrams in counted.datagrams {
            assert!(wanted.contains(&datagrams), "{:?}", counted.datagrams);
        }
        assert!(counted.longest < Bytes::new(100), "{}", counted.longest);
    }
}

/// A session, and the number of datagrams in each direction.
struct Counting {
    now: Instant,
    client: ClientEnd,
    server: ServerEnd,
    datagrams: [u32; 2],
    longest: Bytes,
}

impl Counting {
    fn new(client: Config, server: Config) -> Self {
        let (client, server) = (near_of(client), far(server));
        Self { now: Instant::ZERO, client, server, datagrams: [0; 2], longest: Bytes::ZERO }
    }

    fn run_for(&mut self, span: Duration) {
        use rove_link::net::{End, LEFT_ADDRESS, RIGHT_ADDRESS};

        let end = self.now + span;
        while self.now < end {
            self.now += STEP;
            let now = self.now;
            self.client.handle_timeout(now);
            self.server.handle_timeout(now);
            while let Some((_, payload)) = self.client.poll_transmit(now) {
                self.note(0, &payload);
                self.server.handle_datagram(now, LEFT_ADDRESS, &payload);
            }
            while let Some((_, payload)) = self.server.poll_transmit(now) {
                self.note(1, &payload);
                self.client.handle_datagram(now, RIGHT_ADDRESS, &payload);
            }
        }
    }

    fn note(&mut self, way: usize, payload: &[u8]) {
        self.datagrams[way] += 1;
        self.longest = self.longest.max(Bytes::from(payload.len()));
    }
}

#[test]
fn the_help_of_the_escape_key_stays_until_the_next_key() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1e");
    pair.run_for(ms(1));
    assert!(pair.left.row_text(0).contains("quit"), "{}", pair.left.row_text(0));
    pair.run_for(secs(60));
    assert!(pair.left.row_text(0).contains("quit"), "{}", pair.left.row_text(0));
    type_text(&mut pair, b"^");
    pair.run_for(ms(1));
    assert_eq!(pair.left.row_text(0), "");
}
