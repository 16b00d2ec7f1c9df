//! Why the newest key is shown or not: a statement of each part of the engine, as data.

use rove_units::Duration;

pub use crate::replay::Effect;

/// All statements about the newest key.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// How many keys before it are not shown either: the first of them stops all.
    pub waiting: usize,
    /// Why the first key that is not shown is not; `None` where all are likely enough, up to the newest.
    pub stop: Option<Stop>,
    /// A statement for each model, in the order in which they are asked.
    pub reasons: Vec<Reason>,
}

/// The rule that ends the run of shown keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The screen may already show the key's effect.
    Doubtful,
    /// The keys do not explain the newest screen.
    UnexplainedScreen,
    /// No echo has been seen where the key is typed.
    MayBeSecret,
    /// Keys of this kind were not right often enough at this prompt.
    Distrusted,
    /// The cursor is predicted to be in another row, where the key may mean something else.
    OtherRow,
    /// The key's effect is unknown.
    UnknownEffect,
}

/// A statement of one model about the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The outcome of the key, provided that all keys before it have their predicted effects.
    Simulation {
        /// How many keys before it the key stands whose effect is unknown, if there is one.
        behind: Option<usize>,
        /// The key's effect.
        effect: Effect,
    },
    /// Whether the key may be shown before its echo.
    Secrecy {
        /// Whether it may.
        may_be_seen: bool,
        /// Whether text was echoed in this line since it began.
        has_echoed: bool,
    },
    /// How often keys of its kind did as predicted at prompts like this one. Older counts weigh less.
    Context {
        /// The number of keys that did as predicted.
        right: f32,
        /// The number of keys that did not do as predicted.
        wrong: f32,
        /// The needed share.
        threshold: f32,
        /// Whether that is enough.
        is_trusted: bool,
    },
    /// Suggestions of the program.
    Suggestion {
        /// Whether a suggestion stands after the input.
        stands: bool,
    },
    /// The edge of the row.
    Wrap {
        /// Whether text goes over it.
        crosses: bool,
        /// Whether the way is known.
        is_known: bool,
    },
    /// Motions of the cursor in programs that draw on the whole screen.
    Navigation {
        /// Whether the key is believed to be one.
        is_motion: bool,
        /// Whether any are known in this window.
        is_known_place: bool,
    },
    /// Cursors that programs draw themselves.
    DrawnCursor {
        /// Whether the program hides the terminal's cursor and draws one.
        is_found: bool,
    },
    /// Numbers that follow the cursor.
    Ruler {
        /// Whether there are any.
        follows: bool,
    },
    /// Lines that come back.
    History {
        /// Whether the key goes through them.
        is_step: bool,
        /// Whether it is known to which.
        is_expected: bool,
    },
    /// Hosts that answer late.
    Late {
        /// How long after its acknowledgment an answer is waited for.
        wait: Duration,
        /// Whether answers of earlier keys are still expected.
        is_awaited: bool,
    },
    /// The path.
    Policy {
        /// Whether it is so slow, or the user wants it so, that predictions are shown.
        shows: bool,
    },
}
