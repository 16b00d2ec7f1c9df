//! A computer whose network changes: UDP over IPv4 and IPv6 behind a NAT, and ssh, which the client's driver starts.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use rove_headless::copying::with_streams;
use rove_headless::{Beside, ClientEnd, Echo, ServerEnd, client_config, server_config};
use rove_link::net::{End, RIGHT_ADDRESS};
use rove_link::{Link, LinkConfig};
use rove_session::{ClientConfig, Streams};
use rove_ssp::{Config, SIDE_PATH};
use rove_streams::Side;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

use crate::common::Copier;

/// The time of a login by ssh.
const LOGIN: Duration = Duration::from_millis(400);

/// How long a login waits for a host that does not answer. Source: `bootstrap/tunnel/standby.rs`.
const LOGIN_MAX: Duration = Duration::from_millis(5_000);

/// Least time between two logins. Source: `bootstrap/tunnel/standby.rs`.
const PAUSE: Duration = Duration::from_millis(60_000);

/// Most turns at the same instant. With more, the run counts as stuck. Chosen: far more than the packets of an instant.
const TURNS_PER_INSTANT_MAX: u32 = 100_000;

/// Bytes that ssh accepts before its pipe is full. Source: docs/wire.md, section 8.
const PIPE_MAX: Bytes = Bytes::new(65_536);

/// The state of UDP in an address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// Datagrams are lost, and the client gets no error.
    Silent,
    /// The system has no route, and returns an error for each datagram.
    NoRoute,
}

/// The state of the client's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    /// The states of UDP over IPv4 and over IPv6.
    pub(crate) ways: [Way; 2],
    /// Whether the network carries connections of ssh.
    pub(crate) ssh: bool,
    /// The client's port as the server sees it. A NAT may change it.
    pub(crate) port: u16,
}

impl Network {
    /// A network that carries UDP and ssh.
    pub(crate) const OPEN: Self = Self { ways: [Way::Open; 2], ssh: true, port: 1 };

    fn client(self, is_v6: bool) -> SocketAddr {
        match is_v6 {
            true => SocketAddr::from((Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), self.port)),
            false => SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), self.port)),
        }
    }

    fn passes(self, address: SocketAddr) -> bool {
        self.ways[usize::from(address.is_ipv6())] == Way::Open
    }
}

/// Returns the server's IPv6 address.
fn server_v6() -> SocketAddr {
    SocketAddr::from((Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 1), 60_001))
}

/// A datagram on a link.
#[derive(Clone, Debug)]
struct Datagram {
    source: SocketAddr,
    destination: SocketAddr,
    payload: Vec<u8>,
}

impl AsRef<[u8]> for Datagram {
    fn as_ref(&self) -> &[u8] {
        &self.payload
    }
}

/// The links for UDP or for ssh, in both directions.
struct Links {
    up: Link<Datagram>,
    down: Link<Datagram>,
}

impl Links {
    fn new(config: &LinkConfig, chance: rove_units::Stream) -> Self {
        let link = |number| Link::new(config.clone(), chance.fork(number));
        Self { up: link(0), down: link(1) }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.up.poll_timeout(), self.down.poll_timeout()].into_iter().flatten().min()
    }
}

/// A login of ssh that has not finished.
#[derive(Clone, Copy, Debug)]
struct Login {
    since: Instant,
    /// Whether the network has failed since the login's start.
    is_cut: bool,
}

impl Login {
    fn ends_at(self) -> Instant {
        self.since + if self.is_cut { LOGIN_MAX } else { LOGIN }
    }
}

/// A running ssh that carries datagrams.
struct Ssh {
    links: Links,
    is_alive: bool,
}

/// A session with a copy in each direction, and the network between its ends.
pub(crate) struct World {
    pub(crate) client: Beside<ClientEnd<()>, Copier>,
    pub(crate) server: Beside<ServerEnd<Echo>, Copier>,
    pub(crate) now: Instant,
    pub(crate) network: Network,
    /// The number of ssh's logins.
    pub(crate) logins: usize,
    /// When an end first heard the other one after the latest change. `None` before that.
    pub(crate) heard_at: Option<Instant>,
    udp: Links,
    ssh: Option<Ssh>,
    login: Option<Login>,
    logged_in_at: Option<Instant>,
    ssh_config: LinkConfig,
    chance: rove_units::Stream,
    typed: usize,
}

impl World {
    /// Starts a session over paths with this round-trip time.
    pub(crate) fn new(seed: u64, rtt: Duration) -> Self {
        let seed = Seed::new(seed);
        let config = client_config(with_streams(Config::client()), seed);
        let config = ClientConfig { server: RIGHT_ADDRESS, ..config };
        let mut client = ClientEnd::new(config, (), Instant::ZERO);
        client.client.candidates_mut().add(server_v6());
        let server = ServerEnd::new(
            server_config(with_streams(Config::server()), seed),
            Echo(b""),
            Instant::ZERO,
        );
        let streams = |side| Streams::new(side, Instant::ZERO);
        let rate = BitRate::from_bits_per_second(2_000_000);
        let udp = LinkConfig {
            delay: rtt / 2,
            rate,
            queue_max: Bytes::new(100_000),
            overhead: Bytes::new(28),
            ..LinkConfig::default()
        };
        let ssh_config = LinkConfig { queue_max: PIPE_MAX, ..udp.clone() };
        let chance = seed.stream("network");
        Self {
            client: Beside::new(client, Copier::new(u64::MAX), streams(Side::Client)),
            server: Beside::new(server, Copier::new(u64::MAX), streams(Side::Server)),
            now: Instant::ZERO,
            network: Network::OPEN,
            logins: 0,
            heard_at: None,
            udp: Links::new(&udp, chance.fork(0)),
            ssh: None,
            login: None,
            logged_in_at: None,
            ssh_config,
            chance,
            typed: 0,
        }
    }

    /// Changes the network. If `is_told`, the system reports the change to the client.
    pub(crate) fn change(&mut self, network: Network, is_told: bool) {
        if !network.ssh || network.port != self.network.port {
            self.ssh.iter_mut().for_each(|ssh| ssh.is_alive = false);
            self.login.iter_mut().for_each(|login| login.is_cut = true);
        }
        (self.network, self.heard_at) = (network, None);
        if is_told {
            self.client.end.client.handle_network_change(self.now);
        }
    }

    /// Returns whether UDP or ssh carries datagrams in both directions.
    pub(crate) fn has_way(&self) -> bool {
        self.has_udp() || self.ssh.as_ref().is_some_and(|ssh| ssh.is_alive)
    }

    /// Returns whether UDP over IPv4 or IPv6 carries datagrams.
    pub(crate) fn has_udp(&self) -> bool {
        self.network.ways.contains(&Way::Open)
    }

    /// Types a letter at the client.
    pub(crate) fn type_key(&mut self) {
        self.typed += 1;
        self.client.end.client.handle_input(self.now, b"k");
    }

    /// Returns whether the client shows the echo of every key.
    pub(crate) fn is_echoed(&self) -> bool {
        let screen = self.client.end.client.screen();
        let rows = 0..screen.size().rows();
        rows.map(|row| screen.row_text(row).matches('k').count()).sum::<usize>() == self.typed
    }

    /// Runs until `done` returns true, but not longer than `limit`. Returns whether `done` returned true.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let deadline = self.now + limit;
        let mut turns = 0;
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            let next = self.poll_timeout().unwrap_or(deadline).max(self.now);
            if next > deadline {
                self.now = deadline;
                return false;
            }
            turns = if next > self.now { 0 } else { turns + 1 };
            assert!(turns < TURNS_PER_INSTANT_MAX, "an end spins at {}", self.now);
            self.now = next;
        }
    }

    /// Runs the session for `span`.
    pub(crate) fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let client = &self.client.end.client;
        let times = [
            self.client.poll_timeout(),
            self.server.poll_timeout(),
            self.udp.poll_timeout(),
            self.ssh.as_ref().filter(|ssh| ssh.is_alive).and_then(|ssh| ssh.links.poll_timeout()),
            self.login.map(Login::ends_at),
            self.login_at(),
            client.side_path_dead_at().filter(|_| self.ssh.is_some()),
        ];
        times.into_iter().flatten().min()
    }

    /// Returns when the client's driver will start the next login of ssh.
    fn login_at(&self) -> Option<Instant> {
        let client = &self.client.end.client;
        let wanted_at = match (&self.login, &self.ssh) {
            (Some(_), _) => return None,
            (None, None) => client.side_path_wanted_at()?,
            (None, Some(_)) => client.side_path_late_at()?,
        };
        Some(self.logged_in_at.map_or(wanted_at, |at| wanted_at.max(at + PAUSE)))
    }

    fn turn(&mut self) {
        self.deliver();
        self.drive();
        let now = self.now;
        if self.client.poll_timeout().is_some_and(|due| due <= now) {
            self.client.handle_timeout(now);
        }
        if self.server.poll_timeout().is_some_and(|due| due <= now) {
            self.server.handle_timeout(now);
        }
        self.transmit();
    }

    fn deliver(&mut self) {
        let (now, network) = (self.now, self.network);
        let mut links = vec![&mut self.udp];
        links.extend(self.ssh.as_mut().filter(|ssh| ssh.is_alive).map(|ssh| &mut ssh.links));
        for links in links {
            while let Some((_, datagram)) = links.up.poll_packet(now) {
                self.heard_at.get_or_insert(now);
                self.server.handle_datagram(now, datagram.source, &datagram.payload);
            }
            while let Some((_, datagram)) = links.down.poll_packet(now) {
                let to = datagram.destination;
                if to == SIDE_PATH || to == network.client(to.is_ipv6()) {
                    self.heard_at.get_or_insert(now);
                    self.client.handle_datagram(now, datagram.source, &datagram.payload);
                }
            }
        }
    }

    /// Starts and ends ssh, as the client's driver does.
    fn drive(&mut self) {
        let now = self.now;
        let client = &mut self.client.end.client;
        if self.ssh.is_some()
            && (!client.uses_side_path() || client.side_path_dead_at().is_some_and(|at| at <= now))
        {
            client.handle_side_path(now, false);
            self.ssh = None;
        }
        if let Some(login) = self.login.filter(|login| login.ends_at() <= now) {
            self.login = None;
            if !login.is_cut {
                let links = Links::new(&self.ssh_config, self.chance.fork(1 + self.logins as u64));
                self.ssh = Some(Ssh { links, is_alive: true });
                self.client.end.client.handle_side_path(now, true);
            }
        }
        if self.login_at().is_some_and(|at| at <= now) {
            self.logins += 1;
            self.logged_in_at = Some(now);
            self.login = Some(Login { since: now, is_cut: !self.network.ssh });
        }
    }

    fn transmit(&mut self) {
        let (now, network) = (self.now, self.network);
        while let Some((destination, payload)) = self.client.poll_transmit(now) {
            if destination == SIDE_PATH {
                if let Some(ssh) = self.ssh.as_mut().filter(|ssh| ssh.is_alive) {
                    let datagram = Datagram { source: SIDE_PATH, destination, payload };
                    ssh.links.up.handle_packet(now, datagram);
                }
                continue;
            }
            let is_v6 = destination.is_ipv6();
            if network.ways[usize::from(is_v6)] == Way::NoRoute {
                self.client.end.client.candidates_mut().handle_unreachable(destination);
            } else if network.passes(destination) {
                let datagram = Datagram { source: network.client(is_v6), destination, payload };
                self.udp.up.handle_packet(now, datagram);
            }
        }
        while let Some((destination, payload)) = self.server.poll_transmit(now) {
            if destination == SIDE_PATH {
                if let Some(ssh) = self.ssh.as_mut().filter(|ssh| ssh.is_alive) {
                    let datagram = Datagram { source: SIDE_PATH, destination, payload };
                    ssh.links.down.handle_packet(now, datagram);
                }
            } else if network.passes(destination) {
                let source = if destination.is_ipv6() { server_v6() } else { RIGHT_ADDRESS };
                let datagram = Datagram { source, destination, payload };
                self.udp.down.handle_packet(now, datagram);
            }
        }
    }
}
