//! A line that the user types to the client, shown in the notice bar.

use rove_terminal::{Key, plain};

/// Longest line that the user types to the client, in bytes. Chosen: longer than two hosts' names and their ports.
const BYTES_MAX: usize = 600;

/// Number of characters at the end of a typed line that the bar shows. Chosen: with the prompt they fit 80 columns.
const SHOWN_MAX: usize = 40;

const BACKSPACE: [u8; 2] = [0x08, 0x7f];
/// Ctrl-U, which by custom deletes the line.
const KILL: u8 = 0x15;
/// Ctrl-C, Ctrl-D and ESC cancel the line.
const CANCEL: [u8; 3] = [0x03, 0x04, 0x1b];

/// The purpose of a line that the user types to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The line adds or removes a port forward.
    Ports,
    /// The line names files on this computer, which are to be copied to the host.
    Files,
}

impl Purpose {
    pub(crate) const ALL: [Self; 2] = [Self::Ports, Self::Files];

    /// Returns the key after the escape key that begins a line of this purpose.
    pub(crate) const fn key(self) -> u8 {
        match self {
            Self::Ports => b'f',
            Self::Files => b'p',
        }
    }

    /// Returns the prompt that the bar shows before the line.
    const fn prompt(self) -> &'static str {
        match self {
            Self::Ports => "-L, -R, -D, -KL ... or ?",
            Self::Files => "Files to copy to the host",
        }
    }

    /// Returns whether a byte may be in a line of this purpose. Only names of files may have letters of several bytes.
    const fn admits(self, byte: u8) -> bool {
        matches!(byte, 0x20..0x7f) || matches!(self, Self::Files) && byte >= 0x80
    }
}

/// A line that the user is typing to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    purpose: Purpose,
    text: Vec<u8>,
    /// Whether a paste has not ended. Its line breaks do not end the line, so that no pasted text acts by itself.
    is_pasting: bool,
}

/// The effect of a key on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The line has not ended.
    More,
    /// The user has ended the line with Enter.
    Ended(String),
    /// The user has cancelled the line.
    Cancelled,
}

impl CommandLine {
    pub(crate) const fn new(purpose: Purpose) -> Self {
        Self { purpose, text: Vec::new(), is_pasting: false }
    }

    pub(crate) const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Handles a key with the character `byte`, if any. Returns whether the user has ended or cancelled the line.
    pub(crate) fn handle(&mut self, byte: Option<u8>) -> Typed {
        match byte {
            Some(b'\r' | b'\n') if !self.is_pasting => {
                let text = core::mem::take(&mut self.text);
                return Typed::Ended(String::from_utf8_lossy(&text).into_owned());
            }
            Some(byte) if CANCEL.contains(&byte) && !self.is_pasting => return Typed::Cancelled,
            Some(byte) if BACKSPACE.contains(&byte) => {
                // The bytes of a letter after its first one have the form 10xx_xxxx.
                while self.text.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            Some(KILL) => self.text.clear(),
            Some(byte) if self.purpose.admits(byte) && self.text.len() < BYTES_MAX => {
                self.text.push(byte);
            }
            _ => {}
        }
        debug_assert!(self.text.len() <= BYTES_MAX);
        Typed::More
    }

    /// Handles a key of several bytes. Only the marks of a paste have an effect.
    pub(crate) const fn handle_paste(&mut self, key: Key) {
        match key {
            Key::PasteStart => self.is_pasting = true,
            Key::PasteEnd => self.is_pasting = false,
            _ => {}
        }
    }

    /// Returns the last characters of the line in two versions for the bar: with the prompt and without it.
    pub(crate) fn shown(&self) -> Vec<String> {
        let text = plain(&String::from_utf8_lossy(&self.text));
        let from = text.chars().count().saturating_sub(SHOWN_MAX);
        let end: String = text.chars().skip(from).collect();
        vec![format!("{}: {end}_", self.purpose.prompt()), format!("{end}_")]
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
            assert_eq!(typed(&mut CommandLine::new(Purpose::Ports), keys), expected, "{keys:?}");
        }
    }

    #[test]
    fn names_of_files_have_letters_of_several_bytes_which_are_erased_whole() {
        let mut line = CommandLine::new(Purpose::Files);
        assert_eq!(typed(&mut line, "a\u{e9}\u{754c}\x7f\u{1f600}".as_bytes()), Typed::More);
        assert_eq!(line.shown()[0], "Files to copy to the host: a\u{e9}\u{1f600}_");
        // The bytes are the first byte of a letter, and U+202E, which would reverse the text after it.
        typed(&mut line, b"\xc3\xe2\x80\xae");
        assert!(!line.shown()[0].contains('\u{202e}'));
        let Typed::Ended(text) = typed(&mut line, b"\r") else { panic!() };
        assert_eq!(text, "a\u{e9}\u{1f600}\u{fffd}\u{202e}");
    }

    #[test]
    fn a_paste_ends_no_line_and_a_long_line_is_cut() {
        let mut line = CommandLine::new(Purpose::Ports);
        line.handle_paste(Key::PasteStart);
        assert_eq!(typed(&mut line, b"-D 9\r-D 10\r\x03"), Typed::More);
        line.handle_paste(Key::PasteEnd);
        assert_eq!(typed(&mut line, &[b'x'; 700]), Typed::More);
        assert!(line.shown()[0].ends_with("xxx_") && line.shown()[0].len() < 80);
        let Typed::Ended(text) = typed(&mut line, b"\r") else { panic!() };
        assert!(text.starts_with("-D 9-D 10x") && text.len() == BYTES_MAX);
    }
}
