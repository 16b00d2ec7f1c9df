//! Results of a paper in a scenario file: numbers, and the bands in which the laboratory's own numbers must lie.
//!
//! A scenario has them in groups, one for each table or figure of a paper.

use std::collections::BTreeMap;

use rove_runs::report;
use serde::{Deserialize, Serialize};

use crate::experiment::system::System;

/// How far from a published number ours may lie, in percent, where a group says nothing else. Chosen: the Remy paper's own table and
/// figure of one experiment differ by 10 %, and its marks can be read to 20 %.
const WITHIN: f64 = 35.0;

/// The paper's name in results that are rove's claims about itself.
pub(crate) const ROVE: &str = "rove";

/// The names of the statistics of times.
pub(crate) const OF_TIMES: [&str; 7] =
    ["median", "mean", "deviation", "p90", "p95", "p99", "instant"];

/// The name of a statistic: the median throughput, in kbit/s, of senders that share a path.
pub(crate) const THROUGHPUT: &str = "throughput";

/// The name of a statistic: how many of the paper's three RemyCCs no drawn system beats in both medians.
pub(crate) const ON_FRONTIER: &str = "RemyCCs on the frontier";

/// The name of a statistic: the varied value at which the mean is the least.
pub(crate) const LEAST_AT: &str = "least-at";

/// The end of the name of a statistic that is a ratio to the baseline.
pub(crate) const RATIO: &str = ": ratio";

/// The link's name in results that are averages over all links.
pub(crate) const ALL_LINKS: &str = "all links";

/// The columns of averages. They begin with the use of the links and the self-inflicted delay in ms. `speed-up` is the
/// mean over links of Sprout's throughput as a multiple of the system's. `delay ratio` is the system's mean delay as a
/// multiple of Sprout's. `score` is kbit/s for each ms of the 95 % end-to-end delay (the geometric mean). The last
/// two are the third and the fourth with Sprout-EWMA in place of Sprout.
pub(crate) const OF_AVERAGES: [&str; 7] = [
    "use (%)",
    "mean",
    "speed-up",
    "delay ratio",
    "score",
    "speed-up of EWMA",
    "delay ratio to EWMA",
];

/// The results at one place of a paper.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// The paper.
    pub(crate) paper: String,
    /// The table, figure or section.
    pub(crate) place: String,
    /// How far a measured number may lie from a published one without a band, in percent; 35 where it is left out.
    within: Option<f64>,
    /// The part of the scenario that was fitted to these results, so that none of them counts as reproduced.
    pub(crate) fitted: Option<String>,
    /// Why results are not reproduced, if that was tested.
    pub(crate) reason: Option<String>,
    /// The results themselves.
    pub(crate) results: Vec<PublishedResult>,
}

/// The results of a system.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct PublishedResult {
    /// The system; left out for recordings by themselves.
    pub(crate) system: Option<System>,
    /// The link that the result is about; each link where it is left out. `all links` means the averages.
    pub(crate) link: Option<String>,
    /// The varied value that the result is about; each value where it is left out.
    pub(crate) value: Option<f64>,
    /// Why this result is not reproduced, in place of the group's reason.
    pub(crate) reason: Option<String>,
    /// Numbers by the names of statistics.
    #[serde(flatten)]
    pub(crate) numbers: BTreeMap<String, Number>,
}

/// A published number, or a band for measured numbers, with a published number or without one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "a result is a number, or a table of number, from and to")]
pub(crate) enum Number {
    Exact(f64),
    Band(Band),
}

/// A published number with the band that ours must lie in.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Band {
    /// The published number, if there is one.
    pub(crate) number: Option<f64>,
    /// The least measured number in the band.
    pub(crate) from: Option<f64>,
    /// The greatest measured number in the band.
    pub(crate) to: Option<f64>,
}

impl Published {
    /// Returns a number with its band.
    pub(crate) fn band(&self, number: Number) -> Band {
        match number {
            Number::Band(band) => band,
            Number::Exact(number) => {
                let off = number.abs() * self.within.unwrap_or(WITHIN) / 100.0;
                Band { number: Some(number), from: Some(number - off), to: Some(number + off) }
            }
        }
    }
}

impl PublishedResult {
    /// Returns the name of the result's system.
    pub(crate) fn name(&self) -> &'static str {
        self.system.map_or("recordings", System::name)
    }
}

impl Band {
    /// Returns whether a measured number lies in the band.
    pub(crate) fn holds(self, ours: f64) -> bool {
        self.from.is_none_or(|from| from <= ours) && self.to.is_none_or(|to| ours <= to)
    }

    /// Returns whether the band holds a part of an interval, but not all of it.
    pub(crate) fn is_crossed_by(self, [low, high]: [f64; 2]) -> bool {
        let meets = self.from.is_none_or(|from| from <= high) && self.to.is_none_or(|to| low <= to);
        meets && !(self.holds(low) && self.holds(high))
    }

    /// Returns the number and its band as text.
    pub(crate) fn to_text(self) -> String {
        let band = match (self.from, self.to) {
            (Some(from), Some(to)) => format!("{} to {}", short(from), short(to)),
            (Some(from), None) => format!("at least {}", short(from)),
            (None, Some(to)) => format!("at most {}", short(to)),
            (None, None) => "any".to_owned(),
        };
        self.number.map_or_else(|| band.clone(), |number| format!("{} ({band})", short(number)))
    }
}

/// Returns a number of a statistic with as many digits as it needs, or a dash for none.
pub(crate) fn written(statistic: &str, number: Option<f64>) -> String {
    let (whole, digits) = match statistic {
        "Jain's index" => (1.0, 3),
        "exponent" | "utility lost (bits)" => (f64::INFINITY, 2),
        name if OF_AVERAGES[2..].contains(&name) => (f64::INFINITY, 2),
        "instant" => (100.0, 1),
        name if name.ends_with(RATIO) => (f64::INFINITY, 3),
        name if name.ends_with("(%)") => (100.0, 1),
        _ => return report::number(number),
    };
    number.map_or_else(|| report::number(None), |number| report::share(number, whole, digits))
}

/// Returns the 95 % interval of a statistic as text.
pub(crate) fn range(statistic: &str, [low, high]: [f64; 2]) -> String {
    format!("{}-{}", written(statistic, Some(low)), written(statistic, Some(high)))
}

/// Returns a number with few digits, but with enough to tell 99.99 % from 100 %.
fn short(number: f64) -> String {
    let text = report::share(number, 100.0, if number.abs() < 10.0 { 2 } else { 1 });
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_three_digits_and_a_share_is_all_only_if_it_is() {
        for (statistic, number, text) in [
            ("Jain's index", 0.912_3, "0.912"),
            ("Jain's index", 1.0, "1.000"),
            ("exponent", 3.271, "3.27"),
            ("use (%)", 99.99, "99.99"),
            ("instant", 99.96, "99.96"),
            ("mean", 99.99, "100.0"),
        ] {
            assert_eq!(written(statistic, Some(number)), text, "{statistic}");
        }
        assert_eq!(written("instant", None), "-");
        assert_eq!(range("Jain's index", [0.5, 1.0]), "0.500-1.000");
    }

    #[test]
    fn a_band_is_written_with_its_number() {
        let of = |number, from, to| Band { number, from, to }.to_text();
        assert_eq!(of(Some(1730.0), Some(1124.5), Some(2335.5)), "1730 (1124.5 to 2335.5)");
        assert_eq!(of(None, None, Some(5.0)), "at most 5");
        assert_eq!(of(Some(79.0), Some(20.0), None), "79 (at least 20)");
        assert_eq!(of(Some(99.99), Some(99.999), None), "99.99 (at least 99.999)");
        assert_eq!(of(Some(100.0), Some(67_287.649), None), "100 (at least 67287.6)");
    }
}
