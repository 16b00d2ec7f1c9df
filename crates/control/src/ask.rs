//! The client side of a control socket: sends a request to a session's server, and waits for the answer.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rove_platform::clock::Clock;
use rove_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::geteuid;
use zeroize::Zeroizing;

use crate::directory::{self, is_for_later, is_peer};
use crate::protocol::{Answer, REPLY_LEN_MAX, ReplyError, Request, decode_reply, encode_request};

/// Why a request to a server brought no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No process accepts connections at the server's socket, because the server has ended.
    #[error("its server is gone")]
    Gone,
    /// The server has closed the connection by its end, or because it has too many connections.
    #[error("its server has closed the connection")]
    Closed,
    /// The server did not answer before the deadline.
    #[error("its server does not answer")]
    Silent,
    /// The socket was opened by a process of another user.
    #[error("its socket is another user's")]
    Foreign,
    /// The server refuses the request, or its answer is malformed.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// A system call failed.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The directory of the server's socket may also be gone.
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Self::Gone,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Closed,
            // `connect` would block, because the backlog is full: a stopped process (SIGSTOP) accepts no connections.
            io::ErrorKind::WouldBlock => Self::Silent,
            _ => Self::Io(error),
        }
    }
}

/// Sends `request` to this user's server at UDP port `port`, and does not wait for the answer. Has no effect if that
/// server has no control socket.
pub fn tell(port: u16, request: &Request) {
    let sockets = directory::existing().0.into_iter().flat_map(|it| it.sockets());
    for (_, path) in sockets.filter(|(name, _)| name.port == port) {
        // Errors are ignored, because an ended server may have left a socket, which refuses the connection.
        let _ = Conversation::start(Clock::start(), &path, request.clone());
    }
}

/// A connection over which a request has been sent to a server.
#[derive(Debug)]
pub struct Conversation {
    stream: UnixStream,
    clock: Clock,
}

impl Conversation {
    /// Connects to the server whose control socket is `path`, and sends the request without waiting.
    ///
    /// # Errors
    ///
    /// Returns why the connection failed or the request was not sent.
    pub fn start(clock: Clock, path: &Path, request: Request) -> Result<Self, AskError> {
        let mut stream = directory::connect(path)?;
        if !is_peer(&stream, |user| user == geteuid()) {
            return Err(AskError::Foreign);
        }
        // The send buffer of a new socket has room for the whole request, so the write does not block.
        stream.write_all(encode_request(request).as_bytes())?;
        Ok(Self { stream, clock })
    }

    /// Waits for the answer until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns why the server gave no usable answer.
    pub fn reply(&mut self, deadline: Instant) -> Result<Answer, AskError> {
        let mut buffer = Zeroizing::new([0; 4096]);
        // `reply` gets its full capacity at once, because growth would leave a copy of the session key in memory.
        let mut reply = Zeroizing::new(Vec::with_capacity(REPLY_LEN_MAX + buffer.len()));
        while !reply.ends_with(b"\n") {
            if reply.len() > REPLY_LEN_MAX {
                return Err(ReplyError::Malformed.into());
            }
            self.wait_until(deadline)?;
            match self.stream.read(&mut *buffer) {
                Ok(0) => return Err(AskError::Closed),
                Ok(len) => reply.extend_from_slice(&buffer[..len]),
                Err(error) if is_for_later(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(decode_reply(&reply)?)
    }

    /// Waits until the server closes the connection, for example by its exit, or until `deadline`. Returns whether the
    /// connection is closed.
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

#[cfg(test)]
mod tests {
    use socket2::{Domain, SockAddr, Socket, Type};

    use super::*;

    #[test]
    fn a_server_that_takes_nobody_and_one_whose_socket_is_full_do_not_answer() {
        let path = std::env::temp_dir().join(format!("rove-full-{}", std::process::id()));
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.bind(&SockAddr::unix(&path).unwrap()).unwrap();
        socket.listen(0).unwrap();
        let clock = Clock::start();
        let ask = || Conversation::start(clock, &path, Request::Attach(None, None));
        let mut waiting = vec![ask().unwrap()];
        let full = loop {
            match ask() {
                Ok(conversation) => waiting.push(conversation),
                Err(error) => break error,
            }
            assert!(waiting.len() < 100);
        };
        assert_eq!(full.to_string(), "its server does not answer");
        assert!(matches!(waiting[0].reply(clock.now()), Err(AskError::Silent)));
        drop(socket);
        assert!(matches!(waiting[0].reply(clock.now()), Err(AskError::Closed)));
        assert!(matches!(ask(), Err(AskError::Gone)));
        std::fs::remove_file(&path).unwrap();
    }
}
