//! Watches the datagrams that an end sends. Fails the test if a datagram would end a stock peer, or breaks a rule
//! between the two ends.

use std::collections::BTreeMap;

use rove_ssp::wire::{Assembler, Cipher, Codec, DATAGRAM_LEN_MAX, Datagram, Fragment, Instruction};
use rove_ssp::{Direction, StateNum};

use crate::pair::key;

/// Checks the datagrams of one direction.
#[derive(Debug)]
pub(crate) struct Referee {
    direction: Direction,
    cipher: Cipher,
    codec: Codec,
    assembler: Assembler,
    /// The fragments of the current id.
    fragments: (u64, BTreeMap<u16, Fragment>),
    last_id: u64,
    last_seq: Option<u64>,
    /// The length of each state's text: all are prefixes of `log`.
    lens: BTreeMap<StateNum, usize>,
    log: Vec<u8>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) datagrams: Vec<Datagram>,
}

impl Referee {
    pub(crate) fn new(direction: Direction) -> Self {
        Self {
            direction,
            cipher: Cipher::new(&key()),
            codec: Codec::new(),
            assembler: Assembler::default(),
            fragments: (0, BTreeMap::new()),
            last_id: 0,
            last_seq: None,
            lens: BTreeMap::from([(StateNum::INITIAL, 0)]),
            log: Vec::new(),
            instructions: Vec::new(),
            datagrams: Vec::new(),
        }
    }

    pub(crate) fn watch(&mut self, payload: &[u8]) {
        assert!(payload.len() <= DATAGRAM_LEN_MAX);
        let datagram =
            Datagram::open(&mut self.cipher, self.direction, payload).expect("authentic");
        assert!(self.last_seq.is_none_or(|last| datagram.seq.get() == last + 1));
        self.last_seq = Some(datagram.seq.get());
        assert!(datagram.timestamp.is_some(), "every datagram is stamped");
        let fragment = Fragment::decode(&datagram.payload).expect("a fragment");
        self.datagrams.push(datagram);

        if fragment.id != self.fragments.0 {
            assert!(fragment.id > self.last_id, "an id comes back only while it is the newest");
            self.fragments = (fragment.id, BTreeMap::new());
            self.last_id = fragment.id;
        }
        let held = self.fragments.1.entry(fragment.number).or_insert_with(|| fragment.clone());
        assert_eq!(*held, fragment, "one id, one set of bytes");
        if let Some(compressed) = self.assembler.handle_fragment(fragment).expect("in order") {
            let plain = self.codec.inflate(&compressed).expect("a zlib stream");
            self.watch_instruction(Instruction::decode(&plain).expect("an instruction"));
        }
    }

    fn watch_instruction(&mut self, instruction: Instruction) {
        let Instruction { old_num, new_num, throwaway_num, .. } = instruction;
        assert!(throwaway_num <= old_num && old_num <= new_num, "{instruction:?}");
        // An instruction without contents may be padded as a path size probe.
        let chaff_max = if instruction.diff.is_empty() { 1_472 } else { 16 };
        assert!(instruction.chaff.len() <= chaff_max);
        let old_len = self.lens[&old_num];
        let new_len = old_len + instruction.diff.len();
        let overlap = self.log.len().min(new_len);
        assert_eq!(&instruction.diff[..overlap - old_len], &self.log[old_len..overlap]);
        self.log.extend(&instruction.diff[overlap - old_len..]);
        let len = *self.lens.entry(new_num).or_insert(new_len);
        assert_eq!(len, new_len, "state {new_num} never changes");
        assert!(self.lens.values().is_sorted(), "every state extends the ones below it");
        self.lens.retain(|num, _| *num >= throwaway_num);
        self.instructions.push(instruction);
    }
}
