//! The only unsafe code of this crate: datagrams with control messages, and socket options that safe crates lack.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::{ptr, slice};

use libc::c_int;
use rove_ssp::Ecn;
use rove_ssp::wire::DATAGRAM_LEN_MAX;
#[cfg(target_os = "linux")]
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};

use crate::ancillary::{congestion_mark, local_address};

/// Bytes for the control messages of one datagram. A byte of TOS, an integer of traffic class and a local address take
/// 88 with headers and padding.
const CONTROL_LEN: usize = 128;

/// The size, addresses and ECN mark of a datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The length of the datagram in bytes. A longer datagram is cut to one byte more than the longest allowed.
    pub len: usize,
    /// The sender's address.
    pub source: SocketAddr,
    /// The ECN bits of the IP header.
    pub ecn: Ecn,
    /// The local address that the datagram was sent to. `None` if the system does not tell.
    pub local: Option<Ipv6Addr>,
}

/// Memory into which the system writes a datagram.
#[repr(C, align(8))] // control message headers hold a `size_t`
struct Slot {
    control: [u8; CONTROL_LEN],
    source: libc::sockaddr_storage,
    /// The payload. The last byte shows whether a datagram is too long.
    bytes: [u8; DATAGRAM_LEN_MAX + 1],
}

#[cfg(target_os = "linux")]
use libc::mmsghdr;

/// The header of a message and its length, as on Linux.
#[cfg(not(target_os = "linux"))]
#[expect(non_camel_case_types, reason = "it stands for one of Linux's")]
struct mmsghdr {
    msg_hdr: libc::msghdr,
    msg_len: libc::c_uint,
}

/// Reads up to `N` datagrams that wait on a non-blocking socket, with the ECN marks of their IP headers, and passes
/// each to `handle`. Returns the number of datagrams read.
///
/// The memory of payloads is touched only for datagrams that arrive.
///
/// # Errors
///
/// Returns the system call's error; `WouldBlock` if no datagram waits. An error after a datagram is left for later.
pub(crate) fn receive<const N: usize>(
    socket: BorrowedFd<'_>,
    mut handle: impl FnMut(Received, &[u8]),
) -> io::Result<usize> {
    let mut slots = Box::<[Slot; N]>::new_uninit();
    let first: *mut Slot = slots.as_mut_ptr().cast();
    let mut slices = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; N];
    // SAFETY: all-zero bytes are valid message headers, which are integers and pointers.
    let mut messages: [mmsghdr; N] = unsafe { MaybeUninit::zeroed().assume_init() };
    for (index, (message, slice)) in messages.iter_mut().zip(&mut slices).enumerate() {
        // SAFETY: `index` is below `N`, so the slot and its fields lie in the allocation. Fields that hold nothing yet
        // are only addressed; the kernel leaves the padding between control messages as it is.
        unsafe {
            let slot = first.add(index);
            (&raw mut (*slot).control).write([0; CONTROL_LEN]);
            slice.iov_base = (&raw mut (*slot).bytes).cast();
            message.msg_hdr.msg_name = (&raw mut (*slot).source).cast();
            message.msg_hdr.msg_control = (&raw mut (*slot).control).cast();
        }
        slice.iov_len = DATAGRAM_LEN_MAX + 1;
        message.msg_hdr.msg_namelen = length_of::<libc::sockaddr_storage>();
        message.msg_hdr.msg_iov = slice;
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_controllen = CONTROL_LEN as _;
    }
    let count = receive_messages(socket, &mut messages)?;
    for (index, message) in messages.iter().enumerate().take(count) {
        let header = &message.msg_hdr;
        let len = usize::try_from(message.msg_len).map_or(usize::MAX, |len| len);
        let len = len.min(DATAGRAM_LEN_MAX + 1);
        if header.msg_namelen < length_of::<libc::sockaddr_in>() {
            continue; // no Internet address, which no UDP socket does
        }
        // SAFETY: the kernel has filled this message: an address of the length and family it says, `len` bytes, and
        // control messages of the length that the header now has. All of it lives until the end of this
        // function, and nobody writes there any more.
        let (source, ecn, local, bytes) = unsafe {
            let slot = first.add(index);
            let bytes = slice::from_raw_parts((&raw const (*slot).bytes).cast::<u8>(), len);
            let source = socket_address(&raw const (*slot).source);
            let filled = CONTROL_LEN.min(header.msg_controllen as _);
            let control = slice::from_raw_parts((&raw const (*slot).control).cast::<u8>(), filled);
            (source, congestion_mark(control), local_address(control), bytes)
        };
        if let Some(source) = source {
            handle(Received { len, source, ecn, local }, bytes);
        }
    }
    Ok(count)
}

/// Lets the system fill messages in one call. Returns the number of messages filled.
#[cfg(target_os = "linux")]
fn receive_messages(socket: BorrowedFd<'_>, messages: &mut [mmsghdr]) -> io::Result<usize> {
    let count = libc::c_uint::try_from(messages.len()).expect("a turn's datagrams");
    // SAFETY: every pointer in `messages` is to live memory of its true length, as the caller has set them.
    let count = unsafe {
        libc::recvmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count, 0, ptr::null_mut())
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Lets the system fill messages one after the other. Returns the number of messages filled.
#[cfg(not(target_os = "linux"))]
fn receive_messages(socket: BorrowedFd<'_>, messages: &mut [mmsghdr]) -> io::Result<usize> {
    for (index, message) in messages.iter_mut().enumerate() {
        // SAFETY: every pointer in `message` is to live memory of its true length, as the caller has set them.
        let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message.msg_hdr, 0) };
        match libc::c_uint::try_from(len) {
            Ok(len) => message.msg_len = len,
            Err(_) if index > 0 => return Ok(index),
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(messages.len())
}

/// Asks the system for the local address of each datagram on an IPv6 socket. IPv4 addresses are in mapped form.
#[cfg(target_os = "linux")]
pub(crate) fn report_local_addresses(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1)
}

/// Sends a datagram over an IPv6 socket from the local address `local`, because the peer may accept datagrams only from
/// the address that it has sent to.
#[cfg(target_os = "linux")]
pub(crate) fn send_from(
    socket: BorrowedFd<'_>,
    payload: &[u8],
    destination: SocketAddrV6,
    local: Ipv6Addr,
) -> io::Result<()> {
    #[repr(align(8))] // control message headers hold a `size_t`
    struct Control([u8; CONTROL_LEN]);

    // The system chooses the interface: for a link-local address the destination's zone says it.
    let info = libc::in6_pktinfo {
        ipi6_addr: libc::in6_addr { s6_addr: local.octets() },
        ipi6_ifindex: 0,
    };
    let mut name = libc::sockaddr_in6 {
        sin6_family: libc::sa_family_t::try_from(libc::AF_INET6).expect("a small number"),
        sin6_port: destination.port().to_be(),
        sin6_flowinfo: destination.flowinfo(),
        sin6_addr: libc::in6_addr { s6_addr: destination.ip().octets() },
        sin6_scope_id: destination.scope_id(),
    };
    let mut control = Control([0; CONTROL_LEN]);
    // sendmsg reads the payload only.
    let base = payload.as_ptr().cast_mut().cast();
    let mut slice = libc::iovec { iov_base: base, iov_len: payload.len() };
    // SAFETY: all-zero bytes are a valid msghdr. Every pointer in it is to a live local or to `payload`, with
    // its true length. The control buffer is aligned and has room for one header with an in6_pktinfo, which
    // CMSG_FIRSTHDR and CMSG_DATA point into.
    let sent = unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_name = (&raw mut name).cast();
        message.msg_namelen = length_of::<libc::sockaddr_in6>();
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(length_of::<libc::in6_pktinfo>()) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::IPPROTO_IPV6;
        (*header).cmsg_type = libc::IPV6_PKTINFO;
        (*header).cmsg_len = libc::CMSG_LEN(length_of::<libc::in6_pktinfo>()) as _;
        ptr::write_unaligned(libc::CMSG_DATA(header).cast(), info);
        libc::sendmsg(socket.as_raw_fd(), &raw const message, 0)
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the Internet address in `storage`. `None` for another address family.
///
/// # Safety
///
/// `storage` is valid and aligned, and holds as much of an address as its family says.
unsafe fn socket_address(storage: *const libc::sockaddr_storage) -> Option<SocketAddr> {
    // SAFETY: the caller vouches for it; each address is plain integers.
    unsafe {
        match c_int::from((*storage).ss_family) {
            libc::AF_INET => {
                let v4 = &*storage.cast::<libc::sockaddr_in>();
                let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
            }
            libc::AF_INET6 => {
                let v6 = &*storage.cast::<libc::sockaddr_in6>();
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                let port = u16::from_be(v6.sin6_port);
                Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

/// Most reports discarded in one call. Reports that arrive meanwhile are discarded at the next error.
#[cfg(target_os = "linux")]
const PATH_ERRORS_MAX: usize = 64;

/// Asks the system to report errors about the datagrams of an unconnected socket (ICMP). The next send or receive then
/// fails with the error.
#[cfg(target_os = "linux")]
pub(crate) fn report_path_errors(socket: BorrowedFd<'_>, ipv6: bool) -> io::Result<()> {
    let (level, option) = if ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
    } else {
        (libc::IPPROTO_IP, libc::IP_RECVERR)
    };
    set_option(socket, level, option, 1)
}

/// Sets (`whole`) or clears the don't-fragment bit of datagrams. With the bit, a hop drops datagrams that are too large
/// for it, whatever the system knows of the path. The system also refuses datagrams larger than the MTU of its own
/// interface. Without the bit, large datagrams are fragmented as usual.
///
/// # Errors
///
/// Returns the error of the system call, also if the system has no such option.
pub(crate) fn keep_whole(socket: &UdpSocket, whole: bool) -> io::Result<()> {
    let is_ipv6 = socket.local_addr()?.is_ipv6();
    whole_options(socket.as_fd(), is_ipv6, whole)
}

/// Sets the options for [`keep_whole`]. An IPv6 socket that also takes IPv4 has the options of both families.
#[cfg(target_os = "linux")]
fn whole_options(socket: BorrowedFd<'_>, is_ipv6: bool, whole: bool) -> io::Result<()> {
    let (v4, v6) = if whole {
        (libc::IP_PMTUDISC_PROBE, libc::IPV6_PMTUDISC_PROBE)
    } else {
        (libc::IP_PMTUDISC_DONT, libc::IPV6_PMTUDISC_DONT)
    };
    set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, v4)?;
    if is_ipv6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, v6)?;
    }
    Ok(())
}

/// Sets the option for [`keep_whole`]. A socket takes the option of its own family only, so an IPv6 socket's datagrams
/// over IPv4 stay as the system treats them.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
fn whole_options(socket: BorrowedFd<'_>, is_ipv6: bool, whole: bool) -> io::Result<()> {
    let (level, option) = if is_ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG)
    } else {
        (libc::IPPROTO_IP, libc::IP_DONTFRAG)
    };
    set_option(socket, level, option, c_int::from(whole))
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
fn whole_options(_socket: BorrowedFd<'_>, _is_ipv6: bool, _whole: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets a socket option whose value is a number.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
fn set_option(
    socket: BorrowedFd<'_>,
    level: c_int,
    option: c_int,
    number: c_int,
) -> io::Result<()> {
    // SAFETY: the value is a live integer of the length given.
    let result = unsafe {
        let value = (&raw const number).cast();
        libc::setsockopt(socket.as_raw_fd(), level, option, value, length_of::<c_int>())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Discards queued error reports. While any is left, the socket counts as failed, and every wait for it ends at once.
#[cfg(target_os = "linux")]
pub(crate) fn discard_path_errors(socket: &UdpSocket) {
    let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
    let is_report = || recvmsg(socket, &mut [], &mut RecvAncillaryBuffer::default(), flags).is_ok();
    let _ = (0..PATH_ERRORS_MAX).all(|_| is_report());
}

/// Does nothing, because no error reports were asked for.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn discard_path_errors(_socket: &UdpSocket) {}

/// Returns the size of `T` in the type that socket calls need.
fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("addresses and options are a few dozen bytes")
}
