//! The server's statement that the session's own shell, or a program started by it, waits at its own prompt.

use rove_terminal::InputNum;

/// The newest statement of a server about the session's own shell, and whether such statements proved right.
///
/// The statement names the newest input that the shell had read when it waited. It says nothing about characters typed
/// after a later key other than text, Backspace, Left and Right. Such a key may start a widget that reads without echo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statement {
    /// The newest input that the shell had read when it waited at its prompt. `None` if it does not wait.
    until: Option<InputNum>,
    /// The input of the newest dropped key, or answered key other than text, Backspace, Left and Right.
    barrier: InputNum,
    belief: Belief,
}

/// Whether earlier statements proved right. A refutation is final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Belief {
    /// No line was entered while a statement held.
    #[default]
    Untried,
    /// A line that was entered while a statement held was echoed.
    Proven,
    /// A line that was entered while a statement held was not echoed, probably because a script has turned echo off.
    Refuted,
}

impl Statement {
    pub(super) const fn handle(&mut self, until: Option<InputNum>) {
        self.until = until;
    }

    /// Records a dropped key, or an answered key other than text, Backspace, Left and Right, sent with `input`.
    pub(super) const fn note_barrier(&mut self, input: InputNum) {
        self.barrier = input;
    }

    /// Returns whether the shell waits at its prompt, and has read the newest key of [`Self::note_barrier`].
    pub(super) fn holds(&self) -> bool {
        self.until.is_some_and(|until| until >= self.barrier)
    }

    /// Records that a line was entered at a prompt while a statement held, and whether it was echoed.
    pub(super) fn note_line(&mut self, was_echoed: bool) {
        if !was_echoed {
            self.belief = Belief::Refuted;
        } else if self.belief == Belief::Untried {
            self.belief = Belief::Proven;
        }
    }

    /// Returns whether statements permit characters before their echo: one holds, and earlier ones proved right.
    pub(super) fn permits(&self) -> bool {
        self.holds() && self.belief == Belief::Proven
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(until: u64) -> Statement {
        let mut statement = Statement::default();
        statement.note_line(true);
        statement.handle(Some(InputNum::new(until)));
        statement
    }

    #[test]
    fn it_holds_until_a_key_that_it_does_not_know_of() {
        let mut statement = stated(7);
        statement.note_barrier(InputNum::new(7));
        assert!(statement.permits());
        statement.note_barrier(InputNum::new(8));
        assert!(!statement.permits());
        statement.handle(Some(InputNum::new(8)));
        assert!(statement.permits());
        statement.handle(None);
        assert!(!statement.permits());
    }

    #[test]
    fn it_permits_nothing_before_a_line_was_echoed_and_nothing_after_one_was_not() {
        let mut statement = Statement::default();
        statement.handle(Some(InputNum::new(1)));
        assert!(statement.holds() && !statement.permits());
        statement.note_line(true);
        assert!(statement.permits());
        statement.note_line(false);
        statement.note_line(true);
        assert!(!statement.permits());
    }
}
