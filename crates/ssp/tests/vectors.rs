//! Passes captured datagrams of stock Mosh 1.4.0 through every layer, in both directions.
//!
//! The samples of RFC 7253 in `ocb.json` have nonces and associated data that no datagram has. The unit tests of the
//! cipher mode use these samples.

use rove_ssp::wire::{Assembler, Cipher, Codec, Datagram, Fragment, Instruction, SeqNum};
use rove_ssp::wire::{Timestamp16, split};
use rove_ssp::{Direction, Key, ReceiveError, StateNum};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
struct DatagramVectors {
    key_text_vectors: Vec<KeyText>,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct KeyText {
    text: String,
    accepted: bool,
    #[serde(default, deserialize_with = "hex")]
    key: Vec<u8>,
}

#[derive(Deserialize)]
struct Session {
    key_text: String,
    #[serde(deserialize_with = "hex")]
    key: Vec<u8>,
    datagrams: Vec<DatagramVector>,
}

#[derive(Deserialize)]
struct DatagramVector {
    name: String,
    #[serde(deserialize_with = "hex")]
    datagram: Vec<u8>,
    direction: String,
    seq: u64,
    #[serde(deserialize_with = "hex")]
    plaintext: Vec<u8>,
    timestamp: Option<u16>,
    timestamp_reply: Option<u16>,
    fragment: FragmentVector,
    completes_instruction: bool,
    instruction: Option<InstructionVector>,
}

#[derive(Deserialize)]
struct FragmentVector {
    id: u64,
    num: u16,
    #[serde(rename = "final")]
    last: bool,
    #[serde(deserialize_with = "hex")]
    contents: Vec<u8>,
}

#[derive(Deserialize)]
struct InstructionVector {
    #[serde(deserialize_with = "hex")]
    compressed: Vec<u8>,
    #[serde(deserialize_with = "hex")]
    protobuf: Vec<u8>,
    #[serde(deserialize_with = "state_num")]
    old_num: StateNum,
    #[serde(deserialize_with = "state_num")]
    new_num: StateNum,
    #[serde(deserialize_with = "state_num")]
    ack_num: StateNum,
    #[serde(deserialize_with = "state_num")]
    throwaway_num: StateNum,
    #[serde(deserialize_with = "hex")]
    diff: Vec<u8>,
    #[serde(deserialize_with = "hex")]
    chaff: Vec<u8>,
}

#[derive(Deserialize)]
struct OcbVectors {
    #[serde(deserialize_with = "hex")]
    key: Vec<u8>,
    mosh_shaped: Vec<MoshShaped>,
}

#[derive(Deserialize)]
struct MoshShaped {
    name: String,
    direction: String,
    seq: u64,
    #[serde(deserialize_with = "hex")]
    plaintext: Vec<u8>,
    #[serde(deserialize_with = "hex")]
    datagram: Vec<u8>,
}

fn hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).map_err(serde::de::Error::custom))
        .collect()
}

fn state_num<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StateNum, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(StateNum::new).map_err(serde::de::Error::custom)
}

fn datagram_vectors() -> DatagramVectors {
    serde_json::from_str(include_str!("vectors/ssp-datagrams.json")).expect("the vectors are valid")
}

fn ocb_vectors() -> OcbVectors {
    serde_json::from_str(include_str!("vectors/ocb.json")).expect("the vectors are valid")
}

fn key(bytes: &[u8]) -> Key {
    Key::from_bytes(bytes.try_into().expect("a key has 16 bytes"))
}

fn direction(name: &str) -> Direction {
    match name {
        "to_server" => Direction::ToServer,
        "to_client" => Direction::ToClient,
        other => panic!("no direction {other}"),
    }
}

/// Returns the opened contents of a UDP payload: the two timestamps, then the payload.
fn plaintext(datagram: &Datagram) -> Vec<u8> {
    let bits = |timestamp: Option<Timestamp16>| timestamp.map_or(0xffff, Timestamp16::get);
    let mut plaintext = bits(datagram.timestamp).to_be_bytes().to_vec();
    plaintext.extend(bits(datagram.timestamp_reply).to_be_bytes());
    plaintext.extend(&datagram.payload);
    plaintext
}

#[test]
fn key_texts_are_accepted_and_refused_as_by_stock() {
    let vectors = datagram_vectors().key_text_vectors;
    assert_eq!(vectors.len(), 11);
    for KeyText { text, accepted, key: bytes } in vectors {
        let parsed = Key::from_text(&text);
        assert_eq!(parsed.is_ok(), accepted, "{text:?}");
        if accepted {
            assert_eq!(*key(&bytes).to_text(), text);
            assert_eq!(*parsed.unwrap().to_text(), text);
        }
    }
}

#[test]
fn every_datagram_opens_layer_by_layer() {
    let mut datagrams = 0;
    for session in datagram_vectors().sessions {
        assert_eq!(*key(&session.key).to_text(), session.key_text);
        let mut cipher = Cipher::new(&Key::from_text(&session.key_text).unwrap());
        let mut codec = Codec::new();
        let mut assemblers = [Assembler::default(), Assembler::default()];
        for vector in &session.datagrams {
            let name = &vector.name;
            let way = direction(&vector.direction);
            let datagram = Datagram::open(&mut cipher, way, &vector.datagram).unwrap();
            assert_eq!((datagram.direction, datagram.seq.get()), (way, vector.seq), "{name}");
            assert_eq!(datagram.timestamp.map(Timestamp16::get), vector.timestamp, "{name}");
            let reply = datagram.timestamp_reply.map(Timestamp16::get);
            assert_eq!(reply, vector.timestamp_reply, "{name}");
            assert_eq!(plaintext(&datagram), vector.plaintext, "{name}");
            let fragment = Fragment::decode(&datagram.payload).unwrap();
            let FragmentVector { id, num, last, contents } = &vector.fragment;
            assert_eq!((fragment.id, fragment.number, fragment.last), (*id, *num, *last), "{name}");
            assert_eq!(fragment.contents, *contents, "{name}");

            let assembler = &mut assemblers[usize::from(way == Direction::ToClient)];
            let compressed = assembler.handle_fragment(fragment).unwrap();
            assert_eq!(compressed.is_some(), vector.completes_instruction, "{name}");
            if let (Some(compressed), Some(expected)) = (compressed, &vector.instruction) {
                assert_eq!(compressed, expected.compressed, "{name}");
                let protobuf = codec.inflate(&compressed).unwrap();
                assert_eq!(protobuf, expected.protobuf, "{name}");
                assert_eq!(
                    Instruction::decode(&protobuf).unwrap(),
                    instruction(expected),
                    "{name}"
                );
            }
            datagrams += 1;
        }
    }
    assert_eq!(datagrams, 23);
}

#[test]
fn every_instruction_is_encoded_to_the_captured_datagrams() {
    for session in datagram_vectors().sessions {
        let mut cipher = Cipher::new(&key(&session.key));
        let mut codec = Codec::new();
        let mut parts = Vec::new();
        for vector in &session.datagrams {
            parts.push(vector);
            let Some(expected) = &vector.instruction else { continue };
            let name = &vector.name;
            let protobuf = instruction(expected).encode();
            assert_eq!(protobuf, expected.protobuf, "{name}");
            // Stock's zlib and ours find different matches in longer instructions. Both outputs are right.
            let compressed = codec.compress(&protobuf).unwrap();
            assert_eq!(codec.inflate(&compressed).unwrap(), protobuf, "{name}");

            // 1214 bytes is what an IPv4 datagram of 1252 has room for.
            let fragments = split(vector.fragment.id, &expected.compressed, 1214);
            assert_eq!(fragments.len(), parts.len(), "{name}");
            for (fragment, vector) in fragments.iter().zip(parts.drain(..)) {
                let datagram = Datagram {
                    direction: direction(&vector.direction),
                    seq: SeqNum::new(vector.seq),
                    timestamp: vector.timestamp.and_then(Timestamp16::new),
                    timestamp_reply: vector.timestamp_reply.and_then(Timestamp16::new),
                    payload: fragment.encode(),
                };
                let sealed = datagram.seal(&mut cipher).unwrap();
                assert_eq!(sealed, vector.datagram, "{}", vector.name);
            }
        }
        assert!(parts.is_empty());
    }
}

#[test]
fn every_datagram_is_refused_the_other_way_and_with_a_changed_bit() {
    for session in datagram_vectors().sessions {
        let mut cipher = Cipher::new(&key(&session.key));
        for vector in session.datagrams {
            let way = direction(&vector.direction);
            let reflected = Datagram::open(&mut cipher, way.opposite(), &vector.datagram);
            assert_eq!(reflected, Err(ReceiveError::Reflected));
            for at in [0, 7, 8, vector.datagram.len() - 17, vector.datagram.len() - 1] {
                let mut changed = vector.datagram.clone();
                changed[at] ^= 0x80;
                let way = if at == 0 { way.opposite() } else { way };
                let opened = Datagram::open(&mut cipher, way, &changed);
                assert_eq!(opened, Err(ReceiveError::Forged), "{} at {at}", vector.name);
            }
        }
    }
}

#[test]
fn messages_of_every_shape_seal_and_open() {
    let vectors = ocb_vectors();
    let mut cipher = Cipher::new(&key(&vectors.key));
    assert_eq!(vectors.mosh_shaped.len(), 4);
    for vector in vectors.mosh_shaped {
        let way = direction(&vector.direction);
        let opened = Datagram::open(&mut cipher, way, &vector.datagram).unwrap();
        assert_eq!(opened.seq, SeqNum::new(vector.seq), "{}", vector.name);
        assert_eq!(plaintext(&opened), vector.plaintext, "{}", vector.name);
        assert_eq!(opened.seal(&mut cipher).unwrap(), vector.datagram, "{}", vector.name);
    }
}

fn instruction(vector: &InstructionVector) -> Instruction {
    Instruction {
        old_num: vector.old_num,
        new_num: vector.new_num,
        ack_num: vector.ack_num,
        throwaway_num: vector.throwaway_num,
        diff: vector.diff.clone(),
        chaff: vector.chaff.clone(),
        ..Instruction::default()
    }
}
