//! The study's receiver: it takes a state whose reference it holds, and acknowledges the newest one it has.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use rove_link::net::End;
use rove_units::Instant;

use crate::aoi::datagram::{Datagram, patched, text};

/// The receiver.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The time before which the receiver hears nothing.
    listens_from: Instant,
    /// Whether it takes states whose reference it does not hold, as one does that logs them on arrival.
    takes_all: bool,
    /// Texts of the states that the receiver holds.
    held: BTreeMap<u64, String>,
    newest: u64,
    /// States that it took, newer than all before, and when.
    taken: Vec<(Instant, u64)>,
    outbox: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Receiver {
    /// Creates a receiver that holds the empty state 0.
    pub(super) fn new(listens_from: Instant, takes_all: bool) -> Self {
        Self {
            listens_from,
            takes_all,
            held: BTreeMap::from([(0, String::new())]),
            newest: 0,
            taken: Vec::new(),
            outbox: VecDeque::new(),
        }
    }

    /// Returns the states that it took, newer than all before, and when.
    pub(super) fn taken(&self) -> &[(Instant, u64)] {
        &self.taken
    }
}

impl End for Receiver {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        if now < self.listens_from {
            return;
        }
        let datagram = Datagram::decode(payload);
        let edits = datagram.diff.as_deref().unwrap_or_default();
        let made = match self.held.get(&datagram.old_num) {
            Some(reference) => patched(reference, edits),
            None if self.takes_all => text(datagram.new_num).to_owned(),
            None => return,
        };
        debug_assert_eq!(made, text(datagram.new_num), "the edit script leads to the state");
        self.held = self.held.split_off(&datagram.throwaway_num);
        self.held.insert(datagram.new_num, made);
        if datagram.new_num > self.newest {
            self.newest = datagram.new_num;
            self.taken.push((now, self.newest));
        }
        let acknowledgment = Datagram {
            old_num: 0,
            new_num: 0,
            ack_num: self.newest,
            throwaway_num: 0,
            timestamp: datagram.timestamp,
            diff: None,
        };
        self.outbox.push_back((source, acknowledgment.encode()));
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.outbox.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
