//! Waits for datagrams, for keys, for the end of the console and for an absolute deadline.

use std::io;
use std::net::UdpSocket;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};

use rove_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::Clock;
use crate::idle_turns::IdleTurns;
use crate::sys;
use crate::tty::Tty;

/// Longest wait of one call, in milliseconds. The caller's loop then turns without an event. Chosen: below `INFINITE`.
const WAIT_MAX_MS: u32 = 4_294_967_294;

/// A source to wait for, and whether the last wait found something to read there.
#[derive(Debug)]
pub struct Interest<'a> {
    source: Source<'a>,
    is_met: bool,
}

#[derive(Debug)]
enum Source<'a> {
    Socket(&'a UdpSocket),
    Keys(BorrowedHandle<'a>),
}

impl<'a> Interest<'a> {
    /// Creates an interest in datagrams to read.
    pub const fn datagrams(socket: &'a UdpSocket) -> Self {
        Self { source: Source::Socket(socket), is_met: false }
    }

    /// Creates an interest in keys, and in changes of the window.
    pub fn keys(terminal: &'a Tty) -> Self {
        Self { source: Source::Keys(terminal.input()), is_met: false }
    }

    /// Returns whether a read would find something or fail, and so would not block.
    pub const fn is_readable(&self) -> bool {
        self.is_met
    }
}

/// An event loop, which is the only place where a program waits.
#[derive(Debug)]
pub struct EventLoop {
    clock: Clock,
    /// The event that Winsock sets when a datagram arrives at any socket of a wait.
    arrival: OwnedHandle,
    /// The event that Windows sets when the console or login ends, at Ctrl-Break, and at a Ctrl-C in place of a key.
    report: OwnedHandle,
    idle_turns: IdleTurns,
}

impl EventLoop {
    /// Creates a loop that also wakes when the user closes the console, logs off or presses Ctrl-Break. After a close
    /// or logoff, Windows gives the program some seconds for an orderly end.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let (arrival, report) = (sys::new_event()?, sys::new_event()?);
        sys::set_at_report(&report)?;
        Ok(Self { clock, arrival, report, idle_turns: IdleTurns::default() })
    }

    /// Returns the current time. Read it once per turn of the loop, directly after the wait.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Returns whether the user has closed the console, logged off or pressed Ctrl-Break since the last call.
    pub fn take_end(&mut self) -> bool {
        sys::take_end()
    }

    /// Returns whether the console has reported a Ctrl-C in place of a key since the last call, as Wine's does.
    pub fn take_interruption(&mut self) -> bool {
        sys::take_interruption()
    }

    /// Waits until a source can be read, the console reports its end or a Ctrl-C, or `deadline` (if any) has passed.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn wait(
        &mut self,
        interests: &mut [Interest<'_>],
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        let left = deadline.map(|deadline| deadline.saturating_since(self.clock.now()));
        let is_overdue = left.is_some_and(|left| left.is_zero());
        let left = self.idle_turns.begin(is_overdue).or(left);
        let mut handles = vec![self.report.as_handle(), self.arrival.as_handle()];
        for interest in interests.iter() {
            match &interest.source {
                // The call sets the event at once if a datagram waits already.
                Source::Socket(socket) => sys::set_at_arrival(socket, &self.arrival)?,
                Source::Keys(keys) => handles.push(*keys),
            }
        }
        sys::wait_for_any(
            &handles,
            left.map(|left| {
                let millis = left.as_nanos().div_ceil(1_000_000);
                u32::try_from(millis).unwrap_or(WAIT_MAX_MS).min(WAIT_MAX_MS)
            }),
        )?;
        find(interests)?;
        if interests.iter().any(Interest::is_readable) {
            self.idle_turns.end();
        }
        Ok(())
    }

    /// Checks the sources without waiting, for a turn of the loop that already has something to do.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn look(&mut self, interests: &mut [Interest<'_>]) -> io::Result<()> {
        self.idle_turns.end();
        find(interests)
    }
}

/// Finds out which sources have something to read.
fn find(interests: &mut [Interest<'_>]) -> io::Result<()> {
    for interest in interests {
        interest.is_met = match &interest.source {
            Source::Socket(socket) => {
                let mut descriptors = [PollFd::new(*socket, PollFlags::IN)];
                poll(&mut descriptors, Some(&Timespec::default()))? > 0
            }
            Source::Keys(keys) => sys::console_has_input(*keys)?,
        };
    }
    Ok(())
}
