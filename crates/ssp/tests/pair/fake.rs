//! A peer that sends exactly what a test wants, against one real end.

use core::net::SocketAddr;

use rove_link::net::{End, LEFT_ADDRESS};
use rove_ssp::wire::{Cipher, Codec, Datagram, Fragment, Instruction, SeqNum, Timestamp16, split};
use rove_ssp::{Direction, Ecn, ReceiveError, StateNum};
use rove_units::{Duration, Instant};

use crate::pair::{Party, key, ms};

/// Maximum number of bytes of an instruction that a fake peer sends in one fragment.
const CONTENTS_MAX: usize = 1_000;

/// A real end and a fake peer that reaches it without delay.
#[derive(Debug)]
pub(crate) struct Fake<const MAX: usize> {
    pub(crate) party: Party<MAX>,
    pub(crate) now: Instant,
    pub(crate) source: SocketAddr,
    pub(crate) ecn: Ecn,
    cipher: Cipher,
    codec: Codec,
    direction: Direction,
    seq: u64,
    id: u64,
}

/// Returns an instruction without contents.
pub(crate) fn state(old_num: u64, new_num: u64, ack_num: u64) -> Instruction {
    Instruction {
        old_num: StateNum::new(old_num),
        new_num: StateNum::new(new_num),
        ack_num: StateNum::new(ack_num),
        ..Instruction::default()
    }
}

/// Returns an instruction with contents.
pub(crate) fn text(old_num: u64, new_num: u64, ack_num: u64, diff: &str) -> Instruction {
    Instruction { diff: diff.into(), ..state(old_num, new_num, ack_num) }
}

impl<const MAX: usize> Fake<MAX> {
    /// Creates a fake peer that sends to `party` in `direction`.
    pub(crate) fn new(party: Party<MAX>, direction: Direction) -> Self {
        Self {
            party,
            now: Instant::ZERO,
            source: LEFT_ADDRESS,
            ecn: Ecn::Capable,
            cipher: Cipher::new(&key()),
            codec: Codec::new(),
            direction,
            seq: 0,
            id: 0,
        }
    }

    /// Runs the real end for `span`, while the fake peer sends nothing.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let deadline = self.now + span;
        loop {
            self.turn();
            let Some(next) = self.party.poll_timeout().filter(|next| *next <= deadline) else {
                break;
            };
            self.now = self.now.max(next);
        }
        self.now = deadline;
    }

    /// Sends `instruction`, and lets the real end answer.
    pub(crate) fn say(&mut self, instruction: &Instruction) -> Result<(), ReceiveError> {
        let timestamp = Timestamp16::from_millis(self.now.as_millis());
        self.say_at(instruction, Some(timestamp), None)
    }

    /// Sends `instruction` with these timestamps.
    pub(crate) fn say_at(
        &mut self,
        instruction: &Instruction,
        timestamp: Option<Timestamp16>,
        timestamp_reply: Option<Timestamp16>,
    ) -> Result<(), ReceiveError> {
        let mut outcome = Ok(());
        for datagram in self.datagrams(instruction, timestamp, timestamp_reply) {
            outcome = self.hand_in(&datagram);
        }
        outcome
    }

    /// Returns `instruction`, cut into fragments, as sealed datagrams.
    pub(crate) fn datagrams(
        &mut self,
        instruction: &Instruction,
        timestamp: Option<Timestamp16>,
        timestamp_reply: Option<Timestamp16>,
    ) -> Vec<Vec<u8>> {
        self.id += 1;
        let compressed = self.codec.compress(&instruction.encode()).expect("small");
        let fragments = split(self.id, &compressed, CONTENTS_MAX);
        let payloads = fragments.iter().map(Fragment::encode);
        payloads.map(|payload| self.seal(payload, timestamp, timestamp_reply)).collect()
    }

    /// Delivers a datagram with this payload.
    pub(crate) fn deliver(
        &mut self,
        payload: Vec<u8>,
        timestamp: Option<Timestamp16>,
        timestamp_reply: Option<Timestamp16>,
    ) -> Result<(), ReceiveError> {
        let datagram = self.seal(payload, timestamp, timestamp_reply);
        self.hand_in(&datagram)
    }

    fn seal(
        &mut self,
        payload: Vec<u8>,
        timestamp: Option<Timestamp16>,
        timestamp_reply: Option<Timestamp16>,
    ) -> Vec<u8> {
        let datagram = Datagram {
            direction: self.direction,
            seq: SeqNum::new(self.seq),
            timestamp,
            timestamp_reply,
            payload,
        };
        self.seq += 1;
        datagram.seal(&mut self.cipher).expect("a short test")
    }

    /// Skips `count` sequence numbers and fragment ids, as if their datagrams were still on their way.
    pub(crate) fn skip(&mut self, count: u64) {
        self.seq += count;
        self.id += count;
    }

    /// Returns `instruction` in a datagram. The datagram's number is also the fragment's id.
    pub(crate) fn sealed(&self, instruction: &Instruction, seq: u64) -> Vec<u8> {
        let compressed = Codec::new().compress(&instruction.encode()).expect("small");
        let fragment = split(seq, &compressed, CONTENTS_MAX).remove(0);
        let datagram = Datagram {
            direction: self.direction,
            seq: SeqNum::new(seq),
            timestamp: None,
            timestamp_reply: None,
            payload: fragment.encode(),
        };
        datagram.seal(&mut Cipher::new(&key())).expect("a fresh cipher")
    }

    /// Hands a sealed datagram to the real end.
    pub(crate) fn hand_in(&mut self, payload: &[u8]) -> Result<(), ReceiveError> {
        let outcome =
            self.party.transport.handle_datagram(self.now, self.source, self.ecn, payload);
        self.turn();
        outcome
    }

    /// Returns the instructions that the real end has sent since the last call of this function.
    pub(crate) fn heard(&mut self) -> Vec<Instruction> {
        core::mem::take(&mut self.party.referee.instructions)
    }

    /// Returns the times in ms at which the real end has sent datagrams since the last call.
    pub(crate) fn heard_at(&mut self) -> Vec<u64> {
        core::mem::take(&mut self.party.sent).into_iter().map(|(at, _)| at).collect()
    }

    fn turn(&mut self) {
        self.party.handle_timeout(self.now);
        while self.party.poll_transmit(self.now).is_some() {}
        let due = self.party.poll_timeout();
        assert!(due.is_none_or(|due| due > self.now), "an end that has sent waits");
    }
}

/// Connects a fake server to a real client.
pub(crate) fn client<const MAX: usize>(config: rove_ssp::Config) -> Fake<MAX> {
    let seed = rove_units::Seed::new(5);
    Fake::new(Party::client(seed, config), Direction::ToClient)
}

/// Connects a fake client to a real server.
pub(crate) fn server<const MAX: usize>(config: rove_ssp::Config) -> Fake<MAX> {
    let seed = rove_units::Seed::new(5);
    Fake::new(Party::server(seed, config), Direction::ToServer)
}

/// Runs until the start-up traffic is over.
pub(crate) fn settled<const MAX: usize>(mut fake: Fake<MAX>) -> Fake<MAX> {
    fake.run_for(ms(5));
    fake
}

/// Sends the peer's first contents. The real end acknowledges only these without the usual delay.
pub(crate) fn acquainted<const MAX: usize>(fake: Fake<MAX>) -> Fake<MAX> {
    let mut fake = settled(fake);
    fake.say(&text(0, 1, 1, "motd")).expect("taken");
    fake.heard();
    fake.heard_at();
    fake
}

/// Returns old, new, acknowledgment and throwaway number of each instruction that the real end has sent.
pub(crate) fn nums<const MAX: usize>(fake: &mut Fake<MAX>) -> Vec<(u64, u64, u64, u64)> {
    let nums =
        |i: Instruction| (i.old_num.get(), i.new_num.get(), i.ack_num.get(), i.throwaway_num.get());
    fake.heard().into_iter().map(nums).collect()
}
