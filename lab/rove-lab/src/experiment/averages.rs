//! Averages of controllers over all links: the table of Sprout's paper, with intervals over the seeds.

use std::collections::BTreeMap;

use rove_flows::flow::contender::Contender;
use rove_flows::flow::sprout_form::SproutForm;
use rove_runs::report::Table;
use rove_runs::statistics::{interval, mean};
use serde::Serialize;

use crate::experiment::measure::{END_TO_END, Measure, THROUGHPUT, UTILISATION};
use crate::experiment::published::{OF_AVERAGES, range, written};
use crate::experiment::series::{SeedMeans, Series};
use crate::experiment::sweep::Figure;
use crate::experiment::system::System;

/// The paper that the averaged scenarios name.
pub(crate) const PAPER: &str = "Sprout (NSDI 2013)";

/// The form of Sprout that the paper measured: that of its published program.
pub(crate) const SPROUT: System = System::Flow(Contender::Sprout(SproutForm::PUBLISHED));

/// Sprout-EWMA of the published program, with which the paper also compares others.
pub(crate) const EWMA: System =
    System::Flow(Contender::Sprout(SproutForm { is_ewma: true, ..SproutForm::PUBLISHED }));

/// The averages of a system over all links.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    pub(crate) system: System,
    /// The values of [`OF_AVERAGES`] for each seed that has runs over all links. Ratios need Sprout's runs, too.
    by_seed: Vec<[Option<f64>; 7]>,
}

impl Average {
    /// Returns the values of a column, one for each seed. Empty if there is no column of that name.
    pub(crate) fn values(&self, name: &str) -> Vec<f64> {
        let column = OF_AVERAGES.iter().position(|its| *its == name);
        column
            .map(|column| self.by_seed.iter().filter_map(|row| row[column]).collect())
            .unwrap_or_default()
    }
}

/// Returns the average of each system. Only figures of flows over several links, without a varied value, have averages.
pub(crate) fn averages(figure: &Figure) -> Vec<Average> {
    let body = &figure.scenario.body;
    let links = counted(figure);
    if body.measure != Measure::Flow || !body.values.is_empty() || links.len() < 2 {
        return Vec::new();
    }
    let of_seed = |system: System, seed: u64| -> Option<Vec<&SeedMeans>> {
        links.iter().map(|link| find(figure, system, link)?.by_seed.get(&seed)).collect()
    };
    let row = |system: System, seed: u64| -> Option<[Option<f64>; 7]> {
        let own = of_seed(system, seed)?;
        let average = |of: &[&SeedMeans], number: fn(&SeedMeans) -> Option<f64>| {
            mean(&of.iter().map(|means| number(means)).collect::<Option<Vec<_>>>()?)
        };
        let delay = average(&own, |means| means.time)?;
        let beside = |reference| -> Option<[f64; 2]> {
            let reference = of_seed(reference, seed)?;
            let rates = reference.iter().zip(&own);
            let rates: Vec<f64> = rates
                .map(|(its, own)| Some(its.known(THROUGHPUT)? / own.known(THROUGHPUT)?))
                .collect::<Option<_>>()?;
            Some([mean(&rates)?, delay / average(&reference, |means| means.time)?])
        };
        let [sprout, ewma] =
            [SPROUT, EWMA].map(|it| beside(it).map_or([None; 2], |ratios| ratios.map(Some)));
        let score = average(&own, |it| Some((it.known(THROUGHPUT)? / it.known(END_TO_END)?).ln()))?;
        let used = average(&own, |means| means.known(UTILISATION))?;
        let score = Some(score.exp());
        Some([Some(used), Some(delay), sprout[0], sprout[1], score, ewma[0], ewma[1]])
    };
    let of = |system: &System| {
        let seeds = find(figure, *system, links[0])?.by_seed.keys();
        let by_seed: Vec<_> = seeds.filter_map(|seed| row(*system, *seed)).collect();
        (!by_seed.is_empty()).then_some(Average { system: *system, by_seed })
    };
    body.systems.iter().filter_map(of).collect()
}

/// Returns the links that averages include: all that do not have the key `apart` in the scenario.
pub(crate) fn counted(figure: &Figure) -> Vec<&str> {
    let links = figure.scenario.body.links.iter();
    links.filter(|link| !link.apart).map(|link| link.name.as_str()).collect()
}

/// Returns the series of a system over a link, if the figure has one.
pub(crate) fn find<'a>(figure: &'a Figure, system: System, link: &str) -> Option<&'a Series> {
    figure.series.iter().find(|series| series.system == Some(system) && series.link == link)
}

/// Returns the averages as text, with 95 % intervals over the seeds. Without averages, the text is empty.
pub(crate) fn to_text(averages: &[Average]) -> String {
    if averages.is_empty() {
        return String::new();
    }
    let headings = core::iter::once("all links").chain(OF_AVERAGES);
    let row = |average: &Average| {
        let columns = OF_AVERAGES.map(|name| {
            let values = average.values(name);
            let over_seeds = interval(&values).map(|ends| format!(" ({})", range(name, ends)));
            written(name, mean(&values)) + &over_seeds.unwrap_or_default()
        });
        core::iter::once(average.system.name().to_owned()).chain(columns).collect()
    };
    Table::new(headings, averages.iter().map(row)).text(8)
}

/// The averages of a system as JSON has them.
#[derive(Serialize)]
pub(crate) struct AverageJson {
    system: &'static str,
    #[serde(flatten)]
    means: BTreeMap<&'static str, Option<f64>>,
    by_seed: Vec<[Option<f64>; 7]>,
}

impl Average {
    pub(crate) fn to_json(&self) -> AverageJson {
        let means = OF_AVERAGES.map(|name| mean(&self.values(name)));
        let names = [
            "use_percent",
            "self_inflicted_ms",
            "sprouts_speed_up",
            "delay_ratio",
            "score",
            "ewmas_speed_up",
            "delay_ratio_to_ewma",
        ];
        let means = names.into_iter().zip(means).collect();
        AverageJson { system: self.system.name(), means, by_seed: self.by_seed.clone() }
    }
}
