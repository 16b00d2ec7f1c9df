//! The shortest way to change the pen.

use crate::cell::{Attributes, Color, Pen};

use super::motion::push_number;

/// Each attribute with the parameters that set and clear it.
const ATTRIBUTES: [(Attributes, u16, u16); 6] = [
    (Attributes::BOLD, 1, 22),
    (Attributes::ITALIC, 3, 23),
    (Attributes::UNDERLINE, 4, 24),
    (Attributes::BLINK, 5, 25),
    (Attributes::INVERSE, 7, 27),
    (Attributes::INVISIBLE, 8, 28),
];

/// Writes the SGR sequence that turns `from` into `to`: from scratch, or only what changes, whichever
/// is shorter.
pub(super) fn write_sgr(out: &mut Vec<u8>, from: Pen, to: Pen) {
    if from == to {
        return;
    }
    let start = out.len();
    if to == Pen::default() {
        out.extend(b"\x1b[m");
        return;
    }
    let mut scratch = Parameters::open(out);
    scratch.push(0);
    scratch.change(Pen::default(), to);
    scratch.close();
    let middle = out.len();
    let mut relative = Parameters::open(out);
    relative.change(from, to);
    relative.close();
    if out.len() - middle < middle - start {
        out.drain(start..middle);
    } else {
        out.truncate(middle);
    }
}

/// The parameters of one SGR sequence as they are written.
struct Parameters<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Parameters<'a> {
    fn open(out: &'a mut Vec<u8>) -> Self {
        out.extend(b"\x1b[");
        Self { out, empty: true }
    }

    fn push(&mut self, number: u16) {
        if !self.empty {
            self.out.push(b';');
        }
        self.empty = false;
        push_number(self.out, number);
    }

    fn change(&mut self, from: Pen, to: Pen) {
        for (attribute, set, clear) in ATTRIBUTES {
            match (from.attributes.contains(attribute), to.attributes.contains(attribute)) {
                (false, true) => self.push(set),
                (true, false) => self.push(clear),
                _ => {}
            }
        }
        if from.foreground != to.foreground {
            self.color(to.foreground, 30);
        }
        if from.background != to.background {
            self.color(to.background, 40);
        }
    }

    /// Pushes `color`; `base` is 30 for the foreground, 40 for the background.
    fn color(&mut self, color: Color, base: u16) {
        match color {
            Color::Default => self.push(base + 9),
            Color::Indexed(index @ 0..=7) => self.push(base + u16::from(index)),
            Color::Indexed(index @ 8..=15) => self.push(base + 60 + u16::from(index - 8)),
            Color::Indexed(index) => {
                [base + 8, 5, u16::from(index)].into_iter().for_each(|number| self.push(number));
            }
            Color::Rgb(red, green, blue) => {
                self.push(base + 8);
                self.push(2);
                [red, green, blue].into_iter().for_each(|part| self.push(u16::from(part)));
            }
        }
    }

    fn close(self) {
        self.out.push(b'm');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_of_scratch_and_change_is_written() {
        let plain = Pen::default();
        let bold = Pen { attributes: Attributes::BOLD, ..plain };
        let red = Pen { foreground: Color::Indexed(1), ..plain };
        let bold_red = Pen { attributes: Attributes::BOLD, ..red };
        let busy = Pen {
            foreground: Color::Rgb(1, 22, 255),
            background: Color::Indexed(200),
            attributes: Attributes::UNDERLINE.with(Attributes::ITALIC).with(Attributes::INVERSE),
        };
        for (from, to, bytes) in [
            (bold_red, plain, "^[m"),
            (bold, bold, ""),
            (plain, bold, "^[1m"),
            (plain, red, "^[31m"),
            (red, bold_red, "^[1m"),
            (bold_red, bold, "^[39m"),
            (bold_red, red, "^[22m"),
            (busy, red, "^[0;31m"),
            (plain, busy, "^[3;4;7;38;2;1;22;255;48;5;200m"),
            (plain, Pen { background: Color::Indexed(9), ..plain }, "^[101m"),
        ] {
            let mut out = Vec::new();
            write_sgr(&mut out, from, to);
            let text = String::from_utf8(out).expect("SGR is ASCII").replace('\x1b', "^");
            assert_eq!(text, bytes, "{from:?} {to:?}");
        }
    }
}
