//! The setting `install`: what is done where `rove host` finds no server.

/// Whether `rove host` may copy rove to a host that has no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstallPolicy {
    /// Only after a yes.
    #[default]
    Ask,
    /// Without a question.
    Always,
    /// Never.
    Never,
}

impl InstallPolicy {
    /// The words for them.
    pub const NAMES: &'static [&'static str] = &["ask", "always", "never"];

    /// Returns the one that this word means.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut known = [Self::Ask, Self::Always, Self::Never].into_iter().zip(Self::NAMES);
        known.find(|(_, word)| **word == name).map(|(policy, _)| policy)
    }
}
