//! A picture of curves and points as SVG, for print and for a page: axes with ticks, intervals, and a legend.
//!
//! Text and grid have the colours [`INK`] and [`GRID`], which a page replaces by its own.

use core::ops::Range;

use serde::Serialize;

/// The picture's width, and the height of what is above the legend, in pixels.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;

/// Left and right, upper and lower end of the plotting area, in pixels.
const ACROSS: [f64; 2] = [72.0, 700.0];
const DOWN: [f64; 2] = [14.0, 346.0];

/// The size of all text in pixels. A narrow page shrinks a picture's width from 720 to 640 pixels, so 12.4 remain.
const TEXT: f64 = 14.0;

/// Greatest width of a character, and height of a line of the legend, in pixels.
const CHARACTER: f64 = 7.6;
const LINE: f64 = 20.0;

/// Colours of the systems, which colour-blind people can tell apart. Source: Okabe and Ito, *Color Universal Design*
/// (2008), but with grey and brown in place of black and yellow.
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#787878", "#8c5a2b"];

/// Shapes of the systems' marks: corners, the radius of every second corner as a share, and the turn in degrees.
const SHAPES: [(u32, f64, f64); 7] = [
    (24, 1.0, 0.0),
    (4, 1.0, 45.0),
    (3, 1.0, -90.0),
    (4, 1.0, 0.0),
    (3, 1.0, 90.0),
    (10, 0.4, -90.0),
    (8, 0.35, 0.0),
];

/// Dashes of the links' lines.
const DASHES: [&str; 4] = ["none", "8 4", "2 4", "10 4 2 4"];

pub(crate) const INK: &str = "#010101";
const GRID: &str = "#d8d8d8";

/// Pixels along a curve from mark to mark, if not every point has a mark. Chosen: a shape is always near.
const MARK_EVERY: f64 = 80.0;

/// How a system and a link look in every picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    system: usize,
    link: usize,
}

impl Look {
    /// Returns the look of a system and a link by their numbers. The first 56 systems differ in colour or in shape.
    pub(crate) const fn new(system: usize, link: usize) -> Self {
        Self { system, link }
    }

    /// Returns the colour of the system.
    pub(crate) const fn color(self) -> &'static str {
        COLORS[self.system % COLORS.len()]
    }

    const fn dash(self) -> &'static str {
        DASHES[self.link % DASHES.len()]
    }

    /// Returns the mark at a place: full, or hollow for a published result.
    fn mark(self, [x, y]: [f64; 2], is_full: bool) -> String {
        let (corners, inner, turn) = SHAPES[self.system % SHAPES.len()];
        let radius = if is_full { 4.5 } else { 7.0 };
        let corner = |number: u32| {
            let angle = (turn + 360.0 * f64::from(number) / f64::from(corners)).to_radians();
            let radius = if number % 2 == 1 { radius * inner } else { radius };
            format!("{:.1},{:.1}", x + radius * angle.cos(), y + radius * angle.sin())
        };
        let corners: Vec<String> = (0..corners).map(corner).collect();
        let color = self.color();
        let fill = if is_full { color } else { "none" };
        let points = corners.join(" ");
        format!(
            "<polygon points=\"{points}\" fill=\"{fill}\" stroke=\"{color}\" stroke-width=\"1.5\"/>\n"
        )
    }
}

/// A point, and the 95 % intervals of its x and its y where these are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) at: [f64; 2],
    pub(crate) intervals: [Option<[f64; 2]>; 2],
}

/// A curve, or the points of a scatter plot.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) label: String,
    pub(crate) look: Look,
    pub(crate) points: Vec<Point>,
}

/// The look and the place of a published result.
pub(crate) type Mark = (Look, [f64; 2]);

/// How curves are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Staircases with a mark here and there. A page shows the value of the last point left of the pointer.
    Steps,
    /// Straight lines with a mark here and there.
    Course,
    /// Lines with a mark at each point.
    Line,
    /// Marks alone.
    Cloud,
    /// Outlines with a mark at their first point. A page shows the values of that point alone.
    Outline,
}

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) ends: Range<f64>,
    pub(crate) is_log: bool,
    /// The pixels at which the axis has its first and its last value.
    pixels: [f64; 2],
}

impl Axis {
    /// Creates an axis between two pixels.
    pub(crate) fn of(label: &str, ends: Range<f64>, pixels: [f64; 2]) -> Self {
        Self { label: label.to_owned(), ends, is_log: false, pixels }
    }

    /// Creates a horizontal axis. If it `falls`, small values are at the right: for quantities of which less is better.
    pub(crate) fn across(label: &str, ends: Range<f64>, is_log: bool, falls: bool) -> Self {
        let [left, right] = ACROSS;
        let pixels = if falls { [right, left] } else { [left, right] };
        Self { label: label.to_owned(), ends, is_log, pixels }
    }

    /// Creates a vertical axis.
    pub(crate) fn upright(label: &str, ends: Range<f64>) -> Self {
        let [top, bottom] = DOWN;
        Self::of(label, ends, [bottom, top])
    }

    /// Returns the pixel of a value. A value beyond an end has the pixel of that end.
    pub(crate) fn pixel(&self, value: f64) -> f64 {
        let Range { start, end } = self.ends;
        let value = value.clamp(start, end);
        let share = if self.is_log {
            (value / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        };
        let [first, last] = self.pixels;
        first + (last - first) * share
    }

    /// Returns the values at ticks. An axis without a label has none. A logarithmic axis has powers of ten, and if it
    /// is short 2 and 5 times those. With fewer than three of them it has equal steps, as a linear axis does.
    fn ticks(&self) -> Vec<f64> {
        let Range { start, end } = self.ends;
        if self.label.is_empty() {
            return Vec::new();
        }
        if self.is_log {
            let steps: &[f64] = if end / start > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let first = start.log10().floor();
            let powers = (0..20).map(|power| 10_f64.powf(first + f64::from(power)));
            let ticks = powers.flat_map(|power| steps.iter().map(move |step| step * power));
            let ticks: Vec<f64> =
                ticks.filter(|tick| (start * 0.999..=end * 1.001).contains(tick)).collect();
            if ticks.len() > 2 {
                return ticks;
            }
        }
        let power = 10_f64.powf(((end - start) / 4.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| (end - start) / step <= 7.0).unwrap_or(end);
        let first = (start / step).ceil() * step;
        let ticks = (0..10).map(|number| first + f64::from(number) * step);
        ticks.filter(|tick| *tick <= end + step * 1e-6).collect()
    }
}

/// A drawn figure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    pub(crate) svg: String,
    /// The values that a page shows beside the pointer.
    pub(crate) reading: Reading,
}

/// The values by which a page tells the user what is under the pointer.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Reading {
    /// The picture's width, in pixels.
    width: f64,
    /// Whether a curve is a staircase: between two points it keeps the value of the left one.
    is_steps: bool,
    /// The axes' names: x, y.
    labels: [String; 2],
    curves: Vec<ReadCurve>,
}

/// A curve of a [`Reading`]: its values, and the pixels where they lie.
#[derive(Clone, Debug, Serialize)]
struct ReadCurve {
    label: String,
    points: Vec<[f64; 2]>,
    pixels: Vec<[f64; 2]>,
}

/// Draws curves, and hollow marks of published results.
pub(crate) fn draw(
    title: &str,
    axes: &[Axis; 2],
    kind: Kind,
    curves: &[Curve],
    marks: &[Mark],
) -> Picture {
    let place = |at: [f64; 2]| [axes[0].pixel(at[0]), axes[1].pixel(at[1])];
    let (legend, height) = legend(curves, !marks.is_empty());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"{TEXT}\" fill=\"{INK}\">\n<title>{}</title>\n",
        escaped(title)
    );
    svg.push_str(&frame(axes));
    for curve in curves {
        svg.push_str(&drawn(curve, kind, place));
    }
    svg.extend(marks.iter().map(|(look, at)| look.mark(place(*at), false)));
    svg.push_str(&legend);
    svg.push_str("</svg>\n");
    let read = |curve: &Curve| {
        let count = if kind == Kind::Outline { 1 } else { curve.points.len() };
        let points: Vec<[f64; 2]> = curve.points.iter().map(|point| point.at).take(count).collect();
        let pixels = points.iter().map(|at| place(*at).map(f64::round)).collect();
        ReadCurve { label: curve.label.clone(), points, pixels }
    };
    let reading = Reading {
        width: WIDTH,
        is_steps: kind == Kind::Steps,
        labels: [axes[0].label.clone(), axes[1].label.clone()],
        curves: curves.iter().map(read).collect(),
    };
    Picture { svg, reading }
}

/// Returns a line, maybe with dashes.
pub(crate) fn line(places: &[[f64; 2]], color: &str, width: f64, dash: &str) -> String {
    let texts: Vec<String> = places.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
    let dash = if dash == "none" { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    let d = texts.join("L");
    format!("<path d=\"M{d}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dash}/>\n")
}

/// Returns a text at a place, turned by `turn` degrees. `anchor` is SVG's `text-anchor`.
pub(crate) fn text([x, y]: [f64; 2], turn: i32, anchor: &str, text: &str) -> String {
    let (place, text) = (format!("translate({x:.1} {y:.1}) rotate({turn})"), escaped(text));
    format!("<text transform=\"{place}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

/// Returns the axes with their ticks and names.
pub(crate) fn frame([across, upright]: &[Axis; 2]) -> String {
    let sorted = |[one, other]: [f64; 2]| [one.min(other), one.max(other)];
    let ([left, right], [top, bottom]) = (sorted(across.pixels), sorted(upright.pixels));
    let mut svg = String::new();
    for tick in across.ticks() {
        let x = across.pixel(tick);
        svg += &line(&[[x, top], [x, bottom]], GRID, 1.0, "none");
        svg += &line(&[[x, bottom], [x, bottom + 5.0]], INK, 1.0, "none");
        svg += &text([x, bottom + 20.0], 0, "middle", &number(tick));
    }
    for tick in upright.ticks() {
        let y = upright.pixel(tick);
        svg += &line(&[[left, y], [right, y]], GRID, 1.0, "none");
        svg += &line(&[[left - 5.0, y], [left, y]], INK, 1.0, "none");
        svg += &text([left - 9.0, y + 5.0], 0, "end", &number(tick));
    }
    svg += &line(&[[left, top], [left, bottom], [right, bottom]], INK, 1.0, "none");
    let [x, y] = [f64::midpoint(left, right), f64::midpoint(top, bottom)];
    svg += &text([x, bottom + 42.0], 0, "middle", &across.label);
    svg + &text([left - 58.0, y], -90, "middle", &upright.label)
}

fn drawn(curve: &Curve, kind: Kind, place: impl Fn([f64; 2]) -> [f64; 2]) -> String {
    let places: Vec<[f64; 2]> = curve.points.iter().map(|point| place(point.at)).collect();
    let (look, color) = (curve.look, curve.look.color());
    let corners = places.windows(2).flat_map(|pair| [pair[0], [pair[1][0], pair[0][1]]]);
    let mut svg = match kind {
        Kind::Steps => {
            let corners: Vec<_> = corners.chain(places.last().copied()).collect();
            line(&corners, color, 2.0, look.dash())
        }
        Kind::Course | Kind::Line | Kind::Outline => line(&places, color, 2.0, look.dash()),
        Kind::Cloud => String::new(),
    };
    for point in &curve.points {
        for (axis, interval) in point.intervals.iter().enumerate() {
            let end = |value: f64| {
                let mut at = point.at;
                at[axis] = value;
                place(at)
            };
            svg.extend(interval.map(|it| line(&it.map(end), color, 1.5, "none")));
        }
    }
    svg.extend(marked(&places, kind).map(|at| look.mark(at, true)));
    svg
}

/// Returns the places of a curve's marks.
fn marked(places: &[[f64; 2]], kind: Kind) -> impl Iterator<Item = [f64; 2]> {
    let mut since = 0.0;
    let has_mark = move |(number, at): (usize, &[f64; 2])| {
        let [x, y] = places[number.saturating_sub(1)];
        since += (at[0] - x).abs() + (at[1] - y).abs();
        let has_mark = match kind {
            Kind::Steps | Kind::Course => since >= MARK_EVERY,
            Kind::Outline => number == 0,
            Kind::Line | Kind::Cloud => true,
        };
        since = if has_mark { 0.0 } else { since };
        has_mark.then_some(*at)
    };
    places.iter().enumerate().filter_map(has_mark)
}

/// Returns the names of the curves in columns below the picture, and the height of picture and names together.
fn legend(curves: &[Curve], has_marks: bool) -> (String, f64) {
    let labels = curves.iter().map(|curve| (curve.label.as_str(), Some(curve.look)));
    let published = has_marks.then_some(("hollow: published", None));
    let entries: Vec<_> = labels.chain(published).collect();
    let longest = entries.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let width = u32::try_from(longest).map_or(WIDTH, |count| f64::from(count) * CHARACTER + 56.0);
    let columns = (1..10_u8).rev().find(|it| f64::from(*it) * width <= WIDTH - ACROSS[0]);
    let rows = entries.len().div_ceil(columns.unwrap_or(1).into()).max(1);
    let (mut svg, mut height) = (String::new(), HEIGHT);
    for (number, (label, look)) in entries.into_iter().enumerate() {
        let [column, row] = [number / rows, number % rows].map(|it| u32::try_from(it).unwrap_or(0));
        let x = ACROSS[0] + f64::from(column) * width;
        let y = HEIGHT + 8.0 + f64::from(row) * LINE;
        height = height.max(y + LINE);
        if let Some(look) = look {
            svg += &line(&[[x, y], [x + 30.0, y]], look.color(), 2.0, look.dash());
            svg += &look.mark([x + 15.0, y], true);
        }
        svg += &text([x + 38.0, y + 5.0], 0, "start", label);
    }
    (svg, height)
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace(char::is_control, "").replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns a number as an axis shows it.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_has_ticks_at_round_values() {
        let shown = |ends: Range<f64>, is_log| {
            let ticks = Axis::across("time", ends, is_log, false).ticks();
            ticks.into_iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(shown(0.1..1_100.0, true), ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(shown(90.0..700.0, true), ["100", "200", "500"]);
        assert_eq!(shown(103.0..118.0, true), ["105", "110", "115"]);
        assert_eq!(shown(0.0..100.0, false), ["0", "20", "40", "60", "80", "100"]);
        for (start, end) in [(0.0, 1.0), (0.1, 1.0), (99.9, 100.1), (0.0, 9e5), (0.1, 1e9)] {
            for is_log in [false, start > 0.0] {
                let ticks = shown(start..end, is_log);
                assert!((2..=11).contains(&ticks.len()), "{start} to {end}: {ticks:?}");
            }
        }
    }

    #[test]
    fn an_axis_without_a_name_has_no_ticks() {
        assert!(Axis::upright("", 0.0..100.0).ticks().is_empty());
    }

    #[test]
    fn a_value_that_should_be_small_falls_to_the_right() {
        let axis = |falls| Axis::across("", 1.0..100.0, true, falls);
        let [left, right] = ACROSS;
        assert_eq!(axis(false).pixel(10.0), f64::midpoint(left, right));
        assert_eq!([axis(false), axis(true)].map(|it| it.pixel(1.0)), [left, right]);
        assert_eq!([axis(false), axis(true)].map(|it| it.pixel(0.0)), [left, right], "the end");
    }

    #[test]
    fn a_picture_names_its_curves_and_draws_their_intervals() {
        let axes =
            [Axis::across("delay", 0.0..10.0, false, false), Axis::upright("a < b", 0.0..10.0)];
        let point = Point { at: [5.0, 5.0], intervals: [None, Some([2.5, 7.5])] };
        let curve = |label: &str, system| Curve {
            label: label.to_owned(),
            look: Look::new(system, 0),
            points: vec![point],
        };
        let curves = [curve("R&D", 0), curve("other", 8)];
        let Picture { svg, reading } =
            draw("t", &axes, Kind::Cloud, &curves, &[(Look::new(0, 0), [5.0, 5.0])]);
        for part in ["R&amp;D", "other", "a &lt; b", "hollow: published", "M386.0 263.0L386.0 97.0"]
        {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(reading.curves[1].pixels, [[386.0, 180.0]]);
        let marks = [0, 8].map(|system| Look::new(system, 0).mark([0.0, 0.0], true));
        assert_ne!(marks[0], marks[1], "the same colour has another shape");
    }
}
