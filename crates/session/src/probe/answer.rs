//! The questions a terminal is asked, and the one form that the answer to each has.
//!
//! Sources: xterm's ctlseqs (DA1, DECRQM, XTVERSION, XTWINOPS, OSC 10 to 12); the kitty keyboard
//! protocol's own page.

use rove_terminal::{ClusterWidths, NewerChar};

use super::columns::{SAMPLES, Sample};
use crate::report::Rgb;

/// Most digits and semicolons of a device attributes answer. Chosen: the longest of today's
/// terminals has some forty.
const ATTRIBUTES_MAX: usize = 64;
/// Most digits of other numbers, a semicolon included.
const NUMBERS_MAX: usize = 16;
/// Most characters of a colour: `rgba:` and four times four digits.
const COLOR_MAX: usize = 24;
/// Most characters of a terminal's name and version. Chosen: four times the longest of today's.
pub(super) const VERSION_MAX: usize = 128;

/// How a string ends, as terminals end it: ST, or BEL as in xterm's early days.
const STRING_ENDS: [&[u8]; 2] = [b"\x1b\\", b"\x07"];

/// A question, answered at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    KittyKeyboard,
    SynchronizedOutput,
    AlternateScroll,
    PixelMouse,
    Foreground,
    Background,
    Cursor,
    Version,
    CellPixels,
    /// How many columns a cluster takes.
    Columns(Sample),
    /// How many columns a character takes that our tables do not know.
    Newer(NewerChar),
    /// Device attributes: every terminal answers this question, and after all earlier ones.
    Attributes,
}

/// An answer of the terminal about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It speaks the keyboard protocol of kitty.
    KittyKeyboard,
    /// Whether it knows mode 2026.
    SynchronizedOutput(bool),
    /// Whether mode 1007 is set; `None` where it does not know it.
    AlternateScroll(Option<bool>),
    /// Whether it can report the mouse in pixels, mode 1016.
    PixelMouse(bool),
    /// Its default foreground.
    Foreground(Rgb),
    /// Its default background.
    Background(Rgb),
    /// The colour of its cursor.
    Cursor(Rgb),
    /// Its name and version, printable ASCII.
    Version(String),
    /// Width and height of its cells in pixels.
    CellPixels {
        /// Columns of pixels.
        width: u16,
        /// Rows of pixels.
        height: u16,
    },
    /// It counts clusters of this kind as one, or not.
    Columns(ClusterWidths),
    /// It gives a character that our tables do not know two columns, or not.
    Newer(NewerChar, bool),
    /// It gives no further answer.
    End,
}

/// A reading of the terminal's bytes as the answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A possible beginning of its answer.
    Beginning,
    /// Its answer.
    Answer(Answer),
    /// Something else.
    Other,
}

/// The form of an answer: its beginning, the bytes that may follow and how many at most, and its possible ends.
type Form = (&'static [u8], fn(&u8) -> bool, usize, &'static [&'static [u8]]);

impl Question {
    /// Returns all, in the order they are asked in.
    pub(super) fn all() -> Vec<Self> {
        let plain = [
            Self::KittyKeyboard,
            Self::SynchronizedOutput,
            Self::AlternateScroll,
            Self::PixelMouse,
            Self::Foreground,
            Self::Background,
            Self::Cursor,
            Self::Version,
            Self::CellPixels,
        ];
        let samples = SAMPLES.map(Self::Columns);
        plain.into_iter().chain(samples).chain([Self::Attributes]).collect()
    }

    /// Returns the question as a terminal reads it.
    pub(super) const fn text(self) -> &'static [u8] {
        match self {
            Self::KittyKeyboard => b"\x1b[?u",
            Self::SynchronizedOutput => b"\x1b[?2026$p",
            Self::AlternateScroll => b"\x1b[?1007$p",
            Self::PixelMouse => b"\x1b[?1016$p",
            Self::Foreground => b"\x1b]10;?\x1b\\",
            Self::Background => b"\x1b]11;?\x1b\\",
            Self::Cursor => b"\x1b]12;?\x1b\\",
            Self::Version => b"\x1b[>q",
            Self::CellPixels => b"\x1b[16t",
            // They take a place to print at: see `columns::question`.
            Self::Columns(_) | Self::Newer(_) => b"",
            Self::Attributes => b"\x1b[c",
        }
    }

    /// Reads bytes that may be the answer.
    pub(super) fn read(self, bytes: &[u8]) -> Reading {
        let (before, is_body, body_max, ends) = self.form();
        if before.starts_with(bytes) {
            return Reading::Beginning;
        }
        let Some(rest) = bytes.strip_prefix(before) else {
            return Reading::Other;
        };
        let len = rest.iter().take_while(|byte| is_body(byte)).count();
        let (body, end) = rest.split_at(len);
        if len > body_max {
            Reading::Other
        } else if ends.contains(&end) {
            self.answer(body).map_or(Reading::Other, Reading::Answer)
        } else if ends.iter().any(|whole| whole.starts_with(end)) {
            Reading::Beginning
        } else {
            Reading::Other
        }
    }

    /// Returns the form of its answer.
    fn form(self) -> Form {
        match self {
            Self::KittyKeyboard => (b"\x1b[?", u8::is_ascii_digit, NUMBERS_MAX, &[b"u"]),
            Self::SynchronizedOutput => (b"\x1b[?2026;", u8::is_ascii_digit, 1, &[b"$y"]),
            Self::AlternateScroll => (b"\x1b[?1007;", u8::is_ascii_digit, 1, &[b"$y"]),
            Self::PixelMouse => (b"\x1b[?1016;", u8::is_ascii_digit, 1, &[b"$y"]),
            Self::Foreground => (b"\x1b]10;rgb", is_color, COLOR_MAX, &STRING_ENDS),
            Self::Background => (b"\x1b]11;rgb", is_color, COLOR_MAX, &STRING_ENDS),
            Self::Cursor => (b"\x1b]12;rgb", is_color, COLOR_MAX, &STRING_ENDS),
            Self::Version => {
                (b"\x1bP>|", |byte| matches!(byte, b' '..=b'~'), VERSION_MAX, &[b"\x1b\\"])
            }
            Self::CellPixels => (b"\x1b[6;", is_number, NUMBERS_MAX, &[b"t"]),
            Self::Columns(_) | Self::Newer(_) => (b"\x1b[", is_number, NUMBERS_MAX, &[b"R"]),
            Self::Attributes => (b"\x1b[?", is_number, ATTRIBUTES_MAX, &[b"c"]),
        }
    }

    /// Reads the bytes between the beginning and the end of the answer.
    fn answer(self, body: &[u8]) -> Option<Answer> {
        let text = str::from_utf8(body).ok()?;
        Some(match self {
            Self::KittyKeyboard => text.parse::<u32>().ok().map(|_| Answer::KittyKeyboard)?,
            // 0: not known; 1: set, 2: reset; 3 and 4: so for ever.
            Self::SynchronizedOutput => Answer::SynchronizedOutput(matches!(body, b"1" | b"2")),
            Self::PixelMouse => Answer::PixelMouse(matches!(body, b"1" | b"2")),
            Self::AlternateScroll => Answer::AlternateScroll(match body {
                b"1" | b"3" => Some(true),
                b"2" | b"4" => Some(false),
                b"0" => None,
                _ => return None,
            }),
            Self::Foreground => Answer::Foreground(color(text)?),
            Self::Background => Answer::Background(color(text)?),
            Self::Cursor => Answer::Cursor(color(text)?),
            Self::Version => Answer::Version(text.to_owned()),
            Self::CellPixels => {
                let (height, width) = text.split_once(';')?;
                Answer::CellPixels { width: width.parse().ok()?, height: height.parse().ok()? }
            }
            Self::Columns(sample) => {
                let (row, column) = text.split_once(';')?;
                Answer::Columns(sample.read(row.parse().ok()?, column.parse().ok()?)?)
            }
            Self::Newer(c) => {
                let (row, column) = text.split_once(';')?;
                let row: u16 = row.parse().ok()?;
                // A function key sends the first row.
                (row > 1).then_some(Answer::Newer(c, column == "3"))?
            }
            Self::Attributes => {
                text.starts_with(|first: char| first.is_ascii_digit()).then_some(Answer::End)?
            }
        })
    }
}

/// Reads a colour after `rgb`: three or four fractions in hexadecimal digits.
fn color(text: &str) -> Option<Rgb> {
    let (opaque, fractions) = text.split_once(':')?;
    let mut fractions = fractions.split('/');
    let mut next = || fraction(fractions.next()?);
    let color = (next()?, next()?, next()?);
    let opacity = fractions.next();
    let is_whole = match opaque {
        "" => opacity.is_none(),
        "a" => fraction(opacity?).is_some() && fractions.next().is_none(),
        _ => false,
    };
    is_whole.then_some(color)
}

/// Reads one to four hexadecimal digits as a fraction of all ones, in 255ths.
fn fraction(digits: &str) -> Option<u8> {
    let most = match digits.len() {
        1 => 0xf,
        2 => 0xff,
        3 => 0xfff,
        4 => 0xffff_u32,
        _ => return None,
    };
    u8::try_from(u32::from_str_radix(digits, 16).ok()? * 255 / most).ok()
}

fn is_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b';')
}

fn is_color(byte: &u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b':' | b'/')
}
