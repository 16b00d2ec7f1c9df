//! Every policy and timing number of one end, as a value.

use rove_units::Duration;

use crate::hello::Capabilities;

/// Which sent state a diff is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferencePolicy {
    /// The assumed receiver state, or the known one where that costs little: stock's rule.
    #[default]
    Assumed,
    /// Always the known receiver state.
    Known,
}

/// The policies and timing numbers of one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which sent state diffs are made from.
    pub reference: ReferencePolicy,
    /// How long an unsent change waits for company: 8 ms at a server, 1 ms at a client.
    pub collection_delay: Duration,
    // ... the transport work adds the rest: frame interval bounds, heartbeat, ack delay ...
    /// What this end offers in its hello; `None` sends no hello at all.
    pub capabilities: Option<Capabilities>,
}
