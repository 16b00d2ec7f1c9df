//! How many packets a second the model passes, in processor time of one core: `cargo run --release -p rove-link --example
//! throughput`. Packets of 1500 bytes enter in pairs, and the link is polled as an event loop polls it.

use rove_link::{CoDelConfig, Discipline, Distribution, Link, LinkConfig, Schedule};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

/// Packets of one measurement.
const PACKETS: u64 = 2_000_000;

/// Measurements of each link, of which the fastest counts: the others were disturbed.
const ROUNDS: u32 = 5;

#[derive(Clone)]
struct Packet([u8; 64]);

impl AsRef<[u8]> for Packet {
    /// Returns the bytes of a packet, which nobody reads.
    fn as_ref(&self) -> &[u8] {
        &[0; 1_500]
    }
}

fn main() {
    let rate = BitRate::from_bits_per_second(13_000_000);
    let trace = || Schedule::new("1\n".parse().expect("a trace"));
    let wan = LinkConfig { jitter: ms(5), loss: 0.01, ..LinkConfig::lossless(ms(50)) };
    let codel = Discipline::CoDel(CoDelConfig::default());
    let queue_max = Bytes::kib(150);
    for (name, config) in [
        ("wire (the default)", LinkConfig::default()),
        ("delay, jitter, loss", wan.clone()),
        ("the same, reordering", LinkConfig { reorder: true, ..wan.clone() }),
        (
            "the same, normal jitter",
            LinkConfig { reorder: true, jitter_distribution: Distribution::Normal, ..wan },
        ),
        ("rate, drop-tail", LinkConfig { rate, queue_max, ..LinkConfig::default() }),
        (
            "token bucket, drop-tail",
            LinkConfig { rate, burst: Some(Bytes::kib(16)), queue_max, ..LinkConfig::default() },
        ),
        (
            "trace, drop-tail",
            LinkConfig { schedule: Some(trace()), queue_max, ..LinkConfig::default() },
        ),
        (
            "trace, CoDel",
            LinkConfig { schedule: Some(trace()), queue: codel, ..LinkConfig::default() },
        ),
    ] {
        let best = (0..ROUNDS).map(|_| measure(&config)).fold(0.0, f64::max);
        println!("{name:24} {:7.2} million packets/s", best / 1e6);
    }
}

/// Returns packets per second.
#[expect(clippy::disallowed_methods, reason = "the time of the machine is what is measured")]
fn measure(config: &LinkConfig) -> f64 {
    let mut link = Link::new(config.clone(), Seed::new(1).stream("link"));
    let (mut now, mut delivered) = (Instant::ZERO, 0_u32);
    let begin = std::time::Instant::now();
    for _ in 0..PACKETS / 2 {
        for number in 0..2 {
            link.handle_packet(now, Packet([number; 64]));
        }
        let next = now + ms(2);
        while let Some(due) = link.poll_timeout().filter(|due| *due < next) {
            while let Some((_, packet)) = link.poll_packet(due) {
                delivered += u32::from(packet.0[63] < 2);
            }
        }
        now = next;
    }
    assert!(delivered > 1_000_000, "most packets pass");
    let packets = u32::try_from(PACKETS).map_or(f64::INFINITY, f64::from);
    packets / begin.elapsed().as_secs_f64()
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
