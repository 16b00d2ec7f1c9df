use proptest::prelude::*;

use crate::display::properties::{look, program, size};
use crate::display::{Functions, Vocabulary};
use crate::renderer::{AlternateScreen, Renderer, TerminalCapabilities};
use crate::screen::{Screen, Size};
use crate::scrollback::ScrollbackLine;
use crate::terminal::Terminal;

fn capabilities() -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions::ALL,
        repertoire: Vocabulary::Rich.repertoire(),
        alternate_screen: AlternateScreen::xterm(),
        scrollback: true,
        ..TerminalCapabilities::default()
    }
}

/// A program's terminal, and a user's terminal that keeps the lines that scroll off.
struct Ends {
    host: Terminal,
    renderer: Renderer,
    user: Terminal,
    /// The lines that have scrolled off at the host.
    wanted: Vec<ScrollbackLine>,
    delivered: usize,
}

impl Ends {
    fn new(size: Size, before: &str, capabilities: TerminalCapabilities) -> Self {
        let keeping = || {
            let mut terminal = Terminal::host(size);
            terminal.keep_scrollback();
            terminal
        };
        let (mut user, host) = (keeping(), keeping());
        user.write(before.as_bytes());
        let mut renderer = Renderer::new(capabilities);
        user.write(&renderer.open());
        user.write(&renderer.frame(host.screen()));
        renderer.follow(Vocabulary::Rich);
        renderer.follow_scrollback();
        Self { host, renderer, user, wanted: Vec::new(), delivered: 0 }
    }

    /// Lets the program write, then draws a frame with at most this many of the lines that scrolled off.
    fn write(&mut self, text: &str, lines: usize) {
        self.host.write(text.as_bytes());
        self.wanted.extend(taken(&mut self.host));
        let frame = self.host.snapshot();
        let due = &self.wanted[self.delivered..];
        let lines = if self.renderer.takes_lines(&frame) { lines.min(due.len()) } else { 0 };
        let mut bytes = if lines > 0 { self.renderer.move_to_history() } else { Vec::new() };
        bytes.extend(self.renderer.frame_below(&due[..lines], &frame));
        self.delivered += lines;
        self.user.write(&bytes);
        assert_eq!(look(self.user.screen()), look(&frame), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

fn taken(terminal: &mut Terminal) -> Vec<ScrollbackLine> {
    core::iter::from_fn(|| terminal.take_scrollback_line()).map(|(_, line)| line).collect()
}

fn looks(columns: u16, lines: &[ScrollbackLine]) -> Vec<String> {
    let line =
        |line: &ScrollbackLine| look(&Screen::of_lines(columns, [line].into_iter()).unwrap());
    lines.iter().flat_map(line).collect()
}

fn texts(lines: &[ScrollbackLine]) -> Vec<String> {
    let text = |line: &ScrollbackLine| {
        Screen::of_lines(line.columns(), [line].into_iter()).unwrap().row_text(0)
    };
    lines.iter().map(text).collect()
}

proptest! {
    /// The user's terminal gets the same scrollback as the host, for any program and whenever the lines arrive.
    #[test]
    fn the_terminal_keeps_what_scrolled_off_and_nothing_else(
        size in size(),
        steps in prop::collection::vec((program(), 0_usize..40), 1..8),
        (ech, bce, init) in any::<(bool, bool, bool)>(),
    ) {
        let capabilities = TerminalCapabilities { functions: Functions { erase_characters: ech, background_color_erase: bce, ..Functions::ALL }, init, ..capabilities() };
        let mut ends = Ends::new(size, "", capabilities);
        // The rows from before the session are blank.
        let before = taken(&mut ends.user).len();
        prop_assert_eq!(before, 0);
        let mut kept = Vec::new();
        for (text, lines) in &steps {
            ends.write(text, *lines);
            kept.extend(taken(&mut ends.user));
        }
        ends.write("\x1b[?1049l\x1b[?47l", usize::MAX);
        kept.extend(taken(&mut ends.user));
        prop_assert_eq!(looks(size.columns(), &kept), looks(size.columns(), &ends.wanted));
    }
}

#[test]
fn a_stock_servers_cleared_screen_does_not_enter_the_history() {
    let mut host = Terminal::host(Size::clamped(20, 4));
    let mut user = host.clone();
    user.keep_scrollback();
    let mut renderer = Renderer::new(capabilities());
    user.write(&renderer.open());
    for text in ["1\r\n2\r\n3\r\n4", "\x1b[H\x1b[J"] {
        host.write(text.as_bytes());
        user.write(&renderer.frame(host.screen()));
    }
    assert_eq!((user.screen().row_text(0), user.scrollback_len()), (String::new(), 0));
}

#[test]
fn a_session_moves_below_what_was_there_with_its_first_line() {
    let mut ends = Ends::new(
        Size::clamped(20, 4),
        "$\r\n",
        TerminalCapabilities { init: true, ..capabilities() },
    );
    ends.write("1\r\n2\r\n3", usize::MAX);
    assert!(ends.user.screen().rich_modes().alternate_screen);
    ends.user.write(&ends.renderer.close());
    assert_eq!((ends.user.screen().row_text(0), ends.user.screen().cursor().row), ("$".into(), 1));

    ends.user.write(&ends.renderer.open());
    ends.write("\r\n4\r\n5", usize::MAX);
    assert!(!ends.user.screen().rich_modes().alternate_screen);
    assert_eq!(texts(&taken(&mut ends.user)), ["$", "1"]);
    assert!(ends.renderer.move_to_history().is_empty(), "it moves once");
}

#[test]
fn an_unforeseen_end_writes_over_neither_screen() {
    let capabilities = TerminalCapabilities { init: true, ..capabilities() };
    for is_moved in [false, true] {
        let mut ends = Ends::new(Size::clamped(20, 4), "$\r\n", capabilities.clone());
        ends.write("1\r\n2\r\n3", 0);
        if is_moved {
            ends.write("\r\n4\r\n5\x1b[H", usize::MAX);
        }
        ends.user.write(&capabilities.emergency_closing());
        ends.user.write(b"next");
        let mut lines = texts(&taken(&mut ends.user));
        lines.extend((0..4).map(|row| ends.user.screen().row_text(row)));
        let wanted: &[&str] = if is_moved {
            &["$", "1", "2", "3", "4", "5", "next"]
        } else {
            &["$", "", "", "", "next"]
        };
        assert_eq!(lines, wanted);
    }
}

#[test]
fn lines_that_are_on_the_screen_are_not_drawn_again() {
    let mut ends = Ends::new(Size::clamped(20, 4), "", capabilities());
    ends.write("one\r\ntwo\r\nthree\r\nfour", 0);
    ends.host.write(b"\r\nfive");
    let line = taken(&mut ends.host);
    let bytes = ends.renderer.frame_below(&line, &ends.host.snapshot());
    assert_eq!(String::from_utf8(bytes).unwrap(), "\r\x1b[?25l\nfive\x1b[?25h");
}

#[test]
fn wrapped_lines_stay_joined() {
    let mut ends = Ends::new(Size::clamped(5, 3), "", capabilities());
    ends.write("abcdefghijklmnop\r\n\r\n\r\n", usize::MAX);
    let kept = taken(&mut ends.user);
    assert_eq!(texts(&kept), ["abcde", "fghij", "klmno", "p"]);
    let wraps: Vec<_> = kept.iter().map(ScrollbackLine::wrapped).collect();
    assert_eq!(wraps, [true, true, true, false]);
    // The same holds for a line that wraps at the top of the screen.
    ends.write("ABCDEFGHIJKLM", usize::MAX);
    ends.write("\r\n", usize::MAX);
    let kept = taken(&mut ends.user);
    assert_eq!(texts(&kept), ["", "", "ABCDE"]);
    assert!(kept[2].wrapped());
}

#[test]
fn text_from_before_the_session_is_kept() {
    let mut ends =
        Ends::new(Size::clamped(20, 4), "$ ls\r\nfile\r\n$ rove host\r\n", capabilities());
    assert_eq!(texts(&taken(&mut ends.user)), ["$ ls", "file", "$ rove host"]);
    assert_eq!(ends.user.screen().row_text(0), "");
    // After a suspension, the shell's text is in the history too.
    let close = ends.renderer.close();
    ends.user.write(&close);
    ends.user.write(b"$ fg\r\n");
    let open = ends.renderer.open();
    ends.user.write(&open);
    ends.write("host$ ", 0);
    assert_eq!(texts(&taken(&mut ends.user)), ["$ fg"]);
}

#[test]
fn lines_wait_for_the_main_screen() {
    let mut ends = Ends::new(Size::clamped(20, 3), "", capabilities());
    ends.write("a\r\nb\r\nc\r\nd\x1b[?1049h\x1b[Hvim", usize::MAX);
    assert_eq!((ends.delivered, taken(&mut ends.user).len()), (0, 0));
    ends.write("\x1b[?1049l", usize::MAX);
    assert_eq!(texts(&taken(&mut ends.user)), ["a"]);
}

#[test]
fn lines_of_a_wider_screen_are_cut_into_rows() {
    let mut ends = Ends::new(Size::clamped(20, 3), "", capabilities());
    ends.write("a long line of text\r\n\r\n\r\n", 0);
    ends.user.resize(Size::clamped(8, 3));
    ends.host.resize(Size::clamped(8, 3));
    taken(&mut ends.user);
    ends.write("", usize::MAX);
    assert_eq!(texts(&taken(&mut ends.user)), ["a long l", "ine of t", "ext"]);
}

#[test]
fn at_the_end_the_cursor_is_below_what_is_shown() {
    for (text, row, kept) in [
        ("$ exit\r\nlogout\r\n", 2, 0),
        ("$ ", 1, 0),
        ("a\r\nb\r\nc\r\nd", 3, 1),
        ("a\r\nb\r\nc\r\nd\x1b[H", 3, 1),
        ("\r\n\r\n", 2, 0),
        ("", 0, 0),
        ("a\x1b[?1049h\x1b[Hvim", 3, 1),
    ] {
        let mut ends = Ends::new(Size::clamped(20, 4), "", capabilities());
        ends.write(text, 0);
        let close = ends.renderer.close();
        ends.user.write(&close);
        let cursor = ends.user.screen().cursor();
        assert_eq!((cursor.row, cursor.column), (row, 0), "{text:?}");
        assert_eq!(taken(&mut ends.user).len(), kept, "{text:?}");
    }
}

#[test]
fn a_terminal_that_becomes_higher_gets_its_lines_back_into_its_history() {
    let mut ends = Ends::new(Size::clamped(20, 3), "", capabilities());
    ends.write("a\r\nb\r\nc\r\nd\r\ne", usize::MAX);
    // Most terminals that become higher move the last lines of the history back to the top.
    let mut higher = Terminal::host(Size::clamped(20, 5));
    higher.keep_scrollback();
    higher.write(b"a\r\nb\r\nc\r\nd\r\ne");
    ends.user = higher;
    ends.host.resize(Size::clamped(20, 5));
    ends.write("", 0);
    assert_eq!(texts(&taken(&mut ends.user)), ["a", "b"]);
    // The renderer counts two rows of the start, although the terminal's history got none of them.
    ends.host.resize(Size::clamped(20, 20));
    ends.user.resize(Size::clamped(20, 20));
    ends.write("", 0);
    assert_eq!(taken(&mut ends.user).len(), 4);
}
