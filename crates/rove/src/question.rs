//! Asks the user questions on the terminal.

use std::io::{self, BufRead, IsTerminal, Read as _, Write};

use crate::messages::wrapped_for;

/// Longest answer of a user that is read, in bytes. Chosen: many times the length of a yes.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Returns whether standard input and standard error are terminals, so that a user may answer.
pub(crate) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question, and returns whether the answer is yes. Enter without a text means `is_usual`. Any other answer
/// means no. Without a terminal the result is `false`.
pub(crate) fn ask(question: &str, is_usual: bool) -> bool {
    if !can_be_asked() {
        return false;
    }
    let mut stderr = io::stderr();
    let answers = if is_usual { "Y/n" } else { "y/N" };
    let text = wrapped_for(&stderr, "rove", &format!("{question} [{answers}] "));
    let asked = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    asked.is_ok() && is_yes(io::stdin().lock(), is_usual)
}

/// Asks for a number from 1 to `count`, and returns the index of the choice, from 0. Returns `None` for any other
/// input, and without a terminal.
pub(crate) fn choose(question: &str, count: usize) -> Option<usize> {
    number(&answer_to(&format!("{question} [1-{count}] "))?, count)
}

/// Asks like [`choose`], but also accepts Enter without a number, for which it returns `Some(None)`.
pub(crate) fn choose_or_enter(question: &str, count: usize) -> Option<Option<usize>> {
    let answer = answer_to(question)?;
    let is_enter = matches!(answer.as_slice(), b"\n" | b"\r\n");
    if is_enter { Some(None) } else { number(&answer, count).map(Some) }
}

/// Asks, and returns the line that the user types. `None` without a terminal.
fn answer_to(question: &str) -> Option<Vec<u8>> {
    let mut stderr = io::stderr();
    let text = wrapped_for(&stderr, "rove", question);
    let is_asked = can_be_asked() && stderr.write_all(text.as_bytes()).is_ok();
    if !is_asked || stderr.flush().is_err() {
        return None;
    }
    let mut answer = Vec::new();
    io::stdin().lock().take(ANSWER_BYTES_MAX).read_until(b'\n', &mut answer).ok()?;
    Some(answer)
}

fn number(answer: &[u8], count: usize) -> Option<usize> {
    let number: usize = str::from_utf8(answer).ok()?.trim().parse().ok()?;
    number.checked_sub(1).filter(|index| *index < count)
}

fn is_yes(input: impl BufRead, is_usual: bool) -> bool {
    let mut answer = Vec::new();
    let read = input.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut answer);
    let is_enter = is_usual && matches!(answer.as_slice(), b"\n" | b"\r\n");
    let answer = answer.trim_ascii().to_ascii_lowercase();
    read.is_ok() && (is_enter || matches!(answer.as_slice(), b"y" | b"yes"))
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
            assert_eq!(is_yes(answer.as_bytes(), false), yes, "{answer:?}");
            let is_enter = answer == "\n";
            assert_eq!(is_yes(answer.as_bytes(), true), yes || is_enter, "{answer:?}");
        }
        let long = " ".repeat(usize::try_from(ANSWER_BYTES_MAX).unwrap());
        assert!(!is_yes(format!("{long}y\n").as_bytes(), true));
        assert!(is_yes(format!("{}y\n", &long[1..]).as_bytes(), false));
    }
}
