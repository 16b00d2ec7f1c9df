//! Ports and sockets of this computer that stay what a test needs them to be.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, getsockname, socket, sockopt};

/// Ports below those that Linux chooses by itself. Source: ip_local_port_range in the kernel's ip-sysctl document.
const PORTS: Range<u16> = 20_000..30_000;

/// A TCP port of the loopback that refuses every connection. Nobody else gets it while this is held.
#[derive(Debug)]
pub struct ClosedPort {
    /// The port.
    pub number: u16,
    /// The socket that keeps the port. It is bound, but never listens.
    _socket: OwnedFd,
}

impl ClosedPort {
    /// Holds a port that is free now.
    ///
    /// # Panics
    ///
    /// Panics if the system has no free port: callers are tests.
    #[expect(clippy::new_without_default, reason = "a port is no default")]
    pub fn new() -> Self {
        let socket = bound((Ipv4Addr::LOCALHOST, 0).into()).expect("there are free ports");
        let address = SocketAddr::try_from(getsockname(&socket).expect("it is bound"));
        Self { number: address.expect("it is one of IPv4").port(), _socket: socket }
    }
}

/// Returns a port, free for TCP and UDP, that the system never chooses by itself: it is still free seconds later.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test processes that run at the same time begin their search at other ports.
    let first = std::process::id().wrapping_mul(97) % u32::from(PORTS.end - PORTS.start);
    let first = u16::try_from(first).expect("a remainder");
    loop {
        let number = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + number % (PORTS.end - PORTS.start);
        let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        let v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        let is_free = |it| bound(it).is_ok() && UdpSocket::bind(it).is_ok();
        // If this computer lacks IPv6, the port need not be free there.
        if is_free(v4) && (is_free(v6) || UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_err()) {
            return port;
        }
    }
}

/// Returns a TCP socket bound to the address. It does not listen: a child that another test has just forked may hold it
/// for a moment, and would seem to listen at the port.
fn bound(address: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family, SocketType::STREAM, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// Leaves a dead socket at this path, as a killed process does. It never listened: otherwise a child that another test
/// has just forked could hold a listener for a moment.
///
/// # Panics
///
/// Panics if the folder does not take a socket.
pub fn leave_dead_socket(path: &Path) {
    let socket =
        socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("the system has sockets");
    let address = SocketAddrUnix::new(path).expect("the path is short");
    bind(&socket, &address).expect("the folder takes sockets");
    debug_assert!(fs::symlink_metadata(path).is_ok(), "it stays when it is closed");
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_closed_port_and_a_dead_socket_refuse_and_a_free_port_can_be_had() {
        let closed = ClosedPort::new();
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, closed.number));
        assert_eq!(refused.expect_err("nobody listens").kind(), ErrorKind::ConnectionRefused);
        let (scratch, port) = (Scratch::new(), free_port());
        assert_ne!(port, free_port());
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("it is free");
        leave_dead_socket(&scratch.path("dead"));
        let refused = UnixStream::connect(scratch.path("dead"));
        assert_eq!(refused.expect_err("nobody listens").kind(), ErrorKind::ConnectionRefused);
    }
}
