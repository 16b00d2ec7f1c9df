//! Listeners on the host (`-R`). For each connection, the host names the number of a listener. The client's table of
//! listeners says where to connect.
//!
//! A hostile host thus reaches only the places in the table. With `-R PORT`, however, a SOCKS client on the host names
//! the place. Such a client reaches addresses of this computer, link-local ones and cloud metadata only if
//! `PermitRemoteOpen` names the requested host.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};

use rove_bootstrap::{Forwards, Permitted, Place, RemoteForward};
use rove_platform::event_loop::Interest;
use rove_streams::{
    Answer, CONNECTS_MAX, Listen, ListenPlace, Mux, Read, Reception, StreamId, Target, UNREACHED,
};
use rove_units::Instant;

use crate::connect::{Connect, settle};
use crate::listeners;
use crate::lookups::Lookups;
use crate::messages::reason;
use crate::socks::{
    REQUEST_MAX, REQUEST_PATIENCE, REQUEST_TIME, REQUESTS_MAX, Request, Step, Version,
};
use crate::splice::Splice;

mod entry;

use entry::{Entry, State};
pub(super) use entry::{News, Purpose};

/// The code that ends the stream of a listener or failed SOCKS request. Chosen: unlike the stream layer's own codes.
const UNWANTED: u64 = 17;

/// The status line about the relay of the agent.
const RELAYED: &str = "-A by a relay of rove's own, not by ssh";

/// Addresses, besides the link-local one, at which clouds serve a computer's metadata and credentials. Source: the
/// documentation on instance metadata of AWS, Google Cloud, Oracle and Scaleway (IPv6) and of Alibaba Cloud, and
/// Azure's on 168.63.129.16.
const METADATA: [&str; 6] = [
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "100.100.100.200",
    "168.63.129.16",
];

/// The listeners on the host, and their connections.
#[derive(Debug, Default)]
pub(super) struct RemoteForwards {
    /// The table of listeners, by the number that the host names for a connection.
    entries: BTreeMap<u64, Entry>,
    next_number: u64,
    mask: u32,
    replaces: bool,
    permitted: Permitted,
    reception: Reception,
    /// The incomplete requests of SOCKS clients, each with the time at which it began.
    requests: BTreeMap<StreamId, (Request, Instant)>,
    /// SOCKS clients that are not answered yet, because there are too many incomplete requests.
    queue: VecDeque<StreamId>,
    connects: BTreeMap<StreamId, Making>,
    lookups: Lookups,
}

/// A connection that this computer is making to a target.
#[derive(Debug)]
struct Making {
    connect: Connect,
    /// The SOCKS client's version, and the bytes that followed its request. `None` for a fixed target.
    socks: Option<(Version, Vec<u8>)>,
}

impl RemoteForwards {
    /// Creates the table with the listeners of the user's options.
    pub(super) fn new(wanted: &Forwards) -> Self {
        let new = |forward: &RemoteForward| Entry::new(forward.clone(), Purpose::Option);
        let entries: BTreeMap<u64, Entry> = (0..).zip(wanted.remote.iter().map(new)).collect();
        debug_assert_eq!(entries.len(), wanted.remote.len());
        Self {
            next_number: entries.len() as u64,
            entries,
            mask: wanted.mask,
            replaces: wanted.replaces,
            permitted: wanted.permitted.clone(),
            ..Self::default()
        }
    }

    /// Returns whether there are no listeners, except the one of the agent's relay.
    pub(super) fn is_empty(&self) -> bool {
        self.options().next().is_none()
    }

    /// Returns the listeners as command-line options, without the listener of the agent's relay.
    pub(super) fn options(&self) -> impl Iterator<Item = String> {
        let own = self.entries.values().filter(|it| it.purpose != Purpose::Agent);
        own.map(|it| it.forward.to_string())
    }

    /// Returns status lines about the listeners.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.entries.values().map(|it| match &it.state {
            _ if it.purpose == Purpose::Agent => RELAYED.to_owned(),
            State::New | State::Asked(_) => format!("{}, not open yet", it.forward),
            State::Open { port, .. } if matches!(it.forward.listen, Place::Port(_, 0)) => {
                format!("{}, port {port}", it.forward)
            }
            State::Open { .. } => it.forward.to_string(),
        })
    }

    /// Adds a listener during the session, in place of an equal listener that the host has refused.
    pub(super) fn add(&mut self, mux: &mut Mux, forward: RemoteForward, purpose: Purpose) {
        let is_former = |it: &Entry| it.is_refused() && it.forward == forward;
        let former = self.entries.extract_if(.., |_, it| is_former(it));
        former.for_each(|(_, it)| drop(it.close(mux)));
        let former = self.entries.insert(self.next_number, Entry::new(forward, purpose));
        debug_assert!(former.is_none(), "a number is given once");
        self.next_number += 1;
    }

    /// Closes the listener at `place`, which may be a port that the host chose. Returns the listener as a command-line
    /// option, or `None` if there is no such listener. Open connections go on.
    pub(super) fn remove(&mut self, mux: &mut Mux, place: &Place) -> Option<String> {
        let is_meant = |it: &Entry| {
            let is_chosen = matches!((&it.state, &it.forward.listen, place),
                (State::Open { port, .. }, Place::Port(_, 0), Place::Port(_, wanted))
                    if *port == wanted.to_string());
            it.purpose != Purpose::Agent && (it.forward.listen.is_listener(place) || is_chosen)
        };
        let number = self.entries.iter().find(|(_, it)| is_meant(it)).map(|(number, _)| *number)?;
        Some(self.entries.remove(&number)?.close(mux).to_string())
    }

    /// Drops all listeners and unfinished connections, because the session carries no streams.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.requests.clear();
        self.queue.clear();
        self.connects.clear();
        debug_assert!(!self.has_wishes() && self.poll_timeout().is_none());
    }

    /// Accepts streams that the host has opened, or refuses them if there were never any listeners.
    pub(super) fn handle_incoming(&mut self, now: Instant, mux: &mut Mux) {
        if self.next_number == 0 {
            self.reception.turn_away(now, mux);
        } else {
            self.reception.handle_incoming(mux);
        }
    }

    /// Reads a listener's number from a stream of the host. Begins to connect to its target, or queues a SOCKS client.
    pub(super) fn handle_readable(&mut self, now: Instant, mux: &mut Mux, id: StreamId) {
        let entry = match self.reception.handle_readable(now, mux, id) {
            None => return,
            Some(Target::Accepted(number)) => match self.entries.get(&number) {
                // The user has removed this listener while the connection was on its way.
                None if number < self.next_number => return self.reception.give_up(mux, id),
                entry => entry,
            },
            Some(_) => None,
        };
        let Some(Entry { forward, state: State::Asked(_) | State::Open { .. }, .. }) = entry else {
            return self.reception.handle_strange(now, mux, id);
        };
        let Some(place) = &forward.target else {
            self.queue.push_back(id);
            return self.answer_socks(now, mux);
        };
        match Connect::begin(now, &listeners::target(place), |_| true) {
            Ok(connect) => drop(self.connects.insert(id, Making { connect, socks: None })),
            Err(error) => self.refuse(mux, id, reason(&error.to_string())),
        }
    }

    /// Gives up the stream's unfinished connection to a target, because the host has stopped reading the stream.
    pub(super) fn handle_stopped(&mut self, mux: &mut Mux, id: StreamId) {
        let queued = self.queue.iter().position(|it| *it == id).map(|at| self.queue.remove(at));
        let was_asking = self.requests.remove(&id).is_some() || queued.is_some();
        if self.connects.remove(&id).is_some() || was_asking {
            self.reception.give_up(mux, id);
        }
    }

    /// Asks the host for new listeners, and begins to copy bytes of new connections. Returns news for the user.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut BTreeMap<StreamId, Splice>,
    ) -> Vec<News> {
        let mut news = self.ask(now, mux);
        self.read_requests(now, mux);
        self.answer_socks(now, mux);
        self.look_at_connects(now, mux, splices, &mut news);
        debug_assert!(self.requests.len() <= REQUESTS_MAX && self.queue.len() <= CONNECTS_MAX);
        // `reception` bounds the queue and connections to fixed targets. `connect_named` bounds those of SOCKS clients.
        debug_assert!(self.connects.len() <= 2 * CONNECTS_MAX);
        news
    }

    /// Returns whether a listener is new, so that the client must ask the host for it.
    pub(super) fn has_wishes(&self) -> bool {
        self.entries.values().any(|it| matches!(it.state, State::New))
    }

    /// Returns whether any listener is neither open nor refused, so that the host's answer is awaited.
    pub(super) fn is_asking(&self) -> bool {
        self.entries.values().any(Entry::is_asking)
    }

    /// Returns the time by which to call [`RemoteForwards::turn`] again. `None` without refused listeners, incomplete
    /// requests and unfinished connections.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let entries = self.entries.values().filter_map(Entry::poll_timeout);
        let oldest = self.oldest_request().map(|(_, since)| since);
        let patience = if self.queue.is_empty() { REQUEST_PATIENCE } else { REQUEST_TIME };
        let connects = self.connects.values().map(|it| it.connect.poll_timeout());
        entries.chain(oldest.map(|since| since + patience)).chain(connects).min()
    }

    /// Returns the descriptors to wait for. When one is ready, call [`RemoteForwards::turn`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        self.connects.values().flat_map(|it| it.connect.interests())
    }

    /// Asks the host for new listeners, and reads its answers.
    fn ask(&mut self, now: Instant, mux: &mut Mux) -> Vec<News> {
        let (mask, replaces) = (self.mask, self.replaces);
        let mut news = Vec::new();
        self.entries.retain(|number, entry| {
            let at = listen_place(&entry.forward.listen);
            let is_users = entry.purpose != Purpose::Agent;
            let mask = if is_users { mask } else { Forwards::default().mask };
            let listen = || Listen { number: *number, at, mask, replaces: replaces || !is_users };
            let (found, is_kept) = entry.turn(now, mux, listen);
            news.extend(found);
            is_kept
        });
        news
    }

    /// Lets queued SOCKS clients send their requests. At [`REQUESTS_MAX`] incomplete requests, a queued client waits
    /// until the oldest request is `REQUEST_TIME` old, and replaces it.
    fn answer_socks(&mut self, now: Instant, mux: &mut Mux) {
        while let Some(id) = self.queue.front().copied() {
            if self.requests.len() >= REQUESTS_MAX {
                let oldest = self.oldest_request();
                let Some((oldest, _)) = oldest.filter(|(_, since)| *since + REQUEST_TIME <= now)
                else {
                    return;
                };
                self.requests.remove(&oldest);
                mux.finish_and_stop(oldest, UNWANTED);
            }
            self.queue.pop_front();
            self.requests.insert(id, (Request::default(), now));
            self.reception.answer(mux, id, &Answer::Opened { address: String::new() });
        }
    }

    fn oldest_request(&self) -> Option<(StreamId, Instant)> {
        let begun = self.requests.iter().map(|(id, (_, since))| (*id, *since));
        begun.min_by_key(|(_, since)| *since)
    }

    /// Reads the requests of SOCKS clients, and begins to connect. Ends malformed and late requests.
    fn read_requests(&mut self, now: Instant, mux: &mut Mux) {
        for (id, (mut request, since)) in std::mem::take(&mut self.requests) {
            let mut buffer = [0; REQUEST_MAX];
            let step = match mux.read(now, id, &mut buffer) {
                Ok(Read::Bytes(len)) => {
                    let mut replies = Vec::new();
                    let step = request.handle(&buffer[..len], &mut replies);
                    // The replies fit into a new stream. A failed write means that the host has stopped reading.
                    let _ = mux.write(id, &replies);
                    step
                }
                Ok(Read::Blocked) => Step::More,
                Ok(Read::End) | Err(_) => Step::End,
            };
            match step {
                Step::More if now < since + REQUEST_PATIENCE => {
                    self.requests.insert(id, (request, since));
                }
                Step::Connect { target, version, rest } => {
                    self.connect_named(now, mux, id, &target, (version, rest));
                }
                Step::More | Step::End => {
                    mux.finish_and_stop(id, UNWANTED);
                }
            }
        }
    }

    /// Begins to connect to a target that a SOCKS client has named, if `PermitRemoteOpen` permits the target. Unless an
    /// entry of `PermitRemoteOpen` names the host, the address must also pass [`is_elsewhere`].
    fn connect_named(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        id: StreamId,
        target: &Target,
        socks: (Version, Vec<u8>),
    ) {
        let Target::Tcp { host, port } = target else { return };
        let begun = match self.permitted.find(host, *port) {
            _ if self.connects.len() >= CONNECTS_MAX => {
                Err(std::io::ErrorKind::ResourceBusy.into())
            }
            Some(true) => Connect::begin(now, target, |_| true),
            Some(false) => Connect::begin(now, target, is_elsewhere),
            None => Err(std::io::ErrorKind::PermissionDenied.into()),
        };
        match begun {
            Ok(connect) => {
                self.connects.insert(id, Making { connect, socks: Some(socks) });
            }
            Err(error) => end_socks(mux, id, socks.0, &reason(&error.to_string())),
        }
    }

    fn look_at_connects(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut BTreeMap<StreamId, Splice>,
        news: &mut Vec<News>,
    ) {
        let lookups = &self.lookups;
        for (id, making, settled) in settle(&mut self.connects, |it| it.connect.turn(now, lookups))
        {
            let settled = settled.map_err(|error| reason(&error.to_string()));
            match (settled, making.socks) {
                (Ok((socket, _)), Some((version, rest))) => {
                    let _ = mux.write(id, &version.granted());
                    // The few bytes after a request fit into a new connection's buffer.
                    let _ = rustix::io::write(&socket, &rest);
                    splices.insert(id, Splice::socket(id, socket));
                }
                (Ok((socket, address)), None) => {
                    self.reception.answer(mux, id, &Answer::Opened { address });
                    splices.insert(id, Splice::socket(id, socket));
                }
                (Err(reason), Some((version, _))) => end_socks(mux, id, version, &reason),
                (Err(reason), None) => {
                    news.push(News::Said(format!("-R: this computer cannot connect: {reason}")));
                    self.refuse(mux, id, reason);
                }
            }
        }
    }

    fn refuse(&mut self, mux: &mut Mux, id: StreamId, text: String) {
        self.reception.answer(mux, id, &Answer::Refused { code: UNREACHED, text });
    }
}

/// Tells a SOCKS client that its connection was not made.
fn end_socks(mux: &mut Mux, id: StreamId, version: Version, reason: &str) {
    let _ = mux.write(id, &version.refused(reason));
    mux.finish_and_stop(id, UNWANTED);
}

fn listen_place(place: &Place) -> ListenPlace {
    match place {
        Place::Port(host, port) => ListenPlace::Port { host: host.clone(), port: *port },
        Place::Socket(path) => ListenPlace::Path(path.clone().into_bytes()),
    }
}

/// Returns `true` for an address of another computer. The result is `false` for an address of this computer. It is also
/// `false` for loopback, unspecified (`0.0.0.0/8`, `::`), link-local and cloud metadata addresses.
fn is_elsewhere(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.octets()[0] == 0,
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    let is_metadata = METADATA.iter().any(|it| it.parse() == Ok(address));
    let is_here = address.is_loopback() || address.is_unspecified() || is_own(address);
    !is_local && !is_metadata && !is_here
}

/// Returns whether `address` is this computer's own. The system refuses to bind a socket to any other address.
fn is_own(address: IpAddr) -> bool {
    let refusal = UdpSocket::bind((address, 0)).err().map(|error| error.kind());
    refusal != Some(ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests;
