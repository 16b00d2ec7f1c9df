//! A figure as a table: text for people, JSON for programs.

use core::fmt::Write as _;

use serde_json::{Value, json};

use crate::experiment::scenario::Expected;
use crate::experiment::statistics::{Times, interval};
use crate::experiment::sweep::{Figure, Series};

/// An answer that comes sooner is instant, in ms.
const INSTANT: f64 = 5.0;

/// Shares that the JSON has the times of, in percent.
const QUANTILES: [u64; 11] = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 100];

/// The statistics of a series, in the order of the table's columns.
pub(crate) const COLUMNS: [&str; 9] =
    ["samples", "never", "median", "mean", "95 % of mean", "deviation", "p90", "p99", "< 5 ms"];

/// A band, and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The verdict as a sentence.
    pub(crate) sentence: String,
    /// Whether it is within the band.
    pub(crate) holds: bool,
}

impl Series {
    /// Returns what tells it from the others of its figure.
    pub(crate) fn label(&self) -> String {
        let system = self.system.map(|system| system.name().to_owned());
        let link = (!self.link.is_empty()).then(|| self.link.clone());
        let parts: Vec<String> = [system, link].into_iter().flatten().collect();
        if parts.is_empty() { "recordings".to_owned() } else { parts.join(", ") }
    }

    /// Returns its statistics as texts, a column each.
    pub(crate) fn columns(&self) -> [String; COLUMNS.len()] {
        let times = &self.times;
        let range = interval(&self.means);
        [
            times.count().to_string(),
            times.missing().to_string(),
            ms(times.quantile(50)),
            ms(times.mean()),
            range.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.1}-{high:.1}")),
            ms(times.deviation()),
            ms(times.quantile(90)),
            ms(times.quantile(99)),
            format!("{:.1} %", times.share_below(INSTANT)),
        ]
    }

    fn to_json(&self) -> Value {
        let times: &Times = &self.times;
        let quantiles: serde_json::Map<String, Value> = QUANTILES
            .iter()
            .map(|percent| (format!("p{percent}"), json!(times.quantile(*percent))))
            .collect();
        json!({
            "system": self.system.map(|system| system.name()),
            "link": self.link,
            "value": self.value,
            "seeds": self.means.len(),
            "samples": times.count(),
            "never": times.missing(),
            "mean_ms": times.mean(),
            "mean_95_ms": interval(&self.means),
            "deviation_ms": times.deviation(),
            "quantiles_ms": quantiles,
            "instant_percent": times.share_below(INSTANT),
        })
    }
}

impl Figure {
    /// Returns the title with what it was made from.
    pub(crate) fn title(&self) -> String {
        let title = &self.scenario.body.title;
        if self.made_from.is_empty() {
            title.clone()
        } else {
            format!("{title} ({})", self.made_from)
        }
    }

    /// Returns the verdict on each band that the scenario expects.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let of = |expected: &Expected| {
            let series = self.series.iter().filter(|series| {
                series.system == Some(expected.system)
                    && expected.link.as_ref().is_none_or(|link| *link == series.link)
            });
            series.map(|series| verdict(expected, series)).collect::<Vec<_>>()
        };
        self.scenario.body.expected.iter().flat_map(of).collect()
    }

    /// Returns the table as text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = format!("{}: {}\n", self.scenario.name, self.title());
        if let Some(reason) = &self.missing {
            let _ = writeln!(out, "NOT MADE: {reason}");
            return out;
        }
        let value = self.scenario.body.value.as_deref();
        let labels = |series: &Series| {
            let label = series.label();
            series.value.map_or(label.clone(), |value| format!("{label}, {value}"))
        };
        let heading = value.map_or_else(String::new, |value| format!("by {value}"));
        let width = self.series.iter().map(|series| labels(series).chars().count()).max();
        let width = width.unwrap_or(0).max(heading.len());
        let _ = write!(out, "{heading:width$}");
        COLUMNS.iter().for_each(|column| {
            let _ = write!(out, "  {column:>12}");
        });
        out.push('\n');
        for series in &self.series {
            let _ = write!(out, "{:width$}", labels(series));
            for column in series.columns() {
                let _ = write!(out, "  {column:>12}");
            }
            out.push('\n');
        }
        for Verdict { sentence, holds } in self.verdicts() {
            let _ = writeln!(
                out,
                "{} {sentence}",
                if holds { "as expected:" } else { "NOT AS EXPECTED:" }
            );
        }
        out
    }

    /// Returns it as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let verdicts = self.verdicts();
        json!({
            "name": self.scenario.name,
            "title": self.title(),
            "about": self.scenario.body.about.trim(),
            "seeds": self.seeds,
            "missing": self.missing,
            "series": self.series.iter().map(Series::to_json).collect::<Vec<_>>(),
            "expected": verdicts
                .iter()
                .map(|verdict| json!({ "holds": verdict.holds, "sentence": verdict.sentence }))
                .collect::<Vec<_>>(),
        })
    }
}

fn verdict(expected: &Expected, series: &Series) -> Verdict {
    let got = series.times.statistic(expected.statistic);
    let holds = got.is_some_and(|got| {
        expected.from.is_none_or(|from| from <= got) && expected.to.is_none_or(|to| got <= to)
    });
    let band = match (expected.from, expected.to) {
        (Some(from), Some(to)) => format!("{from} to {to} ms"),
        (Some(from), None) => format!("at least {from} ms"),
        (None, Some(to)) => format!("at most {to} ms"),
        (None, None) => "anything".to_owned(),
    };
    let statistic = expected.statistic.name();
    let (label, got, source) = (series.label(), ms(got), &expected.source);
    Verdict {
        sentence: format!("{statistic} of {label} is {got} ms, expected {band} ({source})"),
        holds,
    }
}

/// Returns a time as people read it.
fn ms(time: Option<f64>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"))
}
