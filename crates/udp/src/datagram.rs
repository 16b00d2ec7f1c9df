//! Datagrams with the control messages of the kernel (ancillary data, RFC 3542, section 20), and the options of a
//! socket that concern them.

use std::cell::RefCell;
use std::io::{self, IoSliceMut};
#[cfg(all(target_os = "linux", not(rove_portable)))]
use std::net::Ipv6Addr;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage};
use rove_ssp::Ecn;
#[cfg(all(target_os = "linux", not(rove_portable)))]
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};

use crate::received::{MESSAGE_BYTES, Received};

/// Most messages that one system call returns. Chosen: their memory stays in a processor's cache. Under a flood, the
/// call itself costs a tenth of the time that its datagrams cost.
const MESSAGES_PER_CALL: usize = 4;

/// Most queued error reports of a socket that one call discards. The call after the next error discards the rest.
#[cfg(all(target_os = "linux", not(rove_portable)))]
const PATH_ERRORS_MAX: usize = 64;

thread_local! {
    /// The memory into which the system writes messages. Pages that no message has reached use no memory.
    static PAYLOADS: RefCell<Vec<u8>> = RefCell::new(vec![0; MESSAGES_PER_CALL * MESSAGE_BYTES]);
}

/// Returns the addresses and ECN mark of a message, and the length of each datagram in it except the last, which may be
/// shorter. `None` if the sender's address is neither IPv4 nor IPv6, which never happens at a UDP socket.
fn facts(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<(Received, usize)> {
    let address = message.address.as_ref()?;
    let mut each = message.bytes;
    let v4 = || address.as_sockaddr_in().map(|source| SocketAddr::V4((*source).into()));
    let v6 = || address.as_sockaddr_in6().map(|source| SocketAddr::V6((*source).into()));
    let source = v4().or_else(v6)?;
    let mut received = Received { len: message.bytes, source, ecn: Ecn::NotCapable, local: None };
    for control in message.cmsgs().into_iter().flatten() {
        match control {
            #[cfg(all(target_os = "linux", not(rove_portable)))]
            ControlMessageOwned::Ipv6PacketInfo(info) => {
                received.local = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr));
            }
            control => match segment_len(&control) {
                Some(len) => each = len,
                None => received.ecn = traffic_class(&control).map_or(received.ecn, ecn),
            },
        }
    }
    Some((received, each.max(1)))
}

/// Returns the length of the datagrams in a message, if this control message states it.
fn segment_len(control: &ControlMessageOwned) -> Option<usize> {
    match control {
        #[cfg(all(target_os = "linux", not(rove_portable)))]
        ControlMessageOwned::UdpGroSegments(len) => usize::try_from(*len).ok(),
        _ => None,
    }
}

/// Returns the TOS byte (IPv4) or the traffic class (IPv6). `None` if the control message holds neither.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn traffic_class(control: &ControlMessageOwned) -> Option<u8> {
    match control {
        ControlMessageOwned::Ipv4Tos(class) => Some(*class),
        ControlMessageOwned::Ipv6TClass(class) => Some(class.to_le_bytes()[0]),
        _ => None,
    }
}

/// Returns the TOS byte (IPv4) or the traffic class (IPv6). `None` if the control message holds neither.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn traffic_class(control: &ControlMessageOwned) -> Option<u8> {
    let ControlMessageOwned::Unknown(control) = control else { return None };
    let header = &control.cmsg_header;
    match ((header.cmsg_level, header.cmsg_type), &control.data_bytes[..]) {
        ((libc::IPPROTO_IP, libc::IP_RECVTOS), [class, ..]) => Some(*class),
        ((libc::IPPROTO_IPV6, libc::IPV6_TCLASS), &[a, b, c, d]) => {
            Some(i32::from_ne_bytes([a, b, c, d]).to_le_bytes()[0])
        }
        _ => None,
    }
}

/// Returns the ECN mark in the lowest two bits of a TOS byte or traffic class (RFC 3168, section 5).
const fn ecn(class: u8) -> Ecn {
    match class & 0b11 {
        0b11 => Ecn::CongestionExperienced,
        0b00 => Ecn::NotCapable,
        _ => Ecn::Capable,
    }
}

/// Reads up to [`MESSAGES_PER_CALL`] waiting messages from a non-blocking socket, with the ECN marks of their IP
/// headers, and passes each datagram to `handle`. Returns the number of datagrams, and whether more may wait.
///
/// # Errors
///
/// Returns the system call's error; `WouldBlock` if no datagram waits. An error after a message comes at the next call.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn receive(
    socket: &UdpSocket,
    handle: &mut impl FnMut(Received, &[u8]),
) -> io::Result<(usize, bool)> {
    use nix::sys::socket::{MultiHeaders, recvmmsg};

    PAYLOADS.with_borrow_mut(|payloads| {
        let mut slices: Vec<_> =
            payloads.chunks_mut(MESSAGE_BYTES).map(|it| [IoSliceMut::new(it)]).collect();
        let control = cmsg_space!(u8, libc::c_int, libc::c_int, libc::in6_pktinfo);
        let mut headers = MultiHeaders::preallocate(slices.len(), Some(control));
        let (socket, flags) = (socket.as_raw_fd(), MsgFlags::empty());
        let (mut messages, mut datagrams) = (0, 0);
        for message in recvmmsg(socket, &mut headers, slices.iter_mut(), flags, None)? {
            messages += 1;
            if let Some((received, each)) = facts(&message) {
                // A datagram without a payload fills no slice.
                let payload = message.iovs().next().unwrap_or_default();
                datagrams += received.split(payload, each, handle);
            }
        }
        Ok((datagrams, messages == MESSAGES_PER_CALL))
    })
}

/// Reads a waiting datagram from a non-blocking socket, with the ECN mark of its IP header, and passes it to `handle`.
/// Returns the number of datagrams, and whether more may wait.
///
/// # Errors
///
/// Returns the system call's error; `WouldBlock` if no datagram waits.
#[cfg(any(rove_portable, not(target_os = "linux")))]
pub(crate) fn receive(
    socket: &UdpSocket,
    handle: &mut impl FnMut(Received, &[u8]),
) -> io::Result<(usize, bool)> {
    PAYLOADS.with_borrow_mut(|payloads| {
        let mut control = cmsg_space!(u8, libc::c_int);
        let (socket, flags) = (socket.as_raw_fd(), MsgFlags::empty());
        let mut slices = [IoSliceMut::new(&mut payloads[..MESSAGE_BYTES])];
        let message = nix::sys::socket::recvmsg(socket, &mut slices, Some(&mut control), flags)?;
        let Some((received, each)) = facts(&message) else { return Ok((1, true)) };
        Ok((received.split(&payloads[..received.len], each, handle), true))
    })
}

/// Asks the system to deliver consecutive datagrams of one sender and one size as one message (UDP receive offload).
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn take_batches(socket: &UdpSocket) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};

    Ok(setsockopt(socket, sockopt::UdpGroSegment, &true)?)
}

/// Asks the system for the local address of each datagram on an IPv6 socket. IPv4 addresses are in mapped form.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn report_local_addresses(socket: &UdpSocket) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};

    Ok(setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &true)?)
}

/// Sends a datagram over an IPv6 socket from the local address `local`. The peer may accept datagrams only from the
/// address that it has sent to.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn send_from(
    socket: &UdpSocket,
    payload: &[u8],
    destination: std::net::SocketAddrV6,
    local: Ipv6Addr,
) -> io::Result<()> {
    send_slices(socket, &[io::IoSlice::new(payload)], destination.into(), Some(local), None)
}

/// Sends the joined slices as a datagram, or as datagrams of `segment` bytes. IPv6 sockets send from `local`, if given.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn send_slices(
    socket: &UdpSocket,
    slices: &[io::IoSlice<'_>],
    destination: SocketAddr,
    local: Option<Ipv6Addr>,
    segment: Option<u16>,
) -> io::Result<()> {
    use nix::sys::socket::{ControlMessage, sendmsg};

    // Index 0 lets the system choose the interface. The zone of a link-local destination decides the interface.
    let info = local.map(|local| libc::in6_pktinfo {
        ipi6_addr: libc::in6_addr { s6_addr: local.octets() },
        ipi6_ifindex: 0,
    });
    let control = info.iter().map(ControlMessage::Ipv6PacketInfo);
    let control = control.chain(segment.iter().map(ControlMessage::UdpGsoSegments));
    let (control, destination) = (control.collect::<Vec<_>>(), SockaddrStorage::from(destination));
    sendmsg(socket.as_raw_fd(), slices, &control, MsgFlags::empty(), Some(&destination))?;
    Ok(())
}

/// Asks the system to report ICMP errors about datagrams of an unconnected socket, as the error of a later call.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn report_path_errors(socket: &UdpSocket, ipv6: bool) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};

    Ok(match ipv6 {
        true => setsockopt(socket, sockopt::Ipv6RecvErr, &true),
        false => setsockopt(socket, sockopt::Ipv4RecvErr, &true),
    }?)
}

/// Sets (`whole`) or clears the don't-fragment bit of datagrams. With the bit, a router drops datagrams that are too
/// large for the next hop. The system sends them even if it has learned a smaller path MTU. The system refuses only
/// datagrams larger than the MTU of its own interface. Without the bit, routers fragment large datagrams. On an IPv6
/// socket, this sets the options of both families, because the socket may also send IPv4.
///
/// # Errors
///
/// Returns the error of the system call, also if the system has no such option.
#[cfg(target_os = "linux")]
pub(crate) fn keep_whole(socket: &UdpSocket, whole: bool) -> io::Result<()> {
    use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};

    let (v4, v6) = match whole {
        true => (Ipv4PathMtuDiscovery::PROBE, Ipv6PathMtuDiscovery::PROBE),
        false => (Ipv4PathMtuDiscovery::DONT, Ipv6PathMtuDiscovery::DONT),
    };
    sockopt::set_ip_mtu_discover(socket, v4)?;
    if socket.local_addr()?.is_ipv6() {
        sockopt::set_ipv6_mtu_discover(socket, v6)?;
    }
    Ok(())
}

/// Sets (`whole`) or clears the don't-fragment bit of datagrams. A socket takes the option of its own family only. This
/// call therefore leaves the bit of an IPv6 socket's datagrams over IPv4 to the system.
///
/// # Errors
///
/// Returns the error of the system call.
#[cfg(target_os = "macos")]
pub(crate) fn keep_whole(socket: &UdpSocket, whole: bool) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};

    Ok(match socket.local_addr()?.is_ipv6() {
        true => setsockopt(socket, sockopt::Ipv6DontFrag, &whole),
        false => setsockopt(socket, sockopt::IpDontFrag, &whole),
    }?)
}

/// Refuses, because rove knows no such option of this system.
///
/// # Errors
///
/// Always returns an error.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn keep_whole(_socket: &UdpSocket, _whole: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Discards queued error reports. While a report is queued, every wait for the socket ends at once with an error.
#[cfg(all(target_os = "linux", not(rove_portable)))]
pub(crate) fn discard_path_errors(socket: &UdpSocket) {
    let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
    let is_report = || recvmsg(socket, &mut [], &mut RecvAncillaryBuffer::default(), flags).is_ok();
    let _ = (0..PATH_ERRORS_MAX).all(|_| is_report());
}

/// Does nothing, because this system queues no error reports. [`RefusalProbe`](crate::RefusalProbe) finds closed ports.
#[cfg(any(rove_portable, not(target_os = "linux")))]
pub(crate) const fn discard_path_errors(_socket: &UdpSocket) {}
