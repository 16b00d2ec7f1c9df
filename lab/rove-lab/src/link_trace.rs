//! Recorded links: statistics of delivery opportunities, parts of them, other rates, and a picture.

use anyhow::{Context, Result, ensure};
use rove_flows::metrics::omniscient_delay;
use rove_link::{OPPORTUNITY, Trace};
use rove_runs::report::number;
use rove_runs::statistics::{Times, to_float, whole};
use rove_units::Duration;
use serde::Serialize;

use crate::picture::{self, Axis, Curve, Kind, Look, Point};

/// The shortest gap that counts as an outage. Chosen: Sprout's packets are to arrive within 100 ms.
const OUTAGE: Duration = Duration::from_millis(100);

/// Most points of a curve of rates. Each is a second, or in a longer trace the mean of several seconds.
const POINTS_MAX: u64 = 600;

/// The least and the greatest factor of a rate. Chosen: they lead from a modem's rate to a cable's.
pub(crate) const SCALES: [f64; 2] = [0.001, 1_000.0];

/// Statistics of a trace, in the units of their names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Statistics {
    /// Packets of 1500 bytes that the link could carry.
    pub(crate) opportunities: usize,
    /// The length of the trace, after which it repeats.
    pub(crate) seconds: f64,
    /// The mean rate of the whole trace.
    pub(crate) mean_kbit_s: f64,
    /// The rates that 5 %, 50 % and 95 % of the whole seconds do not exceed.
    pub(crate) second_kbit_s: [Option<f64>; 3],
    /// The times that 50 %, 90 %, 99 % and all of the gaps between opportunities do not exceed.
    pub(crate) interarrival_ms: [Option<f64>; 4],
    /// Gaps of 100 ms and more.
    pub(crate) outages: usize,
    /// The percentage of the time that outages take.
    pub(crate) outage_percent: f64,
    /// The least 95 % end-to-end delay that a sender can have, in ms, without propagation.
    pub(crate) omniscient_ms: Option<f64>,
}

impl Statistics {
    /// The headings of the table.
    pub(crate) const HEADINGS: &str = "trace,packets,seconds,kbit/s,p5,p50,p95,outages,% of time,longest gap (ms),omniscient (ms)";

    pub(crate) fn of(trace: &Trace) -> Self {
        let times: Vec<Duration> = trace.times().collect();
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        // The trace begins again at its last opportunity: the time before the first one is the gap between two laps.
        let between = times.windows(2).map(|pair| pair[1] - pair[0]);
        let gaps: Vec<Duration> = times.first().copied().into_iter().chain(between).collect();
        let long = gaps.iter().filter(|gap| **gap >= OUTAGE);
        let out = long.clone().map(|gap| gap.as_secs_f64()).sum::<f64>();
        let seconds = trace.period().as_secs_f64();
        let gaps_ms = Times::new(gaps.iter().copied().map(millis).collect(), 0);
        let rates = Times::new(rates(trace, 1), 0);
        Self {
            opportunities: times.len(),
            seconds,
            mean_kbit_s: kbit(times.len()) / seconds,
            second_kbit_s: [5, 50, 95].map(|percent| rates.quantile(percent)),
            interarrival_ms: [50, 90, 99, 100].map(|percent| gaps_ms.quantile(percent)),
            outages: long.count(),
            // Without outages the sum is -0.
            outage_percent: 100.0 * out.abs() / seconds,
            omniscient_ms: omniscient_delay(times, Duration::ZERO, Duration::ZERO..trace.period())
                .map(millis),
        }
    }

    /// Returns a row of the table.
    pub(crate) fn row(&self, name: &str) -> Vec<String> {
        let ([low, median, high], [.., longest]) = (self.second_kbit_s, self.interarrival_ms);
        let rates = [Some(self.seconds), Some(self.mean_kbit_s), low, median, high].map(number);
        let gaps = [Some(self.outage_percent), longest, self.omniscient_ms].map(number);
        let [first, outages] =
            [self.opportunities, self.outages].map(|count| vec![count.to_string()]);
        [vec![name.to_owned()], first, rates.into(), outages, gaps.into()].concat()
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most four million")]
fn kbit(opportunities: usize) -> f64 {
    opportunities as f64 * OPPORTUNITY.get() as f64 * 8e-3
}

/// Returns the rate of each whole span of `span` seconds, in kbit/s.
fn rates(trace: &Trace, span: u64) -> Vec<f64> {
    let whole = usize::try_from(trace.period().as_secs() / span).unwrap_or(0);
    let mut counts = vec![0; whole];
    for time in trace.times() {
        let place = usize::try_from(time.as_secs() / span).unwrap_or(usize::MAX);
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let length = Duration::from_secs(span).as_secs_f64();
    counts.into_iter().map(|count| kbit(count) / length).collect()
}

/// Returns the opportunities after `from` and up to `to`, with times counted from `from`. With a `from` of 0, an
/// opportunity at 0 is among them.
///
/// # Errors
///
/// Returns an error if no opportunity is in that time.
pub(crate) fn cut(trace: &Trace, from: Duration, to: Duration) -> Result<Trace> {
    let is_after = |time| time > from || from.is_zero();
    let within = trace.times().filter(|time| is_after(*time) && *time <= to);
    of_times(within.map(|time| time - from))
        .with_context(|| format!("no opportunity is after {from:?} and up to {to:?}"))
}

/// Returns the trace with its rate multiplied by `factor`. Opportunities are copied or left out, so that their number
/// stays `factor` times the original one. The last opportunity stays, and with it the period.
///
/// # Errors
///
/// Returns an error if the factor is outside [`SCALES`], or there would be too many opportunities.
pub(crate) fn scaled(trace: &Trace, factor: f64) -> Result<Trace> {
    let [low, high] = SCALES;
    ensure!((low..=high).contains(&factor), "a rate is scaled by {low} to {high}");
    let count = trace.times().len();
    let up_to = |place: usize| {
        let copies = whole((to_float((count - place) as u64) * factor).ceil());
        usize::try_from(copies).unwrap_or(usize::MAX)
    };
    let copies = |(place, time)| core::iter::repeat_n(time, up_to(place) - up_to(place + 1));
    let most = trace.times().len().max(1 << 22);
    ensure!(up_to(0) <= most, "the trace would have {} opportunities: cut it first", up_to(0));
    of_times(trace.times().enumerate().flat_map(copies)).context("the scaled trace is none")
}

fn of_times(times: impl Iterator<Item = Duration>) -> Result<Trace> {
    let millis = times.map(|time| u32::try_from(time.as_millis()));
    Ok(Trace::from_millis(millis.collect::<Result<_, _>>()?)?)
}

/// Draws the rates over time as SVG.
pub(crate) fn draw(traces: &[(String, Trace)]) -> String {
    let longest = traces.iter().map(|(_, trace)| trace.period().as_secs()).max().unwrap_or(0);
    let span = longest.div_ceil(POINTS_MAX).max(1);
    let length = Duration::from_secs(span).as_secs_f64();
    let curve = |(number, (name, trace)): (usize, &(String, Trace))| {
        let points = rates(trace, span).into_iter().zip(0_u32..).map(|(rate, place)| Point {
            at: [f64::from(place) * length, rate],
            ..Point::default()
        });
        Curve { label: name.clone(), look: Look::new(number, 0), points: points.collect() }
    };
    let curves: Vec<Curve> = traces.iter().enumerate().map(curve).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most = |axis: usize| points().map(|point| point.at[axis]).fold(1.0, f64::max);
    let axes = [
        Axis::across("time (s)", 0.0..most(0), false, false),
        Axis::upright("rate (kbit/s)", 0.0..most(1) * 1.05),
    ];
    picture::draw("Rates of links", &axes, Kind::Steps, &curves, &[]).svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        text.parse().expect("a trace")
    }

    #[test]
    fn statistics_are_those_that_a_person_counts() {
        // 100 packets a second for 2 s, then nothing for half a second, and the last packet.
        let text: String = (1..=200).map(|number| format!("{}\n", number * 10)).collect();
        let of = Statistics::of(&trace(&format!("{text}2500\n")));
        assert_eq!((of.opportunities, of.outages), (201, 1));
        assert!((of.mean_kbit_s - 201.0 * 12.0 / 2.5).abs() < 1e-9, "{of:?}");
        assert_eq!(of.second_kbit_s[1], Some(1_188.0), "the one at 1 s is of the second second");
        assert_eq!(of.interarrival_ms, [10.0, 10.0, 10.0, 500.0].map(Some));
        assert!((of.outage_percent - 20.0).abs() < 1e-9);
        // For 500 ms of 2490 the newest packet grows older: 5 % of the time, 124.5 ms, it is older than 375.5 ms.
        // The time before the first packet follows the last one of the lap before.
        let late = Statistics::of(&trace("150\n160\n170\n"));
        assert_eq!((late.outages, late.interarrival_ms[3]), (1, Some(150.0)));
        let omniscient = of.omniscient_ms.expect("arrivals");
        assert!((omniscient - 375.5).abs() < 1.0, "{omniscient}");
    }

    #[test]
    fn a_tiny_trace_has_numbers_or_none_and_a_picture() {
        for text in ["1\n", "0\n0\n1\n", "5000\n"] {
            let of = Statistics::of(&trace(text));
            let row = of.row("x").concat() + &draw(&[("x".to_owned(), trace(text))]);
            assert!(!row.contains("NaN") && !row.contains("inf"), "{text:?}: {row}");
        }
    }

    #[test]
    fn a_part_begins_at_its_own_zero_and_may_not_be_empty() {
        let part = cut(&trace("1\n5\n9\n20\n"), Duration::from_millis(4), Duration::from_millis(9));
        assert_eq!(part.expect("a part").to_string(), "1\n5\n");
        let from_zero = cut(&trace("0\n0\n5\n9\n"), Duration::ZERO, Duration::from_millis(5));
        assert_eq!(from_zero.expect("a part").to_string(), "0\n0\n5\n");
        let none = cut(&trace("1\n20\n"), Duration::from_millis(4), Duration::from_millis(9));
        let error = none.expect_err("nothing is there").to_string();
        assert!(error.contains("no opportunity is after 4ms and up to 9ms"), "{error}");
    }

    #[test]
    fn another_rate_keeps_the_period_and_the_share() {
        let old = trace("0\n2\n4\n6\n8\n10\n");
        for (factor, text) in [
            (1.0, "0\n2\n4\n6\n8\n10\n"),
            (0.5, "2\n6\n10\n"),
            (0.001, "10\n"),
            (1.5, "0\n2\n2\n4\n6\n6\n8\n10\n10\n"),
        ] {
            assert_eq!(scaled(&old, factor).expect("a trace").to_string(), text, "{factor}");
        }
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(scaled(&old, factor).is_err(), "{factor}");
        }
    }
}
