//! Skips the output of start-up files that comes before the first line of the tunnel's end on the host.

use crate::tunnel::{MARK, NO_TUNNEL_PROGRAM};

/// Most bytes that a host may print before the first line of its tunnel's end, or of rove's command for a call without a
/// terminal. With more, the tunnel or that login fails. Chosen: several times the longest greeting with ASCII art.
pub const PREFACE_BYTES_MAX: usize = 1024 * 1024;

/// Most bytes kept of a line before the tunnel's frames; the rest of the line is ignored. Chosen: rove's own lines fit.
const LINE_BYTES_MAX: usize = 64;

/// Skips output up to [`MARK`], the first line of the tunnel's end on the host.
#[derive(Debug, Default)]
pub struct Banner {
    /// The first line of rove's command, with the challenge. Empty after its arrival. Earlier lines are ignored.
    first: String,
    line: Vec<u8>,
    read: usize,
}

/// The result of reading the output before a tunnel's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The first line of the tunnel's end has not arrived. All bytes were consumed.
    Nothing,
    /// The first line of the tunnel's end has arrived. The bytes that are left are frames.
    Mark,
    /// The host has no `rove` that could be the tunnel's end.
    NoProgram,
    /// More bytes have arrived than may precede a tunnel.
    TooMuch,
}

impl Banner {
    /// Creates a reader for the output of a command whose first line is `first`
    /// ([`remote::first_line`](crate::remote::first_line)). If `first` is empty, [`MARK`] is recognised from the start.
    pub fn after(first: String) -> Self {
        Self { first, ..Self::default() }
    }

    /// Removes bytes from the front of `bytes`, up to the end of the line that decides the result.
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
            if !self.first.is_empty() {
                if line == self.first.as_bytes() {
                    self.first.clear();
                }
            } else if line == MARK.as_bytes() {
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
        // Start-up files do not know the run's challenge.
        let mut banner = Banner::after("ROVE START 12".to_owned());
        let text = format!("{MARK}\nROVE START 11\n{NO_TUNNEL_PROGRAM}\n");
        assert_eq!(banner.read(&mut text.as_bytes()), Found::Nothing);
        let text = format!("ROVE START 12\n{MARK}\n");
        assert_eq!(banner.read(&mut text.as_bytes()), Found::Mark);
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
