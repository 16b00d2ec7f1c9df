//! Finds the actions in a stream of bytes, for code that observes the stream without being a terminal.

use crate::parse::{Parser, Perform, Sequence, Terminator};

/// The action of a terminal on a part of a byte stream. Strings (OSC, DCS) cause no action, except for a final `ESC \`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A printed character.
    Print(char),
    /// A C0 or C1 control character. Includes DEL, although terminals ignore it.
    Execute(char),
    /// An escape sequence, except a control sequence and the 7-bit form of a C1 control ([`Action::Execute`]).
    Escape,
    /// A control sequence with this final byte and any parameters.
    Csi(u8),
}

/// Finds the actions in bytes that arrive in any pieces. Strings have the same maximum length as in a terminal.
#[derive(Clone, Debug, Default)]
pub struct ActionReader {
    parser: Parser,
}

impl ActionReader {
    /// Reads a byte. Appends the actions that the byte completes to `actions`: up to two, or none.
    pub fn read(&mut self, byte: u8, actions: &mut Vec<Action>) {
        let (in_text, in_escape) = (self.parser.is_in_text(), self.parser.is_in_escape());
        self.parser.advance(&[byte], &mut Outline(actions));
        match byte {
            0x7f if in_text => actions.push(Action::Execute('\x7f')),
            // The parser does not report `ESC \`, with or without a string before it.
            b'\\' if in_escape => actions.push(Action::Escape),
            _ => {}
        }
    }
}

struct Outline<'a>(&'a mut Vec<Action>);

impl Perform for Outline<'_> {
    fn print_ascii(&mut self, text: &[u8]) {
        self.0.extend(text.iter().map(|byte| Action::Print(char::from(*byte))));
    }

    fn print(&mut self, text: &str) {
        self.0.extend(text.chars().map(Action::Print));
    }

    fn execute(&mut self, control: char) {
        self.0.push(Action::Execute(control));
    }

    fn escape(&mut self, _: &[u8], _: u8) {
        self.0.push(Action::Escape);
    }

    fn csi(&mut self, sequence: &Sequence<'_>) {
        self.0.push(Action::Csi(sequence.last));
    }

    fn osc(&mut self, _: &str, _: bool, _: Terminator) {}

    fn dcs(&mut self, _: &Sequence<'_>, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::Action::{Csi, Escape, Execute, Print};
    use super::*;

    #[test]
    fn bytes_are_told_in_outline() {
        for (bytes, expected) in [
            (&b"a\r"[..], &[Print('a'), Execute('\r')][..]),
            ("\u{e9}\u{4e00}".as_bytes(), &[Print('\u{e9}'), Print('\u{4e00}')]),
            (b"\x7f\x08\x18", &[Execute('\x7f'), Execute('\x08'), Execute('\x18')]),
            (b"\xc3\x7f", &[Print('\u{fffd}'), Execute('\x7f')]),
            (b"\x1b[C\x1b[1;5D\x1b[3~", &[Csi(b'C'), Csi(b'D'), Csi(b'~')]),
            (b"\x1b[1\x7fC", &[Csi(b'C')]),
            (b"\x1bb\x1b(B", &[Escape, Escape]),
            (b"\x1bD\x1b\\x", &[Execute('\u{84}'), Escape, Print('x')]),
            (b"\x1b]2;title\x7f\x07x", &[Print('x')]),
            (b"\x1b]2;title\x1b\\x", &[Escape, Print('x')]),
            (b"\x1b[", &[]),
        ] {
            let (mut reader, mut actions) = (ActionReader::default(), Vec::new());
            bytes.iter().for_each(|byte| reader.read(*byte, &mut actions));
            assert_eq!(actions, expected, "{}", bytes.escape_ascii());
        }
    }
}
