//! Records the packets that have arrived, and decides when to acknowledge them.

use std::collections::BTreeMap;

use rove_units::{Duration, Instant};

use crate::frame::{ACK_RANGES_MAX, ACK_TIMES_MAX, AckFrame};
use crate::id::PacketNum;
use crate::ranges::Ranges;

/// When this many packets wait for an acknowledgment, it is sent at once. Source: the wire contract, docs/wire.md.
const ACK_EVERY: usize = 2;

/// How many arrival times an acknowledgment repeats from earlier acknowledgments, in case they were lost. Chosen: as
/// many as two acknowledgments of [`ACK_EVERY`] packets add.
const REPEATED_TIMES: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    numbers: Ranges,
    /// The arrival times of the packets with the highest numbers.
    times: BTreeMap<u64, Instant>,
    /// How many packets that ask for an acknowledgment have arrived since this end last sent one.
    waiting: usize,
    due: Option<Instant>,
}

impl Arrivals {
    /// Records a packet. If the packet `asks` for an acknowledgment, the acknowledgment may wait for at most `delay`.
    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        number: PacketNum,
        asks: bool,
        delay: Duration,
    ) {
        let number = number.get();
        let is_next = self.numbers.last().is_none_or(|it| it.end == number);
        self.numbers.insert(number..number + 1);
        self.numbers.keep_highest(ACK_RANGES_MAX);
        self.times.entry(number).or_insert(now);
        if self.times.len() > ACK_TIMES_MAX + 1 {
            self.times.pop_first();
        }
        if asks {
            self.waiting += 1;
            // A number out of order hints at a loss, which the peer should know at once.
            let delay = if is_next && self.waiting < ACK_EVERY { delay } else { Duration::ZERO };
            let due = now + delay;
            self.due = Some(self.due.map_or(due, |at| at.min(due)));
        }
        debug_assert!(self.numbers.len() <= ACK_RANGES_MAX);
    }

    /// Makes an acknowledgment due at once, because earlier ones may be lost. Has no effect until a packet has arrived.
    pub(crate) fn repeat(&mut self, now: Instant) {
        if self.numbers.last().is_some() {
            self.due = Some(now);
        }
    }

    /// Returns when an acknowledgment is due. `None` if none is needed.
    pub(crate) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the acknowledgment that a packet sent at `now` carries, in at most `room` bytes. `None` if none is
    /// needed. If numbers are far apart, only the highest ranges fit, and the peer sends the other packets again.
    pub(crate) fn take(&mut self, now: Instant, room: usize) -> Option<AckFrame> {
        self.due.take()?;
        let highest = self.numbers.last()?.end - 1;
        let arrived = self.times.get(&highest).copied().unwrap_or(now);
        let delay = now.saturating_since(arrived).as_micros();
        let told = (self.waiting + REPEATED_TIMES).min(ACK_TIMES_MAX);
        self.waiting = 0;
        let mut ack = AckFrame {
            largest: highest,
            delay_micros: u64::try_from(delay).unwrap_or(u64::MAX),
            ranges: self.ranges(),
            differences_micros: self.differences(told),
        };
        while ack.ranges.len() > 1 && ack.len() > room {
            ack.ranges.pop();
        }
        Some(ack)
    }

    /// Forgets the packets up to number `largest`, the highest in an acknowledgment that the peer has received.
    pub(crate) fn handle_told(&mut self, largest: u64) {
        // The highest range is kept, so that a packet that follows it directly is recognised as the next.
        let kept = self.numbers.last().map_or(0, |it| it.start);
        self.numbers.remove(0..kept.min(largest + 1));
    }

    fn ranges(&self) -> Vec<(u64, u64)> {
        let mut above = None;
        let mut ranges = Vec::with_capacity(self.numbers.len());
        for range in self.numbers.iter().rev() {
            ranges.push((above.map_or(0, |above| above - range.end), range.end - range.start));
            above = Some(range.start);
        }
        ranges
    }

    /// Returns up to `max` differences in microseconds between arrivals of neighbouring packets, highest numbers first.
    fn differences(&self, max: usize) -> Vec<i64> {
        let micros = |at: &Instant| i64::try_from(at.as_nanos() / 1_000).unwrap_or(i64::MAX);
        let highest = self.times.values().rev();
        highest.clone().zip(highest.skip(1)).take(max).map(|(a, b)| micros(a) - micros(b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(20);

    /// Room for an acknowledgment in the smallest packet, in bytes.
    const ROOM: usize = 392;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn arrive(arrivals: &mut Arrivals, millis: u64, number: u64) {
        arrivals.handle_packet(at(millis), PacketNum::new(number).unwrap(), true, DELAY);
    }

    #[test]
    fn an_acknowledgment_that_may_be_lost_is_repeated() {
        let mut arrivals = Arrivals::default();
        arrivals.repeat(at(1));
        assert_eq!(arrivals.due(), None, "nothing has arrived");
        arrive(&mut arrivals, 10, 0);
        arrive(&mut arrivals, 10, 1);
        let first = arrivals.take(at(10), ROOM).unwrap();
        assert_eq!(arrivals.take(at(11), ROOM), None);
        arrivals.repeat(at(5_000));
        let again = arrivals.take(at(5_000), ROOM).unwrap();
        assert_eq!((again.largest, &again.ranges), (1, &first.ranges));
        assert_eq!(again.delay_micros, 4_990_000);
    }

    #[test]
    fn an_acknowledgment_waits_for_a_second_packet_but_not_where_one_is_missing() {
        let mut arrivals = Arrivals::default();
        assert_eq!((arrivals.due(), arrivals.take(at(0), ROOM)), (None, None));
        arrivals.handle_packet(at(0), PacketNum::default(), false, DELAY);
        assert_eq!(arrivals.due(), None, "it asks for nothing");
        arrive(&mut arrivals, 1, 1);
        assert_eq!(arrivals.due(), Some(at(21)));
        arrive(&mut arrivals, 5, 2);
        assert_eq!(arrivals.due(), Some(at(5)));
        let ack = arrivals.take(at(6), ROOM).unwrap();
        assert_eq!((ack.largest, ack.delay_micros, ack.ranges), (2, 1_000, vec![(0, 3)]));
        assert_eq!(ack.differences_micros, [4_000, 1_000]);
        arrive(&mut arrivals, 7, 5);
        assert_eq!(arrivals.due(), Some(at(7)));
        assert_eq!(arrivals.take(at(7), ROOM).unwrap().ranges, [(0, 1), (2, 3)]);
        arrive(&mut arrivals, 9, 3);
        let late = arrivals.take(at(9), ROOM).unwrap();
        assert_eq!(
            (late.ranges, late.differences_micros[..2].to_vec()),
            (vec![(0, 1), (1, 4)], vec![-2_000, 4_000])
        );
        arrivals.handle_told(5);
        arrive(&mut arrivals, 10, 6);
        assert_eq!(arrivals.take(at(30), ROOM).unwrap().ranges, [(0, 2)]);
    }

    #[test]
    fn a_peer_that_skips_numbers_makes_it_remember_no_more_than_the_bound() {
        let mut arrivals = Arrivals::default();
        (0..10_000).for_each(|it| arrive(&mut arrivals, it, 2 * it));
        assert_eq!(
            (arrivals.numbers.len(), arrivals.times.len()),
            (ACK_RANGES_MAX, ACK_TIMES_MAX + 1)
        );
        let ack = arrivals.take(at(10_000), ROOM).unwrap();
        assert_eq!(
            (ack.ranges.len(), ack.differences_micros.len()),
            (ACK_RANGES_MAX, ACK_TIMES_MAX)
        );
        arrive(&mut arrivals, 10_001, 1);
        assert_eq!(
            arrivals.take(at(10_001), ROOM).unwrap().numbers().unwrap().last(),
            Some(&(19_872, 19_872)),
            "too old to be told"
        );
    }

    #[test]
    fn an_acknowledgment_of_numbers_far_apart_fits_the_smallest_packet() {
        let mut arrivals = Arrivals::default();
        // Each gap takes eight bytes, and each difference as many.
        for it in 0..ACK_RANGES_MAX as u64 {
            arrive(&mut arrivals, (it % 2) << 40, it << 53);
        }
        let ack = arrivals.take(at(1 << 41), ROOM).unwrap();
        assert!((300..=ROOM).contains(&ack.len()), "{}", ack.len());
        assert_eq!((ack.largest, ack.differences_micros.len()), (63 << 53, ACK_TIMES_MAX));
    }
}
