//! Ablation: what each mechanism of the engine is worth, told by the same runs without it.

use std::io::{self, Write};

use rove_runs::statistics::percent;
use rove_session::Mechanism;
use serde_json::{Value, json};

use crate::replay::figures::{Figures, INSTANT};
use crate::replay::judge::{Faults, Outcome};
use crate::replay::mechanisms;
use crate::replay::run::Run;
use crate::replay::script::{Class, Script};

/// The outcome of one key, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate {
    is_instant: bool,
    own: Faults,
    revealed: Faults,
}

/// The runs of one recording over one path, with or without a mechanism, or of all recordings together.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    figures: Figures,
    fates: Vec<Fate>,
}

/// All recordings over one path, without one mechanism; with all that there are to begin with for `None`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) link: String,
    pub(super) without: Option<Mechanism>,
    /// The recordings by name, each over all seeds.
    pub(super) cases: Vec<(String, Case)>,
}

/// How figures differ from those with the mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// Percentage points of instant keys.
    all: f64,
    typing: f64,
    /// Keys after which something wrong was drawn.
    wrong: i64,
    wrong_any: i64,
    wrong_color: i64,
    /// Keys of which anything is different.
    pub(super) changed: usize,
}

impl Case {
    /// Returns what one run came to.
    pub(super) fn of(script: &Script, run: &Run) -> Self {
        let fate = |outcome: &Outcome| {
            let seen = outcome.sent_at.zip(outcome.seen_at);
            let is_instant = seen.is_some_and(|(sent, seen)| seen.saturating_since(sent) < INSTANT);
            Fate { is_instant, own: outcome.own, revealed: outcome.revealed }
        };
        Self { figures: Figures::of(script, run), fates: run.outcomes.iter().map(fate).collect() }
    }

    /// Adds what other runs came to.
    pub(super) fn merge(&mut self, other: &Self) {
        self.figures.merge(&other.figures);
        self.fates.extend_from_slice(&other.fates);
    }

    /// Returns how it differs from the same runs with the mechanism.
    pub(super) fn minus(&self, with: &Self) -> Difference {
        let more = |ours: usize, theirs: usize| signed(ours) - signed(theirs);
        let changed = self.fates.iter().zip(&with.fates).filter(|(ours, theirs)| ours != theirs);
        Difference {
            all: instant(&self.figures, |_| true) - instant(&with.figures, |_| true),
            typing: instant(&self.figures, Class::is_typing)
                - instant(&with.figures, Class::is_typing),
            wrong: more(self.figures.wrong, with.figures.wrong),
            wrong_any: more(self.figures.wrong_any, with.figures.wrong_any),
            wrong_color: more(self.figures.wrong_paint, with.figures.wrong_paint),
            changed: changed.count(),
        }
    }
}

impl Row {
    /// Returns all recordings together.
    fn pool(&self) -> Case {
        let mut pool = Case::default();
        self.cases.iter().for_each(|(_, case)| pool.merge(case));
        pool
    }
}

/// Writes one table for each path: the figures with all mechanisms, then the difference that each of them makes to all
/// recordings together, and to those in which it makes one.
///
/// # Errors
///
/// Returns the refusal of the output.
pub(super) fn write_text(output: &mut impl Write, how: &str, rows: &[Row]) -> io::Result<()> {
    for of_link in rows.chunk_by(|one, next| one.link == next.link) {
        let Some((base, others)) = of_link.split_first() else { continue };
        writeln!(output, "{how}, link {}", base.link)?;
        writeln!(
            output,
            "{:<20} {:<22} {:>8} {:>8} {:>7} {:>7} {:>7} {:>8}",
            "without", "trace", "all", "typing", "wrong", "any", "color", "changed"
        )?;
        let pool = base.pool();
        let figures = &pool.figures;
        writeln!(
            output,
            "{:<20} {:<22} {:>7.2}% {:>7.2}% {:>7} {:>7} {:>7} {:>8}",
            "nothing",
            "all together",
            instant(figures, |_| true),
            instant(figures, Class::is_typing),
            figures.wrong,
            figures.wrong_any,
            figures.wrong_paint,
            "-",
        )?;
        for row in others {
            let name = row.without.map_or("nothing", mechanisms::name);
            difference(output, name, "all together", row.pool().minus(&pool))?;
            for ((trace, case), (_, with)) in row.cases.iter().zip(&base.cases) {
                let found = case.minus(with);
                if found.changed > 0 {
                    difference(output, "", trace, found)?;
                }
            }
        }
        writeln!(output)?;
    }
    Ok(())
}

fn difference(
    output: &mut impl Write,
    mechanism: &str,
    trace: &str,
    found: Difference,
) -> io::Result<()> {
    let Difference { all, typing, wrong, wrong_any, wrong_color, changed } = found;
    writeln!(
        output,
        "{mechanism:<20} {trace:<22} {all:>+8.2} {typing:>+8.2} {wrong:>+7} {wrong_any:>+7} {wrong_color:>+7} {changed:>8}",
    )
}

/// Returns the same as JSON: an object for each path and mechanism.
pub(super) fn to_json(rows: &[Row]) -> Value {
    let of_link = rows.chunk_by(|one, next| one.link == next.link);
    let tables = of_link.filter_map(|of_link| {
        let (base, others) = of_link.split_first()?;
        let pool = base.pool();
        let mechanisms: Vec<Value> = others
            .iter()
            .map(|row| {
                let traces = row.cases.iter().zip(&base.cases).map(|((trace, case), (_, with))| {
                    let mut object = case.minus(with).to_json();
                    object["trace"] = json!(trace);
                    object
                });
                json!({
                    "without": row.without.map(mechanisms::name),
                    "pooled": row.pool().minus(&pool).to_json(),
                    "traces": traces.collect::<Vec<Value>>(),
                })
            })
            .collect();
        Some(json!({
            "link": base.link,
            "pooled": pool.figures.to_json(),
            "mechanisms": mechanisms,
        }))
    });
    Value::Array(tables.collect())
}

impl Difference {
    fn to_json(self) -> Value {
        json!({
            "all_points": self.all,
            "typing_points": self.typing,
            "wrong_keys": self.wrong,
            "wrong_any_keys": self.wrong_any,
            "wrong_color_keys": self.wrong_color,
            "changed_keys": self.changed,
        })
    }
}

fn instant(figures: &Figures, includes: impl Fn(Class) -> bool) -> f64 {
    let latencies = figures.latencies(includes);
    percent(latencies.instant(), latencies.count())
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
