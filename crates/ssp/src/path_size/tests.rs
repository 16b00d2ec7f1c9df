use rove_units::Duration;

use super::*;
use crate::config::Config;
use crate::hello::Capabilities;
use crate::rtt::RttEstimator;
use crate::send_timing::PathView;

/// Returns contents that fill three datagrams of size `largest` and a smaller one.
fn cut(largest: usize) -> Cut {
    Cut { largest, datagrams: 4, bytes: 3 * largest + 300 }
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn num(num: u64) -> StateNum {
    StateNum::new(num)
}

/// Calls `run` with the timers of a path whose round trips take 100 ms.
fn paced(loss_out: f64, run: impl FnOnce(&SendTiming)) {
    let config = Config::server();
    let mut estimator = RttEstimator::new();
    for _ in 0..20 {
        estimator.handle_sample(Instant::ZERO, Duration::from_millis(100), &config.rtt);
    }
    let path = PathView { rtt_min: None, loss_out, loss_in: 0.0, contents_max: 1_162 };
    run(&SendTiming::new(&config, &estimator, path, Capabilities::empty()));
}

/// Sends enough acknowledged contents for all probes of a search.
fn earn(size: &mut PathSize, timing: &SendTiming) {
    for number in 1..=100 {
        size.handle_sent(at(number), num(number), cut(size.get()), 0, timing);
        size.handle_ack(at(number), num(number), timing);
    }
}

#[test]
fn a_size_is_tried_once_it_is_earned_and_used_once_it_has_arrived() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        assert_eq!((size.get(), size.next_try(at(0), timing)), (1_200, None));
        earn(&mut size, timing);
        assert_eq!(size.next_try(at(100), timing), Some(1_472));
        assert_eq!(size.next_try(at(3_101), timing), None, "nothing is sent any more");
        size.handle_try(at(100), num(101), 1_472, Answer::AtOnce);
        assert_eq!((size.get(), size.next_try(at(150), timing)), (1_200, None), "one at a time");
        size.handle_ack(at(200), num(101), timing);
        assert_eq!((size.get(), size.next_try(at(900), timing)), (1_472, None));
        assert!(!size.take_recut(), "what is under way still fits");
    });
}

#[test]
fn a_size_whose_tries_fail_is_given_up_for_a_smaller_one_and_open_again_later() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(true, true);
        earn(&mut size, timing);
        let mut now = at(200);
        let mut tried = Vec::new();
        while let Some(next) = size.next_try(now, timing) {
            tried.push(next);
            size.handle_try(now, num(101), next, Answer::AtOnce);
            // An early acknowledgment shows nothing about the probe, but a later one shows that the probe failed.
            size.handle_ack(now + Duration::from_millis(50), num(100), timing);
            now += Duration::from_millis(300);
            size.handle_ack(now, num(100), timing);
        }
        assert_eq!(tried, [1_452, 1_452, 1_452, 1_216, 1_216, 1_216], "less than 32 is no gain");
        let later = now + Duration::from_secs(601);
        size.handle_sent(later, num(102), cut(1_200), 0, timing);
        assert_eq!(size.next_try(later, timing), Some(1_452));
    });
}

#[test]
fn a_try_whose_state_was_sent_otherwise_or_overtaken_says_little() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        earn(&mut size, timing);
        let mut now = at(200);
        for number in 0..8 {
            assert_eq!(size.next_try(now, timing), Some(1_472), "try {number}");
            size.handle_try(now, num(200 + number), 1_472, Answer::Some);
            if number % 2 == 0 {
                // The probe's state was also sent with contents, in small datagrams.
                size.handle_sent(now, num(200 + number), cut(1_200), 0, timing);
                size.handle_ack(now, num(200 + number), timing);
            } else {
                size.handle_ack(now, num(500 + number), timing);
            }
            earn(&mut size, timing);
            now += Duration::from_millis(300);
        }
        assert_eq!(size.get(), 1_200);
        size.handle_try(now, num(300), 1_472, Answer::Some);
        size.handle_ack(now, num(600), timing);
        now += Duration::from_millis(300);
        assert_eq!(
            size.next_try(now, timing),
            Some(1_252),
            "but not nothing, if it happens always"
        );
    });
}

#[test]
fn contents_without_an_answer_make_datagrams_smaller_until_it_is_clear_that_size_is_not_to_blame() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        let in_flight = timing.in_flight();
        let mut now = at(0);
        let mut sizes = Vec::new();
        for _ in 0..10 {
            size.handle_sent(now, num(7), cut(size.get()), 0, timing);
            now += in_flight;
            size.heed_silence(now, timing);
            sizes.push(size.get());
        }
        // Each size has two unanswered tries, and then the former size returns.
        assert_eq!(sizes, [1_200, 500, 500, 1_200, 1_200, 1_200, 1_200, 1_200, 1_200, 1_200]);
        assert!(size.take_recut() && !size.take_recut());
    });
}

#[test]
fn the_size_before_a_fall_is_tried_first_and_for_nothing() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        let in_flight = timing.in_flight();
        size.handle_sent(at(0), num(7), cut(1_200), 0, timing);
        size.handle_sent(at(0) + in_flight, num(7), cut(1_200), 0, timing);
        let now = at(0) + in_flight * 2;
        size.heed_silence(now, timing);
        assert_eq!(
            (size.get(), size.next_try(now, timing)),
            (500, None),
            "it may be something else"
        );
        size.handle_sent(now, num(7), cut(500), 0, timing);
        size.handle_ack(now, num(7), timing);
        assert_eq!((size.get(), size.next_try(now, timing)), (500, Some(1_200)));
        size.handle_try(now, num(8), 1_200, Answer::AtOnce);
        size.handle_ack(now, num(8), timing);
        assert_eq!(size.get(), 1_200);
    });
}

#[test]
fn many_tries_are_needed_where_chance_explains_that_none_is_answered() {
    // (loss, tries until the size falls) while the peer reports the loss, and while it reports nothing.
    let reported = [(0.0, 2), (0.05, 5), (0.1, 8), (0.29, 32)].map(|it| (it, true));
    let silent = [(0.0, 2), (0.05, 5), (0.1, 6), (0.29, 6)].map(|it| (it, false));
    for ((loss, tries_expected), is_reported) in reported.into_iter().chain(silent) {
        paced(loss, |timing| {
            let mut size = PathSize::new(false, true);
            if is_reported {
                size.handle_report(Loss { sent: 100, ..Loss::default() });
            }
            let (mut now, mut tries) = (at(0), 0);
            while size.get() == 1_200 && tries < 100 {
                size.handle_sent(now, num(7), cut(1_200), 0, timing);
                // A repetition that follows at once does not count as another try.
                size.handle_sent(now, num(7), cut(1_200), 0, timing);
                now += timing.in_flight();
                size.heed_silence(now, timing);
                tries += 1;
            }
            assert_eq!(tries, tries_expected, "loss {loss}");
        });
    }
}

#[test]
fn large_datagrams_that_are_all_missing_are_not_chance() {
    // Three tries have two large datagrams and a small one each. The peer misses six datagrams, or one fewer.
    for (missing, expected) in [(6, 500), (5, 1_200)] {
        paced(0.1, |timing| {
            let mut size = PathSize::new(false, true);
            size.handle_report(Loss { sent: 10, missing: 4, ..Loss::default() });
            let mut now = at(0);
            for number in 0..3 {
                let cut = Cut { datagrams: 3, ..cut(1_200) };
                size.handle_sent(now, num(7), cut, 10 + 3 * number, timing);
                now += timing.in_flight();
                size.heed_silence(now, timing);
                assert_eq!(size.get(), 1_200);
            }
            size.handle_report(Loss { sent: 18, missing: 4 + missing, ..Loss::default() });
            size.heed_silence(now, timing);
            assert_eq!(size.get(), 1_200, "the report covers two of three tries");
            size.handle_report(Loss { sent: 19, missing: 4 + missing, ..Loss::default() });
            size.heed_silence(now, timing);
            assert_eq!(size.get(), expected, "{missing} are missing");
        });
    }
}

#[test]
fn a_refusal_of_the_system_holds_at_once() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        earn(&mut size, timing);
        size.handle_try(at(200), num(101), 1_472, Answer::AtOnce);
        size.handle_refused(at(200), 1_472);
        assert_eq!((size.get(), size.take_recut()), (1_200, false));
        assert_eq!(size.next_try(at(600), timing), Some(1_252), "the next size follows");
        size.handle_refused(at(700), 1_200);
        assert_eq!((size.get(), size.take_recut()), (500, true));
    });
    let mut stock = PathSize::new(false, false);
    assert_eq!(stock.get(), 1_252);
    stock.handle_refused(at(0), 1_252);
    stock.handle_moved(false);
    assert_eq!(stock.get(), 500, "with stock's size for good");
}

#[test]
fn a_size_whose_packets_of_streams_are_lost_is_left_and_tried_again_at_most_four_times() {
    paced(0.0, |timing| {
        let mut size = PathSize::new(false, true);
        for fall in 1..=5 {
            size.handle_black_hole(at(fall), 1_201);
            assert_eq!((size.get(), size.take_recut()), (1_200, false), "the size is smaller");
            size.handle_black_hole(at(fall), 1_200);
            assert_eq!((size.get(), size.take_recut()), (500, true));
            size.handle_black_hole(at(fall), 500);
            assert_eq!(size.get(), 500, "no datagrams are smaller");
            let now = at(10_000 * fall);
            let probe = (fall < 5).then_some(1_200);
            assert_eq!(size.next_try(now, timing), probe, "{fall}: no contents were sent");
            size.handle_try(now, num(fall), 1_200, Answer::AtOnce);
            size.handle_ack(now, num(fall), timing);
        }
    });
}
