//! A figure as a table: text for people, JSON for programs.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use rove_runs::report::{Table, number};
use rove_runs::statistics::{INSTANT, paired_ratio};
use serde::Serialize;
use serde_json::Value;

use crate::experiment::averages::{self, Average, AverageJson};
use crate::experiment::conditions::RunFigure;
use crate::experiment::published::{RATIO, range, written};
use crate::experiment::scenario::{Body, Plot};
use crate::experiment::series::{SeedMeans, Series};
use crate::experiment::sweep::Figure;
use crate::experiment::system::System;
use crate::experiment::verdict::Verdict;

/// Least width of a column in characters.
const COLUMN_WIDTH: usize = 12;

/// The ratio of two means, with its 95 % interval.
type Ratio = (f64, Option<[f64; 2]>);

/// The percentiles of times that the JSON has.
const QUANTILES: [u64; 11] = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 100];

/// The statistics of a series, in the order of the table's columns.
const COLUMNS: [&str; 9] =
    ["samples", "never", "median", "mean", "95 % of mean", "deviation", "p90", "p99", "< 5 ms"];

/// The first columns for a series whose runs have figures of their own.
const RUN_COLUMNS: [&str; 4] = ["runs", "empty", "mean", "95 % of mean"];

/// A figure as JSON has it.
#[derive(Serialize)]
struct FigureJson<'a> {
    name: &'a str,
    title: String,
    about: &'a str,
    full: bool,
    seed: u64,
    seeds: u64,
    missing: Option<&'a str>,
    series: Vec<SeriesJson<'a>>,
    averages: Vec<AverageJson>,
    published: Vec<&'a Verdict>,
}

/// A series as JSON has it.
#[derive(Serialize)]
struct SeriesJson<'a> {
    system: Option<&'static str>,
    link: &'a str,
    value: Option<f64>,
    recording: Option<&'a str>,
    by_recording: Vec<SeriesJson<'a>>,
    invalid: &'a [String],
    seeds: usize,
    #[serde(flatten)]
    times: TimesJson,
    median_throughput_kbit_s: Option<f64>,
    figures: BTreeMap<&'static str, MeanJson>,
    of_baseline: BTreeMap<&'static str, RatioJson>,
    fault: Option<&'a str>,
}

/// The statistics of times.
#[derive(Serialize)]
struct TimesJson {
    samples: u64,
    never: u64,
    mean_ms: Option<f64>,
    mean_95_ms: Option<[f64; 2]>,
    deviation_ms: Option<f64>,
    quantiles_ms: BTreeMap<String, Option<f64>>,
    median_95_ms: Option<[f64; 2]>,
    p90_95_ms: Option<[f64; 2]>,
    instant_percent: f64,
    instant_95_percent: Option<[f64; 2]>,
}

/// The mean over the seeds with its 95 % interval.
#[derive(Serialize)]
struct MeanJson {
    mean: Option<f64>,
    mean_95: Option<[f64; 2]>,
}

/// The ratio of a mean to the baseline's, with its 95 % interval.
#[derive(Serialize)]
struct RatioJson {
    ratio: Option<f64>,
    ratio_95: Option<[f64; 2]>,
}

impl Series {
    /// Returns the label that distinguishes the series from others of its figure: the system and the link.
    fn label(&self) -> String {
        let system = self.system.map(|system| system.name().to_owned());
        let link = (!self.link.is_empty()).then(|| self.link.clone());
        let parts: Vec<String> = [system, link].into_iter().flatten().collect();
        if parts.is_empty() { "recordings".to_owned() } else { parts.join(", ") }
    }

    /// Returns the label of the series' curve. In a scatter plot, all links of a system share a curve with its name.
    pub(crate) fn curve_label(&self, body: &Body) -> String {
        let is_cloud = body.plot == Plot::UseByTime && self.value.is_none();
        match self.system {
            Some(system) if is_cloud => system.name().to_owned(),
            _ if body.plot == Plot::Boxes => self.row_label(),
            _ => self.label(),
        }
    }

    /// Returns the beginning of the series' row: the label, the varied value, the recordings, and why it is invalid.
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

    /// Returns the text of a cell under a heading: a count, an interval, or the statistic of that name.
    fn cell(&self, figures: &[RunFigure], heading: &str) -> String {
        match heading {
            "samples" | "runs" => self.times.count().to_string(),
            "never" | "empty" => self.times.missing().to_string(),
            "95 % of mean" => {
                let interval = self.interval(figures, "mean");
                interval.map_or_else(|| number(None), |ends| range("mean", ends))
            }
            "< 5 ms" => written("instant", self.statistic(figures, "instant")) + " %",
            name => written(name, self.statistic(figures, name)),
        }
    }

    /// Returns the ratio of this series to `to` over common seeds: of a figure by index, or of the times (`None`).
    fn ratio(&self, to: &Self, figure: Option<usize>) -> Option<Ratio> {
        let of = |means: &SeedMeans| match figure {
            None => means.time,
            Some(figure) => means.known(figure),
        };
        let pairs = self
            .by_seed
            .iter()
            .filter_map(|(seed, means)| Some((of(means)?, of(to.by_seed.get(seed)?)?)));
        let (of, to): (Vec<f64>, Vec<f64>) = pairs.unzip();
        paired_ratio(&of, &to)
    }

    fn to_json<'s>(&'s self, figure: &'s Figure) -> SeriesJson<'s> {
        let figures = figure.run_figures();
        let of_runs = figures.iter().map(|RunFigure { name, .. }| {
            let mean = self.statistic(figures, name);
            (*name, MeanJson { mean, mean_95: self.interval(figures, name) })
        });
        let ratios = figure.ratios(self).into_iter().map(|(name, ratio)| {
            let (ratio, range) = ratio.unzip();
            (name, RatioJson { ratio, ratio_95: range.flatten() })
        });
        SeriesJson {
            system: self.system.map(System::name),
            link: &self.link,
            value: self.value,
            recording: self.recording.as_deref(),
            by_recording: self.recordings.iter().map(|part| part.to_json(figure)).collect(),
            invalid: &self.invalid,
            seeds: self.by_seed.len(),
            times: TimesJson {
                samples: self.times.count(),
                never: self.times.missing(),
                mean_ms: self.times.mean(),
                mean_95_ms: self.interval(figures, "mean"),
                deviation_ms: self.times.deviation(),
                quantiles_ms: self.times.quantiles(&QUANTILES),
                median_95_ms: self.interval(figures, "median"),
                p90_95_ms: self.interval(figures, "p90"),
                instant_percent: self.times.share_below(INSTANT),
                instant_95_percent: self.interval(figures, "instant"),
            },
            median_throughput_kbit_s: self.median_throughput(),
            figures: of_runs.collect(),
            of_baseline: ratios.collect(),
            fault: self.fault.as_deref(),
        }
    }
}

impl Figure {
    /// Returns the series in the order of the table's rows: those of single recordings before that of all together.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().flat_map(|series| series.recordings.iter().chain([series]))
    }

    /// Returns the headings of statistics.
    fn headings(&self) -> impl Iterator<Item = &'static str> {
        let are_all = self.run_figures().is_empty() || self.scenario.body.measure.has_many_times();
        let first: &[&str] = if are_all { &COLUMNS } else { &RUN_COLUMNS };
        first.iter().copied().chain(self.run_figures().iter().map(|figure| figure.name))
    }

    /// Returns the table, which text and page show.
    pub(crate) fn table(&self) -> Table {
        let value = self.scenario.body.value.as_deref();
        let first = value.map_or_else(String::new, |value| format!("by {value}"));
        let ratios = self.compared().map(|(name, _)| format!("{name}{RATIO}"));
        let headings = core::iter::once(first).chain(self.headings().map(str::to_owned));
        Table::new(headings.chain(ratios), self.rows().map(|series| self.row(series)))
    }

    /// Returns the texts of a row: the label of the series, a text for each column, and the fault of its controller.
    fn row(&self, series: &Series) -> Vec<String> {
        let cell = |heading| series.cell(self.run_figures(), heading);
        let ratios = self.ratios(series).into_iter().map(|(_, ratio)| match ratio {
            Some((ratio, Some([low, high]))) => format!("{ratio:.3} ({low:.3}-{high:.3})"),
            Some((ratio, None)) => format!("{ratio:.3}"),
            None => number(None),
        });
        let columns = self.headings().map(cell).chain(ratios).chain(series.fault.clone());
        core::iter::once(series.row_label()).chain(columns).collect()
    }

    fn run_figures(&self) -> &'static [RunFigure] {
        self.scenario.body.figures()
    }

    /// Returns the statistics that are compared with the baseline: the mean of the times (`None`), and figures by
    /// number. Without a baseline, returns nothing.
    fn compared(&self) -> impl Iterator<Item = (&'static str, Option<usize>)> {
        let figures = self.run_figures().iter().enumerate();
        let figures = figures.filter(|(_, figure)| figure.is_compared);
        let all = core::iter::once(("mean", None))
            .chain(figures.map(|(number, figure)| (figure.name, Some(number))));
        all.filter(|_| self.scenario.body.baseline.is_some())
    }

    /// Returns the baseline's series over the same link with the same value.
    pub(crate) fn baseline_of(&self, series: &Series) -> Option<&Series> {
        self.series.iter().find(|other| {
            other.system == self.scenario.body.baseline
                && other.link == series.link
                && other.value == series.value
        })
    }

    /// Returns the ratios of a series to the baseline's series over the same link with the same value.
    fn ratios<'s>(&'s self, series: &Series) -> Vec<(&'static str, Option<Ratio>)> {
        let baseline = self.baseline_of(series);
        // A recording is compared with the same recording of the baseline.
        let of_recording = |other: &'s Series| match &series.recording {
            Some(_) => other.recordings.iter().find(|part| part.recording == series.recording),
            None => Some(other),
        };
        let baseline = baseline.and_then(of_recording);
        let ratio = |figure| baseline.and_then(|baseline| series.ratio(baseline, figure));
        self.compared().map(|(name, figure)| (name, ratio(figure))).collect()
    }

    /// Returns the ratio of a series to the baseline's, by the name of the statistic.
    pub(crate) fn ratio(&self, series: &Series, name: &str) -> Option<Ratio> {
        self.ratios(series).into_iter().find(|(its, _)| *its == name)?.1
    }

    /// Returns the title with the stand-ins that the figure was made from.
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
        out.push_str(&self.table().text(COLUMN_WIDTH));
        if let Some(baseline) = self.scenario.body.baseline {
            let _ = writeln!(out, "ratios are to {}, same link, value and seed", baseline.name());
        }
        out.push_str(&averages::to_text(&averages::averages(self)));
        out
    }

    /// Returns the figure as JSON.
    pub(crate) fn to_json(&self, verdicts: &[Verdict]) -> Value {
        let name = &self.scenario.name;
        let figure = FigureJson {
            name,
            title: self.title(),
            about: self.scenario.body.about.trim(),
            full: self.profile.is_full,
            seed: self.profile.seed,
            seeds: self.seeds,
            missing: self.missing.as_deref(),
            series: self.series.iter().map(|series| series.to_json(self)).collect(),
            averages: averages::averages(self).iter().map(Average::to_json).collect(),
            published: verdicts.iter().filter(|it| it.figure == *name).collect(),
        };
        serde_json::to_value(figure).expect("its keys are texts")
    }
}
