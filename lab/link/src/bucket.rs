//! The token bucket: a rate limit that saves unused capacity up to a burst.

use rove_units::{BitRate, Bytes, Instant};

/// Tokens per byte. A token is a billionth of a bit, so a nanosecond adds as many tokens as the rate has bit/s.
const TOKENS_PER_BYTE: u128 = 8 * 1_000_000_000;

/// A token bucket, exact to the nanosecond. It starts full, like the kernel's token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    rate: BitRate,
    burst: Bytes,
    /// The tokens in the bucket at `counted_at`.
    tokens: u128,
    counted_at: Instant,
}

impl TokenBucket {
    pub(crate) fn new(rate: BitRate, burst: Bytes, now: Instant) -> Self {
        Self { rate, burst, tokens: price(burst), counted_at: now }
    }

    /// Changes rate and size from `now` on. The bucket keeps its tokens as far as the new size allows.
    pub(crate) fn reconfigure(&mut self, now: Instant, rate: BitRate, burst: Bytes) {
        self.count(now);
        self.rate = rate;
        self.burst = burst;
        self.tokens = self.tokens.min(price(burst));
    }

    /// Returns whether the bucket can ever hold enough tokens for a packet of `size`.
    pub(crate) fn can_pass(&self, size: Bytes) -> bool {
        size <= self.burst
    }

    /// Returns when the bucket has enough tokens for a packet for which [`Self::can_pass`] is true.
    pub(crate) fn ready(&self, size: Bytes) -> Instant {
        let missing = price(size).saturating_sub(self.tokens);
        let nanos = missing.div_ceil(self.rate.bits_per_second().into());
        self.counted_at + core::time::Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Removes the tokens for a packet that passes at `now`.
    pub(crate) fn take(&mut self, now: Instant, size: Bytes) {
        self.count(now);
        debug_assert!(price(size) <= self.tokens, "a packet passes when there are tokens for it");
        self.tokens = self.tokens.saturating_sub(price(size));
    }

    /// Returns when the tokens were last counted: at the last packet, the last reconfiguration or the start.
    pub(crate) const fn counted_at(&self) -> Instant {
        self.counted_at
    }

    fn count(&mut self, now: Instant) {
        let elapsed = now.saturating_since(self.counted_at).as_nanos();
        let earned = elapsed.saturating_mul(self.rate.bits_per_second().into());
        self.tokens = self.tokens.saturating_add(earned).min(price(self.burst));
        self.counted_at = self.counted_at.max(now);
    }
}

fn price(size: Bytes) -> u128 {
    u128::from(size.get()) * TOKENS_PER_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn bucket() -> TokenBucket {
        // The rate is a byte per millisecond.
        let rate = BitRate::from_bits_per_second(8_000).expect("above zero");
        TokenBucket::new(rate, Bytes::new(100), at(0))
    }

    #[test]
    fn a_full_bucket_passes_its_burst_at_once_and_the_rest_at_the_rate() {
        let mut bucket = bucket();
        let mut passed = Vec::new();
        for _ in 0..5 {
            let ready = bucket.ready(Bytes::new(50));
            bucket.take(ready, Bytes::new(50));
            passed.push(ready);
        }
        assert_eq!(passed, [at(0), at(0), at(50), at(100), at(150)]);
    }

    #[test]
    fn idle_time_fills_it_to_the_burst_and_no_more() {
        let mut bucket = bucket();
        bucket.take(at(0), Bytes::new(100));
        bucket.take(at(60), Bytes::new(60));
        assert_eq!(bucket.ready(Bytes::new(1)), at(61));
        bucket.take(at(10_000), Bytes::new(100));
        assert_eq!(bucket.ready(Bytes::new(100)), at(10_100));
        assert!(bucket.can_pass(Bytes::new(100)) && !bucket.can_pass(Bytes::new(101)));
    }

    #[test]
    fn a_new_rate_finds_the_tokens_capped_to_the_new_burst() {
        let mut bucket = bucket();
        bucket.take(at(0), Bytes::new(100));
        let double = BitRate::from_bits_per_second(16_000).expect("above zero");
        bucket.reconfigure(at(70), double, Bytes::new(40));
        assert_eq!(bucket.ready(Bytes::new(40)), at(70));
        bucket.take(at(70), Bytes::new(40));
        assert_eq!(bucket.ready(Bytes::new(40)), at(90));
    }
}
