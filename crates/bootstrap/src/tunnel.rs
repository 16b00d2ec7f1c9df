//! The protocol of a tunnel: the client and the host exchange datagrams through ssh.

pub mod banner;
pub mod carrier;
mod connection;
pub mod forwarder;
pub mod frame;
pub mod retry;
pub mod sshd_config;
pub mod standby;

/// The first line of the tunnel's end on the host, with the protocol's version. Start-up files may print earlier lines.
pub const MARK: &str = "ROVE TUNNEL 1";

/// The address of a server whose session always uses ssh. Only the tunnel's end on the host sends there.
pub const SERVER: &str = "127.0.0.1";

/// The argument, in place of a port, that makes `rove tunnel` a forwarder. Older versions of rove refuse it.
pub const FORWARD: &str = "forward";

/// The line that a command for a tunnel prints if it finds no `rove` on the host.
pub const NO_TUNNEL_PROGRAM: &str = "ROVE NO TUNNEL PROGRAM";
