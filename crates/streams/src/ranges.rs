//! A set of numbers, kept as ranges: of packets that arrived, of bytes that arrived, or of bytes to be sent again.

use core::ops::Range;

/// A set of numbers as ranges in ascending order. Between any two ranges is a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Adds a range, which may overlap with others.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|it| it.end < range.start);
        let to = self.0.partition_point(|it| it.start <= range.end);
        let touched = self.0.get(from..to).unwrap_or_default();
        let start = touched.first().map_or(range.start, |it| it.start.min(range.start));
        let end = touched.last().map_or(range.end, |it| it.end.max(range.end));
        self.0.splice(from..to, core::iter::once(start..end));
        debug_assert!(self.0.is_sorted_by(|a, b| a.end < b.start), "a gap between each two");
    }

    pub(crate) fn remove(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|it| it.end <= range.start);
        let to = self.0.partition_point(|it| it.start < range.end);
        let touched = self.0.get(from..to).unwrap_or_default();
        let (Some(first), Some(last)) = (touched.first(), touched.last()) else { return };
        let rest = [first.start..range.start, range.end..last.end];
        self.0.splice(from..to, rest.into_iter().filter(|it| !it.is_empty()));
    }

    /// Returns whether the set has all numbers of a range.
    pub(crate) fn covers(&self, range: Range<u64>) -> bool {
        self.missing(range).next().is_none()
    }

    /// Returns the parts of a range that the set does not have.
    pub(crate) fn missing(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let from = self.0.partition_point(|it| it.end <= range.start);
        let here = self.0.get(from..).unwrap_or_default();
        let here = here.iter().take_while(move |it| it.start < range.end);
        let starts = core::iter::once(range.start).chain(here.clone().map(|it| it.end));
        let ends = here.map(|it| it.start).chain([range.end]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|it| !it.is_empty())
    }

    pub(crate) fn first(&self) -> Option<Range<u64>> {
        self.0.first().cloned()
    }

    pub(crate) fn last(&self) -> Option<Range<u64>> {
        self.0.last().cloned()
    }

    /// Drops the lowest ranges until at most `max` are left.
    pub(crate) fn keep_highest(&mut self, max: usize) {
        self.0.drain(..self.0.len().saturating_sub(max));
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_numbers(steps in prop::collection::vec((any::<bool>(), 0..60_u64, 0..12_u64), 0..60)) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (inserts, start, len) in steps {
                let range = start..start + len;
                if inserts {
                    ranges.insert(range.clone());
                    model.extend(range.clone());
                } else {
                    ranges.remove(range.clone());
                    model.retain(|it| !range.contains(it));
                }
                let numbers: Vec<u64> = ranges.iter().flatten().collect();
                prop_assert_eq!(&numbers, &model.iter().copied().collect::<Vec<_>>());
                prop_assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(a, b)| a.end < b.start));
                let missing: Vec<u64> = ranges.missing(10..50).flatten().collect();
                prop_assert_eq!(&missing, &(10..50).filter(|it| !model.contains(it)).collect::<Vec<_>>());
                prop_assert_eq!(ranges.covers(10..50), missing.is_empty());
            }
            let highest = ranges.last();
            ranges.keep_highest(1);
            prop_assert!(ranges.len() <= 1 && ranges.first() == highest && ranges.is_empty() == model.is_empty());
        }
    }
}
