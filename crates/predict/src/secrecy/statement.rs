//! The server's statement that the session's own shell, or a program started by it, waits at its own prompt.

use rove_terminal::InputNum;

/// The newest statement of a server about the session's own shell, and whether such statements proved right.
///
/// The statement names the newest input that the shell had read when it waited. It says nothing about characters typed
/// after a later key of unknown effect. That key may start a widget that reads without echo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statement {
    /// The newest input that the shell had read when it waited at its prompt. `None` if it does not wait.
    until: Option<InputNum>,
    /// The newest answered input whose effect was unknown.
    barrier: InputNum,
    belief: Belief,
}

/// Whether earlier statements proved right.
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
    /// Records the server's statement.
    pub(super) const fn handle(&mut self, until: Option<InputNum>) {
        self.until = until;
    }

    /// Records that a key of unknown effect, sent with `input`, was answered.
    pub(super) const fn note_barrier(&mut self, input: InputNum) {
        self.barrier = input;
    }

    /// Returns whether the shell waits at its prompt for the characters typed after the newest key of unknown effect.
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

    /// Returns whether characters may be shown before their echo.
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
