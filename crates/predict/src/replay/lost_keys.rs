//! The keys that were on their way when the engine dropped its predictions. This happens, for example, at a new size of
//! the window.
//!
//! They cannot be simulated, but a program may have read a secret from them. Once the host has answered them all, a
//! line that the screen does not show counts as not echoed. Its prompt is then refused.

use std::collections::VecDeque;

use rove_terminal::{Key, Screen};
use zeroize::Zeroizing;

use crate::replay::log::{EVENTS_MAX, wipe};
use crate::secrecy::{Prompt, Secrecy};

/// The dropped keys, each with the prompt at which it was typed. They are wiped from memory when they are answered.
#[derive(Clone, Debug, Default)]
pub(super) struct LostKeys {
    keys: VecDeque<(Option<Prompt>, Key)>,
}

impl LostKeys {
    /// Records a key that was dropped. If there are [`EVENTS_MAX`] keys, forgets the oldest.
    pub(super) fn push(&mut self, prompt: Option<Prompt>, key: Key) {
        // A queue that grows would leave copies of the keys in memory.
        self.keys.reserve_exact(EVENTS_MAX - self.keys.len());
        if self.keys.len() == EVENTS_MAX {
            self.keys.iter_mut().take(1).for_each(|(_, key)| wipe(key));
            self.keys.pop_front();
        }
        self.keys.push_back((prompt, key));
    }

    /// Records a key that was typed while dropped keys are on their way. Ignores the key if there are no dropped keys.
    pub(super) fn follow(&mut self, prompt: Option<Prompt>, key: Key) {
        if !self.keys.is_empty() {
            self.push(prompt, key);
        }
    }

    /// Wipes all typed characters from memory.
    pub(super) fn forget_texts(&mut self) {
        self.keys.iter_mut().for_each(|(_, key)| wipe(key));
    }

    /// Judges the lines of the dropped keys, all of which were answered, by a screen. Removes the keys.
    pub(super) fn judge(&mut self, screen: &Screen, secrecy: &mut Secrecy) {
        let mut text = Zeroizing::new(String::with_capacity(4 * self.keys.len()));
        let mut prompt = None;
        for (at, key) in &self.keys {
            if text.is_empty() {
                prompt = at.or(prompt);
            }
            match key {
                Key::Text(c) => text.push(*c),
                Key::Backspace | Key::ControlH => drop(text.pop()),
                Key::Enter | Key::LineFeed => {
                    note_line(&text, prompt, screen, secrecy);
                    secrecy.note_enter(prompt);
                    text.clear();
                }
                Key::PasteStart | Key::PasteEnd => {}
                // The key may have changed the line in any way.
                _ => text.clear(),
            }
        }
        note_line(&text, prompt, screen, secrecy);
        self.forget_texts();
        self.keys.clear();
    }
}

/// Records a miss if no row of the screen ends with `line`, which may begin in the row above. Blanks do not count.
fn note_line(line: &str, prompt: Option<Prompt>, screen: &Screen, secrecy: &mut Secrecy) {
    let line = Zeroizing::new(line.split_whitespace().collect::<String>());
    let mut above = String::new();
    let mut ends_with_line = |row| {
        let row: String = screen.row_text(row).split_whitespace().collect();
        (core::mem::replace(&mut above, row.clone()) + &row).ends_with(&*line)
    };
    if !(0..screen.size().rows()).any(&mut ends_with_line) {
        secrecy.note_miss(prompt);
    }
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;
    use crate::prompt_memory::PromptMemory;
    use crate::secrecy::Sort;

    const PROMPT: Prompt = Prompt { whole: 1, text: 2, end: 3, sort: Sort::Shell };

    /// Returns whether the prompt is refused after these keys and a screen of eight columns with `output`.
    fn refuses(keys: &[Key], output: &str) -> bool {
        let mut host = Terminal::host(Size::clamped(8, 4));
        host.write(output.as_bytes());
        let (mut lost_keys, mut secrecy) = (LostKeys::default(), Secrecy::default());
        secrecy.set_memory(PromptMemory::new([7; 16], Vec::new(), Vec::new()));
        keys.iter().for_each(|key| lost_keys.push(Some(PROMPT), *key));
        lost_keys.judge(&host.snapshot(), &mut secrecy);
        assert!(lost_keys.keys.is_empty());
        secrecy.memory().is_some_and(|it| it.is_refused(PROMPT.text))
    }

    #[test]
    fn a_line_that_ends_no_row_of_the_screen_refuses_its_prompt() {
        let [a, b] = ['a', 'b'].map(Key::Text);
        let space = Key::Text(' ');
        for (keys, output, is_refused) in [
            (&[a, b, Key::Enter][..], "$ ab\r\n$ ", false),
            (&[a, b, Key::Enter], "$ \r\n$ ", true),
            (&[a, b, Key::Enter], "$ **\r\n$ ", true),
            (&[a, b, Key::Enter], "abc\r\n$ ", true),
            (&[a, b], "$ ", false),
            (&[a, space, b, Key::Enter], "12345 a b\r\n$ ", false),
            (&[a, b, Key::Backspace, Key::Enter], "$ a\r\n$ ", false),
            (&[Key::PasteStart, a, b, Key::PasteEnd, Key::Enter], "$ \r\n$ ", true),
            (&[a, Key::Other, Key::Enter], "$ \r\n$ ", false),
            (&[Key::Enter, a, Key::Enter, b], "$ \r\n$ ", true),
        ] {
            assert_eq!(refuses(keys, output), is_refused, "{keys:?} {output:?}");
        }
    }

    #[test]
    fn so_many_keys_are_kept_and_of_more_the_newest() {
        for more in [0, 1] {
            let mut lost_keys = LostKeys::default();
            (0..EVENTS_MAX + more).for_each(|_| lost_keys.push(None, Key::Text('a')));
            assert_eq!(lost_keys.keys.len(), EVENTS_MAX);
            let mut keys = vec![Key::Text('a'); EVENTS_MAX - 1 + more];
            keys.push(Key::Enter);
            assert!(refuses(&keys, "$ "));
        }
        let mut lost_keys = LostKeys::default();
        lost_keys.follow(None, Key::Enter);
        assert!(lost_keys.keys.is_empty(), "no key is on its way");
    }
}
