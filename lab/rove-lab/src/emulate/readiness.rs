//! Processors are kept from sleeping while packets come, where that is permitted.

use rove_net::cpu_latency::ReadyProcessors;
use rove_units::{Duration, Instant};

/// How long after the last packet processors may sleep again. Chosen: the pauses of a person who types are shorter, and
/// a link that nobody uses costs no electricity.
const HELD_FOR: Duration = Duration::from_secs(1);

/// Holds the request while packets come.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    request: Option<ReadyProcessors>,
    is_refused: bool,
    last_arrival: Instant,
}

impl Readiness {
    /// Keeps the processors awake, because packets have arrived.
    pub(super) fn handle_arrival(&mut self, now: Instant) {
        self.last_arrival = now;
        if self.request.is_none() && !self.is_refused {
            // Without it packets leave a little later, which shows in the run's lateness.
            self.request = ReadyProcessors::request().ok();
            self.is_refused = self.request.is_none();
        }
    }

    /// Lets processors sleep if no packets have come for a while.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.poll_timeout().is_some_and(|end| end <= now) {
            self.request = None;
        }
    }

    /// Returns when to call [`Readiness::handle_timeout`].
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.request.as_ref().map(|_| self.last_arrival + HELD_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_held_for_a_second_after_the_last_packet() {
        let mut readiness = Readiness::default();
        assert_eq!(readiness.poll_timeout(), None);
        readiness.handle_arrival(Instant::from_millis(100));
        readiness.handle_arrival(Instant::from_millis(500));
        if readiness.is_refused {
            println!("skipped: this user may not ask processors to stay ready");
            assert_eq!(readiness.poll_timeout(), None);
            return;
        }
        assert_eq!(readiness.poll_timeout(), Some(Instant::from_millis(1_500)));
        readiness.handle_timeout(Instant::from_millis(1_499));
        assert!(readiness.request.is_some());
        readiness.handle_timeout(Instant::from_millis(1_500));
        assert!(readiness.request.is_none() && readiness.poll_timeout().is_none());
        readiness.handle_arrival(Instant::from_millis(9_000));
        assert!(readiness.request.is_some(), "the next packet holds them again");
    }
}
