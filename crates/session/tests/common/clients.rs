//! A session with several clients, each with its own key and address.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use rove_link::LinkConfig;
use rove_link::net::{End, LEFT_ADDRESS, Net};
use rove_session::{
    ClientConfig, ClientOutcome, Dismissal, Door, ExitStatus, JoinMode, Outside, Uninvited,
};
use rove_ssp::{Config, Key};
use rove_terminal::display::Repertoire;
use rove_terminal::{OscSupport, Size, TerminalCapabilities};
use rove_units::{Instant, Seed, Stream};

use super::*;

/// The address from which a user asks to take a session over.
pub const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77));

/// The clients of a session. The first byte of each datagram is the client's index, and acts as its port.
#[derive(Default)]
pub struct Clients(pub Vec<ClientEnd>);

/// The server, which sees each client at a different address.
///
/// The second value is the share of datagrams that each client but the first loses, with the draws and their count.
pub struct Host(pub ServerEnd, pub Option<(f64, Stream, u64)>);

impl Host {
    /// Returns whether a datagram of the client at this port is lost.
    fn loses(&mut self, port: u8) -> bool {
        let Some((loss, draws, count)) = self.1.as_mut().filter(|_| port > 0) else { return false };
        *count += 1;
        draws.at(*count).chance(*loss)
    }
}

pub type Trio = Net<Clients, Host>;

impl End for Clients {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let (port, payload) = payload.split_first().expect("the host put it there");
        if let Some(client) = self.0.get_mut(usize::from(*port)) {
            client.handle_datagram(now, source, payload);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.iter_mut().for_each(|client| client.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let mut ports = (0_u8..).zip(&mut self.0);
        ports.find_map(|(port, client)| {
            let (destination, payload) = client.poll_transmit(now)?;
            Some((destination, [&[port], &payload[..]].concat()))
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.iter().filter_map(End::poll_timeout).min()
    }
}

impl End for Host {
    fn handle_datagram(&mut self, now: Instant, mut source: SocketAddr, payload: &[u8]) {
        let (port, payload) = payload.split_first().expect("the clients put it there");
        source.set_port(u16::from(*port) + 1);
        if !self.loses(*port) {
            self.0.handle_datagram(now, source, payload);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        loop {
            let (destination, payload) = self.0.poll_transmit(now)?;
            let port = u8::try_from(destination.port() - 1).expect("few clients");
            if !self.loses(port) {
                return Some((LEFT_ADDRESS, [&[port], &payload[..]].concat()));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }
}

/// Returns a session with its first client.
pub fn session(first: ClientConfig, link: &LinkConfig, seed: Seed) -> Trio {
    session_of(first, far(rove(Config::server())), link, seed)
}

/// Returns a session of this server with its first client.
pub fn session_of(first: ClientConfig, server: ServerEnd, link: &LinkConfig, seed: Seed) -> Trio {
    let host = Host(server, None);
    let mut trio = Net::new(Clients(vec![near(first)]), host, link.clone(), link.clone(), seed);
    trio.run_for(secs(1));
    trio
}

/// Invites the next client to take the session over, and returns the configuration for it.
pub fn invite(trio: &mut Trio, config: ClientConfig) -> ClientConfig {
    let now = trio.now();
    let count = u8::try_from(trio.left.0.len()).expect("few clients");
    let key = || Key::from_bytes([count; 16]);
    let chaff = Seed::new(count.into()).stream("server.chaff");
    trio.right.0.server.invite(now, &key(), chaff, Some(ELSEWHERE));
    ClientConfig { key: key(), ..config }
}

/// Adds a client with this configuration to the network.
pub fn come(trio: &mut Trio, config: ClientConfig) {
    let client = ClientEnd::new(config, Typist::default(), trio.now());
    trio.left.0.push(client);
}

pub fn roves() -> ClientConfig {
    client_config(rove(Config::client()))
}

pub fn wide(size: Size) -> ClientConfig {
    let terminal = TerminalCapabilities {
        osc: OscSupport { any: true, window: true, ..OscSupport::default() },
        repertoire: Repertoire::FULL,
        ..TerminalCapabilities::default()
    };
    ClientConfig { size, terminal, ..roves() }
}

pub fn program(trio: &mut Trio, text: &[u8]) {
    let now = trio.now();
    trio.right.0.server.handle_host_output(now, text);
}

pub fn types(trio: &mut Trio, client: usize, text: &[u8]) {
    let now = trio.now();
    trio.left.0[client].client.handle_input(now, text);
}

pub fn is_in_sync(trio: &Trio, client: usize) -> bool {
    in_sync(&trio.left.0[client], &trio.right.0)
}

/// Invites a client to join with this permission, and returns the configuration for it.
pub fn invite_to_join(trio: &mut Trio, way: JoinMode, config: ClientConfig) -> ClientConfig {
    let now = trio.now();
    let count = u8::try_from(trio.left.0.len()).expect("few clients");
    let key = || Key::from_bytes([count; 16]);
    let chaff = Seed::new(count.into()).stream("server.chaff");
    let who = format!("192.0.2.{count} (process {count})");
    trio.right.0.server.invite_to_join(now, &key(), chaff, (way, &who)).expect("the door is open");
    ClientConfig { key: key(), ..config }
}

/// Returns a session whose first client lets others join, and one client that has joined for each of these permissions.
pub fn shared_session(link: &LinkConfig, ways: &[JoinMode], seed: Seed) -> Trio {
    let mut trio = session(wide(Size::DEFAULT), link, seed);
    trio.left.0[0].client.set_door(Door::Open);
    trio.run_for(secs(5));
    for &way in ways {
        let config = invite_to_join(&mut trio, way, wide(Size::DEFAULT));
        come(&mut trio, config);
        trio.run_for(secs(5));
    }
    trio
}

pub fn near_link() -> LinkConfig {
    LinkConfig::lossless(ms(50))
}

/// The outcome of a joined client that the owner has ended.
pub const DISMISSED: ClientOutcome =
    ClientOutcome::Ended(Some(ExitStatus::Outside(Outside::Dismissed(Some(Dismissal::Wanted)))));

/// Returns why nobody may join. `None` if clients may join.
pub fn refusal(trio: &mut Trio) -> Option<Uninvited> {
    let now = trio.now();
    let chaff = Seed::new(9).stream("server.chaff");
    let server = &mut trio.right.0.server;
    server.invite_to_join(now, &Key::from_bytes([99; 16]), chaff, (JoinMode::View, "nobody")).err()
}

/// Presses the escape key and a letter.
pub fn command(trio: &mut Trio, client: usize, letter: u8) {
    types(trio, client, &[0x1e, letter]);
    trio.run_for(ms(500));
}
