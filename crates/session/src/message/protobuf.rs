//! The subset of protobuf that `UserMessage` and `HostMessage` use: fields are read in place and appended.
//!
//! A *member* is the field of an instruction that says what the instruction does; its body is a protobuf message.

use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};
use rove_ssp::ApplyError;

/// The value of one protobuf field.
pub(crate) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// A fixed value of four or eight bytes (wire types 5 and 1). No field of the two messages has such a value.
    Fixed,
}

/// Most fields in the body of one member. Chosen: more than any member has; a body of millions of fields would be read
/// several times without a check in between.
const FIELDS_MAX: usize = 1024;

/// Iterator over the fields of one protobuf message, in order. It ends after the first error.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// How many more fields the message may have.
    left: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), ApplyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.field()
            }
            None => Err(malformed("too many fields")),
        };
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    /// Iterates over the fields of a member's body, at most [`FIELDS_MAX`].
    pub(crate) const fn of(body: &'a [u8]) -> Self {
        Self { rest: body, left: FIELDS_MAX }
    }

    /// Iterates over the fields of a whole message, whose number is unlimited: the fields are instructions.
    pub(crate) const fn of_message(message: &'a [u8]) -> Self {
        Self { rest: message, left: usize::MAX }
    }

    pub(crate) const fn len(&self) -> usize {
        self.rest.len()
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), ApplyError> {
        let (number, wire_type) =
            decode_key(&mut self.rest).map_err(|_| malformed("the key of a field"))?;
        let value = match wire_type {
            WireType::Varint => Value::Varint(self.varint()?),
            WireType::SixtyFourBit => self.take(8).map(|_| Value::Fixed)?,
            WireType::LengthDelimited => {
                let len = usize::try_from(self.varint()?).map_err(|_| malformed("a length"))?;
                Value::Bytes(self.take(len)?)
            }
            WireType::ThirtyTwoBit => self.take(4).map(|_| Value::Fixed)?,
            WireType::StartGroup | WireType::EndGroup => return Err(malformed("a wire type")),
        };
        Ok((number, value))
    }

    fn varint(&mut self) -> Result<u64, ApplyError> {
        decode_varint(&mut self.rest).map_err(|_| malformed("a varint"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], ApplyError> {
        let (taken, rest) =
            self.rest.split_at_checked(len).ok_or_else(|| malformed("a length past the end"))?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Returns the bytes of the last field `wanted`; empty if there is no such field.
pub(crate) fn string(body: &[u8], wanted: u32) -> Result<&[u8], ApplyError> {
    let mut found: &[u8] = &[];
    for field in Fields::of(body) {
        if let (number, Value::Bytes(bytes)) = field?
            && number == wanted
        {
            found = bytes;
        }
    }
    Ok(found)
}

/// Returns the varint of the last field `wanted`; 0 if there is no such field.
pub(crate) fn number(body: &[u8], wanted: u32) -> Result<u64, ApplyError> {
    let mut found = 0;
    for field in Fields::of(body) {
        if let (number, Value::Varint(value)) = field?
            && number == wanted
        {
            found = value;
        }
    }
    Ok(found)
}

fn malformed(what: &str) -> ApplyError {
    ApplyError { reason: format!("malformed protobuf: {what}") }
}

/// Returns a length-delimited field in its wire form.
pub(crate) fn bytes_field(field: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 8);
    put_bytes_field(&mut out, field, bytes);
    out
}

/// Returns a varint field in its wire form.
pub(crate) fn varint_field(field: u32, value: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(11);
    put_varint_field(&mut out, field, value);
    out
}

/// Appends a length-delimited field to `out`.
pub(crate) fn put_bytes_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_varint_field(out: &mut Vec<u8>, field: u32, value: u64) {
    encode_key(field, WireType::Varint, out);
    encode_varint(value, out);
}

/// Returns the low 32 bits of a varint as a signed number, as protobuf reads an `int32`.
pub(super) fn int32(varint: u64) -> i32 {
    let low = u32::try_from(varint & u64::from(u32::MAX)).expect("masked to 32 bits");
    low.cast_signed()
}
