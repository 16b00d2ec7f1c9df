//! Both ends of a session over a virtual network, with a user, a terminal and a program around them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part of this")]

pub mod clients;
pub mod forger;

use core::net::SocketAddr;

use rove_headless::{Act, Program, User};
pub use rove_headless::{key, rove};
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::{
    Client, ClientConfig, ClientEvent, Prediction, Preference, Server, ServerConfig, ServerEvent,
    ServerOutcome,
};
use rove_ssp::Config;
use rove_terminal::display::Repertoire;
use rove_terminal::{Copied, OscSupport, Size, Terminal, TerminalCapabilities};
use rove_units::{Duration, Instant, Seed};

/// Maximum number of bytes that the driver reads from the user's terminal at once.
pub const READ_MAX: usize = 16_384;

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
pub type ClientEnd = rove_headless::ClientEnd<Typist>;

/// A server and the program on its pty.
pub type ServerEnd = rove_headless::ServerEnd<Reader>;

/// A user who types, and the record of what the user's terminal did.
#[derive(Default)]
pub struct Typist {
    /// Bytes that the user types as soon as the client wants input.
    pub paste: Vec<u8>,
    pub events: Vec<ClientEvent>,
    pub pending_max: u64,
    pub frames: usize,
    /// The texts that the client copied to the clipboard of the user's terminal (OSC 52), in order.
    pub copied: Vec<Copied>,
    /// The notifications that the user's terminal was made to show, in order.
    pub notified: Vec<String>,
    /// The answers of the terminal to the client's questions, since a test last took them.
    pub replies: Vec<u8>,
}

/// A program that reads its input and stores it.
#[derive(Default)]
pub struct Reader {
    pub typed: Vec<u8>,
    /// Whether the program has stopped reading.
    pub stuck: bool,
    pub events: Vec<ServerEvent>,
    pub waiting_max: usize,
}

pub type Pair = Net<ClientEnd, ServerEnd>;

/// Returns a rove client and a rove server, joined by the same link both ways.
pub fn pair(link: &LinkConfig) -> Pair {
    pair_with(link, rove(Config::client()), rove(Config::server()))
}

/// Returns a configuration with which an end behaves as a stock peer does.
pub fn stock(config: Config) -> Config {
    Config { capabilities: None, ..config }
}

pub fn pair_with(link: &LinkConfig, client: Config, server: Config) -> Pair {
    join(near_of(client), far(server), link)
}

/// Joins two ends by the same link both ways.
pub fn join(left: ClientEnd, right: ServerEnd, link: &LinkConfig) -> Pair {
    Net::new(left, right, link.clone(), link.clone(), Seed::new(1))
}

/// Returns the configuration of a client that predicts nothing, and does not query its terminal.
pub fn client_config(transport: Config) -> ClientConfig {
    let config = rove_headless::client_config(transport, Seed::new(1));
    ClientConfig { escape_key: Some(0x1e), ..config }
}

pub fn server_config(transport: Config) -> ServerConfig {
    rove_headless::server_config(transport, Seed::new(1))
}

pub fn near(config: ClientConfig) -> ClientEnd {
    ClientEnd::new(config, Typist::default(), Instant::ZERO)
}

/// Returns a client with this transport.
pub fn near_of(transport: Config) -> ClientEnd {
    near(client_config(transport))
}

pub fn client_with_capabilities(
    transport: Config,
    capabilities: TerminalCapabilities,
) -> ClientEnd {
    near(ClientConfig { terminal: capabilities, ..client_config(transport) })
}

pub fn far(transport: Config) -> ServerEnd {
    far_with(server_config(transport))
}

pub fn far_with(config: ServerConfig) -> ServerEnd {
    ServerEnd::new(config, Reader::default(), Instant::ZERO)
}

/// Returns the configuration of a rove client that costs most work and memory. It has all predictions, and a terminal
/// of this size that supports everything that rove knows.
pub fn busiest_client(size: Size) -> ClientConfig {
    let capabilities = TerminalCapabilities {
        osc: OscSupport { any: true, window: true, ..OscSupport::default() },
        scrollback: true,
        repertoire: Repertoire::FULL,
        ..TerminalCapabilities::default()
    };
    let prediction = Prediction { preference: Preference::Always, ..Prediction::default() };
    ClientConfig {
        size,
        terminal: capabilities,
        prediction,
        ..client_config(rove(Config::client()))
    }
}

impl User for Typist {
    fn next_act(&mut self, _: Instant, client: &Client, _: &Terminal) -> Option<Act> {
        self.pending_max = self.pending_max.max(client.pending_input());
        if self.paste.is_empty() || !client.wants_input() {
            return None;
        }
        let rest = self.paste.split_off(self.paste.len().min(READ_MAX));
        Some(Act::Type(core::mem::replace(&mut self.paste, rest)))
    }

    fn handle_frame(&mut self, _: Instant, _: &Client, terminal: &mut Terminal) {
        self.copied.extend(terminal.take_copied());
        let notified = terminal.take_notifications();
        self.notified.extend(notified.map(|told| told.command().to_owned()));
        self.replies.extend(terminal.take_replies());
        self.frames += 1;
    }

    fn handle_event(&mut self, event: ClientEvent) {
        self.events.push(event);
    }
}

impl Program for Reader {
    fn turn(&mut self, _: Instant, server: &mut Server) {
        self.waiting_max = self.waiting_max.max(server.host_input().len());
        if !self.stuck {
            self.typed.extend_from_slice(server.host_input());
            server.consume_host_input(server.host_input().len());
        }
    }

    fn handle_event(&mut self, event: ServerEvent) {
        self.events.push(event);
    }
}

/// An end that ignores every datagram and sends no datagram.
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

/// Types at the client at the present virtual time.
pub fn type_text(pair: &mut Pair, text: &[u8]) {
    let now = pair.now();
    assert!(pair.left.client.wants_input());
    pair.left.client.handle_input(now, text);
}

/// Writes this text to the server's pty at the present virtual time, as a program would.
pub fn print(pair: &mut Pair, text: &[u8]) {
    let now = pair.now();
    pair.right.server.handle_host_output(now, text);
}

/// Returns whether both ends hold the same picture, and the user's terminal shows it.
pub fn in_sync(client: &ClientEnd, server: &ServerEnd) -> bool {
    same_picture(client, server) && client.shows_host_text()
}

/// Returns whether both ends hold the same picture. The number of bells is not part of a picture.
pub fn same_picture(client: &ClientEnd, server: &ServerEnd) -> bool {
    let (ours, theirs) = (client.client.screen(), server.server.screen());
    ours.size() == theirs.size()
        && ours.cursor() == theirs.cursor()
        && (0..ours.size().rows()).all(|row| ours.row(row) == theirs.row(row))
}

/// Runs until both ends have ended, and returns the server's outcome.
pub fn run_to_end(pair: &mut Pair) -> ServerOutcome {
    pair.run_until(secs(30), |client, server| {
        client.client.outcome().is_some() && server.server.outcome().is_some()
    });
    pair.right.server.outcome().expect("the server ends within 30 s")
}
