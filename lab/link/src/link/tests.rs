use proptest::prelude::*;
use rove_units::{BitRate, Duration, Seed};

use super::*;
use crate::Schedule;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn link(config: LinkConfig) -> Link<Vec<u8>> {
    Link::new(config, Seed::new(1).stream("link"))
}

/// Sends numbered packets of `size` bytes `gap` apart, and returns the time and number of each arrival.
fn run(
    config: LinkConfig,
    seed: u64,
    count: u32,
    size: usize,
    gap: Duration,
) -> Vec<(Instant, u32)> {
    let mut link = Link::new(config, Seed::new(seed).stream("link"));
    let mut arrivals = Vec::new();
    let mut entry = Instant::ZERO;
    for number in 0..count {
        drain(&mut link, entry, &mut arrivals);
        let mut packet = number.to_be_bytes().to_vec();
        packet.resize(size.max(4), 0);
        link.handle_packet(entry, packet);
        entry += gap;
    }
    drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
    arrivals
}

fn drain(link: &mut Link<Vec<u8>>, until: Instant, arrivals: &mut Vec<(Instant, u32)>) {
    while let Some(time) = link.poll_timeout().filter(|time| *time <= until) {
        while let Some((nominal, packet)) = link.poll_packet(time) {
            assert_eq!(nominal, time, "a link polled on time is on time");
            let number = packet[..4].try_into().expect("every packet starts with its number");
            arrivals.push((time, u32::from_be_bytes(number)));
        }
    }
}

#[test]
fn a_wire_delivers_at_once_in_order() {
    let arrivals = run(LinkConfig::default(), 1, 3, 100, ms(10));
    assert_eq!(arrivals, [(at(0), 0), (at(10), 1), (at(20), 2)]);
}

#[test]
fn delay_shifts_every_packet() {
    let arrivals = run(LinkConfig::lossless(ms(50)), 1, 2, 100, ms(10));
    assert_eq!(arrivals, [(at(50), 0), (at(60), 1)]);
}

#[test]
fn a_bottleneck_spaces_packets_by_their_transmission_time() {
    // 1000 bytes at 1 Mbit/s take 8 ms.
    let config = LinkConfig {
        rate: BitRate::from_bits_per_second(1_000_000),
        ..LinkConfig::lossless(ms(5))
    };
    let arrivals = run(config, 1, 3, 1000, ms(1));
    assert_eq!(arrivals, [(at(13), 0), (at(21), 1), (at(29), 2)]);
}

#[test]
fn a_full_queue_drops_at_its_tail() {
    let config = LinkConfig {
        rate: BitRate::from_bits_per_second(1_000_000),
        queue_max: Bytes::new(2000),
        ..LinkConfig::default()
    };
    let mut link = link(config);
    for _ in 0..5 {
        link.handle_packet(at(0), vec![0; 1000]);
    }
    // The first packet is in transmission. Two packets wait, which is the limit, so the other two are dropped.
    assert_eq!(link.queued(), Bytes::new(2000));
    assert_eq!(link.stats().dropped_by(DropCause::QueueFull), 2);
}

#[test]
fn packets_in_flight_have_a_bound() {
    let mut link = link(LinkConfig::lossless(ms(1)));
    let packet = vec![0; 1 << 20];
    for _ in 0..257 {
        link.handle_packet(at(0), packet.clone());
    }
    assert_eq!(link.stats().dropped_by(DropCause::LineFull), 1);
    assert_eq!(link.in_flight, IN_FLIGHT_MAX);
}

#[test]
fn loss_and_duplication_come_as_often_as_asked() {
    let config = LinkConfig { loss: 0.3, duplicate: 0.1, ..LinkConfig::default() };
    let mut link = link(config);
    for _ in 0..20_000 {
        link.handle_packet(at(0), vec![0]);
    }
    let stats = link.stats();
    assert!((5_700..6_300).contains(&stats.dropped_by(DropCause::Loss)), "{stats:?}");
    assert!((1_250..1_550).contains(&stats.duplicated), "{stats:?}");
}

#[test]
fn a_packets_fate_does_not_depend_on_the_others() {
    let config = LinkConfig { loss: 0.5, ..LinkConfig::lossless(ms(10)) };
    let slow: Vec<u32> = run(config.clone(), 3, 200, 4, ms(7)).into_iter().map(|a| a.1).collect();
    let fast: Vec<u32> = run(config, 3, 200, 900, ms(1)).into_iter().map(|a| a.1).collect();
    assert_eq!(slow, fast);
}

#[test]
fn packets_above_the_mtu_are_dropped_and_headers_count() {
    let config = |mtu| LinkConfig {
        drops: Drops { mtu: Some(Bytes::new(mtu)), ..Drops::default() },
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    };
    let mut link = link(config(1_028));
    for len in [999, 1_000, 1_001, 1_500] {
        link.handle_packet(at(0), vec![0; len]);
    }
    link.reconfigure(at(1), config(1_528));
    link.handle_packet(at(1), vec![0; 1_500]);
    let mut lens = Vec::new();
    while let Some((_, packet)) = link.poll_packet(at(1)) {
        lens.push(packet.len());
    }
    assert_eq!(lens, [999, 1_000, 1_500]);
    assert_eq!(link.stats().dropped_by(DropCause::TooLarge), 2);
}

#[test]
fn drop_next_loses_exactly_that_many() {
    let mut link = link(LinkConfig::default());
    link.drop_next(2);
    for number in 0..3 {
        link.handle_packet(at(0), vec![number]);
    }
    assert_eq!(link.poll_packet(at(0)), Some((at(0), vec![2])));
    assert_eq!(link.poll_packet(at(0)), None);
}

#[test]
fn a_bottleneck_taken_away_lets_the_queue_go() {
    let rate = BitRate::from_bits_per_second(8_000);
    let mut link = link(LinkConfig { rate, ..LinkConfig::default() });
    for number in 0..3 {
        link.handle_packet(at(0), vec![number; 1000]);
    }
    link.reconfigure(at(0), LinkConfig::default());
    link.handle_packet(at(1), vec![3]);
    let mut arrivals = Vec::new();
    while let Some(time) = link.poll_timeout() {
        while let Some((time, packet)) = link.poll_packet(time) {
            arrivals.push((time, packet[0]));
        }
    }
    assert_eq!(arrivals, [(at(1000), 0), (at(1000), 1), (at(1000), 2), (at(1000), 3)]);
}

fn configs() -> impl Strategy<Value = LinkConfig> {
    (0..200_u64, 0..100_u64, any::<bool>(), 0.0..0.6, 0.0..0.3, 0..4_u64, 0..20_000_u64).prop_map(
        |(delay, jitter, reorder, loss, duplicate, rate, queue)| LinkConfig {
            delay: ms(delay),
            jitter: ms(jitter),
            reorder,
            loss,
            duplicate,
            rate: BitRate::from_bits_per_second(rate * 500_000),
            queue_max: Bytes::new(queue),
            overhead: Bytes::new(delay),
            schedule: (rate == 3).then(|| schedule("2\n2\n3\n40")),
            ..LinkConfig::default()
        },
    )
}

/// Returns delivery opportunities from the start of the run on.
fn schedule(text: &str) -> Schedule {
    Schedule::new(text.parse().expect("a trace"))
}

/// Sends packets of these sizes at these times over opportunities; returns when each arrives (in milliseconds).
fn opportunities(trace: &str, packets: &[(u64, usize)]) -> Vec<u64> {
    let config = LinkConfig { schedule: Some(schedule(trace)), ..LinkConfig::default() };
    let (mut link, mut arrivals) = (link(config), Vec::new());
    for (number, (time, size)) in (0u32..).zip(packets) {
        drain(&mut link, at(*time), &mut arrivals);
        let mut packet = number.to_be_bytes().to_vec();
        packet.resize(*size, 0);
        link.handle_packet(at(*time), packet);
    }
    drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
    arrivals.into_iter().map(|(arrival, _)| arrival.as_millis()).collect()
}

#[test]
fn an_opportunity_carries_as_many_packets_as_fit_and_parts_of_them() {
    // Source of the cases: the validation of a Mahimahi link.
    let full = |count: usize| vec![(0, 1500); count];
    assert_eq!(opportunities("1", &full(4)), [1, 2, 3, 4]);
    assert_eq!(opportunities("1\n3", &full(6)), [1, 3, 4, 6, 7, 9]);
    assert_eq!(opportunities("1", &[(0, 100); 16]), [[1; 15].as_slice(), &[2]].concat());
    assert_eq!(opportunities("1", &[(0, 750); 4]), [1, 1, 2, 2]);
    assert_eq!(opportunities("1", &[(0, 100), (0, 1500)]), [1, 2]);
    assert_eq!(opportunities("1", &[(0, 3001)]), [3]);
    assert_eq!(opportunities("1", &[(0, 1500), (0, 1501), (0, 1499)]), [1, 3, 3]);
}

#[test]
fn an_opportunity_that_nobody_waits_for_is_lost() {
    assert_eq!(opportunities("5\n9\n20", &[(5, 100), (10, 100), (100, 100)]), [9, 20, 105]);
    // A packet that comes at the very instant of an opportunity is too late for it.
    assert_eq!(opportunities("5\n9", &[(5, 100)]), [9]);
    assert_eq!(opportunities("5\n9", &[(9, 100)]), [14]);
}

#[test]
fn a_full_queue_before_opportunities_refuses_and_headers_count() {
    let config = LinkConfig {
        schedule: Some(schedule("10")),
        queue_max: Bytes::new(3000),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    };
    let mut link = link(config);
    for number in 0..3u32 {
        let mut packet = number.to_be_bytes().to_vec();
        packet.resize(1472, 0);
        link.handle_packet(at(1), packet);
    }
    let mut arrivals = Vec::new();
    drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
    assert_eq!(arrivals, [(at(10), 0), (at(20), 1)]);
    assert_eq!(link.stats().dropped_by(DropCause::QueueFull), 1);
}

#[test]
fn a_link_that_becomes_another_kind_loses_nothing() {
    let opportune = LinkConfig { schedule: Some(schedule("10\n500")), ..LinkConfig::default() };
    let slow = LinkConfig { rate: BitRate::from_bits_per_second(8_000), ..LinkConfig::default() };
    for configs in [[&opportune, &slow], [&slow, &opportune], [&opportune, &LinkConfig::default()]]
    {
        let mut link = link(configs[0].clone());
        for number in 0..4u32 {
            let mut packet = number.to_be_bytes().to_vec();
            packet.resize(1000, 0);
            link.handle_packet(at(0), packet);
        }
        let mut arrivals = Vec::new();
        drain(&mut link, at(20), &mut arrivals);
        link.reconfigure(at(20), configs[1].clone());
        drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
        let numbers: Vec<u32> = arrivals.iter().map(|arrival| arrival.1).collect();
        assert_eq!(numbers, [0, 1, 2, 3], "{configs:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn packets_are_conserved_and_never_early(config in configs(), seed in 0..1000_u64) {
        let delay = config.delay;
        let mut link = Link::new(config, Seed::new(seed).stream("link"));
        let mut arrivals = Vec::new();
        for number in 0..100_u32 {
            let entry = at(u64::from(number) * 3);
            drain(&mut link, entry, &mut arrivals);
            link.handle_packet(entry, number.to_be_bytes().to_vec());
        }
        drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
        let stats = link.stats();
        prop_assert_eq!(
            stats.entered + stats.duplicated,
            stats.dropped() + stats.delivered
        );
        prop_assert_eq!(u64::try_from(arrivals.len()).expect("a hundred or so"), stats.delivered);
        for (arrival, number) in arrivals {
            prop_assert!(arrival >= at(u64::from(number) * 3) + delay);
        }
        prop_assert_eq!(link.poll_timeout(), None);
    }

    #[test]
    fn order_is_kept_unless_reordering_is_allowed(config in configs(), seed in 0..1000_u64) {
        let config = LinkConfig { reorder: false, ..config };
        let arrivals = run(config, seed, 100, 200, ms(2));
        prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.1), "{:?}", arrivals);
    }
}

#[test]
fn jitter_reorders_where_it_may() {
    let config = LinkConfig { jitter: ms(50), reorder: true, ..LinkConfig::default() };
    let arrivals = run(config, 1, 100, 100, ms(1));
    assert!(!arrivals.is_sorted_by_key(|arrival| arrival.1));
}
