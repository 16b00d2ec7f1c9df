//! A client's record of the next heartbeat that its server has announced.

use rove_units::{Duration, Instant};

use super::backoff::{LATE, PAUSE_MAX};

/// The heartbeat that the server's newest instruction has announced, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnnouncedHeartbeat {
    /// The latest time at which the server sends again. `None` if its newest instruction announced nothing.
    until: Option<Instant>,
    /// Whether the announced pause is longer than Mosh's. A server announces such a pause only after an answer.
    is_long: bool,
    /// When the last long pause ended, if any did. The server has received all that this end sent before that time.
    kept_until: Option<Instant>,
    /// Whether this end still has to answer the announcing heartbeat.
    is_answer_due: bool,
}

impl AnnouncedHeartbeat {
    /// Called with each newest instruction of the server. `announced` is the pause until its next heartbeat, if it
    /// announces one. `heartbeat` is the usual interval.
    pub(crate) fn handle_heard(
        &mut self,
        now: Instant,
        announced: Option<Duration>,
        heartbeat: Duration,
    ) {
        if let Some(until) = self.until.take().filter(|_| self.is_long) {
            self.kept_until = Some(until.min(now));
        }
        if let Some(pause) = announced {
            self.until = Some(now + pause.min(PAUSE_MAX));
            self.is_long = pause > heartbeat;
            self.is_answer_due = true;
        }
    }

    /// Returns whether the client must still answer the announcing heartbeat. The next call returns false.
    pub(super) fn take_answer(&mut self) -> bool {
        core::mem::take(&mut self.is_answer_due)
    }

    /// Returns the time until which the server may be silent, as it has announced. `None` without an announcement.
    pub(crate) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Returns the time until which the server counts as receiving this end's datagrams. The time is the end of the
    /// present long pause, or of the last one. `None` before the first.
    pub(crate) fn kept_until(&self) -> Option<Instant> {
        self.until.filter(|_| self.is_long).or(self.kept_until)
    }

    /// Returns when the client sends by itself if the announced heartbeat has not come. `None` without an announcement.
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
    fn an_announcement_holds_until_anything_newer_is_heard() {
        let mut announced = AnnouncedHeartbeat::default();
        assert_eq!(announced.speaks_by(), None);
        announced.handle_heard(at(0), Some(Duration::from_secs(12)), HEARTBEAT);
        assert_eq!(
            (announced.until(), announced.speaks_by()),
            (Some(at(12_000)), Some(at(13_000)))
        );
        assert!(announced.take_answer());
        assert!(!announced.take_answer(), "once");
        announced.handle_heard(at(5_000), None, HEARTBEAT);
        assert_eq!((announced.until(), announced.speaks_by()), (None, None));
        assert_eq!(announced.kept_until(), Some(at(5_000)));
        assert!(!announced.take_answer());
    }

    #[test]
    fn a_server_that_announces_silence_for_ever_is_missed_all_the_same() {
        let mut announced = AnnouncedHeartbeat::default();
        announced.handle_heard(at(0), Some(Duration::MAX), HEARTBEAT);
        assert_eq!(announced.until(), Some(Instant::ZERO + PAUSE_MAX));
    }

    #[test]
    fn a_broken_announcement_counts_as_kept_until_it_was_due() {
        let mut announced = AnnouncedHeartbeat::default();
        announced.handle_heard(at(0), Some(Duration::from_secs(6)), HEARTBEAT);
        assert_eq!(announced.kept_until(), Some(at(6_000)));
        announced.handle_heard(at(20_000), Some(Duration::from_secs(3)), HEARTBEAT);
        assert_eq!(
            announced.kept_until(),
            Some(at(6_000)),
            "a server that hears nothing may announce this"
        );
        announced.handle_heard(at(21_000), Some(Duration::from_secs(12)), HEARTBEAT);
        announced.handle_heard(at(22_000), None, HEARTBEAT);
        assert_eq!(announced.kept_until(), Some(at(22_000)));
    }
}
