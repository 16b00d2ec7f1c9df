//! Notifications that programs request (OSC 9, 99, 777). No [`Notification`] makes the user's terminal answer.

use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::plain::{is_plain, plain};

/// Decodes standard base64, with complete padding or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Longest notification, in bytes. A longer one is ignored as a whole. Chosen: far longer than a desktop shows.
pub const NOTIFICATION_BYTES_MAX: usize = 1024;

/// Most notifications that the caller has not taken. Another replaces the oldest. Chosen: nobody reads more at once.
pub const NOTIFICATIONS_MAX: usize = 8;

/// A desktop notification in the form in which the program sent it: `9;text`, `777;notify;title;body` or
/// `99;metadata;payload`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    command: Arc<str>,
}

impl Notification {
    /// Creates a notification from the text of an operating system command, and makes its text [`plain`]. `None` for
    /// another command, a control character, or more than [`NOTIFICATION_BYTES_MAX`].
    ///
    /// Refuses commands of `ConEmu`, with a number after `9;`. Also refuses requests for a report (kitty's `a=report`,
    /// `c=1`, `p=?` and others). The report would reach a program as typed input.
    pub fn new(command: &str) -> Option<Self> {
        if command.len() > NOTIFICATION_BYTES_MAX || command.chars().any(char::is_control) {
            return None;
        }
        let command = plain_parts(command);
        let (number, rest) = command.split_once(';')?;
        let is_notification = match number {
            "9" => !rest.is_empty() && !is_numbered(rest),
            "99" => is_plain_kitty(rest),
            "777" => rest.strip_prefix("notify;").is_some_and(|text| !text.is_empty()),
            _ => false,
        };
        is_notification.then(|| Self { command: command.into() })
    }

    /// Returns the text of the operating system command, such as `9;text`.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Writes the sequence that makes the user's terminal show the notification.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for part in ["\x1b]", &self.command, "\x1b\\"] {
            out.extend(part.as_bytes());
        }
    }
}

/// Returns `command` with each part made plain. A terminal may show the parts (title and body) in different places.
fn plain_parts(command: &str) -> String {
    command.split(';').map(plain).collect::<Vec<_>>().join(";")
}

/// Returns whether the first field of `text`, up to a `;`, is a number, as in `ConEmu`'s commands.
fn is_numbered(text: &str) -> bool {
    let number = text.split(';').next().unwrap_or_default();
    !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// Returns whether metadata and payload of OSC 99 only show a text or a part of a text. Source: kitty's desktop
/// notifications protocol.
fn is_plain_kitty(text: &str) -> bool {
    let Some((metadata, payload)) = text.split_once(';') else { return false };
    let is_shown = |pair: &str| {
        let Some((key, value)) = pair.split_once('=') else { return false };
        match key {
            "p" => matches!(value, "title" | "body"),
            "d" | "e" => matches!(value, "0" | "1"),
            "u" => matches!(value, "0" | "1" | "2"),
            "o" => matches!(value, "always" | "unfocused" | "invisible"),
            "i" => value.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-+.".contains(&c)),
            _ => false,
        }
    };
    let is_encoded = metadata.split(':').any(|pair| pair == "e=1");
    (metadata.is_empty() || metadata.split(':').all(is_shown))
        && (!is_encoded || is_plain_base64(payload))
}

/// Returns whether `payload` is the base64 of plain text, perhaps with line feeds and tabs.
fn is_plain_base64(payload: &str) -> bool {
    let decoded = BASE64.decode(payload).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|text| text.split(['\n', '\t']).all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_told_from_everything_else() {
        for (command, valid) in [
            ("9;done", true),
            ("9;5 errors", true),
            ("9;", false),
            ("9;4;1;50", false),
            ("9;12", false),
            ("9;9;/tmp", false),
            ("9;a\x1b", false),
            ("9;a\u{9c}", false),
            ("777;notify;title;body", true),
            ("777;notify;title", true),
            ("777;notify;", false),
            ("777;precmd", false),
            ("99;;hello", true),
            ("99;i=1:d=0;hello", true),
            ("99;i=1:d=1:p=body:e=1:u=2:o=unfocused;aGk=", true),
            ("99;e=1;aGkKaGk", true),
            ("99;e=1:d=0;4oCuYQ==", false),
            ("99;e=1;G10yOw==", false),
            ("99;e=1;/w==", false),
            ("99;e=1;a", false),
            ("99;i=1:p=?;", false),
            ("99;i=1:a=report;hello", false),
            ("99;i=1:c=1;hello", false),
            ("99;p=close;x", false),
            ("99;p=icon;x", false),
            ("99;i=a b;x", false),
            ("99;i;x", false),
            ("99;hello", false),
            ("52;c;?", false),
            ("9", false),
        ] {
            assert_eq!(Notification::new(command).is_some(), valid, "{command}");
        }
        for (command, kept) in [
            ("9;\u{202e}done", "9;done"),
            ("777;notify;\u{2066}a\u{2028};\u{338}b\u{200b}", "777;notify;a;b"),
            ("99;;\u{1f469}\u{200d}\u{1f4bb}\u{feff}", "99;;\u{1f469}\u{200d}\u{1f4bb}"),
        ] {
            let notification = Notification::new(command).expect("a notification");
            assert_eq!(notification.command(), kept, "{command}");
            // The client parses the stored command a second time.
            assert_eq!(Notification::new(kept), Some(notification));
        }
        assert_eq!(Notification::new("9;\u{202e}"), None, "nothing is left");
        for (len, valid) in [(NOTIFICATION_BYTES_MAX, true), (NOTIFICATION_BYTES_MAX + 1, false)] {
            let command = "9;".to_owned() + &"x".repeat(len - 2);
            assert_eq!(Notification::new(&command).is_some(), valid, "{len}");
        }
    }
}
