//! The hollow marks of a picture: published numbers, at the places that our curves would have with these numbers.

use rove_flows::course::{DELAY, QUANTITIES};
use rove_runs::statistics::{INSTANT, mean};

use crate::experiment::measure;
use crate::experiment::published::{ALL_LINKS, THROUGHPUT};
use crate::experiment::scenario::Plot;
use crate::experiment::series::Series;
use crate::experiment::sweep::Figure;
use crate::experiment::verdict;

/// Names of statistics: the share of a link that is used, and the throughput of a flow over it.
const USE: &str = "use (%)";
const KBIT_S: &str = "kbit/s";

/// Returns the marks of a picture: the label of the curve that each belongs to, and the place. A scatter plot of all
/// links has only published averages, if there are any. Numbers of a single link are in that link's own picture.
pub(crate) fn marks(figure: &Figure) -> Vec<(String, [f64; 2])> {
    let body = &figure.scenario.body;
    let groups = body.published.iter();
    let results = groups.flat_map(|group| group.results.iter().map(move |it| (group, it)));
    let is_average = |link: &Option<String>| link.as_deref() == Some(ALL_LINKS);
    let has_links = figure.series.iter().any(|series| series.link != figure.series[0].link);
    let has_averages = has_links && results.clone().any(|(_, result)| is_average(&result.link));
    let mut marks = Vec::new();
    for (group, result) in results.filter(|(_, it)| is_average(&it.link) == has_averages) {
        let number =
            |name: &str| result.numbers.get(name).and_then(|number| group.band(*number).number);
        if has_averages {
            let place = number("mean").zip(number(USE));
            marks.extend(place.map(|place| (result.name().to_owned(), place.into())));
            continue;
        }
        for series in figure.series.iter().filter(|it| verdict::is_of(result, figure, it, "")) {
            let places = places(figure, series, number);
            marks.extend(places.into_iter().map(|at| (series.curve_label(body), at)));
        }
    }
    marks
}

/// Returns where the numbers of a published result lie in the picture of a series.
fn places(figure: &Figure, series: &Series, number: impl Fn(&str) -> Option<f64>) -> Vec<[f64; 2]> {
    let body = &figure.scenario.body;
    let places = match body.plot {
        Plot::Distribution => {
            let shares = [("median", 50.0), ("p90", 90.0), ("p99", 99.0)];
            let shares = shares.map(|(name, share)| number(name).zip(Some(share)));
            // A published mean has no share of samples. Its mark gets the height at which our curve has our mean.
            let mean = series.times.mean().map(|ours| series.times.share_below(ours));
            let others = [number("mean").zip(mean), Some(INSTANT).zip(number("instant"))];
            [&shares[..], &others].concat()
        }
        Plot::MeanByValue => {
            vec![series.value.zip(number(body.shown.as_deref().unwrap_or("mean")))]
        }
        Plot::Ellipses => vec![number("median").zip(number(THROUGHPUT))],
        Plot::UseByTime => {
            let used = || Some(number(KBIT_S)? * use_per_rate(series)?);
            // A published share without a delay is drawn at our delay.
            let delay = number("mean").or_else(|| series.times.mean());
            vec![delay.zip(number(USE).or_else(used))]
        }
        Plot::Belief => Vec::new(),
        // The mark lies on the row of its box. Only the picture knows the row's height.
        Plot::Boxes => vec![number("median").or_else(|| number("mean")).zip(Some(0.0))],
        Plot::Course => {
            let (shown, end) = (body.shown_quantity(), series.course.last());
            let end = end.map(|slot| slot[0] as f64 * QUANTITIES[0].1);
            let numbers = if shown == DELAY {
                ["median", "mean"].map(|name| Some(number(name)? / 1e3)).to_vec()
            } else {
                vec![number(QUANTITIES[shown].0)]
            };
            numbers.into_iter().map(|number| end.zip(number)).collect()
        }
    };
    places.into_iter().flatten().map(<[f64; 2]>::from).collect()
}

/// Returns the percentage of the link that each kbit/s of a flow uses.
fn use_per_rate(series: &Series) -> Option<f64> {
    let of = |place| mean(&series.figure(place));
    let (rate, used) = of(measure::THROUGHPUT).zip(of(measure::UTILISATION))?;
    (rate > 0.0).then(|| used / rate)
}

#[cfg(test)]
mod tests {
    use rove_flows::course::QUEUE;
    use rove_runs::statistics::Times;

    use super::*;
    use crate::experiment::scenario::Scenario;
    use crate::experiment::series::SeedMeans;

    /// Returns a figure with a series for each of some links, and the figure's marks.
    fn marked(
        head: &str,
        results: &str,
        series: &Series,
        links: &[&str],
    ) -> Vec<(String, [f64; 2])> {
        let all: String = ["a", "b"]
            .map(|name| format!("[[link]]\nname = \"{name}\"\npath = \"rtt=40ms,rate=1M\"\n"))
            .concat();
        let text = format!(
            "title = \"t\"\nabout = \"a\"\nsystems = [\"cubic\"]\n{head}\n{all}[[published]]\npaper = \"p\"\nplace = \"1\"\n\
             results = [{results}]\n"
        );
        let scenario = Scenario::parse("s", "s.toml", &text).expect("a scenario");
        let system = scenario.body.systems.first().copied();
        let of_link = |link: &&str| Series { system, link: (*link).to_owned(), ..series.clone() };
        marks(&Figure { series: links.iter().map(of_link).collect(), ..Figure::empty(scenario) })
    }

    #[test]
    fn the_picture_of_a_link_has_the_numbers_of_that_link_and_that_of_all_the_averages() {
        // With 200 kbit/s this flow uses 40 % of its link.
        let means = SeedMeans {
            figures: [200.0, 40.0, 9.0, 0.0].map(Some).to_vec(),
            ..SeedMeans::default()
        };
        let mut series = Series { times: Times::new(vec![7.0], 0), ..Series::default() };
        series.by_seed.insert(1, means);
        let results = "{ system = \"cubic\", link = \"all links\", \"use (%)\" = 55, mean = 300 },\
                       { system = \"cubic\", link = \"a\", \"kbit/s\" = 300, mean = 70 },\
                       { system = \"cubic\", link = \"b\", \"use (%)\" = 80, mean = 90 }";
        let head = "measure = \"flow\"\nplot = \"use-by-time\"";
        let of = |links: &[&str]| marked(head, results, &series, links);
        assert_eq!(of(&["a", "b"]), [("CUBIC".to_owned(), [300.0, 55.0])]);
        assert_eq!(of(&["a"]), [("CUBIC".to_owned(), [70.0, 60.0])]);
        assert_eq!(of(&["b"]), [("CUBIC".to_owned(), [90.0, 80.0])]);
        let share = "{ system = \"cubic\", \"use (%)\" = 35 }";
        let marks = marked(head, share, &series, &["a"]);
        assert_eq!(marks, [("CUBIC".to_owned(), [7.0, 35.0])], "a share lies at our delay");
        let head = "measure = \"flow\"\nplot = \"use-by-time\"\nvalue = \"packets\"\nvalues = [5]";
        let varied = Series { value: Some(5.0), ..series };
        let marks = marked(
            head,
            "{ system = \"cubic\", value = 5, \"kbit/s\" = 300, mean = 70 }",
            &varied,
            &["a"],
        );
        assert_eq!(marks, [("CUBIC, a".to_owned(), [70.0, 60.0])], "the label of its line");
    }

    #[test]
    fn a_mean_lies_at_the_height_of_ours_and_a_number_of_a_course_at_its_end() {
        let series =
            Series { times: Times::new(vec![1.0, 2.0, 3.0, 10.0], 0), ..Series::default() };
        let rove = |head: &str, results: &str, series: &Series| {
            let marks =
                marked(head, &format!("{{ system = \"cubic\", {results} }}"), series, &["a"]);
            marks.into_iter().map(|(_, at)| at).collect::<Vec<_>>()
        };
        let head = "measure = \"flow\"\nplot = \"distribution\"";
        let places = rove(head, "median = 8, mean = 6, instant = 70", &series);
        assert_eq!(places, [[8.0, 50.0], [6.0, 75.0], [5.0, 70.0]]);
        let mut slot = [0; QUANTITIES.len()];
        (slot[0], slot[QUEUE]) = (20_000_000_000, 4_000);
        let course = Series { course: vec![slot], ..series.clone() };
        let head = "measure = \"course\"\nplot = \"course\"\nquantity = \"QUANTITY\"";
        let of = |quantity| {
            let numbers = "median = 5360, mean = 5030, \"queue (kB)\" = 3";
            rove(&head.replace("QUANTITY", quantity), numbers, &course)
        };
        assert_eq!(of("delay"), [[20.0, 5.36], [20.0, 5.03]]);
        assert_eq!(of("queue"), [[20.0, 3.0]]);
        assert!(of("rate").is_empty());
    }
}
