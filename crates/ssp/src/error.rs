//! Errors of datagrams that arrive or are to be sent. Only an exhausted key ends the session.

use crate::num::{SeqNum, StateNum};
use crate::object::ApplyError;

/// Why an arriving datagram was of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// Longer than the receive buffer of a peer.
    #[error("a datagram of {len} bytes is longer than any peer sends")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// Shorter than nonce and tag together.
    #[error("{len} bytes are too few for a sealed datagram")]
    Truncated {
        /// Its length in bytes.
        len: usize,
    },
    /// The datagram is our own, sent back to us.
    #[error("the datagram travels away from this end")]
    Reflected,
    /// The number has arrived before, or is so far below the highest that it may have.
    #[error("datagram {} was here before, or comes too late to tell", seq.get())]
    Replayed {
        /// Its number.
        seq: SeqNum,
    },
    /// The tag does not fit: not sealed with our key, or damaged on the way.
    #[error("the datagram was not sealed with this session's key")]
    Forged,
    /// Authentic, but without room for its two timestamps.
    #[error("{len} opened bytes are too few for two timestamps")]
    TimestampsTruncated {
        /// Length of the opened bytes.
        len: usize,
    },
    /// Authentic, but without room for a fragment header.
    #[error("{len} bytes are too few for a fragment header")]
    FragmentTruncated {
        /// Length of the fragment in bytes.
        len: usize,
    },
    /// A fragment number with more than 15 bits; no decoded fragment has one.
    #[error("fragment number {number} does not fit the header")]
    FragmentNumber {
        /// The number.
        number: u16,
    },
    /// A fragment that arrived before with other contents.
    #[error("fragment {number} contradicts the one already held")]
    FragmentContradiction {
        /// Its number.
        number: u16,
    },
    /// A fragment whose number is above that of the last one.
    #[error("fragment {number} lies beyond the last one, {last}")]
    FragmentBeyondLast {
        /// Its number.
        number: u16,
        /// The number of the last one.
        last: u16,
    },
    /// A last fragment whose number is below that of a fragment already held.
    #[error("fragment {number} cannot be the last: {held} is already held")]
    LastFragmentBelowHeld {
        /// Its number.
        number: u16,
        /// The highest number held.
        held: u16,
    },
    /// The fragments of one instruction together are over the limit.
    #[error("the fragments of one instruction have over {max} bytes")]
    AssemblyTooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// Not a zlib stream, or a damaged one.
    #[error("the compressed instruction is damaged")]
    StreamBroken,
    /// A zlib stream that ends early.
    #[error("the compressed instruction is cut short")]
    StreamTruncated,
    /// An instruction that inflates to more than the limit.
    #[error("the instruction has over {max} bytes")]
    InstructionTooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// Not protobuf.
    #[error("the instruction is malformed")]
    InstructionMalformed,
    /// Another protocol version than 2.
    #[error("the peer speaks protocol version {version}, this end speaks 2")]
    VersionMismatch {
        /// The peer's version; 0 where it gave none.
        version: u32,
    },
    /// A diff from a state that this end does not hold, or holds no longer.
    #[error("the diff starts from state {old_num}, which is not held")]
    StaleReference {
        /// The state the diff starts from.
        old_num: StateNum,
    },
    /// An instruction that would have us drop the very state its diff starts from.
    #[error("throwaway number {throwaway_num} is beyond the reference {old_num}")]
    ThrowawayBeyondReference {
        /// The number below which states are to be dropped.
        throwaway_num: StateNum,
        /// The state the diff starts from.
        old_num: StateNum,
    },
    /// No room for another received state.
    #[error("the queue of received states is full")]
    QueueFull,
    /// The object refuses the diff.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// An instruction that was refused before, and is not applied again.
    #[error("state {new_num} was refused before")]
    RefusedBefore {
        /// The number of the state that it leads to.
        new_num: StateNum,
    },
    /// A state that contradicts what was already delivered.
    #[error("state {new_num} does not follow what was already delivered")]
    NotFollowing {
        /// Its number.
        new_num: StateNum,
    },
}

impl ReceiveError {
    /// Returns whether the peer is to blame: the datagram was sealed with this session's key, not by this
    /// end, and arrived for the first time. All others anybody can send; they have changed nothing.
    pub const fn is_from_peer(&self) -> bool {
        !matches!(
            self,
            Self::TooLong { .. }
                | Self::Truncated { .. }
                | Self::Reflected
                | Self::Replayed { .. }
                | Self::Forged
        )
    }
}

/// Why something cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The key has sealed 2^47 blocks.
    #[error("the session key has sealed all it safely may; start a new session")]
    KeyExhausted,
    /// The instruction is larger than a receiver accepts.
    #[error("an instruction of {len} bytes is larger than a receiver accepts")]
    TooLarge {
        /// Its length in bytes.
        len: usize,
    },
    /// The datagram would be longer than a receiver accepts.
    #[error("a datagram of {len} bytes is longer than a receiver accepts")]
    DatagramTooLong {
        /// Its length in bytes, sealed.
        len: usize,
    },
    /// The sequence number is not above every one sealed before: sealing with it would break the cipher.
    #[error("datagram number {} was sealed before, or a later one was", seq.get())]
    SequenceReused {
        /// The number refused.
        seq: SeqNum,
    },
}
