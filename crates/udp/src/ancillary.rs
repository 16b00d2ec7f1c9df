//! Reads the control messages that the kernel adds to a datagram (ancillary data, RFC 3542, section 20).
//!
//! The code does not rely on the kernel: a wrong length ends the reading.

use std::mem::{offset_of, size_of};
use std::net::Ipv6Addr;

use libc::{c_int, cmsghdr};
use rove_ssp::Ecn;

/// Alignment of control messages, in bytes. Source: `CMSG_ALIGN`, which is the size of a `size_t` on Linux, 4 bytes on
/// macOS, and 8 bytes on most processors of FreeBSD.
#[cfg(target_os = "macos")]
const ALIGNMENT: usize = 4;
#[cfg(not(target_os = "macos"))]
const ALIGNMENT: usize = size_of::<usize>();

/// Size of a control message's header with its padding, in bytes.
const HEADER_LEN: usize = size_of::<cmsghdr>().next_multiple_of(ALIGNMENT);

/// A control message of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage<'a> {
    /// The protocol level of the message, such as `IPPROTO_IP`.
    pub level: c_int,
    /// The type of the message within its level, such as `IP_TOS`.
    pub kind: c_int,
    /// The contents of the message, without its header.
    pub data: &'a [u8],
}

/// Returns the control messages in `bytes`. A message that is cut off ends the list.
pub fn control_messages(mut bytes: &[u8]) -> impl Iterator<Item = ControlMessage<'_>> {
    std::iter::from_fn(move || {
        let (message, len) = first(bytes)?;
        bytes = bytes.get(len.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        Some(message)
    })
}

/// Returns the first control message, and its length with the header.
fn first(bytes: &[u8]) -> Option<(ControlMessage<'_>, usize)> {
    let len = length(bytes.get(offset_of!(cmsghdr, cmsg_len)..)?)?;
    // This also ends the loop in time, because no message is shorter than its header.
    let data = bytes.get(HEADER_LEN..len)?;
    let level = integer(&bytes[offset_of!(cmsghdr, cmsg_level)..])?;
    let kind = integer(&bytes[offset_of!(cmsghdr, cmsg_type)..])?;
    Some((ControlMessage { level, kind, data }, len))
}

/// Reads the length of a control message: a `size_t` in Linux with glibc, 32 bits elsewhere.
fn length(bytes: &[u8]) -> Option<usize> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return bytes.first_chunk().map(|bytes| usize::from_ne_bytes(*bytes));
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()
}

/// Reads the integer at the start of `bytes`.
fn integer(bytes: &[u8]) -> Option<c_int> {
    bytes.first_chunk().map(|bytes| c_int::from_ne_bytes(*bytes))
}

/// Returns the ECN bits of a datagram from its control messages; `NotCapable` if no message has them.
pub fn congestion_mark(control: &[u8]) -> Ecn {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const TOS: c_int = libc::IP_TOS;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const TOS: c_int = libc::IP_RECVTOS;

    let class = control_messages(control).find_map(|message| match (message.level, message.kind) {
        (libc::IPPROTO_IP, TOS) => message.data.first().copied(),
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
            integer(message.data).map(|class| class.to_le_bytes()[0])
        }
        _ => None,
    });
    class.map_or(Ecn::NotCapable, ecn)
}

/// Returns the local address that a datagram was sent to, from its control messages. Only Linux is asked for it.
pub fn local_address(control: &[u8]) -> Option<Ipv6Addr> {
    #[cfg(target_os = "linux")]
    return control_messages(control).find_map(|message| {
        let is_local = (message.level, message.kind) == (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO);
        let address: &[u8; 16] =
            message.data.get(offset_of!(libc::in6_pktinfo, ipi6_addr)..)?.first_chunk()?;
        is_local.then(|| Ipv6Addr::from(*address))
    });
    #[cfg(not(target_os = "linux"))]
    {
        let _ = control;
        None
    }
}

/// Returns the ECN value in the two low bits of a TOS or traffic class byte (RFC 3168, section 5).
const fn ecn(class: u8) -> Ecn {
    match class & 0b11 {
        0b11 => Ecn::CongestionExperienced,
        0b00 => Ecn::NotCapable,
        _ => Ecn::Capable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a control message as the kernel writes it, with a length of its own.
    fn written(level: c_int, kind: c_int, data: &[u8], len: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        let len = len.to_ne_bytes();
        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        let len = u32::try_from(len).unwrap_or(u32::MAX).to_ne_bytes();
        for (at, field) in [
            (offset_of!(cmsghdr, cmsg_len), &len[..]),
            (offset_of!(cmsghdr, cmsg_level), &level.to_ne_bytes()),
            (offset_of!(cmsghdr, cmsg_type), &kind.to_ne_bytes()),
        ] {
            bytes[at..at + field.len()].copy_from_slice(field);
        }
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes
    }

    #[test]
    fn every_message_is_found_with_its_data() {
        let messages: [(c_int, c_int, &[u8]); 3] =
            [(0, 1, &[3]), (41, 67, &[1, 0, 0, 0]), (41, 50, &[7; 20])];
        let bytes: Vec<u8> = messages
            .iter()
            .flat_map(|(level, kind, data)| written(*level, *kind, data, HEADER_LEN + data.len()))
            .collect();
        let found: Vec<_> = control_messages(&bytes)
            .map(|message| (message.level, message.kind, message.data))
            .collect();
        assert_eq!(found, messages);
        // Cut anywhere, what is whole is there and nothing else.
        for len in 0..bytes.len() {
            let count = control_messages(&bytes[..len]).count();
            assert!(count < 3 || len > bytes.len() - ALIGNMENT, "{len}");
        }
    }

    #[test]
    fn a_wrong_length_ends_the_walk() {
        for (len, count) in [
            (0, 0),
            (HEADER_LEN - 1, 0),
            // The data is the next header then, whose length is 0.
            (HEADER_LEN, 1),
            (HEADER_LEN + 8, 2),
            (2 * HEADER_LEN + 8, 1),
            (2 * HEADER_LEN + 9, 0),
            (usize::MAX, 0),
            (usize::MAX / 2, 0),
        ] {
            let bytes = [written(0, 1, &[0; 8], len), written(0, 1, &[], HEADER_LEN)].concat();
            let found = control_messages(&bytes).count();
            assert_eq!(found, count, "{len}");
        }
    }
}
