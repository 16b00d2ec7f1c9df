//! Text that programs copy to the user's clipboard (OSC 52). A [`Copied`] contains only valid base64.

use std::sync::Arc;

/// Most base64 characters of a text that a program copies. A longer text is ignored as a whole. Chosen: 768 KiB of
/// decoded text. Nobody pastes more, and a slow line transfers it in some seconds.
pub const COPY_CHARS_MAX: usize = 1 << 20;

/// Most selections (such as the clipboard) of a copied text. Source: OSC 52 defines twelve, and each is kept once.
const SELECTIONS_MAX: usize = 12;

/// Text that a program has copied, and the selections (such as the clipboard) that receive it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    selections: Arc<str>,
    text: Arc<str>,
}

impl Copied {
    /// Creates a copy of the base64 `text` to `selections`; if they are empty, the user's terminal chooses one. `None`
    /// if `selections` has a character not in `cpqs01234567`, or `text` is too long ([`COPY_CHARS_MAX`]) or not base64.
    /// This excludes a query (`?`), which would send the user's clipboard to the program.
    pub fn new(selections: &str, text: &str) -> Option<Self> {
        let known = |c: u8| matches!(c, b'c' | b'p' | b'q' | b's' | b'0'..=b'7');
        if !selections.bytes().all(known) || text.len() > COPY_CHARS_MAX || !is_base64(text) {
            return None;
        }
        let mut distinct = String::with_capacity(SELECTIONS_MAX);
        for c in selections.chars() {
            if !distinct.contains(c) {
                distinct.push(c);
            }
        }
        debug_assert!(distinct.len() <= SELECTIONS_MAX);
        Some(Self { selections: distinct.into(), text: text.into() })
    }

    /// Adds the selections of the `earlier` copy if both have the same text. Programs copy a text to one selection
    /// after the other. Returns `self` unchanged if the texts differ or only one copy names selections.
    pub(crate) fn after(self, earlier: Option<Self>) -> Self {
        let joined = earlier.filter(|earlier| {
            earlier.text == self.text && earlier.selections.is_empty() == self.selections.is_empty()
        });
        let joined = joined.and_then(|earlier| {
            Self::new(&[&*earlier.selections, &*self.selections].concat(), &self.text)
        });
        joined.unwrap_or(self)
    }

    /// Returns the selections, such as `c` (the clipboard), without repetitions. If empty, the user's terminal chooses.
    pub const fn selections(&self) -> &Arc<str> {
        &self.selections
    }

    /// Returns the copied text in base64.
    pub const fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns whether a terminal that has only a clipboard should copy the text to it. The selections must include the
    /// clipboard (`c`) or the user's default (`s`), or be empty.
    pub(crate) fn is_for_clipboard(&self) -> bool {
        self.selections.is_empty() || self.selections.contains(['c', 's'])
    }

    /// Writes the OSC 52 sequence that makes the user's terminal copy the text.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for part in ["\x1b]52;", &self.selections, ";", &self.text, "\x07"] {
            out.extend(part.as_bytes());
        }
    }
}

/// Returns whether `text` is base64, with complete padding or without padding.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    body.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'+' || c == b'/')
        && match body.len() % 4 {
            0 => padding == 0,
            1 => false,
            rest => padding == 0 || padding == 4 - rest,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_copied_to_one_selection_after_the_other_goes_to_both() {
        for (first, second, joined) in [
            (("p", "YQ=="), ("c", "YQ=="), ("pc", "YQ==")),
            (("pc", "YQ=="), ("cs", "YQ=="), ("pcs", "YQ==")),
            (("p", "YQ=="), ("c", "Yg=="), ("c", "Yg==")),
            (("", "YQ=="), ("c", "YQ=="), ("c", "YQ==")),
            (("c", "YQ=="), ("", "YQ=="), ("", "YQ==")),
        ] {
            let copied = |(to, text)| Copied::new(to, text).unwrap();
            assert_eq!(copied(second).after(Some(copied(first))), copied(joined));
        }
    }

    #[test]
    fn base64_is_told_from_everything_else() {
        for (text, valid) in [
            ("", true),
            ("aGVsbG8=", true),
            ("aGVsbG8", true),
            ("aGk+/w==", true),
            ("aGk+/w", true),
            ("?", false),
            ("aGVsbG8==", false),
            ("a", false),
            ("aaaa=", false),
            ("=", false),
            ("aG k", false),
            ("a\u{e9}==", false),
        ] {
            assert_eq!(is_base64(text), valid, "{text}");
        }
    }

    #[test]
    fn selections_are_kept_in_order_and_once() {
        for (given, kept) in [
            ("c", Some("c")),
            ("", Some("")),
            ("s0", Some("s0")),
            ("ppcp", Some("pc")),
            ("cpqs01234567", Some("cpqs01234567")),
            ("8", None),
            ("c?", None),
            ("c;", None),
        ] {
            let copied = Copied::new(given, "aGk=");
            assert_eq!(copied.as_ref().map(|copied| &**copied.selections()), kept, "{given}");
        }
    }

    #[test]
    fn a_copy_beyond_the_bound_is_none() {
        for (len, is_some) in [(COPY_CHARS_MAX, true), (COPY_CHARS_MAX + 4, false)] {
            assert_eq!(Copied::new("c", &"A".repeat(len)).is_some(), is_some, "{len}");
        }
    }
}
