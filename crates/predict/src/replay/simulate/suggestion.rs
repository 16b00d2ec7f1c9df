//! Text that a program suggests after the end of the input, and whether it is still known after the simulated keys.

use crate::replay::class::Class;

/// The suggestion at the end of an input.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Suggestion {
    /// The input column after the suggestion that follows the input. `None` if there is no suggestion.
    end: Option<u16>,
    /// Whether there was a suggestion when the simulation began.
    was_there: bool,
    /// The class of the key that made the suggestion unknown, until the next screen. `None` while it is known.
    lost: Option<Class>,
}

impl Suggestion {
    /// Creates the suggestion with which the simulation begins.
    pub(super) const fn new(end: Option<u16>) -> Self {
        Self { end, was_there: end.is_some(), lost: None }
    }

    pub(super) const fn end(&self) -> Option<u16> {
        self.end
    }

    /// Returns whether there is a suggestion.
    pub(in crate::replay) const fn stands(&self) -> bool {
        self.end.is_some()
    }

    pub(super) const fn was_there(&self) -> bool {
        self.was_there
    }

    pub(in crate::replay) const fn lost(&self) -> Option<Class> {
        self.lost
    }

    /// Returns the suggestion's end if its text is certain, and otherwise `None`.
    pub(super) fn certain_end(&self) -> Option<u16> {
        self.end.filter(|_| self.lost.is_none())
    }

    /// Records that the suggestion up to a column has become input.
    pub(super) fn shorten(&mut self, to: u16) {
        self.end = self.end.filter(|end| *end > to);
    }

    /// Records that other text has replaced the suggestion.
    pub(super) const fn clear(&mut self) {
        self.end = None;
    }

    /// Records that the end of the input was erased. If nothing was suggested, the program may suggest the erased text.
    pub(super) fn begin_at_end(&mut self, end: u16) {
        self.end.get_or_insert(end);
    }

    /// Records that a key of this class makes the suggestion unknown. `is_kept` is true if suggestions mostly stay
    /// after such keys. Returns the suggestion's end, or `None` if there was no suggestion.
    pub(super) fn lose(&mut self, class: Class, is_kept: bool) -> Option<u16> {
        let end = self.end?;
        self.end = self.end.filter(|_| is_kept);
        self.lost = Some(class);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_certain_until_a_key_loses_it() {
        for (is_kept, end) in [(true, Some(9)), (false, None)] {
            let mut suggestion = Suggestion::new(Some(9));
            suggestion.shorten(5);
            assert_eq!(suggestion.certain_end(), Some(9));
            assert_eq!(suggestion.lose(Class::Hint, is_kept), Some(9));
            assert_eq!((suggestion.end(), suggestion.certain_end()), (end, None));
            assert_eq!(suggestion.lost(), Some(Class::Hint));
            suggestion.shorten(9);
            assert!(!suggestion.stands() && suggestion.was_there());
        }
    }

    #[test]
    fn nothing_is_lost_where_nothing_was_suggested() {
        let mut suggestion = Suggestion::new(None);
        assert_eq!(suggestion.lose(Class::Regrowth, true), None);
        assert_eq!((suggestion.lost(), suggestion.was_there()), (None, false));
        suggestion.begin_at_end(4);
        suggestion.begin_at_end(6);
        assert_eq!(suggestion.end(), Some(4));
    }
}
