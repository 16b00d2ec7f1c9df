//! The host's output before rove's command has started, or if it never starts.

/// The kind of the most important line of that output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EarlyOutput {
    /// Nothing was printed, or blank lines only.
    #[default]
    Blank,
    /// A line for the user.
    Text,
    /// A server's announcement, which is not trusted here.
    Impostor,
}

impl EarlyOutput {
    /// Adds a line for the user.
    pub(super) fn add(&mut self, line: &[u8]) {
        if !line.trim_ascii().is_empty() {
            *self = Self::Text.max(*self);
        }
    }
}
