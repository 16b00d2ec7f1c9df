//! The numbers of streams and of packets.

use core::fmt;

/// The end of a session to which a stream layer belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end whose streams have even numbers.
    Client,
    /// The end whose streams have odd numbers.
    Server,
}

/// The number of a stream. Bit 0 tells which end has opened it, and no number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u64);

impl StreamId {
    /// The control stream, which is open as long as the stream layer.
    pub const CONTROL: Self = Self(0);

    /// Creates a stream's number.
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the end that opens streams with numbers of this parity.
    pub const fn opener(self) -> Side {
        if self.0 & 1 == 0 { Side::Client } else { Side::Server }
    }

    /// Returns the first number that `side` uses. The client starts at 2, because the control stream has 0.
    pub(crate) const fn first_of(side: Side) -> Self {
        match side {
            Side::Client => Self(2),
            Side::Server => Self(1),
        }
    }

    /// Returns the next number of the same opener. Numbers end after 2^63 streams, which no session opens.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(2))
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a packet within its direction. Numbers start at 0, and each is used once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketNum(u64);

impl PacketNum {
    /// The highest number that fits the 60 bits of a packet's header.
    pub const MAX: Self = Self((1 << 60) - 1);

    /// Creates a number. `None` for one above [`PacketNum::MAX`].
    pub const fn new(number: u64) -> Option<Self> {
        if number <= Self::MAX.0 { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the next number; `None` after the last.
    pub(crate) const fn next(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_open_streams_of_their_own_parity() {
        for side in [Side::Client, Side::Server] {
            let first = StreamId::first_of(side);
            assert!(first != StreamId::CONTROL && first.opener() == side);
            assert!(first.next() > first && first.next().opener() == side);
        }
        assert_eq!(StreamId::CONTROL.opener(), Side::Client);
    }

    #[test]
    fn packet_numbers_have_60_bits() {
        assert_eq!(PacketNum::new(1 << 60), None);
        assert_eq!(PacketNum::MAX.next(), None);
        assert_eq!(PacketNum::default().next(), PacketNum::new(1));
    }
}
