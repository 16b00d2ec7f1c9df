//! The titles of a window.

use std::sync::Arc;

/// The titles that a program gives its window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Titles {
    /// Whether any title was ever set; until then the outer title is left alone.
    pub(crate) given: bool,
    pub(crate) icon_name: Arc<str>,
    pub(crate) title: Arc<str>,
}
