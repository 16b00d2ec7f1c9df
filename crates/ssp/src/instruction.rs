//! The transport instruction and its protobuf form.
//!
//! As in protobuf, a field of an unexpected wire type is skipped like an unknown field. A malformed hello does not make
//! an instruction invalid.

use rove_units::Duration;

use crate::compress::INSTRUCTION_LEN_MAX;
use crate::error::ReceiveError;
use crate::hello::Hello;
use crate::loss_report;
use crate::num::StateNum;
use crate::path::Loss;
use crate::protobuf::{Fields, Value, put_bytes_field, put_varint_field, uint32};

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

/// Field number of the hello. Chosen: Mosh 1.4.0 skips it, and no release of Mosh has a field near this number.
const HELLO: u32 = 100;

/// Field number of the loss report. Chosen: next to [`HELLO`].
const LOSS_REPORT: u32 = 101;

/// Field number of the longest time until a server's next heartbeat, in milliseconds. Chosen: next to [`HELLO`].
const NEXT_HEARTBEAT: u32 = 102;

/// Maximum length in bytes of an instruction's seven fields of Mosh 1.4.0, without the contents of diff and chaff.
const FIELDS_LEN_MAX: usize = 6 + 4 * 11 + 2 * 6;

/// Maximum number of fields of one instruction; one with more is refused. Chosen: each known field several times, and
/// as many fields of later versions. Without a limit, 4 MiB of fields would keep a processor busy.
const FIELDS_MAX: usize = 64;

/// A message from one end to the other: diff, acknowledgment, and the states that may be dropped. The default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// The number of the state from which the diff starts.
    pub old_num: StateNum,
    /// The number of the state that the diff produces.
    pub new_num: StateNum,
    /// The number of the newest state received from the peer, which this instruction acknowledges.
    pub ack_num: StateNum,
    /// The number below which the receiver may drop its states.
    pub throwaway_num: StateNum,
    /// The object's diff; empty if the state has the contents of `old_num`.
    pub diff: Vec<u8>,
    /// Random padding, ignored by the receiver.
    pub chaff: Vec<u8>,
    /// The extensions that the sender offers. `None` once the peer knows them, or from stock Mosh.
    pub hello: Option<Hello>,
    /// How many of the datagrams that the instruction's receiver has sent were lost. `None` if no report is due.
    pub loss_report: Option<Loss>,
    /// Time within which a server sends again after this heartbeat, which the client answers at once. `None` unless the
    /// instruction is such a heartbeat.
    pub next_heartbeat: Option<Duration>,
}

impl Instruction {
    /// Encodes the protobuf form: all seven fields of Mosh 1.4.0, in ascending order, then the extensions.
    pub fn encode(&self) -> Vec<u8> {
        let hello = self.hello.map(|hello| hello.encode());
        let loss_report = self.loss_report.map(|loss| loss_report::encode(&loss));
        let extensions = [(HELLO, hello), (LOSS_REPORT, loss_report)];
        let extensions_len: usize =
            extensions.iter().flat_map(|(_, bytes)| bytes).map(Vec::len).sum();
        let next_heartbeat = self.next_heartbeat.map(|pause| pause.as_millis());
        let len = FIELDS_LEN_MAX + self.diff.len() + self.chaff.len() + extensions_len;
        let mut out = Vec::with_capacity(len);
        put_varint_field(&mut out, VERSION, PROTOCOL_VERSION.into());
        put_varint_field(&mut out, OLD_NUM, self.old_num.get());
        put_varint_field(&mut out, NEW_NUM, self.new_num.get());
        put_varint_field(&mut out, ACK_NUM, self.ack_num.get());
        put_varint_field(&mut out, THROWAWAY_NUM, self.throwaway_num.get());
        put_bytes_field(&mut out, DIFF, &self.diff);
        put_bytes_field(&mut out, CHAFF, &self.chaff);
        for (field, bytes) in extensions {
            if let Some(bytes) = bytes {
                put_bytes_field(&mut out, field, &bytes);
            }
        }
        if let Some(millis) = next_heartbeat {
            put_varint_field(&mut out, NEXT_HEARTBEAT, u64::try_from(millis).unwrap_or(u64::MAX));
        }
        out
    }

    /// Decodes the protobuf form and checks the protocol version.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for malformed protobuf, an instruction over a limit or a version other than 2.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReceiveError> {
        if bytes.len() > INSTRUCTION_LEN_MAX {
            return Err(ReceiveError::InstructionTooLarge { max: INSTRUCTION_LEN_MAX });
        }
        let (mut found, mut version) = (Self::default(), 0);
        for field in Fields::at_most(FIELDS_MAX, bytes) {
            // If several fields have one number, the last of them counts.
            match field.map_err(|_| ReceiveError::InstructionMalformed)? {
                (VERSION, Value::Varint(number)) => version = uint32(number),
                (OLD_NUM, Value::Varint(num)) => found.old_num = StateNum::new(num),
                (NEW_NUM, Value::Varint(num)) => found.new_num = StateNum::new(num),
                (ACK_NUM, Value::Varint(num)) => found.ack_num = StateNum::new(num),
                (THROWAWAY_NUM, Value::Varint(num)) => found.throwaway_num = StateNum::new(num),
                (DIFF, Value::Bytes(diff)) => found.diff = diff.to_vec(),
                (CHAFF, Value::Bytes(chaff)) => found.chaff = chaff.to_vec(),
                (HELLO, Value::Bytes(hello)) => found.hello = Hello::decode(hello),
                (LOSS_REPORT, Value::Bytes(report)) => {
                    found.loss_report = loss_report::decode(report);
                }
                (NEXT_HEARTBEAT, Value::Varint(millis)) => {
                    found.next_heartbeat = Some(Duration::from_millis(millis));
                }
                _ => {}
            }
        }
        if version == PROTOCOL_VERSION {
            Ok(found)
        } else {
            Err(ReceiveError::VersionMismatch { version })
        }
    }
}

#[cfg(test)]
mod tests;
