//! Numbers of states and of datagrams.

use core::fmt;

/// The number of a state. 0 is the initial state, which both ends know, and [`StateNum::SHUTDOWN`] is the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateNum(u64);

impl StateNum {
    /// The initial state, which both ends know without a datagram.
    pub const INITIAL: Self = Self(0);
    /// The number of every state that an end sends after it has started its shutdown.
    pub const SHUTDOWN: Self = Self(u64::MAX);

    /// Creates a state number.
    pub const fn new(num: u64) -> Self {
        Self(num)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number after this one; [`StateNum::SHUTDOWN`] is the last and returns itself.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for StateNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::SHUTDOWN { f.write_str("shutdown") } else { write!(f, "{}", self.0) }
    }
}

/// The sequence number of a datagram within one direction, of which 63 bits travel in its nonce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeqNum(u64);

impl SeqNum {
    /// Creates a sequence number from the low 63 bits of `num`.
    pub const fn new(num: u64) -> Self {
        Self(num & (u64::MAX >> 1))
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_numbered_up_to_the_shutdown() {
        for (num, next) in [(0, 1), (1, 2), (u64::MAX - 1, u64::MAX), (u64::MAX, u64::MAX)] {
            assert_eq!(StateNum::new(num).next(), StateNum::new(next));
        }
        assert_eq!(StateNum::SHUTDOWN.to_string(), "shutdown");
        assert_eq!(StateNum::new(7).to_string(), "7");
    }

    #[test]
    fn sequence_numbers_keep_63_bits() {
        for (num, kept) in
            [(0, 0), ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, 0), (u64::MAX, (1 << 63) - 1)]
        {
            assert_eq!(SeqNum::new(num).get(), kept);
        }
    }
}
