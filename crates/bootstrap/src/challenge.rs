//! How this run knows the lines of its own commands among everything that others print.

use core::fmt;

/// A random word that one run draws, puts into the commands it starts, and hears again from them. Neither a
/// banner nor a start-up file nor whoever answers in a host's place knows it.
///
/// Process lists show it on both computers. That harms nothing: who prints on the streams of ssh sees neither
/// list, but for the host's own account, which may start what it likes anyway.
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge(String);

impl Challenge {
    /// Makes a word of random bytes: letters and digits only, so that every shell takes it as it is.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Returns what stands behind `marker` and this word, with a space between each; `None` for other lines.
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
