//! A session with two copies survives changes of its network. It continues as soon as UDP or ssh carries datagrams.

#[path = "../common/mod.rs"]
mod common;
mod world;

use rove_units::{Duration, Instant, Seed};

use world::Way::{NoRoute, Open, Silent};
use world::{Network, World};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The kind of a network change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// UDP works, and the system has reported the change.
    Told,
    /// UDP works, and nothing has reported the change.
    Untold,
    /// Only ssh carries the session.
    Ssh,
}

impl Kind {
    const fn text(self) -> &'static str {
        match self {
            Self::Told => "UDP, the change reported",
            Self::Untold => "UDP, the change not reported, from the first datagram on",
            Self::Ssh => "ssh alone, from the end of its login on",
        }
    }
}

/// How long keys and streams took to continue after the network worked again, beyond a round trip.
#[derive(Clone, Copy, Debug)]
struct Late {
    kind: Kind,
    key: Duration,
    streams: Duration,
}

/// Returns the states of UDP over IPv4 and IPv6 for a draw from 0 to 5. In four of six cases, at least one works.
const fn ways(draw: u64) -> [world::Way; 2] {
    match draw {
        0 => [Silent; 2],
        1 => [NoRoute; 2],
        2 => [Open, NoRoute],
        3 => [NoRoute, Open],
        _ => [Open; 2],
    }
}

/// Runs a session with `changes` network changes. Returns the delays, and the number of ssh's logins.
fn run(number: u64, changes: u64) -> (Vec<Late>, usize) {
    let draws = Seed::new(number).stream("changes");
    let rtt = ms([20, 54, 150, 300][usize::try_from(number % 4).expect("below 4")]);
    let mut world = World::new(number, rtt);
    world.run_for(ms(5_000));
    let mut late = Vec::new();
    for change in 0..changes {
        let at = |what: u64, below: u64| draws.at(change * 16 + what).below(below);
        let port = world.network.port + u16::from(at(0, 2) == 0);
        let is_told = at(1, 3) > 0;
        if at(2, 2) == 0 {
            let dark = Network {
                ways: [if at(9, 2) == 0 { Silent } else { NoRoute }; 2],
                ssh: false,
                port,
            };
            world.change(dark, is_told);
            if at(3, 2) == 0 {
                world.type_key();
            }
            // Outages last 2 to 600 s, distributed evenly on a logarithmic scale.
            let dark = (2_000 + at(4, 2_700)) << at(8, 8);
            world.run_for(ms(dark.min(600_000)));
        }
        let ways = ways(at(5, 6));
        world.change(Network { ways, port, ssh: true }, is_told);
        assert!(world.run_until(ms(200_000), World::has_way), "no way");
        let kind = match (world.has_udp(), is_told) {
            (false, _) => Kind::Ssh,
            (true, true) => Kind::Told,
            (true, false) => Kind::Untold,
        };
        let way_at = world.now;
        world.type_key();
        // Bytes that were already on their way do not prove that the streams continue.
        let limit = ms(300_000);
        world.run_for(rtt / 2);
        let before = [world.client.owner.read, world.server.owner.read];
        let (mut key_at, mut streams_at) = (None, None);
        let done = |world: &World| {
            (
                world.is_echoed(),
                world.client.owner.read > before[0] && world.server.owner.read > before[1],
            )
        };
        while key_at.is_none() || streams_at.is_none() {
            let (has_key, has_streams) = (key_at.is_some(), streams_at.is_some());
            let went_on = world.run_until(limit, |world| {
                let done = done(world);
                done.0 && !has_key || done.1 && !has_streams
            });
            assert!(went_on, "{number} {change}: {kind:?} {:?} {:?}", world.network, done(&world));
            let done = done(&world);
            key_at = key_at.or(done.0.then_some(world.now));
            streams_at = streams_at.or(done.1.then_some(world.now));
        }
        let base = match kind {
            Kind::Untold => world.heard_at.expect("a key was answered").max(way_at),
            _ => way_at,
        };
        let after = |at: Option<Instant>| {
            at.expect("it went on").saturating_since(base).saturating_sub(rtt)
        };
        let it = Late { kind, key: after(key_at), streams: after(streams_at) };
        late.push(it);
        world.run_for(ms(2_000 + at(7, 6_000)));
    }
    (late, world.logins)
}

/// Number of network changes. The variable `ROVE_NETWORK_CHANGES` sets another number.
const CHANGES: u64 = 200;

/// Milliseconds beyond a round trip within which keys and copies should continue.
const SHOULD: [u64; 2] = [100, 200];

/// For keys and copies: the longest time in milliseconds, and the least percentage of changes within [`SHOULD`].
const MUST: [(u64, usize); 2] = [(150, 99), (400, 97)];

/// Also prints a table for docs/results/stream-paths.md.
#[test]
fn keys_and_copies_go_on_after_every_change_of_the_network() {
    let changes = std::env::var("ROVE_NETWORK_CHANGES").ok().and_then(|it| it.parse().ok());
    let changes: u64 = changes.unwrap_or(CHANGES);
    let per_session = 20;
    let (mut late, mut logins) = (Vec::new(), 0);
    for session in 0..changes.div_ceil(per_session) {
        let (more, count) = run(session, per_session);
        late.extend(more);
        logins += count;
    }
    println!(
        "{} changes, {logins} logins of ssh; every session and every copy went on",
        late.len()
    );
    println!(
        "way | went on | times | in time | later than a round trip by (median) | (95 %) | (most)"
    );
    for kind in [Kind::Told, Kind::Untold, Kind::Ssh] {
        for (index, name) in ["key", "copies"].into_iter().enumerate() {
            let of = |it: &Late| if index == 0 { it.key } else { it.streams };
            let all = late.iter().filter(|it| it.kind == kind);
            let mut all: Vec<u128> = all.map(|it| of(it).as_millis()).collect();
            all.sort_unstable();
            let part = |percent| all[(all.len() - 1) * percent / 100];
            let in_time = all.iter().filter(|it| **it <= SHOULD[index].into()).count();
            println!(
                "{} | {name} | {} | {in_time} | {} ms | {} ms | {} ms",
                kind.text(),
                all.len(),
                part(50),
                part(95),
                part(100)
            );
            let (most, share) = MUST[index];
            assert!(part(100) <= most.into(), "{kind:?}, {name}: {} ms", part(100));
            assert!(in_time * 100 >= all.len() * share, "{kind:?}, {name}: {in_time}");
        }
    }
}
