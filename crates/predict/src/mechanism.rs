//! The mechanisms of the replay engine. An experiment may switch each of them off to measure its worth.
//!
//! The engine checks for a mechanism at one place: where it learns, or else where it makes its prediction. Switched
//! off, a mechanism learns and predicts nothing. This never weakens [`crate::secrecy`]: an experiment can remove its
//! permissions, but not its refusals.

use core::str::FromStr;

/// A part of the replay engine that can be switched off by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Characters are shown before their echo at the prompt of a shell that has echoed three lines.
    ShellPrompts,
    /// Characters are shown before their echo where the server says that the session's own shell waits at its prompt,
    /// after one line was echoed.
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

const _: () = assert!(TABLE.len() <= u32::BITS as usize);

/// The error of a text that names no mechanism.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no mechanism {0:?}; there are {names}", names = Mechanism::names())]
pub struct UnknownMechanism(String);

impl Mechanism {
    /// Returns all mechanisms, in the order of tables.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(mechanism, ..)| *mechanism)
    }

    /// Returns the mechanism's name on command lines and in tables.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns a phrase that says what the mechanism does, for help texts.
    pub const fn description(self) -> &'static str {
        TABLE[self as usize].2
    }

    fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

/// Each mechanism with its name and description, in the order of [`Mechanism`].
#[rustfmt::skip]
const TABLE: [(Mechanism, &str, &str); 19] = [
    (Mechanism::ShellPrompts, "shell-prompts", "characters before their echo at shells, after three lines"),
    (Mechanism::Statements, "statements", "the same where the server states that the shell waits"),
    (Mechanism::EditorModes, "editor-modes", "the same in editors that name their mode"),
    (Mechanism::Suggestions, "suggestions", "grey text behind the cursor is no input"),
    (Mechanism::LineKeys, "line-keys", "Home, End, Delete, Ctrl-A, Ctrl-K and their like"),
    (Mechanism::WordKeys, "word-keys", "keys that move by words or take them out"),
    (Mechanism::Motions, "motions", "keys that were seen to move the cursor on the screen"),
    (Mechanism::Rulers, "rulers", "numbers that follow the cursor"),
    (Mechanism::History, "history", "lines that Up and Down bring back"),
    (Mechanism::DrawnCursors, "drawn-cursors", "cursors that programs draw, with the terminal's hidden"),
    (Mechanism::Wraps, "wraps", "input over the edge of its row"),
    (Mechanism::Colors, "colors", "predictions painted as the text around them"),
    (Mechanism::Palettes, "palettes", "colours remembered from when text was typed"),
    (Mechanism::LateEchoes, "late-echoes", "overdue echoes are waited for and learned from"),
    (Mechanism::Lateness, "lateness", "how late echoes are sets how long to wait"),
    (Mechanism::Latency, "latency", "a screen far sooner than all answers before is none"),
    (Mechanism::TypeAhead, "type-ahead", "text typed ahead, found behind a new prompt"),
    (Mechanism::NewPrompts, "new-prompts", "a known prompt answers Enter at once"),
    (Mechanism::Paste, "paste", "a pasted line is text as if it were typed"),
];

impl FromStr for Mechanism {
    type Err = UnknownMechanism;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::all().find(|mechanism| mechanism.name() == name);
        found.ok_or_else(|| UnknownMechanism(name.to_owned()))
    }
}

impl Mechanisms {
    /// All mechanisms, as in rove itself.
    pub const ALL: Self = Self((1 << TABLE.len()) - 1);

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
    fn each_has_a_name_of_its_own_and_a_line_of_description() {
        for (index, mechanism) in Mechanism::all().enumerate() {
            assert_eq!(mechanism as usize, index, "{mechanism:?} is out of order");
            assert_eq!(mechanism.name().parse(), Ok(mechanism));
            assert!((1..=66).contains(&mechanism.description().len()), "{mechanism:?}");
        }
        let refused = "secrecy".parse::<Mechanism>().map_err(|error| error.to_string());
        assert!(refused.is_err_and(|sentence| sentence.contains("there are shell-prompts, ")));
    }

    #[test]
    fn a_set_lacks_what_was_taken_out_and_nothing_else() {
        for mechanism in Mechanism::all() {
            let set = Mechanisms::default().without(mechanism);
            for other in Mechanism::all() {
                assert_eq!(set.contains(other), other != mechanism, "{other:?} of {mechanism:?}");
            }
        }
    }
}
