//! A figure as a picture: SVG whose colours follow the page that it stands on.

use core::ops::Range;

use anyhow::{Result, anyhow};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use rove_runs::statistics::Times;
use serde::Serialize;

use crate::experiment::measure::UTILISATION;
use crate::experiment::scenario::Plot;
use crate::experiment::series::Series;
use crate::experiment::sweep::Figure;
use crate::experiment::verdict;

/// The picture's size, in pixels.
const SIZE: (u32, u32) = (860, 430);

/// Most points of a curve: further ones cannot be seen.
const POINTS_MAX: usize = 400;

/// Points of an ellipse's outline.
const OUTLINE_POINTS: u32 = 72;

/// Colours of the curves, told apart by people who see fewer. Source: Okabe and Ito, *Color Universal Design* (2008).
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 120, 120),
];

/// Colours that stand for those of the page; no curve has them.
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);

/// A drawn figure.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Picture {
    /// The SVG.
    pub(crate) svg: String,
    /// Scales by which a page reads values off it.
    pub(crate) reading: Reading,
}

/// How pixels and values belong together, and the curves' values.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Reading {
    /// The picture's width and height, in pixels.
    size: (u32, u32),
    /// Left and right end of the plotting area, in pixels.
    pixels_x: (i32, i32),
    /// Upper and lower end.
    pixels_y: (i32, i32),
    /// The axis's ends.
    x: (f64, f64),
    /// Whether it is logarithmic.
    is_log: bool,
    /// The axes' names: x, y.
    labels: (String, String),
    curves: Vec<Curve>,
    /// Places of published results, with the colours of the curves that they belong to.
    #[serde(skip)]
    pub(crate) marks: Vec<(RGBColor, (f64, f64))>,
}

impl Reading {
    /// Returns the curves' names and colours.
    pub(crate) fn legend(&self) -> Vec<serde_json::Value> {
        let entry =
            |curve: &Curve| serde_json::json!({ "label": curve.label, "color": curve.color });
        self.curves.iter().map(entry).collect()
    }
}

/// A curve: its points from left to right.
#[derive(Clone, Debug, Serialize)]
struct Curve {
    label: String,
    color: String,
    points: Vec<(f64, f64)>,
}

/// Draws a figure.
///
/// # Errors
///
/// Returns an error if the plotting crate refuses.
pub(crate) fn draw(figure: &Figure) -> Result<Picture> {
    let (labelled, x_label, y_label) = match figure.scenario.body.plot {
        Plot::Distribution => {
            let curves = drawn(figure).map(|series| (series.label(), distribution(series)));
            let curves: Vec<_> = curves.collect();
            (curves, figure.scenario.body.measure.axis().to_owned(), "share (%)".to_owned())
        }
        Plot::MeanByValue => {
            let value = figure.scenario.body.value.clone().unwrap_or_default();
            (by_value(figure), value, format!("mean {}", figure.scenario.body.measure.axis()))
        }
        Plot::Ellipses => {
            let outlines = drawn(figure).map(|series| (series.label(), ellipse(&series.pairs)));
            let y_label = "throughput of a sender (kbit/s)".to_owned();
            (outlines.collect(), figure.scenario.body.measure.axis().to_owned(), y_label)
        }
        Plot::UseByTime => {
            let x = figure.scenario.body.measure.axis().to_owned();
            (use_by_time(figure), x, "use of the link (%)".to_owned())
        }
    };
    let curves: Vec<Curve> = labelled
        .into_iter()
        .enumerate()
        .map(|(number, (label, points))| {
            let RGBColor(r, g, b) = COLORS[number % COLORS.len()];
            Curve { label, color: format!("#{r:02x}{g:02x}{b:02x}"), points }
        })
        .collect();
    let mark = |(label, [x, y]): (String, [f64; 2])| {
        let place = curves.iter().position(|curve| curve.label == label)?;
        Some((COLORS[place % COLORS.len()], (x, y)))
    };
    let marks: Vec<_> = verdict::marks(figure).into_iter().filter_map(mark).collect();
    let points =
        || curves.iter().flat_map(|curve| &curve.points).chain(marks.iter().map(|it| &it.1));
    let xs = points().map(|point| point.0);
    let ys = points().map(|point| point.1);
    let (x_low, x_high) = ends(xs);
    let (_, y_high) = ends(ys);
    let shows = |plot| figure.scenario.body.plot == plot;
    let (is_distribution, are_points) = (shows(Plot::Distribution), shows(Plot::UseByTime));
    let y = 0.0..if is_distribution || are_points { 100.0 } else { (y_high * 1.1).max(1.0) };
    // A logarithmic axis has no place for 0, where a value may begin; a time below a tenth of a millisecond is none.
    let is_log = is_distribution || are_points || x_low > 0.0;
    let ends = if is_log {
        x_low.max(0.1)..(x_high * 1.1).max(1.0)
    } else {
        x_low..(x_high * 1.05).max(1.0)
    };
    let axes = Axes { x: XAxis { ends, is_log }, y, labels: (x_label, y_label) };
    let has_lines = !are_points || figure.series.iter().any(|series| series.value.is_some());
    let mut picture = render(axes, has_lines, curves, marks)
        .map_err(|error| anyhow!("cannot draw {}: {error}", figure.scenario.name))?;
    if figure.scenario.body.plot == Plot::Ellipses {
        // A page reads the medians off an outline, and nothing else.
        picture.reading.curves.iter_mut().for_each(|curve| curve.points.truncate(1));
    }
    Ok(picture)
}

/// The axes.
struct Axes {
    x: XAxis,
    y: Range<f64>,
    labels: (String, String),
}

/// An axis of times or values.
#[derive(Clone)]
struct XAxis {
    ends: Range<f64>,
    is_log: bool,
}

impl XAxis {
    /// Returns how far along the axis a value lies, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let Range { start, end } = self.ends;
        if self.is_log {
            (value.max(start) / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }

    /// Returns the marks of a logarithmic axis: powers of ten, and between them 2 and 5 times those on a short one.
    fn log_marks(&self) -> Vec<f64> {
        let Range { start, end } = self.ends;
        let steps: &[f64] = if end / start > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = start.log10().floor();
        (0..20)
            .flat_map(|power| {
                steps.iter().map(move |step| step * 10_f64.powf(first + f64::from(power)))
            })
            .filter(|mark| *mark >= start * 0.999 && *mark <= end * 1.001)
            .collect()
    }
}

impl Ranged for XAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (left, right): (i32, i32)) -> i32 {
        let place = f64::from(left) + f64::from(right - left) * self.share(*value);
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of the picture")]
        let pixel = place.round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if self.is_log {
            self.log_marks()
        } else {
            RangedCoordf64::from(self.ends.clone()).key_points(hint)
        }
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

impl ValueFormatter<f64> for XAxis {
    fn format(value: &f64) -> String {
        number(*value)
    }
}

fn render(
    axes: Axes,
    has_lines: bool,
    curves: Vec<Curve>,
    marks: Vec<(RGBColor, (f64, f64))>,
) -> Result<Picture, Box<dyn core::error::Error>> {
    let mut svg = String::new();
    let reading = {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .margin_right(36)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(axes.x.clone(), axes.y.clone())?;
        let text = ("sans-serif", 14).into_font().color(&INK);
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(axes.labels.0.as_str())
            .y_desc(axes.labels.1.as_str())
            .y_label_formatter(&|value| number(*value))
            .draw()?;
        for (curve, color) in curves.iter().zip(COLORS.iter().cycle()) {
            let points = curve.points.iter().copied();
            if has_lines {
                chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
            } else {
                chart.draw_series(points.map(|point| Circle::new(point, 4, color.filled())))?;
            }
        }
        let hollow = |(color, place): &(RGBColor, _)| Circle::new(*place, 6, color.stroke_width(2));
        chart.draw_series(marks.iter().map(hollow))?;
        root.present()?;
        let (pixels_x, pixels_y) = chart.plotting_area().get_pixel_range();
        Reading {
            size: SIZE,
            pixels_x: (pixels_x.start, pixels_x.end),
            pixels_y: (pixels_y.start, pixels_y.end),
            x: (axes.x.ends.start, axes.x.ends.end),
            is_log: axes.x.is_log,
            labels: axes.labels,
            curves,
            marks,
        }
    };
    let svg = svg.replace("#010101", "currentColor").replace("#020202", "var(--grid, #d8d8d8)");
    Ok(Picture { svg, reading })
}

/// Returns the distribution of a series: for each time, the share of all samples that it is not below. Keys without an
/// answer keep a curve below 100 %.
fn distribution(series: &Series) -> Vec<(f64, f64)> {
    let known = series.times.known();
    let step = known.len().div_ceil(POINTS_MAX).max(1);
    let last = known.len().saturating_sub(1);
    let chosen = (0..known.len()).filter(|index| index % step == 0 || *index == last);
    let points = chosen.map(|index| {
        let rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let all = u32::try_from(series.times.count()).unwrap_or(u32::MAX);
        (known[index], f64::from(rank) * 100.0 / f64::from(all))
    });
    let first = known.first().map(|first| (*first, 0.0));
    first.into_iter().chain(points).collect()
}

/// Returns the series that the picture shows.
fn drawn(figure: &Figure) -> impl Iterator<Item = &Series> {
    let drawn = &figure.scenario.body.drawn;
    let is_drawn = |system| drawn.is_empty() || drawn.contains(&system);
    figure.series.iter().filter(move |series| series.system.is_none_or(is_drawn))
}

/// Returns a curve of means for each system and link.
fn by_value(figure: &Figure) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for series in drawn(figure) {
        let Some(point) = series.value.zip(series.times.mean()) else { continue };
        let label = series.label();
        match curves.iter_mut().find(|(known, _)| *known == label) {
            Some((_, points)) => points.push(point),
            None => curves.push((label, vec![point])),
        }
    }
    curves
}

/// Returns the outline of one standard deviation around the medians of pairs, with a line from its middle.
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
    // The root of the covariances: x by x, then what of y goes with it, and what does not.
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

/// Returns the points of each system, those of one link with several values as a curve.
fn use_by_time(figure: &Figure) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for series in drawn(figure) {
        let used = Times::new(series.figure(UTILISATION), 0).mean();
        let Some(point) = series.times.mean().zip(used) else { continue };
        let label = match (series.value, series.system) {
            (None, Some(system)) => system.name().to_owned(),
            _ => series.label(),
        };
        match curves.iter_mut().find(|(known, _)| *known == label) {
            Some((_, points)) => points.push(point),
            None => curves.push((label, vec![point])),
        }
    }
    for (_, points) in &mut curves {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    curves
}

/// Returns the least and the greatest of some numbers; 0 and 1 of none.
fn ends(of: impl Iterator<Item = f64>) -> (f64, f64) {
    of.fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
    .unwrap_or((0.0, 1.0))
}

/// Returns a number as an axis shows it.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_runs::statistics::Times;

    fn series(times: &[f64], missing: u64) -> Series {
        Series::of_times(None, Times::new(times.to_vec(), missing))
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
    }

    #[test]
    fn a_logarithmic_axis_is_marked_at_round_values() {
        let axis = |start, end| XAxis { ends: start..end, is_log: true };
        let marks =
            |start, end| axis(start, end).log_marks().into_iter().map(number).collect::<Vec<_>>();
        assert_eq!(marks(0.1, 1_100.0), ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(marks(90.0, 700.0), ["100", "200", "500"]);
        assert_eq!(axis(1.0, 100.0).map(&10.0, (100, 300)), 200);
        assert_eq!(axis(1.0, 100.0).map(&0.0, (100, 300)), 100, "0 is at the left end");
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
    fn numbers_are_short() {
        for (value, text) in [(0.1, "0.1"), (1000.0, "1000"), (12.5, "12.5"), (0.0, "0")] {
            assert_eq!(number(value), text);
        }
    }
}
