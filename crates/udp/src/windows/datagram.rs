//! Datagrams without control messages. This client does not make the extra calls with which Windows reports ECN marks.

use std::cell::RefCell;
use std::io;
use std::net::UdpSocket;

use rove_ssp::Ecn;

use crate::received::{MESSAGE_BYTES, Received};

thread_local! {
    /// The memory that the system writes a datagram into.
    static PAYLOAD: RefCell<Vec<u8>> = RefCell::new(vec![0; MESSAGE_BYTES]);
}

/// Reads a waiting datagram from a non-blocking socket, and passes it to `handle`. Returns the number of datagrams, and
/// whether more may wait.
///
/// # Errors
///
/// Returns the system call's error; `WouldBlock` if no datagram waits.
pub(crate) fn receive(
    socket: &UdpSocket,
    handle: &mut impl FnMut(Received, &[u8]),
) -> io::Result<(usize, bool)> {
    PAYLOAD.with_borrow_mut(|payload| {
        let (len, source) = socket.recv_from(payload)?;
        let received = Received { len, source, ecn: Ecn::NotCapable, local: None };
        Ok((received.split(&payload[..len], len.max(1), handle), true))
    })
}

/// Refuses, because a client on Windows does not probe the path's MTU.
///
/// # Errors
///
/// Always returns an error.
pub(crate) fn keep_whole(_socket: &UdpSocket, _whole: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing, because this system queues no error reports.
pub(crate) const fn discard_path_errors(_socket: &UdpSocket) {}
