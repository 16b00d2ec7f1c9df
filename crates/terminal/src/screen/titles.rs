//! The titles that a program gives to its window.

use std::sync::Arc;

/// The window title and icon name that programs have set. Empty if there are none.
#[derive(Clone, Debug, Default, Eq)]
pub(crate) struct Titles {
    /// Whether any title was ever set. Until then the user's terminal keeps its own titles.
    pub(crate) given: bool,
    pub(crate) icon_name: Arc<str>,
    pub(crate) title: Arc<str>,
}

/// Compares the texts, which a diff can carry. It ignores whether a title was ever set.
impl PartialEq for Titles {
    fn eq(&self, other: &Self) -> bool {
        self.icon_name == other.icon_name && self.title == other.title
    }
}
