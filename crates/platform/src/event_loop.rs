//! Waits for descriptors, for signals and for an absolute deadline.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rove_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::idle_turns::IdleTurns;
use crate::select;

/// A descriptor to wait for, and the events found on it.
#[derive(Debug)]
pub struct Interest<'fd> {
    descriptor: BorrowedFd<'fd>,
    wanted: PollFlags,
    found: PollFlags,
}

impl<'fd> Interest<'fd> {
    /// Creates an interest in data to read, in room to write, or in both. With neither, only an error or a hang-up of
    /// `descriptor` ends the wait.
    pub fn new(descriptor: BorrowedFd<'fd>, read: bool, write: bool) -> Self {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, read);
        wanted.set(PollFlags::OUT, write);
        Self { descriptor, wanted, found: PollFlags::empty() }
    }

    /// Returns whether a read was wanted and would not block: there is data, the end of the stream or an error.
    pub fn is_readable(&self) -> bool {
        self.wanted.contains(PollFlags::IN) && self.found.intersects(ENDED | PollFlags::IN)
    }

    /// Returns whether a write was wanted and would not block: it would take some bytes or fail.
    pub fn is_writable(&self) -> bool {
        self.wanted.contains(PollFlags::OUT) && self.found.intersects(ENDED | PollFlags::OUT)
    }

    /// Returns whether a wanted read or write does not block.
    pub fn is_ready(&self) -> bool {
        self.is_readable() || self.is_writable()
    }
}

/// The events that the system reports even if nobody asks for them: a descriptor has ended or failed.
const ENDED: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

/// An event loop, which is the only place where a program waits.
#[derive(Debug)]
pub struct EventLoop {
    clock: Clock,
    alarm: Alarm,
    signals: SignalDelivery<UnixStream, SignalOnly>,
    /// Whether a signal has ended a wait since [`EventLoop::take_signals`] was last called.
    is_signalled: bool,
    idle_turns: IdleTurns,
}

impl EventLoop {
    /// Creates a loop that these signals also wake. The signals lose their default effect.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call for the signal pipe, a handler or a timer.
    pub fn new(clock: Clock, signals: &[i32]) -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let signals = SignalDelivery::with_pipe(read, write, SignalOnly, signals)?;
        let (alarm, idle_turns) = (Alarm::new()?, IdleTurns::default());
        Ok(Self { clock, alarm, signals, is_signalled: false, idle_turns })
    }

    /// Returns the current time. Read it once per turn of the loop, directly after the wait.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Waits until a descriptor of `interests` is ready, a signal has arrived, or `deadline` (if any) has passed.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call. An interruption is an ordinary wake-up, and no error.
    pub fn wait(
        &mut self,
        interests: &mut [Interest<'_>],
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        let overdue = deadline.is_some_and(|deadline| deadline <= self.clock.now());
        let timeout = match (deadline, self.idle_turns.begin(overdue)) {
            (None, _) => None,
            (Some(_), Some(wait)) => Some(wait),
            (Some(deadline), None) => self.alarm.set(deadline, self.clock)?,
        };
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut alarm = None;
        if deadline.is_some() && timeout.is_none() {
            alarm = self.alarm.descriptor();
        }
        let signals = self.signals.get_read().as_fd();
        let (is_met, is_signalled) = poll_all(interests, signals, alarm, timeout.as_ref())?;
        self.is_signalled |= is_signalled;
        if is_met {
            self.idle_turns.end();
        }
        Ok(())
    }

    /// Checks the descriptors without waiting, for a turn of the loop that already has something to do.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn look(&mut self, interests: &mut [Interest<'_>]) -> io::Result<()> {
        self.idle_turns.end();
        let signals = self.signals.get_read().as_fd();
        let (_, is_signalled) = poll_all(interests, signals, None, Some(&Timespec::default()))?;
        self.is_signalled |= is_signalled;
        Ok(())
    }

    /// Returns the signals that arrived during the waits since the last call. The call is cheap if none arrived.
    pub fn take_signals(&mut self) -> Vec<i32> {
        match std::mem::take(&mut self.is_signalled) {
            true => self.signals.pending().collect(),
            false => Vec::new(),
        }
    }
}

/// Waits for a descriptor, a signal or the alarm. Returns whether a descriptor is ready, and whether a signal arrived.
fn poll_all(
    interests: &mut [Interest<'_>],
    signals: BorrowedFd<'_>,
    alarm: Option<BorrowedFd<'_>>,
    timeout: Option<&Timespec>,
) -> io::Result<(bool, bool)> {
    let wanted = interests.iter().map(|interest| (interest.descriptor, interest.wanted));
    let others = [Some(signals), alarm].into_iter().flatten().map(|other| (other, PollFlags::IN));
    let wanted: Vec<(BorrowedFd<'_>, PollFlags)> = wanted.chain(others).collect();
    let mut descriptors: Vec<PollFd<'_>> =
        wanted.iter().map(|&(fd, wanted)| PollFd::from_borrowed_fd(fd, wanted)).collect();
    match poll(&mut descriptors, timeout) {
        Ok(_) => {}
        // The signal that interrupted the wait counts as a signal of this loop.
        Err(rustix::io::Errno::INTR) => return Ok((false, true)),
        Err(errno) => return Err(errno.into()),
    }
    let mut found: Vec<PollFlags> = descriptors.iter().map(PollFd::revents).collect();
    select::wait_if_refused(&wanted, timeout, &mut found);
    let is_signalled = found.get(interests.len()).is_some_and(|found| !found.is_empty());
    for (interest, found) in interests.iter_mut().zip(found) {
        interest.found = found;
    }
    Ok((interests.iter().any(|interest| !interest.found.is_empty()), is_signalled))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rove_units::Duration;

    use super::*;
    use crate::idle_turns::{IDLE_TURN_WAIT, IDLE_TURNS_MAX};

    #[test]
    fn a_wait_ends_at_its_deadline_and_not_before() {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let mut latest = Duration::ZERO;
        for _ in 0..20 {
            let deadline = events.now() + Duration::from_millis(3);
            // A stray signal may end a wait early, so the loop waits again.
            while events.now() < deadline {
                events.wait(&mut [], Some(deadline)).unwrap();
            }
            latest = latest.max(events.now().saturating_since(deadline));
        }
        println!("latest wake-up: {latest:?} after its deadline");
        assert!(latest < Duration::from_secs(120), "only a hang guard: {latest:?}");
    }

    #[test]
    fn a_descriptor_is_reported_for_what_was_asked() {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(b"x").unwrap();
        for (read, write) in [(true, false), (false, true), (true, true)] {
            let mut interests = [Interest::new(near.as_fd(), read, write)];
            events.wait(&mut interests, None).unwrap();
            assert_eq!(interests[0].is_readable(), read);
            assert_eq!(interests[0].is_writable(), write);
        }
        drop(far);
        let mut interests = [Interest::new(near.as_fd(), true, false)];
        events.wait(&mut interests, None).unwrap();
        assert!(interests[0].is_readable(), "the end of a stream is something to read");
    }

    #[test]
    fn a_look_waits_for_nothing_and_sees_what_is_there() {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        for is_there in [false, true] {
            if is_there {
                far.write_all(b"x").unwrap();
            }
            let mut interests = [Interest::new(near.as_fd(), true, false)];
            events.look(&mut interests).unwrap();
            assert_eq!(interests[0].is_readable(), is_there);
        }
    }

    #[test]
    fn a_signal_ends_the_wait_and_is_reported_once() {
        let mut events = EventLoop::new(Clock::start(), &[signal_hook::consts::SIGWINCH]).unwrap();
        signal_hook::low_level::raise(signal_hook::consts::SIGWINCH).unwrap();
        events.wait(&mut [], None).unwrap();
        assert_eq!(events.take_signals(), [signal_hook::consts::SIGWINCH]);
        assert_eq!(events.take_signals(), [0; 0]);
    }

    #[test]
    fn a_deadline_that_stays_in_the_past_does_not_spin() {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let start = events.now();
        for _ in 0..=IDLE_TURNS_MAX {
            events.wait(&mut [], Some(Instant::ZERO)).unwrap();
        }
        assert!(events.now().saturating_since(start) >= IDLE_TURN_WAIT);
    }
}
