//! The sender's result, and its record of contents just sent for the mechanisms that may send them again.

use rove_units::Instant;

use crate::instruction::Instruction;
use crate::num::StateNum;

/// An instruction to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A new instruction, without what the layers below the sender add to it.
    Send(Instruction),
    /// The same without contents, only to show that this end is there.
    Heartbeat(Instruction),
    /// The kept instruction, the same fragments once more.
    Repeat,
}

/// Contents that were just sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) at: Instant,
    pub(super) num: StateNum,
    /// Bytes of the diff before compression.
    pub(super) diff_len: usize,
    /// Whether the diff starts from the known receiver state. Such a diff is of use whatever else is lost, and may go again.
    pub(super) stands_alone: bool,
    pub(super) occasion: Occasion,
    pub(super) due: Due,
}

/// Which mechanisms asked for the contents that are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// The repetition, for a copy.
    pub(super) copy: bool,
    /// The first contact, for first contents that nothing has answered.
    pub(super) first_contact: bool,
}

/// Why contents are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// They were not sent before.
    News,
    /// A copy was due.
    Copy,
    /// They were presumed lost.
    PresumedLost,
    /// They go along with an acknowledgment, or nobody waits for them.
    Other,
}
