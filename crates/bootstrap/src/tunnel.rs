//! The protocol of a tunnel through ssh, between the client's end and the host's.

pub mod banner;
pub mod carrier;
mod connection;
pub mod forwarder;
pub mod frame;
pub mod retry;
pub mod sshd_config;
pub mod standby;

/// The first line of the host's end. Output of start-up files precedes it. The number is the protocol's version.
pub const MARK: &str = "ROVE TUNNEL 1";

/// The address where the server of a session that always uses ssh listens: only ssh's end on the host sends to it.
pub const SERVER: &str = "127.0.0.1";

/// The word in place of a port with which `rove tunnel` is a forwarder. An older rove refuses it.
pub const FORWARD: &str = "forward";

/// The line that the host prints if it has no `rove` for the tunnel's end.
pub const NO_TUNNEL_PROGRAM: &str = "ROVE NO TUNNEL PROGRAM";
