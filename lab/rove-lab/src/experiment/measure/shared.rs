//! A shared path: the throughput and the queueing delay of senders that one controller drives.
//!
//! Data comes down the path, acknowledgments go up. A sender's throughput counts only the time in which it had data to
//! send. Queueing delay is how much longer than over an empty path a packet and its acknowledgment took, in the mean.

use core::ops::Range;
use std::fs;
use std::iter;
use std::path::Path as FilePath;
use std::sync::Arc;

use anyhow::Result;
use rove_congestion::remy::RemyController;
use rove_congestion::{Begin, Controller};
use rove_flows::flow::contender::Contender;
use rove_flows::flow::ends::Receiver;
use rove_flows::flow::on_off_sources::{
    Distribution, FlowSize, OnOffSources, SENDER_PLACE, SenderFigures,
};
use rove_flows::flow::program::{Limits, Program};
use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_link::{CoDelConfig, Discipline, FairConfig, FlowKey, LinkConfig};
use rove_remy::parse_table;
use rove_runs::statistics::{median, whole};
use rove_units::{Bytes, Duration, Instant, Seed, parse_duration};

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::system::System;

/// Figures of a run beside the queueing delays of its senders. All runs have the first four, runs with other senders
/// the fifth, and runs with several kinds of others two more for each kind.
pub(super) const FIGURES: [RunFigure; 11] = [
    RunFigure { is_compared: true, ..kilobits("throughput (kbit/s)") },
    kilobits("all together (kbit/s)"),
    RunFigure { name: "Jain's index", scale: 1e-6, is_compared: false },
    RunFigure { name: "utility lost (bits)", scale: 1e-6, is_compared: false },
    kilobits("the others (kbit/s)"),
    kilobits("2nd (kbit/s)"),
    RunFigure::of_time("2nd, queue"),
    kilobits("3rd (kbit/s)"),
    RunFigure::of_time("3rd, queue"),
    kilobits("4th (kbit/s)"),
    RunFigure::of_time("4th, queue"),
];

const fn kilobits(name: &'static str) -> RunFigure {
    RunFigure { name, scale: 1e-3, is_compared: false }
}

/// Returns the figures of runs with `others` kinds of other senders.
pub(in crate::experiment) const fn figures(others: usize) -> &'static [RunFigure] {
    FIGURES
        .split_at(match others {
            0 => 4,
            1 => 5,
            2 => 9,
            _ => 11,
        })
        .0
}

/// The built-in tables.
const TABLES: [(System, &str, &str); 3] = [
    (System::RemyBulk, "bulk.toml", include_str!("../../../remy/remy-bulk.toml")),
    (System::RemyTwoSenders, "two.toml", include_str!("../../../remy/remy-two-senders.toml")),
    (
        System::RemySixteenSenders,
        "16.toml",
        include_str!("../../../remy/remy-sixteen-senders.toml"),
    ),
];

/// Files of tables that others have published.
const PUBLISHED: [(System, &str); 4] = [
    (System::RemyDeltaTenth, "RemyCC-2013-delta0.1.dna"),
    (System::RemyDeltaOne, "RemyCC-2013-delta1.dna"),
    (System::RemyDeltaTen, "RemyCC-2013-delta10.dna"),
    (System::RemyHundredfold, "RemyCC-2014-100x.dna"),
];

/// Returns the name and the bytes of a system's file. `None` if the system has no file, or the file is missing.
pub(crate) fn table_of(
    system: System,
    published: Option<&FilePath>,
) -> Option<(&'static str, Vec<u8>)> {
    if let System::File(file) = system {
        return Some((file.name(), file.read().ok()?));
    }
    if let Some((_, file, text)) = TABLES.iter().find(|(its, ..)| *its == system) {
        return Some((file, text.as_bytes().to_vec()));
    }
    let (_, file) = PUBLISHED.iter().find(|(its, _)| *its == system)?;
    Some((file, fs::read(published?.join(file)).ok()?))
}

/// Returns whether a system needs a table that others have published.
pub(crate) fn is_published(system: System) -> bool {
    PUBLISHED.iter().any(|(its, _)| *its == system)
}

/// A function that makes the controller of one of a system's flows.
type Factory = Box<dyn Fn() -> Box<dyn Controller>>;

/// The maker of the controllers of a system's flows, and the program that they ask, if any.
pub(in crate::experiment) struct Controllers {
    pub(in crate::experiment) make: Factory,
    pub(in crate::experiment) program: Option<Program>,
}

/// Returns the maker of a system's controllers, given how flows begin and a packet's payload. `setting` becomes a
/// program's last argument. `None` if the system's table is missing.
pub(in crate::experiment) fn controllers(
    conditions: &Conditions<'_>,
    setting: Option<f64>,
    flows: (Begin, Bytes),
    limits: Limits,
) -> Result<Option<Controllers>> {
    if let System::File(file) = conditions.system()
        && let Some(program) = file.program(setting, limits)
    {
        let each = program.clone();
        let (_, packet) = flows;
        let make = Box::new(move || each.controller(packet));
        return Ok(Some(Controllers { make, program: Some(program) }));
    }
    let make = factory(conditions.system(), flows, conditions.tables)?;
    Ok(make.map(|make| Controllers { make, program: None }))
}

/// Returns the maker of a system's controllers. `None` if the system's table is missing.
fn factory(
    system: System,
    (begin, packet): (Begin, Bytes),
    published: Option<&FilePath>,
) -> Result<Option<Factory>> {
    if let Some(contender) = system.contender() {
        return Ok(contender.controller(packet, begin).map(|_| -> Factory {
            Box::new(move || contender.controller(packet, begin).expect("it has one"))
        }));
    }
    let Some((file, bytes)) = table_of(system, published) else { return Ok(None) };
    let table = Arc::new(parse_table(FilePath::new(file), &bytes)?);
    Ok(Some(Box::new(move || Box::new(RemyController::new(Arc::clone(&table), packet)))))
}

/// Returns whether senders that share a path can have this system as their controller.
pub(super) const fn is_measured(system: System) -> bool {
    match system.contender() {
        Some(contender) => !matches!(
            contender,
            Contender::Sprout(_)
                | Contender::SproutAck
                | Contender::FixedWindow
                | Contender::CubicTunnel
                | Contender::Ledbat
                | Contender::LedbatShort
                | Contender::LowDelay
        ),
        None => system.is_controller(),
    }
}

pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let system = conditions.system();
    let traffic = conditions.traffic.expect("a checked scenario has traffic");
    let traffic = &traffic.at(conditions.value);
    let flows = (traffic.begin(), traffic.packet());
    let own = (system, traffic.senders, &traffic.extra_rtt, &None);
    let others = traffic.others.iter();
    let others =
        others.map(|it| (it.system.unwrap_or(system), it.senders, &it.extra_rtt, &it.start_at));
    let (mut count, mut kinds, mut programs) = (0, Vec::new(), Vec::new());
    for (system, senders, extra, start) in iter::once(own).chain(others) {
        let conditions = Conditions { system: Some(system), ..*conditions };
        let kind = controllers(&conditions, None, flows, Limits::VIRTUAL)?;
        let Some(Controllers { make, program }) = kind else { return Ok(Samples::absent()) };
        kinds.push((count..count + senders, make, [extra, start]));
        count += senders;
        programs.extend(program);
    }
    let make = |sender| {
        let kind = kinds.iter().find(|(senders, ..)| senders.contains(&sender));
        let (_, make, _) = kind.expect("a sender has a kind");
        make()
    };
    let time = |text: &str| parse_duration(text).expect("a checked scenario has times");
    let distribution = match traffic.mean_flow_bytes {
        Some(mean) => Distribution::Exponential(Bytes::new(mean)),
        None => Distribution::HeavyTailed,
    };
    let largest = traffic.largest_flow_bytes.map_or(Bytes::MAX, Bytes::new);
    let size = FlowSize { distribution, largest, packet: traffic.packet() };
    let mut path = conditions.path().clone();
    // The way of the acknowledgments only delays them, as in the publications.
    path.uplink = LinkConfig { delay: path.uplink.delay, ..LinkConfig::default() };
    if system == System::Flow(Contender::CubicCodel) {
        path.downlink.queue = Discipline::CoDel(CoDelConfig::default());
    } else if system == System::Flow(Contender::CubicFqCodel) {
        let key = FlowKey::At(SENDER_PLACE);
        path.downlink.queue = Discipline::Fair(FairConfig { key, ..FairConfig::default() });
    }
    let packet = traffic.packet() + rove_headless::HEADERS;
    let transmission = path.downlink.rate.map(|rate| rate.transmission_time(packet));
    let base = path.uplink.delay + path.downlink.delay + transmission.unwrap_or_default();
    let seed = Seed::new(conditions.seed);
    let [uplink, downlink] = path.links(Instant::ZERO, seed);
    let chance = seed.stream("shared.traffic");
    let pause = time(&traffic.mean_pause);
    let mut sources = OnOffSources::new(count, size, pause, base, LEFT_ADDRESS, chance, make);
    let or_none = |text: &Option<String>| text.as_deref().map(time).unwrap_or_default();
    for (senders, _, apart) in &kinds {
        let [extra, start] = apart.map(or_none);
        sources.set_apart(senders.clone(), extra, start);
    }
    let delay = or_none(&traffic.acknowledgment_delay);
    let receiver = Receiver::with_delay(RIGHT_ADDRESS, delay);
    let mut net = Net::new(receiver, sources, uplink, downlink, seed);
    let length = time(&traffic.length);
    let starts = kinds.iter().map(|(.., [_, start])| or_none(start));
    let last = starts.max().filter(|last| *last < length).unwrap_or_default();
    net.run_for(last);
    let before = net.right.figures(Instant::ZERO + last);
    net.run_for(length - last);
    let figures = net.right.figures(Instant::ZERO + length);
    let most = capacity(&path.downlink);
    let lost = |pairs: &[[u64; 2]]| utility_lost(pairs, base, most);
    let kinds: Vec<Range<usize>> = kinds.into_iter().map(|(senders, ..)| senders).collect();
    let samples = samples([&figures, &before], &kinds, packet, length, lost);
    Ok(programs.iter().fold(samples, |samples, program| samples.unless_faulty(Some(program))))
}

/// Returns the samples of a run, given figures at its end and `before`, when the last sender could begin. Each pair is
/// of a measured sender, which is of the first kind. Senders that got no packet through have no pair.
fn samples(
    [figures, before]: [&[SenderFigures]; 2],
    kinds: &[Range<usize>],
    packet: Bytes,
    length: Duration,
    lost: impl Fn(&[[u64; 2]]) -> u64,
) -> Samples {
    let rate = |packets: u64, time: Duration| {
        let bits = packets as f64 * packet.get() as f64 * 8.0;
        whole((bits / time.as_secs_f64().max(1e-9)).floor())
    };
    debug_assert_eq!(kinds.last().map(|senders| senders.end), Some(figures.len()));
    let all = rate(figures.iter().map(|sender| sender.packets).sum(), length);
    // For Jain's index, throughputs count from when all senders may send. A sender that was alone has no advantage.
    let since = figures.iter().zip(before);
    let since = since.map(|(end, begin)| (end.packets - begin.packets, end.on - begin.on));
    let started = since.filter(|(_, on)| !on.is_zero());
    let fairness = jain(started.map(|(packets, on)| rate(packets, on) as f64));
    let of_kind = |senders: &Range<usize>| {
        let none = (0, Duration::ZERO, Duration::ZERO);
        let sums = figures[senders.clone()].iter().fold(none, |(packets, on, queueing), it| {
            (packets + it.packets, on + it.on, queueing + it.queueing)
        });
        let (packets, on, queueing) = sums;
        [rate(packets, on), nanos(queueing) / packets.max(1)]
    };
    let several = kinds.get(1..).filter(|others| others.len() > 1).unwrap_or_default();
    let of_kinds: Vec<u64> = several.iter().flat_map(of_kind).collect();
    let (figures, others) = figures.split_at(kinds[0].len());
    let others: Vec<f64> = others.iter().map(|it| rate(it.packets, it.on) as f64).collect();
    let mut pairs = Vec::new();
    for sender in figures.iter().filter(|sender| sender.packets > 0) {
        let packets = u32::try_from(sender.packets).unwrap_or(u32::MAX);
        pairs.push([nanos(sender.queueing / packets), rate(sender.packets, sender.on)]);
    }
    let rates: Vec<f64> = pairs.iter().map(|pair| pair[1] as f64).collect();
    if rates.is_empty() {
        return Samples { missing: figures.len() as u64, ..Samples::default() };
    }
    let of_others = (!others.is_empty()).then(|| whole(median(&others)));
    Samples {
        times: pairs.iter().map(|pair| pair[0]).collect(),
        missing: (figures.len() - pairs.len()) as u64,
        figures: [whole(median(&rates)), all, fairness, lost(&pairs)]
            .into_iter()
            .chain(of_others)
            .chain(of_kinds)
            .collect(),
        pairs,
        ..Samples::default()
    }
}

/// Returns Jain's index of throughputs in millionths: 1 if all are equal, 1/n if one of n senders has everything.
/// Source: Jain, Chiu and Hawe, *A quantitative measure of fairness* (1984).
fn jain(rates: impl Iterator<Item = f64>) -> u64 {
    let (count, sum, squares) = rates.fold((0.0, 0.0, 0.0), |(count, sum, squares), rate| {
        (count + 1.0, sum + rate, squares + rate * rate)
    });
    whole(1e6 * sum * sum / f64::max(count * squares, 1.0))
}

/// Returns what a link can carry, in bit/s; 0 if it has no bottleneck.
fn capacity(link: &LinkConfig) -> f64 {
    let recorded = link.schedule.as_ref().map(|schedule| {
        let bytes = schedule.trace.times().len() as f64 * schedule.opportunity.get() as f64;
        bytes * 8.0 / schedule.trace.period().as_secs_f64()
    });
    let rate = link.rate.map(|rate| rate.bits_per_second() as f64);
    recorded.or(rate).unwrap_or_default()
}

/// Returns the utility lost in millionths, a mean over senders, each with a queueing delay and a throughput. The
/// utility is Remy's objective with delta 1, highest for a sender that has the link for itself, and no queue.
fn utility_lost(pairs: &[[u64; 2]], base: Duration, most: f64) -> u64 {
    let lost = |[queueing, rate]: &[u64; 2]| {
        let delay = 1.0 + *queueing as f64 * 1e-9 / base.as_secs_f64().max(1e-9);
        (most / (*rate).max(1) as f64).log2().max(0.0) + delay.log2()
    };
    let mean = pairs.iter().map(lost).sum::<f64>() / pairs.len().max(1) as f64;
    whole(mean * 1e6)
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::traffic::{Others, TcpBegin, Traffic};

    fn samples(system: System, senders: usize, path: &str) -> Samples {
        samples_of(system, &traffic(senders), path)
    }

    fn traffic(senders: usize) -> Traffic {
        Traffic {
            senders,
            mean_flow_bytes: Some(100_000),
            largest_flow_bytes: None,
            begin: TcpBegin::Modern,
            initial_window: None,
            extra_rtt: None,
            others: Vec::new(),
            packet_bytes: None,
            acknowledgment_delay: None,
            mean_pause: "500ms".to_owned(),
            length: "30s".to_owned(),
        }
    }

    fn samples_of(system: System, traffic: &Traffic, path: &str) -> Samples {
        let path: Path = path.parse().expect("a path");
        traffic.check().expect("traffic");
        let conditions = Conditions {
            system: Some(system),
            path: Some(&path),
            traffic: Some(traffic),
            ..Conditions::NONE
        };
        run(&conditions).expect("a run")
    }

    #[test]
    fn every_controller_gets_its_senders_through_a_shared_path() {
        for system in [
            System::Flow(Contender::Aimd),
            System::Flow(Contender::NewReno),
            System::Flow(Contender::Cubic),
            System::Flow(Contender::CubicCodel),
            System::Flow(Contender::CubicFqCodel),
            System::Flow(Contender::Compound),
            System::Flow(Contender::Vegas),
            System::Flow(Contender::SproutAckWide),
            System::RemyTwoSenders,
            System::RemySixteenSenders,
        ] {
            let samples = samples(system, 4, "rtt=100ms,rate=15M,queue=1000p");
            let name = system.name();
            assert_eq!((samples.missing, samples.pairs.len()), (0, 4), "{name}");
            let [median, all, fairness, _] = samples.figures[..] else {
                panic!("{name}: four figures")
            };
            assert!((250_000..=1_000_000).contains(&fairness), "{name}: {fairness}");
            assert!(all < 15_100_000 && all > 500_000, "{name}: {all} bit/s");
            assert!(median < 15_100_000 && median > 100_000, "{name}: {median} bit/s");
        }
    }

    #[test]
    fn half_the_link_and_a_queue_of_a_round_trip_cost_a_bit_each() {
        let base = Duration::from_millis(100);
        let of = |queueing, rate| utility_lost(&[[queueing, rate]], base, 10e6);
        assert_eq!([of(0, 10_000_000), of(0, 5_000_000)], [0, 1_000_000]);
        assert_eq!(
            [of(100_000_000, 10_000_000), of(300_000_000, 2_500_000)],
            [1_000_000, 4_000_000]
        );
        let link = LinkConfig {
            rate: rove_units::BitRate::from_bits_per_second(5),
            ..LinkConfig::default()
        };
        assert!((capacity(&link) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_queue_that_codel_keeps_short_delays_less() {
        let path = "rtt=100ms,rate=3M,queue=1000p";
        let median = |system| {
            let mut times = samples(system, 8, path).times;
            times.sort_unstable();
            times[times.len() / 2]
        };
        let (long, short) =
            (median(System::Flow(Contender::Cubic)), median(System::Flow(Contender::CubicCodel)));
        assert!(short * 2 < long, "{short} {long}");
    }

    #[test]
    fn flows_with_queues_of_their_own_share_a_link_more_evenly() {
        let path = "rtt=20ms,rate=3M,queue=1000p";
        let spread = |system| {
            let rates = samples(system, 8, path).pairs;
            let rates: Vec<f64> = rates.iter().map(|[_, rate]| *rate as f64).collect();
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            rates.iter().map(|rate| (rate / mean - 1.0).powi(2)).sum::<f64>()
        };
        let [one, own] = [Contender::CubicCodel, Contender::CubicFqCodel].map(System::Flow);
        let [one, own] = [spread(one), spread(own)];
        assert!(own < one, "{own} {one}");
    }

    #[test]
    fn a_table_that_is_not_there_makes_no_samples() {
        let samples = samples(System::RemyDeltaOne, 1, "rtt=100ms,rate=15M");
        assert_eq!(samples, Samples::absent());
    }

    #[test]
    fn traffic_that_cannot_be_is_refused() {
        let good = Traffic {
            mean_flow_bytes: None,
            mean_pause: "0.2s".to_owned(),
            length: "100s".to_owned(),
            ..traffic(8)
        };
        assert_eq!(good.check(), Ok(()));
        for bad in [
            Traffic { senders: 0, ..good.clone() },
            Traffic { senders: 257, ..good.clone() },
            Traffic { mean_flow_bytes: Some(0), ..good.clone() },
            Traffic { largest_flow_bytes: Some(0), ..good.clone() },
            Traffic { mean_pause: "soon".to_owned(), ..good.clone() },
            Traffic { length: "0s".to_owned(), ..good.clone() },
            Traffic { initial_window: Some(0), ..good.clone() },
            Traffic { packet_bytes: Some(99), ..good.clone() },
            Traffic { acknowledgment_delay: Some("late".to_owned()), ..good.clone() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn other_senders_have_a_figure_of_their_own_a_longer_way_and_a_later_start() {
        let beside = |system, extra_rtt: Option<&str>, start_at: Option<&str>| {
            let [extra_rtt, start_at] = [extra_rtt, start_at].map(|it| it.map(str::to_owned));
            let others = vec![Others { system, senders: 2, extra_rtt, start_at }];
            let traffic = Traffic { mean_flow_bytes: Some(10_000_000), others, ..traffic(2) };
            let path = "rtt=40ms,rate=12M,queue=50p";
            samples_of(System::Flow(Contender::NewReno), &traffic, path).figures
        };
        let others = |extra_rtt, start_at| {
            beside(Some(System::Flow(Contender::NewReno)), extra_rtt, start_at)
        };
        assert_eq!(beside(None, None, None), others(None, None), "others of the system itself");
        let [near, _, fairness, _, of_others] = others(None, None)[..] else { panic!("no others") };
        let [near_beside_far, _, unfairness, _, of_far] = others(Some("400ms"), None)[..] else {
            panic!("no others")
        };
        assert!(of_far < of_others / 2 && near_beside_far > near, "{of_far} {of_others}");
        assert!(unfairness < fairness, "{unfairness} {fairness}");
        assert_eq!(others(None, Some("60s"))[4], 0, "they begin after the end");
    }

    /// First one sender has the link alone, and later two have half of it each.
    #[test]
    fn a_late_sender_makes_no_fair_link_unfair() {
        let late =
            Others { system: None, senders: 1, extra_rtt: None, start_at: Some("30s".to_owned()) };
        let traffic = Traffic {
            mean_flow_bytes: Some(1_000_000_000),
            mean_pause: "1ms".to_owned(),
            length: "40s".to_owned(),
            others: vec![late],
            ..traffic(1)
        };
        let fair = System::Flow(Contender::CubicFqCodel);
        let [_, _, fairness, ..] = samples_of(fair, &traffic, "rtt=20ms,down.rate=6M").figures[..]
        else {
            panic!("an index")
        };
        assert!(fairness > 970_000, "{fairness}");
    }

    #[test]
    fn each_of_several_kinds_has_its_throughput_and_its_queue() {
        let far = |extra_rtt: &str| Others {
            system: None,
            senders: 1,
            extra_rtt: Some(extra_rtt.to_owned()),
            start_at: None,
        };
        let others = vec![far("100ms"), far("400ms")];
        let traffic = Traffic { mean_flow_bytes: Some(10_000_000), others, ..traffic(1) };
        let path = "rtt=40ms,rate=12M,queue=50p";
        let found = samples_of(System::Flow(Contender::NewReno), &traffic, path);
        assert_eq!(found.figures.len(), figures(2).len());
        let [rate, all, _, _, _, second, second_queue, third, third_queue] = found.figures[..]
        else {
            panic!("two of each")
        };
        assert!(rate > second && second > third && rate + second + third >= all, "{found:?}");
        let longest = Duration::from_millis(40);
        for queue in [second_queue, third_queue] {
            assert!((1_000_000..nanos(longest)).contains(&queue), "50 packets: {queue} ns");
        }
    }

    #[test]
    fn the_pause_of_a_value_is_the_pause() {
        let varied = Traffic { mean_pause: "{value}ms".to_owned(), ..traffic(1) };
        assert_eq!(varied.at(Some(500.0)), traffic(1));
        assert!(varied.at(None).check().is_err(), "there is no value");
    }

    #[test]
    fn the_index_of_jain_is_one_of_equal_rates_and_a_share_of_one_alone() {
        for (rates, index) in
            [(&[3.0, 3.0, 3.0][..], 1_000_000), (&[8.0, 0.0], 500_000), (&[1.0, 3.0], 800_000)]
        {
            assert_eq!(jain(rates.iter().copied()), index, "{rates:?}");
        }
        assert_eq!(jain(iter::empty()), 0);
    }
}
