//! The titles of a window.

use std::sync::Arc;

/// The titles that a program gives its window.
#[derive(Clone, Debug)]
pub(crate) struct Titles {
    /// Whether any title was ever set; until then the outer title is left alone.
    pub(crate) given: bool,
    pub(crate) icon_name: Arc<str>,
    pub(crate) title: Arc<str>,
}

impl Default for Titles {
    fn default() -> Self {
        Self { given: false, icon_name: "".into(), title: "".into() }
    }
}
