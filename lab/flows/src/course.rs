//! The course of a run: what happens on a link in slots of equal length.

use core::ops::Range;

use rove_link::net::{End, Net, Packet};
use rove_link::{Link, LinkConfig, Schedule, Steps};
use rove_runs::statistics::whole;
use rove_units::{Bytes, Duration, Instant};

/// The name and unit of each number of a [`Slot`], and the factor that converts the stored number into that unit.
pub const QUANTITIES: [(&str, f64); 7] = [
    ("time (s)", 1e-9),
    ("rate (kbit/s)", 1e-3),
    ("delay (s)", 1e-9),
    ("in flight", 1.0),
    ("window (kB)", 1e-3),
    ("queue (kB)", 1e-3),
    ("capacity (kbit/s)", 1e-3),
];

/// Index of the rate in a [`Slot`].
pub const RATE: usize = 1;
/// Index of the delay in a [`Slot`].
pub const DELAY: usize = 2;
/// Index of the number of packets in the link, in a [`Slot`].
pub const IN_FLIGHT: usize = 3;
/// Index of the controller's window in a [`Slot`].
pub const WINDOW: usize = 4;
/// Index of the bytes queued before the bottleneck, in a [`Slot`].
pub const QUEUE: usize = 5;
/// Index of the link's capacity in a [`Slot`].
pub const CAPACITY: usize = 6;

/// The figures of a slot of time, in the order of [`QUANTITIES`]. The rate counts the bits that arrived in the slot.
/// The capacity counts the bits that the link could have delivered in it. All other figures are taken at the slot's
/// end. The delay is the age of the receiver's newest data. The window is 0 for Sprout and sessions.
pub type Slot = [u64; QUANTITIES.len()];

/// Value of a quantity that a slot lacks, such as the capacity of a link without a bottleneck.
pub const ABSENT: u64 = u64::MAX;

/// The length of the slots of a run, and the link that is watched.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    /// The length of each slot. With 0, the run has no slots.
    pub length: Duration,
    /// The configuration of the link that carries the data.
    pub link: &'a Steps,
    /// Whether the data takes the uplink.
    pub is_up: bool,
}

/// The progress of a flow: the data that has arrived so far, and the sender's window.
#[derive(Clone, Copy, Debug)]
pub struct Come {
    /// When the newest arrived data was sent.
    pub newest: Instant,
    /// The bytes of all arrived data.
    pub bytes: Bytes,
    /// The sender's window in bytes; 0 if the sender has no window.
    pub window: Bytes,
}

/// Runs the network for `span`, and returns the whole slots of that time. `come` reads the progress of the flow.
pub fn watch<A: End, B: End>(
    net: &mut Net<A, B>,
    span: Duration,
    slots: Slots<'_>,
    come: impl Fn(&Net<A, B>) -> Come,
) -> Vec<Slot> {
    let (begin, mut course) = (net.now(), Vec::new());
    let mut before = come(net).bytes;
    let elapsed = |net: &Net<A, B>| net.now().saturating_since(begin);
    while !slots.length.is_zero() && elapsed(net) + slots.length <= span {
        let from = elapsed(net);
        net.run_for(slots.length);
        let (now, Come { newest, bytes, window }) = (net.now(), come(net));
        debug_assert!(newest <= now, "data comes after it was sent");
        let link: &Link<Packet> = if slots.is_up { &net.uplink } else { &net.downlink };
        let most = capacity(slots.link, from, elapsed(net));
        let seconds = slots.length.as_secs_f64();
        course.push([
            now.as_nanos(),
            whole((bytes - before).get() as f64 * 8.0 / seconds),
            whole(now.saturating_since(newest).as_secs_f64() * 1e9),
            u64::try_from(link.inside()).unwrap_or(u64::MAX),
            window.get(),
            link.queued().get(),
            most.map_or(ABSENT, whole),
        ]);
        before = bytes;
    }
    net.run_for(span.saturating_sub(elapsed(net)));
    course
}

/// Returns the opportunities of one pass through a link's trace, as times since the start of the run.
pub(crate) fn lap(schedule: &Schedule) -> Vec<Duration> {
    let (period, skipped) = (schedule.trace.period(), schedule.skipped);
    let (before, after): (Vec<Duration>, Vec<Duration>) =
        schedule.trace.times().partition(|time| *time < skipped);
    let again = before.into_iter().map(|time| (time + period).saturating_sub(skipped));
    after.into_iter().map(|time| time.saturating_sub(skipped)).chain(again).collect()
}

/// Returns the quantity with the index `place`, in the unit of [`QUANTITIES`]. `None` if the slot lacks it.
pub fn quantity(slot: &Slot, place: usize) -> Option<f64> {
    (slot[place] != ABSENT).then(|| slot[place] as f64 * QUANTITIES[place].1)
}

/// Returns the bit/s that a link can carry from `from` to `to`. `None` without a bottleneck, or after its trace.
pub(crate) fn capacity(link: &Steps, from: Duration, to: Duration) -> Option<f64> {
    let whole = to.saturating_sub(from).as_secs_f64().max(1e-9);
    let of_part = |(part, link): (Range<Instant>, &LinkConfig)| {
        let [begin, end] = [part.start, part.end].map(|at| at.saturating_since(Instant::ZERO));
        let Some(schedule) = &link.schedule else {
            let share = end.saturating_sub(begin).as_secs_f64() / whole;
            return link.rate.map(|rate| rate.bits_per_second() as f64 * share);
        };
        if schedule.trace.period() < end {
            return None;
        }
        let times = lap(schedule).into_iter().filter(|time| (begin..end).contains(time));
        let bytes = Bytes::from(times.count()).get() * schedule.opportunity.get();
        Some(bytes as f64 * 8.0 / whole)
    };
    link.between(Instant::ZERO + from..Instant::ZERO + to).map(of_part).sum()
}

#[cfg(test)]
mod tests {
    use rove_units::{BitRate, Seed};

    use super::*;
    use crate::flow::source::{Bulk, FULL};
    use crate::flow::{FlowOptions, run};

    #[test]
    fn slots_add_up_to_the_flow_and_a_fixed_window_waits_in_the_queue() {
        // A full packet of 1500 bytes takes 1 ms. The window of 100 packets has 40 on their way. The other 60 wait.
        let link = LinkConfig {
            rate: BitRate::from_bits_per_second(12_000_000),
            overhead: rove_headless::HEADERS,
            ..LinkConfig::lossless(Duration::from_millis(20))
        };
        let options = FlowOptions {
            uplink: link.clone().into(),
            downlink: LinkConfig::lossless(Duration::from_millis(20)).into(),
            seed: Seed::new(1),
            length: Duration::from_millis(10_050),
            skipped: Duration::ZERO,
            slot: Duration::from_millis(100),
        };
        let source = || Bulk::new(Bytes::new(100 * FULL.get()));
        let (report, _) = run(source(), options.clone());
        assert_eq!(report.course.len(), 100, "a part of a slot is none");
        let last = report.course[99];
        assert_eq!(last[0], 10_000_000_000);
        assert!(last[RATE].abs_diff(12_000_000) < 130_000 && last[CAPACITY] == 12_000_000);
        assert_eq!(last[WINDOW], 100 * FULL.get());
        assert!(last[QUEUE].abs_diff(60 * 1_500) <= 2 * 1_500, "{last:?}");
        assert!(last[DELAY].abs_diff(80_000_000) <= 2_000_000, "60 ms of queue and 20: {last:?}");
        let (plain, _) = run(source(), FlowOptions { slot: Duration::ZERO, ..options });
        assert_eq!(plain.arrived, report.arrived, "watching changes nothing");
        assert!(plain.course.is_empty());
    }
}
