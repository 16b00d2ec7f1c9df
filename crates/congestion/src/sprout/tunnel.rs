//! The queues of a Sprout tunnel: one for each flow, from which packets are sent in turn.
//!
//! At most as many bytes wait as the link carries within the forecast's time, or ten full packets if that is more.
//! Beyond this limit, the longest queue loses its oldest packets.

use std::collections::{BTreeMap, VecDeque};

use rove_units::Bytes;

use crate::sprout::endpoint::Waiting;

/// Most flows of a tunnel. Chosen: more than a person has open at once.
pub const FLOWS_MAX: usize = 256;

/// Bytes of a tunnel that may wait whatever the forecast is, so that a stalled link does not lose the newest packets.
/// Chosen: ten full packets, as in a first window.
const BACKLOG_LEAST: Bytes = Bytes::new(15_000);

/// The packets that wait in a tunnel, in a queue for each flow.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    flows: BTreeMap<u16, VecDeque<Vec<u8>>>,
    /// The flow whose packet was sent last.
    last: u16,
    backlog: Bytes,
    dropped: u64,
}

impl Queues {
    /// Appends a packet to its flow's queue, then drops packets beyond the backlog that `deliverable` allows. A packet
    /// of a flow beyond [`FLOWS_MAX`] is dropped.
    pub fn push(&mut self, flow: u16, packet: Vec<u8>, deliverable: Bytes) {
        if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&flow) {
            self.dropped += 1;
            return;
        }
        self.backlog += Bytes::from(packet.len());
        self.flows.entry(flow).or_default().push_back(packet);
        self.limit(deliverable);
    }

    /// Drops the oldest packet of the longest queue until at most `deliverable` bytes, or ten full packets, wait.
    pub fn limit(&mut self, deliverable: Bytes) {
        while self.backlog > deliverable.max(BACKLOG_LEAST) {
            let bytes = |queue: &VecDeque<Vec<u8>>| queue.iter().map(Vec::len).sum::<usize>();
            let longest = self.flows.iter().max_by_key(|(_, queue)| bytes(queue));
            let Some(flow) = longest.map(|(flow, _)| *flow) else { return };
            self.take(flow);
            self.dropped += 1;
        }
    }

    /// Returns the sizes of the next packets for [`crate::sprout::Endpoint::poll_send`], each plus `overhead`.
    pub fn waiting(&self, overhead: Bytes) -> Waiting {
        let Some(first) = self.next_flow(self.last) else { return Waiting::Nothing };
        let size = |flow: u16, place: usize| {
            let packet = self.flows.get(&flow).and_then(|queue| queue.get(place));
            packet.map(|packet| Bytes::from(packet.len()) + overhead)
        };
        let second = self.next_flow(first).unwrap_or(first);
        let place = usize::from(second == first);
        size(first, 0).map_or(Waiting::Nothing, |size_first| {
            Waiting::Packets(size_first, size(second, place))
        })
    }

    /// Removes and returns the next packet and its flow. `None` if no packet waits.
    pub fn pop(&mut self) -> Option<(u16, Vec<u8>)> {
        let flow = self.next_flow(self.last)?;
        self.last = flow;
        Some((flow, self.take(flow)?))
    }

    /// Returns the number of bytes that wait.
    pub const fn backlog(&self) -> Bytes {
        self.backlog
    }

    /// Returns the number of packets dropped so far.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the next flow after `after` with a packet. The lowest flow follows the highest. `None` without packets.
    fn next_flow(&self, after: u16) -> Option<u16> {
        let later =
            self.flows.range((core::ops::Bound::Excluded(after), core::ops::Bound::Unbounded));
        later.chain(self.flows.iter()).map(|(flow, _)| *flow).next()
    }

    fn take(&mut self, flow: u16) -> Option<Vec<u8>> {
        let queue = self.flows.get_mut(&flow)?;
        let packet = queue.pop_front()?;
        if queue.is_empty() {
            self.flows.remove(&flow);
        }
        self.backlog -= Bytes::from(packet.len());
        debug_assert!(
            !self.flows.is_empty() || self.backlog == Bytes::ZERO,
            "all bytes are counted"
        );
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Bytes = Bytes::MAX;

    fn packet(flow: u16, number: u8) -> Vec<u8> {
        let [_, low] = flow.to_be_bytes();
        [vec![low, number], vec![0; 998]].concat()
    }

    #[test]
    fn flows_are_served_in_turn() {
        let mut queues = Queues::default();
        for (flow, number) in [(1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 1)] {
            queues.push(flow, packet(flow, number), PLENTY);
        }
        let order: Vec<u16> = core::iter::from_fn(|| queues.pop()).map(|(flow, _)| flow).collect();
        assert_eq!(order, [1, 2, 3, 1, 3, 1]);
        assert_eq!(
            (queues.backlog(), queues.waiting(Bytes::ZERO)),
            (Bytes::ZERO, Waiting::Nothing)
        );
    }

    #[test]
    fn the_oldest_packets_of_the_longest_queue_are_dropped_first() {
        let mut queues = Queues::default();
        queues.push(7, packet(7, 0), PLENTY);
        for number in 0..40 {
            queues.push(1, packet(1, number), Bytes::new(20_000));
        }
        assert_eq!((queues.backlog(), queues.dropped()), (Bytes::new(20_000), 21));
        let left: Vec<(u16, u8)> =
            core::iter::from_fn(|| queues.pop()).map(|(flow, packet)| (flow, packet[1])).collect();
        assert!(left.contains(&(7, 0)), "the short queue lost nothing");
        assert_eq!(left.iter().filter(|(flow, _)| *flow == 1).map(|it| it.1).min(), Some(21));
        // Even with a stalled link, the least backlog waits.
        (0..40).for_each(|number| queues.push(1, packet(1, number), Bytes::ZERO));
        assert_eq!(queues.backlog(), BACKLOG_LEAST);
    }

    #[test]
    fn there_are_no_more_flows_than_the_limit() {
        let mut queues = Queues::default();
        for flow in 0..=u16::try_from(FLOWS_MAX).expect("256") {
            queues.push(flow, vec![0], PLENTY);
        }
        assert_eq!((queues.flows.len(), queues.dropped()), (FLOWS_MAX, 1));
        assert_eq!(
            queues.waiting(Bytes::new(2)),
            Waiting::Packets(Bytes::new(3), Some(Bytes::new(3)))
        );
    }
}
