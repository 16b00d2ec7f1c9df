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

named!(InstallPolicy: "ask" => Ask, "always" => Always, "never" => Never);
