//! The host's end of `-R`. It opens the listeners that the client asks for. It sends each accepted connection to the
//! client in a stream of its own.
//!
//! Only the client knows the targets of the connections. A listener lives as long as the client's stream that asked for
//! it. Its sockets are closed while the client is away. After another client has taken the session over, the listeners
//! stay for a minute. In this time, the new client can ask for the same ports.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rove_bootstrap::{Forwards, Place};
use rove_platform::event_loop::Interest;
use rove_streams::{
    Answer, CONNECTS_MAX, Listen, ListenPlace, Mux, Read, Reception, STREAMS_MAX, StreamId, Target,
    UNREACHED,
};
use rove_units::{Duration, Instant};
use rustix::io::Errno;

use crate::listeners::Sockets;
use crate::messages::reason;
use crate::opening::Opening;
use crate::server::policy::{Policy, PolicyError};
use crate::splice::{Splice, reset};

/// Most listeners (`-R`) that a session has on the host. Source: the wire contract, docs/wire.md.
const LISTENERS_MAX: usize = 32;

/// Time for which the listeners of a replaced client stay bound. Source: the wire contract, docs/wire.md.
const KEPT: Duration = Duration::from_secs(60);

/// Most connections that a session's listeners on the host accept in a second. Chosen: half of the streams that a
/// client accepts in a second, because two such bursts may fall into a client's second.
const ACCEPTED_MAX: u32 = 50;

/// The period of [`ACCEPTED_MAX`], and the pause after `accept` has failed for lack of a descriptor.
const SECOND: Duration = Duration::from_secs(1);

/// Why the host does not listen. The texts are short, because the client's notice bar has little room.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("more than {LISTENERS_MAX} listeners")]
    Many,
    /// The host's rules allow only listeners on the loopback.
    #[error("its server.toml lacks gateway-ports = true")]
    Closed,
    /// The administrator's list `permit-listen` lacks the place.
    #[error("its server.toml does not permit it (permit-listen)")]
    NotListed,
    #[error("its server.toml does not count: {0}")]
    NoRules(#[from] PolicyError),
    /// The client asks for a name as the address. Looking a name up could block the server.
    #[error("it listens at an address, not at a name")]
    Name,
    #[error("the path is not UTF-8")]
    Path,
    #[error("{}", reason(&_0.to_string()))]
    System(#[from] io::Error),
}

/// The listeners that a session's client has asked for.
#[derive(Debug, Default)]
pub(super) struct HostListeners {
    all: Vec<Held>,
    /// The index of the listener that [`HostListeners::accept_next`] tries first.
    next: usize,
    /// Accepted connections whose streams the client has not answered.
    waiting: BTreeMap<StreamId, (OwnedFd, Opening)>,
    /// The start of the present second, and the number of connections accepted in it.
    accepted: Option<(Instant, u32)>,
    /// The end of a pause in accepting connections.
    paused_until: Option<Instant>,
}

/// A listener, and the reason why it stays open.
#[derive(Debug)]
struct Held {
    wanted: Listen,
    /// The request `wanted`, with the port that the host has chosen if `wanted` has port 0.
    opened: Listen,
    /// `None` while the client is away.
    sockets: Option<Sockets>,
    /// How many sockets there are, or were before the client went away.
    count: usize,
    holder: Holder,
}

/// The reason why a listener stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// The client's stream that asked for the listener is open.
    Stream(StreamId),
    /// The former client was replaced, or the port was taken while the client was away. The listener waits until this
    /// time for the client to ask for it.
    Next(Instant),
}

impl HostListeners {
    /// Opens a listener for the client, or gives an existing listener to the stream `id`. Answers on that stream.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        reception: &mut Reception,
        id: StreamId,
        wanted: Listen,
    ) {
        let mut kept = self.position(&wanted).map(|at| self.all.remove(at));
        let opened = match &mut kept {
            Some(held) => match held.reopen() {
                // Another program may listen at the port that the host had chosen.
                Err(_) if wanted.at != held.opened.at => open(&wanted, Policy::find),
                reopened => reopened,
            },
            None if self.all.len() >= LISTENERS_MAX => Err(Refusal::Many),
            None => open(&wanted, Policy::find),
        };
        let answer = match opened {
            Ok(sockets) => {
                let mut opened = wanted.clone();
                let chosen = sockets.port();
                if let (ListenPlace::Port { port, .. }, Some(chosen)) = (&mut opened.at, chosen) {
                    *port = chosen;
                }
                let address = chosen.map(|port| port.to_string()).unwrap_or_default();
                tracing::info!(%address, "listening for the client");
                let (count, holder) = (sockets.iter().count(), Holder::Stream(id));
                self.all.push(Held { wanted, opened, sockets: Some(sockets), count, holder });
                Answer::Opened { address }
            }
            Err(refusal) => {
                // The client will ask again.
                let holder = Holder::Next(now + KEPT);
                self.all.extend(kept.map(|held| Held { holder, ..held }));
                Answer::Refused { code: UNREACHED, text: refusal.to_string() }
            }
        };
        debug_assert!(self.all.len() <= LISTENERS_MAX);
        reception.answer(mux, id, &answer);
    }

    /// Handles an event of the stream `id`. If the stream of a listener has ended, closes the listener.
    pub(super) fn handle_news(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        reception: &mut Reception,
        id: StreamId,
    ) {
        let Some(at) = self.all.iter().position(|it| it.holder == Holder::Stream(id)) else {
            return;
        };
        // After its request, the client sends nothing but the stream's end.
        if mux.read(now, id, &mut [0; 1]) != Ok(Read::Blocked) {
            self.all.remove(at);
            reception.give_up(mux, id);
        }
    }

    /// Cuts the waiting connections of the former client. Keeps that client's listeners for the new client.
    pub(super) fn handle_takeover(&mut self, now: Instant) {
        self.cut_waiting();
        self.all.iter_mut().for_each(|it| it.holder = Holder::Next(now + KEPT));
        // Nothing would end the pause before the new client uses streams.
        self.paused_until = None;
        debug_assert!(self.waiting.is_empty() && !self.all.iter().any(Held::is_held));
    }

    /// Closes the sockets while the client is away. Connections then fail at once, and another session can take the
    /// ports. Opens the sockets again once the client is there. If a port is taken, resets the listener's stream, which
    /// tells the client.
    pub(super) fn handle_presence(&mut self, now: Instant, mux: &mut Mux, is_client_there: bool) {
        if !is_client_there {
            self.all.iter_mut().filter(|it| it.is_held()).for_each(|it| it.sockets = None);
            self.waiting.keys().for_each(|id| mux.reset_and_stop(*id, UNREACHED));
            self.cut_waiting();
        } else {
            for held in &mut self.all {
                let Holder::Stream(id) = held.holder else { continue };
                held.sockets = held.reopen().ok();
                if held.sockets.is_none() {
                    mux.reset_and_stop(id, UNREACHED);
                    held.holder = Holder::Next(now + KEPT);
                }
            }
        }
    }

    /// Closes all listeners, and resets the connections that wait for the client's answer.
    pub(super) fn close(&mut self) {
        self.cut_waiting();
        self.all.clear();
        debug_assert!(self.places().is_empty() && self.waiting.is_empty());
    }

    /// Closes the former client's listeners that the new client has not asked for within [`KEPT`].
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.all.retain(|it| !matches!(it.holder, Holder::Next(until) if until <= now));
    }

    /// Accepts connections. Adds a splice, which copies bytes, for each connection that the client accepts, too.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut BTreeMap<StreamId, Splice>,
    ) {
        self.accept(now, mux);
        let answered = self.waiting.iter_mut().filter_map(|(id, (_, opening))| {
            let answer = opening.answer(now, mux)?;
            Some((*id, answer.into_refusal()))
        });
        for (id, refusal) in answered.collect::<Vec<_>>() {
            let Some((socket, _)) = self.waiting.remove(&id) else { continue };
            match refusal {
                None => drop(splices.insert(id, Splice::socket(id, socket))),
                Some(reason) => {
                    tracing::debug!(reason, id = id.get(), "the client has refused a connection");
                    reset(&socket);
                    // Both directions of the stream must be closed, or it would stay open.
                    let _ = mux.reset(id, UNREACHED);
                }
            }
        }
        debug_assert!(self.waiting.len() <= CONNECTS_MAX);
    }

    /// Returns the addresses and paths of the open listeners, as text for people.
    pub(super) fn places(&self) -> Vec<String> {
        let place = |held: &Held| match &held.opened.at {
            ListenPlace::Port { host, port } => {
                let host = host.as_deref().unwrap_or("localhost");
                format!("{host}:{port}")
            }
            ListenPlace::Path(path) => String::from_utf8_lossy(path).into_owned(),
        };
        self.all.iter().filter(|it| it.sockets.is_some()).map(place).collect()
    }

    /// Returns how many accepted connections wait for the client's answer.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the time by which to call [`HostListeners::handle_timeout`] and [`HostListeners::turn`], if any.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let ends = self.all.iter().filter_map(|it| match it.holder {
            Holder::Next(until) => Some(until),
            Holder::Stream(_) => None,
        });
        ends.chain(self.paused_until).min()
    }

    /// Returns the descriptors to wait for. When one is ready, call [`HostListeners::turn`]. `open` streams are in use.
    pub(super) fn interests(&self, open: usize) -> impl Iterator<Item = Interest<'_>> {
        let accepts = self.paused_until.is_none() && self.has_room(open);
        let held = self.all.iter().filter(move |it| accepts && it.is_held());
        let sockets = held.flat_map(|it| &it.sockets).flat_map(Sockets::iter);
        sockets.map(|it| Interest::new(it, true, false))
    }

    fn has_room(&self, open: usize) -> bool {
        self.waiting.len() < CONNECTS_MAX && open < STREAMS_MAX
    }

    fn accept(&mut self, now: Instant, mux: &mut Mux) {
        if self.paused_until.is_some_and(|until| now < until) {
            return;
        }
        self.paused_until = None;
        while self.has_room(mux.open_streams()) {
            if let Some((since, ACCEPTED_MAX..)) = self.accepted
                && now < since + SECOND
            {
                self.paused_until = Some(since + SECOND);
                return;
            }
            let (socket, number) = match self.accept_next() {
                Some(Ok(found)) => found,
                Some(Err(error)) => {
                    tracing::debug!(%error, "cannot accept");
                    self.paused_until = Some(now + SECOND);
                    return;
                }
                None => return,
            };
            self.accepted = match self.accepted {
                Some((since, count)) if now < since + SECOND => Some((since, count + 1)),
                _ => Some((now, 1)),
            };
            debug_assert!(self.accepted.is_some_and(|(_, count)| count <= ACCEPTED_MAX));
            match Opening::begin(now, mux, &Target::Accepted(number)) {
                Ok(opening) => drop(self.waiting.insert(opening.id(), (socket, opening))),
                Err(error) => {
                    tracing::debug!(%error, "no stream for a connection");
                    reset(&socket);
                    return;
                }
            }
        }
    }

    /// Accepts a waiting connection. Returns it with its listener's number. The search begins after the listener of the
    /// last accepted connection. A busy listener thus does not delay the others.
    fn accept_next(&mut self) -> Option<io::Result<(OwnedFd, u64)>> {
        for at in (self.next..self.next + self.all.len()).map(|at| at % self.all.len()) {
            let held = &self.all[at];
            if held.is_held()
                && let Some(sockets) = &held.sockets
                && let Some(accepted) = sockets.accept().transpose()
            {
                let number = held.wanted.number;
                self.next = at + 1;
                return Some(accepted.map(|socket| (socket, number)));
            }
        }
        None
    }

    /// Returns the index of the former client's listener that this request takes over. The listener is equal, or
    /// differs only in its number, because each client numbers its listeners in its own way.
    fn position(&self, wanted: &Listen) -> Option<usize> {
        let left = self.all.iter().enumerate().filter(|(_, it)| {
            let numbered = Listen { number: it.wanted.number, ..wanted.clone() };
            !it.is_held() && it.wanted == numbered
        });
        left.min_by_key(|(_, it)| it.wanted.number != wanted.number).map(|(at, _)| at)
    }

    fn cut_waiting(&mut self) {
        self.waiting.values().for_each(|(socket, _)| reset(socket));
        self.waiting.clear();
    }
}

impl Held {
    /// Returns whether a client's open stream keeps the listener open.
    const fn is_held(&self) -> bool {
        matches!(self.holder, Holder::Stream(_))
    }

    /// Returns the listener's sockets, which it opens again if they are closed. A port that is then taken in one address
    /// family counts as taken.
    fn reopen(&mut self) -> Result<Sockets, Refusal> {
        let sockets = self.sockets.take().map_or_else(|| open(&self.opened, Policy::find), Ok)?;
        let is_whole = sockets.iter().count() >= self.count;
        if is_whole { Ok(sockets) } else { Err(io::Error::from(Errno::ADDRINUSE).into()) }
    }
}

/// Opens the sockets of a listener, if the host's policy allows its address.
fn open(
    wanted: &Listen,
    policy: impl Fn() -> Result<Policy, PolicyError>,
) -> Result<Sockets, Refusal> {
    let place = match &wanted.at {
        ListenPlace::Port { host, port } => {
            check_host(host.as_deref(), &policy)?;
            Place::Port(host.clone(), *port)
        }
        ListenPlace::Path(path) => {
            Place::Socket(String::from_utf8(path.clone()).map_err(|_| Refusal::Path)?)
        }
    };
    match policy() {
        Ok(rules) if !rules.permits_listen(&place) => return Err(Refusal::NotListed),
        Err(fault) if !fault.rules().streams => return Err(fault.into()),
        Ok(_) | Err(_) => {}
    }
    let rules = Forwards { mask: wanted.mask, replaces: wanted.replaces, ..Forwards::default() };
    Ok(Sockets::open(&place, &rules)?)
}

/// Checks that the host's policy allows a listener at this address.
fn check_host(
    host: Option<&str>,
    policy: impl FnOnce() -> Result<Policy, PolicyError>,
) -> Result<(), Refusal> {
    let is_loopback = match host {
        None | Some("localhost") => true,
        Some("" | "*") => false,
        Some(text) => match text.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => return Err(Refusal::Name),
        },
    };
    if is_loopback || policy()?.gateway_ports { Ok(()) } else { Err(Refusal::Closed) }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use rove_rig::guard::within_guard;
    use rove_rig::ports::free_port;
    use rove_streams::{Event, MessageReader};

    use super::*;
    use crate::muxes::{deliver, muxes};

    /// A client that asks for listeners, and the server with these listeners.
    struct Ends {
        now: Instant,
        client: Mux,
        server: Mux,
        reception: Reception,
        listeners: HostListeners,
    }

    impl Ends {
        fn new(listeners: HostListeners) -> Self {
            let (client, server) = muxes();
            Self { now: Instant::ZERO, client, server, reception: Reception::default(), listeners }
        }

        /// Asks for a listener, and returns its stream and the answer.
        fn ask(&mut self, wanted: &Listen) -> (StreamId, Answer) {
            let id = self.client.open(self.now).unwrap();
            self.client.write(id, &Target::Listen(wanted.clone()).encode()).unwrap();
            self.carry();
            let fields = MessageReader::default().read(self.now, &mut self.client, id);
            (id, Answer::decode(&fields.unwrap().expect("an answer")).unwrap())
        }

        fn carry(&mut self) {
            let Self { client, server, reception, listeners, .. } = self;
            let mut splices = BTreeMap::new();
            for _ in 0..8 {
                self.now += Duration::from_millis(20);
                let now = self.now;
                deliver(now, client, server);
                while let Some(event) = server.poll_event() {
                    match event {
                        Event::Incoming => reception.handle_incoming(server),
                        Event::Readable(id) => match reception.handle_readable(now, server, id) {
                            Some(Target::Listen(wanted)) => {
                                listeners.begin(now, server, reception, id, wanted);
                            }
                            _ => listeners.handle_news(now, server, reception, id),
                        },
                        Event::Stopped(id) => listeners.handle_news(now, server, reception, id),
                        _ => {}
                    }
                }
                listeners.turn(now, server, &mut splices);
                deliver(now, server, client);
            }
        }
    }

    fn wanted(number: u64) -> Listen {
        let at = ListenPlace::Port { host: Some("127.0.0.1".to_owned()), port: 0 };
        Listen { number, at, mask: 0o177, replaces: false }
    }

    fn port(answer: &Answer) -> u16 {
        let Answer::Opened { address } = answer else { panic!("{answer:?}") };
        address.parse().unwrap()
    }

    #[test]
    fn a_listener_is_at_the_loopback_unless_the_hosts_rules_allow_more() {
        let rules = |gateway_ports| move || Ok(Policy { gateway_ports, ..Policy::default() });
        for (host, is_loopback) in [
            (None, true),
            (Some("localhost"), true),
            (Some("127.0.0.2"), true),
            (Some("::1"), true),
            (Some(""), false),
            (Some("*"), false),
            (Some("0.0.0.0"), false),
            (Some("192.0.2.1"), false),
        ] {
            assert_eq!(check_host(host, rules(false)).is_ok(), is_loopback, "{host:?}");
            assert!(check_host(host, rules(true)).is_ok(), "{host:?}");
        }
        assert!(check_host(Some("example.org"), rules(true)).is_err());
        let refusal = check_host(Some("*"), || Err(PolicyError::Exposed)).expect_err("no rules");
        assert!(
            refusal.to_string().starts_with("its server.toml does not count: it is not root's")
        );
    }

    #[test]
    fn a_list_of_the_hosts_rules_decides_where_a_listener_is() {
        let rules = |text: &'static str| {
            move || -> Result<Policy, PolicyError> { Ok(toml::from_str(text)?) }
        };
        let refused = |text| open(&wanted(0), rules(text)).err().map(|it| it.to_string());
        let sentence = "its server.toml does not permit it (permit-listen)";
        assert_eq!(
            refused("permit-listen = ['127.0.0.1:8080', 'localhost:*']"),
            Some(sentence.to_owned())
        );
        // Port 0 lets the host choose a port, so the list must permit any port (`*`).
        for text in ["permit-listen = ['127.0.0.1:*']", "permit-listen = ['*']", ""] {
            assert_eq!(refused(text), None, "{text}");
        }
        let mistaken = refused("permit-listen = 8080").expect("a mistake permits nothing");
        assert!(mistaken.starts_with("its server.toml does not count: "), "{mistaken}");
    }

    #[test]
    fn a_listener_lives_as_long_as_its_stream_and_no_more_than_the_bound_are_open() {
        let mut ends = Ends::new(HostListeners::default());
        let (id, answer) = ends.ask(&wanted(0));
        let first = port(&answer);
        for number in 1..32 {
            port(&ends.ask(&wanted(number)).1);
        }
        assert!(matches!(ends.ask(&wanted(32)).1, Answer::Refused { .. }));
        ends.client.reset(id, 1).unwrap();
        ends.carry();
        let first = format!("localhost:{first}");
        assert!(!ends.listeners.places().contains(&first), "another process may listen there now");
        port(&ends.ask(&wanted(32)).1);
    }

    #[test]
    fn a_connection_waits_for_streams_that_have_ended_here_and_not_at_the_client() {
        let mut ends = Ends::new(HostListeners::default());
        let port = port(&ends.ask(&wanted(0)).1);
        let now = ends.now;
        // The listener's own stream is open and counts as the first.
        for _ in 1..STREAMS_MAX {
            let id = ends.server.open(now).unwrap();
            ends.server.reset(id, 1).unwrap();
            ends.server.stop(id, 1).unwrap();
        }
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        ends.listeners.turn(now, &mut ends.server, &mut BTreeMap::new());
        client.set_nonblocking(true).unwrap();
        let heard = (&client).read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(heard, Err(io::ErrorKind::WouldBlock), "it is not reset");
        assert_eq!(ends.listeners.waiting(), 0);
    }

    #[test]
    fn the_next_client_gets_the_same_port_within_a_minute_and_nobody_gets_it_later() {
        let mut ends = Ends::new(HostListeners::default());
        let first = port(&ends.ask(&wanted(3)).1);
        ends.listeners.handle_takeover(ends.now);
        let _early = TcpStream::connect(("127.0.0.1", first)).unwrap();
        ends.carry();
        assert_eq!(ends.listeners.waiting(), 0, "nobody takes it");
        let mut next = Ends::new(ends.listeners);
        // The next client may have fewer listeners, so that this one gets another number.
        assert_eq!(port(&next.ask(&wanted(0)).1), first);
        assert_eq!(next.listeners.all[0].wanted, wanted(0));
        next.carry();
        assert_eq!(next.listeners.waiting(), 1, "the connection has waited");
        next.listeners.handle_takeover(next.now);
        assert_eq!(next.listeners.waiting(), 0);
        let end = next.now + KEPT;
        assert_eq!(next.listeners.poll_timeout(), Some(end));
        next.listeners.handle_timeout(end);
        // A child that another test has just forked holds the listener open until the child's exec.
        within_guard("the end of the listener", move || {
            while TcpStream::connect(("127.0.0.1", first)).is_ok() {
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn while_the_client_is_away_its_port_refuses_and_another_session_may_take_it() {
        let mut ends = Ends::new(HostListeners::default());
        let (id, answer) = ends.ask(&wanted(0));
        let first = port(&answer);
        let connect = |port| TcpStream::connect(("127.0.0.1", port));
        let mut early = connect(first).unwrap();
        ends.carry();
        assert_eq!(ends.listeners.waiting(), 1);
        let there = |ends: &mut Ends, is_client_there| {
            ends.listeners.handle_presence(ends.now, &mut ends.server, is_client_there);
        };
        // A child that another test has just forked holds a listener open until the child's exec.
        let wait =
            |port| within_guard("the end of the listener", move || while connect(port).is_ok() {});
        there(&mut ends, false);
        assert!(early.read(&mut [0; 1]).is_err() && ends.listeners.waiting() == 0);
        wait(first);
        assert_eq!((ends.listeners.places().len(), ends.listeners.interests(0).count()), (0, 0));
        let at = ListenPlace::Port { host: Some("127.0.0.1".to_owned()), port: first };
        let mut other = Ends::new(HostListeners::default());
        let (_, answer) = other.ask(&Listen { at, ..wanted(0) });
        assert_eq!(port(&answer), first);
        there(&mut ends, true);
        ends.carry();
        assert!(ends.client.read(ends.now, id, &mut [0; 1]).is_err(), "the port is taken");
        assert!(!ends.listeners.all.iter().any(Held::is_held));
        // The client has asked again, and is away and back once more.
        let (id, answer) = ends.ask(&wanted(0));
        let second = port(&answer);
        there(&mut ends, false);
        wait(second);
        there(&mut ends, true);
        assert_eq!(ends.listeners.places(), [format!("127.0.0.1:{second}")]);
        assert_eq!(ends.client.read(ends.now, id, &mut [0; 1]), Ok(Read::Blocked));
        // The next client gets the port, too.
        there(&mut ends, false);
        wait(second);
        ends.listeners.handle_takeover(ends.now);
        assert_eq!(port(&Ends::new(ends.listeners).ask(&wanted(1)).1), second);
    }

    /// Returns once a port accepts no connections. A child that another test has just forked holds a listener open until
    /// the child's exec.
    fn wait_for_end(port: u16) {
        within_guard("the end of the listener", move || {
            while TcpStream::connect(("127.0.0.1", port)).is_ok() {
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn a_port_that_was_taken_in_one_family_while_the_client_was_away_is_refused_until_it_is_free() {
        let v6 = TcpListener::bind("[::1]:0");
        if v6.is_err() {
            return;
        }
        let number = free_port();
        let wanted = Listen { at: ListenPlace::Port { host: None, port: number }, ..wanted(0) };
        let mut ends = Ends::new(HostListeners::default());
        let (id, answer) = ends.ask(&wanted);
        assert_eq!((port(&answer), ends.listeners.interests(0).count()), (number, 2));
        ends.listeners.handle_presence(ends.now, &mut ends.server, false);
        wait_for_end(number);
        let taken = TcpListener::bind(("127.0.0.1", number)).unwrap();
        ends.listeners.handle_presence(ends.now, &mut ends.server, true);
        ends.carry();
        assert!(ends.client.read(ends.now, id, &mut [0; 1]).is_err(), "the port is taken");
        for _ in 0..4 {
            let (_, answer) = ends.ask(&wanted);
            let Answer::Refused { text, .. } = answer else { panic!("{answer:?}") };
            assert_eq!((&*text, ends.listeners.places().len()), ("Address already in use", 0));
            // The client asks again every 30 s.
            ends.now += KEPT / 2;
            ends.listeners.handle_timeout(ends.now);
        }
        drop(taken);
        wait_for_end(number);
        assert_eq!(port(&ends.ask(&wanted).1), number);
        assert_eq!((ends.listeners.interests(0).count(), ends.listeners.all.len()), (2, 1));
    }

    #[test]
    fn a_port_that_the_host_chose_and_that_was_taken_meanwhile_is_replaced_by_another() {
        let mut ends = Ends::new(HostListeners::default());
        let first = port(&ends.ask(&wanted(0)).1);
        ends.listeners.handle_presence(ends.now, &mut ends.server, false);
        wait_for_end(first);
        ends.listeners.handle_takeover(ends.now);
        let _taken = TcpListener::bind(("127.0.0.1", first)).unwrap();
        let mut next = Ends::new(ends.listeners);
        assert_ne!(port(&next.ask(&wanted(0)).1), first);
        assert_eq!(next.listeners.places().len(), 1);
    }

    #[test]
    fn connections_come_no_faster_and_wait_in_no_greater_number_than_a_client_bears() {
        let mut ends = Ends::new(HostListeners::default());
        let port = port(&ends.ask(&wanted(0)).1);
        let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _all: Vec<TcpStream> = (0..70).map(|_| connect()).collect();
        ends.carry();
        assert_eq!(ends.listeners.waiting(), CONNECTS_MAX);
        // This is as if the client refused all waiting connections at once.
        ends.listeners.cut_waiting();
        let mut splices = BTreeMap::new();
        ends.listeners.turn(ends.now, &mut ends.server, &mut splices);
        assert_eq!(ends.listeners.waiting(), ACCEPTED_MAX as usize - CONNECTS_MAX);
        let later = ends.listeners.poll_timeout().expect("the next second");
        ends.listeners.turn(later, &mut ends.server, &mut splices);
        assert_eq!(ends.listeners.waiting(), 32);
    }

    #[test]
    fn a_listener_keeps_its_stream_when_the_client_asks_for_an_equal_one() {
        let mut ends = Ends::new(HostListeners::default());
        let (first, answer) = ends.ask(&wanted(0));
        let (second, other) = ends.ask(&wanted(0));
        assert_ne!(port(&answer), port(&other));
        for (id, left) in [(first, port(&other)), (second, 0)] {
            ends.client.reset(id, 1).unwrap();
            ends.carry();
            let left: Vec<String> =
                (left != 0).then(|| format!("127.0.0.1:{left}")).into_iter().collect();
            assert_eq!(ends.listeners.places(), left);
        }
    }

    #[test]
    fn a_listener_with_many_connections_keeps_no_other_waiting() {
        let mut former = Ends::new(HostListeners::default());
        former.ask(&Listen { mask: 0, ..wanted(0) });
        former.listeners.handle_takeover(former.now);
        // The former client's listener stays, and has the same number as the busy listener.
        let mut ends = Ends::new(former.listeners);
        let [busy, calm] = [0, 1].map(|number| port(&ends.ask(&wanted(number)).1));
        let connect = |port| TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _all: Vec<TcpStream> = (0..70).map(|_| connect(busy)).chain([connect(calm)]).collect();
        ends.carry();
        let port_of = |socket: &OwnedFd| {
            SocketAddr::try_from(rustix::net::getsockname(socket).unwrap()).unwrap().port()
        };
        let accepted: Vec<u16> =
            ends.listeners.waiting.values().map(|(socket, _)| port_of(socket)).collect();
        assert!(accepted.contains(&calm), "{accepted:?}");
    }

    #[test]
    fn a_pause_in_accepting_ends_with_the_client() {
        let mut ends = Ends::new(HostListeners::default());
        let port = port(&ends.ask(&wanted(0)).1);
        let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _all: Vec<TcpStream> = (0..=ACCEPTED_MAX).map(|_| connect()).collect();
        for _ in 0..2 {
            ends.listeners.turn(ends.now, &mut ends.server, &mut BTreeMap::new());
            ends.listeners.cut_waiting();
        }
        let later = ends.listeners.poll_timeout().expect("the next second");
        assert!(later <= ends.now + SECOND);
        ends.listeners.handle_takeover(ends.now);
        assert_eq!(ends.listeners.poll_timeout(), Some(ends.now + KEPT));
        ends.listeners.handle_timeout(ends.now + KEPT);
        assert_eq!(ends.listeners.poll_timeout(), None);
    }
}
