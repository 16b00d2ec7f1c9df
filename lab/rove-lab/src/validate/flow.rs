//! Datagrams sent at given times, and when each of them arrived.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;

use anyhow::{Context, Result, anyhow};
use rove_net::namespace::hurry;
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};
use rustix::event::{Timespec, poll};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;

/// The port at both ends.
const PORT: u16 = 7_000;
/// How long to wait for datagrams after the last has come. Chosen: longer than any queue here takes.
const PATIENCE: Duration = Duration::from_secs(1);
/// The receiver's buffer for datagrams that it has not read yet, in bytes.
const SOCKET_BUFFER: usize = 32 << 20;

/// When datagrams are sent, and how large they are.
pub(super) struct Script {
    bursts: usize,
    interval: Duration,
    /// How many datagrams are sent at a time.
    burst: usize,
    size: usize,
}

/// The passage of each datagram, in the order of sending.
pub(super) type Flow = Vec<Passage>;

/// When a datagram was sent, and when it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) sent: Instant,
    pub(super) arrived: Option<Instant>,
    /// The size of the payload in bytes.
    pub(super) size: usize,
}

impl Passage {
    pub(super) fn delay(&self) -> Option<Duration> {
        self.arrived.map(|arrived| arrived.saturating_since(self.sent))
    }
}

/// Returns the time between the first and the last sent datagram.
pub(super) fn duration(flow: &[Passage]) -> Duration {
    let ends = flow.first().zip(flow.last());
    ends.map_or(Duration::ZERO, |(first, last)| last.sent.saturating_since(first.sent))
}

impl Script {
    /// Returns a script of `count` single datagrams, one after each `interval`.
    pub(super) const fn paced(count: usize, interval: Duration, size: usize) -> Self {
        Self { bursts: count, interval, burst: 1, size }
    }

    /// Returns a script of `bursts` bursts, one after each `interval`, of `burst` datagrams each.
    pub(super) const fn bursts(
        bursts: usize,
        interval: Duration,
        burst: usize,
        size: usize,
    ) -> Self {
        Self { bursts, interval, burst, size }
    }

    /// Sends the datagrams from `near` to `far` and waits for the last.
    ///
    /// # Errors
    ///
    /// Returns an error if a socket fails.
    pub(super) fn send(&self, near: &UdpSocket, far: &UdpSocket, clock: Clock) -> Result<Flow> {
        near.connect(far.local_addr()?).context("cannot reach the far side")?;
        far.set_read_timeout(Some(PATIENCE + self.interval))?;
        thread::scope(|scope| {
            let receiver = scope.spawn(|| receive(far, clock, self.bursts * self.burst));
            let sender = scope.spawn(|| self.send_all(near, clock));
            let sent = sender.join().map_err(|_| anyhow!("the sender has failed"))??;
            let arrived = receiver.join().map_err(|_| anyhow!("the receiver has failed"))??;
            let passages = sent.into_iter().zip(arrived);
            let size = self.size;
            Ok(passages.map(|(sent, arrived)| Passage { sent, arrived, size }).collect())
        })
    }

    fn send_all(&self, socket: &UdpSocket, clock: Clock) -> Result<Vec<Instant>> {
        hurry();
        let mut sent = Vec::with_capacity(self.bursts * self.burst);
        let mut datagram = vec![0; self.size];
        let mut due = clock.now() + self.interval;
        for _ in 0..self.bursts {
            wait_until(due, clock)?;
            due += self.interval;
            for _ in 0..self.burst {
                let number = u64::try_from(sent.len())?.to_le_bytes();
                datagram[..8].copy_from_slice(&number);
                sent.push(clock.now());
                socket.send(&datagram).context("cannot send a datagram")?;
            }
        }
        Ok(sent)
    }
}

/// Opens the socket of an end in the namespace of this thread.
///
/// # Errors
///
/// Returns the I/O error if the socket cannot be opened.
pub(super) fn socket(address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((address, PORT))?;
    // Without the right to a larger buffer, datagrams that do not fit count as lost, and the check says so.
    let _ = set_socket_recv_buffer_size_force(&socket, SOCKET_BUFFER);
    Ok(socket)
}

fn receive(socket: &UdpSocket, clock: Clock, count: usize) -> Result<Vec<Option<Instant>>> {
    hurry();
    let mut arrived = vec![None; count];
    let mut datagram = [0; 2_048];
    let mut left = count;
    while left > 0 {
        match socket.recv(&mut datagram) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => return Err(error).context("cannot receive a datagram"),
        }
        let now = clock.now();
        let number = u64::from_le_bytes(datagram[..8].try_into().expect("eight bytes"));
        if let Some(place) = arrived.get_mut(usize::try_from(number)?) {
            left -= usize::from(place.is_none());
            place.get_or_insert(now);
        }
    }
    Ok(arrived)
}

/// Sleeps until an instant.
///
/// # Errors
///
/// Returns the I/O error if the sleep fails.
pub(super) fn wait_until(due: Instant, clock: Clock) -> io::Result<()> {
    loop {
        let left = due.saturating_since(clock.now());
        if left.is_zero() {
            return Ok(());
        }
        let timeout = Timespec::try_from(left).map_err(|_| ErrorKind::InvalidInput)?;
        match poll(&mut [], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
