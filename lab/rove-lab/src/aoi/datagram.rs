//! Datagrams of the study. They leave out the contents of states: the study's path has no rate, so sizes do not matter.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A state as the difference from an older one.
#[derive(Deserialize, Serialize)]
pub(super) struct State {
    /// The number of the state that the difference starts from.
    pub(super) reference: u64,
    /// The number of the state that the difference makes.
    pub(super) number: u64,
    /// The oldest state that is still a reference.
    pub(super) oldest: u64,
    /// When the state was sent, in ns of the sender's clock.
    pub(super) sent: u64,
}

/// An acknowledgment.
#[derive(Deserialize, Serialize)]
pub(super) struct Acknowledgment {
    /// The newest state that the receiver holds.
    pub(super) newest: u64,
    /// When the acknowledged state was sent, in ns of the state sender's clock.
    pub(super) sent: u64,
}

pub(super) fn encode(datagram: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(datagram).expect("numbers are JSON")
}

/// Reads what [`encode`] wrote.
pub(super) fn decode<T: DeserializeOwned>(payload: &[u8]) -> T {
    serde_json::from_slice(payload).expect("the path changes no byte")
}
