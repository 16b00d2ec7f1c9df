//! The program's end of a network cable: reads an interface's outgoing packets, and writes its incoming packets.

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

/// Bytes of a packet socket's buffer. Chosen: half a second of 50 Mbit/s, with the kernel's own overhead.
const SOCKET_BUFFER: usize = 16 << 20;

/// The other end of an interface's cable, which reads and writes IP packets.
#[derive(Debug)]
pub struct Tap {
    descriptor: OwnedFd,
    /// The Ethernet header of packets on the cable. `None` for a TUN device, whose packets have none.
    header: Option<[u8; ETHERNET_LEN]>,
}

impl Tap {
    /// Creates a TUN device in the namespace of the calling thread by the device file `node`. Returns the device and
    /// its name. The device is removed when this value is dropped.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call for the device file or the device.
    pub fn tun(node: &Path, template: &str) -> io::Result<(Self, String)> {
        let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(node)?;
        let descriptor = OwnedFd::from(file);
        let name = sys::tun_attach(&descriptor, template)?;
        Ok((Self { descriptor, header: None }, name))
    }

    /// Opens a packet socket on the interface with this index in the namespace of the calling thread. It is the end of
    /// a veth pair whose other end has the hardware address `hardware`.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn packet_socket(index: i32, hardware: [u8; 6]) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        // Without a protocol the socket receives nothing until it is bound.
        let descriptor = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        // Without the right to exceed the system's limit, the buffer has the limit's size.
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

    /// Reads a packet that the interface has sent. `None` if no packet waits. A packet that does not fit is cut.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        let skipped = if self.header.is_some() { ETHERNET_LEN } else { 0 };
        match rustix::io::retry_on_intr(|| read(&self.descriptor, &mut *buffer)) {
            Ok(len) => Ok(Some(buffer.get(skipped..len).unwrap_or_default())),
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Lets the interface receive a packet.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if the packet is malformed.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        rustix::io::retry_on_intr(|| match &self.header {
            None => write(&self.descriptor, packet),
            Some(header) => writev(&self.descriptor, &[IoSlice::new(header), IoSlice::new(packet)]),
        })?;
        Ok(())
    }

    /// Returns how many packets were lost, since the last call, before they could be read. The count leaves out the
    /// interface's own drops.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
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

/// Turns off offloads of an interface in the thread's namespace, so that packets are complete, checksums included. No
/// device behind the cable would complete them.
///
/// # Errors
///
/// Returns the error of the system call.
pub fn without_offloads(interface: &str) -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::without_offloads(socket.as_fd(), interface)
}
