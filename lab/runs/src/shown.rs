//! Standard output and standard error, as commands write to them.
//!
//! Scenarios, recordings, tables and priors come from strangers. Commands show their texts and names in output and
//! errors. This module escapes all output, so that no text can control the terminal.

use std::io::{self, Stderr, StdoutLock, Write};

use anyhow::anyhow;
use rove_terminal::escaped;

/// A writer for somebody's terminal that escapes each line by [`escaped`]. JSON keeps its meaning.
#[derive(Debug)]
pub struct Shown<W: Write> {
    output: W,
    /// The beginning of a line whose end is still to come.
    line: Vec<u8>,
}

/// Returns standard output, for text and JSON.
pub fn stdout() -> Shown<StdoutLock<'static>> {
    Shown::new(io::stdout().lock())
}

/// Returns standard error, for whole lines.
pub fn stderr() -> Shown<Stderr> {
    Shown::new(io::stderr())
}

/// Returns a sentence about an I/O error of standard output.
pub fn refused(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            anyhow!("standard output was closed by its reader before everything was written")
        }
        _ => anyhow!(error).context("cannot write standard output"),
    }
}

/// Explains an I/O error of standard output in a sentence.
///
/// # Errors
///
/// Returns the error of `result`, explained in a sentence.
pub fn written(result: io::Result<()>) -> anyhow::Result<()> {
    result.map_err(refused)
}

impl<W: Write> Shown<W> {
    fn new(output: W) -> Self {
        Self { output, line: Vec::new() }
    }

    /// Writes the gathered part of a line, escaped.
    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.output.write_all(escaped(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            self.write_line()?;
            self.output.write_all(b"\n")?;
            rest = &rest[end + 1..];
        }
        self.line.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.output.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // A flush fails only if the reader has gone.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_alike_however_it_is_cut() {
        let text = "a\u{9b}31m\u{e9}\r\n\u{202e}b\n\u{1f469}\u{200d}\u{1f4bb}\u{1b}c";
        let expected = "a\\u009b31m\u{e9}\\u000d\n\\u202eb\n\u{1f469}\u{200d}\u{1f4bb}\\u001bc";
        for size in 1..=text.len() {
            let mut output = Vec::new();
            let mut shown = Shown::new(&mut output);
            text.as_bytes().chunks(size).for_each(|part| shown.write_all(part).expect("memory"));
            drop(shown);
            assert_eq!(String::from_utf8(output).expect("UTF-8"), expected, "in parts of {size}");
        }
    }
}
