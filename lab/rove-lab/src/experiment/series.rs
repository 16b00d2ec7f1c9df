//! The results of runs of one system, over one link, with one value.

use std::collections::BTreeMap;

use rove_flows::course::{ABSENT, Slot};
use rove_runs::statistics::{INSTANT, Times, interval, median, pooled_interval, to_float};

use crate::experiment::conditions::{RunFigure, Samples};
use crate::experiment::published::THROUGHPUT;
use crate::experiment::system::System;

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The index of the run's series.
    pub(crate) series: usize,
    /// The name of the run's recording. Empty for a run without a recording.
    pub(crate) recording: String,
    pub(crate) seed: u64,
    pub(crate) samples: Samples,
}

/// The samples of one system over one link with one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The system. `None` for recordings by themselves.
    pub(crate) system: Option<System>,
    /// The link's name. Empty without a link.
    pub(crate) link: String,
    /// The value that was varied.
    pub(crate) value: Option<f64>,
    /// The recording, if it is one of several.
    pub(crate) recording: Option<String>,
    /// The series of each recording by itself, if there are several.
    pub(crate) recordings: Vec<Series>,
    /// Why runs in real time are invalid. Empty if they are valid.
    pub(crate) invalid: Vec<String>,
    /// The times of all runs.
    pub(crate) times: Times,
    /// The means over all recordings for each seed that has samples, from which 95 % intervals are computed.
    pub(crate) by_seed: BTreeMap<u64, SeedMeans>,
    /// Queueing delay in ms and throughput in kbit/s of each sender that shares a path.
    pub(crate) pairs: Vec<[f64; 2]>,
    /// The slots of the first run that has slots.
    pub(crate) course: Vec<Slot>,
    /// Whether any of the runs cannot be made on this computer.
    pub(crate) is_absent: bool,
    /// Whether any of the runs has no figures because no sample came in it.
    pub(crate) has_empty_runs: bool,
    /// The fault of a controller that is a program, in any of the runs.
    pub(crate) fault: Option<String>,
}

/// The means over the runs of one seed, with all recordings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SeedMeans {
    /// The times of these runs.
    pub(crate) times: Times,
    /// The throughputs of senders that share a path, in kbit/s.
    pub(crate) rates: Times,
    /// The mean of the times that came. `None` if none came.
    pub(crate) time: Option<f64>,
    /// The means of the runs' other figures, in the order of the measurement's figures.
    pub(crate) figures: Vec<Option<f64>>,
}

impl SeedMeans {
    /// Returns the means of runs. `None` if they have no samples. Runs differ in their number of keys, so that each
    /// run's percentages weigh by its number of samples.
    pub(crate) fn of(figures: &[RunFigure], runs: &[&Samples]) -> Option<Self> {
        let times = runs.iter().flat_map(|samples| samples.millis()).collect();
        let times = Times::new(times, runs.iter().map(|samples| samples.missing).sum());
        let time = times.mean();
        let rates = runs.iter().flat_map(|it| &it.pairs).map(|[_, rate]| to_float(*rate) * 1e-3);
        let rates = Times::new(rates.collect(), 0);
        let figure = |number: usize| {
            let of_run = |samples: &&Samples| run_figures(figures, samples).nth(number).flatten();
            let weight = |samples: &Samples| match figures[number].is_share() {
                true => to_float(samples.times.len() as u64 + samples.missing).max(1.0),
                false => 1.0,
            };
            let known = runs.iter().filter_map(|it| Some((of_run(it)?, weight(it))));
            let (sum, weights) = known.fold((0.0, 0.0), |(sum, weights), (number, weight)| {
                (number.mul_add(weight, sum), weights + weight)
            });
            (weights > 0.0).then(|| sum / weights)
        };
        (times.count() > 0).then_some(())?;
        Some(Self { times, rates, time, figures: (0..figures.len()).map(figure).collect() })
    }

    /// Returns a figure's mean. `None` if the runs do not have it.
    pub(crate) fn known(&self, figure: usize) -> Option<f64> {
        self.figures.get(figure).copied().flatten()
    }
}

/// Returns the figures of a run in their units.
pub(crate) fn run_figures(
    figures: &[RunFigure],
    samples: &Samples,
) -> impl Iterator<Item = Option<f64>> {
    let known = |number: usize| samples.figures.get(number).copied().filter(|it| *it != ABSENT);
    let number = move |number: usize| known(number).map(to_float);
    figures.iter().enumerate().map(move |(place, figure)| Some(figure.scale * number(place)?))
}

/// Returns a statistic of times by its name.
pub(crate) fn of_times(name: &str) -> Option<fn(&Times) -> Option<f64>> {
    Some(match name {
        "median" => |times| times.quantile(50),
        "mean" => Times::mean,
        "deviation" => Times::deviation,
        "p90" => |times| times.quantile(90),
        "p95" => |times| times.quantile(95),
        "p99" => |times| times.quantile(99),
        "instant" => |times| (times.count() > 0).then(|| times.share_below(INSTANT)),
        _ => return None,
    })
}

/// Returns the median of rates: of an even number the mean of the middle two. `None` without rates.
pub(crate) fn middle(rates: &Times) -> Option<f64> {
    (rates.count() > 0).then(|| median(rates.known()))
}

fn place(figures: &[RunFigure], name: &str) -> Option<usize> {
    figures.iter().position(|figure| figure.name == name)
}

impl Series {
    /// Returns the name of the series' system. Empty without a system.
    pub(crate) fn system_name(&self) -> &'static str {
        self.system.map_or("", System::name)
    }

    /// Returns a statistic by its name: of the times, or the mean over the seeds of a figure of the runs.
    pub(crate) fn statistic(&self, figures: &[RunFigure], name: &str) -> Option<f64> {
        match (name, of_times(name)) {
            (_, Some(statistic)) => statistic(&self.times),
            (THROUGHPUT, _) => self.median_throughput(),
            _ => Times::new(self.figure(place(figures, name)?), 0).mean(),
        }
    }

    /// Returns the 95 % interval of a statistic over the seeds, if it has one.
    pub(crate) fn interval(&self, figures: &[RunFigure], name: &str) -> Option<[f64; 2]> {
        let of = |times: fn(&SeedMeans) -> &Times| -> Vec<&Times> {
            self.by_seed.values().map(times).collect()
        };
        match (name, of_times(name)) {
            (_, Some(statistic)) => pooled_interval(&of(|means| &means.times), statistic),
            (THROUGHPUT, _) => pooled_interval(&of(|means| &means.rates), middle),
            _ => interval(&self.figure(place(figures, name)?)),
        }
    }

    /// Returns the median of the throughputs of senders that share a path, in kbit/s.
    pub(crate) fn median_throughput(&self) -> Option<f64> {
        middle(&Times::new(self.pairs.iter().map(|pair| pair[1]).collect(), 0))
    }

    /// Returns the values of a figure by its number, one for each seed that has it.
    pub(crate) fn figure(&self, number: usize) -> Vec<f64> {
        self.by_seed.values().filter_map(|means| means.known(number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_p90_and_instant_have_intervals_over_the_seeds() {
        let run = |millis: [u64; 4]| Samples {
            times: millis.map(|it| it * 1_000_000).to_vec(),
            ..Samples::default()
        };
        let runs = [run([1, 2, 500, 900]), run([1, 600, 700, 800]), run([1, 2, 3, 400])];
        let all = runs.iter().flat_map(Samples::millis).collect();
        let mut series = Series { times: Times::new(all, 0), ..Series::default() };
        for (seed, run) in (1..).zip(&runs) {
            series.by_seed.extend(SeedMeans::of(&[], &[run]).map(|means| (seed, means)));
        }
        for name in ["mean", "median", "p90", "instant"] {
            let number = series.statistic(&[], name).expect("times");
            let [low, high] = series.interval(&[], name).expect("three seeds");
            assert!(low <= number && number <= high && low < high, "{name}: {low} {number} {high}");
        }
        assert_eq!(series.interval(&[], "speed"), None);
    }

    #[test]
    fn the_throughput_of_senders_has_an_interval_over_the_seeds() {
        let mut series = Series::default();
        for (seed, rates) in (1..).zip([[900, 1_000, 1_100], [700, 800, 900], [950, 1_050, 1_150]])
        {
            let pairs = rates.map(|rate| [2_000_000, rate * 1_000]).to_vec();
            let run = Samples { times: vec![2_000_000], pairs, ..Samples::default() };
            series.pairs.extend(rates.map(|rate| [2.0, to_float(rate)]));
            series.by_seed.extend(SeedMeans::of(&[], &[&run]).map(|means| (seed, means)));
        }
        let number = series.statistic(&[], THROUGHPUT).expect("senders");
        let [low, high] = series.interval(&[], THROUGHPUT).expect("three seeds");
        assert!(low <= number && number <= high && low < high, "{low} {number} {high}");
    }

    #[test]
    fn a_seed_in_which_nothing_came_counts_in_the_interval() {
        let run = |times: Vec<u64>, missing| Samples { times, missing, ..Samples::default() };
        let runs = [run(vec![1_000_000; 9], 0), run(vec![2_000_000; 9], 0), run(Vec::new(), 9)];
        let mut series = Series { times: Times::new(Vec::new(), 0), ..Series::default() };
        for (seed, run) in (1..).zip(&runs) {
            let means = SeedMeans::of(&[], &[run]).expect("it has samples");
            series.times.merge(&means.times);
            series.by_seed.insert(seed, means);
        }
        let [median, p90] = ["median", "p90"].map(|name| series.interval(&[], name));
        assert_eq!((series.statistic(&[], "p90"), p90), (None, None));
        assert_eq!(median, None, "a third of all draws of three seeds have the last one twice");
    }

    #[test]
    fn a_share_is_of_the_keys_of_all_recordings() {
        let figures = [RunFigure { name: "wrong (%)", scale: 1e-4, is_compared: false }];
        let run = |keys, wrong: u64| Samples {
            times: vec![0; keys],
            figures: vec![wrong * 1_000_000 / keys as u64],
            ..Samples::default()
        };
        let (few, many) = (run(10, 5), run(990, 5));
        let nothing = Samples { figures: vec![ABSENT], ..Samples::default() };
        let means = SeedMeans::of(&figures, &[&few, &many, &nothing]).expect("keys");
        let share = means.known(0).expect("a share");
        assert!((share - 1.0).abs() < 1e-3, "10 of 1000 keys: {share}");
    }

    #[test]
    fn the_mean_of_all_samples_lies_in_its_interval_if_most_are_of_one_run() {
        let run = |nanos, count| Samples { times: vec![nanos; count], ..Samples::default() };
        let runs = [(1, 1_000), (9, 4), (9, 4), (9, 4), (9, 4), (9, 4)];
        let runs = runs.map(|(millis, count)| run(millis * 1_000_000, count));
        let all = runs.iter().flat_map(Samples::millis).collect();
        let mut series = Series { times: Times::new(all, 0), ..Series::default() };
        for (seed, run) in (1..).zip(&runs) {
            series.by_seed.extend(SeedMeans::of(&[], &[run]).map(|means| (seed, means)));
        }
        let number = series.statistic(&[], "mean").expect("times");
        let [low, high] = series.interval(&[], "mean").expect("six seeds");
        assert!(low <= number && number <= high, "{low} {number} {high}");
    }
}
