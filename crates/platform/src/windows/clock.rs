//! The only clock of the program.

use rove_units::{Duration, Instant};

/// A clock that counts the time since its start, also while the computer sleeps, as Windows' performance counter does.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
}

impl Clock {
    /// Starts a clock, which shows [`Instant::ZERO`] at this moment.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// Returns the time since the start of this clock.
    pub fn now(&self) -> Instant {
        let elapsed: Duration = self.origin.elapsed();
        Instant::ZERO + elapsed
    }
}
