//! The study's sender. Each period it sends a new state, once, as the difference from the known or the assumed state.

use core::net::SocketAddr;
use std::collections::VecDeque;

use rove_link::net::{End, RIGHT_ADDRESS};
use rove_units::{Duration, Instant, Stream};

use crate::aoi::datagram::{Acknowledgment, State, decode, encode};
use crate::aoi::estimator::Estimator;

/// The time after sending within which a state is assumed to arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timeout {
    /// The time after sending follows from estimated round trips.
    Estimated(Estimator),
    /// A constant time.
    Fixed(Duration),
}

#[derive(Clone, Debug)]
pub(super) struct Sender {
    timeout: Timeout,
    /// The share of states that are sent as a difference from the known state even if a newer state is assumed.
    known_share: f64,
    rng: Stream,
    period: Duration,
    next: Instant,
    end: Instant,
    /// States sent so far: the number of the newest.
    sent: u64,
    /// The newest acknowledged state.
    known: u64,
    /// States newer than `known`, and when each was sent, the oldest first.
    unacknowledged: VecDeque<(u64, Instant)>,
    outbox: Option<Vec<u8>>,
}

impl Sender {
    /// Creates a sender whose first state is sent after one period, and the last one at `end`.
    pub(super) fn new(
        timeout: Timeout,
        known_share: f64,
        rng: Stream,
        period: Duration,
        end: Instant,
    ) -> Self {
        Self {
            timeout,
            known_share,
            rng,
            period,
            next: Instant::ZERO + period,
            end,
            sent: 0,
            known: 0,
            unacknowledged: VecDeque::new(),
            outbox: None,
        }
    }

    /// Returns how many states were sent.
    pub(super) const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the assumed state: the newest if the oldest unacknowledged state may still arrive, else the known state.
    fn assumed(&self, now: Instant) -> u64 {
        let timeout = match &self.timeout {
            Timeout::Estimated(estimator) => estimator.timeout(),
            Timeout::Fixed(timeout) => *timeout,
        };
        // States expire in the order of sending. So only the oldest unacknowledged state must be checked.
        let is_fresh = |(_, at): &&(u64, Instant)| now.saturating_since(*at) < timeout;
        let oldest_is_fresh = self.unacknowledged.front().as_ref().is_some_and(is_fresh);
        let newest = self.unacknowledged.back().filter(|_| oldest_is_fresh);
        newest.map_or(self.known, |(state, _)| *state)
    }

    fn send(&mut self, now: Instant) {
        let number = self.sent + 1;
        let assumed = self.assumed(now);
        let takes_known = self.rng.at(number).chance(self.known_share);
        let reference = if takes_known { self.known } else { assumed };
        let state = State { reference, number, oldest: self.known, sent: now.as_nanos() };
        self.outbox = Some(encode(&state));
        self.sent = number;
        self.unacknowledged.push_back((number, now));
        self.next = now + self.period;
    }
}

impl End for Sender {
    fn handle_datagram(&mut self, now: Instant, _: SocketAddr, payload: &[u8]) {
        let acknowledgment: Acknowledgment = decode(payload);
        if let Timeout::Estimated(estimator) = &mut self.timeout {
            estimator.sample(now.saturating_since(Instant::from_nanos(acknowledgment.sent)));
        }
        self.known = self.known.max(acknowledgment.newest);
        while self.unacknowledged.front().is_some_and(|(state, _)| *state <= self.known) {
            self.unacknowledged.pop_front();
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.next <= now && now <= self.end {
            self.send(now);
        }
    }

    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        Some((RIGHT_ADDRESS, self.outbox.take()?))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (self.next <= self.end).then_some(self.next)
    }
}
