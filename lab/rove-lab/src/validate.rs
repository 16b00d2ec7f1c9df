//! `rove-lab emulate --check`: compares the emulator in real time with the expected behaviour of its link.
//!
//! `flow` sends packets at given times and notes when they arrive. `kernel` does so through the kernel's token bucket.
//! `tcp` fills links with the kernel's TCP. A `figure` is the result of a check.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use rove_link::{Link, LinkConfig, Schedule, Synthetic};
use rove_replay::replay::figures::millis;
use rove_runs::files::{check_writable, write_whole};
use rove_runs::statistics::{Times, mean};
use rove_units::{BitRate, Bytes, Duration, Instant};

use crate::validate::figure::{Figure, SEED, figure, lateness, ms};
use crate::validate::flow::{Flow, Passage, Script, duration};
use rove_net::acquire_rights;
use rove_net::testbed::{End, Report, Testbed, TestbedOptions};

mod figure;
mod flow;
mod kernel;
mod tcp;

/// Bytes of the headers around a datagram on the link: IPv4 and UDP.
const HEADERS: usize = 28;
/// Bytes of a full packet's payload.
const FULL: usize = 1_500 - HEADERS;

/// A check of the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Check {
    /// A constant delay
    Delay,
    /// Losses, beside those of a virtual run
    Loss,
    /// A token bucket, beside the kernel's
    Tbf,
    /// A trace's opportunities, saturated
    Trace,
    /// Full packets at 50 Mbit/s: processor time
    Load,
    /// 40,000 packets per second: none lost
    Packets,
    /// Delays packet by packet, beside a virtual run
    RealVirtual,
    /// TCP in bulk (cubic, bbr): use of the rate, and the queue that it makes
    Tcp,
}

/// Makes the checks, writes their results, and returns whether all are as expected.
///
/// # Errors
///
/// Returns an error if the link cannot be made, or `output` or the file `json` cannot be written.
pub(crate) fn run(checks: &[Check], json: Option<&Path>, mut output: impl Write) -> Result<bool> {
    // A file that cannot be written is reported before the work, not after it.
    json.map_or(Ok(()), check_writable)?;
    acquire_rights()?;
    let all = if checks.is_empty() { Check::value_variants() } else { checks };
    let mut figures = Vec::new();
    for check in all {
        let made = make(*check)?;
        for Figure { check, expected, got, is_right } in &made {
            let verdict = if *is_right { "ok" } else { "WRONG" };
            writeln!(output, "{check:<34} expected {expected:<26} got {got:<40} {verdict}")
                .context("cannot write standard output")?;
        }
        figures.extend(made);
    }
    if let Some(json) = json {
        let text = serde_json::to_string_pretty(&figures);
        write_whole(json, &text.context("cannot write the results as JSON")?)?;
    }
    Ok(figures.iter().all(|figure| figure.is_right))
}

fn make(check: Check) -> Result<Vec<Figure>> {
    match check {
        Check::Delay => delay(),
        Check::Loss => loss(),
        Check::Tbf => token_bucket(),
        Check::Trace => trace(),
        Check::Load => load(),
        Check::Packets => packets(),
        Check::RealVirtual => real_virtual(),
        Check::Tcp => tcp::checks(),
    }
}

fn delay() -> Result<Vec<Figure>> {
    let link = LinkConfig::lossless(ms(20));
    let (flow, report) = send(link, &Script::paced(2_000, ms(1), 100))?;
    let delays: Vec<f64> = flow.iter().filter_map(Passage::delay).map(millis).collect();
    let mean = mean(&delays).unwrap_or_default();
    Ok(vec![
        figure(
            "mean delay",
            "20 ms + at most 0.1",
            format!("{mean:.3} ms"),
            (20.0..20.1).contains(&mean),
        ),
        lateness(&report.uplink, &report),
    ])
}

fn loss() -> Result<Vec<Figure>> {
    let link = LinkConfig { loss: 0.1, ..LinkConfig::lossless(ms(5)) };
    let (flow, _) = send(link.clone(), &Script::bursts(1_000, ms(2), 20, 100))?;
    let wanted = virtual_run(link, &flow);
    let lost = flow.iter().filter(|passage| passage.arrived.is_none()).count();
    let lost_virtually = wanted.iter().filter(|arrival| arrival.is_none()).count();
    let differ = differing(&flow, &wanted);
    Ok(vec![figure(
        "packets lost of 20,000",
        format!("{lost_virtually}, the same"),
        format!("{lost}, {differ} others"),
        differ == 0,
    )])
}

fn token_bucket() -> Result<Vec<Figure>> {
    let link = LinkConfig {
        rate: BitRate::from_bits_per_second(8_000_000),
        burst: Some(Bytes::new(10_000)),
        overhead: Bytes::new(14),
        ..LinkConfig::default()
    };
    let script = Script::bursts(1, ms(1), 100, 986);
    let Some(kernel) = kernel::token_bucket(&script)? else {
        return Ok(vec![figure(
            "token bucket beside the kernel's",
            "within 1 ms",
            "skipped: there is no tc (apt install iproute2)",
            true,
        )]);
    };
    let (ours, _) = send(link, &script)?;
    let offsets = |flow: &[Passage]| -> Vec<Duration> {
        let first = flow.iter().filter_map(|passage| passage.arrived).min();
        let since = |at: Instant| at.saturating_since(first.unwrap_or_default());
        flow.iter().map(|passage| passage.arrived.map_or(Duration::MAX, since)).collect()
    };
    let lost = ours.iter().chain(kernel.iter()).filter(|passage| passage.arrived.is_none()).count();
    ensure!(lost == 0, "{lost} packets were lost on the way through a token bucket that holds all");
    let pairs = offsets(&ours).into_iter().zip(offsets(&kernel));
    let worst = pairs.map(|(ours, kernel)| ours.abs_diff(kernel)).max().unwrap_or(Duration::MAX);
    let got = format!("{:.3} ms at most, of 100 packets", millis(worst));
    Ok(vec![figure("token bucket beside the kernel's", "within 1 ms", got, worst <= ms(1))])
}

fn trace() -> Result<Vec<Figure>> {
    let trace =
        Synthetic { start: Some(500.0), length: Duration::from_secs(4), ..Synthetic::default() };
    let trace = trace.trace(SEED.stream("trace"))?;
    let link = LinkConfig {
        schedule: Some(Schedule::new(trace.clone())),
        queue_max: Bytes::mib(64),
        ..LinkConfig::default()
    };
    let opportunities: Vec<Duration> = trace.times().collect();
    let (flow, report) = send(link.clone(), &Script::bursts(1, ms(1), opportunities.len(), FULL))?;
    let wanted = virtual_run(link, &flow);
    // Each arrival must have an opportunity. The first opportunities have no arrival, because no packet has come yet.
    let nominal = wanted.iter().flatten().map(|at| at.saturating_since(Instant::ZERO));
    let missed = nominal
        .filter(|at| {
            !opportunities.iter().any(|time| {
                // Packets that missed an opportunity in the first lap of the trace get one in the second.
                *time == *at || *time + trace.period() == *at
            })
        })
        .count();
    let offset = differences(&flow, &wanted);
    Ok(vec![
        figure("departures off the trace", "0", missed.to_string(), missed == 0),
        quantiles("departures against the trace", &offset),
        lateness(&report.uplink, &report),
    ])
}

fn load() -> Result<Vec<Figure>> {
    let link = LinkConfig {
        rate: BitRate::from_bits_per_second(50_000_000),
        queue_max: Bytes::mib(8),
        ..LinkConfig::default()
    };
    // 4167 full packets a second. The offered load is 1 % below the rate.
    let (flow, report) = send(link, &Script::paced(20_625, Duration::from_nanos(242_424), FULL))?;
    let lost = flow.iter().filter(|passage| passage.arrived.is_none()).count();
    let share = 100.0 * report.processor_seconds / duration(&flow).as_secs_f64();
    Ok(vec![
        figure(
            "a core at 50 Mbit/s of full packets",
            "under 10 %",
            format!("{share:.1} %"),
            share < 10.0,
        ),
        figure("packets lost at 50 Mbit/s", "0", lost.to_string(), lost == 0),
        lateness(&report.uplink, &report),
    ])
}

fn packets() -> Result<Vec<Figure>> {
    let link = LinkConfig::lossless(ms(10));
    let (flow, report) = send(link, &Script::bursts(3_000, ms(1), 40, 100))?;
    let lost = report.uplink.lost_by_machine;
    let rate = f64::from(u32::try_from(flow.len())?) / duration(&flow).as_secs_f64();
    let share = 100.0 * report.processor_seconds / duration(&flow).as_secs_f64();
    let entered = report.uplink.entered;
    let got = format!("{lost} of {entered} ({rate:.0}/s, {share:.0} % of a core)");
    let is_right = lost == 0 && entered >= u64::try_from(flow.len())?;
    Ok(vec![
        figure("own drops at 40,000 packets/s", "0", got, is_right),
        lateness(&report.uplink, &report),
    ])
}

fn real_virtual() -> Result<Vec<Figure>> {
    let link = LinkConfig {
        loss: 0.05,
        jitter: ms(4),
        rate: BitRate::from_bits_per_second(10_000_000),
        queue_max: Bytes::new(30_000),
        ..LinkConfig::lossless(ms(20))
    };
    // The bursts have 96 % of the rate in the mean, and now and then overflow the queue.
    let (flow, report) = send(link.clone(), &Script::bursts(400, ms(12), 12, 972))?;
    let wanted = virtual_run(link, &flow);
    let differ = differing(&flow, &wanted);
    let lost = wanted.iter().filter(|arrival| arrival.is_none()).count();
    Ok(vec![
        figure(
            "packets lost really, not virtually",
            "0",
            format!("{differ} of {lost} lost"),
            differ == 0,
        ),
        quantiles("delay, real less virtual", &differences(&flow, &wanted)),
        lateness(&report.uplink, &report),
    ])
}

/// Sends a script from near to far over a link.
fn send(link: LinkConfig, script: &Script) -> Result<(Flow, Report)> {
    let testbed = Testbed::new(TestbedOptions::new(link, LinkConfig::default(), SEED))?;
    let sockets = [End::Near, End::Far].map(|end| {
        let address = testbed.address(end);
        testbed.run(end, || flow::socket(address))
    });
    let [near, far] = sockets;
    let flow = script.send(&near??, &far??, testbed.clock())?;
    let report = testbed.finish()?;
    ensure!(!flow.is_empty(), "no packets were sent");
    Ok((flow, report))
}

/// Returns when each packet of a flow arrives if the same packets meet the same link in virtual time.
fn virtual_run(link: LinkConfig, flow: &[Passage]) -> Vec<Option<Instant>> {
    let mut link = Link::new(link, SEED.stream("uplink"));
    let mut arrivals = vec![None; flow.len()];
    for (number, passage) in flow.iter().enumerate() {
        let mut packet = vec![0; passage.size + HEADERS];
        let bytes = u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes();
        packet[..8].copy_from_slice(&bytes);
        link.handle_packet(passage.sent, packet);
    }
    while let Some((at, packet)) = link.poll_packet(Instant::FAR_FUTURE) {
        let number = u64::from_le_bytes(packet[..8].try_into().expect("eight bytes"));
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        arrivals.get_mut(number).into_iter().for_each(|arrival| *arrival = Some(at));
    }
    arrivals
}

/// Returns how many packets arrived in only one of the two runs, the real or the virtual one.
fn differing(flow: &[Passage], wanted: &[Option<Instant>]) -> usize {
    flow.iter()
        .zip(wanted)
        .filter(|(real, wanted)| real.arrived.is_some() != wanted.is_some())
        .count()
}

/// Returns by how many ms the real and the virtual arrival of each packet differ.
fn differences(flow: &[Passage], wanted: &[Option<Instant>]) -> Times {
    let both =
        flow.iter().zip(wanted).filter_map(|(real, wanted)| Some((real.arrived?, (*wanted)?)));
    let differences =
        both.map(|(real, wanted)| real.saturating_since(wanted).max(wanted.saturating_since(real)));
    Times::new(differences.map(millis).collect(), 0)
}

fn quantiles(check: &'static str, differences: &Times) -> Figure {
    let at = |percent| differences.quantile(percent).unwrap_or(f64::INFINITY);
    let [p50, p99, max] = [50, 99, 100].map(at);
    let got = format!("{p50:.3}, {p99:.3}, {max:.3} ms (max)");
    let is_right = p50 < 0.1 && p99 < 1.0;
    figure(check, "p50 < 0.1, p99 < 1 ms", got, is_right)
}
