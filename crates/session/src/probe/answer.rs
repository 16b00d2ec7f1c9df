//! The questions to the user's terminal, and the single form in which each answer is recognised.
//!
//! Sources: xterm's ctlseqs (DA1, DECRQM, XTVERSION, XTWINOPS, OSC 10 to 12); the kitty keyboard protocol's own page.

use rove_terminal::{ClusterWidths, NewerChar};

use super::columns::{SAMPLES, Sample};
use crate::report::{Rgb, TerminalReport};

/// Maximum number of digits and semicolons in the answer to the device attributes question (DA1). Chosen: the longest
/// of today's terminals has some forty.
const ATTRIBUTES_MAX: usize = 64;
/// Maximum number of digits and semicolons in any other numeric answer of the terminal.
const NUMBERS_MAX: usize = 16;
/// Maximum number of characters of a colour in the terminal's answer: `rgba:` and four groups of four digits.
const COLOR_MAX: usize = 24;
/// Maximum length of a terminal's name and version (XTVERSION), in characters. Chosen: four times today's longest.
pub(super) const VERSION_MAX: usize = 128;

/// The ends of a control string that terminals write: ST, or BEL as in early versions of xterm.
const STRING_ENDS: [&[u8]; 2] = [b"\x1b\\", b"\x07"];

/// A question to the terminal, which it answers at most once.
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
    /// Asks for the number of columns that the terminal gives to the sample's cluster.
    Columns(Sample),
    /// Asks for the columns that the terminal gives to a character of a newer Unicode version than rove's width table.
    Newer(NewerChar),
    /// Asks for device attributes. Every terminal answers this question, after its answers to all earlier ones.
    Attributes,
}

/// An answer of the user's terminal about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A fact that the client also reports to the server.
    Report(TerminalReport),
    /// Whether the terminal supports synchronized output, mode 2026.
    SynchronizedOutput(bool),
    /// Whether alternate scroll, mode 1007, is set. `None` if the terminal does not know this mode.
    AlternateScroll(Option<bool>),
    /// Whether the terminal can report mouse positions in pixels, mode 1016.
    PixelMouse(bool),
    /// The terminal's name and version (XTVERSION), in printable ASCII.
    Version(String),
    /// The terminal's way to count the columns of a kind of cluster: as one character, or by code points.
    Columns(ClusterWidths),
    /// A character of a newer Unicode version than rove's width table, and whether the terminal gives it two columns.
    Newer(NewerChar, bool),
    /// The answer to the last question, device attributes. No answer to an earlier question follows.
    End,
}

/// The result of reading the terminal's bytes as the answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The bytes are the beginning of a possible answer.
    Beginning,
    /// The bytes are a whole answer.
    Answer(Answer),
    /// The bytes are no answer to this question.
    Other,
}

/// The form of an answer: its first bytes, a test for the bytes of its body, the body's greatest length in bytes, and
/// its possible ends.
type Form = (&'static [u8], fn(&u8) -> bool, usize, &'static [&'static [u8]]);

impl Question {
    /// Returns the questions for a terminal that the client takes over, in the order of asking.
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

    /// Returns whether a terminal may print a part of the question. Terminal.app of macOS prints the `p` of DECRQM, and
    /// calls itself xterm-256color. Sources: vim#19852; neovim#28776.
    pub(super) const fn may_be_printed(self) -> bool {
        matches!(self, Self::SynchronizedOutput | Self::AlternateScroll | Self::PixelMouse)
    }

    /// Returns the bytes that ask the question; empty for a width, whose question needs a row to print in.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::KittyKeyboard => "\x1b[?u",
            Self::SynchronizedOutput => "\x1b[?2026$p",
            Self::AlternateScroll => "\x1b[?1007$p",
            Self::PixelMouse => "\x1b[?1016$p",
            Self::Foreground => "\x1b]10;?\x1b\\",
            Self::Background => "\x1b]11;?\x1b\\",
            Self::Cursor => "\x1b]12;?\x1b\\",
            Self::Version => "\x1b[>q",
            Self::CellPixels => "\x1b[16t",
            // A width is asked for in a row of the screen: see `columns::question`.
            Self::Columns(_) | Self::Newer(_) => "",
            Self::Attributes => "\x1b[c",
        }
    }

    /// Reads `bytes` as the answer to this question.
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

    /// Returns the form of this question's answer.
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

    /// Reads an answer's body, the bytes between its first bytes and its end. `None` if it is malformed.
    fn answer(self, body: &[u8]) -> Option<Answer> {
        let text = str::from_utf8(body).ok()?;
        Some(match self {
            Self::KittyKeyboard => {
                text.parse::<u32>().ok()?;
                Answer::Report(TerminalReport::KittyKeyboard)
            }
            // 0: unknown mode; 1: set; 2: reset; 3 and 4: permanently set and reset.
            Self::SynchronizedOutput => Answer::SynchronizedOutput(matches!(body, b"1" | b"2")),
            Self::PixelMouse => Answer::PixelMouse(matches!(body, b"1" | b"2")),
            Self::AlternateScroll => Answer::AlternateScroll(match body {
                b"1" | b"3" => Some(true),
                b"2" | b"4" => Some(false),
                b"0" => None,
                _ => return None,
            }),
            Self::Foreground => Answer::Report(TerminalReport::Foreground(color(text)?)),
            Self::Background => Answer::Report(TerminalReport::Background(color(text)?)),
            Self::Cursor => Answer::Report(TerminalReport::Cursor(color(text)?)),
            Self::Version => Answer::Version(text.to_owned()),
            Self::CellPixels => {
                let (height, width) = text.split_once(';')?;
                let (width, height) = (width.parse().ok()?, height.parse().ok()?);
                Answer::Report(TerminalReport::CellPixels { width, height })
            }
            Self::Columns(sample) => {
                let (row, column) = text.split_once(';')?;
                Answer::Columns(sample.read(row.parse().ok()?, column.parse().ok()?)?)
            }
            Self::Newer(c) => {
                let (row, column) = text.split_once(';')?;
                let row: u16 = row.parse().ok()?;
                // A report of row 1 is not an answer: function keys send the same bytes.
                (row > 1).then_some(Answer::Newer(c, column == "3"))?
            }
            Self::Attributes => {
                text.starts_with(|first: char| first.is_ascii_digit()).then_some(Answer::End)?
            }
        })
    }
}

/// Reads a colour from the text after `rgb`: `:` and three fractions in hexadecimal digits, or `a:` and a fourth
/// fraction for the opacity. `None` for other text.
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

/// Reads one to four hexadecimal digits as a fraction of the largest such number. Returns it in 255ths, if they are
/// valid.
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
