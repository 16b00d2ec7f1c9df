//! The chance that the peer holds each unacknowledged state, and what a diff from that state is worth.
//!
//! A sent state has arrived if its datagrams have arrived and the peer held the state from which its diff started. An
//! overdue acknowledgment makes that less likely, but does not exclude it as a timeout would. The acknowledged state is
//! the best reference while longer diffs delay nothing. Once this end's own traffic fills the path, a long diff delays
//! everything after it. A shorter diff from a state that the peer probably holds can then be worth more.

use std::collections::VecDeque;

use rove_units::{Duration, Instant};

use crate::config::SENT_MAX;
use crate::instruction::Instruction;
use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// Smallest loss that the estimate uses, as a share from 0 to 1. Chosen: with a loss of zero, everything sent would
/// count as arrived for certain.
const LOSS_MIN: f64 = 0.005;

/// Smallest probability that the estimate uses for the loss of an overdue acknowledgment. Chosen: an acknowledgment
/// that is only late must not prove that the state was lost.
const ACK_LOST_MIN: f64 = 0.02;

/// How long an acknowledgment may take beyond the round trip, the round trip's variation and the peer's delay. Chosen:
/// the shortest frame interval.
const ACK_GRACE: Duration = Duration::from_millis(20);

/// Minimum excess of SRTT over the shortest round trip that shows a queue. Chosen: a few datagrams.
const QUEUE_MIN: Duration = Duration::from_millis(20);

/// Time after the last sign of a queue during which the length of a diff still reduces its worth. Chosen: longer than
/// the second in which diffs from the known state fill the path again.
const QUEUE_REMEMBERED: Duration = Duration::from_secs(5);

/// A diff as long as this share of the bytes that the path delivers in a round trip is worth 1/e of an empty diff.
/// Chosen: docs/timing.md, "Reference policy".
const HORIZON: f64 = 0.4;

/// Shortest time that counts as a round trip in the worth of diffs. Source: Sprout (NSDI 2013), which sends the bytes
/// that its forecast delivers within 100 ms.
const HORIZON_MIN: Duration = Duration::from_millis(100);

/// Shortest time over which a delivery rate is measured. Chosen: the delays of two acknowledgments.
const RATE_WINDOW: Duration = Duration::from_millis(200);

/// Chance from 0 to 1 above which the peer probably holds a state. Chosen: one in ten such states may be missing.
const LIKELY: f64 = 0.9;

/// Shortest diff in bytes that counts in the average compression. Chosen: ten times the bytes of the other fields.
const TELLING_LEN: usize = 300;

/// Weight of the newest diff in the average of the compression. Chosen: eight frames make up most of the average.
const COMPRESSION_GAIN: f64 = 0.125;

/// The unacknowledged states, and how fast the path delivers their bytes.
#[derive(Clone, Debug)]
pub(super) struct DeliveryEstimate {
    /// The unacknowledged states, ascending by number.
    sent: VecDeque<Sent>,
    /// Sum of the lengths of all instructions sent so far, compressed, in bytes.
    bytes: u64,
    /// Length of a diff after compression, as a share of its length before.
    compression: f64,
    rate: DeliveryRate,
    /// When an instruction was last sent while the path had a queue.
    queued_at: Option<Instant>,
}

/// An unacknowledged state, as it was last sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    num: StateNum,
    reference: Reference,
    /// The chance that all datagrams of the state arrive.
    arrives: f64,
    /// Whether the state was sent with contents (a diff), which the peer acknowledges soon.
    has_contents: bool,
    at: Instant,
    /// Sum of the lengths, in bytes, of all instructions up to the instruction with this state.
    bytes: u64,
}

/// The state from which a diff started.
#[derive(Clone, Copy, Debug)]
enum Reference {
    /// An unacknowledged state, by its number.
    Sent(StateNum),
    /// A state that is no longer in the list of unacknowledged states, with the chance that the peer holds it.
    Settled(f64),
}

/// The delivery rate of the path: the bytes that acknowledgments have recently covered, per second.
#[derive(Clone, Copy, Debug, Default)]
struct DeliveryRate {
    /// When the measuring window began, and how many bytes had been acknowledged before it.
    began: Option<(Instant, u64)>,
    current: Option<f64>,
    previous: Option<f64>,
}

impl DeliveryEstimate {
    pub(super) fn new() -> Self {
        let (sent, rate) = (VecDeque::new(), DeliveryRate::default());
        Self { sent, bytes: 0, compression: 1.0, rate, queued_at: None }
    }

    /// Called when a state is sent, or sent again, in `datagrams` datagrams with `bytes` bytes.
    pub(super) fn handle_sent(
        &mut self,
        now: Instant,
        instruction: &Instruction,
        datagrams: usize,
        bytes: usize,
        timing: &SendTiming,
    ) {
        if timing.path.rtt_min.is_some_and(|min| min + QUEUE_MIN <= timing.srtt) {
            self.queued_at = Some(now);
        }
        let (num, old_num) = (instruction.new_num, instruction.old_num);
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if instruction.diff.len() >= TELLING_LEN {
            let ratio = real(bytes) / real(instruction.diff.len());
            self.compression += COMPRESSION_GAIN * (ratio - self.compression);
        }
        self.sent.retain(|other| other.num != num);
        let is_sent = self.sent.iter().any(|other| other.num == old_num);
        // A reference that is not in the list counts as the known receiver state, which the peer holds.
        let reference = if is_sent { Reference::Sent(old_num) } else { Reference::Settled(1.0) };
        let arrives = all_arrive(datagrams, timing);
        let has_contents = !instruction.diff.is_empty();
        let sent = Sent { num, reference, arrives, has_contents, at: now, bytes: self.bytes };
        let place = self.sent.partition_point(|other| other.num < num);
        self.sent.insert(place, sent);
        if self.sent.len() > SENT_MAX {
            let oldest = self.sent[0].num;
            self.settle(oldest, &[]);
        }
    }

    /// Called when the fragments of state `num` are sent once more.
    pub(super) fn handle_repeated(&mut self, now: Instant, num: StateNum) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.num == num) {
            sent.at = now;
        }
    }

    /// Called when the peer acknowledges a state. The peer then also held each state that led to this state.
    pub(super) fn handle_ack(&mut self, now: Instant, ack_num: StateNum) {
        let mut held = Vec::new();
        let mut next = Some(ack_num);
        while let Some(sent) = next.and_then(|num| self.sent.iter().find(|sent| sent.num == num)) {
            if held.is_empty() {
                self.rate.handle_delivered(now, sent.bytes);
            }
            held.push(sent.num);
            next = match sent.reference {
                Reference::Sent(num) => Some(num),
                Reference::Settled(_) => None,
            };
        }
        self.settle(ack_num, &held);
    }

    /// Drops all states up to `last`. The peer is known to have held the states in `held`.
    fn settle(&mut self, last: StateNum, held: &[StateNum]) {
        let chances = self.chances(|_| 1.0);
        let kept = self.sent.partition_point(|sent| sent.num <= last);
        self.sent.drain(..kept);
        for sent in &mut self.sent {
            let Reference::Sent(num) = sent.reference else { continue };
            if num <= last {
                let earlier = chances.iter().find(|(other, _)| *other == num);
                let chance = earlier.map_or(0.0, |(_, chance)| *chance);
                sent.reference = Reference::Settled(if held.contains(&num) { 1.0 } else { chance });
            }
        }
    }

    /// Returns the chance that the peer holds each unacknowledged state now, in ascending order of their numbers.
    fn chances_at(&self, now: Instant, timing: &SendTiming) -> Vec<(StateNum, f64)> {
        let ack_lost = timing.path.loss_in.clamp(ACK_LOST_MIN, 1.0);
        let is_overdue =
            |sent: &Sent| sent.has_contents && sent.at + timing.ack_usual() + ACK_GRACE <= now;
        self.chances(|sent| if is_overdue(sent) { ack_lost } else { 1.0 })
    }

    /// Returns the chance that the peer holds each unacknowledged state, in ascending order of their numbers.
    /// `odds_left` is the factor by which a missing acknowledgment changes the odds that the peer holds a state.
    fn chances(&self, odds_left: impl Fn(&Sent) -> f64) -> Vec<(StateNum, f64)> {
        let mut chances: Vec<(StateNum, f64)> = Vec::with_capacity(self.sent.len());
        for sent in &self.sent {
            let reference = match sent.reference {
                Reference::Settled(chance) => chance,
                Reference::Sent(num) => {
                    let earlier = chances.iter().find(|(other, _)| *other == num);
                    earlier.map_or(0.0, |(_, chance)| *chance)
                }
            };
            let arrived = reference * sent.arrives;
            let odds = arrived / (1.0 - arrived) * odds_left(sent);
            chances.push((sent.num, odds / (1.0 + odds)));
        }
        chances
    }

    /// Chooses between the diff from the known receiver state and at most two diffs that `diff_from` makes from other
    /// states. Returns the number of the chosen reference, or `None` for the known state, and its diff.
    pub(super) fn choose(
        &self,
        now: Instant,
        timing: &SendTiming,
        from_known: Vec<u8>,
        mut diff_from: impl FnMut(StateNum) -> Option<Vec<u8>>,
    ) -> (Option<StateNum>, Vec<u8>) {
        // Without a queue, the known state is the best reference. An empty diff from it cannot become shorter.
        let Some(affordable) = self.affordable(now, timing).filter(|_| !from_known.is_empty())
        else {
            return (None, from_known);
        };
        let mut most = self.worth(1.0, from_known.len(), affordable, timing);
        let mut best = (None, from_known);
        for (num, chance) in self.candidates(now, timing) {
            // An empty diff would tell the peer that nothing has changed since a state that may be lost.
            let Some(diff) = diff_from(num).filter(|diff| !diff.is_empty()) else { continue };
            let worth = self.worth(chance, diff.len(), affordable, timing);
            if worth > most {
                (most, best) = (worth, (Some(num), diff));
            }
        }
        best
    }

    /// Returns the states whose diffs are compared with the diff from the known state. They are the newest state, and
    /// the newest that the peer probably holds.
    fn candidates(&self, now: Instant, timing: &SendTiming) -> Vec<(StateNum, f64)> {
        let chances = self.chances_at(now, timing);
        let newest = chances.last().copied();
        let is_likely = |(num, chance): &&(StateNum, f64)| {
            *chance > LIKELY && newest.is_none_or(|newest| newest.0 != *num)
        };
        newest.into_iter().chain(chances.iter().rfind(is_likely).copied()).collect()
    }

    /// Returns the worth of a diff of `diff_len` bytes from a state that the peer holds with the chance `chance`. It is
    /// the logarithm of the chance that the peer can apply the diff, less the diff's share of the affordable bytes.
    fn worth(&self, chance: f64, diff_len: usize, affordable: f64, timing: &SendTiming) -> f64 {
        let bytes = real(diff_len) * self.compression;
        let datagrams = (bytes / real(timing.path.contents_max)).ceil().max(1.0);
        chance.ln() + datagrams * (1.0 - loss(timing)).ln() - bytes / affordable
    }

    /// Returns the number of bytes that reduces the worth of a diff by a factor of e. `None` while this end's traffic
    /// does not fill the path, or the path's rate is unknown.
    fn affordable(&self, now: Instant, timing: &SendTiming) -> Option<f64> {
        self.queued_at.filter(|at| now < *at + QUEUE_REMEMBERED)?;
        let rate = self.rate.highest().filter(|rate| *rate > 0.0)?;
        Some(HORIZON * rate * timing.srtt.max(HORIZON_MIN).as_secs_f64())
    }
}

impl DeliveryRate {
    /// Called after an acknowledgment. `bytes` is the count of all bytes that the peer has acknowledged so far.
    fn handle_delivered(&mut self, now: Instant, bytes: u64) {
        let (began, before) = *self.began.get_or_insert((now, bytes));
        let elapsed = now.saturating_since(began);
        if elapsed >= RATE_WINDOW {
            let delivered = u32::try_from(bytes.saturating_sub(before)).map_or(f64::MAX, f64::from);
            self.previous = self.current.replace(delivered / elapsed.as_secs_f64());
            self.began = Some((now, bytes));
        }
    }

    /// Returns the higher of the newest two measured delivery rates, in bytes a second. `None` before the first.
    fn highest(&self) -> Option<f64> {
        self.current.into_iter().chain(self.previous).reduce(f64::max)
    }
}

/// Returns the loss on the way to the peer that the estimate uses, from 0 to 1.
fn loss(timing: &SendTiming) -> f64 {
    timing.path.loss_out.clamp(LOSS_MIN, 1.0 - LOSS_MIN)
}

fn all_arrive(datagrams: usize, timing: &SendTiming) -> f64 {
    (1.0 - loss(timing)).powi(i32::try_from(datagrams.max(1)).unwrap_or(i32::MAX))
}

fn real(len: usize) -> f64 {
    u32::try_from(len).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::Config;
    use crate::hello::Capabilities;
    use crate::rtt::RttEstimator;
    use crate::send_timing::PathView;

    const CONTENTS_MAX: usize = 1_000;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    const fn num(num: u64) -> StateNum {
        StateNum::new(num)
    }

    /// Calls `look` with the timing of a path with a round trip of 100 ms, of which a queue takes `queue` ms.
    fn on_path<T>(queue: u64, loss: f64, look: impl FnOnce(&SendTiming) -> T) -> T {
        let config = Config::server();
        let mut rtt = RttEstimator::new();
        for _ in 0..100 {
            rtt.handle_sample(at(0), ms(100), &config.rtt);
        }
        let rtt_min = Some(ms(100 - queue));
        let path = PathView { rtt_min, loss_out: loss, loss_in: loss, contents_max: CONTENTS_MAX };
        look(&SendTiming::new(&config, &rtt, path, Capabilities::empty()))
    }

    impl DeliveryEstimate {
        /// Sends state `new` as a diff of `len` incompressible bytes from state `old`, on a path without a queue.
        fn send(&mut self, now: u64, new: u64, old: u64, len: usize, loss: f64) {
            self.send_behind(0, now, new, old, len, loss);
        }

        /// Sends as `send` does, but on a path whose queue takes `queue` ms of the round trip.
        fn send_behind(&mut self, queue: u64, now: u64, new: u64, old: u64, len: usize, loss: f64) {
            let outgoing = Instruction {
                old_num: num(old),
                new_num: num(new),
                diff: vec![0; len],
                ..Instruction::default()
            };
            let datagrams = len.div_ceil(CONTENTS_MAX);
            on_path(queue, loss, |timing| {
                self.handle_sent(at(now), &outgoing, datagrams, len, timing)
            });
        }

        /// Returns the chance, in percent, that the peer holds each sent state at the time `now`.
        fn percents(&self, now: u64, loss: f64) -> Vec<(u64, f64)> {
            let chances = on_path(0, loss, |timing| self.chances_at(at(now), timing));
            let percent = |chance: f64| (chance * 1_000.0).round() / 10.0;
            chances.iter().map(|(num, chance)| (num.get(), percent(*chance))).collect()
        }

        /// Returns the chosen reference, or 0 for the known state. The diff from the known state has `known` bytes, all
        /// other diffs have `other`.
        fn chosen(&self, now: u64, loss: f64, known: usize, other: usize) -> u64 {
            let choose = |timing: &SendTiming| {
                self.choose(at(now), timing, vec![0; known], |_| Some(vec![1; other]))
            };
            let (reference, diff) = on_path(0, loss, choose);
            assert_eq!(diff.len(), if reference.is_some() { other } else { known });
            reference.map_or(0, StateNum::get)
        }
    }

    /// Returns the estimate after two small states at 0 and 50 ms, each a diff from the previous state. A third state
    /// of three datagrams, at 60 ms, is a diff from the known state.
    fn three(loss: f64) -> DeliveryEstimate {
        let mut delivery_estimate = DeliveryEstimate::new();
        delivery_estimate.send(0, 2, 1, 10, loss);
        delivery_estimate.send(50, 3, 2, 10, loss);
        delivery_estimate.send(60, 4, 1, 2_001, loss);
        delivery_estimate
    }

    /// Returns the estimate of a path that has delivered 1000 bytes every 200 ms, after a further datagram at 1100 ms
    /// behind a queue of `queue` ms.
    fn steady(queue: u64, loss: f64) -> DeliveryEstimate {
        let mut delivery_estimate = DeliveryEstimate::new();
        for sent in 2..6 {
            delivery_estimate.send(200 * sent, sent, sent - 1, 1_000, 0.0);
            delivery_estimate.handle_ack(at(200 * sent + 100), num(sent));
        }
        delivery_estimate.send_behind(queue, 1_100, 6, 5, 1_000, loss);
        delivery_estimate
    }

    #[test]
    fn a_state_is_there_if_its_datagrams_arrived_and_its_reference_was_there() {
        assert_eq!(three(0.1).percents(100, 0.1), [(2, 90.0), (3, 81.0), (4, 72.9)]);
        assert_eq!(three(0.0).percents(100, 0.0), [(2, 99.5), (3, 99.0), (4, 98.5)]);
    }

    #[test]
    fn an_overdue_acknowledgment_makes_a_state_and_those_from_it_unlikely() {
        // An answer is overdue after the round trip of 100 ms, the peer's delay of 100 ms and the grace of 20 ms.
        assert_eq!(three(0.1).percents(219, 0.1)[0], (2, 90.0));
        assert_eq!(three(0.1).percents(220, 0.1), [(2, 47.4), (3, 42.6), (4, 72.9)]);
        assert_eq!(three(0.0).percents(220, 0.0)[0], (2, 79.9), "one in fifty is lost by itself");
        let mut again = three(0.1);
        again.handle_repeated(at(210), num(2));
        assert_eq!(again.percents(220, 0.1)[0], (2, 90.0));
        let mut silent = DeliveryEstimate::new();
        silent.send(0, 2, 1, 0, 0.1);
        assert_eq!(silent.percents(220, 0.1), [(2, 90.0)], "nobody acknowledges it soon");
    }

    #[test]
    fn an_acknowledgment_settles_what_its_state_started_from_and_nothing_else() {
        let mut delivery_estimate = three(0.1);
        delivery_estimate.send(70, 5, 3, 10, 0.1);
        delivery_estimate.send(80, 6, 4, 10, 0.1);
        // The diff of state 3 started from state 2, so the peer held state 2. It may never have held state 4.
        delivery_estimate.handle_ack(at(160), num(3));
        assert_eq!(delivery_estimate.percents(160, 0.1), [(4, 72.9), (5, 90.0), (6, 65.6)]);
        delivery_estimate.handle_ack(at(170), num(5));
        assert_eq!(delivery_estimate.percents(170, 0.1), [(6, 65.6)]);
        delivery_estimate.handle_ack(at(180), num(99));
        assert_eq!(delivery_estimate.percents(180, 0.1), []);
    }

    #[test]
    fn the_known_state_is_chosen_unless_own_traffic_has_filled_the_path_of_late() {
        assert_eq!(steady(19, 0.01).chosen(1_150, 0.01, 5_000, 10), 0);
        let delivery_estimate = steady(20, 0.01);
        assert_eq!(delivery_estimate.chosen(1_150, 0.01, 5_000, 10), 6);
        assert_eq!(delivery_estimate.chosen(1_150, 0.01, 5_000, 0), 0, "nothing new since");
        assert_eq!(delivery_estimate.chosen(1_150, 0.01, 0, 10), 0, "an empty diff costs nothing");
        assert_eq!(delivery_estimate.chosen(6_099, 0.01, 5_000, 10), 6);
        assert_eq!(delivery_estimate.chosen(6_100, 0.01, 5_000, 10), 0);
        let mut unknown = DeliveryEstimate::new();
        unknown.send_behind(20, 1_100, 6, 5, 1_000, 0.01);
        assert_eq!(unknown.chosen(1_150, 0.01, 5_000, 10), 0, "no rate is known");
    }

    #[test]
    fn a_shorter_diff_must_save_more_the_less_likely_its_state_is_there() {
        // 5 kB/s are 200 bytes in 40 ms. At a loss of a half, the peer holds a state of one datagram with the chance
        // 1/2. That reduces the worth as 200 ln 2 = 138.6 bytes do.
        let delivery_estimate = steady(20, 0.5);
        for (known, other, chosen) in [
            (600, 461, 6),
            (600, 462, 0),
            (990, 851, 6),
            (990, 852, 0),
            // A second datagram halves the chance that the diff from the known state arrives.
            (1_001, 1_000, 6),
        ] {
            assert_eq!(
                delivery_estimate.chosen(1_150, 0.5, known, other),
                chosen,
                "{known} {other}"
            );
        }
    }

    #[test]
    fn bytes_count_as_they_are_compressed() {
        let mut delivery_estimate = steady(0, 0.0);
        let outgoing = Instruction {
            old_num: num(6),
            new_num: num(7),
            diff: vec![0; 4_000],
            ..Instruction::default()
        };
        for _ in 0..50 {
            on_path(0, 0.0, |timing| {
                delivery_estimate.handle_sent(at(1_120), &outgoing, 1, 400, timing)
            });
        }
        assert!(
            (0.1..0.11).contains(&delivery_estimate.compression),
            "{}",
            delivery_estimate.compression
        );
    }

    proptest! {
        #[test]
        fn whatever_is_sent_and_acknowledged_chances_are_chances_and_lists_are_short(
            steps in prop::collection::vec((0_u64..40, 0_u64..200, 0_u64..5_000, any::<bool>()), 1..300),
            loss in 0.0..=1.0_f64,
            has_queue in any::<bool>(),
        ) {
            let mut delivery_estimate = DeliveryEstimate::new();
            let mut new = 10_u64;
            for (back, jump, len, is_ack) in steps {
                // The times passed to the estimate go forward and backward.
                let now = jump * 7_919 % 3_000;
                if is_ack {
                    delivery_estimate.handle_ack(at(now), num((new + 3).saturating_sub(back)));
                } else {
                    new += back % 2;
                    let len = usize::try_from(len).expect("small");
                    let (queue, old) = (50 * u64::from(has_queue), new.saturating_sub(back));
                    delivery_estimate.send_behind(queue, now, new, old, len, loss);
                }
                for chance in delivery_estimate.percents(now, loss) {
                    prop_assert!((0.0..=100.0).contains(&chance.1), "{:?}", chance);
                }
                prop_assert!(delivery_estimate.sent.len() <= SENT_MAX);
                let chosen = delivery_estimate.chosen(now, loss, 5_000, 1);
                prop_assert!(has_queue || chosen == 0, "bytes cost nothing");
            }
        }
    }

    #[test]
    fn thousands_of_states_that_nobody_acknowledges_leave_as_few_as_the_sender_keeps() {
        let mut delivery_estimate = DeliveryEstimate::new();
        for sent in 2..5_000 {
            delivery_estimate.send(sent, sent, sent - 1, 10, 0.5);
        }
        assert_eq!(delivery_estimate.sent.len(), SENT_MAX);
        assert_eq!(delivery_estimate.percents(5_000, 0.5).first(), Some(&(4_968, 0.0)));
    }
}
