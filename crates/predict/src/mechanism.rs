//! The mechanisms of the replay engine, each of which an experiment may switch off to learn its worth.
//!
//! Each is asked for at one place of the engine: where it learns, if it learns anything, and else where its proposal
//! enters. Switched off, it knows nothing and proposes nothing. Nothing here loosens [`crate::secrecy`]: its
//! permissions can be taken away, and its refusals cannot.

use core::str::FromStr;

/// A part of the replay engine that can be switched off alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// The prompt of a shell at which three lines were echoed shows characters before their echo.
    ShellPrompts,
    /// Where the server states that the session's own shell waits, its prompt does so after one line.
    Statements,
    /// An editor whose mode line came (`-- INSERT --`) does so after an echo.
    EditorModes,
    /// Text in grey after the cursor is suggested, and stays where it is.
    Suggestions,
    /// Home, End, Delete and the control keys of line editors that move by or take out a part of the line.
    LineKeys,
    /// The keys that move by words or take them out.
    WordKeys,
    /// Keys that were seen to move the cursor of a program on the whole screen.
    Motions,
    /// Numbers on the screen that follow the cursor.
    Rulers,
    /// Lines that Up and Down bring back.
    History,
    /// A cursor that the program draws, with the terminal's hidden, and a number that counts what stands there.
    DrawnCursors,
    /// Input that goes on over the edge of its row.
    Wraps,
    /// Predictions are painted as the text around them.
    Colors,
    /// Colours of words and signs are remembered from when they were typed.
    Palettes,
    /// The engine goes on waiting for an overdue echo, and learns from it if it comes after all.
    LateEchoes,
    /// The wait for an overdue echo is as long as echoes were late before.
    Lateness,
    /// A screen that would answer sooner than any before it is taken for no answer.
    Latency,
    /// Text that was typed ahead and stands after a prompt that has just come is taken for its input.
    TypeAhead,
    /// A prompt that was seen before answers Enter without waiting for the acknowledgment.
    NewPrompts,
    /// A pasted line is text as if it were typed.
    Paste,
}

/// Several of them, as a set. The default is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms(u32);

const _: () = assert!(Mechanism::ALL.len() <= u32::BITS as usize);

/// A name that no mechanism has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no mechanism {0:?}; there are {names}", names = Mechanism::names())]
pub struct UnknownMechanism(String);

impl Mechanism {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 19] = [
        Self::ShellPrompts,
        Self::Statements,
        Self::EditorModes,
        Self::Suggestions,
        Self::LineKeys,
        Self::WordKeys,
        Self::Motions,
        Self::Rulers,
        Self::History,
        Self::DrawnCursors,
        Self::Wraps,
        Self::Colors,
        Self::Palettes,
        Self::LateEchoes,
        Self::Lateness,
        Self::Latency,
        Self::TypeAhead,
        Self::NewPrompts,
        Self::Paste,
    ];

    /// Returns its name on command lines and in tables.
    pub const fn name(self) -> &'static str {
        WORDS[self as usize].0
    }

    /// Returns what it does, in a line.
    pub const fn description(self) -> &'static str {
        WORDS[self as usize].1
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// The name and the description of each, in the same order.
#[rustfmt::skip]
const WORDS: [(&str, &str); Mechanism::ALL.len()] = [
    ("shell-prompts", "characters before their echo at shells, after three lines"),
    ("statements", "the same where the server states that the shell waits"),
    ("editor-modes", "the same in editors that name their mode"),
    ("suggestions", "grey text behind the cursor is no input"),
    ("line-keys", "Home, End, Delete, Ctrl-A, Ctrl-K and their like"),
    ("word-keys", "keys that move by words or take them out"),
    ("motions", "keys that were seen to move the cursor on the screen"),
    ("rulers", "numbers that follow the cursor"),
    ("history", "lines that Up and Down bring back"),
    ("drawn-cursors", "cursors that programs draw, with the terminal's hidden"),
    ("wraps", "input over the edge of its row"),
    ("colors", "predictions painted as the text around them"),
    ("palettes", "colours remembered from when text was typed"),
    ("late-echoes", "overdue echoes are waited for and learned from"),
    ("lateness", "how late echoes are sets how long to wait"),
    ("latency", "a screen far sooner than all answers before is none"),
    ("type-ahead", "text typed ahead, found behind a new prompt"),
    ("new-prompts", "a known prompt answers Enter at once"),
    ("paste", "a pasted line is text as if it were typed"),
];

impl FromStr for Mechanism {
    type Err = UnknownMechanism;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|mechanism| mechanism.name() == name);
        found.ok_or_else(|| UnknownMechanism(name.to_owned()))
    }
}

impl Mechanisms {
    /// All of them: what rove itself has.
    pub const ALL: Self = Self((1 << Mechanism::ALL.len()) - 1);

    /// Returns the set without one of them.
    #[must_use]
    pub const fn without(self, mechanism: Mechanism) -> Self {
        Self(self.0 & !(1 << mechanism as u32))
    }

    /// Returns whether one of them is in the set.
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
        for (index, mechanism) in Mechanism::ALL.into_iter().enumerate() {
            assert_eq!(mechanism as usize, index, "{mechanism:?} is out of order");
            assert_eq!(mechanism.name().parse(), Ok(mechanism));
            assert!((1..=66).contains(&mechanism.description().len()), "{mechanism:?}");
        }
        let refused = "secrecy".parse::<Mechanism>().map_err(|error| error.to_string());
        assert!(refused.is_err_and(|sentence| sentence.contains("there are shell-prompts, ")));
    }

    #[test]
    fn a_set_lacks_what_was_taken_out_and_nothing_else() {
        for mechanism in Mechanism::ALL {
            let set = Mechanisms::default().without(mechanism);
            for other in Mechanism::ALL {
                assert_eq!(set.contains(other), other != mechanism, "{other:?} of {mechanism:?}");
            }
        }
    }
}
