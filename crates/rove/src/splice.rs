//! Copies bytes between a stream and a socket or a pair of descriptors, without blocking.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::{Rc, Weak};

use rove_platform::event_loop::Interest;
use rove_streams::{Mux, Read, StreamError, StreamId};
use rove_units::{Duration, Instant};
use rustix::fs::{OFlags, Stat, fcntl_getfl, fstat};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::net::{Shutdown, shutdown, sockopt};
use rustix::termios::isatty;

use crate::messages::reason;

/// Most bytes copied in each direction in a turn of the event loop, so that other events are handled in between.
/// Chosen: 64 packets.
pub(crate) const BYTES_PER_TURN: usize = 64 * 1024;

/// The code that resets a stream whose descriptor has failed. Chosen: unlike the stream layer's own codes.
const BROKEN: u64 = 16;

/// A descriptor in non-blocking mode. A terminal stays in its mode, because the shell shares the mode, and a terminal
/// hardly ever blocks.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: OwnedFd,
    /// Set if this process has ended the descriptor's blocking mode. Descriptors of the same socket or pipe share this
    /// value, and dropping the last of them restores the mode.
    changed: Option<Rc<()>>,
}

/// The facts about a descriptor whose blocking mode was ended, and the [`Descriptor`]s that share it.
pub(crate) type Changed = (Stat, Weak<()>);

impl Descriptor {
    /// Duplicates a standard descriptor in non-blocking mode. `others` lists all descriptors whose mode was changed.
    /// Standard input and output may be the same socket, and output and errors the same pipe.
    pub(crate) fn copy_of(standard: BorrowedFd<'_>, others: &mut Vec<Changed>) -> io::Result<Self> {
        let fd = fcntl_dupfd_cloexec(standard, 3)?;
        let found = fstat(&fd)?;
        let changed = if fcntl_getfl(&fd)?.contains(OFlags::NONBLOCK) {
            let is_same =
                |other: &Stat| (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino);
            others.iter().filter(|it| is_same(&it.0)).find_map(|it| it.1.upgrade())
        } else if isatty(&fd) {
            None
        } else {
            ioctl_fionbio(&fd, true)?;
            let changed = Rc::new(());
            others.push((found, Rc::downgrade(&changed)));
            Some(changed)
        };
        Ok(Self { fd, changed })
    }

    /// Makes this process's end of a pipe non-blocking, and wraps it. No other process may share the end.
    pub(crate) fn pipe(fd: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        Ok(Self { fd, changed: None })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.changed.as_ref().is_some_and(|it| Rc::strong_count(it) == 1) {
            let _ = ioctl_fionbio(&self.fd, false);
        }
    }
}

/// A stream, with the descriptors from and to which its bytes are copied.
///
/// If only one direction ends, only that direction is closed (half-close). The socket is reset if the stream is reset,
/// or if this value is dropped before the stream's end was passed on. A cut must not look like an orderly end.
#[derive(Debug)]
pub(crate) struct Splice {
    id: StreamId,
    /// The descriptor whose bytes are written to the stream. `None` after the end of its bytes.
    input: Option<Rc<Descriptor>>,
    /// The descriptor to which the stream's bytes are written. `None` after the stream's end.
    output: Option<Rc<Descriptor>>,
    is_socket: bool,
    /// Whether `input` is readable.
    is_readable: bool,
    /// Whether the stream accepts bytes.
    has_room: bool,
    /// Bytes read from the stream that `output` has not accepted.
    waiting: Vec<u8>,
    /// Whether `output` is writable, as far as is known.
    is_writable: bool,
    /// Whether the last turn left bytes in the stream, because of [`BYTES_PER_TURN`].
    has_more: bool,
    /// Whether an error or a reset has cut a direction off. A peer that stops reading does not count.
    is_cut: bool,
    /// The error of the write that has ended the direction to `output`. `None` if no write has failed.
    write_error: Option<Errno>,
    /// Whether [`Splice::cut`] has ended both directions, as after a reset by the peer.
    is_reset: bool,
}

impl Splice {
    /// Creates a splice that copies between a stream and a connected socket in non-blocking mode.
    pub(crate) fn socket(id: StreamId, socket: OwnedFd) -> Self {
        let socket = Rc::new(Descriptor { fd: socket, changed: None });
        Self::new(id, Some(Rc::clone(&socket)), Some(socket), true)
    }

    /// Makes a splice of `input` to the stream and of the stream to `output`. `None` leaves a direction to the caller.
    pub(crate) fn halves(
        id: StreamId,
        input: Option<Descriptor>,
        output: Option<Descriptor>,
    ) -> Self {
        Self::new(id, input.map(Rc::new), output.map(Rc::new), false)
    }

    const fn new(
        id: StreamId,
        input: Option<Rc<Descriptor>>,
        output: Option<Rc<Descriptor>>,
        is_socket: bool,
    ) -> Self {
        Self {
            id,
            input,
            output,
            is_socket,
            is_readable: false,
            has_room: true,
            waiting: Vec::new(),
            is_writable: true,
            has_more: false,
            is_cut: false,
            write_error: None,
            is_reset: false,
        }
    }

    /// Returns the descriptors to wait for, in the order of [`Splice::handle_ready`].
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let input = self.input.as_ref().filter(|_| self.has_room && !self.is_readable);
        let output = self.output.as_ref().filter(|_| !self.is_writable);
        let input = input.map(|it| Interest::new(it.fd.as_fd(), true, false));
        input.into_iter().chain(output.map(|it| Interest::new(it.fd.as_fd(), false, true)))
    }

    /// Notes which of [`Splice::interests`] are ready.
    pub(crate) fn handle_ready(&mut self, ready: &mut impl Iterator<Item = bool>) {
        let waits_to_write = self.output.is_some() && !self.is_writable;
        if self.input.is_some() && self.has_room && !self.is_readable {
            self.is_readable = ready.next().unwrap_or_default();
        }
        if waits_to_write {
            self.is_writable = ready.next().unwrap_or_default();
        }
    }

    /// Returns whether to call [`Splice::turn`] again without waiting.
    pub(crate) const fn has_work(&self) -> bool {
        self.has_more
    }

    /// Copies bytes in both directions without blocking, at most [`BYTES_PER_TURN`] each way.
    pub(crate) fn turn(&mut self, now: Instant, mux: &mut Mux, buffer: &mut [u8]) {
        self.fill(mux, buffer);
        self.drain(now, mux, buffer);
    }

    /// Returns whether both directions have ended.
    pub(crate) const fn is_over(&self) -> bool {
        self.input.is_none() && self.output.is_none()
    }

    /// Returns whether bytes of the stream wait to be written to `output`.
    pub(crate) const fn owes_output(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns whether an error or a reset has cut a direction off. A peer that stops reading does not count.
    pub(crate) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns why bytes for `output` were lost, as [`unwritten`] does.
    pub(crate) fn loss(&self) -> Option<String> {
        self.write_error.and_then(|error| unwritten(&error.into()))
    }

    /// Returns whether this splice copies the stream with this number.
    pub(crate) fn is_of(&self, id: StreamId) -> bool {
        self.id == id
    }

    /// Returns whether [`Splice::cut`] has ended both directions, as after a reset by the peer.
    pub(crate) const fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Copies from `input` to the stream by a single read, because a second read from a terminal could block.
    fn fill(&mut self, mux: &mut Mux, buffer: &mut [u8]) {
        let Some(input) = &self.input else { return };
        let Ok(room) = mux.room(self.id) else {
            // The peer has stopped reading. The other direction goes on.
            self.input = None;
            return;
        };
        self.has_room = room > 0;
        if !self.has_room || !self.is_readable {
            return;
        }
        self.is_readable = false;
        let len = room.min(buffer.len());
        match rustix::io::read(&input.fd, &mut buffer[..len]) {
            Ok(0) => {
                // After the write to a reset connection has failed, a read finds only the end of the stream.
                let _ = match self.write_error {
                    Some(Errno::CONNRESET) => mux.reset(self.id, BROKEN),
                    _ => mux.finish(self.id),
                };
                self.input = None;
            }
            Ok(count) => {
                let taken = mux.write(self.id, &buffer[..count]);
                debug_assert_eq!(taken, Ok(count), "there was room");
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => {
                tracing::debug!(%error, id = self.id.get(), "cannot read for a stream");
                let _ = mux.reset(self.id, BROKEN);
                self.input = None;
                self.is_cut = true;
            }
        }
    }

    fn drain(&mut self, now: Instant, mux: &mut Mux, buffer: &mut [u8]) {
        self.has_more = false;
        let mut left = BYTES_PER_TURN;
        while let Some(output) = self.output.as_ref().filter(|_| self.is_writable) {
            if left == 0 {
                self.has_more = true;
                return;
            }
            if self.waiting.is_empty() {
                let len = left.min(buffer.len());
                match mux.read(now, self.id, &mut buffer[..len]) {
                    Ok(Read::Bytes(count)) => self.waiting.extend_from_slice(&buffer[..count]),
                    Ok(Read::Blocked) => return,
                    Ok(Read::End) | Err(StreamError::Unknown | StreamError::Stopped(_)) => {
                        return self.end_output();
                    }
                    Err(StreamError::Reset(_) | StreamError::Closed | StreamError::TooMany) => {
                        return self.cut(mux);
                    }
                }
            }
            debug_assert!(self.waiting.len() <= BYTES_PER_TURN, "one read waits at most");
            match rustix::io::write(&output.fd, &self.waiting) {
                Ok(count) => {
                    left = left.saturating_sub(count);
                    self.waiting.drain(..count);
                }
                Err(Errno::AGAIN) => self.is_writable = false,
                Err(Errno::INTR) => {}
                Err(error) => {
                    tracing::debug!(%error, id = self.id.get(), "cannot write for a stream");
                    let _ = mux.stop(self.id, BROKEN);
                    self.output = None;
                    self.is_cut = true;
                    self.write_error = Some(error);
                }
            }
        }
    }

    /// Passes the stream's end on to `output`.
    fn end_output(&mut self) {
        if let Some(output) = self.output.take().filter(|_| self.is_socket) {
            let _ = shutdown(&output.fd, Shutdown::Write);
        }
    }

    /// Ends both directions at once, as after a reset by the peer.
    pub(crate) fn cut(&mut self, mux: &mut Mux) {
        let _ = mux.reset(self.id, BROKEN);
        (self.is_cut, self.is_reset) = (true, true);
        self.reset_socket();
        (self.input, self.output) = (None, None);
    }

    /// Makes closing the socket reset its connection.
    fn reset_socket(&self) {
        if let Some(socket) = self.input.as_ref().or(self.output.as_ref())
            && self.is_socket
        {
            reset(&socket.fd);
        }
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        // After the stream's end was passed on, a reset could discard bytes that the kernel has not yet sent.
        if self.output.is_some() {
            self.reset_socket();
        }
    }
}

/// Returns the sentence about an output that cannot be written. `None` if the output's reader has left.
pub(crate) fn unwritten(error: &io::Error) -> Option<String> {
    let has_reader = !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    has_reader.then(|| format!("cannot write the output: {}", reason(&error.to_string())))
}

/// Makes closing a socket reset its connection, because a refusal must not look like an orderly end.
pub(crate) fn reset(socket: &OwnedFd) {
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use rove_rig::guard::wait_until;
    use rove_streams::FIRST_CREDIT;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    /// Both ends of a stream, and a splice of the server's end with a TCP connection to `peer`.
    struct Joined {
        client: Mux,
        server: Mux,
        id: StreamId,
        splice: Splice,
        peer: TcpStream,
        now: Instant,
    }

    impl Joined {
        fn new() -> Self {
            let (mut client, server) = muxes();
            let id = client.open(Instant::ZERO).unwrap();
            client.write(id, b"open").unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            socket.set_nonblocking(true).unwrap();
            let (peer, _) = listener.accept().unwrap();
            peer.set_read_timeout(Some(core::time::Duration::from_secs(20))).unwrap();
            let splice = Splice::socket(id, socket.into());
            Self { client, server, id, splice, peer, now: Instant::ZERO }
        }

        /// Delivers packets both ways and calls the splice, 300 times.
        fn run(&mut self) {
            for _ in 0..300 {
                self.now += Duration::from_millis(5);
                deliver(self.now, &mut self.client, &mut self.server);
                self.splice.handle_ready(&mut core::iter::repeat(true));
                self.splice.turn(self.now, &mut self.server, &mut [0; BYTES_PER_TURN]);
                deliver(self.now, &mut self.server, &mut self.client);
            }
        }

        /// Closes the peer's end, on which bytes wait. The system then resets the connection, but not before a child that
        /// another test has just forked has closed its copy.
        fn reset(&mut self) {
            self.peer = Self::new().peer;
            let socket = &self.splice.input.as_ref().expect("it is open").fd;
            wait_until("the reset", || {
                let mut fds = [PollFd::new(socket, PollFlags::empty())];
                poll(&mut fds, Some(&Timespec::default())) == Ok(1)
            });
        }

        fn read(&mut self) -> Result<(Vec<u8>, bool), StreamError> {
            let (mut all, mut buffer) = (Vec::new(), [0; 4_096]);
            loop {
                match self.client.read(self.now, self.id, &mut buffer)? {
                    Read::Bytes(count) => all.extend_from_slice(&buffer[..count]),
                    end => return Ok((all, end == Read::End)),
                }
            }
        }
    }

    #[test]
    fn a_socket_that_is_input_and_output_stays_non_blocking_until_both_have_ended() {
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let blocks = || !fcntl_getfl(&socket).unwrap().contains(OFlags::NONBLOCK);
        let mut others = Vec::new();
        let mut copy = || Descriptor::copy_of(socket.as_fd(), &mut others).unwrap();
        let (input, output) = (copy(), copy());
        drop(input);
        assert!(!blocks(), "the output must not stop the event loop");
        drop(output);
        assert!(blocks(), "it is as the caller had it");
    }

    #[test]
    fn each_direction_ends_alone() {
        let mut joined = Joined::new();
        joined.client.finish(joined.id).unwrap();
        joined.run();
        let mut asked = String::new();
        joined.peer.read_to_string(&mut asked).unwrap();
        assert_eq!(asked, "open", "the end has come");
        assert!(!joined.splice.is_over());
        joined.peer.write_all(b"answer").unwrap();
        joined.run();
        assert_eq!(joined.read(), Ok((b"answer".to_vec(), false)));
        joined.peer.shutdown(std::net::Shutdown::Write).unwrap();
        joined.run();
        assert_eq!(joined.read(), Ok((Vec::new(), true)));
        assert!(joined.splice.is_over() && !joined.splice.is_cut());
    }

    #[test]
    fn a_cut_is_a_reset_and_never_looks_like_an_end() {
        for is_reset in [true, false] {
            let mut joined = Joined::new();
            joined.run();
            joined.peer.read_exact(&mut [0; 4]).unwrap();
            if is_reset {
                joined.client.reset(joined.id, 9).unwrap();
                joined.run();
                assert!(joined.splice.is_cut() && joined.splice.is_over());
            }
            let Joined { splice, mut peer, .. } = joined;
            drop(splice);
            let error = peer.read(&mut [0; 4]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{is_reset}");
        }
        let mut joined = Joined::new();
        joined.run();
        joined.reset();
        joined.run();
        assert!(matches!(joined.read(), Err(StreamError::Reset(BROKEN))));
    }

    #[test]
    fn a_reset_that_a_write_meets_first_is_passed_on_as_a_reset() {
        let mut joined = Joined::new();
        joined.run();
        joined.reset();
        joined.client.write(joined.id, b"more").unwrap();
        deliver(joined.now, &mut joined.client, &mut joined.server);
        joined.splice.turn(joined.now, &mut joined.server, &mut [0; BYTES_PER_TURN]);
        assert!(joined.splice.is_cut() && !joined.splice.is_over(), "the write has failed");
        joined.run();
        assert_eq!(joined.read(), Err(StreamError::Reset(BROKEN)));
    }

    #[test]
    fn a_peer_that_closes_orderly_is_read_to_its_end_although_writes_fail() {
        let mut joined = Joined::new();
        joined.run();
        joined.peer.read_exact(&mut [0; 4]).unwrap();
        joined.peer.write_all(&[7; 3_000]).unwrap();
        drop(std::mem::replace(&mut joined.peer, Joined::new().peer));
        while !joined.splice.is_cut() {
            joined.client.write(joined.id, b"x").unwrap();
            deliver(joined.now, &mut joined.client, &mut joined.server);
            joined.splice.turn(joined.now, &mut joined.server, &mut [0; BYTES_PER_TURN]);
        }
        joined.run();
        assert_eq!(joined.read(), Ok((vec![7; 3_000], true)));
    }

    #[test]
    fn a_reader_that_stops_holds_the_connection_up_within_the_first_credit() {
        let mut joined = Joined::new();
        joined.peer.set_nonblocking(true).unwrap();
        let mut sent = 0;
        for _ in 0..20 {
            while let Ok(count) = joined.peer.write(&[7; 65_536]) {
                sent += count as u64;
            }
            joined.run();
        }
        assert!(joined.client.held() <= FIRST_CREDIT + 4, "{}", joined.client.held());
        assert!(joined.server.held() <= sent, "the system holds the rest");
        assert_eq!(joined.splice.interests().count(), 0, "nothing is waited for");
        let mut read = 0;
        while read < sent {
            let (bytes, is_end) = joined.read().unwrap();
            assert!(!is_end && bytes.iter().all(|it| *it == 7));
            read += bytes.len() as u64;
            joined.run();
        }
    }
}
