//! The fuzzer's bytes as a sequence of things that happen to a terminal.

use rove_terminal::Size;

/// Marks a step that is no text; doubled it stands for itself.
const MARK: u8 = 0xff;

/// Cells of all screens but the largest, so that a run stays fast.
const CELLS_MAX: u16 = 50_000;

/// A step of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// A program writes.
    Write(&'a [u8]),
    /// The window has a new size.
    Resize(Size),
    /// Somebody looks at the picture.
    Look,
}

/// Reads steps: bytes stand for themselves up to a mark.
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

/// Reads a size from the front. Returns it with the rest.
pub(crate) fn take_size(data: &[u8]) -> (Size, &[u8]) {
    match data {
        [columns, rows, rest @ ..] => (size(*columns, *rows), rest),
        _ => (Size::DEFAULT, &[]),
    }
}

/// Returns a size: most are small, one is the largest.
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
