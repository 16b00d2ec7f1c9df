//! The pending keys in order: those whose effect no screen has shown.

use std::collections::VecDeque;

use rove_terminal::{InputNum, Key};
use rove_units::Instant;
use zeroize::Zeroize;

/// Most pending keys, whose effect no screen has shown. With more, all are dropped, and nothing is predicted until the
/// last of them was answered. Source: docs/prediction.md; a minute of fast typing.
pub(super) const EVENTS_MAX: usize = 512;

/// Most characters of a paste that is predicted as if it were typed. Chosen: a few rows of text, which line editors
/// accept without drawing it in their own way.
pub(super) const PASTE_CHARACTERS_MAX: usize = 256;

/// A pending key.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) key: Key,
    /// The number of the first input that contains the key.
    pub(super) input: InputNum,
    /// When the key was typed.
    pub(super) at: Instant,
    /// When the key's echo ack arrived: from then on, an effect is due. `None` before.
    pub(super) due_at: Option<Instant>,
    /// Whether the user has seen the key's predicted effect.
    pub(super) shown: bool,
    /// Whether the base screen may already show an effect of the key that the engine did not recognise there.
    pub(super) is_doubtful: bool,
    /// Whether the key is a character whose echo is overdue.
    pub(super) is_overdue: bool,
    /// Whether the character was pasted.
    pub(super) is_pasted: bool,
}

/// The pending keys, oldest first. A key is wiped from memory when it is removed.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    events: VecDeque<Event>,
    /// The input of the last lost key, if any. The engine predicts nothing until this input was answered.
    lost: Option<InputNum>,
    /// Whether the newest key was an Escape that changes the meaning of the next key.
    is_behind_escape: bool,
}

impl Log {
    /// Appends a key. If there are more than [`EVENTS_MAX`] keys, removes all of them.
    pub(super) fn push(&mut self, event: Event) {
        debug_assert!(
            self.events.back().is_none_or(|last| last.input <= event.input && last.at <= event.at),
            "keys come in the order of their inputs and times"
        );
        if self.events.len() >= EVENTS_MAX || self.lost.is_some() {
            self.lose();
            self.lost = Some(event.input);
        } else {
            self.events.push_back(event);
        }
        debug_assert!(self.events.len() <= EVENTS_MAX, "no more keys wait than the most");
        debug_assert!(self.lost.is_none() || self.events.is_empty(), "no key follows a lost one");
    }

    /// Records whether this key is an Escape that changes the next. Returns the same about the previous key.
    pub(super) const fn note_escape(&mut self, is_escape: bool) -> bool {
        core::mem::replace(&mut self.is_behind_escape, is_escape)
    }

    /// Records the end of a paste. Returns whether the paste is short, consists of characters, and is still pending as
    /// a whole. Its characters are then treated as typed, except for [`Event::is_pasted`].
    pub(super) fn end_paste(&mut self) -> bool {
        let is_start = |event: &Event| event.key == Key::PasteStart;
        let Some(start) = self.events.iter().rposition(is_start) else { return false };
        let mut pasted = self.events.range(start + 1..);
        let is_text = (1..=PASTE_CHARACTERS_MAX).contains(&pasted.len())
            && pasted.all(|event| matches!(event.key, Key::Text(_)));
        if is_text {
            self.events.remove(start);
            self.events.range_mut(start..).for_each(|event| event.is_pasted = true);
        }
        is_text
    }

    /// Records that the host had enough time to answer the keys up to `echo_ack`, including keys that were lost.
    pub(super) fn handle_echo_ack(&mut self, now: Instant, echo_ack: InputNum) {
        if self.lost.is_some_and(|lost| lost <= echo_ack) {
            self.lost = None;
        }
        for event in self.events.iter_mut().take_while(|event| event.input <= echo_ack) {
            event.due_at.get_or_insert(now);
        }
    }

    /// Marks characters as overdue that became due at `by` or earlier. Returns whether any character was newly marked.
    pub(super) fn note_overdue(&mut self, by: Instant) -> bool {
        let is_late = |event: &&mut Event| event.due_at.is_some_and(|due_at| due_at <= by);
        let mut is_news = false;
        for event in self.events.iter_mut().take_while(is_late) {
            if matches!(event.key, Key::Text(_)) {
                is_news |= !core::mem::replace(&mut event.is_overdue, true);
            }
        }
        is_news
    }

    /// Returns whether the echo of any character is overdue.
    pub(super) fn is_overdue(&self) -> bool {
        self.events.iter().any(|event| event.is_overdue)
    }

    /// Records that the key at `index` had a part of its effect. The rest becomes due at the next frame.
    pub(super) fn defer(&mut self, index: usize) {
        debug_assert!(index < self.events.len(), "the deferred key waits");
        self.events[index].due_at = None;
    }

    /// Returns how many of the oldest keys are due: their echo ack has arrived.
    pub(super) fn due(&self) -> usize {
        self.events.iter().take_while(|event| event.due_at.is_some()).count()
    }

    /// Returns how many of the oldest keys have reached the host. `input` is the newest input that has reached it.
    pub(super) fn arrived(&self, input: InputNum) -> usize {
        self.events.iter().take_while(|event| event.input <= input).count()
    }

    /// Records that the screen may show effects of the `count` oldest keys that the engine did not recognise.
    pub(super) fn doubt(&mut self, count: usize) {
        debug_assert!(count <= self.events.len(), "the doubted keys wait");
        self.events.iter_mut().take(count).for_each(|event| event.is_doubtful = true);
    }

    pub(super) fn retire(&mut self, count: usize) {
        let count = count.min(self.events.len());
        // Keys are wiped in place, because a move would leave a copy in memory.
        self.events.iter_mut().take(count).for_each(Event::wipe);
        self.events.drain(..count);
    }

    /// Overwrites all typed keys in memory, so that only their number is left.
    pub(super) fn forget_texts(&mut self) {
        self.events.iter_mut().for_each(Event::wipe);
    }

    /// Removes all keys. Nothing is predicted until the last of these keys was answered. Returns the input of that key,
    /// or of the last key lost earlier. `None` if no key is on its way.
    pub(super) fn lose(&mut self) -> Option<InputNum> {
        self.lost = self.events.back().map(|event| event.input).or(self.lost);
        self.retire(self.events.len());
        self.lost
    }

    /// Returns whether keys were lost, so that nothing is predicted until the last was answered.
    pub(super) const fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns whether all pending keys are characters.
    pub(super) fn is_text(&self) -> bool {
        self.events.iter().all(|event| matches!(event.key, Key::Text(_)))
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn front(&self) -> Option<&Event> {
        self.events.front()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Event> + ExactSizeIterator {
        self.events.iter()
    }

    /// Records that the user has seen the effects of the `count` oldest keys.
    pub(super) fn note_shown(&mut self, count: usize) {
        debug_assert!(count <= self.events.len(), "the keys that are shown wait");
        self.events.iter_mut().take(count).for_each(|event| event.shown = true);
    }
}

impl Event {
    /// Returns whether the character may be shown only after an echo in its line. `arrived` is the newest input whose
    /// effect the base may show. If a program has received the character but shows nothing, it may read without echo at
    /// an old prompt.
    pub(super) fn needs_echo(&self, arrived: InputNum) -> bool {
        self.is_pasted || self.input <= arrived && !self.shown
    }

    fn wipe(&mut self) {
        wipe(&mut self.key);
    }
}

/// Wipes a typed character from memory.
pub(super) fn wipe(key: &mut Key) {
    if let Key::Text(c) = key {
        c.zeroize();
    }
    *key = Key::Other;
}
