//! Domain: a box in the space of a RemyCC's signals.

use crate::remy::memory::{AXES, Axis, Memory};

/// A box with a side along the axis of each signal. A memory is in it if `lower <= value < upper` for each of its
/// signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// The lower bound of each signal, which is in the box.
    pub lower: [f64; AXES],
    /// The upper bound of each signal, which is not in the box.
    pub upper: [f64; AXES],
}

impl Domain {
    /// Upper bound of a signal if the table names no bound. Source: tables of the learnability paper (SIGCOMM 2014).
    pub const UPPER_BOUND: f64 = 163_840.0;

    /// The box with all memories from 0 to [`Self::UPPER_BOUND`].
    pub const WHOLE: Self = Self { lower: [0.0; AXES], upper: [Self::UPPER_BOUND; AXES] };

    /// Returns whether a memory is in the box.
    pub fn contains(&self, memory: &Memory) -> bool {
        let sides = self.lower.iter().zip(&self.upper).zip(&memory.0);
        sides.into_iter().all(|((lower, upper), value)| lower <= value && value < upper)
    }

    /// Returns whether the box is empty, so that no memory is in it.
    pub fn is_empty(&self) -> bool {
        self.lower.iter().zip(&self.upper).any(|(lower, upper)| lower >= upper)
    }

    /// Returns whether the two boxes overlap.
    pub(super) fn meets(&self, other: &Self) -> bool {
        (0..AXES).all(|axis| {
            self.lower[axis] < other.upper[axis] && other.lower[axis] < self.upper[axis]
        })
    }

    /// Returns the two parts of the box: with values below `at` of a signal, and with values from `at` on.
    pub fn split(&self, axis: Axis, at: f64) -> [Self; 2] {
        let (mut below, mut above) = (*self, *self);
        below.upper[axis.index()] = at;
        above.lower[axis.index()] = at;
        [below, above]
    }
}
