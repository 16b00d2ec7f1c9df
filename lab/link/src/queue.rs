//! The queue before a bottleneck: enforces its limits and drops packets by its discipline.

use rove_units::{Bytes, Instant, Stream};

use crate::codel::CoDel;
use crate::config::{Discipline, LinkConfig};
use crate::fair::Fair;
use crate::fifo::Fifo;
use crate::item::{DropCause, Item, PacketId};
use crate::pie::Pie;
use crate::tally::Tally;

/// A queue with a discipline. A new config may replace limits and discipline while packets wait.
#[derive(Clone, Debug)]
pub(crate) struct Queue<P> {
    /// The packets of all disciplines but `Fair`.
    fifo: Fifo<P>,
    /// The packets of the discipline `Fair`, which has a queue for each flow.
    fair: Fair<P>,
    discipline: Discipline,
    bytes_max: Bytes,
    packets_max: usize,
    codel: CoDel,
    pie: Pie,
    chance: Stream,
    copy_chance: Stream,
}

impl<P> Queue<P> {
    pub(crate) fn new(config: &LinkConfig, chance: Stream) -> Self {
        Self {
            fifo: Fifo::default(),
            fair: Fair::default(),
            discipline: config.queue,
            bytes_max: config.queue_max,
            packets_max: config.queue_packets_max,
            codel: CoDel::default(),
            pie: Pie::default(),
            chance: chance.fork(0),
            copy_chance: chance.fork(1),
        }
    }

    /// Changes limits and discipline from this call on. Waiting packets stay, and so does the state of CoDel and PIE.
    pub(crate) fn reconfigure(&mut self, config: &LinkConfig) {
        self.discipline = config.queue;
        self.bytes_max = config.queue_max;
        self.packets_max = config.queue_packets_max;
        if matches!(self.discipline, Discipline::Fair(_)) {
            while let Some(item) = self.fifo.pop() {
                self.fair.push(item);
            }
        } else if self.fair.len() > 0 {
            self.fair.take().into_iter().for_each(|item| self.fifo.push(item));
        }
    }

    /// Appends a packet. The discipline may drop this packet or others.
    pub(crate) fn push(&mut self, now: Instant, item: Item<P>, tally: &mut Tally) {
        debug_assert!(
            self.fifo.is_empty() || self.fair.len() == 0,
            "packets wait in one of the two"
        );
        if self.discipline == Discipline::DropHead {
            self.fifo.push(item);
            while self.is_over() {
                let Some(oldest) = self.fifo.pop() else { return };
                tally.dropped(now, &oldest, DropCause::QueueFull);
            }
            return;
        }
        if let Discipline::Fair(_) = self.discipline {
            self.fair.push(item);
            while self.is_over() {
                let Some(oldest) = self.fair.pop_of_longest() else { return };
                tally.dropped(now, &oldest, DropCause::QueueFull);
            }
            return;
        }
        if let Discipline::Pie(config) = &self.discipline {
            self.pie.update(config, now, &self.fifo);
            let PacketId { number, is_copy } = item.id;
            let chance = if is_copy { self.copy_chance } else { self.chance };
            if !self.pie.admits(config, &self.fifo, chance.at(number)) {
                return tally.dropped(now, &item, DropCause::Pie);
            }
        }
        let fits =
            self.fifo.size() + item.size <= self.bytes_max && self.fifo.len() < self.packets_max;
        if fits {
            self.fifo.push(item);
        } else {
            tally.dropped(now, &item, DropCause::QueueFull);
        }
    }

    /// Removes and returns the packet to send at `now`. `None` if the queue is empty.
    pub(crate) fn pop(&mut self, now: Instant, tally: &mut Tally) -> Option<Item<P>> {
        match &self.discipline {
            Discipline::DropTail | Discipline::DropHead => self.fifo.pop(),
            Discipline::CoDel(config) => self.codel.pop(config, now, &mut self.fifo, |item| {
                tally.dropped(now, &item, DropCause::CoDel);
            }),
            Discipline::Pie(config) => {
                self.pie.update(config, now, &self.fifo);
                self.fifo.pop()
            }
            Discipline::Fair(config) => self.fair.pop(&config.codel, now, |item| {
                tally.dropped(now, &item, DropCause::CoDel);
            }),
        }
    }

    /// Puts a packet back at the head of the queue.
    pub(crate) fn restore(&mut self, item: Item<P>) {
        if let Discipline::Fair(_) = self.discipline {
            self.fair.restore(item);
        } else {
            self.fifo.restore(item);
        }
    }

    /// Returns whether a packet may go past the queue to an idle bottleneck.
    pub(crate) fn may_be_bypassed(&self) -> bool {
        self.is_passive() && self.fifo.is_empty()
    }

    /// Returns whether the discipline decides only by the queue's size. Then packets may bypass the queue unseen.
    const fn is_passive(&self) -> bool {
        matches!(self.discipline, Discipline::DropTail | Discipline::DropHead)
    }

    pub(crate) fn head(&self) -> Option<&Item<P>> {
        if self.fair.len() > 0 { self.fair.head() } else { self.fifo.head() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.fifo.len() + self.fair.len()
    }

    pub(crate) const fn size(&self) -> Bytes {
        if self.fair.len() > 0 { self.fair.size() } else { self.fifo.size() }
    }

    fn is_over(&self) -> bool {
        self.size() > self.bytes_max || self.len() > self.packets_max
    }
}

#[cfg(test)]
mod tests {
    use rove_units::{Duration, Seed};

    use super::*;
    use crate::item::Fate;

    fn item(number: u64, size: u64) -> Item<()> {
        Item {
            packet: (),
            id: PacketId { number, is_copy: false },
            flow: 0,
            size: Bytes::new(size),
            entered: Instant::ZERO,
            queued: Instant::ZERO,
            propagation: Duration::ZERO,
            fate: Fate::Passes,
        }
    }

    /// Offers packets of these sizes, and returns the numbers of the packets that the queue keeps.
    fn kept(config: &LinkConfig, sizes: &[u64]) -> Vec<u64> {
        let (mut queue, mut tally) =
            (Queue::new(config, Seed::new(1).stream("queue")), Tally::default());
        for (number, size) in (0..).zip(sizes) {
            queue.push(Instant::ZERO, item(number, *size), &mut tally);
        }
        let waiting = queue.len();
        let kept: Vec<u64> = core::iter::from_fn(|| queue.pop(Instant::ZERO, &mut tally))
            .map(|item| item.id.number)
            .collect();
        assert_eq!(kept.len(), waiting);
        assert_eq!(tally.stats.dropped_by(DropCause::QueueFull), (sizes.len() - waiting) as u64);
        kept
    }

    #[test]
    fn each_discipline_keeps_its_limits_in_bytes_and_in_packets() {
        let sizes = [400, 400, 400, 200, 100];
        for (queue, bytes, packets, expected) in [
            (Discipline::DropTail, Bytes::MAX, usize::MAX, vec![0, 1, 2, 3, 4]),
            (Discipline::DropTail, Bytes::new(1000), usize::MAX, vec![0, 1, 3]),
            (Discipline::DropTail, Bytes::new(999), usize::MAX, vec![0, 1, 4]),
            (Discipline::DropTail, Bytes::MAX, 2, vec![0, 1]),
            (Discipline::DropHead, Bytes::new(1000), usize::MAX, vec![2, 3, 4]),
            (Discipline::DropHead, Bytes::new(699), usize::MAX, vec![3, 4]),
            (Discipline::DropHead, Bytes::MAX, 2, vec![3, 4]),
            (Discipline::DropHead, Bytes::new(50), usize::MAX, vec![]),
            (Discipline::CoDel(crate::CoDelConfig::default()), Bytes::MAX, 2, vec![0, 1]),
            (Discipline::Pie(crate::PieConfig::default()), Bytes::MAX, 2, vec![0, 1]),
            (Discipline::Fair(crate::FairConfig::default()), Bytes::new(1000), 9, vec![2, 3, 4]),
            (Discipline::Fair(crate::FairConfig::default()), Bytes::MAX, 2, vec![3, 4]),
        ] {
            let config = LinkConfig {
                queue,
                queue_max: bytes,
                queue_packets_max: packets,
                ..LinkConfig::default()
            };
            assert_eq!(kept(&config, &sizes), expected, "{queue:?} {bytes} {packets}");
        }
    }
    #[test]
    fn packets_that_wait_are_kept_in_their_order_when_flows_get_queues_of_their_own_or_lose_them() {
        let fair = LinkConfig {
            queue: Discipline::Fair(crate::FairConfig::default()),
            ..LinkConfig::default()
        };
        let plain = LinkConfig::default();
        let mut tally = Tally::default();
        let mut queue = Queue::new(&plain, Seed::new(1).stream("queue"));
        let item = |number, flow| Item { flow, ..item(number, 1_000) };
        for (number, flow) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
            queue.push(Instant::ZERO, item(number, flow), &mut tally);
        }
        queue.reconfigure(&fair);
        queue.push(Instant::ZERO, item(4, 2), &mut tally);
        assert_eq!((queue.len(), queue.size()), (5, Bytes::new(5_000)));
        let mut pop =
            |queue: &mut Queue<()>| queue.pop(Instant::ZERO, &mut tally).map(|item| item.id.number);
        assert_eq!([(); 3].map(|()| pop(&mut queue)), [0, 1, 3].map(Some));
        queue.reconfigure(&plain);
        assert_eq!([(); 3].map(|()| pop(&mut queue)), [Some(2), Some(4), None]);
        assert!(queue.is_empty() && queue.head().is_none());
    }
}
