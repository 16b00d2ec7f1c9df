//! The protocol between the two ends of a tunnel through ssh.

pub mod banner;
pub mod carrier;
pub mod frame;
pub mod retry;

/// First line of the far end. The output of start-up files stands above it. The number is the version of the protocol.
pub const MARK: &str = "ROVE TUNNEL 1";

/// The host's line when it has no `rove` to be the far end.
pub const NO_TUNNEL_PROGRAM: &str = "ROVE NO TUNNEL PROGRAM";
