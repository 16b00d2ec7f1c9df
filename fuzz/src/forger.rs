//! A peer that has the key, and seals any payload.

use arbitrary::{Result, Unstructured};
use rove_ssp::wire::{
    Cipher, Codec, DATAGRAM_LEN_MAX, DATAGRAM_OVERHEAD, Datagram, Instruction, SeqNum, Timestamp16,
    split,
};
use rove_ssp::{Capabilities, Direction, Hello, Key, Loss, StateNum};
use rove_units::Duration;

/// Bytes of a fragment's contents. Chosen: what fits into a datagram after the fragment's header.
const CONTENTS_MAX: usize = DATAGRAM_LEN_MAX - DATAGRAM_OVERHEAD - 10;

/// The session key of all targets.
pub(crate) fn key() -> Key {
    Key::from_bytes(*b"sixteen bytes...")
}

/// Seals payloads with increasing sequence numbers.
pub(crate) struct Forger {
    cipher: Cipher,
    codec: Codec,
    direction: Direction,
    sent: u64,
}

impl Forger {
    pub(crate) fn new(direction: Direction) -> Self {
        Self::of(&key(), direction)
    }

    /// Creates a peer that has this key.
    pub(crate) fn of(key: &Key, direction: Direction) -> Self {
        Self { cipher: Cipher::new(key), codec: Codec::new(), direction, sent: 0 }
    }

    /// Returns the sealed datagrams of an instruction.
    pub(crate) fn datagrams(&mut self, instruction: &Instruction) -> Vec<Vec<u8>> {
        let compressed = self.codec.compress(&instruction.encode()).expect("short");
        let fragments = split(self.sent, &compressed, CONTENTS_MAX);
        fragments.iter().map(|fragment| self.seal(fragment.encode())).collect()
    }

    /// Returns a payload as a sealed datagram.
    pub(crate) fn seal(&mut self, payload: Vec<u8>) -> Vec<u8> {
        self.sent += 1;
        let datagram = Datagram {
            direction: self.direction,
            seq: SeqNum::new(self.sent),
            timestamp: Some(Timestamp16::from_millis(self.sent * 7)),
            timestamp_reply: Some(Timestamp16::from_millis(self.sent * 91)),
            payload,
        };
        datagram.seal(&mut self.cipher).expect("a few datagrams")
    }
}

/// Draws an instruction. Its state numbers are often near those of the other end.
pub(crate) fn instruction(input: &mut Unstructured<'_>, sent: u64) -> Result<Instruction> {
    let [old, new, ack, throwaway, hello] = input.arbitrary::<[u8; 5]>()?;
    let num = |byte: u8| {
        StateNum::new(match byte {
            0..=127 => u64::from(byte) / 4,
            128..=191 => sent.saturating_sub(u64::from(byte) - 128),
            192..=250 => sent.saturating_add(u64::from(byte) - 192),
            _ => u64::MAX - (255 - u64::from(byte)),
        })
    };
    let (hello, report) = (hello & 7, hello >> 3);
    Ok(Instruction {
        old_num: num(old),
        new_num: num(new),
        ack_num: num(ack),
        throwaway_num: num(throwaway),
        diff: diff(input)?,
        chaff: Vec::new(),
        hello: (hello > 0).then(|| Hello {
            version: hello.into(),
            // All capabilities, or some of the first ones.
            capabilities: Capabilities::from_bits_retain(if hello == 7 {
                u64::MAX
            } else {
                (hello - 1).into()
            }),
        }),
        // Loss reports, of which some contradict themselves.
        loss_report: (report > 0).then(|| Loss {
            sent: u64::from(report) * 3,
            missing: u64::from(ack),
            recent_sent: u32::from(report) * 2,
            recent_missing: u32::from(throwaway) / 8,
        }),
        // Announces the next heartbeat within 51 s, or never.
        next_heartbeat: (report & 1 == 1).then(|| match ack {
            255 => Duration::from_millis(u64::MAX),
            _ => Duration::from_millis(u64::from(ack) * 200),
        }),
    })
}

/// Draws a diff for either end, with valid members and noise.
fn diff(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut diff = Vec::new();
    for _ in 0..input.int_in_range(0..=3)? {
        let body = match input.int_in_range(0..=8)? {
            0 | 1 => member(2, &member(4, &text(input)?)),
            2 => {
                let [width, height] = input.arbitrary::<[u8; 2]>()?;
                let size = crate::script::size(width, height);
                let (columns, rows) = (u64::from(size.columns()), u64::from(size.rows()));
                member(3, &[varint(5 << 3, columns), varint(6 << 3, rows)].concat())
            }
            3 => member(7, &varint(8 << 3, input.arbitrary::<u8>()?.into())),
            4 => {
                // Many keys, or a letter many times on the screen.
                let len = usize::from(input.arbitrary::<u16>()?);
                member(2, &member(4, &vec![b'k'; len]))
            }
            5 => event(18, &varint(1 << 3, input.arbitrary()?)),
            6 => copy(input)?,
            7 => {
                let newest = varint(1 << 3, input.arbitrary::<u8>()?.into());
                event(19, &[newest, member(2, &text(input)?), member(2, b"9;done")].concat())
            }
            _ => match input.int_in_range(0..=2)? {
                0 => lines(input)?,
                1 => {
                    let [modes, keys] = input.arbitrary::<[u8; 2]>()?;
                    event(20, &[varint(1 << 3, modes.into()), varint(2 << 3, keys.into())].concat())
                }
                _ => text(input)?,
            },
        };
        diff.extend(member(1, &body));
    }
    Ok(diff)
}

/// Draws lines that scrolled off: as text, as rows of the screen, or only as their number.
fn lines(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let [first, count, columns, row] = input.arbitrary::<[u8; 4]>()?;
    let first = match first {
        0..=250 => u64::from(first),
        _ => u64::MAX - (255 - u64::from(first)),
    };
    let place = [varint(1 << 3, first), varint(2 << 3, (count & 0x8f).into())].concat();
    let contents = match row & 3 {
        0 => Vec::new(),
        1 => varint(5 << 3, (row >> 2).into()),
        _ => [varint(3 << 3, columns.into()), member(4, &text(input)?)].concat(),
    };
    Ok(event(21, &[place, contents, varint(6 << 3, (row >> 7).into())].concat()))
}

/// Draws a piece of copied text, which may continue an earlier piece.
fn copy(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let [number, offset, len, head] = input.arbitrary::<[u8; 4]>()?;
    let text = if head & 1 == 0 { vec![b'A'; usize::from(len)] } else { text(input)? };
    let head = match head >> 1 & 3 {
        0 => Vec::new(),
        1 => [member(4, b"pc"), varint(5 << 3, len.into())].concat(),
        2 => [member(4, b"c"), varint(5 << 3, 1 << 20)].concat(),
        _ => [member(4, &text), varint(5 << 3, input.arbitrary()?)].concat(),
    };
    let place = [varint(1 << 3, number.into()), varint(2 << 3, offset.into())].concat();
    Ok(event(17, &[place, member(3, &text), head].concat()))
}

/// Draws up to 255 bytes.
pub(crate) fn text(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let len = usize::from(input.arbitrary::<u8>()?).min(input.len());
    Ok(input.bytes(len)?.to_vec())
}

/// Returns a member with a number of 16 or more, which takes two bytes.
fn event(number: u8, body: &[u8]) -> Vec<u8> {
    let mut event = vec![(number << 3 | 2) | 128, number >> 4];
    event.extend(&varint(0, u64::try_from(body.len()).expect("a length fits 64 bits"))[1..]);
    event.extend(body);
    event
}

fn member(field: u8, body: &[u8]) -> Vec<u8> {
    let len = u64::try_from(body.len()).expect("a length fits 64 bits");
    [varint(field << 3 | 2, len), body.to_vec()].concat()
}

fn varint(tag: u8, mut value: u64) -> Vec<u8> {
    let mut out = vec![tag];
    while value >= 128 {
        out.push(value.to_le_bytes()[0] | 128);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}
