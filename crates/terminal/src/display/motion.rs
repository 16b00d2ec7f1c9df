//! Short sequences that move the cursor: relative motions, absolute motions and control characters.

use super::functions::Functions;
use crate::screen::Position;

/// The known place of the receiving terminal's cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The cursor is at this position, and no wrap is pending.
    At(Position),
    /// The cursor is in this row's last column, perhaps with a wrap pending. Only motions to absolute columns are safe.
    Margin {
        /// The cursor's row, from 0.
        row: u16,
    },
    /// The cursor may be anywhere. Only an absolute motion is safe.
    Unknown,
}

/// A motion along a row or a column, as bytes.
#[derive(Clone, Copy)]
enum Step {
    Stay,
    /// Writes a control character, such as a line feed, this many times.
    Repeat(u8, u16),
    /// Writes the control sequence `CSI n final`, and omits `n` if it is 1.
    Csi(u16, u8),
}

impl Step {
    fn len(self) -> u32 {
        match self {
            Self::Stay => 0,
            Self::Repeat(_, times) => u32::from(times),
            Self::Csi(1, _) => 3,
            Self::Csi(number, _) => 3 + digits(number),
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Stay => {}
            Self::Repeat(byte, times) => out.extend((0..times).map(|_| byte)),
            Self::Csi(number, last) => csi(out, number, last),
        }
    }
}

/// Writes the control sequence `CSI number last`. Omits the number 1, which is the default in these sequences.
pub(super) fn csi(out: &mut Vec<u8>, number: u16, last: u8) {
    out.extend(b"\x1b[");
    if number != 1 {
        push_number(out, number);
    }
    out.push(last);
}

pub(super) fn push_number(out: &mut Vec<u8>, number: u16) {
    let mut scale = 10_u16.pow(digits(number) - 1);
    while scale > 0 {
        out.push(b'0' + u8::try_from(number / scale % 10).expect("below ten"));
        scale /= 10;
    }
}

/// Moves the cursor from `from` to `to` by the shortest motion that the terminal has. Margins and origin mode must be
/// off.
pub(super) fn write_motion(out: &mut Vec<u8>, from: Place, to: Position, has: Functions) {
    let steps = match from {
        Place::Unknown => None,
        Place::At(at) => Some((across(at.column, to.column, has), down(at.row, to.row, has))),
        Place::Margin { row } => from_margin(to.column, has).zip(Some(down(row, to.row, has))),
    };
    match steps {
        Some((across, down)) if across.len() + down.len() < absolute_len(to) => {
            across.write(out);
            down.write(out);
        }
        _ => absolute(out, to),
    }
}

fn across(from: u16, to: u16, has: Functions) -> Step {
    let column = has.absolute_columns.then_some(Step::Csi(to + 1, b'G'));
    if to == from {
        Step::Stay
    } else if to == 0 {
        Step::Repeat(b'\r', 1)
    } else if to < from {
        let left = from - to;
        shortest([Some(Step::Repeat(b'\x08', left)), Some(Step::Csi(left, b'D')), column])
    } else {
        shortest([Some(Step::Csi(to - from, b'C')), column])
    }
}

fn from_margin(to: u16, has: Functions) -> Option<Step> {
    match to {
        0 => Some(Step::Repeat(b'\r', 1)),
        to => has.absolute_columns.then_some(Step::Csi(to + 1, b'G')),
    }
}

fn down(from: u16, to: u16, has: Functions) -> Step {
    let row = has.absolute_rows.then_some(Step::Csi(to + 1, b'd'));
    if to == from {
        Step::Stay
    } else if to < from {
        shortest([Some(Step::Csi(from - to, b'A')), row])
    } else {
        let lines = to - from;
        shortest([Some(Step::Repeat(b'\n', lines)), Some(Step::Csi(lines, b'B')), row])
    }
}

fn shortest<const N: usize>(steps: [Option<Step>; N]) -> Step {
    steps.into_iter().flatten().min_by_key(|step| step.len()).unwrap_or(Step::Stay)
}

fn absolute_len(to: Position) -> u32 {
    let row = if to.row == 0 { 0 } else { digits(to.row + 1) };
    let column = if to.column == 0 { 0 } else { 1 + digits(to.column + 1) };
    3 + row + column
}

fn absolute(out: &mut Vec<u8>, to: Position) {
    out.extend(b"\x1b[");
    if to.row > 0 {
        push_number(out, to.row + 1);
    }
    if to.column > 0 {
        out.push(b';');
        push_number(out, to.column + 1);
    }
    out.push(b'H');
}

fn digits(number: u16) -> u32 {
    number.checked_ilog10().unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(row: u16, column: u16) -> Position {
        Position { row, column }
    }

    fn motion(from: Place, to: Position) -> String {
        let mut out = Vec::new();
        write_motion(&mut out, from, to, Functions::ALL);
        String::from_utf8(out).expect("motions are ASCII").replace('\x1b', "^")
    }

    #[test]
    fn the_shortest_motion_is_taken() {
        for (from, to, bytes) in [
            (at(3, 7), at(3, 7), ""),
            (at(3, 7), at(4, 0), "\r\n"),
            (at(3, 7), at(3, 0), "\r"),
            (at(3, 7), at(3, 4), "\x08\x08\x08"),
            (at(3, 40), at(3, 30), "^[10D"),
            (at(3, 140), at(3, 30), "^[31G"),
            (at(3, 40), at(3, 35), "^[5D"),
            (at(3, 40), at(3, 49), "^[9C"),
            (at(3, 8), at(3, 9), "^[C"),
            (at(3, 7), at(9, 7), "^[6B"),
            (at(20, 7), at(8, 7), "^[9d"),
            (at(9, 7), at(8, 7), "^[A"),
            (at(9, 7), at(0, 0), "^[H"),
            (at(9, 7), at(0, 5), "^[;6H"),
            (at(9, 7), at(5, 0), "^[6H"),
            (at(20, 70), at(11, 34), "^[12;35H"),
        ] {
            assert_eq!(motion(Place::At(from), to), bytes, "{from:?} {to:?}");
        }
    }

    #[test]
    fn from_the_margin_the_column_is_always_set() {
        let margin = Place::Margin { row: 3 };
        for (to, bytes) in
            [(at(4, 0), "\r\n"), (at(3, 79), "^[80G"), (at(3, 78), "^[79G"), (at(0, 3), "^[;4H")]
        {
            assert_eq!(motion(margin, to), bytes, "{to:?}");
        }
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 1, 9, 10, 99, 100, 4096, 65_535] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }
}
