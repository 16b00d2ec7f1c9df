//! Sockets of ends in real time, and the loop that moves their datagrams.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use rove_link::net::End;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_units::{Duration, Instant};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Most datagrams read from a socket in a row. Chosen: as many as arrive in 20 ms, Sprout's tick, at 40 Mbit/s.
pub(crate) const BATCH: usize = 64;

pub(crate) const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Longest wait until the loop checks whether a signal came.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Returns no descriptors, for an end that reads only its socket.
pub const fn alone<E>(_: &E) -> Vec<BorrowedFd<'_>> {
    Vec::new()
}

/// Moves datagrams between an end and its socket until the time `end`, until a signal comes, or until `is_over` returns
/// true. `is_over` is asked after each wait. The wait also ends if a descriptor of `watched` has something to read.
///
/// # Errors
///
/// Returns an error if the wait for the socket fails, or `is_over` returns one.
pub fn pump<E: End>(
    flow: &mut E,
    socket: &UdpSocket,
    clock: Clock,
    end: Instant,
    signals: &[i32],
    watched: impl Fn(&E) -> Vec<BorrowedFd<'_>>,
    mut is_over: impl FnMut(&E, Instant) -> Result<bool>,
) -> Result<()> {
    let mut event_loop = EventLoop::new(clock, signals).context("cannot wait for sockets")?;
    let mut buffer = [0; DATAGRAM_LEN_MAX];
    while event_loop.now() < end {
        for _ in 0..BATCH {
            let Ok((len, source)) = socket.recv_from(&mut buffer) else { break };
            flow.handle_datagram(clock.now(), source, &buffer[..len]);
        }
        let now = clock.now();
        flow.handle_timeout(now);
        while let Some((peer, datagram)) = flow.poll_transmit(now) {
            // A failed send counts as a datagram that the network lost.
            let _ = socket.send_to(&datagram, peer);
        }
        if is_over(flow, now)? || !event_loop.take_signals().is_empty() {
            return Ok(());
        }
        let soon = (now + LOOK_EVERY).min(end);
        let deadline = flow.poll_timeout().map_or(soon, |due| due.min(soon));
        let others = watched(flow);
        let read = |it| Interest::new(it, true, false);
        let mut interests: Vec<_> = [socket.as_fd()].into_iter().chain(others).map(read).collect();
        event_loop.wait(&mut interests, Some(deadline)).context("cannot wait for sockets")?;
    }
    Ok(())
}

/// Returns a UDP socket at this address that never blocks.
pub(crate) fn bound(address: SocketAddr) -> Result<UdpSocket> {
    let bind = || -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    bind().with_context(|| format!("cannot have the UDP address {address}; name another one"))
}

/// Returns the address of a socket.
pub(crate) fn own_address(socket: &UdpSocket) -> Result<SocketAddr> {
    socket.local_addr().context("cannot tell the server's address")
}

/// Returns the unspecified address of the peer's address family, with any port.
pub(crate) fn any(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}
