//! A peer that has the key and sends whatever a test wants.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use rove_ssp::wire::{Cipher, Codec, Datagram, Instruction, SeqNum, Timestamp16, split};
use rove_ssp::{Direction, Hello, Key, StateNum};

use super::key;

/// Seals any instruction as a datagram.
pub struct Forger {
    cipher: Cipher,
    codec: Codec,
    direction: Direction,
    sent: u64,
}

impl Forger {
    pub fn new(direction: Direction) -> Self {
        Self::of(&key(), direction)
    }

    /// Returns a peer that has this key.
    pub fn of(key: &Key, direction: Direction) -> Self {
        Self { cipher: Cipher::new(key), codec: Codec::new(), direction, sent: 0 }
    }

    pub fn datagrams(&mut self, instruction: &Instruction) -> Vec<Vec<u8>> {
        let compressed = self.codec.compress(&instruction.encode()).unwrap();
        let fragments = split(self.sent, &compressed, 1214);
        fragments.iter().map(|fragment| self.seal(fragment.encode())).collect()
    }

    pub fn seal(&mut self, payload: Vec<u8>) -> Vec<u8> {
        self.sent += 1;
        let datagram = Datagram {
            direction: self.direction,
            seq: SeqNum::new(self.sent),
            timestamp: Some(Timestamp16::from_millis(self.sent)),
            timestamp_reply: None,
            payload,
        };
        datagram.seal(&mut self.cipher).unwrap()
    }
}

/// Returns a rove server's instruction that makes state `new` from `old`. The client may forget states below `kept`.
pub fn state(old: u64, new: u64, kept: u64, diff: Vec<u8>) -> Instruction {
    let [old_num, new_num, throwaway_num] = [old, new, kept].map(StateNum::new);
    let hello = Some(Hello::new(rove_session::CAPABILITIES));
    let ack_num = StateNum::new(1);
    Instruction { old_num, new_num, ack_num, throwaway_num, diff, hello, ..Instruction::default() }
}

/// Returns a protobuf field of bytes.
pub fn member(field: u8, body: &[u8]) -> Vec<u8> {
    let len = number(u32::try_from(body.len()).unwrap());
    [number(u32::from(field) << 3 | 2), len, body.to_vec()].concat()
}

/// Returns a diff that writes these bytes to the terminal.
pub fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    member(1, &member(2, &member(4, bytes)))
}

pub fn varint(field: u8, value: u32) -> Vec<u8> {
    [&[field << 3], &number(value)[..]].concat()
}

pub fn number(mut value: u32) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 128 {
        out.push(u8::try_from(value & 127).unwrap() | 128);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// Returns a protobuf field of bytes whose number, from 16 on, takes two bytes.
pub fn event(field: u8, body: &[u8]) -> Vec<u8> {
    let len = number(u32::try_from(body.len()).unwrap());
    [&[(field << 3 | 2) | 128, field >> 4][..], &len, body].concat()
}
