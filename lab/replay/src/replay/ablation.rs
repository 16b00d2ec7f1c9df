//! Ablation: what each mechanism of the engine is worth, shown by the same runs without it.

use std::io::{self, Write};

use rove_runs::report::{heading, line};
use rove_session::Mechanism;
use serde::Serialize;

use crate::replay::figures::{self, Figures, INSTANT};
use crate::replay::judge::{Faults, Outcome};
use crate::replay::mechanisms;
use crate::replay::run::Run;
use crate::replay::script::{Class, Script};

/// The outcome of a key, as far as runs with and without a mechanism are compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate {
    is_instant: bool,
    own: Faults,
    revealed: Faults,
}

/// The runs of one recording, or of all recordings, over one path, with or without a mechanism.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    figures: Figures,
    fates: Vec<Fate>,
}

/// The runs of all recordings over one path without a mechanism. The first row has all mechanisms: `without` is `None`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) link: String,
    pub(super) without: Option<Mechanism>,
    /// The recordings by name, each over all seeds.
    pub(super) cases: Vec<(String, Case)>,
}

/// How the figures of runs without a mechanism differ from those of the same runs with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Difference {
    /// The recording. `None` for all recordings together.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// By how many percentage points the share of instant keys is higher without the mechanism than with it.
    all_points: f64,
    typing_points: f64,
    /// How many more keys, without the mechanism than with it, are followed by a wrong drawing.
    wrong_keys: i64,
    wrong_any_keys: i64,
    wrong_color_keys: i64,
    /// Keys with another outcome than in the run with the mechanism.
    pub(super) changed_keys: usize,
}

/// The figures over one path with all mechanisms, and the difference that the lack of each makes.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    link: String,
    pooled: figures::Row,
    mechanisms: Vec<Effect>,
}

/// The difference that the lack of a mechanism makes to all recordings together, and to each.
#[derive(Debug, Serialize)]
struct Effect {
    without: Option<&'static str>,
    pooled: Difference,
    traces: Vec<Difference>,
}

/// The name, in tables, of all recordings together.
pub(super) const ALL: &str = "all together";

/// The columns of the differences, and those of the figures with all mechanisms.
const LAYOUT: &str = "all>8=all_points:+2 typing>8=typing_points:+2 wrong>7=wrong_keys:+0 any>7=wrong_any_keys:+0 \
                      color>7=wrong_color_keys:+0 changed>8=changed_keys";
const FIGURES: &str = "all>8=all.instant_percent:2% typing>8=typing.instant_percent:2% wrong>7=wrong.keys any>7=wrong_any.keys \
                       color>7=wrong_color.keys";

impl Case {
    /// Returns the figures and the outcomes of one run.
    pub(super) fn of(script: &Script, run: &Run) -> Self {
        let fate = |outcome: &Outcome| {
            let is_instant = outcome.latency().is_some_and(|latency| latency < INSTANT);
            Fate { is_instant, own: outcome.own, revealed: outcome.revealed }
        };
        Self { figures: Figures::of(script, run), fates: run.outcomes.iter().map(fate).collect() }
    }

    /// Adds the figures and the outcomes of other runs.
    pub(super) fn merge(&mut self, other: &Self) {
        self.figures.merge(&other.figures);
        self.fates.extend_from_slice(&other.fates);
    }

    /// Returns how this case, without a mechanism, differs from the case `with` the mechanism.
    pub(super) fn minus(&self, with: &Self, trace: Option<&String>) -> Difference {
        let more = |ours: usize, theirs: usize| signed(ours) - signed(theirs);
        let changed = self.fates.iter().zip(&with.fates).filter(|(ours, theirs)| ours != theirs);
        Difference {
            trace: trace.cloned(),
            all_points: instant(&self.figures, |_| true) - instant(&with.figures, |_| true),
            typing_points: instant(&self.figures, Class::is_typing)
                - instant(&with.figures, Class::is_typing),
            wrong_keys: more(self.figures.wrong, with.figures.wrong),
            wrong_any_keys: more(self.figures.wrong_any, with.figures.wrong_any),
            wrong_color_keys: more(self.figures.wrong_paint, with.figures.wrong_paint),
            changed_keys: changed.count(),
        }
    }
}

impl Row {
    /// Returns the case of all recordings together.
    fn pool(&self) -> Case {
        let mut pool = Case::default();
        self.cases.iter().for_each(|(_, case)| pool.merge(case));
        pool
    }
}

pub(super) fn tables(rows: &[Row]) -> Vec<Table> {
    let of_link = rows.chunk_by(|one, next| one.link == next.link);
    let tables = of_link.filter_map(|of_link| {
        let (base, others) = of_link.split_first()?;
        let pool = base.pool();
        let mechanisms = others.iter().map(|row| {
            let traces = row.cases.iter().zip(&base.cases);
            let traces = traces.map(|((trace, case), (_, with))| case.minus(with, Some(trace)));
            Effect {
                without: row.without.map(mechanisms::name),
                pooled: row.pool().minus(&pool, None),
                traces: traces.collect(),
            }
        });
        let (link, pooled) = (base.link.clone(), pool.figures.row());
        Some(Table { link, pooled, mechanisms: mechanisms.collect() })
    });
    tables.collect()
}

/// Writes the tables as text. Recordings to which a mechanism makes no difference are left out.
///
/// # Errors
///
/// Returns the I/O error of `output`.
pub(super) fn write_text(output: &mut impl Write, how: &str, tables: &[Table]) -> io::Result<()> {
    for Table { link, pooled, mechanisms } in tables {
        writeln!(output, "{how}, link {link}")?;
        let names = |without: &str, trace: &str| format!("{without:<20} {trace:<22} ");
        writeln!(output, "{}{}", names("without", "trace"), heading(LAYOUT))?;
        let figures = line(FIGURES, pooled);
        writeln!(output, "{}{figures}        -", names("nothing", ALL))?;
        for Effect { without, pooled, traces } in mechanisms {
            let name = without.unwrap_or("nothing");
            writeln!(output, "{}{}", names(name, ALL), line(LAYOUT, pooled))?;
            for case in traces.iter().filter(|case| case.changed_keys != 0) {
                let trace = case.trace.as_deref().unwrap_or_default();
                writeln!(output, "{}{}", names("", trace), line(LAYOUT, case))?;
            }
        }
        writeln!(output)?;
    }
    Ok(())
}

fn instant(figures: &Figures, includes: impl Fn(Class) -> bool) -> f64 {
    figures.latencies(includes).instant_percent()
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
