//! A figure's data as a picture.

use clap::ValueEnum as _;
use rove_flows::course::{QUANTITIES, Slot, quantity};
use rove_flows::flow::contender::Contender;
use rove_flows::flow::sprout_form::SproutForm;
use rove_runs::statistics::{Times, interval};

use crate::experiment::link::Link;
use crate::experiment::measure::UTILISATION;
use crate::experiment::published::OF_TIMES;
use crate::experiment::scenario::{Body, Plot};
use crate::experiment::series::Series;
use crate::experiment::sweep::Figure;
use crate::experiment::system::System;
use crate::experiment::verdict;
use crate::experiment::{film, marks};
use crate::picture::{self, Axis, Curve, Kind, Look, Mark, Picture, Point};

/// Most points of a curve: further ones cannot be seen.
const POINTS_MAX: usize = 400;

/// The smallest time on a logarithmic axis, in ms.
const TIME_LEAST: f64 = 0.1;

/// Percentage of times below [`TIME_LEAST`] from which on a distribution omits them. Chosen: a smaller part matters.
const SHORT_MOST: f64 = 90.0;

/// The end of an invalid curve's label.
const INVALID: &str = ", INVALID";

/// Points of an ellipse's outline.
const OUTLINE_POINTS: u32 = 72;

/// Draws a figure.
pub(crate) fn draw(figure: &Figure) -> Picture {
    let body = &figure.scenario.body;
    let times = body.measure.axis(body.links.iter().any(Link::is_recorded));
    if body.plot == Plot::Belief {
        let shown = figure.runs.first().map(|run| &run.samples.film[..]);
        return film::draw(&figure.title(), shown.unwrap_or_default());
    }
    let (x, y) = match body.plot {
        Plot::Distribution => (times, "share (%)".to_owned()),
        Plot::MeanByValue => {
            let shown = match body.shown.as_deref() {
                None => format!("mean {times}"),
                Some("instant") => "instant (%)".to_owned(),
                Some(shown) => shown.to_owned(),
            };
            (body.value.as_deref().unwrap_or_default(), shown)
        }
        Plot::Ellipses => (times, "throughput of a sender (kbit/s)".to_owned()),
        Plot::UseByTime => (times, "use of the link (%)".to_owned()),
        Plot::Boxes | Plot::Belief => (times, String::new()),
        Plot::Course => (QUANTITIES[0].0, QUANTITIES[body.shown_quantity()].0.to_owned()),
    };
    let mut curves = curves(figure);
    let mark = |(label, at): (String, [f64; 2])| {
        let curve = curves.iter().find(|curve| curve.label == label)?;
        // The mark of a published number has no height of its own, and gets the height of the box's row.
        let [_, row] = curve.points.first()?.at;
        Some((curve.look, if body.plot == Plot::Boxes { [at[0], row] } else { at }))
    };
    let marks: Vec<Mark> = marks::marks(figure).into_iter().filter_map(mark).collect();
    let axes = axes(body, [x, &y], &curves, &marks);
    for series in drawn(figure).filter(|series| !series.invalid.is_empty()) {
        let label = series.curve_label(body);
        // The label of a box says already that it is invalid.
        let curve = curves.iter_mut().find(|it| it.label == label && body.plot != Plot::Boxes);
        curve.into_iter().for_each(|curve| curve.label += INVALID);
    }
    let kind = match body.plot {
        Plot::Distribution => Kind::Steps,
        Plot::Ellipses | Plot::Boxes => Kind::Outline,
        Plot::Course | Plot::Belief => Kind::Course,
        Plot::UseByTime if body.values.is_empty() => Kind::Cloud,
        Plot::MeanByValue | Plot::UseByTime => Kind::Line,
    };
    picture::draw(&figure.title(), &axes, kind, &curves, &marks)
}

/// Returns the axes, which hold all points with their intervals.
fn axes(body: &Body, [x, y]: [&str; 2], curves: &[Curve], marks: &[Mark]) -> [Axis; 2] {
    let places = |axis: usize| {
        let of = move |point: &Point| {
            let interval = point.intervals[axis].into_iter().flatten();
            interval.chain([point.at[axis]]).collect::<Vec<_>>()
        };
        let points = curves.iter().flat_map(|curve| &curve.points).flat_map(of);
        ends(points.chain(marks.iter().map(move |(_, at)| at[axis])))
    };
    let ((x_low, x_high), (_, y_high)) = (places(0), places(1));
    let (is_distribution, are_points) =
        (body.plot == Plot::Distribution, body.plot == Plot::UseByTime);
    let is_share = is_distribution || are_points || body.plot == Plot::Boxes;
    let y_low = if is_distribution { least_share(curves) } else { 0.0 };
    // An axis of times spans at least a millisecond, and every axis has a length.
    let end = |above: f64, is_time| if is_time || above <= 0.0 { above.max(1.0) } else { above };
    let is_of_values = matches!(body.plot, Plot::MeanByValue | Plot::Course);
    let y_is_time = body.plot == Plot::MeanByValue
        && body.shown.as_deref().is_none_or(|shown| OF_TIMES.contains(&shown));
    let y_ends = y_low..if is_share { 100.0 } else { end(y_high * 1.1, y_is_time) };
    // A logarithmic axis has no 0, at which values may begin. Times on it begin at a tenth of a millisecond.
    let is_log = is_distribution || are_points || x_low > 0.0 && body.plot != Plot::Course;
    let x_ends = if is_log {
        let least = if is_of_values { f64::MIN_POSITIVE } else { TIME_LEAST };
        (x_low * 0.95).max(least)..end(x_high * 1.1, !is_of_values)
    } else {
        x_low..end(x_high * 1.05, !is_of_values)
    };
    let falls = are_points || body.plot == Plot::Ellipses;
    [Axis::across(x, x_ends, is_log, falls), Axis::upright(y, y_ends)]
}

/// Returns a curve for each system and link. In a scatter plot, a system has one curve for all its links.
fn curves(figure: &Figure) -> Vec<Curve> {
    let body = &figure.scenario.body;
    let mut systems = drawn(figure).map(|series| series.system);
    let first = systems.next();
    let is_one = systems.all(|system| Some(system) == first);
    let mut curves: Vec<Curve> = Vec::new();
    let rows = drawn(figure).count() as f64;
    for (row, series) in drawn(figure).enumerate() {
        let is_cloud = body.plot == Plot::UseByTime && series.value.is_none();
        let label = series.curve_label(body);
        let points = match body.plot {
            Plot::Distribution => plain(distribution(series)),
            Plot::Ellipses => plain(ellipse(&series.pairs)),
            Plot::MeanByValue => by_value(figure, series).into_iter().collect(),
            Plot::UseByTime => use_by_time(series).into_iter().collect(),
            Plot::Boxes => {
                let step = 100.0 / rows;
                plain(outline(series, 100.0 - step * (row as f64 + 0.5), step / 4.0))
            }
            Plot::Course => plain(course(series, body.shown_quantity())),
            Plot::Belief => Vec::new(),
        };
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.extend(points),
            None if points.is_empty() => {}
            None => {
                let link = body.links.iter().position(|link| link.name == series.link);
                let link = link.filter(|_| !is_cloud).unwrap_or(0);
                // The links of a lone system differ in colour and shape, as systems do.
                let system = number(figure, series.system) + if is_one { link } else { 0 };
                let look = Look::new(system, link);
                curves.push(Curve { label, look, points });
            }
        }
    }
    curves
}

/// Returns the percentage at which a picture of distributions begins. It is 0, unless nearly all times are too short
/// for the axis, as where few keys have a mistake. From 0 on, the longer times would be a line at the upper end.
fn least_share(curves: &[Curve]) -> f64 {
    let short = |curve: &Curve| {
        let points = curve.points.iter().take_while(|point| point.at[0] <= TIME_LEAST);
        points.last().map_or(0.0, |point| point.at[1])
    };
    let least = curves.iter().map(short).fold(100.0, f64::min).floor();
    if (SHORT_MOST..100.0).contains(&least) { least } else { 0.0 }
}

fn plain(points: Vec<(f64, f64)>) -> Vec<Point> {
    points.into_iter().map(|(x, y)| Point { at: [x, y], ..Point::default() }).collect()
}

/// Returns a system's number, which is the same in all figures. Files come last, by their place in the scenario.
fn number(figure: &Figure, system: Option<System>) -> usize {
    let flows = Contender::value_variants().iter().copied().map(System::Flow);
    let known = System::value_variants().iter().copied().chain(flows);
    let first_form = known.clone().count();
    if let Some(System::Flow(Contender::Sprout(form))) = system {
        return first_form + form.number();
    }
    let own = figure.scenario.body.systems.iter().copied();
    let files = own.filter(|it| matches!(it, System::File(_)));
    match files.clone().position(|it| Some(it) == system) {
        Some(place) => first_form + SproutForm::COUNT + place,
        None => known.clone().position(|it| Some(it) == system).unwrap_or(0),
    }
}

/// Returns the distribution of a series: for each time, the percentage of all samples that do not exceed it. Keys
/// without an answer keep a curve below 100 %.
fn distribution(series: &Series) -> Vec<(f64, f64)> {
    let known = series.times.known();
    // Only the last of equal times counts all of them.
    let is_last = |index: &usize| known.get(index + 1) != known.get(*index);
    let steps: Vec<usize> = (0..known.len()).filter(is_last).collect();
    let step = steps.len().div_ceil(POINTS_MAX).max(1);
    let chosen = steps.iter().enumerate();
    let chosen = chosen.filter(|(place, _)| place % step == 0 || place + 1 == steps.len());
    let points = chosen.map(|(_, &index)| {
        let rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let all = u32::try_from(series.times.count()).unwrap_or(u32::MAX);
        (known[index], f64::from(rank) * 100.0 / f64::from(all))
    });
    let first = known.first().map(|first| (*first, 0.0));
    first.into_iter().chain(points).collect()
}

/// Returns the series that the picture shows.
fn drawn(figure: &Figure) -> impl Iterator<Item = &Series> {
    figure.series.iter().filter(|series| figure.draws(series))
}

/// Returns the point of a series: the varied value, and the shown statistic with its interval over the seeds.
fn by_value(figure: &Figure, series: &Series) -> Option<Point> {
    let shown = figure.scenario.body.shown.as_deref().unwrap_or("mean");
    let number = verdict::statistic(figure, series, shown);
    let interval = series.interval(figure.scenario.body.figures(), shown);
    let at: [f64; 2] = series.value.zip(number)?.into();
    Some(Point { at, intervals: [None, interval] })
}

/// Returns the ellipse of one standard deviation around the medians of pairs. It begins with a line from the middle.
fn ellipse(pairs: &[[f64; 2]]) -> Vec<(f64, f64)> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let middle = [0, 1].map(|part| {
        let mut values: Vec<f64> = pairs.iter().map(|pair| pair[part]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    });
    let count = pairs.len() as f64;
    let moment = |a: usize, b: usize| {
        pairs.iter().map(|it| (it[a] - middle[a]) * (it[b] - middle[b])).sum::<f64>() / count
    };
    // The Cholesky factor of the covariances: the deviation of x, and that of y in its parts with and without x.
    let x_by_x = moment(0, 0).sqrt();
    let y_by_x = if x_by_x > 0.0 { moment(0, 1) / x_by_x } else { 0.0 };
    let y_by_y = (moment(1, 1) - y_by_x * y_by_x).max(0.0).sqrt();
    let outline = (0..=OUTLINE_POINTS).map(|step| {
        let (sin, cos) =
            (f64::from(step) / f64::from(OUTLINE_POINTS) * core::f64::consts::TAU).sin_cos();
        let x = middle[0] + x_by_x * cos;
        (x.max(0.0), (middle[1] + y_by_x * cos + y_by_y * sin).max(0.0))
    });
    core::iter::once((middle[0], middle[1])).chain(outline).collect()
}

/// Returns the outline of a box plot at the height `y`, from the median on; nothing if its quantiles never came.
fn outline(series: &Series, y: f64, half: f64) -> Vec<(f64, f64)> {
    let quantiles = [5, 25, 50, 75, 95].map(|percent| series.times.quantile(percent));
    let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles else {
        return Vec::new();
    };
    let (low, high) = (y - half, y + half);
    let median = [(p50, y), (p50, low), (p50, high)];
    let right = [(p75, high), (p75, y), (p95, y), (p75, y), (p75, low), (p25, low)];
    let left = [(p25, y), (p5, y), (p25, y), (p25, high), (p50, high)];
    median.into_iter().chain(right).chain(left).collect()
}

/// Returns the quantity at `place` of each slot, by time.
fn course(series: &Series, place: usize) -> Vec<(f64, f64)> {
    let point = |slot: &Slot| quantity(slot, 0).zip(quantity(slot, place));
    series.course.iter().filter_map(point).collect()
}

/// Returns the mean time and the use of the link, with their intervals over the seeds.
fn use_by_time(series: &Series) -> Option<Point> {
    let uses = series.figure(UTILISATION);
    let (time, used) = series.times.mean().zip(Times::new(uses.clone(), 0).mean())?;
    Some(Point { at: [time, used], intervals: [series.interval(&[], "mean"), interval(&uses)] })
}

/// Returns the least and the greatest of some numbers. Without numbers, returns 0 and 1.
fn ends(of: impl Iterator<Item = f64>) -> (f64, f64) {
    of.fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
    .unwrap_or((0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::experiment::scenario::Scenario;
    use crate::experiment::series::SeedMeans;
    use rove_runs::statistics::Times;

    fn series(times: &[f64], missing: u64) -> Series {
        Series { times: Times::new(times.to_vec(), missing), ..Series::default() }
    }

    #[test]
    fn a_distribution_rises_to_the_share_that_was_answered() {
        let points = distribution(&series(&[1.0, 2.0, 4.0], 1));
        assert_eq!(points, [(1.0, 0.0), (1.0, 25.0), (2.0, 50.0), (4.0, 75.0)]);
        let many: Vec<f64> = (0..100_000).map(f64::from).collect();
        let points = distribution(&series(&many, 0));
        assert!(points.len() <= POINTS_MAX + 3, "{}", points.len());
        assert_eq!(points.last().map(|point| point.1), Some(100.0));
        assert!(distribution(&series(&[], 3)).is_empty());
        let few = [&[0.0; 5_000][..], &[7.0, 8.0]].concat();
        assert_eq!(distribution(&series(&few, 0)).len(), 4, "each of the few is there");
    }

    #[test]
    fn a_picture_of_few_long_times_begins_at_their_share() {
        let curve = |times: &[f64]| Curve {
            label: String::new(),
            look: Look::new(0, 0),
            points: plain(distribution(&series(times, 0))),
        };
        let few = curve(&[&[0.0; 97][..], &[50.0; 3]].concat());
        assert_eq!(least_share(core::slice::from_ref(&few)), 97.0);
        assert_eq!(least_share(&[few, curve(&[0.0, 50.0])]), 0.0);
    }

    #[test]
    fn an_ellipse_lies_around_the_medians_and_leans_with_its_pairs() {
        let pairs: Vec<[f64; 2]> =
            (-50..=50).map(|it| [100.0 + f64::from(it), 900.0 - 2.0 * f64::from(it)]).collect();
        let outline = ellipse(&pairs);
        assert_eq!(outline[0], (100.0, 900.0));
        let (x, y) = outline[1];
        let deviation = (2.0 * (1..=50).map(|it| f64::from(it * it)).sum::<f64>() / 101.0).sqrt();
        assert!((x - 100.0 - deviation).abs() < 1e-9 && (y - 900.0 + 2.0 * deviation).abs() < 1e-9);
        assert!(
            outline[1..].iter().all(|(x, y)| (y - 900.0 + 2.0 * (x - 100.0)).abs() < 1e-3),
            "a line"
        );
        assert_eq!(ellipse(&[[3.0, 4.0]])[1], (3.0, 4.0), "a point");
        assert!(ellipse(&[]).is_empty());
    }

    #[test]
    fn the_legend_names_the_curves_of_invalid_runs() {
        let scenario = Scenario::built_in().find(|it| it.name == "programs-500ms");
        let mut figure = Figure::empty(scenario.expect("a scenario in real time"));
        let valid = Series { system: Some(System::Ssh), ..series(&[500.0], 0) };
        let invalid = vec!["late".to_owned()];
        figure.series =
            vec![valid, Series { system: Some(System::Mosh), invalid, ..series(&[3.0], 0) }];
        let svg = draw(&figure).svg;
        assert!(svg.contains("stock Mosh, INVALID<") && !svg.contains("ssh, INVALID"), "{svg}");
    }

    #[test]
    fn a_line_of_a_varied_value_joins_its_points_in_the_order_of_the_values() {
        let scenario = Scenario::built_in().find(|it| it.name == "sprout-constant");
        let mut figure = Figure::empty(scenario.expect("a scenario"));
        let system = figure.scenario.body.systems[0];
        let of = |(value, delay)| {
            let mut series = Series { value: Some(value), ..series(&[delay], 0) };
            let figures = [None, Some(50.0)].to_vec();
            series.by_seed.insert(1, SeedMeans { figures, ..SeedMeans::default() });
            Series { system: Some(system), link: "constant".to_owned(), ..series }
        };
        figure.series = [(3.0, 47.0), (6.0, 42.0), (12.0, 43.0)].map(of).to_vec();
        let delays: Vec<f64> = curves(&figure)[0].points.iter().map(|point| point.at[0]).collect();
        assert_eq!(delays, [47.0, 42.0, 43.0]);
    }

    #[test]
    fn every_system_with_a_published_number_is_drawn() {
        for Scenario { name, body, .. } in Scenario::built_in() {
            let results = body.published.iter().flat_map(|group| &group.results);
            let left_out = results
                .filter_map(|result| result.system)
                .find(|system| !body.drawn.is_empty() && !body.drawn.contains(system));
            assert_eq!(left_out, None, "{name}: no curve that its hollow marks lie beside");
        }
    }

    #[test]
    fn a_box_lies_between_the_quartiles() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        let outline = outline(&series(&times, 0), 50.0, 10.0);
        assert_eq!((outline[0], outline[1]), ((50.0, 50.0), (50.0, 40.0)));
        for corner in [(25.0, 40.0), (75.0, 60.0), (5.0, 50.0), (95.0, 50.0)] {
            assert!(outline.contains(&corner), "{outline:?}");
        }
        assert!(super::outline(&series(&[1.0], 5), 50.0, 10.0).is_empty(), "most never came");
    }

    #[test]
    fn an_axis_of_values_ends_with_them_and_one_of_times_is_a_millisecond_long() {
        let scenario = Scenario::built_in().find(|it| it.body.plot == Plot::MeanByValue);
        let mut body = scenario.expect("a scenario").body;
        let curve = |at: [[f64; 2]; 2]| Curve {
            label: String::new(),
            look: Look::new(0, 0),
            points: at.map(|at| Point { at, ..Point::default() }).to_vec(),
        };
        let curve = curve([[0.01, 0.2], [0.05, 0.3]]);
        body.shown = None;
        let [x, y] = axes(&body, ["", ""], core::slice::from_ref(&curve), &[]);
        assert!(x.ends.start < 0.01 && x.ends.end < 0.06, "{:?}", x.ends);
        assert_eq!(y.ends, 0.0..1.0);
        body.shown = Some("Jain's index".to_owned());
        let [_, y] = axes(&body, ["", ""], core::slice::from_ref(&curve), &[]);
        assert!((0.3..0.4).contains(&y.ends.end), "{:?}", y.ends);
        body.plot = Plot::Distribution;
        let [x, _] = axes(&body, ["", ""], &[curve], &[]);
        assert_eq!(x.ends, 0.1..1.0);
    }

    #[test]
    fn every_system_has_a_look_of_its_own() {
        let figure = Figure::empty(Scenario::built_in().next().expect("scenarios"));
        let forms = ["sprout", "sprout-ewma", "sprout-one-way", "sprout-datagrams"];
        let forms =
            forms.map(|form| Contender::Sprout(form.to_owned().try_into().expect("a form")));
        let flows = Contender::value_variants().iter().copied().chain(forms).map(System::Flow);
        let all = System::value_variants().iter().copied().chain(flows);
        let numbers: BTreeSet<usize> = all.clone().map(|it| number(&figure, Some(it))).collect();
        assert_eq!(numbers.len(), all.count());
        assert!(numbers.last() < Some(&56), "{numbers:?}");
    }
}
