//! UDP sockets: the server's bound socket, the client's sockets on changing ports, and what both have in common.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use rove_ssp::Transmit;
use rustix::io::Errno;
use socket2::{Domain, Socket, Type};

#[cfg(all(target_os = "linux", not(rove_portable)))]
use crate::datagram;
use crate::datagram::{discard_path_errors, keep_whole, receive};
use crate::received::{DATAGRAMS_PER_TURN, Received};

/// Most local ports that a client keeps open. Source: Mosh 1.4.0 as observed, docs/wire.md.
const CLIENT_PORTS_MAX: usize = 10;
/// DSCP 0 and ECT(0): congested routers may mark the session's datagrams instead of dropping them (RFC 3168). Set for
/// IPv4 only, because stock Mosh peers read no marks over IPv6. Source: Mosh 1.4.0 as observed, docs/wire.md.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
const TYPE_OF_SERVICE: u8 = 0x02;
/// Size of a socket's receive buffer, in bytes. The system also counts its own memory for each datagram: some 770 bytes
/// for a small datagram and 2300 for a full one. The default size, 208 KiB, is full after 2.7 ms of a flood of 100 000
/// datagrams a second. Then the peer's datagrams are lost with those of the flood. No process is sure to run in 2.7 ms.
/// Chosen: 50 ms of such a flood, docs/bench.md, "Attacks".
const RECEIVE_BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The UDP ports that a server may bind, tried in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first port that is tried. If `low` and `high` are 0, the system chooses a port.
    pub low: u16,
    /// The last port that is tried.
    pub high: u16,
}

impl Default for PortRange {
    /// Returns 60001 to 60999, which packaged firewall profiles for Mosh open.
    /// Source: Mosh 1.4.0 as observed, docs/wire.md.
    fn default() -> Self {
        Self { low: 60_001, high: 60_999 }
    }
}

/// The reason for which a datagram was not sent. The session continues, because lost data is sent again.
#[derive(Debug, thiserror::Error)]
pub enum SendFailure {
    /// The datagram is larger than the path's MTU.
    #[error("the datagram is larger than the path takes")]
    TooLong,
    /// The system refused the datagram for another reason, which the user should know.
    #[error("sending failed: {0}")]
    Other(io::Error),
}

/// An error that the network or the system reported for a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No program listens at the port (ICMP port unreachable).
    Port,
    /// There is no route to the host, or a firewall forbids the way (ICMP host unreachable or prohibited).
    Host,
    /// There is no route to the host's network.
    Network,
    /// A rule of this computer, such as a firewall, forbids sending to the host.
    Here,
    /// The text of another system error.
    Other(String),
}

impl Refusal {
    /// Returns the [`Refusal`] that a socket's error reports.
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            kind if is_refusal(kind) => Self::Port,
            io::ErrorKind::HostUnreachable => Self::Host,
            io::ErrorKind::NetworkUnreachable => Self::Network,
            io::ErrorKind::PermissionDenied => Self::Here,
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Sends a datagram. If a queue of this computer is full, the datagram counts as sent. It is lost, as in any other full
/// queue of the path.
///
/// # Errors
///
/// Returns [`SendFailure`] if the system refuses the datagram.
pub fn send(socket: &UdpSocket, transmit: &Transmit) -> Result<(), SendFailure> {
    let attempt = || socket.send_to(&transmit.payload, transmit.destination).map(drop);
    send_by(socket, transmit.tries_size, attempt)
}

/// Sends datagrams joined in one system call. The system cuts them apart as late as it can (UDP segmentation offload).
/// If this function returns false, no datagram was sent, and the caller must [`send`] each. All datagrams need the same
/// destination and the same length; the last may be shorter.
pub fn send_segments(socket: &UdpSocket, transmits: &[Transmit], local: Option<Ipv6Addr>) -> bool {
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    if let [first, .., last] = transmits
        && let Ok(len) = u16::try_from(first.payload.len())
        && transmits.iter().all(|it| it.destination == first.destination && !it.tries_size)
        && transmits.iter().rev().skip(1).all(|it| it.payload.len() == first.payload.len())
        && last.payload.len() <= first.payload.len()
    {
        let slices: Vec<_> = transmits.iter().map(|it| io::IoSlice::new(&it.payload)).collect();
        let local = local.filter(|_| first.destination.is_ipv6());
        return datagram::send_slices(socket, &slices, first.destination, local, Some(len)).is_ok();
    }
    #[cfg(any(rove_portable, not(target_os = "linux")))]
    let _ = (socket, transmits, local);
    false
}

fn send_by(
    socket: &UdpSocket,
    tries_size: bool,
    attempt: impl Fn() -> io::Result<()>,
) -> Result<(), SendFailure> {
    if tries_size && let Err(error) = keep_whole(socket, true) {
        // Without the don't-fragment bit, this probe would tell nothing about the path's MTU, so it is not sent.
        tracing::debug!(%error, "no size is tried");
        return Ok(());
    }
    let result = attempt().or_else(|error| {
        // The error may be about an earlier datagram. Then this datagram has not been sent yet.
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
        Err(error) if is_about_a_full_queue(&error) => Ok(()),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::MSGSIZE) => {
            Err(SendFailure::TooLong)
        }
        Err(error) => Err(SendFailure::Other(error)),
    }
}

/// Returns whether an error says that a queue of this computer is full, such as the network interface's (ENOBUFS).
fn is_about_a_full_queue(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || Errno::from_io_error(error) == Some(Errno::NOBUFS)
}

/// Returns whether an error comes from a router or from the other end (ICMP), or says that there is no route.
fn is_about_the_path(error: &io::Error) -> bool {
    let is_for_size = Errno::from_io_error(error) == Some(Errno::MSGSIZE);
    let is_for_lack_of_a_route =
        matches!(error.kind(), io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable);
    is_for_size || is_refusal(error.kind()) || is_for_lack_of_a_route
}

/// Returns whether an error says that nobody listens at the port. Windows reports this as a reset connection.
const fn is_refusal(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)
}

/// Reads the datagrams that wait on `socket`, and passes each to `handle`. Stops after [`DATAGRAMS_PER_TURN`]
/// datagrams, or some more if the system hands them over in batches.
///
/// # Errors
///
/// Returns the socket's error. All datagrams that were read before the error have been passed to `handle`.
pub fn receive_waiting(
    socket: &UdpSocket,
    mut handle: impl FnMut(Received, &[u8]),
) -> io::Result<()> {
    let mut taken = 0;
    while taken < DATAGRAMS_PER_TURN {
        match receive(socket, &mut handle) {
            Ok((count, has_more)) => {
                taken += count;
                if !has_more {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // The socket was readable without a datagram. A send may have returned an error whose report is still
                // queued. The report would end every later wait at once.
                if taken == 0 {
                    discard_path_errors(socket);
                }
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => break,
            Err(error) => {
                discard_path_errors(socket);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The UDP socket of a server, bound to one port.
#[derive(Debug)]
pub struct ServerSocket {
    socket: UdpSocket,
    address: SocketAddr,
}

impl ServerSocket {
    /// Binds the first free port of `ports` on `address`. The unspecified IPv6 address also receives IPv4 datagrams.
    ///
    /// # Errors
    ///
    /// Returns the error of the last port that was tried.
    pub fn bind(address: IpAddr, ports: PortRange) -> io::Result<Self> {
        let mut refusal = io::Error::from(io::ErrorKind::AddrInUse);
        for port in ports.low..=ports.high {
            match open(SocketAddr::new(address, port)) {
                Ok(socket) => {
                    let address = socket.local_addr()?;
                    #[cfg(all(target_os = "linux", not(rove_portable)))]
                    if address.ip() == Ipv6Addr::UNSPECIFIED
                        && let Err(error) = datagram::report_local_addresses(&socket)
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

    /// Returns the address and port to which the socket is bound.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Sends a datagram as [`send`] does. On Linux an IPv6 socket sends from `local`, if this address is given and this
    /// computer still has it. A client may accept datagrams only from the address that it has sent to.
    ///
    /// # Errors
    ///
    /// Returns [`SendFailure`] if the system refuses the datagram.
    pub fn send_from(
        &self,
        transmit: &Transmit,
        local: Option<Ipv6Addr>,
    ) -> Result<(), SendFailure> {
        #[cfg(all(target_os = "linux", not(rove_portable)))]
        if let (SocketAddr::V6(destination), Some(local)) = (transmit.destination, local) {
            let attempt =
                || datagram::send_from(&self.socket, &transmit.payload, destination, local);
            match send_by(&self.socket, transmit.tries_size, attempt) {
                // This computer may have lost the address `local`, so below, the system chooses another.
                Err(SendFailure::Other(_)) => {}
                result => return result,
            }
        }
        #[cfg(any(rove_portable, not(target_os = "linux")))]
        let _ = local;
        send(&self.socket, transmit)
    }

    /// Returns the underlying socket.
    pub const fn get(&self) -> &UdpSocket {
        &self.socket
    }
}

/// The sockets of a client, each on its own port. The newest socket sends and all sockets receive, so that datagrams to
/// an older port still arrive.
#[derive(Debug)]
pub struct ClientSockets {
    /// The address to bind: any address of the server's family, and port 0 for any port.
    local: SocketAddr,
    /// The sockets, oldest first. There is always at least one.
    sockets: VecDeque<UdpSocket>,
}

impl ClientSockets {
    /// Opens the first port, in the address family of `server`.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn open(server: SocketAddr) -> io::Result<Self> {
        let local = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        Ok(Self { local, sockets: VecDeque::from([open_client(local)?]) })
    }

    /// Opens a new port, from which the client then sends. Beyond `CLIENT_PORTS_MAX` ports the oldest is closed.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call. The ports then stay as they are.
    pub fn open_port(&mut self) -> io::Result<()> {
        self.sockets.push_back(open_client(self.local)?);
        self.close_ports(CLIENT_PORTS_MAX);
        Ok(())
    }

    /// Closes the oldest ports until `keep` are left. The newest port always stays open.
    pub fn close_ports(&mut self, keep: usize) {
        while self.sockets.len() > keep.max(1) {
            self.sockets.pop_front();
        }
    }

    /// Returns all sockets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &UdpSocket> {
        self.sockets.iter()
    }

    /// Returns the socket to send from, which is the newest.
    pub fn newest(&self) -> &UdpSocket {
        self.sockets.back().expect("one port is always open")
    }
}

/// Opens a client's socket, which also reports errors from routers and from the other end. A server's socket reports no
/// such errors, because clients come and go, and anyone can forge such a report.
fn open_client(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = open(local)?;
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    if let Err(error) = datagram::report_path_errors(&socket, local.is_ipv6()) {
        tracing::debug!(%error, "path errors stay unknown");
    }
    Ok(socket)
}

/// Opens a non-blocking socket with the options that the protocol needs, bound to `address`. The port is not shared.
/// Otherwise another process could bind a more specific address, and would get the datagrams to it.
fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    if address.is_ipv6() {
        // Only the unspecified address can serve both address families.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    set_options(&socket, address.is_ipv6())?;
    widen_receive_buffer(&socket);
    let socket = socket.into();
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    if let Err(error) = datagram::take_batches(&socket) {
        tracing::debug!(%error, "each datagram comes alone");
    }
    Ok(socket)
}

/// Asks for a receive buffer that holds the datagrams of a flood while other processes run. Linux limits its size for
/// an ordinary user (`net.core.rmem_max`), but not for root.
fn widen_receive_buffer(socket: &Socket) {
    // Linux doubles the size it is asked for, because it also counts its own memory.
    let wanted = RECEIVE_BUFFER_BYTES_MAX / 2;
    if socket.recv_buffer_size().is_ok_and(|bytes| bytes >= RECEIVE_BUFFER_BYTES_MAX) {
        return;
    }
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    if rustix::net::sockopt::set_socket_recv_buffer_size_force(socket, wanted).is_ok() {
        return;
    }
    if let Err(error) = socket.set_recv_buffer_size(wanted) {
        tracing::debug!(%error, "the receive buffer stays as it is");
    }
}

/// Sets the ECN mark of IPv4, asks for marks of both families, and lets routers fragment what is too large for a hop.
#[cfg(target_os = "linux")]
fn set_options(socket: &Socket, ipv6: bool) -> io::Result<()> {
    use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};

    // Routers may fragment datagrams that are too large for the next hop, except probes of the path's MTU
    // (`keep_whole`).
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

/// Asks for ECN marks, and sets the mark of an IPv4 socket. Path MTU discovery for UDP is off by default here.
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

/// Does nothing, because this system has no such options, and ECN marks are optional.
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
fn set_options(_socket: &Socket, _ipv6: bool) -> io::Result<()> {
    Ok(())
}

/// Logs that an optional socket option could not be set.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
fn ignore(result: rustix::io::Result<()>, option: &'static str) {
    if let Err(error) = result {
        tracing::debug!(option, %error, "socket option not set");
    }
}

#[cfg(test)]
mod tests;
