//! Reads and writes the protobuf structure that the messages `UserMessage` and `HostMessage` have in common.
//!
//! Each message is a repeated field 1 of instructions. An instruction has one protobuf field (in the code *member*):
//! keys, terminal bytes, a resize or an extension. Instructions are read in place, one at a time, so that a small
//! hostile message cannot cause a large allocation. Unknown fields of an instruction are skipped, so that later
//! versions may add fields from 16 on. Wire form: Mosh 1.4.0 as observed, docs/wire.md.

#[cfg(test)]
mod tests;

use rove_ssp::ApplyError;
use rove_ssp::protobuf::uint32;
pub(crate) use rove_ssp::protobuf::{
    Fields, Value, bytes_field, number, put_bytes_field, put_varint_field, string, varint_field,
};
use rove_terminal::Size;

/// Field number of an instruction in a message.
const INSTRUCTION: u32 = 1;

/// The first field number in an instruction for rove's extensions, which Mosh 1.4.0 does not know.
const EXTENSIONS: u32 = 16;

/// Field number of a resize, in instructions of both messages.
pub(crate) const RESIZE: u32 = 3;
const RESIZE_WIDTH: u32 = 5;
const RESIZE_HEIGHT: u32 = 6;

/// Appends an instruction that sets the window size to a message of either kind.
pub(crate) fn put_resize(message: &mut Vec<u8>, size: Size) {
    let mut body = Vec::with_capacity(8);
    put_varint_field(&mut body, RESIZE_WIDTH, u64::from(size.columns()));
    put_varint_field(&mut body, RESIZE_HEIGHT, u64::from(size.rows()));
    put_member(message, RESIZE, &body);
}

/// Appends an instruction to a message. Its only field has the number `number`.
pub(crate) fn put_member(message: &mut Vec<u8>, number: u32, body: &[u8]) {
    debug_assert!(number > 0, "protobuf has no field 0");
    put_bytes_field(message, INSTRUCTION, &bytes_field(number, body));
}

/// Reads the first field of a message, which must not be empty. Returns the field's contents if it is an instruction,
/// or else `None`, and the field's length, at least 1 byte.
///
/// # Errors
///
/// Returns an error for a malformed field.
pub(crate) fn first_instruction(message: &[u8]) -> Result<(Option<&[u8]>, usize), ApplyError> {
    let mut fields = Fields::of_message(message);
    let instruction = match fields.next().transpose()? {
        Some((INSTRUCTION, Value::Bytes(body))) => Some(body),
        _ => None,
    };
    Ok((instruction, message.len() - fields.unread_bytes()))
}

/// Returns the instructions of a message, in order; other fields are skipped.
pub(crate) fn instructions(message: &[u8]) -> impl Iterator<Item = Result<&[u8], ApplyError>> {
    Fields::of_message(message).filter_map(|field| match field {
        Ok((INSTRUCTION, Value::Bytes(body))) => Some(Ok(body)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// Returns the number and the body of an instruction's field, or `None` if no field is known. An instruction should
/// have one field. If it has several, fields of Mosh 1.4.0 take precedence over extensions, and keys or terminal bytes
/// over a size, as in Mosh itself. Otherwise the last field counts.
///
/// # Errors
///
/// Returns an error for a malformed instruction.
pub(crate) fn member(
    instruction: &[u8],
    is_known: impl Fn(u32) -> bool,
) -> Result<Option<(u32, &[u8])>, ApplyError> {
    let mut found: Option<(u32, &[u8])> = None;
    for field in Fields::of(instruction) {
        if let (number, Value::Bytes(body)) = field?
            && is_known(number)
            && found.is_none_or(|(other, _)| number.min(EXTENSIONS) <= other.min(EXTENSIONS))
        {
            found = Some((number, body));
        }
    }
    Ok(found)
}

/// Reads a resize's body, and returns the nearest size that a screen may have. `None` if a dimension is zero or less.
///
/// # Errors
///
/// Returns an error for a malformed body.
pub(crate) fn read_resize(body: &[u8]) -> Result<Option<Size>, ApplyError> {
    let [columns, rows] = [RESIZE_WIDTH, RESIZE_HEIGHT]
        .map(|field| number(body, field).map(|cells| uint32(cells).cast_signed().max(0)));
    let dimension = |cells: i32| u16::try_from(cells).unwrap_or(u16::MAX);
    let (columns, rows) = (dimension(columns?), dimension(rows?));
    Ok((columns > 0 && rows > 0).then(|| Size::clamped(columns, rows)))
}

/// Returns the error for a diff that breaks `rule`.
pub(crate) fn refused(rule: &str) -> ApplyError {
    ApplyError { reason: rule.to_owned() }
}
