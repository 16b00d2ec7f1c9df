//! The subset of protobuf that the protocol's messages use. It reads fields in place, and appends fields to a buffer.

use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};

use crate::object::ApplyError;

/// Maximum number of fields of a protobuf message inside an instruction's diff. Chosen: more than any message has. A
/// message of millions of fields would be read several times before an error is found.
const FIELDS_MAX: usize = 1024;

/// The value of one protobuf field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number.
    Varint(u64),
    /// Bytes, text or a message.
    Bytes(&'a [u8]),
    /// A value of a type that no message of the protocol uses: four or eight bytes, or a group.
    Other,
}

/// Iterator over the fields of one protobuf message, in order, each with its number. It ends after the first error.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
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
    /// Iterates over the fields of a small message, which has at most 1024.
    pub const fn of(message: &'a [u8]) -> Self {
        Self::at_most(FIELDS_MAX, message)
    }

    /// Iterates over the fields of a message that may have any number of them.
    pub const fn of_message(message: &'a [u8]) -> Self {
        Self::at_most(usize::MAX, message)
    }

    /// Iterates over the fields of a message. A field beyond the first `max` is an error.
    pub const fn at_most(max: usize, message: &'a [u8]) -> Self {
        Self { rest: message, left: max }
    }

    /// Returns how many bytes have not been read.
    pub const fn unread_bytes(&self) -> usize {
        self.rest.len()
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), ApplyError> {
        let (number, wire_type) =
            decode_key(&mut self.rest).map_err(|_| malformed("the key of a field"))?;
        let value = match wire_type {
            WireType::Varint => Value::Varint(self.varint()?),
            WireType::LengthDelimited => {
                let len = usize::try_from(self.varint()?).map_err(|_| malformed("a length"))?;
                Value::Bytes(self.take(len)?)
            }
            _ => skip_field(wire_type, number, &mut self.rest, DecodeContext::default())
                .map(|()| Value::Other)
                .map_err(|_| malformed("a value"))?,
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

/// Returns the bytes of the last field with the number `wanted`; empty if there is no such field.
///
/// # Errors
///
/// Returns an error for a malformed message.
pub fn string(body: &[u8], wanted: u32) -> Result<&[u8], ApplyError> {
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

/// Returns the varint of the last field with the number `wanted`; 0 if there is no such field.
///
/// # Errors
///
/// Returns an error for a malformed message.
pub fn number(body: &[u8], wanted: u32) -> Result<u64, ApplyError> {
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
pub fn bytes_field(field: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 8);
    put_bytes_field(&mut out, field, bytes);
    out
}

/// Returns a varint field in its wire form.
pub fn varint_field(field: u32, value: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(11);
    put_varint_field(&mut out, field, value);
    out
}

/// Appends a length-delimited field to `out`.
pub fn put_bytes_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a varint field to `out`.
pub fn put_varint_field(out: &mut Vec<u8>, field: u32, value: u64) {
    encode_key(field, WireType::Varint, out);
    encode_varint(value, out);
}

/// Returns the low 32 bits of a varint, as protobuf reads a `uint32`.
pub fn uint32(varint: u64) -> u32 {
    u32::try_from(varint & u64::from(u32::MAX)).expect("masked to 32 bits")
}
