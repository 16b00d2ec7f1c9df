//! A pair of sockets with which one thread wakes another: the waiting thread polls one socket of the pair.

use std::io;
#[cfg(windows)]
use std::net::{Ipv4Addr, UdpSocket};
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;

/// A socket of the pair. Unix can connect two sockets without addresses.
#[cfg(unix)]
pub(crate) type Socket = UnixDatagram;
/// A socket of the pair. Windows has no socket pairs, so the pair consists of two UDP sockets on the loopback address.
#[cfg(windows)]
pub(crate) type Socket = UdpSocket;

/// Returns two connected, non-blocking sockets. A datagram that one of them sends makes the other readable.
pub(crate) fn pair() -> io::Result<[Socket; 2]> {
    let ends = connected()?;
    ends.iter().try_for_each(|end| end.set_nonblocking(true))?;
    Ok(ends)
}

#[cfg(unix)]
fn connected() -> io::Result<[Socket; 2]> {
    UnixDatagram::pair().map(<[Socket; 2]>::from)
}

#[cfg(windows)]
fn connected() -> io::Result<[Socket; 2]> {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
    let [bell, ear] = [bind()?, bind()?];
    bell.connect(ear.local_addr()?)?;
    ear.connect(bell.local_addr()?)?;
    Ok([bell, ear])
}
