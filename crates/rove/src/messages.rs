//! Prints sentences for the user, each in a single write. Otherwise the output of a host's start-up files could appear
//! within a sentence of the host's rove, because ssh mixes both outputs.

use std::io::{self, Write};
use std::os::fd::AsFd;

use rove_platform::tty;
use rove_terminal::char_width;

/// Prints a sentence on standard error, after the program's name (`speaker`).
pub(crate) fn warn(speaker: &str, sentence: &str) {
    say(io::stderr(), &wrapped_for(&io::stderr(), speaker, &format!("{speaker}: {sentence}")));
}

/// Breaks the lines of a text between words, if the stream is a terminal. Under Mosh's names the text stays as it is.
pub(crate) fn wrapped_for(stream: &impl AsFd, speaker: &str, text: &str) -> String {
    let is_ours = speaker.split(' ').next() == Some("rove");
    if is_ours { wrapped(text, columns(stream)) } else { text.to_owned() }
}

/// Returns the number of columns of a terminal, or `usize::MAX` if the stream is no terminal.
pub(crate) fn columns(stream: &impl AsFd) -> usize {
    tty::window_size(stream.as_fd()).map_or(usize::MAX, |size| usize::from(size.columns()))
}

/// The beginnings of a sentence that a rove on another computer prints on the error stream.
const FAR_SPEAKERS: [&[u8]; 2] = [b"rove ", b"rove: "];
/// Longest sentence of another computer's rove that is broken into lines, in bytes. Chosen: a screen.
const FAR_LINE_MAX: usize = 2000;

/// Breaks sentences of another computer's rove between words. Bytes may arrive in any pieces. Lines of other programs
/// pass unchanged and without delay.
#[derive(Debug, Default)]
pub(crate) struct FarLines {
    /// The bytes so far of a line that may be a sentence of a rove on another computer.
    line: Vec<u8>,
    /// Whether the current line is another program's, so that its bytes pass at once.
    is_other: bool,
    /// Whether all lines are sentences of that rove, whatever their beginnings.
    are_all_ours: bool,
}

impl FarLines {
    /// Returns a value for the standard output of a rove command, which has only sentences of that rove.
    pub(crate) fn of_rove() -> Self {
        Self { are_all_ours: true, ..Self::default() }
    }

    /// Adds `bytes`, and returns the text to show on a terminal of this width. An incomplete sentence is held back.
    pub(crate) fn filter(&mut self, columns: usize, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.line.push(byte);
            let is_said_by =
                |it: &&[u8]| self.line.iter().zip(*it).all(|(have, want)| have == want);
            let begins = self.are_all_ours || FAR_SPEAKERS.iter().any(is_said_by);
            let may_be_ours = begins && !self.is_other && self.line.len() <= FAR_LINE_MAX;
            if byte == b'\n' && may_be_ours {
                shown.extend(wrapped(&String::from_utf8_lossy(&self.finish()), columns).bytes());
            } else if byte == b'\n' || !may_be_ours {
                self.is_other = byte != b'\n';
                shown.append(&mut self.line);
            }
        }
        shown
    }

    /// Returns the bytes that are held back. Call this at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.line)
    }
}

/// Returns the standard library's text for an error, without its number and the words for a failed lookup.
pub(crate) fn reason(error: &str) -> String {
    let text = error.split(" (os error").next().unwrap_or(error);
    text.replace("failed to lookup address information: ", "")
}

/// Breaks each line that is longer than `columns` at blanks.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let width = |word: &str| word.chars().map(|c| usize::from(char_width(c))).sum::<usize>();
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        for (number, word) in line.split(' ').enumerate() {
            let (is_first, width) = (number == 0, width(word));
            let is_over = !is_first && column > 0 && column + 1 + width > columns;
            if is_first || is_over {
                column = 0;
            } else {
                column += 1;
            }
            column += width;
            out.push_str(match (is_first, is_over) {
                (true, _) => "",
                (_, true) => "\n",
                _ => " ",
            });
            out.push_str(word);
        }
    }
    out
}

/// Prints a text with exactly one line break at its end.
pub(crate) fn say(stream: impl Write, text: &str) {
    // An error is ignored, because the reader may be gone.
    let _ = print(stream, text);
}

/// Prints a text with exactly one line break at its end.
///
/// # Errors
///
/// Returns the error of the write.
pub(crate) fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    let text = format!("{}\n", text.trim_end_matches('\n'));
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Returns a JSON text that is safe to show on a terminal. JSON escapes replace control characters and characters that
/// hide or reorder text.
pub(crate) fn escaped(json: &str) -> String {
    let lines: Vec<_> = json.split('\n').map(rove_terminal::escaped).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A stream that stores the text of each write.
    struct Pipe<'a>(&'a mut Vec<String>);

    impl Write for Pipe<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_sentence_is_one_write() {
        let mut writes = Vec::new();
        for text in ["rove kill: nothing to end", "two\nlines\n"] {
            say(Pipe(&mut writes), text);
        }
        assert_eq!(writes, ["rove kill: nothing to end\n", "two\nlines\n"]);
    }

    #[test]
    fn lines_end_between_words() {
        for (text, columns, lines) in [
            ("one two three", 13, "one two three"),
            ("one two three", 12, "one two\nthree"),
            ("one two three", 7, "one two\nthree"),
            ("one two three", 6, "one\ntwo\nthree"),
            ("one two three", 1, "one\ntwo\nthree"),
            ("\u{6f22}\u{5b57} x", 5, "\u{6f22}\u{5b57}\nx"),
            ("  indented text\nnext one", 10, "  indented\ntext\nnext one"),
            ("", 5, ""),
        ] {
            assert_eq!(wrapped(text, columns), lines, "{text:?} in {columns} columns");
        }
    }

    #[test]
    fn sentences_of_another_rove_are_broken_however_they_come() {
        for (said, shown) in [
            ("rove kill: one two\r\nx", "rove kill:\none two\r\nx"),
            ("rove: one two three\nrove", "rove: one\ntwo three\nrove"),
            ("rover kill: one two\n", "rover kill: one two\n"),
            ("me: rove kill: one two\nrove list: one", "me: rove kill: one two\nrove list: one"),
        ] {
            for piece in [1, 3, 100] {
                let mut lines = FarLines::default();
                let pieces = said.as_bytes().chunks(piece);
                let mut found: Vec<u8> = pieces.flat_map(|it| lines.filter(12, it)).collect();
                found.extend(lines.finish());
                assert_eq!(String::from_utf8(found).unwrap(), shown, "{piece}");
            }
        }
        let mut lines = FarLines::of_rove();
        assert_eq!(lines.filter(12, b"Ended session"), b"");
        assert_eq!(lines.filter(12, b" 7.\nrest"), b"Ended\nsession 7.\n");
        assert_eq!(lines.finish(), b"rest");
        let mut lines = FarLines::default();
        assert_eq!(lines.filter(12, b"Password: "), b"Password: ");
        let long = format!("rove {}", "x".repeat(FAR_LINE_MAX));
        assert_eq!(lines.filter(12, format!("\n{long}").as_bytes()).len(), long.len() + 1);
    }

    #[test]
    fn json_escapes_what_hides_or_reorders_and_nothing_else() {
        for (text, shown) in [
            ("a\u{202e}b\u{7f}\u{9b}", r#""a\u202eb\u007f\u009b""#),
            ("\u{2066}\u{2028}\u{200b}\u{feff}", r#""\u2066\u2028\u200b\ufeff""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
            ("\u{1b}\n", r#""\u001b\n""#),
            ("\u{5d0}\u{202e}\u{200d}", "\"\u{5d0}\\u202e\\u200d\""),
            (
                "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}",
                "\"\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}\"",
            ),
        ] {
            assert_eq!(escaped(&serde_json::json!(text).to_string()), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn escaped_json_is_plain_and_means_the_same(name in any::<String>(), text in any::<String>()) {
            let mut value = serde_json::json!({ "key": [text] });
            value[&name] = 7.into();
            for json in [value.to_string(), format!("{value:#}")] {
                let shown = escaped(&json);
                for line in shown.lines() {
                    prop_assert_eq!(rove_terminal::plain(line), line);
                }
                let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
                prop_assert_eq!(&read, &value);
            }
        }
    }
}
