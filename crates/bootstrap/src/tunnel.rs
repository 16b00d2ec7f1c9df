//! The protocol between the two ends of a tunnel through ssh.

pub mod banner;
pub mod carrier;
pub mod frame;
pub mod retry;

/// What the far end says first. What stands before it, start-up files have printed. The number is the
/// version of what follows.
pub const MARK: &str = "ROVE TUNNEL 1";

/// What the host says when it has no `rove` to be the far end.
pub const NO_TUNNEL_PROGRAM: &str = "ROVE NO TUNNEL PROGRAM";
