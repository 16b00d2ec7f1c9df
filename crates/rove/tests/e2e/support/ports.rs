//! Ports of this computer that stay what a test needs them to be: closed, or free until a program listens there.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use socket2::{Domain, Socket, Type};

/// Ports below those that Linux gives out. Source: ip_local_port_range in the kernel's documentation, ip-sysctl.
const PORTS: Range<u16> = 20_000..30_000;

/// A TCP port that refuses every connection. Nobody else gets it while this is held.
pub(crate) struct ClosedPort {
    pub(crate) number: u16,
    /// Bound, and never listening.
    _socket: Socket,
}

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("the system has sockets");
        socket
            .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
            .expect("loopback has free ports");
        let address = socket.local_addr().expect("a bound socket has an address").as_socket();
        Self { number: address.expect("it is one of IPv4").port(), _socket: socket }
    }
}

/// Returns a free port, of TCP and of UDP, that the system gives to nobody who asks for any: it is still free seconds later.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Tests of another process, which may run at the same time, look elsewhere.
    let first = std::process::id().wrapping_mul(97) % u32::from(PORTS.end - PORTS.start);
    let first = u16::try_from(first).expect("a remainder");
    loop {
        let number = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + number % (PORTS.end - PORTS.start);
        let any =
            [SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)), (Ipv6Addr::UNSPECIFIED, port).into()];
        if any.iter().all(|it| TcpListener::bind(it).is_ok() && UdpSocket::bind(it).is_ok()) {
            return port;
        }
    }
}

#[test]
fn a_closed_port_refuses_and_a_free_one_can_be_had() {
    let closed = ClosedPort::new();
    let refused = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, closed.number));
    assert_eq!(refused.expect_err("nobody listens").kind(), std::io::ErrorKind::ConnectionRefused);
    let port = free_port();
    assert_ne!(port, free_port());
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("it is free");
}
