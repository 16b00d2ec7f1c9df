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
use crate::errand::Errands;
use crate::listeners;
use crate::messages::reason;
use crate::socks::{REQUEST_MAX, REQUEST_PATIENCE, REQUEST_TIME, Request, Step, Version};
use crate::splice::Splice;

mod entry;

use entry::{Entry, State};
pub(super) use entry::{News, Purpose};

/// The code that resets a listener's stream. Chosen: unlike the stream layer's own codes.
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
    /// The incomplete requests of SOCKS clients, each with the time of its begin.
    requests: BTreeMap<StreamId, (Request, Instant)>,
    /// SOCKS clients that are not answered yet, because there are too many incomplete requests.
    queue: VecDeque<StreamId>,
    connects: BTreeMap<StreamId, Making>,
    lookups: Errands,
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

    /// Closes the listener at `place`, maybe a port that the host chose. Returns its option. Open connections go on.
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

    /// Reads the listener's number from a stream of the host. Begins to connect to the target, or waits for a SOCKS
    /// request.
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
        match Connect::begin(now, &listeners::target(place), &self.lookups) {
            Ok(connect) => drop(self.connects.insert(id, Making { connect, socks: None })),
            Err(error) => self.refuse(mux, id, reason(&error.to_string())),
        }
    }

    /// Stops making the connection of this stream, because the host has stopped reading the stream.
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
        debug_assert!(self.requests.len() <= CONNECTS_MAX && self.queue.len() <= CONNECTS_MAX);
        // `reception` bounds the queue and the connections to fixed targets, and `connect_named` those of SOCKS clients.
        debug_assert!(self.connects.len() <= 2 * CONNECTS_MAX);
        news
    }

    /// Returns whether a listener is new, so that the client must ask the host for it.
    pub(super) fn has_wishes(&self) -> bool {
        self.entries.values().any(|it| matches!(it.state, State::New))
    }

    /// Returns whether any listener still lacks the host's first answer.
    pub(super) fn is_asking(&self) -> bool {
        self.entries.values().any(Entry::is_asking)
    }

    /// Returns the time by which to call [`RemoteForwards::turn`] again, if there is a deadline.
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

    /// Answers SOCKS clients, so that their requests come. If there are too many, the oldest makes room after a while.
    fn answer_socks(&mut self, now: Instant, mux: &mut Mux) {
        while let Some(id) = self.queue.front().copied() {
            if self.requests.len() >= CONNECTS_MAX {
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
            Some(true) => Connect::begin(now, target, &self.lookups),
            Some(false) => Connect::begin_within(now, target, &self.lookups, is_elsewhere),
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
        for (id, making, settled) in settle(&mut self.connects, |it| it.connect.turn(now)) {
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

/// Returns `false` for an address that is this computer's, loopback, unspecified (`0.0.0.0/8`, `::`), link-local or of
/// cloud metadata, and `true` for any other.
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

/// Returns whether `address` is this computer's own. The system refuses to bind a socket to others.
fn is_own(address: IpAddr) -> bool {
    let refusal = UdpSocket::bind((address, 0)).err().map(|error| error.kind());
    refusal != Some(ErrorKind::AddrNotAvailable)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rove_streams::{MessageReader, StreamError};
    use rove_units::Duration;

    use super::*;
    use crate::muxes::{deliver, muxes};

    /// A client with its table of listeners, and the stream multiplexers of both ends.
    struct Ends {
        now: Instant,
        client: Mux,
        server: Mux,
        forwards: RemoteForwards,
        splices: BTreeMap<StreamId, Splice>,
        news: Vec<News>,
    }

    impl Ends {
        fn new(target: Option<Place>) -> Self {
            let remote = vec![RemoteForward { listen: Place::Port(None, 0), target }];
            let forwards = RemoteForwards::new(&Forwards { remote, ..Forwards::default() });
            let (now, (client, server)) = (Instant::ZERO, muxes());
            let mut ends =
                Self { now, client, server, forwards, splices: BTreeMap::new(), news: Vec::new() };
            ends.carry();
            let asked = ends.server.accept().expect("the client asks");
            let address = "4711".to_owned();
            let answer = Answer::Opened { address };
            ends.server.write(asked, &answer.encode()).unwrap();
            ends.carry();
            ends
        }

        /// Opens a stream to this target as the host.
        fn open(&mut self, target: &Target) -> StreamId {
            let id = self.server.open(self.now).unwrap();
            self.server.write(id, &target.encode()).unwrap();
            self.carry();
            id
        }

        fn carry(&mut self) {
            let Self { client, server, forwards, .. } = self;
            for _ in 0..8 {
                self.now += Duration::from_millis(20);
                let now = self.now;
                deliver(now, server, client);
                while let Some(event) = client.poll_event() {
                    match event {
                        rove_streams::Event::Incoming => forwards.handle_incoming(now, client),
                        rove_streams::Event::Readable(id) => {
                            forwards.handle_readable(now, client, id);
                        }
                        rove_streams::Event::Stopped(id) => forwards.handle_stopped(client, id),
                        _ => {}
                    }
                }
                self.news.extend(forwards.turn(now, client, &mut self.splices));
                deliver(now, client, server);
            }
        }

        /// Returns the client's answer to a stream of the host.
        fn answer(&mut self, id: StreamId) -> Option<Answer> {
            let fields = MessageReader::default().read(self.now, &mut self.server, id).ok()??;
            Answer::decode(&fields).ok()
        }
    }

    fn place(port: u16) -> Option<Place> {
        Some(Place::Port(Some("127.0.0.1".to_owned()), port))
    }

    #[test]
    fn a_hostile_host_reaches_no_place_but_that_of_the_clients_table() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut ends = Ends::new(place(port));
        let sentence = format!("Allocated port 4711 for remote forward to 127.0.0.1:{port}");
        assert_eq!(ends.news, [News::Opened(Some(sentence))]);
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        other.set_nonblocking(true).unwrap();
        let tcp =
            Target::Tcp { host: "127.0.0.1".to_owned(), port: other.local_addr().unwrap().port() };
        let at = ListenPlace::Port { host: None, port: 0 };
        let listen = Target::Listen(Listen { number: 0, at, mask: 0, replaces: true });
        for target in [tcp, listen, Target::Accepted(1), Target::Accepted(u64::MAX)] {
            let id = ends.open(&target);
            let read = ends.server.read(ends.now, id, &mut [0; 9]);
            assert!(read.is_err(), "{target:?}: {read:?}");
        }
        assert!(
            other.accept().is_err() && ends.splices.is_empty() && ends.forwards.connects.is_empty()
        );
        let id = ends.open(&Target::Accepted(0));
        listener.accept().expect("the table's place");
        ends.carry();
        assert!(matches!(ends.answer(id), Some(Answer::Opened { .. })));
        assert_eq!(ends.splices.len(), 1);
    }

    #[test]
    fn a_host_that_opens_streams_nobody_asked_for_ends_the_layer_and_not_the_session() {
        let mut ends = Ends::new(place(9));
        for number in 1..=100 {
            assert!(ends.client.closed().is_none(), "{number}");
            ends.open(&Target::Accepted(7));
        }
        assert!(ends.client.closed().is_some());
    }

    #[test]
    fn connections_to_a_listener_that_the_user_has_removed_are_refused_and_end_nothing() {
        let mut ends = Ends::new(place(9));
        let removed = ends.forwards.remove(&mut ends.client, &Place::Port(None, 4711));
        assert_eq!(removed.as_deref(), Some("-R 0:127.0.0.1:9"));
        for _ in 1..=200 {
            let id = ends.open(&Target::Accepted(0));
            assert!(ends.server.read(ends.now, id, &mut [0; 9]).is_err());
        }
        assert!(ends.client.closed().is_none());
    }

    #[test]
    fn connections_that_are_being_made_for_a_host_are_bounded() {
        let mut ends = Ends::new(None);
        let mut ids: Vec<StreamId> =
            (0..CONNECTS_MAX).map(|_| ends.open(&Target::Accepted(0))).collect();
        ids.push(ends.open(&Target::Accepted(0)));
        assert_eq!(ends.forwards.requests.len(), CONNECTS_MAX);
        assert!(matches!(ends.answer(ids[CONNECTS_MAX]), Some(Answer::Opened { .. })));
        // The newest connection has taken the place of the one that has been silent for longest.
        let ended = |ends: &mut Ends, id| {
            assert!(matches!(ends.answer(id), Some(Answer::Opened { .. })));
            ends.server.read(ends.now, id, &mut [0; 9]) == Ok(Read::End)
        };
        assert!(ended(&mut ends, ids[0]) && !ended(&mut ends, ids[1]));
        // A listener whose queue is full answers nothing.
        let full = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&full, 0).unwrap();
        let port = full.local_addr().unwrap().port();
        let _queued = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        ends.forwards.permitted = Permitted::Only(vec![(Some("127.0.0.1".to_owned()), None)]);
        let [high, low] = port.to_be_bytes();
        for _ in 0..=CONNECTS_MAX {
            ids.push(ends.open(&Target::Accepted(0)));
            let id = ids[ids.len() - 1];
            ends.server.write(id, &[4, 1, high, low, 127, 0, 0, 1, 0]).unwrap();
            ends.carry();
        }
        assert_eq!(ends.forwards.connects.len(), CONNECTS_MAX);
        let last = ids[ids.len() - 1];
        assert!(matches!(ends.answer(last), Some(Answer::Opened { .. })));
        let mut reply = [0; 9];
        assert_eq!(ends.server.read(ends.now, last, &mut reply), Ok(Read::Bytes(8)));
        assert_eq!(reply[..8], Version::Four.refused("busy"));
        // The client closes SOCKS connections without a request after the deadline.
        ends.now += REQUEST_PATIENCE;
        ends.carry();
        assert_eq!((ends.forwards.requests.len(), ends.forwards.poll_timeout()), (0, None));
    }

    #[test]
    fn a_listener_that_the_host_has_refused_is_asked_for_again_until_it_opens() {
        let mut ends = Ends::new(place(9));
        let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
        ends.forwards.add(&mut ends.client, wanted, Purpose::Option);
        ends.news.clear();
        let refused = Answer::Refused { code: UNREACHED, text: "Address already in use".into() };
        let opened = Answer::Opened { address: "4712".into() };
        let mut last = None;
        for answer in [refused.clone(), refused.clone(), opened.clone(), refused, opened] {
            // The host resets the stream of a listener whose port was taken while the client was away.
            if let Some(listener) = last.take() {
                ends.server.reset_and_stop(listener, UNREACHED);
            }
            ends.carry();
            let asked = ends.server.accept().expect("the client asks");
            ends.server.write(asked, &answer.encode()).unwrap();
            last = matches!(answer, Answer::Opened { .. }).then_some(asked);
            ends.carry();
            assert!(ends.server.accept().is_none(), "it waits, or has what it wants");
            ends.now = ends.forwards.poll_timeout().unwrap_or(ends.now);
        }
        let said = |text| format!("-R 4712:127.0.0.1:9: the host {text}");
        let taken = said("cannot listen: Address already in use");
        let opened = News::Opened(Some(said("listens")));
        // ExitOnForwardFailure ends only a session whose listeners were never open.
        let [first, later] = [News::Failed(taken.clone()), News::Said(taken)];
        assert_eq!(ends.news, [first, opened.clone(), later, opened]);
    }

    #[test]
    fn a_stream_that_ends_without_an_answer_is_a_refusal_unless_it_was_the_first() {
        for answer in [
            None,
            Some(Answer::Refused { code: UNREACHED, text: "busy".into() }),
            Some(Answer::Opened { address: "4712".into() }),
        ] {
            let mut ends = Ends::new(place(9));
            let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
            ends.forwards.add(&mut ends.client, wanted, Purpose::Option);
            ends.carry();
            let asked = ends.server.accept().expect("the client asks");
            let is_first = answer.is_none();
            if let Some(answer) = &answer {
                ends.server.write(asked, &answer.encode()).unwrap();
                ends.carry();
            }
            ends.news.clear();
            // The port is taken, and the client is away before the answer to its next request arrives.
            ends.server.reset_and_stop(asked, UNREACHED);
            ends.now = ends.forwards.poll_timeout().unwrap_or(ends.now);
            ends.carry();
            if !is_first {
                let again = ends.server.accept().expect("the client asks again");
                ends.server.reset_and_stop(again, UNREACHED);
                ends.carry();
            }
            let is_wanted = ends.forwards.options().any(|it| it == "-R 4712:127.0.0.1:9");
            assert_eq!(is_wanted, !is_first, "{answer:?}");
            let opened = matches!(answer, Some(Answer::Opened { .. }));
            let said = match &ends.news[..] {
                [News::Failed(said)] if is_first => said,
                [News::Said(said)] if opened => said,
                [] if !is_first && !opened => continue,
                other => panic!("{other:?}"),
            };
            assert!(said.contains("has ended the stream"), "{said}");
            assert_eq!(said.contains("too old"), is_first, "{said}");
        }
    }

    #[test]
    fn a_listener_that_is_typed_again_while_it_is_asked_for_again_is_asked_for_once() {
        let mut ends = Ends::new(place(9));
        let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
        ends.forwards.add(&mut ends.client, wanted.clone(), Purpose::Added);
        ends.carry();
        let asked = ends.server.accept().expect("the client asks");
        let refused = Answer::Refused { code: UNREACHED, text: "Address already in use".into() };
        ends.server.write(asked, &refused.encode()).unwrap();
        ends.carry();
        ends.now = ends.forwards.poll_timeout().expect("the client asks later");
        ends.carry();
        let former = ends.server.accept().expect("the client asks again");
        ends.forwards.add(&mut ends.client, wanted, Purpose::Added);
        ends.carry();
        let read = |ends: &mut Ends, id| ends.server.read(ends.now, id, &mut [0; 99]);
        assert_eq!(read(&mut ends, former), Err(StreamError::Reset(UNWANTED)));
        let newest = ends.server.accept().expect("the client asks for the new line");
        assert!(matches!(read(&mut ends, newest), Ok(Read::Bytes(_))));
        assert_eq!(ends.forwards.options().filter(|it| it.contains("4712")).count(), 1);
    }

    #[test]
    fn clients_of_socks_at_the_host_that_say_nothing_hold_up_others_for_two_seconds() {
        let mut ends = Ends::new(None);
        let open = |ends: &mut Ends| {
            let id = ends.server.open(ends.now).unwrap();
            ends.server.write(id, &Target::Accepted(0).encode()).unwrap();
            id
        };
        let ids: Vec<StreamId> = (0..=CONNECTS_MAX).map(|_| open(&mut ends)).collect();
        let left = open(&mut ends);
        ends.carry();
        // A client that leaves the queue takes no place.
        ends.server.reset_and_stop(left, UNREACHED);
        ends.carry();
        assert_eq!(ends.forwards.queue, [ids[CONNECTS_MAX]]);
        let is_answered = |ends: &mut Ends, id| ends.answer(id).is_some();
        assert!(is_answered(&mut ends, ids[0]) && !is_answered(&mut ends, ids[CONNECTS_MAX]));
        assert_eq!(ends.server.read(ends.now, ids[0], &mut [0; 9]), Ok(Read::Blocked));
        let due = ends.forwards.poll_timeout().expect("the oldest makes room");
        assert!(due <= ends.now + REQUEST_TIME);
        ends.now = due;
        ends.carry();
        assert_eq!(ends.server.read(ends.now, ids[0], &mut [0; 9]), Ok(Read::End));
        assert!(is_answered(&mut ends, ids[CONNECTS_MAX]) && ends.forwards.queue.is_empty());
        assert_eq!(ends.forwards.requests.len(), CONNECTS_MAX);
    }

    #[test]
    fn a_hundred_clients_of_socks_that_come_to_the_host_at_once_are_all_served() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 128).unwrap();
        let [high, low] = listener.local_addr().unwrap().port().to_be_bytes();
        let mut ends = Ends::new(None);
        ends.forwards.permitted = Permitted::Only(vec![(Some("127.0.0.1".to_owned()), None)]);
        let (mut opened, mut unanswered, mut greeted) = (0, Vec::new(), Vec::new());
        let since = ends.now;
        while ends.splices.len() < 100 {
            assert!(ends.now < since + Duration::from_secs(9), "{}", ends.splices.len());
            // The host opens no more streams while as many wait for an answer.
            while unanswered.len() < CONNECTS_MAX && opened < 100 {
                let id = ends.server.open(ends.now).unwrap();
                ends.server.write(id, &Target::Accepted(0).encode()).unwrap();
                opened += 1;
                unanswered.push(id);
            }
            ends.carry();
            for id in std::mem::take(&mut greeted) {
                let mut reply = [0; 2];
                assert_eq!(ends.server.read(ends.now, id, &mut reply), Ok(Read::Bytes(2)));
                ends.server.write(id, &[5, 1, 0, 1, 127, 0, 0, 1, high, low]).unwrap();
            }
            for id in std::mem::take(&mut unanswered) {
                match ends.answer(id) {
                    None => unanswered.push(id),
                    Some(Answer::Opened { .. }) => {
                        ends.server.write(id, &[5, 1, 0]).unwrap();
                        greeted.push(id);
                    }
                    Some(other) => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn places_of_this_computer_must_be_named_before_the_hosts_side_may_name_them() {
        for (address, is_other) in [
            ("192.0.2.1", true),
            ("10.0.0.1", true),
            ("2001:db8::1", true),
            ("127.0.0.1", false),
            ("127.9.9.9", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("0.0.0.0", false),
            ("0.0.0.1", false),
            ("::", false),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("fd20:ce::254", false),
            ("fd00:c1::a9fe:a9fe", false),
            ("fd00:42::42", false),
            ("100.100.100.200", false),
            ("168.63.129.16", false),
        ] {
            assert_eq!(is_elsewhere(address.parse().unwrap()), is_other, "{address}");
        }
    }

    #[test]
    fn an_address_of_this_computers_own_network_card_is_not_elsewhere() {
        // Connecting a UDP socket sends nothing, but fails if the computer has no network.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect(("198.51.100.1", 1)).is_ok() {
            let own = socket.local_addr().unwrap().ip();
            assert!(is_own(own) && !is_elsewhere(own), "{own}");
        }
        assert!(is_own(IpAddr::from([127, 0, 0, 1])) && !is_own(IpAddr::from([198, 51, 100, 1])));
        // Linux counts 127.0.0.2 as this computer's, although it sends to that address from 127.0.0.1.
        assert!(cfg!(not(target_os = "linux")) || is_own(IpAddr::from([127, 0, 0, 2])));
    }
}
