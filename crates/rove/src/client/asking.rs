//! A connection whose client says by SOCKS where it wants to.

use std::os::fd::OwnedFd;

use rove_units::Instant;
use rustix::io::Errno;

use crate::socks::{REQUEST_MAX, Request, Step};

/// A connection whose client has not said where it wants to.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) socket: OwnedFd,
    pub(super) request: Request,
    /// When the connection is closed if its client has not said it.
    pub(super) until: Instant,
}

impl Asking {
    /// Reads what has come. `None` if the client is gone.
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

/// Writes a short reply, for which a new connection has room. Returns whether all of it was taken.
pub(super) fn tell(socket: &OwnedFd, reply: &[u8]) -> bool {
    reply.is_empty() || rustix::io::write(socket, reply) == Ok(reply.len())
}
