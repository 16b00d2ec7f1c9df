//! A line that the user types to the client, shown in the notice bar.

use rove_terminal::Key;

/// Most characters of a line. Chosen: longer than two hosts' names and their ports.
const CHARS_MAX: usize = 600;

/// Most characters of a line that are shown, the last ones. Chosen: with the words before it, they fit 80 columns.
const SHOWN_MAX: usize = 40;

const BACKSPACE: [u8; 2] = [0x08, 0x7f];
/// Ctrl-U, which by custom deletes the line.
const KILL: u8 = 0x15;
/// Ctrl-C, Ctrl-D and ESC end the line without effect.
const CANCEL: [u8; 3] = [0x03, 0x04, 0x1b];

/// A line that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    text: String,
    /// Whether a paste has begun. Its ends of lines end nothing, so that no pasted text acts by itself.
    is_pasting: bool,
}

/// The effect of a key on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The line goes on.
    More,
    /// The user has ended the line.
    Ended(String),
    /// The user wants no line.
    Cancelled,
}

impl CommandLine {
    /// Handles a key. `byte` is its character, or `None` for a key without one.
    pub(crate) fn handle(&mut self, byte: Option<u8>) -> Typed {
        match byte {
            Some(b'\r' | b'\n') if !self.is_pasting => {
                return Typed::Ended(core::mem::take(&mut self.text));
            }
            Some(byte) if CANCEL.contains(&byte) && !self.is_pasting => return Typed::Cancelled,
            Some(byte) if BACKSPACE.contains(&byte) => drop(self.text.pop()),
            Some(KILL) => self.text.clear(),
            Some(byte @ 0x20..0x7f) if self.text.len() < CHARS_MAX => {
                self.text.push(char::from(byte));
            }
            _ => {}
        }
        debug_assert!(self.text.len() <= CHARS_MAX);
        Typed::More
    }

    /// Handles a key of several bytes, of which only the marks of a paste have an effect.
    pub(crate) const fn handle_paste(&mut self, key: Key) {
        match key {
            Key::PasteStart => self.is_pasting = true,
            Key::PasteEnd => self.is_pasting = false,
            _ => {}
        }
    }

    /// Returns the line as the bar shows it, from the longest version to the shortest.
    pub(crate) fn shown(&self) -> Vec<String> {
        debug_assert!(self.text.is_ascii(), "a part of the text begins at any byte");
        let from = self.text.len().saturating_sub(SHOWN_MAX);
        let end = self.text.get(from..).unwrap_or_default();
        vec![format!("-L, -R, -D, -KL ... or ?: {end}_"), format!("{end}_")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &mut CommandLine, keys: &[u8]) -> Typed {
        let mut last = Typed::More;
        keys.iter().for_each(|key| last = line.handle(Some(*key)));
        last
    }

    #[test]
    fn a_line_is_edited_ended_and_cancelled() {
        for (keys, expected) in [
            (&b"-L 1:h:2\r"[..], Typed::Ended("-L 1:h:2".to_owned())),
            (b"-x\x7f\x08-D 9\n", Typed::Ended("-D 9".to_owned())),
            (b"rest\x15?\r", Typed::Ended("?".to_owned())),
            ("-é\r".as_bytes(), Typed::Ended("-".to_owned())),
            (b"-L\x03", Typed::Cancelled),
            (b"\x1b", Typed::Cancelled),
            (b"-L", Typed::More),
        ] {
            assert_eq!(typed(&mut CommandLine::default(), keys), expected, "{keys:?}");
        }
    }

    #[test]
    fn a_paste_ends_no_line_and_a_long_line_is_cut() {
        let mut line = CommandLine::default();
        line.handle_paste(Key::PasteStart);
        assert_eq!(typed(&mut line, b"-D 9\r-D 10\r\x03"), Typed::More);
        line.handle_paste(Key::PasteEnd);
        assert_eq!(typed(&mut line, &[b'x'; 700]), Typed::More);
        assert!(line.shown()[0].ends_with("xxx_") && line.shown()[0].len() < 80);
        let Typed::Ended(text) = typed(&mut line, b"\r") else { panic!() };
        assert!(text.starts_with("-D 9-D 10x") && text.len() == CHARS_MAX);
    }
}
