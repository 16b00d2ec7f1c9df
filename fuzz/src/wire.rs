//! The layers of a datagram.

use arbitrary::Unstructured;
use rove_ssp::Direction;
use rove_ssp::wire::{
    Assembler, COMPRESSED_LEN_MAX, Cipher, Codec, DATAGRAM_LEN_MAX, Datagram, Fragment,
    INSTRUCTION_LEN_MAX, Instruction, split,
};

use crate::forger::{Forger, key};

/// Reads any bytes as a datagram, and as the payload of a sealed datagram.
pub fn datagram_takes_anything(data: &[u8]) {
    let mut cipher = Cipher::new(&key());
    assert!(Datagram::open(&mut cipher, Direction::ToServer, data).is_err(), "nobody sealed it");
    if data.len() + 28 > DATAGRAM_LEN_MAX {
        return;
    }
    let sealed = Forger::new(Direction::ToServer).seal(data.to_vec());
    assert!(Datagram::open(&mut cipher, Direction::ToClient, &sealed).is_err(), "reflected");
    let opened = Datagram::open(&mut cipher, Direction::ToServer, &sealed).expect("ours");
    assert_eq!(opened.payload, data);
    let mut broken = sealed;
    let at = data.len() % broken.len();
    broken[at] ^= 1;
    assert!(Datagram::open(&mut cipher, Direction::ToServer, &broken).is_err(), "forged");

    let Ok(fragment) = Fragment::decode(data) else { return };
    let mut assembler = Assembler::default();
    let Ok(Some(compressed)) = assembler.handle_fragment(fragment) else { return };
    if let Ok(plain) = Codec::new().inflate(&compressed) {
        instruction_takes_anything(&plain);
    }
}

/// Any fragments must keep the bounds. Fragments of an instruction must give the instruction in any order.
pub fn assembler_is_bounded(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let mut assembler = Assembler::default();
    let mut arrived = 0;
    while !input.is_empty() {
        let [id, kind, low, len] = input.arbitrary::<[u8; 4]>().unwrap_or_default();
        let number = match kind & 7 {
            0..=4 => u16::from(low),
            5 => u16::from(low) << 7,
            _ => u16::MAX - u16::from(low),
        };
        // A fragment may be larger than any datagram, because the bound must not depend on the layer below.
        let len = if kind & 8 == 0 { usize::from(len) } else { usize::from(len) << 14 };
        arrived += len;
        let fragment =
            Fragment { id: (id & 3).into(), number, last: kind & 16 != 0, contents: vec![id; len] };
        let held = assembler.bytes_held();
        if let Ok(Some(whole)) = assembler.handle_fragment(fragment) {
            assert!(whole.len() <= COMPRESSED_LEN_MAX);
            // A complete instruction that is older than the one in progress leaves the held bytes unchanged.
            assert!([0, held].contains(&assembler.bytes_held()));
        }
        assert!(assembler.bytes_held() <= COMPRESSED_LEN_MAX.min(arrived));
    }
    let mut rest = split(99, data, 1 + data.len() / 7);
    let mut draw = data.iter().cycle();
    while !rest.is_empty() {
        let at = usize::from(*draw.next().unwrap_or(&0)) % rest.len();
        let whole = assembler.handle_fragment(rest.swap_remove(at)).expect("no contradiction");
        assert_eq!(whole.is_some(), rest.is_empty());
        assert!(whole.is_none_or(|whole| whole == data));
    }
}

/// Any compressed bytes must keep the bound, and must not affect the next decompression.
pub fn inflate_is_bounded(data: &[u8]) {
    let mut codec = Codec::new();
    if let Ok(plain) = codec.inflate(data) {
        assert!(plain.len() <= INSTRUCTION_LEN_MAX);
    }
    let compressed = codec.compress(data).expect("short");
    assert_eq!(codec.inflate(&compressed).expect("ours"), data);
}

/// Reads any bytes as an instruction. An instruction that is written and read again must stay the same.
pub fn instruction_takes_anything(data: &[u8]) {
    let Ok(instruction) = Instruction::decode(data) else { return };
    assert_eq!(Instruction::decode(&instruction.encode()), Ok(instruction));
}
