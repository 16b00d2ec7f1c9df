//! The asking side of a control socket, which waits no longer than it was told.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rove_platform::clock::Clock;
use rove_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::geteuid;
use socket2::{Domain, SockAddr, Socket, Type};
use zeroize::Zeroizing;

use crate::directory::{is_for_later, is_peer};
use crate::protocol::{Answer, REPLY_LEN_MAX, ReplyError, Request, decode_reply, encode_request};

/// Why a server did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is none any more.
    #[error("its server is gone")]
    Gone,
    /// It takes too long.
    #[error("its server does not answer")]
    Silent,
    /// Somebody else's process has the socket.
    #[error("its socket is another user's")]
    Foreign,
    /// It answers something else than it was asked.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// The system refuses.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Before we came, with its directory, or while we asked.
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::Gone,
            // A server that stands still takes no more connections at some point.
            io::ErrorKind::WouldBlock => Self::Silent,
            _ => Self::Io(error),
        }
    }
}

/// A server that has been asked.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    clock: Clock,
}

impl Conversation {
    /// Connects to the server at this path and asks; waits for nothing.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be asked.
    pub fn start(clock: Clock, path: &Path, request: Request) -> Result<Self, AskError> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(path)?)?;
        let mut stream = UnixStream::from(OwnedFd::from(socket));
        if !is_peer(&stream, |user| user == geteuid()) {
            return Err(AskError::Foreign);
        }
        // A new socket's buffer has room for a line.
        stream.write_all(encode_request(request).as_bytes())?;
        Ok(Self { stream, clock })
    }

    /// Waits for the answer, until `deadline` at most.
    ///
    /// # Errors
    ///
    /// Returns why there is none.
    pub fn reply(&mut self, deadline: Instant) -> Result<Answer, AskError> {
        let mut buffer = Zeroizing::new([0; 4096]);
        // Room from the start, as in `encode_reply`.
        let mut reply = Zeroizing::new(Vec::with_capacity(REPLY_LEN_MAX + buffer.len()));
        while !reply.ends_with(b"\n") {
            if reply.len() > REPLY_LEN_MAX {
                return Err(ReplyError::Malformed.into());
            }
            self.wait_until(deadline)?;
            match self.stream.read(&mut *buffer) {
                Ok(0) => return Err(AskError::Gone),
                Ok(len) => reply.extend_from_slice(&buffer[..len]),
                Err(error) if is_for_later(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(decode_reply(&reply)?)
    }

    /// Waits until the server closes the connection, which it does by its own end, until `deadline` at
    /// most. Returns whether it did.
    pub fn wait_closed(&mut self, deadline: Instant) -> bool {
        let mut buffer = [0; 64];
        while self.wait_until(deadline).is_ok() {
            match self.stream.read(&mut buffer) {
                Err(error) if is_for_later(&error) => {}
                Ok(1..) => {}
                Ok(0) | Err(_) => return true,
            }
        }
        false
    }

    /// Waits for something to read.
    fn wait_until(&self, deadline: Instant) -> Result<(), AskError> {
        loop {
            let now = self.clock.now();
            let left = Timespec::try_from(deadline.saturating_since(now)).ok();
            let mut descriptors = [PollFd::from_borrowed_fd(self.stream.as_fd(), PollFlags::IN)];
            match poll(&mut descriptors, left.as_ref()) {
                Ok(0) if deadline <= now => return Err(AskError::Silent),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(AskError::Io(errno.into())),
            }
        }
    }
}
