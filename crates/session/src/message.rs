//! The protobuf forms of the two objects' diffs: `UserMessage` and `HostMessage`.
//!
//! Both are a repeated field 1 of instructions with one member each. They are read in place, one
//! instruction at a time, so that a small hostile message cannot grow into a large structure.
//! Members this version does not know are skipped; that is how later versions may add some
//! (numbered 16 and above). Wire form: Mosh 1.4.0 as observed, docs/wire.md.

mod event;
mod host;
mod protobuf;
mod scrollback;
#[cfg(test)]
mod tests;
mod tty;
mod user;

pub(crate) use event::WireNotifications;
#[cfg(test)]
pub(crate) use host::host_instructions;
pub(crate) use host::{HostInstruction, first_host_instruction};
pub(crate) use scrollback::WireLines;
pub(crate) use tty::WireTty;
pub(crate) use user::{UserInstruction, user_instructions};

use rove_ssp::ApplyError;
use rove_terminal::Size;

use self::protobuf::{
    Fields, Value, bytes_field, int32, number, put_bytes_field, put_varint_field,
};

/// Field of a message: one instruction.
const INSTRUCTION: u32 = 1;

/// A resize is the same member in both.
const RESIZE: u32 = 3;
const RESIZE_WIDTH: u32 = 5;
const RESIZE_HEIGHT: u32 = 6;

/// A window size as the wire has it: anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WireSize {
    /// Columns.
    pub(crate) width: i32,
    /// Rows.
    pub(crate) height: i32,
}

impl WireSize {
    /// Returns the nearest size a screen may have; `None` where a dimension is zero or negative,
    /// which no window has.
    pub(crate) fn to_size(self) -> Option<Size> {
        if self.width < 1 || self.height < 1 {
            return None;
        }
        let dimension = |cells: i32| u16::try_from(cells).unwrap_or(u16::MAX);
        Some(Size::clamped(dimension(self.width), dimension(self.height)))
    }
}

impl From<Size> for WireSize {
    fn from(size: Size) -> Self {
        Self { width: i32::from(size.columns()), height: i32::from(size.rows()) }
    }
}

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct MessageWriter {
    out: Vec<u8>,
}

impl MessageWriter {
    /// Adds a window size to either message.
    pub(crate) fn resize(&mut self, size: Size) {
        let size = WireSize::from(size);
        let mut body = Vec::with_capacity(8);
        put_varint_field(&mut body, RESIZE_WIDTH, u64::from(size.width.cast_unsigned()));
        put_varint_field(&mut body, RESIZE_HEIGHT, u64::from(size.height.cast_unsigned()));
        self.instruction(RESIZE, &body);
    }

    /// Returns the message.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    fn instruction(&mut self, member: u32, body: &[u8]) {
        let instruction = bytes_field(member, body);
        put_bytes_field(&mut self.out, INSTRUCTION, &instruction);
    }
}

/// Returns the bodies of field 1.
fn instructions(message: &[u8]) -> impl Iterator<Item = Result<&[u8], ApplyError>> {
    Fields::of_message(message).filter_map(|field| match field {
        Ok((INSTRUCTION, Value::Bytes(body))) => Some(Ok(body)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

fn wire_size(body: &[u8]) -> Result<WireSize, ApplyError> {
    Ok(WireSize {
        width: int32(number(body, RESIZE_WIDTH)?),
        height: int32(number(body, RESIZE_HEIGHT)?),
    })
}
