//! What can be wrong with what arrives or is to be sent. None of it ends a session but the key's end.

/// Why an arriving datagram was of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// Shorter than nonce and tag together.
    #[error("{len} bytes are too few for a sealed datagram")]
    Truncated {
        /// Its length in bytes.
        len: usize,
    },
    // The wire and transport work adds the rest: TooLong, Forged, Reflected, ...
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
}
