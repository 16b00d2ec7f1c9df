//! Both ends of a session over a virtual network, with a user, a terminal and a program around them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part of this")]

pub mod forger;

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_session::{
    Client, ClientConfig, ClientEvent, EngineKind, Prediction, Preference, Server, ServerConfig,
    ServerEvent, ServerOutcome,
};
use rove_ssp::{Config, Ecn, Key};
use rove_terminal::display::Repertoire;
use rove_terminal::{Copied, Outer, Size, Terminal};
use rove_units::{Duration, Instant, Seed};

/// What the driver reads from the user's terminal at once.
pub const READ_MAX: usize = 16_384;

/// The one key of all tests.
pub fn key() -> Key {
    Key::from_bytes(*b"sixteen bytes...")
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).expect("a size within bounds")
}

/// A client, its user and its user's terminal.
pub struct ClientEnd {
    pub client: Client,
    /// What the user sees.
    pub tty: Terminal,
    /// What the user types as soon as it is read.
    pub paste: Vec<u8>,
    pub events: Vec<ClientEvent>,
    pub pending_max: u64,
    pub frames: usize,
    /// What the user's terminal was made to copy, in order.
    pub copied: Vec<Copied>,
    /// What it was made to notify of, in order.
    pub notified: Vec<String>,
}

/// A server and the program on its pty.
pub struct ServerEnd {
    pub server: Server,
    /// What the program has read.
    pub typed: Vec<u8>,
    /// Whether the program has stopped reading.
    pub stuck: bool,
    pub events: Vec<ServerEvent>,
    pub waiting_max: usize,
    /// How many datagrams it has sent.
    pub datagrams: usize,
    /// How many bytes there were in them.
    pub bytes: usize,
}

pub type Pair = Net<ClientEnd, ServerEnd>;

/// Returns two ends that both are rove, joined by the same link both ways.
pub fn pair(link: &LinkConfig) -> Pair {
    pair_with(link, rove(Config::client()), rove(Config::server()))
}

/// Returns a config that offers all that a rove understands.
pub fn rove(config: Config) -> Config {
    Config { capabilities: Some(rove_session::CAPABILITIES), ..config }
}

/// Returns a config that behaves as a stock peer does.
pub fn stock(config: Config) -> Config {
    Config { capabilities: None, ..config }
}

pub fn pair_with(link: &LinkConfig, client: Config, server: Config) -> Pair {
    let right = ServerEnd::new(server);
    Net::new(ClientEnd::new(client), right, link.clone(), link.clone(), Seed::new(1))
}

/// Returns the config of a client whose terminal is not asked anything.
pub fn client_config(transport: Config) -> ClientConfig {
    ClientConfig {
        server: RIGHT_ADDRESS,
        key: key(),
        transport,
        size: Size::DEFAULT,
        outer: Outer { operating_system_commands: true, ..Outer::default() },
        query: false,
        escape_key: Some(0x1e),
        prediction: Prediction {
            preference: Preference::Never,
            overwrite: false,
            ..Prediction::default()
        },
        program: "rove".to_owned(),
        offers_status: true,
        running: rove_session::Running::Unknown,
        chaff: Seed::new(1).stream("client.chaff"),
    }
}

/// Returns a rove client with everything on that costs work or memory: all predictions, and a terminal of this size
/// that can do what rove knows of.
pub fn busiest_client(size: Size) -> ClientConfig {
    let outer = Outer {
        operating_system_commands: true,
        titles: true,
        colors: true,
        directories: true,
        scrollback: true,
        repertoire: Repertoire::FULL,
        ..Outer::default()
    };
    let prediction =
        Prediction { preference: Preference::Always, engine: EngineKind::Replay, overwrite: false };
    ClientConfig { size, outer, prediction, ..client_config(rove(Config::client())) }
}

impl ClientEnd {
    pub fn new(transport: Config) -> Self {
        Self::with(client_config(transport))
    }

    pub fn with_outer(transport: Config, outer: Outer) -> Self {
        Self::with(ClientConfig { outer, ..client_config(transport) })
    }

    pub fn with(config: ClientConfig) -> Self {
        Self {
            client: Client::new(config, Instant::ZERO),
            tty: Terminal::host(Size::DEFAULT),
            paste: Vec::new(),
            events: Vec::new(),
            pending_max: 0,
            frames: 0,
            copied: Vec::new(),
            notified: Vec::new(),
        }
    }

    /// Returns the top row as the user sees it.
    pub fn top_row(&self) -> String {
        self.tty.screen().row_text(0)
    }

    fn pump(&mut self, now: Instant) {
        while !self.paste.is_empty() && self.client.wants_input() {
            let rest = self.paste.split_off(self.paste.len().min(READ_MAX));
            self.client.handle_input(now, &self.paste);
            self.paste = rest;
        }
        self.pending_max = self.pending_max.max(self.client.pending_input());
        if let Some(output) = self.client.poll_output(now) {
            self.tty.write(&output);
            self.copied.extend(self.tty.take_copied());
            let notified = self.tty.take_notifications();
            self.notified.extend(notified.map(|told| told.command().to_owned()));
            self.frames += 1;
        }
        while let Some(event) = self.client.poll_event() {
            self.events.push(event);
        }
    }
}

impl End for ClientEnd {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let _ = self.client.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.pump(now);
        self.client.poll_transmit(now).map(|transmit| (transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.client.poll_timeout()
    }
}

impl ServerEnd {
    pub fn new(transport: Config) -> Self {
        let config = ServerConfig {
            key: key(),
            transport,
            ipv6: false,
            size: Size::DEFAULT,
            network_timeout: None,
            chaff: Seed::new(1).stream("server.chaff"),
        };
        Self::with(config)
    }

    pub fn with(config: ServerConfig) -> Self {
        Self {
            server: Server::new(config, Instant::ZERO),
            typed: Vec::new(),
            stuck: false,
            events: Vec::new(),
            waiting_max: 0,
            datagrams: 0,
            bytes: 0,
        }
    }

    fn pump(&mut self) {
        self.waiting_max = self.waiting_max.max(self.server.host_input().len());
        if !self.stuck {
            self.typed.extend_from_slice(self.server.host_input());
            self.server.consume_host_input(self.server.host_input().len());
        }
        while let Some(event) = self.server.poll_event() {
            self.events.push(event);
        }
    }
}

impl End for ServerEnd {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let _ = self.server.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.pump();
        let transmit = self.server.poll_transmit(now);
        self.datagrams += usize::from(transmit.is_some());
        self.bytes += transmit.as_ref().map_or(0, |transmit| transmit.payload.len());
        transmit.map(|transmit| (transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.server.poll_timeout()
    }
}

/// Nobody: takes everything, sends nothing.
pub struct Nobody;

impl End for Nobody {
    fn handle_datagram(&mut self, _: Instant, _: SocketAddr, _: &[u8]) {}
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        None
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

/// Types at the client, now.
pub fn type_text(pair: &mut Pair, text: &[u8]) {
    let now = pair.now();
    assert!(pair.left.client.wants_input());
    pair.left.client.handle_input(now, text);
}

/// Writes as a program on the pty, now.
pub fn print(pair: &mut Pair, text: &[u8]) {
    let now = pair.now();
    pair.right.server.handle_host_output(now, text);
}

/// Returns whether both ends hold the same picture, and the user's terminal shows it.
pub fn in_sync(client: &ClientEnd, server: &ServerEnd) -> bool {
    same_picture(client, server) && shown(client)
}

/// Returns whether both ends hold the same picture. How often a bell rang is not part of one.
pub fn same_picture(client: &ClientEnd, server: &ServerEnd) -> bool {
    let (ours, theirs) = (client.client.screen(), server.server.screen());
    ours.size() == theirs.size()
        && ours.cursor() == theirs.cursor()
        && (0..ours.size().rows()).all(|row| ours.row(row) == theirs.row(row))
}

fn shown(client: &ClientEnd) -> bool {
    let (screen, tty) = (client.client.screen(), client.tty.screen());
    (0..screen.size().rows()).all(|row| screen.row_text(row) == tty.row_text(row))
}

/// Runs both ends to their ends.
pub fn run_to_end(pair: &mut Pair) -> ServerOutcome {
    pair.run_until(secs(30), |client, server| {
        client.client.outcome().is_some() && server.server.outcome().is_some()
    });
    pair.right.server.outcome().expect("the server ends within 30 s")
}
