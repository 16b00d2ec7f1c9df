//! Figures of checks, and their expected values.

use rove_units::{Duration, Seed};
use serde::Serialize;

use rove_net::testbed::{DirectionReport, Report};

/// The seed of every check.
pub(super) const SEED: Seed = Seed::new(1);

/// A measured figure, and its expected value.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    pub(super) check: &'static str,
    pub(super) expected: String,
    pub(super) got: String,
    pub(super) is_right: bool,
}

pub(super) fn lateness(direction: &DirectionReport, report: &Report) -> Figure {
    let late = direction.lateness;
    let got = format!("{:.0}, {:.0}, {:.0} us", late.p50_us, late.p99_us, late.max_us);
    let is_right = report.invalid.is_empty();
    figure("  lateness: p50, p99, max", "p99 <= 2 ms, max <= 20 ms", got, is_right)
}

pub(super) fn figure(
    check: &'static str,
    expected: impl Into<String>,
    got: impl Into<String>,
    is_right: bool,
) -> Figure {
    Figure { check, expected: expected.into(), got: got.into(), is_right }
}

pub(super) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
