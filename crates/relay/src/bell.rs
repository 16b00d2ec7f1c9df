//! A bell that ends the wait of another thread: a pair of sockets, of which the wait has one.

use std::io;
#[cfg(windows)]
use std::net::{Ipv4Addr, UdpSocket};
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;

/// A socket that reaches another thread of this process.
#[cfg(unix)]
pub(crate) type Socket = UnixDatagram;
/// A socket that reaches another thread of this process.
#[cfg(windows)]
pub(crate) type Socket = UdpSocket;

/// Returns both ends of a bell, which do not block. A datagram from one end rings at the other.
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
