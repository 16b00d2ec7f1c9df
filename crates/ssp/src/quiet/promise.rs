//! A server's promise to its client: when it speaks again.

use rove_units::{Duration, Instant};

use crate::quiet::PAUSE_MAX;

/// How late a promised heartbeat may be before the client speaks up. Chosen: a queue makes datagrams late by less, and an
/// answer to its word then comes before the notice of a lost contact, 3.5 s after the heartbeat was due.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// The newest word of the server's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promise {
    /// When the server speaks again at the latest, if its newest word said so.
    until: Option<Instant>,
    /// Whether that is later than a server speaks that promises nothing: it then hears us.
    is_long: bool,
    /// Until when the newest long promise before that was kept, or had no time to be broken.
    kept_until: Option<Instant>,
    /// Whether the heartbeat is still to be answered.
    is_answer_due: bool,
}

impl Promise {
    /// Called with the server's newest word, and the pause that it promises, if it does.
    pub(crate) fn handle_heard(
        &mut self,
        now: Instant,
        promise: Option<Duration>,
        heartbeat: Duration,
    ) {
        if let Some(until) = self.until.take().filter(|_| self.is_long) {
            self.kept_until = Some(until.min(now));
        }
        if let Some(pause) = promise {
            self.until = Some(now + pause.min(PAUSE_MAX));
            self.is_long = pause > heartbeat;
            self.is_answer_due = true;
        }
    }

    /// Returns whether an answer was due, once.
    pub(super) fn take_answer(&mut self) -> bool {
        core::mem::take(&mut self.is_answer_due)
    }

    /// Returns until when the server may be silent.
    pub(crate) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Returns until when a server that hears us has spoken as it had promised, or may be silent.
    pub(crate) fn kept_until(&self) -> Option<Instant> {
        self.until.filter(|_| self.is_long).or(self.kept_until)
    }

    /// Returns from when on the client misses the server.
    pub(super) fn speaks_by(&self) -> Option<Instant> {
        self.until.map(|until| until + LATE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEARTBEAT: Duration = Duration::from_secs(3);

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_promise_holds_until_anything_newer_is_heard() {
        let mut promise = Promise::default();
        assert_eq!(promise.speaks_by(), None);
        promise.handle_heard(at(0), Some(Duration::from_secs(12)), HEARTBEAT);
        assert_eq!((promise.until(), promise.speaks_by()), (Some(at(12_000)), Some(at(13_000))));
        assert!(promise.take_answer());
        assert!(!promise.take_answer(), "once");
        promise.handle_heard(at(5_000), None, HEARTBEAT);
        assert_eq!((promise.until(), promise.speaks_by()), (None, None));
        assert_eq!(promise.kept_until(), Some(at(5_000)));
        assert!(!promise.take_answer());
    }

    #[test]
    fn a_server_that_promises_silence_for_ever_is_missed_all_the_same() {
        let mut promise = Promise::default();
        promise.handle_heard(at(0), Some(Duration::MAX), HEARTBEAT);
        assert_eq!(promise.until(), Some(Instant::ZERO + PAUSE_MAX));
    }

    #[test]
    fn a_broken_promise_counts_as_kept_until_it_was_due() {
        let mut promise = Promise::default();
        promise.handle_heard(at(0), Some(Duration::from_secs(6)), HEARTBEAT);
        assert_eq!(promise.kept_until(), Some(at(6_000)));
        promise.handle_heard(at(20_000), Some(Duration::from_secs(3)), HEARTBEAT);
        assert_eq!(
            promise.kept_until(),
            Some(at(6_000)),
            "a server may promise this that hears nothing"
        );
        promise.handle_heard(at(21_000), Some(Duration::from_secs(12)), HEARTBEAT);
        promise.handle_heard(at(22_000), None, HEARTBEAT);
        assert_eq!(promise.kept_until(), Some(at(22_000)));
    }
}
