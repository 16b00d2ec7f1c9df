//! The bytes of a client's record, and the errors of reading them.

use rove_ssp::ApplyError;

/// The version of the record's format.
pub(super) const VERSION: u64 = 1;

/// The fields of a record. A later field replaces or extends an earlier field of its kind.
pub(super) mod field {
    pub(crate) const VERSION: u32 = 1;
    /// Fields: the number after the last sequence number that the client may use, and (`BLOCKS`) how many 16-byte
    /// blocks its cipher may have sealed by then.
    pub(crate) const RESERVED: u32 = 2;
    pub(crate) const BLOCKS: u32 = 3;
    /// Field: how many datagrams from the server may have arrived.
    pub(crate) const HEARD: u32 = 4;
    /// Field: a server state that the client has received.
    pub(crate) const STATE: u32 = 5;
    /// Field: the newest client state that the server has acknowledged (known receiver state).
    pub(crate) const KNOWN: u32 = 6;
    /// Field: input that the server has not acknowledged.
    pub(crate) const INPUT: u32 = 7;
    /// Field: whether the record leaves out input, because it may be a secret.
    pub(crate) const CONCEALED: u32 = 8;
    /// Fields for a rove server: how many keys have arrived, and (`TYPED`) further keys that may not have arrived.
    pub(crate) const ARRIVED: u32 = 9;
    pub(crate) const TYPED: u32 = 10;

    /// Subfields: `NUM` is the number of a state, or the position of the first event or key. `BYTES` is the content.
    pub(crate) const NUM: u32 = 1;
    pub(crate) const BYTES: u32 = 2;
    /// The number of the state from which a diff starts; 0 is a blank screen of the size in `COLUMNS` and `ROWS`.
    pub(crate) const OLD_NUM: u32 = 3;
    pub(crate) const THROWAWAY_NUM: u32 = 4;
    pub(crate) const COLUMNS: u32 = 5;
    pub(crate) const ROWS: u32 = 6;
    /// Subfield: how many user events the newest acknowledged client state contains.
    pub(crate) const POSITION: u32 = 7;
    /// Subfield: the number of keys in a `TYPED` field. Without `BYTES`, they may be a secret and are left out.
    pub(crate) const COUNT: u32 = 8;
}

/// A piece of the client's record, which the driver has to write before the next datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The encoded record. Several encoded records in a row are a valid record.
    pub bytes: Vec<u8>,
    /// Whether these bytes replace all earlier records. Otherwise they are appended.
    pub is_whole: bool,
}

/// The reason why a client cannot continue a session from a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The bytes are not a record, or are a record of another version.
    #[error("the record is damaged, or of another version: {0}")]
    Damaged(String),
    /// Keys that are not in the record may have reached the server.
    #[error(
        "keys that may have been a secret were on their way; they were not written down, and the server would not \
         take a session without them"
    )]
    Concealed,
    /// The sequence numbers are used up.
    #[error("the session was resumed too often: its numbers are used up")]
    Exhausted,
}

pub(super) fn damaged(part: &str) -> ResumeError {
    ResumeError::Damaged(part.to_owned())
}

pub(super) fn error(error: ApplyError) -> ResumeError {
    ResumeError::Damaged(error.reason)
}
