//! An attacker that sends datagrams to a session's server at a steady rate.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use rove_rig::clock;
use rove_units::{Duration, Seed};
use rustix::event::{Timespec, poll};

use super::overhear::Overheard;

/// How long the attacker sleeps when no datagram is due. Chosen: the shortest sleep of a thread, which is twenty
/// datagrams at the highest rate.
const NAP: Duration = Duration::from_micros(200);
/// Most datagrams that a late attacker sends at once. Chosen: as many as are due in 10 ms at the highest rate. It drops
/// the others, so that the reported rate is lower.
const BURST_MAX: u64 = 1_000;
/// Number of different datagrams of each kind that the attacker makes up.
const VARIETY: u64 = 256;

/// A kind of datagram that the attacker sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Noise as long as a key's datagram, with sequence numbers that the client has not used yet.
    Forged,
    /// The same noise in datagrams of the greatest length.
    ForgedLong,
    /// A copy of a datagram of the client.
    Replayed,
    /// A copy of a datagram of the server.
    Reflected,
    /// A datagram that is a byte shorter than every valid datagram.
    Truncated,
    /// A datagram that is a byte longer than every valid datagram.
    Oversize,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::Forged,
        Self::ForgedLong,
        Self::Replayed,
        Self::Reflected,
        Self::Truncated,
        Self::Oversize,
    ];

    /// Returns the kind's name in the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Forged => "forged, 80 B",
            Self::ForgedLong => "forged, 1252 B",
            Self::Replayed => "replayed",
            Self::Reflected => "reflected",
            Self::Truncated => "truncated, 23 B",
            Self::Oversize => "oversize, 2049 B",
        }
    }

    /// Returns the payloads that the attacker sends, one after the other and again from the first.
    pub(super) fn payloads(self, overheard: &Overheard) -> Vec<Vec<u8>> {
        match self {
            Self::Forged => made_up(80),
            Self::ForgedLong => made_up(1_252),
            Self::Replayed => overheard.up(),
            Self::Reflected => overheard.down(),
            Self::Truncated => made_up(23),
            Self::Oversize => made_up(2_049),
        }
    }
}

/// Returns noise for a server, with sequence numbers that come after those of a young session.
fn made_up(len: usize) -> Vec<Vec<u8>> {
    let chance = Seed::new(1).stream("attack");
    let datagram = |number: u64| {
        let nonce = (10_000 + number).to_be_bytes();
        let noise = (0..).flat_map(|at| chance.at(number << 16 | at).bits().to_be_bytes());
        nonce.into_iter().chain(noise).take(len).collect()
    };
    (0..VARIETY).map(datagram).collect()
}

/// A thread that sends datagrams until it is stopped.
#[derive(Debug)]
pub(super) struct Attacker {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Attacker {
    /// Starts a thread that sends `rate` datagrams per second.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no socket.
    pub(super) fn start(server: SocketAddr, payloads: Vec<Vec<u8>>, rate: u32) -> Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(server)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = thread::spawn(move || flood(&socket, &payloads, rate, &until));
        Ok(Self { is_over, thread })
    }

    /// Stops the thread. Returns how many datagrams it has sent.
    pub(super) fn stop(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        let sent = self.thread.join().expect("the attacker does not panic");
        #[expect(clippy::cast_precision_loss, reason = "some millions")]
        let sent = sent as f64;
        sent
    }
}

fn flood(socket: &UdpSocket, payloads: &[Vec<u8>], rate: u32, is_over: &AtomicBool) -> u64 {
    let start = clock::now();
    let nap = Timespec::try_from(NAP).expect("a short time");
    let mut payloads = payloads.iter().cycle();
    let (mut sent, mut left_out) = (0, 0);
    while !is_over.load(Ordering::Relaxed) {
        let elapsed = clock::now().saturating_since(start).as_micros();
        let elapsed = u64::try_from(elapsed).expect("some seconds");
        let due = elapsed * u64::from(rate) / 1_000_000 - sent - left_out;
        left_out += due.saturating_sub(BURST_MAX);
        for _ in 0..due.min(BURST_MAX) {
            let is_sent = payloads.next().is_some_and(|payload| socket.send(payload).is_ok());
            // A datagram that the system refuses does not count as sent.
            *if is_sent { &mut sent } else { &mut left_out } += 1;
        }
        let _ = poll(&mut [], Some(&nap));
    }
    sent
}
