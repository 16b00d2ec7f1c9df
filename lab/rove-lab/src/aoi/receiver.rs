//! The study's receiver. It accepts a state only if it holds the state's reference, and acknowledges its newest state.

use core::net::SocketAddr;
use std::collections::{BTreeSet, VecDeque};

use rove_link::net::End;
use rove_units::Instant;

use crate::aoi::datagram::{Acknowledgment, State, decode, encode};

#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The states that the receiver holds.
    held: BTreeSet<u64>,
    newest: u64,
    /// Accepted states that were newer than all earlier ones, and when they were accepted.
    taken: Vec<(Instant, u64)>,
    outbox: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Default for Receiver {
    /// Returns a receiver that holds the empty state 0.
    fn default() -> Self {
        let held = BTreeSet::from([0]);
        Self { held, newest: 0, taken: Vec::new(), outbox: VecDeque::new() }
    }
}

impl Receiver {
    /// Returns the accepted states that were newer than all earlier ones, and when they were accepted.
    pub(super) fn taken(&self) -> &[(Instant, u64)] {
        &self.taken
    }
}

impl End for Receiver {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let state: State = decode(payload);
        debug_assert!(state.oldest <= state.reference && state.reference < state.number);
        if !self.held.contains(&state.reference) {
            return;
        }
        self.held = self.held.split_off(&state.oldest);
        self.held.insert(state.number);
        if state.number > self.newest {
            self.newest = state.number;
            self.taken.push((now, self.newest));
        }
        let acknowledgment = Acknowledgment { newest: self.newest, sent: state.sent };
        self.outbox.push_back((source, encode(&acknowledgment)));
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.outbox.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
