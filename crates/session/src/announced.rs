//! The window sizes that the client sent and that the server's screen may still have.

use std::collections::VecDeque;

use rove_terminal::Size;

use crate::host_screen::Allowed;

/// Maximum number of window sizes that the client keeps for the server's screen. Beyond it, one size with the larger
/// width and height of the two oldest replaces both. Chosen: a dragged window takes some tens of sizes in a round trip.
const SIZES_MAX: usize = 64;

/// The window sizes that the client has sent and that the server's screen may still have, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    sizes: VecDeque<Told>,
}

#[derive(Clone, Copy, Debug)]
struct Told {
    size: Size,
    /// The number of the user's events up to this one. A server that has acknowledged that many events knows the size.
    events: u64,
}

impl Announced {
    /// Records that the client sends a window size as event number `events`, or 0 for the size at a resumption.
    pub(crate) fn tell(&mut self, size: Size, events: u64) {
        self.sizes.push_back(Told { size, events });
        if self.sizes.len() > SIZES_MAX {
            let oldest = self.sizes.pop_front().expect("there are several").size;
            let second = &mut self.sizes[0];
            let columns = second.size.columns().max(oldest.columns());
            second.size = Size::clamped(columns, second.size.rows().max(oldest.rows()));
        }
        debug_assert!(self.sizes.len() <= SIZES_MAX);
        debug_assert!(self.sizes.iter().is_sorted_by_key(|told| told.events));
    }

    /// Drops every size older than the newest acknowledged one, after the server's screen (`shows`) has that size or a
    /// later one. Until then, states of an earlier size may arrive. `known` is the number of acknowledged events.
    /// Returns whether any size was dropped.
    pub(crate) fn acknowledge(&mut self, known: u64, shows: Size) -> bool {
        let acknowledged = self.sizes.partition_point(|told| told.events <= known);
        let outdated = acknowledged.saturating_sub(1);
        let has_followed = self.sizes.range(outdated..).any(|told| told.size == shows);
        if !has_followed || outdated == 0 {
            return false;
        }
        self.sizes.drain(..outdated);
        debug_assert!(!self.sizes.is_empty(), "the newest size always holds");
        true
    }

    /// Returns the sizes that the server's screen may have: the window sizes that are not outdated, and smaller ones.
    pub(crate) fn allowed(&self) -> Allowed {
        Allowed::new(self.sizes.iter().map(|told| told.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(columns: u16, rows: u16) -> Size {
        Size::clamped(columns, rows)
    }

    #[test]
    fn a_size_counts_until_a_later_one_was_acknowledged_and_shown() {
        let mut announced = Announced::default();
        announced.tell(size(200, 60), 1);
        announced.tell(size(100, 60), 5);
        let allows = |announced: &Announced, columns| announced.allowed().holds(size(columns, 60));
        for (known, shows, is_forgotten) in [
            (0, size(80, 24), false),
            (4, size(200, 60), false),
            // The new size has arrived, but the server shows an older one.
            (5, size(200, 60), false),
            // The server shows the new size, but the acknowledgment is for an older event.
            (4, size(100, 60), false),
            (5, size(100, 60), true),
        ] {
            assert_eq!(announced.acknowledge(known, shows), is_forgotten);
            assert_eq!(allows(&announced, 200), !is_forgotten);
            assert!(allows(&announced, 100));
        }
        // The last size is never forgotten.
        assert!(!announced.acknowledge(u64::MAX, size(100, 60)));
        assert!(allows(&announced, 100) && !allows(&announced, 101));
    }

    #[test]
    fn so_many_sizes_are_remembered_one_by_one_and_more_together() {
        let mut announced = Announced::default();
        let count = u16::try_from(SIZES_MAX).unwrap();
        for step in 0..count {
            announced.tell(size(300 - step, 30 + step), u64::from(step));
        }
        assert!(announced.allowed().holds(size(300, 30)));
        assert!(!announced.allowed().holds(size(300, 31)));
        announced.tell(size(90, 90), 1000);
        assert_eq!(announced.sizes.len(), SIZES_MAX);
        assert!(announced.allowed().holds(size(300, 31)));
        assert!(!announced.allowed().holds(size(300, 32)));
    }
}
