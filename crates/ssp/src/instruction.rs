//! The transport instruction and its protobuf form.

use crate::error::ReceiveError;
use crate::hello::Hello;
use crate::num::StateNum;

/// What one end tells the other at once: a diff, an acknowledgment, and what may be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The state the diff starts from.
    pub old_num: StateNum,
    /// The state the diff produces.
    pub new_num: StateNum,
    /// The newest state received from the peer.
    pub ack_num: StateNum,
    /// The receiver may drop its states numbered below this.
    pub throwaway_num: StateNum,
    /// The object's diff; empty for the same contents as `old_num`.
    pub diff: Vec<u8>,
    /// Random padding, ignored.
    pub chaff: Vec<u8>,
    /// The sender's hello, where it carries one.
    pub hello: Option<Hello>,
}

impl Instruction {
    /// Returns the protobuf form, all seven stock fields written in ascending order.
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }

    /// Reads the protobuf form and checks the protocol version.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for malformed protobuf or a version other than 2.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReceiveError> {
        let _ = bytes;
        todo!()
    }
}
