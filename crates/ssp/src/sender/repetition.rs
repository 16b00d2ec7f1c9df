//! Proactive repetition of small contents (diffs) on a path that loses datagrams.
//!
//! A lost keystroke or echo otherwise waits for its timeout, far longer than the round trip. While the path loses
//! datagrams, small contents are sent several times in short succession. The chance that all copies are lost is then
//! small. Each copy is a diff from the known (acknowledged) receiver state. So it can be applied even if all other
//! datagrams are lost. Newer contents include the older ones and replace a copy. If contents follow each other faster
//! than the path answers, a copy waits a frame interval, in which newer contents may replace it. A path without loss
//! carries no copies.

use rove_units::{Duration, Instant};

use super::budget::{Budget, cost};
use super::sending::{Occasion, Sending};
use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// Copies of contents are sent until the probability that all of them are lost is below this. Chosen: docs/timing.md,
/// "Repetition"; two copies from 4 % loss on, three from 20 % on, four from 34 % on. An echo ack in a separate frame
/// also repeats a lost echo. Without such frames, two copies are sent from the first loss on.
const RESIDUAL: f64 = 0.04;

/// Replaces [`RESIDUAL`] if echo acks are not sent separately. Chosen: three copies from 17 % loss on, and four from 31
/// % on. At 100 ms and 29 % loss, a key's mean time is then 0.60 of Mosh 1.4.0's (20 seeds), for 2 % more bytes. With
/// separate frames for echo acks, it was 0.61.
const RESIDUAL_UNAIDED: f64 = 0.03;

/// Replaces [`RESIDUAL_UNAIDED`] at round trips from [`FOLLOWED_SRTT_MIN`] on, because newer contents, which include
/// the older, are mostly sent before a third copy is due. Chosen: at 500 ms and 29 % loss, keys typed ahead take 1.53
/// of Mosh's bytes in place of 1.62, in the same time.
const RESIDUAL_FAR: f64 = 0.1;

/// Replaces [`RESIDUAL_UNAIDED`] at round trips from [`SECONDS_SRTT_MIN`] on, where a lost key waits for seconds.
/// Chosen: at 5 s and 10 % loss three copies in place of two take the 99th percentile from two round trips to one.
const RESIDUAL_SECONDS: f64 = 0.005;

/// Shortest round trip at which [`RESIDUAL_SECONDS`] is used. Chosen: a person begins to wonder after two seconds.
const SECONDS_SRTT_MIN: Duration = Duration::from_secs(2);

/// Maximum number of proactive sends of the same contents (a diff), with the first. Chosen: at 50 % loss, all copies
/// are lost three times in a hundred, and a timeout repairs that. More copies would cost more than they save.
const COPIES_MAX: u32 = 5;

/// The second copy follows the first after the smoothed round trip time divided by this number. Further copies are a
/// frame interval apart, so that newer contents often take their place. Chosen: docs/timing.md, "Repetition".
const SECOND_DIVISOR: u32 = 16;

/// Shortest time between the first copy and the second. Chosen: if they are closer, a burst of loss drops both copies.
const SECOND_MIN: Duration = Duration::from_millis(5);

/// Longest time between the first copy and the second. Chosen: bursts of loss are mostly shorter.
const SECOND_MAX: Duration = Duration::from_millis(40);

/// Shortest round trip at which contents that followed others within a round trip are copied only after a frame
/// interval. Newer contents can then replace the copy. Chosen: docs/timing.md, "Repetition". On shorter paths copies
/// are a smaller part of the bytes, and the wait is a larger part of the time.
const FOLLOWED_SRTT_MIN: Duration = Duration::from_millis(200);

/// Contents presumed lost are copied as if the path lost at least this share (0 to 1). Chosen: that gives two copies.
const PRESUMED_LOSS: f64 = 0.1;

/// Longest diff that is sent in copies, in bytes before compression. Chosen: any such diff fits into a datagram.
pub(super) const REPEATED_LEN_MAX: usize = 1000;

/// Minimum excess of SRTT over the shortest round trip that shows a queue. Copies would lengthen the queue, to which
/// such a path loses datagrams. Chosen: 50 ms or, if longer, half of the shortest round trip.
const QUEUE_MIN: Duration = Duration::from_millis(50);

/// The proactive copies of the newest contents (a diff), and the budget of bytes for them.
#[derive(Clone, Debug)]
pub(super) struct Repetition {
    /// The contents that are sent in several copies at present. `None` if there are none.
    newest: Option<Copies>,
    /// When new contents were last sent. `None` before the first.
    news_at: Option<Instant>,
    budget: Budget,
}

/// The copies sent so far of one state.
#[derive(Clone, Copy, Debug)]
struct Copies {
    num: StateNum,
    sent: u32,
    last_at: Instant,
    diff_len: usize,
    /// Whether the contents followed others within a round trip, so that more contents will probably follow soon.
    is_followed: bool,
    /// Whether the contents were presumed lost after a single copy.
    is_presumed_lost: bool,
}

impl Repetition {
    pub(super) const fn new(now: Instant) -> Self {
        Self { newest: None, news_at: None, budget: Budget::new(now) }
    }

    /// Records contents that were just sent. No copies follow if their diff is too long, or not from the known state.
    pub(super) fn handle_sent(&mut self, sending: &Sending, srtt: Duration) {
        let &Sending { at: now, num, diff_len, occasion, .. } = sending;
        if !sending.stands_alone {
            self.newest = None;
            return;
        }
        let is_news = occasion == Occasion::News;
        if occasion == Occasion::Copy {
            self.budget.spend(now, cost(diff_len));
        }
        let is_followed = if is_news {
            self.news_at
                .replace(now)
                .is_some_and(|before| srtt >= FOLLOWED_SRTT_MIN && now < before + srtt)
        } else {
            self.newest.is_some_and(|copies| copies.is_followed)
        };
        let (sent, is_presumed_lost) = match self.newest {
            _ if is_news => (1, false),
            // This send counts as the first copy again. After several copies, the acknowledgment was more likely lost.
            Some(copies) if copies.sent == 1 && occasion == Occasion::PresumedLost => (1, true),
            Some(copies) => (copies.sent.saturating_add(1), copies.is_presumed_lost),
            None => (COPIES_MAX, false),
        };
        let copies = Copies { num, sent, last_at: now, diff_len, is_followed, is_presumed_lost };
        self.newest = (diff_len <= REPEATED_LEN_MAX).then_some(copies);
    }

    /// Called when the newest contents get another state number.
    pub(super) fn handle_renumbered(&mut self, num: StateNum) {
        if let Some(copies) = &mut self.newest {
            copies.num = num;
        }
    }

    pub(super) fn handle_ack(&mut self, ack_num: StateNum) {
        if self.newest.is_some_and(|copies| copies.num <= ack_num) {
            self.newest = None;
        }
    }

    /// Returns when to send the next copy of the newest contents. `None` if no more are wanted.
    pub(super) fn due(&self, timing: &SendTiming) -> Option<Instant> {
        let copies = self.newest.filter(|copies| copies.sent < copies.wanted(timing))?;
        let spaced = copies.last_at + spacing(timing, &copies);
        Some(spaced.max(self.budget.affordable_at(cost(copies.diff_len))))
    }
}

impl Copies {
    /// Returns how many copies of these contents to send, the first included.
    fn wanted(&self, timing: &SendTiming) -> u32 {
        let least = if self.is_presumed_lost { PRESUMED_LOSS } else { 0.0 };
        copies_wanted(timing, timing.path.loss_out.max(least))
    }
}

/// Returns how many copies of contents to send on a path with the loss `loss_out`, the first included.
fn copies_wanted(timing: &SendTiming, loss_out: f64) -> u32 {
    if !timing.config.repetition.repeats || timing.has_queue(QUEUE_MIN, 2) {
        return 1;
    }
    let (single_loss_max, residual_max) =
        if timing.bears_late { (0.0, residual_unaided(timing.srtt)) } else { (RESIDUAL, RESIDUAL) };
    if loss_out <= single_loss_max {
        return 1;
    }
    let mut residual = loss_out * loss_out;
    let mut copies = 2;
    while residual > residual_max && copies < COPIES_MAX {
        residual *= loss_out;
        copies += 1;
    }
    debug_assert!((2..=COPIES_MAX).contains(&copies));
    copies
}

/// Returns the chance that all copies are lost, below which copying ends, if echo acks are not sent separately.
fn residual_unaided(srtt: Duration) -> f64 {
    if srtt >= SECONDS_SRTT_MIN {
        RESIDUAL_SECONDS
    } else if srtt >= FOLLOWED_SRTT_MIN {
        RESIDUAL_FAR
    } else {
        RESIDUAL_UNAIDED
    }
}

/// Returns the time between the newest copy of these contents and the next one.
fn spacing(timing: &SendTiming, copies: &Copies) -> Duration {
    let second = (timing.srtt / SECOND_DIVISOR).clamp(SECOND_MIN, SECOND_MAX);
    if copies.sent == 1 && !copies.is_followed { second } else { timing.frame_interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::hello::Capabilities;
    use crate::rtt::RttEstimator;
    use crate::send_timing::PathView;
    use crate::sender::sending::Due;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn sending(at: Instant, num: u64, diff_len: usize, occasion: Occasion) -> Sending {
        let (num, stands_alone, due) = (StateNum::new(num), true, Due::default());
        Sending { at, num, diff_len, stands_alone, occasion, due }
    }

    /// Returns the times in ms at which contents of `diff_len` bytes and their copies are sent, while nothing arrives.
    fn copies(config: &Config, rtt: u64, rtt_min: u64, loss_out: f64, diff_len: usize) -> Vec<u64> {
        let mut estimator = RttEstimator::new();
        estimator.handle_sample(Instant::ZERO, ms(rtt), &config.rtt);
        let path =
            PathView { rtt_min: Some(ms(rtt_min)), loss_out, loss_in: 0.0, contents_max: 1214 };
        let timing = SendTiming::new(config, &estimator, path, Capabilities::empty());
        let mut repetition = Repetition::new(Instant::ZERO);
        let mut sent = vec![0];
        repetition.handle_sent(&sending(Instant::ZERO, 1, diff_len, Occasion::News), ms(0));
        while let Some(due) = repetition.due(&timing) {
            repetition.handle_sent(&sending(due, 1, diff_len, Occasion::Copy), ms(0));
            sent.push(due.as_millis());
        }
        sent
    }

    #[test]
    fn copies_are_as_many_as_the_loss_asks_for() {
        let config = Config::client();
        for (loss, expected) in [
            (0.0, &[0][..]),
            (0.04, &[0]),
            (0.05, &[0, 10]),
            (0.19, &[0, 10]),
            (0.21, &[0, 10, 90]),
            (0.34, &[0, 10, 90]),
            (0.35, &[0, 10, 90, 170]),
            (0.5, &[0, 10, 90, 170, 250]),
            (1.0, &[0, 10, 90, 170, 250]),
        ] {
            assert_eq!(copies(&config, 160, 160, loss, 10), expected, "{loss}");
        }
        assert_eq!(copies(&config.stock(), 160, 160, 0.5, 10), [0], "not by the rules of stock");
    }

    #[test]
    fn where_echo_acks_do_not_go_alone_there_are_two_copies_from_the_first_loss_on() {
        let config = Config::client();
        let mut estimator = RttEstimator::new();
        estimator.handle_sample(Instant::ZERO, ms(160), &config.rtt);
        for (loss_out, late, old) in
            [(0.0, 1, 1), (0.002, 2, 1), (0.04, 2, 1), (0.05, 2, 2), (0.21, 3, 3), (1.0, 5, 5)]
        {
            let path = PathView { rtt_min: None, loss_out, loss_in: 0.0, contents_max: 1214 };
            let path = PathView { rtt_min: Some(ms(160)), ..path };
            let wanted =
                |peer| copies_wanted(&SendTiming::new(&config, &estimator, path, peer), loss_out);
            assert_eq!(wanted(Capabilities::LATE_ACK), late, "{loss_out}");
            assert_eq!(wanted(Capabilities::empty()), old, "{loss_out}");
        }
    }

    #[test]
    fn on_a_far_path_the_copy_waits_for_what_follows_at_the_pace_of_before() {
        // (round trip, time since the contents before; time to the copy), all in ms
        for (rtt, gap, copy) in [
            (400, 399, 200),
            (400, 400, 25),
            (199, 100, 12),
            (200, 199, 100),
            (2_000, 1_999, 250),
            (2_000, 2_000, 40),
        ] {
            let mut estimator = RttEstimator::new();
            let config = Config::client();
            estimator.handle_sample(Instant::ZERO, ms(rtt), &config.rtt);
            let path = PathView {
                rtt_min: Some(ms(rtt)),
                loss_out: 0.1,
                loss_in: 0.0,
                contents_max: 1214,
            };
            let timing = SendTiming::new(&config, &estimator, path, Capabilities::empty());
            let mut repetition = Repetition::new(Instant::ZERO);
            let mut send = |at, num| {
                let at = Instant::from_millis(at);
                repetition.handle_sent(&sending(at, num, 10, Occasion::News), timing.srtt);
                repetition.due(&timing).map(|due| due.saturating_since(at).as_millis())
            };
            assert!(send(0, 1).is_some_and(|copy| copy <= 40), "nothing came before");
            assert_eq!(send(gap, 2), Some(copy), "{rtt} ms, {gap} ms after");
        }
    }

    #[test]
    fn the_second_copy_keeps_a_distance_within_bounds() {
        for (rtt, second) in [(0, 5), (80, 5), (160, 10), (640, 40), (5_000 - 1, 40)] {
            assert_eq!(copies(&Config::client(), rtt, rtt, 0.1, 10), [0, second], "{rtt}");
        }
    }

    #[test]
    fn only_what_fits_a_datagram_is_repeated_and_only_on_a_path_without_a_queue() {
        let copies = |rtt, rtt_min, len| copies(&Config::server(), rtt, rtt_min, 0.1, len).len();
        assert_eq!((copies(160, 160, 1_000), copies(160, 160, 1_001)), (2, 1));
        // 50 ms of queue are allowed where the path is short, half of the shortest round trip where it is long.
        assert_eq!((copies(70, 20, 10), copies(71, 20, 10)), (2, 1));
        assert_eq!((copies(300, 200, 10), copies(301, 200, 10)), (2, 1));
    }

    #[test]
    fn copies_cost_no_more_than_the_budget() {
        let mut estimator = RttEstimator::new();
        let config = Config::server();
        estimator.handle_sample(Instant::ZERO, ms(20), &config.rtt);
        let path =
            PathView { rtt_min: Some(ms(20)), loss_out: 1.0, loss_in: 0.0, contents_max: 1214 };
        let timing = SendTiming::new(&config, &estimator, path, Capabilities::empty());
        let mut repetition = Repetition::new(Instant::ZERO);
        let (mut now, mut copies) = (Instant::ZERO, 0);
        let end = Instant::from_millis(20_000);
        for num in 1_u64.. {
            repetition.handle_sent(&sending(now, num, REPEATED_LEN_MAX, Occasion::News), ms(0));
            while let Some(due) = repetition.due(&timing) {
                now = due;
                repetition.handle_sent(&sending(now, num, REPEATED_LEN_MAX, Occasion::Copy), ms(0));
                copies += 1;
            }
            if now >= end {
                break;
            }
        }
        let bytes = copies * cost(REPEATED_LEN_MAX);
        let earned = 3_200 * now.as_millis() / 1_000 + 6_400;
        assert!(bytes <= earned && bytes + 6_400 > earned, "{bytes} of {earned}");
    }

    #[test]
    fn contents_that_nobody_waits_for_count_as_a_copy_of_the_awaited_ones() {
        let mut estimator = RttEstimator::new();
        let config = Config::server();
        estimator.handle_sample(Instant::ZERO, ms(160), &config.rtt);
        let path =
            PathView { rtt_min: Some(ms(160)), loss_out: 0.1, loss_in: 0.0, contents_max: 1214 };
        let timing = SendTiming::new(&config, &estimator, path, Capabilities::empty());
        let mut repetition = Repetition::new(Instant::ZERO);
        let due = |repetition: &Repetition| repetition.due(&timing);
        repetition.handle_sent(&sending(Instant::ZERO, 1, 10, Occasion::News), ms(0));
        repetition.handle_sent(&sending(Instant::from_millis(3), 2, 12, Occasion::Other), ms(0));
        assert_eq!(due(&repetition), None, "the second has gone with the echo ack");
        repetition.handle_sent(&sending(Instant::from_millis(50), 3, 10, Occasion::News), ms(0));
        assert_eq!(due(&repetition), Some(Instant::from_millis(60)));
        repetition.handle_ack(StateNum::new(2));
        assert_eq!(due(&repetition), Some(Instant::from_millis(60)), "an older state has arrived");
        repetition.handle_ack(StateNum::new(3));
        assert_eq!(due(&repetition), None);
        repetition.handle_sent(&sending(Instant::from_millis(90), 4, 10, Occasion::Other), ms(0));
        assert_eq!(due(&repetition), None, "an echo ack alone is not repeated");
    }
}
