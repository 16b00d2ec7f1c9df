//! A session on whose path somebody copies all datagrams, and sends copies between any two datagrams.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::VecDeque;

use arbitrary::{Result, Unstructured};
use rove_session::UserStream;
use rove_ssp::{Config, Ecn, Object, ReceiveError, Role, Transport};
use rove_units::{Duration, Instant, Seed};

use crate::forger::key;

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 60001);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)), 40000);
const STRANGER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)), 4242);

/// Most events in a run.
const STEPS_MAX: usize = 300;

/// Longest time until both ends agree after the network works again. Chosen: longer than a server's wait for its
/// client, a heartbeat, and the largest contents at the longest intervals.
const HEALED_WITHIN: Duration = Duration::from_secs(30);

/// An end of the session, and the datagrams that it has sent.
struct End {
    transport: Transport<UserStream, UserStream>,
    address: SocketAddr,
    /// Datagrams on their way to the other end.
    sent: VecDeque<Vec<u8>>,
    /// Datagrams that are held back, to be delivered later.
    late: Vec<Vec<u8>>,
    /// Datagrams that the other end has received. It must reject every further copy of them.
    delivered: Vec<Vec<u8>>,
    drawn: u64,
}

impl End {
    fn new(role: Role, config: Config, address: SocketAddr, name: &str) -> Self {
        let (ours, theirs) = (UserStream::new(), UserStream::new());
        let chaff = Seed::new(1).stream(name);
        Self {
            transport: Transport::new(role, &key(), config, ours, theirs, chaff, Instant::ZERO),
            address,
            sent: VecDeque::new(),
            late: Vec::new(),
            delivered: Vec::new(),
            drawn: 0,
        }
    }

    /// Publishes `len` more bytes that cannot be compressed, which take a datagram per thousand bytes.
    fn write(&mut self, len: usize) {
        let chance = Seed::new(2).stream("contents");
        let bits = (self.drawn..).flat_map(|at| chance.at(at).bits().to_le_bytes());
        let bytes: Vec<u8> = bits.take(len).collect();
        self.drawn += 1_000;
        let mut longer = self.transport.local().clone();
        longer.push_bytes(&bytes);
        self.transport.publish(longer);
    }

    fn turn(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
        while let Some(transmit) = self.transport.poll_transmit(now) {
            self.sent.push_back(transmit.payload);
        }
        while self.transport.poll_event().is_some() {}
    }

    /// Returns everything of the end's state that others can observe.
    fn look(&self) -> impl PartialEq + core::fmt::Debug + use<> {
        let it = &self.transport;
        let numbers = (it.remote_num(), it.known_num(), it.sent_num(), it.peer_datagrams());
        (numbers, it.peer_address(), it.poll_timeout(), it.path(), it.remote_arrived_at())
    }

    fn is_done(&self) -> bool {
        self.transport.known_receiver_state().same_as(self.transport.local())
    }
}

/// Copies of datagrams must change nothing, from any source and at any time. After the network works again, both ends
/// must agree.
pub fn copies_change_nothing(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let client =
        End::new(Role::Client { server: SERVER }, Config::client(), CLIENT, "client.chaff");
    let server = End::new(Role::Server { ipv6: false }, Config::server(), SERVER, "server.chaff");
    let mut ends = [client, server];
    let mut now = Instant::ZERO;
    let _ = play(&mut ends, &mut now, &mut input);
    heal(&mut ends, now);
}

fn play(ends: &mut [End; 2], now: &mut Instant, input: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..STEPS_MAX {
        ends.iter_mut().for_each(|end| end.turn(*now));
        if input.is_empty() {
            break;
        }
        let from = usize::from(input.arbitrary::<bool>()?);
        match input.int_in_range(0..=9)? {
            0 | 1 => ends[from].write(usize::from(input.arbitrary::<u16>()?) / 8),
            2..=4 => {
                let next = ends[from].sent.pop_front();
                next.into_iter().for_each(|datagram| deliver(ends, from, *now, datagram));
            }
            5 => drop(ends[from].sent.pop_front()),
            6 => {
                let next = ends[from].sent.pop_front();
                ends[from].late.extend(next);
            }
            7 if !ends[from].late.is_empty() => {
                let at = usize::from(input.arbitrary::<u8>()?) % ends[from].late.len();
                let datagram = ends[from].late.swap_remove(at);
                deliver(ends, from, *now, datagram);
            }
            7 | 8 => repeat(ends, from, *now, input.arbitrary::<u16>()?.into()),
            _ => {
                let millis = u64::from(input.arbitrary::<u8>()?);
                let wakes = ends.iter().filter_map(|end| end.transport.poll_timeout()).min();
                *now = if millis == 0 {
                    wakes.unwrap_or(*now).max(*now)
                } else {
                    *now + Duration::from_millis(millis)
                };
            }
        }
    }
    Ok(())
}

/// Delivers a datagram for the first time.
fn deliver(ends: &mut [End; 2], from: usize, now: Instant, datagram: Vec<u8>) {
    let source = ends[from].address;
    let outcome = ends[1 - from].transport.handle_datagram(now, source, Ecn::Capable, &datagram);
    assert!(!matches!(outcome, Err(ReceiveError::Replayed { .. })), "it was here once");
    ends[from].delivered.push(datagram);
}

/// Delivers another copy of a delivered datagram.
fn repeat(ends: &mut [End; 2], from: usize, now: Instant, which: usize) {
    let [client, server] = ends;
    let (from, to) = if from == 0 { (client, server) } else { (server, client) };
    if from.delivered.is_empty() {
        return;
    }
    let datagram = &from.delivered[which % from.delivered.len()];
    for source in [from.address, STRANGER] {
        let before = to.look();
        let outcome =
            to.transport.handle_datagram(now, source, Ecn::CongestionExperienced, datagram);
        assert!(matches!(outcome, Err(ReceiveError::Replayed { .. })), "{outcome:?}");
        assert_eq!(to.look(), before, "a copy has told something");
    }
}

/// Delivers everything from now on, with a copy of an old datagram before each new one.
fn heal(ends: &mut [End; 2], mut now: Instant) {
    let deadline = now + HEALED_WITHIN;
    let mut which = 0;
    loop {
        ends.iter_mut().for_each(|end| end.turn(now));
        for from in [0, 1] {
            while let Some(datagram) = ends[from].sent.pop_front() {
                which += 1;
                repeat(ends, from, now, which / 2);
                deliver(ends, from, now, datagram);
            }
        }
        if ends.iter().all(End::is_done) {
            return;
        }
        assert!(now < deadline, "copies keep the ends from agreeing");
        let wakes = ends.iter().filter_map(|end| end.transport.poll_timeout()).min();
        now = wakes.expect("there is something to say").max(now + Duration::from_millis(1));
    }
}
