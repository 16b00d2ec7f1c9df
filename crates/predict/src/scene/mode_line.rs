//! The line in which vi and its descendants show their insert or replace mode, with checks that exclude similar text.

use rove_terminal::{Cell, Position, Screen};

use super::editor::{EditorMode, mode_named};
use super::pane::{self, Pane};
use super::row::{Background, cells, character, characters};

/// The words in vim's ruler that are not numbers.
const RULER_WORDS: [&str; 3] = ["All", "Top", "Bot"];

/// Returns the row of the mode line in the cursor's pane. `None` if no line shows an insert or replace mode.
///
/// The line has vim's form, `-- INSERT --`, from the pane's left edge on. Only the ruler follows, and the background is
/// that of the text. The line is the last row of the pane, or the row below the bar that ends the editor's window. No
/// other text of the editor is below. The cursor is above the line, on the alternate screen. No row between them begins
/// on another background, as captions do. Rows in panes beside, above and below belong to another program.
pub(crate) fn mode_line(screen: &Screen, at: Position, pane: &Pane) -> Option<u16> {
    if !screen.rich_modes().alternate_screen {
        return None;
    }
    let background = Background::of(part(screen, at.row, pane).last()?);
    let is_line = |row: &u16| at.row < *row && is_mode_line(part(screen, *row, pane), background);
    let is_text = |row: u16| {
        let part = part(screen, row, pane);
        part.first().map(Background::of) == Some(background) && !is_rule(part)
    };
    let last = pane.bottom.checked_sub(1).filter(is_line);
    let below_bar = || {
        let row = pane.bottom.checked_add(1).filter(is_line)?;
        let below = row.checked_add(1).filter(|below| *below < screen.size().rows());
        let is_end = |row| {
            is_bar(part(screen, row, pane), background) || pane::is_line_row(screen, row, pane)
        };
        (is_end(pane.bottom) && below.is_none_or(is_end)).then_some(row)
    };
    let row = last.or_else(below_bar)?;
    (at.row + 1..pane.bottom).all(is_text).then_some(row)
}

fn part<'a>(screen: &'a Screen, row: u16, pane: &Pane) -> &'a [Cell] {
    let cells = cells(screen, row);
    &cells[pane::columns(pane, cells)]
}

fn is_mode_line(part: &[Cell], background: Background) -> bool {
    // This cheap test rejects nearly all rows.
    if part.first().is_none_or(|first| character(first) != '-') {
        return false;
    }
    let text: String = characters(part).collect();
    let Some((name, rest)) = text.strip_prefix("-- ").and_then(|rest| rest.split_once(" --"))
    else {
        return false;
    };
    let name = name.strip_suffix(" (paste)").unwrap_or(name);
    let is_ruler = |word: &str| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        RULER_WORDS.contains(&word) || is_number && !word.contains(char::is_alphabetic)
    };
    matches!(mode_named(name), Some(EditorMode::Insert | EditorMode::Replace))
        && (rest.is_empty() || rest.starts_with("  "))
        && rest.split_whitespace().all(is_ruler)
        && part.iter().all(|cell| Background::of(cell) == background)
}

/// Returns whether these cells look like a horizontal line of characters, such as tmux's borders: dashes, or digits of
/// the pane's number.
fn is_rule(part: &[Cell]) -> bool {
    let Some(first) = part.first().map(character).filter(|c| *c != ' ') else { return false };
    let others = part.iter().filter(|cell| character(cell) != first);
    part.len() > 1 && others.count() * 2 < part.len() && part.last().map(character) == Some(first)
}

/// Returns whether these cells have another background than the text, as a window's bar has.
fn is_bar(part: &[Cell], background: Background) -> bool {
    part.iter().all(|cell| Background::of(cell) != background)
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    /// Returns whether a mode line is found on a screen of 30 columns and 6 rows after `output`.
    fn inserts(output: &str) -> bool {
        let mut terminal = Terminal::host(Size::new(30, 6).expect("a size"));
        terminal.write(output.as_bytes());
        let screen = terminal.snapshot();
        let at = screen.cursor().position();
        mode_line(&screen, at, &super::super::pane(&screen, at)).is_some()
    }

    #[test]
    fn an_editor_names_its_mode_in_the_last_row_of_its_own_pane() {
        for (name, output) in [
            ("vim", "\x1b[?1049h\x1b[6;1H-- INSERT --\x1b[1;1H"),
            ("its ruler", "\x1b[?1049h\x1b[6;1H-- INSERT --      1,1-8  All\x1b[1;1H"),
            ("pastes", "\x1b[?1049h\x1b[6;1H-- INSERT (paste) --\x1b[1;1H"),
            ("a theme", "\x1b[?1049h\x1b[44m\x1b[2J\x1b[6;1H-- INSERT --\x1b[1;1H"),
            ("replaces", "\x1b[?1049h\x1b[6;1H-- REPLACE --\x1b[5;3H"),
            ("in German", "\x1b[?1049h\x1b[6;1H-- EINFÜGEN --\x1b[1;1H"),
            ("its bar", "\x1b[?1049h\x1b[5;1H\x1b[47m\x1b[K\x1b[0m\x1b[6;1H-- INSERT --\x1b[2;1H"),
            ("tmux", "\x1b[?1049h\x1b[5;1H-- INSERT --\x1b[6;1H\x1b[42m[0] vim\x1b[K\x1b[1;1H"),
            (
                "bar and tmux",
                "\x1b[?1049h\x1b[4;1H\x1b[47m\x1b[K\x1b[0m\x1b[5;1H-- INSERT --\x1b[6;1H\x1b[42m\x1b[K\x1b[1;1H",
            ),
        ] {
            assert!(inserts(output), "{name}");
        }
    }

    #[test]
    fn nothing_else_that_looks_like_a_mode_line_is_one() {
        let below = |rule: &str| {
            let rule = rule.repeat(30);
            format!("\x1b[?1049h\x1b[3;1H{rule}\x1b[6;1H-- INSERT --\x1b[1;1H")
        };
        for (name, output) in [
            ("the primary screen", "\x1b[6;1H-- INSERT --\x1b[1;1H"),
            ("a comment", "\x1b[?1049h\x1b[6;1H-- INSERT\x1b[1;1H"),
            ("a comment with a tail", "\x1b[?1049h\x1b[6;1H-- INSERT -- rows\x1b[1;1H"),
            ("a comment of another word", "\x1b[?1049h\x1b[6;1H-- see INSERT --\x1b[1;1H"),
            ("not at the edge", "\x1b[?1049h\x1b[6;2H-- INSERT --\x1b[1;1H"),
            ("readline's", "\x1b[?1049h\x1b[6;1H(ins)$ \x1b[1;1H"),
            ("a bar", "\x1b[?1049h\x1b[6;1H\x1b[7mINSERT\x1b[K\x1b[0m\x1b[1;1H"),
            (
                "a mode line in a bar",
                "\x1b[?1049h\x1b[6;1H\x1b[7m-- INSERT --\x1b[K\x1b[0m\x1b[1;1H",
            ),
            ("commands", "\x1b[?1049h\x1b[6;1H-- VISUAL --\x1b[1;1H"),
            ("waits for a command", "\x1b[?1049h\x1b[6;1H-- (insert) --\x1b[1;1H"),
            ("the cursor in it", "\x1b[?1049h\x1b[6;1H-- INSERT --"),
            ("the cursor below", "\x1b[?1049h\x1b[3;1H-- INSERT --\x1b[6;1H"),
            ("in the middle", "\x1b[?1049h\x1b[4;1H-- INSERT --\x1b[1;1H"),
            ("a pane below", &below("─")),
            ("a pane below dashes", &below("-")),
            ("a pane below its number", &below("1")),
            (
                "a region below",
                "\x1b[?1049h\x1b[3;1H\x1b[7m0 bash\x1b[K\x1b[0m\x1b[6;1H-- INSERT --\x1b[1;1H",
            ),
            (
                "a region of two rows",
                "\x1b[?1049h\x1b[3;1H\x1b[7m0 bash\x1b[K\x1b[0m\x1b[4;1H-- INSERT --\x1b[1;1H",
            ),
            (
                "a row that is only a part",
                "\x1b[?1049h\x1b[5;1H\x1b[7mbar\x1b[0m\x1b[6;1Htext\x1b[1;1H",
            ),
        ] {
            assert!(!inserts(output), "{name}");
        }
        let columns: String = (1..=6).map(|row| format!("\x1b[{row};15H│")).collect();
        for (name, mode, cursor) in [("right of it", 16, 1), ("left of it", 1, 16)] {
            let output = format!("\x1b[?1049h{columns}\x1b[6;{mode}H-- INSERT --\x1b[1;{cursor}H");
            assert!(!inserts(&output), "a pane {name}");
        }
    }
}
