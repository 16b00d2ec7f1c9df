//! The search for a quantile: the least count that is large enough.

/// Returns the least count from `low` to `high` for which `is_enough` is true; `high` if no lower count is enough.
/// Above a count that is enough, all counts must be enough. A near `guess` needs few calls. A wrong guess needs twice
/// as many calls as bisection.
pub(crate) fn least(guess: u64, [low, high]: [u64; 2], is_enough: impl Fn(u64) -> bool) -> u64 {
    debug_assert!(low <= high, "there is a number");
    let [mut low, mut high] = bracket(guess.clamp(low, high), [low, high], &is_enough);
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Returns a small part of the range, near the guess, that holds the least count for which `is_enough` is true.
fn bracket(guess: u64, [low, high]: [u64; 2], is_enough: &impl Fn(u64) -> bool) -> [u64; 2] {
    let mut step = 1;
    if is_enough(guess) {
        let mut end = guess;
        while end > low {
            let next = end.saturating_sub(step).max(low);
            if !is_enough(next) {
                return [next + 1, end];
            }
            (end, step) = (next, 2 * step);
        }
        return [low, end];
    }
    let mut begin = guess;
    while begin < high {
        let next = begin.saturating_add(step).min(high);
        if is_enough(next) {
            return [begin + 1, next];
        }
        (begin, step) = (next, 2 * step);
    }
    [high, high]
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn the_least_count_is_found_from_every_guess() {
        for threshold in 0..=20 {
            for guess in [0, 3, 9, 10, 11, 20, u64::MAX] {
                assert_eq!(least(guess, [0, 20], |count| count >= threshold), threshold);
                assert_eq!(least(guess, [5, 9], |count| count >= threshold), threshold.clamp(5, 9));
            }
        }
        assert_eq!(least(7, [0, 20], |_| false), 20, "none is enough");
        assert_eq!(least(7, [3, 3], |_| false), 3);
    }

    #[test]
    fn a_near_guess_needs_few_calls() {
        for (guess, most) in [(100_000, 3), (100_001, 4), (99_997, 6), (0, 40)] {
            let calls = Cell::new(0);
            let is_enough = |count| {
                calls.set(calls.get() + 1);
                count >= 100_000
            };
            assert_eq!(least(guess, [0, 1_000_000], is_enough), 100_000);
            assert!(calls.get() <= most, "{guess}: {} calls", calls.get());
        }
    }
}
