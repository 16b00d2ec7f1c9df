//! The client end of a session, without a server.

use std::net::SocketAddr;

use rove_session::{Client, ClientConfig};
use rove_ssp::{Config, Key};
use rove_units::{Instant, Seed};

/// The address of the server that a [`client`] expects.
pub(crate) fn server() -> SocketAddr {
    ([192, 0, 2, 1], 60_001).into()
}

/// Returns a client of rove that has heard no server.
pub(crate) fn client(now: Instant) -> Client {
    let (key, chaff) = (Key::from_bytes([1; 16]), Seed::new(1).stream("chaff"));
    let config = ClientConfig::new(server(), key, Config::client(), chaff);
    Client::new(config, now)
}
