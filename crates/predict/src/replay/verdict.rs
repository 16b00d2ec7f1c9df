//! The verdict of a screen on the keys on their way, and the habits of the program that it gives away.

use crate::keystroke::Key;
use crate::network::InputNum;
use crate::replay::cursor_probe::CursorProbe;
use crate::replay::exit::Pair;
use crate::replay::field::Field;
use crate::replay::history::Sheet;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::late::GivenUp;
use crate::replay::layout::Crossing;
use crate::replay::match_result::Barrier;
use crate::replay::timeline::Proven;

/// Everything that is found on a screen.
#[derive(Debug)]
pub(super) struct Findings {
    /// The two characters that have ended the mode of an editor.
    pub(super) exit: Option<Pair>,
    /// The line that is about to be entered.
    pub(super) sheet: Option<Sheet>,
    /// Whether a word that was typed at the edge stands in the next row.
    pub(super) is_broken: bool,
    pub(super) verdict: Verdict,
}

/// What became of the oldest keys.
#[derive(Debug)]
pub(super) enum Verdict {
    /// They have gone on over the edge of the row, in a way that was not known. The field is as it is then.
    Wrapped(Box<Field>, Crossing),
    /// The screen agrees with what so many of them do, or with none of them.
    Shown(Box<Shown>),
    /// So many have moved the cursor as motions do, in this way.
    Moved(usize, CursorProbe),
    /// No key has arrived yet. The screen is still that of the keys before.
    Awaited,
    /// A masking character stands for each of so many.
    Masked(usize),
    /// The first key of unknown effect was answered, and all before it.
    Answered(Box<Answer>),
    /// The program may still be drawing.
    Incomplete,
    /// The first key may still be answered.
    Pending,
    /// The first key is overdue, but its effect may still come.
    Late(GivenUp, InputNum),
    /// The first key is overdue, and its effect does not come any more.
    Missed,
    /// So many are due, and did something else than predicted.
    Failed(usize),
    /// Nobody knows. A key of unknown effect among them (`has_barrier`) may have drawn over what the others did.
    Unexplained { has_barrier: bool },
}

/// The keys that a screen shows.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) proven: Proven,
    /// Whether the program has drawn something in the row below the input, as where it previews a result.
    pub(super) has_preview: bool,
    /// The first key of unknown effect behind them.
    pub(super) barrier: Option<Barrier>,
}

/// A key of unknown effect that was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) key: Key,
    pub(super) input: InputNum,
    pub(super) barrier: Barrier,
    /// How far its line editor was taken back through its lines, with this key.
    pub(super) history_cursor: HistoryCursor,
    /// Whether characters were commands where it was typed, and whether they may be after it.
    pub(super) takes_commands: bool,
    pub(super) may_take_commands: bool,
}
