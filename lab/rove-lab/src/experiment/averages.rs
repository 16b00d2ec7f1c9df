//! Controllers on the average of all links: the table of Sprout's paper, and whether its result is reproduced.

use core::fmt::Write as _;

use rove_flows::flow::contender::Contender;
use rove_flows::flow::sprout_form::SproutForm;
use rove_runs::statistics::Times;
use serde_json::{Value, json};

use crate::experiment::measure::{END_TO_END, Measure, THROUGHPUT, UTILISATION};
use crate::experiment::sweep::{Figure, Series};
use crate::experiment::system::System;
use crate::experiment::table::Verdict;

/// The least utilisation of a controller whose delay counts, in percent. Chosen: who hardly sends has no delay; a third of the link.
const USE_LEAST: f64 = 100.0 / 3.0;

/// How far above the least delay Sprout's may be. Source: our notes on the paper's results: within 20 %.
const NEAR_LEAST: f64 = 1.2;

/// The bands of mean utilisations, in percent. Source: as above; the paper has 42.1 and 79.7 %.
const SPROUT_USE: [f64; 2] = [35.0, 50.0];
const EWMA_USE: [f64; 2] = [70.0, 85.0];

/// How much larger than Sprout's CUBIC's mean delay is at least. Source: as above; the paper has 79.
const CUBIC_RATIO: f64 = 20.0;

/// The forms that the paper measured: those of its published program.
const SPROUT: System = System::Flow(Contender::Sprout(SproutForm::PUBLISHED));
const EWMA: System =
    System::Flow(Contender::Sprout(SproutForm { is_ewma: true, ..SproutForm::PUBLISHED }));

/// A system over all links.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    system: System,
    utilisation: f64,
    delay: f64,
    /// Sprout's throughput as a multiple of this one's: the mean of the links' ratios.
    speed_up: f64,
    /// This one's mean delay as a multiple of Sprout's.
    delay_ratio: f64,
    /// kbit/s for each millisecond of the 95 % end-to-end delay: the geometric mean of the links.
    score: f64,
}

/// Returns the average of each system; none of figures that are not of controllers over several links.
pub(crate) fn averages(figure: &Figure) -> Vec<Average> {
    let body = &figure.scenario.body;
    let links = counted(figure);
    if body.measure != Measure::Flow || !body.values.is_empty() || links.len() < 2 {
        return Vec::new();
    }
    let of = |system: System, number: fn(&Series) -> Option<f64>| -> Option<Vec<f64>> {
        links.iter().map(|link| number(find(figure, system, link)?)).collect()
    };
    let average = |system: &System| {
        let delays = of(*system, |series| series.times.mean())?;
        let uses = of(*system, utilisation)?;
        let speeds = of(*system, throughput)?;
        let sprout_delays = of(SPROUT, |series| series.times.mean())?;
        let sprout_speeds = of(SPROUT, throughput)?;
        let ratios = sprout_speeds.iter().zip(&speeds).map(|(sprout, this)| sprout / this);
        Some(Average {
            system: *system,
            utilisation: mean(uses)?,
            delay: mean(delays.clone())?,
            speed_up: mean(ratios.collect())?,
            delay_ratio: mean(delays)? / mean(sprout_delays)?,
            score: mean(of(*system, |series| Some(score(series)?.ln()))?)?.exp(),
        })
    };
    body.systems.iter().filter_map(average).collect()
}

/// Returns the links that averages count: those that the scenario does not set apart.
fn counted(figure: &Figure) -> Vec<&str> {
    let links = figure.scenario.body.links.iter();
    links.filter(|link| !link.apart).map(|link| link.name.as_str()).collect()
}

fn find<'a>(figure: &'a Figure, system: System, link: &str) -> Option<&'a Series> {
    figure.series.iter().find(|series| series.system == Some(system) && series.link == link)
}

fn utilisation(series: &Series) -> Option<f64> {
    mean(series.figure(UTILISATION))
}

fn throughput(series: &Series) -> Option<f64> {
    mean(series.figure(THROUGHPUT))
}

fn score(series: &Series) -> Option<f64> {
    Some(throughput(series)? / mean(series.figure(END_TO_END))?)
}

fn mean(of: Vec<f64>) -> Option<f64> {
    Times::new(of, 0).mean()
}

/// Returns the averages as text, empty where there are none.
pub(crate) fn to_text(averages: &[Average]) -> String {
    let mut out = String::new();
    if averages.is_empty() {
        return out;
    }
    let width = averages.iter().map(|it| it.system.name().len()).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{:width$}  {:>8}  {:>14}  {:>18}  {:>11}  {:>8}",
        "all links", "use (%)", "self-inflicted", "Sprout's speed-up", "delay ratio", "score"
    );
    for Average { system, utilisation, delay, speed_up, delay_ratio, score } in averages {
        let name = system.name();
        let _ = writeln!(
            out,
            "{name:width$}  {utilisation:>8.1}  {delay:>11.0} ms  {speed_up:>18.2}  {delay_ratio:>11.2}  {score:>8.2}"
        );
    }
    out
}

/// Returns the averages as JSON.
pub(crate) fn to_json(averages: &[Average]) -> Value {
    let one = |it: &Average| {
        json!({
            "system": it.system.name(),
            "use_percent": it.utilisation,
            "self_inflicted_ms": it.delay,
            "sprouts_speed_up": it.speed_up,
            "delay_ratio": it.delay_ratio,
            "score": it.score,
        })
    };
    averages.iter().map(one).collect()
}

/// Returns whether the paper's result is reproduced, a verdict for each part of it.
pub(crate) fn verdicts(figure: &Figure) -> Vec<Verdict> {
    let all = averages(figure);
    let of = |system: System| all.iter().find(|average| average.system == system);
    let Some(sprout) = of(SPROUT) else { return Vec::new() };
    let mut verdicts: Vec<Verdict> =
        counted(figure).into_iter().filter_map(|link| least_delay(figure, link)).collect();
    let band = |average: &Average, [low, high]: [f64; 2]| Verdict {
        sentence: format!(
            "mean use of {} is {:.1} %, expected {low} to {high} % (Sprout paper, here within a band)",
            average.system.name(),
            average.utilisation
        ),
        holds: (low..=high).contains(&average.utilisation),
    };
    verdicts.push(band(sprout, SPROUT_USE));
    if let Some(ewma) = of(EWMA) {
        verdicts.push(band(ewma, EWMA_USE));
        verdicts.push(Verdict {
            sentence: format!(
                "Sprout-EWMA uses {:.1} %, expected more than Sprout's {:.1} %",
                ewma.utilisation, sprout.utilisation
            ),
            holds: ewma.utilisation > sprout.utilisation,
        });
    }
    if let Some(cubic) = of(System::Flow(Contender::Cubic)) {
        verdicts.push(Verdict {
            sentence: format!(
                "mean delay of CUBIC is {:.0} times Sprout's, expected at least {CUBIC_RATIO} times (Sprout paper: 79)",
                cubic.delay_ratio
            ),
            holds: cubic.delay_ratio >= CUBIC_RATIO,
        });
    }
    verdicts
}

/// Returns whether Sprout's delay over a link is the least, or near it, of controllers that use a third of it.
fn least_delay(figure: &Figure, link: &str) -> Option<Verdict> {
    let sprout = find(figure, SPROUT, link)?.times.mean()?;
    // Other forms of Sprout are no other controllers, and CoDel is in the network.
    let others = figure.series.iter().filter(|series| {
        let is_other =
            series.system.and_then(System::contender).is_some_and(Contender::is_end_to_end);
        is_other && series.link == link && utilisation(series).is_some_and(|it| it >= USE_LEAST)
    });
    let delay = |series: &Series| Some((series.times.mean()?, series.system?.name()));
    let (least, name) = others.filter_map(delay).min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Verdict {
        sentence: format!(
            "{link}: Sprout's delay is {sprout:.0} ms, expected at most {NEAR_LEAST} times the least of others, {least:.0} ms of {name}"
        ),
        holds: sprout <= NEAR_LEAST * least,
    })
}
