//! The server's side of a control socket: a few non-blocking connections that the session's loop serves.
//!
//! A silent connection takes a descriptor and a short buffer, and causes no timers and no wake-ups. There are at most
//! [`CONNECTIONS_MAX`] connections. A new connection replaces the oldest, so that silent peers cannot lock others out.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rove_host::peer;
use rove_platform::event_loop::Interest;
use rove_units::{Duration, Instant, push_newest};
use zeroize::Zeroizing;

use crate::directory::{self, SessionName, is_for_later, is_of_user};
use crate::protocol::{
    Answer, REQUEST_LEN_MAX, Request, RequestError, decode_request, encode_reply,
};

/// Most connections to a control socket at once. Chosen: more than the programs that usually ask at the same time.
const CONNECTIONS_MAX: usize = 8;
/// Most connections accepted in one turn of the server's loop, so that a flood of connections does not stop the
/// session. Chosen: as many connections as may be open.
const ACCEPTS_PER_TURN: usize = CONNECTIONS_MAX;

/// Time between two looks at the socket's file. Chosen: a look costs a system call, and its user seldom waits longer.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// A session's control socket, with its connections.
#[derive(Debug)]
pub struct Listener {
    name: SessionName,
    label: Option<String>,
    socket: Option<BoundSocket>,
    connections: VecDeque<Connection>,
    /// When the socket's file is looked at again. No deadline of the event loop, because an idle session must not wake.
    look_due: Instant,
}

/// A socket that accepts connections at a path.
#[derive(Debug)]
struct BoundSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket file. If the file at `path` has other numbers, another process has replaced it.
    identity: (u64, u64),
    /// True after `accept` has failed, for example because the process has no free descriptor. The event loop then
    /// ignores the socket until its next turn, because an immediate retry would keep a processor busy.
    is_muted: bool,
}

impl Listener {
    /// Creates the control socket of a session. If that fails, the session runs on, and `rove list` omits the session.
    pub fn open(name: SessionName, label: Option<String>) -> Self {
        let (connections, look_due) = (VecDeque::new(), Instant::default());
        let mut listener = Self { name, label, socket: None, connections, look_due };
        listener.flush();
        listener
    }

    /// Calls [`Self::flush`], at most once a minute. Call this whenever the event loop is awake.
    pub fn flush_in_time(&mut self, now: Instant) {
        if now >= self.look_due {
            self.look_due = now + LOOK_INTERVAL;
            self.flush();
        }
    }

    /// Creates the socket again if its file is gone or replaced. The system removes the runtime directory of a user who
    /// seems to have logged out.
    pub fn flush(&mut self) {
        if self.socket.as_ref().is_some_and(BoundSocket::is_in_place) {
            return;
        }
        match BoundSocket::bind(self.name, self.label.as_deref()) {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => tracing::warn!(%error, "no control socket: rove list will not know us"),
        }
    }

    /// Returns the descriptors that the caller's event loop must watch.
    pub fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let socket = self.socket.iter().filter(|socket| !socket.is_muted);
        let socket = socket.map(|socket| Interest::new(socket.listener.as_fd(), true, false));
        socket.chain(self.connections.iter().filter_map(Connection::interest))
    }

    /// Serves all connections as far as possible without waiting. `answer` is called once for each request, with the
    /// process number of the peer. Returns whether a peer has asked to end the session.
    pub fn turn(&mut self, mut answer: impl FnMut(Request, Option<u32>) -> Answer) -> bool {
        self.accept_waiting();
        let mut is_end = false;
        self.connections.retain_mut(|connection| {
            let next = connection.turn(&mut answer);
            is_end |= next == Next::End;
            next != Next::Close
        });
        is_end
    }

    fn accept_waiting(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        socket.is_muted = false;
        for _ in 0..ACCEPTS_PER_TURN {
            match socket.listener.accept() {
                Ok((stream, _)) => {
                    // A process of another user may have got a descriptor of the directory, and connect through it.
                    if !is_of_user(&stream) || stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    let connection = Connection::new(stream);
                    push_newest(&mut self.connections, connection, CONNECTIONS_MAX);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => break,
                    // The error concerns this connection only.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => {
                        tracing::warn!(%error, "control socket rests");
                        socket.is_muted = true;
                        break;
                    }
                },
            }
        }
    }
}

impl BoundSocket {
    fn bind(name: SessionName, label: Option<&str>) -> io::Result<Self> {
        let directory = directory::runtime_directory().map_err(io::Error::other)?;
        directory.remove_leftovers();
        // The socket file gets its final name only after `listen`, because other processes remove a socket with such a
        // name that refuses connections.
        let (unready, path) =
            (directory.unready_socket(name), directory.path().join(name.to_string()));
        let listener = listen(&unready)?;
        directory::write_label(&path, label);
        std::fs::rename(&unready, &path)?;
        let identity = identity(&path)?;
        Ok(Self { listener, path, identity, is_muted: false })
    }

    fn is_in_place(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        if self.is_in_place() {
            directory::write_label(&self.path, None);
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens a socket at `path` to which only this user may connect.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|found| (found.dev(), found.ino()))
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    /// The process number of the peer. `None` if the system does not tell it.
    peer: Option<u32>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The peer is sending its request, of which these bytes have been read.
    Asking(Vec<u8>),
    /// `rest` is the unsent part of the answer. If `is_end`, the connection then stays open until the server exits.
    Told { rest: Zeroizing<Vec<u8>>, is_end: bool },
    /// The whole answer to a request to end the session is sent. The server's exit closes the connection.
    Waiting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Keep,
    Close,
    /// The listener keeps the connection, and the session ends.
    End,
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        let peer = peer::process_of(&stream);
        Self { stream, peer, phase: Phase::Asking(Vec::new()) }
    }

    fn interest(&self) -> Option<Interest<'_>> {
        match self.phase {
            Phase::Asking(_) => Some(Interest::new(self.stream.as_fd(), true, false)),
            Phase::Told { .. } => Some(Interest::new(self.stream.as_fd(), false, true)),
            Phase::Waiting => None,
        }
    }

    fn turn(&mut self, answer: &mut impl FnMut(Request, Option<u32>) -> Answer) -> Next {
        let mut next = Next::Keep;
        if let Phase::Asking(asked) = &mut self.phase {
            let request = match read_request(&mut self.stream, asked) {
                Ok(Some(request)) => request,
                Ok(None) => return Next::Keep,
                Err(_) => return Next::Close,
            };
            let is_end = request == Ok(Request::End);
            let rest = encode_reply(request.map(|request| answer(request, self.peer)));
            self.phase = Phase::Told { rest, is_end };
            if is_end {
                next = Next::End;
            }
        }
        if let Phase::Told { rest, is_end } = &mut self.phase {
            match self.stream.write(rest) {
                Ok(len) => drop(rest.drain(..len)),
                Err(error) if is_for_later(&error) => {}
                // The peer that asked to end the session may have disconnected. Its request is still carried out.
                Err(_) if next == Next::Keep => return Next::Close,
                Err(_) => rest.clear(),
            }
            if rest.is_empty() {
                if !*is_end {
                    return Next::Close;
                }
                self.phase = Phase::Waiting;
            }
        }
        next
    }
}

/// Reads more bytes of a request. Returns the request, or why it is refused; `None` if its line is not complete yet.
///
/// # Errors
///
/// Returns why `stream` cannot be read, or that it ended before a request was complete.
fn read_request(
    stream: &mut UnixStream,
    asked: &mut Vec<u8>,
) -> io::Result<Option<Result<Request, RequestError>>> {
    let mut buffer = [0; REQUEST_LEN_MAX];
    match stream.read(&mut buffer[asked.len()..]) {
        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(len) => asked.extend_from_slice(&buffer[asked.len()..][..len]),
        Err(error) if is_for_later(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    match asked.iter().position(|&byte| byte == b'\n') {
        Some(end) => Ok(Some(decode_request(&asked[..end]))),
        None if asked.len() == REQUEST_LEN_MAX => Ok(Some(Err(RequestError::Unknown))),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{SessionStatus, State, decode_reply, encode_request};

    /// Time after which a test counts as hanging. Chosen: longer than any computer takes to start a program.
    const HANG_GUARD: std::time::Duration = std::time::Duration::from_secs(90);

    fn answer(_: Request, _: Option<u32>) -> Answer {
        let status = SessionStatus { pid: 17, state: State::Attached, ..SessionStatus::default() };
        Answer { status, ..Answer::default() }
    }

    /// Returns a listener at a path that only this test uses.
    fn listener(name: &str) -> (Listener, PathBuf) {
        let name = format!("rove-listener-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let identity = identity(&path).unwrap();
        let socket = BoundSocket { listener, path: path.clone(), identity, is_muted: false };
        let (name, connections) = (SessionName { pid: 1, port: 1 }, VecDeque::new());
        let look_due = Instant::default();
        (Listener { name, label: None, socket: Some(socket), connections, look_due }, path)
    }

    fn all_of(mut stream: UnixStream) -> Vec<u8> {
        let mut text = Vec::new();
        // Closing a connection with unread bytes resets it. Only the bytes received before the reset count.
        let _ = stream.read_to_end(&mut text);
        text
    }

    #[test]
    fn a_request_is_answered_however_it_is_cut() {
        let (mut listener, path) = listener("cut");
        let line = encode_request(Request::Status);
        for step in [1, 5, line.len()] {
            let mut peer = UnixStream::connect(&path).unwrap();
            for piece in line.as_bytes().chunks(step) {
                peer.write_all(piece).unwrap();
                assert!(!listener.turn(answer));
            }
            assert_eq!(decode_reply(&all_of(peer)), Ok(answer(Request::Status, None)));
            assert!(listener.connections.is_empty());
        }
    }

    #[test]
    fn a_peer_that_asks_for_the_end_is_told_when_it_has_come() {
        let (mut listener, path) = listener("end");
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(encode_request(Request::End).as_bytes()).unwrap();
        assert!(listener.turn(answer));
        assert!(!listener.turn(answer), "once is enough");
        peer.set_nonblocking(true).unwrap();
        let mut reply = [0; 4096];
        let len = peer.read(&mut reply).unwrap();
        assert_eq!(decode_reply(&reply[..len]), Ok(answer(Request::Status, None)));
        let error = peer.read(&mut reply).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "the session still runs");
        drop(listener);
        // A child that another test has just forked holds the connection open until it executes its program.
        peer.set_nonblocking(false).unwrap();
        peer.set_read_timeout(Some(HANG_GUARD)).unwrap();
        assert_eq!(peer.read(&mut reply).unwrap(), 0);
        assert!(!path.exists(), "the socket goes with the session");
    }

    #[test]
    fn an_end_that_nobody_waits_for_is_an_end() {
        let (mut listener, path) = listener("hurry");
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(encode_request(Request::End).as_bytes()).unwrap();
        drop(peer);
        assert!(listener.turn(answer));
    }

    #[test]
    fn silence_and_garbage_cost_little_and_keep_nobody_out() {
        let (mut listener, path) = listener("hostile");
        let mut silent = Vec::new();
        for _ in 0..100 {
            silent.push(UnixStream::connect(&path).unwrap());
            assert!(!listener.turn(answer));
            assert!(listener.connections.len() <= CONNECTIONS_MAX);
        }
        assert!(listener.interests().count() <= 1 + CONNECTIONS_MAX);
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(encode_request(Request::Status).as_bytes()).unwrap();
        listener.turn(answer);
        assert_eq!(decode_reply(&all_of(peer)), Ok(answer(Request::Status, None)));

        for len in [REQUEST_LEN_MAX, REQUEST_LEN_MAX + 1, 10 * REQUEST_LEN_MAX] {
            let mut peer = UnixStream::connect(&path).unwrap();
            peer.write_all(&vec![0xff; len]).unwrap();
            assert!(!listener.turn(answer));
            assert_eq!(listener.connections.len(), CONNECTIONS_MAX - 1, "{len}: closed");
        }
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(&[0xff; REQUEST_LEN_MAX - 1]).unwrap();
        assert!(!listener.turn(answer));
        assert_eq!(listener.connections.len(), CONNECTIONS_MAX, "there may be more to come");
    }

    #[test]
    fn a_socket_whose_file_is_gone_is_made_again_within_a_minute() {
        let (mut listener, path) = listener("gone");
        listener.name.pid = std::process::id();
        let is_moved = |listener: &Listener| listener.socket.as_ref().unwrap().path != path;
        let start = Instant::default() + Duration::from_secs(7);
        listener.flush_in_time(start);
        std::fs::remove_file(&path).unwrap();
        for (seconds, is_made) in [(0, false), (59, false), (60, true), (61, true)] {
            listener.flush_in_time(start + Duration::from_secs(seconds));
            assert_eq!(is_moved(&listener), is_made, "{seconds} s");
        }
        assert!(listener.socket.as_ref().unwrap().is_in_place());
    }

    #[test]
    fn a_socket_that_is_no_longer_in_place_is_left_alone() {
        let (listener, path) = listener("moved");
        std::fs::remove_file(&path).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        drop(listener);
        assert!(path.exists());
        drop(other);
        std::fs::remove_file(&path).unwrap();
    }
}
