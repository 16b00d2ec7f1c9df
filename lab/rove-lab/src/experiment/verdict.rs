//! The verdicts of a report: each published number beside ours.
//!
//! A result that is not reproduced stays in the report like any other, with its reason where one was tested.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use rove_flows::flow::contender::Contender;
use rove_runs::report::Table;
use rove_runs::statistics::{interval, mean};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::experiment::averages::{self, Average};
use crate::experiment::frontier;
use crate::experiment::measure::UTILISATION;
use crate::experiment::published::{
    ALL_LINKS, Band, LEAST_AT, OF_TIMES, ON_FRONTIER, Published, PublishedResult, RATIO, ROVE,
    THROUGHPUT, range, written,
};
use crate::experiment::series::Series;
use crate::experiment::sweep::Figure;
use crate::experiment::system::System;

/// The least utilisation in percent of a controller whose delay counts. Chosen: a sender that hardly sends makes none.
const USE_LEAST: f64 = 100.0 / 3.0;

/// The multiple of the least delay up to which Sprout's counts as near it. Source: our notes on the paper: within 20 %.
const NEAR_LEAST: f64 = 1.2;

/// The comparison of one published number with ours.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Verdict {
    pub(crate) paper: String,
    pub(crate) place: String,
    /// The figure's name.
    pub(crate) figure: String,
    pub(crate) system: String,
    pub(crate) link: String,
    /// The value that was varied.
    pub(crate) value: Option<f64>,
    /// The statistic's name, as `results` in the scenario have it.
    pub(crate) statistic: String,
    pub(crate) published: Band,
    pub(crate) ours: Ours,
    pub(crate) outcome: Outcome,
    /// Why the number is not reproduced or not measured, where that is known.
    pub(crate) reason: Option<String>,
}

/// A number that the laboratory measured, beside a published one.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Ours {
    number: Option<f64>,
    /// The 95 % interval over the seeds.
    interval: Option<[f64; 2]>,
    /// The number of each recording by itself, if there are several.
    by_recording: BTreeMap<String, Option<f64>>,
    /// Whether some of its runs cannot be made here. Runs in which nothing came count as measured: they reach no band.
    #[serde(skip)]
    is_absent: bool,
    /// Whether runs in real time that it comes from are invalid.
    #[serde(skip)]
    is_invalid: bool,
    /// Whether the number leaves out answers that never came, or runs. Such a number reproduces nothing.
    #[serde(skip)]
    is_of_survivors: bool,
}

/// The outcome of a comparison. Only the first counts as reproduced.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Reproduced,
    NotReproduced,
    /// The 95 % interval over the seeds lies partly in the band.
    NotDecided,
    /// The number lies in the band with some of the recordings only.
    DependsOnTheRecording,
    /// The scenario was fitted to the published number.
    Fitted,
    /// The computer was too busy for a run in real time.
    Invalid,
    /// Something that the figure needs, such as a recorded link, is not there.
    NotMeasured,
}

/// Returns the verdicts on a result, for each number, link and value that it is about.
fn of_result(
    group: &Published,
    result: &PublishedResult,
    figure: &Figure,
    averages: &[Average],
) -> Vec<Verdict> {
    let reason = result.reason.as_ref().or(group.fitted.as_ref()).or(group.reason.as_ref());
    let blank = Verdict {
        system: result.name().to_owned(),
        link: result.link.clone().unwrap_or_default(),
        value: result.value,
        reason: figure.missing.as_ref().or(reason).cloned(),
        ..Verdict::blank(group, figure)
    };
    let mut verdicts = Vec::new();
    for (name, number) in &result.numbers {
        let verdict =
            Verdict { statistic: name.clone(), published: group.band(*number), ..blank.clone() };
        if figure.missing.is_some() {
            verdicts.push(verdict);
        } else if result.link.as_deref() == Some(ALL_LINKS) {
            let ours = of_all_links(figure, averages, result.system, name);
            verdicts.push(judged(group, verdict, ours, figure));
        } else if name == ON_FRONTIER {
            let (system, ours) = (String::new(), on_frontier(figure, result.link.as_deref()));
            verdicts.push(judged(group, Verdict { system, ..verdict }, ours, figure));
        } else {
            for series in figure.series.iter().filter(|series| is_of(result, figure, series, name))
            {
                let ours = Ours::of(figure, series, name);
                let place = Verdict {
                    link: series.link.clone(),
                    value: series.value.filter(|_| name != LEAST_AT),
                    ..verdict.clone()
                };
                verdicts.push(judged(group, place, ours, figure));
            }
        }
    }
    verdicts
}

/// Returns a system's average over all links.
fn of_all_links(figure: &Figure, averages: &[Average], system: Option<System>, name: &str) -> Ours {
    let average = averages.iter().find(|average| Some(average.system) == system);
    let values = average.map(|average| average.values(name)).unwrap_or_default();
    let links = averages::counted(figure);
    let sources = figure.series.iter().filter(|series| {
        let is_its =
            [system, Some(averages::SPROUT), Some(averages::EWMA)].contains(&series.system);
        is_its && links.contains(&series.link.as_str())
    });
    Ours { number: mean(&values), interval: interval(&values), ..Ours::from(sources, "mean") }
}

/// Returns how many RemyCCs are on the frontier of a link, or of the only link.
fn on_frontier(figure: &Figure, link: Option<&str>) -> Ours {
    let series = frontier::drawn(figure, link);
    let (number, interval) = frontier::count(&series);
    Ours { number: Some(number), interval, ..Ours::from(series.into_iter(), ON_FRONTIER) }
}

fn judged(group: &Published, verdict: Verdict, ours: Ours, figure: &Figure) -> Verdict {
    let is_strange = figure.has_stand_ins && group.paper != ROVE;
    let outcome = if ours.is_absent || is_strange {
        Outcome::NotMeasured
    } else if ours.is_invalid {
        Outcome::Invalid
    } else if group.fitted.is_some() {
        Outcome::Fitted
    } else {
        ours.outcome(verdict.published)
    };
    let is_explained =
        !matches!(outcome, Outcome::Reproduced | Outcome::Invalid | Outcome::NotMeasured);
    let reason = match outcome {
        Outcome::NotMeasured if is_strange => {
            Some("stand-ins take the place of recordings (--traces)".to_owned())
        }
        Outcome::NotReproduced if ours.is_of_survivors => {
            Some("it leaves out what never came".to_owned())
        }
        _ => verdict.reason.filter(|_| is_explained),
    };
    Verdict { ours, outcome, reason, ..verdict }
}

/// Returns whether a published result is about this series. `least-at` is about all values, and is put to the first.
pub(crate) fn is_of(
    result: &PublishedResult,
    figure: &Figure,
    series: &Series,
    statistic: &str,
) -> bool {
    series.system == result.system
        && result.link.as_ref().is_none_or(|link| *link == series.link)
        && result.value.is_none_or(|value| series.value == Some(value))
        && (statistic != LEAST_AT || series.value == figure.scenario.body.values.first().copied())
}

/// Returns whether a statistic of a series leaves out answers that never came, or runs.
fn is_of_survivors(series: &Series, name: &str) -> bool {
    series.fault.is_some()
        || match name.strip_suffix(RATIO).unwrap_or(name) {
            "mean" | "deviation" | THROUGHPUT => series.times.missing() > 0,
            LEAST_AT => false,
            name => series.has_empty_runs && !OF_TIMES.contains(&name),
        }
}

impl Ours {
    /// Returns a result that has no number yet, but the faults of the series that its number comes from.
    fn from<'a>(sources: impl Iterator<Item = &'a Series>, name: &str) -> Self {
        sources.fold(Self::default(), |all, series| Self {
            is_absent: all.is_absent || series.is_absent || series.times.count() == 0,
            is_invalid: all.is_invalid || !series.invalid.is_empty(),
            is_of_survivors: all.is_of_survivors || is_of_survivors(series, name),
            ..all
        })
    }

    fn of(figure: &Figure, series: &Series, name: &str) -> Self {
        let by_recording = series.recordings.iter().map(|part| {
            (part.recording.clone().unwrap_or_default(), statistic(figure, part, name))
        });
        let over_seeds = match name.strip_suffix(RATIO) {
            Some(of) => figure.ratio(series, of).and_then(|(_, interval)| interval),
            None => series.interval(figure.scenario.body.figures(), name),
        };
        let by_recording = if name == LEAST_AT { BTreeMap::new() } else { by_recording.collect() };
        let number = statistic(figure, series, name);
        let of_link =
            |it: &&Series| it.system == series.system && it.link == series.link && name == LEAST_AT;
        let baseline = figure.baseline_of(series).filter(|_| name.ends_with(RATIO));
        let sources = figure.series.iter().filter(of_link).chain(baseline).chain([series]);
        let faults = Self::from(sources, name);
        Self { number, interval: over_seeds, by_recording, ..faults }
    }

    /// Returns the outcome: whether a band holds the number of all recordings together and that of each recording.
    fn outcome(&self, band: Band) -> Outcome {
        let holds = |number: Option<f64>| {
            !self.is_of_survivors && number.is_some_and(|number| band.holds(number))
        };
        let each: Vec<bool> = if self.by_recording.is_empty() {
            vec![holds(self.number)]
        } else {
            let parts = self.by_recording.values().copied();
            parts.chain([self.number]).map(holds).collect()
        };
        let crosses = |ends| !self.is_of_survivors && band.is_crossed_by(ends);
        match (each.contains(&true), each.contains(&false)) {
            (true, true) => Outcome::DependsOnTheRecording,
            _ if self.number.and(self.interval).is_some_and(crosses) => Outcome::NotDecided,
            (true, false) => Outcome::Reproduced,
            (false, _) => Outcome::NotReproduced,
        }
    }

    /// Returns the number as text, given the statistic's name.
    fn to_text(&self, name: &str) -> String {
        let mut text = written(name, self.number);
        if let Some(interval) = self.interval {
            let _ = write!(text, " ({})", range(name, interval));
        }
        for (recording, ours) in &self.by_recording {
            let _ = write!(text, "; {recording} {}", written(name, *ours));
        }
        text
    }
}

/// Returns a statistic of a series by its name.
pub(crate) fn statistic(figure: &Figure, series: &Series, name: &str) -> Option<f64> {
    match name {
        LEAST_AT => least_at(figure, series),
        _ => match name.strip_suffix(RATIO) {
            Some(of) => figure.ratio(series, of).map(|(ratio, _)| ratio),
            None => series.statistic(figure.scenario.body.figures(), name),
        },
    }
}

/// Returns the value at which the system's mean over the link is the least.
fn least_at(figure: &Figure, of: &Series) -> Option<f64> {
    let same = figure.series.iter().filter(|it| it.system == of.system && it.link == of.link);
    // If answers never came at a value, the mean of the other answers says nothing.
    let whole = same.filter(|series| series.times.missing() == 0);
    let means = whole.filter_map(|series| Some((series.value?, series.times.mean()?)));
    means.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(value, _)| value)
}

impl Outcome {
    /// Returns the outcome's name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::NotDecided => "not decided: the interval crosses the band",
            Self::DependsOnTheRecording => "not reproduced: depends on the recording",
            Self::Fitted => "not reproduced: fitted",
            Self::Invalid => "not reproduced: the runs are invalid",
            Self::NotMeasured => "not measured here",
        }
    }
}

impl Verdict {
    /// Returns a verdict without a result yet, for the group's paper and place.
    fn blank(group: &Published, figure: &Figure) -> Self {
        Self {
            paper: group.paper.clone(),
            place: group.place.clone(),
            figure: figure.scenario.name.clone(),
            system: String::new(),
            link: String::new(),
            value: None,
            statistic: String::new(),
            published: Band::default(),
            ours: Ours::default(),
            outcome: Outcome::NotMeasured,
            reason: None,
        }
    }

    /// Reads the verdicts in a figure's JSON; none if an older program wrote it in another form.
    pub(crate) fn read(figure: &Value) -> Vec<Self> {
        Vec::deserialize(&figure["published"]).unwrap_or_default()
    }

    /// Returns the name of the result as a row of the report has it.
    pub(crate) fn subject(&self) -> String {
        let value = self.value.map(|value| value.to_string()).unwrap_or_default();
        let parts =
            [self.system.as_str(), self.link.as_str(), value.as_str(), self.statistic.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}: {}", self.figure, parts.join(", "))
    }

    /// Returns the texts of the verdict's columns, in the order of [`HEADINGS`].
    pub(crate) fn row(&self) -> [String; 5] {
        let published = format!("{}, {}", self.published.to_text(), self.place);
        [
            self.subject(),
            published,
            self.ours.to_text(&self.statistic),
            self.outcome.name().to_owned(),
            self.reason.clone().unwrap_or_default(),
        ]
    }
}

/// The columns of a report's first tables.
pub(crate) const HEADINGS: [&str; 5] = ["result", "published", "ours", "verdict", "reason"];

/// Returns the verdicts on a figure's published results.
pub(crate) fn verdicts(figure: &Figure) -> Vec<Verdict> {
    let averages = averages::averages(figure);
    let groups = figure.scenario.body.published.iter();
    let all = groups.flat_map(|group| group.results.iter().map(move |result| (group, result)));
    let mut verdicts: Vec<Verdict> =
        all.flat_map(|(group, result)| of_result(group, result, figure, &averages)).collect();
    verdicts.extend(least_delays(figure, &averages));
    verdicts
}

/// Returns the verdicts of each paper, in the order of their first figures; what rove claims comes last.
pub(crate) fn by_paper(verdicts: &[Verdict]) -> Vec<(&str, Vec<&Verdict>)> {
    let mut papers: Vec<(&str, Vec<&Verdict>)> = Vec::new();
    for verdict in verdicts {
        match papers.iter_mut().find(|(paper, _)| *paper == verdict.paper) {
            Some((_, of_paper)) => of_paper.push(verdict),
            None => papers.push((&verdict.paper, vec![verdict])),
        }
    }
    papers.sort_by_key(|(paper, _)| *paper == ROVE);
    papers
}

/// Returns how many of a paper's results are reproduced and how many are undecided, as a heading says it.
pub(crate) fn heading(paper: &str, verdicts: &[&Verdict]) -> String {
    let count = |outcome| verdicts.iter().filter(|it| it.outcome == outcome).count();
    let what = if paper == ROVE { "What rove claims" } else { paper };
    let undecided = match count(Outcome::NotDecided) {
        0 => String::new(),
        count => format!(", {count} not decided"),
    };
    let reproduced = count(Outcome::Reproduced);
    format!("{what}: {reproduced} of {} results reproduced{undecided}", verdicts.len())
}

/// Returns the tables that a report begins with: one for each paper, with the reasons below it.
pub(crate) fn to_text(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    for (paper, verdicts) in by_paper(verdicts) {
        let _ = writeln!(out, "{}", heading(paper, &verdicts));
        let rows = verdicts.iter().map(|verdict| verdict.row()[..4].to_vec());
        out.push_str(&Table::new(HEADINGS.into_iter().take(4), rows).text(0));
        let mut reasons: Vec<String> = Vec::new();
        for verdict in verdicts {
            let reason =
                verdict.reason.as_ref().map(|reason| format!("{}: {reason}", verdict.figure));
            reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        }
        out.extend(reasons.iter().map(|reason| format!("{reason}\n")));
        out.push('\n');
    }
    out
}

/// Returns a verdict for each link: Sprout's delay must be near the least of controllers that use a third of the link.
fn least_delays(figure: &Figure, all: &[Average]) -> Vec<Verdict> {
    if all.iter().all(|average| average.system != averages::SPROUT) {
        return Vec::new();
    }
    averages::counted(figure).into_iter().filter_map(|link| least_delay(figure, link)).collect()
}

fn least_delay(figure: &Figure, link: &str) -> Option<Verdict> {
    let of_paper = |group: &&Published| group.paper == averages::PAPER;
    let group = figure.scenario.body.published.iter().find(of_paper)?;
    let sprout = averages::find(figure, averages::SPROUT, link)?;
    let used = |series: &Series| mean(&series.figure(UTILISATION)).unwrap_or_default();
    // Other forms of Sprout are no other controllers, and CoDel is in the network.
    let others = figure.series.iter().filter(|series| {
        let is_other =
            series.system.and_then(System::contender).is_some_and(Contender::is_end_to_end);
        is_other && series.link == link && used(series) >= USE_LEAST
    });
    let delay = |series: &Series| Some((series.times.mean()?, series.system?.name()));
    let (least, name) = others.filter_map(delay).min_by(|one, other| one.0.total_cmp(&other.0))?;
    let verdict = Verdict {
        place: format!("{NEAR_LEAST} times the least of others, {least:.0} ms of {name}"),
        system: averages::SPROUT.name().to_owned(),
        link: link.to_owned(),
        statistic: "mean".to_owned(),
        published: Band { to: Some(NEAR_LEAST * least), ..Band::default() },
        ..Verdict::blank(group, figure)
    };
    let verdict = judged(group, verdict, Ours::of(figure, sprout, "mean"), figure);
    let used = used(sprout);
    let is_near = matches!(verdict.outcome, Outcome::Reproduced | Outcome::NotDecided);
    if is_near && used < USE_LEAST {
        let reason =
            format!("Sprout uses {used:.1} % of the link, less than the third asked of all");
        return Some(Verdict { outcome: Outcome::NotReproduced, reason: Some(reason), ..verdict });
    }
    Some(verdict)
}

#[cfg(test)]
mod tests {
    use rove_runs::statistics::Times;

    use super::*;
    use crate::experiment::scenario::Scenario;
    use crate::experiment::series::SeedMeans;

    #[test]
    fn a_verdict_holds_only_if_it_holds_for_every_recording() {
        let band = Band { number: Some(5.0), from: None, to: Some(5.0) };
        for (pooled, parts, outcome) in [
            (4.0, vec![], Outcome::Reproduced),
            (6.0, vec![], Outcome::NotReproduced),
            (4.0, vec![3.0, 5.0], Outcome::Reproduced),
            (4.0, vec![3.0, 400.0], Outcome::DependsOnTheRecording),
            (400.0, vec![3.0, 500.0], Outcome::DependsOnTheRecording),
            (400.0, vec![300.0, 500.0], Outcome::NotReproduced),
        ] {
            let parts = parts.into_iter().enumerate();
            let by_recording = parts.map(|(name, part)| (name.to_string(), Some(part))).collect();
            let ours = Ours { number: Some(pooled), by_recording, ..Ours::default() };
            assert_eq!(ours.outcome(band), outcome, "{ours:?}");
        }
        assert_eq!(Ours::default().outcome(band), Outcome::NotReproduced);
    }

    #[test]
    fn an_interval_across_the_edge_of_a_band_decides_nothing() {
        let band = Band { number: Some(5.0), from: Some(3.0), to: Some(7.0) };
        let undecided = "not decided: the interval crosses the band";
        for (number, interval, name) in [
            (5.0, [4.0, 6.0], "reproduced"),
            (5.0, [4.0, 8.0], undecided),
            (8.0, [6.0, 9.0], undecided),
            (5.0, [2.0, 8.0], undecided),
            (9.0, [8.0, 10.0], "not reproduced"),
        ] {
            let interval = Some(interval);
            let ours = Ours { number: Some(number), interval, ..Ours::default() };
            assert_eq!(ours.outcome(band).name(), name, "{ours:?}");
            let ours = Ours { is_of_survivors: true, ..ours };
            assert_eq!(ours.outcome(band), Outcome::NotReproduced, "{ours:?}");
        }
    }

    #[test]
    fn a_ratio_is_to_the_baseline_over_the_same_link_with_the_same_seeds() {
        let named = |scenario: &Scenario| scenario.name == "streams-steady";
        let scenario = Scenario::built_in().find(named).expect("a scenario with a baseline");
        let series = |contender, rates: [f64; 2]| {
            let means = |(seed, rate)| {
                (seed, SeedMeans { figures: vec![Some(0.0), Some(rate)], ..SeedMeans::default() })
            };
            let by_seed = [1, 2].into_iter().zip(rates).map(means).collect();
            let (system, times) = (Some(System::Flow(contender)), Times::new(vec![1.0], 0));
            Series { system, times, by_seed, ..Series::default() }
        };
        let cubic = series(Contender::Cubic, [1_000.0, 2_000.0]);
        let ledbat = series(Contender::Ledbat, [900.0, 1_800.0]);
        let figure =
            Figure { series: vec![cubic.clone(), ledbat.clone()], ..Figure::empty(scenario) };
        let ours = Ours::of(&figure, &ledbat, "kbit/s: ratio");
        assert!(ours.number.is_some_and(|ratio| (ratio - 0.9).abs() < 1e-9), "{ours:?}");
        assert!(ours.interval.is_some());
        let band = |from| Band { from: Some(from), ..Band::default() };
        assert_eq!(ours.outcome(band(0.8)), Outcome::Reproduced);
        assert_eq!(ours.outcome(band(0.95)), Outcome::NotReproduced);
        let absent = Ours::of(&figure, &ledbat, "download left (%): ratio");
        assert_eq!(absent.outcome(band(0.0)), Outcome::NotReproduced, "nobody compares it");
        let late = Series { invalid: vec!["late".to_owned()], ..cubic };
        let figure = Figure { series: vec![late, ledbat.clone()], ..figure };
        let [own, ratio] =
            ["kbit/s", "kbit/s: ratio"].map(|name| Ours::of(&figure, &ledbat, name).is_invalid);
        assert!(!own && ratio, "a ratio to invalid runs is as invalid");
    }

    #[test]
    fn the_use_that_a_near_least_delay_asks_of_others_it_asks_of_sprout() {
        let named = |scenario: &Scenario| scenario.name == "sprout-links";
        let scenario = Scenario::built_in().find(named).expect("a scenario with averages");
        let link = "T-Mobile UMTS down";
        let series = |system, used, delays: [f64; 2]| {
            let means = |delay| SeedMeans {
                times: Times::new(vec![delay], 0),
                rates: Times::default(),
                time: Some(delay),
                figures: vec![Some(300.0), Some(used), Some(delay), Some(0.0)],
            };
            Series {
                link: link.to_owned(),
                by_seed: (1..).zip(delays.map(means)).collect(),
                system: Some(system),
                times: Times::new(delays.to_vec(), 0),
                ..Series::default()
            }
        };
        let of = |used| {
            let sprout = series(averages::SPROUT, used, [90.0, 110.0]);
            let vegas = series(System::Flow(Contender::Vegas), 50.0, [190.0, 210.0]);
            let series = vec![sprout, vegas];
            let figure = Figure { series, ..Figure::empty(scenario.clone()) };
            least_delay(&figure, link).expect("a verdict")
        };
        let [little, enough] = [31.0, 34.0].map(of);
        assert_eq!(little.outcome, Outcome::NotReproduced);
        assert_eq!((enough.outcome, enough.reason), (Outcome::Reproduced, None));
        assert!(enough.ours.interval.is_some(), "over two seeds");
        let reason = little.reason.expect("it is not the delay");
        assert!(reason.contains("31.0 % of the link"), "{reason}");
    }

    #[test]
    fn a_column_without_the_runs_in_which_a_program_failed_is_not_reproduced() {
        let whole = Series { times: Times::new(vec![1.0], 1), ..Series::default() };
        let failed = Series { fault: Some("it ended".to_owned()), ..whole.clone() };
        let silent = Series { has_empty_runs: true, ..whole.clone() };
        for (series, of_survivors) in [(whole, false), (failed, true), (silent, true)] {
            assert_eq!(is_of_survivors(&series, "kbit/s"), of_survivors, "{series:?}");
        }
    }

    #[test]
    fn a_median_or_mean_of_answers_that_never_came_is_not_reproduced() {
        let group = |name: &str| -> Published {
            let result = format!("[{{ system = \"rove\", {name} = 5 }}]");
            let group = format!("paper = \"p\"\nplace = \"1\"\nresults = {result}");
            toml::from_str(&group).expect("a group")
        };
        let scenario = Scenario::built_in().next().expect("a scenario");
        let of = |name: &str, times: Vec<f64>, missing, is_absent| {
            let group = group(name);
            let (system, times) = (Some(System::Rove), Times::new(times, missing));
            let series = vec![Series { system, times, is_absent, ..Series::default() }];
            let figure = Figure { series, ..Figure::empty(scenario.clone()) };
            of_result(&group, &group.results[0], &figure, &[])[0].outcome
        };
        let outcome = |name: &str, times: Vec<f64>, missing| of(name, times, missing, false);
        assert_eq!(
            of("median", Vec::new(), 1, true),
            Outcome::NotMeasured,
            "its table is not there"
        );
        let (no, yes) = (Outcome::NotReproduced, Outcome::Reproduced);
        assert_eq!(outcome("median", vec![4.0], 9), no, "one answer of ten");
        assert_eq!(outcome("median", Vec::new(), 9), no, "no answer at all");
        assert_eq!(outcome("median", Vec::new(), 0), Outcome::NotMeasured);
        assert_eq!(outcome("median", vec![5.0; 20], 9), yes);
        assert_eq!(outcome("mean", vec![5.0; 20], 9), no, "a third never came");
        assert_eq!(outcome("mean", vec![5.0; 20], 0), yes);
    }
}
