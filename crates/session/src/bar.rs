//! The notice bar over the top rows of the screen, which grows or is shortened so that the important words remain.

use rove_terminal::{Attributes, Color, Pen, Size, columns_of};

/// Greatest width of the notice bar, in columns. Chosen: wider than a user reads at a glance.
const LINE_COLUMNS_MAX: usize = 127;
/// Most rows of the notice bar. Chosen: a question with the longest names fits a window of 40 columns.
const BAR_ROWS_MAX: usize = 6;
/// The mark for words that are left out.
const ELLIPSIS: &str = "...";
/// The hints of a bar that has none: one empty hint, so that [`Bar::rows`] still tries each message.
const NO_HINT: [String; 1] = [String::new()];
/// The message in place of a question for which the window is too small.
const TOO_SMALL: &str = "The window is too small for a question; enlarge it.";

/// The style of the bar: white on blue, bold.
pub(crate) const PEN: Pen = Pen {
    foreground: Color::Indexed(7),
    background: Color::Indexed(4),
    attributes: Attributes::BOLD,
};

/// The bar's message and hint in longer and shorter versions, from which [`Bar::rows`] chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    /// The program's name, which is the first word of the bar.
    pub(crate) program: String,
    /// The message in at least one version, from the longest to the shortest.
    pub(crate) texts: Vec<String>,
    /// The hint how to quit, at the end of the bar, from the longest version to the shortest; empty without a hint.
    pub(crate) hints: Vec<String>,
    /// Whether the message asks for the user's consent. Such a message is shown whole or not at all.
    pub(crate) is_question: bool,
}

impl Bar {
    /// Returns the bar's rows in a window of this size. A window that is too small for every version gets the first
    /// words of the shortest message. At worst only the hint remains or, without one, as much as fits.
    pub(crate) fn rows(&self, window: Size) -> Vec<String> {
        if let Some(rows) = self.whole(window) {
            return rows;
        }
        if self.is_question {
            let (texts, hints) = (vec![TOO_SMALL.to_owned()], Vec::new());
            return Self { texts, hints, is_question: false, ..self.clone() }.rows(window);
        }
        let shortest = |of: &[String]| of.last().cloned().unwrap_or_default();
        let (text, hint) = (shortest(&self.texts), shortest(&self.hints));
        let text: String = text.chars().take(BAR_ROWS_MAX * LINE_COLUMNS_MAX).collect();
        let (columns, rows_max) = room(window);
        let cuts = text.rmatch_indices(' ').map(|(end, _)| text[..end].to_owned() + ELLIPSIS);
        let mut cuts = cuts.map(|cut| self.laid_out(&cut, &hint, columns));
        cuts.find(|rows| rows.len() <= rows_max).unwrap_or_else(|| {
            let line = if hint.is_empty() { format!("{}: {text}", self.program) } else { hint };
            wrapped(&line, columns).into_iter().take(rows_max).collect()
        })
    }

    /// Returns the version with the fewest rows, and the longest of several. `None` if none fits the window.
    pub(crate) fn whole(&self, window: Size) -> Option<Vec<String>> {
        let (columns, rows_max) = room(window);
        let hints = if self.hints.is_empty() { &NO_HINT[..] } else { &self.hints };
        let versions = hints.iter().flat_map(|hint| self.texts.iter().map(move |it| (it, hint)));
        let versions = versions.map(|(text, hint)| self.laid_out(text, hint, columns));
        versions.filter(|rows| rows.len() <= rows_max).min_by_key(Vec::len)
    }

    /// Returns the rows of a message and a hint. The hint is not broken unless it is wider than a row.
    fn laid_out(&self, text: &str, hint: &str, columns: usize) -> Vec<String> {
        let mut rows = wrapped(&format!("{}: {text}", self.program), columns);
        match rows.last_mut() {
            _ if hint.is_empty() => {}
            Some(last) if columns_of(last) + 1 + columns_of(hint) <= columns => {
                *last += &format!(" {hint}");
            }
            _ => rows.extend(wrapped(hint, columns)),
        }
        rows
    }
}

fn room(window: Size) -> (usize, usize) {
    let rows = usize::from(window.rows()).min(BAR_ROWS_MAX);
    (usize::from(window.columns()).min(LINE_COLUMNS_MAX), rows)
}

/// Breaks a text into rows, at spaces if possible. Ignores the rest after too many rows.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut row) = (Vec::new(), String::new());
    for c in text.chars() {
        row.push(c);
        if columns_of(&row) > columns {
            let end = row.rfind(' ').unwrap_or(row.len() - c.len_utf8());
            let next = row.split_off(end).trim_start().to_owned();
            rows.push(core::mem::replace(&mut row, next));
        }
        if rows.len() > BAR_ROWS_MAX {
            break;
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(texts: &[&str], hints: &[&str]) -> Bar {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let (texts, hints) = (owned(texts), owned(hints));
        Bar { program: "rove".to_owned(), texts, hints, is_question: false }
    }

    fn window(columns: u16, rows: u16) -> Size {
        Size::new(columns, rows).unwrap()
    }

    #[test]
    fn words_go_before_the_way_out_does() {
        let bar = bar(&["one two three four", "one two"], &["[To quit: x]", "[x]"]);
        for (columns, line) in [
            (37, "rove: one two three four [To quit: x]"),
            (36, "rove: one two [To quit: x]"),
            (26, "rove: one two [To quit: x]"),
            (25, "rove: one two [x]"),
            (17, "rove: one two [x]"),
            (16, "rove: one... [x]"),
            (15, "[x]"),
            (3, "[x]"),
            (2, "[x"),
        ] {
            assert_eq!(bar.rows(window(columns, 1)), [line], "{columns} columns");
        }
    }

    #[test]
    fn a_bar_without_a_way_out_says_what_it_can() {
        let bar = bar(&["one two three"], &[]);
        for (columns, line) in
            [(19, "rove: one two three"), (18, "rove: one two..."), (15, "rove: one...")]
        {
            assert_eq!(bar.rows(window(columns, 1)), [line], "{columns} columns");
        }
    }

    #[test]
    fn a_text_without_a_short_version_takes_more_rows_and_its_hint_stays_in_one() {
        let mut bar = bar(&["one two three"], &["[To quit: x]"]);
        for (columns, rows) in [
            (32, &["rove: one two three [To quit: x]"][..]),
            (31, &["rove: one two three", "[To quit: x]"]),
            (13, &["rove: one two", "three", "[To quit: x]"]),
        ] {
            assert_eq!(bar.rows(window(columns, 24)), rows, "{columns} columns");
        }
        bar.is_question = true;
        assert_eq!(bar.rows(window(13, 3)).len(), 3);
        assert!(bar.whole(window(13, 3)).is_some() && bar.whole(window(13, 2)).is_none());
        assert_eq!(bar.rows(window(13, 2)).join(" "), "rove: The window is...");
    }

    #[test]
    fn a_question_with_the_longest_names_fits_a_narrow_window() {
        let (name, login) = ("x".repeat(36), "-A: the host wants to use the key ".to_owned());
        let login = login + &format!("{name} for a login as {name} at ");
        for text in [
            format!("{login}a host that known_hosts has without a name."),
            format!("{login}{name}."),
            format!("Open port 65535 here to {name} on {name} for 10 minutes? ")
                + &format!("The login is at {name}."),
        ] {
            let bar = Bar { is_question: true, ..bar(&[&text], &["[To allow it: Ctrl-^ y]"]) };
            for columns in [40, 50, 80] {
                let shown = bar.rows(window(columns, 24)).concat().replace(' ', "");
                let words = format!("rove: {text} [To allow it: Ctrl-^ y]").replace(' ', "");
                assert_eq!(shown, words, "{columns} columns");
            }
        }
    }

    #[test]
    fn a_text_of_any_length_is_cut() {
        for (len, chars) in [(121, 121), (122, 122), (635, 635), (636, 635), (100_000, 635)] {
            for c in ["x", "\u{301}"] {
                let shown = bar(&[&c.repeat(len)], &[]).rows(window(200, 24)).concat();
                assert_eq!(shown.matches(c).count(), chars, "{len}");
            }
        }
        assert_eq!(bar(&["広x"], &[]).rows(window(1, 1)), ["r"]);
    }
}
