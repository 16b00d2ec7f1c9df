//! A path in front of a server: the relay that `rove demo` uses.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Result;
use rove_link::LinkConfig;
use rove_rig::session::Server;
use rove_shell::relay::{Relay, RelayConfig};
use rove_units::Seed;

/// Puts a path in front of a server. Both directions have the same link, but draw different random numbers from `seed`.
///
/// # Errors
///
/// Returns the system's error if it gives no socket or no thread.
pub(super) fn in_front_of(server: &Server, link: &LinkConfig, seed: Seed) -> Result<Relay> {
    Ok(Relay::start(RelayConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        server: server.address(),
        uplink: link.clone(),
        downlink: link.clone(),
        seed,
    })?)
}
