//! A queue of packets, first in first out, that counts its bytes.

use std::collections::VecDeque;

use rove_units::Bytes;

use crate::item::Item;

/// A first-in-first-out queue without a limit of its own.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    items: VecDeque<Item<P>>,
    size: Bytes,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { items: VecDeque::new(), size: Bytes::ZERO }
    }
}

impl<P> Fifo<P> {
    pub(crate) fn push(&mut self, item: Item<P>) {
        self.size += item.size;
        self.items.push_back(item);
    }

    /// Puts a packet back at the head of the queue.
    pub(crate) fn restore(&mut self, item: Item<P>) {
        self.size += item.size;
        self.items.push_front(item);
    }

    /// Removes and returns the oldest packet. `None` if the queue is empty.
    pub(crate) fn pop(&mut self) -> Option<Item<P>> {
        let item = self.items.pop_front()?;
        self.size -= item.size;
        debug_assert!(
            !self.items.is_empty() || self.size == Bytes::ZERO,
            "no packets have no bytes"
        );
        Some(item)
    }

    pub(crate) fn head(&self) -> Option<&Item<P>> {
        self.items.front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) const fn size(&self) -> Bytes {
        self.size
    }
}
