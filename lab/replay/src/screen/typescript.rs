//! Recordings by `script`: a line that says how large the terminal was, the program's output, and a line at the end.

use std::io::{self, BufRead, BufReader, Read};

use anyhow::{Context, Result, bail};
use rove_terminal::Size;

/// How the first line begins.
const FIRST: &[u8] = b"Script started on ";
/// How the last line begins, after a line break of its own.
const LAST: &[u8] = b"\nScript done on ";

/// Longest first line of a typescript, in bytes. Chosen: it includes the command, which is rarely longer.
const FIRST_BYTES_MAX: usize = 64 * 1024;
/// Bytes held back to find the last line of a typescript. Chosen: four times what util-linux 2.38 writes.
const LAST_BYTES_MAX: usize = 512;

/// A reader of a typescript without its first and last line, which are not the program's.
#[derive(Debug)]
pub(super) struct Typescript<R> {
    input: BufReader<R>,
    /// The bytes read and not yet handed out. The last of them may belong to the typescript's last line.
    held: Vec<u8>,
    has_ended: bool,
}

impl<R: Read> Typescript<R> {
    /// Reads the first line, and returns the size of the terminal that it states.
    ///
    /// # Errors
    ///
    /// Returns an error if the line states no size, with advice, or if nothing can be read.
    pub(super) fn open(input: R) -> Result<(Size, Self)> {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        let limit = u64::try_from(FIRST_BYTES_MAX).expect("a small number");
        input
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut line)
            .context("cannot read standard input")?;
        if !line.starts_with(FIRST) {
            bail!(
                "the input does not say how large its terminal was, as the first line of a typescript does; \
                 say it with --size, as in --size 80x24"
            );
        }
        let Some(size) = size(&line) else {
            bail!(
                "the typescript's first line does not say how large the terminal was; say it with --size, \
                 as in --size 80x24"
            );
        };
        Ok((size, Self { input, held: Vec::new(), has_ended: false }))
    }
}

impl<R: Read> Read for Typescript<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.has_ended && self.held.len() <= LAST_BYTES_MAX {
            let more = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                more => more?,
            };
            let len = more.len();
            self.held.extend_from_slice(more);
            self.input.consume(len);
            if len == 0 {
                self.has_ended = true;
                drop_last_line(&mut self.held);
            }
        }
        let kept = if self.has_ended { 0 } else { LAST_BYTES_MAX };
        let len = buffer.len().min(self.held.len() - kept);
        buffer[..len].copy_from_slice(&self.held[..len]);
        self.held.drain(..len);
        Ok(len)
    }
}

/// Returns the size that a first line states. The command precedes the size in the line, and may contain any text.
fn size(line: &[u8]) -> Option<Size> {
    let line = String::from_utf8_lossy(line);
    let number = |name: &str| -> Option<i64> {
        let (_, value) = line.rsplit_once(name)?;
        value.split('"').next()?.parse().ok()
    };
    Size::new(number(" COLUMNS=\"")?, number(" LINES=\"")?).ok()
}

/// Drops the line that `script` itself wrote, if it is at the end of `held`.
fn drop_last_line(held: &mut Vec<u8>) {
    let Some(at) = held.windows(LAST.len()).rposition(|bytes| bytes == LAST) else { return };
    let is_whole_line =
        |line: &[u8]| line.iter().position(|byte| *byte == b'\n') == Some(line.len() - 1);
    if is_whole_line(&held[at + 1..]) {
        held.truncate(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_LINE: &str = "Script started on 2026-11-22 22:05:57+00:00 [COMMAND=\"vim\" \
                              TERM=\"xterm-256color\" TTY=\"/dev/pts/1\" COLUMNS=\"100\" LINES=\"30\"]\n";
    const LAST_LINE: &str =
        "\nScript done on 2026-11-22 22:06:12+00:00 [COMMAND_EXIT_CODE=\"0\"]\n";

    /// Returns what the program wrote, read in pieces of each length.
    #[track_caller]
    fn read(input: &str) -> String {
        let whole = |step: usize| {
            let (size, mut typescript) = Typescript::open(input.as_bytes()).unwrap();
            assert_eq!(size, Size::clamped(100, 30));
            let (mut text, mut piece) = (Vec::new(), vec![0; step]);
            loop {
                match typescript.read(&mut piece).unwrap() {
                    0 => return String::from_utf8(text).unwrap(),
                    len => text.extend_from_slice(&piece[..len]),
                }
            }
        };
        let texts = [1, 7, 512, 70_000].map(whole);
        assert!(texts.iter().all(|text| *text == texts[0]));
        let [text, ..] = texts;
        text
    }

    #[test]
    fn what_script_says_itself_is_left_out() {
        let long = "x".repeat(100_000);
        for text in ["", "ab\r\n", "a\nScript done on a file\n b", "\nScript done on", &long] {
            assert_eq!(read(&format!("{FIRST_LINE}{text}{LAST_LINE}")), text);
            assert_eq!(read(&format!("{FIRST_LINE}{text}")), text, "a session that goes on");
        }
    }

    #[test]
    fn the_size_stands_behind_the_command() {
        for (line, wanted) in [
            ("[TERM=\"xterm\" COLUMNS=\"80\" LINES=\"24\"]", Some((80, 24))),
            (
                "[COMMAND=\" COLUMNS=\"9\" LINES=\"9\"\" COLUMNS=\"80\" LINES=\"24\"]",
                Some((80, 24)),
            ),
            ("[TERM=\"xterm\" COLUMNS=\"-1\" LINES=\"-1\"]", None),
            ("[TERM=\"xterm\" COLUMNS=\"0\" LINES=\"24\"]", None),
            ("[TERM=\"xterm\" COLUMNS=\"4097\" LINES=\"24\"]", None),
            ("[TERM=\"xterm\" COLUMNS=\"80\"]", None),
            ("[COMMAND=\"ls\" <not executed on terminal>]", None),
            ("", None),
        ] {
            let line = format!("Script started on 2026-11-22 {line}\n");
            let wanted = wanted.map(|(columns, rows)| Size::clamped(columns, rows));
            assert_eq!(size(line.as_bytes()), wanted, "{line}");
        }
    }

    #[test]
    fn who_gives_no_size_is_told_to() {
        for (input, reason) in [
            ("", "the input does not say how large"),
            ("ls\r\n", "the input does not say how large"),
            ("Script started on a day\nls\r\n", "the typescript's first line does not say"),
        ] {
            let error = Typescript::open(input.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(reason) && error.contains("--size 80x24"), "{error}");
        }
        let endless = Typescript::open(io::repeat(b'x')).unwrap_err().to_string();
        assert!(endless.starts_with("the input does not say"), "{endless}");
    }
}
