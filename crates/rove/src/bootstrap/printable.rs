//! What a host prints before the login, made harmless: banners and messages stay readable, but move
//! no cursor, set no title and ask the terminal nothing.

use core::mem;

/// Most blank lines shown in a row. Chosen: a paragraph's distance.
const BLANK_LINES_MAX: u8 = 2;

/// A filter for bytes on their way to the user's terminal.
#[derive(Debug, Default)]
pub(crate) struct Printable {
    state: State,
    /// Blank lines held back until text follows: the server prints one in front of its announcement.
    blank_lines: u8,
    /// Whether the line has text already.
    in_line: bool,
}

/// Where in an escape sequence the bytes are (ECMA-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After 0xC2, with which a C1 control begins in UTF-8, and other characters too.
    MaybeC1,
    Escape,
    Control,
    /// In a string, which BEL or `ESC \` ends.
    String,
    StringEscape,
}

impl Printable {
    /// Returns what of `bytes` is text.
    pub(crate) fn filter(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.state = self.step(byte, &mut shown);
        }
        shown
    }

    fn step(&mut self, byte: u8, shown: &mut Vec<u8>) -> State {
        match (self.state, byte) {
            // A line break ends any sequence: a broken one must not swallow all that follows.
            (_, b'\n') => self.line_end(shown),
            (State::String | State::StringEscape, 0x1b) => State::StringEscape,
            (State::String, 0x07) | (State::StringEscape, b'\\') => State::Text,
            (State::String | State::StringEscape, _) => State::String,
            (_, 0x1b) => State::Escape,
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Escape, 0x20..=0x2f) => State::Escape,
            (State::Control, 0x20..=0x3f) => State::Control,
            (State::Escape | State::Control, _) => State::Text,
            (State::MaybeC1, 0x80..=0x9f) => State::Text,
            (State::MaybeC1, 0xa0..=0xbf) => self.text(&[0xc2, byte], shown),
            (State::Text | State::MaybeC1, 0xc2) => State::MaybeC1,
            (State::Text | State::MaybeC1, b'\t' | 0x20..=0x7e | 0x80..) => {
                self.text(&[byte], shown)
            }
            (State::Text | State::MaybeC1, _) => State::Text,
        }
    }

    fn text(&mut self, text: &[u8], shown: &mut Vec<u8>) -> State {
        for _ in 0..mem::take(&mut self.blank_lines) {
            shown.push(b'\n');
        }
        self.in_line = true;
        shown.extend(text);
        State::Text
    }

    fn line_end(&mut self, shown: &mut Vec<u8>) -> State {
        if mem::take(&mut self.in_line) {
            shown.push(b'\n');
        } else {
            self.blank_lines = (self.blank_lines + 1).min(BLANK_LINES_MAX);
        }
        State::Text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_stays_and_what_acts_on_a_terminal_goes() {
        for (bytes, shown) in [
            ("Welcome!\r\nto ü\tyou\n", "Welcome!\nto ü\tyou\n"),
            ("\x1b[31;1mred\x1b[m\n", "red\n"),
            ("\x1b]0;title\x07a\x1b]0;title\x1b\\b", "ab"),
            ("\x1bPq#0\x1b\\c\x1b(Bd\x1bce", "cde"),
            ("x\x1b]52;c;never closed\nnext", "x\nnext"),
            ("\u{9b}31mred \u{a0}ok Â", "31mred \u{a0}ok Â"),
            ("a\x07\x08\x00\x7f\rb", "ab"),
            ("a\n\n\n\n\nb\n\n\n", "a\n\n\nb\n"),
            ("\r\n\n", ""),
            ("\x1b[\x1b[1mx", "x"),
        ] {
            let filtered = Printable::default().filter(bytes.as_bytes());
            assert_eq!(String::from_utf8_lossy(&filtered), shown, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_control_passes_however_the_bytes_are_cut(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            cut in 0..200_usize,
        ) {
            let whole = Printable::default().filter(&bytes);
            prop_assert!(whole.iter().all(|&byte| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e | 0x80..)));
            prop_assert!(!whole.windows(2).any(|pair| pair[0] == 0xc2 && pair[1] < 0xa0));
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut filter = Printable::default();
            prop_assert_eq!([filter.filter(head), filter.filter(tail)].concat(), whole);
        }
    }
}
