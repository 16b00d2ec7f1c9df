//! Controlled Delay (CoDel): drops packets at the queue's head if waits exceed a target for an interval (RFC 8289).

use rove_units::{Bytes, Duration, Instant};

use crate::fifo::Fifo;
use crate::item::Item;

/// Largest queue that CoDel leaves alone: a full packet. Source: RFC 8289, section 5 (`maxpacket`: the MTU).
const FULL_PACKET: Bytes = Bytes::new(1500);

/// Number of intervals for which CoDel remembers its rate after the end of dropping. If it drops again in this time, it
/// continues at this rate. Source: RFC 8289, section 5 (the dequeue routine).
const MEMORY_INTERVALS: u32 = 16;

/// Parameters of the CoDel queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// Wait in the queue below which no packet is dropped (`TARGET`).
    pub target: Duration,
    /// How long waits must exceed `target` before the first drop: about the longest usual round-trip time.
    pub interval: Duration,
}

impl Default for CoDelConfig {
    /// Returns the values of RFC 8289, section 4: a target of 5 ms and an interval of 100 ms.
    fn default() -> Self {
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100) }
    }
}

/// The state of CoDel. The names of the fields are those of RFC 8289, section 5.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoDel {
    /// When the first drop becomes due. `None` while packets wait for less than the target, or the queue is short.
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    is_dropping: bool,
}

impl CoDel {
    /// Removes and returns the packet to send at `now`. Packets that CoDel drops before it are passed to `drop`.
    pub(crate) fn pop<P>(
        &mut self,
        config: &CoDelConfig,
        now: Instant,
        fifo: &mut Fifo<P>,
        mut drop: impl FnMut(Item<P>),
    ) -> Option<Item<P>> {
        let (mut next, mut may_drop) = self.take(config, now, fifo);
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.drop_next {
                next.into_iter().for_each(&mut drop);
                (next, may_drop) = self.take(config, now, fifo);
                self.count = self.count.saturating_add(1);
                self.is_dropping = may_drop;
                if may_drop {
                    self.drop_next = control_law(config, self.drop_next, self.count);
                }
            }
        } else if may_drop {
            next.into_iter().for_each(drop);
            (next, _) = self.take(config, now, fifo);
            self.is_dropping = true;
            let since = self.count.saturating_sub(self.last_count);
            let is_recent =
                now.saturating_since(self.drop_next) < config.interval * MEMORY_INTERVALS;
            self.count = if since > 1 && is_recent { since } else { 1 };
            self.drop_next = control_law(config, now, self.count);
            self.last_count = self.count;
        }
        debug_assert!(next.is_some() || fifo.is_empty(), "the last packet is never dropped");
        next
    }

    /// Removes and returns the oldest packet. Also returns whether packets have waited so long that CoDel may drop one.
    fn take<P>(
        &mut self,
        config: &CoDelConfig,
        now: Instant,
        fifo: &mut Fifo<P>,
    ) -> (Option<Item<P>>, bool) {
        let Some(item) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        // A queue of at most a full packet need not be shortened. CoDel never drops the only packet.
        let is_short = fifo.is_empty() || fifo.size() <= FULL_PACKET;
        if now.saturating_since(item.queued) < config.target || is_short {
            self.first_above = None;
            return (Some(item), false);
        }
        let due = *self.first_above.get_or_insert(now + config.interval);
        (Some(item), now >= due)
    }
}

/// Returns when the next drop is due after the drop at `from`. Each drop in a row (`count`) shortens the time until the
/// next. Source: RFC 8289, section 5 (`control_law`).
fn control_law(config: &CoDelConfig, from: Instant, count: u32) -> Instant {
    let wait = config.interval.div_f64(f64::from(count.max(1)).sqrt());
    from + wait.max(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Fate, PacketId};

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn item(number: u64, queued: Instant) -> Item<()> {
        Item {
            packet: (),
            id: PacketId { number, is_copy: false },
            flow: 0,
            size: Bytes::new(1500),
            entered: queued,
            queued,
            propagation: Duration::ZERO,
            fate: Fate::Passes,
        }
    }

    /// For `span` milliseconds, queues a packet each millisecond and sends one each `service` milliseconds. Returns the
    /// sent and the dropped packets, each with its time.
    fn run(config: CoDelConfig, span: u64, service: u64) -> [Vec<(u64, u64)>; 2] {
        let (mut codel, mut fifo) = (CoDel::default(), Fifo::default());
        let [mut sent, mut dropped] = [Vec::new(), Vec::new()];
        for now in 0..span {
            fifo.push(item(now, at(now)));
            if now % service == 0 {
                let drop = |item: Item<()>| dropped.push((now, item.id.number));
                let next = codel.pop(&config, at(now), &mut fifo, drop);
                sent.extend(next.map(|item| (now, item.id.number)));
            }
        }
        [sent, dropped]
    }

    #[test]
    fn the_first_drop_comes_an_interval_after_the_target_is_exceeded_and_others_by_the_control_law()
    {
        let [sent, dropped] = run(CoDelConfig::default(), 600, 2);
        // At 110 ms packet 55 is at the head. It is dropped, and packet 56 is sent.
        assert_eq!((dropped[0], sent[55]), ((110, 55), (110, 56)));
        // The packet sent at 10 ms is the first to have waited 5 ms.
        let times: Vec<u64> = dropped.iter().map(|(now, _)| *now).collect();
        // The drops are at 110, and at the next even number after 110 + 100/1, + 100/sqrt(2), + 100/sqrt(3) ...
        assert_eq!(times, [110, 210, 282, 340, 390, 434, 474, 512, 548, 582]);
    }

    #[test]
    fn a_queue_within_its_target_or_of_one_packet_loses_nothing() {
        let [sent, dropped] = run(CoDelConfig::default(), 1_000, 1);
        assert_eq!((sent.len(), dropped.len()), (1_000, 0));
        let (mut codel, mut fifo) = (CoDel::default(), Fifo::default());
        for now in (0..5_000).step_by(500) {
            fifo.push(item(now, at(now)));
            let next = codel.pop(&CoDelConfig::default(), at(now + 499), &mut fifo, |_| {
                panic!("the only packet is kept")
            });
            assert!(next.is_some());
        }
    }

    #[test]
    fn dropping_that_begins_again_soon_takes_up_its_rate() {
        let config = CoDelConfig::default();
        let mut codel = CoDel {
            first_above: Some(at(0)),
            drop_next: at(1_000),
            count: 9,
            last_count: 2,
            is_dropping: false,
        };
        let mut fifo = Fifo::default();
        (0..10).for_each(|number| fifo.push(item(number, at(0))));
        let mut dropped = 0;
        codel.pop(&config, at(1_100), &mut fifo, |_| dropped += 1);
        assert_eq!((dropped, codel.count, codel.is_dropping), (1, 7, true));
        // Long after the last drop, the count begins at one again.
        let mut late = CoDel { is_dropping: false, first_above: Some(at(0)), count: 20, ..codel };
        late.pop(&config, at(9_000), &mut fifo, |_| dropped += 1);
        assert_eq!(late.count, 1);
    }
}
