//! The setting `install`: what is done where `rove host` finds no server.

/// Whether `rove host` may copy rove to a host that has no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Only after a yes.
    #[default]
    Ask,
    /// Without a question.
    Always,
    /// Never.
    Never,
}

impl Policy {
    /// The words for them.
    pub(crate) const NAMES: &'static [&'static str] = &["ask", "always", "never"];

    /// Returns the one that this word means.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "ask" => Some(Self::Ask),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}
