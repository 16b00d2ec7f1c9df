//! The host's end of the client's lent ssh agent. The session's programs connect to a socket at a constant path. The
//! server joins each connection to a second socket, which leads to the client's agent. The host's sshd makes that
//! socket for another ssh (`ssh -A`) of the client. Without that ssh, the server makes the socket, and reaches the
//! client by streams.
//!
//! While the client is away or has named no second socket, the server closes a connection to the constant path at once.
//! A program thus goes on without an agent instead of waiting.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rove_platform::event_loop::Interest;
use rove_streams::{Answer, Mux, PATH_MAX, Read, Reception, StreamId, UNREACHED};
use rove_units::{Duration, Instant};

use crate::agent::CONNECTIONS_MAX;
use crate::agent::joint::Joint;
use crate::agent::socket::PrivateSocket;

/// Time between two checks of the client's presence, while programs are connected. Chosen: after a client counts as
/// gone, a program waits for its agent for at most this long.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The reason for refusing a client's agent if the session was started without `-A`.
const NO_PATH: &str = "the session was started without -A";

/// The socket that serves the session's programs, and their connections to it.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// The socket that the session's programs use. `None` without `-A`, or if the socket could not be opened.
    socket: Option<PrivateSocket>,
    /// The stream on which the client names the socket that leads to its agent. `None` if the client lends no agent.
    lent: Option<Lent>,
    joints: Vec<Joint>,
    look_at: Option<Instant>,
}

/// The path of the socket that leads to the client's agent, as read from a stream.
#[derive(Debug)]
struct Lent {
    id: StreamId,
    /// The bytes of the path that have been read. A newline ends the path.
    line: Vec<u8>,
}

impl Agent {
    /// Opens the socket that the session's programs use. If that fails, the session has no agent.
    pub(super) fn open() -> Self {
        let socket = PrivateSocket::open("agent");
        let socket =
            socket.inspect_err(|error| tracing::warn!(%error, "no path for an agent")).ok();
        Self { socket, ..Self::default() }
    }

    /// Returns the path of the socket that the session's programs use. `None` if there is no such socket.
    pub(super) fn path(&self) -> Option<&Path> {
        self.socket.as_ref().map(PrivateSocket::path)
    }

    /// Answers a stream on which the client will name its agent's socket. Refuses it without `-A`. Ends a former one.
    pub(super) fn begin(&mut self, mux: &mut Mux, reception: &mut Reception, id: StreamId) {
        if let Some(socket) = &mut self.socket {
            socket.restore();
            let answer = Answer::Opened { address: socket.path().display().to_string() };
            reception.answer(mux, id, &answer);
            if let Some(former) = self.lent.replace(Lent { id, line: Vec::new() }) {
                reception.give_up(mux, former.id);
            }
        } else {
            let refused = Answer::Refused { code: UNREACHED, text: NO_PATH.to_owned() };
            reception.answer(mux, id, &refused);
        }
    }

    /// Reads the path from the client's stream and serves the connections, without blocking. `mux` has the client's
    /// streams, if any. If the client is away or has named no path, closes all connections.
    pub(super) fn turn(&mut self, now: Instant, mux: Option<&mut Mux>, is_client_there: bool) {
        let Some(socket) = &mut self.socket else { return };
        let lent = self.lent.take().zip(mux);
        self.lent = lent.and_then(|(mut lent, mux)| lent.read(now, mux).then_some(lent));
        let place = self.lent.as_ref().and_then(Lent::place).filter(|_| is_client_there);
        while let Some(asker) = socket.accept() {
            let has_room = self.joints.len() < CONNECTIONS_MAX;
            if let Some(place) = place.as_ref().filter(|_| has_room) {
                match rove_control::connect_to_user(place) {
                    Ok(agent) => self.joints.push(Joint::new(asker, agent.into(), None)),
                    Err(error) => tracing::debug!(%error, "the client's agent is not there"),
                }
            }
        }
        let before = self.joints.len();
        self.joints.retain_mut(|joint| place.is_some() && joint.turn());
        if self.joints.len() < before {
            socket.unmute();
        }
        debug_assert!(self.joints.len() <= CONNECTIONS_MAX);
        self.look_at = (!self.joints.is_empty()).then(|| now + LOOK_INTERVAL);
    }

    /// Returns the time by which to call [`Agent::turn`] again. `None` without a deadline.
    pub(super) const fn poll_timeout(&self) -> Option<Instant> {
        self.look_at
    }

    /// Returns the descriptors to wait for. When one is ready, call [`Agent::turn`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let socket = self.socket.iter().filter_map(PrivateSocket::interest);
        socket.chain(self.joints.iter().flat_map(Joint::interests))
    }
}

impl Lent {
    /// Reads more of the path. Returns `false` if the stream has ended or the path is too long.
    fn read(&mut self, now: Instant, mux: &mut Mux) -> bool {
        let mut buffer = [0; PATH_MAX + 1];
        match mux.read(now, self.id, &mut buffer) {
            Ok(Read::Bytes(count)) => {
                self.line.extend(&buffer[..count]);
                self.line.len() <= buffer.len()
            }
            Ok(Read::Blocked) => true,
            Ok(Read::End) | Err(_) => false,
        }
    }

    /// Returns the path. `None` until the client has sent a whole absolute path.
    fn place(&self) -> Option<PathBuf> {
        let path = self.line.strip_suffix(b"\n")?;
        let is_path = path.first() == Some(&b'/') && !path.contains(&0);
        is_path.then(|| std::ffi::OsString::from_vec(path.to_vec()).into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::os::unix::net::{UnixListener, UnixStream};

    use rove_rig::guard::HANG_GUARD;
    use rove_rig::scratch::Scratch;
    use rove_streams::{Event, Target};

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    /// A session with a socket for the agent, and the streams of its client and server, without a network between both.
    struct Session {
        now: Instant,
        client: Mux,
        server: Mux,
        reception: Reception,
        agent: Agent,
        scratch: Scratch,
    }

    impl Session {
        fn new() -> Self {
            let (scratch, (client, server)) = (Scratch::new(), muxes());
            let socket = PrivateSocket::at(&scratch.path("path")).unwrap();
            Self {
                now: Instant::ZERO,
                client,
                server,
                reception: Reception::default(),
                agent: Agent { socket: Some(socket), ..Agent::default() },
                scratch,
            }
        }

        /// Delivers all packets and serves the agent of a client that is there or away.
        fn turn(&mut self, is_client_there: bool) {
            for _ in 0..50 {
                self.now += Duration::from_millis(1);
                deliver(self.now, &mut self.client, &mut self.server);
                while let Some(event) = self.server.poll_event() {
                    match event {
                        Event::Incoming => self.reception.handle_incoming(&mut self.server),
                        Event::Readable(id) => {
                            let (now, mux) = (self.now, &mut self.server);
                            if self.reception.handle_readable(now, mux, id) == Some(Target::Agent) {
                                self.agent.begin(mux, &mut self.reception, id);
                            }
                        }
                        _ => {}
                    }
                }
                self.agent.turn(self.now, Some(&mut self.server), is_client_there);
                deliver(self.now, &mut self.server, &mut self.client);
            }
        }

        /// Lends the agent at `path` to the session. Returns the client's stream.
        fn lend(&mut self, path: &[u8]) -> StreamId {
            let id = self.client.open(self.now).unwrap();
            self.client.write(id, &Target::Agent.encode()).unwrap();
            self.client.write(id, &[path, b"\n"].concat()).unwrap();
            self.turn(true);
            id
        }

        /// Opens a non-blocking connection to the session's agent socket.
        fn connect(&self) -> UnixStream {
            let stream = UnixStream::connect(self.scratch.path("path")).unwrap();
            stream.set_nonblocking(true).unwrap();
            stream
        }
    }

    fn is_closed(stream: &mut UnixStream) -> bool {
        match stream.read(&mut [0; 1]) {
            Err(error) => error.kind() != ErrorKind::WouldBlock,
            Ok(count) => count == 0,
        }
    }

    /// Returns whether a connection closes. A child that another test has forked keeps it open until the child's exec.
    fn closes(stream: &mut UnixStream) -> bool {
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(HANG_GUARD)).unwrap();
        is_closed(stream)
    }

    #[test]
    fn the_path_leads_to_the_newest_agent_of_a_client_that_is_there_and_else_nowhere() {
        let mut session = Session::new();
        let mut early = session.connect();
        session.turn(true);
        assert!(closes(&mut early), "no agent is lent");
        let far = |name: &str| {
            let path = session.scratch.path(name);
            (UnixListener::bind(&path).unwrap(), path.into_os_string().into_encoded_bytes())
        };
        let ((first, at_first), (second, at_second)) = (far("first"), far("second"));
        session.lend(&at_first);
        let mut open = session.connect();
        session.turn(true);
        let (mut agent, _) = first.accept().unwrap();
        open.write_all(b"question").unwrap();
        session.turn(true);
        let mut asked = [0; 8];
        agent.read_exact(&mut asked).unwrap();
        assert_eq!((&asked, is_closed(&mut open)), (b"question", false));
        // The client is silent for a while, and then sends again.
        let mut during = session.connect();
        session.turn(false);
        assert!(closes(&mut open) && closes(&mut during));
        assert_eq!(session.agent.poll_timeout(), None);
        let id = session.lend(&at_second);
        let mut open = session.connect();
        session.turn(true);
        second.accept().expect("the newest counts");
        assert!(!is_closed(&mut open) && session.agent.poll_timeout().is_some());
        // The client's ssh has ended.
        session.client.reset(id, 0).unwrap();
        session.turn(true);
        let mut late = session.connect();
        session.turn(true);
        assert!(closes(&mut open) && closes(&mut late));
    }

    #[test]
    fn connections_are_bounded_and_what_is_no_path_leads_nowhere() {
        let mut session = Session::new();
        let path = session.scratch.path("far");
        let far = UnixListener::bind(&path).unwrap();
        for wrong in [&b"relative"[..], b"", b"/nul\0", &[b'/'; PATH_MAX + 1]] {
            session.lend(wrong);
            let mut stream = session.connect();
            session.turn(true);
            assert!(closes(&mut stream), "{wrong:?}");
        }
        session.lend(path.as_os_str().as_encoded_bytes());
        let mut streams: Vec<UnixStream> =
            (0..=CONNECTIONS_MAX).map(|_| session.connect()).collect();
        session.turn(true);
        assert!(streams.pop().is_some_and(|mut last| closes(&mut last)), "one too many");
        assert!(!streams.iter_mut().any(is_closed));
        // A child that another test has just forked may hold the sockets open.
        far.set_nonblocking(true).unwrap();
        while let Ok((agent, _)) = far.accept() {
            streams.push(agent);
        }
        for stream in &streams {
            stream.shutdown(std::net::Shutdown::Both).expect("it is open");
        }
        rustix::net::shutdown(&far, rustix::net::Shutdown::Both).expect("it listens");
        session.turn(true);
        assert!(session.agent.joints.is_empty());
        let mut late = session.connect();
        session.turn(true);
        assert!(closes(&mut late), "the socket is dead");
    }

    #[test]
    fn a_session_without_a_path_refuses_an_agent_in_words() {
        let mut session = Session::new();
        session.agent = Agent::default();
        let id = session.lend(b"/agent");
        let mut answer = [0; 99];
        let read = session.client.read(session.now, id, &mut answer).unwrap();
        let Read::Bytes(count) = read else { panic!("{read:?}") };
        assert!(String::from_utf8_lossy(&answer[..count]).contains(NO_PATH));
        assert_eq!(session.agent.interests().count(), 0);
    }
}
