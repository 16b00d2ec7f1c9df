use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The highest sequence number.
const HIGHEST: u64 = u64::MAX >> 1;

/// A simple model of the window: it accepts each number once, if it is less than [`OVERTAKEN_MAX`] below the highest.
#[derive(Debug, Default)]
struct Model {
    arrived: BTreeSet<u64>,
}

impl Model {
    fn takes(&self, seq: u64) -> bool {
        let highest = self.arrived.last().copied();
        !self.arrived.contains(&seq) && highest.is_none_or(|highest| seq + OVERTAKEN_MAX > highest)
    }

    fn record(&mut self, seq: u64) -> bool {
        let is_newest = self.arrived.last().is_none_or(|highest| seq > *highest);
        self.arrived.insert(seq);
        is_newest
    }

    fn loss(&self) -> Loss {
        let sent = self.arrived.last().map_or(0, |highest| highest + 1);
        let arrived = |from| u64::try_from(self.arrived.range(from..).count()).unwrap();
        let recent = sent.min(RECENT);
        Loss {
            sent,
            missing: sent - arrived(0),
            recent_sent: u32::try_from(recent).unwrap(),
            recent_missing: u32::try_from(recent - arrived(sent - recent)).unwrap(),
        }
    }
}

/// Passes numbers to the window and to the model, and asserts that both give the same results.
fn arrive(numbers: &[u64]) {
    let (mut window, mut model) = (Window::new(), Model::default());
    for &number in numbers {
        let seq = SeqNum::new(number);
        let takes = model.takes(number);
        assert_eq!(window.takes(seq), takes, "{number} of {numbers:?}");
        if takes {
            assert_eq!(window.record(seq), model.record(number), "{number} of {numbers:?}");
            assert!(!window.takes(seq), "{number} twice, of {numbers:?}");
        }
    }
    assert_eq!(window.loss(), model.loss(), "{numbers:?}");
}

fn loss(arrivals: impl IntoIterator<Item = u64>) -> (u64, u64, u32, u32) {
    let mut window = Window::new();
    for seq in arrivals.into_iter().map(SeqNum::new) {
        if window.takes(seq) {
            window.record(seq);
        }
    }
    let Loss { sent, missing, recent_sent, recent_missing } = window.loss();
    (sent, missing, recent_sent, recent_missing)
}

#[test]
fn every_order_of_four_numbers_at_the_edges_is_taken_as_the_model_takes_it() {
    let whole = OVERTAKEN_MAX + WORD;
    let edges = [
        0,
        1,
        WORD - 1,
        WORD,
        OVERTAKEN_MAX - 1,
        OVERTAKEN_MAX,
        OVERTAKEN_MAX + 1,
        whole - 1,
        whole,
        whole + 1,
        whole + WORD,
        2 * whole - 1,
        2 * whole,
        HIGHEST - OVERTAKEN_MAX,
        HIGHEST - OVERTAKEN_MAX + 1,
        HIGHEST,
    ];
    for first in edges {
        for second in edges {
            for third in edges {
                for fourth in edges {
                    arrive(&[first, second, third, fourth]);
                }
            }
        }
    }
}

#[test]
fn a_number_overtaken_by_the_whole_width_but_one_is_taken_and_by_one_more_is_not() {
    for highest in [
        OVERTAKEN_MAX - 1,
        OVERTAKEN_MAX,
        OVERTAKEN_MAX + 1,
        10 * OVERTAKEN_MAX,
        10 * OVERTAKEN_MAX + 63,
        HIGHEST,
    ] {
        let mut window = Window::new();
        assert!(window.record(SeqNum::new(highest)));
        let lowest = highest + 1 - OVERTAKEN_MAX;
        for seq in lowest..highest {
            assert!(window.takes(SeqNum::new(seq)), "{seq} under {highest}");
            assert!(!window.record(SeqNum::new(seq)), "{seq} is not the newest");
        }
        for seq in lowest.saturating_sub(2 * OVERTAKEN_MAX)..=highest {
            assert!(!window.takes(SeqNum::new(seq)), "{seq} under {highest}");
        }
        assert_eq!(window.loss().missing, lowest);
    }
}

#[test]
fn every_number_of_a_long_session_is_taken_once() {
    let mut window = Window::new();
    for seq in (0..4 * (OVERTAKEN_MAX + WORD)).map(SeqNum::new) {
        assert!(window.takes(seq) && window.record(seq) && !window.takes(seq), "{seq:?}");
    }
    assert_eq!(window.loss().missing, 0);
}

#[test]
fn a_number_that_does_not_arrive_is_missing_and_a_late_or_repeated_one_is_not() {
    for (arrivals, wanted) in [
        (vec![], (0, 0, 0, 0)),
        (vec![0, 1, 2], (3, 0, 3, 0)),
        (vec![0, 3], (4, 2, 4, 2)),
        (vec![0, 3, 2, 1], (4, 0, 4, 0)),
        (vec![0, 0, 0], (1, 0, 1, 0)),
        (vec![5], (6, 5, 6, 5)),
    ] {
        assert_eq!(loss(arrivals.clone()), wanted, "{arrivals:?}");
    }
}

#[test]
fn the_recent_loss_forgets_what_is_older() {
    assert_eq!(loss([0, 2].into_iter().chain(3..129)), (129, 1, 128, 1));
    assert_eq!(loss([0, 2].into_iter().chain(3..130)), (130, 1, 128, 0));
    assert_eq!(loss([0, 1000]), (1001, 999, 128, 127));
    // A late number counts as arrived for as long as the window takes it.
    assert_eq!(loss((1..OVERTAKEN_MAX).chain([0])), (OVERTAKEN_MAX, 0, 128, 0));
    assert_eq!(loss((1..=OVERTAKEN_MAX).chain([0])), (OVERTAKEN_MAX + 1, 1, 128, 0));
    assert_eq!(loss([(1 << 47) - 1, 0]).1, (1 << 47) - 1);
}

#[test]
fn a_number_that_one_other_has_overtaken_counts_as_lost_on_a_path_that_keeps_the_order() {
    for (arrivals, missing) in [
        (vec![0, 2], 1),
        (vec![0, 4], 3),
        (vec![5], 5),
        ((0..200).filter(|seq| ![3, 190, 198].contains(seq)).collect(), 3),
    ] {
        let mut window = Window::new();
        arrivals.iter().for_each(|seq| assert!(window.record(SeqNum::new(*seq))));
        assert_eq!(window.settled_loss().missing, missing, "{arrivals:?}");
        assert!(window.loss_rate() > 0.0, "{arrivals:?}");
    }
}

#[test]
fn a_path_that_brings_numbers_out_of_order_loses_those_that_three_others_have_overtaken() {
    let mut window = Window::new();
    let mut record = |seq| {
        window.record(SeqNum::new(seq));
        (window.settled_loss().missing, window.loss_rate() > 0.0)
    };
    assert_eq!([0, 2].map(&mut record), [(0, false), (1, true)]);
    assert_eq!(record(1), (0, false), "it was late");
    for base in (3..OUT_OF_ORDER).step_by(3) {
        let found = [base + 2, base + 1, base].map(&mut record);
        assert_eq!(found, [(0, false); 3], "{base}");
    }
    let next = OUT_OF_ORDER / 3 * 3 + 3;
    let found = [next + 1, next + 2, next + 3, next + 4].map(&mut record);
    assert_eq!(found, [(0, false), (0, false), (1, true), (1, true)]);
}

#[test]
fn a_leap_of_numbers_is_a_loss_of_nearly_all_and_no_work() {
    let mut window = Window::new();
    assert_eq!([0, 1 << 40].map(|seq| window.record(SeqNum::new(seq))), [true; 2]);
    assert!(window.loss_rate() > 0.9, "{}", window.loss_rate());
}

/// Returns numbers in an order of arrival: mostly ascending, with gaps, repetitions, late numbers and leaps.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let step = prop_oneof![
        6 => 1..4_i64,
        3 => -80..80_i64,
        2 => -9_000..9_000_i64,
        1 => -30_000..60_000_i64,
        1 => Just(i64::MAX / 64),
    ];
    prop::collection::vec(step, 1..200).prop_map(|steps| {
        let walk = |at: &mut u64, step: i64| {
            *at = at.saturating_add_signed(step).min(HIGHEST);
            Some(*at)
        };
        steps.into_iter().scan(0, walk).collect()
    })
}

proptest! {
    #[test]
    fn any_numbers_are_taken_as_the_model_takes_them(numbers in numbers()) {
        arrive(&numbers);
    }
}
