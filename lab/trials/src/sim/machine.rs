//! The computer of an end. It has its own clock, and it can sleep.

use core::net::SocketAddr;

use rove_link::net::End;
use rove_units::{Duration, Instant};

/// Least time by which each clock is ahead of the simulation's. Chosen: longer than all the time for which a clock may
/// stand still, so that no clock falls below zero.
const AHEAD_MIN: Duration = Duration::from_secs(100_000);

/// An end, and the computer on which it runs.
pub(super) struct Machine<E> {
    pub(super) end: E,
    ahead: Duration,
    /// Whether the clock stands still while the computer sleeps.
    stands_still: bool,
    asleep_since: Option<Instant>,
}

impl<E> Machine<E> {
    /// Returns a clock's reading at the start. The clock is ahead by [`AHEAD_MIN`] and `ahead`.
    pub(super) fn start(ahead: Duration) -> Instant {
        Instant::ZERO + AHEAD_MIN + ahead
    }

    pub(super) fn new(end: E, ahead: Duration, stands_still: bool) -> Self {
        Self { end, ahead: AHEAD_MIN + ahead, stands_still, asleep_since: None }
    }

    /// Returns the clock's reading.
    pub(super) fn clock(&self, now: Instant) -> Instant {
        now + self.ahead
    }

    /// Makes the clock jump forward, as after a virtual machine was paused or moved to another host.
    pub(super) fn jump(&mut self, span: Duration) {
        self.ahead += span;
    }

    /// Lets the computer fall asleep or wake up. Datagrams that arrive during its sleep are lost.
    pub(super) fn sleep(&mut self, now: Instant, asleep: bool) {
        if asleep {
            self.asleep_since.get_or_insert(now);
        } else if let Some(since) = self.asleep_since.take()
            && self.stands_still
        {
            self.ahead = self.ahead.saturating_sub(now.saturating_since(since));
        }
    }
}

impl<E: End> End for Machine<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        if self.asleep_since.is_none() {
            self.end.handle_datagram(self.clock(now), source, payload);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(self.clock(now));
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        if self.asleep_since.is_some() {
            return None;
        }
        self.end.poll_transmit(self.clock(now))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let due = self.end.poll_timeout().filter(|_| self.asleep_since.is_none());
        due.map(|due| due - self.ahead)
    }
}
