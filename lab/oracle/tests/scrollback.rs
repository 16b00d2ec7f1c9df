//! Compares alacritty's history of a session with `--scrollback` with its history of the same bytes without a session.

use proptest::prelude::*;
use rove_oracle::{Alacritty, Emulator as _, Look};
use rove_terminal::display::{Functions, Vocabulary};
use rove_terminal::{Renderer, ScrollbackLine, Size, Terminal, TerminalCapabilities};

/// Lines that alacritty keeps. Chosen: more than scroll off in any test of this file.
const HISTORY_LINES: usize = 100_000;

/// Returns alacritty's history. The flag of a line tells whether the line continues in the next one.
fn history(alacritty: &Alacritty) -> Vec<(Vec<Look>, bool)> {
    let mut lines = alacritty.history();
    for (cells, wraps) in &mut lines {
        // If a wide character does not fit in a row, our emulator does not wrap the row. The rows are then two lines.
        *wraps &= cells.last().is_some_and(|last| last.text != " ");
    }
    lines
}

/// A session without a network: the program's terminal, the renderer, and the user's Alacritty.
struct Session {
    host: Terminal,
    renderer: Renderer,
    user: Alacritty,
}

impl Session {
    fn new(size: Size) -> Self {
        let mut host = Terminal::host(size);
        host.keep_scrollback();
        let mut renderer = Renderer::new(TerminalCapabilities {
            functions: Functions::ALL,
            repertoire: Vocabulary::Rich.repertoire(),
            alternate_screen: rove_terminal::AlternateScreen::xterm(),
            scrollback: true,
            ..TerminalCapabilities::default()
        });
        renderer.follow(Vocabulary::Rich);
        renderer.follow_scrollback();
        let mut user = Alacritty::with_history(size, HISTORY_LINES);
        user.write(&renderer.open());
        user.write(&renderer.frame(host.screen()));
        Self { host, renderer, user }
    }

    /// Shows the user a frame. If `with_lines`, the lines that have scrolled off since the last such call come first.
    fn show(&mut self, with_lines: bool) {
        let frame = self.host.snapshot();
        let mut lines: Vec<ScrollbackLine> = Vec::new();
        if with_lines && self.renderer.takes_lines(&frame) {
            while let Some((_, line)) = self.host.take_scrollback_line() {
                lines.push(line);
            }
        }
        let bytes = self.renderer.frame_below(&lines, &frame);
        self.user.write(&bytes);
    }
}

fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).expect("a size within bounds")
}

/// Generates output of programs that write lines or fill the screen. Each output ends its last line.
fn program() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-z]{1,9} ",
        1 => "[a-z]{30,70}",
        1 => Just("\u{4e00}\u{4e8c}\u{4e09}".to_owned()),
        1 => (30_u8..38).prop_map(|color| format!("\x1b[{color}mred\x1b[m")),
        1 => (40_u8..48).prop_map(|color| format!("\x1b[{color}mback\x1b[m")),
        4 => Just("\r\n".to_owned()),
        1 => Just("\r\n\r\n\r\n\r\n\r\n".to_owned()),
    ];
    let lines = prop::collection::vec(word, 0..60).prop_map(|words| words.concat() + "\r\n");
    prop_oneof![
        6 => lines,
        1 => Just("\x1b[?1049h\x1b[2J\x1b[Heditor\r\n\n\n\n\n\n\n\n\n\n\n\x1b[?1049l".to_owned()),
        // The screen contains text when it is erased, because Alacritty keeps a line of an empty screen.
        1 => Just("text\r\n\x1b[H\x1b[2J".to_owned()),
        1 => Just("\x1b[2H\x1b[J".to_owned()),
        // An installer writes lines above a bar, which is below the scrolling region.
        1 => "[a-z]{1,9}".prop_map(|word| format!("\x1b7\x1b[;4r\x1b8\x1b[4H{word}\r\n{word}\r\n\x1b[r\x1b[4H")),
    ]
}

proptest! {
    #[test]
    fn the_history_is_that_of_a_local_program(
        (columns, rows) in (8_u16..60, 5_u16..12),
        steps in prop::collection::vec((program(), any::<bool>()), 1..12),
    ) {
        let size = size(columns, rows);
        let mut session = Session::new(size);
        let mut reference = Alacritty::with_history(size, HISTORY_LINES);
        for (text, with_lines) in &steps {
            session.host.write(text.as_bytes());
            reference.write(text.as_bytes());
            session.show(*with_lines);
        }
        session.show(true);
        let (ours, theirs) = (history(&session.user), history(&reference));
        let differing = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at));
        let lines = differing.map(|at| (at, ours.get(at), theirs.get(at)));
        prop_assert!(ours == theirs, "{} and {} lines, {lines:?}", ours.len(), theirs.len());
    }
}

/// A renderer that must not change the history does not delete lines at the top, nor erase the whole screen at once.
#[test]
fn alacritty_keeps_what_is_deleted_at_the_top_or_erased_with_all_of_the_screen() {
    for (bytes, kept) in [
        ("\x1b[H\x1b[2M", 2),
        ("\x1b[2H\x1b[2M", 0),
        ("\x1b[2J", 3),
        ("\x1b[2H\x1b[J\x1b[H\x1b[K", 0),
    ] {
        let mut terminal = Alacritty::with_history(size(20, 5), HISTORY_LINES);
        terminal.write(format!("a\r\nb\r\nc{bytes}").as_bytes());
        assert_eq!(terminal.history().len(), kept, "{bytes:?}");
    }
}

#[test]
fn a_window_that_grows_loses_nothing_of_the_history() {
    let (small, large) = (size(20, 5), size(20, 9));
    let mut session = Session::new(small);
    let lines: String = (0..30).map(|number| format!("line {number}\r\n")).collect();
    session.host.write(lines.as_bytes());
    session.show(true);
    let before = history(&session.user);
    session.user.resize(large);
    assert!(history(&session.user).len() < before.len(), "it takes lines back");
    session.host.resize(large);
    session.show(true);
    assert_eq!(history(&session.user), before);
}
