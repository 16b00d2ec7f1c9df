//! Sentences for the user, each written at once. ssh mixes the sentences of another computer's rove with the output of the
//! start-up files there, which would come into the middle of a sentence that is written in pieces. JSON for programs is
//! shown by terminals, too.

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

/// Returns a JSON text for a terminal to show, too: characters that act, hide or turn others around stand as escapes, which
/// mean the same to programs.
pub(crate) fn escaped(json: &str) -> String {
    let lines: Vec<_> = json.split('\n').map(rove_terminal::escaped).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
