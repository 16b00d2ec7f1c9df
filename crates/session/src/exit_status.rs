//! How the remote command ended.

/// How the remote command ended, as the caller's shell would see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It returned this code.
    Code(u8),
    /// A signal with this number ended it.
    Signal(u8),
}

impl ExitStatus {
    /// Returns the code a shell would report: the code itself, or 128 plus the signal.
    pub const fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }
}
