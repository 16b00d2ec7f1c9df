//! All figures as one page of HTML that needs nothing else.

use anyhow::{Context, Result};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use serde::Serialize;
use serde_json::json;

use crate::experiment::averages;
use crate::experiment::series::Series;
use crate::experiment::sweep::{Figure, Profile};
use crate::experiment::verdict::{self, HEADINGS, Verdict};
use crate::picture::Picture;

const PAGE: &str = include_str!("page.html");
const SECTION: &str = include_str!("section.html");

/// Beginning and end of a figure's part of the page.
const BEGIN: &str = "<section id=\"";
const END: &str = "</section>";

/// A figure's part of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Section {
    /// The figure's name, escaped.
    pub(crate) name: String,
    /// The HTML, which has no other part in it.
    html: String,
    title: String,
}

impl Section {
    /// Reads a part that begins with the figure's name.
    fn read(text: &str) -> Option<Self> {
        let (name, _) = text.split_once('"')?;
        let (inner, _) = text.split_once(END)?;
        let (_, title) = inner.split_once("<h2>")?;
        let (title, _) = title.split_once("</h2>")?;
        let html = format!("{BEGIN}{inner}{END}");
        Some(Self { name: name.to_owned(), html, title: title.to_owned() })
    }

    /// Returns a figure's part.
    ///
    /// # Errors
    ///
    /// Returns an error if the template cannot be filled.
    pub(crate) fn new(
        figure: &Figure,
        picture: &Picture,
        profile: Profile,
        machine: &str,
    ) -> Result<Self> {
        let reading = serde_json::to_string(&picture.reading).context("the figure's values")?;
        let html = filled(
            "section.html",
            SECTION,
            context! {
                version => env!("CARGO_PKG_VERSION"),
                profile => if profile.is_full { "full" } else { "quick" },
                seed => profile.seed,
                machine => machine,
                digests => figure.digests.clone(),
                reading => reading,
                figure => Value::from(Serde(&shown(figure, picture))),
            },
        )?;
        html.split(BEGIN).nth(1).and_then(Self::read).context("the figure's part of the page")
    }
}

/// Returns the parts of a page, none of any other text.
pub(crate) fn sections(page: &str) -> Vec<Section> {
    page.split(BEGIN).skip(1).filter_map(Section::read).collect()
}

/// Returns the page of all parts, with the verdicts on their published results at its head.
///
/// # Errors
///
/// Returns an error if the template cannot be filled.
pub(crate) fn page(sections: &[Section], verdicts: &[Verdict]) -> Result<String> {
    let papers: Vec<serde_json::Value> = verdict::by_paper(verdicts)
        .into_iter()
        .map(|(paper, verdicts)| {
            let rows = verdicts.iter().map(|it| json!({ "columns": it.row(), "outcome": it.outcome }));
            json!({ "heading": verdict::heading(paper, &verdicts), "rows": rows.collect::<Vec<_>>() })
        })
        .collect();
    filled(
        "page.html",
        PAGE,
        context! {
            headings => HEADINGS,
            papers => Value::from(Serde(&papers)),
            sections => Value::from(Serde(sections)),
        },
    )
}

/// Returns a template with values in its places. The name ends in `.html` if they are escaped for it.
///
/// # Errors
///
/// Returns an error if the template cannot be filled.
pub(crate) fn filled(name: &str, template: &str, values: Value) -> Result<String> {
    let text = Environment::new().render_named_str(name, template, values);
    text.with_context(|| format!("cannot fill {name}"))
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
        "columns": figure.columns(),
        "rows": rows,
        "averages": averages::to_text(&averages::averages(figure)),
    })
}
