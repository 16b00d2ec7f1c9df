//! The two ends of a simulated session, with a user and a program around them.

use core::net::SocketAddr;

use rove_link::net::{End, RIGHT_ADDRESS};
use rove_session::{Client, ClientConfig, Server, ServerConfig, ServerEvent};
use rove_ssp::{Config, Ecn, Key};
use rove_terminal::{Outer, Screen, Size, Terminal};
use rove_units::{Instant, Seed};

use super::scenario::Scenario;

/// Bytes the drivers read at once. Source: Mosh 1.4.0 as observed.
const READ_MAX: usize = 16_384;
/// The client's bound on unacknowledged input, and one read on top of it.
pub(super) const PENDING_MAX: u64 = 1_048_576 + 16_384;
/// The server's bound on bytes for the pty, and one client message on top of it.
pub(super) const WAITING_MAX: usize = 1_048_576 + 65_536;

/// A client, its user and its user's terminal.
pub(super) struct ClientEnd {
    pub(super) client: Client,
    tty: Terminal,
    /// What was typed, and how much of it the client has read.
    typed: Vec<u8>,
    read: usize,
    window: Size,
    /// Whether the terminal takes no output.
    pub(super) jammed: bool,
    pub(super) pending_max: u64,
}

/// A server and the program on its pty.
pub(super) struct ServerEnd {
    pub(super) server: Server,
    pub(super) started: bool,
    /// What the program has printed, and how much of it the server has read.
    printed: Vec<u8>,
    handled: usize,
    /// What the program has read.
    pub(super) read: Vec<u8>,
    pty_size: Size,
    /// Whether the program reads nothing.
    pub(super) jammed: bool,
    pub(super) waiting_max: usize,
}

impl ClientEnd {
    pub(super) fn new(scenario: &Scenario, seed: Seed) -> Self {
        let config = ClientConfig {
            server: RIGHT_ADDRESS,
            key: key(seed),
            transport: Config {
                capabilities: Some(rove_session::CAPABILITIES),
                ..Config::client()
            },
            size: scenario.size,
            outer: Outer::default(),
            query: false,
            escape_key: None,
            program: "rove".to_owned(),
            chaff: seed.stream("client.chaff"),
        };
        Self {
            client: Client::new(config, Instant::ZERO),
            tty: Terminal::host(scenario.size),
            typed: Vec::new(),
            read: 0,
            window: scenario.size,
            jammed: false,
            pending_max: 0,
        }
    }

    pub(super) fn type_text(&mut self, text: &[u8]) {
        self.typed.extend_from_slice(text);
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.window = size;
    }

    fn pump(&mut self, now: Instant) {
        if self.tty.screen().size() != self.window {
            self.tty.resize(self.window);
            self.client.handle_resize(now, self.window);
        }
        while self.read < self.typed.len() && self.client.wants_input() {
            let end = self.typed.len().min(self.read + READ_MAX);
            self.client.handle_input(now, &self.typed[self.read..end]);
            self.read = end;
        }
        self.pending_max = self.pending_max.max(self.client.pending_input());
        // New ports are opened beside the old ones, which go on receiving: the path does not change.
        while self.client.poll_event().is_some() {}
        if !self.jammed
            && let Some(output) = self.client.poll_output(now)
        {
            self.tty.write(&output);
        }
    }
}

impl End for ClientEnd {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        // What is of no use is no matter.
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
    pub(super) fn new(scenario: &Scenario, seed: Seed) -> Self {
        let capabilities = (!scenario.one_is_stock).then_some(rove_session::CAPABILITIES);
        let config = ServerConfig {
            key: key(seed),
            transport: Config { capabilities, ..Config::server() },
            ipv6: false,
            size: Size::DEFAULT,
            network_timeout: None,
            chaff: seed.stream("server.chaff"),
        };
        Self {
            server: Server::new(config, Instant::ZERO),
            started: false,
            printed: Vec::new(),
            handled: 0,
            read: Vec::new(),
            pty_size: Size::DEFAULT,
            jammed: false,
            waiting_max: 0,
        }
    }

    pub(super) fn print(&mut self, bytes: &[u8]) {
        self.printed.extend_from_slice(bytes);
    }

    fn pump(&mut self, now: Instant) {
        while self.handled < self.printed.len() {
            let end = self.printed.len().min(self.handled + READ_MAX);
            self.server.handle_host_output(now, &self.printed[self.handled..end]);
            self.handled = end;
        }
        self.waiting_max = self.waiting_max.max(self.server.host_input().len());
        if !self.jammed {
            let waiting = self.server.host_input();
            self.read.extend_from_slice(waiting);
            self.server.consume_host_input(waiting.len());
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Start => self.started = true,
                ServerEvent::Resize(size) => self.pty_size = size,
                ServerEvent::ClientMoved(_) | ServerEvent::ClientLost => {}
            }
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
        self.pump(now);
        self.server.poll_transmit(now).map(|transmit| (transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.server.poll_timeout()
    }
}

/// Returns what the two ends do not agree about; `None` when all is well.
pub(super) fn disagreement(client: &ClientEnd, server: &ServerEnd) -> Option<String> {
    let (ours, theirs) = (client.client.screen(), server.server.screen());
    if server.read != client.typed {
        let same = server.read.iter().zip(&client.typed).take_while(|(a, b)| a == b).count();
        let (read, typed) = (server.read.len(), client.typed.len());
        return Some(format!("{typed} bytes typed, {read} read, alike up to byte {same}"));
    }
    for (what, size) in [("pty", server.pty_size), ("screen", theirs.size())] {
        if size != client.window {
            return Some(format!("the window is {:?}, the {what} {size:?}", client.window));
        }
    }
    if let Some(what) = difference(ours, theirs) {
        return Some(format!("the client's screen differs from the server's in {what}"));
    }
    let (tty, size) = (client.tty.screen(), ours.size());
    let row = (0..size.rows()).find(|row| tty.row_text(*row) != ours.row_text(*row))?;
    let (shown, wanted) = (tty.row_text(row), ours.row_text(row));
    Some(format!("row {row} of the terminal shows {shown:?}, not {wanted:?}"))
}

/// Returns in which synchronised field two screens differ. How often a bell rang is not one.
fn difference(a: &Screen, b: &Screen) -> Option<String> {
    if a.size() != b.size() {
        return Some("size".to_owned());
    }
    if let Some(what) = (0..a.size().rows()).find_map(|row| row_difference(a, b, row)) {
        return Some(what);
    }
    [
        ("cursor", a.cursor() == b.cursor()),
        ("pen", a.pen() == b.pen()),
        ("reverse video", a.reverse_video() == b.reverse_video()),
        ("bracketed paste", a.bracketed_paste() == b.bracketed_paste()),
        ("focus reporting", a.focus_reporting() == b.focus_reporting()),
        ("mouse reporting", a.mouse_reporting() == b.mouse_reporting()),
        ("mouse encoding", a.mouse_encoding() == b.mouse_encoding()),
        ("title", a.title() == b.title()),
        ("icon name", a.icon_name() == b.icon_name()),
    ]
    .into_iter()
    .find_map(|(what, same)| (!same).then(|| what.to_owned()))
}

/// Returns in what one row differs.
fn row_difference(a: &Screen, b: &Screen, row: u16) -> Option<String> {
    let (a, b) = (a.row(row)?, b.row(row)?);
    let columns = 0_u16..;
    let differs = |(column, (ours, theirs))| {
        (ours != theirs || a.marks(column) != b.marks(column))
            .then(|| format!("row {row}, column {column}: {ours:?}, {theirs:?}"))
    };
    columns.zip(a.cells().iter().zip(b.cells())).find_map(differs).or_else(|| {
        // A wrap that printing cannot set for certain is not carried, so the client may miss one.
        (a.wrapped() && !b.wrapped()).then(|| format!("row {row}, which wraps at the client only"))
    })
}

/// Returns the session's key: as good as any for a session that protects nothing.
fn key(seed: Seed) -> Key {
    let stream = seed.stream("key");
    let half = |number| stream.at(number).bits().to_be_bytes();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&half(0));
    bytes[8..].copy_from_slice(&half(1));
    Key::from_bytes(bytes)
}
