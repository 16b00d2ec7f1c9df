//! The host's end of `-R`. It opens the listeners that the client asks for. It sends each accepted connection to the
//! client in a stream of its own.
//!
//! Only the client knows the targets of the connections. A listener lives as long as the client's stream that asked for
//! it. Its sockets are closed while the client is away. After another client has taken the session over, the listeners
//! stay for a minute. In this time, the new client can ask for the same ports.

use std::collections::BTreeMap;
use std::io;
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
use crate::server::policy::{Policy, PolicyError, is_loopback};
use crate::splice::{Splice, reset};

/// Most listeners (`-R`) that a session has on the host. Source: the wire contract, docs/wire.md.
const LISTENERS_MAX: usize = 32;

/// Time for which the listeners of a replaced client stay bound. Source: the wire contract, docs/wire.md.
const KEPT: Duration = Duration::from_secs(60);

/// Most connections that a session's listeners on the host accept in a second. Chosen: half of the streams that a
/// client accepts in a second. Two such bursts may fall into a client's second.
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
    /// The start of the last counted second, and the number of connections accepted in it. `None` before the first.
    accepted: Option<(Instant, u32)>,
    /// The end of a pause in accepting connections. `None` without a pause.
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
                // A former client's listener stays, because the client will ask again.
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

    /// Closes the listeners without a stream ([`Holder::Next`]) that no client has asked for again within [`KEPT`].
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.all.retain(|it| !matches!(it.holder, Holder::Next(until) if until <= now));
    }

    /// Accepts connections. If the client also accepts a connection, adds a splice, which copies its bytes.
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

    /// Returns the descriptors to wait for. When one is ready, call [`HostListeners::turn`]. `open` counts open
    /// streams.
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

    /// Accepts a waiting connection. Returns it with its listener's number; `None` if none waits. The search begins
    /// after the listener of the last accepted connection. A busy listener thus does not delay the others.
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

    /// Returns the index of the former client's listener that the request `wanted` takes over. The listener is equal,
    /// or differs only in its number, which each client chooses. `None` without such a listener.
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
    let is_loopback = is_loopback(host).ok_or(Refusal::Name)?;
    if is_loopback || policy()?.gateway_ports { Ok(()) } else { Err(Refusal::Closed) }
}

#[cfg(test)]
mod tests;
