//! An end does nothing for a stranger who lacks the key: it sends no answer, changes no state and allocates no memory.
//!
//! `ROVE_STRANGERS=10000000` sets how many datagrams strangers send to each end.

mod common;

use core::net::SocketAddr;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::*;
use rove_link::net::{LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_session::{Client, Server, Streams};
use rove_ssp::{Capabilities, Config, Ecn, ReceiveError, Transmit};
use rove_streams::Side;
use rove_units::{Draw, Instant, Seed, Stream};

/// Datagrams that strangers send to each end, half of them until it has heard its peer, and half later. Chosen: this
/// takes well under a second, with debug assertions.
const STRANGERS: u64 = 50_000;

/// The bit in a datagram's first byte that marks a stream packet. Source: docs/wire.md.
const STREAM_BIT: u8 = 0x40;

/// Longest datagram of a stranger, in bytes: more than any end accepts.
const LEN_MAX: usize = 2_200;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which also counts the allocations of each thread.
struct Counting;

// SAFETY: the system's allocator does all the work. The counter has no destructor and needs no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the system allocator's contract, which is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from the system's allocator with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Both ends, and all datagrams that they send.
struct Session {
    client: Client,
    server: Server,
    now: Instant,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
    /// The bytes that the user's terminal received.
    shown: Vec<u8>,
    /// The streams of the client and of the server.
    streams: [Streams; 2],
}

impl Session {
    fn new() -> Self {
        let [client, server] = [Config::client(), Config::server()].map(|config| {
            let config = rove(config);
            let capabilities = config.capabilities.map(|it| it.union(Capabilities::STREAMS));
            Config { capabilities, ..config }
        });
        Self {
            client: Client::new(client_config(client), Instant::ZERO),
            server: Server::new(server_config(server), Instant::ZERO),
            streams: [Side::Client, Side::Server].map(|side| Streams::new(side, Instant::ZERO)),
            now: Instant::ZERO,
            up: Vec::new(),
            down: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Runs both ends for so many milliseconds. If `heard` is false, nothing that the client sends arrives.
    fn run(&mut self, millis: u64, heard: bool) {
        for _ in 0..millis {
            self.now += ms(1);
            let now = self.now;
            self.client.handle_timeout(now);
            while let Some(Transmit { payload, .. }) = self.client_transmit() {
                if heard {
                    let (source, before) = (LEFT_ADDRESS, self.server.client_datagrams());
                    self.server.handle_datagram(now, source, Ecn::Capable, &payload).expect("fine");
                    let after = self.server.client_datagrams();
                    assert!(after > before, "no packet of the client's counts as a stranger's");
                }
                self.up.push(payload);
            }
            self.server.handle_timeout(now);
            while let Some(Transmit { payload, .. }) = self.server_transmit() {
                let source = RIGHT_ADDRESS;
                self.client.handle_datagram(now, source, Ecn::Capable, &payload).expect("fine");
                self.down.push(payload);
            }
            self.shown.extend(self.client.poll_output(now).unwrap_or_default());
        }
    }

    /// Returns the client's next datagram: first the session's datagrams, then stream packets.
    fn client_transmit(&mut self) -> Option<Transmit> {
        let (now, [streams, _]) = (self.now, &mut self.streams);
        if let Some(transmit) = self.client.poll_transmit(now) {
            return Some(transmit);
        }
        streams.handle_arrivals(now, self.client.carriage()?);
        streams.poll_transmit(now, self.client.carriage()?)
    }

    /// Returns the server's next datagram: first the session's datagrams, then stream packets.
    fn server_transmit(&mut self) -> Option<Transmit> {
        let (now, [_, streams]) = (self.now, &mut self.streams);
        if let Some(transmit) = self.server.poll_transmit(now) {
            return Some(transmit);
        }
        streams.handle_arrivals(now, self.server.carriage()?);
        streams.poll_transmit(now, self.server.carriage()?)
    }

    fn talk(&mut self) {
        for word in ["ls\r", "vim notes\r", "\x1b[A"] {
            self.client.handle_input(self.now, word.as_bytes());
            self.run(200, true);
            for streams in &mut self.streams {
                let id = streams.mux.open(self.now).expect("few are open");
                streams.mux.write(id, &[7; 3_000]).expect("it is open");
            }
            let said = format!("{word}\n\x1b[31m{word}\x07\x1b]2;{word}\x07");
            self.server.handle_host_output(self.now, said.as_bytes());
            self.run(200, true);
        }
    }
}

/// A stranger, who makes datagrams without the key.
struct Stranger {
    chance: Stream,
    drawn: u64,
    datagram: Vec<u8>,
}

impl Stranger {
    fn new(name: &str) -> Self {
        let chance = Seed::new(1).stream(name);
        Self { chance, drawn: 0, datagram: Vec::with_capacity(LEN_MAX) }
    }

    fn draw(&mut self) -> Draw {
        self.drawn += 1;
        self.chance.at(self.drawn)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("lengths fit 64 bits");
        usize::try_from(self.draw().below(bound)).expect("below a length")
    }

    /// Returns a source address: in half of the cases the peer's, because any sender can forge it.
    fn source(&mut self, peer: SocketAddr) -> SocketAddr {
        let other = SocketAddr::from(([203, 0, 113, 7], 4_242));
        if self.draw().chance(0.5) { peer } else { other }
    }

    fn noise(&mut self, len: usize) {
        while self.datagram.len() < len {
            let bits = self.draw().bits().to_le_bytes();
            let room = len - self.datagram.len();
            self.datagram.extend(&bits[..room.min(bits.len())]);
        }
    }

    /// Makes the next datagram: noise, or an overheard datagram with changes.
    fn next(&mut self, overheard: &[Vec<u8>]) -> &[u8] {
        self.datagram.clear();
        let how = if overheard.is_empty() { 0 } else { self.below(6) };
        if how == 0 {
            let len = if self.draw().chance(0.5) { self.below(64) } else { self.below(LEN_MAX) };
            self.noise(len);
            return &self.datagram;
        }
        let original = &overheard[self.below(overheard.len())];
        self.datagram.extend(original);
        match how {
            1 => {
                let len = self.below(original.len());
                self.datagram.truncate(len);
            }
            2 => {
                let more = 1 + self.below(LEN_MAX - original.len());
                self.noise(original.len() + more);
            }
            // The flip changes the number or the direction, which precede the sealed bytes.
            3 => self.flip(0, 8),
            4 => self.flip(8, original.len() - 8),
            _ => {
                let at = self.below(original.len());
                let old = self.datagram[at];
                let change = 1 + u8::try_from(self.below(255)).expect("below 255");
                self.datagram[at] = old.wrapping_add(change);
            }
        }
        &self.datagram
    }

    /// Flips one bit among `len` bytes from `at` on.
    fn flip(&mut self, at: usize, len: usize) {
        let at = at + self.below(len);
        self.datagram[at] ^= 1 << self.below(8);
    }
}

fn strangers() -> u64 {
    std::env::var("ROVE_STRANGERS").map_or(STRANGERS, |text| text.parse().expect("a number"))
}

/// The result of a stranger's datagram.
type Outcome = (Result<(), ReceiveError>, Option<Transmit>, Option<Instant>);

/// Passes a stranger's datagrams to one end, and checks that none has any effect.
fn besiege(
    name: &str,
    overheard: &[Vec<u8>],
    peer: SocketAddr,
    wakes_at: Option<Instant>,
    mut hand_in: impl FnMut(SocketAddr, &[u8]) -> Outcome,
) {
    let mut stranger = Stranger::new(name);
    for number in 0..strangers() / 2 {
        let source = stranger.source(peer);
        let datagram = stranger.next(overheard);
        let before = ALLOCATIONS.get();
        let (result, reply, wakes) = hand_in(source, datagram);
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(
            allocations,
            0,
            "{name} {number}, {} bytes: memory was asked for",
            datagram.len()
        );
        let is_refused = matches!(
            result,
            Err(ReceiveError::TooLong { .. }
                | ReceiveError::Truncated { .. }
                | ReceiveError::Reflected
                | ReceiveError::Replayed { .. }
                | ReceiveError::Forged)
        );
        assert!(is_refused, "{name} {number}: {result:?}");
        assert_eq!(reply, None, "{name} {number} was answered");
        assert_eq!(wakes, wakes_at, "{name} {number} changed a timer");
    }
}

fn besiege_client(session: &mut Session, name: &str) {
    let Session { client, now, up, down, .. } = &mut *session;
    let overheard: Vec<_> = up.iter().chain(&*down).cloned().collect();
    let wakes_at = client.poll_timeout();
    besiege(name, &overheard, RIGHT_ADDRESS, wakes_at, |source, datagram| {
        let result = client.handle_datagram(*now, source, Ecn::CongestionExperienced, datagram);
        (result, client.poll_transmit(*now), client.poll_timeout())
    });
    assert_eq!(session.client_transmit(), None, "{name} answers by no packet of streams");
}

fn besiege_server(session: &mut Session, name: &str) {
    let Session { server, now, up, down, .. } = &mut *session;
    let overheard: Vec<_> = up.iter().chain(&*down).cloned().collect();
    let wakes_at = server.poll_timeout();
    besiege(name, &overheard, LEFT_ADDRESS, wakes_at, |source, datagram| {
        let result = server.handle_datagram(*now, source, Ecn::CongestionExperienced, datagram);
        (result, server.poll_transmit(*now), server.poll_timeout())
    });
    assert_eq!(session.server_transmit(), None, "{name} answers by no packet of streams");
}

#[test]
fn strangers_are_not_answered_cost_no_memory_and_change_nothing() {
    let (mut besieged, mut left_alone) = (Session::new(), Session::new());
    besieged.run(300, false);
    left_alone.run(300, false);
    besiege_client(&mut besieged, "a client that has heard nothing");
    besiege_server(&mut besieged, "a server that has heard nothing");
    besieged.talk();
    left_alone.talk();
    let is_packet = |datagram: &&Vec<u8>| datagram[0] & STREAM_BIT != 0;
    for datagrams in [&besieged.up, &besieged.down] {
        assert!(datagrams.iter().filter(is_packet).count() > 6, "strangers overhear packets");
    }
    besiege_client(&mut besieged, "a client in its session");
    besiege_server(&mut besieged, "a server in its session");
    besieged.talk();
    left_alone.talk();
    // Both sessions have sent the same bytes at the same times.
    assert!(besieged.up == left_alone.up, "the client said something else");
    assert!(besieged.down == left_alone.down, "the server said something else");
    assert!(besieged.shown == left_alone.shown, "the user saw something else");
    assert_eq!(besieged.server.host_input(), left_alone.server.host_input());
    assert!(!besieged.up.is_empty() && !besieged.down.is_empty());
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    let _ = std::hint::black_box(Box::new(7_u64));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
