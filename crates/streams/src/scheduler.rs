//! The order in which streams send: first interactive ones, which carry little, then bulk ones by deficit round robin.

use std::collections::VecDeque;

use crate::id::StreamId;

/// Bytes of a bulk stream's turn. Chosen: a full packet or two.
const QUANTUM: u64 = 2 * 1024;

/// Interactive chunks in a row after which a bulk stream has a turn. Chosen: bulk then has an eighth of the chunks.
const INTERACTIVE_IN_A_ROW_MAX: u32 = 7;

/// A stream that has bytes to send.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: StreamId,
    /// The bytes that are left of the stream's turn.
    left: u64,
}

/// The streams that have bytes to send, in the order of their turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scheduler {
    ready: VecDeque<Entry>,
    interactive_in_a_row: u32,
}

impl Scheduler {
    /// Adds a stream that has bytes to send, unless it has been added.
    pub(crate) fn add(&mut self, id: StreamId) {
        if self.ready.iter().all(|it| it.id != id) {
            self.ready.push_back(Entry { id, left: QUANTUM });
        }
    }

    pub(crate) fn remove(&mut self, id: StreamId) {
        self.ready.retain(|it| it.id != id);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns the stream that sends next: mostly an interactive one, if any. `None` if no stream has bytes to send.
    pub(crate) fn next(&self, is_interactive: impl Fn(StreamId) -> bool) -> Option<StreamId> {
        let mut first = [None; 2];
        for entry in &self.ready {
            let slot = first.get_mut(usize::from(is_interactive(entry.id)))?;
            slot.get_or_insert(entry.id);
        }
        let [bulk, interactive] = first;
        if self.interactive_in_a_row < INTERACTIVE_IN_A_ROW_MAX {
            interactive.or(bulk)
        } else {
            bulk.or(interactive)
        }
    }

    /// Records that a stream has sent this many bytes in its turn.
    pub(crate) fn handle_sent(&mut self, id: StreamId, bytes: u64, is_interactive: bool) {
        self.interactive_in_a_row = if is_interactive { self.interactive_in_a_row + 1 } else { 0 };
        let Some(at) = self.ready.iter().position(|it| it.id == id) else { return };
        let Some(mut entry) = self.ready.remove(at) else { return };
        if entry.left > bytes && !is_interactive {
            entry.left -= bytes;
            self.ready.insert(at, entry);
        } else {
            entry.left = (entry.left + QUANTUM).saturating_sub(bytes).clamp(1, QUANTUM);
            self.ready.push_back(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Runs `turns` turns of streams with chunks of these sizes. Returns how many bytes each stream has sent.
    fn share(sizes: &[u64], interactive: &[u64], turns: u32) -> BTreeMap<u64, u64> {
        let mut scheduler = Scheduler::default();
        let mut sent = BTreeMap::new();
        (1..).zip(sizes).for_each(|(id, _)| scheduler.add(StreamId::new(id)));
        for _ in 0..turns {
            let is_interactive = |id: StreamId| interactive.contains(&id.get());
            let id = scheduler.next(is_interactive).unwrap();
            let size = sizes[usize::try_from(id.get()).unwrap() - 1];
            *sent.entry(id.get()).or_default() += size;
            scheduler.handle_sent(id, size, is_interactive(id));
        }
        sent
    }

    #[test]
    fn bulk_streams_get_the_same_bytes_whatever_their_chunks() {
        let sent = share(&[1_200, 100, 1_000, 700], &[], 100_000);
        let (least, most) = (sent.values().min().unwrap(), sent.values().max().unwrap());
        assert!(*most < least + least / 20, "{sent:?}");
    }

    #[test]
    fn interactive_streams_go_first_and_leave_bulk_an_eighth() {
        let sent = share(&[1_000, 1_000, 1_000], &[2, 3], 8_000);
        assert_eq!(sent, BTreeMap::from([(1, 1_000_000), (2, 3_500_000), (3, 3_500_000)]));
    }

    #[test]
    fn a_stream_is_there_once_and_goes_when_it_is_taken_out() {
        let mut scheduler = Scheduler::default();
        scheduler.add(StreamId::CONTROL);
        scheduler.add(StreamId::CONTROL);
        scheduler.remove(StreamId::CONTROL);
        assert!(scheduler.is_empty() && scheduler.next(|_| true).is_none());
    }
}
