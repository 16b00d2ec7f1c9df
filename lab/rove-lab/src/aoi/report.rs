//! Results of the study as a table, and as JSON.

use rove_link::Netem;
use rove_runs::parallel::{self, tell_progress};
use rove_runs::report::{number, table};
use rove_runs::statistics::{Times, interval, paired_ratio};
use rove_units::{Duration, Instant, Seed};
use serde_json::{Value, json};

use crate::aoi::closed_form::{AssumedAge, Limited, Slotted, Timeout};
use crate::aoi::grid::{Case, percent};
use crate::aoi::study::{Outcome, PERIOD, Study};

/// Time that the study's timeout settles beyond a round trip on a path of constant delay, in ms. Source: its estimator.
const SETTLED: f64 = 100.0;

/// States at the beginning that the slotted model leaves out. Chosen: many timeouts.
const WARM_UP: u32 = 2_000;

/// Delay in one direction and timeout of the slotted model, in ms. Source: the notes on the study.
const TIMEOUTS: [(u64, u64); 4] = [(50, 210), (500, 1150), (1000, 2150), (1000, 3000)];

/// Losses of the slotted model.
const LOSSES: [f64; 6] = [0.01, 0.05, 0.10, 0.25, 0.50, 0.75];

/// A share of diffs that start from the known state over one path, over all seeds.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    case: String,
    known_share: f64,
    /// Figures of each run, in ms: mean age, average peak age, mean, median and 95 % catch-up.
    runs: Vec<[f64; 5]>,
    /// Runs in which fewer than two states were taken.
    without: usize,
    unsure_share: f64,
    forms: Forms,
    /// The mean age as a part of that with the known state always, with its interval.
    ratio: Option<(f64, Option<[f64; 2]>)>,
}

/// Results that closed forms say, in ms; `None` where there is no form.
#[derive(Clone, Copy, Debug, Default)]
struct Forms {
    mean: Option<f64>,
    peak: Option<f64>,
    /// The catch-up that 95 % of states do not exceed.
    high: Option<f64>,
}

/// Runs all cases with all shares and seeds.
pub(crate) fn study(cases: &[Case], shares: &[f64], seeds: &[u64]) -> Vec<Row> {
    let mut jobs = Vec::new();
    for case in cases {
        for share in shares {
            jobs.extend(seeds.iter().map(|seed| (case.study(*share), Seed::new(*seed))));
        }
    }
    let outcomes = parallel::map(
        &jobs,
        |(study, seed)| study.run(*seed, Instant::ZERO),
        |done| tell_progress("study: ", done, jobs.len()),
    );
    let mut of_rows = outcomes.chunks(seeds.len());
    let mut rows = Vec::new();
    for case in cases {
        let of_case: Vec<&[Outcome]> = of_rows.by_ref().take(shares.len()).collect();
        let known = shares.iter().position(|share| (*share - 1.0).abs() < 1e-9);
        for (share, outcomes) in shares.iter().zip(&of_case) {
            let forms = case.constant.map(|netem| {
                let delay = netem.delay.as_secs_f64() * 1e3;
                Forms::new(delay, netem.loss, *share)
            });
            let forms = forms.unwrap_or_default();
            let ratio = known.and_then(|known| ratio(outcomes, of_case[known]));
            rows.push(Row { ratio, ..Row::new(&case.name, *share, outcomes, forms) });
        }
    }
    rows
}

/// Returns the mean ages of runs as a part of those of other runs with the same seeds, where both have one.
fn ratio(of: &[Outcome], to: &[Outcome]) -> Option<(f64, Option<[f64; 2]>)> {
    let mean = |outcome: &Outcome| outcome.age.as_ref().map(|age| age.mean.as_secs_f64());
    let pairs = of.iter().zip(to).filter_map(|(of, to)| Some((mean(of)?, mean(to)?)));
    let (of, to): (Vec<f64>, Vec<f64>) = pairs.unzip();
    paired_ratio(&of, &to)
}

impl Forms {
    fn new(delay: f64, loss: f64, known_share: f64) -> Self {
        let slotted = Slotted { delay, period: PERIOD.as_secs_f64() * 1e3, loss };
        if known_share > 0.999 {
            return Self {
                mean: Some(slotted.known_age()),
                peak: Some(slotted.known_peak()),
                high: Some(slotted.known_catch_up(0.95)),
            };
        }
        if known_share > 0.0 {
            return Self { mean: Some(slotted.mixture_age(known_share)), ..Self::default() };
        }
        // Handling makes an acknowledgment miss the state at whose instant it would come.
        let round_trip = 2.0 * delay + 0.5;
        let timeout = Timeout::new(round_trip, round_trip + SETTLED, slotted.period);
        let mean = match slotted.assumed_age(timeout) {
            AssumedAge::LowLoss(age) | AssumedAge::HighLoss(age) => Some(age),
            AssumedAge::Between => None,
        };
        Self { mean, ..Self::default() }
    }
}

impl Row {
    fn new(case: &str, known_share: f64, outcomes: &[Outcome], forms: Forms) -> Self {
        let ages = outcomes.iter().filter_map(|outcome| outcome.age.as_ref());
        let runs: Vec<[f64; 5]> = ages
            .filter_map(|age| {
                let catch_up = &age.catch_up;
                let (median, high) = (catch_up.percentile(50)?, catch_up.percentile(95)?);
                let of = [age.mean, age.mean_peak, catch_up.mean()?, median, high];
                Some(of.map(|time| time.as_secs_f64() * 1e3))
            })
            .collect();
        let unsure = Times::new(outcomes.iter().map(|outcome| outcome.unsure_share).collect(), 0);
        Self {
            case: case.to_owned(),
            known_share,
            without: outcomes.len() - runs.len(),
            runs,
            unsure_share: unsure.mean().unwrap_or_default(),
            forms,
            ratio: None,
        }
    }

    fn of(&self, figure: usize) -> Vec<f64> {
        self.runs.iter().map(|run| run[figure]).collect()
    }

    fn mean(&self, figure: usize) -> Option<f64> {
        Times::new(self.of(figure), 0).mean()
    }

    fn median(&self, figure: usize) -> Option<f64> {
        Times::new(self.of(figure), 0).quantile(50)
    }

    fn texts(&self) -> Vec<String> {
        let worst = self.of(2).into_iter().max_by(f64::total_cmp);
        let range = interval(&self.of(0));
        let ratio = self.ratio.map(|(ratio, range)| match range {
            Some([low, high]) => format!("{ratio:.3} ({low:.3}-{high:.3})"),
            None => format!("{ratio:.3}"),
        });
        vec![
            self.case.clone(),
            format!("{}", self.known_share),
            number(self.median(3)),
            number(self.median(2)),
            number(worst),
            number(self.mean(4)),
            number(self.forms.high),
            number(self.mean(1)),
            number(self.forms.peak),
            number(self.mean(0)),
            range.map_or_else(dash, |[low, high]| format!("{low:.0}-{high:.0}")),
            number(self.forms.mean),
            ratio.unwrap_or_else(dash),
            format!("{:.2}", self.unsure_share),
            self.without.to_string(),
        ]
    }

    fn to_json(&self) -> Value {
        json!({
            "path": self.case,
            "known_share": self.known_share,
            "runs": self.runs.len(),
            "runs_without_states": self.without,
            "median_catch_up_ms": self.median(3),
            "mean_catch_up_ms": self.median(2),
            "p95_catch_up_ms": self.mean(4),
            "peak_age_ms": self.mean(1),
            "mean_age_ms": self.mean(0),
            "mean_age_95_ms": interval(&self.of(0)),
            "mean_age_form_ms": self.forms.mean,
            "peak_age_form_ms": self.forms.peak,
            "p95_catch_up_form_ms": self.forms.high,
            "of_known": self.ratio.map(|(ratio, _)| ratio),
            "of_known_95": self.ratio.and_then(|(_, range)| range),
            "unsure_share": self.unsure_share,
        })
    }
}

/// Returns the table of the study's rows.
pub(crate) fn study_text(rows: &[Row]) -> String {
    let heading = [
        "delay and loss each way",
        "lambda",
        "median",
        "mean",
        "worst",
        "95 %",
        "form",
        "peak age",
        "form",
        "mean age",
        "95 % of mean",
        "form",
        "of lambda 1",
        "unsure",
        "empty",
    ];
    titled(&heading, rows.iter().map(Row::texts))
}

/// Returns the same as JSON.
pub(crate) fn study_json(rows: &[Row]) -> Value {
    rows.iter().map(Row::to_json).collect()
}

/// Closed forms beside runs of the slotted model: nothing takes time but the path, and timeouts never change.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    delay_ms: u64,
    timeout_ms: u64,
    loss: f64,
    known_share: f64,
    /// Whether states expire at all.
    expires: bool,
    closed_form: Option<f64>,
    measured: Option<f64>,
}

/// Runs the slotted model for so many states each, and computes its closed forms.
pub(crate) fn model(states: u32, seed: u64) -> Vec<Check> {
    let mut checks = Vec::new();
    for (delay_ms, timeout_ms) in TIMEOUTS {
        for loss in LOSSES {
            let check = |known_share: f64, expires: bool| {
                let slotted = Slotted { delay: ms(delay_ms), period: 50.0, loss };
                let timeout = Timeout::new(2.0 * ms(delay_ms), ms(timeout_ms), 50.0);
                let closed_form = match slotted.assumed_age(timeout) {
                    _ if known_share > 0.999 || !expires => Some(slotted.mixture_age(known_share)),
                    _ if known_share > 0.0 => None,
                    AssumedAge::LowLoss(age) | AssumedAge::HighLoss(age) => Some(age),
                    AssumedAge::Between => None,
                };
                Check {
                    delay_ms,
                    timeout_ms,
                    loss,
                    known_share,
                    expires,
                    closed_form,
                    measured: None,
                }
            };
            checks.extend([
                check(1.0, true),
                check(0.5, false),
                check(0.5, true),
                check(0.0, true),
            ]);
        }
    }
    let measured = parallel::map(
        &checks,
        |check| check.run(states, Seed::new(seed)),
        |done| tell_progress("model: ", done, checks.len()),
    );
    checks.into_iter().zip(measured).map(|(check, measured)| Check { measured, ..check }).collect()
}

fn ms(millis: u64) -> f64 {
    Duration::from_millis(millis).as_secs_f64() * 1e3
}

impl Check {
    fn run(&self, states: u32, seed: Seed) -> Option<f64> {
        let netem = Netem {
            delay: Duration::from_millis(self.delay_ms),
            loss: self.loss,
            ..Netem::default()
        };
        let timeout = Duration::from_millis(self.timeout_ms);
        let length = PERIOD * (states + WARM_UP);
        let study = Study {
            timeout: Some(if self.expires { timeout } else { length }),
            has_handling: false,
            ..Study::over(netem, length, self.known_share)
        };
        let age = study.run(seed, Instant::ZERO + PERIOD * WARM_UP).age?;
        Some(age.mean.as_secs_f64() * 1e3)
    }

    fn texts(&self) -> Vec<String> {
        let apart = self.measured.zip(self.closed_form).map(|(got, says)| got / says - 1.0);
        vec![
            format!("{} ms, {} %", self.delay_ms, percent(self.loss)),
            if self.expires { format!("{} ms", self.timeout_ms) } else { "none".to_owned() },
            format!("{}", self.known_share),
            number(self.closed_form),
            number(self.measured),
            apart.map_or_else(dash, |apart| format!("{:+.1} %", apart * 100.0)),
        ]
    }

    fn to_json(&self) -> Value {
        json!({
            "delay_ms": self.delay_ms,
            "timeout_ms": self.expires.then_some(self.timeout_ms),
            "loss": self.loss,
            "known_share": self.known_share,
            "closed_form_ms": self.closed_form,
            "measured_ms": self.measured,
        })
    }
}

/// Returns the table of closed forms and runs.
pub(crate) fn model_text(checks: &[Check]) -> String {
    let heading =
        ["delay and loss each way", "timeout", "lambda", "closed form", "measured", "apart"];
    titled(&heading, checks.iter().map(Check::texts))
}

/// Returns the same as JSON.
pub(crate) fn model_json(checks: &[Check]) -> Value {
    checks.iter().map(Check::to_json).collect()
}

/// Rates in bytes per ms, and the bytes and datagrams of the two diffs, that a best share is computed for. Source: the
/// notes on the study.
const LIMITED: [(&str, f64, [f64; 2], [i32; 2]); 2] = [
    ("96 kbit/s, 280 or 970 bytes", 12.0, [280.0, 970.0], [1, 1]),
    ("512 kbit/s, 1070 or 3710 bytes", 64.0, [1070.0, 3710.0], [1, 4]),
];

/// Returns the best shares of the known state over links that diffs have to share: name, loss, share, cube-root law.
fn best_shares() -> Vec<(&'static str, f64, f64, f64)> {
    let all = LIMITED.iter().flat_map(|of| [0.01, 0.05, 0.10, 0.25].map(|loss| (of, loss)));
    all.map(|((name, rate, bytes, datagrams), loss)| {
        let slotted = Slotted { delay: 50.0, period: 50.0, loss };
        let limited = Limited { slotted, rate: *rate, bytes: *bytes, datagrams: *datagrams };
        (*name, loss, limited.best_share(), limited.cube_root_share())
    })
    .collect()
}

/// Returns the table of best shares.
pub(crate) fn shares_text() -> String {
    let rows = best_shares().into_iter().map(|(name, loss, best, law)| {
        vec![
            name.to_owned(),
            format!("{} %", percent(loss)),
            format!("{best:.2}"),
            format!("{law:.2}"),
        ]
    });
    titled(&["rate and diffs", "loss", "best lambda", "cube-root law"], rows)
}

/// Returns the same as JSON.
pub(crate) fn shares_json() -> Value {
    let one = |(name, loss, best, law)| json!({ "link": name, "loss": loss, "best_share": best, "cube_root_share": law });
    best_shares().into_iter().map(one).collect()
}

/// Returns rows below their heading.
fn titled(heading: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let heading = heading.iter().map(|column| (*column).to_owned()).collect();
    table(&core::iter::once(heading).chain(rows).collect::<Vec<_>>(), 0)
}

fn dash() -> String {
    number(None)
}
