//! The client end of a session, without a server.

use std::net::SocketAddr;

use rove_session::{Client, ClientConfig, Prediction, Running};
use rove_ssp::{Config, Key};
use rove_terminal::{Size, TerminalCapabilities};
use rove_units::{Instant, Seed};

/// The address of the server that a [`client`] expects.
pub(crate) fn server() -> SocketAddr {
    ([192, 0, 2, 1], 60_001).into()
}

/// Returns a client of rove that has heard no server.
pub(crate) fn client(now: Instant) -> Client {
    let config = ClientConfig {
        server: server(),
        key: Key::from_bytes([1; 16]),
        transport: Config::client(),
        size: Size::DEFAULT,
        terminal: TerminalCapabilities::default(),
        query: false,
        escape_key: None,
        prediction: Prediction::default(),
        program: "rove".to_owned(),
        offers_status: true,
        is_end_obeyed_twice: true,
        running: Running::Unknown,
        chaff: Seed::new(1).stream("chaff"),
    };
    Client::new(config, now)
}
