//! Configurations of both ends, without anything that needs a person at the terminal.

use rove_link::net::RIGHT_ADDRESS;
use rove_session::{ClientConfig, Prediction, ServerConfig};
use rove_ssp::{Config, Key};
use rove_terminal::{OscSupport, Size, TerminalCapabilities};
use rove_units::{Instant, Seed};

use crate::client_end::{ClientEnd, User};
use crate::server_end::{Program, ServerEnd};

/// Returns the key of every session in virtual time. It may be public, because nobody listens.
pub fn key() -> Key {
    Key::from_bytes(*b"rove in a bottle")
}

/// Returns a config that offers all capabilities of rove.
#[must_use]
pub fn rove(config: Config) -> Config {
    Config { capabilities: Some(rove_session::CAPABILITIES), ..config }
}

/// Returns the config of a client that shows no predictions and asks its terminal no questions.
pub fn client_config(transport: Config, seed: Seed) -> ClientConfig {
    ClientConfig {
        terminal: TerminalCapabilities {
            osc: OscSupport { any: true, ..OscSupport::default() },
            ..TerminalCapabilities::default()
        },
        ..ClientConfig::new(RIGHT_ADDRESS, key(), transport, seed.stream("client.chaff"))
    }
}

/// Returns the config of a server that waits for its client without limit.
pub fn server_config(transport: Config, seed: Seed) -> ServerConfig {
    ServerConfig {
        key: key(),
        transport,
        ipv6: false,
        size: Size::DEFAULT,
        network_timeout: None,
        chaff: seed.stream("server.chaff"),
        awaits_echo: true,
    }
}

/// Creates both ends of a session. `transport` changes the configs of their transports. The client offers no status.
pub fn ends<U: User, P: Program>(
    transport: impl Fn(Config) -> Config,
    prediction: Prediction,
    seed: Seed,
    (user, program): (U, P),
) -> (ClientEnd<U>, ServerEnd<P>) {
    let client = ClientConfig {
        prediction,
        offers_status: false,
        is_end_obeyed_twice: false,
        ..client_config(transport(Config::client()), seed)
    };
    let server = server_config(transport(Config::server()), seed);
    let now = Instant::ZERO;
    (ClientEnd::new(client, user, now), ServerEnd::new(server, program, now))
}
