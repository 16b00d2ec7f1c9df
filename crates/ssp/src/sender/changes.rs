//! The changes that wait for the next frame (a sent diff): since when they wait, and whether a held key made them. The
//! peer's user may wait for a change.

use rove_units::{Duration, Instant};

/// Longest time between two changes that count as made by a held key. Chosen: keyboards repeat a key 25 to 33 times a
/// second. Hardly anybody types two keys in so short a time.
const HELD_INTERVAL_MAX: Duration = Duration::from_millis(45);

/// Minimum number of waiting changes that count as made by a held key. Chosen: docs/timing.md, "A key that is held";
/// with a frame for each key, pages would take 50 % more bytes.
const HELD_MIN: u32 = 2;

/// The changes of the local object since the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    waiting: u32,
    /// The time since which changes are collected for the next frame. `None` if no change waits.
    since: Option<Instant>,
    /// Whether the peer's user waits for one of the changes.
    is_awaited: bool,
    /// When the newest change was first noticed by the timers. `None` until they have run.
    newest_at: Option<Instant>,
    /// When the change before the newest was first noticed. `None` without an earlier change.
    before_at: Option<Instant>,
    /// Whether the object has changed although its diff is empty, so that no frame is due.
    pub(super) nothing_to_say: bool,
}

impl Changes {
    /// Called when the object has changed; the timers notice the change when they next run.
    pub(super) fn handle_change(&mut self) {
        self.waiting = self.waiting.saturating_add(1);
        self.before_at = self.newest_at.take().or(self.before_at);
    }

    /// Called when a frame is sent, which carries all waiting changes.
    pub(super) fn handle_frame(&mut self) {
        self.waiting = 0;
    }

    /// Called when an instruction is sent, or when the diff turns out to be empty (`says_nothing`).
    pub(super) fn handle_sent(&mut self, says_nothing: bool) {
        (self.since, self.nothing_to_say) = (None, says_nothing);
    }

    pub(super) const fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Returns the time since which changes are collected. It is `now` for the first change, and also for the first
    /// change for which the peer's user waits. So earlier changes do not shorten its collection time.
    pub(super) fn collected_since(&mut self, now: Instant, is_awaited: bool) -> Instant {
        let before = self.since.filter(|_| self.is_awaited || !is_awaited);
        self.is_awaited = is_awaited;
        *self.since.insert(before.unwrap_or(now))
    }

    /// Returns when the timers first noticed the newest change, which is `now` if they have not run since.
    pub(super) fn notice(&mut self, now: Instant) -> Instant {
        *self.newest_at.get_or_insert(now)
    }

    /// Returns whether the waiting changes follow each other as fast as the repeats of a held key.
    pub(super) fn are_of_held_key(&self) -> bool {
        let interval = self.newest_at.zip(self.before_at);
        self.waiting >= HELD_MIN
            && interval.is_some_and(|(newest, before)| newest <= before + HELD_INTERVAL_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes changes at these times in ms. Returns for each whether the changes so far count as made by a held key.
    fn held(times: &[u64]) -> Vec<bool> {
        let mut changes = Changes::default();
        let mut note = |at: &u64| {
            changes.handle_change();
            changes.notice(Instant::from_millis(*at));
            changes.are_of_held_key()
        };
        times.iter().map(&mut note).collect()
    }

    #[test]
    fn a_held_key_is_known_by_its_pace() {
        assert_eq!(held(&[0, 33, 66, 99]), [false, true, true, true]);
        assert_eq!(held(&[0, 45, 91, 140]), [false, true, false, false], "somebody types");
        assert_eq!(held(&[0, 0]), [false, true], "a paste");
    }

    #[test]
    fn a_change_that_somebody_waits_for_is_collected_from_its_own_time_on() {
        let mut changes = Changes::default();
        let mut at = |at, is_awaited| {
            changes.collected_since(Instant::from_millis(at), is_awaited).as_millis()
        };
        assert_eq!([at(0, false), at(40, false)], [0, 0]);
        assert_eq!([at(50, true), at(51, true), at(52, false)], [50, 50, 50]);
        changes.handle_sent(false);
        assert_eq!(changes.since(), None);
        let at = |changes: &mut Changes, at| {
            changes.collected_since(Instant::from_millis(at), true).as_millis()
        };
        assert_eq!([at(&mut changes, 60), at(&mut changes, 61)], [60, 60]);
    }

    #[test]
    fn a_frame_takes_along_what_waits() {
        let mut changes = Changes::default();
        for (at, is_held) in [(0, false), (33, true), (66, false), (99, true)] {
            changes.handle_change();
            let at = Instant::from_millis(at);
            assert_eq!(changes.notice(at), at);
            assert_eq!(changes.notice(at + Duration::from_millis(5)), at, "known before");
            assert_eq!(changes.are_of_held_key(), is_held, "{at:?}");
            if is_held {
                changes.handle_frame();
            }
        }
    }
}
