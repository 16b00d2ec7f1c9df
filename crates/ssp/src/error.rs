//! Errors of datagrams that arrive or are to be sent. Only an exhausted key ends the session.

use crate::num::{SeqNum, StateNum};
use crate::object::ApplyError;

/// The reason why an arriving datagram was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum ReceiveError {
    /// The datagram is longer than an end accepts.
    #[error("a datagram of {len} bytes is longer than any peer sends")]
    TooLong { len: usize },
    /// The datagram is shorter than nonce and tag together.
    #[error("{len} bytes are too few for a sealed datagram")]
    Truncated { len: usize },
    /// The datagram's direction is this end's sending direction.
    #[error("the datagram travels away from this end")]
    Reflected,
    /// The sequence number has arrived before, or is so far below the highest that it may have arrived.
    #[error("datagram {} was here before, or comes too late to tell", seq.get())]
    Replayed { seq: SeqNum },
    /// The tag does not match: the datagram was sealed with another key, or was damaged on the way.
    #[error("the datagram was not sealed with this session's key")]
    Forged,
    /// The datagram is authentic, but too short for its two timestamps.
    #[error("{len} opened bytes are too few for two timestamps")]
    TimestampsTruncated { len: usize },
    /// The datagram is authentic, but too short for a fragment header.
    #[error("{len} bytes are too few for a fragment header")]
    FragmentTruncated { len: usize },
    /// The fragment's number has more than 15 bits. No decoded fragment has such a number.
    #[error("fragment number {number} does not fit the header")]
    FragmentNumber { number: u16 },
    /// A fragment with this number arrived before with other contents, or marked differently as the last one.
    #[error("fragment {number} contradicts the one already held")]
    FragmentContradiction { number: u16 },
    /// The fragment's number is above the number of the instruction's last fragment.
    #[error("fragment {number} lies beyond the last one, {last}")]
    FragmentBeyondLast { number: u16, last: u16 },
    /// A last fragment's number is below the number of a held fragment.
    #[error("fragment {number} cannot be the last: {held} is already held")]
    LastFragmentBelowHeld { number: u16, held: u16 },
    /// The fragments of one instruction are together longer than the limit.
    #[error("the fragments of one instruction have over {max} bytes")]
    AssemblyTooLarge { max: usize },
    /// The compressed instruction is not a valid zlib stream.
    #[error("the compressed instruction is damaged")]
    StreamBroken,
    /// The zlib stream of the instruction ends early.
    #[error("the compressed instruction is cut short")]
    StreamTruncated,
    /// The instruction inflates to more bytes than the limit.
    #[error("the instruction has over {max} bytes")]
    InstructionTooLarge { max: usize },
    /// The instruction is not valid protobuf.
    #[error("the instruction is malformed")]
    InstructionMalformed,
    /// The instruction's protocol version is not 2; `version` is 0 if the instruction has no version.
    #[error("the peer speaks protocol version {version}, this end speaks 2")]
    VersionMismatch { version: u32 },
    /// The diff starts from a state that this end does not hold, or has dropped.
    #[error("the diff starts from state {old_num}, which is not held")]
    StaleReference { old_num: StateNum },
    /// The instruction asks the receiver to drop the state from which the instruction's diff starts.
    #[error("throwaway number {throwaway_num} is beyond the reference {old_num}")]
    ThrowawayBeyondReference { throwaway_num: StateNum, old_num: StateNum },
    /// The list of received states is full.
    #[error("the queue of received states is full")]
    QueueFull,
    /// The object refuses the diff.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The instruction was refused before, and is not tried again.
    #[error("state {new_num} was refused before")]
    RefusedBefore { new_num: StateNum },
    /// The new state contradicts contents that were already delivered.
    #[error("state {new_num} does not follow what was already delivered")]
    NotFollowing { new_num: StateNum },
}

impl ReceiveError {
    /// Returns whether the peer caused the error. The peer then sealed the datagram with this session's key, and it
    /// arrived for the first time. Anybody can cause the other errors, and then the datagram has changed nothing.
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

/// The reason why an instruction or a datagram cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum SendError {
    /// This end has sealed 2^47 blocks with the key, the limit of one end.
    #[error("the session key has sealed all it safely may; start a new session")]
    KeyExhausted,
    /// The instruction is larger than a receiver accepts.
    #[error("an instruction of {len} bytes is larger than a receiver accepts")]
    TooLarge { len: usize },
    /// The datagram would be longer than a receiver accepts.
    #[error("a datagram of {len} bytes is longer than a receiver accepts")]
    DatagramTooLong { len: usize },
    /// The sequence number is not above all sealed ones. To seal with it would break the cipher.
    #[error("datagram number {} was sealed before, or a later one was", seq.get())]
    SequenceReused { seq: SeqNum },
}
