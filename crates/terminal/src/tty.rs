//! The settings of the pty's line discipline, by which the kernel itself acts on keys, and the report that a shell's
//! prompt reads the keys.

/// The number of a state of the user's input, counted alike by both ends of the session.
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

/// A set of modes of the pty's line discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TtyModes(u32);

impl TtyModes {
    /// The empty set of modes.
    pub const NONE: Self = Self(0);
    /// The kernel echoes typed characters (ECHO).
    pub const ECHO: Self = Self(1);
    /// Programs read whole lines, which the user edits in the line discipline (ICANON).
    pub const CANONICAL: Self = Self(1 << 1);
    /// The kernel echoes control characters as `^X` (ECHOCTL).
    pub const ECHO_CONTROL: Self = Self(1 << 2);
    /// Erasing a character removes it from the screen (ECHOE).
    pub const ECHO_ERASE: Self = Self(1 << 3);
    /// Erasing the line by its character (VKILL) echoes a new line (ECHOK).
    pub const ECHO_KILL: Self = Self(1 << 4);
    /// Erasing the line by its character (VKILL) removes it from the screen (ECHOKE).
    pub const ECHO_KILL_ERASE: Self = Self(1 << 5);
    /// The characters for interrupt, quit and suspend send signals (ISIG).
    pub const SIGNALS: Self = Self(1 << 6);
    /// The keys that erase a word, reprint the line or quote a character work (IEXTEN).
    pub const EXTENDED: Self = Self(1 << 7);
    /// Erasing removes a whole UTF-8 character (IUTF8).
    pub const UTF8: Self = Self(1 << 8);
    /// A typed carriage return counts as a new line (ICRNL).
    pub const RETURN_IS_NEW_LINE: Self = Self(1 << 9);
    /// A new line in the output becomes carriage return and line feed (OPOST with ONLCR).
    pub const NEW_LINE_RETURNS: Self = Self(1 << 10);
    /// The characters for stop and start halt the output and let it continue (IXON).
    pub const FLOW_CONTROL: Self = Self(1 << 11);
    /// All settings without a mode here are as in a new terminal of Linux, so that the modes determine the echo.
    pub const ORDINARY: Self = Self(1 << 12);

    /// The modes of a new terminal of Linux, with IUTF8.
    pub const USUAL: Self = Self((1 << 13) - 1);

    /// Creates a set from its bits; unknown bits are dropped.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::USUAL.0)
    }

    /// Returns the set as bits, for the wire.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether every mode in `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the modes of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The characters with a special effect in the line discipline; 0 for a character that is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtyCharacters {
    /// Character that erases the last character of the line (VERASE).
    pub erase: u8,
    /// Character that erases the line (VKILL).
    pub kill: u8,
    /// Character that erases the last word of the line (VWERASE).
    pub word_erase: u8,
    /// Character that makes the next one literal (VLNEXT).
    pub literal_next: u8,
    /// Character that prints the line again (VREPRINT).
    pub reprint: u8,
    /// Character that passes an unfinished line to the program; at the start of a line it ends the input (VEOF).
    pub end_of_file: u8,
    /// Character that ends a line, in addition to the new line (VEOL).
    pub end_of_line: u8,
    /// Second additional character that ends a line (VEOL2).
    pub end_of_line_2: u8,
    /// Character that interrupts the program with SIGINT (VINTR).
    pub interrupt: u8,
    /// Character that ends the program with SIGQUIT (VQUIT).
    pub quit: u8,
    /// Character that suspends the program with SIGTSTP (VSUSP).
    pub suspend: u8,
    /// Character that continues stopped output (VSTART).
    pub start: u8,
    /// Character that stops the output (VSTOP).
    pub stop: u8,
}

impl TtyCharacters {
    /// The number of special characters.
    pub const COUNT: usize = 13;

    /// The special characters of a new terminal of Linux.
    pub const USUAL: Self = Self {
        erase: 0x7f,
        kill: 0x15,
        word_erase: 0x17,
        literal_next: 0x16,
        reprint: 0x12,
        end_of_file: 0x04,
        end_of_line: 0,
        end_of_line_2: 0,
        interrupt: 0x03,
        quit: 0x1c,
        suspend: 0x1a,
        start: 0x11,
        stop: 0x13,
    };

    /// Creates the special characters from their bytes, in the order of the fields.
    pub const fn from_bytes(bytes: [u8; Self::COUNT]) -> Self {
        Self {
            erase: bytes[0],
            kill: bytes[1],
            word_erase: bytes[2],
            literal_next: bytes[3],
            reprint: bytes[4],
            end_of_file: bytes[5],
            end_of_line: bytes[6],
            end_of_line_2: bytes[7],
            interrupt: bytes[8],
            quit: bytes[9],
            suspend: bytes[10],
            start: bytes[11],
            stop: bytes[12],
        }
    }

    /// Returns the special characters as bytes, in the order of the fields.
    pub const fn to_bytes(self) -> [u8; Self::COUNT] {
        [
            self.erase,
            self.kill,
            self.word_erase,
            self.literal_next,
            self.reprint,
            self.end_of_file,
            self.end_of_line,
            self.end_of_line_2,
            self.interrupt,
            self.quit,
            self.suspend,
            self.start,
            self.stop,
        ]
    }
}

/// The modes and special characters of the pty on which the host's programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tty {
    /// The modes of the line discipline.
    pub modes: TtyModes,
    /// The special characters of the line discipline.
    pub characters: TtyCharacters,
    /// The newest input that the session's own shell had read completely when it waited at its prompt. `None` if the
    /// shell does not wait or the server cannot tell.
    pub prompt: Option<InputNum>,
}

impl Tty {
    /// The settings of a new terminal of Linux, with IUTF8.
    pub const USUAL: Self =
        Self { modes: TtyModes::USUAL, characters: TtyCharacters::USUAL, prompt: None };

    /// Returns whether the terminal hides typed lines: programs read lines and nothing is echoed.
    pub const fn hides_input(self) -> bool {
        self.modes.contains(TtyModes::CANONICAL) && !self.modes.contains(TtyModes::ECHO)
    }

    /// Returns whether the kernel echoes lines in a way that the modes determine.
    pub const fn echoes_lines(self) -> bool {
        const WANTED: TtyModes =
            TtyModes::ECHO.union(TtyModes::CANONICAL).union(TtyModes::ORDINARY);
        self.modes.contains(WANTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        let bytes = core::array::from_fn(|index| u8::try_from(index).unwrap());
        let characters = TtyCharacters::from_bytes(bytes);
        assert_eq!(characters.to_bytes(), bytes);
        assert_eq!((characters.erase, characters.word_erase, characters.stop), (0, 2, 12));
    }

    #[test]
    fn bits_without_a_meaning_are_left_out() {
        assert_eq!(TtyModes::from_bits(u32::MAX), TtyModes::USUAL);
        assert_eq!(TtyModes::from_bits(1 << 13), TtyModes::NONE);
    }

    #[test]
    fn lines_without_echo_are_secret_and_raw_input_is_not() {
        let without = |modes| Tty { modes: TtyModes::USUAL.without(modes), ..Tty::USUAL };
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
