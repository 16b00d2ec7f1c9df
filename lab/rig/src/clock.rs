//! The only clock of all measurements and tests that run real programs.

use rove_units::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// Returns the time since the computer started.
pub fn now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    Instant::ZERO + Duration::try_from(time).expect("the machine has started")
}

/// Returns the seconds since `start`.
pub fn seconds_since(start: Instant) -> f64 {
    now().saturating_since(start).as_secs_f64()
}
