//! Bulk transfers over paths that reorder packets.

use rove_congestion::Controller;
use rove_congestion::cubic::Cubic;
use rove_congestion::low_delay::LowDelay;
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_streams::{Side, StreamId};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

use crate::host::{Host, PACKET, Plan};

/// The number of runs of each kind.
const SEEDS: u64 = 4;

/// Maximum factor by which jitter may lengthen a transfer, without and with loss. Chosen: a half more than measured
/// without loss. With loss, the window grows by the round trip, which jitter lengthens by a half.
const LONGER_MAX: [f64; 2] = [1.5, 2.0];

type New = fn() -> Box<dyn Controller>;

fn link(rtt: u64, jitter: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(rtt / 2),
        jitter: Duration::from_millis(jitter),
        reorder: true,
        loss,
        rate: BitRate::from_bits_per_second(10_000_000),
        queue_max: Bytes::new(125_000),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    }
}

fn two_megabytes(_: StreamId) -> Plan {
    Plan { writes: 2_000_000, ..Plan::default() }
}

/// Returns how long a transfer of 2 MB takes, on average over all seeds. If `both_ways`, each end sends 2 MB.
fn copy(link: &LinkConfig, new: New, both_ways: bool) -> Duration {
    let answer = if both_ways { two_megabytes } else { |_| Plan::default() };
    let runs = (0..SEEDS).map(|seed| {
        let left = Host::with(Side::Client, answer, new());
        let right = Host::with(Side::Server, answer, new());
        let mut net = Net::new(left, right, link.clone(), link.clone(), Seed::new(seed));
        let id = net.left.open(Instant::ZERO, two_megabytes(StreamId::new(0)));
        let is_over = |left: &Host, right: &Host| {
            [left, right].iter().all(|host| host.jobs.get(&id).is_some_and(|it| it.is_ended))
        };
        assert!(net.run_until(Duration::from_secs(120), is_over), "seed {seed}: {link:?}");
        net.now().saturating_since(Instant::ZERO)
    });
    runs.fold(Duration::ZERO, |sum, it| sum + it) / u32::try_from(SEEDS).expect("few")
}

#[test]
fn a_path_that_reorders_copies_nearly_as_fast_as_one_that_does_not() {
    let cubic: New = || Box::new(Cubic::new(Bytes::from(PACKET)));
    let low_delay: New = || Box::new(LowDelay::new(Bytes::from(PACKET)));
    let mut slow = Vec::new();
    for (name, new, both_ways) in [
        ("cubic", cubic, false),
        ("cubic, both ways", cubic, true),
        ("low-delay", low_delay, false),
    ] {
        for (loss, longer_max) in [0.0, 0.02].into_iter().zip(LONGER_MAX) {
            for rtt in [40, 100] {
                let still = copy(&link(rtt, 0, loss), new, both_ways);
                for jitter in [5, 10, 20] {
                    let taken = copy(&link(rtt, jitter, loss), new, both_ways);
                    let longer = taken.as_secs_f64() / still.as_secs_f64();
                    let line = format!(
                        "{name}, {rtt} ms, loss {loss}, jitter {jitter} ms: {taken:?}, {longer:.2}"
                    );
                    println!("{line} times as long");
                    slow.extend((longer > longer_max).then_some(line));
                }
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
