//! How long the engine waits for an answer after a key's echo ack. By this ack the server says that programs had time
//! to answer the key. Hosts may be slower than the server assumes.

use rove_units::Duration;

use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::memory::Memory;

/// Timeout before a delay was measured. Chosen: twice the time from a key to its echo ack at a stock server.
const FIRST: Duration = Duration::from_millis(100);
/// Time added to the measured delay. [`MIN`] and [`MAX`] bound the timeout. Source: docs/prediction.md.
const MARGIN: Duration = Duration::from_millis(20);
const MIN: Duration = Duration::from_millis(40);
const MAX: Duration = Duration::from_millis(400);

/// An estimate of how late answers are, by mean and deviation as for a round-trip time (RFC 6298).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EchoTimeout {
    /// The mean and the mean deviation of the delays. `None` before the first answer.
    measured: Option<(Duration, Duration)>,
}

impl EchoTimeout {
    /// Records that an answer came `late` after its key's echo ack. `late` is zero if it came before the ack.
    pub(super) fn handle_answer(&mut self, late: Duration) {
        let late = late.min(MAX);
        self.measured = Some(match self.measured {
            None => (late, late / 2),
            Some((mean, deviation)) => {
                let difference = late.max(mean) - late.min(mean);
                // The gains are 1/8 for the mean and 1/4 for the deviation.
                ((mean * 7 + late) / 8, (deviation * 3 + difference) / 4)
            }
        });
        debug_assert!(
            self.measured.is_some_and(|(mean, deviation)| mean.max(deviation) <= MAX),
            "no answer counts as later than the longest wait"
        );
    }

    /// Returns how long after a key's echo ack the engine waits for the key's effect.
    pub(super) fn duration(self) -> Duration {
        match self.measured {
            None => FIRST,
            Some((mean, deviation)) => (mean + deviation * 4 + MARGIN).clamp(MIN, MAX),
        }
    }
}

/// The estimate for each prompt. Prompts with the same last characters share an estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoTimeouts {
    known: Memory<PromptId, EchoTimeout, NAMES_MAX>,
}

impl EchoTimeouts {
    /// Returns the estimate for prompts with the same last characters.
    pub(super) fn find(&self, key: ContextKey) -> EchoTimeout {
        self.known.find(&key.weak).copied().unwrap_or_default()
    }

    /// Records that an answer at this prompt came `late` after its key's echo ack.
    pub(super) fn handle_answer(&mut self, key: ContextKey, late: Duration) {
        self.known.entry(key.weak).handle_answer(late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_host_is_waited_for_and_a_fast_one_soon_again() {
        let ms = Duration::from_millis;
        let mut timeout = EchoTimeout::default();
        assert_eq!(timeout.duration(), FIRST);
        timeout.handle_answer(ms(300));
        assert_eq!(timeout.duration(), MAX);
        for _ in 0..30 {
            timeout.handle_answer(ms(300));
        }
        assert!(
            timeout.duration() > ms(300) && timeout.duration() < ms(330),
            "{:?}",
            timeout.duration()
        );
        for _ in 0..60 {
            timeout.handle_answer(Duration::ZERO);
        }
        assert_eq!(timeout.duration(), MIN);
        timeout.handle_answer(Duration::from_secs(100));
        assert!(timeout.duration() <= MAX);
    }
}
