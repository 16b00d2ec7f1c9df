//! What a screen shows around the cursor that matters to what keys do there.

use rove_terminal::{Position, Screen};

use crate::replay::canvas::{Text, mix};

/// What an editor says that typed text does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditorMode {
    Insert,
    Replace,
}

/// Names of a prompt: by all of its text, and by its last two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) strong: u64,
    pub(super) weak: u64,
}

/// Returns the end of the text that begins left of the cursor: two blanks end it.
pub(super) fn input_end(screen: &Screen, at: Position) -> u16 {
    let (mut end, mut blanks) = (at.column, 0);
    for column in at.column..screen.size().columns() {
        if Text::of(screen, Position { row: at.row, column }).is_blank() {
            blanks += 1;
            if blanks == 2 {
                break;
            }
        } else {
            (end, blanks) = (column + 1, 0);
        }
    }
    end
}

/// Returns whether the text left of the cursor asks for something that is not to be seen.
pub(super) fn asks_for_secret(screen: &Screen, at: Position) -> bool {
    let text = screen.row_text(at.row).to_lowercase();
    ["pass", "pin", "secret", "token", "code", "otp"].iter().any(|word| text.contains(word))
}

/// Returns what the last row says of an editor's mode.
pub(super) fn editor_mode(screen: &Screen) -> Option<EditorMode> {
    let text = screen.row_text(screen.size().rows() - 1);
    if text.contains("-- INSERT --") {
        Some(EditorMode::Insert)
    } else if text.contains("-- REPLACE --") {
        Some(EditorMode::Replace)
    } else {
        None
    }
}

/// Returns the names of what stands left of a place.
pub(super) fn fingerprint(screen: &Screen, at: Position) -> Fingerprint {
    let characters: Vec<u64> = (0..at.column)
        .filter_map(|column| Text::of(screen, Position { row: at.row, column }).base)
        .map(u64::from)
        .collect();
    let last = &characters[characters.len().saturating_sub(2)..];
    Fingerprint { strong: mix(&characters), weak: mix(last) }
}
