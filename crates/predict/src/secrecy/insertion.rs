//! The permission to show characters in an editor that displays its insert mode.

use super::line::Line;

/// The cursor's place in a window on the alternate screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// A hash that identifies the pane.
    pub(crate) pane: u64,
    /// Whether an editor's mode line shows an insert or replace mode.
    pub(crate) inserts: bool,
    /// The row of the input and its first column.
    pub(crate) start: (u16, u16),
    /// Whether there is text left of the input, other than line numbers.
    pub(crate) is_behind_text: bool,
}

/// The evidence that an editor inserts and echoes the characters that are typed in a window.
///
/// A mode line alone proves nothing. A killed editor leaves its line on the screen, and other text may look like one.
/// Three facts together permit characters before their echo. The mode line appeared while the cursor was in the window.
/// A character was echoed there under such a line. Since then, the cursor was in no other window, and in no other row
/// with text left of it. Another program may ask there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Insertion {
    /// The cursor's place on the newest screen. `None` on the primary screen.
    window: Option<Window>,
    /// Whether the cursor was in this window while it had no mode line, and no event has ended the permission since.
    is_open: bool,
    /// Whether a line was entered since the newest screen. The next line may answer a question in the same place.
    has_entered: bool,
    /// The echo of the characters typed in this pane.
    echo: Line,
    /// The cursor's previous pane and the echo there, in case the cursor returns, as from an editor's command line.
    other: Option<(u64, Line)>,
}

impl Insertion {
    /// Records the cursor's place on a screen. `None` on the primary screen, which ends every permission.
    pub(super) fn observe(&mut self, window: Option<Window>) {
        let Some(window) = window else {
            *self = Self::default();
            return;
        };
        let before = self.window.replace(window);
        let has_entered = core::mem::take(&mut self.has_entered);
        if let Some(before) = before.filter(|before| before.pane != window.pane) {
            let known = self.other.replace((before.pane, self.echo));
            let known = known.filter(|(pane, _)| *pane == window.pane);
            self.echo = known.map(|(_, echo)| echo).unwrap_or_default();
        }
        match before.filter(|before| before.pane == window.pane) {
            _ if !window.inserts => self.is_open = true,
            None => self.is_open = false,
            Some(before) if !before.inserts => {}
            Some(before) => {
                let is_same = window.start == before.start && !has_entered;
                self.is_open &= is_same || !window.is_behind_text;
            }
        }
    }

    /// Records that a character was echoed.
    pub(super) fn note_echo(&mut self, c: char) {
        if self.is_open && self.inserts() {
            self.echo.note_echo(c);
        }
    }

    pub(super) const fn note_enter(&mut self) {
        self.has_entered = true;
    }

    /// Records that a character was answered otherwise than by its echo, or not in time.
    pub(super) fn note_miss(&mut self) {
        if self.inserts() {
            self.echo = Line::default();
        }
    }

    /// Ends the permission until the mode line appears again.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns whether a character may be shown before its echo.
    pub(super) fn permits(&self) -> bool {
        self.inserts() && self.is_open && self.echo.may_show()
    }

    fn inserts(&self) -> bool {
        self.window.is_some_and(|window| window.inserts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMANDS: Window =
        Window { pane: 7, inserts: false, start: (3, 0), is_behind_text: false };
    const INSERTS: Window = Window { inserts: true, ..COMMANDS };
    const NEXT_ROW: Window = Window { start: (4, 0), ..INSERTS };
    const QUESTION: Window = Window { start: (4, 8), is_behind_text: true, ..INSERTS };

    fn inserting() -> Insertion {
        let mut insertion = Insertion::default();
        insertion.observe(Some(COMMANDS));
        insertion.observe(Some(INSERTS));
        assert!(!insertion.permits(), "nothing was echoed");
        insertion.note_echo('a');
        assert!(insertion.permits());
        insertion
    }

    /// Returns whether characters may be shown after screens with these windows.
    fn permits_after(windows: &[Option<Window>]) -> bool {
        let mut insertion = inserting();
        windows.iter().for_each(|window| insertion.observe(*window));
        insertion.permits()
    }

    #[test]
    fn text_is_shown_after_an_echo_under_a_mode_line_that_came() {
        assert!(permits_after(&[Some(NEXT_ROW)]));
        assert!(permits_after(&[Some(COMMANDS), Some(INSERTS)]));
        let line = Window { pane: 8, ..COMMANDS };
        assert!(permits_after(&[Some(COMMANDS), Some(line), Some(COMMANDS), Some(INSERTS)]));
        let behind = Window { is_behind_text: true, ..INSERTS };
        assert!(permits_after(&[Some(COMMANDS), Some(behind), Some(behind)]), "a line of the text");
    }

    #[test]
    fn a_mode_line_that_was_there_before_the_cursor_permits_nothing() {
        for before in
            [None, Some(Window { pane: 8, ..COMMANDS }), Some(Window { pane: 8, ..INSERTS })]
        {
            let mut insertion = Insertion::default();
            insertion.observe(before);
            insertion.observe(Some(INSERTS));
            insertion.note_echo('a');
            assert!(!insertion.permits(), "{before:?}");
        }
    }

    #[test]
    fn the_permission_ends_where_another_program_may_ask() {
        let other = Window { pane: 8, ..INSERTS };
        for (name, windows) in [
            ("commands", &[Some(COMMANDS)][..]),
            ("the primary screen", &[None, Some(INSERTS)]),
            ("another pane", &[Some(other)]),
            ("a pane without a mode line", &[Some(Window { inserts: false, ..other })]),
            ("such a pane and back", &[Some(Window { inserts: false, ..other }), Some(INSERTS)]),
            ("another pane and back", &[Some(other), Some(INSERTS)]),
            ("a question in the window", &[Some(QUESTION)]),
            (
                "a row below a question",
                &[Some(QUESTION), Some(Window { start: (5, 0), ..INSERTS })],
            ),
        ] {
            assert!(!permits_after(windows), "{name}");
        }
    }

    #[test]
    fn a_question_in_the_place_of_a_line_that_was_entered_ends_the_permission() {
        let behind = Window { is_behind_text: true, ..INSERTS };
        for (has_entered, permits) in [(false, true), (true, false)] {
            let mut insertion = inserting();
            insertion.observe(Some(COMMANDS));
            insertion.observe(Some(behind));
            if has_entered {
                insertion.note_enter();
            }
            insertion.observe(Some(behind));
            assert_eq!(insertion.permits(), permits);
        }
    }

    #[test]
    fn an_answer_without_echo_or_no_answer_ends_the_permission() {
        let ends: [fn(&mut Insertion); 2] = [Insertion::note_miss, Insertion::close];
        for end in ends {
            let mut insertion = inserting();
            end(&mut insertion);
            insertion.observe(Some(NEXT_ROW));
            assert!(!insertion.permits());
        }
    }
}
