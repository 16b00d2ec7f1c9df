//! Explains, as data, why the newest key is shown or not: each part of the engine contributes a statement.

use rove_units::Duration;

pub use crate::replay::Effect;

/// Why the newest key is shown or not, with a statement of each model.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// How many earlier keys a rule hides too. No key after a hidden one is shown.
    pub waiting: usize,
    /// The rule that hides the first hidden key. `None` if no rule does. [`Reason::Policy`] may then still hide keys.
    pub stop: Option<Stop>,
    /// A statement of each model about the newest key, in the order in which the models are asked.
    pub reasons: Vec<Reason>,
}

/// The rule that hides a key. All later keys are then hidden too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The newest screen may already show the key's effect, which must not be drawn twice.
    Doubtful,
    /// The pending keys do not explain the newest screen, on which another program may ask for a secret.
    UnexplainedScreen,
    /// The key may be part of a secret: nothing permits to show it before its echo, or an earlier echo is overdue.
    MayBeSecret,
    /// Predictions of such keys were right too rarely here. Or the key may be special, as at the right edge.
    Distrusted,
    /// The cursor is predicted to be in another row, where the key may have a different effect.
    OtherRow,
    /// The key's effect is unknown.
    UnknownEffect,
}

/// A statement of one model about the newest key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The simulated effect of the key, assuming that all earlier keys have their predicted effects.
    Simulation {
        /// How many keys the user typed after the first earlier key of unknown effect. `None` without such a key.
        behind: Option<usize>,
        /// The key's effect. Always unknown after an earlier key of unknown effect.
        effect: Effect,
    },
    /// Whether the rules of secrecy let a character at this place be shown before its echo.
    Secrecy {
        /// Whether the key may be shown before its echo.
        may_be_seen: bool,
        /// Whether the program has echoed text in the current line.
        has_echoed: bool,
    },
    /// How often keys of this kind had their predicted effect at prompts like this one. Older keys have less weight.
    Context {
        /// The weighted number of keys with their predicted effect.
        right: f32,
        /// The weighted number of keys without their predicted effect.
        wrong: f32,
        /// The share of correct predictions that is required to show one, from 0 to 1.
        threshold: f32,
        /// Whether the share of correct predictions is high enough.
        is_trusted: bool,
    },
    /// Whether the program suggests text after the cursor.
    Suggestion {
        /// Whether a suggestion follows the input.
        stands: bool,
    },
    /// The end of the row, where input may continue in the next row.
    Wrap {
        /// Whether the pending keys move the cursor or text to another row of the input.
        crosses: bool,
        /// Whether the engine knows how input at this prompt continues in the next row.
        is_known: bool,
    },
    /// The models of keys that move the cursor in full-screen programs.
    Navigation {
        /// Whether the model expects the key to move the cursor.
        is_motion: bool,
        /// Whether at least one key is known to move the cursor in this window.
        is_known_place: bool,
    },
    /// A cursor that the program draws itself.
    DrawnCursor {
        /// Whether the program hides the terminal's cursor and draws its own.
        is_found: bool,
    },
    /// Numbers on the screen that show the cursor's line and column.
    Ruler {
        /// Whether this window has numbers that are known to show the cursor's position.
        follows: bool,
    },
    /// The lines that were entered earlier and can be recalled.
    History {
        /// Whether the key recalls a line.
        is_step: bool,
        /// Whether the key has a known, visible effect. For a key that recalls a line, that line is then known.
        is_expected: bool,
    },
    /// Answers that come after the key's echo ack, by which the server says that programs had time to answer the key.
    Late {
        /// How long after a key's echo ack the engine waits for an answer.
        wait: Duration,
        /// Whether the engine still expects effects of earlier keys, although it has dropped their predictions.
        is_awaited: bool,
    },
    /// The speed of the path and the user's preference.
    Policy {
        /// Whether predictions are shown, because the path is slow or the user prefers it.
        shows: bool,
    },
}
