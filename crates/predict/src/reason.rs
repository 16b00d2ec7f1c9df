//! Why the newest key is shown or not: a statement of each part of the engine, as data.

use rove_units::Duration;

pub use crate::replay::Effect;

/// Why the newest key is shown or not, with a statement of each model.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// How many keys before the newest are not shown either: no key after a hidden one is shown.
    pub waiting: usize,
    /// Why the first hidden key is not shown. `None` if all keys up to the newest are shown.
    pub stop: Option<Stop>,
    /// A statement of each model about the newest key, in the order in which the models are asked.
    pub reasons: Vec<Reason>,
}

/// The rule that hides a key, and with it all later keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The screen may already show the key's effect.
    Doubtful,
    /// The keys do not explain the newest screen.
    UnexplainedScreen,
    /// The key may be part of a secret: no echo was seen where it is typed.
    MayBeSecret,
    /// Predictions of this kind were not right often enough at this prompt.
    Distrusted,
    /// The cursor is predicted to be in another row, where the key may do something else.
    OtherRow,
    /// The key's effect is unknown.
    UnknownEffect,
}

/// A statement of one model about the newest key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The simulated effect of the key, if all keys before it have their predicted effects.
    Simulation {
        /// How many keys before this one the key of unknown effect is. `None` if there is none.
        behind: Option<usize>,
        /// The key's effect.
        effect: Effect,
    },
    /// Whether the rules of secrecy let the key be shown before its echo.
    Secrecy {
        /// Whether the key may be shown before its echo.
        may_be_seen: bool,
        /// Whether text was echoed in this line since the line began.
        has_echoed: bool,
    },
    /// How often keys of this kind did as predicted at prompts like this one. Older keys weigh less.
    Context {
        /// The weighted number of keys that did as predicted.
        right: f32,
        /// The weighted number of keys that did not do as predicted.
        wrong: f32,
        /// The share of correct keys that is needed to show one, from 0 to 1.
        threshold: f32,
        /// Whether the share of correct keys is enough.
        is_trusted: bool,
    },
    /// Whether the program suggests text after the cursor.
    Suggestion {
        /// Whether a suggestion follows the input.
        stands: bool,
    },
    /// The end of the row, where input may continue in the next one.
    Wrap {
        /// Whether text continues in the next row.
        crosses: bool,
        /// Whether it is known how this prompt continues input in the next row.
        is_known: bool,
    },
    /// Keys that move the cursor in full-screen programs.
    Navigation {
        /// Whether the key is believed to move the cursor.
        is_motion: bool,
        /// Whether any key is known to move the cursor in this window.
        is_known_place: bool,
    },
    /// A cursor that the program draws itself.
    DrawnCursor {
        /// Whether the program hides the terminal's cursor and draws its own.
        is_found: bool,
    },
    /// Numbers on the screen that show the cursor's line and column.
    Ruler {
        /// Whether this window is known to have such numbers.
        follows: bool,
    },
    /// Lines that were entered earlier and are recalled.
    History {
        /// Whether the key recalls a line.
        is_step: bool,
        /// Whether the recalled line is known.
        is_expected: bool,
    },
    /// A host that answers after its echo ack.
    Late {
        /// How long after its echo ack an answer is waited for.
        wait: Duration,
        /// Whether answers to earlier keys that were given up are still expected.
        is_awaited: bool,
    },
    /// The speed of the path and the user's preference.
    Policy {
        /// Whether the path is slow enough, or the user's preference demands, that predictions are shown.
        shows: bool,
    },
}
