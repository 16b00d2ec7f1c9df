//! A flow of the kernel's TCP by itself, over an emulated link in real time.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rove_flows::flow::ends::Arrival;
use rove_flows::flow::{self, FlowOptions, FlowReport};
use rove_flows::metrics::Delivery;
use rove_platform::event_loop::EventLoop;
use rove_units::{Bytes, Duration, Instant};

use crate::compare::bulk::{Bulk, BulkOptions, CongestionControl};
use crate::compare::observed_client::Interrupt;
use rove_net::testbed::{Testbed, TestbedOptions, bounded};
use rove_rig::scratch::Scratch;

/// Longest wait before a check whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Sends endless data under a congestion control of the kernel, for the options' length. Returns the report of the
/// packets that the link delivered, and why the run is invalid.
///
/// # Errors
///
/// Returns an error if the link cannot be made, the kernel has no such congestion control, or the user interrupts.
pub(crate) fn run(
    congestion_control: CongestionControl,
    options: &FlowOptions,
    interrupt: &Interrupt,
) -> Result<(FlowReport, Vec<String>)> {
    let scratch = Scratch::create()?;
    let log = scratch.path("flow");
    let [there, back] = [&options.uplink, &options.downlink].map(|link| bounded(link.clone()));
    // Downloads come from the far side, so the options' uplink becomes the testbed's downlink, and the reverse.
    let testbed = Testbed::new(TestbedOptions {
        log: Some(log.clone()),
        ..TestbedOptions::new(back, there, options.seed)
    })?;
    let clock = testbed.clock();
    let mut bulk = Bulk::connect(&testbed, BulkOptions { count: 1, congestion_control })?;
    bulk.start()?;
    let end = Instant::ZERO + options.length;
    let mut event_loop = EventLoop::new(clock, &[]).context("cannot wait for the flow's end")?;
    while event_loop.now() < end {
        interrupt.check()?;
        let deadline = (event_loop.now() + LOOK_EVERY).min(end);
        event_loop.wait(&mut [], Some(deadline)).context("cannot wait for the flow's end")?;
    }
    drop(bulk);
    let invalid = testbed.finish()?.invalid;
    let events = read(&log.with_extension("downlink.events"))?;
    let Events { sent, dropped, arrivals } = Events::parse(&events, end);
    Ok((flow::report(options, [sent, dropped], &arrivals), invalid))
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The packets of a direction, read from the log that the link writes.
#[derive(Debug, Default, PartialEq)]
struct Events {
    sent: u64,
    dropped: u64,
    arrivals: Vec<Arrival>,
}

impl Events {
    /// Reads a log up to the time `end`. It skips lines that are not about a packet's way through the link.
    fn parse(log: &str, end: Instant) -> Self {
        let mut events = Self::default();
        for line in log.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let Some(at) = words.next().and_then(|word| word.parse().ok()) else { continue };
            let arrived = Instant::from_nanos(at);
            if arrived > end {
                continue;
            }
            match words.next() {
                Some("enter") => events.sent += 1,
                Some("drop") => events.dropped += 1,
                Some("deliver") => events.arrivals.extend(delivered(arrived, words)),
                _ => {}
            }
        }
        events
    }
}

/// Returns a delivered packet, given the words after the time. `None` if its size or its delay is missing.
fn delivered<'a>(arrived: Instant, words: impl Iterator<Item = &'a str>) -> Option<Arrival> {
    let mut numbers = words.skip(1).map(str::parse::<u64>);
    let size = numbers.next()?.ok()?;
    let delay = Duration::from_nanos(numbers.next()?.ok()?);
    let delivery = Delivery { sent: arrived - delay, arrived };
    // The report adds a datagram's headers to each size. These sizes have them already.
    Some(Arrival { delivery, size: Bytes::new(size) - rove_headless::HEADERS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_up_to_the_end_of_the_flow() {
        let log = "# link: downlink\n5000 enter 0 1500\n6000 enter 1 1500\n7000 drop 1 1500 loss\n\
                   8000 opportunity 1500\n9000 deliver 0 1500 4000\nnonsense\n99000 deliver 2 60 1\n";
        let events = Events::parse(log, Instant::from_nanos(10_000));
        let delivery =
            Delivery { sent: Instant::from_nanos(5_000), arrived: Instant::from_nanos(9_000) };
        let arrivals = vec![Arrival { delivery, size: Bytes::new(1_472) }];
        assert_eq!(events, Events { sent: 2, dropped: 1, arrivals });
    }
}
