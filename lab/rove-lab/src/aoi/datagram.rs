//! Datagrams of the study. Its path has no rate, so that sizes do not matter: the contents of states are left out.

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
    /// The newest state that the receiver has.
    pub(super) newest: u64,
    /// When the state that this acknowledges was sent, in ns of its sender's clock.
    pub(super) sent: u64,
}

pub(super) fn encode(datagram: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(datagram).expect("numbers are JSON")
}

/// Reads what [`encode`] wrote.
pub(super) fn decode<T: DeserializeOwned>(payload: &[u8]) -> T {
    serde_json::from_slice(payload).expect("the path changes no byte")
}
