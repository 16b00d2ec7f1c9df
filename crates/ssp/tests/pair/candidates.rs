//! A server with several addresses, of which some do not answer.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use rove_link::net::End;
use rove_ssp::Config;
use rove_units::{Duration, Instant, Seed};

use crate::pair::{Party, agree, ms, noise};

type End4096 = Party<4096>;

/// Maximum UDP payload over IPv6 in bytes: a link of 1280 bytes less 64 of headers and options.
const IPV6_PAYLOAD_MAX: usize = 1280 - 64;

/// An address of the server and the path to it.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Whether this path carries datagrams of the client to the server.
    up: bool,
    /// Whether this path carries datagrams of the server to the client.
    down: bool,
    /// The delay of a datagram on this path in either direction.
    delay: Duration,
    /// The index of the path from whose address the server answers a datagram that came over this path.
    answers_from: usize,
}

const DEAD: Way = Way { up: false, down: false, delay: ms(20), answers_from: usize::MAX };
const ALIVE: Way = Way { up: true, down: true, ..DEAD };

/// A client and a server, with a path for each of the server's addresses.
struct World {
    client: End4096,
    server: End4096,
    ways: Vec<Way>,
    now: Instant,
    /// For each datagram on its way, by arrival: whether it goes to the server, the index of its path, its payload.
    packets: BTreeMap<(Instant, usize), (bool, usize, Vec<u8>)>,
    /// The time in ms and the path of each datagram that the client sent, in the order of sending.
    went: Vec<(u64, usize)>,
    sent: Vec<Vec<u8>>,
}

/// Returns the server's address on the path with this index.
fn far(way: usize) -> SocketAddr {
    let way = u8::try_from(way).expect("a few ways");
    match way {
        // The paths 1 and 4 have IPv6 addresses.
        1 | 4 => format!("[2001:db8::{way}]:60001").parse().expect("an address"),
        _ => SocketAddr::from(([198, 51, 100, way], 60_001)),
    }
}

/// Returns the client's address as the server sees it on the path with this index.
fn near(way: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 50_000 + u16::try_from(way).expect("a few ways")))
}

impl World {
    fn new(seed: u64, server: Config, ways: &[Way]) -> Self {
        Self::with(seed, Config::client(), server, ways)
    }

    fn with(seed: u64, client: Config, server: Config, ways: &[Way]) -> Self {
        let seed = Seed::new(seed);
        let mut client = End4096::client_of(far(0), seed, client);
        let candidates = client.transport.candidates_mut().expect("a client has them");
        (1..ways.len()).for_each(|way| candidates.add(far(way)));
        client.write(b"80x24");
        Self {
            client,
            server: End4096::server(seed, server),
            ways: ways.to_vec(),
            now: Instant::ZERO,
            packets: BTreeMap::new(),
            went: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn add(&mut self, way: Way) {
        let candidates = self.client.transport.candidates_mut().expect("a client has them");
        candidates.add(far(self.ways.len()));
        self.ways.push(way);
    }

    fn add_detour(&mut self, way: Way) {
        let candidates = self.client.transport.candidates_mut().expect("a client has them");
        candidates.add_detour(far(self.ways.len()));
        self.ways.push(way);
    }

    fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let deadline = self.now + limit;
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            let arrival = self.packets.keys().next().map(|(at, _)| *at);
            let next = [self.client.poll_timeout(), self.server.poll_timeout(), arrival];
            let next = next.into_iter().flatten().min().unwrap_or(deadline).max(self.now);
            if next > deadline {
                self.now = deadline;
                return false;
            }
            self.now = next;
        }
    }

    fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Returns whether each end gets the other's text within `limit`.
    fn works_within(&mut self, limit: Duration) -> bool {
        self.client.write(b"key");
        self.server.write(b"screen");
        self.run_until(limit, |world| agree(&world.client, &world.server))
    }

    fn turn(&mut self) {
        while let Some(((_, _), (to_server, way, payload))) =
            self.packets.first_key_value().filter(|((at, _), _)| *at <= self.now).map(clone)
        {
            self.packets.pop_first();
            if to_server {
                self.server.handle_datagram(self.now, near(way), &payload);
            } else {
                let answers_from = self.ways[way].answers_from;
                let source = if answers_from < self.ways.len() { answers_from } else { way };
                self.client.handle_datagram(self.now, far(source), &payload);
            }
        }
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        while let Some((destination, payload)) = self.client.poll_transmit(self.now) {
            let way = (0..self.ways.len()).find(|way| far(*way) == destination);
            let way = way.expect("nothing goes anywhere else");
            // Only a probe may have the datagram size of another address.
            let is_probe = self.client.transport.peer_address() != Some(destination);
            assert!(is_probe || destination.is_ipv4() || payload.len() <= IPV6_PAYLOAD_MAX);
            self.went.push((self.now.as_millis(), way));
            self.sent.push(payload.clone());
            self.carry(true, way, payload, self.ways[way].up);
        }
        while let Some((destination, payload)) = self.server.poll_transmit(self.now) {
            let way = (0..self.ways.len()).find(|way| near(*way) == destination);
            let way = way.expect("the server answers where it was spoken to");
            self.carry(false, way, payload, self.ways[way].down);
        }
    }

    fn carry(&mut self, to_server: bool, way: usize, payload: Vec<u8>, arrives: bool) {
        if arrives {
            let number = self.packets.keys().map(|(_, number)| *number).max().unwrap_or(0) + 1;
            let arrival = self.now + self.ways[way].delay;
            self.packets.insert((arrival, number), (to_server, way, payload));
        }
    }

    /// Returns how many datagrams went to other addresses than the first.
    fn aside(&self) -> usize {
        self.went.iter().filter(|(_, way)| *way != 0).count()
    }
}

fn clone<K: Copy, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (*key, value.clone())
}

fn servers() -> [Config; 2] {
    [Config::server(), Config::server().stock()]
}

#[test]
fn a_first_address_that_answers_is_the_only_one_and_gets_the_same_bytes_as_alone() {
    for server in servers() {
        let run = |ways: &[Way]| {
            let mut world = World::new(1, server.clone(), ways);
            for _ in 0..20 {
                assert!(world.works_within(ms(1_000)));
                world.run_for(ms(7_000));
            }
            assert_eq!(world.aside(), 0);
            world.sent
        };
        let alone = run(&[ALIVE]);
        assert_eq!(run(&[ALIVE, ALIVE, ALIVE]), alone);
    }
}

#[test]
fn a_far_first_address_costs_one_probe_of_each_other_and_stays() {
    let far_away = Way { delay: ms(400), ..ALIVE };
    for server in servers() {
        for others in [DEAD, far_away] {
            let mut world = World::new(2, server.clone(), &[far_away, others, others]);
            assert!(world.works_within(ms(5_000)));
            world.run_for(ms(60_000));
            assert_eq!(world.client.transport.peer_address(), Some(far(0)));
            assert!(world.aside() <= 2, "{:?}", world.went);
        }
    }
}

#[test]
fn whichever_address_answers_is_found_at_the_start() {
    for server in servers() {
        for alive in 1..4 {
            let mut ways = [DEAD; 4];
            ways[alive] = ALIVE;
            let mut world = World::new(3, server.clone(), &ways);
            assert!(world.works_within(ms(1_000)), "{alive}: {:?}", world.went);
            let found = world.now.as_millis();
            println!("address {alive} alone answers: found after {found} ms");
            world.run_for(ms(20_000));
            let late = world.went.iter().filter(|(at, way)| *at > 2_000 && *way != alive).count();
            assert_eq!(late, 0, "the others are left alone then");
        }
    }
}

#[test]
fn where_nothing_answers_probes_are_rare_and_what_heals_is_found() {
    for server in servers() {
        for healed in 0..3 {
            let mut world = World::new(4, server.clone(), &[DEAD; 3]);
            world.run_for(ms(600_000));
            // Six rounds of probes take half a minute. Then a round follows every ten seconds.
            assert!(world.aside() <= 2 * 65, "{}", world.aside());
            world.ways[healed] = ALIVE;
            assert!(world.works_within(ms(11_000)), "{healed}");
        }
    }
}

#[test]
fn a_session_moves_to_the_address_that_is_left_and_back_when_that_fails() {
    for server in servers() {
        let mut world = World::new(5, server, &[ALIVE, DEAD, ALIVE]);
        assert!(world.works_within(ms(1_000)));
        for (dies, lives) in [(0, 2), (2, 0), (0, 2)] {
            world.run_for(ms(20_000));
            (world.ways[dies], world.ways[lives]) = (DEAD, ALIVE);
            assert!(world.works_within(ms(12_000)), "{dies} to {lives}: {:?}", world.went);
            assert_eq!(world.client.transport.peer_address(), Some(far(lives)));
        }
    }
}

#[test]
fn an_address_that_is_dead_one_way_only_is_left_too() {
    for server in servers() {
        for half_dead in [Way { up: false, ..ALIVE }, Way { down: false, ..ALIVE }] {
            let mut world = World::new(6, server.clone(), &[ALIVE, DEAD, ALIVE]);
            assert!(world.works_within(ms(1_000)));
            world.run_for(ms(20_000));
            world.ways[0] = half_dead;
            assert!(world.works_within(ms(25_000)), "{half_dead:?}: {:?}", world.went);
            // Both texts may have arrived before the client switched.
            world.run_for(ms(1_000));
            assert_eq!(world.client.transport.peer_address(), Some(far(2)));
        }
    }
}

#[test]
fn a_server_that_answers_from_an_address_that_does_not_listen_is_heard_all_the_same() {
    for server in servers() {
        let crooked = Way { answers_from: 2, ..ALIVE };
        let mut world = World::new(7, server, &[crooked, DEAD, DEAD]);
        assert!(world.works_within(ms(1_000)));
        world.run_for(ms(60_000));
        assert_eq!(world.aside(), 0);
        world.ways[0] = DEAD;
        world.run_for(ms(60_000));
        world.ways[0] = crooked;
        assert!(world.works_within(ms(30_000)));
        world.run_for(ms(60_000));
        for _ in 0..5 {
            assert!(world.works_within(ms(2_000)), "{:?}", world.went);
            world.run_for(ms(9_000));
        }
    }
}

#[test]
fn datagrams_fit_an_address_of_the_other_family_that_is_taken_in_the_midst_of_a_text() {
    for server in servers() {
        let mut world = World::new(10, server, &[DEAD, DEAD, DEAD, ALIVE, ALIVE]);
        world.ways[4].up = false;
        assert!(world.run_until(ms(2_000), |world| {
            world.client.transport.peer_address() == Some(far(3))
        }));
        // The client gets datagrams from this address, but its own do not arrive there. It then uses the next address.
        (world.ways[3].up, world.ways[4].up) = (false, true);
        world.client.write(&noise(Seed::new(10), 3_500));
        world.run_until(ms(20_000), |world| world.client.transport.peer_address() == Some(far(4)));
        assert_eq!(world.client.transport.peer_address(), Some(far(4)));
        assert!(world.works_within(ms(20_000)), "{:?}", world.went);
    }
}

#[test]
fn an_address_without_a_route_is_not_waited_for() {
    let mut world = World::new(8, Config::server(), &[DEAD, ALIVE]);
    world.run_for(ms(1));
    world.client.transport.candidates_mut().expect("a client has them").handle_unreachable(far(0));
    assert!(world.works_within(ms(200)), "{:?}", world.went);
}

#[test]
fn a_detour_is_left_within_two_seconds_after_the_servers_own_address_answers() {
    for server in servers() {
        for dead in [DEAD, Way { up: true, ..DEAD }, Way { down: true, ..DEAD }] {
            let mut world = World::new(11, server.clone(), &[dead, DEAD]);
            world.add_detour(ALIVE);
            assert!(world.works_within(ms(2_000)), "{:?}", world.went);
            let mut late = 0;
            for _ in 0..100 {
                world.run_for(ms(707));
                assert!(world.works_within(ms(500)), "{dead:?}: {:?}", world.went);
                late += usize::from(!world.client.transport.peer_address().eq(&Some(far(2))));
            }
            assert_eq!(late, 0, "the detour is used for as long as nothing else answers");
            let before = world.went.len();
            world.run_for(ms(60_000));
            // The client sends two probes and a recall every 1.5 s, and heartbeats.
            assert!(world.went.len() - before <= 3 * 41 + 25, "{}", world.went.len() - before);
            assert!(world.works_within(ms(500)));
            world.run_for(ms(9_000));
            world.ways[0] = ALIVE;
            let is_back = |world: &World| world.client.transport.peer_address() == Some(far(0));
            assert!(world.run_until(ms(2_000), is_back), "{dead:?}: {:?}", world.went);
            // When the detour then ends, the session goes on.
            world.ways[2] = DEAD;
            assert!(world.works_within(ms(500)), "{dead:?}: {:?}", world.went);
            assert!(is_back(&world));
        }
    }
}

#[test]
fn a_detour_that_is_removed_while_it_is_used_leads_back_at_once() {
    for server in servers() {
        let mut world = World::new(12, server, &[DEAD, DEAD]);
        world.add_detour(ALIVE);
        assert!(world.works_within(ms(2_000)), "{:?}", world.went);
        world.run_for(ms(9_100));
        world.ways = vec![ALIVE, DEAD, DEAD];
        world.client.transport.remove_candidate(world.now, far(2));
        assert_eq!(world.client.transport.peer_address(), Some(far(0)));
        assert!(world.works_within(ms(500)), "{:?}", world.went);
    }
}

#[test]
fn while_a_detour_is_used_errors_may_be_those_of_probes() {
    let mut world = World::new(13, Config::server(), &[DEAD]);
    let is_probing = |world: &World| {
        world.client.transport.candidates().expect("a client has them").is_probing()
    };
    world.add_detour(ALIVE);
    assert!(world.works_within(ms(2_000)), "{:?}", world.went);
    for _ in 0..100 {
        world.run_for(ms(97));
        assert!(is_probing(&world));
    }
    world.ways[0] = ALIVE;
    world.run_for(ms(9_000));
    assert!(!is_probing(&world));
}

#[test]
fn a_network_that_changes_all_the_time_has_the_own_addresses_probed_a_bounded_number_of_times() {
    let mut world = World::new(14, Config::server(), &[DEAD, DEAD]);
    world.add_detour(ALIVE);
    assert!(world.works_within(ms(2_000)), "{:?}", world.went);
    let before = world.went.len();
    for _ in 0..6_000 {
        world.client.transport.handle_network_change(world.now);
        world.run_for(ms(10));
    }
    let (own, detour): (Vec<_>, Vec<_>) =
        world.went[before..].iter().map(|(_, way)| *way).partition(|way| *way < 2);
    println!("{} probes, {} datagrams by the detour", own.len(), detour.len());
    // A change a second starts a round at once, and others 250 and 750 ms later.
    assert!(own.len() <= 2 * 3 * (60 + 5), "{}", own.len());
    assert!(detour.len() <= 5 * 60, "{}", detour.len());
}

#[test]
fn whatever_the_paths_did_the_session_goes_on_by_any_that_works() {
    for seed in 0..150 {
        let draws = Seed::new(seed).stream("ways");
        let server = servers()[usize::from(draws.at(0).chance(0.5))].clone();
        let mut world = World::new(seed, server, &[DEAD; 2]);
        for _ in 0..2 {
            match seed % 3 {
                0 => world.add_detour(DEAD),
                _ => world.add(DEAD),
            }
        }
        for step in 1..40 {
            let draw = draws.fork(step);
            for (at, way) in (0..).zip(&mut world.ways) {
                way.up = draw.at(4 * at).chance(0.4);
                way.down = draw.at(4 * at + 1).chance(0.4);
                way.delay = ms(1 + draw.at(4 * at + 2).below(900));
            }
            if draw.at(100).chance(0.5) {
                world.client.write(b"k");
            }
            world.run_for(ms(draw.at(101).below(20_000)));
        }
        let lives = usize::try_from(draws.at(1).below(4)).expect("small");
        world.ways = vec![DEAD; 4];
        world.ways[lives] = ALIVE;
        assert!(world.works_within(ms(60_000)), "seed {seed}, way {lives}: {:?}", world.went);
    }
}

/// Prints the table of docs/results/addresses.md.
#[test]
fn a_moment_for_the_first_address_is_weighed_against_what_it_costs() {
    println!("first alone | round trip | connected, 2nd alone alive | datagrams aside, all alive");
    for first_alone in [100, 250, 500, 1_000, 3_000].map(ms) {
        for round_trip in [20, 200, 600, 1_200].map(ms) {
            let mut config = Config::client();
            config.path.first_alone = first_alone;
            let alive = Way { delay: round_trip / 2, ..ALIVE };
            let run = |ways: &[Way]| {
                let mut world = World::with(9, config.clone(), Config::server(), ways);
                assert!(world.works_within(ms(20_000)));
                (world.now.as_millis(), world.aside())
            };
            let (connected, _) = run(&[DEAD, alive]);
            let (_, aside) = run(&[alive; 3]);
            println!("{first_alone:?} | {round_trip:?} | {connected} ms | {aside}");
            assert!(aside == 0 || round_trip > first_alone, "{first_alone:?} {round_trip:?}");
        }
    }
}
