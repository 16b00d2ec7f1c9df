//! Reads the SOCKS request of a connection accepted for `-D`.

use std::os::fd::OwnedFd;

use rove_units::Instant;
use rustix::io::Errno;

use crate::socks::{REQUEST_MAX, REQUEST_PATIENCE, REQUEST_TIME, REQUESTS_MAX, Request, Step};

/// An accepted connection whose SOCKS request is incomplete.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) socket: OwnedFd,
    request: Request,
    since: Instant,
}

impl Asking {
    /// Begins to read the request of a connection that was accepted at `since`.
    pub(super) fn new(since: Instant, socket: OwnedFd) -> Self {
        Self { socket, request: Request::default(), since }
    }

    /// Returns when the client closes the connection if its request is still incomplete.
    pub(super) fn until(&self) -> Instant {
        self.since + REQUEST_PATIENCE
    }

    /// Reads available bytes, sends SOCKS replies, and returns the next step. `None` if the connection ended or failed.
    pub(super) fn turn(&mut self) -> Option<Step> {
        let mut buffer = [0; REQUEST_MAX];
        match rustix::io::read(&self.socket, &mut buffer) {
            Ok(0) => None,
            Ok(len) => {
                let mut replies = Vec::new();
                let step = self.request.handle(&buffer[..len], &mut replies);
                tell(&self.socket, &replies).then_some(step)
            }
            Err(Errno::AGAIN | Errno::INTR) => Some(Step::More),
            Err(_) => None,
        }
    }
}

/// Returns when the oldest request (the first in `requests`) may be dropped for a new one. `None` if it may be dropped
/// at `now`, or if there are fewer than [`REQUESTS_MAX`] requests.
pub(super) fn room_at(now: Instant, requests: &[Asking]) -> Option<Instant> {
    let oldest = requests.first().filter(|_| requests.len() >= REQUESTS_MAX)?;
    Some(oldest.since + REQUEST_TIME).filter(|at| now < *at)
}

/// Writes a short reply, which fits into a new connection's send buffer. Returns whether all of it was written.
pub(super) fn tell(socket: &OwnedFd, reply: &[u8]) -> bool {
    reply.is_empty() || rustix::io::write(socket, reply) == Ok(reply.len())
}
