//! All figures as one page of HTML that needs no other file.

use anyhow::{Context, Result};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use serde::Serialize;

use crate::experiment::averages;
use crate::experiment::sweep::Figure;
use crate::experiment::verdict::{self, HEADINGS, Outcome, Verdict};
use crate::picture::Picture;

const PAGE: &str = include_str!("page.html");
const SECTION: &str = include_str!("section.html");

/// Beginning and end of a figure's part of the page.
const BEGIN: &str = "<section id=\"";
const END: &str = "</section>";

/// The verdicts of a paper: the columns and the outcome of each.
#[derive(Serialize)]
struct Paper {
    heading: String,
    rows: Vec<([String; 5], Outcome)>,
}

/// A figure's part of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Section {
    /// The figure's name, escaped.
    pub(crate) name: String,
    /// The HTML of this part alone.
    html: String,
    title: String,
}

impl Section {
    /// Reads a figure's part from text that follows its [`BEGIN`]. `None` if the part is incomplete.
    fn read(text: &str) -> Option<Self> {
        let (name, _) = text.split_once('"')?;
        let (inner, _) = text.split_once(END)?;
        let (_, title) = inner.split_once("<h2>")?;
        let (title, _) = title.split_once("</h2>")?;
        let html = format!("{BEGIN}{inner}{END}");
        Some(Self { name: name.to_owned(), html, title: title.to_owned() })
    }

    /// Returns a figure's part of the page.
    ///
    /// # Errors
    ///
    /// Returns an error if the template cannot be filled.
    pub(crate) fn new(figure: &Figure, picture: &Picture, machine: &str) -> Result<Self> {
        let profile = figure.profile;
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
                name => figure.scenario.name.clone(),
                title => figure.title(),
                about => figure.scenario.body.about.trim(),
                missing => figure.missing.clone(),
                svg => picture.svg.clone(),
                table => Value::from(Serde(&figure.table())),
                averages => averages::to_text(&averages::averages(figure)),
            },
        )?;
        html.split(BEGIN).nth(1).and_then(Self::read).context("the figure's part of the page")
    }
}

/// Returns the parts of a page. A text that is no page has no parts.
pub(crate) fn sections(page: &str) -> Vec<Section> {
    page.split(BEGIN).skip(1).filter_map(Section::read).collect()
}

/// Returns the page of all parts, with the verdicts on their published results at its head.
///
/// # Errors
///
/// Returns an error if the template cannot be filled.
pub(crate) fn page(sections: &[Section], verdicts: &[Verdict]) -> Result<String> {
    let papers = verdict::by_paper(verdicts).into_iter().map(|(paper, verdicts)| Paper {
        heading: verdict::heading(paper, &verdicts),
        rows: verdicts.iter().map(|it| (it.row(), it.outcome)).collect(),
    });
    let papers: Vec<Paper> = papers.collect();
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

/// Returns a template with values in place of its names. If `name` ends in `.html`, values are escaped for HTML.
///
/// # Errors
///
/// Returns an error if the template cannot be filled.
pub(crate) fn filled(name: &str, template: &str, values: Value) -> Result<String> {
    let text = Environment::new().render_named_str(name, template, values);
    text.with_context(|| format!("cannot fill {name}"))
}
