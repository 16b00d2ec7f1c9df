//! The challenge: a random word by which a run of rove recognises the lines of its own commands in other output.

use core::fmt;

/// A random word that a run of rove puts into the commands that it starts. The commands repeat the word in lines that
/// they print. No banner, start-up file or impostor of the host knows the word.
///
/// Process lists on both computers show the word. That does no harm: nobody who can print on ssh's streams sees these
/// lists, except the user's own account on the host. That account may run any command there anyway.
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge(String);

impl Challenge {
    /// Creates the challenge from random bytes, as hexadecimal digits. No shell changes such a word.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Returns the rest of a line that begins with `marker`, a space and this challenge. `None` for other lines.
    pub fn answer<'a>(&self, marker: &str, line: &'a str) -> Option<&'a str> {
        line.strip_prefix(marker)?.strip_prefix(' ')?.strip_prefix(&self.0)
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_word_answers() {
        let challenge = Challenge::from_bytes([0; 16]);
        let word = "0".repeat(32);
        assert_eq!(challenge.to_string(), word);
        for (line, rest) in [
            (format!("ROVE START {word}"), Some("")),
            (format!("ROVE IP {word} ::1"), None),
            (format!("ROVE START {word} x"), Some(" x")),
            (format!("ROVE START {word}0"), Some("0")),
            (format!("ROVE START  {word}"), None),
            (format!("ROVE START{word}"), None),
            ("ROVE START".to_owned(), None),
            (format!("ROVE START {}", &word[1..]), None),
            (format!("ROVE START {}1", &word[1..]), None),
            (format!(" ROVE START {word}"), None),
        ] {
            assert_eq!(challenge.answer("ROVE START", &line), rest, "{line:?}");
        }
    }
}
