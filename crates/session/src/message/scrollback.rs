//! Lines that scrolled off, in a `HostMessage`. Between two roves only.

use rove_ssp::ApplyError;

use super::MessageWriter;
use super::protobuf::{number, put_bytes_field, put_varint_field, string};

/// Between two roves only: lines that scrolled off.
pub(super) const LINES: u32 = 21;
const LINES_FIRST: u32 = 1;
const LINES_COUNT: u32 = 2;
const LINES_COLUMNS: u32 = 3;
const LINES_TEXT: u32 = 4;
const LINES_ROW: u32 = 5;
const LINES_WRAPS: u32 = 6;

/// Lines as the wire has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WireLines<'a> {
    /// The number of the first. What the old state reaches beyond it is given up.
    pub(crate) first: u64,
    /// How many there are; with none, the state reaches to the number.
    pub(crate) count: u64,
    /// How wide they are.
    pub(crate) columns: u64,
    /// Terminal bytes that draw them below each other on a blank screen.
    pub(crate) text: &'a [u8],
    /// Where they are on the old state's screen, from 1; 0 if they come as text.
    pub(crate) row: u64,
    /// Whether the last goes on in the next.
    pub(crate) wraps: bool,
}

impl<'a> WireLines<'a> {
    /// Reads the body of the member.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, ApplyError> {
        Ok(Self {
            first: number(body, LINES_FIRST)?,
            count: number(body, LINES_COUNT)?,
            columns: number(body, LINES_COLUMNS)?,
            text: string(body, LINES_TEXT)?,
            row: number(body, LINES_ROW)?,
            wraps: number(body, LINES_WRAPS)? == 1,
        })
    }
}

impl MessageWriter {
    /// Adds lines to a `HostMessage`. Only for a peer that has shown to know them.
    pub(crate) fn lines(&mut self, lines: &WireLines<'_>) {
        let mut body = Vec::with_capacity(lines.text.len() + 32);
        let fields = [
            (LINES_FIRST, lines.first),
            (LINES_COUNT, lines.count),
            (LINES_COLUMNS, lines.columns),
            (LINES_ROW, lines.row),
            (LINES_WRAPS, u64::from(lines.wraps)),
        ];
        for (field, value) in fields.into_iter().filter(|(_, value)| *value > 0) {
            put_varint_field(&mut body, field, value);
        }
        if !lines.text.is_empty() {
            put_bytes_field(&mut body, LINES_TEXT, lines.text);
        }
        self.instruction(LINES, &body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{HostInstruction, host_instructions};

    #[test]
    fn lines_come_back() {
        for lines in [
            WireLines::default(),
            WireLines { first: u64::MAX, ..WireLines::default() },
            WireLines { first: 7, count: 2, columns: 80, text: b"a\r\nb", ..WireLines::default() },
            WireLines { first: 1 << 40, count: 3, row: 1, wraps: true, ..WireLines::default() },
        ] {
            let mut message = MessageWriter::default();
            message.lines(&lines);
            let message = message.finish();
            let read: Vec<_> = host_instructions(&message).collect::<Result<_, _>>().unwrap();
            assert_eq!(read, [HostInstruction::Lines(lines)]);
        }
    }
}
