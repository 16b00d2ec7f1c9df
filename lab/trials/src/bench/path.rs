//! A path in front of a server: the relay that ships with `rove demo`.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Result;
use rove_link::LinkConfig;
use rove_rig::session::Server;
use rove_shell::relay::{Relay, RelayConfig};
use rove_units::Seed;

/// Puts a path in front of a server. Both directions are alike, but each draws its own chance from `seed`.
///
/// # Errors
///
/// Returns the system's refusal of a socket or a thread.
pub(super) fn in_front_of(server: &Server, link: &LinkConfig, seed: Seed) -> Result<Relay> {
    Ok(Relay::start(RelayConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        server: server.address(),
        uplink: link.clone(),
        downlink: link.clone(),
        seed,
    })?)
}
