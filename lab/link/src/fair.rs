//! Fair queueing: each flow has a queue with its own CoDel, and the flows take turns (FQ-CoDel, RFC 8290).

use std::collections::VecDeque;

use rove_units::{Bytes, Instant};

use crate::codel::{CoDel, CoDelConfig};
use crate::fifo::Fifo;
use crate::item::Item;

/// Number of queues over which flows are spread by their hash. Source: RFC 8290, section 5.2.
const BINS: usize = 1_024;

/// Bytes that a flow may send per round. Source: RFC 8290, section 5.2: a full Ethernet packet.
const QUANTUM: i64 = 1_514;

/// Parameters of fair queueing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FairConfig {
    /// The CoDel parameters of each flow's queue.
    pub codel: CoDelConfig,
    /// The bytes of a packet that identify its flow.
    pub key: FlowKey,
}

/// The bytes of a packet that identify its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowKey {
    /// Addresses, protocol and, for unfragmented TCP and UDP, ports. All truncated or non-IP packets form one flow.
    #[default]
    Ip,
    /// Two bytes of the packet, from this offset on. Packets too short for this form one flow.
    At(usize),
}

impl FlowKey {
    /// Returns the number of the flow that a packet belongs to.
    pub(crate) fn flow(self, packet: &[u8]) -> u16 {
        match self {
            Self::Ip => ip_flow(packet).unwrap_or(0),
            Self::At(place) => {
                let bytes = packet.get(place..).and_then(|rest| rest.first_chunk());
                bytes.map_or(0, |bytes| u16::from_be_bytes(*bytes))
            }
        }
    }
}

/// Returns the number of the flow of an IP packet. `None` if the packet is not IP or is cut short.
fn ip_flow(packet: &[u8]) -> Option<u16> {
    let (addresses, protocol, payload) = match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet[0] & 15) * 4;
            // Only the first fragment contains the ports, so the flow of a fragment does not depend on them.
            let is_later = packet.get(6..8)? != [0, 0] && packet.get(6..8)? != [0x40, 0];
            let payload = if is_later { None } else { packet.get(header..) };
            (packet.get(12..20)?, *packet.get(9)?, payload)
        }
        6 => (packet.get(8..40)?, *packet.get(6)?, packet.get(40..)),
        _ => return None,
    };
    // The headers of TCP and UDP begin with the ports.
    let has_ports = matches!(protocol, 6 | 17);
    let ports = payload.filter(|_| has_ports).and_then(|payload| payload.get(..4));
    let bytes = addresses.iter().chain([&protocol]).chain(ports.unwrap_or_default());
    // Hashes with FNV-1a, then folds the 32 bits to 16.
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let [high, more, low, least] = hash.to_be_bytes();
    Some(u16::from_be_bytes([high ^ low, more ^ least]))
}

/// The queue of all flows whose hash falls into the same bin.
#[derive(Clone, Debug)]
struct Bin<P> {
    fifo: Fifo<P>,
    codel: CoDel,
    /// Bytes that the bin may still send in this round.
    credit: i64,
    /// Whether the bin is in the list `new` or in the list `old`.
    is_listed: bool,
}

/// The queues of all flows. Flows that have just begun to send are served first.
#[derive(Clone, Debug)]
pub(crate) struct Fair<P> {
    bins: Vec<Bin<P>>,
    /// Bins whose flows have just begun to send. A bin without credit moves to `old`.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    len: usize,
    size: Bytes,
}

impl<P> Default for Fair<P> {
    fn default() -> Self {
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Self { bins: Vec::new(), new, old, len: 0, size: Bytes::ZERO }
    }
}

impl<P> Fair<P> {
    /// Appends a packet to the queue of its flow.
    pub(crate) fn push(&mut self, item: Item<P>) {
        let bin = self.bin(item.flow);
        self.count(&item);
        self.bins[bin].fifo.push(item);
        if !self.bins[bin].is_listed {
            (self.bins[bin].is_listed, self.bins[bin].credit) = (true, QUANTUM);
            self.new.push_back(bin);
        }
    }

    /// Puts a packet back at the head of its flow's queue, and its bin at the head of the new bins.
    pub(crate) fn restore(&mut self, item: Item<P>) {
        let bin = self.bin(item.flow);
        self.count(&item);
        self.bins[bin].credit += credit(&item);
        self.bins[bin].fifo.restore(item);
        self.new.retain(|it| *it != bin);
        self.old.retain(|it| *it != bin);
        self.bins[bin].is_listed = true;
        self.new.push_front(bin);
    }

    /// Removes and returns the packet to send at `now`. Packets that CoDel drops are passed to `drop`.
    /// Source: RFC 8290, section 4.2.
    pub(crate) fn pop(
        &mut self,
        config: &CoDelConfig,
        now: Instant,
        mut drop: impl FnMut(Item<P>),
    ) -> Option<Item<P>> {
        loop {
            let is_new = !self.new.is_empty();
            debug_assert!(
                is_new || !self.old.is_empty() || self.len == 0,
                "a flow that waits is listed"
            );
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = list.pop_front()?;
            let bin = &mut self.bins[place];
            if bin.credit <= 0 {
                bin.credit += QUANTUM;
                self.old.push_back(place);
                continue;
            }
            let (len, size) = (bin.fifo.len(), bin.fifo.size());
            let next = bin.codel.pop(config, now, &mut bin.fifo, &mut drop);
            self.len -= len - bin.fifo.len();
            self.size -= size - bin.fifo.size();
            let Some(item) = next else {
                // An emptied new bin joins the old bins first. Otherwise it could be new again before they send.
                if is_new {
                    self.old.push_back(place);
                } else {
                    bin.is_listed = false;
                }
                continue;
            };
            bin.credit -= credit(&item);
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.push_front(place);
            return Some(item);
        }
    }

    /// Removes all packets, and returns them in the order of arrival.
    pub(crate) fn take(&mut self) -> Vec<Item<P>> {
        let Self { bins, len, .. } = core::mem::take(self);
        let items =
            bins.into_iter().flat_map(|mut bin| core::iter::from_fn(move || bin.fifo.pop()));
        let mut items: Vec<Item<P>> = items.collect();
        debug_assert_eq!(items.len(), len, "every packet is in the queue of its flow");
        items.sort_by_key(|item| (item.queued, item.id));
        items
    }

    /// Removes the oldest packet of the bin with the most bytes. Source: RFC 8290, section 4.1.
    pub(crate) fn pop_of_longest(&mut self) -> Option<Item<P>> {
        let longest = self.bins.iter_mut().max_by_key(|bin| bin.fifo.size())?;
        let item = longest.fifo.pop()?;
        self.len -= 1;
        self.size -= item.size;
        Some(item)
    }

    /// Returns the packet that has waited longest. `None` if no packet waits.
    pub(crate) fn head(&self) -> Option<&Item<P>> {
        let listed = self.new.iter().chain(&self.old);
        listed.filter_map(|bin| self.bins[*bin].fifo.head()).min_by_key(|head| head.queued)
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn size(&self) -> Bytes {
        self.size
    }

    fn count(&mut self, item: &Item<P>) {
        self.len += 1;
        self.size += item.size;
    }

    fn bin(&mut self, flow: u16) -> usize {
        if self.bins.is_empty() {
            let bin = || Bin {
                fifo: Fifo::default(),
                codel: CoDel::default(),
                credit: 0,
                is_listed: false,
            };
            self.bins.resize_with(BINS, bin);
        }
        usize::from(flow) % BINS
    }
}

/// Returns the bytes that a packet takes from its flow's credit.
fn credit<P>(item: &Item<P>) -> i64 {
    i64::try_from(item.size.get()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use rove_units::Duration;

    use super::*;
    use crate::item::{Fate, PacketId};

    fn item(number: u64, flow: u16, size: u64, queued: Instant) -> Item<()> {
        Item {
            packet: (),
            id: PacketId { number, is_copy: false },
            flow,
            size: Bytes::new(size),
            entered: queued,
            queued,
            propagation: Duration::ZERO,
            fate: Fate::Passes,
        }
    }

    /// Removes every packet, at time zero, and returns the flows in the order in which they were served.
    fn flows(fair: &mut Fair<()>) -> Vec<u16> {
        let config = CoDelConfig::default();
        let mut pop = || fair.pop(&config, Instant::ZERO, |_| panic!("nobody has waited"));
        let flows = core::iter::from_fn(|| pop().map(|item| item.flow)).collect();
        assert_eq!((fair.len(), fair.size()), (0, Bytes::ZERO));
        flows
    }

    #[test]
    fn flows_take_turns_by_their_bytes_and_a_new_one_comes_first() {
        let mut fair = Fair::default();
        for (number, (flow, size)) in
            (0..).zip([(1, 1_500), (1, 1_500), (1, 1_500), (2, 750), (2, 750), (2, 750), (2, 750)])
        {
            fair.push(item(number, flow, size, Instant::ZERO));
        }
        assert_eq!((fair.len(), fair.size()), (7, Bytes::new(7_500)));
        let config = CoDelConfig::default();
        let first = fair.pop(&config, Instant::ZERO, |_| ()).map(|item| item.flow);
        assert_eq!(first, Some(1));
        fair.push(item(9, 3, 100, Instant::ZERO));
        // The first flow has 14 bytes left in its turn, so it sends once more.
        assert_eq!(flows(&mut fair), [1, 2, 2, 2, 3, 1, 2]);
        for number in 0..3 {
            fair.push(item(number, 1, 1_500, Instant::ZERO));
        }
        fair.pop(&config, Instant::ZERO, |_| ());
        fair.push(item(3, 2, 100, Instant::ZERO));
        assert_eq!(flows(&mut fair), [1, 2, 1]);
    }

    #[test]
    fn a_packet_that_is_put_back_comes_next_and_the_longest_queue_makes_room() {
        let mut fair = Fair::default();
        (0..3).for_each(|number| fair.push(item(number, 1, 1_000, Instant::from_millis(number))));
        fair.push(item(3, 2, 2_500, Instant::from_millis(5)));
        let config = CoDelConfig::default();
        let first = fair.pop(&config, Instant::ZERO, |_| ()).expect("a packet");
        assert_eq!(fair.head().map(|head| head.id.number), Some(1));
        fair.restore(first);
        assert_eq!(fair.head().map(|head| head.id.number), Some(0));
        assert_eq!(fair.pop_of_longest().map(|item| item.id.number), Some(0));
        assert_eq!(fair.pop_of_longest().map(|item| item.id.number), Some(3));
        assert_eq!(flows(&mut fair), [1, 1]);
        assert_eq!(fair.pop_of_longest().map(|item| item.id.number), None);
        (0..6_u16).for_each(|it| fair.push(item(u64::from(it), 5 - it, 1, Instant::ZERO)));
        let numbers: Vec<u64> = fair.take().into_iter().map(|item| item.id.number).collect();
        assert_eq!((numbers, fair.len()), ((0..6).collect(), 0));
        assert!(fair.head().is_none());
    }

    #[test]
    fn a_flow_with_a_standing_queue_is_dropped_from_and_its_neighbour_is_not() {
        let (mut fair, config) = (Fair::default(), CoDelConfig::default());
        let (mut dropped, mut waits) = (Vec::new(), Vec::new());
        for now in 0..2_000 {
            let at = Instant::from_millis(now);
            fair.push(item(now, 1, 1_500, at));
            if now % 20 == 0 {
                fair.push(item(now, 2, 100, at));
            }
            // In two milliseconds, flow 1 offers two packets, and one packet is sent.
            if now % 2 == 0
                && let Some(sent) = fair.pop(&config, at, |item| dropped.push(item.flow))
                && sent.flow == 2
            {
                waits.push(now - sent.id.number);
            }
        }
        assert!(dropped.len() > 10 && dropped.iter().all(|flow| *flow == 1), "{dropped:?}");
        assert_eq!(waits.len(), 100);
        // Both flows are new at the start, and flow 1 is served first.
        assert!(waits[0] == 4 && waits[1..].iter().all(|wait| *wait == 0), "{waits:?}");
    }

    #[test]
    fn packets_of_one_connection_are_one_flow_and_other_bytes_change_nothing() {
        let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0x30, 0x39, 0, 22, 1, 2, 3, 4]);
        let flow = FlowKey::Ip.flow(&packet);
        let changed = |place: usize| {
            let mut other = packet.clone();
            other[place] ^= 1;
            FlowKey::Ip.flow(&other) != flow
        };
        for place in [9, 12, 19, 20, 23] {
            assert!(changed(place), "byte {place} tells the flow");
        }
        for place in [1, 8, 24, 27] {
            assert!(!changed(place), "byte {place} does not");
        }
        let mut six = vec![0; 44];
        (six[0], six[6]) = (0x60, 6);
        let mut other = six.clone();
        other[41] = 1;
        assert_ne!(FlowKey::Ip.flow(&six), FlowKey::Ip.flow(&other));
        for none in [&[][..], &[0x45], &[0x60; 20], &[0x10; 60]] {
            assert_eq!(FlowKey::Ip.flow(none), 0);
        }
        assert_eq!(FlowKey::At(1).flow(&[1, 2, 3]), 0x0203);
        assert_eq!(FlowKey::At(2).flow(&[1, 2, 3]), 0);
        assert_eq!(FlowKey::At(9).flow(&[1, 2, 3]), 0);
    }
}
