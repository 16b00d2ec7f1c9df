//! The verdict on keys where a screen shows the effect of none.

use crate::replay::cursor_probe::CursorProbe;
use crate::replay::match_result::Barrier;

/// The reason why a screen shows none of the keys on their way.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// So many have moved the cursor as motions do, in this way.
    Moved(usize, CursorProbe),
    /// No key has arrived yet. The screen is still that of the keys before.
    Awaited,
    /// A masking character stands for each of so many.
    Masked(usize),
    /// The first key of unknown effect was answered, and all before it.
    Answered(Barrier),
    /// The program may still be drawing.
    Incomplete,
    /// So many are due, and did something else than predicted.
    Failed(usize),
    /// Nobody knows. A key of unknown effect among them (`has_barrier`) may have drawn over what the others did.
    Unexplained { has_barrier: bool },
}
