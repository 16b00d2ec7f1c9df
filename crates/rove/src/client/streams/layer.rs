//! The stream layer of an interactive client: the streams, and the connections whose bytes are copied to and from them.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use rove_platform::event_loop::Interest;
use rove_session::Streams;
use rove_streams::{Event, STREAMS_MAX, Side, StreamId, Target, UNREACHED};
use rove_units::Instant;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::client::agent::AgentLoan;
use crate::client::asking::tell;
use crate::client::lender::Lender;
use crate::client::remote_forwards::{News, Purpose, RemoteForwards};
use crate::opening::Opening;
use crate::packet_queue::PacketQueue;
use crate::socks::Version;
use crate::splice::{BYTES_PER_TURN, Splice, reset};

/// The stream layer, which the client creates at the first use of streams.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) streams: Streams,
    pub(super) waiting: BTreeMap<StreamId, Waiting>,
    pub(super) splices: BTreeMap<StreamId, Splice>,
    pub(super) queue: PacketQueue,
    /// Buffer for copying. Empty while there are no bytes to copy.
    buffer: Vec<u8>,
}

/// An accepted connection that waits until the host has connected to its target.
#[derive(Debug)]
pub(super) struct Waiting {
    socket: OwnedFd,
    opening: Opening,
    /// The connection's origin, which decides how to report the host's answer.
    origin: Origin,
    /// Whether the end of input means that the SOCKS client has left. Once that client has sent bytes for the target,
    /// it may half-close before the host's answer. `false` for a connection to a listener with a fixed target.
    pub(super) is_watched: bool,
}

/// The way in which a connection came to the client.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// The connection came to a listener with a fixed target, or from the agent's ssh. The text is the user's option.
    Listener(String),
    /// A SOCKS client made the connection, and expects a reply in this version.
    Socks(Version),
}

impl Layer {
    /// Creates a layer without streams.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            streams: Streams::new(Side::Client, now),
            waiting: BTreeMap::new(),
            splices: BTreeMap::new(),
            queue: PacketQueue::default(),
            buffer: Vec::new(),
        }
    }

    /// Returns when to send a packet, or to look again at the kernel's full send queue. `None` if nothing is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.queue.poll_timeout(self.streams.poll_timeout())
    }

    /// Opens a stream for a connection and returns its number. If that fails, resets the connection and returns `None`.
    pub(super) fn open(
        &mut self,
        now: Instant,
        socket: OwnedFd,
        target: &Target,
        origin: Origin,
    ) -> Option<StreamId> {
        match Opening::begin(now, &mut self.streams.mux, target) {
            Ok(opening) => {
                let id = opening.id();
                self.waiting.insert(id, Waiting { socket, opening, origin, is_watched: false });
                Some(id)
            }
            Err(error) => {
                tracing::debug!(%error, "no stream for a connection");
                reset(&socket);
                None
            }
        }
    }

    /// Advances the forwarding of the agent and the listeners on the host. Returns sentences and news for the user.
    pub(super) fn lend(
        &mut self,
        now: Instant,
        mut agent: Option<&mut AgentLoan>,
        remote: &mut RemoteForwards,
    ) -> (Vec<String>, Vec<News>) {
        let mut sentences = Vec::new();
        if let Some(agent) = &mut agent {
            while let Some((socket, target)) = agent.accept() {
                self.open(now, socket, &target, Origin::Listener("-A".to_owned()));
            }
            sentences.extend(agent.turn(now, &mut self.streams.mux));
            if let Some(wanted) = agent.poll_listener() {
                remote.add(&mut self.streams.mux, wanted, Purpose::Agent);
            }
        }
        let news = remote.turn(now, &mut self.streams.mux, &mut self.splices);
        for it in &news {
            if let (News::Agent(refusal), Some(agent)) = (it, &mut agent) {
                let mux = &mut self.streams.mux;
                sentences.extend(agent.handle_listener(now, mux, refusal.as_deref()));
            }
        }
        (sentences, news)
    }

    /// Passes the events of streams to the listeners on the host, and to the lender for calls of other processes.
    pub(super) fn handle_events(
        &mut self,
        now: Instant,
        remote: &mut RemoteForwards,
        mut lender: Option<&mut Lender>,
    ) {
        let mux = &mut self.streams.mux;
        while let Some(event) = mux.poll_event() {
            if let (Some(lender), Event::Finished(id) | Event::Stopped(id)) = (&mut lender, &event)
            {
                lender.handle_delivered(*id);
            }
            match event {
                Event::Incoming => remote.handle_incoming(now, mux),
                Event::Readable(id) => remote.handle_readable(now, mux, id),
                Event::Stopped(id) => remote.handle_stopped(mux, id),
                Event::Closed | Event::Writable(_) | Event::Finished(_) => {}
            }
        }
    }

    /// Reads the host's answers, and begins to copy bytes of connections that the host has made. Gives up connections
    /// that SOCKS clients left. Returns a sentence for each refused connection, except those of SOCKS clients.
    pub(super) fn take_answers(&mut self, now: Instant) -> Vec<String> {
        let mux = &mut self.streams.mux;
        for (id, _) in self.waiting.extract_if(.., |_, it| it.has_left()) {
            mux.reset_and_stop(id, UNREACHED);
        }
        let answered = self.waiting.iter_mut().filter_map(|(id, waiting)| {
            let answer = waiting.opening.answer(now, mux)?;
            Some((*id, answer))
        });
        let answered: Vec<_> = answered.collect();
        let mut sentences = Vec::new();
        for (id, answer) in answered {
            let Some(Waiting { socket, origin, .. }) = self.waiting.remove(&id) else { continue };
            let refusal = answer.into_refusal();
            let reply = match (&origin, &refusal) {
                (Origin::Socks(version), None) => version.granted(),
                (Origin::Socks(version), Some(reason)) => version.refused(reason),
                (Origin::Listener(_), _) => Vec::new(),
            };
            let is_told = tell(&socket, &reply);
            tracing::debug!(is_told, ?refusal, id = id.get(), "the host has answered");
            match (refusal, origin) {
                (None, _) => {
                    self.splices.insert(id, Splice::socket(id, socket));
                }
                (Some(reason), Origin::Listener(option)) => {
                    reset(&socket);
                    sentences.push(format!("{option}: the host cannot connect: {reason}"));
                }
                (Some(_), Origin::Socks(_)) => {}
            }
        }
        debug_assert!(self.splices.len() <= STREAMS_MAX, "each has a stream of its own");
        sentences
    }

    /// Copies bytes between connections and streams, also those of the lender's calls.
    pub(super) fn move_bytes(&mut self, now: Instant, lender: Option<&mut Lender>) {
        debug_assert!(
            self.waiting.keys().all(|id| !self.splices.contains_key(id)),
            "answered once"
        );
        let lender = lender.filter(|lender| lender.is_used());
        if self.splices.is_empty() && lender.is_none() {
            self.buffer = Vec::new();
            return;
        }
        self.buffer.resize(BYTES_PER_TURN, 0);
        let Self { streams, waiting, splices, buffer, .. } = self;
        splices.values_mut().for_each(|splice| splice.turn(now, &mut streams.mux, buffer));
        splices.retain(|_, splice| !splice.is_over());
        if let Some(lender) = lender {
            lender.turn(now, &mut streams.mux, waiting.len(), buffer);
        }
    }
}

impl Waiting {
    /// Returns the descriptor to wait for. `None` unless `is_watched`.
    pub(super) fn interest(&self) -> Option<Interest<'_>> {
        self.is_watched.then(|| Interest::new(self.socket.as_fd(), true, false))
    }

    /// Returns whether this connection's SOCKS client has left. Returns `true` only once, and ends the watch then.
    fn has_left(&mut self) -> bool {
        if !self.is_watched {
            return false;
        }
        let peeked = recv(&self.socket, &mut [0; 1], RecvFlags::PEEK);
        self.is_watched = matches!(peeked, Err(Errno::AGAIN | Errno::INTR));
        !self.is_watched && !matches!(peeked, Ok((1.., _)))
    }
}
