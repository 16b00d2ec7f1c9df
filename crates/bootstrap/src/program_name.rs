//! The name that the program was called under.

/// Under which name the program was called; decides wording, never behaviour on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramName {
    /// Called as `rove`.
    #[default]
    Rove,
    /// Called as `mosh`, `mosh-client` or `mosh-server`: scripts match on the wording.
    Mosh,
}

impl ProgramName {
    /// Returns the name for notices, titles and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::Mosh => "mosh",
        }
    }
}
