//! The protobuf forms of the two objects' diffs, `UserMessage` and `HostMessage`, as far as both are alike.
//!
//! Both are a repeated field 1 of instructions with one member each. They are read in place, one
//! instruction at a time, so that a small hostile message cannot grow into a large structure.
//! Members this version does not know are skipped; that is how later versions may add some
//! (numbered 16 and above). Wire form: Mosh 1.4.0 as observed, docs/wire.md.

mod protobuf;
#[cfg(test)]
mod tests;

use rove_ssp::ApplyError;
use rove_terminal::Size;

use self::protobuf::int32;
pub(crate) use self::protobuf::{
    Fields, Value, bytes_field, number, put_bytes_field, put_varint_field, string, varint_field,
};

/// Field of a message: one instruction.
const INSTRUCTION: u32 = 1;

/// The first number of a member that stock does not know.
const EXTENSIONS: u32 = 16;

/// A resize is the same member in both.
pub(crate) const RESIZE: u32 = 3;
const RESIZE_WIDTH: u32 = 5;
const RESIZE_HEIGHT: u32 = 6;

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct MessageWriter {
    out: Vec<u8>,
}

impl MessageWriter {
    /// Adds a window size to either message.
    pub(crate) fn resize(&mut self, size: Size) {
        let mut body = Vec::with_capacity(8);
        put_varint_field(&mut body, RESIZE_WIDTH, u64::from(size.columns()));
        put_varint_field(&mut body, RESIZE_HEIGHT, u64::from(size.rows()));
        self.member(RESIZE, &body);
    }

    /// Adds an instruction of one member.
    pub(crate) fn member(&mut self, number: u32, body: &[u8]) {
        debug_assert!(number > 0, "protobuf has no field 0");
        put_bytes_field(&mut self.out, INSTRUCTION, &bytes_field(number, body));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Reads the first field of a message: an instruction, or `None` for a field that is none. Returns with it how many bytes the
/// field takes, from 1. There must be one.
///
/// # Errors
///
/// Returns an error for a field that is malformed.
pub(crate) fn first_instruction(message: &[u8]) -> Result<(Option<&[u8]>, usize), ApplyError> {
    let mut fields = Fields::of_message(message);
    let instruction = match fields.next().transpose()? {
        Some((INSTRUCTION, Value::Bytes(body))) => Some(body),
        _ => None,
    };
    Ok((instruction, message.len() - fields.len()))
}

/// Returns the instructions of a message, in order.
pub(crate) fn instructions(message: &[u8]) -> impl Iterator<Item = Result<&[u8], ApplyError>> {
    Fields::of_message(message).filter_map(|field| match field {
        Ok((INSTRUCTION, Value::Bytes(body))) => Some(Ok(body)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// Returns the number and the body of the member that an instruction stands for, or `None` if it has only members that are
/// not known. An instruction has one. In one with several, stock's come before extensions and keys or terminal bytes before a
/// size, as with stock; otherwise the last one holds.
///
/// # Errors
///
/// Returns an error for an instruction that is malformed.
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

/// Reads the body of a resize: the nearest size that a screen may have. `None` stands for a dimension that is zero or negative,
/// which no window has.
///
/// # Errors
///
/// Returns an error for a body that is malformed.
pub(crate) fn read_resize(body: &[u8]) -> Result<Option<Size>, ApplyError> {
    let [columns, rows] = [RESIZE_WIDTH, RESIZE_HEIGHT]
        .map(|field| number(body, field).map(|cells| int32(cells).max(0)));
    let dimension = |cells: i32| u16::try_from(cells).unwrap_or(u16::MAX);
    let (columns, rows) = (dimension(columns?), dimension(rows?));
    Ok((columns > 0 && rows > 0).then(|| Size::clamped(columns, rows)))
}

/// Returns the error of a diff that breaks a rule.
pub(crate) fn refused(rule: &str) -> ApplyError {
    ApplyError { reason: rule.to_owned() }
}
