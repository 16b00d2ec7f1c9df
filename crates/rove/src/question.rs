//! Asks the user questions on the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::messages::wrapped_for;

/// Longest answer of a user that is read, in bytes. Chosen: many times the length of a yes.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Returns whether standard input and standard error are terminals, so that a user may answer.
pub(crate) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question, and returns whether the answer is yes. Enter alone means yes if `is_usual`. Any other answer means
/// no. Without a terminal the result is `false`.
pub(crate) fn ask(question: &str, is_usual: bool) -> bool {
    let answers = if is_usual { "Y/n" } else { "y/N" };
    answer_to(&format!("{question} [{answers}] ")).is_some_and(|answer| is_yes(&answer, is_usual))
}

/// Asks for a number from 1 to `count`, and returns the index of the choice, from 0. Returns `None` for any other
/// input, and without a terminal.
pub(crate) fn choose(question: &str, count: usize) -> Option<usize> {
    choose_or_enter(&format!("{question} [1-{count}] "), count).flatten()
}

/// Asks like [`choose`], but also accepts Enter without a number, for which it returns `Some(None)`.
pub(crate) fn choose_or_enter(question: &str, count: usize) -> Option<Option<usize>> {
    let answer = answer_to(question)?;
    if is_enter(&answer) { Some(None) } else { number(&answer, count).map(Some) }
}

/// Asks, and returns the line that the user types. `None` without a terminal.
fn answer_to(question: &str) -> Option<Vec<u8>> {
    let mut stderr = io::stderr();
    let text = wrapped_for(&stderr, "rove", question);
    let is_asked = can_be_asked() && stderr.write_all(text.as_bytes()).is_ok();
    if !is_asked || stderr.flush().is_err() {
        return None;
    }
    line(io::stdin().lock())
}

fn line(input: impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    input.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

fn is_enter(answer: &[u8]) -> bool {
    matches!(answer, b"\n" | b"\r\n")
}

fn number(answer: &[u8], count: usize) -> Option<usize> {
    let number: usize = str::from_utf8(answer).ok()?.trim().parse().ok()?;
    number.checked_sub(1).filter(|index| *index < count)
}

fn is_yes(answer: &[u8], is_usual: bool) -> bool {
    let words = answer.trim_ascii().to_ascii_lowercase();
    is_usual && is_enter(answer) || matches!(words.as_slice(), b"y" | b"yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_of_the_numbers_shown() {
        for (answer, chosen) in [
            ("1\n", Some(0)),
            (" 3 \n", Some(2)),
            ("0\n", None),
            ("4\n", None),
            ("", None),
            ("x\n", None),
        ] {
            assert_eq!(number(answer.as_bytes(), 3), chosen, "{answer:?}");
        }
    }

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
            let read = line(answer.as_bytes()).unwrap();
            assert_eq!(is_yes(&read, false), yes, "{answer:?}");
            let is_enter = answer == "\n";
            assert_eq!(is_yes(&read, true), yes || is_enter, "{answer:?}");
        }
        let long = " ".repeat(usize::try_from(ANSWER_BYTES_MAX).unwrap());
        assert!(!is_yes(&line(format!("{long}y\n").as_bytes()).unwrap(), true));
        assert!(is_yes(&line(format!("{}y\n", &long[1..]).as_bytes()).unwrap(), false));
    }
}
