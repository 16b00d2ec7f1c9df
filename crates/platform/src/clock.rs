//! The program's only clock.

use rove_units::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// The clock that sessions run on: never set, never stepped, and it counts while the computer
/// sleeps.
///
/// Sleep must count. After a night of sleep the peer has been silent for a night. The notice should say
/// so, a timestamp held since then must not count as a round trip, and a client should try a new port
/// at once, as its old address mapping is gone. A clock that stands still in sleep, as
/// `CLOCK_MONOTONIC` does on Linux, would hide all of that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
/// Elsewhere the monotonic clock itself counts through sleep, or nothing better exists.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// Counts the time since it was started. Copies, and forked processes, agree on it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Duration,
}

impl Clock {
    /// Starts a clock: it is [`Instant::ZERO`] now.
    pub fn start() -> Self {
        Self { origin: read() }
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Instant {
        Instant::ZERO + read().saturating_sub(self.origin)
    }

    /// Returns what the system's clock shows at `instant`.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn since_boot(&self, instant: Instant) -> Duration {
        self.origin.saturating_add(instant.saturating_since(Instant::ZERO))
    }
}

/// Returns the time of day, in seconds since 1970. It is set and stepped, so it tells people when
/// something was and nothing else.
pub fn unix_seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::Realtime).tv_sec).unwrap_or_default()
}

/// Reads the time since the computer started.
fn read() -> Duration {
    Duration::try_from(clock_gettime(CLOCK)).expect("the time since boot is not negative")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards_and_copies_agree() {
        let clock = Clock::start();
        let copy = clock;
        let first = clock.now();
        let second = copy.now();
        assert!(first <= second && second <= clock.now());
        assert!(second.saturating_since(first) < Duration::from_secs(60));
    }
}
