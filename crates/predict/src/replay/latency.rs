//! How soon keys are answered. An answer is unlikely to come much sooner than all recent answers.

use rove_terminal::InputNum;
use rove_units::{Duration, Instant};

/// Number of newest answers whose times are kept. Chosen: a few words, so that a host's higher speed is soon known.
const ANSWERS: usize = 16;

/// The times from typing a key to its answer, for recent keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    ages: [Duration; ANSWERS],
    count: usize,
    /// The newest input that has reached the host, and when the client learned this.
    heard: (InputNum, Instant),
}

impl Latency {
    /// Records that `input` has reached the host.
    pub(super) fn note_arrived(&mut self, now: Instant, input: InputNum) {
        if self.heard.0 != input {
            self.heard = (input, now);
        }
    }

    /// Returns how old a key was when the client last heard of new input at the host. Zero for a later key.
    pub(super) const fn age_when_heard(&self, typed_at: Instant) -> Duration {
        self.heard.1.saturating_since(typed_at)
    }

    /// Records that a key was answered after the time `age`.
    pub(super) fn handle_answer(&mut self, age: Duration) {
        self.ages[self.count % ANSWERS] = age;
        self.count += 1;
        if self.count == 2 * ANSWERS {
            // The count matters only as an index, and for whether all entries are filled.
            self.count = ANSWERS;
        }
        debug_assert!(self.count < 2 * ANSWERS, "the count stays within its two rounds");
    }

    /// Returns whether `age` is less than 3/4 of the shortest of the last [`ANSWERS`] answer times. A screen that would
    /// mean so quick an answer is probably older than the key. False with fewer answers. Chosen: 3/4.
    pub(super) fn is_too_soon(&self, age: Duration) -> bool {
        let soonest = self.ages.iter().min().copied().unwrap_or_default();
        self.count >= ANSWERS && age < soonest * 3 / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_would_be_the_soonest_by_far_is_too_soon() {
        let ms = Duration::from_millis;
        let mut latency = Latency::default();
        for age in 0..16 {
            assert!(!latency.is_too_soon(ms(0)), "not enough is known");
            latency.handle_answer(ms(400 + age));
        }
        assert!(latency.is_too_soon(ms(299)) && !latency.is_too_soon(ms(300)));
        // The path becomes faster.
        latency.handle_answer(ms(100));
        for age in 0..40 {
            assert_eq!(latency.is_too_soon(ms(299)), age >= 16, "{age}");
            latency.handle_answer(ms(400));
        }
    }
}
