//! Reads and writes `UserMessage`: keys, window sizes and, between two roves, reports about the terminal and wishes.

use rove_ssp::ApplyError;
use rove_terminal::{ClusterWidths, NewerChar};

use crate::message::{Fields, Value, bytes_field, put_member, put_varint_field, varint_field};
use crate::report::TerminalReport;
use crate::wish::Wish;

pub(super) const KEYSTROKE: u32 = 2;
pub(super) const KEYSTROKE_KEYS: u32 = 4;
/// Field number of a report about the user's terminal in a `UserMessage` instruction, used between two roves only.
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

/// Field number of a [`Wish`] (about other clients or the session's size), used between two roves only.
pub(super) const WISH: u32 = 17;

/// Adds the collected keys as one instruction, if there are any, and empties the collection.
pub(super) fn write_keys(message: &mut Vec<u8>, collected: &mut Vec<u8>) {
    if !collected.is_empty() {
        put_member(message, KEYSTROKE, &bytes_field(KEYSTROKE_KEYS, collected));
        collected.clear();
    }
}

/// Adds a report about the user's terminal. Call it only for a server that supports reports.
pub(super) fn write_report(message: &mut Vec<u8>, report: TerminalReport) {
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
    put_member(message, TERMINAL, &body);
}

/// Returns the report in the body of the `UserMessage` field [`TERMINAL`]. `None` for an unknown kind or value, as a
/// later version may send. The last of several reports counts. Malformed bodies are an error.
pub(super) fn read_report(body: &[u8]) -> Result<Option<TerminalReport>, ApplyError> {
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
                report = Some(TerminalReport::ClusterWidths(ClusterWidths::from_bits_retain(
                    value.to_le_bytes()[0],
                )));
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

/// Adds a wish about other clients or the session's size. Call it only for a server that supports wishes.
pub(super) fn write_wish(message: &mut Vec<u8>, wish: Wish) {
    let (field, value) = wish.to_field();
    put_member(message, WISH, &varint_field(field, value));
}

/// Returns the wish in the body of the `UserMessage` field [`WISH`]. `None` for an unknown kind or value, as a later
/// version may send. If there are several, the last known wish counts. Malformed bodies are an error.
pub(super) fn read_wish(body: &[u8]) -> Result<Option<Wish>, ApplyError> {
    let mut wish = None;
    for field in Fields::of(body) {
        if let (number, Value::Varint(value)) = field? {
            wish = Wish::from_field(number, value).or(wish);
        }
    }
    Ok(wish)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rove_ssp::Object;

    use super::*;
    use crate::{UserEvent, UserStream};

    fn user(diff: &[u8]) -> Vec<UserEvent> {
        let mut stream = UserStream::new();
        stream.apply(diff).unwrap();
        stream.events_from(0).collect()
    }

    #[test]
    fn a_keystroke_wins_over_a_resize_beside_it() {
        let both = b"\x0a\x0b\x1a\x04\x28\x50\x30\x18\x12\x03\x22\x01\x65";
        assert_eq!(user(both), [UserEvent::Byte(b'e')]);
    }

    #[test]
    fn reports_are_these_bytes_and_come_back() {
        let table: [(TerminalReport, &[u8]); 10] = [
            (TerminalReport::KittyKeyboard, b"\x0a\x05\x82\x01\x02\x08\x01"),
            (TerminalReport::PixelMouse, b"\x0a\x05\x82\x01\x02\x38\x01"),
            (TerminalReport::ClusterWidths(ClusterWidths::ALL), b"\x0a\x05\x82\x01\x02\x48\x3f"),
            (
                TerminalReport::NewerWide(NewerChar::new('\u{1faed}').unwrap()),
                b"\x0a\x07\x82\x01\x04\x58\xed\xf5\x07",
            ),
            (
                // The report counts although rove's table has the character: both ends must count the same events.
                TerminalReport::NewerWide(NewerChar::new('\u{1f600}').unwrap()),
                b"\x0a\x07\x82\x01\x04\x58\x80\xec\x07",
            ),
            (TerminalReport::ReadCopied, b"\x0a\x05\x82\x01\x02\x50\x01"),
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
            let mut message = Vec::new();
            write_report(&mut message, report);
            assert_eq!(message, bytes, "{report:?}");
            assert_eq!(user(bytes), [UserEvent::Terminal(report)]);
        }
    }

    #[test]
    fn reports_of_unknown_kinds_and_values_are_passed_over() {
        let table: [&[u8]; 9] = [
            b"",                         // nothing
            b"\x08\x02",                 // another keyboard
            b"\x10\x80\x80\x80\x08",     // a colour of 25 bits
            b"\x28\x09",                 // a width alone
            b"\x28\x80\x80\x04\x30\x14", // a width of 17 bits
            b"\x38\x02",                 // another mouse
            b"\x58\x01",                 // a character of another plane
            b"\x60\x01",                 // field 12
            b"\x12\x01x",                // a colour as text
        ];
        for body in table {
            let mut message = Vec::new();
            put_member(&mut message, TERMINAL, body);
            assert_eq!(user(&message), [], "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn keys_come_back(keys in proptest::collection::vec(any::<u8>(), 1..300)) {
            let mut message = Vec::new();
            write_keys(&mut message, &mut keys.clone());
            prop_assert_eq!(user(&message), keys.into_iter().map(UserEvent::Byte).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_key_is_the_bytes_stock_writes() {
        let mut message = Vec::new();
        write_keys(&mut message, &mut b"e".to_vec());
        assert_eq!(message, b"\x0a\x05\x12\x03\x22\x01\x65");
    }
}
