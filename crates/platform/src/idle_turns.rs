//! Turns of an event loop that find nothing to do.

use rove_units::Duration;

/// Most turns of an event loop in a row with a passed deadline and nothing ready. The next turn waits, because a
/// deadline that stays in the past would otherwise keep a processor busy. Source: Mosh 1.4.0 as observed.
pub(crate) const IDLE_TURNS_MAX: u32 = 10;
/// How long the turn after [`IDLE_TURNS_MAX`] idle turns waits. Source: Mosh 1.4.0 as observed.
pub(crate) const IDLE_TURN_WAIT: Duration = Duration::from_millis(1);

const _: () = assert!(!IDLE_TURN_WAIT.is_zero(), "a wait of no time would not spare the processor");

/// The number of turns in a row whose deadline had passed and that found nothing to do.
#[derive(Debug, Default)]
pub(crate) struct IdleTurns(u32);

impl IdleTurns {
    /// Counts a turn. Returns its wait if it `is_overdue`: zero at first, then [`IDLE_TURN_WAIT`]. Otherwise `None`.
    pub(crate) fn begin(&mut self, is_overdue: bool) -> Option<Duration> {
        self.0 = if is_overdue { self.0.saturating_add(1) } else { 0 };
        if self.0 == IDLE_TURNS_MAX + 1 {
            tracing::warn!(turns = IDLE_TURNS_MAX, "polling without anything to do");
        }
        let wait = if self.0 > IDLE_TURNS_MAX { IDLE_TURN_WAIT } else { Duration::ZERO };
        is_overdue.then_some(wait)
    }

    /// Records that a turn has something to do.
    pub(crate) const fn end(&mut self) {
        self.0 = 0;
    }
}
