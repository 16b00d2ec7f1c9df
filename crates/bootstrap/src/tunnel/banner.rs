//! Output of start-up files, which comes through ssh before the far end of a tunnel speaks.

use crate::tunnel::{MARK, NO_TUNNEL_PROGRAM};

/// Most bytes in front of the mark. Chosen: what the longest greeting with pictures in it has, several
/// times over; who prints without end is no far end.
const PREFACE_BYTES_MAX: usize = 1024 * 1024;

/// Longest beginning of a line that is looked at. Chosen: either of ours fits, with room.
const LINE_BYTES_MAX: usize = 64;

/// Reads up to the mark.
#[derive(Debug, Default)]
pub struct Banner {
    line: Vec<u8>,
    read: usize,
}

/// The far end's first words, as far as they have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Not the mark yet; all bytes were taken.
    Nothing,
    /// The mark; what is left of the bytes are frames.
    Mark,
    /// The host has no `rove`.
    NoProgram,
    /// More than a far end has in front of it.
    TooMuch,
}

impl Banner {
    /// Consumes bytes at the front of `bytes`, up to the end of a line that says something.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Found {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            self.read += 1;
            if self.read > PREFACE_BYTES_MAX {
                return Found::TooMuch;
            }
            if byte != b'\n' {
                if self.line.len() < LINE_BYTES_MAX {
                    self.line.push(byte);
                }
                continue;
            }
            let line = core::mem::take(&mut self.line);
            let line = line.trim_ascii_end();
            if line == MARK.as_bytes() {
                return Found::Mark;
            } else if line == NO_TUNNEL_PROGRAM.as_bytes() {
                return Found::NoProgram;
            }
        }
        Found::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_behind_anything_and_what_follows_is_left() {
        let text = format!("welcome\nto {MARK}\n{MARK} \r\n\0\0\x01x");
        for cut in 1..text.len() {
            let (mut banner, mut found) = (Banner::default(), Found::Nothing);
            let mut left = Vec::new();
            for piece in text.as_bytes().chunks(cut) {
                let mut rest = piece;
                if found == Found::Nothing {
                    found = banner.read(&mut rest);
                }
                left.extend(rest);
            }
            assert_eq!((found, left.as_slice()), (Found::Mark, &b"\0\0\x01x"[..]), "{cut}");
        }
        let text = format!("\n{NO_TUNNEL_PROGRAM}\n");
        assert_eq!(Banner::default().read(&mut text.as_bytes()), Found::NoProgram);
    }

    #[test]
    fn a_greeting_without_end_is_given_up_at_the_bound() {
        for (len, wanted) in [(0, Found::Mark), (1, Found::TooMuch)] {
            let greeting = vec![b'x'; PREFACE_BYTES_MAX - MARK.len() - 2 + len];
            let text = [&greeting, &b"\n"[..], MARK.as_bytes(), b"\n"].concat();
            let mut banner = Banner::default();
            assert_eq!(banner.read(&mut text.as_slice()), wanted);
            assert!(banner.line.capacity() <= 2 * LINE_BYTES_MAX);
        }
    }
}
