//! Properties of every link: packets are conserved and keep their order, whenever the link is polled.

use proptest::prelude::*;
use rove_link::{
    CoDelConfig, Discipline, Distribution, Drops, Event, FairConfig, FlowKey, GilbertElliott, Link,
    LinkConfig, OnOff, Order, Outages, PeriodLength, PieConfig, Schedule, Steps,
};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// The packets that arrive: their times in microseconds, in ascending order, and their sizes in bytes.
type Arrivals = Vec<(u64, usize)>;

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop::collection::vec((0..6_000_u64, 0..1_600_usize), 1..150).prop_map(|gaps| {
        let mut time = 0;
        let entry = |(gap, size): (u64, usize)| {
            // As in bursts, a third of the packets come together with the packet before them.
            time += if gap % 3 == 0 { 0 } else { gap };
            (time, size)
        };
        gaps.into_iter().map(entry).collect()
    })
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::LossQueueDelay),
        Just(Order::LossDelayQueue),
        Just(Order::QueueLossDelay),
        Just(Order::DelayQueueLoss),
    ]
}

fn queues() -> impl Strategy<Value = LinkConfig> {
    let disciplines = prop_oneof![
        Just(Discipline::DropTail),
        Just(Discipline::DropHead),
        Just(Discipline::CoDel(CoDelConfig { interval: ms(20), ..CoDelConfig::default() })),
        Just(Discipline::Pie(PieConfig { burst_max: ms(15), ..PieConfig::default() })),
        // All packets are one flow, so that they keep their order.
        Just(Discipline::Fair(FairConfig {
            codel: CoDelConfig { interval: ms(20), ..CoDelConfig::default() },
            key: FlowKey::At(usize::MAX),
        })),
    ];
    let limits = prop_oneof![
        Just((Bytes::MAX, usize::MAX)),
        (0..20_000_u64).prop_map(|bytes| (Bytes::new(bytes), usize::MAX)),
        (0..20_usize).prop_map(|packets| (Bytes::MAX, packets)),
    ];
    (disciplines, limits, 0..60_u64, 0..5_u8, any::<bool>()).prop_map(
        |(queue, (queue_max, queue_packets_max), overhead, server, repeats)| {
            let schedule =
                |text: &str| Schedule { repeats, ..Schedule::new(text.parse().expect("a trace")) };
            LinkConfig {
                queue,
                queue_max,
                queue_packets_max,
                overhead: Bytes::new(overhead),
                rate: (1..4).contains(&server).then(|| {
                    BitRate::from_bits_per_second(700_001 * u64::from(server)).expect("above zero")
                }),
                burst: (server == 3).then_some(Bytes::new(3_000)),
                schedule: (server == 4).then(|| schedule("2\n2\n3\n40\n300")),
                ..LinkConfig::default()
            }
        },
    )
}

fn losses() -> impl Strategy<Value = LinkConfig> {
    (0.0..0.4, 0.0..0.3, any::<bool>(), 0..3_u8).prop_map(|(loss, duplicate, bursts, off)| {
        let on_off = |length| OnOff::new(ms(80), ms(20), length).expect("long enough");
        let drops = Drops {
            start: at(3),
            gilbert_elliott: bursts.then_some(GilbertElliott {
                p_bad: 0.1,
                p_good: 0.3,
                loss_bad: 0.7,
                loss_good: 0.0,
            }),
            outages: Outages::new(&[(at(50), at(70))]).expect("in order"),
            on_off: [
                None,
                Some(on_off(PeriodLength::Fixed)),
                Some(on_off(PeriodLength::Exponential)),
            ][usize::from(off)],
            line_packets_max: None,
            mtu: None,
        };
        LinkConfig { loss, duplicate, drops, ..LinkConfig::default() }
    })
}

fn delays() -> impl Strategy<Value = LinkConfig> {
    (
        0..40_u64,
        0..30_u64,
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(None), (0..9_usize).prop_map(Some)],
    )
        .prop_map(|(delay, jitter, is_normal, reorder, line_packets_max)| LinkConfig {
            delay: ms(delay),
            jitter: ms(jitter),
            jitter_distribution: if is_normal {
                Distribution::Normal
            } else {
                Distribution::Uniform
            },
            reorder,
            drops: Drops { line_packets_max, ..Drops::default() },
            ..LinkConfig::default()
        })
}

fn configs() -> impl Strategy<Value = LinkConfig> {
    (orders(), queues(), losses(), delays()).prop_map(|(order, queue, loss, delay)| LinkConfig {
        order,
        delay: delay.delay,
        jitter: delay.jitter,
        jitter_distribution: delay.jitter_distribution,
        reorder: delay.reorder,
        loss: loss.loss,
        duplicate: loss.duplicate,
        drops: Drops { line_packets_max: delay.drops.line_packets_max, ..loss.drops },
        ..queue
    })
}

fn steps() -> impl Strategy<Value = Steps> {
    prop::collection::vec((0..200_u64, configs()), 1..4).prop_map(|steps| {
        Steps::new(steps.into_iter().map(|(millis, config)| (ms(millis), config)))
            .expect("at least one")
    })
}

/// The packets that left the link, each with its nominal time, and the event log.
type Outcome = (Vec<(Instant, Vec<u8>)>, Vec<Event>);

/// Runs arrivals through a link that is polled every `period`, before and after each arrival, and checks that every
/// packet is counted.
fn run(steps: &Steps, seed: u64, arrivals: &Arrivals, period: Option<Duration>) -> Outcome {
    let mut link = Link::new(steps.clone(), Seed::new(seed).stream("link"));
    link.record_events();
    let (mut out, mut log) = (Vec::new(), Vec::new());
    let mut clock = Instant::ZERO;
    let end = at(4_000);
    let stops =
        arrivals.iter().map(|(micros, size)| (Instant::from_nanos(micros * 1_000), Some(*size)));
    for (number, (time, size)) in (0_u32..).zip(stops.chain([(end, None)])) {
        while let Some(period) = period.filter(|period| clock + *period < time) {
            clock += period;
            out.extend(core::iter::from_fn(|| link.poll_packet(clock)));
            log.extend(core::iter::from_fn(|| link.poll_event(clock)));
            assert!(link.poll_timeout().is_none_or(|next| next > clock), "it is due and not done");
        }
        if let Some(size) = size {
            let mut packet = number.to_be_bytes().to_vec();
            packet.resize(size.max(4), 0);
            link.handle_packet(time, packet);
        }
        let stats = link.stats();
        assert_eq!(
            stats.entered + stats.duplicated,
            stats.delivered + stats.dropped() + u64::try_from(link.inside()).expect("a few")
        );
    }
    out.extend(core::iter::from_fn(|| link.poll_packet(end)));
    log.extend(core::iter::from_fn(|| link.poll_event(end)));
    (out, log)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn nothing_depends_on_how_often_the_link_is_polled(
        steps in steps(),
        seed in 0..1_000_u64,
        arrivals in arrivals(),
        micros in 100..9_000_u64,
    ) {
        let never = run(&steps, seed, &arrivals, None);
        let often = run(&steps, seed, &arrivals, Some(Duration::from_micros(micros)));
        prop_assert_eq!(&never.0, &often.0);
        prop_assert_eq!(&never.1, &often.1);
        prop_assert!(never.0.is_sorted_by_key(|(time, _)| *time));
        prop_assert!(never.1.is_sorted_by_key(|event| event.at));
        let lines: Vec<String> = never.1.iter().map(Event::line).collect();
        prop_assert_eq!(lines, often.1.iter().map(Event::line).collect::<Vec<_>>());
    }

    #[test]
    fn order_is_kept_where_nothing_may_reorder(
        config in configs(),
        seed in 0..1_000_u64,
        arrivals in arrivals(),
    ) {
        let config = LinkConfig { reorder: false, ..config };
        let (out, _) = run(&config.into(), seed, &arrivals, None);
        prop_assert!(out.is_sorted_by_key(|(_, packet)| packet[..4].to_vec()));
    }

    #[test]
    fn chance_loses_the_same_packets_whatever_the_times_are(
        losses in losses(),
        seed in 0..1_000_u64,
        fast in arrivals(),
        slow in arrivals(),
    ) {
        // An outage loses packets by their times. All other losses depend on the packets' numbers.
        let drops = Drops { outages: Outages::default(), on_off: None, ..losses.drops };
        let steps = Steps::from(LinkConfig { drops, ..losses });
        let count = fast.len().min(slow.len());
        let arrived = |arrivals: &Arrivals| -> Vec<Vec<u8>> {
            let (out, _) = run(&steps, seed, &arrivals[..count].to_vec(), None);
            out.into_iter().map(|(_, packet)| packet[..4].to_vec()).collect()
        };
        prop_assert_eq!(arrived(&fast), arrived(&slow));
    }
}
