//! The messages, lines of JSON, between a client and a call (`rove -W`, `exec`) that uses its session. The first bytes
//! of a request carry the call's descriptors.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_bootstrap::{Joined, ProgramName};
use rove_platform::event_loop::Interest;
use rove_streams::COMMAND_MAX;
use rove_units::{Duration, Instant};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::Gate;
use crate::bootstrap::screen::tell;

/// Most bytes of a call's request to a running client. Chosen: enough for the longest command in base64.
const REQUEST_MAX: usize = 2 * COMMAND_MAX;
const _: () = assert!(REQUEST_MAX > COMMAND_MAX.div_ceil(3) * 4 + 4096);

/// The exit code if the connection could not be made, or was cut. Source: OpenSSH 9.2 as observed.
pub(crate) const FAILURE: u8 = 255;

/// The number that a shell adds to a signal's number for the exit code of a program that the signal ended.
pub(crate) const SIGNALLED: u8 = 128;

/// Most descriptors in a call's request: standard input, output and error. A connection has the first two.
pub(crate) const DESCRIPTORS_MAX: usize = 3;

/// Longest wait for a call's request. Chosen: a call sends it at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call's request to a client. The client refuses another gate than its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) gate: Gate,
    joined: Joined,
    /// The program's command in base64, because it may not be UTF-8.
    command: String,
}

/// A client's message about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Word {
    /// The client has accepted the request.
    Taken,
    /// The host has opened the streams. Until then the call reads no input.
    Opened,
    /// The client cannot serve the request, and the call can log in by itself.
    NotCarried,
    /// The program has ended with this exit code. For a connection the code is 0.
    Code(u8),
    /// A signal of this number ended the program.
    Signal(u8),
    /// The host is silent.
    Dark,
    /// Datagrams arrive from the host again.
    Back,
    /// The host refused the streams or they were cut, for these reasons.
    Failed(Vec<String>),
}

impl Word {
    /// Prints the sentences of a failure, and returns the exit code.
    pub(crate) fn conclude(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => SIGNALLED.saturating_add(signal),
            Self::Failed(said) => {
                said.iter().for_each(|sentence| tell(ProgramName::Rove.as_str(), sentence));
                FAILURE
            }
            _ => FAILURE,
        }
    }
}

impl Request {
    pub(crate) fn new(gate: Gate, joined: &Joined) -> Self {
        let command = match joined {
            Joined::Program { command, .. } => STANDARD.encode(command.as_bytes()),
            Joined::Port(_) | Joined::Files { .. } => String::new(),
        };
        Self { gate, joined: joined.clone(), command }
    }

    /// Returns the port or program of the request. `None` for a malformed command, and for files, which clients refuse.
    pub(crate) fn into_joined(self) -> Option<Joined> {
        Some(match self.joined {
            Joined::Program { is_subsystem, .. } => {
                let command = STANDARD.decode(self.command).ok()?;
                let command = Some(command).filter(|it| it.len() <= COMMAND_MAX)?;
                Joined::Program { command: OsString::from_vec(command), is_subsystem }
            }
            port @ Joined::Port(_) => port,
            Joined::Files { .. } => return None,
        })
    }

    /// Sends the request with its descriptors.
    pub(crate) fn send(&self, stream: &UnixStream, descriptors: &[OwnedFd]) -> io::Result<()> {
        let line = line(self);
        let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let has_room = control.push(SendAncillaryMessage::ScmRights(&descriptors));
        debug_assert!(has_room, "a request has at most {DESCRIPTORS_MAX}");
        let sent = sendmsg(stream, &[IoSlice::new(&line)], &mut control, SendFlags::empty())?;
        (&*stream).write_all(&line[sent..])
    }
}

/// Returns a message as a line of JSON.
pub(crate) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("a message has no map with odd keys");
    line.push(b'\n');
    line
}

/// A connection whose request is incomplete.
#[derive(Debug)]
pub(crate) struct Asking {
    socket: OwnedFd,
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
    until: Instant,
}

/// A complete request, with its connection and its descriptors.
pub(crate) type Asked = (Request, OwnedFd, Vec<OwnedFd>);

impl Asking {
    /// Begins to read from a connection in non-blocking mode.
    pub(crate) fn new(now: Instant, socket: OwnedFd) -> Self {
        Self { socket, bytes: Vec::new(), descriptors: Vec::new(), until: now + PATIENCE }
    }

    /// Returns when to give up an incomplete request.
    pub(crate) const fn until(&self) -> Instant {
        self.until
    }

    /// Returns the descriptor to wait for.
    pub(crate) fn interest(&self) -> Interest<'_> {
        Interest::new(self.socket.as_fd(), true, false)
    }

    /// Reads the available bytes. Returns the request, or `Err(self)` while it is incomplete. `None` closes the
    /// connection, after a malformed or late request.
    pub(crate) fn turn(mut self, now: Instant) -> Option<Result<Asked, Self>> {
        let mut buffer = [0; 16 * 1024];
        while !self.bytes.ends_with(b"\n") {
            match self.read(&mut buffer) {
                Ok(0) => return None,
                Ok(_) if self.bytes.len() > REQUEST_MAX => return None,
                Ok(_) if self.descriptors.len() > DESCRIPTORS_MAX => return None,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if now < self.until => return Some(Err(self)),
                Err(_) => return None,
            }
        }
        debug_assert!(self.bytes.len() <= REQUEST_MAX && self.descriptors.len() <= DESCRIPTORS_MAX);
        let request = serde_json::from_slice(&self.bytes).ok()?;
        Some(Ok((request, self.socket, self.descriptors)))
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(buffer)];
        let len = recvmsg(&self.socket, slices, &mut control, RecvFlags::empty())?.bytes;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        for descriptor in &self.descriptors {
            fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
        }
        self.bytes.extend_from_slice(&buffer[..len]);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rove_bootstrap::{Sharing, ssh_config};

    use super::*;

    fn gate() -> Gate {
        let answer = "user me\nhostname a.example\nport 22\n";
        let config = ssh_config::parse(answer, |_| Sharing::Unknown);
        Gate::of("a".as_ref(), &config).expect("ssh tells all of it")
    }

    fn pair() -> (UnixStream, Asking) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        theirs.set_nonblocking(true).expect("it is ours");
        (ours, Asking::new(Instant::ZERO, theirs.into()))
    }

    fn program(command: &[u8]) -> Joined {
        Joined::Program { command: OsString::from_vec(command.to_vec()), is_subsystem: true }
    }

    proptest! {
        #[test]
        fn a_request_arrives_with_its_command_and_its_descriptors(
            command in proptest::collection::vec(any::<u8>(), 0..5000),
        ) {
            let (ours, asking) = pair();
            let (reader, writer) = UnixStream::pair().expect("a pair");
            let request = Request::new(gate(), &program(&command));
            request.send(&ours, &[reader.into()]).expect("there is room");
            let Some(Ok((asked, _, descriptors))) = asking.turn(Instant::ZERO) else { panic!() };
            prop_assert_eq!(&asked.gate, &gate());
            prop_assert_eq!(asked.into_joined(), Some(program(&command)));
            rustix::io::write(&writer, b"x").expect("it is read");
            prop_assert_eq!(descriptors.len(), 1);
            prop_assert_eq!(rustix::io::read(&descriptors[0], &mut [0; 2]), Ok(1));
        }

        #[test]
        fn any_bytes_are_a_request_or_end_the_connection(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..300), 0..20),
            ends in any::<bool>(),
        ) {
            let (ours, asking) = pair();
            let mut asking = Some(asking);
            for piece in pieces {
                let Some(now) = asking.take() else { break };
                let _ = (&ours).write_all(&piece);
                match now.turn(Instant::ZERO) {
                    Some(Err(more)) => asking = Some(more),
                    Some(Ok((request, ..))) => drop(request.into_joined()),
                    None => {}
                }
            }
            if let Some(asking) = asking {
                let until = asking.until();
                if ends {
                    // A child that another test has just forked may hold the socket open.
                    ours.shutdown(std::net::Shutdown::Both).expect("it is open");
                    prop_assert!(asking.turn(Instant::ZERO).is_none());
                } else {
                    prop_assert!(asking.turn(until).is_none(), "it took too long");
                }
            }
        }
    }

    #[test]
    fn a_request_has_a_longest_line_and_a_largest_number_of_descriptors() {
        let longest = vec![0xff; COMMAND_MAX];
        for (command, is_taken) in [(longest.clone(), true), ([&longest[..], b"x"].concat(), false)]
        {
            let request = Request::new(gate(), &program(&command));
            assert!(line(&request).len() <= REQUEST_MAX);
            assert_eq!(request.into_joined().is_some(), is_taken);
        }
        let (ours, asking) = pair();
        let writer = std::thread::spawn(move || (&ours).write_all(&[b' '; 2 * REQUEST_MAX]));
        let mut asking = Some(asking);
        while let Some(Err(more)) = asking.take().and_then(|it| it.turn(Instant::ZERO)) {
            assert!(more.bytes.len() <= REQUEST_MAX);
            asking = Some(more);
        }
        assert!(writer.join().expect("no panic").is_err(), "nobody reads the rest");

        let (ours, asking) = pair();
        let request = Request::new(gate(), &Joined::Port("h:1".to_owned()));
        let pipe = || UnixStream::pair().expect("a pair").0.into();
        let three: Vec<OwnedFd> = (0..DESCRIPTORS_MAX).map(|_| pipe()).collect();
        for descriptors in [&three[..], &three[..1]] {
            let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
            let byte = [IoSlice::new(b" ")];
            sendmsg(&ours, &byte, &mut control, SendFlags::empty()).expect("there is room");
        }
        (&ours).write_all(&line(&request)).expect("there is room");
        assert!(asking.turn(Instant::ZERO).is_none(), "one descriptor too many");
    }
}
