//! The protobuf forms of the two objects' diffs: `UserMessage` and `HostMessage`.
//!
//! Both are a repeated field 1 of instructions with one member each. They are read in place, one
//! instruction at a time, so that a small hostile message cannot grow into a large structure.
//! Members this version does not know are skipped; that is how later versions may add some
//! (numbered 16 and above). Wire form: Mosh 1.4.0 as observed, docs/wire.md.

mod event;

pub(crate) use event::WireNotifications;

use rove_ssp::{ApplyError, StateNum};
use rove_terminal::Size;

use crate::clipboard::CopyPiece;
use crate::exit_status::ExitStatus;
use crate::report::TerminalReport;
use crate::user_stream::UserEvent;

/// Field of a message: one instruction.
const INSTRUCTION: u32 = 1;

/// Members of a user instruction, and their fields.
const KEYSTROKE: u32 = 2;
const KEYSTROKE_KEYS: u32 = 4;
/// Between two roves only: what the client has learned of the user's terminal.
const TERMINAL: u32 = 16;
const TERMINAL_KITTY_KEYBOARD: u32 = 1;
const TERMINAL_FOREGROUND: u32 = 2;
const TERMINAL_BACKGROUND: u32 = 3;
const TERMINAL_CURSOR: u32 = 4;
const TERMINAL_CELL_WIDTH: u32 = 5;
const TERMINAL_CELL_HEIGHT: u32 = 6;
const TERMINAL_PIXEL_MOUSE: u32 = 7;
/// Members of a host instruction, and their fields.
const HOST_BYTES: u32 = 2;
const HOST_BYTES_STRING: u32 = 4;
const ECHO_ACK: u32 = 7;
const ECHO_ACK_NUM: u32 = 8;
/// A resize is the same member in both.
const RESIZE: u32 = 3;
const RESIZE_WIDTH: u32 = 5;
const RESIZE_HEIGHT: u32 = 6;
/// Between two roves only: how the remote command ended.
const EXIT_STATUS: u32 = 16;
const EXIT_STATUS_CODE: u32 = 1;
const EXIT_STATUS_SIGNAL: u32 = 2;

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

/// One instruction of a `UserMessage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserInstruction<'a> {
    /// Bytes from the keyboard.
    Keys(&'a [u8]),
    /// The window has a new size.
    Resize(WireSize),
    /// The client has learned this of the user's terminal.
    Terminal(TerminalReport),
    /// Only members this version does not know.
    Unknown,
}

/// One instruction of a `HostMessage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostInstruction<'a> {
    /// Terminal bytes for the replica.
    Bytes(&'a [u8]),
    /// The screen has a new size.
    Resize(WireSize),
    /// Input up to this state of the client's has had its effect.
    EchoAck(StateNum),
    /// How the remote command ended.
    ExitStatus(ExitStatus),
    /// The bell has rung this often.
    Bells(u64),
    /// Something was copied.
    Copy(CopyPiece<'a>),
    /// Programs notified of something.
    Notifications(WireNotifications<'a>),
    /// Only members this version does not know.
    Unknown,
}

/// Reads the instructions of a `UserMessage`, in order.
pub(crate) fn user_instructions(
    diff: &[u8],
) -> impl Iterator<Item = Result<UserInstruction<'_>, ApplyError>> {
    instructions(diff).map(|body| user_instruction(body?))
}

/// Reads the instructions of a `HostMessage`, in order.
pub(crate) fn host_instructions(
    diff: &[u8],
) -> impl Iterator<Item = Result<HostInstruction<'_>, ApplyError>> {
    instructions(diff).map(|body| host_instruction(body?))
}

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct MessageWriter {
    out: Vec<u8>,
}

impl MessageWriter {
    /// Adds bytes from the keyboard to a `UserMessage`.
    pub(crate) fn keys(&mut self, keys: &[u8]) {
        self.instruction(KEYSTROKE, &bytes_field(KEYSTROKE_KEYS, keys));
    }

    /// Adds the bytes collected so far, if there are any, and empties the collection.
    pub(crate) fn put_keys(&mut self, collected: &mut Vec<u8>) {
        if !collected.is_empty() {
            self.keys(collected);
            collected.clear();
        }
    }

    /// Adds a window size to either message.
    pub(crate) fn resize(&mut self, size: Size) {
        let size = WireSize::from(size);
        let mut body = Vec::with_capacity(8);
        put_varint_field(&mut body, RESIZE_WIDTH, u64::from(size.width.cast_unsigned()));
        put_varint_field(&mut body, RESIZE_HEIGHT, u64::from(size.height.cast_unsigned()));
        self.instruction(RESIZE, &body);
    }

    /// Adds one event to a `UserMessage`.
    pub(crate) fn user_event(&mut self, event: UserEvent) {
        match event {
            UserEvent::Byte(byte) => self.keys(&[byte]),
            UserEvent::Resize(size) => self.resize(size),
            UserEvent::Terminal(report) => self.terminal(report),
        }
    }

    /// Adds what the client has learned to a `UserMessage`. Only for a peer that has shown to know it.
    fn terminal(&mut self, report: TerminalReport) {
        let rgb = |(red, green, blue): (u8, u8, u8)| {
            u64::from(red) << 16 | u64::from(green) << 8 | u64::from(blue)
        };
        let mut body = Vec::with_capacity(8);
        let mut put = |field, value| put_varint_field(&mut body, field, value);
        match report {
            TerminalReport::KittyKeyboard => put(TERMINAL_KITTY_KEYBOARD, 1),
            TerminalReport::PixelMouse => put(TERMINAL_PIXEL_MOUSE, 1),
            TerminalReport::Foreground(color) => put(TERMINAL_FOREGROUND, rgb(color)),
            TerminalReport::Background(color) => put(TERMINAL_BACKGROUND, rgb(color)),
            TerminalReport::Cursor(color) => put(TERMINAL_CURSOR, rgb(color)),
            TerminalReport::CellPixels { width, height } => {
                put(TERMINAL_CELL_WIDTH, u64::from(width));
                put(TERMINAL_CELL_HEIGHT, u64::from(height));
            }
        }
        self.instruction(TERMINAL, &body);
    }

    /// Adds terminal bytes to a `HostMessage`.
    pub(crate) fn host_bytes(&mut self, bytes: &[u8]) {
        self.instruction(HOST_BYTES, &bytes_field(HOST_BYTES_STRING, bytes));
    }

    /// Adds an echo ack to a `HostMessage`.
    pub(crate) fn echo_ack(&mut self, num: StateNum) {
        let mut body = Vec::with_capacity(11);
        put_varint_field(&mut body, ECHO_ACK_NUM, num.get());
        self.instruction(ECHO_ACK, &body);
    }

    /// Adds the command's exit status to a `HostMessage`. Only for a peer that has shown to know it.
    pub(crate) fn exit_status(&mut self, status: ExitStatus) {
        let (field, value) = match status {
            ExitStatus::Code(code) => (EXIT_STATUS_CODE, code),
            ExitStatus::Signal(signal) => (EXIT_STATUS_SIGNAL, signal),
        };
        let mut body = Vec::with_capacity(3);
        put_varint_field(&mut body, field, u64::from(value));
        self.instruction(EXIT_STATUS, &body);
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
    Fields { rest: message }.filter_map(|field| match field {
        Ok((INSTRUCTION, Value::Bytes(body))) => Some(Ok(body)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

fn user_instruction(body: &[u8]) -> Result<UserInstruction<'_>, ApplyError> {
    let (mut keys, mut resize, mut terminal) = (None, None, None);
    for field in (Fields { rest: body }) {
        match field? {
            (KEYSTROKE, Value::Bytes(body)) => keys = Some(string(body, KEYSTROKE_KEYS)?),
            (RESIZE, Value::Bytes(body)) => resize = Some(wire_size(body)?),
            (TERMINAL, Value::Bytes(body)) => terminal = wire_report(body)?,
            _ => {}
        }
    }
    Ok(match (keys, resize, terminal) {
        (Some(keys), ..) => UserInstruction::Keys(keys),
        (None, Some(size), _) => UserInstruction::Resize(size),
        (None, None, Some(report)) => UserInstruction::Terminal(report),
        (None, None, None) => UserInstruction::Unknown,
    })
}

fn host_instruction(body: &[u8]) -> Result<HostInstruction<'_>, ApplyError> {
    let (mut bytes, mut resize, mut echo_ack, mut extension) = (None, None, None, None);
    for field in (Fields { rest: body }) {
        match field? {
            (HOST_BYTES, Value::Bytes(body)) => bytes = Some(string(body, HOST_BYTES_STRING)?),
            (RESIZE, Value::Bytes(body)) => resize = Some(wire_size(body)?),
            (ECHO_ACK, Value::Bytes(body)) => echo_ack = Some(number(body, ECHO_ACK_NUM)?),
            (EXIT_STATUS, Value::Bytes(body)) => {
                extension = wire_exit_status(body)?.map(HostInstruction::ExitStatus);
            }
            (member, Value::Bytes(body)) => extension = event::read(member, body)?.or(extension),
            _ => {}
        }
    }
    Ok(match (bytes, resize, echo_ack, extension) {
        (Some(bytes), ..) => HostInstruction::Bytes(bytes),
        (None, Some(size), ..) => HostInstruction::Resize(size),
        (None, None, Some(num), _) => HostInstruction::EchoAck(StateNum::new(num)),
        (None, None, None, Some(extension)) => extension,
        (None, None, None, None) => HostInstruction::Unknown,
    })
}

/// Returns the bytes in `wanted`, the last where there are several; empty where there are none.
fn string(body: &[u8], wanted: u32) -> Result<&[u8], ApplyError> {
    let mut found: &[u8] = &[];
    for field in (Fields { rest: body }) {
        if let (number, Value::Bytes(bytes)) = field?
            && number == wanted
        {
            found = bytes;
        }
    }
    Ok(found)
}

/// Returns the varint in `wanted`, the last where there are several; 0 where there is none.
fn number(body: &[u8], wanted: u32) -> Result<u64, ApplyError> {
    let mut found = 0;
    for field in (Fields { rest: body }) {
        if let (number, Value::Varint(value)) = field?
            && number == wanted
        {
            found = value;
        }
    }
    Ok(found)
}

fn wire_size(body: &[u8]) -> Result<WireSize, ApplyError> {
    Ok(WireSize {
        width: int32(number(body, RESIZE_WIDTH)?),
        height: int32(number(body, RESIZE_HEIGHT)?),
    })
}

/// Returns a status, or `None` for a kind or a value that a later version may mean something by.
fn wire_exit_status(body: &[u8]) -> Result<Option<ExitStatus>, ApplyError> {
    let mut status = None;
    for field in (Fields { rest: body }) {
        if let (number, Value::Varint(value)) = field?
            && let Ok(value) = u8::try_from(value)
        {
            match number {
                EXIT_STATUS_CODE => status = Some(ExitStatus::Code(value)),
                EXIT_STATUS_SIGNAL => status = Some(ExitStatus::Signal(value)),
                _ => {}
            }
        }
    }
    Ok(status)
}

/// Returns a report, the last where there are several, or `None` for a kind or a value that a later
/// version may mean something by.
fn wire_report(body: &[u8]) -> Result<Option<TerminalReport>, ApplyError> {
    let mut report = None;
    let (mut width, mut height) = (None, None);
    for field in (Fields { rest: body }) {
        let (number, Value::Varint(value)) = field? else {
            continue;
        };
        let color = u32::try_from(value).ok().and_then(|value| match value.to_be_bytes() {
            [0, red, green, blue] => Some((red, green, blue)),
            _ => None,
        });
        match number {
            TERMINAL_KITTY_KEYBOARD if value == 1 => report = Some(TerminalReport::KittyKeyboard),
            TERMINAL_PIXEL_MOUSE if value == 1 => report = Some(TerminalReport::PixelMouse),
            TERMINAL_FOREGROUND => report = color.map(TerminalReport::Foreground),
            TERMINAL_BACKGROUND => report = color.map(TerminalReport::Background),
            TERMINAL_CURSOR => report = color.map(TerminalReport::Cursor),
            TERMINAL_CELL_WIDTH => width = u16::try_from(value).ok(),
            TERMINAL_CELL_HEIGHT => height = u16::try_from(value).ok(),
            _ => {}
        }
    }
    if let (Some(width), Some(height)) = (width, height) {
        report = Some(TerminalReport::CellPixels { width, height });
    }
    Ok(report)
}

/// Returns the low 32 bits as protobuf's `int32` reads them.
fn int32(varint: u64) -> i32 {
    let low = u32::try_from(varint & u64::from(u32::MAX)).expect("masked to 32 bits");
    low.cast_signed()
}

/// The value of one protobuf field, as far as the messages need it.
enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes; no member has this form.
    Fixed,
}

/// The fields of one protobuf message, in order; ends after the first error.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), ApplyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u32, Value<'a>), ApplyError> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| malformed("a field number"))?;
        if number == 0 {
            return Err(malformed("a field numbered 0"));
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| malformed("a length"))?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(malformed("a wire type")),
        };
        Ok((number, value))
    }

    fn varint(&mut self) -> Result<u64, ApplyError> {
        let mut value = 0_u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(malformed("a varint"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], ApplyError> {
        let (taken, rest) =
            self.rest.split_at_checked(len).ok_or_else(|| malformed("a length past the end"))?;
        self.rest = rest;
        Ok(taken)
    }
}

fn malformed(what: &str) -> ApplyError {
    ApplyError { reason: format!("malformed protobuf: {what}") }
}

fn bytes_field(field: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 8);
    put_bytes_field(&mut out, field, bytes);
    out
}

fn put_bytes_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    put_varint(out, u64::from(field) << 3 | 2);
    put_varint(out, u64::try_from(bytes.len()).expect("a length fits 64 bits"));
    out.extend_from_slice(bytes);
}

fn put_varint_field(out: &mut Vec<u8>, field: u32, value: u64) {
    put_varint(out, u64::from(field) << 3);
    put_varint(out, value);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = u8::try_from(value & 0x7f).expect("masked to 7 bits");
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(columns: u16, rows: u16) -> Size {
        Size::new(columns, rows).unwrap()
    }

    fn user(diff: &[u8]) -> Result<Vec<UserInstruction<'_>>, ApplyError> {
        user_instructions(diff).collect()
    }

    fn host(diff: &[u8]) -> Result<Vec<HostInstruction<'_>>, ApplyError> {
        host_instructions(diff).collect()
    }

    #[test]
    fn messages_are_the_bytes_stock_writes() {
        type Write = fn(&mut MessageWriter);
        let table: [(Write, &[u8]); 4] = [
            (|m| m.keys(b"e"), b"\x0a\x05\x12\x03\x22\x01\x65"),
            (|m| m.resize(size(80, 24)), b"\x0a\x06\x1a\x04\x28\x50\x30\x18"),
            (|m| m.echo_ack(StateNum::new(3)), b"\x0a\x04\x3a\x02\x40\x03"),
            (|m| m.host_bytes(b"e"), b"\x0a\x05\x12\x03\x22\x01\x65"),
        ];
        for (write, bytes) in table {
            let mut message = MessageWriter::default();
            write(&mut message);
            assert_eq!(message.finish(), bytes);
        }
    }

    #[test]
    fn unknown_members_are_skipped() {
        // Member 9 (bytes), then a known member, then a fixed32 and a fixed64 nobody knows.
        let mixed = b"\x0a\x02\x4a\x00\x0a\x05\x12\x03\x22\x01\x65\x7d1234\x79\x31\x32\x33\x34\x35\x36\x37\x38";
        assert_eq!(user(mixed), Ok(vec![UserInstruction::Unknown, UserInstruction::Keys(b"e")]));
        assert_eq!(host(mixed), Ok(vec![HostInstruction::Unknown, HostInstruction::Bytes(b"e")]));
    }

    #[test]
    fn a_keystroke_wins_over_a_resize_beside_it() {
        let both = b"\x0a\x0b\x1a\x04\x28\x50\x30\x18\x12\x03\x22\x01\x65";
        assert_eq!(user(both), Ok(vec![UserInstruction::Keys(b"e")]));
    }

    #[test]
    fn malformed_messages_are_errors() {
        let table: [&[u8]; 7] = [
            b"\x0a",                                         // no length
            b"\x0a\x05\x12",                                 // a length past the end
            b"\x0a\x02\x12\x7f",                             // the same, nested
            b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", // a varint of eleven bytes
            b"\x00\x00",                                     // field 0
            b"\x0b",                                         // a group
            b"\xff",                                         // a varint cut short
        ];
        for bytes in table {
            assert!(user(bytes).is_err(), "{bytes:?}");
            assert!(host(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn sizes_no_window_has_are_refused_and_huge_ones_cut() {
        let table = [
            ((80, 24), Some((80, 24))),
            ((1, 1), Some((1, 1))),
            ((0, 24), None),
            ((80, 0), None),
            ((-1, 24), None),
            ((80, i32::MIN), None),
            ((4096, 2048), Some((4096, 2048))),
            ((4097, 2049), Some((4096, 2048))),
            ((i32::MAX, i32::MAX), Some((4096, 2048))),
        ];
        for ((width, height), wanted) in table {
            let wanted = wanted.map(|(columns, rows)| size(columns, rows));
            assert_eq!(WireSize { width, height }.to_size(), wanted, "{width}x{height}");
        }
        // A negative int32 travels as ten bytes.
        let negative = b"\x0a\x0f\x1a\x0d\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\x18";
        let resize = UserInstruction::Resize(WireSize { width: -1, height: 24 });
        assert_eq!(user(negative), Ok(vec![resize]));
    }

    #[test]
    fn reports_are_these_bytes_and_come_back() {
        let table: [(TerminalReport, &[u8]); 6] = [
            (TerminalReport::KittyKeyboard, b"\x0a\x05\x82\x01\x02\x08\x01"),
            (TerminalReport::PixelMouse, b"\x0a\x05\x82\x01\x02\x38\x01"),
            (
                TerminalReport::Foreground((255, 128, 1)),
                b"\x0a\x08\x82\x01\x05\x10\x81\x80\xfe\x07",
            ),
            (TerminalReport::Background((0, 0, 0)), b"\x0a\x05\x82\x01\x02\x18\x00"),
            (TerminalReport::Cursor((0, 1, 0)), b"\x0a\x06\x82\x01\x03\x20\x80\x02"),
            (
                TerminalReport::CellPixels { width: 9, height: 20 },
                b"\x0a\x07\x82\x01\x04\x28\x09\x30\x14",
            ),
        ];
        for (report, bytes) in table {
            let mut message = MessageWriter::default();
            message.user_event(UserEvent::Terminal(report));
            assert_eq!(message.finish(), bytes, "{report:?}");
            assert_eq!(user(bytes), Ok(vec![UserInstruction::Terminal(report)]));
        }
    }

    #[test]
    fn reports_of_unknown_kinds_and_values_are_passed_over() {
        let table: [&[u8]; 8] = [
            b"",                         // nothing
            b"\x08\x02",                 // another keyboard
            b"\x10\x80\x80\x80\x08",     // a colour of 25 bits
            b"\x28\x09",                 // a width alone
            b"\x28\x80\x80\x04\x30\x14", // a width of 17 bits
            b"\x38\x02",                 // another mouse
            b"\x40\x01",                 // field 8
            b"\x12\x01x",                // a colour as text
        ];
        for body in table {
            let mut message = MessageWriter::default();
            message.instruction(TERMINAL, body);
            assert_eq!(user(&message.finish()), Ok(vec![UserInstruction::Unknown]), "{body:?}");
        }
    }

    #[test]
    fn every_exit_status_comes_back() {
        for value in 0..=255 {
            for status in [ExitStatus::Code(value), ExitStatus::Signal(value)] {
                let mut message = MessageWriter::default();
                message.exit_status(status);
                let bytes = message.finish();
                assert_eq!(host(&bytes), Ok(vec![HostInstruction::ExitStatus(status)]));
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = (user(&bytes), host(&bytes));
        }

        #[test]
        fn keys_and_numbers_come_back(keys in proptest::collection::vec(any::<u8>(), 0..300), num: u64) {
            let mut message = MessageWriter::default();
            message.keys(&keys);
            let bytes = message.finish();
            prop_assert_eq!(user(&bytes), Ok(vec![UserInstruction::Keys(&keys)]));
            let mut message = MessageWriter::default();
            message.echo_ack(StateNum::new(num));
            let bytes = message.finish();
            prop_assert_eq!(host(&bytes), Ok(vec![HostInstruction::EchoAck(StateNum::new(num))]));
        }
    }
}
