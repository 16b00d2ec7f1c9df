//! `rove-lab contest`: scores a congestion controller by throughput over delay, on recorded or drawn links.
//!
//! [`course`] are the links. [`run`] scores any other one, too:
//! `examples/contest.rs` of this crate is one in a few lines.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use rove_units::Seed;
use serde_json::{Value, json};

use crate::flow::contender::Contender;
use crate::flow::{FlowOptions, FlowReport};
use crate::parallel;

pub mod course;

pub use self::course::Course;

/// Windows of the frontier, in packets. Source: powers of two up to the most that any of the public links holds.
const WINDOWS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/// The headings of a table's first columns.
const CONTROLLER: &str = "controller";
const LINK: &str = "link";

/// A controller that takes part: its name, and how a flow of it runs.
pub type Entry<'a> = (String, Box<dyn Fn(FlowOptions) -> FlowReport + Sync + 'a>);

/// The links and the output of a contest.
#[derive(Clone, Copy, Debug)]
pub struct ContestOptions<'a> {
    /// The directory of recorded links; links are drawn where there is none.
    pub traces: Option<&'a Path>,
    /// The seed.
    pub seed: u64,
    /// Whether fixed windows run beside, for comparison.
    pub has_frontier: bool,
    /// Whether JSON is written in place of a table.
    pub json: bool,
}

/// The result on one link.
struct Score {
    entry: String,
    course: String,
    report: FlowReport,
}

impl Score {
    /// Returns kbit/s for each millisecond of the 95 % end-to-end delay; 0 if nothing arrived.
    fn points(&self) -> f64 {
        let delay = self.report.end_to_end_p95_ms.filter(|delay| *delay > 0.0);
        delay.map_or(0.0, |delay| self.report.bits_per_second / 1e3 / delay)
    }

    fn to_json(&self) -> Value {
        json!({
            "controller": self.entry, "link": self.course, "score": self.points(), "flow": self.report,
        })
    }
}

/// Returns the entry of a controller that rove brings.
pub fn entry(contender: Contender, setting: Option<f64>) -> Entry<'static> {
    let name = match setting {
        Some(setting) => format!("{}, {setting}", contender.name()),
        None => contender.name().to_owned(),
    };
    (name, Box::new(move |options| contender.run(setting, options)))
}

/// Scores entries on all links, and writes the result.
///
/// # Errors
///
/// Returns an error if the links cannot be read, or the result not be written.
pub fn run(
    mut entries: Vec<Entry<'_>>,
    options: ContestOptions<'_>,
    mut output: impl Write,
) -> Result<()> {
    let seed = Seed::new(options.seed);
    let courses = match options.traces {
        Some(directory) => Course::recorded(directory, seed)?,
        None => Course::drawn(seed),
    };
    if options.has_frontier {
        let window = |packets: &u32| entry(Contender::FixedWindow, Some(f64::from(*packets)));
        entries.extend(WINDOWS.iter().map(window));
    }
    let runs: Vec<(&Entry<'_>, &Course)> = entries
        .iter()
        .flat_map(|entry| courses.iter().map(move |course| (entry, course)))
        .collect();
    let one = |((name, run), course): &(&Entry<'_>, &Course)| Score {
        entry: name.clone(),
        course: course.name.clone(),
        report: run(course.options.clone()),
    };
    let told = |done| parallel::tell_progress("contest: ", done, runs.len());
    let scores = parallel::map(&runs, one, told);
    let text = if options.json {
        let all: Vec<Value> = scores.iter().map(Score::to_json).collect();
        serde_json::to_string_pretty(&all).context("cannot write the scores as JSON")? + "\n"
    } else {
        table(&scores, options.traces.is_none())
    };
    output.write_all(text.as_bytes()).context("cannot write standard output")
}

fn table(scores: &[Score], are_drawn: bool) -> String {
    let mut out = String::new();
    if are_drawn {
        out.push_str("links are drawn; --traces DIR or ROVE_TRACES names recorded ones\n");
    }
    let width = |of: fn(&Score) -> &str, name: &str| {
        scores.iter().map(|it| of(it).len()).chain([name.len()]).max().unwrap_or(0)
    };
    let (entry, course) = (width(|it| &it.entry, CONTROLLER), width(|it| &it.course, LINK));
    let _ = writeln!(
        out,
        "{CONTROLLER:entry$}  {LINK:course$}  {:>8}  {:>6}  {:>12}  {:>14}  {:>6}  {:>8}",
        "kbit/s", "use %", "95 % delay", "self-inflicted", "lost %", "score"
    );
    let ms =
        |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.0} ms"));
    for score in scores {
        let FlowReport { bits_per_second, utilisation, sent, lost, .. } = score.report;
        #[expect(clippy::cast_precision_loss, reason = "packets of an hour")]
        let lost = 100.0 * lost as f64 / sent.max(1) as f64;
        let share = utilisation.map_or_else(|| "-".to_owned(), |it| format!("{:.1}", 100.0 * it));
        let _ = writeln!(
            out,
            "{:entry$}  {:course$}  {:>8.0}  {share:>6}  {:>12}  {:>14}  {lost:>6.2}  {:>8.2}",
            score.entry,
            score.course,
            bits_per_second / 1e3,
            ms(score.report.end_to_end_p95_ms),
            ms(score.report.self_inflicted_ms),
            score.points(),
        );
    }
    for entry in unique(scores) {
        let points: Vec<f64> = scores
            .iter()
            .filter(|it| it.entry == entry)
            .map(|it| it.points().max(1e-9).ln())
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a handful of links")]
        let mean = (points.iter().sum::<f64>() / points.len() as f64).exp();
        let _ = writeln!(out, "score of {entry}: {mean:.2} (geometric mean of its links)");
    }
    out
}

/// Returns the entries in their order.
fn unique(scores: &[Score]) -> Vec<&str> {
    let mut names: Vec<&str> = scores.iter().map(|score| score.entry.as_str()).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sprout_beats_a_window_that_fills_the_queue_on_drawn_links() {
        let entries =
            vec![entry(Contender::Sprout, None), entry(Contender::FixedWindow, Some(1_000.0))];
        let options = ContestOptions { traces: None, seed: 1, has_frontier: false, json: false };
        let mut output = Vec::new();
        run(entries, options, &mut output).expect("drawn links need nothing");
        let text = String::from_utf8(output).expect("text");
        let score = |name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(name)).expect(name);
            let words = line[name.len()..].split_whitespace().next().expect("a number");
            words.parse().expect("a number")
        };
        let [sprout, full] = ["score of Sprout:", "score of fixed window, 1000:"].map(score);
        assert!(sprout > 3.0 * full && full > 0.1, "{text}");
    }

    #[test]
    fn a_directory_without_links_is_refused() {
        let error = Course::recorded(Path::new("src"), Seed::new(1)).expect_err("none there");
        assert!(error.to_string().contains("NAME.up and NAME.down"), "{error}");
    }
}
