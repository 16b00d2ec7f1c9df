//! How a user names a session: by a label or a number.

use std::fmt::{self, Display};
use std::str::FromStr;

use rove_session::JoinMode;

/// Longest name of a session, in bytes. Chosen: a word that a person types.
const LABEL_BYTES_MAX: usize = 64;

/// The name of a session: lower-case letters, digits, `.`, `_` and `-`. It contains a letter, to differ from a port or
/// process number. It begins with a letter or digit, to differ from an option or hidden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLabel(String);

/// Why a text is not a valid name of a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// The text is too long. The field is its number of characters.
    #[error("a session's name has at most {LABEL_BYTES_MAX} characters, and this one has {0}")]
    Long(usize),
    /// The text has characters that a name must not have.
    #[error(
        "a session's name consists of the letters a to z, digits, \".\", \"_\" and \"-\", and {0:?} does not"
    )]
    Characters(String),
    /// The text begins like an option or a hidden file.
    #[error("a session's name begins with a letter or a digit, and {0:?} does not")]
    Beginning(String),
    /// The text could be the number of a port or a process, because it has no letter.
    #[error("a session's name has at least one letter, or it would be a port: {0:?} has none")]
    Number(String),
}

impl FromStr for SessionLabel {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let is_allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        if text.len() > LABEL_BYTES_MAX {
            Err(LabelError::Long(text.chars().count()))
        } else if !text.chars().all(is_allowed) {
            Err(LabelError::Characters(text.to_owned()))
        } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            Err(LabelError::Beginning(text.to_owned()))
        } else if !text.contains(|c: char| c.is_ascii_lowercase()) {
            Err(LabelError::Number(text.to_owned()))
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl Display for SessionLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the command that attaches in this mode. Without a mode, the client takes the session over.
pub const fn attach_command(mode: Option<JoinMode>) -> &'static str {
    match mode {
        None => "rove attach",
        Some(JoinMode::View) => "rove attach --view",
        Some(JoinMode::Share) => "rove attach --share",
    }
}

/// A session, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRef {
    /// The session with this name.
    Named(SessionLabel),
    /// The session whose server has this UDP port or this process number.
    Number(u32),
}

impl FromStr for SessionRef {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        match text.parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => text.parse().map(Self::Named),
        }
    }
}

impl Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_meant_by_a_name_or_a_number() {
        for text in ["work", "60002", "7"] {
            let meant: SessionRef = text.parse().unwrap();
            assert_eq!(meant.to_string(), text);
            assert_eq!(matches!(meant, SessionRef::Number(_)), text != "work");
        }
        assert!("No such".parse::<SessionRef>().is_err());
    }

    #[test]
    fn a_name_is_a_word_that_is_no_port_no_option_and_no_path() {
        for text in ["work", "w", "4a", "a.b_c-d", &"x".repeat(LABEL_BYTES_MAX)] {
            assert_eq!(text.parse::<SessionLabel>().unwrap().to_string(), text);
        }
        for (text, part) in [
            ("", "begins with"),
            ("60001", "at least one letter"),
            ("1.2", "at least one letter"),
            (".work", "begins with"),
            ("-work", "begins with"),
            ("Work", "does not"),
            ("a/b", "does not"),
            ("a b", "does not"),
            ("a\u{1b}[2J", "\\u{1b}"),
            (&"x".repeat(300), "and this one has 300"),
        ] {
            let sentence = text.parse::<SessionLabel>().unwrap_err().to_string();
            assert!(sentence.contains(part), "{text:?}: {sentence}");
        }
    }
}
