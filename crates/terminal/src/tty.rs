//! The settings of the pty's line discipline, which decide how the host's kernel reacts to keys. The server adds
//! whether the session's shell, or a program of this shell, waits at its prompt.

use bitflags::bitflags;

/// The number of a state of the user stream (all input so far). Both ends of the session use the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputNum(u64);

impl InputNum {
    /// Creates the number of an input state.
    pub const fn new(num: u64) -> Self {
        Self(num)
    }

    /// Returns the number as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of the next input state.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

bitflags! {
    /// A set of modes of the pty's line discipline.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TtyModes: u32 {
        /// The kernel echoes typed characters (ECHO).
        const ECHO = 1;
        /// Programs read whole lines, which the user edits in the line discipline (ICANON).
        const CANONICAL = 1 << 1;
        /// The kernel echoes control characters as `^X` (ECHOCTL).
        const ECHO_CONTROL = 1 << 2;
        /// Erasing a character removes it from the screen (ECHOE).
        const ECHO_ERASE = 1 << 3;
        /// The character that erases the line (VKILL) echoes a new line (ECHOK).
        const ECHO_KILL = 1 << 4;
        /// The character that erases the line (VKILL) removes the line from the screen (ECHOKE).
        const ECHO_KILL_ERASE = 1 << 5;
        /// The characters for interrupt, quit and suspend send signals (ISIG).
        const SIGNALS = 1 << 6;
        /// The keys that erase a word, reprint the line or quote a character work (IEXTEN).
        const EXTENDED = 1 << 7;
        /// Erasing removes a whole UTF-8 character (IUTF8).
        const UTF8 = 1 << 8;
        /// A typed carriage return becomes a new line (ICRNL).
        const RETURN_IS_NEW_LINE = 1 << 9;
        /// A new line in the output becomes carriage return and line feed (OPOST with ONLCR).
        const NEW_LINE_RETURNS = 1 << 10;
        /// The characters for stop and start halt and continue the output (IXON).
        const FLOW_CONTROL = 1 << 11;
        /// The echo of text and of the erase character (VERASE) depends only on the other modes of this set. Linux,
        /// macOS and FreeBSD agree on this echo, and differ in the other editing keys.
        const ORDINARY = 1 << 12;
    }
}

impl TtyModes {
    /// The modes of a new terminal of Linux, with IUTF8.
    pub const USUAL: Self = Self::all();
}

/// The characters with a special effect in the line discipline. 0 stands for a disabled character.
///
/// Their order is also the order on the wire: VERASE, VKILL, VWERASE, VLNEXT, VREPRINT, VEOF, VEOL, VEOL2, VINTR,
/// VQUIT, VSUSP, VSTART, VSTOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtyCharacters(pub [u8; Self::COUNT]);

impl TtyCharacters {
    /// The number of special characters.
    pub const COUNT: usize = 13;

    /// The special characters of a new terminal of Linux.
    pub const USUAL: Self =
        Self([0x7f, 0x15, 0x17, 0x16, 0x12, 0x04, 0, 0, 0x03, 0x1c, 0x1a, 0x11, 0x13]);

    /// Returns the character (VERASE) that erases the last character of the line.
    pub const fn erase(self) -> u8 {
        self.0[0]
    }
}

/// The modes and special characters of the pty on which the host's programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tty {
    /// The modes of the line discipline.
    pub modes: TtyModes,
    /// The special characters of the line discipline.
    pub characters: TtyCharacters,
    /// The newest input that the shell or program at the prompt had read completely when it began to wait. `None` if
    /// neither the session's shell nor a program of this shell waits, or if the server cannot tell.
    pub prompt: Option<InputNum>,
}

impl Tty {
    /// The settings of a new terminal of Linux, with IUTF8.
    pub const USUAL: Self =
        Self { modes: TtyModes::USUAL, characters: TtyCharacters::USUAL, prompt: None };

    /// Returns whether the terminal hides typed lines, because programs read whole lines and nothing is echoed.
    pub const fn hides_input(self) -> bool {
        self.modes.contains(TtyModes::CANONICAL) && !self.modes.contains(TtyModes::ECHO)
    }

    /// Returns whether the kernel echoes the lines that programs read, and only the modes influence this echo.
    pub const fn echoes_lines(self) -> bool {
        const WANTED: TtyModes =
            TtyModes::ECHO.union(TtyModes::CANONICAL).union(TtyModes::ORDINARY);
        self.modes.contains(WANTED)
    }

    /// Returns whether a typed character has no special effect in a line that the kernel echoes.
    pub fn is_plain(self, c: char) -> bool {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        !bytes.iter().any(|byte| self.characters.0.contains(byte))
    }

    /// Returns whether the Backspace key erases a narrow character from the line and from the screen.
    pub const fn erases_with_backspace(self) -> bool {
        self.modes.contains(TtyModes::ECHO_ERASE) && self.characters.erase() == 0x7f
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_without_a_meaning_are_left_out() {
        assert_eq!(TtyModes::from_bits_truncate(u32::MAX), TtyModes::USUAL);
        assert_eq!(TtyModes::from_bits_truncate(1 << 13), TtyModes::empty());
    }

    #[test]
    fn the_special_characters_tell_which_keys_edit_a_line() {
        let mut tty = Tty::USUAL;
        assert!(tty.erases_with_backspace() && tty.is_plain('@') && tty.is_plain('\u{6f22}'));
        tty.characters.0[1] = b'@';
        assert!(!tty.is_plain('@') && tty.is_plain('a') && tty.erases_with_backspace());
        let without = TtyModes::USUAL.difference(TtyModes::ECHO_ERASE);
        assert!(!Tty { modes: without, ..tty }.erases_with_backspace());
        tty.characters.0[0] = 8;
        assert!(!tty.erases_with_backspace());
    }

    #[test]
    fn lines_without_echo_are_secret_and_raw_input_is_not() {
        let without = |modes| Tty { modes: TtyModes::USUAL.difference(modes), ..Tty::USUAL };
        let raw = TtyModes::ECHO.union(TtyModes::CANONICAL);
        for (tty, hides, echoes) in [
            (Tty::USUAL, false, true),
            (without(TtyModes::ECHO), true, false),
            (without(TtyModes::CANONICAL), false, false),
            (without(raw), false, false),
            (without(TtyModes::ORDINARY), false, false),
        ] {
            assert_eq!((tty.hides_input(), tty.echoes_lines()), (hides, echoes), "{tty:?}");
        }
    }
}
