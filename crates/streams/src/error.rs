//! The rules that a peer can break, and the errors of the methods that act on a stream.

use crate::frame::FrameError;

/// The code with which an end closes the layer because the peer broke a rule.
pub const PROTOCOL: u64 = 1;

/// The code with which an end resets a stream that it gives up, or refuses, for example for lack of room.
pub const REFUSED: u64 = 2;

/// The code with which an end resets a stream whose reader has stopped reading.
pub const STOPPED: u64 = 3;

/// A rule that the peer has broken. The stream layer then closes, and the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The packet's payload is too short for a send time.
    #[error("a packet without a send time")]
    NoTime,
    /// The packet's bytes are not valid frames.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The acknowledgment names a packet that was never sent.
    #[error("an acknowledgment of a packet that was never sent")]
    AckOfUnsent,
    /// The data exceeds the credit.
    #[error("data beyond the credit")]
    BeyondCredit,
    /// Bytes of a stream lie beyond its end. The end may have arrived before or after them.
    #[error("data beyond the end of its stream")]
    BeyondEnd,
    /// Two frames state different lengths of the whole stream.
    #[error("a stream with two ends")]
    TwoEnds,
    /// The frame is for a stream that only the frame's receiver may open, and has not opened.
    #[error("a frame for a stream that its receiver has not opened")]
    NotOpened,
    /// A stream of this number would open more streams at once than may be open.
    #[error("a stream's number far ahead of all others")]
    FarAhead,
    /// The control stream was reset or ended.
    #[error("the end of the control stream")]
    ControlEnded,
    /// Another stream must be refused, but the maximum number of refusals already waits for the peer's acknowledgment.
    #[error("too many refused streams")]
    TooManyRefused,
}

/// The reason why all or a part of a packet had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The peer broke a rule, and the layer has closed.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A stream's received bytes have too many gaps. The packet stays unacknowledged, so the peer repeats its contents.
    #[error("a stream with too many gaps")]
    TooManyGaps,
    /// The layer has closed.
    #[error("streams are closed")]
    Closed,
}

/// The reason why a method that acts on a stream failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// There is no such stream, or the direction to write or to read has ended.
    #[error("there is no such stream")]
    Unknown,
    /// The peer has reset the stream.
    #[error("the peer reset the stream with code {0}")]
    Reset(u64),
    /// The peer has stopped reading.
    #[error("the peer stopped reading with code {0}")]
    Stopped(u64),
    /// The maximum number of streams is open.
    #[error("too many streams are open")]
    TooMany,
    /// The layer has closed.
    #[error("streams are closed")]
    Closed,
}
