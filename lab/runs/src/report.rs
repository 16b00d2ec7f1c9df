//! Tables for people, and the texts of their cells.

/// Returns the heading of a table with a layout.
///
/// A layout is the table's columns in order: the heading with `_` for blanks, `<` (to the left) or `>` (to the right), and the width.
/// A `|` stands between groups of columns.
pub fn heading(layout: &str) -> String {
    let names = layout.split(' ').filter_map(|column| Some(column.split_once(['<', '>'])?.0));
    line(layout, names.map(|name| name.replace('_', " ")))
}

/// Returns a line of such a table. A text that is wider than its column moves the rest of the line.
pub fn line(layout: &str, cells: impl IntoIterator<Item = String>) -> String {
    let mut cells = cells.into_iter();
    let texts = layout.split(' ').map(|column| {
        let Some((_, width)) = column.split_once(['<', '>']) else { return column.to_owned() };
        let width: usize = width.parse().expect("a layout has widths");
        let cell = cells.next().expect("a line has a text for each column");
        if column.contains('<') { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns rows, of which the first is the heading, in columns as wide as their texts: the first to the left, the others to the right
/// with `least` characters at least.
pub fn table(rows: &[Vec<String>], least: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let texts = rows.iter().filter_map(|row| Some(row.get(column)?.chars().count()));
        texts.max().unwrap_or(0).max(if column == 0 { 0 } else { least })
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let texts = row.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
            if column == 0 { format!("{text:width$}") } else { format!("  {text:>width$}") }
        });
        texts.collect::<String>().trim_end_matches(' ').to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Returns a number with a digit behind the point, or a dash for none.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_places_headings_and_texts_alike() {
        let layout = "system<8 up_kB>7 | p50>5";
        assert_eq!(heading(layout), "system     up kB |   p50");
        let cells = ["ssh", "1.5", "never!"].map(str::to_owned);
        assert_eq!(line(layout, cells), "ssh          1.5 | never!");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let row = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
        let rows = [row(["path", "mean", ""]), row(["ä", "100.0", "x"])];
        assert_eq!(table(&rows, 0), "path   mean\nä     100.0  x\n");
        assert_eq!(table(&rows, 6), "path    mean\nä      100.0       x\n");
        assert_eq!((number(Some(1.25)), number(None)), ("1.2".to_owned(), "-".to_owned()));
    }
}
