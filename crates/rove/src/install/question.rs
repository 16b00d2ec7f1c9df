//! A question that is answered with yes or no, on the user's terminal.

use std::io::{self, BufRead, IsTerminal, Write};

/// Longest answer that is read, in bytes. Chosen: many times a yes.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Asks; whatever is no yes is a no. Without a terminal nobody is asked, and the answer is no.
pub(crate) fn ask(question: &str) -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return false;
    }
    let mut stderr = io::stderr();
    let asked = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    asked.is_ok() && is_yes(io::stdin().lock())
}

fn is_yes(input: impl BufRead) -> bool {
    let mut answer = Vec::new();
    let read = input.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut answer);
    let answer = answer.trim_ascii().to_ascii_lowercase();
    read.is_ok() && matches!(answer.as_slice(), b"y" | b"yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (answer, yes) in [
            ("y\n", true),
            ("Y\r\n", true),
            (" yes \n", true),
            ("y", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yep\n", false),
            ("n\ny\n", false),
        ] {
            assert_eq!(is_yes(answer.as_bytes()), yes, "{answer:?}");
        }
        let long = " ".repeat(usize::try_from(ANSWER_BYTES_MAX).unwrap());
        assert!(!is_yes(format!("{long}y\n").as_bytes()));
        assert!(is_yes(format!("{}y\n", &long[1..]).as_bytes()));
    }
}
