//! Delays of a flow, computed exactly from when its packets were sent and arrived; and the [`age`] of states.
//!
//! The end-to-end delay is a percentile over time, so that a silence counts for as long as it lasts. Between two
//! arrivals this delay grows by a second each second, so that it is computed exactly and not sampled. Only
//! [`packet_delay`] is a percentile over packets.

use core::ops::Range;

use rove_runs::statistics::rank;
use rove_units::{Duration, Instant};

pub mod age;

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When the packet was sent.
    pub sent: Instant,
    /// When it arrived, on the same clock.
    pub arrived: Instant,
}

/// Returns a percentile over time of the end-to-end delay of the Sprout paper (NSDI 2013, section 5.1). `range` limits
/// the time. `None` if no packet arrived until its end, or none since its start.
///
/// This delay is at each instant the time since the newest arrived packet was sent. `deliveries` are sorted by arrival.
pub fn end_to_end_delay(
    deliveries: &[Delivery],
    range: Range<Instant>,
    percent: u8,
) -> Option<Duration> {
    if deliveries.last()?.arrived < range.start {
        return None;
    }
    let (mut pieces, mut newest) = (Pieces::default(), Instant::ZERO);
    let ends = deliveries.iter().skip(1).map(|it| it.arrived).chain([range.end]);
    for (delivery, end) in deliveries.iter().zip(ends) {
        newest = newest.max(delivery.sent);
        let begin = delivery.arrived.max(range.start);
        pieces.push(begin.saturating_since(newest), end.min(range.end).saturating_since(begin));
    }
    pieces.percentile(percent)
}

/// Returns the smallest 95th percentile of the end-to-end delay that a sender can reach over these delivery
/// opportunities. A sender reaches it by sending each packet just in time for an opportunity. Opportunities outside
/// `range` are left out. The self-inflicted delay of a sender is its delay beyond this bound.
pub fn omniscient_delay(
    opportunities: impl IntoIterator<Item = Duration>,
    propagation: Duration,
    range: Range<Duration>,
) -> Option<Duration> {
    let times = opportunities.into_iter().filter(|time| (range.start..=range.end).contains(time));
    let times = times.map(|time| Instant::ZERO + time);
    let deliveries: Vec<Delivery> =
        times.map(|sent| Delivery { sent, arrived: sent + propagation }).collect();
    end_to_end_delay(&deliveries, Instant::ZERO..Instant::ZERO + range.end, 95)
}

/// Returns the one-way delay that `percent` of the packets do not exceed. `None` without packets.
pub fn packet_delay(deliveries: &[Delivery], percent: u8) -> Option<Duration> {
    let delays = deliveries.iter().map(|it| it.arrived.saturating_since(it.sent));
    let mut delays: Vec<Duration> = delays.collect();
    delays.sort();
    rank(&delays, 0, u64::from(percent.min(100)))
}

/// Periods of time, in each of which a delay grows by a second each second.
#[derive(Default)]
struct Pieces {
    /// The bounds of the periods' delays in nanoseconds, each with 1 for a lower bound and -1 for an upper one.
    ends: Vec<(u128, i64)>,
    total: u128,
}

impl Pieces {
    /// Adds a period of the length `span`, in which the delay grows from `least`.
    fn push(&mut self, least: Duration, span: Duration) {
        if span.is_zero() {
            return;
        }
        self.ends.push((least.as_nanos(), 1));
        self.ends.push(((least + span).as_nanos(), -1));
        self.total += span.as_nanos();
    }

    /// Returns the delay that is not exceeded for this percentage of the time.
    fn percentile(mut self, percent: u8) -> Option<Duration> {
        self.ends.sort_unstable();
        let target = self.total * u128::from(percent.min(100)) / 100;
        let (mut spent, mut value, mut ranges) = (0, 0, 0_i64);
        for (end, change) in self.ends {
            debug_assert!(ranges >= 0, "no range ends before it begins");
            let width = u128::try_from(ranges).unwrap_or_default();
            let step = (end - value) * width;
            if width > 0 && spent + step >= target {
                let nanos = value + (target - spent) / width;
                return u64::try_from(nanos).ok().map(Duration::from_nanos);
            }
            spent += step;
            value = end;
            ranges += change;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use rove_link::{Link, LinkConfig, Schedule, Trace};
    use rove_units::Seed;

    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn delivery(sent: u64, arrived: u64) -> Delivery {
        Delivery { sent: Instant::from_millis(sent), arrived: Instant::from_millis(arrived) }
    }

    #[test]
    fn the_sawtooth_is_measured_over_time() {
        // The second packet arrives 10 ms after the first, and the third 90 ms later. The delay grows from 20 to 30 ms,
        // then from 20 to 110 ms.
        let flow = [delivery(0, 20), delivery(10, 30), delivery(100, 120)];
        let delay = |flow: &[Delivery], [from, to]: [u64; 2], percent| {
            end_to_end_delay(flow, Instant::from_millis(from)..Instant::from_millis(to), percent)
        };
        let at = |percent| delay(&flow, [0, 120], percent).unwrap();
        // The delay is between 20 and 30 ms in both periods: for 20 of the 100 ms.
        assert_eq!(
            [at(10), at(20), at(50), at(95), at(100)],
            [ms(25), ms(30), ms(60), ms(105), ms(110)]
        );
        assert_eq!(delay(&flow, [70, 120], 50), Some(ms(85)));
        assert_eq!(delay(&flow[..1], [0, 120], 95), Some(ms(115)), "a flow that gives up");
        assert_eq!(delay(&flow[..1], [30, 120], 95), None);
        assert_eq!(delay(&flow, [121, 200], 95), None);
    }

    #[test]
    fn a_packet_older_than_the_newest_changes_nothing() {
        let flow = [delivery(0, 20), delivery(15, 30), delivery(5, 40), delivery(100, 120)];
        let without = [flow[0], flow[1], flow[3]];
        for percent in [5, 50, 95] {
            let range = Instant::ZERO..Instant::from_millis(120);
            let delay = |flow: &[Delivery]| end_to_end_delay(flow, range.clone(), percent);
            assert_eq!(delay(&flow), delay(&without));
        }
    }

    #[test]
    fn packets_have_percentiles_too() {
        let flow: Vec<Delivery> = (1..=20).map(|delay| delivery(0, delay)).collect();
        assert_eq!(packet_delay(&flow, 95), Some(ms(19)));
        assert_eq!((packet_delay(&flow, 0), packet_delay(&flow, 100)), (Some(ms(1)), Some(ms(20))));
        assert_eq!(packet_delay(&[], 50), None);
    }

    /// Reads a published trace from `links` in the folder that `ROVE_TRACES` names. The repository has no such traces.
    fn published(name: &str) -> Option<Trace> {
        let folder = std::env::var_os("ROVE_TRACES").filter(|name| !name.is_empty());
        let folder = folder.map(PathBuf::from);
        let path = folder.unwrap_or_default().join("links").join(name);
        if !Path::new(&path).is_file() {
            eprintln!("skipped {name}: set ROVE_TRACES to the folder that has links/{name}");
            return None;
        }
        let text = std::fs::read_to_string(path).expect("the trace can be read");
        Some(text.parse().expect("it is a trace"))
    }

    /// Name, opportunities, mean rate in Mbit/s, and omniscient delay in ms of the whole trace and of the trace without
    /// its first minute. Source: the table that comes with the traces.
    const PUBLISHED: [(&str, usize, f64, u64, u64); 8] = [
        ("ATT-LTE-driving.down", 338_895, 5.173, 126, 70),
        ("ATT-LTE-driving.up", 70_336, 0.834, 27_757, 30_716),
        ("TMobile-UMTS-driving.down", 156_262, 2.020, 642, 404),
        ("TMobile-UMTS-driving.up", 73_197, 0.943, 501, 279),
        ("Verizon-EVDO-driving.down", 46_065, 0.521, 883, 911),
        ("Verizon-EVDO-driving.up", 74_768, 0.843, 454, 488),
        ("Verizon-LTE-short.down", 58_655, 5.028, 51, 51),
        ("Verizon-LTE-short.up", 69_367, 5.946, 41, 57),
    ];

    #[test]
    fn omniscient_delays_of_published_traces_are_those_of_their_table() {
        for (name, _, _, whole, late) in PUBLISHED {
            let Some(trace) = published(name) else { continue };
            for (from, expected) in [(ms(0), whole), (ms(60_000), late)] {
                let end = trace.period() + ms(20);
                let delay =
                    omniscient_delay(trace.times(), ms(20), from..end).expect("many opportunities");
                assert!(delay.abs_diff(ms(expected)) <= ms(1), "{name} from {from:?}: {delay:?}");
            }
        }
    }

    /// A full packet, whose bytes do not matter.
    #[derive(Clone)]
    struct Packet;

    impl AsRef<[u8]> for Packet {
        fn as_ref(&self) -> &[u8] {
            &[0; 1_500]
        }
    }

    #[test]
    fn saturated_published_traces_carry_their_mean_rate() {
        for (name, opportunities, mean, ..) in PUBLISHED {
            let Some(trace) = published(name) else { continue };
            assert_eq!(trace.times().len(), opportunities, "{name}");
            let seconds = trace.period().as_secs_f64();
            let expected: Vec<Duration> = trace.times().collect();
            let schedule = Some(Schedule { repeats: false, ..Schedule::new(trace) });
            let config = LinkConfig { schedule, ..LinkConfig::default() };
            let mut link = Link::new(config, Seed::new(1).stream("link"));
            let mut arrived = Vec::new();
            // From the start the queue holds one packet more than the trace can carry.
            (0..=opportunities).for_each(|_| link.handle_packet(Instant::ZERO, Packet));
            while let Some(now) = link.poll_timeout() {
                arrived.extend(core::iter::from_fn(|| link.poll_packet(now)).map(|(time, _)| time));
            }
            let expected: Vec<Instant> = expected
                .into_iter()
                .map(|time| Instant::ZERO + time)
                .filter(|time| *time > Instant::ZERO)
                .collect();
            assert!(arrived == expected, "{name}: departures are not the lines of the trace");
            let bits = f64::from(u32::try_from(arrived.len()).unwrap()) * 12_000.0;
            assert!(
                (bits / seconds / 1e6 / mean - 1.0).abs() < 0.001,
                "{name}: {} bit/s",
                bits / seconds
            );
        }
    }
}
