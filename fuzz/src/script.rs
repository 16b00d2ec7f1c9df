//! Reads the fuzzer's bytes as a sequence of events of a terminal.

use rove_terminal::Size;

/// The byte that begins an event other than text. In text, two of these bytes mean the byte itself.
const MARK: u8 = 0xff;

/// Most cells of a screen, except for the largest screen. The limit keeps runs fast.
const CELLS_MAX: u16 = 50_000;

/// An event in a script.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// A program writes bytes.
    Write(&'a [u8]),
    /// The window gets another size.
    Resize(Size),
    /// A frame is due.
    Look,
}

/// Reads events. All bytes up to a [`MARK`] are output of the program.
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Script<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        let (step, rest) = match *self.0 {
            [] => return None,
            [MARK, MARK, ..] => (Step::Write(&self.0[..1]), &self.0[2..]),
            [MARK, 0xfe, ref rest @ ..] => (Step::Look, rest),
            [MARK, columns, rows, ref rest @ ..] => (Step::Resize(size(columns, rows)), rest),
            [MARK, ..] => return None,
            _ => {
                let len = self.0.iter().position(|&byte| byte == MARK).unwrap_or(self.0.len());
                let (text, rest) = self.0.split_at(len);
                (Step::Write(text), rest)
            }
        };
        self.0 = rest;
        Some(step)
    }
}

/// Reads a size from the first two bytes. Returns it with the remaining bytes.
pub(crate) fn take_size(data: &[u8]) -> (Size, &[u8]) {
    match data {
        [columns, rows, rest @ ..] => (size(*columns, *rows), rest),
        _ => (Size::DEFAULT, &[]),
    }
}

/// Returns a size. Most sizes are small, and only one is the largest.
pub(crate) fn size(columns: u8, rows: u8) -> Size {
    if (columns, rows) == (254, 254) {
        return Size::clamped(u16::MAX, u16::MAX);
    }
    let length = |byte: u8| match byte {
        0..=15 => u16::from(byte) + 1,
        16..=247 => u16::from(byte) / 2,
        248..=250 => 300,
        251..=252 => 2000,
        253.. => u16::MAX,
    };
    let columns = Size::clamped(length(columns), 1).columns();
    Size::clamped(columns, length(rows).min(CELLS_MAX / columns))
}
