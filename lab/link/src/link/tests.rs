use proptest::prelude::*;
use rove_units::{BitRate, Duration, Seed};

use super::*;
use crate::{CoDelConfig, LinkStats, Order, Outages, Schedule};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn link(config: LinkConfig) -> Link<Vec<u8>> {
    Link::new(config, Seed::new(1).stream("link"))
}

/// Sends numbered packets of `size` bytes `gap` apart and returns each arrival.
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
    // A packet is in transmission, two wait: at the limit. Two are one past it.
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

#[test]
fn entries_matter_when_the_packet_that_is_sent_is_through_or_always() {
    let rate = BitRate::from_bits_per_second(8_000_000);
    let plain = LinkConfig { rate, ..LinkConfig::lossless(ms(10)) };
    let matters_from = |steps: Steps, is_recorded: bool| {
        let mut link = Link::new(steps, Seed::new(1).stream("link"));
        if is_recorded {
            link.record_events();
        }
        (0..3).for_each(|_| link.handle_packet(at(20), vec![0; 1000]));
        let first = link.entry_matters_from();
        while link.poll_packet(at(21)).is_some() {}
        [first, link.entry_matters_from()]
    };
    assert_eq!(matters_from(plain.clone().into(), false), [Some(at(21)), Some(at(22))]);
    let other = LinkConfig { loss: 1.0, ..plain.clone() };
    let step = |length| Steps::new([(length, plain.clone()), (ms(0), other.clone())]);
    let steps = step(Duration::from_micros(20_300)).expect("two steps");
    let change = Instant::ZERO + Duration::from_micros(20_300);
    assert_eq!(matters_from(steps, false), [Some(change), Some(at(22))]);
    let outages = Outages::new(&[(at(5), at(6))]).expect("one");
    for config in [
        LinkConfig { rate: None, ..plain.clone() },
        LinkConfig { burst: Some(Bytes::new(1_000)), ..plain.clone() },
        LinkConfig { schedule: Some(schedule("2")), ..plain.clone() },
        LinkConfig { queue: Discipline::CoDel(CoDelConfig::default()), ..plain.clone() },
        LinkConfig { order: Order::LossDelayQueue, ..plain.clone() },
        LinkConfig { drops: Drops { outages, ..Drops::default() }, ..plain.clone() },
    ] {
        assert_eq!(matters_from(config.clone().into(), false), [None; 2], "{config:?}");
    }
    assert_eq!(matters_from(plain.into(), true), [None; 2], "events tell when packets entered");
}

/// Sends packets after these gaps in microseconds, of these sizes; returns what arrives, and how many packets entered late.
/// A packet whose `bool` is set enters at the last instant at which its entry does not matter yet.
fn run_late(
    config: LinkConfig,
    packets: &[(u64, usize, bool)],
    may_be_late: bool,
) -> (Vec<(Instant, u32)>, LinkStats, usize) {
    let (mut link, mut arrivals) = (link(config), Vec::new());
    let (mut now, mut late, mut count) = (Instant::ZERO, Vec::new(), 0);
    let mut matters_from = Instant::FAR_FUTURE;
    for (number, (gap, size, is_late)) in (0u32..).zip(packets) {
        now += Duration::from_micros(*gap);
        if matters_from <= now && !late.is_empty() {
            let last = matters_from - Duration::from_nanos(1);
            drain(&mut link, last, &mut arrivals);
            late.drain(..).for_each(|packet| link.handle_packet(last, packet));
        }
        drain(&mut link, now, &mut arrivals);
        let mut packet = number.to_be_bytes().to_vec();
        packet.resize(*size, 0);
        let from = link.entry_matters_from().filter(|from| may_be_late && *is_late && *from > now);
        if let Some(from) = from {
            (matters_from, count) = (from, count + 1);
            late.push(packet);
        } else {
            late.drain(..).for_each(|packet| link.handle_packet(now, packet));
            link.handle_packet(now, packet);
        }
    }
    late.drain(..).for_each(|packet| link.handle_packet(now, packet));
    drain(&mut link, Instant::FAR_FUTURE, &mut arrivals);
    (arrivals, link.stats(), count)
}

#[test]
fn packets_that_enter_late_while_that_does_not_matter_fare_alike() {
    let rate = BitRate::from_bits_per_second(8_000_000);
    for config in [
        LinkConfig { rate, ..LinkConfig::default() },
        LinkConfig { rate, queue_max: Bytes::new(3_000), ..LinkConfig::lossless(ms(3)) },
        LinkConfig {
            rate,
            queue: Discipline::DropHead,
            queue_packets_max: 2,
            ..LinkConfig::default()
        },
        LinkConfig { rate, queue_packets_max: 0, duplicate: 0.2, ..LinkConfig::default() },
    ] {
        let chance = Seed::new(5).stream("packets");
        let packets: Vec<_> = (0..2_000)
            .map(|number| {
                let draw = |fork, max| chance.fork(fork).at(number).below(max);
                let size = usize::try_from(40 + draw(1, 1_400)).expect("small");
                (draw(0, 1_300), size, draw(2, 4) > 0)
            })
            .collect();
        let [usual, late] =
            [false, true].map(|may_be_late| run_late(config.clone(), &packets, may_be_late));
        assert!(usual.0 == late.0 && usual.1 == late.1, "{config:?}");
        assert!(usual.2 == 0 && late.2 > 500, "{} entered late", late.2);
    }
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

/// Sends packets of these sizes at these times, in milliseconds, over opportunities; returns when each
/// arrives.
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
    fn packets_that_enter_late_fare_alike_over_every_link(
        config in configs(),
        packets in prop::collection::vec((0..6_000_u64, 20..1_500_usize, any::<bool>()), 100),
    ) {
        let [usual, late] = [false, true].map(|may_be_late| run_late(config.clone(), &packets, may_be_late));
        prop_assert_eq!(usual.0, late.0);
        prop_assert_eq!(usual.1, late.1);
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
