//! Ends a wait at a point in time.

pub use system::Alarm;

/// An alarm that rings in time even if the computer has slept meanwhile.
///
/// The timeout of a system call such as ppoll stands still in sleep; a timer on the clock that counts
/// sleep does not. A client therefore sends again as the lid opens, not up to a heartbeat later.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use rove_units::{Duration, Instant};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    use crate::clock::Clock;

    /// Ends waits at absolute times, to the nanosecond.
    #[derive(Debug)]
    pub struct Alarm {
        timer: OwnedFd,
        set_to: Option<Instant>,
    }

    impl Alarm {
        /// Creates an alarm that is not set.
        ///
        /// # Errors
        ///
        /// Returns the system's refusal.
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
            Ok(Self { timer, set_to: None })
        }

        /// Sets the alarm. Returns how long the wait may last at most, `None` where
        /// [`Alarm::descriptor`] ends it.
        ///
        /// # Errors
        ///
        /// Returns the system's refusal.
        pub fn set(&mut self, deadline: Instant, clock: Clock) -> io::Result<Option<Duration>> {
            if self.set_to != Some(deadline) {
                let never = Timespec { tv_sec: i64::MAX, tv_nsec: 0 };
                let it_value = Timespec::try_from(clock.since_boot(deadline)).unwrap_or(never);
                let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
                let setting = Itimerspec { it_interval, it_value };
                timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
                self.set_to = Some(deadline);
            }
            Ok(None)
        }

        /// Returns the descriptor that becomes readable when the alarm rings.
        pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            Some(self.timer.as_fd())
        }
    }
}

/// An alarm by the timeout of the wait itself.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use rove_units::{Duration, Instant};

    use crate::clock::Clock;

    /// Ends waits at absolute times, to the nanosecond.
    #[derive(Debug)]
    pub struct Alarm;

    impl Alarm {
        /// Creates an alarm.
        ///
        /// # Errors
        ///
        /// Never returns one.
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Returns how long the wait may last at most.
        ///
        /// # Errors
        ///
        /// Never returns one.
        pub fn set(&mut self, deadline: Instant, clock: Clock) -> io::Result<Option<Duration>> {
            Ok(Some(deadline.saturating_since(clock.now())))
        }

        /// Returns that there is no descriptor to wait for.
        pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            None
        }
    }
}
