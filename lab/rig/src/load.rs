//! Floods of output: what they are made of, and what stands before and after them.

use std::fmt::Write as _;

use anyhow::Result;

use crate::scratch::Scratch;

/// Printed when the program is ready for the flood. It is a single character, as a frame may end between two.
pub const READY: &str = "\u{2600}";

/// Printed after the flood: when it is on the user's terminal the flood is over.
pub const OVER: &str = "\u{2603}";

/// The content of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Lines of text.
    Plain,
    /// Colours and cursor moves.
    Escapes,
}

impl Load {
    /// Returns at least this many bytes of it, no line or sequence cut.
    pub fn bytes(self, len: usize) -> Vec<u8> {
        let mut text = String::with_capacity(len + 100);
        let mut number = 0_u32;
        while text.len() < len {
            number += 1;
            // Writing to a string cannot fail.
            let _ = match self {
                Self::Plain => {
                    writeln!(text, "{number:>8} the quick brown fox jumps over the lazy dog")
                }
                Self::Escapes => {
                    let (row, column, color) = (number % 24 + 1, number % 71 + 1, number % 256);
                    let digit = number % 10;
                    write!(text, "\x1b[{row};{column}H\x1b[38;5;{color}mword{digit}\x1b[0m")
                }
            };
        }
        text.into_bytes()
    }
}

/// A program that pours a load when Return is typed, between the two markers, and then stays.
#[derive(Debug)]
pub struct Flood {
    /// The folder that holds the load, which may be a home.
    pub scratch: Scratch,
    script: String,
}

impl Flood {
    /// Makes a load of at least this many bytes ready.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of a file.
    pub fn new(load: Load, bytes: usize) -> Result<Self> {
        let scratch = Scratch::create()?;
        let file = scratch.keep("flood", &load.bytes(bytes))?;
        let script = format!(
            "stty -echo; printf {READY}; read go; cat {}; printf '\\r\\n{OVER}'; read stay",
            file.display()
        );
        Ok(Self { scratch, script })
    }

    /// Returns the command that runs the program.
    pub fn command(&self) -> [&str; 3] {
        ["sh", "-c", &self.script]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_has_the_length_asked_for_and_holds_no_marker() {
        for load in [Load::Plain, Load::Escapes] {
            for len in [1, 100, 10_000] {
                let bytes = load.bytes(len);
                assert!((len..len + 100).contains(&bytes.len()), "{load:?}, {len}");
                assert!(bytes.is_ascii(), "{load:?} would be taken for the end");
            }
        }
    }
}
