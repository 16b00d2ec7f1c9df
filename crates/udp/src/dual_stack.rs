//! A client's sockets for a server that has IPv4 and IPv6 addresses.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use crate::refusal_probe::RefusalProbe;
use crate::socket::ClientSockets;

/// The client's sockets of each address family that it has sent to. The family of the server's first address is first.
#[derive(Debug)]
pub struct DualStackSockets {
    families: Vec<(SocketAddr, ClientSockets)>,
    /// Detects that the server's port is closed, until the server's first datagram arrives.
    pub probe: RefusalProbe,
}

impl DualStackSockets {
    /// Opens the first port, in the address family of `server`, and starts the probe.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn open(server: SocketAddr) -> io::Result<Self> {
        let families = vec![(server, ClientSockets::open(server)?)];
        let mut probe = RefusalProbe::default();
        probe.start(server);
        Ok(Self { families, probe })
    }

    /// Returns the sockets of all families, and the socket of the probe.
    pub fn iter(&self) -> impl Iterator<Item = &UdpSocket> {
        self.families.iter().flat_map(|(_, sockets)| sockets.iter()).chain(self.probe.socket())
    }

    /// Returns the socket for sending to `destination`. Opens a socket if the address family has none yet.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call if the family's first socket cannot be opened.
    pub fn newest_for(&mut self, destination: SocketAddr) -> io::Result<&UdpSocket> {
        let index = match self.position(destination) {
            Some(index) => index,
            None => {
                self.families.push((destination, ClientSockets::open(destination)?));
                self.families.len() - 1
            }
        };
        Ok(self.families[index].1.newest())
    }

    /// Returns the local port for datagrams to `destination`. `None` if the address family has no socket.
    pub fn local_port(&self, destination: SocketAddr) -> Option<u16> {
        let (_, sockets) = &self.families[self.position(destination)?];
        sockets.newest().local_addr().ok().map(|address| address.port())
    }

    /// Opens a new port in each address family that has sockets, even if it fails in another family.
    ///
    /// # Errors
    ///
    /// Returns the error of the first system call that has failed.
    pub fn open_port(&mut self) -> io::Result<()> {
        let opened = self.families.iter_mut().map(|(_, sockets)| sockets.open_port());
        opened.fold(Ok(()), io::Result::and)
    }

    /// Closes the oldest ports of each address family until `keep` are left.
    pub fn close_ports(&mut self, keep: usize) {
        self.families.iter_mut().for_each(|(_, sockets)| sockets.close_ports(keep));
    }

    fn position(&self, destination: SocketAddr) -> Option<usize> {
        self.families.iter().position(|(address, _)| address.is_ipv6() == destination.is_ipv6())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_sockets_once_something_goes_there() {
        let [v4, other, v6] =
            ["127.0.0.1:9", "127.0.0.2:9", "[::1]:9"].map(|it| it.parse().unwrap());
        let mut sockets = DualStackSockets::open(v4).unwrap();
        sockets.probe.stop();
        let port = sockets.newest_for(v4).unwrap().local_addr().unwrap();
        assert_eq!(sockets.newest_for(other).unwrap().local_addr().unwrap(), port);
        assert_eq!((sockets.iter().count(), sockets.local_port(v6)), (1, None));
        if sockets.newest_for(v6).is_err() {
            return; // a computer without IPv6
        }
        assert!(sockets.newest_for(v6).unwrap().local_addr().unwrap().is_ipv6());
        assert_eq!(sockets.iter().count(), 2);
        sockets.open_port().unwrap();
        assert_eq!(sockets.iter().count(), 4);
        assert_ne!(sockets.local_port(v4), Some(port.port()));
        sockets.close_ports(1);
        assert_eq!(sockets.iter().count(), 2);
    }
}
