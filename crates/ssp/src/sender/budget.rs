//! A budget of bytes for the datagrams that rove sends beyond those of Mosh 1.4.0: a token bucket.

use rove_units::{Bytes, Duration, Instant};

/// Bytes that the budget grows by each second, headers included. Chosen: 5 % of a path of 512 kbit/s. A user who types
/// five keys a second at 29 % loss needs about 3 kB/s for repeated contents.
pub(super) const PER_SECOND: u64 = 3_200;

/// Maximum number of bytes saved up for datagrams beyond those of Mosh 1.4.0. Chosen: what two seconds add.
pub(super) const SAVED_MAX: Bytes = Bytes::new(6_400);
const _: () = assert!(SAVED_MAX.get() == 2 * PER_SECOND);

/// Bytes of headers in each datagram. Chosen: IPv4 and UDP 28, nonce, tag and timestamps 28, fragment 10.
const HEADERS: usize = 66;

/// Approximate number of bytes of an instruction without its diff.
const SURROUNDINGS: usize = 20;

/// The bytes left to spend, and when they were last counted.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    left: Bytes,
    refilled_at: Instant,
}

impl Budget {
    pub(super) const fn new(now: Instant) -> Self {
        Self { left: SAVED_MAX, refilled_at: now }
    }

    /// Refills the budget up to `now`, then subtracts `bytes` from it, down to zero.
    pub(super) fn spend(&mut self, now: Instant, bytes: u64) {
        self.refill(now);
        self.left = Bytes::new(self.left.get().saturating_sub(bytes));
    }

    /// Returns when the budget is enough for `bytes`.
    pub(super) fn affordable_at(&self, bytes: u64) -> Instant {
        let short = bytes.saturating_sub(self.left.get());
        let wait = u128::from(short) * 1_000_000_000 / u128::from(PER_SECOND);
        self.refilled_at + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_since(self.refilled_at).as_nanos();
        let earned = elapsed * u128::from(PER_SECOND) / 1_000_000_000;
        let earned = u64::try_from(earned).unwrap_or(u64::MAX);
        if earned > 0 {
            self.left = SAVED_MAX.min(Bytes::new(self.left.get().saturating_add(earned)));
            self.refilled_at = now;
        }
        debug_assert!(self.left <= SAVED_MAX);
    }
}

/// Returns the size of a datagram with a diff of `diff_len` bytes, before compression and with headers, in bytes.
pub(super) fn cost(diff_len: usize) -> u64 {
    on_the_path(1, diff_len.saturating_add(SURROUNDINGS))
}

/// Returns the size of `datagrams` datagrams with `contents` bytes in all, with headers, in bytes.
pub(super) fn on_the_path(datagrams: usize, contents: usize) -> u64 {
    let bytes = datagrams.saturating_mul(HEADERS).saturating_add(contents);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn no_more_is_spent_than_is_earned_and_was_saved() {
        let mut budget = Budget::new(at(0));
        let (mut now, mut spent) = (at(0), 0);
        for bytes in (1..=1_000).cycle().take(5_000) {
            now = now.max(budget.affordable_at(bytes));
            budget.spend(now, bytes);
            spent += bytes;
        }
        let earned = 3_200 * now.as_nanos().div_ceil(1_000_000_000) + 6_400;
        assert!(spent <= earned && spent + 2 * SAVED_MAX.get() > earned, "{spent} of {earned}");
    }

    #[test]
    fn a_long_rest_saves_no_more_than_two_seconds() {
        let mut budget = Budget::new(at(0));
        budget.spend(at(0), u64::MAX);
        assert_eq!(budget.affordable_at(3_200), at(1_000));
        budget.spend(at(1_000_000), 0);
        assert_eq!(budget.affordable_at(SAVED_MAX.get()), at(1_000_000));
        assert!(budget.affordable_at(SAVED_MAX.get() + 1) > at(1_000_000));
        assert!(budget.affordable_at(u64::MAX) > at(1_000_000), "no overflow");
    }
}
