//! The transport instruction and its protobuf form.
//!
//! The code is written by hand over prost's primitives, not derived. It skips a field of an unexpected wire type like
//! an unknown one, as protobuf has it. A malformed hello does not make an instruction fail.

use prost::bytes::Buf;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};

use rove_units::Duration;

use crate::compress::INSTRUCTION_LEN_MAX;
use crate::error::ReceiveError;
use crate::hello::Hello;
use crate::loss_report;
use crate::num::StateNum;
use crate::path::Loss;

/// The protocol version that every instruction carries. Source: Mosh 1.4.0 as observed, docs/wire.md.
const PROTOCOL_VERSION: u32 = 2;

// Field numbers. Source: Mosh 1.4.0 as observed, docs/wire.md.
const VERSION: u32 = 1;
const OLD_NUM: u32 = 2;
const NEW_NUM: u32 = 3;
const ACK_NUM: u32 = 4;
const THROWAWAY_NUM: u32 = 5;
const DIFF: u32 = 6;
const CHAFF: u32 = 7;

/// Field number of the hello. Chosen: stock skips it, and no release of it is near this number.
const HELLO: u32 = 100;

/// Field number of the loss report. Chosen: next to [`HELLO`].
const LOSS_REPORT: u32 = 101;

/// Field number of a server's announced heartbeat, in milliseconds. Chosen: next to [`HELLO`].
const NEXT_HEARTBEAT: u32 = 102;

/// Most bytes that the seven stock fields need besides the contents of diff and chaff.
const FIELDS_LEN_MAX: usize = 6 + 4 * 11 + 2 * 6;

/// A message from one end to the other: a diff, an acknowledgment, and what may be dropped. The default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// The number of the state that the diff starts from.
    pub old_num: StateNum,
    /// The number of the state that the diff produces.
    pub new_num: StateNum,
    /// The number of the newest state received from the peer, which this acknowledges.
    pub ack_num: StateNum,
    /// The number below which the receiver may drop its states.
    pub throwaway_num: StateNum,
    /// The object's diff; empty if the state has the contents of `old_num`.
    pub diff: Vec<u8>,
    /// Random padding, ignored by the receiver.
    pub chaff: Vec<u8>,
    /// The extensions that the sender offers. `None` once the peer knows them.
    pub hello: Option<Hello>,
    /// How many of its receiver's datagrams were lost. `None` if no report is due.
    pub loss_report: Option<Loss>,
    /// Time within which a server sends again after this heartbeat, which the client answers at once. `None` in
    /// anything but an announcing heartbeat.
    pub next_heartbeat: Option<Duration>,
}

impl Instruction {
    /// Encodes the protobuf form: all seven stock fields, in ascending order, then the extensions.
    pub fn encode(&self) -> Vec<u8> {
        let hello = self.hello.map(|hello| hello.encode());
        let loss_report = self.loss_report.map(|loss| loss_report::encode(&loss));
        let extensions = [(HELLO, hello), (LOSS_REPORT, loss_report)];
        let extensions_len: usize =
            extensions.iter().flat_map(|(_, bytes)| bytes).map(Vec::len).sum();
        let next_heartbeat = self.next_heartbeat.map(|pause| pause.as_millis());
        let len = FIELDS_LEN_MAX + self.diff.len() + self.chaff.len() + extensions_len;
        let mut out = Vec::with_capacity(len);
        put_varint(VERSION, PROTOCOL_VERSION.into(), &mut out);
        put_varint(OLD_NUM, self.old_num.get(), &mut out);
        put_varint(NEW_NUM, self.new_num.get(), &mut out);
        put_varint(ACK_NUM, self.ack_num.get(), &mut out);
        put_varint(THROWAWAY_NUM, self.throwaway_num.get(), &mut out);
        put_bytes(DIFF, &self.diff, &mut out);
        put_bytes(CHAFF, &self.chaff, &mut out);
        for (field, bytes) in extensions {
            if let Some(bytes) = bytes {
                put_bytes(field, &bytes, &mut out);
            }
        }
        if let Some(millis) = next_heartbeat {
            put_varint(NEXT_HEARTBEAT, u64::try_from(millis).unwrap_or(u64::MAX), &mut out);
        }
        out
    }

    /// Decodes the protobuf form and checks the protocol version.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for malformed protobuf or a version other than 2.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReceiveError> {
        if bytes.len() > INSTRUCTION_LEN_MAX {
            return Err(ReceiveError::InstructionTooLarge { max: INSTRUCTION_LEN_MAX });
        }
        let fields = Fields::read(bytes).ok_or(ReceiveError::InstructionMalformed)?;
        if fields.version != PROTOCOL_VERSION {
            return Err(ReceiveError::VersionMismatch { version: fields.version });
        }
        Ok(Self {
            old_num: StateNum::new(fields.old_num),
            new_num: StateNum::new(fields.new_num),
            ack_num: StateNum::new(fields.ack_num),
            throwaway_num: StateNum::new(fields.throwaway_num),
            diff: fields.diff.to_vec(),
            chaff: fields.chaff.to_vec(),
            hello: fields.hello.and_then(Hello::decode),
            loss_report: fields.loss_report.and_then(loss_report::decode),
            next_heartbeat: fields.next_heartbeat.map(Duration::from_millis),
        })
    }
}

/// Most fields of one instruction. Chosen: each known field several times, and as many of later versions. Without a
/// limit, 4 MiB of fields would keep a processor busy for nothing.
const FIELDS_MAX: usize = 64;

/// The fields as they were sent. The last of several with one number counts; an absent field is 0 or empty.
#[derive(Default)]
struct Fields<'a> {
    version: u32,
    old_num: u64,
    new_num: u64,
    ack_num: u64,
    throwaway_num: u64,
    diff: &'a [u8],
    chaff: &'a [u8],
    hello: Option<&'a [u8]>,
    loss_report: Option<&'a [u8]>,
    next_heartbeat: Option<u64>,
}

impl<'a> Fields<'a> {
    /// Reads the fields of a protobuf message. `None` if `bytes` is not one.
    fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Self::default();
        let mut count = 0;
        while bytes.has_remaining() {
            count += 1;
            if count > FIELDS_MAX {
                return None;
            }
            let (tag, wire_type) = decode_key(&mut bytes).ok()?;
            match (tag, wire_type) {
                (VERSION, WireType::Varint) => fields.version = take_u32(&mut bytes)?,
                (OLD_NUM, WireType::Varint) => fields.old_num = decode_varint(&mut bytes).ok()?,
                (NEW_NUM, WireType::Varint) => fields.new_num = decode_varint(&mut bytes).ok()?,
                (ACK_NUM, WireType::Varint) => fields.ack_num = decode_varint(&mut bytes).ok()?,
                (THROWAWAY_NUM, WireType::Varint) => {
                    fields.throwaway_num = decode_varint(&mut bytes).ok()?;
                }
                (DIFF, WireType::LengthDelimited) => fields.diff = take_bytes(&mut bytes)?,
                (CHAFF, WireType::LengthDelimited) => fields.chaff = take_bytes(&mut bytes)?,
                (NEXT_HEARTBEAT, WireType::Varint) => {
                    fields.next_heartbeat = Some(decode_varint(&mut bytes).ok()?);
                }
                (HELLO, WireType::LengthDelimited) => fields.hello = Some(take_bytes(&mut bytes)?),
                (LOSS_REPORT, WireType::LengthDelimited) => {
                    fields.loss_report = Some(take_bytes(&mut bytes)?);
                }
                _ => skip_field(wire_type, tag, &mut bytes, DecodeContext::default()).ok()?,
            }
        }
        Some(fields)
    }
}

/// Reads a uint32: protobuf keeps the low 32 bits of a longer varint.
fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(decode_varint(bytes).ok()? & u64::from(u32::MAX)).ok()
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(decode_varint(bytes).ok()?).ok()?;
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn put_varint(field: u32, value: u64, out: &mut Vec<u8>) {
    encode_key(field, WireType::Varint, out);
    encode_varint(value, out);
}

fn put_bytes(field: u32, value: &[u8], out: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(value.len() as u64, out);
    out.extend(value);
}

#[cfg(test)]
mod tests;
