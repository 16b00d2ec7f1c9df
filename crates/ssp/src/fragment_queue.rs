//! The fragments of the newest instruction, and how many of them have been sent.

use crate::connection::size_of;
use crate::fragment::Fragment;
use crate::num::StateNum;
use crate::path_size::Cut;

/// Each repetition of the fragments starts later than the one before, by about 5/8 of their number
/// ([`STEP_DENOMINATOR`]). Chosen: a share near the golden section, so that the starts of a few repetitions are spread
/// over the whole instruction.
const STEP_NUMERATOR: usize = 5;
const STEP_DENOMINATOR: usize = 8;

/// The fragments of the newest instruction, and facts about their contents. The default is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct FragmentQueue {
    pub(crate) fragments: Vec<Fragment>,
    /// How many of the fragments were sent.
    pub(crate) sent: usize,
    /// The index of the fragment that is sent first.
    pub(crate) first: usize,
    /// The number of the peer's state that the fragments acknowledge.
    pub(crate) ack_num: StateNum,
    /// The number of the state whose diff the fragments carry. `None` if the diff is empty.
    pub(crate) contents_num: Option<StateNum>,
    /// Whether the instruction only answers a heartbeat.
    pub(crate) is_answer: bool,
    /// Whether the instruction is a probe of the path's datagram size.
    pub(crate) is_try: bool,
}

impl FragmentQueue {
    /// Replaces the fragments by those of a new instruction. No fragment counts as sent.
    pub(crate) fn cut(&mut self, fragments: Vec<Fragment>) {
        (self.fragments, self.sent, self.first) = (fragments, 0, 0);
    }

    /// Returns the encoded form of the next fragment to send. `None` once all are sent.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        let place = (self.sent < self.fragments.len()).then_some(self.first + self.sent)?;
        Some(self.fragments[place % self.fragments.len()].encode())
    }

    /// Records that the next fragment was sent. Returns whether all are now sent.
    pub(crate) fn handle_sent(&mut self) -> bool {
        self.sent += 1;
        self.sent == self.fragments.len()
    }

    /// Stops sending fragments until [`FragmentQueue::again`] starts over.
    pub(crate) fn stop(&mut self) {
        self.sent = self.fragments.len();
    }

    /// Starts to send all fragments once more, beginning at another fragment each time. A nearly full queue on the path
    /// accepts the start of a burst and drops the rest. With a fixed start, the same fragments would be lost each time.
    pub(crate) fn again(&mut self) {
        let count = self.fragments.len().max(1);
        let share = (count * STEP_NUMERATOR / STEP_DENOMINATOR).max(1);
        let step = (share..).find(|step| gcd(*step, count) == 1).expect("a prime comes");
        (self.sent, self.first) = (0, (self.first + step) % count);
    }

    pub(crate) fn clear(&mut self) {
        self.cut(Vec::new());
    }

    /// Returns the number of the state whose diff the fragments carry, and their sizes. `None` without a diff.
    pub(crate) fn contents(&self) -> Option<(StateNum, Cut)> {
        let sizes = || self.fragments.iter().map(|fragment| size_of(fragment.contents.len()));
        let largest = sizes().max()?;
        let cut = Cut { largest, datagrams: self.fragments.len(), bytes: sizes().sum() };
        Some((self.contents_num?, cut))
    }
}

/// Returns the greatest common divisor. If a step and a count have only the divisor 1, the steps visit every index.
fn gcd(one: usize, other: usize) -> usize {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fragment::split;

    fn queue(count: usize) -> FragmentQueue {
        let mut queue = FragmentQueue::default();
        queue.cut(split(1, &vec![7; count * 10], 10));
        queue
    }

    /// Returns the numbers of the fragments in the order in which they are handed out.
    fn hand_out(queue: &mut FragmentQueue) -> Vec<u16> {
        let mut numbers = Vec::new();
        while let Some(bytes) = queue.next() {
            numbers.push(Fragment::decode(&bytes).unwrap().number);
            assert_eq!(queue.handle_sent(), queue.next().is_none(), "the last is known");
        }
        numbers
    }

    #[test]
    fn each_try_hands_out_all_of_them_and_begins_elsewhere() {
        let mut queue = queue(9);
        assert_eq!(hand_out(&mut queue), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        queue.again();
        assert_eq!(hand_out(&mut queue), [5, 6, 7, 8, 0, 1, 2, 3, 4]);
        queue.again();
        queue.stop();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn the_beginnings_of_some_tries_are_all_of_an_instruction() {
        for count in 1..200 {
            let mut queue = queue(count);
            let room = count.div_ceil(3);
            let mut arrived = std::collections::BTreeSet::new();
            for _ in 0..16 {
                arrived.extend(hand_out(&mut queue).into_iter().take(room));
                queue.again();
            }
            assert_eq!(arrived.len(), count, "a third of {count} at a time");
        }
    }
}
