//! The notice bar in the top row of the screen, shortened so that the important words remain.

use rove_terminal::{Attributes, Color, Pen, Position, Screen, char_width};

/// Longest notice bar, in columns. Chosen: wider than a user reads at a glance; it also bounds error messages.
const LINE_COLUMNS_MAX: usize = 127;
/// The mark for words that are left out.
const ELLIPSIS: &str = "...";
/// The hints of a bar that has none: one empty hint, so that [`Bar::fitted`] still tries each message.
const NO_HINT: [String; 1] = [String::new()];

/// The style of the bar: white on blue, bold.
pub(crate) const PEN: Pen = Pen {
    foreground: Color::Indexed(7),
    background: Color::Indexed(4),
    attributes: Attributes::BOLD,
};

/// The bar's message and hint in longer and shorter versions, from which [`Bar::fitted`] chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    /// The program's name, which is the first word of the bar.
    pub(crate) program: String,
    /// The message in at least one version, from the longest to the shortest.
    pub(crate) texts: Vec<String>,
    /// The hint how to quit, at the end of the bar, from the longest version to the shortest; empty without a hint.
    pub(crate) hints: Vec<String>,
}

impl Bar {
    /// Returns the bar's text for a window of `columns`. A narrow window gets a shorter message, then a shorter hint,
    /// then the message's first words. At worst only the hint remains or, without one, the shortest message, cut off at
    /// the window's edge.
    pub(crate) fn fitted(&self, columns: u16) -> String {
        let room = usize::from(columns).min(LINE_COLUMNS_MAX);
        let hints = if self.hints.is_empty() { &NO_HINT[..] } else { &self.hints };
        let whole = hints
            .iter()
            .flat_map(|hint| self.texts.iter().map(|text| self.line(text, hint)))
            .find(|line| width(line) <= room);
        if let Some(line) = whole {
            return line;
        }
        let shortest = |of: &[String]| of.last().cloned().unwrap_or_default();
        let (text, hint) = (shortest(&self.texts), shortest(hints));
        let taken = width(&self.line("", &hint)) + usize::from(!hint.is_empty());
        let cut = cut_at_words(&text, room.saturating_sub(taken));
        let line = self.line(if hint.is_empty() && cut.is_empty() { &text } else { &cut }, &hint);
        if hint.is_empty() || width(&line) <= room { line } else { hint }
    }

    /// Draws the bar over the top row of the frame, and hides the cursor if it is in that row.
    pub(crate) fn draw(&self, frame: &mut Screen) {
        let background = Pen { attributes: Attributes::NONE, ..PEN };
        let line = self.fitted(frame.size().columns());
        let line: String = line.chars().take(LINE_COLUMNS_MAX).collect();
        frame.clear_row(0, background);
        frame.write_text(Position { row: 0, column: 0 }, &line, PEN);
        if frame.cursor().row == 0 {
            frame.show_cursor(false);
        }
    }

    fn line(&self, text: &str, hint: &str) -> String {
        let separator = if text.is_empty() || hint.is_empty() { "" } else { " " };
        format!("{}: {text}{separator}{hint}", self.program)
    }
}

/// Returns the first words of a text that fit into `columns` before an ellipsis; empty if not even one word fits.
fn cut_at_words(text: &str, columns: usize) -> String {
    let mut cut = String::new();
    for word in text.split_whitespace() {
        let separator = if cut.is_empty() { "" } else { " " };
        if width(&cut) + separator.len() + width(word) + ELLIPSIS.len() > columns {
            break;
        }
        cut.push_str(separator);
        cut.push_str(word);
    }
    if !cut.is_empty() {
        cut.push_str(ELLIPSIS);
    }
    cut
}

fn width(text: &str) -> usize {
    text.chars().filter(|c| !c.is_control()).map(|c| usize::from(char_width(c))).sum()
}

#[cfg(test)]
mod tests {
    use rove_terminal::Size;

    use super::*;

    fn bar(texts: &[&str], hints: &[&str]) -> Bar {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Bar { program: "rove".to_owned(), texts: owned(texts), hints: owned(hints) }
    }

    fn top_row(frame: &Screen) -> String {
        frame.row(0).unwrap().cells().iter().map(|cell| cell.base.unwrap_or('.')).collect()
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
            (15, "rove: [x]"),
            (9, "rove: [x]"),
            (8, "[x]"),
            (3, "[x]"),
            (2, "[x]"),
        ] {
            assert_eq!(bar.fitted(columns), line, "{columns} columns");
        }
    }

    #[test]
    fn a_bar_without_a_way_out_says_what_it_can() {
        let bar = bar(&["one two three"], &[]);
        for (columns, line) in
            [(19, "rove: one two three"), (18, "rove: one two..."), (15, "rove: one...")]
        {
            assert_eq!(bar.fitted(columns), line, "{columns} columns");
        }
    }

    #[test]
    fn the_bar_takes_the_top_row_and_is_cut_at_its_end() {
        for (columns, row) in
            [(12_u16, "rove: 広.x..."), (9, "rove: 広.x"), (7, "rove: ."), (1, "r")]
        {
            let mut frame = Screen::blank(Size::new(columns, 2).unwrap());
            bar(&["広\u{7}\u{301}x"], &[]).draw(&mut frame);
            assert_eq!(top_row(&frame), row);
            let last = frame.row(0).unwrap().cells().last().unwrap().pen;
            assert_eq!(last.background, Color::Indexed(4));
            assert!(!frame.cursor().visible);
        }
    }

    #[test]
    fn a_text_of_any_length_is_cut() {
        for (len, shown) in [(121, 121), (122, 121), (100_000, 121)] {
            let mut frame = Screen::blank(Size::new(200, 1).unwrap());
            bar(&[&"x".repeat(len)], &[]).draw(&mut frame);
            assert_eq!(top_row(&frame).matches('x').count(), shown);
        }
    }
}
