//! A common trait for the three emulators.

use core::num::NonZeroU16;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, TermMode};
use alacritty_terminal::vte::ansi::{self, NamedColor, Processor};
use alacritty_terminal::{Term, term};
use rove_terminal::{Attributes, Color, Pen, Size, Terminal, Underline};

use crate::differences::Who;
use crate::picture::{Look, Picture};

/// The attributes that all three emulators have.
const COMMON: Attributes = Attributes::BOLD.with(Attributes::ITALIC).with(Attributes::INVERSE);

/// A terminal emulator whose screen can be read.
pub trait Emulator {
    /// Our emulator's attributes that this emulator has, too.
    const KNOWN: Attributes;

    /// Whether the emulator distinguishes kinds of underlines.
    const UNDERLINES: bool;

    /// Creates an emulator with a blank screen.
    fn blank(size: Size) -> Self;

    /// Executes output of the host.
    fn write(&mut self, bytes: &[u8]);

    /// Returns the emulator's screen in the common form.
    fn picture(&self) -> Picture;
}

/// An emulator with which ours is compared.
pub trait Oracle: Emulator {
    /// The emulator's name in [`DIFFERENCES`](crate::DIFFERENCES).
    const WHO: Who;
}

/// Our emulator.
#[derive(Debug)]
pub struct Ours(Terminal);

impl Ours {
    /// Returns the background colour that an erased cell would get now.
    pub fn background(&self) -> Color {
        numbered(self.0.screen().pen().background)
    }

    /// Returns whether a wrap is pending. To find out, prints a character in a copy of the terminal.
    pub fn pending_wrap(&self) -> bool {
        let last = self.0.screen().size().columns() - 1;
        let mut probe = self.0.clone();
        probe.write(b"\x1b[?7hx");
        self.0.screen().cursor().column == last && probe.screen().cursor().column < last
    }
}

impl Emulator for Ours {
    const KNOWN: Attributes = COMMON
        .with(Attributes::FAINT)
        .with(Attributes::BLINK)
        .with(Attributes::INVISIBLE)
        .with(Attributes::STRIKE)
        .with(Attributes::OVERLINE);
    const UNDERLINES: bool = true;

    fn blank(size: Size) -> Self {
        Self(Terminal::host(size))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn picture(&self) -> Picture {
        let screen = self.0.screen();
        let row = |number| {
            let row = screen.row(number).expect("within the screen");
            let mut behind_wide = false;
            let look = |(column, cell): (u16, &rove_terminal::Cell)| {
                if core::mem::replace(&mut behind_wide, cell.wide) {
                    return Look::right_half();
                }
                let text = format!("{}{}", cell.base.unwrap_or(' '), row.marks(column));
                let (foreground, background) = (cell.pen.foreground, cell.pen.background);
                let pen = Pen {
                    foreground: numbered(foreground),
                    background: numbered(background),
                    ..cell.pen
                };
                Look { text, pen, wide: cell.wide }
            };
            (0..).zip(row.cells()).map(look).collect()
        };
        let cursor = screen.cursor();
        Picture {
            rows: (0..screen.size().rows()).map(row).collect(),
            cursor: (cursor.row, cursor.column),
            pending_wrap: self.pending_wrap(),
            cursor_visible: cursor.visible,
        }
        .limited_to(Self::KNOWN, Self::UNDERLINES)
    }
}

/// Returns a colour of the palette by its number, because `vt100` cannot tell named colours from numbered ones.
fn numbered(color: Color) -> Color {
    color.palette_index().map_or(color, Color::Indexed)
}

/// The emulator `alacritty_terminal`.
pub struct Alacritty {
    term: Term<VoidListener>,
    parser: Processor,
}

impl Alacritty {
    /// Creates an emulator with a blank screen that keeps the last `lines` lines that scrolled off.
    pub fn with_history(size: Size, lines: usize) -> Self {
        let config = Config { scrolling_history: lines, ..Config::default() };
        let term = Term::new(config, &Dimensioned(size), VoidListener);
        Self { term, parser: Processor::new() }
    }

    /// Changes the size of the screen.
    pub fn resize(&mut self, size: Size) {
        self.term.resize(Dimensioned(size));
    }

    /// Returns the lines that scrolled off, the oldest first. The flag tells whether a line continues in the next one.
    pub fn history(&self) -> Vec<(Vec<Look>, bool)> {
        let grid = self.term.grid();
        let count = i32::try_from(grid.history_size()).expect("a bounded history");
        let line = |line| {
            let row = &grid[Line(line)];
            let looks = (0..grid.columns()).map(|at| look(&row[Column(at)])).collect();
            (looks, row[Column(grid.columns() - 1)].flags.contains(Flags::WRAPLINE))
        };
        (-count..0).map(line).collect()
    }
}

impl Oracle for Alacritty {
    const WHO: Who = Who::Alacritty;
}

struct Dimensioned(Size);

impl Dimensions for Dimensioned {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows())
    }

    fn columns(&self) -> usize {
        usize::from(self.0.columns())
    }
}

impl Emulator for Alacritty {
    const KNOWN: Attributes =
        COMMON.with(Attributes::FAINT).with(Attributes::INVISIBLE).with(Attributes::STRIKE);
    const UNDERLINES: bool = true;

    /// Creates an emulator that keeps no lines that scroll off.
    fn blank(size: Size) -> Self {
        Self::with_history(size, 0)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn picture(&self) -> Picture {
        let grid = self.term.grid();
        let lines = i32::try_from(grid.screen_lines()).expect("at most 2048 rows");
        let row = |line| (0..grid.columns()).map(move |at| look(&grid[Line(line)][Column(at)]));
        let small = |n: usize| u16::try_from(n).expect("at most 4096 columns");
        let cursor = grid.cursor.point;
        Picture {
            rows: (0..lines).map(|line| row(line).collect()).collect(),
            cursor: (u16::try_from(cursor.line.0).expect("on the screen"), small(cursor.column.0)),
            pending_wrap: grid.cursor.input_needs_wrap,
            cursor_visible: self.term.mode().contains(TermMode::SHOW_CURSOR),
        }
    }
}

fn look(cell: &term::cell::Cell) -> Look {
    if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
        return Look::right_half();
    }
    let background = alacritty_color(cell.bg);
    if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
        let pen = Pen { background, ..Pen::default() };
        return Look { text: " ".to_owned(), pen, wide: false };
    }
    let mut text = String::from(if cell.c == '\t' { ' ' } else { cell.c });
    text.extend(cell.zerowidth().unwrap_or_default());
    let mut attributes = Attributes::NONE;
    for (flags, attribute) in [
        (Flags::BOLD, Attributes::BOLD),
        (Flags::ITALIC, Attributes::ITALIC),
        (Flags::DIM, Attributes::FAINT),
        (Flags::STRIKEOUT, Attributes::STRIKE),
        (Flags::INVERSE, Attributes::INVERSE),
        (Flags::HIDDEN, Attributes::INVISIBLE),
    ] {
        if cell.flags.intersects(flags) {
            attributes = attributes.with(attribute);
        }
    }
    for (flags, underline) in [
        (Flags::UNDERLINE, Underline::Straight),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ] {
        if cell.flags.contains(flags) {
            attributes = attributes.underlined(underline);
        }
    }
    let pen = Pen { foreground: alacritty_color(cell.fg), background, attributes };
    Look { text, pen, wide: cell.flags.contains(Flags::WIDE_CHAR) }
}

/// Returns a colour of Alacritty in our form. Alacritty names the first sixteen colours of the palette.
fn alacritty_color(color: ansi::Color) -> Color {
    match color {
        ansi::Color::Named(NamedColor::Foreground | NamedColor::Background) => Color::Default,
        ansi::Color::Named(name) => {
            Color::Indexed(u8::try_from(name as usize).expect("a colour of SGR 30 to 107"))
        }
        ansi::Color::Indexed(n) => Color::Indexed(n),
        ansi::Color::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}

/// The emulator `vt100`, which here keeps no lines that scroll off.
pub struct Vt100(vt100::Parser);

impl Oracle for Vt100 {
    const WHO: Who = Who::Vt100;
}

impl Emulator for Vt100 {
    const KNOWN: Attributes = COMMON;
    const UNDERLINES: bool = false;

    fn blank(size: Size) -> Self {
        let known = |length| NonZeroU16::new(length).expect("a screen is not empty");
        Self(vt100::Parser::new(known(size.rows()), known(size.columns()), 0))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    fn picture(&self) -> Picture {
        let screen = self.0.screen();
        let (rows, columns) = screen.size();
        let (rows, columns) = (rows.get(), columns.get());
        let look = |row, column| vt100_look(screen.cell(row, column).expect("on the screen"));
        let (row, column) = screen.cursor_position();
        Picture {
            rows: (0..rows).map(|row| (0..columns).map(|at| look(row, at)).collect()).collect(),
            cursor: (row, column.min(columns - 1)),
            pending_wrap: column == columns,
            cursor_visible: !screen.hide_cursor(),
        }
    }
}

fn vt100_look(cell: &vt100::Cell) -> Look {
    if cell.is_wide_continuation() {
        return Look::right_half();
    }
    let background = vt100_color(cell.bgcolor());
    if !cell.has_contents() {
        let pen = Pen { background, ..Pen::default() };
        return Look { text: " ".to_owned(), pen, wide: false };
    }
    let mut attributes = Attributes::NONE;
    for (set, attribute) in [
        (cell.bold(), Attributes::BOLD),
        (cell.italic(), Attributes::ITALIC),
        (cell.inverse(), Attributes::INVERSE),
    ] {
        if set {
            attributes = attributes.with(attribute);
        }
    }
    if cell.underline() {
        attributes = attributes.underlined(Underline::Straight);
    }
    let pen = Pen { foreground: vt100_color(cell.fgcolor()), background, attributes };
    Look { text: cell.contents().to_owned(), pen, wide: cell.is_wide() }
}

fn vt100_color(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(n) => Color::Indexed(n),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}
