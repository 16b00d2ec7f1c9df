//! The host's output before rove's command starts, or all of its output if the command never starts.

/// The kind of the most important line that the host printed before rove's command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EarlyOutput {
    /// The host printed nothing, or blank lines only.
    #[default]
    Blank,
    /// The host printed a line for the user.
    Text,
    /// The host printed a server's announcement, which rove does not trust until its own command has begun.
    Impostor,
}

impl EarlyOutput {
    /// Records a line that the host printed for the user.
    pub(super) fn add(&mut self, line: &[u8]) {
        if !line.trim_ascii().is_empty() {
            *self = Self::Text.max(*self);
        }
    }
}
