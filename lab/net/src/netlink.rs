//! Network interfaces, addresses and routes, by rtnetlink (rtnetlink(7)).

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use libc::{
    IFA_ADDRESS, IFA_LOCAL, IFF_NOARP, IFF_RUNNING, IFF_UP, IFLA_ADDRESS, IFLA_AF_SPEC,
    IFLA_IFNAME, IFLA_INFO_DATA, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU, IFLA_NET_NS_FD,
    IFLA_STATS64, IFLA_TXQLEN, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST,
    NLMSG_DONE, NLMSG_ERROR, RT_SCOPE_LINK, RT_TABLE_MAIN, RTA_OIF, RTM_DELLINK, RTM_GETADDR,
    RTM_GETLINK, RTM_NEWADDR, RTM_NEWLINK, RTM_NEWROUTE, RTN_UNICAST, RTPROT_STATIC, c_int,
};
use rustix::io::{read, retry_on_intr, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

// Numbers that libc lacks or has in another type. Source: linux/if_link.h, veth.h and socket.h.
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const VETH_INFO_PEER: u16 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u16 = 10;

/// Flags of a request that creates something, and fails if it exists already.
const NLM_F_CREATE_NEW: c_int = NLM_F_CREATE | NLM_F_EXCL;

/// Bytes of the message header, and of the headers of link and address messages after it.
const HEADER_LEN: usize = 16;
const LINK_HEADER_LEN: usize = 16;
const ADDRESS_HEADER_LEN: usize = 8;

/// Bytes of the buffer for an answer. Source: netlink(7), by which the kernel's messages fit 32 KiB.
const ANSWER_LEN: usize = 32 << 10;

/// An rtnetlink socket for the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A network interface and its packet counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The index of the interface in the kernel.
    pub index: i32,
    /// Number of packets that the interface has sent.
    pub sent: u64,
    /// Number of packets that the interface has received.
    pub received: u64,
    /// Number of packets that the interface has dropped, in both directions.
    pub dropped: u64,
    /// Whether the interface carries packets. The kernel drops packets until it knows that both ends of a cable are up.
    pub carries: bool,
}

/// An IPv4 address of an interface, with its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The IPv4 address.
    pub address: Ipv4Addr,
    /// The length of the network prefix in bits.
    pub prefix: u8,
}

impl Netlink {
    /// Opens an rtnetlink socket for the network namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Returns the interface with this name.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error, such as `ENODEV`.
    pub fn interface(&mut self, name: &str) -> io::Result<Interface> {
        let mut message = Message::new(RTM_GETLINK, NLM_F_REQUEST);
        message.link_header(0, 0);
        message.text(IFLA_IFNAME, name);
        let answers = self.ask(message)?;
        let answer = answers.first().ok_or(io::ErrorKind::NotFound)?;
        let body = answer.get(..LINK_HEADER_LEN).ok_or(io::ErrorKind::InvalidData)?;
        let counter = |number: usize| {
            let stats =
                attributes(&answer[LINK_HEADER_LEN..]).find(|(kind, _)| *kind == IFLA_STATS64);
            let bytes = stats.and_then(|(_, stats)| stats.get(number * 8..number * 8 + 8));
            bytes.map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
        };
        // The order of rtnl_link_stats64: packets, bytes, errors and drops, received before sent.
        Ok(Interface {
            index: i32::from_ne_bytes([body[4], body[5], body[6], body[7]]),
            received: counter(0),
            sent: counter(1),
            dropped: counter(6) + counter(7),
            carries: i32::from_ne_bytes([body[8], body[9], body[10], body[11]]) & IFF_RUNNING != 0,
        })
    }

    /// Sets an interface up, with the MTU `mtu` and the queue length `queue`. It gets no IPv6 address, so that the
    /// kernel sends no packets over it by itself. `has_arp` tells whether neighbours are resolved by ARP.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn set_up(&mut self, index: i32, mtu: u32, queue: u32, has_arp: bool) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK);
        message.link_header(index, 0);
        message.nested(IFLA_AF_SPEC, |message| {
            message.nested(AF_INET6, |message| {
                message.attribute(IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]);
            });
        });
        // A kernel without IPv6 refuses this message, but it assigns no IPv6 addresses anyway.
        let _ = self.ask(message);
        let mut message = Message::new(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK);
        message.link_header(index, if has_arp { IFF_UP } else { IFF_UP | IFF_NOARP });
        message.attribute(IFLA_MTU, &mtu.to_ne_bytes());
        message.attribute(IFLA_TXQLEN, &queue.to_ne_bytes());
        self.ask(message).map(|_| ())
    }

    /// Sets the loopback interface up.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn set_loopback_up(&mut self) -> io::Result<()> {
        let index = self.interface("lo")?.index;
        let mut message = Message::new(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK);
        message.link_header(index, IFF_UP);
        self.ask(message).map(|_| ())
    }

    /// Adds an address to an interface. This also adds a route to the address's network.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn add_address(&mut self, index: i32, address: InterfaceAddress) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE_NEW);
        message.0.extend([AF_INET, address.prefix, 0, 0]);
        message.0.extend(index.to_ne_bytes());
        message.attribute(IFA_LOCAL, &address.address.octets());
        message.attribute(IFA_ADDRESS, &address.address.octets());
        self.ask(message).map(|_| ())
    }

    /// Adds a default route through an interface.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn add_default_route(&mut self, index: i32) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE_NEW);
        let kind = [RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST];
        message.0.extend([AF_INET, 0, 0, 0]);
        message.0.extend(kind);
        message.0.extend([0; 4]);
        message.attribute(RTA_OIF, &index.to_ne_bytes());
        self.ask(message).map(|_| ())
    }

    /// Creates a veth pair: `name` in this namespace, with the hardware address `hardware`, and `peer` in another
    /// namespace. If `is_twin`, both have the same hardware address. Without ARP an interface sends to its own address,
    /// so that twins receive from each other.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn add_veth(
        &mut self,
        name: &str,
        peer: &str,
        peer_namespace: BorrowedFd<'_>,
        hardware: [u8; 6],
        is_twin: bool,
    ) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE_NEW);
        message.link_header(0, 0);
        message.text(IFLA_IFNAME, name);
        message.attribute(IFLA_ADDRESS, &hardware);
        message.nested(IFLA_LINKINFO, |message| {
            message.text(IFLA_INFO_KIND, "veth");
            message.nested(IFLA_INFO_DATA, |message| {
                message.nested(VETH_INFO_PEER, |message| {
                    message.0.extend([0; LINK_HEADER_LEN]);
                    message.text(IFLA_IFNAME, peer);
                    let descriptor = peer_namespace.as_raw_fd();
                    message.attribute(IFLA_NET_NS_FD, &descriptor.to_ne_bytes());
                    if is_twin {
                        message.attribute(IFLA_ADDRESS, &hardware);
                    }
                });
            });
        });
        self.ask(message).map(|_| ())
    }

    /// Removes an interface. Its veth peer is removed with it.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn remove(&mut self, index: i32) -> io::Result<()> {
        let mut message = Message::new(RTM_DELLINK, NLM_F_REQUEST | NLM_F_ACK);
        message.link_header(index, 0);
        self.ask(message).map(|_| ())
    }

    /// Returns the IPv4 addresses of all interfaces in the namespace.
    ///
    /// # Errors
    ///
    /// Returns the kernel's error.
    pub fn addresses(&mut self) -> io::Result<Vec<InterfaceAddress>> {
        let mut message = Message::new(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
        message.0.extend([AF_INET, 0, 0, 0, 0, 0, 0, 0]);
        let read = |answer: &Vec<u8>| {
            let prefix = *answer.get(1)?;
            let rest = answer.get(ADDRESS_HEADER_LEN..)?;
            let (_, octets) = attributes(rest).find(|(kind, _)| *kind == IFA_LOCAL)?;
            let octets: [u8; 4] = octets.try_into().ok()?;
            Some(InterfaceAddress { address: octets.into(), prefix })
        };
        Ok(self.ask(message)?.iter().filter_map(read).collect())
    }

    /// Sends a message, and returns the bodies of the answers.
    fn ask(&mut self, mut message: Message) -> io::Result<Vec<Vec<u8>>> {
        self.sequence += 1;
        let is_dump = message.finish(self.sequence);
        retry_on_intr(|| write(&self.socket, &message.0))?;
        let mut answers = Vec::new();
        let mut buffer = vec![0; ANSWER_LEN];
        loop {
            let len = retry_on_intr(|| read(&self.socket, &mut buffer))?;
            let mut rest = buffer.get(..len).unwrap_or_default();
            while let Some((kind, sequence, body, next)) = split_message(rest) {
                rest = next;
                if sequence != self.sequence {
                    continue;
                }
                match c_int::from(kind) {
                    NLMSG_DONE => return Ok(answers),
                    NLMSG_ERROR => {
                        let code = body.get(..4).ok_or(io::ErrorKind::InvalidData)?;
                        let code = i32::from_ne_bytes([code[0], code[1], code[2], code[3]]);
                        return match code {
                            0 => Ok(answers),
                            code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
                        };
                    }
                    _ => answers.push(body.to_vec()),
                }
                // Only a list has several answers and an end. A message without acknowledgment has one answer.
                if !is_dump {
                    return Ok(answers);
                }
            }
        }
    }
}

/// An rtnetlink message while it is built.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: c_int) -> Self {
        let flags = u16::try_from(flags).expect("the flags of a request have 16 bits");
        let mut bytes = vec![0; HEADER_LEN];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Self(bytes)
    }

    /// Appends the header of a link message, which sets exactly these flags.
    fn link_header(&mut self, index: i32, flags: c_int) {
        self.0.extend([0; 4]);
        self.0.extend(index.to_ne_bytes());
        self.0.extend(flags.to_ne_bytes());
        self.0.extend(flags.to_ne_bytes());
    }

    fn text(&mut self, kind: u16, text: &str) {
        self.attribute(kind, &[text.as_bytes(), b"\0"].concat());
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |message| message.0.extend(value));
    }

    /// Appends an attribute whose value `fill` appends.
    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.0.extend([0; 2]);
        self.0.extend(kind.to_ne_bytes());
        fill(self);
        let len = u16::try_from(self.0.len() - start).expect("our messages are short");
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// Completes the message header. Returns whether the message asks for a list.
    fn finish(&mut self, sequence: u32) -> bool {
        let len = u32::try_from(self.0.len()).expect("our messages are short");
        self.0[0..4].copy_from_slice(&len.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        c_int::from(u16::from_ne_bytes([self.0[6], self.0[7]])) & NLM_F_DUMP == NLM_F_DUMP
    }
}

/// Splits off the first message. Returns its kind, sequence number and body, and the bytes after it.
fn split_message(bytes: &[u8]) -> Option<(u16, u32, &[u8], &[u8])> {
    let header = bytes.get(..HEADER_LEN)?;
    let len = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
    let len = usize::try_from(len).ok()?;
    let kind = u16::from_ne_bytes([header[4], header[5]]);
    let sequence = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
    let body = bytes.get(HEADER_LEN..len)?;
    Some((kind, sequence, body, bytes.get(len.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns the attributes at the end of a message, each with kind and value.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header = bytes.get(..4)?;
        let len = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]);
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_found_and_others_are_not() {
        let mut netlink = Netlink::open().unwrap();
        let loopback = netlink.interface("lo").unwrap();
        assert_eq!(loopback.index, 1);
        let error = netlink.interface("no-such-if").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NODEV.raw_os_error()));
        // The socket still works after the kernel's error.
        assert_eq!(netlink.interface("lo").unwrap().index, 1);
    }

    #[test]
    fn messages_that_end_early_are_no_messages() {
        let mut message = Message::new(RTM_GETLINK, NLM_F_REQUEST);
        message.text(IFLA_IFNAME, "lo");
        assert!(!message.finish(7));
        let (kind, sequence, body, rest) = split_message(&message.0).unwrap();
        assert_eq!((kind, sequence, rest.len()), (RTM_GETLINK, 7, 0));
        assert_eq!(attributes(body).collect::<Vec<_>>(), [(IFLA_IFNAME, &b"lo\0"[..])]);
        for len in 0..message.0.len() - 1 {
            assert!(split_message(&message.0[..len]).is_none(), "{len}");
        }
        for len in 0..7 {
            assert_eq!(attributes(&body[..len]).count(), 0, "{len}");
        }
        assert_eq!(attributes(&[2, 0, 1, 0]).count(), 0, "an attribute shorter than its header");
    }
}
