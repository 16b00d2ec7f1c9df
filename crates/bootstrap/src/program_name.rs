//! The name by which the user called the program.

/// The name by which the user called the program. As `mosh`, the program imitates stock Mosh's messages and commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramName {
    /// The program was called as `rove`.
    #[default]
    Rove,
    /// The program was called as `mosh`, `mosh-client` or `mosh-server`. Scripts rely on the wording of these programs.
    Mosh,
}

impl ProgramName {
    /// Returns the name as notices, titles and messages show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::Mosh => "mosh",
        }
    }
}
