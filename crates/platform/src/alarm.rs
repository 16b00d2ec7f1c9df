//! An alarm that ends a wait at a point in time.

pub use system::Alarm;

/// An alarm that rings in time even if the computer sleeps meanwhile, because its clock counts sleep.
///
/// The timeout of a system call such as ppoll does not count sleep. With only such a timeout, a client whose computer
/// wakes up would send up to a heartbeat interval too late.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(rove_portable)))]
mod system {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    use rove_units::{Duration, Instant};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    use crate::clock::Clock;

    /// A timer that ends a wait of the event loop at an absolute time. Its resolution is a nanosecond.
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
        /// Returns the error of the system call.
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
            Ok(Self { timer, set_to: None })
        }

        /// Sets the alarm to `deadline`. Returns `None`: [`Alarm::descriptor`] ends the wait, which needs no timeout.
        ///
        /// # Errors
        ///
        /// Returns the error of the system call.
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

/// An alarm without a timer, because the timeout of the system call ends the wait.
#[cfg(any(rove_portable, not(any(target_os = "linux", target_os = "android"))))]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use rove_units::{Duration, Instant};

    use crate::clock::Clock;

    /// An alarm that ends a wait of the event loop at an absolute time. Its resolution is a nanosecond.
    #[derive(Debug)]
    pub struct Alarm;

    impl Alarm {
        /// Creates an alarm.
        ///
        /// # Errors
        ///
        /// Returns no error on this system.
        pub fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Returns the timeout with which the wait ends at `deadline`.
        ///
        /// # Errors
        ///
        /// Returns no error on this system.
        pub fn set(&mut self, deadline: Instant, clock: Clock) -> io::Result<Option<Duration>> {
            Ok(Some(deadline.saturating_since(clock.now())))
        }

        /// Returns `None`, because the timeout of the system call ends the wait.
        pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            None
        }
    }
}
