//! A terminal as programs see it: input bytes, and the screen that a person would see.
//!
//! The tables follow end-to-end cases that were observed with stock Mosh 1.4.0. Where xterm is right and stock Mosh is
//! not, the tables follow xterm.

mod channels;
mod color;
mod conformance;
mod control_mode;
mod editing;
mod follow;
mod links;
mod margin;
mod mode_questions;
mod modes;
mod palette;
mod protection;
mod replies;
mod resize;
mod reverse_wrap;
mod sides;
mod status;
mod text;
mod xterm;

use follow::Follow;
use rove_terminal::{Attributes, Cell, Color, Screen, Size, Terminal, Underline};

/// The bytes of an input that are written one by one. Chosen: only inputs that test limits have more.
const BYTEWISE_MAX: usize = 8192;
/// Bytes of each later piece. Chosen: a prime, so that every kind of cut occurs.
const FAR_PIECE_BYTES: usize = 997;

/// Returns a host terminal after `input`. Checks that the input makes the same screen when it is cut between any two
/// bytes. The far end and the user, who follow byte by byte or late, must see that screen too.
fn host(columns: u16, rows: u16, input: impl AsRef<[u8]>) -> Terminal {
    let (size, input) = (Size::new(columns, rows).expect("an allowed size"), input.as_ref());
    let mut whole = Terminal::host(size);
    whole.write(input);
    let mut pieces = Follow::new(size);
    let (near, far) = input.split_at(input.len().min(BYTEWISE_MAX));
    near.chunks(1).chain(far.chunks(FAR_PIECE_BYTES)).for_each(|piece| pieces.write(piece));
    assert!(whole.screen() == pieces.host().screen(), "{}", input.escape_ascii());
    assert_eq!(whole.clone().take_replies(), pieces.host().clone().take_replies());
    pieces.assert_seen(input);
    whole
}

/// Returns the rows of a screen without the blank rows at its end.
fn rows(screen: &Screen) -> Vec<String> {
    let mut rows: Vec<String> = (0..screen.size().rows()).map(|row| screen.row_text(row)).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

/// Returns the cursor as row and column from 1.
fn cursor(screen: &Screen) -> (u16, u16) {
    (screen.cursor().row + 1, screen.cursor().column + 1)
}

/// Returns a cell by row and column from 1.
fn cell(screen: &Screen, row: u16, column: u16) -> Cell {
    screen.row(row - 1).expect("a row of the screen").cells()[usize::from(column) - 1]
}

/// Describes the look of a cell: `b` bold, `f` faint, `i` italic, `k` blinking, `r` reversed, `h` hidden, `s` struck
/// out, and `o` overlined. `u` is underlined, with the number of its kind unless it is straight. The colours follow.
fn paint(cell: Cell) -> String {
    let letters = [
        (Attributes::BOLD, 'b'),
        (Attributes::FAINT, 'f'),
        (Attributes::ITALIC, 'i'),
        (Attributes::BLINK, 'k'),
        (Attributes::INVERSE, 'r'),
        (Attributes::INVISIBLE, 'h'),
        (Attributes::STRIKE, 's'),
        (Attributes::OVERLINE, 'o'),
    ];
    let set = letters.iter().filter(|(attribute, _)| cell.pen.attributes.contains(*attribute));
    let mut text: String = set.map(|(_, letter)| letter).collect();
    match cell.pen.attributes.underline() {
        Underline::None => {}
        Underline::Straight => text.push('u'),
        kind => text.push_str(&format!("u{}", kind as u8)),
    }
    for (color, ground) in [(cell.pen.foreground, "on"), (cell.pen.background, "at")] {
        match color {
            Color::Default => {}
            Color::Named(n) | Color::Indexed(n) => text.push_str(&format!(" {ground} {n}")),
            Color::Rgb(r, g, b) => text.push_str(&format!(" {ground} {r:02x}{g:02x}{b:02x}")),
        }
    }
    text.trim().to_owned()
}

/// A row of a table: the input, the rows it must show from the top, and the cursor from 1.
type Case<'a> = (&'a str, &'a [&'a str], (u16, u16));

fn check(columns: u16, height: u16, cases: &[Case<'_>]) {
    for (input, expected, place) in cases {
        let terminal = host(columns, height, input);
        let name = input.escape_debug();
        assert_eq!(rows(terminal.screen()), *expected, "{name}");
        assert_eq!(cursor(terminal.screen()), *place, "{name}");
    }
}
