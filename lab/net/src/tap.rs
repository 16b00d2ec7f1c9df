//! A program in the place of a network cable: it reads the packets that an interface sends, and writes those that it receives.

use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::{Errno, read, write, writev};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

use crate::sys;

/// Bytes of an Ethernet header: two addresses and the protocol.
const ETHERNET_LEN: usize = 14;

/// Room for packets that wait in a packet socket. Chosen: half a second of 50 Mbit/s, with the kernel's own overhead.
const SOCKET_BUFFER: usize = 16 << 20;

/// The far end of an interface's cable. Reads and writes are IP packets.
#[derive(Debug)]
pub struct Tap {
    descriptor: OwnedFd,
    /// The header of packets on the cable before that of IP; `None` for a TUN device, which has nothing there.
    header: Option<[u8; ETHERNET_LEN]>,
}

impl Tap {
    /// Makes a TUN device in the namespace of this thread by the device node at `node`; returns it and its name.
    /// It goes with this.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of the node or of the device.
    pub fn tun(node: &Path, template: &str) -> io::Result<(Self, String)> {
        let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(node)?;
        let descriptor = OwnedFd::from(file);
        let name = sys::tun_attach(&descriptor, template)?;
        Ok((Self { descriptor, header: None }, name))
    }

    /// Listens at the interface with this index in the namespace of this thread: the other end of a veth cable to an
    /// interface of the hardware address `hardware`.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub fn packet_socket(index: i32, hardware: [u8; 6]) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        // Without a protocol it takes nothing until it is bound.
        let descriptor = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        // With the right to exceed the limit, or else as much as that allows.
        if sockopt::set_socket_recv_buffer_size_force(&descriptor, SOCKET_BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&descriptor, SOCKET_BUFFER)?;
        }
        sys::packet_bind(descriptor.as_fd(), index)?;
        let mut header = [0; ETHERNET_LEN];
        header[..6].copy_from_slice(&hardware);
        header[6..12].copy_from_slice(&hardware);
        header[12..].copy_from_slice(&[8, 0]);
        Ok(Self { descriptor, header: Some(header) })
    }

    /// Reads a packet that the interface has sent, or `None` if there is none now. A packet that does not fit is cut off.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        let skipped = if self.header.is_some() { ETHERNET_LEN } else { 0 };
        match rustix::io::retry_on_intr(|| read(&self.descriptor, &mut *buffer)) {
            Ok(len) => Ok(Some(buffer.get(skipped..len).unwrap_or_default())),
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Has the interface receive a packet.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal, such as of a packet that is none.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        rustix::io::retry_on_intr(|| match &self.header {
            None => write(&self.descriptor, packet),
            Some(header) => writev(&self.descriptor, &[IoSlice::new(header), IoSlice::new(packet)]),
        })?;
        Ok(())
    }

    /// Returns how many packets were dropped on the way here since the last call, beside those that the interface
    /// counts itself.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub fn drops(&self) -> io::Result<u64> {
        match self.header {
            None => Ok(0),
            Some(_) => sys::packet_drops(self.descriptor.as_fd()).map(u64::from),
        }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Has the kernel finish the packets that an interface of the thread's namespace sends, checksums and all, as nothing
/// behind the cable does so.
///
/// # Errors
///
/// Returns the system's refusal.
pub fn without_offloads(interface: &str) -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::without_offloads(socket.as_fd(), interface)
}
