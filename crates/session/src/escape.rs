//! The escape key: how the user talks to the client instead of to the remote program.

/// After the escape key: the session ends.
const QUIT: u8 = b'.';
/// After the escape key: Ctrl-Z, the client suspends.
const SUSPEND: u8 = 0x1a;
/// What Ctrl takes away from a letter, and what the name of a control key adds again.
const CONTROL: u8 = 0x40;

/// What the user has asked the client to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// End the session.
    Quit,
    /// Give the terminal back and stop.
    Suspend,
}

/// Where in the sequence the user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not in one. A printable escape key counts only at a line's start.
    Text { line_start: bool },
    /// After the escape key.
    Escaped,
}

/// Filters the escape key and its commands out of the user's keys.
#[derive(Clone, Debug)]
pub(crate) struct EscapeKey {
    key: Option<u8>,
    state: State,
}

impl EscapeKey {
    /// Creates a filter for `key`; `None` lets everything pass.
    pub(crate) const fn new(key: Option<u8>) -> Self {
        // The very start is not the start of a line: nothing has been typed yet.
        Self { key, state: State::Text { line_start: false } }
    }

    /// Takes one byte from the user, appends what the remote program is to read, and returns what
    /// the client is to do.
    pub(crate) fn handle(&mut self, byte: u8, out: &mut Vec<u8>) -> Option<Command> {
        let Some(key) = self.key else {
            out.push(byte);
            return None;
        };
        match self.state {
            State::Text { line_start } if byte == key && (line_start || is_control(key)) => {
                self.state = State::Escaped;
                return None;
            }
            State::Text { .. } => out.push(byte),
            State::Escaped => match byte {
                QUIT => {
                    self.state = State::Text { line_start: false };
                    return Some(Command::Quit);
                }
                SUSPEND => {
                    // The prompt the user comes back to is a fresh line.
                    self.state = State::Text { line_start: true };
                    return Some(Command::Suspend);
                }
                byte if is_pass_key(key, byte) => out.push(key),
                byte => out.extend([key, byte]),
            },
        }
        self.state = State::Text { line_start: matches!(byte, b'\r' | b'\n') };
        None
    }

    /// Returns the help to show while the escape key waits for its command.
    pub(crate) fn help(&self) -> Option<String> {
        let key = self.key.filter(|_| self.state == State::Escaped)?;
        let pass = if is_control(key) && key < 0x20 { key + CONTROL } else { key };
        Some(format!(
            "Commands: Ctrl-Z suspends, \".\" quits, \"{}\" gives literal {}",
            char::from(pass),
            key_name(key),
        ))
    }

    /// Returns how to quit, for the end of a notice.
    pub(crate) fn quit_hint(&self) -> Option<String> {
        self.key.map(|key| format!("[To quit: {} .]", key_name(key)))
    }
}

/// Returns what to call a key: `Ctrl-^`, or a printable one in double quotes.
fn key_name(key: u8) -> String {
    match key {
        0..0x20 => format!("Ctrl-{}", char::from(key + CONTROL)),
        0x7f => "Backspace".to_owned(),
        _ => format!("\"{}\"", char::from(key)),
    }
}

/// Returns whether the key is one that nobody types as text, so that it counts anywhere.
const fn is_control(key: u8) -> bool {
    key < 0x20 || key == 0x7f
}

/// Returns whether `byte`, after the escape key, asks for the escape key itself.
const fn is_pass_key(key: u8, byte: u8) -> bool {
    if key < 0x20 { byte.to_ascii_uppercase() == key + CONTROL } else { byte == key }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Option<u8> = Some(0x1e);

    fn filtered(key: Option<u8>, typed: &[u8]) -> (Vec<u8>, Vec<Command>) {
        let (mut out, mut escape) = (Vec::new(), EscapeKey::new(key));
        let commands = typed.iter().filter_map(|&byte| escape.handle(byte, &mut out)).collect();
        (out, commands)
    }

    #[test]
    fn commands_and_the_pass_key_are_told_from_text() {
        use Command::{Quit, Suspend};
        type Case = (Option<u8>, &'static [u8], &'static [u8], &'static [Command]);
        let table: [Case; 19] = [
            (DEFAULT, b"ab\r.", b"ab\r.", &[]),
            (DEFAULT, b"a\x1e.", b"a", &[Quit]),
            (DEFAULT, b"a\x1e\x1ab", b"ab", &[Suspend]),
            (DEFAULT, b"\x1e^", b"\x1e", &[]),
            (DEFAULT, b"\x1eX", b"\x1eX", &[]),
            (DEFAULT, b"\x1e\x1e", b"\x1e\x1e", &[]),
            (DEFAULT, b"\x1e\x1e.", b"\x1e\x1e.", &[]),
            (Some(0x02), b"\x02b\x02B", b"\x02\x02", &[]),
            (Some(b'~'), b"~.", b"~.", &[]),
            (Some(b'~'), b"a~.", b"a~.", &[]),
            (Some(b'~'), b"\r~.", b"\r", &[Quit]),
            (Some(b'~'), b"\n~.", b"\n", &[Quit]),
            (Some(b'~'), b"\r~~", b"\r~", &[]),
            (Some(b'~'), b"\r~~.", b"\r~.", &[]),
            (Some(b'~'), b"\r~\r~.", b"\r~\r", &[Quit]),
            (Some(b'~'), b"\r~\x1a~.", b"\r", &[Suspend, Quit]),
            (Some(0x7f), b"\x7f\x7f", b"\x7f", &[]),
            (Some(0x01), b"\x01a\x01.", b"\x01", &[Quit]),
            (None, b"\x1e.", b"\x1e.", &[]),
        ];
        for (key, typed, text, commands) in table {
            assert_eq!(filtered(key, typed), (text.to_vec(), commands.to_vec()), "{typed:?}");
        }
    }

    #[test]
    fn help_names_the_keys_and_stays_until_the_next_one() {
        let mut out = Vec::new();
        for (key, before, help) in [
            (0x1e, "", "Commands: Ctrl-Z suspends, \".\" quits, \"^\" gives literal Ctrl-^"),
            (b'~', "\r", "Commands: Ctrl-Z suspends, \".\" quits, \"~\" gives literal \"~\""),
        ] {
            let mut escape = EscapeKey::new(Some(key));
            for byte in before.bytes() {
                escape.handle(byte, &mut out);
            }
            assert_eq!(escape.help(), None);
            escape.handle(key, &mut out);
            assert_eq!(escape.help().as_deref(), Some(help));
            escape.handle(b'x', &mut out);
            assert_eq!(escape.help(), None);
        }
    }

    #[test]
    fn the_quit_hint_names_the_configured_key() {
        for (key, hint) in [
            (DEFAULT, Some("[To quit: Ctrl-^ .]")),
            (Some(0x02), Some("[To quit: Ctrl-B .]")),
            (Some(b'~'), Some("[To quit: \"~\" .]")),
            (None, None),
        ] {
            assert_eq!(EscapeKey::new(key).quit_hint().as_deref(), hint);
        }
    }
}
