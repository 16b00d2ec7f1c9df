//! Which input has had time to take effect: the echo ack.

use std::collections::VecDeque;

use rove_ssp::StateNum;
use rove_units::{Duration, Instant};

/// How long a program gets to answer a key before the screen counts as showing its effect.
/// Source: Mosh 1.4.0 as observed, docs/wire.md; the Mosh paper (USENIX ATC 2012), section 3.2.
pub(crate) const ECHO_DELAY: Duration = Duration::from_millis(50);

/// Most deliveries remembered. Chosen: one per millisecond of [`ECHO_DELAY`] is more than any link's
/// frame interval lets through; beyond it the newest two become one, which only acknowledges later.
const HISTORY_MAX: usize = 64;

/// The client's states whose input was handed to the program, until the program had time to echo.
#[derive(Clone, Debug, Default)]
pub(crate) struct EchoHistory {
    /// Deliveries not yet acknowledged, oldest first.
    deliveries: VecDeque<(StateNum, Instant)>,
    acknowledged: StateNum,
}

impl EchoHistory {
    /// Notes that all input up to the client's state `num` has been delivered.
    pub(crate) fn delivered(&mut self, num: StateNum, now: Instant) {
        if self.deliveries.len() == HISTORY_MAX {
            self.deliveries.pop_back();
        }
        self.deliveries.push_back((num, now));
    }

    /// Moves the echo ack forward to what has had its time; returns whether it moved.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let before = self.acknowledged;
        while let Some((num, _)) = self.deliveries.pop_front_if(|(_, at)| *at + ECHO_DELAY <= now) {
            self.acknowledged = self.acknowledged.max(num);
        }
        self.acknowledged != before
    }

    /// Returns the newest state of the client's whose input has had its time.
    pub(crate) const fn acknowledged(&self) -> StateNum {
        self.acknowledged
    }

    /// Returns when [`EchoHistory::advance`] next moves the echo ack.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deliveries.front().map(|(_, at)| *at + ECHO_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn input_is_acknowledged_fifty_milliseconds_after_its_delivery() {
        let mut history = EchoHistory::default();
        assert_eq!(history.poll_timeout(), None);
        history.delivered(StateNum::new(3), ms(10));
        history.delivered(StateNum::new(4), ms(30));
        for (now, moved, acknowledged, wake) in [
            (59, false, 0, Some(60)),
            (60, true, 3, Some(80)),
            (79, false, 3, Some(80)),
            (80, true, 4, None),
            (90, false, 4, None),
        ] {
            assert_eq!(history.advance(ms(now)), moved, "at {now} ms");
            assert_eq!(history.acknowledged(), StateNum::new(acknowledged), "at {now} ms");
            assert_eq!(history.poll_timeout(), wake.map(ms), "at {now} ms");
        }
    }

    #[test]
    fn a_flood_is_acknowledged_late_rather_than_remembered() {
        for (flood, remembered) in [(HISTORY_MAX, HISTORY_MAX), (HISTORY_MAX + 1, HISTORY_MAX)] {
            let mut history = EchoHistory::default();
            for num in 1..=flood {
                let num = u64::try_from(num).unwrap();
                history.delivered(StateNum::new(num), ms(num));
            }
            assert_eq!(history.deliveries.len(), remembered);
            let last = u64::try_from(flood).unwrap();
            history.advance(ms(last + 49));
            assert!(history.acknowledged() < StateNum::new(last));
            history.advance(ms(last + 50));
            assert_eq!(history.acknowledged(), StateNum::new(last));
        }
    }
}
