//! A socket that detects a closed server port, for systems that report no ICMP errors to unconnected sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Whether the system needs the probe. Linux reports the errors of unconnected sockets (`IP_RECVERR`).
const IS_NEEDED: bool = cfg!(any(rove_portable, not(target_os = "linux")));

/// A socket that is connected to the server until the first datagram of the server arrives.
///
/// Every system tells a connected socket that its peer's port is closed. The session's own sockets stay unconnected,
/// because a server may answer from another address. So this socket sends empty datagrams from a separate port. No
/// server takes an empty datagram for a session's datagram.
#[derive(Debug, Default)]
pub struct RefusalProbe(Option<UdpSocket>);

impl RefusalProbe {
    /// Opens the socket for `server` and sends a first datagram, if this system needs the probe.
    pub fn start(&mut self, server: SocketAddr) {
        if IS_NEEDED {
            self.0 = connect(server)
                .inspect_err(|error| tracing::debug!(%error, "refusals stay unknown"))
                .ok();
            self.ask();
        }
    }

    /// Closes the probe's socket. Call this after a datagram of the server has arrived.
    pub fn stop(&mut self) {
        self.0 = None;
    }

    /// Sends an empty datagram. If the port is closed, a later read fails. Call this for each sent datagram.
    pub fn ask(&self) {
        if let Some(socket) = &self.0 {
            // If no read has returned an earlier refusal, the first send fails, and the second provokes a new refusal.
            let _ = socket.send(&[]).or_else(|_| socket.send(&[]));
        }
    }

    /// Returns the socket to read from, if there is one.
    pub fn socket(&self) -> Option<&UdpSocket> {
        self.0.as_ref()
    }
}

fn connect(server: SocketAddr) -> io::Result<UdpSocket> {
    let any = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(any)?;
    socket.set_nonblocking(true)?;
    socket.connect(server)?;
    Ok(socket)
}

#[cfg(any(rove_portable, not(target_os = "linux")))]
#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use crate::socket::{PortRange, ServerSocket, receive_waiting};

    #[test]
    fn a_closed_port_is_told_however_often_it_is_asked() {
        for address in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
            let Ok(server) = ServerSocket::bind(address, PortRange { low: 0, high: 0 }) else {
                continue; // a computer without IPv6
            };
            let mut probe = RefusalProbe::default();
            probe.start(server.local_addr());
            let mut lens = Vec::new();
            receive_waiting(server.get(), |received, _| lens.push(received.len)).unwrap();
            assert_eq!(lens, [0], "a server that is there is asked");
            drop(server);
            for asked in 1..4 {
                let socket = probe.socket().unwrap();
                // A process that another test has just forked may hold the server's socket open a little longer.
                let refusal = loop {
                    (0..asked).for_each(|_| probe.ask());
                    if let Err(error) = receive_waiting(socket, |_, _| {}) {
                        break error;
                    }
                    let patience = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
                    poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&patience)).unwrap();
                };
                assert_eq!(refusal.kind(), io::ErrorKind::ConnectionRefused);
            }
            probe.stop();
            assert!(probe.socket().is_none());
        }
    }
}
