//! Keys during a copy at full speed: the keys do not wait, and the copy gets the rest of the link.

use rove_congestion::Controller;
use rove_congestion::cubic::Cubic;
use rove_congestion::ledbat::Ledbat;
use rove_congestion::low_delay::LowDelay;
use rove_congestion::new_reno::NewReno;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_headless::copying::{Typist, copying};
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

/// Time for the session to settle, time in which the user types some 300 keys, and longest wait for the last echoes.
const TIMES: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(75), Duration::from_secs(10)];

/// Bytes of a full packet's payload, as both ends first assume.
const PACKET: Bytes = Bytes::new(1_176);

/// Returns the 95th percentile of keys' delays in ms, the copy's Mbit/s, and the number of packets from both ends.
fn run(
    link: &LinkConfig,
    copies: bool,
    controller: fn() -> Box<dyn Controller>,
    [settling, typed, rest]: [Duration; 3],
) -> (f64, f64, u64) {
    let seed = Seed::new(11);
    let start = Instant::ZERO + settling;
    let (left, mut right) = copying(seed, Typist::new(start, start + typed, seed), controller);
    right.owner.writes = copies;
    let mut net = Net::new(left, right, link.clone(), link.clone(), seed);
    net.run_for(settling + typed + rest);
    let typist = &net.left.end.user;
    assert_eq!(typist.waiting(net.now()).count(), 0, "every key was echoed");
    let mut delays = typist.delays().to_vec();
    let keys = typed.as_secs() * 280 / 75;
    assert!(delays.len() as u64 > keys, "{}", delays.len());
    delays.sort();
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let rate = net.left.owner.read() as f64 * 8.0
        / 1e6
        / net.now().saturating_since(Instant::ZERO).as_secs_f64();
    assert!(net.left.is_agreed() && net.right.is_agreed());
    (
        delays[delays.len() * 95 / 100].as_secs_f64() * 1e3,
        rate,
        net.left.packets + net.right.packets,
    )
}

fn link(kbit: u64, rtt: u64, queue_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        loss,
        delay: Duration::from_millis(rtt / 2),
        rate: BitRate::from_bits_per_second(kbit * 1_000),
        queue_max: Bytes::new(kbit * queue_ms / 8),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    }
}

#[test]
fn keys_beside_a_copy_wait_for_the_links_queue_alone() {
    type New = fn() -> Box<dyn Controller>;
    let controllers: [(&str, New); 5] = [
        ("NewReno", || Box::new(NewReno::new(PACKET))),
        ("CUBIC", || Box::new(Cubic::new(PACKET))),
        ("LEDBAT", || Box::new(Ledbat::new(PACKET))),
        ("low delay", || Box::new(LowDelay::new(PACKET))),
        ("Sprout-ACK", || Box::new(SproutAck::new(Scale::Wide, PACKET, Duration::from_millis(25)))),
    ];
    for (name, link, rate, queue) in [
        ("10 Mbit/s, 40 ms, queue of 100 ms", link(10_000, 40, 100, 0.0), 10.0, 100.0),
        ("1 Mbit/s, 40 ms, queue of 2 s", link(1_000, 40, 2_000, 0.0), 1.0, 2_000.0),
        ("10 Mbit/s, 100 ms, 29 % loss", link(10_000, 100, 100, 0.29), 10.0, 100.0),
    ] {
        let (alone, ..) = run(&link, false, controllers[0].1, TIMES);
        println!("{name}: echo p95 alone {alone:.0} ms");
        for (controller, new) in controllers {
            let (beside, copied, _) = run(&link, true, new, TIMES);
            println!(
                "    beside a copy by {controller}: {beside:.0} ms; the copy has {copied:.2} Mbit/s of {rate}"
            );
            assert!(beside <= alone + 1.25 * queue + 30.0, "{name}, {controller}: {beside} ms");
            assert!(copied > 0.0, "{name}, {controller}");
        }
    }
}

#[test]
fn keys_beside_a_copy_through_a_wired_network_hardly_wait() {
    let new: fn() -> Box<dyn Controller> = || Box::new(LowDelay::new(PACKET));
    for (mbit, seconds) in [(1_000, 4), (100, 15)] {
        let delay = Duration::from_micros(100);
        let link = LinkConfig { delay, ..link(1_000 * mbit, 0, 200, 0.0) };
        let times = [1, seconds, 1].map(Duration::from_secs);
        let (alone, ..) = run(&link, false, new, times);
        let (beside, copied, _) = run(&link, true, new, times);
        println!("{mbit} Mbit/s: {alone:.1} ms alone, {beside:.1} ms beside {copied:.0} Mbit/s");
        assert!(beside <= alone + 10.0, "{mbit} Mbit/s: {beside} ms, and alone {alone} ms");
        assert!(copied >= 0.8 * mbit as f64, "{mbit} Mbit/s: {copied}");
    }
}

#[test]
fn the_first_key_beside_a_copy_finds_a_longer_queue_than_those_after_it() {
    let link = link(10_000, 40, 100, 0.0);
    for is_upload in [false, true] {
        let seed = Seed::new(11);
        let [start, end] = [20, 40].map(|seconds| Instant::ZERO + Duration::from_secs(seconds));
        let new = || -> Box<dyn Controller> { Box::new(LowDelay::new(PACKET)) };
        let (mut left, mut right) = copying(seed, Typist::new(start, end, seed), new);
        (left.owner.writes, right.owner.writes) = (is_upload, !is_upload);
        let mut net = Net::new(left, right, link.clone(), link.clone(), seed);
        net.run_until(Duration::from_secs(50), |left, _| left.end.user.delays().len() == 70);
        let delays: Vec<u128> =
            net.left.end.user.delays().iter().map(Duration::as_millis).collect();
        let [first, second, rest @ ..] = &delays[..] else { panic!("{delays:?}") };
        assert!((55..=75).contains(first) && first > second, "{delays:?}");
        assert!(rest.iter().all(|delay| *delay <= 52), "{delays:?}");
    }
}

#[test]
fn a_session_whose_streams_are_idle_sends_no_packet() {
    let link = link(10_000, 40, 100, 0.0);
    let (.., packets) = run(&link, false, || Box::new(Cubic::new(PACKET)), TIMES);
    assert_eq!(packets, 0);
}
