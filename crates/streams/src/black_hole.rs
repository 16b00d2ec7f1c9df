//! Finds a *black hole*: a path that silently drops large packets and carries smaller ones (RFC 8899, section 4.3).
//!
//! Chance and outages lose large packets, too. So the size is blamed only if many are lost in a row, and smaller
//! packets arrive again and again between them.

use rove_units::Bytes;

use crate::packet::PACKET_MIN;

/// Minimum number of packets lost in a row before their size is blamed. Chosen: at 29 % loss, this many in a row are
/// lost less than once in a million times.
const LOST_MIN: u32 = 12;

/// Maximum number of losses of large packets that count until a smaller packet arrives again. Chosen: an outage,
/// however long, makes up only a third of [`LOST_MIN`].
const ROUND_MAX: u32 = 4;

/// The packets larger than [`PACKET_MIN`] that were lost since a packet of their size last arrived.
#[derive(Debug, Default)]
pub(crate) struct BlackHole {
    lost: u32,
    /// How many of these losses count towards [`ROUND_MAX`] since a smaller packet last arrived.
    round: u32,
    /// The sizes of the smallest and the largest of the lost packets, in bytes.
    smallest: u64,
    largest: u64,
}

impl BlackHole {
    /// Records the arrival of a packet of `size` bytes. If any lost packet was no larger, all losses are forgotten.
    pub(crate) fn handle_acked(&mut self, size: u64) {
        if size >= self.smallest {
            *self = Self::default();
        }
        self.round = 0;
    }

    /// Records the loss of a packet of `size` bytes. Small packets do not count, nor do losses beyond [`ROUND_MAX`].
    pub(crate) fn handle_lost(&mut self, size: u64) {
        if size > Bytes::from(PACKET_MIN).get() && self.round < ROUND_MAX {
            self.smallest = if self.lost == 0 { size } else { self.smallest.min(size) };
            self.largest = self.largest.max(size);
            self.lost += 1;
            self.round += 1;
        }
    }

    /// Returns a size in bytes that does not arrive, and starts again. `None` while chance or an outage explains the
    /// losses. If several sizes are lost, returns the largest, because chance may have caused the other losses.
    pub(crate) fn poll(&mut self) -> Option<usize> {
        let is_found = self.lost >= LOST_MIN;
        is_found.then(|| usize::try_from(core::mem::take(self).largest).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    #[test]
    fn a_size_is_blamed_if_twelve_packets_are_lost_and_smaller_ones_arrive_between_them() {
        for (sizes, rounds, blamed) in [
            ([1_176; 6], 2, None),
            ([1_176; 6], 3, Some(1_176)),
            ([900, 1_176, 1_176, 900, 1_176, 1_176], 3, Some(1_176)),
        ] {
            let mut hole = BlackHole::default();
            for _ in 0..rounds {
                hole.handle_acked(400);
                sizes.iter().for_each(|size| hole.handle_lost(*size));
            }
            assert_eq!((hole.poll(), hole.poll()), (blamed, None), "{sizes:?}, {rounds}");
        }
    }

    #[test]
    fn neither_chance_at_29_percent_loss_nor_an_outage_is_blamed_on_the_size() {
        let draws = Seed::new(1).stream("losses");
        for every in [2, 3, 10, 100] {
            let mut hole = BlackHole::default();
            for number in 0..100_000 {
                let is_outage = number % 1_000 < 50;
                let size = if number % every == 0 { 200 } else { 1_176 };
                match is_outage || draws.at(number).chance(0.29) {
                    true => hole.handle_lost(size),
                    false => hole.handle_acked(size),
                }
                assert_eq!(hole.poll(), None, "packet {number}, one of {every} is small");
            }
        }
    }
}
