//! Titles that programs set, and the stack of titles.
//!
//! Titles are cut to the length that a diff can carry, and reduced to [`plain`] text.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_units::push_newest;

use crate::display::TITLE_CHARS_MAX;
use crate::emulator::hexadecimal::decoded;
use crate::plain::plain;
use crate::screen::titles::Titles;

/// Most pairs of titles on the title stack. Another push drops the oldest. Source: xterm's stack has 10 places.
pub(crate) const TITLE_STACK_MAX: usize = 10;

/// The titles that programs have pushed (XTWINOPS), oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct TitleStack(VecDeque<Titles>);

impl TitleStack {
    /// Pushes both titles (22), or pops both (23) and sets both (`what` 0), icon name (1) or title (2): XTWINOPS.
    pub(crate) fn perform(&mut self, operation: u16, what: u16, titles: &mut Titles) {
        match operation {
            _ if what > 2 => {}
            22 => push_newest(&mut self.0, titles.clone(), TITLE_STACK_MAX),
            23 => {
                if let Some(Titles { icon_name, title, .. }) = self.0.pop_back() {
                    if what != 2 {
                        titles.icon_name = icon_name;
                    }
                    if what != 1 {
                        titles.title = title;
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the memory of the titles in bytes, without titles shared with `neighbour`, another terminal's stack.
    pub(crate) fn bytes(&self, neighbour: Option<&Self>) -> usize {
        let texts = self.0.iter().enumerate().flat_map(|(at, ours)| {
            let theirs = neighbour.and_then(|neighbour| neighbour.0.get(at));
            let is_shared = |text, their: Option<_>| their.is_some_and(|it| Arc::ptr_eq(text, it));
            let icon_name = (&ours.icon_name, theirs.map(|it| &it.icon_name));
            let title = (&ours.title, theirs.map(|it| &it.title));
            [icon_name, title]
                .map(|(text, their)| if is_shared(text, their) { 0 } else { text.len() })
        });
        self.0.capacity() * size_of::<Titles>() + texts.sum::<usize>()
    }
}

/// Sets the icon name (`which[0]`) and the title (`which[1]`). Ignores empty or malformed hexadecimal text.
pub(crate) fn set_titles(titles: &mut Titles, which: [bool; 2], text: &str, is_hexadecimal: bool) {
    let bytes = if is_hexadecimal { decoded(text).unwrap_or_default() } else { text.into() };
    if is_hexadecimal && bytes.is_empty() {
        return;
    }
    titles.given = true;
    let text = plain(&String::from_utf8_lossy(&bytes));
    let end = text.char_indices().nth(TITLE_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    for (is_set, name) in which.into_iter().zip([&mut titles.icon_name, &mut titles.title]) {
        if is_set {
            *name = text[..end].into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_unless_the_neighbour_has_the_same() {
        let mut titles = Titles::default();
        set_titles(&mut titles, [true, true], "both", false);
        let mut first = TitleStack::default();
        first.perform(22, 0, &mut titles);
        let texts = |stack: &TitleStack, neighbour| {
            stack.bytes(neighbour) - stack.0.capacity() * size_of::<Titles>()
        };
        assert_eq!(texts(&first, None), 8);
        assert_eq!(texts(&first.clone(), Some(&first)), 0);
        for (which, set) in [([true, false], "icon"), ([false, true], "title")] {
            let (mut second, mut other) = (TitleStack::default(), titles.clone());
            set_titles(&mut other, which, set, false);
            second.perform(22, 0, &mut other);
            assert_eq!(texts(&second, Some(&first)), set.len());
        }
    }
}
