//! Queues that forget their oldest items.

use std::collections::VecDeque;

/// Appends an item to a queue. If the queue already has `max` items, drops the oldest item.
pub fn push_newest<T>(queue: &mut VecDeque<T>, item: T, max: usize) {
    if queue.len() >= max {
        queue.pop_front();
    }
    queue.push_back(item);
    debug_assert!(queue.len() <= max, "a queue has room for an item");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_forgets_its_oldest_item() {
        let mut queue = VecDeque::new();
        (0..9).for_each(|number| push_newest(&mut queue, number, 8));
        assert_eq!(queue, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
