//! Detects commands that turn the terminal's echo off. The prompts after such commands look like any other.

use rove_terminal::Key;

/// The words of a command that turns echo off: `stty -echo`. Other words may come between, as in `stty raw -echo`.
const WORDS: [&str; 2] = ["stty", "-echo"];

/// Detects, in the typed text, commands that turn echo off. It stores no text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EchoOffDetector {
    /// The index in [`WORDS`] of the word to be typed next. `len` is how many of its letters were typed.
    word: usize,
    len: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Echoes,
    /// The user has entered a command that turns echo off, and the command was not answered yet.
    Asked,
    /// A command that turns echo off was answered, and nothing was echoed since.
    Off,
}

impl EchoOffDetector {
    pub(super) fn handle_key(&mut self, key: Key) {
        match key {
            Key::Text(c) => self.handle_character(c),
            Key::Enter | Key::LineFeed => {
                if self.word == WORDS.len() {
                    self.state = State::Asked;
                }
                (self.word, self.len) = (0, 0);
            }
            _ => {}
        }
    }

    /// Records that a line was answered. `line` is its text on the screen, or empty if that is unknown.
    pub(super) fn handle_line(&mut self, line: &str) {
        if self.state == State::Asked || WORDS.iter().all(|word| line.contains(word)) {
            self.state = State::Off;
        }
    }

    /// Records that a character was echoed.
    pub(super) fn handle_echo(&mut self) {
        if self.state == State::Off {
            self.state = State::Echoes;
        }
    }

    /// Returns whether echo may be off. If so, a field shows no prediction before a confirmed character.
    pub(super) fn is_off(self) -> bool {
        self.state != State::Echoes
    }

    fn handle_character(&mut self, c: char) {
        let Some(word) = WORDS.get(self.word) else { return };
        let is_next = |len: usize| word.chars().nth(len) == Some(c);
        self.len = if is_next(self.len) { self.len + 1 } else { usize::from(is_next(0)) };
        if self.len == word.len() {
            (self.word, self.len) = (self.word + 1, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> EchoOffDetector {
        let mut echo_off = EchoOffDetector::default();
        text.chars().for_each(|c| {
            echo_off.handle_key(if c == '\r' { Key::Enter } else { Key::Text(c) });
        });
        echo_off
    }

    #[test]
    fn a_line_that_turns_the_echo_off_is_known_until_something_is_echoed() {
        for (text, is_off) in [
            ("stty -echo\r", true),
            ("sstty raw --echo; cat\r", true),
            ("stty -echo", false),
            ("stty echo\r", false),
            ("echo stty\r-echo\r", false),
        ] {
            assert_eq!(typed(text).is_off(), is_off, "{text:?}");
        }
        let mut echo_off = typed("stty -echo\r");
        echo_off.handle_echo();
        assert!(echo_off.is_off(), "what is echoed may have been typed before");
        echo_off.handle_line("");
        echo_off.handle_echo();
        assert!(!echo_off.is_off());
    }

    #[test]
    fn a_line_out_of_the_history_is_read_from_the_screen() {
        let mut echo_off = EchoOffDetector::default();
        echo_off.handle_line("stty -echo");
        assert!(echo_off.is_off());
    }
}
