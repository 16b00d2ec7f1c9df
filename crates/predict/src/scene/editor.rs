//! The signs of editors on a screen: line numbers, and the mode.

use rove_terminal::{Pen, Position, Screen};

use super::pane::{self, Pane};
use super::row::{Background, cells, character, characters, is_blank, to_column};

/// Fewest rows of line numbers in a gutter, including the cursor's row. Chosen: two may belong to a table.
const GUTTER_ROWS_MIN: usize = 3;

/// Most columns of an editor's gutter: a sign, and the number of any line. A wider gutter counts as text.
const GUTTER_COLUMNS_MAX: usize = 12;

/// How many rows above and below the cursor are searched for an editor's line numbers. Rows further away are ignored.
const GUTTER_REACH_MAX: u16 = 8;

/// Number of rows below a pane in which an editor may show its mode: its bar, and the message line below.
const MODE_ROWS: u16 = 2;

/// The effect of characters that are typed into an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditorMode {
    /// Typed characters are inserted.
    Insert,
    /// Typed characters replace those at the cursor.
    Replace,
    /// Typed characters are commands.
    Command,
}

/// The names of modes in vi's descendants. Source: vim's translations; vim-airline, lightline, helix.
const MODE_NAMES: [(EditorMode, &[&str]); 3] = [
    (
        EditorMode::Insert,
        &[
            "INSERT",
            "INS",
            "EINFÜGEN",
            "INSERTION",
            "INSERTAR",
            "INSERISCI",
            "INSERIR",
            "INVOEGEN",
            "INFOGA",
            "WSTAWIANIE",
            "VLOŽIT",
            "ВСТАВКА",
            "插入",
            "挿入",
        ],
    ),
    (
        EditorMode::Replace,
        &[
            "REPLACE",
            "VREPLACE",
            "REP",
            "ERSETZEN",
            "REMPLACEMENT",
            "REEMPLAZAR",
            "SOSTITUISCI",
            "SUBSTITUIR",
            "ERSÄTT",
            "ZAMIANA",
            "ЗАМЕНА",
            "替换",
            "置換",
        ],
    ),
    // During a single command in an insert mode, vim shows that mode in brackets.
    (
        EditorMode::Command,
        &["NORMAL", "NOR", "VISUAL", "SEL", "COMMAND", "(insert)", "(replace)", "(vreplace)"],
    ),
];

/// Returns the mode that an editor shows at the lower edge of its window or of the screen. The forms are a bar that
/// begins with the name, vi's `-- INSERT --`, and Emacs's `Ovwrt`. `None` if no mode is shown.
pub(crate) fn editor_mode(screen: &Screen, pane: &Pane) -> Option<EditorMode> {
    let rows = screen.size().rows();
    let window = pane.bottom.saturating_sub(1)..pane.bottom.saturating_add(MODE_ROWS).min(rows);
    let edge = rows.saturating_sub(MODE_ROWS)..rows;
    window.chain(edge).find_map(|row| mode_in_row(screen, row, pane))
}

fn mode_in_row(screen: &Screen, row: u16, pane: &Pane) -> Option<EditorMode> {
    let cells = cells(screen, row);
    let part = &cells[pane::columns(pane, cells)];
    let start = (0..part.len()).find(|column| !is_blank(part, *column))?;
    let is_bar = !Background::of(&part[start]).is_default();
    // This cheap test rejects nearly all rows.
    if !is_bar && character(&part[start]) != '-' {
        return None;
    }
    let text: String = characters(&part[start..]).collect();
    if is_bar && text.contains("Ovwrt") {
        return Some(EditorMode::Replace);
    }
    let (name, is_sure) = match text.strip_prefix("-- ") {
        Some(rest) => (rest.split(" --").next()?, true),
        None => (text.split_whitespace().next()?, is_bar),
    };
    // In `-- INSERT VISUAL --` and `-- (insert) VISUAL --`, the editor waits for commands.
    let name = name.split_whitespace().rfind(|word| *word != "(paste)")?;
    mode_named(name).filter(|_| is_sure)
}

/// Returns the mode that has this name in vi's descendants. `None` for an unknown name.
pub(super) fn mode_named(name: &str) -> Option<EditorMode> {
    MODE_NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(mode, _)| *mode)
}

/// Returns the first column right of the line numbers at the pane's left edge, or that edge if there are none.
///
/// Line numbers end in the same column on at least three rows around the cursor. The cursor is right of them. They also
/// count up or down, or have other colours than the text after them.
pub(crate) fn gutter(screen: &Screen, at: Position, pane: &Pane) -> u16 {
    find_gutter(screen, at, pane).unwrap_or(pane.left)
}

fn find_gutter(screen: &Screen, at: Position, pane: &Pane) -> Option<u16> {
    let top = pane.top.max(at.row.saturating_sub(GUTTER_REACH_MAX));
    let bottom = pane.bottom.min(at.row.saturating_add(GUTTER_REACH_MAX).saturating_add(1));
    let here = line_number(screen, at.row, pane);
    let numbers: Vec<_> = (top..bottom).filter_map(|row| line_number(screen, row, pane)).collect();
    // If line numbers are relative to the cursor's line, that line's own number may be further left.
    let end = numbers.iter().map(|number| number.end).max()?;
    let same: Vec<_> = numbers.iter().filter(|number| number.end == end).collect();
    let row = cells(screen, at.row);
    let is_here = here.is_some_and(|here| here.end <= end)
        || (pane.left..end).all(|column| is_blank(row, usize::from(column)));
    let counts = same.windows(2).all(|pair| pair[0].value.abs_diff(pair[1].value) <= 1)
        && same.iter().any(|number| number.value != same[0].value);
    let is_painted = same.iter().all(|number| number.is_painted);
    let is_gutter = is_here && same.len() >= GUTTER_ROWS_MIN && (counts || is_painted);
    // There is a single blank between the numbers and the text.
    let start = end + 1;
    (is_gutter && at.column >= start && start < pane.right).then_some(start)
}

/// A line number at the left edge of a row.
#[derive(Clone, Copy, Debug)]
struct LineNumber {
    value: u32,
    /// The column after the number, which is blank.
    end: u16,
    /// Whether the number has other colours than the text after it.
    is_painted: bool,
}

fn line_number(screen: &Screen, row: u16, pane: &Pane) -> Option<LineNumber> {
    let cells = cells(screen, row);
    let columns = pane::columns(pane, cells);
    let reach = columns.start..columns.end.min(columns.start + GUTTER_COLUMNS_MAX);
    let start = reach.clone().find(|column| !is_blank(cells, *column))?;
    let digits = (start..reach.end).map_while(|column| character(&cells[column]).to_digit(10));
    let (len, value) = digits.fold((0, 0_u32), |(len, value), digit| {
        (len + 1, value.wrapping_mul(10).wrapping_add(digit))
    });
    let end = start + len;
    if len == 0 || end >= reach.end || !is_blank(cells, end) {
        return None;
    }
    let pen = cells[start].pen;
    let text = (end + 1..columns.end).find(|column| !is_blank(cells, *column));
    let is_painted = text.is_none_or(|text| cells[text].pen != pen) && pen != Pen::default();
    Some(LineNumber { value, end: to_column(end), is_painted })
}
