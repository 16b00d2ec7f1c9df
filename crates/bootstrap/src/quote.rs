//! Quotes words for a shell, so that the shell splits the text into exactly these words.

use std::ffi::{OsStr, OsString};

/// Quotes a word as stock Mosh does: in single quotes, with `'\''` for a single quote.
///
/// The result is for Bourne shells. Bastions that admit only certain commands compare this form byte for byte.
pub fn bourne(word: &OsStr) -> OsString {
    quote(word, b"'")
}

/// Quotes a word for any login shell: sh, fish or csh.
///
/// Within single quotes, fish reads a backslash as an escape, and csh an exclamation mark as a history reference. So
/// both characters stand outside of the quotes, like a single quote. No form of a line break works in csh and in the
/// other shells. Words with line breaks reach sh and fish unchanged.
pub fn any_shell(word: &OsStr) -> OsString {
    quote(word, b"'\\!")
}

/// Returns whether a user has probably written a shell command line where a program's name is expected.
pub fn is_for_a_shell(name: &str) -> bool {
    name.contains(|c: char| c.is_whitespace() || "|&;<>()$`*?".contains(c))
}

/// Returns the command that runs a line with a shell (`sh -c '...'`), as a suggestion for the user.
pub fn with_a_shell(line: &str) -> String {
    format!("sh -c {}", shell_words::quote(&rove_terminal::plain(line)))
}

fn quote(word: &OsStr, outside: &[u8]) -> OsString {
    let mut quoted = vec![b'\''];
    for &byte in word.as_encoded_bytes() {
        if outside.contains(&byte) {
            quoted.extend([b'\'', b'\\', byte, b'\'']);
        } else {
            quoted.push(byte);
        }
    }
    quoted.push(b'\'');
    from_bytes(quoted)
}

/// Returns a word of these bytes. Outside Unix, malformed UTF-8 is replaced.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    const HARD: [&str; 13] = [
        "plain",
        "",
        "two words",
        "it's",
        "a\\b\\\\",
        "\\'",
        "!x a!b!",
        "$HOME `x` \"",
        "*?~{a,b}[c]",
        "^a^b",
        "üß€",
        "%h;|&<>()#",
        "\t-x=",
    ];

    #[test]
    fn a_line_for_a_shell_is_told_from_a_name() {
        for (name, is_line) in [
            ("ls", false),
            ("/usr/bin/ls", false),
            ("g++", false),
            ("ls | wc", true),
            ("echo $HOME", true),
            ("ls;ls", true),
            ("a\nb", true),
        ] {
            assert_eq!(is_for_a_shell(name), is_line, "{name}");
        }
        assert_eq!(with_a_shell("ls | wc"), "sh -c 'ls | wc'");
        assert_eq!(with_a_shell("a\x1b[2J"), "sh -c 'a[2J'");
    }

    /// Returns the words that the shell reads in `quoted`, or `None` if that shell is not installed.
    fn unquoted_by(shell: &str, quoted: &[OsString]) -> Option<String> {
        let mut line = OsString::from("printf '%s:' ");
        line.push(quoted.join(OsStr::new(" ")));
        let output = Command::new(shell).arg("-c").arg(line).env("LC_ALL", "C.UTF-8").output();
        Some(String::from_utf8_lossy(&output.ok()?.stdout).into_owned())
    }

    #[test]
    fn a_quote_is_written_as_stock_writes_it() {
        for (word, quoted) in
            [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("!\\", "'!\\'")]
        {
            assert_eq!(bourne(OsStr::new(word)), quoted);
        }
        assert_eq!(any_shell(OsStr::new("!\\'")), "''\\!''\\\\''\\'''");
    }

    #[test]
    fn every_installed_shell_gives_a_quoted_word_back() {
        let expected: String = HARD.iter().flat_map(|word| [word, ":"]).collect();
        let quoted: Vec<OsString> = HARD.iter().map(|word| any_shell(OsStr::new(word))).collect();
        for shell in ["sh", "dash", "bash", "zsh", "fish", "csh", "tcsh"] {
            if let Some(unquoted) = unquoted_by(shell, &quoted) {
                assert_eq!(unquoted, expected, "{shell}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn sh_gives_any_word_back(word in "[^\0]{0,40}") {
            let quoted = [bourne(OsStr::new(&word)), any_shell(OsStr::new(&word))];
            prop_assert_eq!(unquoted_by("sh", &quoted).unwrap(), format!("{word}:{word}:"));
        }
    }
}
