//! The mechanisms of the replay engine. An experiment may switch each of them off to measure its worth.
//!
//! The engine checks for a mechanism at one place: where it learns, or else where it makes its prediction. Switched
//! off, a mechanism learns and predicts nothing. This never weakens [`crate::secrecy`]: an experiment can remove its
//! permissions, but not its refusals.

/// A part of the replay engine that can be switched off by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Characters are shown before their echo at the prompt of a shell that has echoed three lines.
    ShellPrompts,
    /// Characters are shown before their echo where the server says that the session's own shell, or a program of it,
    /// waits at its prompt, after one line was echoed.
    Statements,
    /// Characters are shown before their echo in an editor with a mode line (`-- INSERT --`), after one echo.
    EditorModes,
    /// Grey text after the cursor is a suggestion, which typed characters do not move.
    Suggestions,
    /// Home, End, Delete and the control keys of line editors move by, or erase, a part of the line.
    LineKeys,
    /// Keys move by words or erase them.
    WordKeys,
    /// Keys that were seen to move the cursor of a full-screen program are predicted.
    Motions,
    /// Numbers on the screen that show the cursor's line and column are predicted.
    Rulers,
    /// Lines that Up and Down recall are predicted.
    History,
    /// A cursor that the program draws, while it hides the terminal's own, is predicted, and so are counts of
    /// characters.
    DrawnCursors,
    /// Input that continues in the next row is predicted.
    Wraps,
    /// Predicted characters get the colours of the text around them.
    Colors,
    /// Predicted words and signs get the colours that they had when last typed.
    Palettes,
    /// The engine waits on for an overdue echo, and learns from it if it comes after all.
    LateEchoes,
    /// The wait for an overdue echo is as long as earlier echoes were late.
    Lateness,
    /// Where a screen fits more than one number of keys, a larger number does not count if it would have been answered much
    /// sooner than the last 16 keys.
    Latency,
    /// Text that was typed ahead and follows a new prompt counts as the input at that prompt.
    TypeAhead,
    /// A known prompt counts as the answer to Enter before the acknowledgment arrives.
    NewPrompts,
    /// A pasted line is predicted as if it were typed.
    Paste,
}

/// A set of mechanisms. The default is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms(u32);

const _: () = assert!((Mechanism::Paste as u32) < u32::BITS - 1);

impl Mechanisms {
    /// All mechanisms, as in rove itself.
    pub const ALL: Self = Self((1 << (Mechanism::Paste as u32 + 1)) - 1);

    /// Returns the set without `mechanism`.
    #[must_use]
    pub const fn without(self, mechanism: Mechanism) -> Self {
        Self(self.0 & !(1 << mechanism as u32))
    }

    /// Returns whether `mechanism` is in the set.
    pub const fn contains(self, mechanism: Mechanism) -> bool {
        self.0 & (1 << mechanism as u32) != 0
    }
}

impl Default for Mechanisms {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lacks_what_was_taken_out_and_nothing_else() {
        let some = [Mechanism::ShellPrompts, Mechanism::Wraps, Mechanism::Paste];
        for mechanism in some {
            let set = Mechanisms::default().without(mechanism);
            for other in some {
                assert_eq!(set.contains(other), other != mechanism, "{other:?} of {mechanism:?}");
            }
        }
    }
}
