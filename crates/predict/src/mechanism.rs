//! The mechanisms of the replay engine. An experiment can switch each of them off to measure its benefit.
//!
//! The engine checks for a mechanism where the mechanism learns or predicts. A mechanism that is switched off has no
//! influence on a frame. Switching off never weakens [`crate::secrecy`]. An experiment can remove reasons to show a key
//! before its echo. It cannot remove reasons to hide a key.

/// A part of the replay engine that can be switched off by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Characters are shown before their echo at a shell's prompt where three lines were echoed, in any session.
    ShellPrompts,
    /// Characters are shown before their echo after one echoed line. The server must state that the session's own
    /// shell, or a program started by it, waits at its prompt.
    Statements,
    /// Characters are shown before their echo in an editor that displays its mode (`-- INSERT --`), after one echo.
    EditorModes,
    /// Grey or differently coloured text after the cursor is a suggestion. Typed characters do not shift it.
    Suggestions,
    /// The engine predicts Home, End, Delete and line editors' control keys that move over text or erase it.
    LineKeys,
    /// The engine predicts keys that move over a word or erase it.
    WordKeys,
    /// The engine predicts keys that were observed to move the cursor of a full-screen program.
    Motions,
    /// The engine predicts numbers on the screen that show the cursor's line and column.
    Rulers,
    /// The engine predicts the lines that Up and Down recall.
    History,
    /// The engine predicts a cursor that the program draws itself, and the program's counts of typed characters.
    DrawnCursors,
    /// The engine predicts how input that is too long for a row continues in the next row.
    Wraps,
    /// Predicted characters get the colours of neighbouring text.
    Colors,
    /// Predicted words and signs get the colours that the program last gave to them.
    Palettes,
    /// The engine still recognises the echo of a key whose prediction it has dropped, and learns how late it was.
    LateEchoes,
    /// The engine waits longer for overdue echoes at prompts where earlier echoes were late.
    Lateness,
    /// A screen may agree with several numbers of answered keys. The engine rejects a number if a key was then answered
    /// much sooner than each of the last 16 keys.
    Latency,
    /// Text that the user typed ahead, and that follows a new prompt, is treated as the input at that prompt.
    TypeAhead,
    /// A known prompt counts as the answer to Enter even before Enter's echo ack arrives.
    NewPrompts,
    /// A paste of up to 256 characters, none of them a control character, is predicted like typed text.
    Paste,
}

/// A set of mechanisms. By default it contains all.
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
