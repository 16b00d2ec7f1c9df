//! The instruction that the sender decided on, and a record of contents (a diff) for the mechanisms that repeat them.

use rove_units::Instant;

use crate::instruction::Instruction;
use crate::num::StateNum;

/// The instruction that an end is to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The end sends a new instruction, without the fields that the layers below the sender add.
    Send(Instruction),
    /// The end sends a new instruction without contents, only to show that it is alive.
    Heartbeat(Instruction),
    /// The end sends the fragments of the kept instruction once more ([`LargeContents`](super::large::LargeContents)).
    Repeat,
}

/// Contents that were just sent, for the mechanisms that may send them again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) at: Instant,
    pub(super) num: StateNum,
    /// Length of the diff before compression, in bytes.
    pub(super) diff_len: usize,
    /// Whether the diff starts from the known receiver state. Such a diff can be applied even if all other datagrams
    /// are lost, and may be sent again.
    pub(super) stands_alone: bool,
    pub(super) occasion: Occasion,
    pub(super) due: Due,
}

/// The mechanisms that asked to send the contents now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// Whether the module `repetition` asked to send the contents again before any timeout.
    pub(super) copy: bool,
    /// Whether this send repeats the session's first contents, while the peer has acknowledged nothing.
    pub(super) first_contact: bool,
}

/// The reason for which contents are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The contents have a change that a person sees and that was not sent before.
    News,
    /// The contents were sent before, and the module `repetition` sends them again.
    Copy,
    /// The contents were presumed lost.
    PresumedLost,
    /// The contents travel along with an acknowledgment, or no user waits for them.
    Other,
}
