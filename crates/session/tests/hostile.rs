//! A peer that holds the key and means harm: whatever it says, no end panics.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod common;

use common::*;
use proptest::prelude::*;
use rove_link::net::{LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_ssp::wire::{Cipher, Codec, Datagram, Instruction, SeqNum, Timestamp16, split};
use rove_ssp::{Config, Direction, Ecn, StateNum};
use rove_units::{Duration, Instant};

/// Seals whatever it is told to.
struct Forger {
    cipher: Cipher,
    codec: Codec,
    direction: Direction,
    sent: u64,
}

impl Forger {
    fn new(direction: Direction) -> Self {
        Self { cipher: Cipher::new(&key()), codec: Codec::new(), direction, sent: 0 }
    }

    fn datagrams(&mut self, instruction: &Instruction) -> Vec<Vec<u8>> {
        let compressed = self.codec.compress(&instruction.encode()).unwrap();
        let fragments = split(self.sent, &compressed, 1214);
        fragments.iter().map(|fragment| self.seal(fragment.encode())).collect()
    }

    fn seal(&mut self, payload: Vec<u8>) -> Vec<u8> {
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

/// Returns a protobuf field of bytes.
fn member(field: u8, body: &[u8]) -> Vec<u8> {
    let len = u8::try_from(body.len()).unwrap();
    assert!(len < 128 && field < 16);
    [&[field << 3 | 2, len], body].concat()
}

fn varint(field: u8, value: u32) -> Vec<u8> {
    let mut out = vec![field << 3];
    let mut value = value;
    while value >= 128 {
        out.push(u8::try_from(value & 127).unwrap() | 128);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// Any number near the ends of its range, or small.
fn any_num() -> impl Strategy<Value = StateNum> {
    prop_oneof![8 => 0..8_u64, 1 => u64::MAX - 1..=u64::MAX, 1 => any::<u64>()]
        .prop_map(StateNum::new)
}

fn any_size() -> impl Strategy<Value = Vec<u8>> {
    let dimension = || prop_oneof![8 => 0..40_u32, 1 => any::<u32>().prop_map(|n| n | 1 << 31)];
    (dimension(), dimension())
        .prop_map(|(width, height)| member(3, &[varint(5, width), varint(6, height)].concat()))
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "(\x1b\\[[0-9;?]{0,6}[@-~]|[ -~广é\u{301}\r\n\x08]){0,9}".prop_map(String::into_bytes),
    ]
    .prop_map(|mut text| {
        text.truncate(100);
        text
    })
}

/// A diff for either side: true members, members of the other side, and noise.
fn any_diff() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        4 => any_text().prop_map(|text| member(2, &member(4, &text))),
        2 => any_size(),
        2 => (0..9_u32).prop_map(|num| member(7, &varint(8, num))),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ];
    let messages = proptest::collection::vec(body.prop_map(|body| member(1, &body)), 0..6);
    prop_oneof![
        8 => messages.prop_map(|messages| messages.concat()),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

fn any_instruction() -> impl Strategy<Value = Instruction> {
    (any_num(), any_num(), any_num(), any_num(), any_diff()).prop_map(
        |(old_num, new_num, ack_num, throwaway_num, diff)| Instruction {
            old_num,
            new_num,
            ack_num,
            throwaway_num: if throwaway_num > old_num { old_num } else { throwaway_num },
            diff,
            chaff: Vec::new(),
            hello: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_instruction_harms_a_server(
        instructions in proptest::collection::vec(any_instruction(), 1..30),
        step in 0_u64..3000,
    ) {
        let mut forger = Forger::new(Direction::ToServer);
        let mut server = ServerEnd::new(rove(Config::server())).server;
        let mut now = Instant::ZERO;
        for instruction in &instructions {
            for datagram in forger.datagrams(instruction) {
                let _ = server.handle_datagram(now, LEFT_ADDRESS, Ecn::Capable, &datagram);
            }
            server.handle_host_output(now, b"\x1b[6nx");
            while server.poll_transmit(now).is_some() {}
            while server.poll_event().is_some() {}
            server.consume_host_input(3);
            now += Duration::from_millis(step);
            server.handle_timeout(now);
        }
    }

    #[test]
    fn no_instruction_harms_a_client(
        instructions in proptest::collection::vec(any_instruction(), 1..30),
        step in 0_u64..3000,
    ) {
        let mut forger = Forger::new(Direction::ToClient);
        let mut client = ClientEnd::new(rove(Config::client())).client;
        let mut now = Instant::ZERO;
        for instruction in &instructions {
            for datagram in forger.datagrams(instruction) {
                let _ = client.handle_datagram(now, RIGHT_ADDRESS, Ecn::Capable, &datagram);
            }
            client.handle_input(now, b"x");
            while client.poll_transmit(now).is_some() {}
            while client.poll_event().is_some() {}
            let _ = client.poll_output(now);
            now += Duration::from_millis(step);
            client.handle_timeout(now);
        }
        let _ = client.close_terminal();
    }

    #[test]
    fn no_sealed_bytes_harm_either_end(payload in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut server = ServerEnd::new(Config::server()).server;
        let datagram = Forger::new(Direction::ToServer).seal(payload.clone());
        let _ = server.handle_datagram(Instant::ZERO, LEFT_ADDRESS, Ecn::Capable, &datagram);
        let mut client = ClientEnd::new(Config::client()).client;
        let datagram = Forger::new(Direction::ToClient).seal(payload);
        let _ = client.handle_datagram(Instant::ZERO, RIGHT_ADDRESS, Ecn::Capable, &datagram);
    }
}
