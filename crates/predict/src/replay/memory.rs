//! A map of bounded size.

/// A map with at most `MAX` entries. If it is full, a new entry replaces the least recently used.
#[derive(Clone, Debug)]
pub(super) struct Memory<K, V, const MAX: usize> {
    /// The entries, the most recently used one last.
    known: Vec<(K, V)>,
}

impl<K: PartialEq, V, const MAX: usize> Memory<K, V, MAX> {
    /// Returns the value of `key`, if any. This does not count as use of the entry.
    pub(super) fn find(&self, key: &K) -> Option<&V> {
        self.known.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the value of `key` for changes, if any. This does not count as use of the entry.
    pub(super) fn find_mut(&mut self, key: &K) -> Option<&mut V> {
        self.known.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the value of `key`, or inserts the result of `new`. This counts as use of the entry. If the map is full,
    /// the new entry replaces the least recently used.
    pub(super) fn entry_or(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let index = self.known.iter().position(|(known, _)| *known == key);
        let entry = index.map(|index| self.known.remove(index));
        if self.known.len() >= MAX {
            self.known.remove(0);
        }
        debug_assert!(self.known.iter().all(|(known, _)| *known != key), "each key is kept once");
        self.known.push(entry.unwrap_or_else(|| (key, new())));
        debug_assert!(self.known.len() <= MAX, "a memory keeps no more than its most");
        &mut self.known.last_mut().expect("an entry was added").1
    }

    /// Returns the value of `key`, or inserts the default. This counts as use of the entry.
    pub(super) fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.entry_or(key, V::default)
    }
}

impl<K, V, const MAX: usize> Default for Memory<K, V, MAX> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_used_least_recently_is_forgotten_for_a_new_one() {
        let mut memory = Memory::<u8, u8, 3>::default();
        for key in [1, 2, 3] {
            *memory.entry(key) = key;
        }
        assert_eq!(*memory.entry(1), 1);
        assert_eq!(memory.find(&2), Some(&2), "a look is no use");
        *memory.entry_or(4, || 4) += 1;
        assert_eq!(memory.known, [(3, 3), (1, 1), (4, 5)]);
        assert_eq!(memory.find_mut(&4), Some(&mut 5));
    }
}
