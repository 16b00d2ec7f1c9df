//! `cargo xtask house`: the size and the shape of the code and its prose, in figures that `house.toml` limits.

mod circles;
mod items;
mod limits;
mod methods;
mod prose;
mod row;
mod rows;
mod source;
mod words;

use anyhow::Result;
use serde_json::{Value, json};

use crate::workspace::{Texts, text};
use limits::Limits;
use row::{Row, TABLES};
use rows::PARTS;

/// Prints all figures with their limits as tables, or as JSON with the place of each flaw.
///
/// # Errors
///
/// Returns an error when a file cannot be read.
pub(crate) fn run(texts: &Texts, is_json: bool) -> Result<()> {
    let (rows, limits) = read(texts)?;
    if is_json {
        println!("{:#}", json(&rows));
    } else {
        TABLES.iter().for_each(|figures| println!("{}", table(figures, &rows, &limits)));
    }
    Ok(())
}

/// Returns a sentence for each figure beyond its limit.
///
/// # Errors
///
/// Returns an error when a file cannot be read.
pub(crate) fn check(texts: &Texts) -> Result<Vec<String>> {
    let (rows, limits) = read(texts)?;
    Ok(limits.excesses(&rows))
}

fn read(texts: &Texts) -> Result<(Vec<Row>, Limits)> {
    let words = words::read(text(texts, "docs/words.txt")?)?;
    Ok((rows::rows(texts, &words), Limits::read(text(texts, limits::FILE)?)?))
}

/// Returns a table of these figures. It has a line for each row with at least one of them.
fn table(figures: &[(&str, &str)], rows: &[Row], limits: &Limits) -> String {
    let line = |name: &str, cells: Vec<String>| {
        let cells = cells.iter().map(|cell| format!("{cell:>17}"));
        format!("{name:<14}{}\n", cells.collect::<String>())
    };
    let mut text = line("", figures.iter().map(|(name, _)| (*name).to_owned()).collect());
    for row in rows.iter().filter(|row| row.figures.contains_key(figures[0].0)) {
        let cell = |(name, _): &(&str, &str)| {
            let figure = row.figures.get(name).map(ToString::to_string).unwrap_or_default();
            figure + &limits.of(row, name).map(|limit| format!("/{limit}")).unwrap_or_default()
        };
        let indent = if PARTS.contains(&&*row.name) { "" } else { "  " };
        text += &line(&format!("{indent}{}", row.name), figures.iter().map(cell).collect());
    }
    text
}

/// Returns a JSON object for each row.
fn json(rows: &[Row]) -> Value {
    let json = |row: &Row| json!({"figures": row.figures, "places": row.places});
    rows.iter().map(|row| (row.name.clone(), json(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use row::{FLAWS, PROSE};

    #[test]
    fn figures_stand_beside_their_limits() {
        let row = |name: &str| Row {
            name: name.to_owned(),
            figures: FLAWS.map(|it| (it.0, 3.5)).into(),
            places: [("circle", vec!["a".to_owned(), "b".to_owned()])].into(),
        };
        let rows = [row("product"), row("ssp"), Row::of_documents(&["Two words."])];
        let limits = Limits::read("ssp.circle = 1\nssp.long_files = 4\ndocuments.words = 5\n")
            .expect("well-formed");
        let lines = |figures| -> Vec<Vec<String>> {
            let table = table(figures, &rows, &limits);
            table.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
        };
        assert_eq!(
            lines(&FLAWS)[1..].concat().join(" "),
            "product 3.5 3.5 3.5 3.5 3.5 3.5 3.5 3.5 3.5 ssp 3.5/0 3.5/4 3.5/0 3.5/0 3.5/1 3.5/0 3.5/0 3.5/0 3.5/0"
        );
        assert_eq!(lines(&PROSE)[1..].concat().join(" "), "documents 0/0 2/0 0/0 2/5");
        let json = json(&rows);
        assert_eq!(json["ssp"]["figures"]["circle"], 3.5);
        assert_eq!(json["product"]["places"]["circle"], json!(["a", "b"]));
        assert_eq!(json["documents"]["figures"]["words"], 2.0);
    }
}
