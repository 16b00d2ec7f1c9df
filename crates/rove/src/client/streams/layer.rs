//! The streams of an interactive client, and the connections that are joined with them.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rove_session::Streams;
use rove_streams::{Event, STREAMS_MAX, Side, StreamId, Target};
use rove_units::Instant;

use crate::client::agent::AgentLoan;
use crate::client::asking::tell;
use crate::client::lender::Lender;
use crate::client::remote_forwards::{News, RemoteForwards};
use crate::opening::Opening;
use crate::packet_queue::PacketQueue;
use crate::socks::Version;
use crate::splice::{BYTES_PER_TURN, Splice, reset};

/// The streams, from the first connection on.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) streams: Streams,
    pub(super) waiting: BTreeMap<StreamId, Waiting>,
    pub(super) splices: BTreeMap<StreamId, Splice>,
    pub(super) queue: PacketQueue,
    /// Space for bytes on their way; none while nothing is joined.
    buffer: Vec<u8>,
}

/// A connection that waits for the host's answer.
#[derive(Debug)]
pub(super) struct Waiting {
    socket: OwnedFd,
    opening: Opening,
    /// How its client is told.
    origin: Origin,
}

/// Where a connection comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// From a listener for one place, by the user's option.
    Listener(String),
    /// From a client of SOCKS, which is answered.
    Socks(Version),
}

impl Layer {
    /// Creates a layer that carries nothing yet.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            streams: Streams::new(Side::Client, now),
            waiting: BTreeMap::new(),
            splices: BTreeMap::new(),
            queue: PacketQueue::default(),
            buffer: Vec::new(),
        }
    }

    /// Returns when packets are due that there is room for.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.queue.poll_timeout(self.streams.poll_timeout())
    }

    /// Opens a stream for a connection. Returns it, or resets the connection.
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
                self.waiting.insert(id, Waiting { socket, opening, origin });
                Some(id)
            }
            Err(error) => {
                tracing::debug!(%error, "no stream for a connection");
                reset(&socket);
                None
            }
        }
    }

    /// Lets the agent be lent, and the host listen. Returns sentences for the user, and the news of listeners.
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
            agent.poll_listener().into_iter().for_each(|wanted| remote.add_relay(wanted));
        }
        let news = remote.turn(now, &mut self.streams.mux, &mut self.splices);
        for it in &news {
            if let (News::Agent(refusal), Some(agent)) = (it, &mut agent) {
                let mux = &mut self.streams.mux;
                sentences.extend(agent.handle_listener(mux, refusal.as_deref()));
            }
        }
        (sentences, news)
    }

    /// Gives the host's news to those whom they concern.
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

    /// Joins the connections that the host has opened. Returns a sentence for each one that it has refused to a listener.
    pub(super) fn take_answers(&mut self, now: Instant) -> Vec<String> {
        let mux = &mut self.streams.mux;
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

    /// Moves bytes between the streams and their connections.
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
        let Self { streams, splices, buffer, .. } = self;
        splices.values_mut().for_each(|splice| splice.turn(now, &mut streams.mux, buffer));
        splices.retain(|_, splice| !splice.is_over());
        if let Some(lender) = lender {
            lender.turn(now, &mut streams.mux, buffer);
        }
    }
}
