//! The fields of the messages that open and answer streams, encoded as in protobuf.

use crate::varint;

/// The wire types of fields. Source: protobuf.
const NUMBER: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const BYTES: u64 = 2;
const FOUR_BYTES: u64 = 5;

/// A field's value.
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Calls `handle` with the number and value of each field. Fields of a fixed size (4 or 8 bytes) are skipped. `None` if
/// the bytes are not valid fields.
pub(crate) fn each_field<'a>(
    mut fields: &'a [u8],
    mut handle: impl FnMut(u64, Value<'a>),
) -> Option<()> {
    let bytes = &mut fields;
    while !bytes.is_empty() {
        let key = varint::take(bytes)?;
        let len = match key & 7 {
            NUMBER => {
                let value = varint::take(bytes)?;
                handle(key >> 3, Value::Number(value));
                continue;
            }
            EIGHT_BYTES => 8,
            FOUR_BYTES => 4,
            BYTES => varint::take(bytes)?,
            _ => return None,
        };
        let len = usize::try_from(len).ok()?;
        let (value, rest) = bytes.split_at_checked(len)?;
        *bytes = rest;
        if key & 7 == BYTES {
            handle(key >> 3, Value::Bytes(value));
        }
    }
    Some(())
}

/// Adds a field that is a number.
pub(crate) fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint::put(out, field << 3 | NUMBER);
    varint::put(out, value);
}

/// Adds a field of bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint::put(out, field << 3 | BYTES);
    varint::put(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Returns a message of these fields, preceded by its length.
pub(crate) fn with_length(fields: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    varint::put(&mut message, fields.len() as u64);
    message.extend(fields);
    message
}
