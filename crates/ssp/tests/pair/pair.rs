//! Two ends and a path between them in virtual time.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_ssp::{Config, Direction, Ecn, Event, Key, ReceiveError, Role, Transmit, Transport};
use rove_units::{Duration, Instant, Seed};

use crate::note::Note;
use crate::referee::Referee;

/// Longest diff in tests of large contents, in bytes. A user's stream is divided into such diffs.
pub(crate) const CHUNK: usize = 32 * 1024;

/// The key of every test session.
pub(crate) fn key() -> Key {
    Key::from_bytes(*b"sixteen key byte")
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The effect of the path on a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Delivered,
    Lost,
    Duplicated,
    DelayedPastNext,
}

/// An end, and a record of its datagrams.
#[derive(Debug)]
pub(crate) struct Party<const MAX: usize> {
    pub(crate) transport: Transport<Note<MAX>, Note<MAX>>,
    /// When each datagram was sent, in ms, and its length.
    pub(crate) sent: Vec<(u64, usize)>,
    /// The payload of each sent datagram. `None` if the test needs no payloads.
    pub(crate) overheard: Option<Vec<Vec<u8>>>,
    pub(crate) referee: Referee,
    /// The path's effects on the next sent datagrams, in order. The path delivers all later datagrams.
    pub(crate) fates: VecDeque<Fate>,
    delayed: VecDeque<(SocketAddr, Vec<u8>)>,
    /// How many delayed datagrams are to be delivered next, because a later datagram has overtaken them.
    releases: usize,
    /// The second copy of a datagram that the path has duplicated, until it is delivered.
    twin: Option<(SocketAddr, Vec<u8>)>,
    pub(crate) events: Vec<(u64, Event)>,
    pub(crate) errors: Vec<ReceiveError>,
    /// When a datagram last arrived, in ms, by the length of the peer's text that this end held at that time.
    pub(crate) delivered: BTreeMap<usize, u64>,
}

impl<const MAX: usize> Party<MAX> {
    pub(crate) fn client(seed: Seed, config: Config) -> Self {
        Self::new(Role::Client { server: RIGHT_ADDRESS }, seed, config)
    }

    /// Creates a client of a server at this address.
    pub(crate) fn client_of(server: SocketAddr, seed: Seed, config: Config) -> Self {
        Self::new(Role::Client { server }, seed, config)
    }

    pub(crate) fn server(seed: Seed, config: Config) -> Self {
        Self::new(Role::Server { ipv6: false }, seed, config)
    }

    fn new(role: Role, seed: Seed, config: Config) -> Self {
        let chaff = seed.stream("chaff");
        let direction = match role {
            Role::Client { .. } => Direction::ToServer,
            Role::Server { .. } => Direction::ToClient,
        };
        let (local, remote) = (Note::default(), Note::default());
        Self {
            transport: Transport::new(role, &key(), config, local, remote, chaff, Instant::ZERO),
            sent: Vec::new(),
            overheard: None,
            referee: Referee::new(direction),
            fates: VecDeque::new(),
            delayed: VecDeque::new(),
            releases: 0,
            twin: None,
            events: Vec::new(),
            errors: Vec::new(),
            delivered: BTreeMap::new(),
        }
    }

    /// Appends a text to this end's note and publishes it.
    pub(crate) fn write(&mut self, text: &[u8]) {
        let longer = self.transport.local().appended(text);
        self.transport.publish(longer);
    }

    fn release(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.releases = self.releases.checked_sub(1)?;
        self.delayed.pop_front()
    }
}

impl<const MAX: usize> End for Party<MAX> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let before = self.transport.remote().clone();
        if let Err(error) = self.transport.handle_datagram(now, source, Ecn::Capable, payload) {
            self.errors.push(error);
        }
        let after = self.transport.remote().text();
        assert!(after.starts_with(before.text()), "what was delivered never changes");
        self.delivered.insert(after.len(), now.as_millis());
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        if let Some(twin) = self.twin.take() {
            return Some(twin);
        }
        loop {
            let transmit = self.transport.poll_transmit(now);
            while let Some(event) = self.transport.poll_event() {
                self.events.push((now.as_millis(), event));
            }
            let Some(Transmit { destination, payload, .. }) = transmit else {
                return self.release();
            };
            self.sent.push((now.as_millis(), payload.len()));
            self.referee.watch(&payload);
            if let Some(overheard) = &mut self.overheard {
                overheard.push(payload.clone());
            }
            match self.fates.pop_front().unwrap_or(Fate::Delivered) {
                Fate::Lost => {}
                Fate::Delivered => {
                    self.releases = self.delayed.len();
                    return Some((destination, payload));
                }
                Fate::Duplicated => {
                    self.releases = self.delayed.len();
                    self.twin = Some((destination, payload.clone()));
                    return Some((destination, payload));
                }
                Fate::DelayedPastNext => self.delayed.push_back((destination, payload)),
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.transport.poll_timeout()
    }
}

pub(crate) type Pair<const MAX: usize> = Net<Party<MAX>, Party<MAX>>;

/// Returns random text of bytes from 1 to 255. It does not compress, so its diff needs many fragments.
pub(crate) fn noise(seed: Seed, len: usize) -> Vec<u8> {
    let stream = seed.stream("noise");
    let letter = |at| u8::try_from(1 + stream.at(at).below(255)).expect("below 256");
    (0..).take(len).map(letter).collect()
}

/// Joins a client and a server with rove's default configuration over the same path in both directions.
pub(crate) fn pair<const MAX: usize>(seed: Seed, link: LinkConfig) -> Pair<MAX> {
    pair_with(seed, link, Config::client(), Config::server())
}

/// Joins a client and a server over the same path in both directions.
pub(crate) fn pair_with<const MAX: usize>(
    seed: Seed,
    link: LinkConfig,
    client: Config,
    server: Config,
) -> Pair<MAX> {
    Net::new(Party::client(seed, client), Party::server(seed, server), link.clone(), link, seed)
}

/// Returns whether each end holds the text that the other end has published.
pub(crate) fn agree<const MAX: usize>(left: &Party<MAX>, right: &Party<MAX>) -> bool {
    left.transport.local().text() == right.transport.remote().text()
        && right.transport.local().text() == left.transport.remote().text()
}
