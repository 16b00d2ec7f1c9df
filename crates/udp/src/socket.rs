//! UDP sockets: the server's bound one, the client's hopping ones, and what both have in common.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use rove_ssp::Transmit;
use rustix::io::Errno;
use socket2::{Domain, Socket, Type};

use crate::sys::{Received, discard_path_errors, keep_whole};

/// Most datagrams taken from one socket in one turn, so that a flood starves neither keys nor the
/// pty.
/// Chosen: at 1.2 kB each, more than a screen's worth of fragments.
pub const DATAGRAMS_PER_TURN: usize = 32;
/// Most local ports a client keeps open. Source: Mosh 1.4.0 as observed, docs/wire.md.
const CLIENT_PORTS_MAX: usize = 10;
/// DSCP 0 and ECT(0): congested routers may mark our datagrams where they would drop others' (RFC
/// 3168). For IPv4 only, as stock peers read the mark from no other header.
/// Source: Mosh 1.4.0 as observed, docs/wire.md.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
const TYPE_OF_SERVICE: u8 = 0x02;

/// Most bytes of datagrams that wait in a socket for their turn. The system counts what it needs to hold them, too:
/// some 770 bytes for a small one and 2300 for a full one. Its own choice, 208 KiB, is full after 2.7 ms of a flood
/// of 100 000 datagrams a second, and then what the peer sends is lost with the rest. No process is sure to
/// run that soon. Chosen: 50 ms of such a flood, docs/bench.md, "Attacks".
const RECEIVE_BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The UDP ports a server may bind, tried in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first port tried; 0, with `high` 0 too, lets the system choose.
    pub low: u16,
    /// The last port tried.
    pub high: u16,
}

impl Default for PortRange {
    /// Returns 60001 to 60999, which packaged firewall profiles for Mosh open.
    /// Source: Mosh 1.4.0 as observed, docs/wire.md.
    fn default() -> Self {
        Self { low: 60_001, high: 60_999 }
    }
}

/// Why a datagram has not been sent. The session goes on: what is lost is sent again.
#[derive(Debug, thiserror::Error)]
pub enum SendFailure {
    /// It is larger than the path takes.
    #[error("the datagram is larger than the path takes")]
    TooLong,
    /// Something else, worth telling the user.
    #[error("sending failed: {0}")]
    Other(io::Error),
}

/// An error that the network reported for a datagram of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody listens at that port (ICMP port unreachable).
    Port,
    /// No way to the host, or a firewall that says so (ICMP host unreachable or prohibited).
    Host,
    /// No way to its network.
    Network,
    /// This computer does not let them out.
    Here,
    /// Something else.
    Other(String),
}

impl Refusal {
    /// Returns what an error of a datagram socket says of the path.
    pub fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::CONNREFUSED) => Self::Port,
            Some(Errno::HOSTUNREACH) => Self::Host,
            Some(Errno::NETUNREACH) => Self::Network,
            Some(Errno::PERM | Errno::ACCESS) => Self::Here,
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Sends a datagram. If the system's buffer is full, the datagram counts as sent and is lost, as it would be in any
/// other queue on its way.
///
/// # Errors
///
/// Returns [`SendFailure`] when the system refuses the datagram.
pub fn send(socket: &UdpSocket, transmit: &Transmit) -> Result<(), SendFailure> {
    let attempt = || socket.send_to(&transmit.payload, transmit.destination).map(drop);
    send_by(socket, transmit.tries_size, attempt)
}

fn send_by(
    socket: &UdpSocket,
    tries_size: bool,
    attempt: impl Fn() -> io::Result<()>,
) -> Result<(), SendFailure> {
    if tries_size && let Err(error) = keep_whole(socket, true) {
        // In pieces it would say nothing about the path.
        tracing::debug!(%error, "no size is tried");
        return Ok(());
    }
    let result = attempt().or_else(|error| {
        // It may be about a datagram sent earlier; then this one has not been tried yet.
        if is_about_the_path(&error) {
            discard_path_errors(socket);
            return attempt();
        }
        Err(error)
    });
    if tries_size && let Err(error) = keep_whole(socket, false) {
        tracing::debug!(%error, "routers cannot cut up what is too large for them");
    }
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::MSGSIZE) => {
            Err(SendFailure::TooLong)
        }
        Err(error) => Err(SendFailure::Other(error)),
    }
}

/// Returns whether an error is what a router or the far end said (ICMP), or what the system would
/// say without a route.
fn is_about_the_path(error: &io::Error) -> bool {
    let is_for_size = Errno::from_io_error(error) == Some(Errno::MSGSIZE);
    is_for_size
        || matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
        )
}

/// Reads the datagrams that wait on `socket`, at most [`DATAGRAMS_PER_TURN`], and hands each to `handle`.
///
/// # Errors
///
/// Returns the error that is there in place of a datagram.
pub fn receive_waiting(socket: &UdpSocket, handle: impl FnMut(Received, &[u8])) -> io::Result<()> {
    match crate::sys::receive::<DATAGRAMS_PER_TURN>(socket.as_fd(), handle) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            // Woken for nothing: a send has had the error already, and reports without one are left. Every
            // later wait would end at once for them.
            discard_path_errors(socket);
            Ok(())
        }
        Err(error) if error.kind() != io::ErrorKind::Interrupted => {
            discard_path_errors(socket);
            Err(error)
        }
        _ => Ok(()),
    }
}

/// The same, one after the other, until `handle` returns that it has enough: the others wait for the next turn.
///
/// # Errors
///
/// As [`receive_waiting`].
pub fn receive_while(
    socket: &UdpSocket,
    mut handle: impl FnMut(Received, &[u8]) -> bool,
) -> io::Result<()> {
    for turn in 0..DATAGRAMS_PER_TURN {
        let mut goes_on = true;
        match crate::sys::receive::<1>(socket.as_fd(), |received, payload| {
            goes_on = handle(received, payload);
        }) {
            Ok(_) if goes_on => {}
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if turn == 0 {
                    discard_path_errors(socket);
                }
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                discard_path_errors(socket);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The server's socket.
#[derive(Debug)]
pub struct ServerSocket {
    socket: UdpSocket,
    address: SocketAddr,
}

impl ServerSocket {
    /// Binds the first free port of `ports` on `address`. The unspecified IPv6 address takes IPv4 datagrams as well.
    ///
    /// # Errors
    ///
    /// Returns the error met at the last port tried.
    pub fn bind(address: IpAddr, ports: PortRange) -> io::Result<Self> {
        let mut refusal = io::Error::from(io::ErrorKind::AddrInUse);
        for port in ports.low..=ports.high {
            match open(SocketAddr::new(address, port)) {
                Ok(socket) => {
                    let address = socket.local_addr()?;
                    #[cfg(target_os = "linux")]
                    if address.ip() == Ipv6Addr::UNSPECIFIED
                        && let Err(error) = crate::sys::report_local_addresses(socket.as_fd())
                    {
                        tracing::debug!(%error, "the system chooses the address of answers");
                    }
                    return Ok(Self { socket, address });
                }
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    /// Returns the address and the port bound.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Sends one datagram as [`send`] does, from the local address that is given, if one is. A client may
    /// hear no other than the one it has spoken to.
    ///
    /// # Errors
    ///
    /// Returns [`SendFailure`] when the system refuses the datagram.
    pub fn send_from(
        &self,
        transmit: &Transmit,
        local: Option<Ipv6Addr>,
    ) -> Result<(), SendFailure> {
        #[cfg(target_os = "linux")]
        if let (SocketAddr::V6(destination), Some(local)) = (transmit.destination, local) {
            let socket = self.socket.as_fd();
            let attempt = || crate::sys::send_from(socket, &transmit.payload, destination, local);
            match send_by(&self.socket, transmit.tries_size, attempt) {
                // This computer has lost that address.
                Err(SendFailure::Other(_)) => {}
                result => return result,
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = local;
        send(&self.socket, transmit)
    }

    /// Returns the socket itself.
    pub const fn get(&self) -> &UdpSocket {
        &self.socket
    }
}

/// The client's sockets: the newest sends, all receive, so that what was sent to an older port
/// still arrives.
#[derive(Debug)]
pub struct ClientSockets {
    /// Any address of the server's family, any port.
    local: SocketAddr,
    /// Oldest first, never empty.
    sockets: VecDeque<UdpSocket>,
}

impl ClientSockets {
    /// Opens the first port, of the family of `server`.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub fn open(server: SocketAddr) -> io::Result<Self> {
        let local = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        Ok(Self { local, sockets: VecDeque::from([open_client(local)?]) })
    }

    /// Opens a new port and sends from it from now on. Past `CLIENT_PORTS_MAX` the oldest one
    /// closes.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal; the ports stay as they were.
    pub fn open_port(&mut self) -> io::Result<()> {
        self.sockets.push_back(open_client(self.local)?);
        self.close_ports(CLIENT_PORTS_MAX);
        Ok(())
    }

    /// Closes the oldest ports down to `keep`; the newest one always stays.
    pub fn close_ports(&mut self, keep: usize) {
        while self.sockets.len() > keep.max(1) {
            self.sockets.pop_front();
        }
    }

    /// Returns all sockets, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &UdpSocket> {
        self.sockets.iter()
    }

    /// Returns the socket to send from.
    pub fn newest(&self) -> &UdpSocket {
        self.sockets.back().expect("one port is always open")
    }
}

/// Opens a client's socket: it also hears what routers and the far end say about its datagrams. A
/// server does not ask, as its clients come and go and anyone can claim that they are gone.
fn open_client(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = open(local)?;
    #[cfg(target_os = "linux")]
    if let Err(error) = crate::sys::report_path_errors(socket.as_fd(), local.is_ipv6()) {
        tracing::debug!(%error, "path errors stay unknown");
    }
    Ok(socket)
}

/// Opens a non-blocking socket with the options of the protocol, bound to `address`. The
/// port is nobody else's: with an option that shares it, the system would give the datagrams to whoever is bound to the
/// more specific address.
fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    if address.is_ipv6() {
        // Only the unspecified address can stand for both families.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    set_options(&socket, address.is_ipv6())?;
    widen_receive_buffer(&socket);
    Ok(socket.into())
}

/// Asks for a receive buffer that outlasts the time in which others run. The system gives an ordinary user as
/// much as it allows (`net.core.rmem_max` on Linux), and an administrator all of it.
fn widen_receive_buffer(socket: &Socket) {
    // Linux counts twice what it is asked for, as it holds more than payloads there.
    let wanted = RECEIVE_BUFFER_BYTES_MAX / 2;
    if socket.recv_buffer_size().is_ok_and(|bytes| bytes >= RECEIVE_BUFFER_BYTES_MAX) {
        return;
    }
    #[cfg(target_os = "linux")]
    if rustix::net::sockopt::set_socket_recv_buffer_size_force(socket, wanted).is_ok() {
        return;
    }
    if let Err(error) = socket.set_recv_buffer_size(wanted) {
        tracing::debug!(%error, "the receive buffer stays as it is");
    }
}

/// Asks for congestion marks, and for fragmentation where a datagram does not fit.
#[cfg(target_os = "linux")]
fn set_options(socket: &Socket, ipv6: bool) -> io::Result<()> {
    use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};

    // A datagram too large for some hop is fragmented there rather than dropped; those that try the path's size are not
    // (`sys::keep_whole`).
    sockopt::set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::DONT)?;
    if ipv6 {
        sockopt::set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::DONT)?;
        ignore(sockopt::set_ipv6_recvtclass(socket, true), "IPV6_RECVTCLASS");
    }
    // A dual-stack socket takes the IPv4 options too.
    ignore(sockopt::set_ip_tos(socket, TYPE_OF_SERVICE), "IP_TOS");
    ignore(sockopt::set_ip_recvtos(socket, true), "IP_RECVTOS");
    Ok(())
}

/// Asks for congestion marks; path MTU discovery is off for UDP where it cannot be chosen.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
fn set_options(socket: &Socket, ipv6: bool) -> io::Result<()> {
    use rustix::net::sockopt;

    if ipv6 {
        ignore(sockopt::set_ipv6_recvtclass(socket, true), "IPV6_RECVTCLASS");
    } else {
        ignore(sockopt::set_ip_tos(socket, TYPE_OF_SERVICE), "IP_TOS");
        ignore(sockopt::set_ip_recvtos(socket, true), "IP_RECVTOS");
    }
    Ok(())
}

/// Congestion marks are a help, not a need.
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
fn set_options(_socket: &Socket, _ipv6: bool) -> io::Result<()> {
    Ok(())
}

/// Notes that an option which is only a help could not be set.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
fn ignore(result: rustix::io::Result<()>, option: &'static str) {
    if let Err(error) = result {
        tracing::debug!(option, %error, "socket option not set");
    }
}

#[cfg(test)]
mod tests;
