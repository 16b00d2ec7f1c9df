//! Reports changes of this computer's network: its interfaces, addresses and routes.
//!
//! Linux reports changes over rtnetlink (rtnetlink(7)), macOS and FreeBSD over a routing socket (route(4)). This module
//! does not report the kind of change, because the client reacts to every change by a datagram that tests the path.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
use crate::route_message::is_change;

/// Most messages that a call of [`NetworkWatch::take`] reads. The next call reads the rest, and reports another change.
/// Chosen: more messages than setting up an interface causes.
const BATCH: usize = 64;

/// A socket that reports changes of the network namespace in which it was opened.
#[derive(Debug)]
pub struct NetworkWatch {
    socket: OwnedFd,
}

impl NetworkWatch {
    /// Begins to watch the network namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example in a sandbox.
    #[cfg(target_os = "linux")]
    pub fn open() -> io::Result<Self> {
        use rustix::net::netlink::SocketAddrNetlink;
        use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};

        let addresses = libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        let routes = libc::RTMGRP_IPV4_ROUTE | libc::RTMGRP_IPV6_ROUTE;
        let groups = (libc::RTMGRP_LINK | addresses | routes).cast_unsigned();

        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // NETLINK_ROUTE is number 0.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, groups))?;
        Ok(Self { socket })
    }

    /// Begins to watch the network of this computer.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example in a sandbox.
    #[cfg(any(target_os = "macos", target_os = "freebsd"))]
    pub fn open() -> io::Result<Self> {
        use rustix::fs::{OFlags, fcntl_setfl};
        use rustix::io::{FdFlags, fcntl_setfd};
        use rustix::net::{AddressFamily, SocketType, socket};

        let socket = socket(AddressFamily::ROUTE, SocketType::RAW, None)?;
        fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        fcntl_setfl(&socket, OFlags::NONBLOCK)?;
        Ok(Self { socket })
    }

    /// Returns an error, because this system reports no changes.
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` on this system.
    #[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
    pub fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns whether the network has changed since the last call.
    ///
    /// # Errors
    ///
    /// Returns the socket's error, after which no more changes are reported.
    pub fn take(&self) -> io::Result<bool> {
        let mut has_changed = false;
        for _ in 0..BATCH {
            // A read of the beginning of a message discards the rest of the message.
            let mut beginning = [0; 16];
            match recv(&self.socket, &mut beginning, RecvFlags::empty()) {
                Ok((len, _)) => has_changed |= is_change(&beginning[..len]),
                // The system has dropped messages, because it keeps only a limited number.
                Err(Errno::NOBUFS) => has_changed = true,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(has_changed)
    }
}

/// Returns true, because rtnetlink sends only the changes to which the socket has subscribed.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
const fn is_change(_beginning: &[u8]) -> bool {
    true
}

impl AsFd for NetworkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
