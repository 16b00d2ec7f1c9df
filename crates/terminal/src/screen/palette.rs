//! Colours that programs can set: palette entries, default text and background, and the cursor's colour.

use std::collections::BTreeMap;

use crate::screen::color_space;
use crate::screen::intensity::Intensities;
use crate::screen::rgb::Rgb;

/// Xterm's sixteen named colours, in the order of the palette.
/// Source: xterm's defaults (XTerm-col.ad).
const NAMED: [Rgb; 16] = [
    Rgb::new(0x00, 0x00, 0x00),
    Rgb::new(0xcd, 0x00, 0x00),
    Rgb::new(0x00, 0xcd, 0x00),
    Rgb::new(0xcd, 0xcd, 0x00),
    Rgb::new(0x00, 0x00, 0xee),
    Rgb::new(0xcd, 0x00, 0xcd),
    Rgb::new(0x00, 0xcd, 0xcd),
    Rgb::new(0xe5, 0xe5, 0xe5),
    Rgb::new(0x7f, 0x7f, 0x7f),
    Rgb::new(0xff, 0x00, 0x00),
    Rgb::new(0x00, 0xff, 0x00),
    Rgb::new(0xff, 0xff, 0x00),
    Rgb::new(0x5c, 0x5c, 0xff),
    Rgb::new(0xff, 0x00, 0xff),
    Rgb::new(0x00, 0xff, 0xff),
    Rgb::new(0xff, 0xff, 0xff),
];

impl Rgb {
    /// Parses a colour specification in the form of `XParseColor`. `None` for other text, such as a colour's name.
    ///
    /// `rgb:r/g/b` scales components of one to four digits. In `#rgb` and its longer forms, the digits are the highest
    /// digits of each component. `rgbi:r/g/b` states intensities from 0 to 1. After `CIEXYZ:`, `CIEuvY:`, `CIExyY:`,
    /// `CIELab:`, `CIELuv:` and `TekHVC:`, three numbers of the named colour space follow.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix('#') {
            let len = digits.len() / 3;
            if !digits.len().is_multiple_of(3) || !digits.is_ascii() {
                return None;
            }
            let component = |index: usize| {
                let value = hexadecimal(&digits[index * len..(index + 1) * len])?;
                Some((value << (16 - 4 * len)).to_be_bytes()[0])
            };
            return Some(Self::new(component(0)?, component(1)?, component(2)?));
        }
        // The name of a colour space may be in upper case.
        let (space, rest) = text.split_once(':')?;
        if space.eq_ignore_ascii_case("rgbi") {
            return Intensities::parse(rest).map(Intensities::color);
        }
        if !space.eq_ignore_ascii_case("rgb") {
            return color_space::parse(space, rest);
        }
        let mut components = rest.split('/');
        let mut component = || {
            let digits = components.next()?;
            let max = (1_u32 << (4 * digits.len().min(4))) - 1;
            let scaled = u32::from(hexadecimal(digits)?) * u32::from(u16::MAX) / max;
            Some(u16::try_from(scaled).expect("no more than its maximum").to_be_bytes()[0])
        };
        let color = Self::new(component()?, component()?, component()?);
        components.next().is_none().then_some(color)
    }

    /// Returns this colour in the form of xterm's answers: `rgb:rrrr/gggg/bbbb`.
    pub(crate) fn answer(self) -> String {
        let Self { red, green, blue } = self;
        format!("rgb:{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}")
    }

    /// Returns entry `index` of xterm's default palette: 16 named colours, a cube of six steps per side, and 24 greys.
    pub fn of_palette(index: u8) -> Self {
        let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
        match index {
            0..=15 => NAMED[usize::from(index)],
            16..=231 => {
                let n = index - 16;
                Self::new(step(n / 36), step(n / 6 % 6), step(n % 6))
            }
            232..=255 => {
                let grey = 8 + 10 * (index - 232);
                Self::new(grey, grey, grey)
            }
        }
    }
}

/// Parses one to four hexadecimal digits. `None` for other text.
fn hexadecimal(digits: &str) -> Option<u16> {
    let valid = matches!(digits.len(), 1..=4) && digits.bytes().all(|c| c.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| valid)
}

/// A colour of the terminal that a program can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColorSlot {
    /// An entry of the palette: OSC 4.
    Palette(u8),
    /// The default text colour: OSC 10.
    Foreground,
    /// The default background colour: OSC 11.
    Background,
    /// The cursor's colour: OSC 12.
    Cursor,
}

/// The colours that programs have set. All other colours are the terminal's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colors {
    set: BTreeMap<ColorSlot, Rgb>,
}

impl Colors {
    /// Returns whether no colour is set.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns the colour that a program has set for `slot`. `None` if the terminal's own colour applies.
    pub fn get(&self, slot: ColorSlot) -> Option<Rgb> {
        self.set.get(&slot).copied()
    }

    /// Returns the slots that programs have set and their colours, palette entries first.
    pub fn iter(&self) -> impl Iterator<Item = (ColorSlot, Rgb)> {
        self.set.iter().map(|(&slot, &color)| (slot, color))
    }

    pub(crate) fn sets_palette(&self) -> bool {
        self.set.keys().any(|slot| matches!(slot, ColorSlot::Palette(_)))
    }

    pub(crate) fn set(&mut self, slot: ColorSlot, color: Rgb) {
        self.set.insert(slot, color);
    }

    pub(crate) fn reset(&mut self, slot: ColorSlot) {
        self.set.remove(&slot);
    }

    pub(crate) fn reset_palette(&mut self) {
        self.set.retain(|slot, _| !matches!(slot, ColorSlot::Palette(_)));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.set.len() * size_of::<(ColorSlot, Rgb)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_as_x11_reads_them() {
        for (text, color) in [
            ("rgb:f/0/8", Some((0xff, 0x00, 0x88))),
            ("rgb:12/34/aB", Some((0x12, 0x34, 0xab))),
            ("rgb:fff/000/800", Some((0xff, 0x00, 0x80))),
            ("rgb:ffff/1234/00ff", Some((0xff, 0x12, 0x00))),
            ("rgb:f/12/fff", Some((0xff, 0x12, 0xff))),
            ("#f08", Some((0xf0, 0x00, 0x80))),
            ("#12aBff", Some((0x12, 0xab, 0xff))),
            ("#123456789", Some((0x12, 0x45, 0x78))),
            ("#123456789abc", Some((0x12, 0x56, 0x9a))),
            ("", None),
            ("#", None),
            ("#12", None),
            ("#1234", None),
            ("#123456789abcdef", None),
            ("#+12345", None),
            ("#1é34", None),
            ("rgb:1/2", None),
            ("rgb:1/2/", None),
            ("rgb:1/2/3/4", None),
            ("rgb:12345/0/0", None),
            ("rgb:+1/0/0", None),
            ("rgb:g/0/0", None),
            ("rgba:1/2/3/4", None),
            ("rgbi:1/0/0.5", Some((0xff, 0x00, 0xbb))),
            ("RGB:f/0/8", Some((0xff, 0x00, 0x88))),
            ("Rgbi:1/0/0", Some((0xff, 0x00, 0x00))),
            ("rgbi:1/0", None),
            ("rgb:f/0/8 ", None),
            (" rgb:f/0/8", None),
            ("CIEXYZ:0.3/0.3/0.3", Some((0xb4, 0x93, 0x82))),
            ("CIEXY:0.3/0.3/0.3", None),
            ("red", None),
            ("?", None),
        ] {
            let color = color.map(|(red, green, blue)| Rgb::new(red, green, blue));
            assert_eq!(Rgb::parse(text), color, "{text}");
        }
    }

    #[test]
    fn an_answer_reads_as_the_colour_it_tells() {
        let color = Rgb::new(0x12, 0xcd, 0x00);
        assert_eq!(color.answer(), "rgb:1212/cdcd/0000");
        assert_eq!(Rgb::parse(&color.answer()), Some(color));
    }

    #[test]
    fn the_palette_is_that_of_xterm() {
        for (index, text) in [
            (1, "#cd0000"),
            (12, "#5c5cff"),
            (15, "#ffffff"),
            (16, "#000000"),
            (17, "#00005f"),
            (67, "#5f87af"),
            (231, "#ffffff"),
            (232, "#080808"),
            (255, "#eeeeee"),
        ] {
            assert_eq!(Some(Rgb::of_palette(index)), Rgb::parse(text), "{index}");
        }
    }
}
