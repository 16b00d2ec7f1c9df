//! Applies SGR sequences, which set the pen.

use crate::parse::parameters::Parameters;
use crate::screen::cell::{Attributes, Color, Pen, Underline};

/// Changes the pen and the underline's colour by the parameters of an SGR.
pub(crate) fn apply(pen: &mut Pen, underline_color: &mut Color, parameters: &Parameters) {
    let mut at = 0;
    while at < parameters.values().len() {
        let group = parameters.group(at);
        let mut next = at + group.len();
        match group {
            [code @ (38 | 48 | 58), _, ..] => {
                set_color(pen, underline_color, *code, color_of_group(&group[1..]));
            }
            [code @ (38 | 48 | 58)] => {
                let (color, taken) = color_of_list(&parameters.values()[next..]);
                set_color(pen, underline_color, *code, color);
                next += taken;
            }
            [4, kind, ..] => {
                if let Some(underline) = Underline::from_number(*kind) {
                    pen.attributes = pen.attributes.underlined(underline);
                }
            }
            [code @ (0 | 59)] => {
                *underline_color = Color::Default;
                apply_code(pen, *code);
            }
            [code] => apply_code(pen, *code),
            _ => {}
        }
        at = next;
    }
}

/// Applies an SGR code that stands alone, without further numbers.
fn apply_code(pen: &mut Pen, code: u16) {
    let low = |base: u16| Color::Named(u8::try_from(code - base).expect("at most 7"));
    let bright = |base: u16| Color::Named(u8::try_from(code - base + 8).expect("at most 15"));
    let (with, without) = (|set| pen.attributes.with(set), |set| pen.attributes.without(set));
    match code {
        0 => {
            let protected = pen.attributes.is_protected();
            *pen = Pen { attributes: Attributes::NONE.protected(protected), ..Pen::default() };
        }
        1 => pen.attributes = with(Attributes::BOLD),
        2 => pen.attributes = with(Attributes::FAINT),
        3 => pen.attributes = with(Attributes::ITALIC),
        4 => pen.attributes = pen.attributes.underlined(Underline::Straight),
        5 | 6 => pen.attributes = with(Attributes::BLINK),
        7 => pen.attributes = with(Attributes::INVERSE),
        8 => pen.attributes = with(Attributes::INVISIBLE),
        9 => pen.attributes = with(Attributes::STRIKE),
        21 => pen.attributes = pen.attributes.underlined(Underline::Double),
        22 => pen.attributes = without(Attributes::BOLD.with(Attributes::FAINT)),
        23 => pen.attributes = without(Attributes::ITALIC),
        24 => pen.attributes = pen.attributes.underlined(Underline::None),
        25 => pen.attributes = without(Attributes::BLINK),
        27 => pen.attributes = without(Attributes::INVERSE),
        28 => pen.attributes = without(Attributes::INVISIBLE),
        29 => pen.attributes = without(Attributes::STRIKE),
        53 => pen.attributes = with(Attributes::OVERLINE),
        55 => pen.attributes = without(Attributes::OVERLINE),
        30..=37 => pen.foreground = low(30),
        39 => pen.foreground = Color::Default,
        40..=47 => pen.background = low(40),
        49 => pen.background = Color::Default,
        90..=97 => pen.foreground = bright(90),
        100..=107 => pen.background = bright(100),
        _ => {}
    }
}

fn set_color(pen: &mut Pen, underline_color: &mut Color, code: u16, color: Option<Color>) {
    match (code, color) {
        (38, Some(color)) => pen.foreground = color,
        (48, Some(color)) => pen.background = color,
        (58, Some(color)) => *underline_color = color,
        _ => {}
    }
}

/// Returns the colour of `5:n`, `2:r:g:b` or `2:space:r:g:b`. `None` if the form is unknown.
fn color_of_group(group: &[u16]) -> Option<Color> {
    match *group {
        [5, n, ..] => indexed(n),
        [2, r, g, b] | [2, _, r, g, b, ..] => Some(rgb(r, g, b)),
        _ => None,
    }
}

/// Returns the colour of `5;n` or `2;r;g;b`, and the count of its numbers. If the colour is incomplete, all following
/// numbers count, so that they are not read as attributes.
fn color_of_list(list: &[u16]) -> (Option<Color>, usize) {
    match *list {
        [5, n, ..] => (indexed(n), 2),
        [2, r, g, b, ..] => (Some(rgb(r, g, b)), 4),
        [2 | 5, ..] => (None, list.len()),
        [_, ..] => (None, 1),
        [] => (None, 0),
    }
}

fn indexed(n: u16) -> Option<Color> {
    u8::try_from(n).ok().map(Color::Indexed)
}

fn rgb(r: u16, g: u16, b: u16) -> Color {
    let component = |value: u16| u8::try_from(value).unwrap_or(u8::MAX);
    Color::Rgb(component(r), component(g), component(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted_after(text: &str) -> (Pen, Color) {
        let mut parameters = Parameters::default();
        parameters.take(text.as_bytes());
        let (mut pen, mut underline_color) = (Pen::default(), Color::Default);
        apply(&mut pen, &mut underline_color, &parameters);
        (pen, underline_color)
    }

    fn foreground(foreground: Color) -> Pen {
        Pen { foreground, ..Pen::default() }
    }

    fn background(background: Color) -> Pen {
        Pen { background, ..Pen::default() }
    }

    fn attributes(attributes: Attributes) -> Pen {
        Pen { attributes, ..Pen::default() }
    }

    fn underlined(underline: Underline) -> Attributes {
        Attributes::NONE.underlined(underline)
    }

    #[test]
    fn an_underline_has_its_own_colour() {
        for (text, color) in [
            ("58:2::1:2:3", Color::Rgb(1, 2, 3)),
            ("58:2:1:2:3", Color::Rgb(1, 2, 3)),
            ("58;2;1;2;3", Color::Rgb(1, 2, 3)),
            ("58;5;9", Color::Indexed(9)),
            ("58:5:9;4", Color::Indexed(9)),
            ("58:5:9;24;1", Color::Indexed(9)),
            ("58:5:9;59", Color::Default),
            ("58:5:9;0", Color::Default),
            ("58:5:9;", Color::Default),
            ("58:5:256", Color::Default),
        ] {
            assert_eq!(painted_after(text).1, color, "{text}");
        }
    }

    #[test]
    fn parameters_make_the_pen() {
        let red = Color::Rgb(255, 0, 0);
        for (text, pen) in [
            ("", Pen::default()),
            ("31", foreground(Color::Named(1))),
            ("97", foreground(Color::Named(15))),
            ("107", background(Color::Named(15))),
            ("38;5;1", foreground(Color::Indexed(1))),
            ("48;5;15", background(Color::Indexed(15))),
            ("31;39", Pen::default()),
            ("1;0", Pen::default()),
            ("1;", Pen::default()),
            ("38;5;200", foreground(Color::Indexed(200))),
            ("38;5", Pen::default()),
            ("38;5;", foreground(Color::Indexed(0))),
            ("38;5;256;1", attributes(Attributes::BOLD)),
            ("38;2;255;0;0", foreground(red)),
            ("38;2;999;0;0", foreground(red)),
            ("38;2;1;2", Pen::default()),
            (
                "38;2;1;2;3;1",
                Pen { attributes: Attributes::BOLD, ..foreground(Color::Rgb(1, 2, 3)) },
            ),
            ("38:2::255:0:0", foreground(red)),
            ("38:2:255:0:0", foreground(red)),
            ("38:2:1:255:0:0:9:9", foreground(red)),
            ("48:5:7", background(Color::Indexed(7))),
            ("38:5", Pen::default()),
            ("38:9:1;1", attributes(Attributes::BOLD)),
            ("58:2::1:2:3", Pen::default()),
            ("58;2;1;2;3", Pen::default()),
            ("58;5;1", Pen::default()),
            ("58:5:1;4", attributes(underlined(Underline::Straight))),
            ("4:3", attributes(underlined(Underline::Curly))),
            ("21", attributes(underlined(Underline::Double))),
            ("4:5;4:9", attributes(underlined(Underline::Dashed))),
            ("4;4:0", Pen::default()),
            ("4:9", Pen::default()),
            (
                "2;9;53",
                attributes(Attributes::FAINT.with(Attributes::STRIKE).with(Attributes::OVERLINE)),
            ),
            ("2;9;53;29;55;22", Pen::default()),
            ("1;2;22", Pen::default()),
            ("1:2", Pen::default()),
        ] {
            assert_eq!(painted_after(text).0, pen, "{text}");
        }
    }
}
