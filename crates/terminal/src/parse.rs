//! The byte parser: UTF-8, then the DEC VT500 state machine over code points.
//!
//! The parser finds runs of text, controls and sequences, and limits the length of every string. An implementation of
//! [`Perform`] acts on these parts.

pub(crate) mod parameters;
mod utf8;

use self::parameters::Parameters;
use self::utf8::{ascii_len, decode, text_len};
use crate::clipboard::COPY_CHARS_MAX;

/// Longest operating system command (OSC) kept, in bytes. The end of a longer command is dropped. Chosen: as Mosh
/// 1.4.0 (docs/terminal.md), which is enough for all commands except those that copy text.
pub(crate) const OSC_BYTES_MAX: usize = 16_384 + 32;
/// Longest operating system command that copies text, in bytes. A longer one is ignored. Chosen: the longest text, and
/// room for `52;`, selections and `;`.
pub(crate) const OSC_COPY_BYTES_MAX: usize = COPY_CHARS_MAX + 32;
/// Longest device control string that is kept, in bytes. A longer string is ignored. Chosen: XTGETTCAP for 50 names of
/// ten bytes in one string. Programs ask for a handful.
pub(crate) const DCS_BYTES_MAX: usize = 1024;
/// Most intermediate bytes in a sequence. A sequence with more is ignored. Source: xterm and the DEC terminals have no
/// function with more than two.
pub(crate) const INTERMEDIATES_MAX: usize = 2;

/// The functions that the parser calls for each part of a byte stream.
pub(crate) trait Perform {
    /// Prints a run of printable ASCII.
    fn print_ascii(&mut self, text: &[u8]);
    /// Prints a run of text without controls.
    fn print(&mut self, text: &str);
    /// Executes a C0 or C1 control.
    fn execute(&mut self, control: char);
    /// Performs an escape sequence. The 7-bit form of a C1 control goes to [`Perform::execute`] instead.
    fn escape(&mut self, intermediates: &[u8], last: u8);
    /// Performs a control sequence.
    fn csi(&mut self, sequence: &Sequence<'_>);
    /// Performs an operating system command. If `cut`, the text was too long, and its end or all of it is missing.
    fn osc(&mut self, text: &str, cut: bool, terminator: Terminator);
    /// Returns true if the parser must read no further, because the effort limit is exceeded.
    fn is_spent(&self) -> bool {
        false
    }
    /// Performs the head of a device control string, before its text arrives.
    fn dcs_head(&mut self, _: &Sequence<'_>) {}
    /// Performs a complete device control string. Strings beyond [`DCS_BYTES_MAX`] are not passed on.
    fn dcs(&mut self, sequence: &Sequence<'_>, text: &str);
}

/// How an operating system command ends. The answer to a command ends in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminator {
    Bel,
    St,
}

impl Terminator {
    /// Returns the bytes that end the command.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Bel => "\x07",
            Self::St => "\x1b\\",
        }
    }
}

/// The parts of a control sequence, or of the head of a device control string.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    /// The private marker, a byte of `<=>?`, or 0 if the sequence has none.
    pub(crate) private: u8,
    /// The intermediate bytes, each from 0x20 to 0x2f.
    pub(crate) intermediates: &'a [u8],
    pub(crate) parameters: &'a Parameters,
    /// The final byte, from 0x40 to 0x7e, which names the function.
    pub(crate) last: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate,
    CsiEntry,
    CsiParameter,
    CsiIntermediate,
    CsiIgnore,
    DcsEntry,
    DcsParameter,
    DcsIntermediate,
    DcsText,
    OscText,
    /// A string without a function: SOS, PM, APC, or a malformed DCS. The parser drops it up to its terminator.
    Ignored,
}

/// The string that the last ESC interrupted. If `\` follows, the string is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unterminated {
    #[default]
    None,
    Osc,
    Dcs,
}

/// The state of the parser between two bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parser {
    state: State,
    /// The first bytes of a UTF-8 character whose end has not arrived yet.
    partial: [u8; 4],
    partial_len: usize,
    private: u8,
    intermediates: [u8; INTERMEDIATES_MAX],
    intermediates_len: usize,
    /// Whether the sequence has more intermediate bytes than [`INTERMEDIATES_MAX`].
    intermediates_overflow: bool,
    parameters: Parameters,
    /// The text of an OSC or DCS up to the last byte read.
    text: String,
    text_cut: bool,
    dcs_last: u8,
    unterminated: Unterminated,
}

impl Parser {
    /// Drops an unfinished sequence, string or UTF-8 character.
    pub(crate) fn ground(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity()
    }

    /// Returns whether the parser is outside of sequences and strings. A UTF-8 character may be incomplete.
    pub(crate) fn is_in_text(&self) -> bool {
        self.state == State::Ground
    }

    /// Returns whether an ESC still awaits the character that decides its meaning.
    pub(crate) fn is_in_escape(&self) -> bool {
        self.state == State::Escape
    }

    /// Reads bytes until all are read or [`Perform::is_spent`] is true. A sequence or character may be split between
    /// two calls. Returns the number of bytes read.
    pub(crate) fn advance(&mut self, bytes: &[u8], perform: &mut impl Perform) -> usize {
        let mut at = self.finish_partial(bytes, perform);
        // No control is between `at` and this index. Malformed text is printed in pieces, and thanks to this variable,
        // not every piece starts a new search for controls.
        let mut text_end = at;
        while let Some(&byte) = bytes.get(at) {
            if perform.is_spent() {
                break;
            }
            let rest = &bytes[at..];
            // Nearly all output consists of runs of text and of control sequences. Each is processed as a whole.
            let run = match self.state {
                State::Ground => match byte {
                    0x1b if rest.get(1) == Some(&b'[') => {
                        self.enter_sequence(State::CsiEntry);
                        2 + self.take_csi(&rest[2..], perform)
                    }
                    0x1b => 0,
                    ..0x20 => {
                        perform.execute(char::from(byte));
                        1
                    }
                    0x20..=0x7e => {
                        let len = ascii_len(rest);
                        perform.print_ascii(&rest[..len]);
                        len
                    }
                    _ => {
                        if text_end <= at {
                            text_end = at + text_len(rest);
                        }
                        print_well_formed(&bytes[at..text_end], perform)
                    }
                },
                State::CsiEntry | State::CsiParameter => self.take_csi(rest, perform),
                _ => 0,
            };
            if run > 0 {
                at += run;
                continue;
            }
            match decode(rest) {
                Some((c, len)) => {
                    self.step(c, perform);
                    at += len;
                }
                None => {
                    self.partial[..rest.len()].copy_from_slice(rest);
                    self.partial_len = rest.len();
                    return bytes.len();
                }
            }
        }
        at
    }

    /// Reads the numbers of a control sequence, and the final byte if it follows. Returns the number of bytes read.
    fn take_csi(&mut self, bytes: &[u8], perform: &mut impl Perform) -> usize {
        if self.state == State::CsiEntry && bytes.first() == Some(&b':') {
            return 0;
        }
        let numbers = self.parameters.take(bytes);
        if numbers > 0 {
            self.state = State::CsiParameter;
        }
        match bytes.get(numbers) {
            Some(&last @ 0x40..=0x7e) => {
                self.state = State::Ground;
                perform.csi(&self.sequence(last));
                numbers + 1
            }
            _ => numbers,
        }
    }

    /// Completes a UTF-8 character that began at the end of the last input. Returns the number of bytes used.
    fn finish_partial(&mut self, bytes: &[u8], perform: &mut impl Perform) -> usize {
        let mut taken = 0;
        while self.partial_len > 0 {
            let Some(&next) = bytes.get(taken) else { return taken };
            self.partial[self.partial_len] = next;
            let len = self.partial_len + 1;
            match decode(&self.partial[..len]) {
                Some((c, used)) => {
                    self.partial_len = 0;
                    // A byte that does not continue the character is read again.
                    taken += usize::from(used == len);
                    self.step(c, perform);
                }
                None => {
                    self.partial_len = len;
                    taken += 1;
                }
            }
        }
        taken
    }

    fn step(&mut self, c: char, perform: &mut impl Perform) {
        match c {
            '\x1b' => self.enter_escape(),
            '\x18' | '\x1a' => self.execute_anywhere(c, perform),
            '\u{80}'..='\u{9f}' => self.step_c1(c, perform),
            _ => self.step_in_state(c, perform),
        }
    }

    fn step_c1(&mut self, c: char, perform: &mut impl Perform) {
        match c {
            '\u{90}' => self.enter_sequence(State::DcsEntry),
            '\u{9b}' => self.enter_sequence(State::CsiEntry),
            '\u{98}' | '\u{9e}' | '\u{9f}' => self.enter_sequence(State::Ignored),
            '\u{9d}' => self.enter_sequence(State::OscText),
            '\u{9c}' => self.end_string(self.open_string(), perform),
            _ => self.execute_anywhere(c, perform),
        }
    }

    fn step_in_state(&mut self, c: char, perform: &mut impl Perform) {
        // A code point outside of ASCII ends a sequence, as a letter does, but names no function.
        let byte = u8::try_from(u32::from(c)).unwrap_or(0xff);
        match self.state {
            State::Ground => match byte {
                ..0x20 => perform.execute(c),
                0x7f => {}
                _ => perform.print(c.encode_utf8(&mut [0; 4])),
            },
            State::OscText => match byte {
                0x07 => {
                    perform.osc(&self.text, self.text_cut, Terminator::Bel);
                    self.enter_sequence(State::Ground);
                }
                ..0x20 | 0x7f => {}
                _ => self.push_text(c, self.osc_bytes_max()),
            },
            State::DcsText => match byte {
                ..0x20 | 0x7f => {}
                _ => self.push_text(c, DCS_BYTES_MAX),
            },
            State::Ignored => {}
            State::DcsEntry | State::DcsParameter | State::DcsIntermediate => {
                self.step_dcs(byte, perform);
            }
            _ => match byte {
                ..0x20 => perform.execute(c),
                0x7f => {}
                _ => match self.state {
                    State::Escape => self.step_escape(byte, perform),
                    State::EscapeIntermediate => self.step_escape_intermediate(byte, perform),
                    _ => self.step_csi(byte, perform),
                },
            },
        }
    }

    fn step_escape(&mut self, byte: u8, perform: &mut impl Perform) {
        let open = core::mem::take(&mut self.unterminated);
        if byte != b'\\' {
            self.clear_head();
        }
        match byte {
            0x20..=0x2f => {
                self.collect(byte);
                self.state = State::EscapeIntermediate;
            }
            b'[' => self.enter_sequence(State::CsiEntry),
            b']' => self.enter_sequence(State::OscText),
            b'P' => self.enter_sequence(State::DcsEntry),
            b'X' | b'^' | b'_' => self.enter_sequence(State::Ignored),
            b'\\' => self.end_string(open, perform),
            0x40..=0x5f => {
                self.state = State::Ground;
                perform.execute(char::from(byte + 0x40));
            }
            _ => {
                self.state = State::Ground;
                perform.escape(&[], byte);
            }
        }
    }

    fn step_escape_intermediate(&mut self, byte: u8, perform: &mut impl Perform) {
        if (0x20..=0x2f).contains(&byte) {
            self.collect(byte);
            return;
        }
        self.state = State::Ground;
        if !self.intermediates_overflow {
            perform.escape(&self.intermediates[..self.intermediates_len], byte);
        }
    }

    fn step_csi(&mut self, byte: u8, perform: &mut impl Perform) {
        match (self.state, byte) {
            (State::CsiIgnore, ..0x40) => {}
            (State::CsiEntry | State::CsiParameter, b'0'..=b'9' | b';') => {
                self.parameters.take(&[byte]);
                self.state = State::CsiParameter;
            }
            (State::CsiParameter, b':') => _ = self.parameters.take(&[byte]),
            (State::CsiEntry, b'<'..=b'?') => {
                self.private = byte;
                self.state = State::CsiParameter;
            }
            (_, 0x20..=0x2f) => {
                self.collect(byte);
                self.state = State::CsiIntermediate;
            }
            (_, 0x30..=0x3f) => self.state = State::CsiIgnore,
            (State::CsiIgnore, _) => self.state = State::Ground,
            _ => {
                self.state = State::Ground;
                if !self.intermediates_overflow {
                    perform.csi(&self.sequence(byte));
                }
            }
        }
    }

    fn step_dcs(&mut self, byte: u8, perform: &mut impl Perform) {
        match (self.state, byte) {
            (_, ..0x20 | 0x7f) => {}
            (State::DcsEntry | State::DcsParameter, b'0'..=b'9' | b';') => {
                self.parameters.take(&[byte]);
                self.state = State::DcsParameter;
            }
            (State::DcsEntry, b'<'..=b'?') => {
                self.private = byte;
                self.state = State::DcsParameter;
            }
            (_, 0x20..=0x2f) => {
                self.collect(byte);
                self.state = State::DcsIntermediate;
            }
            (_, 0x40..=0x7e) if !self.intermediates_overflow => {
                self.dcs_last = byte;
                self.state = State::DcsText;
                perform.dcs_head(&self.sequence(byte));
            }
            _ => self.state = State::Ignored,
        }
    }

    /// Returns the kind of the string that is open and that a terminator would end.
    const fn open_string(&self) -> Unterminated {
        match self.state {
            State::OscText => Unterminated::Osc,
            State::DcsText => Unterminated::Dcs,
            _ => Unterminated::None,
        }
    }

    fn enter_escape(&mut self) {
        self.unterminated = self.open_string();
        self.state = State::Escape;
        // The head of an unfinished DCS is needed when its terminator is complete.
        if self.unterminated != Unterminated::Dcs {
            self.clear_head();
        }
    }

    fn enter_sequence(&mut self, state: State) {
        self.clear_head();
        self.text.clear();
        // Frees the memory of a long copied text.
        self.text.shrink_to(OSC_BYTES_MAX);
        self.text_cut = false;
        self.unterminated = Unterminated::None;
        self.state = state;
    }

    fn execute_anywhere(&mut self, c: char, perform: &mut impl Perform) {
        self.enter_sequence(State::Ground);
        perform.execute(c);
    }

    fn end_string(&mut self, open: Unterminated, perform: &mut impl Perform) {
        match open {
            Unterminated::None => {}
            Unterminated::Osc => perform.osc(&self.text, self.text_cut, Terminator::St),
            Unterminated::Dcs if self.text_cut => {}
            Unterminated::Dcs => perform.dcs(&self.sequence(self.dcs_last), &self.text),
        }
        self.enter_sequence(State::Ground);
    }

    fn clear_head(&mut self) {
        self.private = 0;
        self.intermediates_len = 0;
        self.intermediates_overflow = false;
        self.parameters.clear();
    }

    fn collect(&mut self, byte: u8) {
        if let Some(slot) = self.intermediates.get_mut(self.intermediates_len) {
            *slot = byte;
            self.intermediates_len += 1;
        } else {
            self.intermediates_overflow = true;
        }
    }

    fn osc_bytes_max(&self) -> usize {
        let is_copy = self.text.len() >= OSC_BYTES_MAX && self.text.starts_with("52;");
        if is_copy { OSC_COPY_BYTES_MAX } else { OSC_BYTES_MAX }
    }

    fn push_text(&mut self, c: char, bytes_max: usize) {
        if self.text_cut || self.text.len() + c.len_utf8() > bytes_max {
            self.text_cut = true;
            // A part of a copied text is useless, so its memory is freed.
            if self.text.len() > OSC_BYTES_MAX {
                self.text = String::new();
            }
        } else {
            self.text.push(c);
        }
        debug_assert!(self.text.len() <= bytes_max);
    }

    fn sequence(&self, last: u8) -> Sequence<'_> {
        Sequence {
            private: self.private,
            intermediates: &self.intermediates[..self.intermediates_len],
            parameters: &self.parameters,
            last,
        }
    }
}

/// Prints the well-formed UTF-8 at the start of `bytes`, which contains no controls. Returns its length in bytes.
fn print_well_formed(bytes: &[u8], perform: &mut impl Perform) -> usize {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid()),
    };
    if !text.is_empty() {
        perform.print(text);
    }
    text.len()
}

#[cfg(test)]
mod tests;
