//! `UserMessage`: keys, window sizes and, between two roves, what the client has learned.

use rove_ssp::ApplyError;
use rove_terminal::{ClusterWidths, NewerChar};

use super::protobuf::{Fields, Value, bytes_field, put_varint_field, string};
use super::{MessageWriter, RESIZE, WireSize, instructions, wire_size};
use crate::report::TerminalReport;
use crate::user_stream::UserEvent;

const KEYSTROKE: u32 = 2;
const KEYSTROKE_KEYS: u32 = 4;
/// Between two roves only: what the client has learned of the user's terminal.
pub(super) const TERMINAL: u32 = 16;
const TERMINAL_KITTY_KEYBOARD: u32 = 1;
const TERMINAL_FOREGROUND: u32 = 2;
const TERMINAL_BACKGROUND: u32 = 3;
const TERMINAL_CURSOR: u32 = 4;
const TERMINAL_CELL_WIDTH: u32 = 5;
const TERMINAL_CELL_HEIGHT: u32 = 6;
const TERMINAL_PIXEL_MOUSE: u32 = 7;
const TERMINAL_CLUSTER_WIDTHS: u32 = 9;
const TERMINAL_READ_COPIED: u32 = 10;
const TERMINAL_NEWER_WIDE: u32 = 11;

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

/// Reads the instructions of a `UserMessage`, in order.
pub(crate) fn user_instructions(
    diff: &[u8],
) -> impl Iterator<Item = Result<UserInstruction<'_>, ApplyError>> {
    instructions(diff).map(|body| user_instruction(body?))
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
            TerminalReport::ReadCopied => put(TERMINAL_READ_COPIED, 1),
            TerminalReport::Foreground(color) => put(TERMINAL_FOREGROUND, rgb(color)),
            TerminalReport::Background(color) => put(TERMINAL_BACKGROUND, rgb(color)),
            TerminalReport::Cursor(color) => put(TERMINAL_CURSOR, rgb(color)),
            TerminalReport::ClusterWidths(widths) => {
                put(TERMINAL_CLUSTER_WIDTHS, u64::from(widths.bits()));
            }
            TerminalReport::NewerWide(c) => put(TERMINAL_NEWER_WIDE, u64::from(c.char())),
            TerminalReport::CellPixels { width, height } => {
                put(TERMINAL_CELL_WIDTH, u64::from(width));
                put(TERMINAL_CELL_HEIGHT, u64::from(height));
            }
        }
        self.instruction(TERMINAL, &body);
    }
}

fn user_instruction(body: &[u8]) -> Result<UserInstruction<'_>, ApplyError> {
    let (mut keys, mut resize, mut terminal) = (None, None, None);
    for field in Fields::of(body) {
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

/// Returns a report, the last where there are several, or `None` for a kind or a value that a later
/// version may mean something by.
fn wire_report(body: &[u8]) -> Result<Option<TerminalReport>, ApplyError> {
    let mut report = None;
    let (mut width, mut height) = (None, None);
    for field in Fields::of(body) {
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
            TERMINAL_READ_COPIED if value == 1 => report = Some(TerminalReport::ReadCopied),
            TERMINAL_FOREGROUND => report = color.map(TerminalReport::Foreground),
            TERMINAL_BACKGROUND => report = color.map(TerminalReport::Background),
            TERMINAL_CURSOR => report = color.map(TerminalReport::Cursor),
            TERMINAL_CLUSTER_WIDTHS => {
                report = Some(TerminalReport::ClusterWidths(ClusterWidths::from_bits(value)));
            }
            TERMINAL_NEWER_WIDE => {
                let c = u32::try_from(value).ok().and_then(char::from_u32);
                report = c.and_then(NewerChar::new).map(TerminalReport::NewerWide);
            }
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
