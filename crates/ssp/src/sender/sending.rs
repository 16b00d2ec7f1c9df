//! Contents that were just sent, as the mechanisms that may send them again need to know of them.

use rove_units::Instant;

use crate::num::StateNum;

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
