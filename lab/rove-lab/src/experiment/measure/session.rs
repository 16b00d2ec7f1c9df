//! A session over a scenario's path, with a user and a program of the measurement.

use rove_headless::{ClientEnd, Program, ServerEnd, User, client_config, server_config};
use rove_link::net::Net;
use rove_session::ClientConfig;
use rove_ssp::Config;
use rove_units::{Instant, Seed};

use crate::experiment::conditions::Conditions;

/// Joins a client and a server of the conditions' system by their path. Nothing has been sent yet.
pub(super) fn session<U: User, P: Program>(
    conditions: &Conditions<'_>,
    user: U,
    program: P,
) -> Net<ClientEnd<U>, ServerEnd<P>> {
    let (seed, system) = (Seed::new(conditions.seed), conditions.system());
    let client = ClientConfig {
        prediction: system.prediction(),
        offers_status: false,
        is_end_obeyed_twice: false,
        ..client_config(system.transport(Config::client()), seed)
    };
    let server = server_config(system.transport(Config::server()), seed);
    let [uplink, downlink] = conditions.path().links(Instant::ZERO, seed);
    let client = ClientEnd::new(client, user, Instant::ZERO);
    let server = ServerEnd::new(server, program, Instant::ZERO);
    Net::new(client, server, uplink, downlink, seed)
}
