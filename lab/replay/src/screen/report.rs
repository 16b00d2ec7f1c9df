//! The screen as JSON, in the format that `rove-lab screen --help` promises.

use std::io::{self, Write};
use std::sync::Arc;

use rove_terminal::{
    Attributes, Cell, Color, ColorSlot, Colors, Decoration, Hyperlink, MouseEncoding,
    MouseReporting, Pen, Progress, ProgressKind, Rgb, Row, Screen, Terminal, Underline,
};
use serde::{Serialize, Serializer};

use super::Played;

/// Attributes in the order they are listed in.
const ATTRIBUTES: [(Attributes, &str); 8] = [
    (Attributes::BOLD, "bold"),
    (Attributes::FAINT, "faint"),
    (Attributes::ITALIC, "italic"),
    (Attributes::BLINK, "blink"),
    (Attributes::INVERSE, "inverse"),
    (Attributes::INVISIBLE, "invisible"),
    (Attributes::STRIKE, "strike"),
    (Attributes::OVERLINE, "overline"),
];

#[derive(Serialize)]
struct Report<'a> {
    size: SizeReport,
    cursor: CursorReport,
    modes: Modes,
    title: &'a str,
    icon_name: &'a str,
    #[serde(serialize_with = "serialize_colors")]
    colors: &'a Colors,
    directory: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<ProgressReport>,
    clipboard: &'a str,
    bells: u64,
    replies: String,
    reply_bytes: u64,
    #[serde(serialize_with = "serialize_rows")]
    rows: &'a Screen,
}

#[derive(Serialize)]
struct SizeReport {
    columns: u16,
    rows: u16,
}

#[derive(Serialize)]
struct CursorReport {
    row: u16,
    column: u16,
    visible: bool,
}

#[derive(Serialize)]
struct Modes {
    reverse_video: bool,
    bracketed_paste: bool,
    focus_reporting: bool,
    mouse_reporting: &'static str,
    mouse_encoding: &'static str,
    alternate_screen: bool,
    application_cursor_keys: bool,
    synchronized_output: bool,
    cursor_style: u8,
    application_keypad: bool,
    alternate_scroll: Option<bool>,
    kitty_keyboard: u8,
    modify_other_keys: u8,
}

#[derive(Serialize)]
struct ProgressReport {
    kind: &'static str,
    percent: u8,
}

#[derive(Serialize)]
struct RowReport {
    text: String,
    wrapped: bool,
    runs: Vec<Run>,
}

/// Neighbouring cells that are painted alike.
#[derive(Serialize)]
struct Run {
    column: u16,
    cells: u16,
    width: u16,
    text: String,
    foreground: Paint,
    background: Paint,
    attributes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    underline: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    underline_color: Option<Paint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
    /// The run's last cell. The next cell joins the run only if it is painted alike.
    #[serde(skip)]
    last: Cell,
    #[serde(skip)]
    decoration: Decoration,
}

#[derive(Serialize)]
struct Link {
    id: String,
    uri: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Paint {
    Named(&'static str),
    Indexed(u8),
    Rgb(String),
}

/// Writes the state after the input as one JSON object on a line.
pub(super) fn write_json(played: &Played, mut output: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut output, &report(played))?;
    output.write_all(b"\n")
}

fn report(played: &Played) -> Report<'_> {
    let screen = played.terminal.screen();
    let (size, cursor) = (screen.size(), screen.cursor());
    Report {
        size: SizeReport { columns: size.columns(), rows: size.rows() },
        cursor: CursorReport { row: cursor.row, column: cursor.column, visible: cursor.visible },
        modes: modes(&played.terminal),
        title: screen.title(),
        icon_name: screen.icon_name(),
        colors: screen.colors(),
        directory: screen.directory(),
        progress: screen.progress().map(ProgressReport::from),
        clipboard: screen.clipboard(),
        bells: screen.bells(),
        replies: played.replies.kept.escape_ascii().to_string(),
        reply_bytes: played.replies.bytes.get(),
        rows: screen,
    }
}

fn modes(terminal: &Terminal) -> Modes {
    let screen = terminal.screen();
    let (input, rich) = (screen.input_modes(), screen.rich_modes());
    Modes {
        reverse_video: screen.reverse_video(),
        bracketed_paste: input.bracketed_paste,
        focus_reporting: input.focus_reporting,
        mouse_reporting: match input.mouse_reporting {
            MouseReporting::Off => "off",
            MouseReporting::X10 => "x10",
            MouseReporting::Normal => "normal",
            MouseReporting::Highlight => "highlight",
            MouseReporting::ButtonMotion => "button-motion",
            MouseReporting::AnyMotion => "any-motion",
        },
        mouse_encoding: match input.mouse_encoding {
            MouseEncoding::Default => "default",
            MouseEncoding::Utf8 => "utf8",
            MouseEncoding::Sgr => "sgr",
            MouseEncoding::Urxvt => "urxvt",
            MouseEncoding::SgrPixels => "sgr-pixels",
        },
        alternate_screen: rich.alternate_screen,
        application_cursor_keys: rich.application_cursor_keys,
        synchronized_output: terminal.synchronized_output(),
        cursor_style: rich.cursor_style,
        application_keypad: rich.application_keypad,
        alternate_scroll: rich.alternate_scroll,
        kitty_keyboard: rich.kitty_keyboard,
        modify_other_keys: rich.modify_other_keys,
    }
}

impl From<Progress> for ProgressReport {
    fn from(Progress { kind, percent }: Progress) -> Self {
        let kind = match kind {
            ProgressKind::Running => "running",
            ProgressKind::Failed => "failed",
            ProgressKind::Indeterminate => "indeterminate",
            ProgressKind::Paused => "paused",
        };
        Self { kind, percent }
    }
}

fn serialize_colors<S: Serializer>(colors: &Colors, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(colors.iter().map(|(slot, Rgb { red, green, blue })| {
        let name = match slot {
            ColorSlot::Palette(index) => index.to_string(),
            ColorSlot::Foreground => "foreground".to_owned(),
            ColorSlot::Background => "background".to_owned(),
            ColorSlot::Cursor => "cursor".to_owned(),
        };
        (name, Paint::from(Color::Rgb(red, green, blue)))
    }))
}

/// Writes one row at a time: a description of the largest screen as a whole would take a gigabyte.
fn serialize_rows<S: Serializer>(screen: &Screen, serializer: S) -> Result<S::Ok, S::Error> {
    let rows = 0..screen.size().rows();
    serializer.collect_seq(rows.filter_map(|index| {
        let row = screen.row(index)?;
        let (text, wrapped) = (screen.row_text(index), row.wrapped());
        Some(RowReport { text, wrapped, runs: runs(row) })
    }))
}

/// Returns the runs of a row. Empty cells without colours are in no run.
fn runs(row: &Row) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut end = 0;
    for (column, cell) in (0u16..).zip(row.cells()) {
        // A covered cell is the right half of a wide character.
        let is_covered = column < end;
        if is_covered || *cell == Cell::erased(Pen::default()) {
            continue;
        }
        match runs.last_mut() {
            Some(run)
                if end == column
                    && goes_on(&run.last, cell)
                    && run.decoration == *row.decoration(column) =>
            {
                run.cells += 1;
                run.text.extend(cell.base);
                run.last = *cell;
            }
            _ => runs.push(Run::new(column, cell, row)),
        }
        end = column + cell.width();
    }
    runs
}

/// Returns whether `cell` may stand in one run with `last`. A cell with combining characters stands
/// alone, so that elsewhere one character is one cell.
fn goes_on(last: &Cell, cell: &Cell) -> bool {
    !last.combined
        && !cell.combined
        && last.pen == cell.pen
        && last.wide == cell.wide
        && last.base.is_some() == cell.base.is_some()
}

impl Run {
    fn new(column: u16, cell: &Cell, row: &Row) -> Self {
        let decoration = row.decoration(column).clone();
        let link =
            |link: &Arc<Hyperlink>| Link { id: link.id().to_owned(), uri: link.uri().to_owned() };
        let alone = if cell.combined { Some('\u{a0}') } else { None };
        let attributes = ATTRIBUTES
            .iter()
            .filter(|(attribute, _)| cell.pen.attributes.contains(*attribute))
            .map(|(_, name)| *name)
            .collect();
        Self {
            column,
            cells: 1,
            width: cell.width(),
            text: cell.base.or(alone).into_iter().chain(row.marks(column).chars()).collect(),
            foreground: Paint::from(cell.pen.foreground),
            background: Paint::from(cell.pen.background),
            attributes,
            underline: underline(cell.pen.attributes.underline()),
            underline_color: (decoration.underline_color != Color::Default)
                .then(|| Paint::from(decoration.underline_color)),
            link: decoration.link.as_ref().map(link),
            last: *cell,
            decoration,
        }
    }
}

fn underline(kind: Underline) -> Option<&'static str> {
    Some(match kind {
        Underline::None => return None,
        Underline::Straight => "straight",
        Underline::Double => "double",
        Underline::Curly => "curly",
        Underline::Dotted => "dotted",
        Underline::Dashed => "dashed",
    })
}

impl From<Color> for Paint {
    fn from(color: Color) -> Self {
        match color {
            Color::Default => Self::Named("default"),
            Color::Named(index) | Color::Indexed(index) => Self::Indexed(index),
            Color::Rgb(r, g, b) => Self::Rgb(format!("#{r:02x}{g:02x}{b:02x}")),
        }
    }
}
