//! The kernel's TCP in bulk over a link of 12 Mbit/s and 40 ms: what every emulator of this kind has to show.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use rove_link::{CoDelConfig, Discipline, LinkConfig};
use rove_platform::clock::Clock;
use rove_units::{BitRate, Bytes, Duration, Instant};
use rustix::net::sockopt::set_tcp_congestion;

use crate::validate::figure::{Figure, SEED, figure, lateness, ms};
use crate::validate::flow::wait_until;
use rove_net::testbed::{End, Report, Testbed, TestbedOptions};

/// The link's rate. Source: a trace with a full packet in each millisecond.
const RATE: u64 = 12_000_000;
/// The propagation delay, half of it each way.
const RTT: Duration = ms(40);
/// The bandwidth-delay product.
const BDP: Bytes = Bytes::new(60_000);
/// How long is sent. Chosen: ten times what slow start takes, and no coffee break.
const LENGTH: Duration = Duration::from_secs(8);
/// How long is sent where the 95th percentile counts. Chosen: slow start, of which CoDel drops nothing for a while, is then
/// less than 5 % of it.
const LONG: Duration = Duration::from_secs(24);
/// The begin that does not count: slow start.
const SKIPPED: Duration = Duration::from_secs(2);
/// The port at the far end.
const PORT: u16 = 7_001;
/// Bytes of a full packet, and how many of them are payload (TCP with timestamps).
const PACKET: u32 = 1_500;
const PAYLOAD: u32 = PACKET - 20 - 32;

/// A sender at full speed, and what came of it.
struct Bulk {
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
/// Returns an error if there can be no link, or a socket fails.
pub(super) fn checks() -> Result<Vec<Figure>> {
    let link = LinkConfig {
        rate: BitRate::from_bits_per_second(RATE),
        queue_max: Bytes::mib(64),
        ..LinkConfig::lossless(RTT / 2)
    };
    let mut figures = Vec::new();
    let cubic = bulk("cubic", LENGTH, LinkConfig { queue_max: BDP, ..link.clone() })?;
    if let Some(Bulk { utilisation, report, .. }) = cubic {
        figures.push(share("cubic, drop-tail of 1 BDP", utilisation, 0.9));
        figures.push(lateness(&report));
    } else {
        figures.push(missing("cubic"));
    }
    if let Some(Bulk { queued: [quarter, half, end], .. }) = bulk("cubic", LENGTH, link.clone())? {
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
    if let Some(Bulk { report, utilisation, .. }) =
        bulk("cubic", LONG, LinkConfig { queue: codel, ..link.clone() })?
    {
        let queueing = queueing(report.uplink.p95_delay_ms);
        let got = format!("{queueing:.1} ms at {:.0} % of the rate", utilisation * 100.0);
        figures.push(figure("cubic, CoDel: queueing p95", "under 30 ms", got, queueing < 30.0));
    }
    let deep = LinkConfig { queue_max: Bytes::new(10 * BDP.get()), ..link };
    if let Some(Bulk { utilisation, report, .. }) = bulk("bbr", LENGTH, deep)? {
        figures.push(share("bbr, drop-tail of 10 BDP", utilisation, 0.85));
        let queueing = queueing(report.uplink.p50_delay_ms);
        let limit = RTT.as_secs_f64() * 1e3 * 1.1;
        let got = format!("{queueing:.1} ms");
        figures.push(figure(
            "bbr: queueing p50",
            "about 1 BDP at most, 40 ms",
            got,
            queueing < limit,
        ));
    } else {
        figures.push(missing("bbr"));
    }
    Ok(figures)
}

/// Sends in bulk over an uplink; `None` where the kernel has no such congestion control.
fn bulk(control: &str, length: Duration, uplink: LinkConfig) -> Result<Option<Bulk>> {
    let options = TestbedOptions::new(uplink, LinkConfig::lossless(RTT / 2), SEED);
    let testbed = Testbed::new(options)?;
    let clock = testbed.clock();
    let address = (testbed.address(End::Far), PORT);
    let listener = testbed.run(End::Far, || TcpListener::bind(address))?;
    let listener = listener.context("cannot listen at the far side")?;
    let sender = testbed.run(End::Near, || TcpStream::connect(address))?;
    let sender = sender.context("cannot reach the far side")?;
    if set_tcp_congestion(&sender, control).is_err() {
        return Ok(None);
    }
    let (receiver, _) = listener.accept().context("cannot accept the connection")?;
    // Both give up where nothing moves any more.
    sender.set_write_timeout(Some(length))?;
    receiver.set_read_timeout(Some(length))?;
    let begin = clock.now();
    let is_over = AtomicBool::new(false);
    let (received, queued) = thread::scope(|scope| -> Result<_> {
        let writer = scope.spawn(|| send(&sender, &is_over));
        let reader = scope.spawn(|| receive(&receiver, clock, begin + SKIPPED, begin + length));
        let queued = [length / 4, length / 2, length]
            .map(|at| wait_until(begin + at, clock).map(|()| testbed.flows()[0].queued));
        is_over.store(true, Ordering::Relaxed);
        let [quarter, half, end] = queued;
        let queued = [quarter?, half?, end?];
        let received = reader.join().map_err(|_| anyhow!("the receiver has failed"))??;
        // A sender that waits for room finds its connection gone.
        let _ = sender.shutdown(std::net::Shutdown::Both);
        writer.join().map_err(|_| anyhow!("the sender has failed"))??;
        Ok((received, queued))
    })?;
    let bits = f64::from(u32::try_from(received)?) * 8.0 * f64::from(PACKET) / f64::from(PAYLOAD);
    let capacity = f64::from(u32::try_from(RATE)?) * (length - SKIPPED).as_secs_f64();
    let report = testbed.finish()?;
    Ok(Some(Bulk { utilisation: bits / capacity, queued, report }))
}

/// Sends until it is told to end, or the connection is gone.
fn send(mut socket: &TcpStream, is_over: &AtomicBool) -> Result<()> {
    let bytes = vec![0; 1 << 16];
    while !is_over.load(Ordering::Relaxed) {
        match socket.write(&bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) if is_over.load(Ordering::Relaxed) => {}
            Err(error) => return Err(error).context("cannot send over TCP"),
        }
    }
    Ok(())
}

/// Receives until `end`; returns how many bytes came after `begin`.
fn receive(mut socket: &TcpStream, clock: Clock, begin: Instant, end: Instant) -> Result<u64> {
    let mut buffer = vec![0; 1 << 16];
    let mut received = 0;
    loop {
        let len = match socket.read(&mut buffer) {
            Ok(0) => return Ok(received),
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(error).context("cannot receive over TCP"),
        };
        let now = clock.now();
        if now >= end {
            return Ok(received);
        }
        if now >= begin {
            received += u64::try_from(len)?;
        }
    }
}

/// Returns the part of a delay in milliseconds that was spent in the queue and in transmission.
fn queueing(delay_ms: f64) -> f64 {
    delay_ms - (RTT / 2).as_secs_f64() * 1e3
}

fn share(check: &'static str, got: f64, least: f64) -> Figure {
    let expected = format!("at least {:.0} % of the rate", least * 100.0);
    figure(check, expected, format!("{:.1} %", got * 100.0), got >= least)
}

fn missing(control: &str) -> Figure {
    let got = format!("skipped: this kernel has no {control} (modprobe tcp_{control})");
    figure("bulk TCP", "a kernel that has it", got, true)
}

fn kilo(bytes: Bytes) -> u64 {
    bytes.get() / 1_000
}
