//! All figures as one page of HTML that needs nothing else.

use anyhow::{Context, Result};
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};
use serde_json::json;

use crate::experiment::averages;
use crate::experiment::plot::Picture;
use crate::experiment::sweep::{Figure, Profile, Series};
use crate::experiment::verdict::{self, HEADINGS, Verdict};

const TEMPLATE: &str = include_str!("page.html");

/// Returns the page.
///
/// # Errors
///
/// Returns an error if the template cannot be filled.
pub(crate) fn page(
    figures: &[(Figure, Picture)],
    verdicts: &[Verdict],
    profile: Profile,
) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page", TEMPLATE).context("the page's template")?;
    let template = environment.get_template("page").context("the page's template")?;
    let readings: Vec<_> = figures.iter().map(|(_, picture)| &picture.reading).collect();
    // No text within may end the script that it stands in.
    let readings =
        serde_json::to_string(&readings).context("the figures' values")?.replace('<', "\\u003c");
    let papers: Vec<serde_json::Value> = verdict::by_paper(verdicts)
        .into_iter()
        .map(|(paper, verdicts)| {
            let rows = verdicts.iter().map(|it| json!({ "columns": it.row(), "outcome": it.outcome }));
            json!({ "heading": verdict::heading(paper, &verdicts), "rows": rows.collect::<Vec<_>>() })
        })
        .collect();
    let profile_name = if profile.is_full { "full profile" } else { "quick profile" };
    let shown: Vec<serde_json::Value> =
        figures.iter().map(|(figure, picture)| shown(figure, picture)).collect();
    template
        .render(context! {
            version => env!("CARGO_PKG_VERSION"),
            profile => profile_name,
            seed => profile.seed,
            readings => readings,
            headings => HEADINGS,
            papers => Value::from(Serde(&papers)),
            figures => Value::from(Serde(&shown)),
        })
        .context("cannot fill the page")
}

fn shown(figure: &Figure, picture: &Picture) -> serde_json::Value {
    let row =
        |series: &Series| json!({ "label": series.row_label(), "columns": figure.row(series) });
    let rows: Vec<serde_json::Value> = figure.rows().map(row).collect();
    json!({
        "name": figure.scenario.name,
        "title": figure.title(),
        "about": figure.scenario.body.about.trim(),
        "heading": figure.scenario.body.value.as_ref().map_or_else(String::new, |value| format!("by {value}")),
        "missing": figure.missing,
        "svg": picture.svg,
        "curves": picture.reading.legend(),
        "columns": figure.columns(),
        "rows": rows,
        "averages": averages::to_text(&averages::averages(figure)),
        "has_marks": !picture.reading.marks.is_empty(),
    })
}
