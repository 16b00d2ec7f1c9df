//! Floods of output: their contents, and the markers before and after a flood.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use crate::scratch::Scratch;

/// The marker before a flood. It is a single character, because a frame may end between two characters.
pub const READY: &str = "\u{2600}";

/// The marker after a flood. When the user's terminal shows it, the flood has passed.
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
    /// Returns at least `len` bytes of this content. The last line or sequence is complete.
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

/// A program that waits for Return, prints a flood between [`READY`] and [`OVER`], and then waits.
#[derive(Debug)]
pub struct Flood {
    /// The folder with the flood's file. It can also serve as a home folder.
    pub scratch: Scratch,
    script: String,
    file: String,
}

impl Flood {
    /// Writes a flood of at least `bytes` bytes to a file, which the program will print.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the folder or the file cannot be created.
    pub fn new(load: Load, bytes: usize) -> Result<Self> {
        Self::in_file(Scratch::create()?, "flood", &load.bytes(bytes))
    }

    fn in_file(scratch: Scratch, name: &str, load: &[u8]) -> Result<Self> {
        let file = scratch.keep(name, load)?;
        let file = file.to_str().context("the temporary folder's name is no UTF-8")?.to_owned();
        // Because of `&&`, a file that cannot be read does not count as a very fast flood.
        let script = format!(
            "stty -echo; printf {READY}; read go; cat \"$1\" && printf '\\r\\n{OVER}'; read stay"
        );
        Ok(Self { scratch, script, file })
    }

    /// Returns the command that runs the program.
    pub fn command(&self) -> [&str; 5] {
        ["sh", "-c", &self.script, "sh", &self.file]
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_flood_has_all_bytes_between_its_markers_or_no_end() {
        let flood = Flood::in_file(Scratch::new(), "a $(flood)'s", b"load").expect("a file");
        let output = || {
            let [program, words @ ..] = flood.command();
            let pipe = "printf '\n\n' | \"$@\" 2>/dev/null";
            let mut shell = Command::new("sh");
            let output = shell.args(["-c", pipe, "sh", program]).args(words).output();
            String::from_utf8(output.expect("every system has a shell").stdout).expect("text")
        };
        assert_eq!(output(), format!("{READY}load\r\n{OVER}"));
        std::fs::remove_file(&flood.file).expect("it is there");
        assert_eq!(output(), READY);
    }

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
