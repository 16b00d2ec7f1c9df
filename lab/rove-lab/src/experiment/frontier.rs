//! The RemyCCs on the frontier of throughput and delay: those that no drawn system beats in both medians.

use rove_runs::statistics::{Times, resampled};

use crate::experiment::series::{Series, middle};
use crate::experiment::sweep::Figure;
use crate::experiment::system::System;

/// The RemyCCs of the paper, in the order of the weight of delay in their objectives.
const REMYCCS: [System; 3] = [System::RemyDeltaTenth, System::RemyDeltaOne, System::RemyDeltaTen];

/// Returns the drawn series over a link, or over all links without a `link`.
pub(crate) fn drawn<'a>(figure: &'a Figure, link: Option<&str>) -> Vec<&'a Series> {
    let is_of = |it: &&Series| figure.draws(it) && link.is_none_or(|link| it.link == link);
    figure.series.iter().filter(is_of).collect()
}

/// Returns how many RemyCCs among `series` are on the frontier, and the 95 % interval over the seeds.
pub(crate) fn count(series: &[&Series]) -> (f64, Option<[f64; 2]>) {
    let seeds = series.iter().map(|it| it.by_seed.len()).min().unwrap_or_default();
    let of = |drawn: &[usize]| {
        let places: Vec<_> =
            series.iter().filter_map(|it| Some((it, medians(it, drawn)?))).collect();
        let is_beaten = |[delay, rate]: [f64; 2]| {
            places.iter().any(|(_, [less, more])| *less < delay && *more > rate)
        };
        let is_on = |(series, place): &&(&&Series, [f64; 2])| {
            series.system.is_some_and(|it| REMYCCS.contains(&it)) && !is_beaten(*place)
        };
        places.iter().filter(is_on).count() as f64
    };
    (of(&Vec::from_iter(0..seeds)), resampled(seeds, of))
}

/// Returns the median delay and throughput of the seeds with these indices. `None` if either has no median.
fn medians(series: &Series, drawn: &[usize]) -> Option<[f64; 2]> {
    let (mut times, mut rates) = (Times::default(), Times::default());
    for means in drawn.iter().filter_map(|seed| series.by_seed.values().nth(*seed)) {
        times.merge(&means.times);
        rates.merge(&means.rates);
    }
    Some([times.quantile(50)?, middle(&rates)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::scenario::Scenario;
    use crate::experiment::series::SeedMeans;
    use crate::experiment::verdict::verdicts;

    #[test]
    fn a_remycc_is_on_the_frontier_unless_a_drawn_system_beats_it_in_both_medians() {
        let scenario = Scenario::built_in().find(|it| it.name == "remy-lte-8");
        let empty = Figure::empty(scenario.expect("a scenario"));
        let series = |(system, [delay, rate]): (System, [f64; 2])| {
            let of_seed = |seed: u32| {
                let shifted = |number: f64| Times::new(vec![number + f64::from(seed)], 0);
                let (times, rates) = (shifted(delay), shifted(rate));
                (u64::from(seed), SeedMeans { times, rates, ..SeedMeans::default() })
            };
            Series {
                system: Some(system),
                link: "LTE, 50 ms".to_owned(),
                times: Times::new(vec![delay], 0),
                by_seed: (1..=3).map(of_seed).collect(),
                ..Series::default()
            }
        };
        let [tenth, one, ten] = REMYCCS;
        let bulk = System::RemyTwoSenders;
        for (places, outcome) in [
            ([(tenth, [90.0, 900.0]), (one, [40.0, 400.0]), (ten, [10.0, 100.0])], "reproduced"),
            ([(tenth, [90.0, 900.0]), (one, [99.0, 400.0]), (ten, [10.0, 100.0])], "reproduced"),
            (
                [(tenth, [10.0, 900.0]), (one, [99.0, 400.0]), (ten, [95.0, 100.0])],
                "not reproduced",
            ),
            // A system that the picture leaves out beats nobody.
            ([(bulk, [1.0, 999.0]), (one, [99.0, 900.0]), (ten, [95.0, 100.0])], "reproduced"),
        ] {
            let series: Vec<Series> = places.into_iter().map(series).collect();
            let verdicts = verdicts(&Figure { series, ..empty.clone() });
            let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
            assert_eq!(verdict.outcome.name(), outcome, "{verdict:?}");
            assert_eq!(verdict.subject(), "remy-lte-8: LTE, 50 ms, RemyCCs on the frontier");
        }
    }
}
