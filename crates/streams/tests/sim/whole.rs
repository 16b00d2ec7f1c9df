//! Streams over bad links: every byte arrives once and in order, and no stream stops another.

use rove_link::net::Net;
use rove_link::{Drops, LinkConfig, OnOff, PeriodLength};
use rove_streams::{CREDIT_MAX, FIRST_CREDIT, Side, StreamId};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed, Stream};

use crate::host::{Host, Plan};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn steady(mbit: u64, rtt: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        delay: ms(rtt / 2),
        loss,
        rate: BitRate::from_bits_per_second(mbit * 1_000_000),
        queue_max: Bytes::new(mbit * 125 * rtt.max(50)),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    }
}

/// Returns a random plan: an end writes a few bytes up to some hundred thousand, and may reset or stop reading.
fn plan(draws: Stream) -> Plan {
    let writes = draws.at(0).below(1 << (3 + draws.at(1).below(15)));
    let some = |number, most: u64| draws.at(number).below(most.max(1));
    Plan {
        writes,
        resets_at: draws.at(2).chance(0.15).then(|| some(3, writes)),
        reads: draws.at(4).chance(0.1).then(|| (some(5, 50_000), true)),
    }
}

fn answer(id: StreamId) -> Plan {
    plan(Seed::new(99).stream("answers").fork(id.get()))
}

fn bad_link(draws: Stream) -> LinkConfig {
    let on_off = OnOff::new(ms(4_000), ms(300), PeriodLength::Exponential).expect("long periods");
    LinkConfig {
        jitter: ms(draws.at(1).below(60)),
        reorder: draws.at(2).chance(0.7),
        duplicate: if draws.at(3).chance(0.5) { 0.1 } else { 0.0 },
        drops: Drops { on_off: draws.at(4).chance(0.5).then_some(on_off), ..Drops::default() },
        ..steady(1 + draws.at(5).below(20), 2 + draws.at(6).below(200), 0.3 * draws.at(7).unit())
    }
}

/// Runs some streams of both ends over a bad link, and checks every byte at its reader.
fn run(number: u64) {
    let seed = Seed::new(number);
    let draws = seed.stream("run");
    let (left, right) = (Host::new(Side::Client, answer), Host::new(Side::Server, answer));
    let mut net = Net::new(left, right, bad_link(draws.fork(1)), bad_link(draws.fork(2)), seed);
    for turn in 0..12 {
        let now = net.now();
        net.left.open(now, plan(draws.fork(100 + turn)));
        net.right.open(now, plan(draws.fork(200 + turn)));
        net.run_for(ms(draws.at(300 + turn).below(400)));
    }
    let is_over =
        |host: &Host| host.jobs.values().all(|it| it.is_finished && (it.is_ended || it.is_reset));
    let over = net.run_until(Duration::from_secs(600), |left, right| {
        left.jobs.len() == 24 && right.jobs.len() == 24 && is_over(left) && is_over(right)
    });
    assert!(over, "seed {number}: {:?} {:?}", net.left.jobs, net.right.jobs);
    for (id, left) in &net.left.jobs {
        let right = &net.right.jobs[id];
        for (writer, reader) in [(left, right), (right, left)] {
            let is_cut = writer.plan.resets_at.is_some() || reader.plan.reads.is_some();
            assert!(
                reader.read <= writer.written && (is_cut || reader.read == writer.plan.writes),
                "seed {number}, stream {id}"
            );
        }
    }
    net.run_for(Duration::from_secs(60));
    for host in [&net.left, &net.right] {
        assert!(host.mux.closed().is_none(), "seed {number}: {:?}", host.mux.closed());
        assert_eq!((host.mux.held(), host.mux.in_flight()), (0, 0), "seed {number}");
        assert_eq!(host.mux.poll_timeout(), None, "seed {number}: an idle end has no timer");
    }
}

#[test]
fn every_byte_arrives_once_and_in_order_whatever_the_link_does() {
    let runs = std::env::var("ROVE_STREAM_RUNS").map_or(60, |it| it.parse().expect("a number"));
    (0..runs).for_each(run);
}

fn bulk(bytes: u64) -> Plan {
    Plan { writes: bytes, ..Plan::default() }
}

fn silent(_: StreamId) -> Plan {
    Plan::default()
}

/// Returns the plan of a reader. Streams up to number 16 are read up to 300 kB, higher ones below 512 not at all, and
/// all others to their end.
fn reads_little(id: StreamId) -> Plan {
    let reads = if id.get() <= 16 { Some((300_000, false)) } else { Some((0, false)) };
    Plan { reads: if id.get() < 512 { reads } else { None }, ..Plan::default() }
}

/// Returns how long a bulk transfer takes beside `unread` streams that nobody reads.
fn copy_beside(unread: u64) -> Duration {
    let (left, right) = (Host::new(Side::Client, silent), Host::new(Side::Server, reads_little));
    let link = steady(10, 40, 0.0);
    let mut net = Net::new(left, right, link.clone(), link, Seed::new(5));
    let mut opened = 0;
    for _ in 0..unread {
        opened = net.left.open(net.now(), bulk(10_000_000)).get();
    }
    net.run_for(Duration::from_secs(60));
    // Streams with numbers from 512 on are read, so all lower numbers are used up first.
    while opened < 510 {
        let now = net.now();
        let id = net.left.open(now, Plan::default());
        net.run_for(ms(200));
        opened = id.get();
    }
    let begin = net.now();
    let id = net.left.open(begin, bulk(3_000_000));
    assert!(
        id.get() == 512
            && net.run_until(Duration::from_secs(60), |_, right| right
                .jobs
                .get(&id)
                .is_some_and(|it| it.is_ended))
    );
    let bound = 512 * FIRST_CREDIT + 2 * CREDIT_MAX;
    assert!(
        net.left.held_most.max(net.right.held_most) <= bound,
        "{} {}",
        net.left.held_most,
        net.right.held_most
    );
    net.now().saturating_since(begin)
}

#[test]
fn streams_that_nobody_reads_leave_another_its_speed() {
    let alone = copy_beside(0);
    for unread in [8, 255] {
        let beside = copy_beside(unread);
        println!("a copy of 3 MB beside {unread} unread streams: {beside:?}, alone {alone:?}");
        assert!(beside < alone.mul_f64(1.05), "{unread}: {beside:?} {alone:?}");
    }
}

/// Returns the plan of an end that writes more than the peer reads to streams up to number 6.
fn never_ends(id: StreamId) -> Plan {
    if id.get() <= 6 { bulk(1 << 40) } else { Plan::default() }
}

/// Returns how long a transfer takes after three others that ended or were reset. If `half_open`, the reader of those
/// three has not finished its own direction.
fn copy_after_three(resets_at: Option<u64>, half_open: bool) -> Duration {
    let answer = if half_open { never_ends } else { silent };
    let (left, right) = (Host::new(Side::Client, silent), Host::new(Side::Server, answer));
    let link = steady(100, 200, 0.0);
    let mut net = Net::new(left, right, link.clone(), link, Seed::new(8));
    let mut copy = |plan| {
        let begin = net.now();
        let id = net.left.open(begin, plan);
        let is_over = |_: &Host, right: &Host| {
            right.jobs.get(&id).is_some_and(|it| it.is_ended || it.is_reset)
        };
        assert!(net.run_until(Duration::from_secs(60), is_over));
        net.now().saturating_since(begin)
    };
    let reads = half_open.then_some((0, false));
    for _ in 0..3 {
        copy(Plan { reads, resets_at, ..bulk(20_000_000) });
    }
    copy(bulk(20_000_000))
}

#[test]
fn streams_that_were_read_to_the_end_give_their_credit_back_while_the_other_direction_is_open() {
    for resets_at in [None, Some(20_000_000)] {
        let [closed, half_open] = [false, true].map(|it| copy_after_three(resets_at, it));
        println!("a copy of 20 MB after three half-open streams: {half_open:?}, closed {closed:?}");
        assert!(half_open < closed.mul_f64(1.05), "{resets_at:?}: {half_open:?} {closed:?}");
    }
}

#[test]
fn no_stream_starves_beside_others() {
    let (left, right) = (Host::new(Side::Client, silent), Host::new(Side::Server, silent));
    let link = steady(10, 40, 0.01);
    let mut net = Net::new(left, right, link.clone(), link, Seed::new(6));
    for _ in 0..100 {
        net.left.open(net.now(), bulk(100_000_000));
    }
    net.run_for(Duration::from_secs(40));
    let read: Vec<u64> = net.right.jobs.values().map(|it| it.read).collect();
    let (least, most) = (read.iter().min().unwrap(), read.iter().max().unwrap());
    assert!(read.len() == 100 && *least * 2 > *most, "{least} {most}");
}

#[test]
fn a_copy_goes_on_at_the_first_sound_after_five_days() {
    let (left, right) = (Host::new(Side::Client, silent), Host::new(Side::Server, silent));
    let link = steady(10, 40, 0.0);
    let mut net = Net::new(left, right, link.clone(), link.clone(), Seed::new(7));
    let id = net.left.open(Instant::ZERO, bulk(3_000_000));
    net.run_for(Duration::from_secs(1));
    net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
    net.run_for(Duration::from_secs(2));
    let sent = net.left.sent;
    net.run_for(Duration::from_secs(5 * 24 * 3_600));
    // A probe is a small packet, and a packet with the newest acknowledgment.
    let probes = (net.left.sent - sent) / (424 + 49);
    assert!((27_000..30_000).contains(&probes), "{probes} probes, one in 15 s");
    let read = net.right.jobs[&id].read;
    net.reconfigure(link.clone(), link);
    net.run_for(ms(1));
    // The test tells the layer that a datagram of the session has arrived from the peer.
    let now = net.now();
    net.left.mux.handle_heard(now);
    assert!(
        net.run_until(ms(40 + 100), |_, right| right.jobs[&id].read > read),
        "within a round trip and 100 ms"
    );
    assert!(net.run_until(Duration::from_secs(5), |_, right| right.jobs[&id].is_ended));
    assert_eq!(net.right.jobs[&id].read, 3_000_000);
}
