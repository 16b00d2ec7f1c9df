//! Domain: a box in the space of the signals.

use crate::remy::memory::{AXES, Axis, Memory};

/// A box with a side along each axis: a memory is in it if `lower <= value < upper` on each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lower bounds, which belong to the box.
    pub lower: [f64; AXES],
    /// Upper bounds, which do not.
    pub upper: [f64; AXES],
}

impl Domain {
    /// Bound of each axis where a table names none. Source: tables of the learnability paper (SIGCOMM 2014).
    pub const UPPER_BOUND: f64 = 163_840.0;

    /// The box of all memories that a table is asked for.
    pub const WHOLE: Self = Self { lower: [0.0; AXES], upper: [Self::UPPER_BOUND; AXES] };

    /// Returns whether a memory is in the box.
    pub fn contains(&self, memory: &Memory) -> bool {
        let sides = self.lower.iter().zip(&self.upper).zip(&memory.0);
        sides.into_iter().all(|((lower, upper), value)| lower <= value && value < upper)
    }

    /// Returns whether no memory is in the box.
    pub fn is_empty(&self) -> bool {
        self.lower.iter().zip(&self.upper).any(|(lower, upper)| lower >= upper)
    }

    /// Returns whether two boxes have a part in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        (0..AXES).all(|axis| {
            self.lower[axis] < other.upper[axis] && other.lower[axis] < self.upper[axis]
        })
    }

    /// Returns the parts below and above `at` on an axis.
    pub fn split(&self, axis: Axis, at: f64) -> [Self; 2] {
        let (mut below, mut above) = (*self, *self);
        below.upper[axis.index()] = at;
        above.lower[axis.index()] = at;
        [below, above]
    }
}
