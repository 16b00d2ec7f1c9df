//! Finds the end of the input, and text after it that is not input.

use core::ops::Range;

use rove_terminal::{Attributes, Cell, Color, Pen, Position, Screen, Underline};

use super::pane::{self, Pane};
use super::row::{Background, cells, character, is_blank, is_half, to_column};

/// Fewest blanks between the input and other text. Chosen: one blank separates words.
const GAP_COLUMNS_MIN: usize = 2;

/// Returns the first column right of the cursor whose text does not move if a character is inserted. It is the edge of
/// the field, the line of a box, text after a gap, or else the edge of the pane.
///
/// `at` is the cursor, or the last position that is known to be input. Gaps left of `at` do not end the input.
pub(crate) fn right_bound(screen: &Screen, at: Position, pane: &Pane) -> u16 {
    let (row, field_end) = field(screen, at, pane);
    to_column(behind_gap(row, usize::from(at.column), field_end).unwrap_or(field_end))
}

/// Returns the column after the input's last character. Text after two or more blanks, or beyond the field, is not
/// input. The column is never left of `at`.
///
/// `at` is the cursor, or the last position that is known to be input. `right` is the result of [`right_bound`] there.
pub(crate) fn input_end(screen: &Screen, at: Position, right: u16) -> u16 {
    let row = cells(screen, at.row);
    let columns = usize::from(at.column)..usize::from(right);
    let last = columns.rev().find(|column| !is_blank(row, *column));
    last.map_or(at.column, |last| to_column(last + 1))
}

/// Returns the columns of a suggestion. `None` if there is none. A suggestion begins at the cursor, ends before two
/// blanks and has one colour. The colour is grey or, if `typed` is given, another colour than typed text.
///
/// A grey suggestion may begin with a blank or follow one. Text in another colour may be a word that a highlighter has
/// coloured. So it counts as a suggestion only if it directly follows a character.
pub(crate) fn suggestion(screen: &Screen, at: Position, typed: Option<Pen>) -> Option<Range<u16>> {
    let row = cells(screen, at.row);
    let start = usize::from(at.column);
    let pen = row.get(start).filter(|cell| cell.base.is_some())?.pen;
    let is_behind_word = start > 0 && !is_blank(row, start - 1);
    // Text on another background than the text before it is highlighted, such as a bracket, and not suggested.
    let is_marked = start > 0 && Background::of(&row[start]) != Background::of(&row[start - 1]);
    let is_apart = typed.is_some() && is_behind_word && pen != Pen::default() && !is_marked;
    if typed == Some(pen) || !(is_apart || is_dim(pen)) {
        return None;
    }
    // The right half of a wide character has no pen of its own.
    let is_same = |column: &usize| match row[*column].base {
        Some(_) => row[*column].pen == pen,
        None => is_half(row, *column),
    };
    let end = (start..row.len()).take_while(is_same).last()? + 1;
    let last = (start..end).rev().find(|column| !is_blank(row, *column))?;
    let gap = (end..row.len()).take(GAP_COLUMNS_MIN).all(|column| is_blank(row, column));
    gap.then_some(at.column..to_column(last + 1))
}

/// Returns the cells of the cursor's row, and the column after the input field at the cursor (`at`).
fn field<'a>(screen: &'a Screen, at: Position, pane: &Pane) -> (&'a [Cell], usize) {
    let row = cells(screen, at.row);
    let columns = pane::columns(pane, row);
    let start = usize::from(at.column);
    let Some(cursor) = row.get(start).filter(|_| columns.contains(&start)) else {
        return (row, start.max(columns.end).min(row.len()));
    };
    let behind = start + 1..columns.end;
    let edges = [
        ground_end(row, &columns, start),
        underlined_end(row, start, columns.end),
        underscores_end(row, start, columns.end),
        pane::next_edge(screen, at.row, behind),
    ];
    // The field ends at the nearest edge, or else at the edge of the pane.
    debug_assert!(edges.iter().flatten().all(|edge| *edge > start), "{cursor:?}");
    (row, edges.into_iter().flatten().min().unwrap_or(columns.end))
}

/// Returns the column where the background of the cursor's field ends. `None` if no background marks an edge.
fn ground_end(row: &[Cell], columns: &Range<usize>, start: usize) -> Option<usize> {
    let mark = mark(row, columns, start);
    let from = mark.as_ref().map_or(start, |mark| mark.end);
    let background = Background::of(row.get(from).unwrap_or(&row[start]));
    let is_other = |column: &usize| Background::of(&row[*column]) != background;
    let end = (from + 1..columns.end).find(is_other)?;
    // If text fills the pane on the terminal's default background, a word on another background is highlighted, as by a
    // search. No field ends there.
    let before = columns.start..mark.map_or(start, |mark| mark.start);
    let begins_at_edge = !before.into_iter().any(|column| is_other(&column));
    let is_text = begins_at_edge && background.is_default() && !is_other(&(columns.end - 1));
    (!is_text).then_some(end)
}

/// Returns the columns of a highlight at the cursor. It is a bracket, a search match, or a drawn cursor, on another
/// background than the field around it. `None` if there is none. A field, unlike a highlight, is longer than its text.
fn mark(row: &[Cell], columns: &Range<usize>, start: usize) -> Option<Range<usize>> {
    let background_at = |column: usize| Background::of(&row[column]);
    let background = background_at(start);
    let is_same = |column: &usize| background_at(*column) == background;
    let end = (start..columns.end).find(|column| !is_same(column))?;
    let len = (columns.start..start).rev().take_while(is_same).count();
    let first = start - len;
    let is_within = first == columns.start || background_at(first - 1) == background_at(end);
    let is_mark = end - first == 1 || !is_blank(row, end - 1);
    (!background.is_default() && is_within && is_mark).then_some(first..end)
}

/// Returns the column where an underlined field ends. `None` if no blanks are underlined: text alone is no field.
fn underlined_end(row: &[Cell], start: usize, edge: usize) -> Option<usize> {
    let is_lined = |column: usize| row[column].pen.attributes.underline() != Underline::None;
    let end = (start..edge).find(|column| !is_lined(*column)).filter(|end| *end > start)?;
    (start..end).any(|column| is_blank(row, column)).then_some(end)
}

/// Returns the column where a field of underscores ends. `None` if there is no such field.
fn underscores_end(row: &[Cell], start: usize, edge: usize) -> Option<usize> {
    let len = (start..edge).take_while(|column| character(&row[*column]) == '_').count();
    (len >= GAP_COLUMNS_MIN && start + len < edge).then_some(start + len)
}

/// Returns the first column within `start..end` that has text after two blanks or more. `None` without such a gap.
fn behind_gap(row: &[Cell], start: usize, end: usize) -> Option<usize> {
    let has_gap = |end: usize| (end - GAP_COLUMNS_MIN..end).all(|column| is_blank(row, column));
    (start + GAP_COLUMNS_MIN..end).find(|column| !is_blank(row, *column) && has_gap(*column))
}

/// Returns whether text is hard to read: faint or grey.
fn is_dim(pen: Pen) -> bool {
    /// Range of each colour component of a grey, and how much the components may differ. Chosen: they contain the
    /// suggestions' colours in themes of fish, Dracula and Tokyo Night (even bluish ones), and the defaults of
    /// zsh-autosuggestions and PSReadLine.
    const GREY: core::ops::RangeInclusive<u8> = 0x30..=0xb0;
    const SPREAD: u8 = 72;
    let is_grey = match pen.foreground {
        Color::Default => false,
        // Bright black, and the greys of the palette.
        Color::Named(8) | Color::Indexed(8 | 236..=249) => true,
        Color::Named(_) | Color::Indexed(_) => false,
        Color::Rgb(r, g, b) => {
            let (least, most) = (r.min(g).min(b), r.max(g).max(b));
            GREY.contains(&least) && GREY.contains(&most) && most - least <= SPREAD
        }
    };
    is_grey || pen.attributes.contains(Attributes::FAINT)
}
