//! A session with an endless copy in a stream, a user who types all the time, and a program that echoes.

use rove_congestion::Controller;
use rove_session::Client;
use rove_ssp::{Capabilities, Config};
use rove_streams::{Event, Mux, Read};
use rove_terminal::Terminal;
use rove_units::{Duration, Instant, Seed, Stream};

use crate::beside::{Beside, Owner};
use crate::client_end::{Act, ClientEnd, User};
use crate::config::{client_config, rove, server_config};
use crate::server_end::{Echo, ServerEnd};

/// Keys in a line, before Enter. Chosen: a line of the terminal has room for them.
const LINE: usize = 60;

/// Most keys of a [`Typist`]. Chosen: the terminal shows all of them at the end.
const KEYS: usize = 20 * LINE;

/// Bytes that the writing side offers to a stream at once. Chosen: in most turns, more than the stream accepts.
const OFFERED: usize = 65_536;

/// The client's end: a user who types, and a side of the copy.
pub type CopyingClient = Beside<ClientEnd<Typist>, Copy>;

/// The server's end: a program that echoes, and the other side of the copy. A side writes if [`Copy::writes`] is set.
pub type CopyingServer = Beside<ServerEnd<Echo>, Copy>;

/// Returns a config that offers streams and all capabilities of rove.
#[must_use]
pub fn with_streams(config: Config) -> Config {
    let config = rove(config);
    let capabilities = config.capabilities.map(|it| it.union(Capabilities::STREAMS));
    Config { capabilities, ..config }
}

/// Creates both ends of a session, with streams that use a congestion controller.
pub fn copying(
    seed: Seed,
    typist: Typist,
    controller: impl Fn() -> Box<dyn Controller>,
) -> (CopyingClient, CopyingServer) {
    let client = client_config(with_streams(Config::client()), seed);
    let server = server_config(with_streams(Config::server()), seed);
    let client = ClientEnd::new(client, typist, Instant::ZERO);
    let server = ServerEnd::new(server, Echo(b""), Instant::ZERO);
    let client = Beside::controlled(client, Copy::default(), controller());
    (client, Beside::controlled(server, Copy::default(), controller()))
}

/// A user who types letters, with Enter after every 60 letters, and who does not wait for echoes.
#[derive(Debug)]
pub struct Typist {
    next: Instant,
    end: Instant,
    pauses: Stream,
    typed: Vec<Instant>,
    delays: Vec<Duration>,
}

impl Typist {
    /// Creates a user who types from `start` to `end`, with four keys per second on average.
    pub fn new(start: Instant, end: Instant, seed: Seed) -> Self {
        let pauses = seed.stream("typist.pauses");
        Self { next: start, end, pauses, typed: Vec::new(), delays: Vec::new() }
    }

    /// Returns the time from each key to its echo, in the order of the keys. Keys without an echo are missing.
    pub fn delays(&self) -> &[Duration] {
        &self.delays
    }

    /// Returns how long each key without an echo has waited until `now`.
    pub fn waiting(&self, now: Instant) -> impl Iterator<Item = Duration> + '_ {
        self.typed.iter().skip(self.delays.len()).map(move |at| now.saturating_since(*at))
    }

    fn is_done(&self) -> bool {
        self.next >= self.end || self.typed.len() == KEYS
    }
}

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        if self.is_done() || now < self.next {
            return None;
        }
        let number = u64::try_from(self.typed.len()).unwrap_or_default();
        self.next = now + Duration::from_millis(150 + self.pauses.at(number).below(201));
        self.typed.push(now);
        let ends_line = self.typed.len().is_multiple_of(LINE);
        Some(Act::Type(if ends_line { b"a\r".to_vec() } else { b"a".to_vec() }))
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        (!self.is_done()).then_some(self.next)
    }

    fn handle_frame(&mut self, now: Instant, _: &Client, terminal: &mut Terminal) {
        let rows = 0..terminal.screen().size().rows();
        let shown: usize =
            rows.map(|row| terminal.screen().row_text(row).matches('a').count()).sum();
        for typed in self.typed.iter().take(shown).skip(self.delays.len()) {
            self.delays.push(now.saturating_since(*typed));
        }
    }
}

/// A side of a copy in a stream. It reads all bytes that arrive, and writes without end if `writes` is set.
#[derive(Debug, Default)]
pub struct Copy {
    /// Whether this side writes.
    pub writes: bool,
    is_open: bool,
    read: u64,
}

impl Copy {
    /// Returns how many bytes this side has read.
    pub const fn read(&self) -> u64 {
        self.read
    }
}

impl Owner for Copy {
    fn turn(&mut self, now: Instant, mux: &mut Mux) {
        let is_first = self.writes && !self.is_open;
        if is_first {
            self.is_open = true;
            let id = mux.open(now).expect("the first");
            while mux.write(id, &[7; OFFERED]) == Ok(OFFERED) {}
        }
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Writable(id) => while mux.write(id, &[7; OFFERED]) == Ok(OFFERED) {},
                Event::Readable(id) => {
                    let mut buffer = [0; 4_096];
                    while let Ok(Read::Bytes(count)) = mux.read(now, id, &mut buffer) {
                        self.read += count as u64;
                    }
                }
                _ => {}
            }
        }
    }
}
