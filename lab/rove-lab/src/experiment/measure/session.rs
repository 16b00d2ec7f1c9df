//! A session over a scenario's path, with a user and a program of the measurement.

use rove_headless::{ClientEnd, Program, ServerEnd, User, ends};
use rove_link::Steps;
use rove_link::net::Net;
use rove_units::{Instant, Seed};

use crate::experiment::conditions::Conditions;

/// Joins a client and a server of the conditions' system by their path. Nothing has been sent yet.
pub(super) fn session<U: User, P: Program>(
    conditions: &Conditions<'_>,
    user: U,
    program: P,
) -> Net<ClientEnd<U>, ServerEnd<P>> {
    let links = conditions.path().links(Instant::ZERO, Seed::new(conditions.seed));
    session_over(conditions, links, user, program)
}

/// Joins a client and a server as [`session`] does, but over these links.
pub(super) fn session_over<U: User, P: Program>(
    conditions: &Conditions<'_>,
    [uplink, downlink]: [impl Into<Steps>; 2],
    user: U,
    program: P,
) -> Net<ClientEnd<U>, ServerEnd<P>> {
    let (seed, system) = (Seed::new(conditions.seed), conditions.system());
    let transport = |config| system.transport(config);
    let (client, server) = ends(transport, system.prediction(), seed, (user, program));
    Net::new(client, server, uplink, downlink, seed)
}
