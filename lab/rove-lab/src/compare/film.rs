//! A moving picture of what the clients' terminals showed, as an SVG that plays in a browser without scripts.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use minijinja::HtmlEscape;
use rove_terminal::{Cell, Screen};
use rove_units::{Duration, Instant};

/// Most pictures of a run in a film. Chosen: some minutes of typing; browsers do not play larger files.
const PICTURES_MAX: usize = 4_000;

/// Width and height of a cell, and the size of the letters, in pixels.
const CELL: (f64, f64) = (7.2, 16.0);
const LETTERS: f64 = 12.0;
/// Pixels around everything, and between two terminals.
const MARGIN: f64 = 10.0;

/// How long the last picture stays before the film starts again.
const PAUSE: Duration = Duration::from_secs(2);

/// The styles of the picture. A viewer who prefers reduced motion sees the last frame.
const STYLE: &str = "text{font-family:monospace;fill:#ddd;white-space:pre}.title{fill:#8ab4f8}\
.key{fill:#fdd663}.frame{fill:#1e1e1e}.cursor{fill:#ddd;opacity:.6}.time{fill:#8ab4f8;transform-origin:0 0}\
@keyframes time{from{transform:scaleX(0)}}@media(prefers-reduced-motion:reduce){*{animation:none!important}}";

/// The pictures of one run, and the keys that were typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Film {
    start: Option<Instant>,
    pictures: Vec<Picture>,
    keys: Vec<(Duration, char)>,
}

/// The text of a screen, and the time from which it is shown.
#[derive(Clone, Debug, PartialEq)]
struct Picture {
    at: Duration,
    rows: Vec<Text>,
    columns: u16,
    cursor: (u16, u16),
}

/// The text of a row or of a key.
#[derive(Clone, Debug, PartialEq)]
struct Text {
    text: String,
    /// How many columns the text takes. A character may take two or none.
    columns: usize,
}

impl Text {
    /// Returns the text of a row without the blanks at its end.
    fn of_row(screen: &Screen, row: u16) -> Self {
        let cells = screen.row(row).map_or(&[][..], |row| row.cells());
        let is_seen = |cell: &Cell| cell.combined || !matches!(cell.base, None | Some(' '));
        let last = cells.iter().rposition(is_seen);
        let columns = last.map_or(0, |last| last + 1 + usize::from(cells[last].wide));
        Self { text: screen.row_text(row), columns }
    }
}

impl Film {
    /// Records what the terminal shows.
    pub(crate) fn note_screen(&mut self, now: Instant, screen: &Screen) {
        let Some(start) = self.start else { return };
        let (size, cursor) = (screen.size(), screen.cursor());
        let rows = (0..size.rows()).map(|row| Text::of_row(screen, row)).collect();
        let picture = Picture {
            at: now.saturating_since(start),
            rows,
            columns: size.columns(),
            cursor: (cursor.row, cursor.column),
        };
        let is_new = self
            .pictures
            .last()
            .is_none_or(|last| (&last.rows, last.cursor) != (&picture.rows, picture.cursor));
        if is_new && self.pictures.len() < PICTURES_MAX {
            self.pictures.push(picture);
        }
    }

    /// Records a key. The film begins with the first key.
    pub(crate) fn note_key(&mut self, now: Instant, bytes: &[u8], screen: &Screen) {
        let start = *self.start.get_or_insert(now);
        self.note_screen(now, screen);
        let shown = match bytes {
            [b'\r'] => '\u{23ce}',
            [0x7f] => '\u{232b}',
            [c @ b' '..=b'~'] => char::from(*c),
            _ => '\u{b7}',
        };
        if self.keys.len() < PICTURES_MAX {
            self.keys.push((now.saturating_since(start), shown));
        }
    }

    fn end(&self) -> Duration {
        let last = self.pictures.last().map_or(Duration::ZERO, |picture| picture.at);
        last.max(self.keys.last().map_or(Duration::ZERO, |key| key.0))
    }

    /// Returns the rows and columns of the terminal.
    fn size(&self) -> (usize, usize) {
        self.pictures.first().map_or((0, 0), |it| (it.rows.len(), usize::from(it.columns)))
    }
}

/// Returns an SVG in which the films play at the same time, one above the other, below the keys of the first film.
pub(crate) fn svg(films: &[(&str, &Film)]) -> String {
    let end = films.iter().map(|(_, film)| film.end()).max().unwrap_or(Duration::ZERO) + PAUSE;
    let columns = films.iter().map(|(_, film)| film.size().1).max().unwrap_or(0);
    let mut reel = Reel { end, style: String::new(), body: String::new(), names: BTreeMap::new() };
    let mut top = MARGIN;
    if let Some((_, film)) = films.first() {
        top = reel.keys(film, columns.max(1), top);
    }
    for (name, film) in films {
        top = reel.terminal(name, film, top);
    }
    let (width, height) = (pixels(columns, CELL.0) + 2.0 * MARGIN, top);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"{LETTERS}\">\n\
         <style>{STYLE}{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#111\"/>\n\
         <rect class=\"time\" width=\"{width:.0}\" height=\"3\" style=\"animation:time {:.3}s linear infinite\"/>\n{}</svg>\n",
        reel.style,
        end.as_secs_f64(),
        reel.body
    )
}

/// The parts of an SVG that were made so far.
struct Reel {
    end: Duration,
    style: String,
    body: String,
    /// The number of the animation for each span of time in which a text is shown.
    names: BTreeMap<(Duration, Option<Duration>), usize>,
}

impl Reel {
    /// Adds the keys, as they are typed. Returns the vertical position of the next part, in pixels.
    fn keys(&mut self, film: &Film, columns: usize, top: f64) -> f64 {
        self.title("keys", top);
        let top = top + CELL.1;
        for (number, (at, key)) in film.keys.iter().enumerate() {
            let x = MARGIN + pixels(number % columns, CELL.0);
            let y = top + pixels(number / columns, CELL.1) + LETTERS;
            let key = Text { text: key.to_string(), columns: 1 };
            self.text("key", (x, y), &key, (*at, None));
        }
        top + pixels(film.keys.len().div_ceil(columns), CELL.1) + MARGIN
    }

    /// Adds a terminal. Returns the vertical position of the next part, in pixels.
    fn terminal(&mut self, name: &str, film: &Film, top: f64) -> f64 {
        self.title(name, top);
        let top = top + CELL.1;
        let (rows, columns) = film.size();
        let (width, height) = (pixels(columns, CELL.0), pixels(rows, CELL.1));
        let _ = writeln!(
            self.body,
            "<rect class=\"frame\" x=\"{MARGIN}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
        for row in 0..rows {
            let y = top + pixels(row, CELL.1) + LETTERS;
            let mut since = Duration::ZERO;
            for (number, picture) in film.pictures.iter().enumerate() {
                let next = film.pictures.get(number + 1);
                if next.is_some_and(|next| next.rows[row] == picture.rows[row]) {
                    continue;
                }
                let until = next.map(|next| next.at);
                self.text("row", (MARGIN, y), &picture.rows[row], (since, until));
                since = until.unwrap_or(since);
            }
        }
        self.cursor(film, top);
        top + height + MARGIN
    }

    /// Adds the cursor, which jumps from place to place.
    fn cursor(&mut self, film: &Film, top: f64) {
        let name = format!("c{}", self.style.len());
        let _ = write!(self.style, "@keyframes {name}{{");
        let place = |(row, column): (u16, u16)| {
            let x = MARGIN + pixels(column.into(), CELL.0);
            format!("translate({x:.1}px,{:.1}px)", top + pixels(row.into(), CELL.1))
        };
        for (number, picture) in film.pictures.iter().enumerate() {
            let at = if number == 0 { 0.0 } else { self.share(picture.at) };
            let _ = write!(self.style, "{at:.3}%{{transform:{}}}", place(picture.cursor));
        }
        self.style.push('}');
        let last = film.pictures.last().map_or_else(String::new, |it| place(it.cursor));
        let _ = writeln!(
            self.body,
            "<rect class=\"cursor\" width=\"{}\" height=\"{}\" style=\"transform:{last};animation:{name} {:.3}s step-end infinite\"/>",
            CELL.0,
            CELL.1,
            self.end.as_secs_f64()
        );
    }

    fn title(&mut self, text: &str, top: f64) {
        let y = top + LETTERS;
        let _ = writeln!(self.body, "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\">{text}</text>");
    }

    /// Adds text that is seen for some time.
    fn text(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        Text { text, columns }: &Text,
        (since, until): (Duration, Option<Duration>),
    ) {
        if text.trim().is_empty() {
            return;
        }
        let next = self.names.len();
        let name = *self.names.entry((since, until)).or_insert(next);
        if name == next {
            self.span(name, since, until);
        }
        let width = pixels(*columns, CELL.0);
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\" opacity=\"{}\" \
             style=\"animation:s{name} {:.3}s step-end infinite\">{}</text>",
            u8::from(until.is_none()),
            self.end.as_secs_f64(),
            HtmlEscape(text)
        );
    }

    /// Adds the CSS rule that shows something from `since` until `until`.
    fn span(&mut self, name: usize, since: Duration, until: Option<Duration>) {
        let _ = write!(self.style, "@keyframes s{name}{{");
        if since > Duration::ZERO {
            self.style.push_str("0%{opacity:0}");
        }
        let _ = write!(self.style, "{:.3}%{{opacity:1}}", self.share(since));
        let gone = until.map_or(100.0, |until| self.share(until));
        let after = u8::from(until.is_none());
        let _ = write!(self.style, "{gone:.3}%{{opacity:{after}}}");
        if until.is_some() {
            self.style.push_str("100%{opacity:0}");
        }
        self.style.push('}');
    }

    /// Returns a time as a percentage of the whole film.
    fn share(&self, at: Duration) -> f64 {
        100.0 * at.as_secs_f64() / self.end.as_secs_f64()
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn pixels(count: usize, each: f64) -> f64 {
    count as f64 * each
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    /// Types `keys` a tenth of a second apart. Each is shown after `delay`.
    fn film(keys: &[&str], delay: Duration) -> Film {
        let mut terminal = Terminal::host(Size::clamped(20, 3));
        let mut film = Film::default();
        let start = Instant::from_millis(1000);
        let blank = terminal.snapshot();
        for (number, key) in (0..).zip(keys) {
            film.note_key(start + Duration::from_millis(100) * number, key.as_bytes(), &blank);
        }
        for (number, key) in (0..).zip(keys) {
            terminal.write(key.as_bytes());
            let now = start + Duration::from_millis(100) * number + delay;
            film.note_screen(now, terminal.screen());
        }
        film
    }

    #[test]
    fn each_text_is_seen_from_its_picture_to_the_next() {
        let film = film(&["a", "<"], Duration::from_millis(500));
        let svg = svg(&[("far", &film)]);
        // The end is at 600 ms, and the last picture stays for two seconds.
        for part in [
            "@keyframes s2{0%{opacity:0}19.231%{opacity:1}23.077%{opacity:0}100%{opacity:0}}",
            "@keyframes s3{0%{opacity:0}23.077%{opacity:1}100.000%{opacity:1}}",
            "opacity=\"0\" style=\"animation:s2 2.600s step-end infinite\">a</text>",
            "opacity=\"1\" style=\"animation:s3 2.600s step-end infinite\">a&lt;</text>",
        ] {
            assert!(svg.contains(part), "{part} is not in\n{svg}");
        }
        assert!(!svg.contains("<script"));
    }

    #[test]
    fn a_text_is_as_wide_as_its_cells() {
        for (text, columns) in [("a b", 3), ("你好", 4), ("e\u{301}x", 2), ("❤\u{fe0f}", 1)] {
            let film = film(&[text], Duration::ZERO);
            let width = pixels(columns, CELL.0);
            let svg = svg(&[("far", &film)]);
            let row = svg.lines().find(|line| line.ends_with(&format!(">{text}</text>")));
            let row = row.unwrap_or_else(|| panic!("{text} is not in\n{svg}"));
            assert!(row.contains(&format!("textLength=\"{width:.1}\"")), "{text}: {row}");
        }
    }

    #[test]
    fn a_picture_that_shows_nothing_new_is_not_kept() {
        let mut film = film(&["a", "b"], Duration::ZERO);
        let count = film.pictures.len();
        let mut terminal = Terminal::host(Size::clamped(20, 3));
        terminal.write(b"ab");
        film.note_screen(Instant::from_millis(9_000), terminal.screen());
        assert_eq!(film.pictures.len(), count);
    }

    #[test]
    fn keys_that_are_no_text_have_a_sign() {
        let film = film(&["\r", "\x7f", "\x1b[A"], Duration::ZERO);
        let keys: String = film.keys.iter().map(|key| key.1).collect();
        assert_eq!(keys, "\u{23ce}\u{232b}\u{b7}");
    }
}
