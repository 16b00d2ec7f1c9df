//! A film of Sprout's belief. The SVG plays without scripts.

use core::fmt::Write as _;

use rove_congestion::sprout::{FORECAST_TICKS, TICK};
use rove_link::OPPORTUNITY;

use crate::experiment::conditions::Moment;
use crate::experiment::measure::PICTURE_TICKS;
use crate::picture::{Axis, INK, Look, Picture, Reading, escaped, frame, line, text};

/// Pixels at which each part's axes begin and end: x, then y upwards. The parts are belief, forecast and rate.
const PARTS: [[[f64; 2]; 2]; 3] = [
    [[72.0, 420.0], [250.0, 34.0]],
    [[500.0, 700.0], [250.0, 34.0]],
    [[72.0, 700.0], [450.0, 326.0]],
];

/// Highest rate of the estimator, in Mbit/s. Source: Sprout paper, section 3.1: 1000 packets of 1500 bytes a second.
const TOP_RATE: f64 = 12.0;

/// Width of a bar in Mbit/s. The first bar shows the probability of an outage, and lies left of 0.
const BAR: f64 = TOP_RATE / 32.0;

/// The colours of the link, the belief and the forecast.
const LOOKS: [Look; 3] = [Look::new(6, 0), Look::new(0, 0), Look::new(1, 0)];

/// Draws the film of Sprout's belief as an SVG.
pub(super) fn draw(title: &str, film: &[Moment]) -> Picture {
    let [link, belief, forecast] = LOOKS.map(Look::color);
    let axes = axes(film);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 500\" width=\"720\" height=\"500\" \
         font-family=\"sans-serif\" font-size=\"14\" fill=\"{INK}\">\n<title>{}</title>\n<style>{}</style>\n",
        escaped(title),
        style(film.len())
    );
    svg.extend(axes.iter().map(frame));
    for (at, color, label) in [
        ([246.0, 24.0], belief, "belief"),
        ([330.0, 24.0], link, "link, next 160 ms"),
        ([600.0, 24.0], forecast, "5 % forecast"),
    ] {
        let _ = writeln!(svg, "<g fill=\"{color}\">{}</g>", text(at, 0, "start", label));
    }
    for (color, of) in [(link, (|it| it.coming) as Packets), (forecast, |it| it.forecast)] {
        let [times, rates] = &axes[2];
        let at = |it: &Moment| [times.pixel(seconds(it)), rates.pixel(rate(of(it)))];
        svg += &line(&film.iter().map(at).collect::<Vec<_>>(), color, 1.5, "none");
    }
    svg += "<g>\n";
    let length = seconds_of_all(film.len());
    for (number, moment) in film.iter().enumerate() {
        let delay = seconds_of_all(number) - length;
        let _ = write!(
            svg,
            "<g class=\"moment\" style=\"animation-delay:{delay:.2}s\">\n{}</g>\n",
            drawn(&axes, moment)
        );
    }
    svg += "</g>\n</svg>\n";
    Picture { svg, reading: Reading::default() }
}

/// A function that returns the packets within 1, 2, ... ticks.
type Packets = fn(&Moment) -> [u64; FORECAST_TICKS];

/// Returns the CSS rules that show each picture in its turn. A viewer without animations sees the last one.
fn style(pictures: usize) -> String {
    let gone = 100.0 / pictures.max(1) as f64;
    format!(
        ".moment{{visibility:hidden;animation:moment {:.2}s step-end infinite}}.moment:last-child{{visibility:visible}}\
         @keyframes moment{{0%{{visibility:visible}}{gone:.4}%{{visibility:hidden}}100%{{visibility:hidden}}}}\
         @media(prefers-reduced-motion:reduce){{.moment{{animation:none}}}}",
        seconds_of_all(pictures)
    )
}

/// Returns the horizontal and the vertical axis of each of the [`PARTS`], which fit all moments.
fn axes(film: &[Moment]) -> [[Axis; 2]; 3] {
    let share = film.iter().flat_map(|it| &it.belief).max().map_or(1.0, |most| percent(*most));
    let packets = film.iter().flat_map(|it| [it.coming, it.forecast]).map(|[.., all]| all).max();
    let [begin, end] = [film.first(), film.last()].map(|it| it.map_or(0.0, seconds));
    let of = |part: usize, [x, y]: [&str; 2], [from, to]: [f64; 2], high: f64| {
        let [across, upright] = PARTS[part];
        [Axis::of(x, from..to, across), Axis::of(y, 0.0..high, upright)]
    };
    let ahead = FORECAST_TICKS as f64 * TICK.as_secs_f64() * 1e3;
    [
        of(0, ["rate (Mbit/s)", "probability (%)"], [-BAR, TOP_RATE], share),
        of(1, ["ms from now", "packets"], [0.0, ahead], packets.unwrap_or(1) as f64),
        of(2, ["time (s)", "rate (Mbit/s)"], [begin, end.max(begin + 1.0)], TOP_RATE),
    ]
}

/// Returns the parts of a picture that move.
fn drawn(axes: &[[Axis; 2]; 3], moment: &Moment) -> String {
    let [link, belief, forecast] = LOOKS.map(Look::color);
    let [[rates, shares], [ahead, packets], [times, _]] = axes;
    let [_, [bottom, top]] = PARTS[0];
    let d = bars(rates, shares, &moment.belief);
    let mut svg = format!("<path class=\"belief\" d=\"{d}\" fill=\"{belief}\"/>\n");
    let x = rates.pixel(rate(moment.coming));
    svg += &line(&[[x, bottom], [x, top]], link, 2.0, "none");
    for (of, color) in [(moment.coming, link), (moment.forecast, forecast)] {
        let tick = |(tick, count): (u32, u64)| {
            [ahead.pixel(f64::from(tick) * TICK.as_secs_f64() * 1e3), packets.pixel(count as f64)]
        };
        let points: Vec<[f64; 2]> = (0..).zip([0].into_iter().chain(of)).map(tick).collect();
        svg += &line(&points, color, 2.0, "none");
    }
    let (x, [_, [bottom, top]]) = (times.pixel(seconds(moment)), PARTS[2]);
    svg + &line(&[[x, bottom], [x, top]], INK, 1.0, "none")
}

/// Returns the SVG path of the outline of bars, from left to right.
fn bars(rates: &Axis, shares: &Axis, belief: &[u64]) -> String {
    let (width, zero) = (rates.pixel(BAR) - rates.pixel(0.0), shares.pixel(0.0));
    let bar = |share: &u64| format!("V{:.1}h{width:.2}", shares.pixel(percent(*share)));
    let bars: String = belief.iter().map(bar).collect();
    format!("M{:.1} {zero:.1}{bars}V{zero:.1}z", rates.pixel(-BAR))
}

fn percent(millionths: u64) -> f64 {
    millionths as f64 * 1e-4
}

fn seconds(moment: &Moment) -> f64 {
    moment.at as f64 * 1e-9
}

/// Returns how long `pictures` pictures last, in seconds.
fn seconds_of_all(pictures: usize) -> f64 {
    (pictures * PICTURE_TICKS) as f64 * TICK.as_secs_f64()
}

/// Returns the mean rate in Mbit/s over all ticks of a forecast, given its packets within 1, 2, ... ticks.
fn rate([.., packets]: [u64; FORECAST_TICKS]) -> f64 {
    let seconds = FORECAST_TICKS as f64 * TICK.as_secs_f64();
    packets as f64 * OPPORTUNITY.get() as f64 * 8e-6 / seconds
}

#[cfg(test)]
mod tests {
    use rove_congestion::sprout::{Bayesian, Estimator};
    use rove_flows::path::Path;
    use rove_link::{Schedule, Trace};

    use super::*;
    use crate::experiment::conditions::Conditions;
    use crate::experiment::measure::Measure;

    /// Packets of a link in each tick: 4, and none from tick 40 to 80.
    fn count(tick: u32) -> u32 {
        if (40..80).contains(&tick) { 0 } else { 4 }
    }

    /// Returns the heights of a picture's bars.
    fn heights(picture: &str) -> Vec<f64> {
        let (_, d) = picture.split_once("class=\"belief\" d=\"").expect("bars");
        let (d, _) = d.split_once('"').expect("an end");
        let number = |part: &str| part.trim_end_matches('z').split('h').next()?.parse().ok();
        d.split('V').skip(1).filter_map(number).collect()
    }

    #[test]
    fn each_picture_has_the_estimators_numbers_at_its_tick() {
        let times = (0..160).flat_map(|tick| (0..count(tick)).map(move |it| 20 * tick + 5 * it));
        let trace = Trace::from_millis(times.chain([3_200]).collect()).expect("a trace");
        let mut path: Path = "rtt=40ms".parse().expect("a path");
        path.uplink.schedule = Some(Schedule::new(trace));
        let conditions = Conditions { path: Some(&path), ..Conditions::NONE };
        let samples = Measure::Belief.run(&conditions).expect("a run");
        let axes = axes(&samples.film);
        let svg = draw("a < b", &samples.film).svg;
        let pictures: Vec<&str> = svg.split("class=\"moment\"").skip(1).collect();
        assert_eq!((pictures.len(), samples.film.len()), (38, 38));
        let (mut estimator, mut shown) = (Bayesian::new(), pictures.iter());
        for tick in 0..152 {
            estimator.tick(Some(count(tick).into()));
            if tick % 4 != 0 {
                continue;
            }
            let picture = shown.next().expect("a picture");
            let (belief, heights) = (estimator.belief(), heights(picture));
            assert_eq!(heights.len(), 34, "33 bars and the line below");
            let bars = [&belief[..1]].into_iter().chain(belief[1..].chunks(8));
            for (bins, height) in bars.zip(&heights) {
                let share = f64::from(bins.iter().sum::<f32>()) * 100.0;
                let off = (axes[0][1].pixel(share) - height).abs();
                assert!(off < 0.06, "tick {tick}: {share} % at {height}");
            }
            let promised = estimator.forecast().map(|it| axes[1][1].pixel(it));
            let last = format!("L{:.1} {:.1}\"", axes[1][0].pixel(160.0), promised[7]);
            assert!(picture.contains(&last), "tick {tick}: {last}");
            let coming = (tick + 1..tick + 9).map(count).sum::<u32>();
            let x = axes[0][0].pixel(f64::from(coming) * 1_500.0 * 8e-6 / 0.16);
            assert!(
                picture.contains(&format!("M{x:.1} 250.0L{x:.1} 34.0")),
                "tick {tick}: the rate"
            );
        }
        assert!(!svg.contains("<script") && svg.contains("a &lt; b"));
    }
}
