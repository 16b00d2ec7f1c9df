//! A virtual network: a clock, two ends, and a link in each direction. The time jumps from event to event.
//!
//! The left end is usually the client. It can move to other addresses, and can be stopped like a process. Datagrams to
//! an address that it has left are lost.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::collections::VecDeque;

use rove_units::{Bytes, Duration, Instant, Seed};

use crate::link::Link;
use crate::steps::Steps;

/// The first address of the left end (a documentation network, RFC 5737).
pub const LEFT_ADDRESS: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 50_000));

/// The address of the right end (a documentation network, RFC 5737).
pub const RIGHT_ADDRESS: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(198, 51, 100, 1), 60_001));

/// Most bytes of datagrams that wait in the socket of a stopped end. Further datagrams are dropped. Source: Linux's
/// default `net.core.rmem_default`, socket(7).
const SOCKET_BUFFER_MAX: Bytes = Bytes::new(212_992);

/// Most wake-ups of a simulated end at one instant. A run with more is stuck in a loop, and panics. Chosen: far above
/// the packets that any end sends at one instant.
const TURNS_PER_INSTANT_MAX: u32 = 100_000;

/// An end of the network: any state machine that does no I/O.
pub trait End {
    /// Handles a datagram that arrived from the network.
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]);
    /// Performs the work that is due at `now`.
    fn handle_timeout(&mut self, now: Instant);
    /// Returns the next datagram to send, and its destination. `None` if there is nothing to send.
    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)>;
    /// Returns when the driver must call [`End::handle_timeout`] next. `None` if nothing will be due.
    fn poll_timeout(&self) -> Option<Instant>;
}

impl<E: End + ?Sized> End for Box<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        (**self).handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        (**self).handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        (**self).poll_transmit(now)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (**self).poll_timeout()
    }
}

/// Two ends and the path between them, in virtual time.
#[derive(Debug)]
pub struct Net<A, B> {
    /// The left end, usually the client.
    pub left: A,
    /// The right end, usually the server.
    pub right: B,
    /// The link from left to right.
    pub uplink: Link<Packet>,
    /// The link from right to left.
    pub downlink: Link<Packet>,
    now: Instant,
    left_socket: Socket,
    right_socket: Socket,
}

/// A datagram in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The source address, as the receiver sees it.
    pub source: SocketAddr,
    /// The destination address.
    pub destination: SocketAddr,
    /// The UDP payload.
    pub payload: Vec<u8>,
}

impl AsRef<[u8]> for Packet {
    fn as_ref(&self) -> &[u8] {
        &self.payload
    }
}

/// The address from which an end sends, and the datagrams that have arrived there.
#[derive(Debug)]
struct Socket {
    address: SocketAddr,
    /// How many more datagrams the end sends before its address changes, and the new address.
    change: Option<(u32, SocketAddr)>,
    /// Whether the end is stopped as by SIGSTOP, so that arriving datagrams wait.
    stopped: bool,
    waiting: VecDeque<Packet>,
    waiting_bytes: Bytes,
}

impl<A: End, B: End> Net<A, B> {
    /// Connects two ends at time zero. `uplink` carries datagrams from left to right.
    pub fn new(
        left: A,
        right: B,
        uplink: impl Into<Steps>,
        downlink: impl Into<Steps>,
        seed: Seed,
    ) -> Self {
        Self {
            left,
            right,
            uplink: Link::new(uplink, seed.stream("uplink")),
            downlink: Link::new(downlink, seed.stream("downlink")),
            now: Instant::ZERO,
            left_socket: Socket::new(LEFT_ADDRESS),
            right_socket: Socket::new(RIGHT_ADDRESS),
        }
    }

    /// Returns the current virtual time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Runs for `span` of virtual time.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_, _| false);
    }

    /// Runs until `done` is true after an event, or until `limit` has passed. Returns whether `done` was true.
    ///
    /// # Panics
    ///
    /// Panics if an end asks again and again to be woken while the time stands still.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&A, &B) -> bool) -> bool {
        let deadline = self.now + limit;
        let mut turns = 0;
        loop {
            self.turn();
            if done(&self.left, &self.right) {
                return true;
            }
            let Some(next) = self.next_event().filter(|next| *next <= deadline) else {
                self.now = deadline;
                return false;
            };
            turns = if next > self.now { 0 } else { turns + 1 };
            assert!(turns < TURNS_PER_INSTANT_MAX, "an end spins at {}", self.now);
            self.now = self.now.max(next);
        }
    }

    /// Replaces the configs of both links for packets that enter from this call on.
    pub fn reconfigure(&mut self, uplink: impl Into<Steps>, downlink: impl Into<Steps>) {
        self.uplink.reconfigure(self.now, uplink);
        self.downlink.reconfigure(self.now, downlink);
    }

    /// Gives the left end a new address, as after roaming. Datagrams in flight to the old address are lost.
    pub fn move_left(&mut self, address: SocketAddr) {
        (self.left_socket.address, self.left_socket.change) = (address, None);
    }

    /// Gives the left end a new address after it has sent `datagrams` more datagrams. So the end can roam in the middle
    /// of an instruction that several datagrams carry.
    pub fn move_left_after(&mut self, datagrams: u32, address: SocketAddr) {
        self.left_socket.change = Some((datagrams, address));
    }

    /// Stops or continues the left end, like SIGSTOP and SIGCONT. Datagrams for a stopped end wait in its socket.
    pub fn stop_left(&mut self, stopped: bool) {
        self.left_socket.stopped = stopped;
    }

    /// Stops or continues the right end, like SIGSTOP and SIGCONT.
    pub fn stop_right(&mut self, stopped: bool) {
        self.right_socket.stopped = stopped;
    }

    /// Lets both ends receive the datagrams that have arrived, do the work that is due, and send.
    fn turn(&mut self) {
        let now = self.now;
        while let Some((_, packet)) = self.uplink.poll_packet(now) {
            if packet.destination == RIGHT_ADDRESS {
                self.right_socket.deliver(packet);
            }
        }
        while let Some((_, packet)) = self.downlink.poll_packet(now) {
            if packet.destination == self.left_socket.address {
                self.left_socket.deliver(packet);
            }
        }
        run_end(now, &mut self.left, &mut self.left_socket, &mut self.uplink);
        run_end(now, &mut self.right, &mut self.right_socket, &mut self.downlink);
    }

    fn next_event(&self) -> Option<Instant> {
        let left = (!self.left_socket.stopped).then(|| self.left.poll_timeout()).flatten();
        let right = (!self.right_socket.stopped).then(|| self.right.poll_timeout()).flatten();
        [left, right, self.uplink.poll_timeout(), self.downlink.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Socket {
    fn new(address: SocketAddr) -> Self {
        let (change, stopped, waiting) = (None, false, VecDeque::new());
        Self { address, change, stopped, waiting, waiting_bytes: Bytes::ZERO }
    }

    /// Returns the source address of the next datagram.
    fn source(&mut self) -> SocketAddr {
        match &mut self.change {
            Some((0, address)) => {
                self.address = *address;
                self.change = None;
            }
            Some((datagrams, _)) => *datagrams -= 1,
            None => {}
        }
        self.address
    }

    fn deliver(&mut self, packet: Packet) {
        let size = Bytes::from(packet.payload.len());
        if self.stopped && self.waiting_bytes + size > SOCKET_BUFFER_MAX {
            return;
        }
        self.waiting_bytes += size;
        self.waiting.push_back(packet);
    }
}

fn run_end(now: Instant, end: &mut impl End, socket: &mut Socket, out: &mut Link<Packet>) {
    if socket.stopped {
        return;
    }
    // The end may send after each datagram, like a driver that reads one datagram per turn of its loop.
    while let Some(packet) = socket.waiting.pop_front() {
        end.handle_datagram(now, packet.source, &packet.payload);
        transmit(now, end, socket, out);
    }
    socket.waiting_bytes = Bytes::ZERO;
    if end.poll_timeout().is_some_and(|due| due <= now) {
        end.handle_timeout(now);
    }
    transmit(now, end, socket, out);
}

fn transmit(now: Instant, end: &mut impl End, socket: &mut Socket, out: &mut Link<Packet>) {
    while let Some((destination, payload)) = end.poll_transmit(now) {
        out.handle_packet(now, Packet { source: socket.source(), destination, payload });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LinkConfig;

    /// Sends a number every 10 ms, and answers each received number with its double.
    #[derive(Debug, Default)]
    struct Echo {
        next: Option<Instant>,
        count: u8,
        outbox: VecDeque<(SocketAddr, Vec<u8>)>,
        heard: Vec<(Instant, SocketAddr, u8)>,
    }

    impl End for Echo {
        fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
            self.heard.push((now, source, payload[0]));
            if self.next.is_none() {
                self.outbox.push_back((source, vec![payload[0] * 2]));
            }
        }

        fn handle_timeout(&mut self, now: Instant) {
            if self.next.is_some_and(|next| next <= now) {
                self.count += 1;
                self.outbox.push_back((RIGHT_ADDRESS, vec![self.count]));
                self.next = Some(now + Duration::from_millis(10));
            }
        }

        fn poll_transmit(&mut self, _now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
            self.outbox.pop_front()
        }

        fn poll_timeout(&self) -> Option<Instant> {
            self.next
        }
    }

    fn net(delay: u64) -> Net<Echo, Echo> {
        let ticking = Echo { next: Some(Instant::ZERO), ..Echo::default() };
        let wire = LinkConfig::lossless(Duration::from_millis(delay));
        Net::new(ticking, Echo::default(), wire.clone(), wire, Seed::new(1))
    }

    fn numbers(end: &Echo) -> Vec<u8> {
        end.heard.iter().map(|heard| heard.2).collect()
    }

    #[test]
    fn time_jumps_from_event_to_event() {
        let mut net = net(25);
        net.run_for(Duration::from_millis(100));
        assert_eq!(net.now(), Instant::from_millis(100));
        assert_eq!(net.right.heard[0], (Instant::from_millis(25), LEFT_ADDRESS, 1));
        assert_eq!(net.left.heard[0], (Instant::from_millis(50), RIGHT_ADDRESS, 2));
    }

    #[test]
    fn run_until_stops_at_the_event_that_was_waited_for() {
        let mut net = net(25);
        assert!(net.run_until(Duration::from_secs(1), |_, right| right.heard.len() == 3));
        assert_eq!(net.now(), Instant::from_millis(45));
        assert!(!net.run_until(Duration::from_millis(1), |_, right| right.heard.len() == 9));
    }

    #[test]
    fn datagrams_to_an_address_given_up_are_lost() {
        let mut net = net(20);
        net.run_for(Duration::from_millis(25));
        let home: SocketAddr = "203.0.113.9:40000".parse().expect("a literal address");
        net.move_left(home);
        net.run_for(Duration::from_millis(60));
        // The answers to 1, 2 and 3 went to the old address.
        assert_eq!(numbers(&net.left), [8, 10]);
        assert_eq!(net.right.heard.last().map(|heard| heard.1), Some(home));
    }

    #[test]
    fn an_end_may_move_between_two_datagrams() {
        let mut net = net(0);
        let home: SocketAddr = "203.0.113.9:40000".parse().expect("a literal address");
        net.move_left_after(2, home);
        net.run_for(Duration::from_millis(35));
        let sources: Vec<_> = net.right.heard.iter().map(|heard| heard.1).collect();
        assert_eq!(sources, [LEFT_ADDRESS, LEFT_ADDRESS, home, home]);
        assert_eq!(numbers(&net.left), [2, 4, 6, 8]);
    }

    #[test]
    fn a_stopped_end_finds_its_datagrams_when_it_goes_on() {
        let mut net = net(0);
        net.stop_right(true);
        net.run_for(Duration::from_millis(35));
        assert_eq!(numbers(&net.right), []);
        net.stop_right(false);
        net.run_for(Duration::ZERO);
        assert_eq!(numbers(&net.right), [1, 2, 3, 4]);
        net.stop_left(true);
        net.run_for(Duration::from_secs(1));
        assert_eq!(net.left.count, 4);
    }

    #[test]
    fn a_stopped_ends_socket_overflows() {
        let mut socket = Socket { stopped: true, ..Socket::new(LEFT_ADDRESS) };
        let packet = |len| Packet {
            source: LEFT_ADDRESS,
            destination: RIGHT_ADDRESS,
            payload: vec![0; len],
        };
        socket.deliver(packet(212_991));
        socket.deliver(packet(1));
        socket.deliver(packet(1));
        assert_eq!(socket.waiting.len(), 2);
    }

    #[test]
    #[should_panic(expected = "an end spins")]
    fn an_end_that_spins_is_found_out() {
        let stuck = Echo { next: Some(Instant::ZERO), ..Echo::default() };
        struct Stuck(Echo);
        impl End for Stuck {
            fn handle_datagram(&mut self, _: Instant, _: SocketAddr, _: &[u8]) {}
            fn handle_timeout(&mut self, _: Instant) {}
            fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
                None
            }
            fn poll_timeout(&self) -> Option<Instant> {
                self.0.next
            }
        }
        let wire = LinkConfig::default();
        Net::new(Stuck(stuck), Echo::default(), wire.clone(), wire, Seed::new(1))
            .run_for(Duration::from_millis(1));
    }
}
