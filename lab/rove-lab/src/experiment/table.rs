//! A figure as a table: text for people, JSON for programs.

use core::fmt::Write as _;

use rove_runs::report::{self, number};
use rove_runs::statistics::{INSTANT, Times, interval, paired_ratio};
use serde_json::{Value, json};

use crate::experiment::averages;
use crate::experiment::conditions::RunFigure;
use crate::experiment::series::{SeedMeans, Series};
use crate::experiment::sweep::Figure;
use crate::experiment::verdict::Verdict;

/// Least width of a column in characters.
const COLUMN_WIDTH: usize = 12;

/// A mean as a part of another one, and its 95 % interval.
type Ratio = (f64, Option<[f64; 2]>);

/// Shares that the JSON has the times of, in percent.
const QUANTILES: [u64; 11] = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 100];

/// The statistics of a series, in the order of the table's columns.
const COLUMNS: [&str; 9] =
    ["samples", "never", "median", "mean", "95 % of mean", "deviation", "p90", "p99", "< 5 ms"];

/// The first columns of a series whose runs have figures of their own.
const RUN_COLUMNS: [&str; 4] = ["runs", "empty", "mean", "95 % of mean"];

impl Series {
    /// Returns what tells it from the others of its figure.
    pub(crate) fn label(&self) -> String {
        let system = self.system.map(|system| system.name().to_owned());
        let link = (!self.link.is_empty()).then(|| self.link.clone());
        let parts: Vec<String> = [system, link].into_iter().flatten().collect();
        if parts.is_empty() { "recordings".to_owned() } else { parts.join(", ") }
    }

    /// Returns the beginning of its row: the label, the value that is varied, the recordings, and why it is invalid.
    pub(crate) fn row_label(&self) -> String {
        let of_recordings = match (&self.recording, &self.recordings[..]) {
            (Some(name), _) => Some(name.clone()),
            (None, []) => None,
            (None, parts) => {
                let names: Vec<&str> =
                    parts.iter().filter_map(|it| it.recording.as_deref()).collect();
                Some(format!("pooled: {}", names.join(" + ")))
            }
        };
        let value = self.value.map(|value| value.to_string());
        let invalid = self.invalid.first().map(|reason| format!("INVALID ({reason})"));
        let parts = [Some(self.label()), value, of_recordings, invalid];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns its statistics as texts, a column each: all or the first of them, and those of its runs.
    fn columns(&self, figures: usize, has_all: bool) -> Vec<String> {
        let all = self.statistics();
        let own = (0..figures).map(|figure| number(Times::new(self.figure(figure), 0).mean()));
        let first = if has_all { all } else { [0, 1, 3, 4].map(|it| all[it].clone()).to_vec() };
        first.into_iter().chain(own).collect()
    }

    fn statistics(&self) -> Vec<String> {
        let times = &self.times;
        let range = interval(&self.means());
        vec![
            times.count().to_string(),
            times.missing().to_string(),
            number(times.quantile(50)),
            number(times.mean()),
            range.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.1}-{high:.1}")),
            number(times.deviation()),
            number(times.quantile(90)),
            number(times.quantile(99)),
            format!("{:.1} %", times.share_below(INSTANT)),
        ]
    }

    /// Returns its means as parts of those of another one with the same seeds: of the times, and of a figure.
    fn ratio(&self, to: &Self, figure: Option<usize>) -> Option<Ratio> {
        let of = |means: &SeedMeans| match figure {
            None => Some(means.time),
            Some(figure) => means.figures.get(figure).copied(),
        };
        let pairs = self
            .by_seed
            .iter()
            .filter_map(|(seed, means)| Some((of(means)?, of(to.by_seed.get(seed)?)?)));
        let (of, to): (Vec<f64>, Vec<f64>) = pairs.unzip();
        paired_ratio(&of, &to)
    }

    /// Returns the median of the throughputs of senders that share a path, in kbit/s.
    pub(crate) fn median_throughput(&self) -> Option<f64> {
        Times::new(self.pairs.iter().map(|pair| pair[1]).collect(), 0).quantile(50)
    }

    fn to_json(&self, figure: &Figure) -> Value {
        let times: &Times = &self.times;
        let of_run = |(number, run_figure): (usize, &RunFigure)| {
            let values = Times::new(self.figure(number), 0);
            let range = interval(&self.figure(number));
            (run_figure.name.to_owned(), json!({ "mean": values.mean(), "mean_95": range }))
        };
        let of_runs: serde_json::Map<String, Value> =
            figure.run_figures().iter().enumerate().map(of_run).collect();
        let ratios: serde_json::Map<String, Value> = figure
            .ratios(self)
            .into_iter()
            .map(|(name, ratio)| {
                let (ratio, range) = ratio.unzip();
                (name.to_owned(), json!({ "ratio": ratio, "ratio_95": range.flatten() }))
            })
            .collect();
        let quantiles: serde_json::Map<String, Value> = QUANTILES
            .iter()
            .map(|percent| (format!("p{percent}"), json!(times.quantile(*percent))))
            .collect();
        json!({
            "system": self.system.map(|system| system.name()),
            "link": self.link,
            "value": self.value,
            "recording": self.recording,
            "by_recording": self.recordings.iter().map(|part| part.to_json(figure)).collect::<Vec<_>>(),
            "invalid": self.invalid,
            "seeds": self.by_seed.len(),
            "samples": times.count(),
            "never": times.missing(),
            "mean_ms": times.mean(),
            "mean_95_ms": interval(&self.means()),
            "deviation_ms": times.deviation(),
            "quantiles_ms": quantiles,
            "instant_percent": times.share_below(INSTANT),
            "median_throughput_kbit_s": self.median_throughput(),
            "figures": of_runs,
            "of_baseline": ratios,
            "fault": self.fault,
        })
    }
}

impl Figure {
    /// Returns the series in the order of the table's rows: that of each recording before all of them together.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().flat_map(|series| series.recordings.iter().chain([series]))
    }

    /// Returns the headings of the table's columns.
    pub(crate) fn columns(&self) -> Vec<String> {
        let figures = self.run_figures();
        if figures.is_empty() && self.scenario.body.baseline.is_none() {
            return COLUMNS.map(str::to_owned).to_vec();
        }
        let own = figures.iter().map(|figure| figure.name.to_owned());
        let ratios = self.compared().map(|(name, _)| format!("{name}: ratio"));
        let first: &[&str] = if self.has_all_columns() { &COLUMNS } else { &RUN_COLUMNS };
        first.iter().map(|column| (*column).to_owned()).chain(own).chain(ratios).collect()
    }

    /// Returns the texts of a series, a column each; behind them the fault of its program.
    pub(crate) fn row(&self, series: &Series) -> Vec<String> {
        let figures = self.run_figures().len();
        let mut row = series.columns(figures, self.has_all_columns());
        row.extend(self.ratios(series).into_iter().map(|(_, ratio)| match ratio {
            Some((ratio, Some([low, high]))) => format!("{ratio:.3} ({low:.3}-{high:.3})"),
            Some((ratio, None)) => format!("{ratio:.3}"),
            None => "-".to_owned(),
        }));
        row.extend(series.fault.clone());
        row
    }

    /// Returns whether the table has all statistics of times.
    fn has_all_columns(&self) -> bool {
        self.run_figures().is_empty() || self.scenario.body.measure.has_many_times()
    }

    fn run_figures(&self) -> &'static [RunFigure] {
        self.scenario.body.figures()
    }

    /// Returns what systems are compared by with the baseline, if there is one: the mean of the times, and figures of runs.
    fn compared(&self) -> impl Iterator<Item = (&'static str, Option<usize>)> {
        let figures = self.run_figures().iter().enumerate();
        let figures = figures.filter(|(_, figure)| figure.is_compared);
        let all = core::iter::once(("mean", None))
            .chain(figures.map(|(number, figure)| (figure.name, Some(number))));
        all.filter(|_| self.scenario.body.baseline.is_some())
    }

    /// Returns a series as parts of the baseline's over the same link with the same value.
    fn ratios<'s>(&'s self, series: &Series) -> Vec<(&'static str, Option<Ratio>)> {
        let baseline = self.series.iter().find(|other| {
            other.system == self.scenario.body.baseline
                && other.link == series.link
                && other.value == series.value
        });
        // A recording is compared with the same one.
        let of_recording = |other: &'s Series| match &series.recording {
            Some(_) => other.recordings.iter().find(|part| part.recording == series.recording),
            None => Some(other),
        };
        let baseline = baseline.and_then(of_recording);
        let ratio = |figure| baseline.and_then(|baseline| series.ratio(baseline, figure));
        self.compared().map(|(name, figure)| (name, ratio(figure))).collect()
    }

    /// Returns the title with what it was made from.
    pub(crate) fn title(&self) -> String {
        let title = &self.scenario.body.title;
        if self.made_from.is_empty() {
            title.clone()
        } else {
            format!("{title} ({})", self.made_from)
        }
    }

    /// Returns the table as text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = format!("{}: {}\n", self.scenario.name, self.title());
        if let Some(reason) = &self.missing {
            let _ = writeln!(out, "NOT MADE: {reason}");
            return out;
        }
        let value = self.scenario.body.value.as_deref();
        let heading = value.map_or_else(String::new, |value| format!("by {value}"));
        let mut rows = vec![[vec![heading], self.columns()].concat()];
        let row = |series: &Series| [vec![series.row_label()], self.row(series)].concat();
        rows.extend(self.rows().map(row));
        out.push_str(&report::table(&rows, COLUMN_WIDTH));
        if let Some(baseline) = self.scenario.body.baseline {
            let _ = writeln!(out, "ratios are to {}, same link, value and seed", baseline.name());
        }
        out.push_str(&averages::to_text(&averages::averages(self)));
        out
    }

    /// Returns it as JSON.
    pub(crate) fn to_json(&self, verdicts: &[Verdict]) -> Value {
        json!({
            "name": self.scenario.name,
            "title": self.title(),
            "about": self.scenario.body.about.trim(),
            "seeds": self.seeds,
            "missing": self.missing,
            "series": self.series.iter().map(|series| series.to_json(self)).collect::<Vec<_>>(),
            "averages": averages::to_json(&averages::averages(self)),
            "published": verdicts.iter().filter(|it| it.figure == self.scenario.name).collect::<Vec<_>>(),
        })
    }
}
