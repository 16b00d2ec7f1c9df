//! The features by which a field's prompt is recognised, read when the field was first seen.

use core::ops::Range;

use rove_terminal::{MouseReporting, Position, Screen};

use crate::replay::canvas::MOVED_MIN;
use crate::scene::text::Text;
use crate::scene::{self, Pane};

/// The features by which a prompt is recognised.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptMarks {
    /// The characters left of the field's start, from column 0 on. `None` stands for a blank.
    text: Vec<Option<char>>,
    modes: [bool; 3],
    /// Whether the text asks for a secret.
    pub(super) is_secret: bool,
    /// Whether the text ends like the prompts of shells.
    pub(super) is_shell: bool,
    /// Whether the user may have typed the text: keys were pending when the field was first seen.
    pub(super) may_be_typed: bool,
}

impl PromptMarks {
    /// Reads the features of the prompt that ends at a position.
    pub(super) fn read(screen: &Screen, at: Position, pane: &Pane) -> Self {
        let columns = (0..at.column).map(|column| Position { column, ..at });
        Self {
            text: columns.map(|at| Text::of(screen, at).base).collect(),
            modes: modes(screen),
            is_secret: scene::asks_for_secret(screen, at),
            is_shell: scene::ends_as_shell(screen, at.row, pane.left..at.column),
            may_be_typed: false,
        }
    }

    /// Returns whether a row of the screen begins with the prompt's text.
    pub(super) fn stands_in(&self, screen: &Screen, row: u16) -> bool {
        let columns = (0..).map(|column| Position { row, column });
        columns.zip(&self.text).all(|(at, base)| Text::of(screen, at).base == *base)
    }

    /// Returns whether the screen has the prompt's terminal modes. Other modes are the sign of another program.
    pub(super) fn has_modes(&self, screen: &Screen) -> bool {
        self.modes == modes(screen)
    }

    pub(super) fn has_text_of(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// Returns whether the prompt has any text in `columns`.
    pub(super) fn has_text_in(&self, columns: Range<usize>) -> bool {
        let end = columns.end.min(self.text.len());
        self.text[columns.start.min(end)..end].iter().any(Option::is_some)
    }

    /// Returns whether the prompt has enough text to be recognised in another row.
    pub(super) fn may_move(&self) -> bool {
        self.text.iter().flatten().count() >= MOVED_MIN
    }

    /// Returns whether a letter or digit directly precedes the field's start, so that the prompt may be typed text.
    pub(super) fn ends_in_word(&self) -> bool {
        self.text.last().copied().flatten().is_some_and(char::is_alphanumeric)
    }
}

/// Returns the terminal modes that identify a prompt: bracketed paste, mouse reporting, and the alternate screen.
pub(super) fn modes(screen: &Screen) -> [bool; 3] {
    let has_mouse = screen.input_modes().mouse_reporting != MouseReporting::Off;
    [screen.input_modes().bracketed_paste, has_mouse, screen.rich_modes().alternate_screen]
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_prompt_is_known_again_in_another_row_and_not_in_other_modes() {
        let mut host = Terminal::host(Size::new(20, 4).unwrap());
        host.write(b"ann$ ");
        let first = host.snapshot();
        let pane = Pane { left: 0, right: 20, top: 0, bottom: 4 };
        let at = first.cursor().position();
        let marks = PromptMarks::read(&first, at, &pane);
        assert!(marks.has_text_in(0..usize::MAX) && marks.may_move());
        assert!(marks.is_shell && !marks.ends_in_word());
        assert!(!marks.has_text_in(4..5) && marks.has_text_in(3..5));
        host.write(b"ls\r\nann$ \x1b[?2004h");
        let second = host.snapshot();
        assert!(marks.stands_in(&second, 1) && !marks.stands_in(&second, 2));
        assert!(marks.has_modes(&first) && !marks.has_modes(&second));
        let typed = PromptMarks::read(&second, Position { row: 0, column: 7 }, &pane);
        assert!(typed.ends_in_word());
    }
}
