//! Writes a change of colours and attributes as a short SGR sequence: only the changes, or a reset and the new values.

use crate::screen::cell::{Attributes, Color, Pen, Underline};
use crate::screen::decoration::Decoration;

use super::motion::push_number;

/// Attributes with separate SGR parameters: attribute, parameter that sets it, parameter that clears it.
const ATTRIBUTES: [(Attributes, u16, u16); 6] = [
    (Attributes::ITALIC, 3, 23),
    (Attributes::BLINK, 5, 25),
    (Attributes::INVERSE, 7, 27),
    (Attributes::INVISIBLE, 8, 28),
    (Attributes::STRIKE, 9, 29),
    (Attributes::OVERLINE, 53, 55),
];

/// The attributes that SGR 22 clears together, and the parameters that set them.
const WEIGHTS: [(Attributes, u16); 2] = [(Attributes::BOLD, 1), (Attributes::FAINT, 2)];

/// The colours and attributes that SGR sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendition {
    pub(crate) pen: Pen,
    pub(crate) underline_color: Color,
}

/// The graphic renditions (SGR) and hyperlinks (OSC 8) that only some terminals support, and whether this one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repertoire {
    /// The supported attributes. Only faint, struck out and overlined count, because all terminals support the others.
    pub attributes: Attributes,
    /// Whether the terminal shows different kinds of underlines. Otherwise all underlines are straight.
    pub underlines: bool,
    /// Whether underlines can have another colour than the text.
    pub underline_colors: bool,
    /// Whether the terminal understands hyperlinks (OSC 8).
    pub links: bool,
    /// Whether the terminal distinguishes the first sixteen colours by name (SGR 31) from colours by number (`38;5;1`).
    /// Otherwise the named form is sent.
    pub numbered_colors: bool,
}

impl Default for Repertoire {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Repertoire {
    const EXTRA: Attributes = Attributes::FAINT.with(Attributes::STRIKE).with(Attributes::OVERLINE);

    /// Renditions that a stock Mosh client's screen can store. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    pub const STOCK: Self = Self {
        attributes: Attributes::NONE,
        underlines: false,
        underline_colors: false,
        links: false,
        numbered_colors: false,
    };

    /// Renditions that every user's terminal understands.
    pub const PLAIN: Self = Self { numbered_colors: true, ..Self::STOCK };

    /// All renditions that a [`crate::Screen`] can hold.
    pub const FULL: Self = Self {
        attributes: Self::EXTRA,
        underlines: true,
        underline_colors: true,
        links: true,
        numbered_colors: true,
    };

    /// Returns the pen most similar to `pen` that the terminal supports.
    pub(crate) fn pen(self, mut pen: Pen) -> Pen {
        let extra = pen.attributes.intersection(Self::EXTRA);
        pen.attributes = pen.attributes.without(extra.without(self.attributes));
        if !self.underlines && pen.attributes.underline() != Underline::None {
            pen.attributes = pen.attributes.underlined(Underline::Straight);
        }
        if !self.numbered_colors {
            pen.foreground = pen.foreground.named();
            pen.background = pen.background.named();
        }
        pen
    }

    /// Returns the rendition of a cell with this pen and decoration, as far as the terminal supports it.
    pub(crate) fn rendition(self, pen: Pen, decoration: &Decoration) -> Rendition {
        let underline_color =
            if self.underline_colors { decoration.underline_color } else { Color::Default };
        Rendition { pen: self.pen(pen), underline_color }
    }

    /// Returns whether two decorations look the same on the terminal.
    pub(crate) fn same_decoration(self, a: &Decoration, b: &Decoration) -> bool {
        (!self.underline_colors || a.underline_color == b.underline_color)
            && (!self.links || a.link == b.link)
    }
}

/// Writes the SGR sequence that changes `from` into `to`. It is a reset and all of `to`, or only the changes if that is
/// shorter.
pub(super) fn write_sgr(out: &mut Vec<u8>, from: Rendition, to: Rendition) {
    if from == to {
        return;
    }
    let start = out.len();
    if to == Rendition::default() {
        out.extend(b"\x1b[m");
        return;
    }
    out.extend(b"\x1b[");
    write_from_scratch(out, to);
    out.push(b'm');
    let middle = out.len();
    out.extend(b"\x1b[");
    Parameters { out, empty: true }.change(from, to);
    out.push(b'm');
    if out.len() - middle < middle - start {
        out.drain(start..middle);
    } else {
        out.truncate(middle);
    }
}

/// Writes SGR parameters that reset the rendition, then set `to`.
fn write_from_scratch(out: &mut Vec<u8>, to: Rendition) {
    let mut parameters = Parameters { out, empty: true };
    parameters.push(0);
    parameters.change(Rendition::default(), to);
}

/// A writer of the parameters of an SGR sequence.
struct Parameters<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl Parameters<'_> {
    fn push(&mut self, number: u16) {
        if !self.empty {
            self.out.push(b';');
        }
        self.empty = false;
        push_number(self.out, number);
    }

    /// Writes numbers that belong to the preceding number. Colons separate them, so that no terminal interprets them as
    /// separate parameters.
    fn push_joined(&mut self, numbers: &[u16]) {
        for &number in numbers {
            self.out.push(b':');
            push_number(self.out, number);
        }
    }

    fn change(&mut self, from: Rendition, to: Rendition) {
        let (was, now) = (from.pen.attributes, to.pen.attributes);
        self.change_weight(was, now);
        for (attribute, set, clear) in ATTRIBUTES {
            match (was.contains(attribute), now.contains(attribute)) {
                (false, true) => self.push(set),
                (true, false) => self.push(clear),
                _ => {}
            }
        }
        if was.underline() != now.underline() {
            match now.underline() {
                Underline::None => self.push(24),
                Underline::Straight => self.push(4),
                kind => {
                    self.push(4);
                    self.push_joined(&[kind as u16]);
                }
            }
        }
        if from.pen.foreground != to.pen.foreground {
            self.color(to.pen.foreground, 30);
        }
        if from.pen.background != to.pen.background {
            self.color(to.pen.background, 40);
        }
        if from.underline_color != to.underline_color {
            self.underline_color(to.underline_color);
        }
    }

    fn change_weight(&mut self, was: Attributes, now: Attributes) {
        let lost =
            WEIGHTS.iter().any(|(weight, _)| was.contains(*weight) && !now.contains(*weight));
        if lost {
            self.push(22);
        }
        for (weight, set) in WEIGHTS {
            if now.contains(weight) && (lost || !was.contains(weight)) {
                self.push(set);
            }
        }
    }

    fn underline_color(&mut self, color: Color) {
        match color {
            Color::Default => self.push(59),
            // The colours of underlines have no names.
            Color::Named(index) | Color::Indexed(index) => {
                self.push(58);
                self.push_joined(&[5, u16::from(index)]);
            }
            Color::Rgb(red, green, blue) => {
                self.push(58);
                // The empty number between two colons stands for the colour space.
                self.push_joined(&[2]);
                self.out.push(b':');
                self.push_joined(&[red, green, blue].map(u16::from));
            }
        }
    }

    /// Writes the parameters of `color`. `base` is 30 for the foreground, 40 for the background.
    fn color(&mut self, color: Color, base: u16) {
        match color {
            Color::Default => self.push(base + 9),
            Color::Named(index @ 0..=7) => self.push(base + u16::from(index)),
            Color::Named(index @ 8..=15) => self.push(base + 60 + u16::from(index - 8)),
            Color::Named(index) | Color::Indexed(index) => {
                [base + 8, 5, u16::from(index)].into_iter().for_each(|number| self.push(number));
            }
            Color::Rgb(red, green, blue) => {
                self.push(base + 8);
                self.push(2);
                [red, green, blue].into_iter().for_each(|part| self.push(u16::from(part)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_of_scratch_and_change_is_written() {
        let plain = Pen::default();
        let bold = Pen { attributes: Attributes::BOLD, ..plain };
        let red = Pen { foreground: Color::Named(1), ..plain };
        let bold_red = Pen { attributes: Attributes::BOLD, ..red };
        let busy = Pen {
            foreground: Color::Rgb(1, 22, 255),
            background: Color::Indexed(200),
            attributes: Attributes::ITALIC
                .with(Attributes::INVERSE)
                .underlined(Underline::Straight),
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
            (plain, busy, "^[3;7;4;38;2;1;22;255;48;5;200m"),
            (plain, Pen { background: Color::Named(9), ..plain }, "^[101m"),
            (plain, Pen { background: Color::Indexed(9), ..plain }, "^[48;5;9m"),
            (red, Pen { foreground: Color::Indexed(1), ..plain }, "^[38;5;1m"),
        ] {
            assert_eq!(
                change(plain_rendition(from), plain_rendition(to)),
                bytes,
                "{from:?} {to:?}"
            );
        }
    }

    fn plain_rendition(pen: Pen) -> Rendition {
        Rendition { pen, ..Rendition::default() }
    }

    fn change(from: Rendition, to: Rendition) -> String {
        let mut out = Vec::new();
        write_sgr(&mut out, from, to);
        String::from_utf8(out).expect("SGR is ASCII").replace('\x1b', "^")
    }

    #[test]
    fn older_terminals_ignore_the_parameters_of_newer_ones() {
        let attributes = |attributes| plain_rendition(Pen { attributes, ..Pen::default() });
        let underline = |kind| attributes(Attributes::NONE.underlined(kind));
        let colored =
            |underline_color| Rendition { underline_color, ..underline(Underline::Curly) };
        let (bold, faint) = (attributes(Attributes::BOLD), attributes(Attributes::FAINT));
        let both = attributes(Attributes::BOLD.with(Attributes::FAINT));
        for (from, to, bytes) in [
            (bold, faint, "^[0;2m"),
            (both, bold, "^[0;1m"),
            (bold, both, "^[2m"),
            (
                Rendition::default(),
                attributes(Attributes::STRIKE.with(Attributes::OVERLINE)),
                "^[9;53m",
            ),
            (underline(Underline::Straight), underline(Underline::Dashed), "^[4:5m"),
            (underline(Underline::Curly), colored(Color::Indexed(9)), "^[58:5:9m"),
            (underline(Underline::Curly), colored(Color::Rgb(1, 2, 3)), "^[58:2::1:2:3m"),
            (colored(Color::Indexed(9)), underline(Underline::Curly), "^[59m"),
        ] {
            assert_eq!(change(from, to), bytes, "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_terminal_gets_the_nearest_it_knows() {
        let pen = |attributes| Pen { attributes, ..Pen::default() };
        let rich = pen(Attributes::BOLD
            .with(Attributes::FAINT)
            .with(Attributes::OVERLINE)
            .underlined(Underline::Curly));
        assert_eq!(Repertoire::FULL.pen(rich), rich);
        assert_eq!(
            Repertoire::STOCK.pen(rich),
            pen(Attributes::BOLD.underlined(Underline::Straight))
        );
        let faint_only = Repertoire { attributes: Attributes::FAINT, ..Repertoire::STOCK };
        assert_eq!(
            faint_only.pen(rich),
            pen(Attributes::BOLD.with(Attributes::FAINT).underlined(Underline::Straight))
        );
        let colored = |color| Pen { foreground: color, background: color, ..Pen::default() };
        for index in [0, 7, 8, 15] {
            let (named, numbered) = (Color::Named(index), Color::Indexed(index));
            assert_eq!(Repertoire::STOCK.pen(colored(numbered)), colored(named));
            assert_eq!(Repertoire::PLAIN.pen(colored(numbered)), colored(numbered));
        }
        let sixteen = colored(Color::Indexed(16));
        assert_eq!(Repertoire::STOCK.pen(sixteen), sixteen);
    }
}
