//! What the kernel echoes for each byte that is typed while it lets the user edit a line.
//!
//! The rules are those of Linux. `beside_linux` types random bytes at a real terminal and at this one, in
//! random modes.

use crate::tty::{Tty, TtyModes};

/// Longest line that is followed; beyond it nothing is known. Chosen: well below the 4095 bytes that Linux
/// keeps of a line, at which the rules change.
const LINE_BYTES_MAX: usize = 2048;

/// What became of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The kernel has echoed it, or does not echo it, and that is all.
    Echoed,
    /// As before, and a program has been given a line, an end of input or a signal: what comes next is up
    /// to it.
    HandedOver,
    /// It cannot be told.
    Unknown,
}

/// The kernel's part of a terminal in canonical mode with echo.
#[derive(Clone, Debug)]
pub(crate) struct Discipline {
    tty: Tty,
    /// The unfinished line, as far as it is known.
    line: Vec<u8>,
    /// Whether it is known from its start.
    is_whole: bool,
    /// Whether the next byte is taken as it is.
    is_quoting: bool,
}

impl Discipline {
    /// Creates a line discipline, of which the unfinished line is not known.
    pub(crate) const fn new(tty: Tty) -> Self {
        Self { tty, line: Vec::new(), is_whole: false, is_quoting: false }
    }

    /// Takes a byte, and appends what the kernel writes to the terminal for it.
    pub(crate) fn type_byte(&mut self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        if self.line.len() >= LINE_BYTES_MAX {
            self.forget();
            return Answer::Unknown;
        }
        if core::mem::take(&mut self.is_quoting) {
            return self.append(byte, echo);
        }
        let characters = self.tty.characters;
        let is = |special: u8| special != 0 && byte == special;
        if self.has(TtyModes::FLOW_CONTROL) && (is(characters.start) || is(characters.stop)) {
            // What is echoed while the output stands still is seen when it goes on.
            return if is(characters.start) { Answer::Echoed } else { Answer::Unknown };
        }
        let signals = [characters.interrupt, characters.quit, characters.suspend];
        if self.has(TtyModes::SIGNALS) && signals.into_iter().any(is) {
            return self.hand_over_with(byte, echo);
        }
        let byte = match byte {
            b'\r' if self.has(TtyModes::RETURN_IS_NEW_LINE) => b'\n',
            byte => byte,
        };
        self.type_translated(byte, echo)
    }

    /// Takes a byte that is neither quoted nor for flow control nor a signal.
    fn type_translated(&mut self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        let characters = self.tty.characters;
        let is = |special: u8| special != 0 && byte == special;
        let is_extended = self.has(TtyModes::EXTENDED);
        if is(characters.erase) {
            self.erase(Erase::Character, echo)
        } else if is(characters.kill) {
            self.kill(echo)
        } else if is_extended && is(characters.word_erase) {
            self.erase(Erase::Word, echo)
        } else if is_extended && is(characters.literal_next) {
            self.is_quoting = true;
            if self.has(TtyModes::ECHO_CONTROL) {
                echo.extend(b"^\x08");
            }
            Answer::Echoed
        } else if is_extended && is(characters.reprint) {
            self.reprint(byte, echo)
        } else if byte == b'\n' {
            self.new_line(echo);
            self.hand_over()
        } else if is(characters.end_of_file) {
            self.hand_over()
        } else if is(characters.end_of_line) || (is_extended && is(characters.end_of_line_2)) {
            self.hand_over_with(byte, echo)
        } else {
            self.append(byte, echo)
        }
    }

    fn has(&self, mode: TtyModes) -> bool {
        self.tty.modes.contains(mode)
    }

    fn append(&mut self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        self.line.push(byte);
        self.echo(byte, echo)
    }

    /// Writes a byte as it is echoed.
    fn echo(&self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        if !byte.is_ascii_control() || byte == b'\t' {
            echo.push(byte);
        } else if self.has(TtyModes::ECHO_CONTROL) {
            echo.extend([b'^', byte ^ 0x40]);
        } else {
            // The terminal obeys it.
            return Answer::Unknown;
        }
        Answer::Echoed
    }

    fn new_line(&self, echo: &mut Vec<u8>) {
        let returns = self.has(TtyModes::NEW_LINE_RETURNS);
        echo.extend(if returns { &b"\r\n"[..] } else { b"\n" });
    }

    fn hand_over(&mut self) -> Answer {
        self.line.clear();
        self.is_whole = true;
        Answer::HandedOver
    }

    fn hand_over_with(&mut self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        match self.echo(byte, echo) {
            Answer::Echoed => self.hand_over(),
            other => {
                self.hand_over();
                other
            }
        }
    }

    /// Notes that the line is not known any more.
    fn forget(&mut self) {
        self.line.clear();
        self.is_whole = false;
        self.is_quoting = false;
    }

    fn kill(&mut self, echo: &mut Vec<u8>) -> Answer {
        let erases =
            TtyModes::ECHO_KILL.union(TtyModes::ECHO_KILL_ERASE).union(TtyModes::ECHO_ERASE);
        if self.has(erases) {
            return self.erase(Erase::Line, echo);
        }
        if self.line.is_empty() {
            return if self.is_whole { Answer::Echoed } else { Answer::Unknown };
        }
        self.line.clear();
        let answer = self.echo(self.tty.characters.kill, echo);
        if self.has(TtyModes::ECHO_KILL) {
            self.new_line(echo);
        }
        self.is_whole = true;
        answer
    }

    fn erase(&mut self, what: Erase, echo: &mut Vec<u8>) -> Answer {
        let mut has_met_word = false;
        while let Some((start, first)) = self.last_character() {
            if what == Erase::Word {
                if is_word(first) {
                    has_met_word = true;
                } else if has_met_word {
                    return Answer::Echoed;
                }
            }
            self.line.truncate(start);
            if self.echo_erased(first, what, echo) == Answer::Unknown {
                self.forget();
                return Answer::Unknown;
            }
            if what == Erase::Character {
                return Answer::Echoed;
            }
        }
        // There may be more of the line, and what is erased of that is not known.
        if self.is_whole { Answer::Echoed } else { Answer::Unknown }
    }

    /// Returns where the last character of the line begins and with which byte; `None` where there is none,
    /// or only a part of one, which the kernel leaves alone.
    fn last_character(&self) -> Option<(usize, u8)> {
        let is_first = |byte: &u8| !(self.has(TtyModes::UTF8) && is_continuation(*byte));
        let start = self.line.iter().rposition(is_first)?;
        Some((start, *self.line.get(start)?))
    }

    /// Shows that a character that began with this byte is gone from the end of the line.
    fn echo_erased(&self, first: u8, what: Erase, echo: &mut Vec<u8>) -> Answer {
        const GONE: &[u8] = b"\x08 \x08";
        let shows_control = self.has(TtyModes::ECHO_CONTROL);
        if what == Erase::Character && !self.has(TtyModes::ECHO_ERASE) {
            return self.echo(self.tty.characters.erase, echo);
        }
        if first == b'\t' {
            let Some(columns) = self.tab_columns() else { return Answer::Unknown };
            echo.extend(core::iter::repeat_n(0x08, columns));
            return Answer::Echoed;
        }
        if first.is_ascii_control() && shows_control {
            echo.extend(GONE);
        }
        if !first.is_ascii_control() || shows_control {
            echo.extend(GONE);
        }
        Answer::Echoed
    }

    /// Returns how many columns a tab at the end of the line takes by the kernel's reckoning; `None` where it
    /// reckons from the start of the line, whose column it takes from all that was ever written.
    fn tab_columns(&self) -> Option<usize> {
        let after = self.line.iter().rposition(|byte| *byte == b'\t')? + 1;
        let columns: usize = self.line[after..].iter().map(|byte| self.columns(*byte)).sum();
        Some(8 - columns % 8)
    }

    fn columns(&self, byte: u8) -> usize {
        if byte.is_ascii_control() {
            return if self.has(TtyModes::ECHO_CONTROL) { 2 } else { 0 };
        }
        usize::from(!(self.has(TtyModes::UTF8) && is_continuation(byte)))
    }

    fn reprint(&self, byte: u8, echo: &mut Vec<u8>) -> Answer {
        if !self.is_whole || self.echo(byte, echo) == Answer::Unknown {
            return Answer::Unknown;
        }
        self.new_line(echo);
        let unknown = self.line.iter().any(|byte| self.echo(*byte, echo) == Answer::Unknown);
        if unknown { Answer::Unknown } else { Answer::Echoed }
    }
}

/// What is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Erase {
    Character,
    Word,
    Line,
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns whether the kernel, which knows Latin 1 only, takes a character that begins with this byte for a
/// part of a word.
const fn is_word(first: u8) -> bool {
    first.is_ascii_alphanumeric()
        || first == b'_'
        || (first >= 0xc0 && first != 0xd7 && first != 0xf7)
}

#[cfg(all(test, target_os = "linux"))]
mod beside_linux;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tty::TtyCharacters;

    /// Returns what is echoed for these bytes behind a new line, and the last answer.
    fn typed(tty: Tty, bytes: &[u8]) -> (String, Answer) {
        let mut discipline = Discipline::new(tty);
        assert_eq!(discipline.type_byte(b'\n', &mut Vec::new()), Answer::HandedOver);
        let (mut echo, mut answer) = (Vec::new(), Answer::Echoed);
        for byte in bytes {
            answer = discipline.type_byte(*byte, &mut echo);
        }
        (String::from_utf8_lossy(&echo).into_owned(), answer)
    }

    fn without(modes: TtyModes) -> Tty {
        Tty { modes: TtyModes::USUAL.without(modes), ..Tty::USUAL }
    }

    #[test]
    fn a_line_is_edited_as_the_kernel_does() {
        for (bytes, echo) in [
            ("ab", "ab"),
            ("ab\x7f", "ab\x08 \x08"),
            ("\x7f", ""),
            ("é\x7f", "é\x08 \x08"),
            ("日\x7f", "日\x08 \x08"),
            ("\x01\x7f", "^A\x08 \x08\x08 \x08"),
            ("a b\x17", "a b\x08 \x08"),
            ("a b  \x17", "a b  \x08 \x08\x08 \x08\x08 \x08"),
            ("ab\x15", "ab\x08 \x08\x08 \x08"),
            ("\t\t\x7f", "\t\t\x08\x08\x08\x08\x08\x08\x08\x08"),
            ("\tab\tc\x7f\x7f", "\tab\tc\x08 \x08\x08\x08\x08\x08\x08\x08"),
            ("\x16\x03", "^\x08^C"),
            ("\x16\r", "^\x08^M"),
            ("a\x12", "a^R\r\na"),
            ("\x1b[A", "^[[A"),
            ("\0", "^@"),
        ] {
            assert_eq!(
                typed(Tty::USUAL, bytes.as_bytes()),
                (echo.into(), Answer::Echoed),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn what_a_program_is_given_is_handed_over() {
        for (bytes, echo) in
            [("a\r", "a\r\n"), ("a\n", "a\r\n"), ("a\x04", "a"), ("a\x03", "a^C"), ("\x1a", "^Z")]
        {
            assert_eq!(
                typed(Tty::USUAL, bytes.as_bytes()),
                (echo.into(), Answer::HandedOver),
                "{bytes:?}"
            );
        }
        let characters =
            TtyCharacters { end_of_line: b'!', end_of_line_2: b'?', ..TtyCharacters::USUAL };
        for bytes in [b"!", b"?"] {
            let tty = Tty { characters, ..Tty::USUAL };
            assert_eq!(typed(tty, bytes).1, Answer::HandedOver);
        }
    }

    #[test]
    fn modes_that_are_off_change_the_echo() {
        for (missing, bytes, echo, answer) in [
            (TtyModes::ECHO_ERASE, "a\x7f", "a^?", Answer::Echoed),
            (TtyModes::ECHO_KILL_ERASE, "a\x15", "a^U\r\n", Answer::Echoed),
            (TtyModes::ECHO_KILL, "a\x15", "a^U", Answer::Echoed),
            (TtyModes::UTF8, "é\x7f", "é\x08 \x08", Answer::Echoed),
            (TtyModes::SIGNALS, "\x03", "^C", Answer::Echoed),
            (TtyModes::EXTENDED, "a\x17", "a^W", Answer::Echoed),
            (TtyModes::RETURN_IS_NEW_LINE, "\r", "^M", Answer::Echoed),
            (TtyModes::NEW_LINE_RETURNS, "\n", "\n", Answer::HandedOver),
            (TtyModes::FLOW_CONTROL, "\x13", "^S", Answer::Echoed),
            (TtyModes::ECHO_CONTROL, "\x01", "", Answer::Unknown),
        ] {
            assert_eq!(
                typed(without(missing), bytes.as_bytes()),
                (echo.into(), answer),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(typed(Tty::USUAL, b"a\t\x7f").1, Answer::Unknown, "the kernel's own column");
        for bytes in [&b"\x7f"[..], b"a\x7f\x7f", b"a\x17", b"a\x15", b"\x12", b"\x13"] {
            let mut discipline = Discipline::new(Tty::USUAL);
            let answer = bytes
                .iter()
                .fold(Answer::Echoed, |_, byte| discipline.type_byte(*byte, &mut Vec::new()));
            assert_eq!(answer, Answer::Unknown, "{bytes:?}");
        }
    }

    #[test]
    fn a_line_is_followed_so_far_and_no_farther() {
        let mut discipline = Discipline::new(Tty::USUAL);
        let mut echo = Vec::new();
        for _ in 0..LINE_BYTES_MAX {
            assert_eq!(discipline.type_byte(b'x', &mut echo), Answer::Echoed);
        }
        assert_eq!(discipline.type_byte(b'x', &mut echo), Answer::Unknown);
        assert_eq!(discipline.line.len(), 0);
    }
}
