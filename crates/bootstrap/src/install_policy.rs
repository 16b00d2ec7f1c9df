//! The setting `install`: what `rove host` does if the host has no server program.

/// Whether `rove host` may copy rove to a host that has no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstallPolicy {
    /// rove is copied to the host after the user has agreed.
    #[default]
    Ask,
    /// rove is copied to the host without a question.
    Always,
    /// rove is never copied to the host.
    Never,
}

impl InstallPolicy {
    /// The names of the variants in the setting `install`, in the order of the variants.
    pub const NAMES: &'static [&'static str] = &["ask", "always", "never"];

    /// Returns the variant with this name in [`Self::NAMES`]. `None` for another word.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut known = [Self::Ask, Self::Always, Self::Never].into_iter().zip(Self::NAMES);
        known.find(|(_, word)| **word == name).map(|(policy, _)| policy)
    }
}
