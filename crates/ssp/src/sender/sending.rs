//! What the sender hands down to be sent, and its record of contents just sent for the mechanisms that may send them again.

use rove_units::Instant;

use crate::instruction::Instruction;
use crate::num::StateNum;

/// What is to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A new instruction, without what the layers below the sender add to it.
    Send(Instruction),
    /// The same, which has nothing to say but that this end is there.
    Heartbeat(Instruction),
    /// The instruction kept with [`Sender::keep`](super::Sender::keep), the same fragments once more.
    Repeat,
}

/// Contents that were just sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) at: Instant,
    pub(super) num: StateNum,
    /// Bytes of the diff before compression.
    pub(super) diff_len: usize,
    /// Whether the diff starts from the known receiver state: it is of use whatever else is lost, and may go again.
    pub(super) stands_alone: bool,
    pub(super) occasion: Occasion,
    pub(super) due: Due,
}

/// Which mechanisms asked for the contents that are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// The repetition, for a copy of them.
    pub(super) copy: bool,
    /// The first contact, for first contents that nothing has answered.
    pub(super) first_contact: bool,
}

/// Why contents are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Their reader has not been told of them before.
    News,
    /// A copy was due.
    Copy,
    /// They were presumed lost.
    PresumedLost,
    /// They go along with something else, or nobody waits for them.
    Other,
}
