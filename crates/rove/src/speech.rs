//! Sentences for the user, each written at once. ssh mixes the sentences of another computer's rove with the output of the
//! start-up files there, which would come into the middle of a sentence that is written in pieces.

use std::io::{self, Write};

/// Says what is wrong.
pub(crate) fn complain(speaker: &str, sentence: &str) {
    say(io::stderr(), &format!("{speaker}: {sentence}"));
}

/// Says something, with one end of a line behind it.
pub(crate) fn say(mut stream: impl Write, text: &str) {
    let text = format!("{}\n", text.trim_end_matches('\n'));
    // A reader that has gone away wants to hear nothing about it.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that keeps what each write brings.
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
}
