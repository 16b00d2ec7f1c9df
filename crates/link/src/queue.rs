//! The drop-tail queue before a bottleneck.

use std::collections::VecDeque;

use rove_units::Bytes;

/// A first-in first-out queue that refuses what does not fit.
#[derive(Clone, Debug)]
pub(crate) struct DropTail<T> {
    items: VecDeque<(T, Bytes)>,
    size: Bytes,
}

impl<T> Default for DropTail<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), size: Bytes::ZERO }
    }
}

impl<T> DropTail<T> {
    /// Appends an item of `size` bytes unless the queue would then hold more than `max`; returns
    /// whether it did.
    pub(crate) fn push(&mut self, item: T, size: Bytes, max: Bytes) -> bool {
        let fits = self.size + size <= max;
        if fits {
            self.items.push_back((item, size));
            self.size += size;
        }
        fits
    }

    /// Removes the oldest item.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (item, size) = self.items.pop_front()?;
        self.size -= size;
        Some(item)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the bytes waiting.
    pub(crate) const fn size(&self) -> Bytes {
        self.size
    }
}
