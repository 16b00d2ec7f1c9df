//! Streams that nobody reads, and a peer that breaks the rules of streams. Keys and other streams keep their speed.

use core::net::SocketAddr;

use rove_headless::copying::with_streams;
use rove_headless::{
    Beside, Carries, ClientEnd, Echo, Owner, ServerEnd, client_config, server_config,
};
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::Streams;
use rove_ssp::Config;
use rove_streams::{AckFrame, Event, Frame, Mux, Read, Side, StreamId, Target};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

/// The round-trip time of these sessions.
const RTT: Duration = Duration::from_millis(20);

/// Longest time from a key to its answer. Source: SECURITY.md.
const ANSWERED_WITHIN: Duration = Duration::from_millis(50);

/// An owner that opens a stream for a copy, and reads all bytes that arrive.
#[derive(Default)]
struct Honest {
    id: Option<StreamId>,
    is_closed: bool,
    /// The number of the peer's streams that this owner has accepted.
    accepted: u64,
}

impl Owner for Honest {
    fn turn(&mut self, now: Instant, mux: &mut Mux) {
        if self.id.is_none() {
            self.id = mux.open(now).ok();
            if let Some(id) = self.id {
                let _ = mux.write(id, &[7; 65_536]);
            }
        }
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Readable(id) => {
                    let mut buffer = [0; 4_096];
                    while let Ok(Read::Bytes(_)) = mux.read(now, id, &mut buffer) {}
                }
                Event::Writable(id) => drop(mux.write(id, &[7; 65_536])),
                Event::Closed => self.is_closed = true,
                Event::Incoming => {
                    while mux.accept().is_some() {
                        self.accepted += 1;
                    }
                }
                _ => {}
            }
        }
    }
}

/// A function that returns the bytes of the packet with a number. Its first argument is the attacker's side.
type Attack = fn(Side, u64) -> Vec<u8>;

/// An end that sends packets with an attacker's bytes, as many per millisecond as the link carries.
struct Attacker<E> {
    end: E,
    side: Side,
    attack: Attack,
    number: u64,
    next_at: Instant,
    left: u32,
    is_agreed: bool,
}

/// Packets that the attacker sends per millisecond. Chosen: they are 60 Mbit/s.
const PACKETS: u32 = 6;

impl<E: Carries> End for Attacker<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.end.handle_datagram(now, source, payload);
        if let Some(mut carriage) = self.end.carriage() {
            while carriage.poll_packet().is_some() {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        if let Some(transmit) = self.end.poll_transmit(now) {
            return Some(transmit);
        }
        let mut carriage = self.end.carriage()?;
        self.is_agreed = true;
        if now >= self.next_at {
            (self.next_at, self.left) = (now + Duration::from_millis(1), PACKETS);
        }
        self.left = self.left.checked_sub(1)?;
        let payload = (self.attack)(self.side, self.number);
        let transmit = carriage.seal(self.number, &payload)?;
        self.number += 1;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let next = self.is_agreed.then_some(self.next_at);
        [self.end.poll_timeout(), next].into_iter().flatten().min()
    }
}

fn packet(frames: &[Frame<'_>]) -> Vec<u8> {
    let mut payload = vec![0; 4];
    frames.iter().for_each(|it| it.encode(&mut payload));
    payload
}

fn data(id: u64, offset: u64, bytes: &[u8], is_end: bool) -> Vec<u8> {
    packet(&[Frame::Data { id: StreamId::new(id), offset, is_end, bytes }])
}

/// Returns the number of a stream that `side` opens.
const fn own(side: Side, number: u64) -> u64 {
    match side {
        Side::Client => 2 * number + 2,
        Side::Server => 2 * number + 1,
    }
}

const fn other(side: Side) -> Side {
    match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    }
}

/// The attacks: a name, the least number of streams that the attack opens, and a function that makes the packets.
#[rustfmt::skip]
const ATTACKS: [(&str, u64, Attack); 12] = [
    ("an acknowledgment of a packet that was never sent", 0, |_, _| {
        packet(&[Frame::Ack(AckFrame { largest: 1 << 40, ranges: vec![(0, 1)], ..AckFrame::default() })])
    }),
    ("an offset at the end of all numbers", 0, |side, _| data(own(side, 0), u64::MAX, b"x", false)),
    ("data beyond the credit", 1, |side, number| data(own(side, 0), number << 20, &[7; 1_000], false)),
    ("data beyond the end", 1, |side, number| data(own(side, 0), number, b"x", true)),
    ("other bytes for the same offset", 1, |side, number| data(own(side, 0), 0, &number.to_le_bytes(), false)),
    ("credit that goes back", 1, |side, number| {
        packet(&[Frame::Credit { id: StreamId::new(own(side, 0)), limit: u64::MAX - number }])
    }),
    ("streams of the wrong side", 0, |side, number| data(own(other(side), number), 0, b"x", false)),
    ("a varint that is too long", 0, |_, _| [&[0; 4][..], &[3], &[0xFF; 20]].concat()),
    ("a packet of nothing but pings", 0, |_, _| packet(&vec![Frame::Ping; 256])),
    ("a flood of opens of a port here", 100, |side, number| {
        let target = Target::Tcp { host: "localhost".to_owned(), port: 22 };
        data(own(side, number), 0, &target.encode(), false)
    }),
    ("answers with escape sequences to streams that were not opened", 100, |side, number| {
        data(own(side, number), 0, b"\x1b]0;title\x07\x1b[2J", true)
    }),
    ("no time and no frame", 0, |_, number| vec![0; usize::try_from(number % 4).expect("below 4")]),
];

/// Types 20 keys. Returns the longest time from a key to its echo at the client.
fn slowest<L: End, R: End>(
    net: &mut Net<L, R>,
    type_key: impl Fn(&mut Net<L, R>),
    shown: impl Fn(&L, &R) -> usize,
) -> Duration {
    let mut slowest = Duration::ZERO;
    for number in 1..=20 {
        net.run_for(Duration::from_millis(137));
        let begin = net.now();
        type_key(net);
        assert!(net.run_until(Duration::from_secs(60), |left, right| shown(left, right) == number));
        slowest = slowest.max(net.now().saturating_since(begin));
    }
    slowest
}

fn ends(seed: Seed) -> (ClientEnd<()>, ServerEnd<Echo>) {
    let client =
        ClientEnd::new(client_config(with_streams(Config::client()), seed), (), Instant::ZERO);
    let server = ServerEnd::new(
        server_config(with_streams(Config::server()), seed),
        Echo(b""),
        Instant::ZERO,
    );
    (client, server)
}

fn shown(client: &ClientEnd<()>) -> usize {
    client.client.screen().row_text(0).matches('k').count()
}

fn attacker<E>(end: E, side: Side, attack: Attack) -> Attacker<E> {
    Attacker { end, side, attack, number: 0, next_at: Instant::ZERO, left: 0, is_agreed: false }
}

#[test]
fn keys_are_answered_in_time_whatever_a_hostile_server_sends_as_streams() {
    for (name, opens, attack) in ATTACKS {
        let seed = Seed::new(3);
        let (client, server) = ends(seed);
        let streams = Streams::new(Side::Client, Instant::ZERO);
        let left = Beside::new(client, Honest::default(), streams);
        let wire = LinkConfig::lossless(RTT / 2);
        let mut net =
            Net::new(left, attacker(server, Side::Server, attack), wire.clone(), wire, seed);
        net.run_for(Duration::from_secs(1));
        let took = slowest(
            &mut net,
            |net| {
                let now = net.now();
                net.left.end.client.handle_input(now, b"k");
            },
            |left, _| shown(&left.end),
        );
        println!("{name}, by the server: a key is answered after at most {took:?}");
        assert!(took <= ANSWERED_WITHIN, "{name}: {took:?}");
        assert!(net.right.number > 10_000, "{name}: {} packets", net.right.number);
        assert!(net.left.owner.accepted >= opens, "{name}: {}", net.left.owner.accepted);
        assert!(net.left.streams.mux.held() <= 20 * 1024 * 1024, "{name}");
        assert!(net.left.end.client.outcome().is_none(), "{name}: the session goes on");
        assert!(!net.left.end.terminal.screen().row_text(0).contains("title"));
    }
}

#[test]
fn keys_are_answered_in_time_whatever_a_hostile_client_sends_as_streams() {
    for (name, opens, attack) in ATTACKS {
        let seed = Seed::new(4);
        let (client, server) = ends(seed);
        let streams = Streams::new(Side::Server, Instant::ZERO);
        let right = Beside::new(server, Honest::default(), streams);
        let wire = LinkConfig::lossless(RTT / 2);
        let mut net =
            Net::new(attacker(client, Side::Client, attack), right, wire.clone(), wire, seed);
        net.run_for(Duration::from_secs(1));
        let took = slowest(
            &mut net,
            |net| {
                let now = net.now();
                net.left.end.client.handle_input(now, b"k");
            },
            |left, _| shown(&left.end),
        );
        println!("{name}, by the client: a key is answered after at most {took:?}");
        assert!(took <= ANSWERED_WITHIN, "{name}: {took:?}");
        assert!(net.right.owner.accepted >= opens, "{name}: {}", net.right.owner.accepted);
        assert!(net.right.streams.mux.held() <= 20 * 1024 * 1024, "{name}");
    }
}

/// Bytes of the copy that runs beside unread streams.
const COPY: u64 = 3_000_000;

/// Opens streams that nobody reads, and fills them. Later opens a copy in the last allowed stream, and reads only that.
#[derive(Default)]
struct Crowd {
    /// The number of streams to fill before the copy begins.
    unread: usize,
    opened: usize,
    copies: bool,
    copy: Option<StreamId>,
    written: u64,
    read: u64,
}

impl Crowd {
    fn fill(&mut self, mux: &mut Mux, id: StreamId) {
        while Some(id) == self.copy && self.written < COPY {
            let len = usize::try_from(COPY - self.written).expect("some megabytes").min(65_536);
            match mux.write(id, &vec![7; len]) {
                Ok(0) | Err(_) => return,
                Ok(count) => self.written += count as u64,
            }
        }
        if Some(id) != self.copy {
            let _ = mux.write(id, &[7; 65_536]);
        }
    }
}

impl Owner for Crowd {
    fn turn(&mut self, now: Instant, mux: &mut Mux) {
        while self.opened < self.unread {
            let id = mux.open(now).expect("so many may be open");
            self.opened += 1;
            self.fill(mux, id);
        }
        if self.copies && self.copy.is_none() {
            let id = mux.open(now).expect("one more may be open");
            self.copy = Some(id);
            self.fill(mux, id);
        }
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Writable(id) => self.fill(mux, id),
                Event::Incoming => while mux.accept().is_some() {},
                // These are the streams for the copy. The streams that the client opened first are never read.
                Event::Readable(id) if id.get() / 2 > self.unread as u64 => {
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

/// Returns the time of a copy beside `unread` unread streams, and the longest time of a key beside both.
fn beside(unread: usize) -> (Duration, Duration) {
    let seed = Seed::new(6);
    let (client, server) = ends(seed);
    let crowd = || Crowd { unread, ..Crowd::default() };
    let left = Beside::new(client, crowd(), Streams::new(Side::Client, Instant::ZERO));
    let reader = Crowd { opened: unread, ..crowd() };
    let right = Beside::new(server, reader, Streams::new(Side::Server, Instant::ZERO));
    let link = LinkConfig {
        delay: RTT,
        rate: BitRate::from_bits_per_second(10_000_000),
        queue_max: Bytes::kib(125),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    };
    let mut net = Net::new(left, right, link.clone(), link, seed);
    net.run_for(Duration::from_secs(60));
    net.left.owner.copies = true;
    let begin = net.now();
    assert!(net.run_until(Duration::from_secs(60), |_, right| right.owner.read == COPY));
    let copied = net.now().saturating_since(begin);
    // Another copy begins, so that the keys share the path with a copy.
    net.left.owner.written = 0;
    let again = net.left.owner.copy.expect("it was opened");
    net.left.owner.fill(&mut net.left.streams.mux, again);
    let key = slowest(
        &mut net,
        |net| {
            let now = net.now();
            net.left.end.client.handle_input(now, b"k");
        },
        |left, _| shown(&left.end),
    );
    (copied, key)
}

#[test]
fn a_copy_and_keys_keep_their_speed_beside_255_streams_that_nobody_reads() {
    let alone = beside(0);
    let crowded = beside(255);
    println!("beside 255 unread streams a copy of 3 MB takes {:?}, alone {:?}", crowded.0, alone.0);
    println!(
        "the slowest of 20 keys beside both takes {:?}, without the 255 streams {:?}",
        crowded.1, alone.1
    );
    assert!(crowded.0 <= alone.0.mul_f64(1.05), "{crowded:?} {alone:?}");
    assert!(crowded.1 <= alone.1 + Duration::from_millis(10), "{crowded:?} {alone:?}");
}
