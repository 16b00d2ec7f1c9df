//! Questions that xterm 379 was asked, with its answers, in `xterm_379.txt`. The emulator gives the same answers,
//! except where docs/terminal.md names the difference and its reason.
//!
//! A line holds a sequence and xterm's answer to it, both as in docs/terminal.md, with a tab between. Below a line that
//! begins with `!` and names a difference, the emulator's own answer follows. `#` begins a heading.
//!
//! xterm was reset before each sequence. It had `allowWindowOps`, black text on white, and cells of 6 by 13 pixels.

use rove_terminal::{Size, Terminal, UserTerminal};

const RECORDED: &str = include_str!("xterm_379.txt");
const PAGE: &str = include_str!("../../../../docs/terminal.md");

/// Names of controls, and their bytes.
const NAMES: [(&str, &str); 10] = [
    ("CSI", "\x1b["),
    ("OSC", "\x1b]"),
    ("DCS", "\x1bP"),
    ("ST", "\x1b\\"),
    ("ESC", "\x1b"),
    ("BS", "\x08"),
    ("HT", "\t"),
    ("BEL", "\x07"),
    ("SP", " "),
    ("VERSION", env!("CARGO_PKG_VERSION")),
];

/// Returns the bytes of `text`, in which names of controls, between blanks, stand for the controls.
fn bytes(text: &str) -> String {
    let words = text.split(' ');
    words.map(|word| NAMES.iter().find(|(name, _)| *name == word).map_or(word, |it| it.1)).collect()
}

/// Returns the emulator's answer.
fn answer(input: &str) -> String {
    let mut terminal = Terminal::host(Size::new(80, 24).expect("an allowed size"));
    terminal.set_user_terminal(UserTerminal {
        foreground: Some((0, 0, 0)),
        background: Some((255, 255, 255)),
        cursor: Some((0, 0, 0)),
        cell_pixels: Some((6, 13)),
        pixel_mouse: true,
        ..UserTerminal::default()
    });
    terminal.write(input.as_bytes());
    String::from_utf8(terminal.take_replies()).expect("text")
}

#[test]
fn answers_are_those_of_xterm_except_where_the_page_gives_a_reason() {
    let mut difference = None;
    let mut wrong = Vec::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("! ") {
            assert!(PAGE.contains(&format!("\n| {name} |")), "docs/terminal.md lacks {name:?}");
            difference = Some(name);
            continue;
        }
        let mut fields = line.split('\t');
        let mut field = || fields.next().expect("a line has a sequence and its answers");
        let (sequence, xterm) = (field(), field());
        let ours = if difference.is_some() { field() } else { xterm };
        assert!(difference.is_none() || ours != xterm, "no difference: {line}");
        let given = answer(&bytes(sequence));
        if given != bytes(ours) {
            wrong.push(format!("{sequence}: {}", given.as_bytes().escape_ascii()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
