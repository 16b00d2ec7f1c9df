//! The kernel's TCP in bulk over a link of 12 Mbit/s and 40 ms: figures that every emulator of such a link must show.

use anyhow::Result;
use rove_link::{CoDelConfig, Discipline, LinkConfig};
use rove_units::{BitRate, Bytes, Duration};

use crate::compare::bulk::{Bulk, BulkOptions, CongestionControl, require};
use crate::validate::figure::{Figure, SEED, figure, lateness, ms};
use crate::validate::flow::wait_until;
use rove_net::testbed::{Report, Testbed, TestbedOptions};

/// The link's rate. Source: a trace with a full packet in each millisecond.
const RATE: u64 = 12_000_000;
/// The propagation delay, half of it each way.
const RTT: Duration = ms(40);
/// The bandwidth-delay product.
const BDP: Bytes = Bytes::new(60_000);
/// How long data is sent. Chosen: ten times what slow start takes, but not so long that a user loses patience.
const LENGTH: Duration = Duration::from_secs(8);
/// How long data is sent if the 95th percentile counts. Chosen: slow start, in which CoDel drops nothing for a while,
/// is then less than 5 % of this time.
const LONG: Duration = Duration::from_secs(24);
/// The time of slow start, which the utilisation leaves out.
const SKIPPED: Duration = Duration::from_secs(2);
/// Bytes of a full packet, and how many of them are payload (TCP with timestamps).
const PACKET: u32 = 1_500;
const PAYLOAD: u32 = PACKET - 20 - 32;

/// The results of a sender at full speed.
struct Sent {
    /// Share of the link's rate after slow start.
    utilisation: f64,
    /// Bytes before the bottleneck, at a quarter, at half and at the end of the time.
    queued: [Bytes; 3],
    report: Report,
}

/// Makes the checks.
///
/// # Errors
///
/// Returns an error if the link cannot be made, or a socket fails.
pub(super) fn checks() -> Result<Vec<Figure>> {
    let link = LinkConfig {
        rate: BitRate::from_bits_per_second(RATE),
        queue_max: Bytes::mib(64),
        ..LinkConfig::lossless(RTT / 2)
    };
    let mut figures = Vec::new();
    let cubic =
        send(CongestionControl::Cubic, LENGTH, LinkConfig { queue_max: BDP, ..link.clone() })?;
    if let Some(Sent { utilisation, report, .. }) = cubic {
        figures.push(share("cubic, drop-tail of 1 BDP", utilisation, 0.9));
        figures.push(lateness(&report.downlink, &report));
    } else {
        figures.push(missing(CongestionControl::Cubic));
    }
    if let Some(Sent { queued: [quarter, half, end], .. }) =
        send(CongestionControl::Cubic, LENGTH, link.clone())?
    {
        let got = format!("{}, {}, {} kB", kilo(quarter), kilo(half), kilo(end));
        let grows = quarter > BDP && half > quarter && end > half;
        figures.push(figure(
            "cubic, infinite: queue at 2, 4, 8 s",
            "grows, above 60 kB",
            got,
            grows,
        ));
    }
    let codel = Discipline::CoDel(CoDelConfig::default());
    if let Some(Sent { report, utilisation, .. }) =
        send(CongestionControl::Cubic, LONG, LinkConfig { queue: codel, ..link.clone() })?
    {
        let queueing = queueing(report.downlink.p95_delay_ms);
        let got = format!("{queueing:.1} ms at {:.0} % of the rate", utilisation * 100.0);
        figures.push(figure("cubic, CoDel: queueing p95", "under 30 ms", got, queueing < 30.0));
    }
    let deep = LinkConfig { queue_max: Bytes::new(10 * BDP.get()), ..link };
    if let Some(Sent { utilisation, report, .. }) = send(CongestionControl::Bbr, LENGTH, deep)? {
        figures.push(share("bbr, drop-tail of 10 BDP", utilisation, 0.85));
        let queueing = queueing(report.downlink.p50_delay_ms);
        let limit = RTT.as_secs_f64() * 1e3 * 1.1;
        let got = format!("{queueing:.1} ms");
        figures.push(figure(
            "bbr: queueing p50",
            "about 1 BDP at most, 40 ms",
            got,
            queueing < limit,
        ));
    } else {
        figures.push(missing(CongestionControl::Bbr));
    }
    Ok(figures)
}

/// Sends in bulk over a downlink. `None` where the kernel has no such congestion control.
fn send(
    congestion_control: CongestionControl,
    length: Duration,
    downlink: LinkConfig,
) -> Result<Option<Sent>> {
    if require(congestion_control).is_err() {
        return Ok(None);
    }
    let uplink = LinkConfig::lossless(RTT / 2);
    let testbed = Testbed::new(TestbedOptions::new(uplink, downlink, SEED))?;
    let clock = testbed.clock();
    let mut bulk = Bulk::connect(&testbed, BulkOptions { count: 1, congestion_control })?;
    let begin = clock.now();
    bulk.start()?;
    wait_until(begin + SKIPPED, clock)?;
    let skipped = bulk.received();
    let queued = [length / 4, length / 2, length]
        .map(|at| wait_until(begin + at, clock).map(|()| testbed.flows()[1].queued));
    let [quarter, half, end] = queued;
    let queued = [quarter?, half?, end?];
    let received = u32::try_from(bulk.received() - skipped)?;
    drop(bulk);
    let bits = f64::from(received) * 8.0 * f64::from(PACKET) / f64::from(PAYLOAD);
    let capacity = f64::from(u32::try_from(RATE)?) * (length - SKIPPED).as_secs_f64();
    let report = testbed.finish()?;
    Ok(Some(Sent { utilisation: bits / capacity, queued, report }))
}

/// Returns the part of a delay in milliseconds that was spent in the queue and in transmission.
fn queueing(delay_ms: f64) -> f64 {
    delay_ms - (RTT / 2).as_secs_f64() * 1e3
}

fn share(check: &'static str, got: f64, least: f64) -> Figure {
    let expected = format!("at least {:.0} % of the rate", least * 100.0);
    figure(check, expected, format!("{:.1} %", got * 100.0), got >= least)
}

fn missing(congestion_control: CongestionControl) -> Figure {
    let control = congestion_control.name();
    let got = format!("skipped: this kernel has no {control} (modprobe tcp_{control})");
    figure("bulk TCP", "a kernel that has it", got, true)
}

fn kilo(bytes: Bytes) -> u64 {
    bytes.get() / 1_000
}
