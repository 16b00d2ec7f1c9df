//! Filters text that a host prints before the login. Banners and messages stay readable, but they cannot move the
//! cursor, set the title, query the terminal, or hide or reverse other text.

use core::mem;

use rove_terminal::Plain;

/// Most blank lines in a row that are shown before the login. Chosen: the space between paragraphs.
const BLANK_LINES_MAX: u8 = 2;

/// The character that replaces malformed UTF-8.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A filter for bytes that are shown on the user's terminal. Passes only complete UTF-8 characters, because an 8-bit
/// terminal may interpret a stray byte as a control character (C1).
#[derive(Debug, Default)]
pub struct Printable {
    state: State,
    partial: Partial,
    /// Number of blank lines that wait for later text. Without such text, as before an announcement, they stay hidden.
    blank_lines: u8,
    /// Whether the current line contains text already.
    in_line: bool,
    /// Decides which characters of the current line are shown.
    plain: Plain,
}

/// The first bytes of a UTF-8 character that is not complete yet.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    bytes: [u8; 4],
    len: usize,
}

/// The position within an escape sequence (ECMA-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    Control,
    /// The filter is within a control string (such as OSC), which BEL, `ESC \` or a line break ends.
    String,
    StringEscape,
}

impl Printable {
    /// Returns the text in `bytes` that may be shown. An incomplete character or sequence waits for the next call.
    pub fn filter(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.state = self.step(byte, &mut shown);
        }
        shown
    }

    fn step(&mut self, byte: u8, shown: &mut Vec<u8>) -> State {
        if self.partial.len > 0 && !matches!(byte, 0x80..=0xbf) {
            self.partial.len = 0;
            self.text(REPLACEMENT, shown);
        }
        match (self.state, byte) {
            // A line break ends any sequence, so that a broken sequence does not swallow the lines after it.
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
            (State::Text, b'\t' | 0x20..=0x7e) => self.text(byte.into(), shown),
            (State::Text, 0x80..) => self.part(byte, shown),
            (State::Text, _) => State::Text,
        }
    }

    fn part(&mut self, byte: u8, shown: &mut Vec<u8>) -> State {
        let Partial { bytes, len } = &mut self.partial;
        bytes[*len] = byte;
        *len += 1;
        let found = str::from_utf8(&bytes[..*len]);
        let character = match found.map(|text| text.chars().next()) {
            // The character is not complete yet.
            Err(error) if error.error_len().is_none() => return State::Text,
            Ok(Some(character)) => character,
            Ok(None) | Err(_) => REPLACEMENT,
        };
        *len = 0;
        self.text(character, shown)
    }

    fn text(&mut self, character: char, shown: &mut Vec<u8>) -> State {
        // For [`Plain`], a tab counts as a space, because both separate words.
        if !self.plain.admits(if character == '\t' { ' ' } else { character }) {
            return State::Text;
        }
        for _ in 0..mem::take(&mut self.blank_lines) {
            shown.push(b'\n');
        }
        self.in_line = true;
        shown.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
        State::Text
    }

    fn line_end(&mut self, shown: &mut Vec<u8>) -> State {
        self.plain = Plain::default();
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
            ("\u{9b}31mred \u{a0}ok Â ", "31mred \u{a0}ok Â "),
            ("\u{80}\u{9d}0;title\u{9c}\u{9f}", "0;title"),
            ("雛 has 0x9b in it 😀", "雛 has 0x9b in it 😀"),
            ("a\x07\x08\x00\x7f\rb", "ab"),
            ("a\n\n\n\n\nb\n\n\n", "a\n\n\nb\n"),
            ("\r\n\n", ""),
            ("\x1b[\x1b[1mx", "x"),
        ] {
            let filtered = Printable::default().filter(bytes.as_bytes());
            assert_eq!(String::from_utf8_lossy(&filtered), shown, "{bytes:?}");
        }
    }

    #[test]
    fn characters_that_hide_or_turn_text_around_go_and_scripts_and_emoji_stay() {
        for (bytes, shown) in [
            ("\u{202e}dlrow\u{202c} \u{2066}a\u{2069}\n", "dlrow a\n"),
            ("a\u{2028}b\u{2029}c\u{200b}\u{feff}\u{ad}d", "abcd"),
            ("a\u{e0041}\u{e007f}b", "ab"),
            // A line with only invisible characters is blank. A combining mark needs a letter in its own line.
            ("x\n\u{202e}\u{200b}\n\u{338}y", "x\n\ny"),
            ("a\t\u{fe0f}\u{200d}b", "a\tb"),
            (
                "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f} e\u{301}",
                "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f} e\u{301}",
            ),
        ] {
            let filtered = Printable::default().filter(bytes.as_bytes());
            assert_eq!(str::from_utf8(&filtered), Ok(shown), "{bytes:?}");
        }
    }

    #[test]
    fn no_byte_passes_that_is_no_character() {
        for (bytes, shown) in [
            (&b"\x9b31mred"[..], "\u{fffd}31mred"),
            (b"\x9d0;title\x9c", "\u{fffd}0;title\u{fffd}"),
            (b"caf\xe9 ol\xe9!", "caf\u{fffd} ol\u{fffd}!"),
            (b"\xc2\x1b[1mx", "\u{fffd}x"),
            (b"\xc2\xc2\x9bx", "\u{fffd}x"),
            (b"\xe2\x82\nx", "\u{fffd}\nx"),
            // These are overlong encodings, which a careless terminal would decode to U+009B.
            (b"\xc0\x9b", "\u{fffd}\u{fffd}"),
            (b"\xe0\x82\x9b", "\u{fffd}\u{fffd}"),
            (b"\xf0\x80\x82\x9bx", "\u{fffd}\u{fffd}\u{fffd}x"),
            (b"\xed\xa0\x80\xff", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            let filtered = Printable::default().filter(bytes);
            assert_eq!(str::from_utf8(&filtered), Ok(shown), "{}", bytes.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn no_control_passes_however_the_bytes_are_cut(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                any::<String>().prop_map(String::into_bytes),
            ],
            cut in 0..200_usize,
        ) {
            let whole = Printable::default().filter(&bytes);
            let text = str::from_utf8(&whole);
            let is_plain = |line: &str| rove_terminal::plain(line) == line;
            let parts = |text: &str| text.replace('\t', " ").lines().all(is_plain);
            prop_assert!(text.is_ok_and(parts));
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut filter = Printable::default();
            prop_assert_eq!([filter.filter(head), filter.filter(tail)].concat(), whole);
        }
    }
}
