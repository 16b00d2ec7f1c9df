//! The only clock of the program.

use rove_units::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// The system clock behind [`Clock`]. It is never set or stepped, and it counts while the computer sleeps.
///
/// Sleep must count, because the peer has been silent all night if the computer slept all night. The client's notice of
/// a silent server should show that time. A timestamp that the peer sent before the sleep must not be echoed after it.
/// The peer would count the sleep as round trip. A client should try a new port at once, because the old address
/// mapping is gone. `CLOCK_MONOTONIC` of Linux does not count sleep.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(rove_portable)))]
const CLOCK: ClockId = ClockId::Boottime;
/// On other systems, the monotonic clock counts sleep, or no clock of the system counts sleep.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// A clock that counts the time since its start. Its copies show the same time, even in forked processes.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Duration,
}

impl Clock {
    /// Starts a clock, which shows [`Instant::ZERO`] at this moment.
    pub fn start() -> Self {
        Self { origin: read() }
    }

    /// Returns the time since the start of this clock.
    pub fn now(&self) -> Instant {
        Instant::ZERO + read().saturating_sub(self.origin)
    }

    /// Converts `instant` to the time since boot, as the system's clock counts it.
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(rove_portable)))]
    pub fn since_boot(&self, instant: Instant) -> Duration {
        self.origin.saturating_add(instant.saturating_since(Instant::ZERO))
    }
}

/// Returns the time of day, in seconds since 1970. It can be set and stepped, so use it only to tell people a time.
pub fn unix_seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::Realtime).tv_sec).unwrap_or_default()
}

/// Returns the time since the computer started.
#[cfg(not(any(rove_portable, target_vendor = "apple")))]
fn read() -> Duration {
    Duration::try_from(clock_gettime(CLOCK)).expect("the time since boot is not negative")
}

/// Returns the time since the computer started. On macOS, this clock is `mach_continuous_time`, which counts sleep.
/// `CLOCK_MONOTONIC` of macOS follows the time of day, and has run backwards (erlang/otp#5825).
#[cfg(any(rove_portable, target_vendor = "apple"))]
fn read() -> Duration {
    let raw = nix::time::ClockId::from_raw(libc::CLOCK_MONOTONIC_RAW);
    nix::time::clock_gettime(raw).expect("macOS has this clock since 10.12").into()
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
