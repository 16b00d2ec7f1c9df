//! The table of a run, as text and as JSON.

use rove_runs::report::{self, Table};
use rove_runs::statistics as stats;
use serde::Serialize;

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    row: String,
    /// The measured quantity.
    what: String,
    /// The unit of the figures in this line.
    unit: &'static str,
    rove: Figures,
    /// The system that is compared with rove.
    pub(super) beside: Option<Beside>,
    /// The median of the rounds' ratios of rove's figure to the compared one. `None` if both are zero in each round.
    ratio: Option<f64>,
    /// The target that rove should reach.
    pub(super) target: Option<Goal>,
}

#[derive(Clone, Debug, Serialize)]
struct Figures {
    median: f64,
    rounds: Vec<f64>,
}

/// The figures that are compared with rove's.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Beside {
    /// The name of the compared program.
    pub(super) name: &'static str,
    /// The program's figures, in the same order of rounds as rove's.
    #[serde(flatten)]
    figures: Figures,
}

/// The target that rove should reach, and whether it does (`None` if the figures do not tell).
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Goal {
    #[serde(flatten)]
    pub(super) target: Target,
    met: Option<bool>,
}

/// A target for rove's figure, which may depend on the compared figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub(super) enum Target {
    /// At most this figure, whatever the compared figure is.
    AtMost(f64),
    /// Zero in every round.
    Never,
    /// At most this multiple of the compared figure.
    RatioAtMost(f64),
    /// At least this multiple of the compared figure.
    RatioAtLeast(f64),
    /// At most this much more than the compared figure.
    ExcessAtMost(f64),
}

impl Line {
    /// Creates a line without a comparison.
    pub(super) fn new(what: impl Into<String>, unit: &'static str, rove: Vec<f64>) -> Self {
        let (row, what) = (String::new(), what.into());
        let rove = Figures { median: stats::median(&rove), rounds: rove };
        Self { row, what, unit, rove, beside: None, ratio: None, target: None }
    }

    /// Creates a line from the turns of stock Mosh and of rove. `figure` returns the figure of a turn.
    pub(super) fn of<T>(
        what: impl Into<String>,
        unit: &'static str,
        [stock, rove]: &[Vec<T>; 2],
        figure: impl Fn(&T) -> f64,
    ) -> Self {
        let line = Self::new(what, unit, rove.iter().map(&figure).collect());
        line.beside("stock", stock.iter().map(figure).collect())
    }

    /// Adds the figures of another program for comparison, and computes the ratio.
    pub(super) fn beside(self, name: &'static str, figures: Vec<f64>) -> Self {
        let ratio = Some(stats::ratio(&self.rove.rounds, &figures)).filter(|it| !it.is_nan());
        let figures = Figures { median: stats::median(&figures), rounds: figures };
        Self { beside: Some(Beside { name, figures }), ratio, ..self }
    }

    /// Sets the target, and whether rove reaches it. Call [`Line::beside`] before, if the target is relative.
    pub(super) fn target(self, target: Target) -> Self {
        let met = match target {
            Target::AtMost(most) => Some(self.rove.median <= most),
            Target::Never => Some(self.rove.rounds.iter().all(|it| *it == 0.0)),
            Target::RatioAtMost(most) => self.ratio.map(|ratio| ratio <= most),
            Target::RatioAtLeast(least) => self.ratio.map(|ratio| ratio >= least),
            Target::ExcessAtMost(most) => self.excess().map(|excess| excess <= most),
        };
        Self { target: Some(Goal { target, met }), ..self }
    }

    /// Renames the compared figures of stock Mosh to those of another rove, and removes the target.
    pub(super) fn put_beside_another_rove(&mut self) {
        if let Some(beside) = self.beside.as_mut().filter(|beside| beside.name == "stock") {
            beside.name = "other rove";
            self.target = None;
        }
    }

    fn excess(&self) -> Option<f64> {
        let beside = self.beside.as_ref()?;
        Some(stats::excess(&self.rove.rounds, &beside.figures.rounds))
    }

    fn cells(&self) -> Vec<String> {
        let beside = self.beside.as_ref();
        vec![
            self.what.clone(),
            self.unit.to_owned(),
            digits(self.rove.median),
            beside.map(|beside| digits(beside.figures.median)).unwrap_or_default(),
            beside.map(|beside| beside.name.to_owned()).unwrap_or_default(),
            self.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            self.target.map(|goal| self.wanted(goal)).unwrap_or_default(),
        ]
    }

    fn wanted(&self, Goal { target, met }: Goal) -> String {
        let wanted = match target {
            Target::AtMost(most) => format!("<= {most} {}", self.unit),
            Target::Never => "0 in every round".to_owned(),
            Target::RatioAtMost(most) => format!("ratio <= {most}"),
            Target::RatioAtLeast(least) => format!("ratio >= {least}"),
            Target::ExcessAtMost(most) => {
                let excess = self.excess().map(digits).unwrap_or_default();
                format!("excess <= {most} {} (is {excess})", self.unit)
            }
        };
        let verdict = met.map_or("", |met| if met { "met" } else { "MISSED" });
        format!("{wanted}: {verdict}")
    }
}

/// All lines of a run.
#[derive(Clone, Debug)]
pub(super) struct Report {
    rounds: usize,
    stock: Option<String>,
    lines: Vec<Line>,
}

impl Report {
    /// Creates a report without lines.
    pub(super) const fn new(rounds: usize, stock: Option<String>) -> Self {
        Self { rounds, stock, lines: Vec::new() }
    }

    /// Adds the lines of a row. If rounds did not count, the line tells how many did.
    pub(super) fn add(&mut self, row: &str, lines: Vec<Line>) {
        for mut line in lines {
            let counted = line.rove.rounds.len();
            if counted < self.rounds {
                line.what += &format!(" (rounds: {counted})");
            }
            self.lines.push(Line { row: row.to_owned(), ..line });
        }
    }

    /// Returns the table as text.
    pub(super) fn table(&self) -> String {
        let headings = ["", "", "rove", "other", "", "ratio", "target"];
        let table = Table::new(headings, self.lines.iter().map(Line::cells));
        let stock = self.stock.iter().map(|name| format!("stock: {name}. ")).collect::<String>();
        format!(
            "{stock}Medians of {} rounds; a ratio is the median of the rounds' ratios.\n\n{}",
            self.rounds,
            table.text(0)
        )
    }

    /// Returns all figures as JSON, with a line of text for each line of the table.
    pub(super) fn json(&self) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| format!("    {}", report::value(line))).collect();
        format!(
            "{{\n  \"rounds\": {},\n  \"stock\": {},\n  \"lines\": [\n{}\n  ]\n}}\n",
            self.rounds,
            report::value(&self.stock),
            lines.join(",\n")
        )
    }
}

/// Writes a figure with three significant digits.
fn digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(target: Target) -> Line {
        Line::new("x", "s", vec![2.0, 1.0, 3.0]).beside("stock", vec![4.0, 2.0, 6.0]).target(target)
    }

    #[test]
    fn a_target_is_met_up_to_its_limit() {
        for (target, met) in [
            (Target::AtMost(2.0), true),
            (Target::AtMost(1.99), false),
            (Target::RatioAtMost(0.5), true),
            (Target::RatioAtMost(0.49), false),
            (Target::RatioAtLeast(0.5), true),
            (Target::RatioAtLeast(0.51), false),
            (Target::ExcessAtMost(-2.0), true),
            (Target::ExcessAtMost(-2.1), false),
        ] {
            assert_eq!(line(target).target.map(|goal| goal.met), Some(Some(met)), "{target:?}");
        }
    }

    #[test]
    fn a_line_without_a_target_or_a_neighbour_has_no_verdict() {
        let alone = Line::new("x", "s", vec![1.0]);
        let is_met = |line: &Line| line.target?.met;
        assert_eq!(is_met(&alone), None);
        assert_eq!(is_met(&alone.clone().target(Target::RatioAtMost(1.0))), None);
        assert_eq!(is_met(&alone.clone().target(Target::AtMost(1.0))), Some(true));
        // In two of five rounds, the figure is not zero although the median is.
        let rounds = |rounds: &[f64]| Line::new("x", "%", rounds.to_vec()).target(Target::Never);
        assert_eq!(is_met(&rounds(&[0.0, 0.0, 0.0, 2.5, 2.5])), Some(false));
        assert_eq!(is_met(&rounds(&[0.0, 0.0])), Some(true));
        // If the compared figure is zero, the ratio is infinite. Only a target with a least ratio is then reached.
        let beside = |figure| alone.clone().beside("stock", vec![figure]);
        assert_eq!(is_met(&beside(0.0).target(Target::RatioAtMost(2.0))), Some(false));
        assert_eq!(is_met(&beside(0.0).target(Target::RatioAtLeast(2.0))), Some(true));
    }

    #[test]
    fn the_table_says_for_each_line_whether_its_target_is_met() {
        let mut report = Report::new(3, Some("mosh-server (mosh 1.4.0)".to_owned()));
        let line = |what, unit, [rove, stock]: [f64; 2], target| {
            Line::new(what, unit, vec![rove; 3]).beside("stock", vec![stock; 3]).target(target)
        };
        let lines = vec![
            line("server CPU", "s", [0.5, 2.5], Target::RatioAtMost(0.2)),
            line("until the prompt", "ms", [80.0, 50.0], Target::ExcessAtMost(10.0)),
        ];
        report.add("flood", lines);
        report.add("beside", vec![Line::new("a key", "us", vec![0.5; 2])]);
        let wanted = "\
stock: mosh-server (mosh 1.4.0). Medians of 3 rounds; a ratio is the median of the rounds' ratios.

                        rove  other         ratio                             target
server CPU          s  0.500   2.50  stock   0.20                  ratio <= 0.2: met
until the prompt   ms   80.0   50.0  stock   1.60  excess <= 10 ms (is 30.0): MISSED
a key (rounds: 2)  us  0.500
";
        assert_eq!(report.table(), wanted);
    }

    #[test]
    fn the_json_holds_every_round() {
        let mut report = Report::new(3, None);
        report.add("flood", vec![line(Target::RatioAtMost(0.2)), Line::new("y", "B", vec![1.0])]);
        let value: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(value["rounds"], 3);
        assert_eq!(value["lines"][0]["row"], "flood");
        assert_eq!(value["lines"][0]["rove"], json!({"median": 2.0, "rounds": [2.0, 1.0, 3.0]}));
        assert_eq!(value["lines"][0]["beside"]["name"], "stock");
        assert_eq!(value["lines"][0]["ratio"], 0.5);
        let target = json!({"kind": "ratio_at_most", "value": 0.2, "met": false});
        assert_eq!(value["lines"][0]["target"], target);
        assert_eq!(value["lines"][1]["beside"], Value::Null);
        assert_eq!(value["lines"][1]["target"], Value::Null);
    }

    #[test]
    fn figures_have_three_digits_that_matter() {
        for (figure, text) in [
            (12345.6, "12346"),
            (123.4, "123"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.1234, "0.123"),
        ] {
            assert_eq!(digits(figure), text);
        }
    }
}
