//! Reports: the same rows as tables for people and as JSON for programs.

use serde::Serialize;
use serde_json::Value;

/// Most digits after the point to tell a percentage from 0 or 100. Chosen: runs have their numbers in millionths.
const DIGITS_MAX: usize = 6;

/// Returns rows as indented JSON, with the names of each object in alphabetical order.
pub fn json(rows: &impl Serialize) -> String {
    format!("{:#}\n", value(rows))
}

/// Returns the heading of a table with a layout.
///
/// A layout lists the columns. Each is the heading with `_` for blanks, `<` (text to the left) or `>` (to the right),
/// the width, `=`, and the field of a row, such as `all.latency_ms.p50`. Several fields are joined by `+`. After `:`
/// come `+` for a sign, the digits after the point, and `%` or `k` (thousands). After `?` comes a field whose value 0
/// turns the column into a dash. A `|` separates groups of columns.
pub fn heading(layout: &str) -> String {
    columns(layout, |name, _| name.replace('_', " "))
}

/// Returns the line of a row in such a table. A text that is wider than its column shifts the rest of the line.
pub fn line(layout: &str, row: &impl Serialize) -> String {
    let row = value(row);
    columns(layout, |_, cell| {
        let (fields, count) = cell.split_once('?').unwrap_or((cell, ""));
        let (fields, format) = fields.split_once(':').unwrap_or((fields, ""));
        if *field(&row, count) == 0 {
            return number(None);
        }
        fields
            .split('+')
            .map(|path| text(field(&row, path), format))
            .collect::<Vec<_>>()
            .join(" / ")
    })
}

/// Returns a line that has, for each column, the text that `cell` makes of its heading and its fields.
fn columns(layout: &str, cell: impl Fn(&str, &str) -> String) -> String {
    let texts = layout.split(' ').map(|column| {
        let Some((name, rest)) = column.split_once(['<', '>']) else { return column.to_owned() };
        let (width, fields) = rest.split_once('=').expect("a column has a field");
        let width: usize = width.parse().expect("a column has a width");
        let text = cell(name, fields);
        if column.contains('<') { format!("{text:<width$}") } else { format!("{text:>width$}") }
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns a row as a JSON value, whose text is a single line with the names in alphabetical order.
pub fn value(row: &impl Serialize) -> Value {
    serde_json::to_value(row).expect("the names of a row's fields are texts")
}

fn field<'a>(row: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(row, |row, name| &row[name])
}

/// Returns the text of a field. JSON's null becomes `never`, because it means a time that never came.
fn text(value: &Value, format: &str) -> String {
    let digits = format.trim_start_matches('+').trim_end_matches(['%', 'k']).parse::<usize>();
    let unit = if format.ends_with('%') { "%" } else { "" };
    match (value, digits) {
        (Value::Null, _) => "never".to_owned(),
        (Value::String(text), _) => text.clone(),
        (Value::Number(number), Ok(digits)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let number = if format.ends_with('k') { number / 1e3 } else { number };
            match (format.starts_with('+'), unit) {
                (true, _) => format!("{number:+.digits$}{unit}"),
                (false, "%") => share(number, 100.0, digits) + unit,
                (false, _) => format!("{number:.digits$}"),
            }
        }
        _ => value.to_string(),
    }
}

/// A table whose columns are as wide as their texts.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table of rows of texts. A row may have fewer or more texts than there are headings.
    pub fn new(
        headings: impl IntoIterator<Item: Into<String>>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let headings = headings.into_iter().map(Into::into).collect();
        Self { headings, rows: rows.into_iter().collect() }
    }

    /// Returns the table as text. The first column is aligned left, the others right in `least` or more characters.
    pub fn text(&self, least: usize) -> String {
        let rows = || core::iter::once(&self.headings).chain(&self.rows);
        let columns = rows().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let texts = rows().filter_map(|row| Some(row.get(column)?.chars().count()));
            texts.max().unwrap_or(0).max(if column == 0 { 0 } else { least })
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let texts = row.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
                if column == 0 { format!("{text:width$}") } else { format!("  {text:>width$}") }
            });
            texts.collect::<String>().trim_end_matches(' ').to_owned() + "\n"
        };
        rows().map(line).collect()
    }
}

/// Returns a number with one digit after the point, or a dash for `None`.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

/// Returns a percentage with `digits` digits after the point. More digits are added if it would look like 0 or like
/// `whole` without being equal to it: 99.99 % are not all.
pub fn share(number: f64, whole: f64, digits: usize) -> String {
    let is_true = |digits: &usize| {
        let is_it = |end: f64| format!("{number:.digits$}") == format!("{end:.digits$}");
        [0.0, whole].into_iter().all(|end| number.total_cmp(&end).is_eq() || !is_it(end))
    };
    let digits = (digits..DIGITS_MAX).find(is_true).unwrap_or(DIGITS_MAX);
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_layout_places_headings_and_fields_alike() {
        let layout = "system<8=system up_kB>7=up.bytes:1k | p50>5=all.p50:0?all.keys both>9=all.keys+all.p50:+1%";
        assert_eq!(heading(layout), "system     up kB |   p50      both");
        let row = |keys, p50| json!({ "system": "ssh", "up": { "bytes": 1520 }, "all": { "keys": keys, "p50": p50 } });
        assert_eq!(line(layout, &row(3, Some(7.25))), "ssh          1.5 |     7 +3.0% / +7.2%");
        assert_eq!(line(layout, &row(1, None)), "ssh          1.5 | never +1.0% / never");
        assert_eq!(line(layout, &row(0, None)), "ssh          1.5 |     - +0.0% / never");
    }

    #[test]
    fn only_the_whole_is_written_as_the_whole_and_only_nothing_as_nothing() {
        for (number, whole, digits, text) in [
            (100.0, 100.0, 1, "100.0"),
            (99.94, 100.0, 1, "99.9"),
            (99.99, 100.0, 1, "99.99"),
            (99.9996, 100.0, 1, "99.9996"),
            (0.04, 100.0, 1, "0.04"),
            (0.0, 100.0, 1, "0.0"),
            (0.876_54, 1.0, 3, "0.877"),
            (0.999_8, 1.0, 3, "0.9998"),
        ] {
            assert_eq!(share(number, whole, digits), text);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let row = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
        let table = Table::new(["path", "mean", ""], [row(["ä", "100.0", "x"])]);
        assert_eq!(table.text(0), "path   mean\nä     100.0  x\n");
        assert_eq!(table.text(6), "path    mean\nä      100.0       x\n");
        assert_eq!((number(Some(1.25)), number(None)), ("1.2".to_owned(), "-".to_owned()));
    }
}
