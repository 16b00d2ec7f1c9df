//! The titles of a window.

use std::sync::Arc;

/// The titles that a program gives its window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Titles {
    /// Whether any title was ever set. Until then the outer terminal keeps its titles.
    pub(crate) given: bool,
    pub(crate) icon_name: Arc<str>,
    pub(crate) title: Arc<str>,
}
