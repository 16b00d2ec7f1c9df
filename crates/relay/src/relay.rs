//! The relay: two sockets, two links and the thread that moves datagrams between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use rove_link::{Link, LinkConfig};
use rove_platform::clock::Clock;
use rove_units::{Bytes, Seed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::bell;

/// Size of the relay's read buffer in bytes: room for any UDP datagram, so that the relay cuts no datagram.
const DATAGRAM_BYTES_MAX: usize = 65_536;

/// Most datagrams taken from one socket until the relay reads the other. Chosen: far above what a session sends in a
/// frame. A flood in one direction then delays the other direction by less than a millisecond.
const BATCH: usize = 64;

/// Size of the receive buffer that the relay asks the kernel for, in bytes, so that only the emulated links lose
/// datagrams. Chosen: a Mosh 1.4.0 client may send a megabyte of input in one burst, which fits easily.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// The addresses of a relay, and the links that datagrams pass.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// The address to which the client sends. Port 0 lets the kernel choose a port.
    pub listen: SocketAddr,
    /// The server's address.
    pub server: SocketAddr,
    /// The path from the client to the server.
    pub uplink: LinkConfig,
    /// The path from the server to the client.
    pub downlink: LinkConfig,
    /// The seed that decides every random loss, duplicate and delay.
    pub seed: Seed,
}

/// Counts of the datagrams in one direction since the relay's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many datagrams the relay has received.
    pub datagrams: u64,
    /// Payload bytes of the received datagrams.
    pub bytes: Bytes,
    /// The largest payload of a received datagram.
    pub largest: Bytes,
    /// How many datagrams the relay has passed on. Lost datagrams do not count, and duplicated datagrams count twice.
    pub delivered: u64,
}

/// A running relay. It stops when dropped.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    server: SocketAddr,
    orders: Sender<Order>,
    bell: bell::Socket,
    uplink: Arc<Counters>,
    downlink: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts a relay in a new thread.
    ///
    /// # Errors
    ///
    /// Returns the system's error when a socket cannot be bound or the thread not started.
    pub fn start(config: RelayConfig) -> io::Result<Self> {
        let listener = bind(config.listen)?;
        let address = listener.local_addr()?;
        let upstream = bind_upstream(config.server, None)?;
        let (orders, inbox) = mpsc::channel();
        let [bell, ear] = bell::pair()?;
        let uplink = Arc::new(Counters::default());
        let downlink = Arc::new(Counters::default());
        let mut pump = Pump {
            clock: Clock::start(),
            listener,
            upstream,
            server: config.server,
            client: None,
            uplink: Link::new(config.uplink, config.seed.stream("uplink")),
            downlink: Link::new(config.downlink, config.seed.stream("downlink")),
            uplink_counters: Arc::clone(&uplink),
            downlink_counters: Arc::clone(&downlink),
            inbox,
            ear,
        };
        let thread = std::thread::Builder::new().name("relay".to_owned()).spawn(move || {
            if let Err(error) = pump.run() {
                tracing::error!(%error, "relay stopped");
            }
        })?;
        Ok(Self {
            address,
            server: config.server,
            orders,
            bell,
            uplink,
            downlink,
            thread: Some(thread),
        })
    }

    /// Returns the address that clients send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes the server see the client at another address. Datagrams then reach the server from a new port, and from
    /// `source` if it is given. The server's datagrams to the old port are lost. Returns the new address, whose IP is
    /// unspecified if the kernel chooses it for each datagram.
    ///
    /// # Errors
    ///
    /// Returns the system's error when no socket can be bound there.
    pub fn roam(&self, source: Option<IpAddr>) -> io::Result<SocketAddr> {
        let upstream = bind_upstream(self.server, source)?;
        let address = upstream.local_addr()?;
        self.order(Order::Roam(upstream));
        Ok(address)
    }

    /// Changes both links for the datagrams that the relay receives after this call.
    pub fn reconfigure(&self, uplink: LinkConfig, downlink: LinkConfig) {
        self.order(Order::Reconfigure(Box::new((uplink, downlink))));
    }

    /// Returns the counts of the datagrams from the client to the server.
    pub fn uplink(&self) -> Traffic {
        self.uplink.read()
    }

    /// Returns the counts of the datagrams from the server to the client.
    pub fn downlink(&self) -> Traffic {
        self.downlink.read()
    }

    fn order(&self, order: Order) {
        // Errors do not matter: an ended thread needs no order, and a full socket wakes the thread anyway.
        let _ = self.orders.send(order);
        let _ = self.bell.send(&[0]);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.order(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An order from the owner of the [`Relay`] to its thread.
#[derive(Debug)]
enum Order {
    Roam(UdpSocket),
    Reconfigure(Box<(LinkConfig, LinkConfig)>),
    Stop,
}

#[derive(Debug, Default)]
struct Counters {
    datagrams: AtomicU64,
    bytes: AtomicU64,
    largest: AtomicU64,
    delivered: AtomicU64,
}

impl Counters {
    fn count(&self, payload: &[u8]) {
        let bytes = Bytes::from(payload.len()).get();
        self.datagrams.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.largest.fetch_max(bytes, Ordering::Relaxed);
    }

    fn read(&self) -> Traffic {
        Traffic {
            datagrams: self.datagrams.load(Ordering::Relaxed),
            bytes: Bytes::new(self.bytes.load(Ordering::Relaxed)),
            largest: Bytes::new(self.largest.load(Ordering::Relaxed)),
            delivered: self.delivered.load(Ordering::Relaxed),
        }
    }
}

/// The state of the relay's thread: sockets, links and the clock that drives them.
#[derive(Debug)]
struct Pump {
    clock: Clock,
    listener: UdpSocket,
    upstream: UdpSocket,
    server: SocketAddr,
    /// The source of the client's newest datagram, if any. The server's datagrams go there, as a client may move.
    client: Option<SocketAddr>,
    uplink: Link<Vec<u8>>,
    downlink: Link<Vec<u8>>,
    uplink_counters: Arc<Counters>,
    downlink_counters: Arc<Counters>,
    inbox: Receiver<Order>,
    ear: bell::Socket,
}

impl Pump {
    fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        while self.hear_bell().is_continue() && self.take_in(&mut buffer).is_continue() {
            self.give_out();
            self.wait()?;
        }
        Ok(())
    }

    fn hear_bell(&mut self) -> ControlFlow<()> {
        while self.ear.recv(&mut [0]).is_ok() {}
        self.follow_orders()
    }

    fn follow_orders(&mut self) -> ControlFlow<()> {
        loop {
            match self.inbox.try_recv() {
                Ok(Order::Roam(upstream)) => self.upstream = upstream,
                Ok(Order::Reconfigure(links)) => {
                    let (now, (uplink, downlink)) = (self.clock.now(), *links);
                    self.uplink.reconfigure(now, uplink);
                    self.downlink.reconfigure(now, downlink);
                }
                Ok(Order::Stop) | Err(mpsc::TryRecvError::Disconnected) => {
                    return ControlFlow::Break(());
                }
                Err(mpsc::TryRecvError::Empty) => return ControlFlow::Continue(()),
            }
        }
    }

    /// Reads waiting datagrams and puts them on the links. An order must apply to every datagram that was sent after
    /// the owner gave the order. So the relay looks for orders after each read. Breaks at [`Order::Stop`].
    fn take_in(&mut self, buffer: &mut [u8]) -> ControlFlow<()> {
        for _ in 0..BATCH {
            let Ok((len, source)) = self.listener.recv_from(buffer) else { break };
            self.follow_orders()?;
            self.client = Some(source);
            self.uplink_counters.count(&buffer[..len]);
            self.uplink.handle_packet(self.clock.now(), buffer[..len].to_vec());
        }
        for _ in 0..BATCH {
            let Ok((len, _)) = self.upstream.recv_from(buffer) else { break };
            self.follow_orders()?;
            self.downlink_counters.count(&buffer[..len]);
            self.downlink.handle_packet(self.clock.now(), buffer[..len].to_vec());
        }
        ControlFlow::Continue(())
    }

    /// Sends the datagrams that have reached the end of a link. A failed send counts as a lost datagram.
    fn give_out(&mut self) {
        let now = self.clock.now();
        while let Some((_, payload)) = self.uplink.poll_packet(now) {
            if self.upstream.send_to(&payload, self.server).is_ok() {
                self.uplink_counters.delivered.fetch_add(1, Ordering::Relaxed);
            }
        }
        while let Some((_, payload)) = self.downlink.poll_packet(now) {
            let Some(client) = self.client else { continue };
            if self.listener.send_to(&payload, client).is_ok() {
                self.downlink_counters.delivered.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Sleeps until a datagram or an order arrives, or a datagram on a link is due.
    fn wait(&self) -> io::Result<()> {
        let due = [self.uplink.poll_timeout(), self.downlink.poll_timeout()];
        // The deadline is absolute, so a late wake-up does not delay the datagrams after it.
        let left = due.into_iter().flatten().min();
        let left = left.map(|deadline| deadline.saturating_since(self.clock.now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = [
            PollFd::new(&self.listener, PollFlags::IN),
            PollFd::new(&self.upstream, PollFlags::IN),
            PollFd::new(&self.ear, PollFlags::IN),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Opens the socket that faces the server, at the IP address `source`, if given, and a port that the kernel chooses.
fn bind_upstream(server: SocketAddr, source: Option<IpAddr>) -> io::Result<UdpSocket> {
    let any = match server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    bind(SocketAddr::new(source.unwrap_or(any), 0))
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    // Root gets the whole size, and other users get at most the size that the system allows.
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    let asked = sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER_BYTES);
    #[cfg(any(rove_portable, not(target_os = "linux")))]
    let asked: Result<(), Errno> = Err(Errno::ACCESS);
    if asked.is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER_BYTES);
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use rove_units::{Duration, Instant};

    use super::*;

    /// Longest time for which a test waits for an event.
    const HANG_GUARD: Duration = Duration::from_secs(90);

    fn loopbacks() -> [IpAddr; 2] {
        [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
    }

    fn endpoint(ip: IpAddr) -> UdpSocket {
        let socket = UdpSocket::bind((ip, 0)).unwrap();
        socket.set_read_timeout(Some(HANG_GUARD)).unwrap();
        socket
    }

    fn relay_to(server: &UdpSocket, link: LinkConfig) -> Relay {
        let server = server.local_addr().unwrap();
        let listen = SocketAddr::new(server.ip(), 0);
        let config = RelayConfig {
            listen,
            server,
            uplink: link.clone(),
            downlink: link,
            seed: Seed::new(1),
        };
        Relay::start(config).unwrap()
    }

    fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
        let mut buffer = [0; DATAGRAM_BYTES_MAX];
        let (len, source) = socket.recv_from(&mut buffer).expect("a datagram within the guard");
        (buffer[..len].to_vec(), source)
    }

    fn wait_until(done: impl Fn() -> bool) {
        let clock = Clock::start();
        while !done() {
            assert!(clock.now().saturating_since(Instant::ZERO) < HANG_GUARD, "it never came true");
            std::thread::yield_now();
        }
    }

    #[test]
    fn datagrams_pass_whole_both_ways_and_are_counted() {
        for ip in loopbacks() {
            let (client, server) = (endpoint(ip), endpoint(ip));
            let relay = relay_to(&server, LinkConfig::default());
            for payload in [vec![], vec![1], vec![2; 1_252], vec![3; 40_000]] {
                client.send_to(&payload, relay.address()).unwrap();
                let (arrived, source) = receive(&server);
                assert_eq!(arrived, payload);
                server.send_to(&arrived, source).unwrap();
                assert_eq!(receive(&client), (payload, relay.address()));
            }
            let expected = Traffic {
                datagrams: 4,
                bytes: Bytes::new(41_253),
                largest: Bytes::new(40_000),
                delivered: 4,
            };
            // The client may receive the last datagram while the relay has not counted it yet.
            wait_until(|| relay.downlink().delivered == 4);
            assert_eq!([relay.uplink(), relay.downlink()], [expected; 2], "{ip}");
        }
    }

    #[test]
    fn a_roaming_client_has_a_new_source_and_is_still_answered() {
        let (client, server) = (endpoint(loopbacks()[0]), endpoint(loopbacks()[0]));
        let relay = relay_to(&server, LinkConfig::default());
        client.send_to(b"home", relay.address()).unwrap();
        let (_, home) = receive(&server);
        let elsewhere = IpAddr::from([127, 0, 0, 2]);
        for source in [None, Some(elsewhere)] {
            let moved = relay.roam(source).unwrap();
            client.send_to(b"away", relay.address()).unwrap();
            let (_, away) = receive(&server);
            assert_eq!(away.port(), moved.port());
            assert_ne!(away.port(), home.port());
            if let Some(source) = source {
                assert_eq!(away.ip(), source);
            }
            server.send_to(b"back", away).unwrap();
            assert_eq!(receive(&client).0, b"back");
        }
    }

    #[test]
    fn an_outage_swallows_everything_until_it_heals() {
        let (client, server) = (endpoint(loopbacks()[0]), endpoint(loopbacks()[0]));
        let relay = relay_to(&server, LinkConfig::outage());
        for _ in 0..10 {
            client.send_to(b"lost", relay.address()).unwrap();
        }
        wait_until(|| relay.uplink().datagrams == 10);
        relay.reconfigure(LinkConfig::default(), LinkConfig::default());
        client.send_to(b"heard", relay.address()).unwrap();
        assert_eq!(receive(&server).0, b"heard");
        assert_eq!(relay.uplink().datagrams, 11);
    }

    #[test]
    fn a_dropped_relay_leaves_its_port_free() {
        let server = endpoint(loopbacks()[0]);
        let relay = relay_to(&server, LinkConfig::default());
        let address = relay.address();
        drop(relay);
        // For a moment, another test or a child that has not called exec may hold the port.
        wait_until(|| UdpSocket::bind(address).is_ok());
    }
}
