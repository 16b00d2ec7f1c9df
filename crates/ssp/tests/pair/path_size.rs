//! The size of datagrams on paths that drop large datagrams, and on paths that drop datagrams of any size.

use core::net::SocketAddr;

use rove_link::net::Net;
use rove_link::{Drops, LinkConfig};
use rove_ssp::{Capabilities, Config, Mechanism};
use rove_units::{Bytes, Duration, Seed};

use crate::pair::{CHUNK, Pair, Party, agree, ms, noise, pair, pair_with};

/// Length in bytes of a test's frame (a sent diff), which does not compress and needs three datagrams.
const FRAME: usize = 3_000;

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

/// Returns a path that silently drops packets of more than `mtu` bytes.
fn path(mtu: Option<u64>, loss: f64) -> LinkConfig {
    let drops = Drops { mtu: mtu.map(Bytes::new), ..Drops::default() };
    LinkConfig { drops, loss, overhead: Bytes::new(HEADERS), ..LinkConfig::lossless(ms(25)) }
}

/// Lets the server write `frames` frames, `gap` apart.
fn write_frames(net: &mut Pair<CHUNK>, seed: u64, frames: u64, gap: Duration) {
    for frame in 0..frames {
        net.right.write(&noise(Seed::new(seed * 1_000 + frame), FRAME));
        net.run_for(gap);
    }
}

fn connected(path: LinkConfig) -> Pair<CHUNK> {
    let mut net = pair::<CHUNK>(Seed::new(1), path);
    net.left.write(b"80x24");
    net.run_for(ms(2_000));
    net
}

/// Returns the length of the largest datagram that the server has sent since `millis`.
fn largest_since(net: &Pair<CHUNK>, millis: u64) -> usize {
    net.right.sent.iter().filter(|(at, _)| *at >= millis).map(|(_, len)| *len).max().unwrap_or(0)
}

fn millis(net: &Pair<CHUNK>) -> u64 {
    net.now().as_millis()
}

#[test]
fn a_path_of_ethernet_is_used_whole_once_enough_was_sent_to_make_it_worth_while() {
    let mut net = connected(path(Some(1_500), 0.0));
    write_frames(&mut net, 1, 5, ms(300));
    assert_eq!(largest_since(&net, 0), 1_200, "a try would cost more than it is worth");
    write_frames(&mut net, 2, 15, ms(300));
    assert_eq!(net.right.sent.iter().filter(|(_, len)| *len == 1_472).count() % 2, 1);
    assert_eq!(largest_since(&net, 0), 1_472);
    assert_eq!(net.uplink.stats().dropped() + net.downlink.stats().dropped(), 0);
    assert!(agree(&net.left, &net.right));
    // The client's contents fit into one datagram each, so the client probes no sizes.
    assert!(net.left.sent.iter().all(|(_, len)| *len < 500));
}

#[test]
fn the_largest_size_of_any_path_is_found_and_nothing_waits_for_it() {
    for mtu in [1_228, 1_240, 1_280, 1_300, 1_400, 1_420, 1_480, 1_492, 1_500, 9_000] {
        let mut net = connected(path(Some(mtu), 0.0));
        for seed in 1..=8 {
            write_frames(&mut net, seed, 40, ms(250));
            assert!(agree(&net.left, &net.right), "MTU {mtu}");
        }
        let size = largest_since(&net, millis(&net) - 5_000);
        let most = usize::try_from(mtu - HEADERS).expect("small").min(1_472);
        assert!(size <= most && most < size + 33, "MTU {mtu}: {size}");
        let tries = net.downlink.stats().dropped();
        assert!(tries <= 15, "MTU {mtu}: {tries} tries in vain");
        // The client held the server's text after each series of frames, so no probe has delayed a frame.
        let datagrams: Vec<_> = net.right.sent.iter().map(|(_, len)| *len).collect();
        let bytes: usize = datagrams.iter().sum();
        let tried: usize = datagrams.iter().filter(|len| **len > size).sum();
        assert!(tried * 16 <= bytes, "MTU {mtu}: {tried} of {bytes} bytes in vain");
    }
}

#[test]
fn a_path_that_becomes_a_black_hole_is_left_within_a_second_and_found_again() {
    for mtu in [1_400, 1_280, 1_228, 1_000, 576] {
        let mut net = connected(path(Some(1_500), 0.0));
        write_frames(&mut net, 1, 20, ms(300));
        assert_eq!(largest_since(&net, 0), 1_472);
        net.reconfigure(path(Some(mtu), 0.0), path(Some(mtu), 0.0));
        let start = net.now();
        net.right.write(&noise(Seed::new(77), FRAME));
        assert!(net.run_until(ms(20_000), agree), "MTU {mtu}");
        let took = net.now().saturating_since(start);
        // The server finds each size too large after two tries of RTO + 100 ms each.
        let limit = if mtu < 1_228 { ms(1_200) } else { ms(600) };
        println!("MTU {mtu}: {took:?} at a round trip of 50 ms");
        assert!(took <= limit, "MTU {mtu}: {took:?}");
        for seed in 2..=8 {
            write_frames(&mut net, seed, 30, ms(300));
            assert!(agree(&net.left, &net.right), "MTU {mtu}");
        }
        let most = usize::try_from(mtu - HEADERS).expect("small");
        let size = largest_since(&net, millis(&net) - 5_000);
        assert!(size <= most && most < size + 60, "MTU {mtu}: {size}");
    }
}

#[test]
fn a_paste_goes_through_a_black_hole_too() {
    for mtu in [1_100, 600] {
        let mut net = connected(path(Some(mtu), 0.0));
        let start = net.now();
        net.left.write(&noise(Seed::new(3), 20_000));
        assert!(net.run_until(ms(30_000), agree), "MTU {mtu}");
        let took = net.now().saturating_since(start);
        println!("MTU {mtu}: {took:?}");
        assert!(took <= ms(2_500), "MTU {mtu}: {took:?}");
    }
}

/// The path loses only large datagrams, but these losses raise the estimated loss of all datagrams. The delays vary, so
/// the peer reports the losses before the size is blamed.
#[test]
fn a_black_hole_with_varying_delays_is_not_taken_for_a_path_that_loses_anything() {
    let all = Some(Capabilities::all());
    let client = Config { capabilities: all, ..Config::client() };
    let server = Config { capabilities: all, ..Config::server() };
    let mut worst = Duration::ZERO;
    for seed in 0..40 {
        let path = LinkConfig { jitter: ms(500), ..path(Some(828), 0.0) };
        let mut net = pair_with::<CHUNK>(Seed::new(seed), path, client.clone(), server.clone());
        net.left.write(b"80x24");
        net.run_for(ms(seed % 10 * 300));
        let start = net.now();
        net.left.write(&noise(Seed::new(seed), FRAME));
        net.right.write(&noise(Seed::new(seed + 100), FRAME));
        assert!(net.run_until(ms(60_000), agree), "seed {seed}");
        worst = worst.max(net.now().saturating_since(start));
    }
    println!("at most {worst:?}");
    assert!(worst <= ms(50_000), "{worst:?}");
}

#[test]
fn without_the_mechanism_a_black_hole_is_for_ever() {
    let stock = |config: Config| config.without(Mechanism::PathSize);
    let ends = (stock(Config::client()), stock(Config::server()));
    let mut net = pair_with::<CHUNK>(Seed::new(1), path(Some(1_200), 0.0), ends.0, ends.1);
    net.left.write(b"80x24");
    net.run_for(ms(2_000));
    net.right.write(&noise(Seed::new(77), FRAME));
    assert!(!net.run_until(ms(60_000), agree));
}

#[test]
fn loss_that_is_not_a_matter_of_size_leaves_the_size_as_it_is() {
    for (loss, seeds) in [(0.05, 3), (0.1, 3), (0.29, 6)] {
        let (mut smaller, mut all) = (0, 0);
        for seed in 0..seeds {
            let mut net = pair::<CHUNK>(Seed::new(seed), path(Some(1_500), 0.0));
            net.left.write(b"80x24");
            net.run_for(ms(2_000));
            write_frames(&mut net, 1, 20, ms(300));
            assert_eq!(largest_since(&net, 0), 1_472);
            net.reconfigure(path(Some(1_500), loss), path(Some(1_500), loss));
            let start = millis(&net);
            for frames in 2..=10 {
                write_frames(&mut net, frames, 40, ms(300));
            }
            // The largest datagram of each frame has the present size.
            let sent = net.right.sent.iter().filter(|(at, len)| *at >= start && *len > 1_100);
            for (_, len) in sent {
                all += 1;
                smaller += usize::from(*len <= 1_200);
            }
            net.reconfigure(path(Some(1_500), 0.0), path(Some(1_500), 0.0));
            write_frames(&mut net, 11, 40, ms(300));
            assert_eq!(
                largest_since(&net, millis(&net) - 3_000),
                1_472,
                "loss {loss}, seed {seed}"
            );
        }
        println!(
            "loss {loss}: {smaller} of {all} large datagrams were smaller than the path takes"
        );
        assert!(smaller * 10 <= all, "loss {loss}: {smaller} of {all}");
    }
}

#[test]
fn an_outage_leaves_the_size_as_it_is() {
    let mut net = connected(path(Some(1_500), 0.0));
    write_frames(&mut net, 1, 20, ms(300));
    net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
    write_frames(&mut net, 2, 5, ms(1_000));
    net.reconfigure(path(Some(1_500), 0.0), path(Some(1_500), 0.0));
    net.run_for(ms(5_000));
    assert!(agree(&net.left, &net.right));
    write_frames(&mut net, 3, 5, ms(300));
    assert_eq!(largest_since(&net, millis(&net) - 600), 1_472);
}

#[test]
fn among_datagrams_out_of_order_and_twice_the_size_stays_above_stocks() {
    for seed in 0..6 {
        let mut net = pair::<CHUNK>(Seed::new(seed), path(Some(1_500), 0.0));
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        let shuffled =
            LinkConfig { jitter: ms(60), reorder: true, duplicate: 0.2, ..path(Some(1_500), 0.0) };
        net.reconfigure(shuffled.clone(), shuffled);
        write_frames(&mut net, 1, 60, ms(300));
        // A probe that was overtaken counts as a failure, with less weight than a lost one.
        let largest = largest_since(&net, millis(&net) - 3_000);
        assert!((1_252..=1_472).contains(&largest), "{largest}, seed {seed}");
        assert!(net.run_until(ms(5_000), agree), "seed {seed}");
    }
}

#[test]
fn another_path_is_trusted_with_no_more_than_any() {
    let mut net = connected(path(Some(1_500), 0.0));
    write_frames(&mut net, 1, 20, ms(300));
    let elsewhere: SocketAddr = "203.0.113.9:40000".parse().expect("a literal address");
    net.move_left(elsewhere);
    net.left.write(b"a key");
    net.run_for(ms(500));
    let start = millis(&net);
    write_frames(&mut net, 2, 1, ms(300));
    assert_eq!(largest_since(&net, start), 1_200);
    write_frames(&mut net, 3, 20, ms(300));
    assert_eq!(largest_since(&net, start), 1_472);
    assert!(agree(&net.left, &net.right));
}

#[test]
fn an_idle_path_carries_no_tries() {
    let idle = |mechanism: bool| {
        let ends = [Config::client(), Config::server()]
            .map(|config| if mechanism { config } else { config.without(Mechanism::PathSize) });
        let [client, server] = ends;
        let (left, right) =
            (Party::client(Seed::new(1), client), Party::server(Seed::new(1), server));
        let path = || path(Some(1_300), 0.0);
        let mut net: Pair<CHUNK> = Net::new(left, right, path(), path(), Seed::new(1));
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        write_frames(&mut net, 1, 60, ms(250));
        net.run_for(ms(5_000));
        let start = millis(&net);
        net.run_for(ms(3_600_000));
        let ends = [&net.left, &net.right];
        ends.map(|end| end.sent.iter().filter(|(at, _)| *at >= start).count())
    };
    assert_eq!(idle(true), idle(false));
}

#[test]
fn a_black_hole_is_left_though_nothing_got_through_for_a_while_at_any_size() {
    for outage in [300, 600, 1_000, 2_000, 5_000, 20_000] {
        for client_writes in [true, false] {
            let mut net = connected(path(Some(800), 0.0));
            net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
            let writer = if client_writes { &mut net.left } else { &mut net.right };
            writer.write(&noise(Seed::new(outage), FRAME));
            net.run_for(ms(outage));
            net.reconfigure(path(Some(800), 0.0), path(Some(800), 0.0));
            let has_arrived = net.run_until(ms(10_000 + outage), agree);
            assert!(has_arrived, "after {outage} ms, of the client: {client_writes}");
        }
    }
}
