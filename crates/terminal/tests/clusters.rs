//! Clusters on terminals that draw them in different ways. However a terminal draws a cluster, no older text stays
//! beside it.

use proptest::prelude::*;
use rove_terminal::display::Functions;
use rove_terminal::{
    ClusterWidths, Renderer, Row, Screen, Size, Terminal, TerminalCapabilities, char_width,
    may_be_newer,
};

/// The characters that a terminal draws into the cell of the character before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joining {
    /// Characters without a width.
    None,
    /// Characters after a joiner, whatever the cell before the cursor contains, as in tmux 3.3a.
    AfterJoiner,
    /// All characters of a cluster that is written without a cursor motion in its middle, as in terminals that count
    /// columns by cluster.
    InText,
}

/// The ways in which terminals differ.
#[derive(Clone, Copy, Debug)]
struct RenderOptions {
    joining: Joining,
    /// Whether U+FE0F makes a character wide and U+FE0E makes it narrow.
    selects_width: bool,
    /// Whether U+200D is drawn and takes a column, as in a terminal without combining characters.
    draws_joiner: bool,
    /// Whether the characters of Unicode 9 and later are narrow.
    is_old: bool,
    /// How many columns a character occupies that the crate's tables lack. 0 if the terminal does not draw it.
    newer: usize,
    /// Whether half of a flag is wide.
    has_wide_flags: bool,
}

const TMUX: RenderOptions = RenderOptions {
    joining: Joining::AfterJoiner,
    selects_width: false,
    draws_joiner: false,
    is_old: false,
    newer: 1,
    has_wide_flags: false,
};

const MANNERS: [RenderOptions; 8] = [
    RenderOptions { joining: Joining::None, ..TMUX },
    TMUX,
    RenderOptions { joining: Joining::InText, ..TMUX },
    RenderOptions { joining: Joining::InText, selects_width: true, ..TMUX },
    RenderOptions { joining: Joining::None, draws_joiner: true, ..TMUX },
    RenderOptions { joining: Joining::None, is_old: true, ..TMUX },
    RenderOptions { newer: 2, ..TMUX },
    RenderOptions { newer: 0, ..TMUX },
];

/// The part of a user's terminal that the renderer's output of text affects.
struct UserScreen {
    render_options: RenderOptions,
    size: Size,
    /// The text of each column; `None` for the right half of a wide character.
    rows: Vec<Vec<Option<String>>>,
    row: usize,
    column: usize,
    wraps: bool,
    top: usize,
    bottom: usize,
    /// Whether only text has arrived since the last character was drawn.
    in_text: bool,
}

impl UserScreen {
    fn new(size: Size, render_options: RenderOptions) -> Self {
        let row = vec![Some(String::new()); usize::from(size.columns())];
        let rows = vec![row; usize::from(size.rows())];
        let bottom = rows.len() - 1;
        Self {
            render_options,
            size,
            rows,
            row: 0,
            column: 0,
            wraps: false,
            top: 0,
            bottom,
            in_text: false,
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let text = core::str::from_utf8(bytes).expect("a frame is UTF-8");
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\x1b' => {
                    self.escape(&mut rest);
                    self.in_text = false;
                }
                '\r' | '\n' | '\x08' | '\x0f' => {
                    self.control(c);
                    self.in_text = false;
                }
                c => self.print(c),
            }
        }
    }

    fn control(&mut self, c: char) {
        self.wraps = false;
        match c {
            '\r' => self.column = 0,
            '\n' => self.line_feed(),
            '\x08' => self.column = self.column.saturating_sub(1),
            _ => {}
        }
    }

    fn line_feed(&mut self) {
        if self.row != self.bottom {
            self.row = (self.row + 1).min(self.rows.len() - 1);
            return;
        }
        self.scroll(self.top, self.bottom);
    }

    /// Removes row `gone`, and inserts an empty row at `new`.
    fn scroll(&mut self, gone: usize, new: usize) {
        self.rows.remove(gone);
        self.rows.insert(new, vec![Some(String::new()); usize::from(self.size.columns())]);
    }

    fn escape(&mut self, rest: &mut core::str::Chars<'_>) {
        let first = rest.next();
        if first != Some('[') {
            if first == Some('(') {
                rest.next();
            }
            return;
        }
        let mut parameters = String::new();
        let last = loop {
            match rest.next().expect("a sequence is whole") {
                c @ '@'..='~' => break c,
                c => parameters.push(c),
            }
        };
        let number = |at: usize| parameters.split(';').nth(at).and_then(|n| n.parse().ok());
        let count: usize = number(0).unwrap_or(1);
        match last {
            'H' => {
                (self.row, self.column) = (count - 1, number(1).unwrap_or(1) - 1);
                self.wraps = false;
            }
            'G' => self.go(count - 1),
            'C' => self.go(self.column + count),
            'D' => self.go(self.column.saturating_sub(count)),
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = (self.row + count).min(self.rows.len() - 1),
            'd' => self.row = count - 1,
            'K' => self.erase(self.row, self.column, usize::MAX),
            'X' => self.erase(self.row, self.column, count),
            'J' => {
                let (row, column) =
                    if parameters == "2" { (0, 0) } else { (self.row, self.column) };
                self.erase(row, column, usize::MAX);
                (row + 1..self.rows.len()).for_each(|row| self.erase(row, 0, usize::MAX));
            }
            'r' => {
                self.top = count - 1;
                self.bottom = number(1).unwrap_or(self.rows.len()) - 1;
                (self.row, self.column, self.wraps) = (0, 0, false);
            }
            'M' => (0..count).for_each(|_| self.scroll(self.row, self.bottom)),
            'L' => (0..count).for_each(|_| self.scroll(self.bottom, self.row)),
            'm' | 'h' | 'l' => {}
            _ => panic!("the model does not know CSI {parameters} {last}"),
        }
    }

    fn go(&mut self, column: usize) {
        self.column = column.min(usize::from(self.size.columns()) - 1);
        self.wraps = false;
    }

    fn erase(&mut self, row: usize, column: usize, count: usize) {
        let end = column.saturating_add(count).min(usize::from(self.size.columns()));
        (column..end).for_each(|column| self.empty(row, column));
    }

    /// Empties a column. A wide character is removed as a whole.
    fn empty(&mut self, row: usize, column: usize) {
        let row = &mut self.rows[row];
        if row[column].is_none() {
            row[column - 1] = Some(String::new());
        }
        row[column] = Some(String::new());
        if let Some(next @ None) = row.get_mut(column + 1) {
            *next = Some(String::new());
        }
    }

    fn width(&self, c: char) -> usize {
        let is_new = matches!(c, '\u{1fae0}'..='\u{1fae9}' | '\u{1f9d1}');
        match usize::from(char_width(c)) {
            _ if may_be_newer(c) => self.render_options.newer,
            _ if self.render_options.has_wide_flags && matches!(c, '\u{1f1e6}'..='\u{1f1ff}') => 2,
            2 if self.render_options.is_old && is_new => 1,
            0 if self.render_options.draws_joiner && c == '\u{200d}' => 1,
            width => width,
        }
    }

    /// Returns the column of the glyph before the cursor.
    fn before(&self) -> Option<usize> {
        let at = if self.wraps { self.column } else { self.column.checked_sub(1)? };
        Some(if self.rows[self.row][at].is_none() { at - 1 } else { at })
    }

    fn print(&mut self, c: char) {
        if may_be_newer(c) && self.width(c) == 0 {
            return;
        }
        let was_in_text = core::mem::replace(&mut self.in_text, true);
        if let Some(at) = self.before() {
            let before = self.rows[self.row][at].clone().expect("the head of a glyph");
            let after_joiner = before.ends_with('\u{200d}') && self.width('\u{200d}') == 0;
            let is_regional = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
            let joins = match self.render_options.joining {
                Joining::None => false,
                Joining::AfterJoiner => after_joiner && !c.is_ascii(),
                Joining::InText => {
                    was_in_text
                        && (after_joiner && char_width(c) == 2
                            || !before.is_empty() && matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
                            || is_regional(c)
                                && before.chars().filter(|&c| is_regional(c)).count() == 1)
                }
            };
            if joins || self.width(c) == 0 {
                self.join(at, c, was_in_text);
                return;
            }
        } else if self.width(c) == 0 {
            return;
        }
        self.put(c);
    }

    /// Adds a character to the glyph at `at`.
    fn join(&mut self, at: usize, c: char, was_in_text: bool) {
        let columns = usize::from(self.size.columns());
        let row = self.row;
        let text = self.rows[row][at].as_mut().expect("the head of a glyph");
        text.push(c);
        let text = text.clone();
        let is_wide = self.rows[row].get(at + 1).is_some_and(Option::is_none);
        let widens = c == '\u{fe0f}'
            || text.chars().filter(|c| ('\u{1f1e6}'..='\u{1f1ff}').contains(c)).count() == 2;
        if self.render_options.selects_width
            && was_in_text
            && widens
            && !is_wide
            && at + 1 < columns
        {
            self.empty(row, at + 1);
            self.rows[row][at + 1] = None;
            self.go_behind(at + 2);
        } else if self.render_options.selects_width && was_in_text && c == '\u{fe0e}' && is_wide {
            self.rows[row][at + 1] = Some(String::new());
            self.go_behind(at + 1);
        }
    }

    fn put(&mut self, c: char) {
        let (columns, width) = (usize::from(self.size.columns()), self.width(c));
        if self.wraps || self.column + width > columns {
            self.column = 0;
            self.line_feed();
        }
        let (row, column) = (self.row, self.column);
        for at in column..column + width {
            self.empty(row, at);
        }
        self.rows[row][column] = Some(c.to_string());
        if width == 2 {
            self.rows[row][column + 1] = None;
        }
        self.go_behind(column + width);
    }

    fn go_behind(&mut self, column: usize) {
        let columns = usize::from(self.size.columns());
        self.wraps = column >= columns;
        self.column = column.min(columns - 1);
    }
}

/// A run of columns, the text that it must show, and whether all terminals agree on the text's place.
struct Piece {
    start: usize,
    end: usize,
    text: String,
    is_certain: bool,
}

fn pieces(row: &Row) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut column = 0;
    while let Some(cell) = row.cells().get(column) {
        let marks = row.marks(u16::try_from(column).expect("a narrow screen"));
        let base = cell.base.unwrap_or(if cell.combined { '\u{a0}' } else { ' ' });
        let text = format!("{base}{marks}");
        let end = column + usize::from(cell.width());
        let is_regional = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
        let is_certain =
            marks.is_empty() && (base.is_ascii() || ('\u{4e00}'..='\u{9fff}').contains(&base));
        let joins = pieces.last().is_some_and(|before| {
            before.text.ends_with('\u{200d}')
                || matches!(base, '\u{1f3fb}'..='\u{1f3ff}')
                || before.text.ends_with(is_regional) && is_regional(base)
        });
        match pieces.last_mut() {
            Some(before) if joins => {
                before.text += &text;
                before.end = end;
                before.is_certain = false;
            }
            _ => pieces.push(Piece { start: column, end, text, is_certain }),
        }
        column = end;
    }
    pieces
}

/// Panics if the user sees text that is not in the frame.
fn assert_nothing_older(user: &UserScreen, frame: &Screen, bytes: &[u8]) {
    for (number, shown) in user.rows.iter().enumerate() {
        let row =
            frame.row(u16::try_from(number).expect("a low screen")).expect("a row of the frame");
        let line: String =
            shown.iter().flatten().map(|text| if text.is_empty() { " " } else { text }).collect();
        for piece in pieces(row) {
            for text in shown[piece.start..piece.end].iter().flatten() {
                let text = text.trim_end_matches(' ');
                let is_right = if piece.is_certain {
                    text == piece.text.trim_end_matches(' ')
                        || piece.end - piece.start == 2 && text.is_empty()
                } else {
                    // In the last column a replacement stands for characters that could wrap.
                    let is_last = piece.end == shown.len();
                    let text = text.strip_suffix('\u{fffd}').filter(|_| is_last).unwrap_or(text);
                    text.is_empty() || piece.text.contains(text)
                };
                assert!(
                    is_right,
                    "{:?} shows {text:?} for {:?} in row {number} {line:?} after {:?}",
                    user.render_options,
                    piece.text,
                    String::from_utf8_lossy(bytes),
                );
            }
        }
    }
}

/// A program's terminal, and users' terminals that draw clusters in all these ways.
struct Ends {
    host: Terminal,
    renderer: Renderer,
    users: Vec<UserScreen>,
}

impl Ends {
    fn new(size: Size, capabilities: TerminalCapabilities) -> Self {
        let users = MANNERS.map(|render_options| UserScreen::new(size, render_options)).into();
        Self { host: Terminal::host(size), renderer: Renderer::new(capabilities), users }
    }

    /// Draws the program's text in a single frame, and returns its bytes.
    fn write(&mut self, text: &str) -> usize {
        self.host.write(text.as_bytes());
        let bytes = self.renderer.frame(self.host.screen());
        for user in &mut self.users {
            user.write(&bytes);
            assert_nothing_older(user, self.host.screen(), &bytes);
        }
        bytes.len()
    }
}

fn capabilities(erase_characters: bool) -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions { erase_characters, ..Functions::ALL },
        ..TerminalCapabilities::default()
    }
}

const EMOJI: &str = "👩\u{200d}💻 dev 👨\u{200d}👩\u{200d}👧 family 🏳\u{fe0f}\u{200d}🌈 pride\r\n";

#[test]
fn no_letter_of_older_lines_stays_between_joined_emoji() {
    for erase_characters in [true, false] {
        let mut ends = Ends::new(Size::clamped(80, 24), capabilities(erase_characters));
        for _ in 0..60 {
            ends.write("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl\r\n");
        }
        for _ in 0..40 {
            ends.write(EMOJI);
        }
        // This frame writes all texts over letters, without scrolling.
        ends.write(&format!("\x1b[2J\x1b[H{}", "abcdefghijklmnopqrstuvwxyz\r\n".repeat(20)));
        ends.write(&format!("\x1b[H{}", EMOJI.repeat(20)));
        // tmux joins the characters of all clusters.
        let tmux = &ends.users[1].rows[0];
        assert_eq!(tmux[0].as_deref(), Some("👩\u{200d}💻"));
        assert_eq!(tmux[9].as_deref(), Some("👨\u{200d}👩\u{200d}👧"));
    }
}

#[test]
fn no_older_text_follows_the_neighbours_of_a_joiner() {
    for text in [
        "漢\u{200d}字 end",
        "漢\u{200d}字漢字",
        "a漢\u{200d}字b",
        "é\u{200d}字 end",
        "漢\u{200d}é end",
        "👍🏽 ok",
        "🇩🇪🇫🇷 flags",
        "⌚\u{fe0e} watch",
        "❤\u{fe0f} heart",
        "1\u{fe0f}\u{20e3} key",
        "🫠 new",
        "\u{1faec}",
        "\u{1faec} newer",
        "x\u{1faec}\u{1faec}y",
        "\u{1f1e9}",
        "\u{1f1e9}x half",
        "का word",
        "🧑\u{200d}🤝\u{200d}🧑",
    ] {
        for column in 1..=20 {
            let mut ends = Ends::new(Size::clamped(20, 3), capabilities(true));
            ends.write("abcdefghijklmnopqrstABCDEFGHIJKLMNOPQRST");
            ends.write(&format!("\x1b[1;{column}H{text}"));
            ends.write("\x1b[1;1H\x1b[Kabcdefghijklmnopqrst");
        }
    }
}

#[test]
fn half_a_flag_wraps_nowhere_on_a_terminal_that_makes_it_wide() {
    let capabilities =
        TerminalCapabilities { cluster_widths: ClusterWidths::ALL, ..capabilities(true) };
    let render_options = RenderOptions { joining: Joining::InText, has_wide_flags: true, ..TMUX };
    for (text, column) in
        ["🇩", "🇩🇪", "x🇩y"].into_iter().flat_map(|text| (1..=20).map(move |at| (text, at)))
    {
        let size = Size::clamped(20, 3);
        let mut ends = Ends::new(size, capabilities.clone());
        ends.users = vec![UserScreen::new(size, render_options)];
        ends.write("abcdefghijklmnopqrstABCDEFGHIJKLMNOPQRST");
        ends.write(&format!("\x1b[2;{column}H{text}"));
    }
}

#[test]
fn only_what_a_terminal_may_draw_narrower_is_blanked_before() {
    let letters = "abcdefghijklmnopqrst";
    for (text, expected) in [
        // Text to which every terminal gives the same columns costs no further byte.
        ("漢字 x", "漢字 x"),
        ("→ “x” ✓", "→^[;2H “^[;4Hx”^[;6H ✓^[;8H"),
        ("漢字，。", "漢字，^[;7H。^[;9H"),
        ("e\u{301}x", "e\u{301}^[;2Hx"),
        ("😀 x", "^[2X😀^[;3H x"),
        ("👩\u{200d}💻 x", "^[K👩\u{200d}💻^[;5H xghijklmnopqrst^[7G"),
    ] {
        let mut host = Terminal::host(Size::clamped(20, 3));
        let mut renderer = Renderer::new(capabilities(true));
        host.write(format!("{letters}\x1b[H").as_bytes());
        renderer.frame(host.screen());
        host.write(text.as_bytes());
        let frame = String::from_utf8(renderer.frame(host.screen())).unwrap();
        let frame = frame.replace("\x1b[?25l", "").replace("\x1b[?25h", "").replace('\x1b', "^");
        assert_eq!(frame, expected, "{text}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{1,12}",
        2 => "[a-z]{20,60}",
        6 => prop::sample::select(vec![
            "👩\u{200d}💻", "👨\u{200d}👩\u{200d}👧", "🏳\u{fe0f}\u{200d}🌈", "漢\u{200d}字", "👍🏽", "🇩🇪", "❤\u{fe0f}",
            "⌚\u{fe0e}", "1\u{fe0f}\u{20e3}", "🫠", "\u{1faec}", "\u{1f1e9}", "é\u{200d}字", "漢字", "😀", "\u{200d}", "का", "a🏽", "字",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["\r\n", "\r", "\n", "\x08"]).prop_map(str::to_owned),
        3 => (1_u16..8, 1_u16..30).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
        2 => (1_u16..6, prop::sample::select(vec!["@", "P", "L", "M", "X", "K", "J"]))
            .prop_map(|(count, last)| format!("\x1b[{}{last}", if "KJ".contains(last) { count % 3 } else { count })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_terminal_keeps_older_text(
        (columns, rows) in (2_u16..30, 1_u16..6), erase_characters: bool,
        parts in prop::collection::vec(prop::collection::vec(word(), 1..12), 1..6),
    ) {
        let mut ends = Ends::new(Size::clamped(columns, rows), capabilities(erase_characters));
        // No frame could suit these terminals. A drawn joiner may stand alone in the last column. A mark whose base is
        // not drawn joins the cell on its left.
        ends.users.retain(|user| !user.render_options.draws_joiner && user.render_options.newer > 0);
        for part in parts {
            ends.write(&part.concat());
        }
    }
}
